"""The features of tokens: listed, or the columns of dense rows, which are read where they are."""

from typing import NamedTuple

import numpy as np

from ...core.compile import inline, kernel
from ...features.encoded import Dense

PIECE = 2**16
"""Features of tokens that are counted at a time."""


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


@kernel
def _list_features(
    token, anchor, left, rows, lo, width, bag_start, bag_row, bag_value, order, of_row, start, feature, value
):  # fmt: skip
    """CSR of the features of each token; returns their number. ``feature`` empty: count only.

    The arguments up to the bag are those of a task, or stand for them. ``of_row`` (R,) int32 translates rows
    to features, -1 leaves them out.
    """
    n, k = 0, 0
    write = feature.shape[0] > 0
    for i in order:
        T = token[i + 1] - token[i]
        first, n_anchors = anchor[i], anchor[i + 1] - anchor[i]
        for t in range(T):
            start[k] = n
            k += 1
            for g in range(rows.shape[0]):
                for s in range(width[g]):
                    a = t - lo[g] - s + left
                    if a < 0 or a >= n_anchors or rows[g, first + a] < 0:
                        continue
                    f = of_row[rows[g, first + a] + s]
                    if f >= 0:
                        if write:
                            feature[n] = f
                            if value.shape[0] > 0:
                                value[n] = 1.0
                        n += 1
            if bag_start.shape[0] > 1:
                for e in range(bag_start[token[i] + t], bag_start[token[i] + t + 1]):
                    if bag_row[e] < 0:
                        continue
                    f = of_row[bag_row[e]]
                    if f >= 0:
                        if write:
                            feature[n] = f
                            if value.shape[0] > 0:
                                value[n] = bag_value[e] if bag_value.shape[0] > 0 else 1.0
                        n += 1
    start[k] = n
    return n


@kernel
def select(start, feature, value, of_feature, new_start, new_feature, new_value):
    """Keep the features with ``of_feature >= 0``, under their new numbers; returns how many.

    The new arrays may be the old ones.
    """
    n, begin = 0, start[0]
    for t in range(start.shape[0] - 1):
        end = start[t + 1]
        new_start[t] = n
        for e in range(begin, end):
            f = of_feature[feature[e]]
            if f >= 0:
                new_feature[n] = f
                if new_value.shape[0] > 0:
                    new_value[n] = value[e]
                n += 1
        begin = end
    new_start[start.shape[0] - 1] = n
    return n


def list_rows(task, order, grid, bag, of_row, valued):
    """(starts, features, values) of each token, by running the kernel twice: for sizes, then for content."""
    start = np.zeros(int(np.diff(task.token)[order].sum()) + 1, np.int64)
    place = task.token, task.anchor, task.left, grid.row, grid.lo, grid.width, *bag, order, of_row, start
    n = _list_features(*place, np.zeros(0, np.int32), np.zeros(0))
    features, values = np.zeros(n, np.int32), np.zeros(n if valued else 0)
    if n:
        _list_features(*place, features, values)
    return start, features, values


def keep_features(features, of_feature):
    """Keep the features with ``of_feature >= 0``, under their new numbers; lists are changed in place."""
    start, feature, value, dense = features
    if dense:
        number = np.append(of_feature, np.int32(-1))[dense.number]
        return features._replace(dense=dense._replace(number=number))
    n = select(start, feature, value, of_feature, start, feature, value)
    feature.resize(n, refcheck=False)
    value.resize(n if value.shape[0] else 0, refcheck=False)
    return features


def alive_rows(n_rows, alive):
    """(n_rows,) int32: each row's own number; -1 for those that a count cut-off left out."""
    of_row = np.arange(n_rows, dtype=np.int32)
    if alive.shape[0]:
        of_row[alive == 0] = -1
    return of_row


def numbered(n, chosen):
    """(n,) int32: the place of each number in ``chosen``, -1 if it is not there."""
    number = np.full(n, -1, np.int32)
    number[chosen] = np.arange(chosen.shape[0], dtype=np.int32)
    return number


def features_of_tokens(task, sequences, of_row):
    """The :class:`.TokenFeatures` of a corpus; ``of_row`` (R,) int32: the feature of each row, or -1."""
    if task.dense and task.bag.start.shape[0] == 1:
        return TokenFeatures(
            np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0),
            DenseFeatures(task.dense, sequences.places(task.token), of_row),
        )  # fmt: skip
    valued = task.bag.value.shape[0] > 0 and task.bag.start.shape[0] > 1
    return TokenFeatures(*list_rows(task, sequences.order, task.nodes, task.bag, of_row, valued))


@kernel
def repetition(token, start, feature, value, dense, row_feature, row_value, count):
    """Mean over sequences of Σ_f (Σ_t x_tf)² / T. ``count`` (F,): zeros, and zeros again at the end."""
    total, n = 0.0, 0
    for i in range(token.shape[0] - 1):
        T, squares = token[i + 1] - token[i], 0.0
        for t in range(2 * T):  # the second time to clear
            begin, end, which, values = features_of(
                start, feature, value, dense, token[i], t % T, T, row_feature, row_value
            )
            for e in range(begin, end):
                if t >= T:
                    count[which[e]] = 0.0
                    continue
                x = values[e] if values.shape[0] > 0 else 1.0
                c = count[which[e]]
                squares += x * (2.0 * c + x)
                count[which[e]] = c + x
        if T > 0:
            total += squares / T
            n += 1
    return total / max(n, 1)


def most_pairs(token, features, first):
    """The most pairs that the features of one sequence have."""
    n_pairs = np.diff(first)
    if features.dense:
        return int(n_pairs.sum())
    most, feature, bounds = 0, features.feature, features.start[token]
    a = 0
    while a < token.shape[0] - 1:  # some sequences at a time
        b = max(int(np.searchsorted(bounds, bounds[a] + PIECE, "right")) - 1, a + 1)
        before = np.zeros(bounds[b] - bounds[a] + 1, np.int64)
        np.cumsum(n_pairs[feature[bounds[a] : bounds[b]]], out=before[1:])
        most = max(most, int(np.diff(before[bounds[a : b + 1] - bounds[a]]).max()))
        a = b
    return most
