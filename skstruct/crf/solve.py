"""Training a chain CRF: stage one, stage two, and the record of both.

The two-stage algorithm (Zhou, Qiu and Huang 2011, *A Fast Accurate Two-stage Training Algorithm for
L1-regularized CRFs with Heuristic Line Search Strategy*, IJCNLP): a few passes of stochastic gradient
descent (:mod:`.sgd`), then a batch method that converges. Differs from the paper: the second stage is not
OWL-QN on all weights but its relative on a working set (:mod:`.working_set`), which needs a fifth of the
passes, on a corpus written out in a few percent of the weights.
"""

import time

import numpy as np

from .bound import StoppingRule
from .objective import CRFObjective
from .options import ObjectiveOptions
from .owlqn import owlqn
from .quasi_newton import Minimum, dot, pseudo_gradient
from .result import CRFResult, pack, unpack
from .view import View
from .working_set import active_orthant

SOLVERS = ("two-stage", "owlqn", "sgd")
STAGES = ("sgd", "batch")


def train_crf(objective, options, *, validation=None, warm=None, **how):
    """Minimise an objective, which is closed then.

    Parameters
    ----------
    objective : CRFObjective
    options : SolverOptions
    validation : ChainTask or None
        Held-out sequences, whose mean log-probability is noted after each iteration.
    warm : tuple (nodes, edges) of SparseWeights, or None
        Where to start, in the shapes of the result; skips stage one (unless it is all there is).
    **how
        ``seed``, ``callback``, ``checkpoint`` and ``interrupt`` of :func:`solve`.

    Returns
    -------
    CRFResult
    """
    held_out = None
    try:
        if validation is not None:
            held_out = HeldOut(objective, validation)
        weights = None if warm is None else pack(objective, *warm)
        return solve(objective, options, weights=weights, held_out=held_out, **how)
    finally:
        objective.close()
        if held_out is not None:
            held_out.objective.close()


class HeldOut:
    """The mean log-probability of other sequences under weights of a working set."""

    def __init__(self, objective, task):
        o = objective
        allowed, start, end, _ = o.potentials
        options = ObjectiveOptions(0.0, 0.0, start=start, allowed=allowed, end=end)
        self.objective = CRFObjective(
            task, options, o.n_labels, o.n_rows, o.n_edge_rows, n_threads=o.n_threads, like=o
        )
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


class History:
    """The iterations so far, and whether to stop after one; see :func:`solve` for the arguments."""

    def __init__(self, objective, held_out, callback, interrupt):
        self.objective, self.held_out, self.callback, self.interrupt = (
            objective,
            held_out,
            callback,
            interrupt,
        )
        self.entries, self.stopped = [], False
        self.began = time.perf_counter()

    def resume(self, entries):
        """Go on after the iterations of an earlier run."""
        self.entries[:] = entries
        self.began -= entries[-1]["seconds"]

    def add(self, stage, weights, where, value, optimality):
        """Note an iteration; returns whether to stop. ``where``: places of ``weights`` in all, or None."""
        entry = {
            "stage": stage, "objective": value, "n_active": int(np.count_nonzero(weights)),
            "optimality": optimality, "seconds": time.perf_counter() - self.began,
        }  # fmt: skip
        if self.held_out is not None:
            entry["validation"] = self.held_out.score(weights, where)
        entry.update(self.objective.traffic())
        self.entries.append(entry)

        def matrices():
            everywhere = weights
            if where is not None:
                everywhere = np.zeros(self.objective.size)
                everywhere[where] = weights
            return unpack(self.objective, everywhere)

        if self.callback is not None and self.callback(entry, matrices):
            self.stopped = True
        elif self.interrupt is not None and self.interrupt.count:
            self.stopped = True
        return self.stopped

    def add_sgd(self, weights, evaluated):
        """Note a pass of stage one, with its objective if that is to be ``evaluated``."""
        o = self.objective
        weights = np.append(weights, np.zeros(o.size - weights.shape[0]))
        return self.add("sgd", weights, None, _penalised(o, weights)[0] if evaluated else None, None)

    def add_batch(self, weights, value, pseudo, where):
        """Note an iteration of stage two."""
        return self.add("batch", weights, where, value, float(np.sqrt(dot(pseudo, pseudo))))


def _penalised(objective, weights):
    """(objective with its L1 term, gradient of its smooth part) at all weights."""
    value, gradient = objective.evaluate(objective.everything(), weights)
    return value + objective.c1 * float(np.abs(weights).sum()), gradient


def solve(objective, options, *, weights=None, carry=None, seed=0, held_out=None, callback=None,
          checkpoint=None, interrupt=None):  # fmt: skip
    """Minimise an objective.

    Parameters
    ----------
    objective : CRFObjective
    options : SolverOptions
        With ``solver="sgd"`` weights that overflow raise ValueError; two stages then go on from zero.
    weights : ndarray of shape (objective.size,) or None
        Where to start; skips stage one (unless it is all there is).
    carry : Carry or None
        Of the minimisation that ended in ``weights``; see :func:`.active_orthant`.
    seed : int
        Order of the sequences in stage one.
    held_out : HeldOut or None
    callback : callable or None
        Called with each new entry of the history, and a function that returns the weights so far as
        matrices (nodes, edges); stops if it returns true.
    checkpoint : Checkpoint or None
        Where to keep the state between iterations, and to go on from.
    interrupt : DeferredInterrupt or None
        Stops at once.

    Returns
    -------
    CRFResult
    """
    o, only_sgd = objective, options.solver == "sgd"
    if options.solver not in SOLVERS:
        raise ValueError(f"solver must be one of {SOLVERS}, got {options.solver!r}")
    if only_sgd and o.edge_pair.shape[0]:
        raise ValueError("solver='sgd' does not learn transitions that look at the input; use 'two-stage'")
    n_passes, history = o.n_passes, History(o, held_out, callback, interrupt)
    keepers = {stage: None if checkpoint is None else _Keeper(stage, checkpoint, history) for stage in STAGES}
    resumed = None
    if checkpoint is not None and (found := checkpoint.load()) is not None:
        resumed = found[0]["stage"]
        history.resume(found[0]["history"])
        keepers[resumed].found = found
    start = np.zeros(o.size) if weights is None else weights
    n_iter, n_sgd = 0, sum(entry["stage"] == "sgd" for entry in history.entries)
    first = only_sgd or (options.solver == "two-stage" and options.sgd_iter and weights is None)
    if first and resumed != "batch":
        start = o.stochastic_passes(
            options, seed=seed, weights=start, callback=lambda w: history.add_sgd(w, only_sgd),
            keeper=keepers["sgd"], interrupt=interrupt,
        )  # fmt: skip
        n_iter = n_sgd = len(history.entries)
        if not np.isfinite(start).all():
            if only_sgd:
                raise ValueError(
                    f"the weights overflowed in stochastic gradient descent; eta0={options.eta0} is too high"
                )
            start = np.zeros(o.size)
    if only_sgd or history.stopped:
        value, gradient = _penalised(o, start)
        rule = StoppingRule(o, None)
        rule.note(start, gradient, value)
        pseudo = pseudo_gradient(start, gradient, o.c1)
        found = Minimum(start, value, pseudo, n_iter, False, rule.gap(value))
    else:
        minimise = owlqn if options.solver == "owlqn" else active_orthant
        found = minimise(o, start, options, history.add_batch, keepers["batch"], carry)
    pseudo = found.pseudo
    return CRFResult(
        *unpack(o, found.weights), found.weights, found.value, history.entries, found.n_iter,
        o.n_passes - n_passes + n_sgd, found.converged, float(np.sqrt(dot(pseudo, pseudo))),
        float(np.abs(pseudo).max(initial=0.0)), int(np.count_nonzero(found.weights)), found.gap,
        found.carry,
    )  # fmt: skip


class _Keeper:
    """A stage's view of the checkpoint; see :func:`.working_set.active_orthant`."""

    def __init__(self, stage, checkpoint, history):
        self.stage, self.checkpoint, self.history = stage, checkpoint, history
        self.found = None

    def offer(self, state, arrays):
        """Write a state, with the stage and the history so far."""
        self.checkpoint.offer({**state, "stage": self.stage, "history": list(self.history.entries)}, arrays)
