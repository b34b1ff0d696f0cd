"""Predictions of classifiers that have not seen the sequence; by hand."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from token_row_cases import LENGTHS, Memory, data, words

from skstruct import SequenceMatrix, StructuredPerceptron
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
)


@pytest.mark.parametrize("cv", [2, 3, KFold(2, shuffle=True, random_state=0)])
def test_no_sequence_is_scored_by_who_has_seen_it(cv):
    X, y = data()
    predictions = TokenPredictions(Memory(), method="predict_proba", cv=cv)
    np.testing.assert_array_equal(predictions.fit_transform(X, y).matrix, 0.5)
    everything = predictions.transform(X).matrix
    labels = [label for part in y for label in part]
    np.testing.assert_array_equal(
        everything, np.array(labels)[:, None] == predictions.classes_
    )
    # Rows that two sequences share are known from the other one, and from there alone.
    twice = SequenceMatrix(np.vstack([X.matrix, X.matrix]), LENGTHS * 2)
    groups = np.tile(np.arange(6), 2)
    found = TokenPredictions(Memory(), method="predict_proba", cv=GroupKFold(3))
    assert (found.fit_transform(twice, y + y, groups=groups).matrix == 0.5).all()
    halves = [(range(6), range(6, 12)), (range(6, 12), range(6))]
    ungrouped = TokenPredictions(Memory(), method="predict_proba", cv=halves)
    assert (ungrouped.fit_transform(twice, y + y).matrix != 0.5).all()


def test_the_pipeline_learns_from_scores_out_of_fold():
    X, y = data()
    pipeline = make_pipeline(
        TokenPredictions(Memory(), cv=2), StructuredPerceptron(random_state=0)
    ).fit(X, y)
    scores = TokenPredictions(Memory(), cv=2).fit_transform(X, y)
    tagger = StructuredPerceptron(random_state=0).fit(scores, y)
    assert (
        pipeline[-1].decision_function(scores).tolist()
        == tagger.decision_function(scores).tolist()
    )


@pytest.mark.parametrize(
    "classifier, method",
    [
        (ExtraTreesClassifier(5, random_state=0), "predict_log_proba"),
        (LogisticRegression(), "predict_proba"),
        (Perceptron(random_state=0), "decision_function"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier(1)), "auto"),
    ],
)
def test_scores_by_hand(classifier, method):
    X, y = data()
    flat = np.array([label for part in y for label in part])
    predictions = TokenPredictions(classifier, method=method, cv=KFold(3))
    found = predictions.fit_transform(X, y).matrix
    sequence = np.repeat(np.arange(6), LENGTHS)
    for _, test in KFold(3).split(np.arange(6)):
        out = np.isin(sequence, test)
        fitted = clone(classifier).fit(X.matrix[~out], flat[~out])
        if method == "decision_function":
            expected = fitted.decision_function(X.matrix[out])[:, None]
        else:
            expected = fitted.predict_proba(X.matrix[out])
            if method != "predict_proba":
                expected = np.log(np.maximum(expected, 0.01))
        np.testing.assert_allclose(found[out], expected)
    assert predictions.transform(X).feature_names == tuple(
        predictions.get_feature_names_out()
    )


def test_labels_that_a_split_lacks_and_tokens_without():
    X, y = data()
    y = [list(part) for part in y]
    y[0], y[2][1] = ["rare", "low", "high"], None
    for classifier, method, low in (
        (Memory(), "predict_proba", 0.0),
        (Memory(), "predict_log_proba", np.log(0.01)),
        (Perceptron(random_state=0), "decision_function", None),
    ):
        found = TokenPredictions(
            classifier,
            method=method,
            cv=[([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])],
        )
        scores = found.fit_transform(X, y)
        assert (
            scores.matrix.shape == (sum(LENGTHS), 3)
            and np.isfinite(scores.matrix).all()
        )
        rare = scores.matrix[:7, found.classes_.tolist().index("rare")]
        np.testing.assert_array_equal(
            rare, scores.matrix[:7].min(axis=1) if low is None else low
        )
    dicts = [[{"w": word} for word in x] for x in words()[0]]
    pipeline = make_pipeline(DictVectorizer(), LogisticRegression())
    assert TokenPredictions(pipeline, cv=2).fit(dicts, words()[1]).transform(
        dicts
    ).matrix.shape == (8, 3)


def test_what_predictions_refuse():
    X, y = data()
    with pytest.raises(ValueError, match="PCA has none of the methods"):
        TokenPredictions(PCA()).fit(X, y)
    with pytest.raises(
        ValueError, match="Perceptron has none of the methods predict_proba,"
    ):
        TokenPredictions(Perceptron(), method="predict_proba").fit(X, y)
    with pytest.raises(ValueError, match="exactly one test set; sequence 0 is in 0"):
        TokenPredictions(Memory(), cv=[([0, 1], [2, 3, 4, 5])]).fit_transform(X, y)
    with pytest.raises(ValueError, match="split 1 of cv=.* leaves no labelled token"):
        TokenPredictions(
            Memory(), cv=[([0], [1, 2, 3, 4, 5]), ([1], [0])]
        ).fit_transform(X, y)
    with pytest.raises(
        ValueError, match="y must be a list of label sequences, got None"
    ):
        TokenPredictions(Memory()).fit(X, None)
    with pytest.raises(ValueError, match="sequence 5: as many labels as tokens"):
        TokenPredictions(Memory()).fit(X, [*y[:5], []])
    with pytest.raises(ValueError, match="X holds no token"):
        TokenPredictions(Memory()).fit([[], []], [[], []])
    with pytest.raises(NotFittedError):
        TokenPredictions(Memory()).transform(X)


def test_metadata_of_classifiers():
    X, y = data()
    weight = np.arange(6.0) + 1
    found = TokenPredictions(Memory(), cv=2).fit(X, y, sample_weight=weight)
    assert found.classifier_.weights_.tolist() == np.repeat(weight, LENGTHS).tolist()
    with pytest.raises(
        ValueError, match="sample_weight must have one value a sequence, 6, got 2"
    ):
        TokenPredictions(Memory(), cv=2).fit(X, y, sample_weight=weight[:2])
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Memory().set_fit_request(sample_weight=True)
        predictions = TokenPredictions(inner, cv=GroupKFold(2))
        union = SequenceUnion([("raw", "passthrough"), ("p", predictions)])
        tagger = StructuredPerceptron(random_state=0).set_fit_request(
            sample_weight=True
        )
        pipeline = make_pipeline(union, tagger)
        pipeline.fit(X, y, sample_weight=weight, groups=[0, 0, 1, 1, 2, 2])
        fitted = pipeline[0].transformer_list[1][1].classifier_
        assert fitted.weights_.tolist() == np.repeat(weight, LENGTHS).tolist()
