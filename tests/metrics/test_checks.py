"""Input of metrics: containers, and lengths that differ."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from skstruct import StructuredPerceptron, metrics
from skstruct.metrics import (
    attachment_scores,
    segment_f1_score,
    sequence_accuracy_score,
    token_accuracy_score,
    unlabeled_attachment_score,
    word_f1_score,
)

LABELED = [token_accuracy_score, sequence_accuracy_score, segment_f1_score]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def objects(sequences):
    out = np.empty(len(sequences), dtype=object)
    out[:] = [*sequences, None][: len(sequences)]
    return out


# --------------------------------------------------------------- input, errors, scorers
@pytest.mark.parametrize("metric", LABELED)
def test_containers_and_types(metric):
    y = [["B-X", "I-X"], ["O"], ["O", "B-Y"]] * 3
    for convert in (
        list,
        tuple,
        objects,
        lambda y: [tuple(s) for s in y],
        lambda y: [np.array(s) for s in y],
    ):
        score = metric(convert(y), y)
        assert score == 1.0 and type(score) is float
    square = np.array([["B-X", "I-X"], ["O", "B-X"]])
    assert (
        metric(square, square.astype(object)) == metric(square, square.tolist()) == 1.0
    )


def test_containers_of_words_and_trees():
    words = np.array([["a", "b"], ["c", "d"]])
    assert word_f1_score(words, objects([("a", "b"), ("c", "d")])) == 1.0
    tagged = np.array([[["a", "X"], ["b", "Y"]]], dtype=object)
    assert word_f1_score(tagged, [[("a", "X"), ("b", "Z")]]) == 0.5
    trees = np.array([[[2, "x"], [0, "root"]]], dtype=object)
    assert attachment_scores(trees, [[(2, "x"), (0, "root")]]) == (1.0, 1.0, 1.0, 2)


@pytest.mark.parametrize(
    "metric", [*LABELED, word_f1_score, unlabeled_attachment_score]
)
def test_length_errors(metric):
    y = [[0, 1] if metric is unlabeled_attachment_score else ["B", "I"]] * 9
    with pytest.raises(ValueError, match="as many sequences: got 9 and 8"):
        metric(y, y[:-1])
    with pytest.raises(ValueError, match="sequence 8"):
        metric(y, [*y[:-1], y[8][:1]])
    with pytest.raises(ValueError, match="sequence 8 of y_true must be a list; got 7"):
        metric([*y[:-1], 7], y)
    with pytest.raises(ValueError, match="y_pred must be a list"):
        metric(y, None)
    with pytest.raises(ValueError, match="y_true must be a list"):
        metric("BI", y)


def test_a_metric_in_place_of_a_scorer_is_refused():
    X, y = [["a", "b"]] * 4, [["B-X", "O"]] * 4
    tagger, metric = StructuredPerceptron(), metrics.token_accuracy_score
    with pytest.raises(ValueError, match=r"got a Struc.*; a scorer, .*metrics.SCORERS"):
        cross_val_score(tagger, X, y, scoring=metric, cv=2, error_score="raise")
