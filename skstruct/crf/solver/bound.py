"""A lower bound of the optimum, from gradients that a solver has seen.

With all labels known the smooth part L of the objective (without its L2 term) is convex, so that each tangent
lies below it: with gⱼ = ∇L(wⱼ) and bⱼ = L(wⱼ) - gⱼ·wⱼ, L(u) ≥ bⱼ + gⱼ·u for all u. Such a tangent is a *cut*.
A mixture Σ αⱼ (bⱼ + gⱼ·u) of cuts lies below L, too. With penalties its minimum over u is reached for each
weight by itself:

    D(α) = Σ αⱼ bⱼ - Σₖ max(|ḡₖ| - c1, 0)² / (4 c2),  ḡ = Σ αⱼ gⱼ

which no objective falls below. One cut gives a loose bound, the best mixture of the last forty a tight one.
D is concave. It is maximised by quadratic programs: of the weights with ``|ḡₖ| > c1`` as they are now, which
is exact as long as these stay the same, and a search along the line to its solution.
"""

import numpy as np

from ...core.compile import kernel
from .quasi_newton import dot, expected_gain

CERTIFIED, EXTRAPOLATED, LAST = 1e-3, 2e-4, 1e-5
"""Shares of the objective at which training ends if it has no ``tol``: of the certified gap; of the
extrapolated decrease where no gap is known; and of that where the bound is loose, because the L2 penalty is
small."""
NEAR, BOUND_EVERY = 4.0, 4
"""Gradients are collected once the extrapolated decrease is below ``NEAR * CERTIFIED``, and every fourth
gives a bound."""
PREFIX = "cuts_"
"""Of the names of arrays in a checkpoint."""
ROUNDS = 5
"""Quadratic programs in one maximisation."""
STEPS = 1.0, 0.5, 0.25, 0.1, 0.03
"""Shares of the way to the solution of a quadratic program that are tried."""
RIDGE = 1e-10
"""Share of the largest diagonal element that makes a matrix of products safely positive definite."""
LARGEST = 1e200
"""Element of a quadratic program that is solved."""
EXCHANGES, ENOUGH = 200, 1e-9
"""Sets of cuts that a quadratic program tries, and the share of the largest offset that it may miss."""


@kernel
def _mix(table, alpha, threshold, mean, room):
    """The mixture's gradient: ``mean`` (n,) of the known elements, ``room`` (n,) how far the others reach.

    ``table`` (n, m) has nan for elements that are not stored, of at most ``threshold`` in size.
    """
    for k in range(table.shape[0]):
        total, share = 0.0, 0.0
        for j in range(table.shape[1]):
            if alpha[j] == 0.0:
                continue
            if np.isnan(table[k, j]):
                share += alpha[j]
            else:
                total += alpha[j] * table[k, j]
        mean[k], room[k] = total, share * threshold


@kernel
def _products(table, mean, room, threshold, c1, row, products):
    """Sums of products of excesses beyond c1, each cut with each, over the weights where the mixture has one.

    ``row`` (m,): scratch. ``products`` (m, m): the result.
    """
    m = table.shape[1]
    products[:] = 0.0
    for k in range(table.shape[0]):
        if abs(mean[k]) + room[k] <= c1:
            continue
        sign = 1.0 if mean[k] >= 0.0 else -1.0
        for j in range(m):
            row[j] = (threshold if np.isnan(table[k, j]) else sign * table[k, j]) - c1
        for i in range(m):
            for j in range(m):
                products[i, j] += row[i] * row[j]


class Cuts:
    """The last tangents of the smooth part of an objective, and the bound that they give.

    Parameters
    ----------
    m : int
        How many are kept.
    threshold : float >= 0
        A weight's elements are stored from the first gradient on in which its element is larger in size. The
        bound reckons those before as of this size, and with the sign that is worse, so that it stays one. Not
        above ``c1`` nothing is lost by it but a little of the tightness.
    """

    def __init__(self, m=40, threshold=0.0):
        self.m, self.threshold = m, threshold
        self.size, self.next = 0, 0
        self.offset = np.full(m, -np.inf)
        self.alpha = np.zeros(m)
        self.weight = np.zeros(0, np.int64)  # (rows,) the weight of each row of the table
        self.table = np.zeros((0, m))  # (rows, m) the gradients; nan where nothing is stored

    def add(self, gradient, offset):
        """Take a tangent.

        Parameters
        ----------
        gradient : ndarray of shape (size,)
            ∇L(w), without the penalties.
        offset : float
            L(w) - ∇L(w)·w.
        """
        self.size = gradient.shape[0]
        large = np.abs(gradient) > self.threshold
        large[self.weight] = False  # these have a row
        new = np.flatnonzero(large)
        self.weight = np.concatenate([self.weight, new])
        self.table = np.concatenate([self.table, np.full((new.shape[0], self.m), np.nan)])
        slot = self.next % self.m
        self.table[:, slot] = gradient[self.weight]
        self.offset[slot], self.alpha[slot] = offset, 0.0
        self.next += 1

    def arrays(self):
        """What it takes to go on from here; see :meth:`restore`."""
        return {
            "about": np.array([self.size, self.next], np.int64),
            "offset": self.offset,
            "alpha": self.alpha,
            "weight": self.weight,
            "table": self.table,
        }

    def restore(self, about, offset, alpha, weight, table):
        """The opposite of :meth:`arrays`."""
        self.size, self.next = about.tolist()
        self.offset, self.alpha = offset.copy(), alpha.copy()
        self.weight, self.table = weight.copy(), table.copy()

    def bound(self, c1, c2):
        """A number that no value of the objective with these penalties falls below.

        Parameters
        ----------
        c1 : float >= 0
        c2 : float > 0

        Returns
        -------
        float
            ``-inf`` if there is no cut.
        """
        n = min(self.next, self.m)
        if n == 0:
            return -np.inf
        single = max(range(n), key=lambda j: self._mixture(np.eye(self.m)[j], c1, c2)[0])
        starts = [np.eye(self.m)[single]]
        if self.alpha.any():
            starts.append(self.alpha / self.alpha.sum())
        value, self.alpha = max(
            (self._maximise(alpha, n, c1, c2) for alpha in starts), key=lambda found: found[0]
        )
        return value

    def _mixture(self, alpha, c1, c2):
        """(D(α), the mixture's gradient, how far what is not stored reaches)."""
        mean, room = np.empty((2, self.table.shape[0]))
        _mix(self.table, alpha, self.threshold, mean, room)
        return self._value(alpha, mean, room, c1, c2), mean, room

    def _value(self, alpha, mean, room, c1, c2):
        excess = np.maximum(np.abs(mean) + room - c1, 0.0)
        unknown = (self.size - mean.shape[0]) * max(self.threshold - c1, 0.0) ** 2
        offset = float(np.einsum("j,j->", alpha[alpha > 0.0], self.offset[alpha > 0.0]))
        return offset - (float(np.einsum("k,k->", excess, excess)) + unknown) / (4.0 * c2)

    def _maximise(self, alpha, n, c1, c2):
        """(bound, α) from a start; only the first ``n`` slots hold cuts."""
        value, mean, room = self._mixture(alpha, c1, c2)
        products, row = np.empty((self.m, self.m)), np.empty(self.m)
        for _ in range(ROUNDS):
            _products(self.table, mean, room, self.threshold, c1, row, products)
            if not products.max() <= LARGEST * c2:  # no float may hold what follows
                break
            aim = np.zeros(self.m)
            aim[:n] = _simplex(products[:n, :n] / (2.0 * c2), self.offset[:n], alpha[:n])
            _, mean_there, room_there = self._mixture(aim, c1, c2)
            best = value, 0.0
            for t in STEPS:
                mixed = (
                    alpha + t * (aim - alpha),
                    mean + t * (mean_there - mean),
                    room + t * (room_there - room),
                )
                best = max(best, (self._value(*mixed, c1, c2), t))
            gained, t = best[0] - value, best[1]
            if t == 0.0:
                break
            alpha, value = alpha + t * (aim - alpha), best[0]
            mean, room = mean + t * (mean_there - mean), room + t * (room_there - room)
            if gained <= 1e-6 * abs(value):
                break
        return value, alpha


def _simplex(products, offset, alpha):
    """The α ≥ 0 with sum 1 that maximises ``offset·α - α·products·α / 2``, by an active set from ``alpha``.

    The maximum over the cuts in use, with Σα = 1 alone, solves a system of equations. A cut whose share would
    become negative leaves. Where there is none, the cut along which the value rises most enters; no more than
    this slope can be gained. Every α on the way is one of the simplex.
    """
    n = offset.shape[0]
    scale = max(float(np.diagonal(products).max()), float(np.ptp(offset))) or 1.0
    system = np.full((n + 1, n + 1), scale)
    system[:n, :n], system[n, n] = products + RIDGE * scale * np.eye(n), 0.0
    aim_for = np.append(offset - offset.max(), scale)  # with Σα = 1 a constant changes nothing
    use = alpha > 0.0
    for _ in range(EXCHANGES):
        which = np.flatnonzero(np.append(use, True))
        aim = np.zeros(n)
        aim[use] = np.linalg.solve(system[np.ix_(which, which)], aim_for[which])[:-1]
        negative = np.flatnonzero(aim < 0.0)
        if negative.size:
            shares = alpha[negative] / (alpha[negative] - aim[negative])
            if shares.min() == 0.0:  # rounding forbids what the slope promised
                break
            alpha = np.maximum(alpha + shares.min() * (aim - alpha), 0.0)
            alpha[negative[shares.argmin()]] = 0.0
            use = alpha > 0.0
            continue
        alpha = aim / aim.sum()
        slope = aim_for[:n] - system[:n, :n] @ alpha
        slope -= alpha @ slope
        slope[use] = 0.0
        if slope.max() <= ENOUGH * np.abs(offset).max():
            break
        use[slope.argmax()] = True
    return alpha / alpha.sum()


class StoppingRule:
    """When a solver has come near enough to the optimum.

    Parameters
    ----------
    objective : CRFObjective
    tol : float >= 0 or None
        Share of the objective that the extrapolated remaining decrease has to fall to. None: training ends
        when the objective is certainly within ``CERTIFIED`` of the optimum; where no bound is known (``c2 =
        0``, or labels that are not known), with ``EXTRAPOLATED``.
    cuts : Cuts, optional
        Those of the same corpus under other penalties: a tangent knows none.
    """

    def __init__(self, objective, tol, cuts=None):
        self.objective = objective
        self.cuts = None
        if objective.c2 > 0.0 and objective.all_labelled:
            self.cuts = Cuts(threshold=objective.c1) if cuts is None else cuts
        self.certifies = tol is None and self.cuts is not None
        self.tol = (LAST if self.certifies else EXTRAPOLATED) if tol is None else tol
        self.n_noted = 0
        self.near = self.certified = False

    def note(self, weights, gradient, value):
        """Take the gradient of the smooth part, of all weights, where the objective is ``value``."""
        if self.cuts is None:
            return
        o = self.objective
        tangent = gradient - 2.0 * o.c2 * weights
        smooth = value - o.c1 * float(np.abs(weights).sum()) - o.c2 * dot(weights, weights)
        self.cuts.add(tangent, smooth - dot(tangent, weights))
        self.n_noted += 1

    def arrays(self):
        """What it takes to go on from here."""
        found = {} if self.cuts is None else self.cuts.arrays()
        return {PREFIX + name: array for name, array in found.items()}

    def restore(self, arrays):
        """The opposite of :meth:`arrays`, among arrays of other names."""
        if self.cuts is not None:
            n = len(PREFIX)
            self.cuts.restore(
                **{name[n:]: array for name, array in arrays.items() if name.startswith(PREFIX)}
            )
            self.n_noted = self.cuts.next

    def reached(self, past, noted=False):
        """Whether to stop after an iteration; ``noted``: whether the gradient there was noted.

        Says by ``near`` whether the next one is wanted: it costs something.
        """
        value = abs(past[-1])
        expected = expected_gain(past)
        self.near = self.certifies and expected <= NEAR * CERTIFIED * value
        if noted and self.certifies and self.n_noted % BOUND_EVERY == 0:
            self.certified = self.gap(past[-1]) <= CERTIFIED
        return self.certified or expected <= self.tol * value

    def gap(self, value):
        """How far ``value`` can be above the optimum, as a share of it; nan if no bound is known."""
        if self.cuts is None:
            return np.nan
        o = self.objective
        return max(value - self.cuts.bound(o.c1, o.c2), 0.0) / abs(value) if value else 0.0
