"""Stage one: stochastic gradient descent with a cumulative L1 penalty.

After Tsuruoka, Tsujii and Ananiadou (2009), as in the two-stage paper: a weight moves
only when one of its features is in the sequence at hand (equation 9), and then the L1
penalty of all steps since it last moved is applied, too (equations 10 and 11):

    λ ← max(0, λ - (z + q)) if λ > 0,  min(0, λ + (z - q)) if λ < 0

with z the penalty due to each weight so far, and q what this one has received. The
learning rate is ``η_j = η_0 α^(j/N)`` (equation 12) for the j-th of N sequences a pass,
and with ``line_search`` the best of a few rates around it: algorithm 1, which tries the
step on the sequence itself (equation 14).

Differs from the paper: after the last pass the pending penalty is applied to every
weight. Otherwise features that the last sequences lack would keep weights that the
penalty has long used up.

An L2 penalty shrinks all weights in each step, by the factor 1 / (1 + 2 η c2 / N). So
weights, and the L1 penalty z, are stored over the product of these factors, the
*scale*. Before stage two L2 acts on the features of the sequence only.

Here a gradient is that of the log-likelihood, which a step goes along: counts given the
labels minus expected counts (equation 9). Elsewhere in the solver it is the gradient of
the objective, which is minimised.

Letters: T tokens, L labels, t token, y label, p previous label, f feature, k weight, n
weights of the sequence at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._chain.forward_backward import clamp
from ..._chain.token_scores import add_costs
from ..._chain.viterbi import path_score
from ..._core.compile import inline, kernel, spliced
from ..._core.store import SMALLEST_SCALE
from ..._training.epochs import chunks
from .corpus_sums import Occurrences, Potentials, Sequences
from .sequence_sums import (
    NO,
    YES,
    Scores,
    expect_sequence,
    log_partition,
    new_scores,
    set_emissions,
    set_transitions,
)
from .token_features import features_of

if TYPE_CHECKING:
    from .objective import CRFObjective
    from .sequence_sums import Switch
    from .solve import Progress, SolverOptions

CHANGE = 0.5
"""What algorithm 1 multiplies or divides rates by."""
SEEN = 0
DUE = 1
SCALE = 2
"""Elements of ``Sgd.clock``: sequences seen, the penalty z that is due to each weight,
over the scale; the scale.
"""


class Sgd(NamedTuple):
    """State and scratch; F features, K pairs of a feature and a label, Q pairs of
    labels.

    The arrays of length n are of the weights of the sequence at hand, each once: first
    those of its features, then those of all pairs of labels.
    """

    # (K + Q,) float64: pairs of feature and label, then pairs of labels; over the
    # scale
    weight: np.ndarray
    # (K + Q,) float64: the penalty q that each has received, with its sign; over the
    # scale
    received: np.ndarray
    clock: np.ndarray  # (3,) float64: see SEEN, DUE and SCALE
    stamp: np.ndarray  # (F,) int64: the mark of the last visit a feature was met in
    place: np.ndarray  # (F,) int64: where its pairs begin in the next three
    local: np.ndarray  # (n,) int64: the indices of the weights
    gradient: np.ndarray  # (n,) float64: of the log-likelihood
    # (n,) float64: the values of the weights: as they are, and then in a line search as
    # they would be after a step
    trial: np.ndarray
    # (L * L,) float64: p * L + y: how often y follows p in the sequence at hand, given
    # the labels, minus how often it is expected to
    expected_pairs: np.ndarray
    scores: Scores


STATE = "sgd.weight", "sgd.received", "sgd.clock"
"""The names in a checkpoint of the first three fields, which is what it takes to go on.
"""


class SgdCorpus(NamedTuple):
    """What to learn from: S sequences."""

    sequences: Sequences
    partial: np.ndarray  # (S,) bool: whether a sequence has tokens without a label
    features: Occurrences
    label_pair: np.ndarray  # (Q, 2) int64: previous label, next label
    potentials: Potentials


class Schedule(NamedTuple):
    """How to descend.

    Penalties are divided by the number of sequences: each step pays one share.
    """

    eta0: float
    decay: float  # of the learning rate, in a pass
    n_sequences: int  # of a pass
    penalty: float  # c1 / n_sequences
    # 2 c2 / n_sequences, or 0: acts on the weights of the sequence at hand only
    weight_decay: float
    shrink: float  # 0, or 2 c2 / n_sequences: acts on all weights
    max_trials: int  # learning rates tried for each sequence; 1: no line search


def new_sgd(objective: CRFObjective) -> Sgd:
    """Make a state at weight zero, with scratch for the corpus of ``objective``."""
    s = objective.sequences
    L = objective.n_labels
    features = objective.features
    Q = objective.label_pair.shape[0]
    size = objective.n_pairs + Q
    room = objective.n_pairs
    if not features.dense:
        # No sequence has more features than this, and no feature more pairs.
        longest = np.diff(features.start[s.token]).max(initial=0)
        most = longest * np.diff(objective.first).max(initial=0)
        room = min(room, int(most))
    weight, received = np.zeros((2, size))
    gradient, trial = np.zeros((2, room + Q))
    return Sgd(
        weight,
        received,
        clock=np.array([0.0, 0.0, 1.0]),
        stamp=np.full(objective.n_features, -1, np.int64),
        place=np.zeros(objective.n_features, np.int64),
        local=np.zeros(room + Q, np.int64),
        gradient=gradient,
        trial=trial,
        expected_pairs=np.zeros(L * L),
        scores=new_scores(int(s.lengths.max(initial=1)), L),
    )


def new_schedule(objective: CRFObjective, options: SolverOptions) -> Schedule:
    """Say how to descend to the minimum of an objective.

    Before stage two L2 acts on the weights of the sequence at hand only.
    """
    n = max(objective.sequences.order.shape[0], 1)
    alone = options.solver == "sgd"
    eta0 = objective.learning_rate() if options.eta0 == "auto" else float(options.eta0)
    return Schedule(
        eta0,
        float(options.decay),
        n,
        objective.c1 / n,
        2.0 * (0.0 if alone else objective.c2) / n,
        2.0 * (objective.c2 if alone else 0.0) / n,
        int(options.max_trials) if options.line_search else 1,
    )


@inline
def apply_penalty(w: float, due: float, received: float) -> float:
    """Equations 10 and 11: apply the penalty that is due and not received, never past
    zero.
    """
    if w > 0.0:
        return max(0.0, w - (due + received))
    if w < 0.0:
        return min(0.0, w + (due - received))
    return w


@spliced
def _add_weights(begin: int, end: int, n: int, s: Sgd) -> int:
    """List the weights ``begin <= k < end``, with their values, behind n others.

    Returns how many there are then.
    """
    for k in range(begin, end):
        s.local[n] = k
        s.trial[n] = s.clock[SCALE] * s.weight[k]
        s.gradient[n] = 0.0
        n += 1
    return n


@inline
def _gather(
    features: Occurrences, token: int, T: int, mark: int, s: Sgd
) -> tuple[int, int]:
    """List the weights of the T tokens from ``token`` on, each once: pairs of a feature
    and a label, then pairs of labels.

    Returns (n_states, n): how many there are of the former, and of both. ``mark`` is a
    number that no call has had before: features with this stamp are listed.
    """
    lists = features.lists
    first = features.first
    n = 0
    for t in range(T):
        begin, end, feature, _ = features_of(lists, lists.dense, token, t, T)
        for e in range(begin, end):
            f = feature[e]
            if s.stamp[f] != mark:
                s.stamp[f] = mark
                s.place[f] = n
                n = _add_weights(first[f], first[f + 1], n, s)
    return n, _add_weights(features.label.shape[0], s.weight.shape[0], n, s)


@inline
def _add_marginals(
    features: Occurrences, token: int, T: int, L: int, sign: float, s: Sgd
) -> None:
    """s.gradient[k] += sign Σ_t x_tf p_t(y), for the weight k of feature f and label y.

    The p are in ``s.scores.lattice.beta`` (T * L,): the marginals of the labels, where
    :func:`.expect_sequence` left them, or their differences from the labels given.
    """
    lists = features.lists
    first = features.first
    label = features.label
    beta = s.scores.lattice.beta
    for t in range(T):
        begin, end, feature, value = features_of(lists, lists.dense, token, t, T)
        for e in range(begin, end):
            f = feature[e]
            v = sign * (value[e] if value.shape[0] > 0 else 1.0)
            o = s.place[f] - first[f]
            for k in range(first[f], first[f + 1]):
                s.gradient[np.uint64(o + k)] += v * beta[np.uint64(t * L + label[k])]


@inline
def _differentiate(
    corpus: SgdCorpus,
    labels: np.ndarray,
    token: int,
    with_fallback: Switch,
    partial: bool,
    n_states: int,
    s: Sgd,
) -> float:
    """Equation 9, for the sequence at hand: its counts given the labels minus its
    expected counts.

    Fills ``s.gradient`` at the weights in ``s.trial``, of which the first ``n_states``
    are those of features. ``labels`` (T,) are those of the T tokens from ``token`` on;
    ``partial``: some are not given. Returns the negative log-likelihood, or NaN: see
    :func:`.sequence_sums.expect_sequence`.
    """
    features = corpus.features
    potentials = corpus.potentials
    label_pair = corpus.label_pair
    sets = corpus.sequences.sets
    L = potentials.cost.shape[0]
    T = labels.shape[0]
    scores = s.scores
    set_emissions(features, token, T, L, s)
    set_transitions(potentials, label_pair, n_states, L, s)
    for k in range(L * L):
        s.expected_pairs[k] = 0.0
    log_z_clamped = 0.0  # of the labellings that agree with the labels given
    if len(with_fallback) > 0:
        if partial:
            clamp(labels, sets, L, scores.emission)
            log_z_clamped = expect_sequence(s, potentials, 1.0, with_fallback, T, L)
            _add_marginals(features, token, T, L, 1.0, s)
            set_emissions(features, token, T, L, s)
    if not partial:
        log_z_clamped = _score_of(labels, potentials, T, L, scores)
        for t in range(1, T):
            s.expected_pairs[labels[t - 1] * L + labels[t]] += 1.0
    add_costs(labels, sets, potentials.cost, 1.0, L, scores.emission)
    loss = expect_sequence(s, potentials, -1.0, with_fallback, T, L) - log_z_clamped
    if not partial:
        for t in range(T):
            scores.lattice.beta[t * L + labels[t]] -= 1.0
    _add_marginals(features, token, T, L, -1.0, s)
    for k in range(label_pair.shape[0]):
        s.gradient[n_states + k] = s.expected_pairs[
            label_pair[k, 0] * L + label_pair[k, 1]
        ]
    return loss


@inline
def _score_of(
    labels: np.ndarray, potentials: Potentials, T: int, L: int, scores: Scores
) -> float:
    """The log-score of a labelling: log Z of the chain where all labels are given."""
    start = potentials.start
    end = potentials.end
    stride = np.int64(0)
    return path_score(
        scores.emission, scores.transition, stride, start, end, labels, T, L
    )


@inline
def _loss(
    corpus: SgdCorpus,
    labels: np.ndarray,
    token: int,
    partial: bool,
    n_states: int,
    s: Sgd,
) -> float:
    """The negative log-likelihood of the sequence at hand at the weights in
    ``s.trial``; for the arguments see :func:`_differentiate`.
    """
    features = corpus.features
    potentials = corpus.potentials
    sets = corpus.sequences.sets
    L = potentials.cost.shape[0]
    T = labels.shape[0]
    scores = s.scores
    set_emissions(features, token, T, L, s)
    set_transitions(potentials, corpus.label_pair, n_states, L, s)
    if partial:
        clamp(labels, sets, L, scores.emission)
        log_z_clamped = log_partition(scores, potentials, T, L)
        set_emissions(features, token, T, L, s)
    else:
        log_z_clamped = _score_of(labels, potentials, T, L, scores)
    add_costs(labels, sets, potentials.cost, 1.0, L, scores.emission)
    return log_partition(scores, potentials, T, L) - log_z_clamped


@inline
def _search_rate(
    corpus: SgdCorpus,
    schedule: Schedule,
    labels: np.ndarray,
    token: int,
    partial: bool,
    n_states: int,
    n: int,
    weight: float,
    loss: float,
    rate: float,
    s: Sgd,
) -> float:
    """Algorithm 1: the best of a few learning rates around ``rate`` for the sequence at
    hand.

    The sequence counts ``weight`` times, and ``loss`` is its negative log-likelihood at
    the weights as they are: all n in ``s.trial``, which is overwritten.
    """
    penalty = schedule.penalty
    weight_decay = schedule.weight_decay
    due = s.clock[DUE]
    scale = s.clock[SCALE]
    best = weight * loss
    for k in range(n):
        best += penalty * abs(s.trial[k]) + 0.5 * weight_decay * s.trial[k] ** 2
    initial = best
    best = np.inf
    tried = rate
    chosen = rate
    failed = False
    for _ in range(schedule.max_trials):
        due_after = due + tried * penalty / scale
        now = 0.0
        for k in range(n):
            w = s.weight[s.local[k]] + tried * s.gradient[k] / scale
            w = scale * apply_penalty(w, due_after, s.received[s.local[k]])
            s.trial[k] = w
            now += penalty * abs(w) + 0.5 * weight_decay * w * w
        now += weight * _loss(corpus, labels, token, partial, n_states, s)
        if now < best:
            best = now
            chosen = tried
        if now > initial and not failed:
            failed = True
            tried = rate * CHANGE
        else:
            tried = tried * CHANGE if failed else tried / CHANGE
    return chosen


@inline
def _shrink(s: Sgd, amount: float) -> None:
    """Divide all weights by 1 + ``amount``."""
    scale = s.clock[SCALE] / (1.0 + amount)
    if scale < SMALLEST_SCALE:  # else what is stored could overflow
        for k in range(s.weight.shape[0]):
            s.weight[k] *= scale
            s.received[k] *= scale
        s.clock[DUE] *= scale
        scale = 1.0
    s.clock[SCALE] = scale


@kernel
def _descend(
    corpus: SgdCorpus,
    schedule: Schedule,
    order: np.ndarray,
    begin: int,
    end: int,
    with_fallback: Switch,
    s: Sgd,
) -> int:
    """Visit the sequences ``order[begin:end]``; returns the end, or the number of the
    one it stopped before.

    Without ``with_fallback`` it stops where labels are missing or scaled probabilities
    fail, and tries no rates.
    """
    sequences = corpus.sequences
    for j in range(begin, end):
        i = order[j]
        token = sequences.token[i]
        T = sequences.token[i + 1] - token
        seen = np.int64(s.clock[SEEN])
        rate = schedule.eta0 * schedule.decay ** (seen / schedule.n_sequences)
        labels = sequences.gold[token : token + T]
        partial = corpus.partial[i]
        if len(with_fallback) == 0:
            if partial:
                return j
        # A sequence has up to two visits: after one that stops comes one with fallback.
        mark = 2 * seen + len(with_fallback)
        n_states, n = _gather(corpus.features, token, T, mark, s)
        loss = _differentiate(
            corpus, labels, token, with_fallback, partial, n_states, s
        )
        if len(with_fallback) == 0:
            if np.isnan(loss):
                return j
        s.clock[SEEN] += 1.0
        weight = sequences.weight[i]
        for k in range(n):
            s.gradient[k] = weight * s.gradient[k] - schedule.weight_decay * s.trial[k]
        if len(with_fallback) > 0:
            if schedule.max_trials > 1:
                rate = _search_rate(
                    corpus,
                    schedule,
                    labels,
                    token,
                    partial,
                    n_states,
                    n,
                    weight,
                    loss,
                    rate,
                    s,
                )
        _shrink(s, rate * schedule.shrink)
        scale = s.clock[SCALE]
        due = s.clock[DUE] + rate * schedule.penalty / scale
        s.clock[DUE] = due
        for k in range(n):
            o = s.local[k]
            before = s.weight[o] + rate * s.gradient[k] / scale
            after = apply_penalty(before, due, s.received[o])
            s.received[o] += after - before
            s.weight[o] = after
    return end


def descend(
    corpus: SgdCorpus,
    schedule: Schedule,
    order: np.ndarray,
    begin: int,
    end: int,
    s: Sgd,
) -> None:
    """Visit the sequences ``order[begin:end]`` of an :class:`SgdCorpus`."""
    if schedule.max_trials == 1:
        begin = _descend(corpus, schedule, order, begin, end, NO, s)
    if begin < end:
        _descend(corpus, schedule, order, begin, end, YES, s)


def _pay_all(weight: np.ndarray, due: float, received: np.ndarray) -> np.ndarray:
    """Apply the penalty that is due to all weights, as :func:`apply_penalty` to one."""
    # `solve` reports weights that overflowed.
    with np.errstate(invalid="ignore"):
        less = np.maximum(0.0, weight - (due + received))
        more = np.minimum(0.0, weight + (due - received))
        return np.where(weight > 0.0, less, np.where(weight < 0.0, more, weight))


def stochastic_passes(
    objective: CRFObjective,
    options: SolverOptions,
    progress: Progress,
    *,
    seed: int = 0,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Run stage one: passes of stochastic gradient descent.

    Parameters
    ----------
    objective : CRFObjective
    options : SolverOptions
    progress : Progress
        Hears of each pass; an interrupt ends a pass in the middle, which is then the
        last.
    seed : int
        Of the order of the sequences.
    weights : ndarray or None
        Where to start.

    Returns
    -------
    weights : ndarray of shape (objective.size,)
        Observation-conditioned transitions have no weights in stage one: theirs are
        zero.
    """
    state = new_sgd(objective)
    kept = dict(zip(STATE, (state.weight, state.received, state.clock)))
    if weights is not None:  # the scale is 1
        of_conditioned = slice(objective.n_pairs, objective.n_optional)
        state.weight[:] = np.delete(weights, of_conditioned)
    schedule = new_schedule(objective, options)
    sequences = objective.sequences
    lengths = sequences.lengths
    corpus = SgdCorpus(
        sequences,
        np.isin(np.arange(lengths.shape[0]), sequences.partial()),
        objective.all_features,
        objective.label_pair,
        objective.potentials,
    )
    random = np.random.RandomState(seed)

    def current_weights() -> np.ndarray:
        nothing = np.zeros(objective.conditioned_pair.shape[0])
        return np.insert(state.clock[SCALE] * state.weight, objective.n_pairs, nothing)

    n_done = 0
    if progress.found is not None:
        header, arrays = progress.found
        for name, array in kept.items():
            array[:] = arrays[name]
        n_done = header["n_done"]
    for k in range(options.sgd_iter):
        order = random.permutation(lengths.shape[0])
        if k < n_done:
            continue
        bounds = chunks(order, lengths)
        for begin, end in zip(bounds, bounds[1:]):
            descend(corpus, schedule, order, begin, end, state)
            if progress.interrupted:
                break
        if progress.add(current_weights()):
            break
        progress.offer({"n_done": k + 1}, kept)
    state.weight[:] = _pay_all(state.weight, state.clock[1], state.received)
    return current_weights()
