"""The common part of all metrics: checks of their input, and the two divisions.

Everything becomes a list of pairs of lists once, with errors that name the sequence, so
that the metrics are plain counting. What counts is said in :mod:`.counting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._core.user_warnings import warn
from .._data.elements import elements, is_frame, opened
from .._data.inputs import PLACE, PlaceError
from .._data.labels import check_gold

if TYPE_CHECKING:
    from .label_scores import Labels


def as_list(
    sequence: Any, name: str, i: int | None = None
) -> list[Any] | tuple[Any, ...]:
    """Return a list or tuple of what a sized sequence holds; a str is none.

    ``i`` is its number in ``name``, for errors.
    """
    if isinstance(sequence, (list, tuple)):
        return sequence
    sequence = opened(sequence)
    if isinstance(sequence, np.ndarray) and sequence.ndim:
        return sequence.tolist()
    table = is_frame(sequence)
    if (
        table
        or isinstance(sequence, (str, np.ndarray, Mapping))
        or not hasattr(sequence, "__len__")
    ):
        got = f"a {type(sequence).__name__}" if table else repr(sequence)
        if hasattr(sequence, "predict"):
            got = (
                f"a {type(sequence).__name__}: a metric takes labels; a scorer, "
                "scoring(estimator, X, y), is in skstruct.metrics.SCORERS"
            )
        if i is None:
            raise ValueError(f"{name} must be a list; got {got}")
        raise PlaceError(i, None, f"{PLACE} of {name} must be a list; got {got}")
    return elements(sequence)


def as_lists(
    y_true: Any, y_pred: Any, names: tuple[str, str]
) -> list[list[Any] | tuple[Any, ...]]:
    """Return both sides as lists, which must hold as many sequences."""
    both = [as_list(y, name) for y, name in zip((y_true, y_pred), names)]
    n_true, n_pred = map(len, both)
    if n_true != n_pred:
        raise ValueError(
            f"{' and '.join(names)} must have as many sequences: got {n_true} and {n_pred}"
        )
    return both


def check_pairs(
    y_true: Any,
    y_pred: Any,
    same_length: bool = True,
    names: tuple[str, str] = ("y_true", "y_pred"),
    hint: str = "",
) -> list[tuple[Labels, Labels]]:
    """Check both sides, and return [(true sequence, predicted sequence)].

    A hint is added to the error about unequal lengths.
    """
    pairs = []
    for i, both in enumerate(zip(*as_lists(y_true, y_pred, names))):
        true, pred = (as_list(sequence, name, i) for sequence, name in zip(both, names))
        if same_length and len(true) != len(pred):
            found = f"got {len(true)} and {len(pred)}{hint}"
            raise PlaceError(
                i, None, f"{' and '.join(names)} must be equally long: {found}"
            )
        pairs.append((true, pred))
    return pairs


def label_pairs(
    y_true: Any, y_pred: Any, hint: str = ""
) -> list[tuple[Labels, Labels]]:
    """Check both sides, which hold a label for each token, and return them as
    :func:`check_pairs` does.
    """
    pairs = check_pairs(y_true, y_pred, hint=hint)
    true, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    check_gold(true, chain.from_iterable(predicted))
    return pairs


def of_pairs(i: int | None, sequence: Any, what: str) -> tuple[list[Any], list[Any]]:
    """Part the pairs of sequence `i` into two lists; errors say ``what`` pairs are."""
    try:
        return [first for first, _ in sequence], [second for _, second in sequence]
    except (TypeError, ValueError):
        raise PlaceError(
            i, None, f"expected ({what}) pairs; got {sequence!r:.80}"
        ) from None


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Sort distinct labels; those of several types by type."""
    distinct = set(labels)
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda label: (type(label).__name__, str(label)))


ZeroDivision: TypeAlias = "Literal['warn'] | float"
"""The score where there is nothing to count, as in scikit-learn."""


def ratio(numerator: float, denominator: float, nothing: float = 0.0) -> float:
    """Divide, and return a Python float; ``nothing`` for a zero denominator."""
    return float(numerator / denominator) if denominator else nothing


def f1(correct: float, n_true: float, n_pred: float, nothing: float = 0.0) -> float:
    """Compute 2 correct / (true + predicted); ``nothing`` if there is neither."""
    return ratio(2 * correct, n_true + n_pred, nothing)


def value_of_nothing(zero_division: ZeroDivision) -> float:
    """Return what a score is where there is nothing to count; 0.0 for "warn".

    Raises
    ------
    ValueError
        If ``zero_division`` is none of "warn", 0, 1 and NaN.
    """
    if isinstance(zero_division, str) and zero_division == "warn":
        return 0.0
    if isinstance(zero_division, (int, float)) and (
        zero_division in (0, 1) or zero_division != zero_division
    ):
        return float(zero_division)
    raise ValueError(
        f"zero_division must be 'warn', 0, 1 or NaN; got {zero_division!r}"
    )


def warn_undefined(
    zero_division: ZeroDivision, what: str, why: str, can_be_set: bool = True
) -> None:
    """Warn that a score has nothing to count, if ``zero_division`` is "warn".

    Parameters
    ----------
    zero_division : {"warn", 0.0, 1.0, np.nan}
    what : str
        The score, as "F1".
    why : str
        What there is none of.
    can_be_set : bool, default=True
        Whether users can give another value.
    """
    if isinstance(zero_division, str):
        hint = "; zero_division gives another value" if can_be_set else ""
        warn(
            f"{what} is ill-defined and set to 0.0: {why}{hint}", UndefinedMetricWarning
        )
