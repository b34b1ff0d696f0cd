"""Scores over the labels of all sequences."""

import pickle

import pytest
from sklearn.metrics import f1_score

from skstruct.compat.sklearn_crfsuite import metrics

TRUE = [["A", "B"], ["A"]]
PRED = [["A", "A"], ["A"]]


def test_scores_are_those_of_the_flat_labels():
    assert metrics.flat_accuracy_score(TRUE, PRED) == pytest.approx(2 / 3)
    expected = f1_score(["A", "B", "A"], ["A", "A", "A"], average="macro")
    assert metrics.flat_f1_score(TRUE, PRED, average="macro") == expected
    assert "precision" in metrics.flat_classification_report(TRUE, PRED, ["A"])
    assert metrics.sequence_accuracy_score(TRUE, PRED) == 0.5
    assert metrics.sequence_accuracy_score([], []) == 0


def test_scores_can_be_pickled():
    assert pickle.loads(pickle.dumps(metrics.flat_f1_score)) is metrics.flat_f1_score
