"""Stage two: the weights that matter, and the tokens that are in doubt.

Place on the ladder: rung 6. At the optimum of an L1-regularised CRF a few percent of the weights are
not zero. A *working set* holds these and the ones whose gradient exceeds c1; passes use a corpus spelled
in its weights only (:class:`.View`), and the gradient of all weights, from the marginals of the last pass,
admits and dismisses weights. The end is certified on all weights.

After a pass most iterations need no other: they minimise a stand-in (:mod:`.surrogate`) that sums over
the doubtful tokens only. A pass then accepts the result, or goes back halfway. What the stand-in promises
estimates the distance from the optimum, and ends the training when it is small.

Steps on either are OWL-QN's but for three things, each of which lets a longer memory help
instead of hurting (on CoNLL-2000, from a gap of 1.3 % to 0.05 %: 90 passes instead of 340):

* the recursion runs on the free weights only (not zero, or about to leave zero), as in projected scaled
  subgradient methods (Schmidt 2010, section 2.3);
* a weight that is not zero may move against its pseudo-gradient; OWL-QN forbids it, which destroys
  the conjugacy of the directions;
* the recursion starts from the root of the Hessian's diagonal, Σ p (1 - p) over the occurrences of a
  feature, instead of the identity.
"""

import numpy as np

from .crf_objective import View
from .quasi_newton import Memory, dot, pseudo_gradient, search
from .surrogate import Surrogate

SMALLEST = 1000
"""Pairs that may enter the working set in any case."""
MARGIN = 0.9
"""Share of c1 that the gradient of a zero weight must reach to enter when the set is revised."""
SHRINK = 0.85
"""The set is spelled anew when it falls below this share of its size, or has to grow."""
INNER = 40
"""Most iterations on one stand-in."""
WINDOW = 5
FADED = 0.05
"""A stand-in is left when WINDOW iterations bring less than this share of what all have brought."""
import os
FADED=float(os.environ.get('FADED',FADED)); INNER=int(os.environ.get('INNER',INNER)); CAUTION=float(os.environ.get('CAUTION',1)); MARGIN=float(os.environ.get('MARGIN',MARGIN))
VERB=int(os.environ.get('VERB',0))
import time

def _working_set(objective, weights, gradient):
    """Pairs to work on: those not zero, and the steepest others, at most as many again."""
    k = objective.n_pairs
    active = weights[:k] != 0.0
    slope = np.abs(gradient[:k])
    slope[active] = 0.0
    room = max(np.count_nonzero(active), SMALLEST, k // 10)
    threshold = MARGIN * objective.c1
    if room < k:
        threshold = max(threshold, np.partition(slope, k - 1 - room)[k - 1 - room])
    return np.flatnonzero(active | (slope > threshold))


class Point:
    """Weights, the objective (with its L1 term) and the gradient of its smooth part."""

    def __init__(self, evaluate, weights, c1):
        self.weights = weights
        smooth, self.gradient = evaluate(weights)
        self.value = smooth + c1 * float(np.abs(weights).sum())


def descend(evaluate, point, c1, memory, diagonal, first_scale, enough):
    """Quasi-Newton iterations until ``enough(values so far)``, or until nothing descends.

    Returns (point, values)."""
    values = [point.value]
    at=point
    while not enough(values):
        w, gradient = at.weights, at.gradient
        pseudo = pseudo_gradient(w, gradient, c1)
        free = (w != 0.0) | (pseudo != 0.0)
        direction = -memory.solve(pseudo, free, diagonal, first_scale)
        direction[(w == 0.0) & (direction * pseudo >= 0.0)] = 0.0
        found = None
        if dot(direction, pseudo) < 0.0:
            found = search(evaluate, w, at.value, pseudo, direction, c1, 1.0)
        if found is None:
            if not len(memory):
                break
            memory.clear()
            continue
        new, value, g = found
        memory.add(new - w, g - gradient)
        at=Point.__new__(Point); at.weights,at.value,at.gradient=new,value,g
        values.append(value)
    return at, values


def active_orthant(objective, weights, memory=20, max_iter=1000, tol=1e-4, callback=None):
    o, c1 = objective, objective.c1
    view = View(o, np.flatnonzero(weights[: o.n_pairs]))
    exact = lambda w: o.evaluate(view, w, keep=True)
    point = Point(exact, weights[view.where], c1)
    store = Memory(memory, view.size)
    first_scale = 1.0 / (1.0 + o.feature.shape[0] / max(o.n_tokens, 1))
    n_iter=0; converged=False; caution=CAUTION; t0=time.process_time()
    while True:
        at, full = np.zeros(o.size), np.zeros(o.size)
        at[view.where], full[view.where] = point.weights, point.gradient
        full[: o.n_pairs] = o.gradient_of_pairs(at[: o.n_pairs])
        pseudo = pseudo_gradient(at, full, c1)
        if converged or n_iter>=max_iter: break
        missing = pseudo.copy(); missing[view.where]=0
        n_missing=np.count_nonzero(missing)
        pairs = _working_set(o, at, full)
        size=view.pairs.shape[0]
        t1=time.process_time()
        if n_missing > 0.0 * size or pairs.shape[0] < SHRINK * size:
            new = View(o, pairs)
            store.move(view.where, new.where)
            view = new
            point.weights, point.gradient = at[view.where], full[view.where]
        t2=time.process_time()
        m = Surrogate(o, view, point.weights, point.gradient, caution)
        t3=time.process_time()
        start = Point(m.evaluate, point.weights, c1)
        def enough(values):
            gained = values[0]-values[-1]
            if len(values)>INNER: return True
            return len(values)>WINDOW and values[-1-WINDOW]-values[-1] <= FADED*gained
        best, values = descend(m.evaluate, start, c1, store, np.sqrt(np.maximum(m.curvature,1.0)), first_scale, enough)
        t4=time.process_time()
        promised = values[0]-values[-1]
        step=1.0; trials=0
        while True:
            cand = Point(exact, point.weights+step*(best.weights-point.weights), c1)
            n_iter+=1; trials+=1
            if cand.value <= point.value - 0.1*step*promised*0.01: break
            step*=.5
            if trials>20: break
        t5=time.process_time()
        got = point.value-cand.value
        if VERB: print(n_iter,'cpu %.2f F %.3f prom %.3f got %.3f step %g missing %d set %d nnz %d inner %d share %.3f caution %.2f | view %.2f sur %.2f inner %.3f/it exact %.2f'%(t5-t0,cand.value,promised,got,step,n_missing,view.size,(cand.weights!=0).sum(),len(values)-1,m.share,caution,t2-t1,t3-t2,(t4-t3)/max(len(values)-1,1),t5-t4),flush=True)
        if got<.5*promised: caution=min(caution*2,64)
        elif got>.9*promised: caution=max(caution/2,.25)
        point=cand
        if callback is not None and callback(point.weights, point.value, pseudo[view.where]): break
        converged = promised <= tol*abs(point.value)
    return at, point.value, pseudo, n_iter, converged
