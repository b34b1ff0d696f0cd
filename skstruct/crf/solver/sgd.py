"""Stage one: stochastic gradient descent with a cumulative L1 penalty.

After Tsuruoka, Tsujii and Ananiadou (2009), as in the two-stage paper: a weight moves only when one of its
features is in the sequence at hand (equation 9), and then the L1 penalty of all steps since it last moved is
applied, too (equations 10 and 11):

    λ ← max(0, λ - (z + q)) if λ > 0,  min(0, λ + (z - q)) if λ < 0

with z the penalty due to each weight so far, and q what this one has received. The learning rate is
``η_j = η_0 α^(j/N)`` (equation 12) for the j-th of N sequences a pass, and with ``line_search`` the
best of a few rates around it: algorithm 1, which tries the step on the sequence itself (equation 14).

Differs from the paper: after the last pass the pending penalty is applied to every weight. Otherwise
features that the last sequences lack would keep weights that the penalty has long used up.

An L2 penalty shrinks all weights in each step, by the factor 1 / (1 + 2 η c2 / N). So weights, and the
L1 penalty z, are stored over the product of these factors, the *scale*. Before stage two L2 acts on the
features of the sequence only.
"""

from typing import NamedTuple

import numpy as np

from ...chain.lattice import clamp
from ...chain.token_scores import add_costs
from ...chain.viterbi import path_score
from ...core.compile import inline, kernel
from ...core.store import SMALLEST_SCALE
from ...training.checkpoint import arrays_of
from ...training.epochs import chunks
from .corpus_sums import Occurrences, Potentials
from .sequence_sums import expect_sequence, log_partition, set_emissions, set_transitions
from .token_features import features_of, most_pairs, new_row

CHANGE = 0.5
"""What algorithm 1 multiplies or divides rates by."""
PIECE = 2**16
"""Numbers that are seen to at a time, so that they stay in the cache."""


class Sgd(NamedTuple):
    """State and scratch; L labels, K pairs of feature and label, T tokens of the longest sequence."""

    weight: np.ndarray  # (K + Q,) float64: pairs of feature and label, then pairs of labels; over the scale
    received: np.ndarray  # (K + Q,) float64: penalty received by each; over the scale
    clock: np.ndarray  # (3,) float64: sequences seen, penalty due z over the scale, scale
    stamp: np.ndarray  # (F,) int64: the mark of the last sequence a feature was met in
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
    row_feature: np.ndarray  # (R + 1,) int32: features of a token, if they are dense rows; else empty
    row_value: np.ndarray  # (R + 1,) float64


class SgdCorpus(NamedTuple):
    """What to learn from; the arrays are :class:`.CRFObjective`'s."""

    token: np.ndarray  # (S + 1,) int64
    gold: np.ndarray  # (N,) int32
    weight: np.ndarray  # (S,) float64
    features: Occurrences
    pair: np.ndarray  # (Q, 2) int64
    potentials: Potentials
    sets: np.ndarray | tuple[()]  # of labels, as in ``ChainTask``


class Schedule(NamedTuple):
    """How to descend."""

    eta0: float
    decay: float
    n_sequences: int
    c1: float
    c2: float  # acts on the weights of a sequence
    shrink: float  # the same, acts on all weights
    max_trials: int  # 1: no line search


def new_sgd(objective):
    """A state at weight zero with scratch for ``objective``'s corpus."""
    L, o = objective.n_labels, objective
    size = o.n_pairs + o.pair.shape[0]
    T = int(o.lengths.max(initial=1))
    room = most_pairs(o.token, o.whole, o.first)
    room = min(room, o.n_pairs) + o.pair.shape[0]
    scratch = np.zeros(max(T, L) * L)
    return Sgd(
        np.zeros(size), np.zeros(size), np.array([0.0, 0.0, 1.0]), np.full(o.n_features, -1, np.int64),
        np.zeros(o.n_features, np.int64), np.zeros(room, np.int64), np.zeros(room), np.zeros(room),
        np.zeros(T * L), np.zeros(T * L), np.zeros(T * L), np.zeros(T * L), scratch,
        scratch.view(np.int64), np.zeros(L * L), np.zeros((2, L * L)), np.zeros(L * L),
        *new_row(o.dense),
    )  # fmt: skip


@inline
def apply_penalty(w, due, received):
    """Equations 10 and 11: apply the penalty that is due and not received, never past zero."""
    if w > 0.0:
        return max(0.0, w - (due + received))
    if w < 0.0:
        return min(0.0, w + (due - received))
    return w


@inline
def _gather(features, pair, at, T, mark, s):
    """List the weights of a sequence, each once: feature-label pairs, then transitions.

    Fills ``s.local``, and ``s.trial`` with values; returns how many pairs and all. No call has had ``mark``.
    """
    first, scale = features.first, s.clock[2]
    n = 0
    for t in range(T):
        begin, end, feature, _ = features_of(
            features.start, features.feature, features.value, features.dense, at, t, T,
            s.row_feature, s.row_value,
        )  # fmt: skip
        for e in range(begin, end):
            f = feature[e]
            if s.stamp[f] != mark:
                s.stamp[f] = mark
                s.place[f] = n
                for k in range(first[f], first[f + 1]):
                    s.local[n] = k
                    s.trial[n] = scale * s.weight[k]
                    s.gradient[n] = 0.0
                    n += 1
    m, Q = n, pair.shape[0]
    K = s.weight.shape[0] - Q
    for k in range(Q):
        s.local[n] = K + k
        s.trial[n] = scale * s.weight[K + k]
        s.gradient[n] = 0.0
        n += 1
    return m, n


@inline
def _add_expected(features, at, T, L, sign, s):
    """s.gradient += sign * the expected counts of features, from the marginals in ``s.beta``."""
    first, label = features.first, features.label
    for t in range(T):
        begin, end, feature, value = features_of(
            features.start, features.feature, features.value, features.dense, at, t, T,
            s.row_feature, s.row_value,
        )  # fmt: skip
        for e in range(begin, end):
            f = feature[e]
            v = sign * (value[e] if value.shape[0] > 0 else 1.0)
            o = s.place[f] - first[f]
            for k in range(first[f], first[f + 1]):
                s.gradient[np.uint64(o + k)] += v * s.beta[np.uint64(t * L + label[k])]


@inline
def _count_missing(labels):
    """How many tokens have no label."""
    missing = np.int64(0)
    for t in range(labels.shape[0]):
        missing += np.int64(labels[t] < 0)
    return missing


@inline
def _differentiate(corpus, labels, at, with_fallback, missing, m, s):
    """Equation 9: expectations given the labels minus expectations, for the sequence at hand.

    Fills ``s.gradient`` from the values in ``s.trial``; returns the negative log-likelihood, or NaN: see
    :func:`.sequence_sums.expect_sequence`.
    """
    features, potentials, pair = corpus.features, corpus.potentials, corpus.pair
    L, T = potentials.cost.shape[0], labels.shape[0]
    set_emissions(features, at, T, L, s)
    set_transitions(potentials, pair, m, L, s)
    for k in range(L * L):
        s.both[k] = 0.0
    right = 0.0
    if len(with_fallback) > 0:
        if missing > 0:
            clamp(labels, corpus.sets, L, s.emission)
            right = expect_sequence(s, potentials, 1.0, with_fallback, T, L)
            _add_expected(features, at, T, L, 1.0, s)
            set_emissions(features, at, T, L, s)
    if missing == 0:
        right = path_score(
            s.emission, s.transition, np.int64(0), potentials.start, potentials.end, labels, T, L
        )
        for t in range(1, T):
            s.both[labels[t - 1] * L + labels[t]] += 1.0
    add_costs(labels, corpus.sets, potentials.cost, L, s.emission)
    loss = expect_sequence(s, potentials, -1.0, with_fallback, T, L) - right
    if missing == 0:
        for t in range(T):
            s.beta[t * L + labels[t]] -= 1.0
    _add_expected(features, at, T, L, -1.0, s)
    for k in range(pair.shape[0]):
        s.gradient[m + k] = s.both[pair[k, 0] * L + pair[k, 1]]
    return loss


@inline
def _loss(corpus, labels, at, missing, m, s):
    """The negative log-likelihood of the sequence at hand under the values in ``s.trial``."""
    features, potentials = corpus.features, corpus.potentials
    L, T = potentials.cost.shape[0], labels.shape[0]
    set_emissions(features, at, T, L, s)
    set_transitions(potentials, corpus.pair, m, L, s)
    if missing > 0:
        clamp(labels, corpus.sets, L, s.emission)
        right = log_partition(s, potentials, T, L)
        set_emissions(features, at, T, L, s)
    else:
        right = path_score(
            s.emission, s.transition, np.int64(0), potentials.start, potentials.end, labels, T, L
        )
    add_costs(labels, corpus.sets, potentials.cost, L, s.emission)
    return log_partition(s, potentials, T, L) - right


@inline
def _search_rate(corpus, labels, at, missing, m, n, weight, penalty, decay2, loss, rate, max_trials, s):
    """Algorithm 1: the best of a few learning rates around ``rate`` for the sequence at hand."""
    due = s.clock[1]
    best = weight * loss
    for k in range(n):
        best += penalty * abs(s.trial[k]) + 0.5 * decay2 * s.trial[k] ** 2
    initial, best, tried, chosen, failed = best, np.inf, rate, rate, False
    scale = s.clock[2]
    for _ in range(max_trials):
        owed = due + tried * penalty / scale
        now = 0.0
        for k in range(n):
            w = s.weight[s.local[k]] + tried * s.gradient[k] / scale
            w = scale * apply_penalty(w, owed, s.received[s.local[k]])
            s.trial[k] = w
            now += penalty * abs(w) + 0.5 * decay2 * w * w
        now += weight * _loss(corpus, labels, at, missing, m, s)
        if now < best:
            best, chosen = now, tried
        if now > initial and not failed:
            failed = True
            tried = rate * CHANGE
        else:
            tried = tried * CHANGE if failed else tried / CHANGE
    return chosen


@inline
def _shrink(s, amount):
    """Divide all weights by 1 + ``amount``."""
    scale = s.clock[2] / (1.0 + amount)
    if scale < SMALLEST_SCALE:  # else what is stored could overflow
        for k in range(s.weight.shape[0]):
            s.weight[k] *= scale
            s.received[k] *= scale
        s.clock[1] *= scale
        scale = 1.0
    s.clock[2] = scale


@kernel
def _descend(corpus, schedule, order, begin, end, with_fallback, s):
    """Visit the sequences ``order[begin:end]``; returns the end, or the number of the one it stopped before.

    With an empty ``with_fallback`` it stops where labels are missing or scaled probabilities fail, and tries
    no rates: what is for that is then not compiled.
    """
    penalty = schedule.c1 / schedule.n_sequences
    decay2 = 2.0 * schedule.c2 / schedule.n_sequences
    shrink = 2.0 * schedule.shrink / schedule.n_sequences
    for j in range(begin, end):
        i = order[j]
        at = corpus.token[i]
        T = corpus.token[i + 1] - at
        seen = np.int64(s.clock[0])
        rate = schedule.eta0 * schedule.decay ** (seen / schedule.n_sequences)
        if T == 0:
            s.clock[0] += 1.0
            _shrink(s, rate * shrink)
            s.clock[1] += rate * penalty / s.clock[2]
            continue
        labels = corpus.gold[at : at + T]
        missing = _count_missing(labels)
        if len(with_fallback) == 0:
            if missing > 0:
                return j
        m, n = _gather(corpus.features, corpus.pair, at, T, 2 * seen + len(with_fallback), s)
        loss = _differentiate(corpus, labels, at, with_fallback, missing, m, s)
        if len(with_fallback) == 0:
            if np.isnan(loss):
                return j
        s.clock[0] += 1.0
        weight = corpus.weight[i]
        for k in range(n):
            s.gradient[k] = weight * s.gradient[k] - decay2 * s.trial[k]
        if len(with_fallback) > 0:
            if schedule.max_trials > 1:
                rate = _search_rate(
                    corpus, labels, at, missing, m, n, weight, penalty, decay2, loss, rate,
                    schedule.max_trials, s,
                )  # fmt: skip
        _shrink(s, rate * shrink)
        scale = s.clock[2]
        due = s.clock[1] + rate * penalty / scale
        s.clock[1] = due
        for k in range(n):
            o = s.local[k]
            before = s.weight[o] + rate * s.gradient[k] / scale
            after = apply_penalty(before, due, s.received[o])
            s.received[o] += after - before
            s.weight[o] = after
    return end


def descend(corpus, schedule, order, begin, end, s):
    """Visit the sequences ``order[begin:end]`` of an :class:`SgdCorpus`."""
    if schedule.max_trials == 1:
        begin = _descend(corpus, schedule, order, begin, end, (), s)
    if begin < end:
        _descend(corpus, schedule, order, begin, end, (1,), s)


def apply_penalties(s):
    """Apply the pending penalty to every weight: :func:`apply_penalty`, piece by piece."""
    for a in range(0, s.weight.shape[0], PIECE):
        weight, received = s.weight[a : a + PIECE], s.received[a : a + PIECE]
        with np.errstate(invalid="ignore"):  # weights that overflowed are reported elsewhere
            less = np.maximum(0.0, weight - (s.clock[1] + received))
            more = np.minimum(0.0, weight + (s.clock[1] - received))
            after = np.where(weight > 0.0, less, np.where(weight < 0.0, more, weight))
            received += after - weight
        weight[:] = after


def stochastic_passes(objective, options, progress, *, seed=0, weights=None):
    """Stage one.

    Parameters
    ----------
    objective : CRFObjective
    options : SolverOptions
    progress : Progress
        Hears of each pass; an interrupt ends a pass in the middle, which is then the last.
    seed : int
        Of the order of the sequences.
    weights : ndarray or None
        Where to start.

    Returns
    -------
    weights : ndarray of shape (objective.size,)
        Weights of observation-conditioned transitions stay zero.
    """
    o = objective
    state, conditioned = new_sgd(o), slice(o.n_pairs, o.n_optional)
    if weights is not None:
        state.weight[:] = np.delete(weights, conditioned)  # the scale is 1
    n = o.lengths.shape[0]
    max_trials = int(options.max_trials) if options.line_search else 1
    eta0 = o.learning_rate() if options.eta0 == "auto" else float(options.eta0)
    c2, shrink = (0.0, o.c2) if options.solver == "sgd" else (o.c2, 0.0)
    schedule = Schedule(eta0, float(options.decay), max(n, 1), o.c1, c2, shrink, max_trials)
    corpus = SgdCorpus(o.token, o.gold, o.sequence_weight, o.whole, o.pair, o.potentials, o.sets)
    random = np.random.RandomState(seed)
    n_done = 0

    def found():
        return np.insert(state.clock[2] * state.weight, o.n_pairs, np.zeros(o.edge_pair.shape[0]))

    if progress.found is not None:
        for name, array in arrays_of(state, "sgd").items():  # in place: two of them share memory
            array[:] = progress.found[1][name]
        n_done = progress.found[0]["n_done"]
    for k in range(options.sgd_iter):
        order = random.permutation(n)
        if k < n_done:
            continue
        bounds = chunks(order, o.lengths)
        for begin, end in zip(bounds, bounds[1:]):
            descend(corpus, schedule, order, begin, end, state)
            if progress.interrupted:
                break
        if progress.add(found()):
            break
        progress.offer({"n_done": k + 1}, arrays_of(state, "sgd"))
    apply_penalties(state)
    return found()
