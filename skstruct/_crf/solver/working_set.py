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
POWERS = (0.8, 0.45)
"""Powers of the Hessian's diagonal that the recursion starts from: in early iterations,
and in later ones. With 1, weights of rare features run ahead, which depend on each
other and on the frequent ones; at first that is fast, later it is what is in the way:
docs/decisions.md has figures.
"""
EARLY = 36
"""Early iterations of a start from zeros."""
SOON = 24
"""Early iterations of a start from other weights."""
AGAIN = REVISION
"""Early iterations of a start from the optimum of other penalties."""
LEAST_SCALE = 1e-100
"""Smaller values of features count like this one, whose square is above 0."""
KEEP_EVERY = 10
"""Iterations of OWL-QN between two states offered to a checkpoint: a state holds all
steps that the method remembers.
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
        Hears of each iteration, with arrays of the working set, and at each revision
        gets what it takes to go on from there.
    carry : Carry or None
        What another minimisation ended with, of the same corpus with other penalties;
        ``weights`` are those that it found. Its memory is taken over.
    cuts : Cuts, None or False
        Tangents that are known already; None: none are. False: none are gathered, and
        no gap is known. See :class:`.StoppingRule`.

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
        # A run that was stopped between revisions offers nothing: going on from there
        # would move the revisions, and so the result.
        if n_iter and not progress.stopped:
            run.offer(
                n_iter,
                finished=bool(finished),
                noted=run.noted,
                curved=run.curved,
                certified=rule.certified,
                early=run.early,
            )
        weights, gradient = run.of_all_weights()
        pseudo = pseudo_gradient(weights, gradient, c1)
        missing = pseudo.copy()  # what the weights outside the set could still gain
        missing[run.view.where] = 0.0
        n_missing = np.count_nonzero(missing)
        # A step along g gains about g² / curvature, and the curvature of a weight whose
        # gradient exceeds c1 is of the order of c1.
        little = dot(missing, missing) <= c1 * rule.tol * abs(run.value)
        converged = rule.certified or (finished and little)
        stopped = progress.stopped or n_iter >= options.max_iter
        # Without missing weights, or without a step, no number below this one can be
        # reached.
        exhausted = finished and (n_missing == 0 or done == 0)
        if converged or stopped or exhausted:
            converged = bool(converged or not stopped and not run.stuck)
            carry = Carry(run.memory, run.view.where, run.feature_scale)
            return Minimum(
                weights,
                run.value,
                pseudo,
                n_iter,
                converged=converged,
                gap=rule.gap(run.value),
                carry=carry,
            )
        chosen = _choose_working_set(objective, weights, gradient)
        if n_missing or chosen.shape[0] < SHRINK * run.view.chosen.shape[0]:
            run.move(chosen, weights, gradient)
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

    They are those not zero, and the steepest others, at most as many again (or a tenth
    of all, or ``SMALLEST``).
    ``weights`` and ``gradient`` are those of all weights (size,). Returns sorted
    indices.
    """
    n = objective.n_optional
    active = weights[:n] != 0.0
    slope = np.abs(gradient[:n])
    slope[active] = 0.0
    room = max(int(np.count_nonzero(active)), SMALLEST, n // 10)
    steepest = slope > MARGIN * objective.c1
    if room < n:
        limit = np.partition(slope, n - 1 - room)[n - 1 - room]
        # Where more weights than there is room for are equally steep, and the steepest,
        # all enter.
        steepest &= slope > limit if slope.max() > limit else slope == limit
    return np.flatnonzero(active | steepest)


class Carry(NamedTuple):
    """The state that a minimisation leaves for another one with other penalties."""

    memory: Memory
    where: np.ndarray  # the places, in all weights, of the coordinates of the memory
    # (F,) what the weights of each feature are multiplied by in the memory: about the
    # feature's largest absolute value
    feature_scale: np.ndarray


class _Iterations:
    """Iterations on the weights of a view, from any of which it can go on later.

    Attributes
    ----------
    weights, gradient : ndarray of shape (view.size,)
        The weights so far, and the gradient of the smooth part at them.
    value : float
        The objective there, with its L1 term.
    past : list of float
        The objective after each iteration, and at the start.
    memory : Memory
    rule : StoppingRule
    noted : bool
        Whether the rule has the gradient of all weights at the current ones.
    curved : bool
        Whether the last pass was asked for the curvature, too (``curve`` of
        :meth:`.Objective.evaluate`).
    stuck : bool
        Whether no step lowered the objective, although one should, even with an empty
        memory.
    search : dict
        Of the last step: ``trials``, objectives computed, and ``step``, the length
        taken.
    """

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
        """Search along a direction, and return whether the objective fell.

        If not, the memory is cleared, so that the next direction is that of steepest
        descent. If it was empty already, and the decrease that the slope promised is no
        rounding error, the search is ``stuck``.

        Parameters
        ----------
        direction : ndarray of shape (view.size,)
        pseudo : ndarray of shape (view.size,)
            The pseudo-gradient.
        length : float
            The first step length.
        keep, curve : bool
            As of :meth:`.Objective.evaluate`.
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
            # Each feature's largest absolute value, so that values of any size take the
            # same steps. With an L2 penalty no curvature is less than 2 c2.
            least = max(LEAST_SCALE, min(2.0 * objective.c2, 1.0) ** 0.5)
            largest = objective.largest
            self.early = SOON if self.weights.any() else EARLY
            self.feature_scale = np.maximum(
                np.where(largest == 0.0, 1.0, largest), least
            )
            self.memory = Memory(options.memory, self.view.size, self._scaling())
        else:
            self.early = AGAIN
            self.feature_scale = carry.feature_scale
            self.memory = carry.memory
            self.memory.move(carry.where, self.view.where, self._scaling())
        # The weights of all features of a token act together: along a direction the
        # curvature may be that many times what the diagonal says. So the first step,
        # before anything is remembered, is shorter.
        features_of_token = objective.n_entries / max(objective.n_tokens, 1)
        self.first_scale = 1.0 / (1.0 + features_of_token)

    def of_all_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all weights (size,) and the gradient of all (size,), which the rule is
        told of.

        :meth:`.Objective.evaluate` must have kept it at the current weights.
        """
        objective = self.objective
        n = objective.n_optional
        weights = np.zeros(objective.size)
        gradient = np.zeros(objective.size)
        weights[self.view.where] = self.weights
        gradient[self.view.where] = self.gradient
        gradient[:n] = objective.gradient_of_all(weights[:n])
        if not self.noted:
            self.rule.note(weights, gradient, self.value)
            self.noted = True
        return weights, gradient

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
        self.memory.move(before, where, self._scaling())
        self.weights = weights[where]
        self.gradient = gradient[where]

    def _diagonal(self) -> np.ndarray:
        """Estimate the diagonal (view.size,) that the recursion starts from: a power of
        the Hessian's, for values of features that are at most 1.
        """
        squares = self._scaling() ** 2
        curvature = self.objective.curvature(self.view, self.weights)
        power = POWERS[len(self.past) > self.early]
        return squares * np.maximum(curvature / squares, 1.0) ** power

    def _scaling(self) -> np.ndarray:
        """Return what the weights of the working set, (view.size,), are multiplied by in
        the memory: the scale of their feature, and 1 for transitions.
        """
        scaling = np.ones(self.view.size)
        n = self.view.n_states
        scaling[:n] = self.feature_scale[
            self.objective.pair_feature[self.view.chosen[:n]]
        ]
        return scaling

    def descend(self, budget: int) -> tuple[int, bool]:
        """Run up to ``budget`` iterations.

        The objective has then kept the expectations at the last point, for
        :meth:`of_all_weights`.

        Returns
        -------
        done : int
            Iterations.
        finished : bool
            Whether there was nothing left to gain.
        """
        diagonal = self._diagonal()
        rule = self.rule
        # Dense rows could do so, too, but the containers of the same values must not
        # choose the path.
        cheap = self.view.covers_all and not self.view.is_dense
        rule.every = 1 if cheap else EVERY
        done = 0
        finished = False
        is_kept = True
        while done < budget and not finished and not self.progress.stopped:
            w = self.weights
            pseudo = pseudo_gradient(w, self.gradient, self.objective.c1)
            free = (w != 0.0) | (pseudo != 0.0)
            direction = -self.memory.solve(pseudo, free, diagonal, self.first_scale)
            direction[(w == 0.0) & (direction * pseudo >= 0.0)] = 0.0
            is_steepest = not len(self.memory)
            last = done == budget - 1  # whose curvature the next iterations begin with
            is_kept = last or rule.near
            if not self.step(direction, pseudo, keep=is_kept, curve=last):
                finished = is_steepest  # else once more, with an empty memory
                is_kept = False
                continue
            done += 1
            if rule.near:
                self.of_all_weights()
            finished = rule.reached(self.past, self.noted)
            self.progress.add(
                self.weights, self.view.where, self.value, pseudo, self.search
            )
        if not is_kept:
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
        is_steepest = not len(run.memory)
        if not run.step(direction, pseudo, 1.0 / norm if is_steepest else 1.0):
            finished = is_steepest  # else once more, with an empty memory
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
        run.weights,
        run.value,
        pseudo,
        n_iter,
        converged=bool(converged),
        gap=rule.gap(run.value),
    )
