"""Small corpora of bags of features as a CRF gets them, and its training on them."""

from contextlib import closing

import numpy as np

from skstruct._chain.bigram import ChainTask
from skstruct._crf.solver.corpus_sums import Potentials
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct._crf.solver.solve import Progress, SolverOptions, pack, solve
from skstruct.features.encoded import Bag, Grid

L = 3


def no_grid():
    none = np.zeros(0, np.int32)
    return Grid(
        np.zeros((0, 0), np.int32), none, none, np.zeros(1, np.int32), none, none
    )


def make_task(
    seed=0, n=8, R=6, edges=False, partial=False, valued=True, longest=4, n_labels=L
):
    """A corpus of bags of features, with transitions that look at the input if
    wanted.
    """
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


def learnable(seed=0, n=60, R=20, **options):
    """A corpus whose labels depend on its features."""
    task = make_task(seed, n=n, R=R, longest=8, **options)
    rng = np.random.RandomState(seed + 1)
    truth = rng.randn(R, L)
    for t in range(task.gold.shape[0]):
        e = slice(task.bag.start[t], task.bag.start[t + 1])
        if task.gold[t] >= 0:
            task.gold[t] = np.argmax(
                truth[task.bag.row[e]].sum(axis=0) + 0.5 * rng.randn(L)
            )
    return task


def copies(task, n):
    """The same corpus n times over."""
    token = np.append(0, np.cumsum(np.tile(np.diff(task.token), n)))
    start = np.append(0, np.cumsum(np.tile(np.diff(task.bag.start), n)))
    return task._replace(
        token=token, anchor=token, gold=np.tile(task.gold, n), weight=np.tile(task.weight, n),
        bag=Bag(start, np.tile(task.bag.row, n), np.tile(task.bag.value, n)),
    )  # fmt: skip


def potentials(n_labels=L, **given):
    """Scores of pairs of labels, and at both ends, and costs; those not given are 0."""
    zero = np.zeros(n_labels)
    return Potentials(np.zeros((n_labels, n_labels)), zero, zero, zero)._replace(
        **given
    )


FREE = potentials()


def train_crf(
    task, n_labels, *rows, n_threads=1, warm=None, after_pass=None, cuts=None, **options
):
    def those(names):
        return {name: options[name] for name in names if name in options}

    about, scores = (
        ObjectiveOptions(**those(ObjectiveOptions._fields)),
        potentials(n_labels),
    )
    with closing(CRFObjective(task, about, scores, *rows, n_threads=n_threads)) as o:
        weights = None if warm is None else pack(o, *warm)
        options = SolverOptions(**those(SolverOptions._fields))
        return solve(
            o, options, Progress(o, after_pass=after_pass), weights=weights, cuts=cuts
        )


def dense(weights):
    """The matrix that :class:`.SparseWeights` stand for."""
    out = np.zeros(weights.shape)
    out.ravel()[weights.keys] = weights.values
    return out


STRICT = {"tol": 1e-12, "max_iter": 3000, "sgd_iter": 0}
