"""How rows of numbers become features: intercept, scale, and the columns of neighbours."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..data.inputs import describe

MOST_MEAN = 0.99
"""Share of the mean vector in the mean squared norm of rows above which there is a warning."""

TARGET = 4.0
"""Mean squared norm of rows under ``scale="auto"``: a transition counts 1, and rows should weigh as much."""


@dataclass(frozen=True)
class NumericFeatures:
    """What models learn from tokens that are rows of numbers; a value of their ``features``.

    Parameters
    ----------
    bias : bool, default=True
        Besides the columns there is a feature that all tokens have: an intercept for each label.
    scale : "auto" or float, default="auto"
        What values are multiplied by. The ratio of the size of rows to 1, what a transition counts, sets how
        much an online learner believes each; ``"auto"`` makes the mean squared norm of the training rows 4,
        so that results do not depend on units. It is fixed by the first fit, and kept in files. ``L1CRF``
        takes values as they are. Columns in different units, or far from 0, should be standardised first.
    window : (int, int), default=(0, 0)
        The first and the last neighbour whose columns are features of a token too: ``(-1, 1)`` takes the rows
        before and behind, under names such as ``x3@-1``. Beyond the ends of a sequence there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import NumericFeatures, StructuredPerceptron
    >>> X, y = [np.eye(3), np.eye(3)[::-1]], [["a", "b", "c"], ["c", "b", "a"]]
    >>> tagger = StructuredPerceptron(NumericFeatures(bias=False), random_state=0).fit(X, y)
    >>> tagger.n_features()
    3
    """

    bias: bool = True
    scale: Literal["auto"] | float = "auto"
    window: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        if not isinstance(self.bias, (bool, np.bool_)):
            raise ValueError(f"bias must be a bool, got {describe(self.bias)}")
        number = isinstance(self.scale, (int, float, np.number)) and not isinstance(self.scale, bool)
        if not (number and 0 < self.scale < np.inf or isinstance(self.scale, str) and self.scale == "auto"):
            raise ValueError(f"scale must be 'auto' or a positive number, got {describe(self.scale)}")
        pair = tuple(self.window) if isinstance(self.window, (tuple, list)) else ()
        whole = all(isinstance(d, (int, np.integer)) and not isinstance(d, bool) for d in pair)
        if not (len(pair) == 2 and whole and pair[0] <= 0 <= pair[1]):
            raise ValueError(
                f"window must be two ints, the first at most 0 and the last at least 0, got "
                f"{describe(self.window)}"
            )
        object.__setattr__(self, "window", tuple(map(int, pair)))

    def factor(self, squares: Fraction, n_tokens: int) -> float:
        """What values are multiplied by.

        Parameters
        ----------
        squares : Fraction
            Sum of the squared norms of the training rows.
        n_tokens : int
        """
        if self.scale != "auto":
            return float(self.scale)
        return sqrt(TARGET * n_tokens / float(squares)) if squares else 1.0


def warn_unless_centred(sums: NDArray[np.float64], squares: Fraction, n_tokens: int) -> None:
    """Say so if rows are nearly the same: their mean then drowns what tells them apart.

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
    if share > MOST_MEAN:
        warnings.warn(
            f"the mean of the rows makes up {share:.2%} of their mean squared norm, so that little is left "
            f"of what tells them apart: centre the columns first, as TokenTransformer(StandardScaler()) does"
        )


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """The sum of floats without rounding.

    Shards of a corpus add up to the whole, so that models trained on them agree to the last bit.
    """
    mantissa, exponent = np.frexp(np.minimum(values, 1e300))  # squares may overflow
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    total = Fraction(0)
    for e in np.unique(exponent).tolist():
        mine = digits[exponent == e]
        whole = (int((mine >> 32).sum()) << 32) + int((mine & 0xFFFFFFFF).sum())
        total += whole * Fraction(2) ** (e - 53)
    return total


def neighbours(matrix, token, low, high):
    """Yield the rows of each token's neighbours, place by place from ``low`` to ``high``.

    Parameters
    ----------
    matrix : ndarray or CSR of shape (N, F)
    token : ndarray of shape (n + 1,), int64
        Where each sequence starts.

    Yields
    ------
    rows : ndarray or CSR of shape (N, F)
        Zeros beyond the ends of a sequence.
    inside : ndarray of shape (N,), bool
        Whether there is such a neighbour.
    """
    begin, end = (np.repeat(edge, np.diff(token)) for edge in (token[:-1], token[1:]))
    here = np.arange(begin.shape[0])
    for shift in range(low, high + 1):
        inside = (here + shift >= begin) & (here + shift < end)
        yield picked(matrix, here + shift, inside) if shift else matrix, inside


def picked(matrix, at, inside=None):
    """The rows ``at``; zeros where it is not ``inside``."""
    used = np.arange(at.shape[0]) if inside is None else np.flatnonzero(inside)
    if not sparse.issparse(matrix):
        out = np.zeros(matrix.shape, matrix.dtype)
        out[used] = matrix[at[used]]
        return out
    ones = np.ones(used.shape[0], matrix.dtype)
    pick = sparse.csr_matrix((ones, (used, at[used])), shape=(at.shape[0], matrix.shape[0]))
    found = pick @ matrix
    found.sort_indices()
    return found


def side_by_side(parts):
    """Matrices with the same rows as one: sparse if one is."""
    if len(parts) == 1:
        return parts[0]
    kinds = [type(part) for part in parts if sparse.issparse(part)]
    if not kinds:
        return np.ascontiguousarray(np.hstack(parts))
    return kinds[0](sparse.hstack([sparse.csr_matrix(part) for part in parts], format="csr"))


def as_features(rows, token, window, scale, bias):
    """Sparse rows as features by token: (start, number, value); see :class:`.encoded.Dense` for numbers.

    Parameters
    ----------
    rows : CSR of shape (N, F), float64
    token : ndarray of shape (n + 1,), int64
    window : (int, int)
        First and last neighbour whose columns are features too.
    scale : float
        Values are multiplied by it.
    bias : bool
        Whether each token has one more feature, the last, of value 1.
    """
    if tuple(window) != (0, 0):
        rows = side_by_side([near for near, _ in neighbours(rows, token, *window)])
    start, number, value = rows.indptr.astype(np.int64), rows.indices, rows.data * scale
    if not bias:
        return start, number, value
    ends = start[1:]
    number, value = np.insert(number, ends, rows.shape[1]), np.insert(value, ends, 1.0)
    return start + np.arange(start.shape[0]), number, value
