"""Training a chain CRF: stage one, stage two, and the record of both.

Place on the ladder: rung 6. The two-stage algorithm (*A Fast Accurate Two-stage Training Algorithm for
L1-regularized CRFs with Heuristic Line Search Strategy*): a few passes of stochastic gradient descent
(:mod:`.sgd_l1`), then a batch method that converges. Differs from the paper: the second stage is not
OWL-QN on all weights but its relative on a working set (:mod:`.working_set`), which needs a quarter of
the passes, on a corpus spelled in a few percent of the weights.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from .crf_objective import CRFObjective
from .owlqn import owlqn
from .quasi_newton import dot, pseudo_gradient
from .sgd_l1 import stochastic_passes
from .working_set import active_orthant

SOLVERS = ("two-stage", "owlqn", "sgd")


@dataclass
class CRFResult:
    """What training found.

    Attributes
    ----------
    nodes : ndarray of shape (n_rows, L)
        Weights of features and labels.
    edges : ndarray of shape (n_edge_rows * L, L)
        Weights of transitions: row e * L + p, column y; the first L rows are the label bigram.
    objective : float
    history : list of dict
        For each iteration: ``stage``, ``objective`` (None within stage one), ``n_active`` (weights that
        are not zero), ``optimality`` (norm of the minimal subgradient before the step, on the working
        set; None within stage one), ``seconds`` since the start.
    n_iter : int
        Iterations of the second stage; passes of stage one if there is no second.
    n_passes : int
        Sums over the whole corpus, stochastic passes included.
    converged : bool
    optimality : float
        Norm of the minimal subgradient at the end, on all weights.
    n_active : int
    """

    nodes: np.ndarray
    edges: np.ndarray
    objective: float
    history: list = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    optimality: float
    n_active: int


def train_crf(task, n_labels, n_rows, n_edge_rows=1, *, c1=1.0, c2=0.0, solver="two-stage",
              sgd_iter=5, eta0=1.0, decay=0.85, line_search=True, max_trials=3, memory=20,
              max_iter=1000, tol=1e-5, all_pairs=True, bigram=True, start=None, allowed=None,
              end=None, cost=None, warm=None, n_threads=1, seed=0, callback=None):  # fmt: skip
    """Minimise ``Σ_i weight_i (-log p(y_i|x_i)) + c2 ‖λ‖² + c1 ‖λ‖₁``.

    Parameters
    ----------
    task : ChainTask
        UNLABELLED tokens are summed over.
    n_labels, n_rows, n_edge_rows : int
        L; weight rows of ``task.nodes`` (or ``task.bag``); combinations of ``task.edges``, where the
        label bigram counts as the first.
    c1, c2 : float
    solver : {"two-stage", "owlqn", "sgd"}
    sgd_iter, eta0, decay, line_search, max_trials
        Stage one, see :func:`.sgd_l1.stochastic_passes`; ``sgd_iter`` may be 0.
    memory, max_iter, tol
        Stage two, see :func:`.working_set.active_orthant`.
    all_pairs : bool
        Whether pairs of feature and label, and of labels, that the corpus does not show have weights.
    bigram, start, allowed, end, cost
        See :class:`.CRFObjective`.
    warm : tuple (nodes, edges) or None
        Where to start, in the shapes of the result; skips stage one (unless it is all there is).
    n_threads : int
    seed : int
        Order of the sequences in stage one.
    callback : callable or None
        Called with each new entry of the history; stops if it returns true.

    Returns
    -------
    CRFResult
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {SOLVERS}, got {solver!r}")
    began = time.perf_counter()
    o = CRFObjective(
        task, n_labels, n_rows, n_edge_rows, c1, c2, all_pairs, bigram, start, allowed, end, cost,
        n_threads,
    )  # fmt: skip
    history, stopped = [], []

    def note(stage, n_active, objective=None, optimality=None):
        entry = {
            "stage": stage, "objective": objective, "n_active": n_active, "optimality": optimality,
            "seconds": time.perf_counter() - began,
        }  # fmt: skip
        history.append(entry)
        if callback is not None and callback(entry):
            stopped.append(True)
        return bool(stopped)

    def of_sgd(weights):
        return note("sgd", int(np.count_nonzero(weights)))

    def of_batch(weights, value, pseudo):
        norm = float(np.sqrt(dot(pseudo, pseudo)))
        return note("batch", int(np.count_nonzero(weights)), value, norm)

    try:
        if solver == "sgd" and o.edge_pair.shape[0]:
            raise ValueError(
                "solver='sgd' does not learn transitions that look at the input; use 'two-stage'"
            )
        weights = np.zeros(o.size) if warm is None else pack(o, *warm)
        n_iter, converged = 0, False
        n_sgd = 0
        if solver == "sgd" or (solver == "two-stage" and sgd_iter and warm is None):
            weights = stochastic_passes(
                o, sgd_iter, eta0, decay, line_search, max_trials, seed, weights, of_sgd
            )
            n_iter = n_sgd = len(history)
        if solver == "sgd" or stopped:
            view = o.everything()
            value, gradient = o.evaluate(view, weights)
            value += o.c1 * float(np.abs(weights).sum())
            pseudo = pseudo_gradient(weights, gradient, o.c1)
        else:
            minimise = owlqn if solver == "owlqn" else active_orthant
            weights, value, pseudo, n_iter, converged = minimise(
                o, weights, memory, max_iter, tol, of_batch
            )
        nodes, edges = unpack(o, weights, n_rows, n_edge_rows)
        return CRFResult(
            nodes, edges, value, history, n_iter, o.n_passes + n_sgd, converged,
            float(np.sqrt(dot(pseudo, pseudo))), int(np.count_nonzero(weights)),
        )  # fmt: skip
    finally:
        o.close()


def unpack(objective, weights, n_rows, n_edge_rows):
    """The weight vector as tables (nodes, edges)."""
    o, L = objective, objective.n_labels
    nodes = np.zeros((n_rows, L))
    nodes[o.pair_row, o.pair_label] = weights[: o.n_pairs]
    edges = np.zeros((n_edge_rows * L, L))
    n = o.n_pairs + o.pair.shape[0]
    edges[o.pair[:, 0], o.pair[:, 1]] = weights[o.n_pairs : n]
    edges[o.edge_pair[:, 0] * L + o.edge_pair[:, 1], o.edge_pair[:, 2]] = weights[n:]
    return nodes, edges


def pack(objective, nodes, edges):
    """The opposite of :func:`unpack`; weights that have no place are dropped."""
    o, L = objective, objective.n_labels
    return np.concatenate([
        nodes[o.pair_row, o.pair_label],
        edges[o.pair[:, 0], o.pair[:, 1]],
        edges[o.edge_pair[:, 0] * L + o.edge_pair[:, 1], o.edge_pair[:, 2]],
    ])  # fmt: skip
