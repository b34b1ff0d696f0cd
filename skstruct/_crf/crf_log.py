"""The lines that a CRF prints while it trains, if it is verbose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .solver.bound import CERTIFIED, EXTRAPOLATED

if TYPE_CHECKING:
    from .l1crf import L1CRF
    from .solver.solve import CRFResult

NAMES = {
    "n_active": "weights that are not 0",
    "norm": "norm of the weights",
    "optimality": "norm of the gradient",
    "validation": "mean log-probability of held-out sequences",
    "validation_score": "held-out score",
}
"""Figures of a pass in words."""


def describe_aim(estimator: L1CRF) -> str:
    """Say when training will end."""
    if estimator.solver == "sgd":
        return f"training by {estimator.sgd_iter} passes of stochastic gradient descent"
    if estimator.tol is None:
        target = f"the objective is within {CERTIFIED:.1%} of its minimum"
        if not estimator.c2:
            target = "the fall of the objective comes to its end"
            target += f", at {EXTRAPOLATED:g} of it by extrapolation"
    else:
        target = f"tol={estimator.tol:g} of the objective are left, by extrapolation"
    return f"training until {target}, or after max_iter={estimator.max_iter} iterations"


def describe_pass(number: int, history: list[dict[str, Any]]) -> str:
    """Describe the last pass of a history.

    Parameters
    ----------
    number : int
        That of the pass, from 1.
    history : list of dict
        See ``history_`` of :class:`.L1CRF`.
    """
    record = history[-1]
    kind = "stochastic" if record["stage"] == "sgd" else "batch"
    figures = []
    value = record["objective"]
    if value is not None:
        figures.append(f"objective {value:.6g}")
        before = history[-2]["objective"] if len(history) > 1 else None
        if before:
            figures[0] += f" ({(value - before) / abs(before):+.2%})"
    figures += [
        f"{name} {record[key]:.6g}"
        for key, name in NAMES.items()
        if record.get(key) is not None
    ]
    figures.append(f"{record['seconds']:.2f} s")
    return f"pass {number} ({kind}): " + ", ".join(figures)


def describe_end(result: CRFResult) -> str:
    """Say how training ended."""
    how = "converged" if result.converged else "ended"
    line = f"{how} after {result.n_passes} passes: objective {result.objective:.6g}"
    if result.gap == result.gap:  # not nan
        line += f", at most {result.gap:.2%} above its minimum"
    return f"{line}, {result.n_active_features} weights that are not 0"
