"""Training by brute force: a trainer that keeps complete weight vectors, and the
optimum of an L1 CRF.

It imports nothing of the package. Features and enumeration are those of `oracles`.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from oracles import (
    FREE,
    TRIGRAM,
    agrees,
    cost_of,
    difference,
    labellings,
    phi,
    ranked,
    reversed_ids,
    squared_norm,
    wrong_tie,
)


# ------------------------------------------------------------------- update and penalty
def step_size(variant, C, loss, norm):
    """[G] eqs 12, 13; [P] section 4."""
    if loss <= 0 or norm == 0:
        return 0.0
    if variant == "PA":
        return loss / norm
    if variant == "PA-I":
        return min(C, loss / norm)
    if variant == "PA-II":
        return loss / (norm + 1 / (2 * C))
    raise ValueError(variant)


def l2_step(weights, delta, alpha):
    """[Z] eq. 10: decay, then add. ``delta`` is what is added to the weights."""
    for key in weights:
        weights[key] *= 1 - alpha
    for key, value in delta.items():
        weights[key] += value


def l1_step(weights, delta, alpha):
    """[Z] eq. 12: shrink, then add."""
    for key, w in weights.items():
        weights[key] = math.copysign(max(0.0, abs(w) - alpha), w)
    for key, value in delta.items():
        weights[key] += value


def l1_cumulative_step(weights, due, delta, alpha, steps_before):
    """[Z] eqs 13 to 17. ``due`` is c; weights that have never been touched owe alpha
    for each step before.
    """
    for key, value in delta.items():
        if key not in weights:
            weights[key], due[key] = 0.0, alpha * steps_before
        weights[key] += value
    for key, w in weights.items():
        due[key] += alpha
        m = min(abs(w), due[key])
        weights[key] = math.copysign(max(0.0, abs(w) - m), w)
        due[key] -= m


class Learner:
    """Weights under a penalty and an average, one complete vector at a time.

    ``step(delta)`` is one example visited; ``delta`` may be empty. ``average`` is
    "step", "epoch" or None.
    """

    def __init__(self, penalty=None, alpha=0.0, average="step"):
        self.penalty, self.alpha, self.average = penalty, alpha, average
        self.weights, self.due = defaultdict(float), {}
        self.total, self.n_summed, self.n_steps = defaultdict(float), 0, 0

    def step(self, delta):
        if self.penalty == "l2":
            l2_step(self.weights, delta, self.alpha)
        elif self.penalty == "l1":
            l1_step(self.weights, delta, self.alpha)
        elif self.penalty == "l1-cumulative":
            l1_cumulative_step(self.weights, self.due, delta, self.alpha, self.n_steps)
        else:
            for key, value in delta.items():
                self.weights[key] += value
        self.n_steps += 1
        if self.average == "step":
            self._sum()

    def end_epoch(self):
        if self.average == "epoch":
            self._sum()

    def _sum(self):
        for key, value in self.weights.items():
            self.total[key] += value
        self.n_summed += 1

    def final(self):
        """[Z] eq. 6, or [G] algorithm 1; the last weights without averaging."""
        if self.average is None:
            return dict(self.weights)
        return {key: value / self.n_summed for key, value in self.total.items()}


# ----------------------------------------------------------------------------- training
@dataclass
class Trained:
    weights: dict
    last: dict
    updates: list  # per epoch
    loss: list  # per epoch
    ambiguous: int  # decisions that rounding may have taken
    learner: Learner = None


def is_exact(weights):
    """Whether sums of these weights are exact in any order: small multiples of
    2^-20.
    """
    return all(
        abs(w) < 2**20 and (w * 2**20).is_integer()
        for w in map(float, weights.values())
    )


def train(
    corpus,
    labels,
    orders,
    *,
    variant="perceptron",
    C=1.0,
    margin="one",
    penalty=None,
    alpha=0.0,
    average="step",
    costs=None,
    sample_weight=None,
    constraints=FREE,
    corrupt=None,
):
    """Train on ``corpus``, a list of (Features, gold); gold may hold None.

    costs : dict, cost of missing a token of a label; for margin="hamming" every other
    label costs 1. corrupt : function (step, example, Features) -> Features, the noise
    of a visit; steps count from 0.
    """
    labels = list(labels)
    learner = Learner(penalty, alpha, average)
    costs = dict(costs or {})
    if margin == "hamming":
        costs = {label: costs.get(label, 1.0) for label in labels}
    everything = [
        [(z, agrees(z, gold)) for z in labellings(len(gold), labels, constraints)]
        for _, gold in corpus
    ]
    updates, losses, ambiguous, step = [], [], 0, 0
    for order in orders:
        n_updates, loss_sum = 0, 0.0
        for i in order:
            features, gold = corpus[i]
            if corrupt is not None:
                features = corrupt(step, i, features)
            w = learner.weights
            table = _tables(features, w, labels)
            scores = {z: _sum(table, z) for z, _ in everything[i]}
            scale = 1.0 if sample_weight is None else sample_weight[i]
            raised = {
                z: value + scale * cost_of(z, gold, costs)
                for z, value in scores.items()
            }
            right = ranked([z for z, ok in everything[i] if ok], scores.get, labels)
            rivals = [z for z, ok in everything[i] if not ok or variant == "perceptron"]
            tie = (
                reversed_ids
                if variant == "perceptron"
                else wrong_tie(gold, features.order)
            )
            rivals = ranked(rivals, raised.get, labels, tie)
            if not _exact_scores(features, w, costs):
                ambiguous += _near_tie(right, features) + _near_tie(rivals, features)
            delta = {}
            if rivals and right:
                y = right[0][1]
                z = rivals[0][1]
                if variant == "perceptron":
                    if not agrees(z, gold):
                        n_updates += 1
                        delta = {
                            key: scale * v
                            for key, v in difference(features, y, z).items()
                        }
                else:
                    gap = scores[y] - scores[z]
                    asked = cost_of(z, gold, costs) + (1.0 if margin == "one" else 0.0)
                    loss = max(0.0, scale * asked - gap)
                    loss_sum += loss
                    vector = difference(features, y, z)
                    bound = (
                        scale * C if variant == "PA-I" else C
                    )  # costs and steps are in units of weights
                    tau = step_size(variant, bound, loss, squared_norm(vector))
                    n_updates += loss > 0
                    delta = {key: tau * v for key, v in vector.items()}
            learner.step(delta)
            step += 1
        learner.end_epoch()
        updates.append(n_updates)
        losses.append(loss_sum)
    return Trained(
        learner.final(), dict(learner.weights), updates, losses, ambiguous, learner
    )


def _exact_scores(features, weights, costs):
    if not is_exact(costs):
        return False
    if not any(weights.values()):
        return True
    factors = features.bigram_factor or {}, features.trigram_factor or {}
    return all(map(is_exact, (weights, *factors, *features.nodes, *features.edges)))


def _near_tie(pairs, features):
    """Whether the best of several labellings beats one with another phi by less than
    rounding can undo.

    Among equals with one and the same phi the choice does not matter.
    """
    best = phi(features, pairs[0][1]) if pairs else None
    for value, z in pairs[1:]:
        if pairs[0][0] - value > 1e-9 * max(1.0, abs(pairs[0][0])):
            return 0
        if phi(features, z) != best:
            return 1
    return 0


def _tables(features, weights, labels):
    """Scores of the labels at each token, and of the transitions into it."""
    nodes = [
        {
            y: math.fsum(weights.get((f, y), 0.0) * v for f, v in node.items())
            for y in labels
        }
        for node in features.nodes
    ]
    edges = [
        {
            (p, q): math.fsum(
                weights.get((f, p, q), 0.0) * features.edge_value(f, v, p, q)
                for f, v in edge.items()
            )
            for p in labels
            for q in labels
        }
        for edge in features.edges
    ]
    trigrams = {
        (a, p, y): weights.get((TRIGRAM, a, p, y), 0.0)
        * features.trigram_value(a, p, y)
        for a in [None, *labels]
        for p in labels
        for y in labels
        if features.order == 2
    }
    return nodes, edges, trigrams


def _sum(table, z):
    nodes, edges, trigrams = table
    terms = [nodes[t][y] for t, y in enumerate(z)] + [
        edges[t][z[t - 1], z[t]] for t in range(1, len(z))
    ]
    if trigrams:
        terms += [
            trigrams[z[t - 2] if t > 1 else None, z[t - 1], z[t]]
            for t in range(1, len(z))
        ]
    return math.fsum(terms)


# ------------------------------------------------------------ conditional random fields
def l1_crf(phi, gold, c1, c2=0.0, n_iter=5000):
    """(w, objective) that minimise ``sum_i logZ_i(all) - logZ_i(gold) + c2 |w|^2 + c1
    |w|_1``.

    ``phi[i]`` (labellings, F) holds the features of every labelling, ``gold[i]`` says
    which agree with what is given. FISTA (Beck and Teboulle 2009, section 4) with
    backtracking; begun anew where the objective rises.
    """

    def smooth(w):
        value, gradient = c2 * (w @ w), 2.0 * c2 * w
        for f, g in zip(phi, gold):
            z = f @ w
            for sign, use in ((1.0, slice(None)), (-1.0, g)):
                total = np.logaddexp.reduce(z[use])
                value, gradient = (
                    value + sign * total,
                    gradient + sign * (np.exp(z[use] - total) @ f[use]),
                )
        return value, gradient

    w = v = np.zeros(phi[0].shape[1])
    t, lipschitz, best = 1.0, 1.0, smooth(w)[0]
    for _ in range(n_iter):
        value, gradient = smooth(v)
        while True:
            u = v - gradient / lipschitz
            u = np.sign(u) * np.maximum(np.abs(u) - c1 / lipschitz, 0.0)
            step, found = u - v, smooth(u)[0]
            if (
                found
                <= value + gradient @ step + 0.5 * lipschitz * (step @ step) + 1e-12
            ):
                break
            lipschitz *= 2.0
        objective, t_next = found + c1 * np.abs(u).sum(), 0.5 + math.sqrt(0.25 + t * t)
        if objective > best and t > 1.0:
            v, t = w, 1.0
            continue
        v, moved, w, t, best = (
            u + (t - 1.0) / t_next * (u - w),
            np.abs(u - w).max(),
            u,
            t_next,
            objective,
        )
        if moved < 1e-9:
            break
    return w, best
