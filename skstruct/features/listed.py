"""The features of an encoded corpus listed by token, as a bag holds them."""

import numpy as np
from scipy import sparse

from .encoded import Bag
from .numeric import as_features


def bag_of(encoded, token):
    """The features of rows of numbers as a bag, dense rows too, behind others of a token.

    Parameters
    ----------
    encoded : Encoded
    token : ndarray of shape (n + 1,), int64
        Where each sequence starts.
    """
    bags = [encoded.bag] if encoded.bag.start.shape[0] > 1 else []
    return _side_by_side([*bags, _of_dense(encoded.dense, token)])


def features_listed(encoded, token):
    """The features of labels that have rows, by token, as a :class:`Bag`: numbers, named ones, templates."""
    bags = [_of_dense(encoded.dense, token)] if encoded.dense else []
    if encoded.bag.start.shape[0] > 1:
        bags.append(encoded.bag)
    if encoded.nodes.row.shape[0] or not bags:
        bags.append(grid_listed(encoded, token, encoded.nodes, encoded.node_alive))
    start, row, value = _side_by_side(bags)
    known = row >= 0
    return Bag(np.append(0, np.cumsum(known))[start], row[known], value[known])


def grid_listed(encoded, token, grid, alive):
    """The rows of a grid that are ``alive`` by token, in the order in which kernels add them."""
    anchor, n = encoded.anchor, int(token[-1])
    sequence = np.repeat(np.arange(token.shape[0] - 1), np.diff(token))
    here = np.arange(n) - token[sequence] + anchor[sequence] + encoded.left
    rows = np.full((n, int(grid.width.sum())), -1, np.int32)
    k = 0
    for g, (lo, width) in enumerate(zip(grid.lo.tolist(), grid.width.tolist())):
        for s in reversed(range(width)):  # anchors from left to right
            at = here - lo - s
            inside = (at >= anchor[sequence]) & (at < anchor[sequence + 1])
            first = grid.row[g, np.where(inside, at, 0)]
            rows[:, k] = np.where(inside & (first >= 0), first + s, -1)
            k += 1
    if alive.shape[0]:
        rows[(rows >= 0) & (alive[rows] == 0)] = -1
    used = rows >= 0
    return Bag(np.append(0, np.cumsum(used.sum(axis=1))), rows[used], np.zeros(0))


def _of_dense(dense, token):
    rows = sparse.csr_matrix(dense.block, dtype=np.float64)
    start, row, value = as_features(rows, token, (dense.low, dense.high), dense.scale, dense.bias)
    return Bag(start, row.astype(np.int32), value)


def _side_by_side(bags):
    """A bag of the features of several, with all values."""
    values = [bag.value if bag.value.shape[0] else np.ones(bag.row.shape[0]) for bag in bags]
    if len(bags) == 1:
        return bags[0]._replace(value=values[0])
    owner = [np.repeat(np.arange(bag.start.shape[0] - 1), np.diff(bag.start)) for bag in bags]
    order = np.argsort(np.concatenate(owner), kind="stable")
    rows = np.concatenate([bag.row for bag in bags])
    return Bag(sum(bag.start for bag in bags), rows[order], np.concatenate(values)[order])
