"""Training a chain CRF: stage one, stage two, the record of both, and what they find.

The two-stage algorithm (Zhou, Qiu and Huang 2011, *A Fast Accurate Two-stage Training
Algorithm for L1-regularized CRFs with Heuristic Line Search Strategy*, IJCNLP): a few
passes of stochastic gradient descent (:mod:`.sgd`), then a batch method that converges.
Differs from the paper: the second stage is not OWL-QN on all weights but its relative
on a working set (:mod:`.working_set`), which needs a fifth of the passes, on a corpus
written out in a few percent of the weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .bound import StoppingRule
from .objective import CRFObjective, ObjectiveOptions
from .quasi_newton import Minimum, dot, pseudo_gradient
from .working_set import active_orthant, owlqn

if TYPE_CHECKING:
    from ..._chain.bigram import ChainTask
    from ..._data.types import History
    from ..._training.checkpoint import Checkpoint
    from ..._training.interrupt import DeferredInterrupt
    from ..._training.judged import State
    from .bound import Cuts
    from .objective import Objective
    from .view import View
    from .working_set import Carry


class SolverOptions(NamedTuple):
    """Options of the minimisation; the names are the parameters of :class:`.L1CRF`."""

    solver: str = "two-stage"  # or "owlqn", "sgd"
    sgd_iter: int = 4  # passes of stage one; may be 0
    eta0: float | str = "auto"  # equation 12
    decay: float = 0.7
    line_search: bool = False
    max_trials: int = 3  # rates tried for each sequence
    memory: int = 80  # steps, with changes of the gradient, kept for the Hessian
    max_iter: int = 1000  # iterations of stage two; each is a pass, seldom two
    tol: float | None = None  # see StoppingRule


class SparseWeights(NamedTuple):
    """A matrix of weights, nearly all of them zero."""

    shape: tuple[int, int]  # rows, columns
    # (n,) int64: row * columns + column of each weight that is not zero; ascending
    keys: np.ndarray
    values: np.ndarray  # (n,) float64: these weights

    @classmethod
    def of(
        cls, shape: tuple[int, int], keys: np.ndarray, values: np.ndarray
    ) -> SparseWeights:
        """Make a matrix of ``values`` (n,) at ``keys`` (n,), which are in any order."""
        use = np.flatnonzero(values)
        use = use[np.argsort(keys[use], kind="stable")]
        return cls(shape, keys[use], values[use])

    def at(self, keys: np.ndarray) -> np.ndarray:
        """Return the weights at some keys (n,), 0 where there are none."""
        if self.keys.shape[0] == 0:
            return np.zeros(keys.shape[0])
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.shape[0] - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)


@dataclass
class CRFResult:
    """The result of training.

    Attributes
    ----------
    nodes : SparseWeights of shape (n_rows, L)
        Weights of features and labels.
    edges : SparseWeights of shape (n_edge_rows * L, L)
        Weights of all transitions, those that look at the input and others: row e * L +
        p of combination e and previous label p, column y. Combination 0 is the label
        bigram, which does not look at the input.
    weights : ndarray
        All weights as one vector, in the order of the objective's variables.
    objective : float
    history : list of dict
        For each iteration: ``stage``, ``objective`` (None within stage one, unless it
        is all there is), ``n_active`` (weights that are not zero), ``optimality`` (norm
        of the minimal subgradient before the step, on the working set; None within
        stage one), ``seconds`` since the start, and with held-out sequences
        ``validation``, their mean log-probability.
    n_iter : int
        Iterations of the second stage, each with one or more passes; passes of stage
        one if there is no second.
    n_passes : int
        Sums over the whole corpus, of both stages.
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
        What a minimisation with other penalties on the same corpus begins with; see
        :func:`.active_orthant`.
    """

    nodes: SparseWeights
    edges: SparseWeights
    weights: np.ndarray = field(repr=False)
    objective: float
    history: History = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    optimality: float
    max_violation: float
    n_active_features: int
    gap: float
    carry: Carry | None = field(default=None, repr=False)


MEASURES = (
    "objective",
    "optimality",
    "max_violation",
    "gap",
    "n_active_features",
    "history",
)
"""Fields of a result that become attributes of the fitted estimator, with a ``_`` at
their end.
"""


def _find_keys(objective: Objective) -> tuple[np.ndarray, np.ndarray]:
    """Find the keys of an objective's weights in the matrices (nodes, edges)."""
    L = np.int64(objective.n_labels)
    combination, p, y = objective.conditioned_pair.T
    of_conditioned = (combination * L + p) * L + y
    p, y = objective.label_pair.T
    rows = objective.row[objective.pair_feature]
    return (
        rows * L + objective.pair_label,
        np.concatenate([of_conditioned, p * L + y]),
    )


def unpack(
    objective: Objective, weights: np.ndarray
) -> tuple[SparseWeights, SparseWeights]:
    """Write a vector of weights (objective.size,) as matrices.

    Returns
    -------
    nodes : SparseWeights of shape (n_rows, L)
    edges : SparseWeights of shape (n_edge_rows * L, L)
        As in :class:`CRFResult`.
    """
    L = objective.n_labels
    n = objective.n_pairs
    of_nodes, of_edges = _find_keys(objective)
    return (
        SparseWeights.of((objective.n_rows, L), of_nodes, weights[:n]),
        SparseWeights.of((objective.n_edge_rows * L, L), of_edges, weights[n:]),
    )


def pack(
    objective: Objective, nodes: SparseWeights, edges: SparseWeights
) -> np.ndarray:
    """Write matrices of weights as one vector (objective.size,), see :func:`unpack`.

    Weights that have no place in it are dropped.
    """
    return np.concatenate(
        [matrix.at(keys) for matrix, keys in zip((nodes, edges), _find_keys(objective))]
    )


Matrices: TypeAlias = tuple[SparseWeights, SparseWeights]
"""Weights of (nodes, edges), as in :class:`CRFResult`."""

AsMatrices: TypeAlias = Callable[[], Matrices]
"""A function that returns the weights so far."""

AfterPass: TypeAlias = Callable[[dict[str, Any], AsMatrices], bool]
"""A function that is called after a pass with its entry in the history, and with a
function for the weights.

It returns whether to stop.
"""


class HeldOutLikelihood:
    """The mean log-probability of held-out sequences; closed with the objective that it
    belongs to.

    Parameters
    ----------
    objective : Objective
    task : ChainTask or None
        The sequences; None if there are none that training could make probable.
    n : int
        The sequences that the mean is over.
    impossible : float
        Log-probability of what training cannot make probable, whatever the weights.
    """

    def __init__(
        self,
        objective: Objective,
        task: ChainTask | None,
        n: int,
        impossible: float = 0.0,
    ) -> None:
        self.n = n
        self.impossible = impossible
        self.where: np.ndarray | None = None
        self.view: View | None = None
        self.objective: CRFObjective | None = None
        if task is not None:
            nothing = np.zeros(objective.n_labels)
            self.objective = CRFObjective(
                task,
                ObjectiveOptions(0.0, 0.0),
                objective.potentials._replace(cost=nothing),
                objective.n_rows,
                objective.n_edge_rows,
                layout=objective.layout,
            )
            self.objective.pool = objective.pool

    def score(self, weights: np.ndarray, where: np.ndarray | None = None) -> float:
        """Return the mean log-probability of the sequences.

        Parameters
        ----------
        weights : ndarray
            All weights of the objective, or some of them.
        where : ndarray, optional
            Places of ``weights`` in all weights; by default they are all.
        """
        objective = self.objective
        if objective is None:
            return self.impossible / self.n
        if self.view is None or where is not self.where:
            n = objective.n_optional
            chosen = np.arange(n) if where is None else where[where < n]
            self.view = objective.view(chosen)
            self.where = where
        return (self.impossible - objective.evaluate(self.view, weights)[0]) / self.n


class Progress:
    """The passes so far, in memory and in a checkpoint, and whether to stop.

    Parameters
    ----------
    objective : CRFObjective
    held_out : HeldOutLikelihood, optional
        Its score is added to each entry of the history, as ``validation``.
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
    stopped : bool
        Whether Ctrl-C or ``after_pass`` has ended training.
    resumed : str or None
        The stage in which the checkpoint was written; None if there is none.
    n_resumed : int
        Entries of the history that came from there.
    """

    def __init__(
        self,
        objective: Objective,
        held_out: HeldOutLikelihood | None = None,
        after_pass: AfterPass | None = None,
        checkpoint: Checkpoint | None = None,
        interrupt: DeferredInterrupt | None = None,
    ) -> None:
        self.objective = objective
        self.held_out = held_out
        self.after_pass = after_pass
        self.checkpoint = checkpoint
        self.interrupt = interrupt
        self.history: History = []
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
    def found(self) -> State | None:
        """Return what the checkpoint has of the stage that is running, to go on from:
        (state, arrays). None if there is none, or it was written in the other stage.
        """
        return self._found if self.resumed == self.stage else None

    @property
    def interrupted(self) -> bool:
        """Tell whether the user has asked to stop."""
        return self.interrupt is not None and self.interrupt.count > 0

    def offer(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Offer what the stage needs to go on from here to the checkpoint."""
        if self.checkpoint is not None:
            self.checkpoint.offer(
                {**state, "stage": self.stage, "history": list(self.history)}, arrays
            )

    def add(
        self,
        weights: np.ndarray,
        where: np.ndarray | None = None,
        value: float | None = None,
        pseudo: np.ndarray | None = None,
        search: dict[str, Any] | None = None,
    ) -> bool:
        """Note a pass in the history, and return whether to stop.

        Parameters
        ----------
        weights : ndarray
        where : ndarray, optional
            Places of ``weights`` in all weights; by default they are all.
        value : float, optional
            The objective, if it is known.
        pseudo : ndarray, optional
            Its pseudo-gradient before the pass, the subgradient of least norm.
        search : dict, optional
            More of the entry, about the line search.
        """
        if self.evaluates:
            value = evaluate_penalised(self.objective, weights)[0]
        entry = {
            "stage": self.stage,
            "objective": value,
            "n_active": int(np.count_nonzero(weights)),
            "norm": float(np.sqrt(dot(weights, weights))),
            "optimality": None
            if pseudo is None
            else float(np.sqrt(dot(pseudo, pseudo))),
            **(search or {}),
            "seconds": time.perf_counter() - self.began,
        }
        if self.held_out is not None:
            entry["validation"] = self.held_out.score(weights, where)
        entry.update(self.objective.traffic())
        self.history.append(entry)

        def as_matrices() -> tuple[SparseWeights, SparseWeights]:
            everywhere = weights
            if where is not None:
                everywhere = np.zeros(self.objective.size)
                everywhere[where] = weights
            return unpack(self.objective, everywhere)

        asked = self.after_pass is not None and self.after_pass(entry, as_matrices)
        self.stopped = bool(asked) or self.interrupted
        return self.stopped


def evaluate_penalised(
    objective: Objective, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """Work out the objective at all weights (size,), in a pass over all of them.

    Returns
    -------
    value : float
        With the L1 term.
    gradient : ndarray of shape (size,)
        Of the smooth part.
    """
    value, gradient = objective.evaluate(objective.view_all(), weights)
    return value + objective.c1 * float(np.abs(weights).sum()), gradient


def solve(
    objective: Objective,
    options: SolverOptions,
    progress: Progress,
    *,
    weights: np.ndarray | None = None,
    carry: Carry | None = None,
    cuts: Cuts | Literal[False] | None = None,
    seed: int = 0,
) -> CRFResult:
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
        What the minimisation that ended in ``weights`` remembers; see
        :func:`.active_orthant`.
    cuts : Cuts, None or False
        Tangents from minimisations of the same corpus under other penalties; None:
        there are none yet. False: none are gathered, and no gap is known. See
        :class:`.StoppingRule`.
    seed : int
        Order of the sequences in stage one.

    Returns
    -------
    CRFResult
    """
    only_sgd = options.solver == "sgd"
    if only_sgd and objective.conditioned_pair.shape[0]:
        raise ValueError(
            "solver='sgd' does not learn transitions that look at the input; use "
            "'two-stage'"
        )
    n_passes_before = objective.n_passes
    start = np.zeros(objective.size) if weights is None else weights
    n_iter = 0
    n_sgd = sum(entry["stage"] == "sgd" for entry in progress.history)
    descends = only_sgd or (
        options.solver == "two-stage" and options.sgd_iter and weights is None
    )
    if descends and progress.resumed != "batch":
        progress.stage = "sgd"
        progress.evaluates = only_sgd
        start = objective.stochastic_passes(options, progress, seed=seed, weights=start)
        n_iter = n_sgd = len(progress.history)
        if not np.isfinite(start).all():
            if only_sgd:
                raise ValueError(
                    f"the weights overflowed in stage one; eta0={options.eta0} is too "
                    f"high"
                )
            start = np.zeros(objective.size)
    if only_sgd or progress.stopped:
        found = _end_at(objective, start, n_iter)
    else:
        progress.stage = "batch"
        minimise = owlqn if options.solver == "owlqn" else active_orthant
        found = minimise(objective, start, options, progress, carry, cuts)
    weights = found.weights
    nodes, edges = unpack(objective, weights)
    pseudo = found.pseudo
    return CRFResult(
        nodes=nodes,
        edges=edges,
        weights=weights,
        objective=float(found.value),
        history=progress.history,
        n_iter=found.n_iter,
        n_passes=objective.n_passes - n_passes_before + n_sgd,
        converged=found.converged,
        optimality=float(np.sqrt(dot(pseudo, pseudo))),
        max_violation=float(np.abs(pseudo).max(initial=0.0)),
        n_active_features=int(np.count_nonzero(weights)),
        gap=found.gap,
        carry=found.carry,
    )


def _end_at(objective: Objective, weights: np.ndarray, n_iter: int) -> Minimum:
    """Return some weights as a minimum, which training ends with before stage two."""
    value, gradient = evaluate_penalised(objective, weights)
    rule = StoppingRule(objective, None)
    rule.note(weights, gradient, value)
    pseudo = pseudo_gradient(weights, gradient, objective.c1)
    return Minimum(weights, value, pseudo, n_iter, converged=False, gap=rule.gap(value))
