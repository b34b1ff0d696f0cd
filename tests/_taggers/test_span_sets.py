"""Sets of spans with a promised recall, sure spans, and all spans above a
probability.
"""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import skstruct
from skstruct import (
    L1CRF,
    Segmenter,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)

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


# -- all segments above a probability --------------------------------------------------


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


# -- the estimator ---------------------------------------------------------------------
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
            AttributeError, match="SpanSets would invalidate its promise"
        ):
            getattr(SpanSets(), name)
    for name in ("predict_kbest", "decision_function"):
        with pytest.raises(
            AttributeError, match="SpanSets offers sets; its estimator_ has it if"
        ):
            getattr(SpanSets(), name)
