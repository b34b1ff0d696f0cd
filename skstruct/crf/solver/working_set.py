"""Stage two: quasi-Newton steps on the weights that matter.

At the optimum of an L1-regularised CRF a few percent of the weights are
not zero. A *working set* holds these and the ones whose gradient exceeds c1; passes use a corpus written out
in its weights only (:class:`.view.View`), and now and then the gradient of all weights, from the lattices of
the last pass, admits and dismisses weights. The end is certified on all weights.

Within the set, steps are OWL-QN's but for three things, each of which lets a longer memory help
instead of hurting:

* the recursion runs on the free weights only (not zero, or about to leave zero), as in projected scaled
  subgradient methods (Schmidt 2010, section 2.3);
* a weight that is not zero may move against its pseudo-gradient; OWL-QN forbids it, which destroys
  the conjugacy of the directions;
* the recursion starts from a power of the Hessian's diagonal, Σ p (1 - p) over the occurrences of a
  feature, instead of the identity. A feature is reckoned in units of its largest value, so that values of
  any size take the same steps.
"""

from typing import NamedTuple

import numpy as np

from .bound import StoppingRule
from .quasi_newton import Memory, Minimum, at_precision, dot, pseudo_gradient, search

REVISION = 12
"""Iterations between revisions of the working set and the diagonal."""
SHRINK = 0.85
"""The set is rebuilt when it falls below this share of its size, or has to grow."""
SMALLEST = 1000
"""Weights that may enter the working set in any case."""
MARGIN = 0.9
"""Share of c1 that the gradient of a zero weight must reach to enter when the set is revised."""
EARLY, POWERS = 36, (0.8, 0.45)
"""Of the Hessian's diagonal, in so many iterations and after them. With 1, weights of rare features run
ahead, which depend on each other and on the frequent ones; at first that is fast, later it is what is in the
way: docs/decisions.md has figures."""
SMALLEST_UNIT = 1e-100
"""Smaller values count like this one: its square is a number."""
KEEP_EVERY = 10
"""Iterations of OWL-QN between two states offered to a checkpoint: a state holds the whole memory."""


def active_orthant(objective, weights, options, progress, carry=None, cuts=None):
    """Minimise the L1-regularised objective.

    Parameters
    ----------
    objective : CRFObjective
    weights : ndarray of shape (objective.size,)
        Where to start.
    options : SolverOptions
        ``memory``, ``max_iter`` and ``tol``, for which see :class:`.StoppingRule`.
    progress : Progress
        Hears of each iteration, with arrays of the working set, and of each revision what it takes to go on
        from there.
    carry : Carry or None
        What another minimisation ended with, of the same corpus with other penalties, whose ``weights`` are
        near. Its memory is taken over.
    cuts : Cuts, None or False
        For the :class:`.StoppingRule`.

    Returns
    -------
    Minimum
    """
    o, c1 = objective, objective.c1
    # Start from what is not zero; pairs of labels are always in.
    n_iter, done, finished = 0, 1, False
    if progress.found is not None:
        state, arrays = progress.found
        run = _Iterations(o, arrays["weights"], options, progress, arrays["chosen"], cuts=cuts)
        run.resume(state, arrays)
        n_iter, finished = state["n_iter"], state["finished"]
    else:
        run = _Iterations(o, weights, options, progress, carry=carry, cuts=cuts)
    if n_iter == 0 and weights.any() and carry is None:
        # A start worse than none, from a learning rate that was too high?
        if not (np.isfinite(run.value) and run.value <= o.value_at_zero()):
            run = _Iterations(o, np.zeros(o.size), options, progress, cuts=cuts)
    if (
        n_iter == 0 and cuts and run.rule.certifies and cuts.next
    ):  # of other penalties, with a start from there
        run.of_all_weights()
        run.rule.ask(run.past)
    while True:
        # Not where it was stopped: the revisions of a run that goes on stand elsewhere.
        if n_iter and not progress.stopped:
            state = {"value": float(run.value), "past": [float(v) for v in run.past]}
            state.update(n_iter=n_iter, finished=bool(finished), noted=run.noted)
            state["certified"] = run.rule.certified
            progress.offer(state, run.arrays())
        at, full = run.of_all_weights()
        pseudo = pseudo_gradient(at, full, c1)
        missing = pseudo.copy()
        missing[run.view.where] = 0.0
        n_missing = np.count_nonzero(missing)
        # A weight whose gradient exceeds c1 has a curvature of that order.
        rule = run.rule
        converged = rule.certified or finished and dot(missing, missing) <= c1 * rule.tol * abs(run.value)
        stopped = progress.stopped or n_iter >= options.max_iter
        # Without missing weights, or without a step, no number below this one can be reached.
        last = finished and (n_missing == 0 or done == 0)
        if converged or stopped or last:
            converged = bool(converged or not stopped and not run.stuck)
            return Minimum(at, run.value, pseudo, n_iter, converged, rule.gap(run.value), run.carry())
        chosen = _working_set(o, at, full)
        if n_missing or chosen.shape[0] < SHRINK * run.view.chosen.shape[0]:
            run.move(chosen, at, full)
        done, finished = run.descend(min(REVISION, options.max_iter - n_iter))
        n_iter += done


def _working_set(objective, weights, gradient):
    """Optional weights to work on: those not zero, and the steepest others, at most as many again."""
    k = objective.n_optional
    active = weights[:k] != 0.0
    slope = np.abs(gradient[:k])
    slope[active] = 0.0
    room = max(np.count_nonzero(active), SMALLEST, k // 10)
    threshold = MARGIN * objective.c1
    steepest = slope > threshold
    if room < k:
        limit = np.partition(slope, k - 1 - room)[k - 1 - room]
        # Where more weights than there is room for are equally steep, and the steepest, all enter.
        steepest &= slope > limit if slope.max() > limit else slope == limit
    return np.flatnonzero(active | steepest)


class Carry(NamedTuple):
    """What a minimisation leaves for another one of the same corpus with other penalties."""

    memory: Memory
    where: np.ndarray  # the places, in all weights, of the coordinates of the memory
    unit: np.ndarray  # (F,) each feature's unit


class _Iterations:
    """Iterations on one working set; moves to another one."""

    def __init__(self, objective, weights, options, progress, chosen=None, carry=None, cuts=None):
        self.objective, self.progress = objective, progress
        self.rule, self.noted = StoppingRule(objective, options.tol, cuts), False
        chosen = np.flatnonzero(weights[: objective.n_optional]) if chosen is None else chosen
        self.view = objective.view(chosen)
        self.weights = weights[self.view.where]
        smooth, self.gradient = objective.evaluate(self.view, self.weights, keep=True)
        self.value = smooth + objective.c1 * float(np.abs(self.weights).sum())
        self.unit = self._units() if carry is None else carry.unit
        if carry is None:
            self.memory = Memory(options.memory, self.view.size, self._root())
        else:
            self.memory = carry.memory
            self.memory.move(carry.where, self.view.where, self._root())
        self.early = EARLY if carry is None else 0
        self.past = [self.value]
        self.stuck = False
        # A token has this many features: no direction is steeper than that many diagonals.
        self.first_scale = 1.0 / (1.0 + objective.features_of_token())

    def arrays(self):
        """What it takes to go on from here, besides numbers."""
        weights = np.zeros(self.objective.size)
        weights[self.view.where] = self.weights
        steps, changes = self.memory.kept()
        arrays = {"chosen": self.view.chosen, "weights": weights, "steps": steps, "changes": changes}
        return {**arrays, **self.rule.arrays()}

    def resume(self, state, arrays):
        """Go on from an earlier state, with what :meth:`arrays` gave there."""
        self.value, self.past = state["value"], state["past"]
        self.memory.restore(arrays["steps"], arrays["changes"])
        self.rule.restore(arrays)
        self.rule.reached(self.past)
        self.noted, self.rule.certified = state["noted"], state["certified"]

    def carry(self):
        """What a minimisation with other penalties can go on from."""
        return Carry(self.memory, self.view.where, self.unit)

    def of_all_weights(self):
        """(all weights, the gradient of all), once :meth:`.CRFObjective.evaluate` kept it at the current
        ones."""
        o = self.objective
        at, full = np.zeros(o.size), np.zeros(o.size)
        at[self.view.where], full[self.view.where] = self.weights, self.gradient
        full[: o.n_optional] = o.gradient_of_all(at[: o.n_optional])
        if not self.noted:
            self.rule.note(at, full, self.value)
            self.noted = True
        return at, full

    def move(self, chosen, weights, gradient):
        """Continue with other coordinates."""
        before = self.view.where
        self.view = None  # two at once would be the largest thing in memory
        self.view = view = self.objective.view(chosen)
        self.memory.move(before, view.where, self._root())
        self.weights, self.gradient = weights[view.where], gradient[view.where]

    def _units(self):
        """(F,) each feature's largest value."""
        o, largest = self.objective, self.objective.largest
        if largest is None:
            return np.ones(o.n_features)
        # With an L2 penalty no curvature is less than 2 c2.
        least = max(SMALLEST_UNIT, min(2.0 * o.c2, 1.0) ** 0.5)
        return np.maximum(np.where(largest == 0.0, 1.0, largest), least)

    def _diagonal(self):
        """What the recursion starts from, on the working set."""
        unit = self.memory.root**2
        curvature = self.objective.curvature(self.view, self.weights)
        power = POWERS[len(self.past) > self.early]
        return unit * np.maximum(curvature / unit, 1.0) ** power

    def _root(self):
        """What weights are multiplied with, to count in each feature's unit, on the working set."""
        view = self.view
        root = np.ones(view.size)
        states = view.chosen[: view.n_states]
        root[: view.n_states] = self.unit[self.objective.pair_feature[states]]
        return root

    def descend(self, budget):
        """Up to ``budget`` iterations; leaves the gradient at the last point with the objective.

        Returns (iterations, whether there was nothing left to gain).
        """
        o, view, c1 = self.objective, self.view, self.objective.c1
        diagonal = self._diagonal()
        done, finished, kept = 0, False, True

        def evaluate(weights):
            return o.evaluate(view, weights, keep=kept)

        while done < budget and not finished and not self.progress.stopped:
            w = self.weights
            pseudo = pseudo_gradient(w, self.gradient, c1)
            free = (w != 0.0) | (pseudo != 0.0)
            direction = -self.memory.solve(pseudo, free, diagonal, self.first_scale)
            direction[(w == 0.0) & (direction * pseudo >= 0.0)] = 0.0
            kept = done == budget - 1 or self.rule.near
            found = None
            if dot(direction, pseudo) < 0.0:
                found = search(evaluate, w, self.value, pseudo, direction, c1, 1.0)
            if found is None:  # no descent in numbers of this precision, or a bad memory
                kept = False
                finished = not len(self.memory)
                self.stuck = finished and not at_precision(-dot(direction, pseudo), self.past)
                self.memory.clear()
                continue
            new, self.value, gradient = found
            self.memory.add(new - w, gradient - self.gradient)
            self.weights, self.gradient, self.noted = new, gradient, False
            self.past.append(self.value)
            done += 1
            if self.rule.near:
                self.of_all_weights()
            finished = self.rule.reached(self.past, self.noted)
            self.progress.add(new, view.where, self.value, pseudo)
        if not kept:
            _, self.gradient = o.evaluate(view, self.weights, keep=True)
        return done, finished


def owlqn(objective, weights, options, progress, carry=None, cuts=None):
    """OWL-QN (Andrew and Gao 2007), the second stage of the two-stage paper, and CRFsuite's trainer.

    All weights take part in every pass.

    Minimises from ``weights``; see :func:`active_orthant` for the arguments.

    ``carry`` has no effect: the method begins anew.
    """
    o, c1 = objective, objective.c1
    view = o.everything()
    weights, n_done = weights.copy(), 0
    found = progress.found
    if found is not None:
        weights, n_done = found[1]["weights"], found[0]["n_iter"]
    smooth, gradient = o.evaluate(view, weights)
    value = smooth + c1 * float(np.abs(weights).sum())
    past, rule = [value], StoppingRule(o, options.tol, cuts)
    store = Memory(options.memory, weights.shape[0])
    one = np.ones(weights.shape[0])
    everywhere = np.ones(weights.shape[0], bool)
    if found is not None:
        past = found[0]["past"]
        value = past[-1]
        store.restore(found[1]["steps"], found[1]["changes"])
        rule.restore(found[1])
        rule.reached(past)
    converged, n_iter = False, n_done
    for n_iter in range(n_done + 1, options.max_iter + 1):
        pseudo = pseudo_gradient(weights, gradient, c1)
        norm = np.sqrt(dot(pseudo, pseudo))
        if norm == 0.0:
            converged, n_iter = True, n_iter - 1
            break
        direction = -store.solve(pseudo, everywhere, one, 1.0)
        direction[direction * pseudo >= 0.0] = 0.0
        step = 1.0 if len(store) else 1.0 / norm
        found = search(lambda w: o.evaluate(view, w), weights, value, pseudo, direction, c1, step)
        if found is None:
            if not len(store):
                converged, n_iter = at_precision(-dot(direction, pseudo), past), n_iter - 1
                break
            store.clear()
            continue
        new, value, new_gradient = found
        store.add(new - weights, new_gradient - gradient)
        weights, gradient = new, new_gradient
        past.append(value)
        if rule.near:
            rule.note(weights, gradient, value)
        finished = rule.reached(past, rule.near)
        if progress.add(weights, view.where, value, pseudo):
            break
        if finished:
            converged = True
            break
        if n_iter % KEEP_EVERY == 0:
            steps, changes = store.kept()
            state = {"past": [float(v) for v in past], "n_iter": n_iter}
            progress.offer(state, {"weights": weights, "steps": steps, "changes": changes, **rule.arrays()})
    rule.note(weights, gradient, value)
    return Minimum(weights, value, pseudo_gradient(weights, gradient, c1), n_iter, converged, rule.gap(value))
