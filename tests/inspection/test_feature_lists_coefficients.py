"""The weights of models of rows of numbers, as matrices."""

import numpy as np
import pytest
from scipy import sparse

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    NumericFeatures,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct.inspection import coefficients, explain, feature_weights, features_of


def data():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.7)
    X = SequenceMatrix(flat, [6] * 10, feature_names="abcde")
    return X, X.split(
        [f"L{k}" for k in (flat @ rng.normal(size=(5, 3))).argmax(axis=1)]
    )


def score_by_hand(found, classes, x, labels):
    ids = [list(classes).index(label) for label in labels]
    emission = x @ found.coef + found.intercept
    return (
        emission[np.arange(len(ids)), ids].sum()
        + found.transitions[ids[:-1], ids[1:]].sum()
    )


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    "learner",
    [StructuredPerceptron(random_state=0), L1CRF(c1=0.1), BaggingShuffleAverager()],
)
def test_scores_are_products_of_matrices(learner, form):
    X, y = data()
    if form == "sparse":
        X = SequenceMatrix(sparse.csr_array(X.matrix), X.lengths)
    learner.fit(X, y)
    found = coefficients(learner)
    assert (
        found.coef.shape == (5, 3)
        and found.intercept.shape == (3,)
        and found.transitions.shape == (3, 3)
    )
    scores = learner.decision_function(X)
    for x, labels, score in zip(X, learner.predict(X), scores):
        assert score_by_hand(found, learner.classes_, x, labels) == pytest.approx(score)


def test_windows_and_columns_that_are_absent():
    X, y = data()
    tagger = StructuredPerceptron(
        NumericFeatures(bias=False, window=(-1, 1)), random_state=0
    ).fit(X, y)
    found = coefficients(tagger)
    assert found.coef.shape == (15, 3) and not found.intercept.any()
    x = X[0]
    wide = np.hstack(
        [np.vstack([np.zeros(5), x[:-1]]), x, np.vstack([x[1:], np.zeros(5)])]
    )
    score = score_by_hand(found, tagger.classes_, wide, tagger.predict([x])[0])
    assert score == pytest.approx(tagger.decision_function([x])[0])
    assert {"a@-1", "b", "e@+1"} <= {name for name, _, _ in feature_weights(tagger)}
    assert (
        "a@-1" not in features_of(tagger, x)[0]
        and "e@+1" not in features_of(tagger, x)[-1]
    )
    rows = sparse.csr_array(
        (np.ones(2), np.array([3, 7]), np.arange(3)), shape=(2, 100)
    )
    tagger = StructuredPerceptron(random_state=0).fit([rows], [["u", "v"]])
    assert np.flatnonzero(coefficients(tagger).coef.any(axis=1)).tolist() in (
        [3, 7],
        [3],
        [7],
    )


def test_explanations_of_rows():
    X, y = data()
    for form in (
        X,
        SequenceMatrix(sparse.csr_array(X.matrix), X.lengths, feature_names="abcde"),
    ):
        tagger = StructuredPerceptron(random_state=0).fit(form, y)
        explained = explain(tagger, form[1:2][0])
        assert explained.score == pytest.approx(tagger.decision_function(form)[1])
        coef = coefficients(tagger).coef
        label = list(tagger.classes_).index(explained.labels[0])
        parts = dict(explained.tokens[0].features)
        row = X[1][0]
        assert {k: v for k, v in parts.items() if k != "bias"} == pytest.approx(
            {"abcde"[c]: row[c] * coef[c, label] for c in np.flatnonzero(row)}
        )
        assert "bias" in parts and str(explained)


def test_other_tokens_have_none():
    tagger = StructuredPerceptron(random_state=0).fit([["a", "b"]], [["u", "v"]])
    with pytest.raises(
        TypeError, match="coefficients needs a tagger trained on rows of numbers"
    ):
        coefficients(tagger)
    with pytest.raises(AttributeError):
        _ = tagger.n_features_in_
    X, y = data()
    tagger = StructuredPerceptron(random_state=0).fit(X, y)
    assert tagger.n_features_in_ == 5 and tagger.feature_names_in_.tolist() == list(
        "abcde"
    )
