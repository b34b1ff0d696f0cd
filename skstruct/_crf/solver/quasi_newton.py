"""What the batch solvers share: pseudo-gradient, limited memory, line search within an
orthant.

The L1 norm is linear within an orthant (Andrew and Gao 2007): there the objective is
smooth, and L-BFGS (Liu and Nocedal 1989) applies. Sums use ``einsum``, not BLAS, whose
threads would get in the way of ours and would make results depend on their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._core.compile import kernel, kernel_any_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from .working_set import Carry


SUFFICIENT = 1e-4
"""Armijo's constant: the share of the decrease promised by the slope that a step must
have.
"""
MAX_TRIALS = 30
"""Step lengths tried in one line search."""
WINDOW = 10
"""Iterations whose gain is compared with that of as many before."""
SHORTEST = 4
"""The fewest iterations of a window, in the beginning."""
FASTEST = 0.6
SLOWEST = 0.95
"""Bounds on the rate of convergence that is extrapolated, the gain of a window as a
share of the one before it: a single good step proves nothing.
"""
PRECISION = 1e-9
"""Changes of the objective below this share of its first value are rounding errors of
sums over a corpus.
"""


class Minimum(NamedTuple):
    """Where a solver ended; n weights."""

    weights: np.ndarray  # (n,)
    value: float  # the objective, with its L1 term
    pseudo: np.ndarray  # (n,) its pseudo-gradient, the subgradient of least norm
    n_iter: int
    converged: bool  # False also if no step lowers the objective although one should
    # how far the objective can be above the optimum, as a share of it; nan if
    # that is not known
    gap: float
    carry: Carry | None = None  # for a minimisation with other penalties


def dot(x: np.ndarray, y: np.ndarray) -> float:
    """Return the inner product of x (n,) and y (n,), without BLAS."""
    return float(np.einsum("i,i->", x, y))


def pseudo_gradient(weights: np.ndarray, gradient: np.ndarray, c1: float) -> np.ndarray:
    """Return the subgradient of least norm of ``f + c1 ‖·‖₁``.

    It is zero at the optimum only. ``weights`` and ``gradient``, that of f, are (n,).
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - c1, 0.0)
    return np.where(weights != 0.0, gradient + c1 * np.sign(weights), at_zero)


@kernel
def _move_rows(
    rows: np.ndarray, slots: np.ndarray, at: np.ndarray, scratch: np.ndarray
) -> None:
    """rows[slot, k] = rows[slot, at[k]], or 0 where ``at`` (n,) is -1, for each of the
    rows ``slots``.

    ``at`` is -1 or a column; rows have at least n columns, and ``scratch`` n elements.
    """
    n = at.shape[0]
    for slot in slots:
        row = rows[slot]
        for k in range(n):
            scratch[k] = row[at[k]] if at[k] >= 0 else 0.0
        for k in range(n):
            row[k] = scratch[k]


@kernel_any_order
def _two_loop(
    steps: np.ndarray,
    changes: np.ndarray,
    slots: np.ndarray,
    mask: np.ndarray,
    diagonal: np.ndarray,
    first_scale: float,
    coefficients: np.ndarray,
    q: np.ndarray,
) -> None:
    """``q = H q`` on the coordinates where ``mask`` is 1.

    By the two loops of Nocedal and Wright 2006, algorithm 7.4. H starts from ``γ /
    diagonal``, γ fitted to the newest pair; ``first_scale`` without pairs. Pairs that
    lose their positive curvature by the restriction are skipped.

    ``slots``: rows of ``steps`` and ``changes`` (m, at least n), oldest first.
    ``coefficients`` (2, m): scratch, of each pair α and s·y, which is 1 / ρ there, or 0
    if it is skipped.
    """
    n = q.shape[0]
    scale = first_scale
    fitted = False
    for j in range(slots.shape[0] - 1, -1, -1):
        s = steps[slots[j]]
        y = changes[slots[j]]
        sy = 0.0
        yy = 0.0
        sq = 0.0
        for k in range(n):
            t = y[k] * mask[k]
            sy += s[k] * t
            yy += y[k] * t / diagonal[k]
            sq += s[k] * q[k]
        coefficients[1, j] = sy
        if sy <= 1e-10 * yy:
            coefficients[1, j] = 0.0
            continue
        if not fitted:
            scale = sy / yy
            fitted = True
        a = sq / sy
        coefficients[0, j] = a
        for k in range(n):
            q[k] -= a * y[k] * mask[k]
    for k in range(n):
        q[k] *= scale / diagonal[k]
    for j in range(slots.shape[0]):
        if coefficients[1, j] == 0.0:
            continue
        s = steps[slots[j]]
        y = changes[slots[j]]
        yq = 0.0
        for k in range(n):
            yq += y[k] * q[k]
        a = coefficients[0, j] - yq / coefficients[1, j]
        for k in range(n):
            q[k] += a * s[k] * mask[k]


def expected_gain(past: list[float]) -> float:
    """Extrapolate the decrease of the objective that remains.

    With d₁ and d₂ the gains of the last window but one and of the last, and r = d₂ /
    d₁, it is a geometric series: d₂ (r + r² + ...) = d₂ r / (1 - r). Windows are
    shorter where a start near the optimum leaves few iterations.

    Parameters
    ----------
    past : list of float
        The objective after each iteration.

    Returns
    -------
    float
        Infinite as long as there are fewer than two windows of ``SHORTEST``.
    """
    k = min(WINDOW, (len(past) - 1) // 2)
    if k < SHORTEST:
        return np.inf
    share = k / WINDOW
    fastest = FASTEST if k == WINDOW else FASTEST**share
    slowest = SLOWEST if k == WINDOW else SLOWEST**share
    d1 = past[-1 - 2 * k] - past[-1 - k]
    d2 = past[-1 - k] - past[-1]
    r = max(min(d2 / d1, slowest), fastest) if d1 > 0.0 else slowest
    return d2 * r / (1.0 - r)


def at_precision(promised: float, past: list[float]) -> bool:
    """Tell whether rounding can have swallowed the gain that a step ``promised``."""
    return promised <= PRECISION * abs(past[0])


class Memory:
    """The last m steps and changes of the gradient, on n coordinates.

    Parameters
    ----------
    m, n : int
    scaling : ndarray of shape (n,) or None
        Steps are kept times these numbers, and changes of the gradient divided by them.
        That makes pairs of ordinary size, so that single precision is enough for them:
        they shape the steps, not the optimum. None: as they are, in double precision.
    """

    def __init__(self, m: int, n: int, scaling: np.ndarray | None = None) -> None:
        self.scaling = scaling
        self.n = n
        kind = np.float64 if scaling is None else np.float32
        self.steps = np.zeros((m, n), kind)
        self.changes = np.zeros((m, n), kind)
        self.coefficients = np.zeros((2, m))
        self.clear()

    def __len__(self) -> int:
        return self.slots.shape[0]

    def copy(self) -> Memory:
        """Return a memory of the same pairs, which shares no array with this one."""
        m, wide = self.steps.shape
        twin = Memory(m, wide, self.scaling)
        twin.n = self.n
        twin.restore(*self.copy_pairs())
        return twin

    def copy_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Copy the pairs, oldest first: (steps, changes), each (pairs, n)."""
        return self.steps[self.slots, : self.n], self.changes[self.slots, : self.n]

    def restore(self, steps: np.ndarray, changes: np.ndarray) -> None:
        """Remember the pairs that :meth:`copy_pairs` returned, and no others."""
        self.slots = np.arange(steps.shape[0])
        self.steps[self.slots, : self.n] = steps
        self.changes[self.slots, : self.n] = changes

    def clear(self) -> None:
        """Forget all pairs."""
        self.slots = np.zeros(0, np.int64)  # oldest first

    def add(self, step: np.ndarray, change: np.ndarray) -> None:
        """Keep a pair, if the curvature along it is positive."""
        # How much is for the recursion to judge, which knows the scales.
        if not dot(step, change) > 0.0:
            return
        if self.scaling is not None:
            step = step * self.scaling
            change = change / self.scaling
            if max(np.abs(step).max(), np.abs(change).max()) > np.finfo(np.float32).max:
                return
        m = self.steps.shape[0]
        slot = self.slots[0] if len(self) == m else len(self)
        self.slots = np.append(self.slots[len(self) == m :], slot)
        self.steps[slot, : self.n] = step
        self.changes[slot, : self.n] = change

    def move(
        self, old: np.ndarray, new: np.ndarray, scaling: np.ndarray | None = None
    ) -> None:
        """Change the coordinates; new ones have not moved so far.

        Parameters
        ----------
        old, new : ndarray
            Sorted ids of the coordinates before and after.
        scaling : ndarray of shape (len(new),) or None
            As in the constructor.
        """
        self.scaling = scaling
        n = self.n = new.shape[0]
        at = np.searchsorted(old, new)
        at[at == old.shape[0]] = 0
        known = old[at] == new if old.shape[0] else np.zeros(n, bool)
        at[~known] = -1
        for name in ("steps", "changes"):
            rows = getattr(self, name)
            if n > rows.shape[1]:
                # Rows not in use stay untouched: they take no memory.
                wider = np.zeros((rows.shape[0], n), rows.dtype)
                for slot in self.slots:
                    wider[slot, : rows.shape[1]] = rows[slot]
                setattr(self, name, wider)
                rows = wider
            _move_rows(rows, self.slots, at, np.empty(n, rows.dtype))

    def solve(
        self,
        gradient: np.ndarray,
        free: np.ndarray,
        diagonal: np.ndarray,
        first_scale: float,
    ) -> np.ndarray:
        """Return ``H gradient`` (n,) for the inverse Hessian H of some coordinates.

        Parameters
        ----------
        gradient : ndarray of shape (n,)
        free : ndarray of shape (n,)
            Which coordinates take part.
        diagonal : ndarray of shape (n,)
            The Hessian's diagonal that the recursion starts from.
        first_scale : float
            What 1 / diagonal is multiplied by as long as there are no pairs.
        """
        mask = free.astype(float)
        q = gradient * mask
        if self.scaling is not None:
            q /= self.scaling
            diagonal = diagonal / self.scaling**2
        _two_loop(
            self.steps,
            self.changes,
            self.slots,
            mask,
            diagonal,
            first_scale,
            self.coefficients,
            q,
        )
        if self.scaling is not None:
            q /= self.scaling
        return q


def search(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray]],
    weights: np.ndarray,
    value: float,
    pseudo: np.ndarray,
    direction: np.ndarray,
    c1: float,
    step: float,
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Backtrack along a direction, within one orthant: that of ``weights``, and of
    weights that are zero the one that descent leads to.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(weights) -> (smooth value, gradient)``.
    weights : ndarray of shape (n,)
        Where to start.
    value : float
        The objective, with its L1 term, at ``weights``.
    pseudo : ndarray of shape (n,)
        The pseudo-gradient there.
    direction : ndarray of shape (n,)
    c1 : float
        Strength of the L1 penalty.
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
        if np.isfinite(objective) and objective <= value + SUFFICIENT * dot(
            pseudo, new - weights
        ):
            return new, objective, gradient
        step *= 0.5
    return None
