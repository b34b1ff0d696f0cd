"""Updates of the word segmenter against differences of whole vectors."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from segment_oracle import decisions_of, segmentations, segmented_text
from word_search_cases import (
    BOTH,
    ORACLE,
    PLAIN,
    as_dict,
    decoded,
    load_text,
    make_task,
    random_model,
    random_words,
    score_of,
    segmented,
    train,
)

from skstruct._core import feature_table
from skstruct._core.codes import (
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
    ZSZ18,
)
from skstruct._core.feature_table import keys
from skstruct._core.noise import QUIET, make_noise
from skstruct._core.store import Rule, weights
from skstruct._words import word_epoch as segment
from skstruct._words.word_beam import new_work
from skstruct._words.word_features import PAD


def change(templates, update, beam, generator, hidden_rate=0.0, partly=False):
    """(model before, weights after minus weights before, path, target, hidden) of one
    visit.
    """
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
    difference = {
        k: after[k] - before.get(k, 0.0)
        for k in after
        if after[k] != before.get(k, 0.0)
    }
    path, target = (
        segmented_text("".join(words), p[:9]) for p in (work.path, work.target)
    )
    return (
        before,
        difference,
        path,
        target,
        np.flatnonzero(hidden[PAD:-PAD]),
        gold,
        work,
    )


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION, STANDARD])
@pytest.mark.parametrize("beam", [0, 1, 3])
@pytest.mark.parametrize(
    "hidden_rate, partly", [(0.0, False), (0.3, False), (0.0, True)]
)
def test_update_is_the_difference_of_two_prefixes(
    templates, update, beam, hidden_rate, partly
):
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
        before, difference, path, target, _, _, _ = change(
            templates, MAX_VIOLATION, 0, generator
        )
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
    lexicon = [
        "".join(generator.choice(letters, n)) for n in generator.integers(1, 4, 20)
    ]
    seen, words = set(), []
    while len(words) < 20:
        sentence = [
            str(w) for w in generator.choice(lexicon, int(generator.integers(1, 6)))
        ]
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
    """Exact search, whole texts; all weights are kept, shrunk and summed at every
    step.
    """
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
        assert score_of(w, ORACLE[templates](found)) == pytest.approx(
            max(scores), abs=1e-9
        )
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


@pytest.mark.parametrize("templates", BOTH)
def test_growth_changes_nothing(templates, monkeypatch):
    generator = np.random.default_rng(8)
    words = [random_words(generator, 20, "abcdefgh") for _ in range(15)]
    task = make_task(["".join(w) for w in words], words)
    rule = Rule(PERCEPTRON, 0.0, False, L2, 0.01, EACH_STEP)
    large, _ = train(
        segment.new_model(templates, 4, EARLY, 2, rule), task, rule, epochs=3
    )
    monkeypatch.setattr(feature_table, "FIRST_CAPACITY", 64)
    small, _ = train(
        segment.new_model(templates, 4, EARLY, 2, rule), task, rule, epochs=3
    )
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
        train(
            segment.new_model(ZSZ18, 4, EARLY, 1, PLAIN), task, noise=noise, epochs=3
        )[0]
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
    assert list(decoded(model, texts, PLAIN)) == segmented(cut, texts)[0]
