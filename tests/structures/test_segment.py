"""The word segmenter's kernels against features written down from the papers, and enumeration."""

import itertools
from collections import Counter

import numpy as np
import pytest

from skstruct.core.codes import (
    DONE,
    EACH_STEP,
    EARLY,
    FREE,
    INSIDE,
    L2,
    MAX_VIOLATION,
    NO_AVERAGE,
    NO_PENALTY,
    PERCEPTRON,
    STANDARD,
    START,
    TABLE_FULL,
    ZC14,
    ZSZ18,
)
from skstruct.core.compile import kernel
from skstruct.core.noise import QUIET, make_noise
from skstruct.core.store import Rule, weights
from skstruct.structures import segment
from skstruct.structures.segment_features import PAD, load, previous
from skstruct.structures.segment_keys import features, in_order, keys_of, table_from_keys, unite
from skstruct.structures.segment_search import SegmentTask, new_work


@kernel
def load_text(char, step, noise, c, hidden):
    load(char, char.shape[0], step, noise, c, hidden)


@kernel
def decisions_before(length, before):
    return previous(length, before)


PLAIN = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
BOTH = [ZSZ18, ZC14]


# -- the oracle ------------------------------------------------------------------------------------
def segmentations(text):
    for cuts in itertools.product([False, True], repeat=len(text) - 1):
        words = [text[0]]
        for cut, character in zip(cuts, text[1:]):
            if cut:
                words.append(character)
            else:
                words[-1] += character
        yield words


def decisions_of(words):
    return [d for word in words for d in [START] + [INSIDE] * (len(word) - 1)]


def zsz18(words, m=None, hidden=()):
    """Features (number, decision before, left, right, decision) of the decisions 1 ... m - 1."""
    text = "".join(words)
    n = len(text)
    b = [*decisions_of(words), START]
    m = n + 1 if m is None else m

    def c(k):
        return ord(text[k]) + 1 if 0 <= k < n else 0

    found = Counter()
    for i in range(1, m):
        begin = max(k for k in range(i) if b[k] == START)
        w = text[begin:i]
        before = ""
        if begin:
            before = text[max(k for k in range(begin) if b[k] == START) : begin]
        b2 = b[i - 2] if i > 1 else 2
        for number, left, right, reads in [
            (1, c(i - 1), 0, [i - 1]),
            (2, c(i), 0, [i]),
            (3, c(i - 2), 0, [i - 2]),
            (4, c(i - 1), c(i), [i - 1, i]),
            (5, c(i - 2), c(i - 1), [i - 2, i - 1]),
            (6, c(i), c(i + 1), [i, i + 1]),
            (7, c(i - 3), c(i - 2), [i - 3, i - 2]),
        ]:
            if not set(reads) & set(hidden):
                found[number, b[i - 1], left, right, b[i]] += 1
        last_before = ord(before[-1]) + 1 if before else 0
        for number, left, right, reads in [
            (8, c(i - 1), c(i), [i]),
            (9, b[i - 1], b2, []),
            (10, len(w), 0, []),
            (11, ord(w[0]) + 1, len(w), []),
            (12, ord(w[-1]) + 1, len(w), []),
            (13, ord(w[0]) + 1, ord(w[-1]) + 1, []),
            (14, last_before, ord(w[-1]) + 1, []),
            (15, ord(w[0]) + 1, c(i), [i]),
            (16, w, len(before), []),
            (17, before, len(w), []),
            (0, w[:-1], ord(w[-1]) + 1, []),
        ]:
            if not set(reads) & set(hidden):
                found[number, 0, left, right, b[i]] += 1
    return found


def zc14(words, m=None, hidden=()):
    """Features of the words, the last of which may be the part of one that the prefix has."""
    if m is not None and m <= sum(map(len, words)):
        text = "".join(words)[:m]
        stops = [s for s in itertools.accumulate(map(len, words)) if s < m] + [m]
        words = [text[a:b] for a, b in zip([0, *stops], stops)]
    found = Counter()
    begin = 0
    for before, w in zip(["", *words], words):

        def code(character):
            return ord(character) + 1

        first, last, size = code(w[0]), code(w[-1]), min(len(w), 15)
        keys = [(0, w[:-1], last), (2, before, w)]
        if len(w) == 1:
            keys.append((3, first, 0))
        else:
            keys += [(4, first, size), (5, last, size), (8, first, last)]
            for k in range(1, len(w)):
                if not {begin + k - 1, begin + k} & set(hidden):
                    keys.append((7, code(w[k - 1]), code(w[k])))
        if before:
            if not {begin - 1, begin} & set(hidden):
                keys.append((6, code(before[-1]), first))
            keys += [
                (9, before, first), (10, code(before[-1]), w), (11, code(before[0]), first),
                (12, code(before[-1]), last), (13, before, size), (14, min(len(before), 15), w),
            ]  # fmt: skip
        for number, left, right in keys:
            found[number, 0, left, right, 0] += 1
        begin += len(w)
    return found


ORACLE = {ZSZ18: zsz18, ZC14: zc14}


# -- arrays ----------------------------------------------------------------------------------------
def make_task(texts, gold=None, limit=None):
    """A task; ``gold``: words, or decisions with FREE."""
    token = np.concatenate([[0], np.cumsum([len(t) for t in texts])]).astype(np.int64)
    char = np.array([ord(c) + 1 for t in texts for c in t], np.int32)
    limits = np.full(char.shape[0], FREE, np.int8)
    if limit is not None:
        limits[:] = np.concatenate(limit)
    limits[token[:-1]] = START
    right = np.zeros(0, np.int8)
    if gold is not None:
        right = [decisions_of(g) if isinstance(g[0], str) else g for g in gold]
        right = np.array([d for g in right for d in g], np.int8)
    return SegmentTask(token, char, limits, right, np.ones(len(texts)))


def random_words(generator, n, letters="abc", longest=4):
    words = []
    while n > 0:
        size = min(n, int(generator.integers(1, longest + 1)))
        words.append("".join(generator.choice(list(letters), size)))
        n -= size
    return words


def train(model, task, rule=PLAIN, noise=QUIET, epochs=1, order=None):
    work = new_work(task, model.beam)
    n = task.token.shape[0] - 1
    order = np.arange(n) if order is None else order
    for _ in range(epochs):
        k = 0
        while k < n:
            code, k = segment.epoch(task, order, k, n, model, rule, noise, work)
            assert code in (DONE, TABLE_FULL)
            if code == TABLE_FULL:
                model = segment.grow(model, rule)
    return model, work


def as_dict(model):
    """The weights by feature and column."""
    C = model.weights.columns
    names = features(model.templates, keys_of(model.table, model.entries[0]))
    return {(*name, a): model.weights.value[row * C + a] for row, name in enumerate(names) for a in range(C)}


def random_model(templates, beam, generator, update=EARLY, n=60):
    """A model that knows the features of many segmentations of random texts, with random weights."""
    words = [random_words(generator, int(generator.integers(2, 10))) for _ in range(n)]
    task = make_task(["".join(w) for w in words], words)
    model, _ = train(segment.new_model(templates, 2, STANDARD, 1, PLAIN), task)
    model.weights.value[: model.entries[0] * model.weights.columns] = generator.normal(
        size=model.entries[0] * model.weights.columns
    )
    return model._replace(beam=beam, update=update)


def segmented(model, texts, limit=None):
    task = make_task(texts, limit=limit)
    out, score = np.empty(task.char.shape[0], np.int8), np.empty(len(texts))
    work = new_work(task, model.beam, training=False)
    segment.predict(task, 0, len(texts), model, PLAIN, QUIET, work, out, score)
    return [out[a:b].tolist() for a, b in zip(task.token, task.token[1:])], score


def words_of(text, decisions):
    starts = [k for k, d in enumerate(decisions) if d == START] + [len(text)]
    return [text[a:b] for a, b in zip(starts, starts[1:])]


def score_of(known, found):
    return sum(known.get(key, 0.0) * count for key, count in found.items())


# -- search ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("templates", BOTH)
def test_exact_search_is_enumeration(templates):
    generator = np.random.default_rng(0)
    model = random_model(templates, 0, generator)
    known = as_dict(model)
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7]:
        text = "".join(generator.choice(list("abcd"), n))  # d: never seen
        scores = {tuple(decisions_of(w)): score_of(known, ORACLE[templates](w)) for w in segmentations(text)}
        (found,), (score,) = segmented(model, [text])
        assert score == pytest.approx(max(scores.values()), abs=1e-9)
        assert scores[tuple(found)] == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [1, 2, 8, 1000])
def test_score_is_that_of_the_path(templates, beam):
    generator = np.random.default_rng(1)
    model = random_model(templates, beam, generator)
    known = as_dict(model)
    texts = ["".join(generator.choice(list("abc"), n)) for n in (1, 5, 30, 12, 2)]
    found, scores = segmented(model, texts)
    exact = segmented(model._replace(beam=0), texts)[1]
    for text, decisions, score in zip(texts, found, scores):
        words = words_of(text, decisions)
        assert decisions[0] == START and "".join(words) == text
        assert score == pytest.approx(score_of(known, ORACLE[templates](words)), abs=1e-9)
    assert (scores <= exact + 1e-9).all()
    if beam == 1000:
        assert scores == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [0, 1, 8])
def test_limits_are_honoured(templates, beam):
    generator = np.random.default_rng(2)
    model = random_model(templates, beam, generator)
    known = as_dict(model)
    for n in (1, 4, 8, 8, 8):
        text = "".join(generator.choice(list("abc"), n))
        limit = generator.choice([FREE, START, INSIDE], n, p=[0.5, 0.25, 0.25]).astype(np.int8)
        limit[0] = START
        (found,), (score,) = segmented(model, [text], [limit])
        assert all(d == f for d, f in zip(limit, found) if d != FREE)
        if beam == 0:
            best = max(
                score_of(known, ORACLE[templates](w))
                for w in segmentations(text)
                if all(d == f for d, f in zip(limit, decisions_of(w)) if d != FREE)
            )
            assert score == pytest.approx(best, abs=1e-9)
        everything = np.array(decisions_of(random_words(generator, n)), np.int8)
        assert segmented(model, [text], [everything])[0][0] == everything.tolist()


def test_state_determines_the_decisions_before():
    generator = np.random.default_rng(3)
    for _ in range(50):
        words = random_words(generator, 9)
        b = decisions_of(words)
        for i in range(1, 9):
            starts = [k for k in range(i) if b[k] == START]
            length = i - starts[-1]
            before = starts[-1] - starts[-2] if len(starts) > 1 else 0
            assert decisions_before(length, before) == (b[i - 1], b[i - 2] if i > 1 else 2)


@pytest.mark.parametrize("templates", BOTH)
def test_long_words(templates):
    generator = np.random.default_rng(12)
    words = ["".join(generator.choice(list("abcdefgh"), n)) for n in (250, 1, 120)]
    task = make_task(["".join(words)], [words])
    model, _ = train(segment.new_model(templates, 4, MAX_VIOLATION, 1, PLAIN), task, epochs=20)
    assert words_of("".join(words), segmented(model, ["".join(words)])[0][0]) == words


# -- learning --------------------------------------------------------------------------------------
def change(templates, update, beam, generator, hidden_rate=0.0, partly=False):
    """(model before, weights after minus weights before, path, target, hidden) of one visit."""
    model = random_model(templates, beam, generator, update)
    before = as_dict(model)
    words = random_words(generator, 9)
    gold = decisions_of(words)
    if partly:
        gold = [d if generator.random() < 0.5 else FREE for d in gold]
        gold[0] = START
    task = make_task(["".join(words)], [gold])
    noise = make_noise(seed=5, dropout=hidden_rate)
    c, hidden = np.zeros(9 + 2 * PAD, np.int64), np.zeros(9 + 2 * PAD, np.bool_)
    load_text(task.char, model.clock.step[0], noise, c, hidden)
    model, work = train(model, task, noise=noise)
    after = as_dict(model)
    difference = {k: after[k] - before.get(k, 0.0) for k in after if after[k] != before.get(k, 0.0)}
    path, target = (words_of("".join(words), p[:9]) for p in (work.path, work.target))
    return before, difference, path, target, np.flatnonzero(hidden[PAD:-PAD]), gold, work


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION, STANDARD])
@pytest.mark.parametrize("beam", [0, 1, 3])
@pytest.mark.parametrize("hidden_rate, partly", [(0.0, False), (0.3, False), (0.0, True)])
def test_update_is_the_difference_of_two_prefixes(templates, update, beam, hidden_rate, partly):
    generator = np.random.default_rng([4, templates, update, beam])
    shorter = 0
    for _ in range(12):
        before, difference, path, target, hidden, gold, work = change(
            templates, update, beam, generator, hidden_rate, partly
        )
        if not difference:
            continue
        assert work.stats[0] == 1
        known = {k: v for k, v in before.items()}
        for m in range(2, 11):
            right, wrong = (ORACLE[templates](w, m, hidden) for w in (target, path))
            expected = Counter(right)
            expected.subtract(wrong)
            expected = {k: v for k, v in expected.items() if v}
            if expected == {k: round(v) for k, v in difference.items()}:
                break
        else:
            raise AssertionError("the update is not that of a prefix")
        shorter += m < 10
        if update != STANDARD:  # a violation: the wrong prefix scored at least as well
            assert score_of(known, expected) <= 1e-9
        assert all(d == t for d, t in zip(gold, decisions_of(target)) if d != FREE)
    assert shorter > 0 if update != STANDARD and beam else True


@pytest.mark.parametrize("templates", BOTH)
def test_max_violation_is_maximal(templates):
    generator = np.random.default_rng(6)
    checked = 0
    for _ in range(8):
        before, difference, path, target, _, _, _ = change(templates, MAX_VIOLATION, 0, generator)
        if difference:
            texts = list(segmentations("".join(target)))
            gaps = []
            for m in range(2, 11):
                best = max(score_of(before, ORACLE[templates](w, m)) for w in texts)
                gaps.append(best - score_of(before, ORACLE[templates](target, m)))
            # Exact search over prefixes: what m = 10 compares are whole segmentations.
            assert -score_of(before, difference) == pytest.approx(max(gaps), abs=1e-9)
            checked += 1
    assert checked > 3


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION, STANDARD])
def test_overfits(templates, update):
    generator = np.random.default_rng(7)
    letters = list("abcdefghijklmnopqrst")
    lexicon = ["".join(generator.choice(letters, n)) for n in generator.integers(1, 4, 60)]
    seen, words = set(), []
    while len(words) < 100:
        sentence = [str(w) for w in generator.choice(lexicon, int(generator.integers(1, 9)))]
        if "".join(sentence) not in seen:
            words.append(sentence)
            seen.add("".join(sentence))
    texts = ["".join(w) for w in words]
    task = make_task(texts, words)
    model, _ = train(segment.new_model(templates, 8, update, 1, PLAIN), task, epochs=30)
    found, _ = segmented(model, texts)
    assert [words_of(t, d) for t, d in zip(texts, found)] == words


def test_partial_annotation_teaches():
    texts = ["abab", "ab", "ccab", "abcc"]
    gold = [
        [START, FREE, START, FREE],
        [START, INSIDE],
        [START, START, FREE, INSIDE],
        [START, FREE, START, START],
    ]
    task = make_task(texts, gold)
    model, _ = train(segment.new_model(ZSZ18, 8, EARLY, 1, PLAIN), task, epochs=10)
    found, _ = segmented(model, texts)
    for decisions, right in zip(found, gold):
        assert all(d == r for d, r in zip(decisions, right) if r != FREE)


# -- bookkeeping -----------------------------------------------------------------------------------
@pytest.mark.parametrize("templates", BOTH)
def test_growth_changes_nothing(templates, monkeypatch):
    generator = np.random.default_rng(8)
    words = [random_words(generator, 20, "abcdefgh") for _ in range(40)]
    task = make_task(["".join(w) for w in words], words)
    rule = Rule(PERCEPTRON, 0.0, False, L2, 0.01, EACH_STEP)
    large, _ = train(segment.new_model(templates, 4, EARLY, 2, rule), task, rule, epochs=3)
    monkeypatch.setattr(segment, "FIRST_CAPACITY", 64)
    small, _ = train(segment.new_model(templates, 4, EARLY, 2, rule), task, rule, epochs=3)
    assert small.table.shape[0] > 64
    entries = int(large.entries[0])
    assert small.entries[0] == entries
    np.testing.assert_array_equal(keys_of(small.table, entries), keys_of(large.table, entries))
    n = entries * large.weights.columns
    np.testing.assert_array_equal(small.seen[:n], large.seen[:n])
    for a, b in zip(
        (weights(m.weights, m.clock, rule)[:n] for m in (small, small)),
        (weights(m.weights, m.clock, rule)[:n] for m in (large, large)),
    ):
        np.testing.assert_array_equal(a, b)


def test_no_dropout_is_dropout_of_nothing():
    generator = np.random.default_rng(9)
    words = [random_words(generator, 12) for _ in range(20)]
    task = make_task(["".join(w) for w in words], words)
    models = [
        train(segment.new_model(ZSZ18, 4, EARLY, 1, PLAIN), task, noise=noise, epochs=3)[0]
        for noise in (QUIET, make_noise(seed=3, dropout=0.0))
    ]
    assert as_dict(models[0]) == as_dict(models[1])


def test_rare_weights_do_not_count():
    generator = np.random.default_rng(10)
    words = [random_words(generator, 12) for _ in range(20)]
    task = make_task(["".join(w) for w in words], words)
    model, _ = train(segment.new_model(ZSZ18, 4, EARLY, 5, PLAIN), task)
    rare = model.seen < 5
    assert rare.any() and not rare.all()
    cut = model._replace(weights=model.weights._replace(value=np.where(rare, 0.0, model.weights.value)))
    texts = ["".join(w) for w in words]
    assert segmented(model, texts)[0] == segmented(cut._replace(min_count=1), texts)[0]


@pytest.mark.parametrize("templates", BOTH)
def test_tables_unite_by_feature(templates):
    generator = np.random.default_rng(11)
    models = [random_model(templates, 4, generator, n=20 + 10 * k) for k in range(3)]
    parts = [keys_of(m.table, m.entries[0]) for m in models]
    table, entries, rows = unite(templates, parts)
    names = features(templates, keys_of(table, entries))
    assert len(set(names)) == entries
    for part, row in zip(parts, rows):
        assert [names[r] for r in row] == features(templates, part)
    assert set(names) == {name for part in parts for name in features(templates, part)}
    for part in parts:
        assert in_order(templates, part)
        again, distinct = table_from_keys(part)
        assert distinct
        np.testing.assert_array_equal(keys_of(again, part.shape[0]), part)
    assert not in_order(templates, parts[0][::-1])
    assert not table_from_keys(np.concatenate([parts[0], parts[0][:1]]))[1]
