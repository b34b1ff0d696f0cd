"""Probabilities of labels: sums over all labellings of a chain, by logarithms."""

from __future__ import annotations

from math import exp, log
from typing import Any

from .chain import NEVER, Chain
from .reading import PARTS


def marginals(
    chain: Chain, scale: float, rows: Any, values: Any, edges: Any
) -> list[list[float]]:
    """Return for each token the probabilities of its labels, given the whole sequence
    (forward-backward).
    """
    if not rows:
        return []
    emission = chain.emissions(rows, values, scale)
    transitions = chain.transitions(
        edges, chain.transitions_into(scale), len(rows), scale
    )
    out = []
    for scores in chain.with_each_label(emission, transitions, sums_before, log_sum):
        total = log_sum(scores)
        out.append([exp(s - total) if total > NEVER else 0.0 for s in scores])
    return out


PARTS["sums"] = marginals


def sums_before(
    before: list[float], into: list[list[float]], highest: list[float]
) -> list[float]:
    """Return for each label y the sum of all ``before[p] + into[y][p]``, as logarithms."""
    return [log_sum([a + b for a, b in zip(before, scores)]) for scores in into]


def log_sum(scores: list[float]) -> float:
    """log of the sum of exp of scores, none of which can overflow."""
    top = max(scores)
    total = 0.0
    if top == NEVER:
        return top
    for s in scores:
        total += exp(s - top)
    return top + log(total)
