"""Training a chain CRF: stage one, stage two, the record of both, and what they find.

The two-stage algorithm (Zhou, Qiu and Huang 2011, *A Fast Accurate Two-stage Training
Algorithm for L1-regularized CRFs with Heuristic Line Search Strategy*, IJCNLP): a few
passes of stochastic gradient descent (:mod:`.sgd`), then a batch method that converges.
Differs from the paper: the second stage is not OWL-QN on all weights but its relative
on a working set (:mod:`.working_set`), which needs a fifth of the passes, on a corpus
written out in a few percent of the weights.
"""

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .bound import StoppingRule
from .objective import CRFObjective, ObjectiveOptions
from .quasi_newton import Minimum, dot, pseudo_gradient
from .working_set import active_orthant, owlqn


class SolverOptions(NamedTuple):
    """How to minimise; the names are the parameters of :class:`.L1CRF`."""

    solver: str = "two-stage"  # or "owlqn", "sgd"
    sgd_iter: int = 2  # passes of stage one; may be 0
    eta0: float | str = "auto"  # equation 12
    decay: float = 0.5
    line_search: bool = False
    max_trials: int = 3  # rates tried for each sequence
    memory: int = 80  # pairs kept for the Hessian
    max_iter: int = 1000  # iterations of stage two; each is a pass, seldom two
    tol: float | None = None  # see StoppingRule


class SparseWeights(NamedTuple):
    """A matrix of weights, nearly all of them zero."""

    shape: tuple  # rows, columns
    keys: (
        np.ndarray
    )  # (n,) int64: row * columns + column of each that is not; ascending
    values: np.ndarray  # (n,) float64

    @classmethod
    def of(cls, shape, keys, values):
        """The weights with ``values`` at ``keys``, in any order."""
        use = np.flatnonzero(values)
        use = use[np.argsort(keys[use], kind="stable")]
        return cls(shape, keys[use], values[use])

    def at(self, keys):
        """The weights at some keys."""
        if self.keys.shape[0] == 0:
            return np.zeros(keys.shape[0])
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.shape[0] - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)


@dataclass
class CRFResult:
    """What training found.

    Attributes
    ----------
    nodes : SparseWeights of shape (n_rows, L)
        Weights of features and labels.
    edges : SparseWeights of shape (n_edge_rows * L, L)
        Weights of transitions: row e * L + p, column y; the first L rows are the label
        bigram.
    weights : ndarray
        The same in the order of the objective.
    objective : float
    history : list of dict
        For each iteration: ``stage``, ``objective`` (None within stage one, unless it
        is all there is), ``n_active`` (weights that are not zero), ``optimality`` (norm
        of the minimal subgradient before the step, on the working set; None within
        stage one), ``seconds`` since the start, and with held-out sequences
        ``validation``, their mean log-probability.
    n_iter : int
        Iterations of the second stage; passes of stage one if there is no second.
    n_passes : int
        Sums over the whole corpus, stochastic passes included.
    converged : bool
    optimality : float
        Norm of the minimal subgradient at the end, on all weights.
    max_violation : float
        Its largest element in magnitude: how far the weight that fits worst is from
        optimality.
    n_active_features : int
    gap : float
        How far the objective can be above the optimum, as a share of it; nan if that is
        not known.
    carry : Carry or None
        For a minimisation with other penalties; see :func:`.active_orthant`.
    """

    nodes: SparseWeights
    edges: SparseWeights
    weights: np.ndarray = field(repr=False)
    objective: float
    history: list = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    optimality: float
    max_violation: float
    n_active_features: int
    gap: float
    carry: tuple | None = field(default=None, repr=False)


MEASURES = (
    "objective",
    "optimality",
    "max_violation",
    "gap",
    "n_active_features",
    "history",
)
"""What users hear of a result, as attributes of a fitted estimator."""


def _keys(objective):
    """Where the weights stand in the matrices (nodes, edges)."""
    o = objective
    L = np.int64(objective.n_labels)
    combination, p, y = o.edge_pair.T
    edges = np.concatenate(
        [(combination * L + p) * L + y, o.pair[:, 0] * L + o.pair[:, 1]]
    )
    return o.row[o.pair_feature] * L + o.pair_label, edges


def unpack(objective, weights):
    """The weight vector as matrices (nodes, edges)."""
    o = objective
    L = objective.n_labels
    n = objective.n_pairs
    shapes = (o.n_rows, L), (o.n_edge_rows * L, L)
    return tuple(map(SparseWeights.of, shapes, _keys(o), (weights[:n], weights[n:])))


def pack(objective, nodes, edges):
    """The opposite of :func:`unpack`; weights that have no place are dropped."""
    return np.concatenate(
        [matrix.at(keys) for matrix, keys in zip((nodes, edges), _keys(objective))]
    )


class HeldOutLikelihood:
    """The mean log-probability of held-out sequences; closed with the objective that it
    belongs to.

    Parameters
    ----------
    objective : CRFObjective
    task : ChainTask or None
        The sequences; None if there are none that training could make probable.
    n : int
        The sequences that the mean is over.
    impossible : float
        Log-probability of what training cannot make probable, whatever the weights.
    """

    def __init__(self, objective, task, n, impossible=0.0):
        o = objective
        options = ObjectiveOptions(0.0, 0.0)
        potentials = o.potentials._replace(cost=np.zeros(o.n_labels))
        self.n = n
        self.impossible = impossible
        self.where = self.view = self.objective = None
        if task is not None:
            self.objective = CRFObjective(
                task, options, potentials, o.n_rows, o.n_edge_rows, layout=o.layout
            )
            self.objective.pool = o.pool

    def score(self, weights, where=None):
        """``where``: places of ``weights`` in all weights, or None."""
        if self.objective is None:
            return self.impossible / self.n
        if self.view is None or where is not self.where:
            n = self.objective.n_optional
            self.view = self.objective.view(
                np.arange(n) if where is None else where[where < n]
            )
            self.where = where
        return (
            self.impossible - self.objective.evaluate(self.view, weights)[0]
        ) / self.n


class Progress:
    """The passes so far, in memory and in a checkpoint, and whether to stop.

    Parameters
    ----------
    objective : CRFObjective
    held_out : HeldOutLikelihood, optional
        Its score is noted after each pass.
    after_pass : callable, optional
        Called with each new entry of the history, and a function that returns the
        weights so far as matrices (nodes, edges); stops if it returns true.
    checkpoint : Checkpoint, optional
        Where to keep the state between passes, and to go on from.
    interrupt : DeferredInterrupt, optional
        Stops at once.

    Attributes
    ----------
    history : list of dict
        See :class:`CRFResult`.
    stage : {"sgd", "batch"}
        The stage that is running.
    evaluates : bool
        Whether to work out the objective after each pass, for a stage that does not
        know it.
    resumed : str or None
        The stage that the checkpoint is of.
    n_resumed : int
        Passes that came from there.
    """

    def __init__(
        self, objective, held_out=None, after_pass=None, checkpoint=None, interrupt=None
    ):
        self.objective = objective
        self.held_out = held_out
        self.after_pass = after_pass
        self.checkpoint = checkpoint
        self.interrupt = interrupt
        self.history = []
        self.stage = "batch"
        self.evaluates = False
        self.stopped = False
        self.resumed = None
        self.began = time.perf_counter()
        self._found = None if checkpoint is None else checkpoint.load()
        if self._found is not None:
            self.resumed = self._found[0]["stage"]
            self.history = self._found[0]["history"]
            self.began -= self.history[-1]["seconds"]
        self.n_resumed = len(self.history)

    @property
    def found(self):
        """(state, arrays) of the stage that is running, to go on from; None if there is
        nothing.
        """
        return self._found if self.resumed == self.stage else None

    @property
    def interrupted(self):
        """Whether the user has asked to stop."""
        return self.interrupt is not None and self.interrupt.count > 0

    def offer(self, state, arrays):
        """What the stage needs to go on from here, for the checkpoint."""
        if self.checkpoint is not None:
            self.checkpoint.offer(
                {**state, "stage": self.stage, "history": list(self.history)}, arrays
            )

    def add(self, weights, where=None, value=None, pseudo=None, search=None):
        """Note a pass; returns whether to stop.

        Parameters
        ----------
        weights : ndarray
        where : ndarray, optional
            Places of ``weights`` in all weights.
        value : float, optional
            The objective, if it is known.
        pseudo : ndarray, optional
            Its pseudo-gradient before the pass.
        search : dict, optional
            More of the entry, about the line search.
        """
        if self.evaluates:
            value = penalised(self.objective, weights)[0]
        entry = {
            "stage": self.stage, "objective": value, "n_active": int(np.count_nonzero(weights)),
            "norm": float(np.sqrt(dot(weights, weights))),
            "optimality": None if pseudo is None else float(np.sqrt(dot(pseudo, pseudo))),
            **(search or {}), "seconds": time.perf_counter() - self.began,
        }  # fmt: skip
        if self.held_out is not None:
            entry["validation"] = self.held_out.score(weights, where)
        entry.update(self.objective.traffic())
        self.history.append(entry)

        def matrices():
            everywhere = weights
            if where is not None:
                everywhere = np.zeros(self.objective.size)
                everywhere[where] = weights
            return unpack(self.objective, everywhere)

        asked = self.after_pass is not None and self.after_pass(entry, matrices)
        self.stopped = bool(asked) or self.interrupted
        return self.stopped


def penalised(objective, weights):
    """(objective with its L1 term, gradient of its smooth part) at all weights."""
    value, gradient = objective.evaluate(objective.everything(), weights)
    return value + objective.c1 * float(np.abs(weights).sum()), gradient


def solve(objective, options, progress, *, weights=None, carry=None, cuts=None, seed=0):
    """Minimise an objective.

    Parameters
    ----------
    objective : CRFObjective
    options : SolverOptions
        With ``solver="sgd"`` weights that overflow raise ValueError; two stages then go
        on from zero.
    progress : Progress
    weights : ndarray of shape (objective.size,) or None
        Where to start; skips stage one (unless it is all there is).
    carry : Carry or None
        Of the minimisation that ended in ``weights``; see :func:`.active_orthant`.
    cuts : Cuts, None or False
        Of minimisations of the same corpus; see :class:`.StoppingRule`.
    seed : int
        Order of the sequences in stage one.

    Returns
    -------
    CRFResult
    """
    o = objective
    only_sgd = options.solver == "sgd"
    if only_sgd and o.edge_pair.shape[0]:
        raise ValueError(
            "solver='sgd' does not learn transitions that look at the input; use 'two-stage'"
        )
    n_passes = o.n_passes
    start = np.zeros(o.size) if weights is None else weights
    n_iter = 0
    n_sgd = sum(entry["stage"] == "sgd" for entry in progress.history)
    first = only_sgd or (
        options.solver == "two-stage" and options.sgd_iter and weights is None
    )
    if first and progress.resumed != "batch":
        progress.stage = "sgd"
        progress.evaluates = only_sgd
        start = o.stochastic_passes(options, progress, seed=seed, weights=start)
        n_iter = n_sgd = len(progress.history)
        if not np.isfinite(start).all():
            if only_sgd:
                raise ValueError(
                    f"the weights overflowed in stage one; eta0={options.eta0} is too high"
                )
            start = np.zeros(o.size)
    if only_sgd or progress.stopped:
        value, gradient = penalised(o, start)
        rule = StoppingRule(o, None)
        rule.note(start, gradient, value)
        found = Minimum(
            start,
            value,
            pseudo_gradient(start, gradient, o.c1),
            n_iter,
            False,
            rule.gap(value),
        )
    else:
        progress.stage = "batch"
        minimise = owlqn if options.solver == "owlqn" else active_orthant
        found = minimise(o, start, options, progress, carry, cuts)
    weights = found.weights
    pseudo = found.pseudo
    return CRFResult(
        *unpack(o, weights), weights, float(found.value), progress.history, found.n_iter,
        o.n_passes - n_passes + n_sgd, found.converged, float(np.sqrt(dot(pseudo, pseudo))),
        float(np.abs(pseudo).max(initial=0.0)), int(np.count_nonzero(weights)), found.gap, found.carry,
    )  # fmt: skip
