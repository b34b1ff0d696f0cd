"""Stage one: stochastic gradient descent with a cumulative L1 penalty.

Place on the ladder: rung 6. After Tsuruoka, Tsujii and Ananiadou (2009), as in the two-stage paper: a
weight moves only when one of its features is in the sequence at hand (equation 9), and then also pays
the L1 penalty that it owes since it last moved (equations 10 and 11):

    λ ← max(0, λ - (z + q)) if λ > 0,  min(0, λ + (z - q)) if λ < 0

with z the penalty due to each weight so far, and q what this one has received. The learning rate is
``η_j = η_0 α^(j/N)`` (equation 12) for the j-th of N sequences a pass, and with ``line_search`` the
best of a few rates around it: algorithm 1, which tries the step on the sequence itself (equation 14).

Differs from the paper: after the last pass every weight pays what it still owes. Otherwise features
that the last sequences lack would keep weights that the penalty has long used up.
"""

from typing import NamedTuple

import numpy as np

from ..chain.marginals import clamp, sum_labellings
from ..core.compile import inline, kernel
from ..training.checkpoint import arrays_of
from ..training.epochs import chunks
from .expectations import exp_all

CHANGE = 0.5
"""What algorithm 1 multiplies or divides rates by."""


class Sgd(NamedTuple):
    """State and scratch; L labels, K pairs of feature and label, T tokens of the longest sequence."""

    weight: np.ndarray  # (K + Q,) float64: pairs of feature and label, then pairs of labels
    received: np.ndarray  # (K + Q,) float64: penalty received by each
    clock: np.ndarray  # (2,) float64: sequences seen, penalty due z
    stamp: np.ndarray  # (F,) int64: the last sequence a feature was met in
    place: np.ndarray  # (F,) int64: where its pairs are in the next three
    local: np.ndarray  # (n,) int64: weights of the sequence at hand, each once
    gradient: np.ndarray  # (n,) float64
    trial: np.ndarray  # (n,) float64: their values under the rate tried
    emission: np.ndarray  # (T * L,) float64
    x: np.ndarray  # (T * L,) float64: exp(emission)
    alpha: np.ndarray  # (T * L,) float64
    beta: np.ndarray  # (T * L,) float64
    scratch: np.ndarray  # (T * L,) float64
    bits: np.ndarray  # (T * L,) int64: the same memory
    transition: np.ndarray  # (L * L,) float64
    matrix: np.ndarray  # (2, L * L) float64: exp(transition), and transposed
    both: np.ndarray  # (L * L,) float64: expected pairs of labels


class Schedule(NamedTuple):
    """How to descend."""

    eta0: float
    decay: float
    n_sequences: int
    c1: float
    c2: float
    max_trials: int  # 1: no line search


@kernel
def _most_pairs(token, start, feature, first):
    """The most pairs that the features of one sequence have."""
    most = 0
    for i in range(token.shape[0] - 1):
        n = 0
        for e in range(start[token[i]], start[token[i + 1]]):
            n += first[feature[e] + 1] - first[feature[e]]
        most = max(most, n)
    return most


def new_sgd(objective):
    """A state at weight zero with scratch for ``objective``'s corpus."""
    L, o = objective.n_labels, objective
    size = o.n_pairs + o.pair.shape[0]
    T = int(o.lengths.max(initial=1))
    room = _most_pairs(o.token, o.start, o.feature, o.first)
    room = min(room, o.n_pairs) + o.pair.shape[0]
    scratch = np.zeros(max(T, L) * L)
    return Sgd(
        np.zeros(size), np.zeros(size), np.zeros(2), np.full(o.n_features, -1, np.int64),
        np.zeros(o.n_features, np.int64), np.zeros(room, np.int64), np.zeros(room), np.zeros(room),
        np.zeros(T * L), np.zeros(T * L), np.zeros(T * L), np.zeros(T * L), scratch,
        scratch.view(np.int64), np.zeros(L * L), np.zeros((2, L * L)), np.zeros(L * L),
    )  # fmt: skip


@inline
def _emit(start, feature, value, first, label, token, T, L, place, values, emission):
    """emission[t, y] = Σ x λ, with the λ of the sequence in ``values``."""
    for k in range(T * L):
        emission[k] = 0.0
    for t in range(T):
        for e in range(start[token + t], start[token + t + 1]):
            f = feature[e]
            at = place[f] - first[f]
            x = value[e] if value.shape[0] > 0 else 1.0
            for k in range(first[f], first[f + 1]):
                emission[np.uint64(t * L + label[k])] += x * values[np.uint64(at + k)]


@inline
def _augment(gold, cost, L, emission):
    for t in range(gold.shape[0]):
        if gold[t] >= 0 and cost[gold[t]] != 0.0:
            for y in range(L):
                if y != gold[t]:
                    emission[t * L + y] += cost[gold[t]]


@inline
def _multiply(a, at, matrix, out, to, L):
    """out[y] = Σ_p a[p] matrix[p, y]."""
    o = np.uint64(to)
    for y in range(np.uint64(L)):
        out[o + y] = 0.0
    p = 0
    while p + 4 <= L:
        v0, v1, v2, v3 = a[at + p], a[at + p + 1], a[at + p + 2], a[at + p + 3]
        i0, n = np.uint64(p * L), np.uint64(L)
        i1, i2, i3 = i0 + n, i0 + n + n, i0 + n + n + n
        for y in range(n):
            out[o + y] += (
                v0 * matrix[i0 + y] + v1 * matrix[i1 + y] + v2 * matrix[i2 + y] + v3 * matrix[i3 + y]
            )
        p += 4
    while p < L:
        v0, i0 = a[at + p], np.uint64(p * L)
        for y in range(np.uint64(L)):
            out[o + y] += v0 * matrix[i0 + y]
        p += 1


@inline
def _scaled_forward(s, potentials, T, L):
    """log Z, by scaled probabilities: fills s.x, s.alpha (sums to 1 at each token).

    -inf if it cannot be represented (or is -inf). ``s.scratch[t]`` then holds each token's scale.
    """
    log_z = 0.0
    x, alpha, emission = s.x, s.alpha, s.emission
    for t in range(T):
        top = emission[t * L]
        for y in range(1, L):
            top = max(top, emission[t * L + y])
        for y in range(L):
            x[t * L + y] = emission[t * L + y] - top
        log_z += top
    exp_all(x, T * L, s.scratch, s.bits)
    for y in range(L):
        if potentials.start[y] != 0.0:
            x[y] = 0.0
        if potentials.end[y] != 0.0:
            x[(T - 1) * L + y] = 0.0
    matrix = s.matrix[0]
    for t in range(T):
        if t == 0:
            for y in range(L):
                alpha[y] = 1.0
        else:
            _multiply(alpha, (t - 1) * L, matrix, alpha, t * L, L)
        total = 0.0
        for y in range(L):
            v = alpha[t * L + y] * x[t * L + y]
            alpha[t * L + y] = v
            total += v
        if not total > 1e-200:
            return -np.inf
        log_z += np.log(total)
        s.scratch[t] = 1.0 / total
        for y in range(L):
            alpha[t * L + y] *= s.scratch[t]
    return log_z


@inline
def _log_z(s, potentials, T, L):
    """log Z at the weights tried; ``s.x`` and ``s.alpha`` are void if it had to use logarithms."""
    z = _scaled_forward(s, potentials, T, L)
    if z == -np.inf:
        z = sum_labellings(
            s.emission, s.transition, 0, potentials.start, potentials.end,
            s.alpha, s.beta, s.scratch, T, L,
        )  # fmt: skip
    return z


@inline
def _expect(s, potentials, sign, T, L):
    """log Z; s.beta = marginals of the labels; s.both += sign * expected pairs of labels."""
    z = _scaled_forward(s, potentials, T, L)
    x, alpha, beta = s.x, s.alpha, s.beta
    mass = 0.0
    if z > -np.inf:
        for y in range(L):
            beta[(T - 1) * L + y] = 1.0
        for t in range(T - 1, -1, -1):
            for y in range(L):
                v = beta[t * L + y]
                x[t * L + y] *= v * s.scratch[t]
                beta[t * L + y] = v * alpha[t * L + y]
            if t > 0:
                _multiply(x, t * L, s.matrix[1], beta, (t - 1) * L, L)
        for y in range(L):
            mass += beta[y]
    if abs(mass - 1.0) < 1e-7:
        for t in range(1, T):
            for p in range(L):
                v = sign * alpha[(t - 1) * L + p]
                i, j = np.uint64(p * L), np.uint64(t * L)
                for y in range(np.uint64(L)):
                    s.both[i + y] += v * s.matrix[0, i + y] * x[j + y]
        return z
    emission, transition = s.emission, s.transition
    z = sum_labellings(
        emission, transition, 0, potentials.start, potentials.end, alpha, beta, s.scratch, T, L
    )
    for t in range(1, T):
        for p in range(L):
            for y in range(L):
                s.both[p * L + y] += sign * np.exp(
                    alpha[(t - 1) * L + p] + transition[p * L + y] + emission[t * L + y]
                    + beta[t * L + y] - z
                )  # fmt: skip
    for k in range(T * L):
        beta[k] = np.exp(alpha[k] + beta[k] - z)
    return z


@inline
def _set_transitions(s, potentials, pair, values, at, L):
    """Scores and their exponentials, from the last weights of ``values``."""
    for p in range(L):
        for y in range(L):
            s.transition[p * L + y] = potentials.transition[p, y]
    for k in range(pair.shape[0]):
        s.transition[pair[k, 0] * L + pair[k, 1]] += values[at + k]
    for p in range(L):
        for y in range(L):
            v = np.exp(s.transition[p * L + y])
            s.matrix[0, p * L + y] = v
            s.matrix[1, y * L + p] = v


@inline
def _pay(w, due, received):
    """Equations 10 and 11: a weight pays what it owes, never past zero."""
    if w > 0.0:
        return max(0.0, w - (due + received))
    if w < 0.0:
        return min(0.0, w + (due - received))
    return w


@inline
def _gold_score(s, gold, T, L):
    score = s.emission[gold[0]]
    for t in range(1, T):
        score += s.emission[t * L + gold[t]] + s.transition[gold[t - 1] * L + gold[t]]
    return score


@kernel
def descend(
    token,
    gold,
    sequence_weight,
    start,
    feature,
    value,
    first,
    label,
    pair,
    potentials,
    schedule,
    order,
    begin,
    end,
    s,
):
    """Visit the sequences ``order[begin:end]``; the arrays are :class:`.CRFObjective`'s."""  # fmt: skip
    L = potentials.cost.shape[0]
    Q = pair.shape[0]
    K = s.weight.shape[0] - Q
    penalty = schedule.c1 / schedule.n_sequences
    decay2 = 2.0 * schedule.c2 / schedule.n_sequences
    for j in range(begin, end):
        i = order[j]
        at = token[i]
        T = token[i + 1] - at
        seen = np.int64(s.clock[0])
        s.clock[0] += 1.0
        rate = schedule.eta0 * schedule.decay ** (seen / schedule.n_sequences)
        due = s.clock[1]
        if T == 0:
            s.clock[1] = due + rate * penalty
            continue
        labels = gold[at : at + T]
        partial = False
        for t in range(T):
            partial = partial or labels[t] < 0

        # The weights of the sequence, each once: labels, then transitions.
        n = 0
        for e in range(start[at], start[at + T]):
            f = feature[e]
            if s.stamp[f] != seen:
                s.stamp[f] = seen
                s.place[f] = n
                for k in range(first[f], first[f + 1]):
                    s.local[n] = k
                    s.trial[n] = s.weight[k]
                    s.gradient[n] = 0.0
                    n += 1
        m = n
        for k in range(Q):
            s.local[n] = K + k
            s.trial[n] = s.weight[K + k]
            s.gradient[n] = 0.0
            n += 1

        # Equation 9: expectations given the labels minus expectations, for the sequence at hand.
        _emit(start, feature, value, first, label, at, T, L, s.place, s.trial, s.emission)
        _set_transitions(s, potentials, pair, s.trial, m, L)
        for k in range(L * L):
            s.both[k] = 0.0
        right = 0.0
        if partial:
            clamp(labels, L, s.emission)
            right = _expect(s, potentials, 1.0, T, L)
            for t in range(T):
                for e in range(start[at + t], start[at + t + 1]):
                    f = feature[e]
                    v = value[e] if value.shape[0] > 0 else 1.0
                    for k in range(first[f], first[f + 1]):
                        s.gradient[s.place[f] + k - first[f]] += v * s.beta[t * L + label[k]]
            _emit(start, feature, value, first, label, at, T, L, s.place, s.trial, s.emission)
        else:
            right = _gold_score(s, labels, T, L)
            for t in range(1, T):
                s.both[labels[t - 1] * L + labels[t]] += 1.0
        _augment(labels, potentials.cost, L, s.emission)
        best = _expect(s, potentials, -1.0, T, L) - right
        if not partial:
            for t in range(T):
                s.beta[t * L + labels[t]] -= 1.0
        for t in range(T):
            for e in range(start[at + t], start[at + t + 1]):
                f = feature[e]
                v = value[e] if value.shape[0] > 0 else 1.0
                o = s.place[f] - first[f]
                for k in range(first[f], first[f + 1]):
                    s.gradient[np.uint64(o + k)] -= v * s.beta[np.uint64(t * L + label[k])]
        for k in range(Q):
            s.gradient[m + k] = s.both[pair[k, 0] * L + pair[k, 1]]
        weight = sequence_weight[i]
        for k in range(n):
            s.gradient[k] = weight * s.gradient[k] - decay2 * s.trial[k]

        if schedule.max_trials > 1:  # algorithm 1
            best = weight * best
            for k in range(n):
                best += penalty * abs(s.trial[k]) + 0.5 * decay2 * s.trial[k] ** 2
            initial, best, tried, chosen, failed = best, np.inf, rate, rate, False
            for _ in range(schedule.max_trials):
                owed = due + tried * penalty
                now = 0.0
                for k in range(n):
                    w = s.weight[s.local[k]] + tried * s.gradient[k]
                    w = _pay(w, owed, s.received[s.local[k]])
                    s.trial[k] = w
                    now += penalty * abs(w) + 0.5 * decay2 * w * w
                _emit(start, feature, value, first, label, at, T, L, s.place, s.trial, s.emission)
                _set_transitions(s, potentials, pair, s.trial, m, L)
                if partial:
                    clamp(labels, L, s.emission)
                    right = _log_z(s, potentials, T, L)
                    _emit(start, feature, value, first, label, at, T, L, s.place, s.trial, s.emission)
                else:
                    right = _gold_score(s, labels, T, L)
                _augment(labels, potentials.cost, L, s.emission)
                now += weight * (_log_z(s, potentials, T, L) - right)
                if now < best:
                    best, chosen = now, tried
                if now > initial and not failed:
                    failed = True
                    tried = rate * CHANGE
                else:
                    tried = tried * CHANGE if failed else tried / CHANGE
            rate = chosen

        due += rate * penalty
        s.clock[1] = due
        for k in range(n):
            o = s.local[k]
            before = s.weight[o] + rate * s.gradient[k]
            after = _pay(before, due, s.received[o])
            s.received[o] += after - before
            s.weight[o] = after


@kernel
def settle(s):
    """Let every weight pay what it owes."""
    for k in range(s.weight.shape[0]):
        before = s.weight[k]
        s.weight[k] = _pay(before, s.clock[1], s.received[k])
        s.received[k] += s.weight[k] - before


def stochastic_passes(objective, n_passes, eta0=0.3, decay=0.5, line_search=False, max_trials=3,
                      seed=0, weights=None, callback=None, keeper=None, interrupt=None):  # fmt: skip
    """Stage one.

    Parameters
    ----------
    objective : CRFObjective
    n_passes : int
    eta0, decay : float
        Equation 12.
    line_search : bool
    max_trials : int
        Rates tried for each sequence.
    seed : int
        Of the order of the sequences.
    weights : ndarray or None
        Where to start.
    callback : callable or None
        Called as ``callback(weights)`` after each pass; stops if it returns true.
    keeper : object, optional
        As of :func:`.working_set.active_orthant`; gets the state after each pass.
    interrupt : DeferredInterrupt, optional
        Ends a pass in the middle, which is then the last.

    Returns
    -------
    weights : ndarray of shape (objective.size,)
        Weights of observation-conditioned transitions stay zero.
    """
    o = objective
    state = new_sgd(o)
    if weights is not None:
        state.weight[:] = weights[: state.weight.shape[0]]
    n = o.lengths.shape[0]
    schedule = Schedule(
        float(eta0), float(decay), max(n, 1), o.c1, o.c2, int(max_trials) if line_search else 1
    )
    random = np.random.RandomState(seed)
    n_done = 0
    if keeper is not None and keeper.found is not None:
        for name, array in arrays_of(state, "sgd").items():  # in place: two of them share memory
            array[:] = keeper.found[1][name]
        n_done = keeper.found[0]["n_done"]
    for k in range(n_passes):
        order = random.permutation(n)
        if k < n_done:
            continue
        bounds, stopped = chunks(order, o.lengths), False
        for begin, end in zip(bounds, bounds[1:]):
            descend(
                o.token, o.gold, o.sequence_weight, o.start, o.feature, o.value, o.first, o.pair_label,
                o.pair, o.potentials, schedule, order, begin, end, state,
            )  # fmt: skip
            stopped = interrupt is not None and interrupt.count > 0
            if stopped:
                break
        if (callback is not None and callback(state.weight)) or stopped:
            break
        if keeper is not None:
            keeper.offer({"n_done": k + 1}, arrays_of(state, "sgd"))
    settle(state)
    out = np.zeros(o.size)
    out[: state.weight.shape[0]] = state.weight
    return out
