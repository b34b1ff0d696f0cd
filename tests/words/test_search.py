"""The word segmenter's kernels against features written down from the papers, and enumeration."""

import functools
from collections import Counter, defaultdict

import numpy as np
import pytest
from segment_oracle import decisions_of, segmentations, segmented_text, zc14, zsz18

from skstruct.core import feature_table
from skstruct.core.codes import (
    DONE,
    EACH_STEP,
    EARLY,
    FREE,
    INSIDE,
    L1,
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
from skstruct.core.feature_table import extended, keys, table_from_keys
from skstruct.core.hashing import empty_table, keys_of
from skstruct.core.noise import QUIET, make_noise
from skstruct.core.store import Rule, weights
from skstruct.training.epochs import ModelHolder, grow_tables, snapshot
from skstruct.words import epoch as segment
from skstruct.words.features import PAD, load, previous
from skstruct.words.kbest import new_lists
from skstruct.words.keys import IS_NODE, features, in_order
from skstruct.words.search import SegmentTask, new_work


@kernel
def load_text(char, step, noise, c, hidden):
    load(char, char.shape[0], step, noise, c, hidden)


@kernel
def decisions_before(length, before):
    return previous(length, before)


PLAIN = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
BOTH = [ZSZ18, ZC14]
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
        k, work.stats[:] = 0, 0.0
        while k < n:
            code, k = segment.epoch(task, order, k, n, model, rule, noise, work)
            assert code in (DONE, TABLE_FULL)
            if code == TABLE_FULL:
                held = ModelHolder(model)
                grow_tables(segment, held, rule)
                model = held.current
        if work.stats[0] == 0:
            break
    return model, work


def as_dict(model):
    """The weights by feature and column."""
    C = model.features.weights.columns
    names = features(model.templates, keys_of(model.features.table, model.features.entries[0]))
    value = model.features.weights.value
    return {(*name, a): value[row * C + a] for row, name in enumerate(names) for a in range(C)}


@functools.cache
def known_features(templates, n):
    """A model that knows the features of many segmentations of random texts."""
    generator = np.random.default_rng(100)
    words = [random_words(generator, int(generator.integers(2, 10))) for _ in range(n)]
    task = make_task(["".join(w) for w in words], words)
    return train(segment.new_model(templates, 2, STANDARD, 1, PLAIN), task)[0]


def random_model(templates, beam, generator, update=EARLY, n=40):
    """Its features with random weights."""
    model = snapshot(segment, known_features(templates, n))._replace(beam=beam, update=update)
    places = model.features.entries[0] * model.features.weights.columns
    model.features.weights.value[:places] = generator.normal(size=places)
    return model


def segmented(model, texts, limit=None):
    task = make_task(texts, limit=limit)
    out, score = np.empty(task.char.shape[0], np.int8), np.empty(len(texts))
    work = new_work(task, model.beam, training=False)
    segment.predict(task, 0, len(texts), model, PLAIN, QUIET, work, out, score)
    return [out[a:b].tolist() for a, b in zip(task.token, task.token[1:])], score


def score_of(known, found):
    return sum(known.get(key, 0.0) * count for key, count in found.items())


# -- search ----------------------------------------------------------------------------------------
def test_a_short_text_costs_no_scratch_of_a_long_one():
    model = random_model(ZSZ18, 4, np.random.default_rng(0))
    task = make_task(["ab" * 30, "abc"])
    work = new_work(task, model.beam, training=False)
    work.shared_at[:] = -7
    out, score = np.empty(task.char.shape[0], np.int8), np.empty(2)
    segment.predict(task, 1, 2, model, PLAIN, QUIET, work, out, score)
    assert (work.shared_at[5:] == -7).all()
    alone = segmented(model, ["abc"])
    assert [out[60:].tolist()] == alone[0] and score[1] == alone[1][0]


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
        words = segmented_text(text, decisions)
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


def ranked(model, text, k, limit=None):
    """The k best segmentations of a text, as (words, score)."""
    task = make_task([text], limit=limit)
    work = new_work(task, model.beam, training=False)
    lists = new_lists(work, k)
    most = lists.loss.shape[1]
    out, score, found = np.empty(most * len(text), np.int8), np.empty((1, most)), np.empty(1, np.int64)
    segment.predict_kbest(task, 0, 1, model, PLAIN, QUIET, work, lists, out, score, found)
    decisions = out.reshape(most, len(text))[: found[0]].tolist()
    return [(segmented_text(text, d), s) for d, s in zip(decisions, score[0].tolist())]


@pytest.mark.parametrize("templates", BOTH)
def test_kbest_is_enumeration(templates):
    generator = np.random.default_rng(14)
    model = random_model(templates, 0, generator)
    known = as_dict(model)
    for n in [1, 2, 3, 5, 8, 10]:
        text = "".join(generator.choice(list("abcd"), n))
        scores = {tuple(w): score_of(known, ORACLE[templates](w)) for w in segmentations(text)}
        best = sorted(scores.values(), reverse=True)
        for k in (1, 2, 7, 1000):
            found = ranked(model, text, k)
            assert len({tuple(words) for words, _ in found}) == len(found) == min(k, 2 ** (n - 1))
            values = [score for _, score in found]
            assert values == sorted(values, reverse=True)
            assert values == pytest.approx(best[:k], abs=1e-9)
            assert values == pytest.approx([scores[tuple(words)] for words, _ in found], abs=1e-9)
            # A beam that no state is lost to.
            assert ranked(model._replace(beam=n * (n - 1) // 2 + 1), text, k) == found


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [1, 2, 8])
def test_kbest_under_a_beam(templates, beam):
    generator = np.random.default_rng(15)
    model = random_model(templates, beam, generator)
    known = as_dict(model)
    for n in (1, 6, 30, 12):
        text = "".join(generator.choice(list("abc"), n))
        limit = generator.choice([FREE, START, INSIDE], n, p=[0.8, 0.1, 0.1]).astype(np.int8)
        limit[0] = START
        for limits in (None, [limit]):
            (decisions,), (best,) = segmented(model, [text], limits)
            found = ranked(model, text, 50, limits)
            assert found[0] == (segmented_text(text, decisions), best)
            assert len({tuple(words) for words, _ in found}) == len(found)
            assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
            for words, score in found:
                assert score == pytest.approx(score_of(known, ORACLE[templates](words)), abs=1e-9)
                taken = decisions_of(words)
                assert limits is None or all(d == f for d, f in zip(limit, taken) if d != FREE)
            assert ranked(model, text, 4, limits) == found[:4]
            assert beam > 1 or len(found) == 1


@pytest.mark.parametrize("templates", BOTH)
def test_ties_leave_the_first_in_place(templates):
    """Weights of one size: many segmentations score the same."""
    model = random_model(templates, 8, np.random.default_rng(16))
    value = model.features.weights.value
    value[:] = np.sign(value)
    for text in ("abcabcabc", "aaaaaaaa", "bacbacbacbac"):
        (decisions,), (best,) = segmented(model, [text])
        found = ranked(model, text, 20)
        assert found[0] == (segmented_text(text, decisions), best)
        assert sum(score == best for _, score in found) > 1 or text != "aaaaaaaa"
        assert len({tuple(words) for words, _ in found}) == len(found)


@pytest.mark.parametrize("templates", BOTH)
def test_long_words(templates):
    generator = np.random.default_rng(12)
    words = ["".join(generator.choice(list("abcdefgh"), n)) for n in (90, 1, 40)]
    task = make_task(["".join(words)], [words])
    model, _ = train(segment.new_model(templates, 4, MAX_VIOLATION, 1, PLAIN), task, epochs=30)
    assert segmented_text("".join(words), segmented(model, ["".join(words)])[0][0]) == words


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
    path, target = (segmented_text("".join(words), p[:9]) for p in (work.path, work.target))
    return before, difference, path, target, np.flatnonzero(hidden[PAD:-PAD]), gold, work


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION, STANDARD])
@pytest.mark.parametrize("beam", [0, 1, 3])
@pytest.mark.parametrize("hidden_rate, partly", [(0.0, False), (0.3, False), (0.0, True)])
def test_update_is_the_difference_of_two_prefixes(templates, update, beam, hidden_rate, partly):
    generator = np.random.default_rng([4, templates, update, beam])
    shorter = 0
    for _ in range(6):
        before, difference, path, target, hidden, gold, work = change(
            templates, update, beam, generator, hidden_rate, partly
        )
        if not difference:
            continue
        assert work.stats[0] == 1
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
            assert score_of(before, expected) <= 1e-9
        assert all(d == t for d, t in zip(gold, decisions_of(target)) if d != FREE)
    assert shorter > 0 or partly or not beam or update == STANDARD


@pytest.mark.parametrize("templates", BOTH)
def test_max_violation_is_maximal(templates):
    generator = np.random.default_rng(6)
    checked = 0
    for _ in range(5):
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
    assert checked > 2


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION, STANDARD])
def test_overfits(templates, update):
    generator = np.random.default_rng(7)
    letters = list("abcdefghijklmnopqrst")
    lexicon = ["".join(generator.choice(letters, n)) for n in generator.integers(1, 4, 20)]
    seen, words = set(), []
    while len(words) < 20:
        sentence = [str(w) for w in generator.choice(lexicon, int(generator.integers(1, 6)))]
        if "".join(sentence) not in seen:
            words.append(sentence)
            seen.add("".join(sentence))
    texts = ["".join(w) for w in words]
    task = make_task(texts, words)
    model, _ = train(segment.new_model(templates, 8, update, 1, PLAIN), task, epochs=30)
    found, _ = segmented(model, texts)
    assert [segmented_text(t, d) for t, d in zip(texts, found)] == words


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


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("average", [EACH_STEP, NO_AVERAGE])
@pytest.mark.parametrize("penalty, alpha", [(NO_PENALTY, 0.0), (L2, 0.05), (L1, 2**-5)])
def test_training_is_that_of_complete_vectors(templates, average, penalty, alpha):
    """Exact search, whole texts; all weights are kept, shrunk and summed at every step."""
    generator = np.random.default_rng(13)
    words = [random_words(generator, int(generator.integers(1, 8))) for _ in range(6)]
    task = make_task(["".join(w) for w in words], words)
    task.weight[:] = generator.uniform(0.5, 2.0, 6)
    rule = Rule(PERCEPTRON, 0.0, False, penalty, alpha, average)
    model = segment.new_model(templates, 0, STANDARD, 1, rule)
    work = new_work(task, 0)
    w, total, steps = defaultdict(float), defaultdict(float), 0
    for i in list(range(6)) * 3:
        text = "".join(words[i])
        code, _ = segment.epoch(task, np.array([i]), 0, 1, model, rule, QUIET, work)
        assert code == DONE
        found = segmented_text(text, work.path)
        scores = [score_of(w, ORACLE[templates](s)) for s in segmentations(text)]
        assert score_of(w, ORACLE[templates](found)) == pytest.approx(max(scores), abs=1e-9)
        for key in w:
            w[key] *= 1.0 - alpha if penalty == L2 else 1.0
            if penalty == L1:
                w[key] = np.sign(w[key]) * max(0.0, abs(w[key]) - alpha)
        change = Counter(ORACLE[templates](words[i]))
        change.subtract(ORACLE[templates](found))
        for key, amount in change.items():
            w[key] += task.weight[i] * amount
        for key in w:
            total[key] += w[key]
        steps += 1
    expected = {k: v / steps if average else w[k] for k, v in total.items()}
    final = weights(model.features.weights, model.clock, rule)
    store = model.features.weights._replace(value=final)
    found = as_dict(model._replace(features=model.features._replace(weights=store)))
    for key in {**found, **expected}:
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-9)


# -- bookkeeping -----------------------------------------------------------------------------------
@pytest.mark.parametrize("templates", BOTH)
def test_growth_changes_nothing(templates, monkeypatch):
    generator = np.random.default_rng(8)
    words = [random_words(generator, 20, "abcdefgh") for _ in range(15)]
    task = make_task(["".join(w) for w in words], words)
    rule = Rule(PERCEPTRON, 0.0, False, L2, 0.01, EACH_STEP)
    large, _ = train(segment.new_model(templates, 4, EARLY, 2, rule), task, rule, epochs=3)
    monkeypatch.setattr(feature_table, "FIRST_CAPACITY", 64)
    small, _ = train(segment.new_model(templates, 4, EARLY, 2, rule), task, rule, epochs=3)
    assert small.features.table.shape[0] > 64
    entries = int(large.features.entries[0])
    assert small.features.entries[0] == entries
    np.testing.assert_array_equal(keys(small.features), keys(large.features))
    n = entries * large.features.weights.columns
    np.testing.assert_array_equal(small.features.seen[:n], large.features.seen[:n])
    for a, b in zip(
        (weights(m.features.weights, m.clock, rule)[:n] for m in (small, small)),
        (weights(m.features.weights, m.clock, rule)[:n] for m in (large, large)),
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
    rare = model.features.seen < 5
    assert rare.any() and not rare.all()
    store = model.features.weights
    cut = store._replace(value=np.where(rare, 0.0, store.value))
    cut = model._replace(features=model.features._replace(weights=cut, min_count=1))
    texts = ["".join(w) for w in words]
    assert segmented(model, texts)[0] == segmented(cut, texts)[0]


@pytest.mark.parametrize("templates", BOTH)
def test_tables_unite_by_feature(templates):
    generator = np.random.default_rng(11)
    models = [random_model(templates, 4, generator, n=20 + 10 * k) for k in range(3)]
    parts = [keys_of(m.features.table, m.features.entries[0]) for m in models]
    table, entries, rows = empty_table(), np.zeros(1, np.int64), []
    for part in parts:
        table, numbers = extended(table, entries, part, 0, IS_NODE[templates])
        rows.append(numbers)
    names = features(templates, keys_of(table, entries[0]))
    assert len(set(names)) == entries[0]
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
