"""Probabilities of labels: sums over all labellings of a chain, by logarithms."""

from math import exp, log

from .chain import NEVER
from .reading import PARTS


def marginals(chain, scale, rows, values, edges):
    """For each token the probabilities of its labels, given the whole sequence (forward-backward)."""
    T, labels = len(rows), range(chain.L)
    if not T:
        return []
    emission = chain.emissions(rows, values, scale)
    into = [each for each, _ in chain.transitions(edges, chain.transitions_into(scale), T, scale)]
    forward = [[a + b for a, b in zip(chain.start, emission[0])]]
    for t in range(1, T):
        forward.append(
            [
                log_sum([a + b for a, b in zip(forward[-1], scores)]) + added
                for scores, added in zip(into[t], emission[t])
            ]
        )
    behind, out = chain.end, []
    for t in range(T - 1, -1, -1):
        both = [a + b for a, b in zip(forward[t], behind)]
        total = log_sum(both)
        out.append([exp(s - total) if total > NEVER else 0.0 for s in both])
        if t:
            rest = [a + b for a, b in zip(emission[t], behind)]
            behind = [log_sum([into[t][y][p] + rest[y] for y in labels]) for p in labels]
    return out[::-1]


PARTS["sums"] = marginals


def log_sum(scores):
    """log of the sum of exp of scores, none of which can overflow."""
    top, total = max(scores), 0.0
    if top == NEVER:
        return top
    for s in scores:
        total += exp(s - top)
    return top + log(total)
