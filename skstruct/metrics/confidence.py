"""Scores of probabilities: does what is said to be sure to 90 % hold nine times in ten?

Tokens whose true label is None do not count; a true label that a model never saw is its
error (:mod:`.counting`).

References
----------
C. Guo, G. Pleiss, Y. Sun and K. Weinberger, "On calibration of modern neural networks",
ICML 2017 (expected calibration error).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import eq
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.inputs import (
    PLACE,
    PlaceError,
    check_choice,
    check_positive,
    refuse_masked,
)
from .._data.labels import check_gold, settled
from .._data.places import describe
from .._data.types import Corpus, Weights
from .._sklearn import final_step
from .checks import as_list, as_lists, ratio
from .counting import (
    LOG_LEAST,
    NO_WEIGHT,
    as_known,
    check_weight,
    refuse_nothing,
    weights_of,
)

ROUNDING = 0.005
"""By how much a probability that is rounded to two decimals may be off."""

MISSES = 0.05, 0.5
"""By how much the probabilities of a token may miss a sum of 1, if they are few, and if
they are many: rounded ones do.
"""

Strategy: TypeAlias = Literal["quantile", "uniform"]
Floats: TypeAlias = NDArray[np.float64]


class Reliability(NamedTuple):
    """Predictions by confidence, in bins, those without predictions left out.

    Attributes
    ----------
    confidence : ndarray of shape (n_bins,)
        Mean probability of the predictions.
    accuracy : ndarray of shape (n_bins,)
        Share of them that is right.
    count : ndarray of shape (n_bins,)
        How many they are; of predictions with weights the sum of these.
    """

    confidence: Floats
    accuracy: Floats
    count: Floats  # type: ignore[assignment]  # not the method of tuples


def reliability(
    y_true: Corpus | ArrayLike,
    y_proba: Corpus | ArrayLike,
    *,
    labels: ArrayLike | None = None,
    n_bins: int = 10,
    strategy: Strategy = "quantile",
    sample_weight: Weights = None,
) -> Reliability:
    """Compute accuracy by confidence: the curve of a reliability diagram.

    Parameters
    ----------
    y_true : list of sequences of labels, or array-like of shape (n_predictions,)
        The right labels, None where there is none. Or, without ``labels``, whether each
        of any predictions, of segments say, is right.
    y_proba : list of arrays, or array-like of shape (n_predictions,)
        What ``predict_marginals`` returns, of shape (n_tokens, n_labels): the
        confidence of a token is the probability of its most probable label. Or the
        probabilities of the predictions.
    labels : array-like of shape (n_labels,), optional
        Labels of the columns of ``y_proba``: ``classes_`` of the model.
    n_bins : int, default=10
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equally many predictions, or of equal width. Predictions of the same
        probability are in one bin, so that a bin of the former kind may hold more than
        others, or none.
    sample_weight : array-like of shape (n_sequences,) or (n_predictions,), optional
        Multiplies the counts of predictions; those of weight 0 are in no bin.

    Returns
    -------
    Reliability
        It does not depend on the order of the predictions.

    Raises
    ------
    ValueError
        If shapes do not fit, a probability is not in [0, 1], no prediction counts, or a
        parameter has a value not named here.
    """
    check_choice("strategy", strategy, ("quantile", "uniform"))
    check_positive("n_bins", n_bins)
    if labels is None:
        right, p = _flat(y_true, y_proba)
        weight = check_weight(sample_weight, len(p))
        refuse_nothing(len(p), "there is nothing to score: no prediction is given")
    else:
        right, p, lengths = _of_tokens(y_true, y_proba, as_list(labels, "labels"))
        weight = np.repeat(np.array(weights_of(sample_weight, lengths), float), lengths)
    refuse_nothing(weight, NO_WEIGHT)
    # From here on in an order that does not depend on that of the input, down to the
    # rounding of sums.
    order = np.lexsort((weight, right, p))
    right, p, weight = (each[order[weight[order] > 0.0]] for each in (right, p, weight))
    which = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    if strategy == "quantile":
        which = _equally_many(p, n_bins)
    bins = [np.flatnonzero(which == k) for k in np.unique(which)]
    count = np.array([weight[each].sum() for each in bins])
    confidence = np.array([weight[each] @ p[each] for each in bins])
    accuracy = np.array([weight[each] @ right[each] for each in bins])
    return Reliability(confidence / count, accuracy / count, count)


def _equally_many(p: np.ndarray, n_bins: int) -> np.ndarray:
    """Sort ascending numbers into bins of equally many, (n,) int.

    Equal numbers go where their middle is.
    """
    n = p.shape[0]
    place = np.repeat(
        np.arange(n_bins), [len(part) for part in np.array_split(np.arange(n), n_bins)]
    )
    first = np.searchsorted(p, p, "left")
    stop = np.searchsorted(p, p, "right")
    return place[(first + stop - 1) // 2]


def _flat(y_true: Any, y_proba: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return whether predictions are right, and their probabilities."""
    refuse_masked(y_true, "y_true")
    refuse_masked(y_proba, "y_proba")
    right = _array(y_true)
    p = _array(y_proba, np.float64)
    if (
        right.ndim != 1
        or right.dtype.kind not in "bif"
        or not np.isin(right, (0, 1)).all()
    ):
        wrong = "y_true must be an array of bool, or 0 and 1: whether each prediction is right"
        raise ValueError(
            f"{wrong}; with marginals of tokens give their labels, labels=model.classes_"
        )
    if p.shape != right.shape:
        raise ValueError(
            f"y_proba must hold a number for each of the {len(right)} elements of y_true"
        )
    bad = np.flatnonzero(~((p >= 0.0) & (p <= 1.0)))
    if bad.size:
        raise ValueError(
            f"y_proba: position {bad[0]}: expected a probability, got {p[bad[0]]}"
        )
    return right.astype(np.float64), p


def _array(values: Any, dtype: Any = None) -> np.ndarray:
    """Make an array of values, one of two dimensions if they are none.

    Sequences of several lengths are no array.
    """
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError):
        return np.zeros((0, 0))


def _of_tokens(
    y_true: Any, y_proba: Any, labels: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Judge the tokens with a label.

    Returns
    -------
    right : ndarray of shape (n,)
    confidence : ndarray of shape (n,)
    lengths : list of int
        How many there are in each sequence.
    """
    right: list[bool] = []
    p = [np.zeros(0)]
    lengths = []
    gold, proba = as_lists(y_true, y_proba, ("y_true", "y_proba"))
    gold = [as_list(true, "y_true", i) for i, true in enumerate(gold)]
    check_gold(gold, labels, ("y_true", "labels"))
    twice = [label for label, n in Counter(labels).items() if n > 1]
    if twice:
        raise ValueError(
            f"labels holds {twice[0]!r} twice, and names the columns of y_proba: "
            "labels=model.classes_"
        )
    most = np.clip(ROUNDING * len(labels), *MISSES)
    for i, (true, rows) in enumerate(zip(gold, proba)):
        rows = _marginals(i, rows)
        shape = len(true), len(labels)
        if rows.shape != shape:
            raise PlaceError(
                i,
                None,
                f"y_proba of {PLACE} must have the shape {shape}, got {rows.shape}",
            )
        if not ((rows >= 0.0) & (rows <= 1.0)).all():
            raise PlaceError(i, None, f"y_proba of {PLACE} must hold probabilities")
        given = [t for t, label in enumerate(true) if label is not None]
        total = rows[given].sum(axis=1)
        off = np.flatnonzero(np.abs(total - 1.0) > most)
        if off.size:
            k = int(off[0])
            wrong = f"the probabilities of a token must add up to 1, got {total[k]:g}"
            raise PlaceError(i, given[k], wrong, "y_proba")
        best = rows[given].argmax(axis=1)
        found = [labels[k] for k in best.tolist()]
        right += map(eq, settled([true[t] for t in given], found), found)
        p.append(rows[given, best])
        lengths.append(len(given))
    return np.array(right, np.float64), np.concatenate(p), lengths


def _marginals(i: int, rows: Any) -> np.ndarray:
    """Return the probabilities of the labels of each token of sequence ``i``."""
    refuse_masked(rows, "y_proba")
    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        first = rows[0] if isinstance(rows, (list, tuple)) and len(rows) else rows
        hint = ""
        if isinstance(first, Mapping):
            hint = (
                "; of dicts by label: y_proba = [[[token[label] for label in labels] "
                "for token in sequence] for sequence in y_proba]"
            )
        raise PlaceError(
            i,
            None,
            f"y_proba of {PLACE} must hold rows of numbers, as predict_marginals returns "
            f"them, got {describe(first)}{hint}",
        ) from None


def expected_calibration_error(
    y_true: Corpus | ArrayLike,
    y_proba: Corpus | ArrayLike,
    *,
    labels: ArrayLike | None = None,
    n_bins: int = 10,
    strategy: Strategy = "quantile",
    sample_weight: Weights = None,
) -> float:
    """Compute by how much confidence and accuracy differ, on average over predictions.

    Predictions are sorted into bins by their confidence; in each, the mean confidence
    is compared with the share that is right.

    Parameters
    ----------
    y_true, y_proba, labels, n_bins, strategy, sample_weight
        As of :func:`reliability`.

    Returns
    -------
    float
        It does not depend on the order of the predictions.

    Raises
    ------
    ValueError
        As :func:`reliability`.

    Examples
    --------
    >>> import numpy as np
    >>> marginals = [np.array([[0.8, 0.2], [0.6, 0.4]])]
    >>> round(expected_calibration_error([["A", "B"]], marginals, labels=["A", "B"], n_bins=2), 3)
    0.4
    >>> round(expected_calibration_error([True, False], [0.8, 0.6], n_bins=1), 3)
    0.2
    """
    bins = reliability(
        y_true,
        y_proba,
        labels=labels,
        n_bins=n_bins,
        strategy=strategy,
        sample_weight=sample_weight,
    )
    wrong = float(np.abs(bins.confidence - bins.accuracy) @ bins.count)
    return ratio(wrong, bins.count.sum())


def sequence_log_loss(
    y_true: Corpus, log_proba: ArrayLike, *, sample_weight: Weights = None
) -> float:
    """Compute the negative log-probability of the right labellings per labelled token.

    Parameters
    ----------
    y_true : list of sequences of labels
        Tokens whose label is None do not count, nor do sequences that hold no others.
    log_proba : array-like of shape (n_sequences,)
        Their log-probabilities: ``model.sequence_log_proba(X, y_true)``. A labelling is
        at least as probable as if each label had the probability 2.2e-16, as in
        scikit-learn's ``log_loss``: one that was impossible costs 36 nats a token, and
        not infinitely many.
    sample_weight : array-like of shape (n_sequences,), optional

    Returns
    -------
    float
        In nats, up to 36.04.

    Raises
    ------
    ValueError
        If shapes do not fit, a number is no log-probability, or no token has a label
        and a weight.

    Notes
    -----
    ``sequence_log_loss_scorer`` also scores labels that the model never saw: such a
    label costs 36 nats, and the others of its sequence what they cost where any label
    may stand in its place.

    Examples
    --------
    >>> round(sequence_log_loss([["A", "B"], ["A"]], [-0.5, -0.1]), 3)
    0.2
    """
    y_true = as_list(y_true, "y_true")
    refuse_masked(log_proba, "log_proba")
    try:
        log_proba = np.asarray(log_proba, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "log_proba must be one number a sequence, as model.sequence_log_proba(X, "
            f"y_true) returns them; got {describe(log_proba)}"
        ) from None
    if log_proba.shape != (len(y_true),):
        raise ValueError(
            f"log_proba must have shape ({len(y_true)},), got {log_proba.shape}"
        )
    bad = np.flatnonzero(~(log_proba <= 1e-9))
    if bad.size:
        raise PlaceError(
            bad[0],
            None,
            f"expected a log-probability, got {log_proba[bad[0]]}",
            "log_proba",
        )
    gold = [as_list(each, "y_true", i) for i, each in enumerate(y_true)]
    check_gold(gold, ())
    given = [sum(label is not None for label in labels) for labels in gold]
    tokens = np.array(given, np.float64)
    weight = np.array(weights_of(sample_weight, given), np.float64)
    used = (weight > 0.0) & (tokens > 0.0)
    least = LOG_LEAST * tokens[used]
    loss = -(weight[used] @ np.maximum(log_proba[used], least))
    return ratio(loss, float(weight @ tokens))


# --------------------------------------------------------------------------------------
# Of estimators
# --------------------------------------------------------------------------------------
def score_calibration(
    estimator: Any, X: Corpus, y: Corpus, sample_weight: Weights = None
) -> float:
    """Compute the negative expected calibration error of ``predict_marginals``."""
    model, X = final_step(estimator, X)
    marginals = model.predict_marginals(X)
    return -expected_calibration_error(
        y, marginals, labels=model.classes_, sample_weight=sample_weight
    )


def score_log_loss(
    estimator: Any, X: Corpus, y: Corpus, sample_weight: Weights = None
) -> float:
    """Compute the negative :func:`sequence_log_loss` of ``sequence_log_proba``.

    Labels that the model never saw are scored, too.
    """
    model, X = final_step(estimator, X)
    gold = [as_list(labels, "y", i) for i, labels in enumerate(as_list(y, "y"))]
    classes = as_list(model.classes_, "classes_")
    check_gold(gold, classes, ("y", "the model"))
    known, n_unseen = as_known(gold, classes)
    log_proba = model.sequence_log_proba(X, known) + LOG_LEAST * n_unseen
    return -sequence_log_loss(gold, log_proba, sample_weight=sample_weight)
