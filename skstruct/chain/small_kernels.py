"""Kernels for what most users train and predict: small, so that a first use waits for little compilation.

They compute what those of :mod:`.bigram` compute, bit for bit, where weights are full rows, no penalty
is lazy, nothing is noisy, tokens are no dense rows of numbers, and transitions do not look at the input
(:func:`applies_to`). They take few arrays, since each is code to compile, and each helper has few
places that call it, since each may become a copy.

Letters: as in :mod:`.bigram`.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import NO_NOISE
from ..core.compile import inline, spliced
from ..core.penalties import decay, has_lazy_penalty, keeps_untouched_weights
from ..core.rules import Difference, add_entries, clear, emit, leave_out, step_size, sum_of_squares
from ..core.store import READ_ONLY, Clock, tick
from ..features.encoded import Bag
from .second_order import Trigrams, emit_trigrams, read_rows, read_trigrams
from .token_scores import count_mistakes, note_update, sum_features


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
    sets: np.ndarray | tuple[()] = ()
    node_pairs: np.ndarray | tuple[()] = ()  # in training only, as is the next one
    edge_pairs: np.ndarray | tuple[()] = ()


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


def longest(token):
    """Tokens of the longest sequence, at least 1."""
    if token.shape[0] == 2:
        return max(int(token[1]), 1)
    return int((token[1:] - token[:-1]).max(initial=1))


def has_full_rows(chain):
    """Whether no weights are sparse."""
    return not any(store.sparse for store in (chain.nodes, chain.edges, chain.trigrams or chain.edges))


def are_rows_of_nodes(x):
    """Whether tokens are no dense rows of numbers, and transitions do not look at the input."""
    return not (x.dense or x.edges.row.shape[0])


def applies_to(task, chain, rule, noise):
    """Whether the kernels here are for this training."""
    noisy = noise.feature != NO_NOISE or noise.edge != NO_NOISE or noise.token_below > 0
    return has_full_rows(chain) and are_rows_of_nodes(task) and not (noisy or has_lazy_penalty(rule))


def for_training(task, chain, work):
    """(task, chain, noise, work) for the kernel of an epoch; an empty noise says that they are small."""
    nodes = task.nodes
    task = SmallTask(
        task.token, task.anchor, task.left, nodes.row, nodes.lo, nodes.width, task.bag, task.gold,
        task.weight, task.node_alive, sets=task.sets, node_pairs=task.node_pairs, edge_pairs=task.edge_pairs,
    )  # fmt: skip
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


class FinalChain(NamedTuple):
    """What prediction reads of final weights; the same from call to call."""

    chain: SmallChain
    transition: np.ndarray  # (L * L,) float64
    trigrams: Trigrams | tuple[()]
    plain: tuple  # nodes, scale, start, end, transition and trigrams


def final_chain(chain):
    """The :class:`FinalChain` of a ``Chain`` with full rows."""
    L, scale = chain.start.shape[0], float(chain.clock.scale[0])
    transition = scale * chain.edges.value[: L * L] if chain.bigram else np.zeros(L * L)
    small = SmallChain(chain.nodes.value, chain.clock, chain.start, chain.end)
    given = transition + chain.allowed.ravel(), read_trigrams(chain.trigrams, scale)
    return FinalChain(small, *given, (small.nodes, scale, chain.start, chain.end, *given))


def rows_of(x, token):
    """What small kernels read of an encoded corpus, or a task: ``predict_small`` takes it first."""
    return token, x.anchor, x.left, *x.nodes[:3], *x.bag


def _scratch(token, final):
    (L,), T = final.chain.start.shape, longest(token)
    return np.empty(T * L), final.transition, np.empty((1, T * (L * L if final.trigrams else L)))


def for_prediction(rows, gold, option, final, sets=()):
    """What a kernel that serves all kinds of chains takes of :func:`rows_of` a corpus."""
    task = SmallTask(*rows[:6], Bag(*rows[6:]), gold, option=option, sets=sets)
    return task, final.chain, READ_ONLY, (), final.trigrams, SmallWork(*_scratch(task.token, final))


def for_predict_small(rows, option, final):
    """What :func:`.chain_epoch.predict_small` takes, which is for nothing else."""
    emission, _, scratch = _scratch(rows[0], final)
    return *rows, option if option.shape[0] else (), *final.plain, emission, scratch[0]


# --------------------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------------------
@spliced
def score_tokens(x, i, chain, emission):
    """Fill ``emission`` for sequence i."""
    L, scale, bag, first, anchor = chain.start.shape[0], chain.clock.scale[0], x.bag, x.token[i], x.anchor[i]
    T = x.token[i + 1] - first
    sum_features(
        x.row, x.lo, x.width, x.left, anchor, x.anchor[i + 1] - anchor, bag.start, bag.row, bag.value,
        first, T, chain.nodes, L, emission,
    )  # fmt: skip
    if scale != 1.0:
        for k in range(T * L):
            emission[k] *= scale


@spliced
def score_transitions(chain, transition):
    """Fill ``transition`` (L * L,)."""
    edges, allowed, bigram = chain.edges, chain.allowed, chain.bigram
    L, scale = chain.start.shape[0], chain.clock.scale[0]
    for p in range(L):
        for y in range(L):
            transition[p * L + y] = (scale * edges[p * L + y] if bigram else 0.0) + allowed[p, y]


# --------------------------------------------------------------------------------------------------
# Learning
# --------------------------------------------------------------------------------------------------
@inline
def _emit_row(difference, row, labels, t, x):
    """A node feature in ``Δφ``; its amounts are +x with the gold label and -x with the predicted one."""
    for k in range(2):
        emit(difference, row, labels[k, t], x)
        x = -x


@inline
def _emit_nodes(rows, lo, width, left, anchor, n_anchors, bag, token, T, alive, labels, difference):
    """Node features in ``Δφ``, in the order in which :mod:`.token_scores` emits them."""
    all_alive, bag_start, bag_row, value = alive.shape[0] == 0, bag.start, bag.row, bag.value
    for g in range(rows.shape[0]):
        for a in range(n_anchors):
            row, first = np.int64(rows[g, anchor + a]), a - left + lo[g]
            if row >= 0:
                for s in range(width[g]):
                    t = first + s
                    if 0 <= t < T and labels[0, t] != labels[1, t] and (all_alive or alive[row + s]):
                        _emit_row(difference, row + s, labels, t, 1.0)
    if bag_start.shape[0] > 1:
        for t in range(T):
            if labels[0, t] == labels[1, t]:
                continue
            for k in range(bag_start[token + t], bag_start[token + t + 1]):
                row = np.int64(bag_row[k])
                if row >= 0 and (all_alive or alive[row]):
                    x = value[k] if value.shape[0] > 0 else 1.0
                    if x != 0.0:
                        _emit_row(difference, row, labels, t, x)


@spliced
def emit_difference(x, i, T, chain, work):
    """Emit ``Δφ`` but for its trigrams; returns where its label bigrams begin."""
    difference, labels, token, anchor = work.difference, work.labels, x.token[i], x.anchor[i]
    _emit_nodes(
        x.row, x.lo, x.width, x.left, anchor, x.anchor[i + 1] - anchor, x.bag, token, T, x.alive,
        labels, difference,
    )  # fmt: skip
    mid, R = difference.size[0], chain.nodes.shape[0]
    for t in range(1, T if chain.bigram else 1):
        if labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]:
            a = 1.0
            for k in range(2):
                emit(difference, R + labels[k, t - 1], labels[k, t], a)
                a = -a
    return mid


@inline
def learn(x, i, gold, loss, chain, rule, trigrams, margin, work):
    """Learn from the labels that differ: emit, step, tick."""
    difference, labels, clock, T = work.difference, work.labels, chain.clock, gold.shape[0]
    zero = np.int64(0)  # a literal would have helpers compiled for it alone
    R, L, mid, last = chain.nodes.shape[0], chain.start.shape[0], zero, zero
    mistakes = count_mistakes(gold, x.sets, labels[1])
    if mistakes > 0 and loss > 0.0:
        mid = emit_difference(x, i, T, chain, work)
        last = difference.size[0]
        leave_out(difference, zero, mid, zero, L, x.node_pairs)
        leave_out(difference, mid, last, R, L, x.edge_pairs)
        if len(trigrams) > 0:
            emit_trigrams(labels, T, L, R + L, zero, (), difference)
        note_update(work.stats, mistakes, loss)
    decay(clock, rule)
    end = difference.size[0]
    if end > 0:
        tau = x.weight[i]
        if len(margin) > 0:
            norm = sum_of_squares(difference.amount, zero, mid) + sum_of_squares(difference.amount, mid, last)
            norm += sum_of_squares(difference.amount, last, end)
            tau *= step_size(rule, loss, norm)
        factor, total = tau / clock.scale[0], clock.scale[1]
        add_entries(difference, zero, mid, zero, L, factor, total, chain.nodes, chain.node_moment)
        add_entries(difference, mid, last, R, L, factor, total, chain.edges, chain.edge_moment)
        if len(trigrams) > 0:
            add_entries(difference, last, end, R + L, L, factor, total, chain.trigrams, chain.trigram_moment)
            if keeps_untouched_weights(rule):  # else all are read again
                for entry in range(last, end):
                    row = difference.row[entry] - (R + L)
                    read_rows(chain.trigrams, clock.scale[0], row, np.int64(1), L, trigrams)
        clear(difference)
    tick(clock, rule)
