"""The features of tokens: listed, or the columns of dense rows, which are read where they are."""

from typing import NamedTuple

import numpy as np

from ...core.compile import inline
from ...features.encoded import Dense


class DenseFeatures(NamedTuple):
    """Dense rows of numbers as features; R rows of weights, N tokens."""

    rows: Dense
    place: np.ndarray  # (N,) int64: the number of each token in ``rows``
    number: np.ndarray  # (R,) int32: the feature of each row of weights, -1 if it is none


class TokenFeatures(NamedTuple):
    """Features by token: listed, or dense."""

    start: np.ndarray  # (N + 1,) int64: where the features of each token begin; (1,) if they are dense
    feature: np.ndarray  # (E,) int32
    value: np.ndarray  # (E,) float64: what the features count; empty if all are 1
    dense: DenseFeatures | tuple[()] = ()

    @property
    def signed(self):
        """Whether there are negative values."""
        if self.dense:
            return self.dense.rows.block.min(initial=0.0) * self.dense.rows.scale < 0.0
        return self.value.min(initial=0.0) < 0.0


def new_row(dense):
    """Scratch for :func:`features_of`: (features, values) of a token."""
    n = dense.number.shape[0] + 1 if dense else 0
    return np.zeros(n, np.int32), np.zeros(n)


@inline
def features_of(start, feature, value, dense, first, t, T, row_feature, row_value):
    """The features of token t of the T tokens from ``first`` on: (begin, end, feature, value).

    Those of dense rows are listed in ``row_feature`` and ``row_value``, which have room for all rows of
    weights and one more: what is zero is written, and overwritten by the next.
    """
    if len(dense) > 0:
        x, number, n, row = dense.rows, dense.number, 0, 0
        F = x.block.shape[1]
        for s in range(x.low, x.high + 1):
            if 0 <= t + s < T:
                at = dense.place[first + t + s]
                for f in range(F):
                    v = x.scale * x.block[at, f]
                    row_feature[n] = number[row + f]
                    row_value[n] = v
                    n += np.int64(v != 0.0 and number[row + f] >= 0)
            row += F
        if x.bias and number[row] >= 0:
            row_feature[n] = number[row]
            row_value[n] = 1.0
            n += 1
        return np.int64(0), np.int64(n), row_feature, row_value
    return start[first + t], start[first + t + 1], feature, value
