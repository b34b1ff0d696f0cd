"""Precision, recall and F1 of tokens by label, against scikit-learn's over the flat
labels.
"""

import pickle
from enum import Enum

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import classification_report, f1_score
from sklearn.model_selection import GridSearchCV

from skstruct import StructuredPerceptron
from skstruct.metrics import (
    SCORERS,
    segment_f1_score,
    segment_report,
    token_accuracy_score,
    token_f1_score,
    token_f1_scorer_for,
    token_report,
)

RNG = np.random.RandomState(0)
LABELS = ["A", "B", "B-C", "O", "long"]
LENGTHS = RNG.randint(0, 9, 40)
Y = [RNG.choice(LABELS, n).tolist() for n in LENGTHS]
SAID = [
    [a if RNG.rand() < 0.6 else str(RNG.choice([*LABELS, "new"])) for a in labels]
    for labels in Y
]
FLAT, FLAT_SAID = sum(Y, []), sum(SAID, [])


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("labels", [None, ["A", "long"], ["B"]])
@pytest.mark.parametrize("weight", [None, RNG.rand(len(Y))])
def test_averages_are_those_of_scikit_learn(average, labels, weight):
    by_token = None if weight is None else np.repeat(weight, LENGTHS)
    expected = f1_score(
        FLAT, FLAT_SAID, labels=labels, average=average, sample_weight=by_token
    )
    found = token_f1_score(
        Y, SAID, labels=labels, average=average, sample_weight=weight
    )
    assert found == pytest.approx(expected) and type(found) is float


def test_by_label_and_report_are_those_of_scikit_learn():
    expected = classification_report(FLAT, FLAT_SAID, output_dict=True, zero_division=0)
    report = token_report(Y, SAID, output_dict=True)
    assert list(report)[: len(LABELS) + 1] == [*LABELS[:4], "long", "new"]
    for name, row in report.items():
        if name == "micro avg":  # of all labels it is the accuracy
            accuracy = token_accuracy_score(Y, SAID)
            assert row["precision"] == row["recall"] == row["f1"] == accuracy
            continue
        other = expected[name]
        assert list(row.values()) == pytest.approx(
            [other["precision"], other["recall"], other["f1-score"], other["support"]]
        )
    by_label = token_f1_score(Y, SAID, average=None)
    assert by_label == {name: report[name]["f1"] for name in [*LABELS, "new"]}
    assert all(isinstance(row["support"], int) for row in report.values())


def test_report_as_text():
    text = token_report([["H", "H", "H", "C", "H"]], [["H", "H", "C", "C", "H"]])
    lines = text.splitlines()
    assert lines[2].split() == ["H", "1.0000", "0.7500", "0.8571", "4"]
    assert len(set(map(len, lines))) == 1
    assert lines[0].split() == ["precision", "recall", "f1", "support"]
    two = token_report([[1, 0]], [[1, 1]], digits=2).splitlines()
    assert two[1].split() == ["0", "0.00", "0.00", "0.00", "1"]


def test_tokens_without_gold_label_do_not_count():
    assert token_f1_score([["A", None]], [["A", "B"]], average=None) == {"A": 1.0}
    assert token_f1_score([["A", "A"]], [["A", None]], average=None) == pytest.approx(
        {"A": 2 / 3}
    )


def test_labels_that_stand_nowhere():
    """They count as 0.0 with a warning, as in scikit-learn; NaN leaves them out."""
    given = [["A", "B"]], [["A", "B"]]
    with pytest.warns(UndefinedMetricWarning, match="nothing of 'rare'"):
        assert token_f1_score(*given, labels=["A", "rare"]) == 0.5
    assert token_f1_score(*given, labels=["A", "rare"], zero_division=np.nan) == 1.0
    assert token_f1_score([["A"]], [["rare"]], labels=["rare"]) == 0.0
    with pytest.warns(UndefinedMetricWarning):
        found = token_f1_score([["A"]], [["A"]], labels=["rare"], average=None)
    assert found == {"rare": 0.0}


class Tag(str, Enum):
    NOUN = "N"
    VERB = "V"


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ([[Tag.NOUN, Tag.VERB]], [["N", "V"]]),
        ([["N", "V"]], [[np.str_("N"), Tag.VERB]]),
        ([np.array(["N", "V"])], [("N", "V")]),
    ],
)
def test_labels_of_subclasses_of_str(gold, said):
    assert token_f1_score(gold, said, average=None) == {"N": 1.0, "V": 1.0}
    assert list(token_report(gold, said, output_dict=True))[:2] == ["N", "V"]


def test_labels_of_several_types_have_an_order():
    found = token_f1_score([[1, 0, 2]], [["x", 0, 2]], average=None)
    assert list(found) == [0, 1, 2, "x"]


@pytest.mark.parametrize("labels", [{"A", "B"}, frozenset("AB")])
@pytest.mark.parametrize("score", [token_f1_score, token_report])
def test_a_set_of_labels_counts_as_no_label_and_is_never_predicted(labels, score):
    y_pred = [["A", "B"], ["A"]]
    assert score([["A", labels], ["B"]], y_pred) == score([["A", None], ["B"]], y_pred)
    with pytest.raises(ValueError, match="nothing to score"):
        score([[labels]], [["A"]])
    with pytest.raises(ValueError, match="y_pred: sequence 1, position 0: .* set of"):
        score([["A"], ["A"]], [["A"], [labels]])


def test_errors_name_the_parameter():
    for wrong in (
        {"average": "binary"},
        {"labels": "AB"},
        {"labels": 3},
    ):
        (name,) = wrong
        with pytest.raises(ValueError, match=name):
            token_f1_score([["A"]], [["A"]], **wrong)
        with pytest.raises(ValueError, match=name):
            token_f1_scorer_for(**wrong)
    with pytest.raises(ValueError, match="average"):
        token_f1_scorer_for(average=None)
    with pytest.raises(ValueError, match="sequence 1, position 0: expected a label"):
        token_f1_score([["A"], [["B"]]], [["A"], ["A"]])


class Constant(BaseEstimator):
    """Predicts what it is told."""

    def __init__(self, said=None):
        self.said = said

    def predict(self, X):
        return self.said


def test_scorers():
    model, X = Constant([["A", "A"]]), [["x", "x"]]
    scorer = pickle.loads(pickle.dumps(token_f1_scorer_for(["A"], "micro")))
    assert scorer(model, X, [["A", "O"]]) == pytest.approx(2 / 3)
    assert SCORERS["token_f1"](model, X, [["A", "O"]]) == pytest.approx(1 / 3)


def test_a_search_and_early_stopping_take_the_score_by_name():
    X, y = [["a", "b"], ["b", "a"]] * 6, [["A", "B"], ["B", "A"]] * 6
    tagger = StructuredPerceptron(
        max_iter=2, scoring="token_f1", early_stopping=True, random_state=0
    )
    assert tagger.fit(X, y).history_[-1]["validation_score"] == 1.0
    search = GridSearchCV(tagger, {"max_iter": [1, 2]}, scoring=SCORERS["token_f1"])
    assert search.set_params(cv=2).fit(X, y).best_score_ == 1.0


@pytest.mark.parametrize("score", [segment_report, segment_f1_score])
def test_scores_of_segments_name_those_of_tokens(score):
    """They advise no scheme that merges neighbours."""
    with pytest.raises(ValueError, match="sequence 0, position 0: .*token_report"):
        score([["H", "C"]], [["H", "C"]])


def test_the_empty_label_is_shown_as_two_quotes():
    text = token_report([["", "a"]], [["", "a"]])
    assert "''" in text.splitlines()[1]
    assert token_report([["", "a"]], [["", "a"]], output_dict=True)[""]["f1"] == 1.0
