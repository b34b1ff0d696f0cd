"""Sets of spans with a promised recall, sure spans, and all segments above a probability."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    Segmenter,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._taggers.span_thresholds import certain_threshold, offering_threshold

TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]", "B"]


def perceptron(features=TEMPLATES, **parameters):
    return StructuredPerceptron(features, max_iter=3, random_state=0, **parameters)


def corpus(n):
    """Words that are mostly labelled as their number says."""
    random, X, y = np.random.RandomState(0), [], []
    for _ in range(n):
        words = random.randint(0, 6, random.randint(2, 6))
        noisy = words + (random.uniform(size=len(words)) < 0.3)
        labels = [["O", "B-X", "I-X", "B-Y", "I-Y"][k % 5] for k in noisy]
        for t, label in enumerate(labels):
            if label[0] == "I" and (
                t == 0 or labels[t - 1] not in ("B" + label[1:], label)
            ):
                labels[t] = "B" + label[1:]
        X.append([f"w{k}" for k in words])
        y.append(labels)
    return X, y


# -- all segments above a probability ------------------------------------------------------------------
@pytest.mark.parametrize(
    "tagger",
    [
        pytest.param(perceptron(constraints="BIO"), id="constraints"),
        pytest.param(perceptron([*TEMPLATES, "B1:%x[0,0]"]), id="conditioned"),
        pytest.param(perceptron(order=2, constraints="BIO"), id="order 2"),
        pytest.param(
            BaggingShuffleAverager(perceptron(), 2, random_state=0), id="average"
        ),
    ],
)
def test_all_segments_above_a_probability(tagger):
    """The same numbers, to the bit, as those of all segments there are."""
    X, y = corpus(20)
    model = CalibratedTagger(tagger, cv=2, random_state=0).fit(X, y)
    X = [*X, [], X[0] * 12]
    segments = [
        [(a, b, k) for a in range(n) for b in range(a + 1, n + 1) for k in "XY"]
        for n in map(len, X)
    ]
    expected = model.predict_segment_proba(X, segments, scheme="BIO")
    for least in (1e-12, 1e-3, 0.2, 1.0, expected[0][0][1]):
        found = model.predict_segment_proba(X, min_proba=least, scheme="BIO")
        for some, every in zip(found, expected):
            assert some == sorted(
                ((s, p) for s, p in every if p >= least),
                key=lambda each: (-each[1], each[0]),
            )


def test_words_above_a_probability():
    X, y = (
        ["ab cab", "abc", "", "cba ab"],
        [["ab", "cab"], ["abc"], [], ["c", "ba", "ab"]],
    )
    model = Segmenter(L1CRF(TEMPLATES, c1=0.1, random_state=0)).fit(X, y)
    found = model.predict_segment_proba(X, min_proba=1e-9)
    spans = [[span for span, _ in each] for each in found]
    assert [dict(each) for each in model.predict_segment_proba(X, spans)] == [
        dict(each) for each in found
    ]
    for text, each in zip(X, found):  # every character is in one word
        for t, c in enumerate(text):
            total = sum(p for (a, b, _), p in each if a <= t < b)
            assert total == pytest.approx(0.0 if c == " " else 1.0, abs=1e-6)


def texts(n=30, seed=0):
    random, X, y = np.random.RandomState(seed), [], []
    for _ in range(n):
        words, text, spans = random.randint(0, 6, 7), "", []
        for k in words:
            word = f"w{'abcdef'[k]}"
            if k < 2 or random.uniform() < 0.1:
                spans.append(
                    (len(text), len(text) + len(word), "PER" if k % 2 else "LOC")
                )
            text += word + (". " if k == 3 else " ")
        X.append(text)
        y.append(spans)
    return X, y


def test_spans_above_a_probability_and_wrong_ones():
    X, y = texts()
    model = SpanTagger(L1CRF(c1=0.1, random_state=0)).fit(X, y)
    found = model.predict_segment_proba([*X, ""], min_proba=0.01)
    spans = [[span for span, _ in each] for each in found]
    assert [len(each) > 0 for each in spans] == [True] * len(X) + [False]
    assert model.predict_segment_proba([*X, ""], spans) == found
    with pytest.raises(ValueError, match="segments and min_proba cannot both be given"):
        model.predict_segment_proba(X, y, min_proba=0.5)
    for wrong in (0.0, 1.1, True, "a", float("nan")):
        with pytest.raises(
            ValueError, match="min_proba must be a number above 0, up to 1"
        ):
            model.predict_segment_proba(X, min_proba=wrong)


# -- the threshold of sets -----------------------------------------------------------------------------
def missed(p, document, threshold):
    """By document, the share below the threshold."""
    return [np.mean(p[document == d] < threshold) for d in np.unique(document)]


@pytest.mark.filterwarnings("ignore:.*are few for recall")
@pytest.mark.parametrize("recall", [0.5, 0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize("grain", [5, 1000])
def test_the_threshold_is_the_largest_that_keeps_the_inequality(recall, grain):
    random, alpha = np.random.RandomState(0), 1 - recall
    for _ in range(20):
        document = random.randint(0, 60, 400)
        p = random.randint(1, grain + 1, 400) / grain  # with ties
        n, threshold = len(np.unique(document)), offering_threshold(p, document, recall)
        bound = alpha * (n + 1) - 1
        assert sum(missed(p, document, threshold)) <= bound + 1e-9
        assert sum(missed(p, document, np.nextafter(threshold, 2.0))) > bound - 1e-9
        order = random.permutation(400)
        assert offering_threshold(p[order], 59 - document[order], recall) == threshold


@pytest.mark.filterwarnings("ignore:.*are few for recall")
@pytest.mark.parametrize(
    "alpha, n", [(0.1, 40), pytest.param(0.05, 100, marks=pytest.mark.slow)]
)
def test_the_promise_holds_on_average(alpha, n):
    random, recalls = np.random.RandomState(0), []

    def documents(count):
        size = random.randint(1, 12, count)
        ease = np.repeat(random.uniform(0.5, 3.0, count), size)  # documents differ
        return random.uniform(size=size.sum()) ** (1 / ease), np.repeat(
            np.arange(count), size
        )

    for _ in range(200):
        threshold = offering_threshold(*documents(n), 1 - alpha)
        recalls.append(1 - np.mean(missed(*documents(2000), threshold)))
    assert 1 - alpha - 0.005 <= np.mean(recalls) <= 1 - alpha + 1 / (n + 1) + 0.01


def test_documents_of_many_sizes():
    """The common denominator of the weights is larger than machine integers."""
    document = np.repeat(np.arange(60), np.arange(1, 61))
    p = np.random.RandomState(0).uniform(0.1, 1.0, len(document))
    threshold = offering_threshold(p, document, 0.9)
    bound = 0.1 * 61 - 1
    assert sum(missed(p, document, threshold)) <= bound
    assert sum(missed(p, document, np.nextafter(threshold, 1))) > bound


def test_too_few_documents():
    p = np.full(31, 0.5)
    with pytest.raises(
        ValueError, match="recall=0.98 needs at least 49 documents with spans, got 31"
    ):
        offering_threshold(p, np.arange(31), 0.98)
    with pytest.warns(
        UserWarning, match="31 documents with spans are few for recall=0.9: .* with 50"
    ):
        offering_threshold(p, np.arange(31), 0.9)
    p[:10] = 0.0
    with pytest.raises(
        ValueError, match="recall=0.8 cannot be promised: 32.3% of the spans cannot be"
    ):
        offering_threshold(p, np.arange(31), 0.8)


# -- the threshold of sure spans -----------------------------------------------------------------------
def test_sure_spans_have_the_precision():
    random, failures, none = np.random.RandomState(0), 0, 0
    for _ in range(100):
        p = random.uniform(size=3000)
        wrong = random.uniform(size=3000) > p**0.1
        threshold = certain_threshold(p, wrong, np.arange(3000) % 150, 150, 0.95, 0.9)
        fresh = random.uniform(size=20000)
        failures += (
            np.mean(fresh[fresh >= threshold] ** 0.1) < 0.95
            if threshold < np.inf
            else 0
        )
        none += threshold == np.inf
    assert failures <= 18 and none <= 5
    assert (
        certain_threshold(p, np.ones(3000, bool), np.arange(3000) % 150, 150, 0.95, 0.9)
        == np.inf
    )


# -- the estimator -------------------------------------------------------------------------------------
pytestmark = pytest.mark.filterwarnings("ignore:.*are few for recall")


def tokens(n=60):
    X, y = corpus(n)
    return X, y, np.arange(n) // 2


@pytest.fixture(scope="module")
def fitted():
    X, y = texts(60)
    model = SpanSets(
        SpanTagger(L1CRF(c1=0.1, random_state=0)), recall=0.9, precision=0.6, cv=3
    )
    return model.fit(X, y), X, y


def test_sets_of_texts(fitted, tmp_path):
    model, X, y = fitted
    sets, sure = model.predict_sets(X), model.predict_sure(X)
    assert (
        np.mean([span in dict(found) for true, found in zip(y, sets) for span in true])
        > 0.8
    )
    assert all(p >= model.thresholds_[None] for found in sets for _, p in found)
    assert any(sure) and model.sure_threshold_ < np.inf
    if model.sure_threshold_ > 0.5:
        assert all(a.end <= b.start for found in sure for a, b in zip(found, found[1:]))
    assert model.n_calibration_ == sum(map(bool, y))
    assert model.predict(X) == model.estimator_.predict(X)
    model.save(tmp_path / "model")
    for other in (skstruct.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other.predict_sets(X) == sets and other.predict_sure(X) == sure
        assert other.thresholds_ == model.thresholds_


def test_sets_are_nested_and_the_order_changes_nothing():
    X, y, groups = tokens()
    frozen = FrozenEstimator(
        L1CRF(TEMPLATES, c1=0.1, constraints="BIO", random_state=0).fit(X, y)
    )
    sets = []
    for recall in (0.7, 0.8, 0.9):
        model = SpanSets(frozen, recall=recall).fit(X, y, groups)
        assert model.estimator_ is frozen.estimator
        order = np.random.RandomState(0).permutation(len(X))
        moved = SpanSets(frozen, recall=recall).fit(
            [X[i] for i in order], [y[i] for i in order], groups[order]
        )
        assert moved.thresholds_ == model.thresholds_
        sets.append([dict(found) for found in model.predict_sets(X)])
    for few, more in zip(sets, sets[1:]):
        assert all(a.items() <= b.items() for a, b in zip(few, more))


def test_thresholds_by_type():
    X, y, groups = tokens()
    model = SpanSets(
        L1CRF(TEMPLATES, c1=0.1, constraints="BIO"), recall=0.7, by_type=True, cv=2
    )
    clone(model).fit(X, y)
    model.fit(X, y, groups=groups)
    assert set(model.thresholds_) == {"X", "Y"}
    assert all(
        p >= model.thresholds_[s[2]]
        for found in model.predict_sets(X)
        for s, p in found
    )
    with pytest.raises(ValueError, match="predict_sure needs a precision"):
        model.predict_sure(X)
    parts = [
        (np.flatnonzero(groups % 2 != k), np.flatnonzero(groups % 2 == k))
        for k in (0, 1)
    ]
    clone(model).set_params(cv=parts).fit(X, y, groups)
    split = [
        (np.arange(1, 60, 2), np.arange(0, 60, 2)),
        (np.arange(0, 60, 2), np.arange(1, 60, 2)),
    ]
    with pytest.raises(
        ValueError, match="fold 0 of cv trains on a part of the document of sequence 0"
    ):
        clone(model).set_params(cv=split).fit(X, y, groups)


def test_what_cannot_have_sets():
    X, y, _ = tokens()
    with pytest.raises(
        TypeError, match="knows probabilities, .* got a StructuredPerceptron"
    ):
        SpanSets(StructuredPerceptron()).fit(X, y)
    with pytest.raises(TypeError, match="constraints name a scheme, got a L1CRF"):
        SpanSets(L1CRF()).fit(X, y)
    with pytest.raises(TypeError, match="constraints name a scheme, got a Segmenter"):
        SpanSets(Segmenter(L1CRF())).fit(X, y)
    with pytest.raises(
        ValueError, match="y: sequence 3, position 0: SpanSets needs all labels"
    ):
        SpanSets(L1CRF(constraints="BIO")).fit(X, [*y[:3], [None] * len(X[3]), *y[4:]])
    with pytest.raises(
        ValueError,
        match="groups must name a document for each of the 60 sequences, got 2",
    ):
        SpanSets(L1CRF(constraints="BIO")).fit(X, y, [1, 2])
    for name in ("partial_fit", "adapt"):
        with pytest.raises(
            AttributeError, match="SpanSets would void what it promises"
        ):
            getattr(SpanSets(), name)
    for name in ("predict_kbest", "decision_function"):
        with pytest.raises(
            AttributeError, match="SpanSets offers sets; its estimator_ has it if"
        ):
            getattr(SpanSets(), name)
