"""Rows of numbers as features: intercept, scale and columns of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core.user_warnings import warn
from .._data.inputs import describe, is_int, offsets_of
from .._data.places import ranges

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MOST_MEAN = 0.99
"""Share of the mean vector in the mean squared norm of rows above which there is a
warning.
"""

TARGET = 4.0
"""Mean squared norm of rows under ``scale="auto"``: a transition counts 1, and rows
should weigh as much.
"""


@dataclass(frozen=True)
class NumericFeatures:
    """The settings of features from tokens that are rows of numbers; a value of their
    ``features``.

    Parameters
    ----------
    bias : bool, default=True
        Besides the columns there is a feature that all tokens have: an intercept for
        each label.
    scale : "auto" or float, default="auto"
        What values are multiplied by. The ratio of the size of rows to 1, what a
        transition counts, sets how much an online learner believes each; ``"auto"``
        makes the mean squared norm of the training rows 4, so that results do not
        depend on units. It is fixed by the first fit, and kept in files. ``L1CRF``
        takes values as they are. Columns in different units, or far from 0, should be
        standardised first.
    window : (int, int), default=(0, 0)
        The first and the last neighbour whose columns are features of a token too:
        ``(-1, 1)`` takes the rows before and behind, under names such as ``x3@-1``.
        Beyond the ends of a sequence there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import NumericFeatures, StructuredPerceptron
    >>> X, y = [np.eye(3), np.eye(3)[::-1]], [["a", "b", "c"], ["c", "b", "a"]]
    >>> tagger = StructuredPerceptron(NumericFeatures(bias=False), random_state=0)
    >>> tagger.fit(X, y).n_features()
    3
    """

    bias: bool = True
    scale: Literal["auto"] | float = "auto"
    window: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        if not isinstance(self.bias, (bool, np.bool_)):
            raise ValueError(f"bias must be a bool, got {describe(self.bias)}")
        if isinstance(self.scale, str):
            is_scale = self.scale == "auto"
        else:
            number = isinstance(self.scale, (int, float, np.number))
            is_scale = number and not isinstance(self.scale, bool)
            is_scale = is_scale and 0 < self.scale < np.inf
        if not is_scale:
            raise ValueError(
                f"scale must be 'auto' or a positive number, got {describe(self.scale)}"
            )
        pair = tuple(self.window) if isinstance(self.window, (tuple, list)) else ()
        if not (len(pair) == 2 and all(map(is_int, pair)) and pair[0] <= 0 <= pair[1]):
            text = (
                "window must be two ints, the first at most 0 and the last at least "
                "0, got "
            )
            raise ValueError(text + describe(self.window))
        object.__setattr__(self, "window", tuple(map(int, pair)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.bias, self.scale, self.window)

    def size(self, width: int) -> int:
        """Tell how many features rows of so many columns have."""
        return width * (self.window[1] - self.window[0] + 1) + int(self.bias)

    def factor(self, squares: Fraction, n_tokens: int) -> float:
        """Compute what values are multiplied by.

        Parameters
        ----------
        squares : Fraction
            Sum of the squared norms of the training rows.
        n_tokens : int
        """
        if self.scale != "auto":
            return float(self.scale)
        return sqrt(TARGET * n_tokens / float(squares)) if squares else 1.0


def warn_unless_centred(
    sums: NDArray[np.float64], squares: Fraction, n_tokens: int
) -> None:
    """Warn if rows are nearly the same: their mean then drowns what tells them apart.

    Parameters
    ----------
    sums : ndarray of shape (n_columns,)
        Of the training rows.
    squares : Fraction
        Sum of their squared norms.
    n_tokens : int
    """
    if n_tokens < 2 or not squares:
        return
    share = float(sums @ sums) / n_tokens / float(squares)
    if MOST_MEAN < share < inf:
        text = (
            f"the mean of the rows makes up {share:.2%} of their mean squared norm: "
            "little is left of "
        )
        text += (
            "what tells them apart; centre the columns first, as "
            "TokenTransformer(StandardScaler()) does"
        )
        warn(text)


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """Sum floats without rounding.

    Shards of a corpus add up to the whole, so that models trained on them agree to the
    last bit.
    """
    mantissa, exponent = np.frexp(np.minimum(values, 1e300))  # squares may overflow
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    total = Fraction(0)
    for e in np.unique(exponent).tolist():
        mine = digits[exponent == e]
        whole = (int((mine >> 32).sum()) << 32) + int((mine & 0xFFFFFFFF).sum())
        total += whole * Fraction(2) ** (e - 53)
    return total


def neighbours_of(
    token: np.ndarray, low: int, high: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the tokens from ``low`` to ``high`` places away from each token.

    Parameters
    ----------
    token : ndarray of shape (n + 1,), int64
        Where each sequence starts; the last one ends at N.

    Returns
    -------
    at : ndarray of shape (N, high - low + 1), int64
        Their numbers; 0 beyond the ends of a sequence.
    inside : ndarray of shape (N, high - low + 1), bool
        Whether there is such a token.
    """
    begin, end = (
        np.repeat(edge, np.diff(token))[:, None] for edge in (token[:-1], token[1:])
    )
    at = np.arange(begin.shape[0])[:, None] + np.arange(low, high + 1)
    inside = (at >= begin) & (at < end)
    return np.where(inside, at, 0), inside


def take_rows(matrix: Any, at: np.ndarray, inside: np.ndarray) -> Any:
    """Take the rows ``at`` of a dense or CSR matrix; zeros where they are not
    ``inside``.

    Parameters
    ----------
    matrix : ndarray or CSR of shape (N, F)
    at : ndarray of shape (M,), int64
    inside : ndarray of shape (M,), bool

    Returns
    -------
    ndarray or CSR of shape (M, F)
    """
    if not sparse.issparse(matrix):
        return np.where(inside[:, None], matrix[at], matrix.dtype.type(0))
    start, entry = ranges(
        matrix.indptr[at], np.where(inside, np.diff(matrix.indptr)[at], 0)
    )
    parts = matrix.data[entry], matrix.indices[entry], start
    return type(matrix)(parts, shape=(at.shape[0], matrix.shape[1]))


def side_by_side(parts: Sequence[Any]) -> Any:
    """Join matrices with the same rows to one, which is sparse if one of them is."""
    if len(parts) == 1:
        return parts[0]
    kinds = [type(part) for part in parts if sparse.issparse(part)]
    if not kinds:
        return np.ascontiguousarray(np.hstack(parts))
    return kinds[0](
        sparse.hstack([sparse.csr_matrix(part) for part in parts], format="csr")
    )


def as_features(
    rows: sparse.csr_matrix,
    token: np.ndarray,
    window: tuple[int, int],
    scale: float,
    bias: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the features that sparse rows are.

    Parameters
    ----------
    rows : CSR of shape (N, F)
        Zeros that are written down are no features.
    token : ndarray of shape (n + 1,), int64
    window : (int, int)
        First and last neighbour whose columns are features too.
    scale : float
        Values are multiplied by it.
    bias : bool
        Whether each token has one more feature, the last, of value 1.

    Returns
    -------
    start : ndarray of shape (N + 1,), int64
        Where the features of each token start.
    number : ndarray of int32
        Which they are; see :class:`.encoded.Dense`.
    value : ndarray of float64
    """
    n, width = rows.shape
    low, high = window
    if (low, high) != (0, 0):
        at, inside = neighbours_of(token, low, high)
        rows = side_by_side([take_rows(rows, *pair) for pair in zip(at.T, inside.T)])
    start = rows.indptr.astype(np.int64)
    value = rows.data.astype(np.float64)
    number = rows.indices.astype(np.int32, copy=False)
    used = value != 0.0
    if not used.all():  # zeros that are written down
        start = offsets_of(used)[start]
        number = number[used]
        value = value[used]
    with np.errstate(over="ignore"):  # models refuse values that are too large
        value = value * scale
    if not bias:
        return start, number, value
    last = np.int32(width * (high - low + 1))
    return (
        start + np.arange(n + 1),
        np.insert(number, start[1:], last),
        np.insert(value, start[1:], 1.0),
    )
