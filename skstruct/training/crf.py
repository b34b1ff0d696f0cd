"""Training an L1-regularised CRF: the solvers put together.

Place on the ladder: rung 6.
"""

import time
from typing import NamedTuple

import numpy as np

from .owlqn import owlqn
from .quasi_newton import pseudo_gradient
from .sgd_l1 import stochastic_passes
from .working_set import active_orthant


class Solution(NamedTuple):
    """Where a solver ended."""

    weights: np.ndarray  # (objective.size,) float64
    objective: float  # the regularised objective
    optimality: float  # norm of its subgradient of least norm: 0 at the optimum
    n_iter: int  # iterations of the second stage; passes of SGD alone
    converged: bool
    history: list  # one dict for each pass


def solve(objective, solver, start=None, *, sgd_iter, eta0, decay, line_search, max_trials, memory,
          max_iter, tol, seed, on_pass=None):  # fmt: skip
    """Minimise a CRF objective.

    Parameters
    ----------
    objective : CRFObjective
    solver : {"two-stage", "owlqn", "sgd"}
    start : ndarray of shape (objective.size,) or None
        Weights to start the second stage from; then there is no first stage.
    on_pass : callable or None
        Called with the record of each pass; stops the solver if it returns true.

    Returns
    -------
    Solution
    """
    history, began = [], time.perf_counter()
    stopped = False

    def record(stage, **figures):
        nonlocal stopped
        history.append({"stage": stage, "seconds": time.perf_counter() - began, **figures})
        stopped = bool(on_pass(history[-1])) if on_pass is not None else False
        return stopped

    weights = np.zeros(objective.size) if start is None else start
    if solver == "sgd" or (solver == "two-stage" and start is None):
        weights = stochastic_passes(
            objective, max_iter if solver == "sgd" else sgd_iter, eta0, decay, line_search, max_trials,
            seed, weights, lambda k: record("sgd"),
        )  # fmt: skip
    if solver == "sgd" or stopped:
        view = objective.everything()
        smooth, gradient = objective.evaluate(view, weights)
        value = smooth + objective.c1 * float(np.abs(weights).sum())
        pseudo = pseudo_gradient(weights, gradient, objective.c1)
        return Solution(weights, value, float(np.linalg.norm(pseudo)), len(history), not stopped, history)

    def on_iteration(current, value, pseudo):
        return record(
            solver,
            objective=float(value),
            n_active=int(np.count_nonzero(current)),
            optimality=float(np.linalg.norm(pseudo)),
        )

    descend = owlqn if solver == "owlqn" else active_orthant
    weights, value, pseudo, n_iter, converged = descend(
        objective, weights, memory, max_iter, tol, on_iteration
    )
    return Solution(weights, float(value), float(np.linalg.norm(pseudo)), n_iter, converged, history)

