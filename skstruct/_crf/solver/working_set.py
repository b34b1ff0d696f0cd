"""Stage two: quasi-Newton steps on the weights that matter.

At the optimum of an L1-regularised CRF a few percent of the weights are not zero. A
*working set* holds these and the ones whose gradient exceeds c1; passes use a corpus
written out in its weights only (:class:`.view.View`), and now and then the gradient of
all weights, from the lattices of the last pass, admits and dismisses weights. The end
is certified on all weights.

Within the set, steps are OWL-QN's but for three things, each of which lets a longer
memory help instead of hurting:

* the recursion runs on the free weights only (not zero, or about to leave zero), as in
  projected scaled subgradient methods (Schmidt 2010, section 2.3);
* a weight that is not zero may move against its pseudo-gradient; OWL-QN forbids it,
  which destroys the conjugacy of the directions;
* the recursion starts from a power of the Hessian's diagonal, Σ p (1 - p) over the
  occurrences of a feature, instead of the identity. A feature is reckoned in units of
  its largest value, so that values of any size take the same steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from .bound import EVERY, StoppingRule
from .quasi_newton import Memory, Minimum, at_precision, dot, pseudo_gradient, search

if TYPE_CHECKING:
    from ..._training.judged import State
    from .bound import Cuts
    from .objective import Objective
    from .solve import Progress, SolverOptions
    from .view import Selection

REVISION = 12
"""Iterations between revisions of the working set and the diagonal."""
SHRINK = 0.85
"""The set is rebuilt when it falls below this share of its size, or has to grow."""
SMALLEST = 1000
"""Weights that may enter the working set in any case."""
MARGIN = 0.9
"""Share of c1 that the gradient of a zero weight must reach to enter when the set is
revised.
"""
EARLY = 36
SOON = 24
AGAIN = REVISION
POWERS = (0.8, 0.45)
"""Of the Hessian's diagonal, in ``EARLY`` iterations from zeros, ``SOON`` from other
weights, ``AGAIN`` from the optimum of other penalties, and after them. With 1, weights
of rare features run ahead, which depend on each other and on the frequent ones; at
first that is fast, later it is what is in the way: docs/decisions.md has figures.
"""
SMALLEST_UNIT = 1e-100
"""Smaller values count like this one: its square is a number."""
KEEP_EVERY = 10
"""Iterations of OWL-QN between two states offered to a checkpoint: a state holds the
whole memory.
"""


def active_orthant(
    objective: Objective,
    weights: np.ndarray,
    options: SolverOptions,
    progress: Progress,
    carry: Carry | None = None,
    cuts: Cuts | Literal[False] | None = None,
) -> Minimum:
    """Minimise the L1-regularised objective.

    Parameters
    ----------
    objective : CRFObjective
    weights : ndarray of shape (objective.size,)
        Where to start.
    options : SolverOptions
        ``memory``, ``max_iter`` and ``tol``, for which see :class:`.StoppingRule`.
    progress : Progress
        Hears of each iteration, with arrays of the working set, and of each revision
        what it takes to go on from there.
    carry : Carry or None
        What another minimisation ended with, of the same corpus with other penalties,
        whose ``weights`` are near. Its memory is taken over.
    cuts : Cuts, None or False
        For the :class:`.StoppingRule`.

    Returns
    -------
    Minimum
    """
    c1 = objective.c1
    n_iter = 0
    done = 1
    finished = False
    state = progress.found
    if state is not None:
        run, n_iter, finished = _resume_run(objective, options, progress, state, cuts)
    else:
        run = _begin_run(objective, weights, options, progress, carry, cuts)
    rule = run.rule
    while True:
        # Not where it was stopped: the revisions of a run that goes on stand elsewhere.
        if n_iter and not progress.stopped:
            run.offer(
                n_iter,
                finished=bool(finished),
                noted=run.noted,
                curved=run.curved,
                certified=rule.certified,
                early=run.early,
            )
        at, full = run.of_all_weights()
        pseudo = pseudo_gradient(at, full, c1)
        missing = pseudo.copy()
        missing[run.view.where] = 0.0
        n_missing = np.count_nonzero(missing)
        # A weight whose gradient exceeds c1 has a curvature of that order.
        little = dot(missing, missing) <= c1 * rule.tol * abs(run.value)
        converged = rule.certified or (finished and little)
        stopped = progress.stopped or n_iter >= options.max_iter
        # Without missing weights, or without a step, no number below this one can be
        # reached.
        last = finished and (n_missing == 0 or done == 0)
        if converged or stopped or last:
            converged = bool(converged or not stopped and not run.stuck)
            carry = Carry(run.memory, run.view.where, run.unit)
            return Minimum(
                at, run.value, pseudo, n_iter, converged, rule.gap(run.value), carry
            )
        chosen = _choose_working_set(objective, at, full)
        if n_missing or chosen.shape[0] < SHRINK * run.view.chosen.shape[0]:
            run.move(chosen, at, full)
        done, finished = run.descend(min(REVISION, options.max_iter - n_iter))
        n_iter += done


def _begin_run(
    objective: Objective,
    weights: np.ndarray,
    options: SolverOptions,
    progress: Progress,
    carry: Carry | None,
    cuts: Cuts | Literal[False] | None,
) -> _OnWorkingSet:
    """Begin from some weights, unless zeros are a better start.

    For the arguments see :func:`active_orthant`.
    """
    run = _OnWorkingSet(objective, weights, options, progress, carry=carry, cuts=cuts)
    if weights.any() and carry is None:
        # A start worse than none, from a learning rate that was too high?
        if not (np.isfinite(run.value) and run.value <= objective.value_at_zero()):
            nothing = np.zeros(objective.size)
            run = _OnWorkingSet(objective, nothing, options, progress, cuts=cuts)
    # Cuts of other penalties, with a start from there.
    if cuts and run.rule.certifies and cuts.next:
        run.of_all_weights()
        run.rule.ask(run.past)
    return run


def _resume_run(
    objective: Objective,
    options: SolverOptions,
    progress: Progress,
    found: State,
    cuts: Cuts | Literal[False] | None,
) -> tuple[_OnWorkingSet, int, bool]:
    """Go on from the state ``found`` in a checkpoint.

    Returns
    -------
    run : _OnWorkingSet
    n_iter : int
        Its iterations so far.
    finished : bool
        Whether there was nothing left to gain on the working set.
    """
    state, arrays = found
    run = _OnWorkingSet(
        objective,
        arrays["weights"],
        options,
        progress,
        arrays["chosen"],
        cuts=cuts,
        curve=state.get("curved", False),
    )
    run.resume(state, arrays)
    run.early = state.get("early", EARLY)
    return run, state["n_iter"], state["finished"]


def _choose_working_set(
    objective: Objective, weights: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """Choose the optional weights to work on.

    They are those not zero, and the steepest others, at most as many again.
    ``weights`` and ``gradient`` are those of all weights (size,). Returns sorted
    indices.
    """
    k = objective.n_optional
    active = weights[:k] != 0.0
    slope = np.abs(gradient[:k])
    slope[active] = 0.0
    room = max(int(np.count_nonzero(active)), SMALLEST, k // 10)
    steepest = slope > MARGIN * objective.c1
    if room < k:
        limit = np.partition(slope, k - 1 - room)[k - 1 - room]
        # Where more weights than there is room for are equally steep, and the steepest,
        # all enter.
        steepest &= slope > limit if slope.max() > limit else slope == limit
    return np.flatnonzero(active | steepest)


class Carry(NamedTuple):
    """What a minimisation leaves for another one with other penalties."""

    memory: Memory
    where: np.ndarray  # the places, in all weights, of the coordinates of the memory
    unit: np.ndarray  # (F,) each feature's unit


class _Iterations:
    """Iterations on the weights of a view, from any of which it can go on later."""

    memory: Memory

    def __init__(
        self,
        objective: Objective,
        weights: np.ndarray,
        options: SolverOptions,
        progress: Progress,
        view: Selection,
        cuts: Cuts | Literal[False] | None = None,
        keep: bool = False,
        curve: bool = False,
    ) -> None:
        self.objective = objective
        self.progress = progress
        self.view: Selection = view
        self.rule = StoppingRule(objective, options.tol, cuts)
        self.noted = False
        self.stuck = False
        # of the last step: objectives computed, and the length taken
        self.search: dict[str, Any] = {}
        self.weights = weights[view.where]
        smooth, self.gradient = objective.evaluate(
            view, self.weights, keep=keep, curve=curve
        )
        self.curved = curve
        self.value = smooth + objective.c1 * float(np.abs(self.weights).sum())
        self.past = [self.value]

    def offer(self, n_iter: int, **more: Any) -> None:
        """Offer the state after some iterations to the checkpoint."""
        weights = np.zeros(self.objective.size)
        weights[self.view.where] = self.weights
        steps, changes = self.memory.copy_pairs()
        arrays = {
            "chosen": self.view.chosen,
            "weights": weights,
            "steps": steps,
            "changes": changes,
        }
        state = {"past": [float(v) for v in self.past], "n_iter": n_iter, **more}
        self.progress.offer(state, {**arrays, **self.rule.arrays()})

    def resume(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from an earlier state, as it was offered."""
        self.past = state["past"]
        self.value = self.past[-1]
        self.memory.restore(arrays["steps"], arrays["changes"])
        self.rule.restore(arrays)
        self.rule.reached(self.past)
        self.noted = state.get("noted", False)
        self.rule.certified = state.get("certified", False)

    def step(
        self,
        direction: np.ndarray,
        pseudo: np.ndarray,
        length: float = 1.0,
        keep: bool = False,
        curve: bool = False,
    ) -> bool:
        """Search along a direction; returns whether the objective fell. If not, the
        memory is forgotten.

        ``stuck``: there was none, and numbers of this precision would have shown what
        was promised.
        """
        objective = self.objective
        w = self.weights
        found = None
        promised = -dot(direction, pseudo)
        trials = 0

        def evaluate(new: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal trials
            trials += 1
            return objective.evaluate(self.view, new, keep=keep, curve=curve)

        if promised > 0.0:
            c1 = objective.c1
            found = search(evaluate, w, self.value, pseudo, direction, c1, length)
        # No descent in numbers of this precision, or a bad memory.
        if found is None:
            self.stuck = not len(self.memory) and not at_precision(promised, self.past)
            self.memory.clear()
            return False
        new, self.value, gradient = found
        self.memory.add(new - w, gradient - self.gradient)
        self.weights = new
        self.gradient = gradient
        self.curved = curve
        self.noted = False
        self.past.append(self.value)
        self.search = {"trials": trials, "step": length * 0.5 ** (trials - 1)}
        return True


class _OnWorkingSet(_Iterations):
    """Iterations on one working set; moves to another one."""

    def __init__(
        self,
        objective: Objective,
        weights: np.ndarray,
        options: SolverOptions,
        progress: Progress,
        chosen: np.ndarray | None = None,
        carry: Carry | None = None,
        cuts: Cuts | Literal[False] | None = None,
        curve: bool = True,
    ) -> None:
        if chosen is None:
            # Start from what is not zero; pairs of labels are always in.
            chosen = np.flatnonzero(weights[: objective.n_optional])
        super().__init__(
            objective,
            weights,
            options,
            progress,
            objective.view(chosen),
            cuts,
            keep=True,
            curve=curve,
        )
        if carry is None:
            # Each feature's largest value. With an L2 penalty no curvature is less than
            # 2 c2.
            least = max(SMALLEST_UNIT, min(2.0 * objective.c2, 1.0) ** 0.5)
            largest = objective.largest
            self.early = SOON if self.weights.any() else EARLY
            self.unit = np.maximum(np.where(largest == 0.0, 1.0, largest), least)
            self.memory = Memory(options.memory, self.view.size, self._root())
        else:
            self.early = AGAIN
            self.unit = carry.unit
            self.memory = carry.memory
            self.memory.move(carry.where, self.view.where, self._root())
        # A token has this many features: no direction is steeper than that many
        # diagonals.
        by_token = objective.n_entries / max(objective.n_tokens, 1)
        self.first_scale = 1.0 / (1.0 + by_token)

    def of_all_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all weights (size,) and the gradient of all (size,).

        :meth:`.Objective.evaluate` must have kept it at the current weights.
        """
        objective = self.objective
        n = objective.n_optional
        at = np.zeros(objective.size)
        full = np.zeros(objective.size)
        at[self.view.where] = self.weights
        full[self.view.where] = self.gradient
        full[:n] = objective.gradient_of_all(at[:n])
        if not self.noted:
            self.rule.note(at, full, self.value)
            self.noted = True
        return at, full

    def move(
        self, chosen: np.ndarray, weights: np.ndarray, gradient: np.ndarray
    ) -> None:
        """Continue with other optional weights, the sorted indices ``chosen``.

        ``weights`` and ``gradient`` are those of all weights (size,).
        """
        before = self.view.where
        del self.view  # two at once would be the largest thing in memory
        self.view = self.objective.view(chosen)
        where = self.view.where
        self.memory.move(before, where, self._root())
        self.weights = weights[where]
        self.gradient = gradient[where]

    def _diagonal(self) -> np.ndarray:
        """Estimate what the recursion starts from, on the working set."""
        unit = self._root() ** 2
        curvature = self.objective.curvature(self.view, self.weights)
        power = POWERS[len(self.past) > self.early]
        return unit * np.maximum(curvature / unit, 1.0) ** power

    def _root(self) -> np.ndarray:
        """Return what weights of the working set are multiplied by, to count in each
        feature's unit.
        """
        root = np.ones(self.view.size)
        n = self.view.n_states
        root[:n] = self.unit[self.objective.pair_feature[self.view.chosen[:n]]]
        return root

    def descend(self, budget: int) -> tuple[int, bool]:
        """Run up to ``budget`` iterations.

        Leaves the gradient at the last point with the objective.

        Returns
        -------
        done : int
            Iterations.
        finished : bool
            Whether there was nothing left to gain.
        """
        diagonal = self._diagonal()
        rule = self.rule
        # Dense rows go the way of sparse ones of the same values.
        cheap = self.view.covers_all and not self.view.is_dense
        rule.every = 1 if cheap else EVERY
        done = 0
        finished = False
        kept = True
        while done < budget and not finished and not self.progress.stopped:
            w = self.weights
            pseudo = pseudo_gradient(w, self.gradient, self.objective.c1)
            free = (w != 0.0) | (pseudo != 0.0)
            direction = -self.memory.solve(pseudo, free, diagonal, self.first_scale)
            direction[(w == 0.0) & (direction * pseudo >= 0.0)] = 0.0
            first = not len(self.memory)
            last = done == budget - 1  # whose curvature the next iterations begin with
            kept = last or rule.near
            if not self.step(direction, pseudo, keep=kept, curve=last):
                finished = first
                kept = False
                continue
            done += 1
            if rule.near:
                self.of_all_weights()
            finished = rule.reached(self.past, self.noted)
            self.progress.add(
                self.weights, self.view.where, self.value, pseudo, self.search
            )
        if not kept:
            _, self.gradient = self.objective.evaluate(
                self.view, self.weights, keep=True
            )
            self.curved = False
        return done, finished


def owlqn(
    objective: Objective,
    weights: np.ndarray,
    options: SolverOptions,
    progress: Progress,
    carry: Carry | None = None,
    cuts: Cuts | Literal[False] | None = None,
) -> Minimum:
    """Minimise by OWL-QN (Andrew and Gao 2007), from ``weights`` on.

    It is the second stage of the two-stage paper, and CRFsuite's trainer. All weights
    take part in every pass. For the arguments see :func:`active_orthant`; ``carry`` has
    no effect: the method begins anew.
    """
    n_iter = 0
    finished = False
    if progress.found is not None:
        weights = progress.found[1]["weights"]
        n_iter = progress.found[0]["n_iter"]
    run = _Iterations(objective, weights, options, progress, objective.view_all(), cuts)
    run.memory = Memory(options.memory, objective.size)
    if progress.found is not None:
        run.resume(*progress.found)
    rule = run.rule
    one = np.ones(objective.size)
    everywhere = np.ones(objective.size, bool)
    while True:
        pseudo = pseudo_gradient(run.weights, run.gradient, objective.c1)
        norm = np.sqrt(dot(pseudo, pseudo))
        if finished or progress.stopped or norm == 0.0 or n_iter >= options.max_iter:
            break
        direction = -run.memory.solve(pseudo, everywhere, one, 1.0)
        direction[direction * pseudo >= 0.0] = 0.0
        first = not len(run.memory)
        if not run.step(direction, pseudo, 1.0 / norm if first else 1.0):
            finished = first
            continue
        n_iter += 1
        if rule.near:
            rule.note(run.weights, run.gradient, run.value)
        finished = rule.reached(run.past, rule.near)
        progress.add(run.weights, run.view.where, run.value, pseudo, run.search)
        if n_iter % KEEP_EVERY == 0 and not finished and not progress.stopped:
            run.offer(n_iter)
    rule.note(run.weights, run.gradient, run.value)
    converged = (finished or norm == 0.0) and not run.stuck and not progress.stopped
    return Minimum(
        run.weights, run.value, pseudo, n_iter, bool(converged), rule.gap(run.value)
    )
