"""A small corpus of bags of features as a CRF gets it."""

import numpy as np

from skstruct.chain.bigram import ChainTask
from skstruct.features.encoded import Bag, Grid

L = 3


def no_grid():
    none = np.zeros(0, np.int32)
    return Grid(np.zeros((0, 0), np.int32), none, none, np.zeros(1, np.int32), none, none)


def make_task(seed=0, n=8, R=6, edges=False, partial=False, valued=True, longest=4, n_labels=L):
    """A corpus of bags of features, with transitions that look at the input if wanted."""
    rng = np.random.RandomState(seed)
    lengths = rng.randint(1, longest + 1, n)
    token = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    N = int(token[-1])
    counts = rng.randint(1, 4, N)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    row = rng.randint(0, R, start[-1]).astype(np.int32)
    value = rng.rand(start[-1]) + 0.5 if valued else np.zeros(0)
    gold = rng.randint(0, n_labels, N).astype(np.int32)
    if partial:
        gold[rng.rand(N) < 0.3] = -1
    grid = no_grid()
    if edges:
        one = np.ones(1, np.int32)
        zero = np.zeros(1, np.int32)
        rows = rng.randint(-1, 3, (1, N)).astype(np.int32)
        rows[rows == 0] = 1  # combination 0 is the label bigram
        grid = Grid(rows, zero, one, np.array([0, 1], np.int32), zero, zero)
    none = np.zeros(0, np.uint8)
    return ChainTask(
        token=token, anchor=token, left=0, n_columns=1, nodes=no_grid(), edges=grid,
        bag=Bag(start, row, value), gold=gold, weight=rng.rand(n) + 0.5, node_alive=none,
        edge_alive=none, option=np.zeros((0, 0), np.bool_),
    )  # fmt: skip
