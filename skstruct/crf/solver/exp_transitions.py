"""exp(transition) as a sparse matrix.

Most transition weights are zero under L1, so exp(w) - 1 is a sparse matrix (N. Sokolovska, T. Lavergne,
O. Cappé and F. Yvon 2010, "Efficient learning of sparse conditional random fields for supervised sequence
labeling", IEEE Journal of Selected Topics in Signal Processing 4):
``Σ_p a(p) exp w(p, y) = Σ_p a(p) + Σ_{p: w(p, y) ≠ 0} a(p) (exp w(p, y) - 1)``.
"""

from typing import NamedTuple

import numpy as np


class ExpTransitions(NamedTuple):
    """exp(transition - shift) by column (side 0) and by row (side 1): a base plus what is listed."""

    shift: float  # 0 unless a transition score is above 30
    first: np.ndarray  # (2, L + 1) int64: where the list of each y (or p) starts; multiples of 4
    other: np.ndarray  # (2, ...) int64: the p (or y) of each element
    value: np.ndarray  # (2, ...) float64: what is added to the base
    base: np.ndarray  # (2, L) float64
    pair: np.ndarray  # (Q, 2) int64: the (p, y) whose expectations are wanted
    start: np.ndarray  # (L,) bool: labels a sequence may start with
    end: np.ndarray  # (L,) bool: labels it may end with
    cost: np.ndarray  # (L,) float64: cost of missing a token of each label


def exp_transitions(transition, pair, start, end, cost):
    """The sparse form of exp(transition), and exp(transition - shift) itself.

    Parameters
    ----------
    transition : ndarray of shape (L, L)
        Log-scores [previous, next]; -inf forbids.
    pair : ndarray of shape (Q, 2)
        The (previous, next) whose expectations are wanted.
    start, end : ndarray of shape (L,)
        0 or -inf.
    cost : ndarray of shape (L,)
    """
    L = transition.shape[0]
    shift = max(0.0, float(transition.max()) - 30.0)
    matrix = np.exp(transition - shift)
    first = np.zeros((2, L + 1), np.int64)
    other = np.zeros((2, L * (L + 3)), np.int64)
    value = np.zeros((2, L * (L + 3)))
    base = np.zeros((2, L))
    for side, columns in enumerate((matrix.T, matrix)):
        n = 0
        for k in range(L):
            column = columns[k]
            # Differences from 1 cancel digits if the sum is much smaller than 1: then list them all.
            if shift == 0.0 and column.min() > 1e-3:
                base[side, k] = 1.0
            listed = np.flatnonzero(column != base[side, k])
            other[side, n : n + listed.size] = listed
            value[side, n : n + listed.size] = column[listed] - base[side, k]
            n += (listed.size + 3) // 4 * 4
            first[side, k + 1] = n
    sparse = ExpTransitions(shift, first, other, value, base, pair, start == 0.0, end == 0.0, cost)
    return sparse, matrix
