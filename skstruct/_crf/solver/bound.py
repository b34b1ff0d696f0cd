"""A lower bound of the optimum, from gradients that a solver has seen.

With all labels known the smooth part L of the objective (without its L2 term) is
convex, so that each tangent lies below it: with gⱼ = ∇L(wⱼ) and bⱼ = L(wⱼ) - gⱼ·wⱼ,
L(u) ≥ bⱼ + gⱼ·u for all u. Such a tangent is a *cut*. A mixture Σ αⱼ (bⱼ + gⱼ·u) of
cuts lies below L, too. With penalties its minimum over u is reached for each weight by
itself:

    D(α) = Σ αⱼ bⱼ - Σₖ max(|ḡₖ| - c1, 0)² / (4 c2),  ḡ = Σ αⱼ gⱼ

which no objective falls below. One cut gives a loose bound, the best mixture of the
last forty a tight one. D is concave. It is maximised by quadratic programs. With the
weights k where ``|ḡₖ| > c1`` as they are now, and their signs σₖ there,

    D(α) = Σ αⱼ bⱼ - Σᵢⱼ αᵢ αⱼ Pᵢⱼ / (4 c2),  Pᵢⱼ = Σₖ (σₖ gᵢₖ - c1) (σₖ gⱼₖ - c1)

on all α with sum 1 for which these stay the same. P is called ``products``, the terms
in brackets *excesses*, and b ``offset``. A search along the line to the solution of the
program does the rest. It needs no P for a single cut, whose squared excesses add up to
its ``squares``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..._core.compile import inline, kernel
from .quasi_newton import dot, expected_gain

if TYPE_CHECKING:
    from .objective import Objective

CERTIFIED = 1e-3
"""Without ``tol`` training ends at this certified gap, as a share of the objective."""
EXTRAPOLATED = 2e-4
"""It ends at this extrapolated decrease, as a share of the objective, where no gap is
known."""
LAST = 2e-5
"""It ends at this extrapolated decrease in any case: where the bound is loose, because
the L2 penalty is small.
"""
HOPELESS = 1e-2
"""A gap that is as good as none."""
NEAR = 4.0
"""Gradients are wanted once the extrapolated decrease is below ``NEAR * CERTIFIED``."""
EVERY = 2
"""Iterations from one such gradient to the next, unless it costs next to nothing."""
FEWEST = 4
"""No bound is of fewer gradients."""
SHARE = 0.3
"""A bound is worked out anew after this share of the iterations that would make the gap
small enough if it fell as it did between the last two bounds."""
LONGEST = 24
"""The most iterations between two bounds."""
PREFIX = "cuts_"
"""Begins the names of a rule's arrays in a checkpoint."""
ROUNDS = 5
"""Quadratic programs in one maximisation."""
STEPS = 1.0, 0.5, 0.25, 0.1, 0.03
"""Shares of the way to the solution of a quadratic program that are tried."""
RIDGE = 1e-10
"""Share of the largest diagonal element that makes a matrix of products safely positive
definite.
"""
LARGEST = 1e200
"""A quadratic program with larger elements is not solved."""
EXCHANGES = 200
"""Sets of cuts that a quadratic program tries."""
ENOUGH = 1e-9
"""The share of the largest offset that the solution of a quadratic program may miss."""
FIRST_ROWS = 1024
"""Rows that a table has room for at first."""


@kernel
def _mix(
    table: np.ndarray,
    threshold: float,
    alpha: np.ndarray,
    used: np.ndarray,
    mean: np.ndarray,
    slack: np.ndarray,
) -> None:
    """The mixture's gradient ḡ: ``mean`` (n,) of the elements that are stored, and
    ``slack`` (n,), by how much those that are not can change it.

    ``table`` (n, m) has nan for elements that are not stored, of at most ``threshold``
    in size. ``used``: the cuts whose share in ``alpha`` (m,) is not 0.
    """
    for k in range(table.shape[0]):
        total = 0.0
        share = 0.0
        for j in used:
            if np.isnan(table[k, j]):
                share += alpha[j]
            else:
                total += alpha[j] * table[k, j]
        mean[k] = total
        slack[k] = share * threshold


@inline
def _set_excesses(
    table: np.ndarray, k: int, sign: int, threshold: float, c1: float, row: np.ndarray
) -> None:
    """``row`` (m,): how far the elements of weight k exceed c1, towards ``sign``."""
    for j in range(row.shape[0]):
        row[j] = (threshold if np.isnan(table[k, j]) else sign * table[k, j]) - c1


@kernel
def _enter(
    table: np.ndarray,
    threshold: float,
    new: np.ndarray,
    c1: float,
    sign: np.ndarray,
    row: np.ndarray,
    squares: np.ndarray,
    products: np.ndarray,
) -> None:
    """Fill in ``squares`` (m,) and the rows and columns of ``products`` (m, m) of the
    cuts ``new``.

    ``sign`` (n,): the σ of the weights, 0 for those that are not in ``products``.
    ``row`` (m,): scratch.
    """
    m = row.shape[0]
    for j in new:
        squares[j] = 0.0
        products[j] = 0.0
    for k in range(table.shape[0]):
        for j in new:
            excess = (threshold if np.isnan(table[k, j]) else abs(table[k, j])) - c1
            if excess > 0.0:
                squares[j] += excess * excess
        if sign[k] != 0:
            _set_excesses(table, k, sign[k], threshold, c1, row)
            for j in new:
                for i in range(m):
                    products[j, i] += row[j] * row[i]
    for j in new:
        for i in range(m):
            products[i, j] = products[j, i]


@kernel
def _follow(
    table: np.ndarray,
    threshold: float,
    mean: np.ndarray,
    slack: np.ndarray,
    c1: float,
    sign: np.ndarray,
    row: np.ndarray,
    products: np.ndarray,
) -> None:
    """Let ``products`` and ``sign`` be those of another mixture: weights enter, leave,
    and change sides.
    """
    m = row.shape[0]
    for k in range(table.shape[0]):
        now = np.int8(0)
        if abs(mean[k]) + slack[k] > c1:
            now = np.int8(1) if mean[k] >= 0.0 else np.int8(-1)
        if now == sign[k]:
            continue
        for factor, side in ((-1.0, sign[k]), (1.0, now)):
            if side != 0:
                _set_excesses(table, k, side, threshold, c1, row)
                for i in range(m):
                    for j in range(i + 1):
                        products[i, j] += factor * row[i] * row[j]
        sign[k] = now
    for i in range(m):
        for j in range(i):
            products[j, i] = products[i, j]


class Cuts:
    """The last tangents of the smooth part of an objective, and the bound that they
    give.

    Gradients are stored in a table, a row for each weight and a column, a *slot*, for
    each tangent; a new tangent takes the slot of the oldest.

    Parameters
    ----------
    m : int
        How many are kept.
    threshold : float >= 0
        A weight's elements are stored from the first gradient on in which its element
        is larger in size. The bound reckons those before as of this size, and with the
        sign that is worse, so that it stays one. Not above ``c1`` nothing is lost by it
        but a little of the tightness.
    """

    def __init__(self, m: int = 40, threshold: float = 0.0) -> None:
        self.m = m
        self.threshold = threshold
        self.size = 0
        self.next = 0
        self.offset = np.full(m, -np.inf)
        self.alpha = np.zeros(m)
        # (rows,) the weight of each row of the table
        self.weight = np.zeros(FIRST_ROWS, np.int64)
        # (rows, m) the gradients; nan where nothing is stored
        self.table = np.empty((FIRST_ROWS, m))
        self._hold(np.zeros(0, np.int64), FIRST_ROWS)

    def _hold(self, rows: np.ndarray, capacity: int) -> None:
        """Hold some of the rows, with room for so many; nothing is known of their
        products.
        """
        weight = self.weight[rows]
        table = self.table[rows]
        n = rows.shape[0]
        self.weight = np.zeros(capacity, np.int64)
        self.table = np.empty((capacity, self.m))
        self.weight[:n] = weight
        self.table[:n] = table
        self.n_rows = n
        self._forget(np.nan)

    def _forget(self, c1: float) -> None:
        """Know no products, and no bound; those to come are under this penalty."""
        self.c1 = c1
        # the last bound: (cuts taken until then, c2, bound)
        self.known = -1.0, np.nan, np.nan
        # (rows,) σ of the weights in the products; 0 for others
        self.sign = np.zeros(self.table.shape[0], np.int8)
        # (m, m) P: of the excesses of each cut with those of each
        self.products = np.zeros((self.m, self.m))
        # (m,) of each cut's excesses; nan: this and its products are to be found
        self.squares = np.full(self.m, np.nan)

    def add(self, gradient: np.ndarray, offset: float) -> None:
        """Take a tangent.

        Parameters
        ----------
        gradient : ndarray of shape (size,)
            ∇L(w), without the penalties.
        offset : float
            L(w) - ∇L(w)·w.
        """
        self.size = gradient.shape[0]
        slot = self.next % self.m
        if slot == 0 and self.next:  # weights leave that are small in all cuts
            table = self.table[: self.n_rows]
            large = (table > self.threshold) | (table < -self.threshold)
            self._hold(np.flatnonzero(large.any(axis=1)), self.table.shape[0])
        large = np.abs(gradient) > self.threshold
        large[self.weight[: self.n_rows]] = False  # these have a row
        new = np.flatnonzero(large)
        before = self.n_rows
        n = self.n_rows + new.shape[0]
        if n > self.table.shape[0]:
            self._hold(np.arange(before), 2 * n)
        self.weight[before:n] = new
        self.table[before:n] = np.nan
        self.n_rows = n
        self.table[:n, slot] = gradient[self.weight[:n]]
        self.offset[slot] = offset
        self.alpha[slot] = 0.0
        self.squares[slot] = np.nan
        self.next += 1

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what it takes to go on from here, for :meth:`restore`."""
        about = np.array([self.size, self.next, self.c1, *self.known])
        found = {
            name: getattr(self, name)
            for name in ("offset", "alpha", "products", "squares", "sign")
        }
        rows = {
            name: getattr(self, name)[: self.n_rows] for name in ("weight", "table")
        }
        return {"about": about, **found, **rows}

    def restore(
        self,
        about: np.ndarray,
        weight: np.ndarray,
        table: np.ndarray,
        **others: np.ndarray,
    ) -> None:
        """Go on from the arrays that :meth:`arrays` returned."""
        self.weight = weight
        self.table = table
        # As much room as there was: where it ends, products are reckoned anew, with
        # other rounding errors.
        self._hold(np.arange(weight.shape[0]), others["sign"].shape[0])
        vars(self).update((name, array.copy()) for name, array in others.items())
        self.size, self.next = about[:2].astype(int).tolist()
        self.c1 = float(about[2])
        self.known = tuple(about[3:].tolist())

    def bound(self, c1: float, c2: float) -> float:
        """Return a number below all values of the objective with these penalties.

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
        if c1 != self.c1:
            self._forget(c1)
        if self.known[:2] != (self.next, c2):
            new = np.flatnonzero(np.isnan(self.squares[:n]))
            _enter(
                *self._table(),
                new,
                c1,
                self.sign,
                np.empty(self.m),
                self.squares,
                self.products,
            )
            single = (self.offset[:n] - self.squares[:n] / (4.0 * c2)).argmax()
            starts = [np.eye(self.m)[single]]
            if self.alpha.any():
                starts.append(self.alpha / self.alpha.sum())
            value, self.alpha = self._maximise(starts, n, c1, c2)
            self.known = self.next, c2, value
        return self.known[2]

    def _table(self) -> tuple[np.ndarray, float]:
        return self.table[: self.n_rows], self.threshold

    def _mixture(
        self, alpha: np.ndarray, c1: float, c2: float
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """(D(α), α, mean, slack): the last two are the mixture's gradient, see
        :func:`_mix`.
        """
        mean, slack = np.empty((2, self.n_rows))
        _mix(*self._table(), alpha, np.flatnonzero(alpha), mean, slack)
        return self._value(alpha, mean, slack, c1, c2), alpha, mean, slack

    def _value(
        self,
        alpha: np.ndarray,
        mean: np.ndarray,
        slack: np.ndarray,
        c1: float,
        c2: float,
    ) -> float:
        """D(α) of a mixture; all ``size - n_rows`` weights without a row count as
        ``threshold``.
        """
        excess = np.maximum(np.abs(mean) + slack - c1, 0.0)
        unknown = (self.size - mean.shape[0]) * max(self.threshold - c1, 0.0) ** 2
        offset = float(np.einsum("j,j->", alpha[alpha > 0.0], self.offset[alpha > 0.0]))
        return offset - (float(np.einsum("k,k->", excess, excess)) + unknown) / (
            4.0 * c2
        )

    def _maximise(
        self, starts: list[np.ndarray], n: int, c1: float, c2: float
    ) -> tuple[float, np.ndarray]:
        """(bound, α) from the best of some starts; only the first ``n`` slots hold
        cuts.
        """
        value, *here = max(
            (self._mixture(alpha, c1, c2) for alpha in starts),
            key=lambda found: found[0],
        )
        for _ in range(ROUNDS):
            _follow(
                *self._table(),
                *here[1:],
                c1,
                self.sign,
                np.empty(self.m),
                self.products,
            )
            # No float may hold what follows.
            if not self.products.max() <= LARGEST * c2:
                self._forget(c1)
                break
            aim = np.zeros(self.m)
            aim[:n] = _simplex(
                self.products[:n, :n] / (2.0 * c2), self.offset[:n], here[0][:n]
            )
            there = self._mixture(aim, c1, c2)[1:]
            ways = [[x + t * (y - x) for x, y in zip(here, there)] for t in STEPS]
            values = [
                self._value(shares, mean, slack, c1, c2) for shares, mean, slack in ways
            ]
            gained = max(values) - value
            if not gained > 0.0:
                break
            here = ways[values.index(max(values))]
            value += gained
            if gained <= 1e-6 * abs(value):
                break
        return value, here[0]


def _simplex(products: np.ndarray, offset: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The α ≥ 0 with sum 1 that maximises ``offset·α - α·products·α / 2``, by an active
    set from ``alpha``.

    The maximum over the cuts in use, with Σα = 1 alone, solves a system of equations. A
    cut whose share would become negative leaves. Where there is none, the cut along
    which the value rises most enters; no more than this slope can be gained. Every α on
    the way is one of the simplex.
    """
    n = offset.shape[0]
    scale = max(float(np.diagonal(products).max()), float(np.ptp(offset))) or 1.0
    system = np.full((n + 1, n + 1), scale)
    system[:n, :n] = products + RIDGE * scale * np.eye(n)
    system[n, n] = 0.0
    aim_for = np.append(
        offset - offset.max(), scale
    )  # with Σα = 1 a constant changes nothing
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

    After each iteration a solver asks :meth:`reached`. Where that leaves ``near`` true,
    the next iteration's gradient of all weights is wanted: the solver hands it to
    :meth:`note`, and tells :meth:`reached` that it did.

    Parameters
    ----------
    objective : CRFObjective
    tol : float >= 0 or None
        Share of the objective that the extrapolated remaining decrease has to fall to.
        None: training ends when the objective is certainly within ``CERTIFIED`` of the
        optimum, or the extrapolated decrease is below ``LAST``; where no bound is known
        (``c2 = 0``, or labels that are not known), or it is worse than ``HOPELESS``,
        when the extrapolated decrease is below ``EXTRAPOLATED``.
    cuts : Cuts, None or False
        Tangents of the same corpus from minimisations under other penalties, which no
        tangent knows of; new ones are added. None: begin without any. False: gather
        none; no gap is asked for, and ``gap`` is nan.

    Attributes
    ----------
    certifies : bool
        Whether a certified gap ends training.
    certified : bool
        Whether the last bound was near enough.
    near : bool
        Whether the gradient of all weights after the next iteration is wanted.
    every : int
        Iterations from one such gradient to the next.
    last : tuple of (int, float)
        Iterations so far, and the gap, when it was worked out last.
    due : float
        Iterations after which it is worked out again.
    """

    def __init__(
        self,
        objective: Objective,
        tol: float | None,
        cuts: Cuts | Literal[False] | None = None,
    ) -> None:
        self.objective = objective
        self.cuts = None
        if objective.c2 > 0.0 and objective.all_labelled and cuts is not False:
            self.cuts = Cuts(threshold=objective.c1) if cuts is None else cuts
        self.certifies = tol is None and self.cuts is not None
        self.tol = (LAST if self.certifies else EXTRAPOLATED) if tol is None else tol
        self.near = self.certified = False
        self.every = EVERY
        self.last: tuple[float, float] = 0, np.inf
        self.due: float = 0

    def note(self, weights: np.ndarray, gradient: np.ndarray, value: float) -> None:
        """Take the gradient of the smooth part at all weights (size,), for a bound.

        ``value`` is the objective there, with its penalties.
        """
        if self.cuts is None:
            return
        objective = self.objective
        tangent = gradient - 2.0 * objective.c2 * weights
        penalty = objective.c1 * float(np.abs(weights).sum())
        smooth = value - penalty - objective.c2 * dot(weights, weights)
        self.cuts.add(tangent, smooth - dot(tangent, weights))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what it takes to go on from here, for :meth:`restore`."""
        found = {} if self.cuts is None else self.cuts.arrays()
        found["asked"] = np.array([*self.last, self.due])
        return {PREFIX + name: array for name, array in found.items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what :meth:`arrays` returned, among arrays of other names."""
        mine = {
            name.removeprefix(PREFIX): a
            for name, a in arrays.items()
            if name.startswith(PREFIX)
        }
        n, gap, self.due = mine.pop("asked").tolist()
        self.last = n, gap
        if self.cuts is not None:
            self.cuts.restore(**mine)

    def reached(self, past: list[float], noted: bool = False) -> bool:
        """Decide whether to stop after an iteration.

        Says by ``near`` whether the gradient of all weights is wanted after the next
        one: it costs something.

        Parameters
        ----------
        past : list of float
            The objective after each iteration.
        noted : bool
            Whether the gradient after the last one was noted.
        """
        value = abs(past[-1])
        expected = expected_gain(past)
        self.near = (
            self.certifies
            and expected <= NEAR * CERTIFIED * value
            and len(past) % self.every == 0
        )
        enough = expected <= EXTRAPOLATED * value  # if no gap is of use
        if noted and self.certifies and self.cuts and self.cuts.next >= FEWEST:
            if len(past) >= self.due or (enough and self.last[1] > HOPELESS):
                self.ask(past)
            if enough and self.last[0] == len(past) and self.last[1] > HOPELESS:
                return True
        return self.certified or expected <= self.tol * value

    def ask(self, past: list[float]) -> None:
        """Work out the gap, whether it is small enough, and when to do so again if not.

        Gaps fall by a factor an iteration, as between the last two bounds, and faster
        with more cuts. Where they do not fall, bounds become half as many each time.
        """
        before, last = self.last
        n = len(past)
        gap = self.gap(past[-1])
        self.last = n, gap
        self.certified = gap <= CERTIFIED
        fall = np.log(last / gap) / (n - before) if last > gap > CERTIFIED else 0.0
        ahead = np.log(gap / CERTIFIED) / fall if fall > 0.0 else LONGEST
        self.due = n + min(max(SHARE * ahead, EVERY), 2.0 * (n - before), LONGEST)

    def gap(self, value: float) -> float:
        """Return how far ``value`` can be above the optimum, as a share of it.

        It is nan if no bound is known.
        """
        if self.cuts is None:
            return np.nan
        if not value:
            return 0.0
        bound = self.cuts.bound(self.objective.c1, self.objective.c2)
        return max(value - bound, 0.0) / abs(value)
