"""OWL-QN: limited-memory quasi-Newton, orthant by orthant (Andrew and Gao 2007).

The second stage of the two-stage paper (section 3.2), and CRFsuite's
trainer. All weights take part in every pass; :mod:`.working_set` is the faster relative.
"""

import numpy as np

from .bound import StoppingRule
from .quasi_newton import Memory, Minimum, at_precision, dot, pseudo_gradient, search

KEEP_EVERY = 10
"""Iterations between two states offered to a checkpoint: a state holds the whole memory."""


def owlqn(objective, weights, options, progress, carry=None, cuts=None):
    """Minimise from ``weights``; see :func:`.working_set.active_orthant` for the arguments.

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
