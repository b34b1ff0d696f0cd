"""Kernels for what most users train and predict: small, so that a first use waits for little compilation.

They compute what those of :mod:`.bigram` compute, bit for bit, where weights are full rows, no penalty
is lazy, nothing is noisy, tokens are no dense rows of numbers, and transitions do not look at the input
(:func:`applies_to`). They take few arrays, since each is code to compile, and each helper has few
places that call it, since each may become a copy.

Letters: as in :mod:`.bigram`.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import NO_AVERAGE, NO_NOISE
from ..core.compile import inline, spliced
from ..core.noise import QUIET
from ..core.penalties import decay, has_lazy_penalty, keeps_untouched_weights
from ..core.rules import Difference, clear, emit, step_size
from ..core.store import READ_ONLY, Clock, tick
from ..features.encoded import Bag
from .features import sum_features
from .visit import count_mistakes, note_update


class SmallTask(NamedTuple):
    """The arrays of a ``ChainTask`` that count here."""

    token: np.ndarray
    anchor: np.ndarray
    left: int
    row: np.ndarray  # this and the next two: of ``nodes``
    lo: np.ndarray
    width: np.ndarray
    bag: Bag
    gold: np.ndarray
    weight: np.ndarray | tuple[()] = ()  # in training only, as is the next one
    alive: np.ndarray | tuple[()] = ()  # of node features
    option: np.ndarray | tuple[()] = ()  # in prediction only


class SmallChain(NamedTuple):
    """The arrays of a ``Chain`` that count here; R rows of node features."""

    nodes: np.ndarray  # (R * L,) float64: values
    clock: Clock
    start: np.ndarray
    end: np.ndarray
    bigram: bool = False  # this and what follows in training only
    allowed: np.ndarray | tuple[()] = ()
    cost: np.ndarray | tuple[()] = ()
    edges: np.ndarray | tuple[()] = ()  # (L * L,) float64, or empty
    trigrams: np.ndarray | tuple[()] = ()  # (L * (L + 1) * L,) float64; () in the first order
    node_moment: np.ndarray | tuple[()] = ()  # (R * L,), or empty
    edge_moment: np.ndarray | tuple[()] = ()
    trigram_moment: np.ndarray | tuple[()] = ()


class SmallWork(NamedTuple):
    """Scratch, as in a ``ChainWork``."""

    emission: np.ndarray
    transition: np.ndarray  # in prediction given, and read only
    score: np.ndarray
    labels: np.ndarray | tuple[()] = ()  # (2, T) int32: the target, and the predicted labels
    difference: Difference | tuple[()] = ()  # of node features, then label bigrams, then trigrams
    stats: np.ndarray | tuple[()] = ()


def applies_to(task, chain, rule, noise):
    """Whether the kernels here are for this training, or this prediction."""
    noisy = noise.feature != NO_NOISE or noise.edge != NO_NOISE or noise.token_below > 0
    stores = chain.nodes, chain.edges, chain.trigrams or chain.edges
    full = not any(store.sparse for store in stores)
    return full and not (noisy or has_lazy_penalty(rule) or task.dense or task.edges.row.shape[0])


def _small_task(task, **more):
    nodes = task.nodes
    return SmallTask(
        task.token, task.anchor, task.left, nodes.row, nodes.lo, nodes.width, task.bag, task.gold, **more
    )


def for_training(task, chain, work):
    """(task, chain, noise, work) for the kernel of an epoch; an empty noise says that they are small."""
    task = _small_task(task, weight=task.weight, alive=task.node_alive)
    trigrams = chain.trigrams and (chain.trigrams.value, chain.trigrams.moment)
    value, moment = trigrams or ((), ())
    chain = SmallChain(
        chain.nodes.value, chain.clock, chain.start, chain.end, chain.bigram, chain.allowed, chain.cost,
        chain.edges.value, value, chain.nodes.moment, chain.edges.moment, moment,
    )  # fmt: skip
    work = SmallWork(
        work.emission, work.transition, work.score, work.labels, work.node_difference, work.stats
    )
    return task, chain, (), work


def for_prediction(task, chain, work):
    """(task, chain, noise, work) for a kernel of prediction.

    Where scores are nothing but sums of rows, the least that it takes, and an empty noise, which says so:
    what is for all the rest is then not compiled.
    """
    if not applies_to(task, chain, READ_ONLY, QUIET):
        return task, chain, QUIET, work
    L, scale = chain.start.shape[0], float(chain.clock.scale[0])
    transition = scale * chain.edges.value[: L * L] if chain.bigram else np.zeros(L * L)
    return (
        _small_task(task, option=task.option),
        SmallChain(chain.nodes.value, chain.clock, chain.start, chain.end),
        (),
        SmallWork(work.emission, transition + chain.allowed.ravel(), work.score),
    )


# --------------------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------------------
@inline
def score_tokens(x, i, chain, work):
    """Fill ``work.emission``."""
    L, scale, emission, bag = chain.start.shape[0], chain.clock.scale[0], work.emission, x.bag
    token, anchor = x.token[i], x.anchor[i]
    T, n_anchors = x.token[i + 1] - token, x.anchor[i + 1] - anchor
    sum_features(
        x.row, x.lo, x.width, x.left, anchor, n_anchors, bag.start, bag.row, bag.value, token, T,
        chain.nodes, L, emission,
    )  # fmt: skip
    if scale != 1.0:
        for k in range(T * L):
            emission[k] *= scale


@inline
def score_transitions(chain, transition):
    """Fill ``transition`` (L * L,)."""
    L, scale = chain.start.shape[0], chain.clock.scale[0]
    for p in range(L):
        for y in range(L):
            w = scale * chain.edges[p * L + y] if chain.bigram else 0.0
            transition[p * L + y] = w + chain.allowed[p, y]


@inline
def _emit_row(difference, row, labels, t, x):
    """A node feature in ``Δφ``; its amounts are +x with the gold label and -x with the predicted one."""
    for k in range(2):
        emit(difference, row, labels[k, t], x)
        x = -x


@inline
def emit_nodes(x, i, labels, difference):
    """Node features in ``Δφ``, in the order in which :mod:`.visit` emits them."""
    token, anchor = x.token[i], x.anchor[i]
    T, n_anchors = x.token[i + 1] - token, x.anchor[i + 1] - anchor
    all_alive = x.alive.shape[0] == 0
    for g in range(x.row.shape[0]):
        for a in range(n_anchors):
            row = np.int64(x.row[g, anchor + a])
            if row < 0:
                continue
            t = a - x.left + x.lo[g]
            for s in range(max(0, -t), min(x.width[g], T - t)):
                if labels[0, t + s] != labels[1, t + s] and (all_alive or x.alive[row + s]):
                    _emit_row(difference, row + s, labels, t + s, 1.0)
    if x.bag.start.shape[0] > 1:
        for t in range(T):
            if labels[0, t] == labels[1, t]:
                continue
            for k in range(x.bag.start[token + t], x.bag.start[token + t + 1]):
                row = np.int64(x.bag.row[k])
                if row >= 0 and (all_alive or x.alive[row]):
                    value = x.bag.value[k] if x.bag.value.shape[0] > 0 else 1.0
                    if value != 0.0:
                        _emit_row(difference, row, labels, t, value)


@spliced
def emit_bigrams(labels, T, first, difference):
    """Label bigrams in ``Δφ``, as rows from ``first`` on."""
    for t in range(1, T):
        if labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]:
            x = 1.0
            for k in range(2):
                emit(difference, first + labels[k, t - 1], labels[k, t], x)
                x = -x


@inline
def norm2(difference, begin, end):
    """The sum of the squares of some amounts."""
    total = 0.0
    for entry in range(begin, end):
        total += difference.amount[entry] * difference.amount[entry]
    return total


@inline
def apply(difference, begin, end, first, weights, rule, value, moment, tau):
    """``w += τ Δφ`` along some entries; ``first`` is subtracted from their rows."""
    L = weights.start.shape[0]
    factor, total = tau / weights.clock.scale[0], weights.clock.scale[1]
    averaged = rule.average != NO_AVERAGE
    for entry in range(begin, end):
        place = (difference.row[entry] - first) * L + difference.column[entry]
        dv = factor * difference.amount[entry]
        value[place] += dv
        if averaged:
            moment[place] += dv * total


# --------------------------------------------------------------------------------------------------
# Trigrams of labels
# --------------------------------------------------------------------------------------------------
@inline
def refresh_trigrams(weights, first, n, trigrams):
    """Read the scores of the ``n`` rows from ``first`` on out of the weights of trigrams."""
    L, scale = weights.start.shape[0], weights.clock.scale[0]
    for row in range(first, first + n):
        high, low = -np.inf, np.inf
        for k in range(row * L, (row + 1) * L):
            w = 0.0 + scale * weights.trigrams[k]
            trigrams.score[k] = w
            high, low = max(high, w), min(low, w)
        trigrams.high[row], trigrams.low[row] = high, low


@inline
def _emit_trigrams(labels, T, L, first, difference):
    """Trigram part of ``Δφ``, as rows from ``first`` on."""
    for t in range(1, T):
        differs = labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]
        if differs or (t > 1 and labels[0, t - 2] != labels[1, t - 2]):
            x = 1.0
            for k in range(2):
                a = labels[k, t - 2] if t > 1 else np.int32(-1)
                emit(difference, first + labels[k, t - 1] * (L + 1) + a + 1, labels[k, t], x)
                x = -x


# --------------------------------------------------------------------------------------------------
# Learning
# --------------------------------------------------------------------------------------------------
@inline
def learn(x, i, T, loss, weights, rule, trigrams, work):
    """Learn from the labels that differ: emit, step, tick."""
    difference, clock = work.difference, weights.clock
    zero = np.int64(0)  # a literal would have helpers compiled for it alone
    R, L, mid, last = weights.nodes.shape[0], weights.start.shape[0], zero, zero
    mistakes = count_mistakes(x.gold[x.token[i] : x.token[i + 1]], work.labels[1])
    if mistakes > 0 and loss > 0.0:
        emit_nodes(x, i, work.labels, difference)
        mid = difference.size[0]
        if weights.bigram:
            emit_bigrams(work.labels, T, R, difference)
        last = difference.size[0]
        if len(trigrams) > 0:
            _emit_trigrams(work.labels, T, L, R + L, difference)
        note_update(work.stats, mistakes, loss)
    decay(clock, rule)
    end = difference.size[0]
    if end > 0:
        norm = norm2(difference, zero, mid) + norm2(difference, mid, last)
        if len(trigrams) > 0:
            norm += norm2(difference, last, end)
        tau = step_size(rule, loss, norm) * x.weight[i]
        apply(difference, zero, mid, zero, weights, rule, weights.nodes, weights.node_moment, tau)
        apply(difference, mid, last, R, weights, rule, weights.edges, weights.edge_moment, tau)
        if len(trigrams) > 0:
            apply(
                difference, last, end, R + L, weights, rule, weights.trigrams, weights.trigram_moment, tau
            )
            if keeps_untouched_weights(rule):  # else all are read again
                for entry in range(last, end):
                    refresh_trigrams(weights, difference.row[entry] - (R + L), np.int64(1), trigrams)
        clear(difference)
    tick(clock, rule)
