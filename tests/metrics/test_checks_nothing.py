"""Nothing to count: every metric, in every way to have nothing.

There is either a ValueError, where no token, word or text counts at all, or 0.0 with an
`UndefinedMetricWarning`, as in scikit-learn; never a number without a word.
"""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning

from skstruct import metrics

LABELS = {
    "no sequences": ([], []),
    "empty sequences": ([[], []], [[], []]),
    "no gold labels": ([[None, None]], [["B-A", "O"]]),
    "weights of 0": ([["B-A"]], [["B-A"]], {"sample_weight": [0.0]}),
    "weights of 0 for all that counts": (
        [["B-A"], [None]],
        [["B-A"], ["O"]],
        {"sample_weight": [0.0, 1.0]},
    ),
}
SEGMENTS = {
    **LABELS,
    "no segments": ([["O", "O"]], [["O", "O"]]),
    "segments beside unknown labels": ([["B-A", None, "O"]], [["B-A", "O", "O"]]),
}
TOKENS = {
    **LABELS,
    "no labels chosen": ([["A"]], [["A"]], {"labels": []}),
    "a label that is misspelt": ([["A"]], [["A"]], {"labels": ["a"]}),
}
SPANS = {
    "no texts": ([], []),
    "no spans": ([[], []], [[], []]),
    "only spans without label": ([[(0, 3, None)]], [[(0, 2, "A")]]),
    "weights of 0": ([[(0, 3, "A")]], [[(0, 3, "A")]], {"sample_weight": [0.0]}),
    "weights of 0 for all that counts": (
        [[(0, 3, "A")], []],
        [[(0, 3, "A")], []],
        {"sample_weight": [0.0, 1.0]},
    ),
    "nothing annotated": (
        [[(0, 3, None)]],
        [[(0, 3, "A")]],
        {"texts": ["Ann"]},
    ),
}
WORDS = {
    "no sentences": ([], []),
    "no words": ([[], []], [[], []]),
    "weights of 0": ([["a"]], [["a"]], {"sample_weight": [0.0]}),
}
TREES = {
    "no sentences": ([], []),
    "no tokens": ([[]], [[]]),
    "no heads": ([[None]], [[0]]),
    "weights of 0": ([[(0, "r")]], [[(0, "r")]], {"sample_weight": [0.0]}),
}
TYPED = {**TREES, "no labels of arcs": ([[(0, None)]], [[(0, "r")]])}
PROBABILITIES = {
    "no predictions": ([], []),
    "no sequences": ([], [], {"labels": ["A"]}),
    "no gold labels": ([[None]], [np.ones((1, 1))], {"labels": ["A"]}),
    "weights of 0": ([True], [0.5], {"sample_weight": [0.0]}),
}
LOSSES = {
    "no sequences": ([], []),
    "no gold labels": ([[None]], [-0.5]),
    "weights of 0": ([["A"]], [-0.5], {"sample_weight": [0.0]}),
}


def twice(ways):
    """The ways for two systems, which have no weights."""
    return {
        name: (true, found, found, *more)
        for name, (true, found, *more) in ways.items()
        if not any("sample_weight" in each for each in more)
    }


TABLE = {
    metrics.token_accuracy_score: LABELS,
    metrics.sequence_accuracy_score: LABELS,
    metrics.segment_f1_score: SEGMENTS,
    metrics.segment_report: SEGMENTS,
    metrics.token_f1_score: TOKENS,
    metrics.token_report: TOKENS,
    metrics.span_f1_score: SPANS,
    metrics.span_report: SPANS,
    metrics.partial_span_report: SPANS,
    metrics.word_f1_score: WORDS,
    metrics.segmentation_report: {
        **{name: (*given[:2], ["a"], *given[2:]) for name, given in WORDS.items()},
        "no unknown words": ([["a"]], [["a"]], ["a"]),
        "no known words": ([["a"]], [["a"]], []),
    },
    metrics.attachment_scores: {
        **TYPED,
        "punctuation alone": ([[0]], [[0]], {"punctuation": [[True]]}),
    },
    metrics.unlabeled_attachment_score: TREES,
    metrics.labeled_attachment_score: TYPED,
    metrics.reliability: PROBABILITIES,
    metrics.expected_calibration_error: PROBABILITIES,
    metrics.sequence_log_loss: LOSSES,
    metrics.paired_bootstrap: {
        **{f"tokens: {name}": given for name, given in twice(LABELS).items()},
        **{
            f"segments: {name}": (*given[:3], {"score": "segments"})
            for name, given in twice(SEGMENTS).items()
        },
        **{
            f"spans: {name}": (*given[:3], {"score": "spans", **dict(*given[3:])})
            for name, given in twice(SPANS).items()
        },
        **{
            f"words: {name}": (*given[:3], {"score": "words"})
            for name, given in twice(WORDS).items()
        },
    },
}
"""By metric the ways to have nothing: its arguments, then a dict of options."""

ROWS = [
    pytest.param(metric, given, id=f"{metric.__name__}: {name}")
    for metric, ways in TABLE.items()
    for name, given in ways.items()
]
WITH_OPTION = {
    metric
    for metric in TABLE
    if "zero_division" in inspect.signature(metric).parameters
}


def test_all_metrics_are_here():
    functions = {
        getattr(metrics, name)
        for name in metrics.__all__
        if inspect.isfunction(getattr(metrics, name)) and "scorer" not in name
    }
    missing = {metric.__name__ for metric in functions - set(TABLE)}
    assert functions == set(TABLE), (
        f"enter {missing} in TABLE: arguments with nothing to score, by what is missing"
    )
    reports = {m for m in TABLE if "report" in m.__name__ or "f1" in m.__name__}
    # Of words there is always something to count, or an error.
    assert WITH_OPTION == reports - {metrics.word_f1_score}


def called(metric, given, **more):
    """What a metric returns, or None for a ValueError; and its warnings."""
    options = dict(given[-1]) if isinstance(given[-1], dict) else {}
    arguments = given[:-1] if options else given
    if isinstance(given[-1], dict) and not options:
        arguments = given[:-1]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = metric(*arguments, **options, **more)
        except ValueError as error:
            assert "nothing" in str(error) or "empty" in str(error), error
            found = None
    return found, [str(w.message) for w in told if w.category is UndefinedMetricWarning]


@pytest.mark.parametrize("metric, given", ROWS)
def test_nothing_is_never_a_number_without_a_word(metric, given):
    found, told = called(metric, given)
    if found is None:
        return
    assert told and all("ill-defined and set to 0.0" in text for text in told)
    if isinstance(found, float):
        assert found == 0.0
    elif metric is metrics.paired_bootstrap:
        assert found[:5] == (0.0,) * 5 and found.p_value == 1.0
    else:
        assert "nan" not in str(found)
        assert "0.0000" in str(found)


@pytest.mark.parametrize(
    "metric, given", [row for row in ROWS if row.values[0] in WITH_OPTION]
)
def test_another_value_can_be_asked_for(metric, given):
    """In silence; as in scikit-learn it is 0, 1 or NaN."""
    before, told_before = called(metric, given)
    for value in 0.0, 1.0, np.nan, 0, 1:
        found, told = called(metric, given, zero_division=value)
        assert told == [] and (found is None) == (before is None)
        if isinstance(found, float):
            np.testing.assert_equal(found, float(value))
    for wrong in 2, "warm", None, 0.5:
        options = given[-1] if isinstance(given[-1], dict) else {}
        arguments = given[:-1] if isinstance(given[-1], dict) else given
        with pytest.raises(ValueError, match="zero_division must be"):
            metric(*arguments, **options, zero_division=wrong)


def test_a_misspelt_label_is_told():
    """As in scikit-learn it counts in the average."""
    from sklearn.metrics import f1_score

    y_true, y_pred = [["yes", "no", "no"]], [["yes", "no", "yes"]]
    for average in "macro", "micro", "weighted":
        with pytest.warns(UndefinedMetricWarning, match="nothing of 'Yes' is true"):
            found = metrics.token_f1_score(
                y_true, y_pred, labels=["Yes", "no"], average=average
            )
        with (
            pytest.warns(UndefinedMetricWarning)
            if average != "micro"
            else (warnings.catch_warnings())
        ):
            expected = f1_score(
                y_true[0], y_pred[0], labels=["Yes", "no"], average=average
            )
        assert found == pytest.approx(expected)
    left_out = metrics.token_f1_score(
        y_true, y_pred, labels=["Yes", "no"], zero_division=np.nan
    )
    assert left_out == metrics.token_f1_score(y_true, y_pred, labels=["no"])
    with pytest.warns(UndefinedMetricWarning):
        report = metrics.token_report(y_true, y_pred, labels=["Yes"], output_dict=True)
    assert report["Yes"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}


def test_a_type_that_is_never_predicted_is_told():
    """Its precision has nothing to count; NaN stays out of averages."""
    given = [["B-A", "B-B"]], [["B-A", "O"]]
    with pytest.warns(UndefinedMetricWarning, match="Precision .*nothing of 'B'"):
        report = metrics.segment_report(*given, output_dict=True)
    assert report["macro avg"]["precision"] == 0.5
    report = metrics.segment_report(*given, output_dict=True, zero_division=np.nan)
    assert report["macro avg"]["precision"] == 1.0
    assert np.isnan(report["B"]["precision"]) and report["B"]["f1"] == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metrics.segment_f1_score(*given, average="macro") == 0.5


def test_scorers_prefer_to_find_nothing_where_nothing_is():
    """So that held-out sequences without segments tell epochs apart."""

    class Answers(BaseEstimator):
        def __init__(self, found):
            self.found = found

        def predict(self, X):
            return self.found

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found, value in ([["O"]], 1.0), ([["B-A"]], 0.0):
            for scorer in (
                metrics.segment_f1_scorer,
                metrics.segment_f1_scorer_for("BIO", "macro"),
            ):
                assert scorer(Answers(found), [["a"]], [["O"]]) == value
        for found, value in ([[]], 1.0), ([[(0, 1, "A")]], 0.0):
            assert metrics.span_f1_scorer(Answers(found), ["a"], [[]]) == value
    with pytest.warns(UndefinedMetricWarning):
        scorer = metrics.token_f1_scorer_for(["Yes"])
        assert scorer(Answers([["yes"]]), [["a"]], [["yes"]]) == 0.0
