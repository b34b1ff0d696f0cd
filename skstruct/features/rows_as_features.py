"""Rows of numbers as features: listed by token, as a bag holds them."""

import numpy as np
from scipy import sparse

from .encoded import Bag


def windowed(start, column, value, token, width, low, high):
    """Entries of each token with those of its neighbours: column c of t + s is (s - low) * width + c."""
    places, n = high - low + 1, start.shape[0] - 1
    sequence = np.repeat(np.arange(token.shape[0] - 1), np.diff(token))
    at = np.arange(n)[:, None] + np.arange(low, high + 1)
    inside = (at >= token[sequence][:, None]) & (at < token[sequence + 1][:, None])
    at = np.where(inside, at, 0).ravel()
    size = np.where(inside.ravel(), start[at + 1] - start[at], 0) if n else np.zeros(0, np.int64)
    ends = np.cumsum(size)
    entry = np.arange(int(ends[-1]) if n else 0) + np.repeat(start[at] - ends + size, size)
    shift = np.repeat(np.tile(np.arange(places) * width, n), size)
    return np.append(0, ends)[::places], column[entry] + shift, value[entry]


def bag_of(encoded):
    """The features of rows of numbers as a bag, dense rows too, behind others of a token.

    Parameters
    ----------
    encoded : NamedTuple
        Has the fields of :class:`.encoded.Encoded`; its anchors are tokens.
    """
    dense, token = encoded.dense, encoded.anchor
    if not dense:
        return encoded.bag
    rows = sparse.csr_matrix(dense.block)
    start, column, value = rows.indptr.astype(np.int64), rows.indices, rows.data.astype(np.float64)
    width = dense.block.shape[1]
    if (dense.low, dense.high) != (0, 0):
        start, column, value = windowed(start, column, value, token, width, dense.low, dense.high)
    value = value * dense.scale
    if dense.bias:
        start, column, value = with_bias(start, column, value, dense.n_rows - 1)
    bag = Bag(start, column.astype(np.int32), value)
    return bag if encoded.bag.start.shape[0] == 1 else _beside(encoded.bag, bag)


def _beside(first, second):
    """A bag of the features of two."""
    n = np.diff(first.start)
    start = first.start + second.start
    mine = np.arange(int(start[-1])) - np.repeat(start[:-1], np.diff(start)) < np.repeat(n, np.diff(start))
    row, value = np.empty(mine.shape[0], np.int32), np.ones(mine.shape[0])
    row[mine], row[~mine] = first.row, second.row
    for which, bag in ((mine, first), (~mine, second)):
        if bag.value.shape[0]:
            value[which] = bag.value
    return Bag(start, row, value)


def with_bias(start, column, value, bias):
    """The same with one more entry a token, the last: column ``bias``, of value 1."""
    n = start.shape[0] - 1
    start = start + np.arange(n + 1)
    given = np.ones(int(start[-1]), np.bool_)
    given[start[1:] - 1] = False
    columns, values = np.full(given.shape[0], bias, np.int32), np.ones(given.shape[0])
    columns[given], values[given] = column, value
    return start, columns, values
