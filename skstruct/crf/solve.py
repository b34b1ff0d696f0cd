"""Training a chain CRF: stage one, stage two, and the record of both.

Place on the ladder: rung 6. The two-stage algorithm (Zhou, Qiu and Huang 2011, *A Fast Accurate Two-stage
Training Algorithm for L1-regularized CRFs with Heuristic Line Search Strategy*, IJCNLP): a few passes of
stochastic gradient descent (:mod:`.sgd_l1`), then a batch method that converges. Differs from the paper: the
second stage is not OWL-QN on all weights but its relative on a working set (:mod:`.working_set`), which needs
a fifth of the passes, on a corpus spelled in a few percent of the weights.
"""

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .objective import CRFObjective, View
from .owlqn import owlqn
from .quasi_newton import dot, pseudo_gradient
from .sgd import stochastic_passes
from .working_set import active_orthant

SOLVERS = ("two-stage", "owlqn", "sgd")
STAGES = ("sgd", "batch")


class Table(NamedTuple):
    """A table of weights, nearly all of them zero."""

    shape: tuple  # rows, columns
    keys: np.ndarray  # (n,) int64: row * columns + column of each that is not; ascending
    values: np.ndarray  # (n,) float64

    @classmethod
    def of(cls, shape, keys, values):
        """The table with ``values`` at ``keys``, in any order."""
        use = np.flatnonzero(values)
        use = use[np.argsort(keys[use], kind="stable")]
        return cls(shape, keys[use], values[use])

    def at(self, keys):
        """The weights at some keys."""
        if self.keys.shape[0] == 0:
            return np.zeros(keys.shape[0])
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.shape[0] - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)

    def dense(self):
        """All weights, of shape ``shape``."""
        out = np.zeros(self.shape)
        out.ravel()[self.keys] = self.values
        return out


@dataclass
class CRFResult:
    """What training found.

    Attributes
    ----------
    nodes : Table of shape (n_rows, L)
        Weights of features and labels.
    edges : Table of shape (n_edge_rows * L, L)
        Weights of transitions: row e * L + p, column y; the first L rows are the label bigram.
    weights : ndarray
        The same in the order of the objective.
    objective : float
    history : list of dict
        For each iteration: ``stage``, ``objective`` (None within stage one, unless it is all there is),
        ``n_active`` (weights that are not zero), ``optimality`` (norm of the minimal subgradient before
        the step, on the working set; None within stage one), ``seconds`` since the start, and with
        held-out sequences ``validation``, their mean log-probability.
    n_iter : int
        Iterations of the second stage; passes of stage one if there is no second.
    n_passes : int
        Sums over the whole corpus, stochastic passes included.
    converged : bool
    optimality : float
        Norm of the minimal subgradient at the end, on all weights.
    n_active : int
    """

    nodes: Table
    edges: Table
    weights: np.ndarray = field(repr=False)
    objective: float
    history: list = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    optimality: float
    n_active: int


def train_crf(objective, n_rows, n_edge_rows=1, *, validation=None, warm=None, **options):
    """Minimise an objective, which is closed then.

    Parameters
    ----------
    objective : CRFObjective
    n_rows, n_edge_rows : int
        Rows of the tables of the result.
    validation : ChainTask or None
        Held-out sequences, whose mean log-probability is noted after each iteration.
    warm : tuple (nodes, edges) of Table, or None
        Where to start, in the shapes of the result; skips stage one (unless it is all there is).
    **options
        Of :func:`solve`.

    Returns
    -------
    CRFResult
    """
    held_out = None
    try:
        if validation is not None:
            held_out = HeldOut(objective, validation, n_rows, n_edge_rows)
        weights = None if warm is None else pack(objective, *warm)
        return solve(objective, n_rows, n_edge_rows, weights=weights, held_out=held_out, **options)
    finally:
        objective.close()
        if held_out is not None:
            held_out.objective.close()


class HeldOut:
    """The mean log-probability of other sequences under weights of a working set."""

    def __init__(self, objective, task, n_rows, n_edge_rows):
        allowed, start, end, _ = objective.potentials
        self.objective = CRFObjective(
            task, objective.n_labels, n_rows, n_edge_rows, 0.0, 0.0, start=start, allowed=allowed,
            end=end, n_threads=objective.n_threads, like=objective,
        )  # fmt: skip
        self.n = max(float(task.weight.sum()), 1e-300)
        self.where = self.view = None

    def score(self, weights, where):
        """``where``: places of ``weights`` in all weights, or None."""
        if self.view is None or where is not self.where:
            pairs = np.arange(self.objective.n_pairs)
            if where is not None:
                pairs = where[where < self.objective.n_pairs]
            self.view, self.where = View(self.objective, pairs), where
        return -self.objective.evaluate(self.view, weights)[0] / self.n


def solve(objective, n_rows, n_edge_rows=1, *, solver="two-stage", sgd_iter=2, eta0=0.3, decay=0.5,
          line_search=False, max_trials=3, memory=60, max_iter=1000, tol=2e-4, weights=None, seed=0,
          held_out=None, callback=None, checkpoint=None, interrupt=None):  # fmt: skip
    """Minimise an objective.

    Parameters
    ----------
    objective : CRFObjective
    n_rows, n_edge_rows : int
        Rows of the tables of the result.
    solver : {"two-stage", "owlqn", "sgd"}
        ``"sgd"`` raises ValueError if its weights overflow; two stages then go on from zero.
    sgd_iter, eta0, decay, line_search, max_trials
        Stage one, see :func:`.sgd_l1.stochastic_passes`; ``sgd_iter`` may be 0.
    memory, max_iter, tol
        Stage two, see :func:`.working_set.active_orthant`.
    weights : ndarray of shape (objective.size,) or None
        Where to start; skips stage one (unless it is all there is).
    seed : int
        Order of the sequences in stage one.
    held_out : HeldOut or None
    callback : callable or None
        Called with each new entry of the history, and a function that returns the weights so far as
        tables (nodes, edges); stops if it returns true.
    checkpoint : Checkpoint or None
        Where to keep the state between iterations, and to go on from.
    interrupt : DeferredInterrupt or None
        Stops at once.

    Returns
    -------
    CRFResult
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {SOLVERS}, got {solver!r}")
    o = objective
    if solver == "sgd" and o.edge_pair.shape[0]:
        raise ValueError("solver='sgd' does not learn transitions that look at the input; use 'two-stage'")
    began, before = time.perf_counter(), o.n_passes
    history, stopped = [], []
    keepers = {stage: None if checkpoint is None else _Keeper(stage, checkpoint, history) for stage in STAGES}
    resumed = None
    if checkpoint is not None and (found := checkpoint.load()) is not None:
        resumed, history[:] = found[0]["stage"], found[0]["history"]
        keepers[resumed].found = found
        began -= history[-1]["seconds"]

    def note(stage, weights, where, objective, optimality):
        entry = {
            "stage": stage, "objective": objective, "n_active": int(np.count_nonzero(weights)),
            "optimality": optimality, "seconds": time.perf_counter() - began,
        }  # fmt: skip
        if held_out is not None:
            entry["validation"] = held_out.score(weights, where)
        history.append(entry)

        def tables():
            everywhere = weights
            if where is not None:
                everywhere = np.zeros(o.size)
                everywhere[where] = weights
            return unpack(o, everywhere, n_rows, n_edge_rows)

        if (callback is not None and callback(entry, tables)) or (interrupt is not None and interrupt.count):
            stopped.append(True)
        return bool(stopped)

    def of_sgd(weights):
        weights = np.append(weights, np.zeros(o.size - weights.shape[0]))
        value = None
        if solver == "sgd":  # worth a pass: the only trace of the paper's first stage alone
            value = o.evaluate(o.everything(), weights)[0] + o.c1 * float(np.abs(weights).sum())
        return note("sgd", weights, None, value, None)

    def of_batch(weights, value, pseudo, where):
        return note("batch", weights, where, value, float(np.sqrt(dot(pseudo, pseudo))))

    start = np.zeros(o.size) if weights is None else weights
    n_iter, converged, n_sgd = 0, False, sum(entry["stage"] == "sgd" for entry in history)
    first = solver == "sgd" or (solver == "two-stage" and sgd_iter and weights is None)
    if first and resumed != "batch":
        start = stochastic_passes(
            o, sgd_iter, eta0, decay, line_search, max_trials, seed, start, of_sgd, keepers["sgd"], interrupt
        )
        n_iter = n_sgd = len(history)
        if not np.isfinite(start).all():
            if solver == "sgd":
                raise ValueError(
                    f"the weights overflowed in stochastic gradient descent; eta0={eta0} is too high"
                )
            start = np.zeros(o.size)
    if solver == "sgd" or stopped:
        value, gradient = o.evaluate(o.everything(), start)
        value += o.c1 * float(np.abs(start).sum())
        pseudo = pseudo_gradient(start, gradient, o.c1)
    else:
        minimise = owlqn if solver == "owlqn" else active_orthant
        start, value, pseudo, n_iter, converged = minimise(
            o, start, memory, max_iter, tol, of_batch, keepers["batch"]
        )
    nodes, edges = unpack(o, start, n_rows, n_edge_rows)
    return CRFResult(
        nodes, edges, start, value, history, n_iter, o.n_passes - before + n_sgd, converged,
        float(np.sqrt(dot(pseudo, pseudo))), int(np.count_nonzero(start)),
    )  # fmt: skip


class _Keeper:
    """A stage's view of the checkpoint; see :func:`.working_set.active_orthant`."""

    def __init__(self, stage, checkpoint, history):
        self.stage, self.checkpoint, self.history = stage, checkpoint, history
        self.found = None

    def offer(self, state, arrays):
        """Write a state, with the stage and the history so far."""
        self.checkpoint.offer({**state, "stage": self.stage, "history": list(self.history)}, arrays)


def _keys(objective):
    """Where the weights stand in the tables (nodes, edges)."""
    o, L = objective, np.int64(objective.n_labels)
    combination, p, y = o.edge_pair.T
    edges = np.concatenate([o.pair[:, 0] * L + o.pair[:, 1], (combination * L + p) * L + y])
    return o.pair_row * L + o.pair_label, edges


def unpack(objective, weights, n_rows, n_edge_rows):
    """The weight vector as tables (nodes, edges)."""
    L, n = objective.n_labels, objective.n_pairs
    nodes, edges = _keys(objective)
    return Table.of((n_rows, L), nodes, weights[:n]), Table.of((n_edge_rows * L, L), edges, weights[n:])


def pack(objective, nodes, edges):
    """The opposite of :func:`unpack`; weights that have no place are dropped."""
    return np.concatenate([table.at(keys) for table, keys in zip((nodes, edges), _keys(objective))])
