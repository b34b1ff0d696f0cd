"""A cheap stand-in for the CRF objective near given weights.

Place on the ladder: rung 6. Where labels are all but certain, log Z is all but linear in the weights. The
stand-in at weights v, whose marginals are known, is

    m(w) = log Z of the doubtful part (:mod:`..structures.chain_pruned`) at w + c2 ‖w‖²
         + Σ_k b_k w_k + ½ Σ_k h_k (w_k - v_k)²

with b such that m has the gradient of the objective at v, and h the curvature of what was dropped. It is
convex, agrees with the objective at v to first order, and almost to second: minimising it with the L1
term is a proximal Newton step (Lee, Sun and Saunders 2014) whose model need not be quadratic.
"""

import numpy as np

from ..structures.chain_pruned import expect_pruned, new_pruned, prune
from .quasi_newton import dot

import os
THRESHOLD = float(os.environ.get("THR","0.01"))
"""Probability below which a label is dropped."""


class Surrogate:
    """The stand-in for ``objective`` on ``view``, from the marginals it keeps.

    Parameters
    ----------
    objective : CRFObjective
        Holds the marginals at ``weights``; all labels given, no observation-conditioned transitions.
    view : View
    weights, gradient : ndarray of shape (view.size,)
        Where, and the gradient of the smooth part there.
    caution : float
        Multiplies h.

    Attributes
    ----------
    share : float
        Entries of the doubtful part per entry of the corpus: what a pass costs, roughly.
    curvature : ndarray of shape (view.size,)
        An estimate of the Hessian's diagonal.
    usable : bool
        Whether its sums can be represented at ``weights``.
    """

    def __init__(self, objective, view, weights, gradient, caution=1.0):
        o, K, L = objective, view.pairs.shape[0], objective.n_labels
        self.objective = o
        self.view, self.origin = view, weights.copy()
        corpus, block = view.corpus, objective.sequence_blocks
        n_blocks = block.shape[0] - 1
        valued = corpus.value.shape[0] > 0
        full, lost = np.zeros((n_blocks, K)), np.zeros((n_blocks, K))
        empty, none = new_pruned(0, 0, 0, 0, valued), np.zeros(0)

        def work(k):
            size, place = np.zeros(4, np.int64), np.zeros(L, np.int64)
            part = empty
            for filled in (False, True):
                if filled:
                    part = new_pruned(*size.tolist(), valued)
                prune(
                    corpus, block[k], block[k + 1], o.posterior, L, THRESHOLD, o.potentials.cost,
                    place, size, part, full[k] if filled else none, lost[k] if filled else none,
                )  # fmt: skip
            return part

        self.parts = list(o.map(work, range(n_blocks)))
        entries = sum(p.entry.shape[0] + p.label.shape[0] for p in self.parts)
        self.share = entries / max(corpus.entry.shape[0] + corpus.token[-1] * L, 1)
        full, lost = full.sum(axis=0), lost.sum(axis=0)
        self.linear, self.penalty = np.zeros(view.size), np.zeros(view.size)
        value, own, steps = self._sum(weights)
        self.usable = np.isfinite(value)
        if not self.usable:
            return
        dropped = lost.sum() / max(full.sum(), 1e-300)
        self.curvature = np.concatenate([full, 0.5 * steps]) + 2.0 * o.c2
        self.penalty = caution * np.concatenate([lost, 0.5 * dropped * steps])
        self.linear = gradient - own - 2.0 * o.c2 * weights

    def _sum(self, weights):
        """log Z of the doubtful part, its gradient, and the expected pairs of labels."""
        o, K, L = self.objective, self.view.pairs.shape[0], self.objective.n_labels
        pair = o.pair
        transition = o.potentials.transition.copy()
        transition[pair[:, 0], pair[:, 1]] += weights[K:]
        shift = max(0.0, float(transition.max()) - 30.0)
        matrix = np.exp(transition - shift)
        gradient, both = np.zeros((len(self.parts), K)), np.zeros((len(self.parts), L, L))

        def work(k):
            return expect_pruned(
                self.parts[k], weights, transition, matrix, shift, gradient[k], both[k]
            )

        value = sum(o.map(work, range(len(self.parts))))
        steps = both.sum(axis=0)[pair[:, 0], pair[:, 1]]
        return value, np.concatenate([gradient.sum(axis=0), steps]), steps

    def evaluate(self, weights):
        """m and its gradient."""
        value, gradient, _ = self._sum(weights)
        off = weights - self.origin
        pull = self.penalty * off
        c2 = self.objective.c2
        value += dot(self.linear, weights) + 0.5 * dot(pull, off) + c2 * dot(weights, weights)
        gradient += self.linear + pull + 2.0 * c2 * weights
        return value, gradient
