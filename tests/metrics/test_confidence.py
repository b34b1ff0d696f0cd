"""Scores of probabilities, worked out by hand and a second way."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.model_selection import cross_val_score

from skstruct import L1CRF
from skstruct.metrics import (
    expected_calibration_error,
    expected_calibration_error_scorer,
    reliability,
    sequence_log_loss,
    sequence_log_loss_scorer,
)

LABELS = ["A", "B"]
PROBA = [np.array([[0.9, 0.1], [0.3, 0.7]]), np.zeros((0, 2)), np.array([[0.6, 0.4]])]
Y = [["A", "A"], [], ["A"]]


def test_by_hand():
    bins = reliability(Y, PROBA, labels=LABELS, n_bins=3)
    np.testing.assert_allclose(bins.confidence, [0.6, 0.7, 0.9])
    assert bins.accuracy.tolist() == [1.0, 0.0, 1.0] and bins.count.tolist() == [
        1,
        1,
        1,
    ]
    error = expected_calibration_error(Y, PROBA, labels=LABELS, n_bins=3)
    assert error == pytest.approx((0.4 + 0.7 + 0.1) / 3)
    assert expected_calibration_error(
        Y, PROBA, labels=LABELS, n_bins=1
    ) == pytest.approx(abs(2.2 / 3 - 2 / 3))
    weighted = expected_calibration_error(
        Y, PROBA, labels=LABELS, n_bins=1, sample_weight=[1, 5, 0]
    )
    assert weighted == pytest.approx(0.8 - 0.5)
    assert expected_calibration_error(
        [[None, "B"], [], [None]], PROBA, labels=LABELS
    ) == pytest.approx(0.3)
    assert (
        expected_calibration_error(
            [["Z", "A"], [], ["A"]], PROBA, labels=LABELS, n_bins=1
        )
        > 0.1
    )


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_curve_is_scikit_learns(strategy):
    random = np.random.RandomState(0)
    p = random.uniform(size=1000)
    right = random.uniform(size=1000) < p**2
    accuracy, confidence = calibration_curve(right, p, n_bins=10, strategy=strategy)
    bins = reliability(right, p, strategy=strategy)
    np.testing.assert_allclose(bins.confidence, confidence, atol=2e-3)
    np.testing.assert_allclose(bins.accuracy, accuracy, atol=2e-2)
    error = expected_calibration_error(right, p, strategy=strategy)
    assert error == pytest.approx(
        np.abs(bins.confidence - bins.accuracy) @ bins.count / 1000
    )


def test_bins_have_equally_many_predictions():
    bins = reliability([True] * 95, np.linspace(0.5, 1.0, 95))
    assert bins.count.tolist() == [10] * 5 + [9] * 5


def test_log_loss():
    assert sequence_log_loss([["A", "B"], ["A"]], [-2.0, -1.0]) == pytest.approx(1.0)
    assert sequence_log_loss(
        [["A", "B"], ["A"]], [-2.0, -1.0], sample_weight=[0, 3]
    ) == pytest.approx(1.0)
    impossible = -np.log(
        np.finfo(float).eps
    )  # of a label; of a labelling of two as of two labels
    assert sequence_log_loss([["A"], ["B"]], [-np.inf, -1.0]) == pytest.approx(
        (impossible + 1.0) / 2
    )
    assert sequence_log_loss([["A", "B"], ["B"]], [-np.inf, -1.0]) == pytest.approx(
        (2 * impossible + 1) / 3
    )
    assert (
        sequence_log_loss([["A"], ["B"]], [-np.inf, -1.0], sample_weight=[0, 1]) == 1.0
    )


def test_scorers():
    X = [["a", "b"], ["b", "c"], ["c", "a"]] * 10
    y = [["A", "B"], ["B", "A"], ["A", "B"]] * 10
    crf = L1CRF(["U0:%x[0,0]", "B"], c1=0.1, random_state=0).fit(X, y)
    loss = sequence_log_loss(y, crf.sequence_log_proba(X, y))
    assert sequence_log_loss_scorer(crf, X, y) == -loss < 0.0
    error = expected_calibration_error(y, crf.predict_marginals(X), labels=crf.classes_)
    assert expected_calibration_error_scorer(crf, X, y) == -error
    for scorer in (sequence_log_loss_scorer, expected_calibration_error_scorer):
        assert (
            cross_val_score(crf, X, y, scoring=scorer, cv=2, error_score="raise") <= 0.0
        ).all()


@pytest.mark.parametrize(
    "given, options, message",
    [
        ((Y, PROBA[:2]), {"labels": LABELS}, "as many sequences: got 3 and 2"),
        ((Y, [PROBA[0].T[:1], *PROBA[1:]]), {"labels": LABELS}, r"of sequence 0 must have the shape"),
        ((Y, PROBA), {"labels": ["A"]}, r"sequence 0 must have the shape \(2, 1\), got \(2, 2\)"),
        ((Y, [*PROBA[:2], [[1.5, -0.5]]]), {"labels": LABELS}, "sequence 2 must hold probabilities"),
        ((Y, PROBA), {}, "give their labels, labels=model.classes_"),
        (([True], [0.5, 0.6]), {}, "a number for each of the 1 elements"),
        (([True], [1.5]), {}, "position 0: expected a probability, got 1.5"),
        (([2], [0.5]), {}, "y_true must be an array of bool"),
        (([["A"]], [[[0.5, 0.5]]]), {"labels": ["A", "A"]}, "labels holds 'A' twice"),
        (([["A"]], [[[0.9, 0.9]]]), {"labels": LABELS}, "sequence 0, position 0: .* must add up to 1, got 1.8"),
        (([["A"]], [[{"A": 1.0}]]), {"labels": LABELS}, r"sequence 0 must hold rows .*\[token\[label\] for label in labels\]"),
        (([True], [0.5]), {"n_bins": 0}, "n_bins must be an int of at least 1, got 0"),
        (([True], [0.5]), {"strategy": "equal"}, "strategy must be one of 'quantile', 'uniform'"),
        (([True], [0.5]), {"sample_weight": [-1]}, "sample_weight must be finite and at least 0"),
    ],
)  # fmt: skip
def test_bad_input(given, options, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(*given, **options)


def test_bad_log_probabilities():
    with pytest.raises(
        ValueError, match=r"log_proba must have shape \(1,\), got \(2,\)"
    ):
        sequence_log_loss([["A"]], [-1.0, -2.0])
    for bad in (0.5, np.nan):
        with pytest.raises(
            ValueError, match="log_proba: sequence 1: expected a log-probability"
        ):
            sequence_log_loss([["A"], ["B"]], [-1.0, bad])


def test_labels_that_are_tuples():
    marginals = [np.array([[0.9, 0.1], [0.2, 0.8]])]
    found = reliability(
        [[(1, "a"), (2, "b")]], marginals, labels=[(1, "a"), (2, "b")], n_bins=1
    )
    assert found.accuracy.tolist() == [1.0]


@pytest.mark.parametrize("n_labels", [2, 5, 17, 45, 90])
def test_probabilities_of_two_decimals_are_taken(n_labels):
    """Of many labels, those that are left out by rounding add up."""
    labels = [f"L{k}" for k in range(n_labels)]
    rows = np.random.RandomState(0).dirichlet([0.2] * n_labels, 20)
    y = [[labels[k] for k in rows.argmax(axis=1)]]
    exact = expected_calibration_error(y, [rows], labels=labels)
    rounded = expected_calibration_error(y, [rows.round(2)], labels=labels)
    assert rounded == pytest.approx(exact, abs=0.005)
    with pytest.raises(ValueError, match="must add up to 1, got 0"):
        reliability(y, [rows * 0.0], labels=labels)
