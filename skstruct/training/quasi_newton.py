"""What the batch solvers share: pseudo-gradient, limited memory, line search within an orthant.

Place on the ladder: rung 6. The L1 norm is linear within an orthant (Andrew and Gao 2007): there the
objective is smooth, and L-BFGS (Liu and Nocedal 1989) applies. Sums use ``einsum``, not BLAS, whose
threads would get in the way of ours and would make results depend on their number.
"""

import numpy as np

SUFFICIENT = 1e-4
"""Armijo's constant."""
MAX_TRIALS = 30
"""Step lengths tried in one line search."""


def dot(x, y):
    """Inner product without BLAS."""
    return float(np.einsum("i,i->", x, y))


def pseudo_gradient(weights, gradient, c1):
    """The subgradient of least norm of ``f + c1 ‖·‖₁``; zero at the optimum only."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - c1, 0.0)
    return np.where(weights != 0.0, gradient + c1 * np.sign(weights), at_zero)


class Memory:
    """The last m steps and changes of the gradient, on n coordinates."""

    def __init__(self, m, n):
        self.m = m
        self.steps = np.zeros((0, n))
        self.changes = np.zeros((0, n))

    def add(self, step, change):
        """Keep a pair, if the curvature along it is positive."""
        if dot(step, change) > 1e-12 * dot(change, change):
            keep = max(self.steps.shape[0] + 1 - self.m, 0)
            self.steps = np.concatenate([self.steps[keep:], step[None]])
            self.changes = np.concatenate([self.changes[keep:], change[None]])

    def clear(self):
        """Forget everything."""
        self.steps, self.changes = self.steps[:0], self.changes[:0]

    def move(self, old, new):
        """Change coordinates: sorted ids ``old`` to ``new``; what is new has not moved so far."""
        at = np.searchsorted(old, new)
        at[at == old.shape[0]] = 0
        known = old[at] == new
        self.steps = np.where(known, self.steps[:, at], 0.0)
        self.changes = np.where(known, self.changes[:, at], 0.0)

    def solve(self, gradient, free, diagonal, first_scale):
        """``H gradient`` on the coordinates ``free``, H the inverse Hessian by the two-loop recursion.

        The recursion starts from ``γ / diagonal`` with γ fitted to the last pair; pairs are restricted
        to the free coordinates, and those that lose their positive curvature by it are skipped.
        """
        whole = free.shape[0] == gradient.shape[0]
        q = gradient.copy() if whole else gradient[free]
        D = diagonal if whole else diagonal[free]
        pairs, scale = [], first_scale
        for k in range(self.steps.shape[0] - 1, -1, -1):
            s, y = self.steps[k], self.changes[k]
            if not whole:
                s, y = s[free], y[free]
            sy, yy = dot(s, y), dot(y, y / D)
            if sy <= 1e-10 * yy:
                continue
            if not pairs:
                scale = sy / yy
            a = dot(s, q) / sy
            q -= a * y
            pairs.append((s, y, sy, a))
        q *= scale / D
        for s, y, sy, a in reversed(pairs):
            q += (a - dot(y, q) / sy) * s
        if whole:
            return q
        out = np.zeros(gradient.shape[0])
        out[free] = q
        return out


def search(evaluate, weights, value, pseudo, direction, c1, step):
    """Backtrack along a direction, projected on the orthant of ``weights`` (or of its descent).

    Parameters
    ----------
    evaluate : callable
        ``evaluate(weights) -> (smooth value, gradient)``.
    value : float
        The objective, with its L1 term, at ``weights``.
    step : float
        The first step length.

    Returns
    -------
    (weights, objective, gradient) or None
        None if no step length gives sufficient decrease.
    """
    orthant = np.where(weights != 0.0, np.sign(weights), -np.sign(pseudo))
    for _ in range(MAX_TRIALS):
        new = weights + step * direction
        new[new * orthant < 0.0] = 0.0
        smooth, gradient = evaluate(new)
        objective = smooth + c1 * float(np.abs(new).sum())
        if objective <= value + SUFFICIENT * dot(pseudo, new - weights):
            return new, objective, gradient
        step *= 0.5
    return None
