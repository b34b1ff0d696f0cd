"""The kernels of :mod:`.lean` for label trigrams: what the perceptron learns and tags in the second order.

Letters: as in :mod:`.trigram`.
"""

import numpy as np

from ..core.codes import DONE, RESCALE
from ..core.compile import inline, kernel, spliced
from ..core.penalties import decay, keeps_untouched_weights
from ..core.rules import clear, emit
from ..core.store import SMALLEST_SCALE, tick
from .lean import apply, corpus_of, emit_bigrams, emit_nodes, score, weights_of, work_of
from .lean import serves as serves_bigrams
from .visit import add_costs, count_mistakes, note_update, set_target
from .viterbi_second import viterbi


def serves(task, chain, rule, noise):
    """Whether the kernels here are for this chain; if it is trained, for the perceptron only."""
    return not chain.trigrams.sparse and serves_bigrams(task, chain, rule, noise)


@inline
def _refresh(weights, value, first, n, table):
    """Read the scores of the ``n`` rows from ``first`` on out of the weights of trigrams."""
    L, scale = weights.start.shape[0], weights.clock.scale[0]
    for row in range(first, first + n):
        high, low = -np.inf, np.inf
        for k in range(row * L, (row + 1) * L):
            w = 0.0 + scale * value[k]
            table.score[k] = w
            high, low = max(high, w), min(low, w)
        table.high[row], table.low[row] = high, low


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


@spliced
def _learn(x, i, T, weights, value, moment, work, table):
    """Learn from the labels that differ: emit, step, tick; see :mod:`.lean`."""
    difference, clock, rule, L = work.difference, weights.clock, weights.rule, weights.start.shape[0]
    R = weights.nodes.shape[0]
    mistakes = count_mistakes(x.gold[x.token[i] : x.token[i + 1]], work.labels[1])
    decay(clock, rule)
    if mistakes > 0:
        note_update(work.stats, mistakes, 1.0)
        tau = x.weight[i]
        emit_nodes(x, i, work.labels, difference)
        mid = difference.size[0]
        if weights.bigram:
            emit_bigrams(work.labels, T, R, difference)
        last = difference.size[0]
        _emit_trigrams(work.labels, T, L, R + L, difference)
        end = difference.size[0]
        zero = np.int64(0)  # a literal would have helpers compiled for it alone
        apply(difference, zero, mid, zero, weights, weights.nodes, weights.node_moment, tau)
        apply(difference, mid, last, R, weights, weights.edges, weights.edge_moment, tau)
        apply(difference, last, end, R + L, weights, value, moment, tau)
        if keeps_untouched_weights(rule):  # else all are read again
            for entry in range(last, end):
                _refresh(weights, value, difference.row[entry] - (R + L), np.int64(1), table)
        clear(difference)
    tick(clock, rule)


@kernel
def _epoch(x, order, begin, end, weights, value, moment, work, table):
    L = weights.start.shape[0]
    zero = np.int64(0)
    steady = keeps_untouched_weights(weights.rule)
    for k in range(begin, end):
        if weights.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        i = order[k]
        gold = x.gold[x.token[i] : x.token[i + 1]]
        T = gold.shape[0]
        if k == begin or not steady:
            _refresh(weights, value, zero, L * (L + 1), table)
        score(x, i, weights, work)
        for last in range(np.int64(set_target(gold, work.labels[0])), 2):
            # If labels are missing, their best completion first.
            if last:
                add_costs(gold, weights.cost, L, work.emission)
            viterbi(
                work.emission, work.transition, zero, table, weights.start, weights.end,
                gold[: T * (1 - last)], work.score[0], work.labels[last], T, L,
            )  # fmt: skip
        _learn(x, i, T, weights, value, moment, work, table)
    return DONE, end


@kernel
def _predict(x, begin, end, weights, value, work, table, out, total):
    L = weights.start.shape[0]
    zero = np.int64(0)
    _refresh(weights, value, zero, L * (L + 1), table)
    for i in range(begin, end):
        first, T = x.token[i], x.token[i + 1] - x.token[i]
        total[i] = 0.0
        if T > 0:
            score(x, i, weights, work)
            total[i] = viterbi(
                work.emission, work.transition, zero, table, weights.start, weights.end,
                x.gold[:0], work.score[0], out[first : first + T], T, L,
            )  # fmt: skip


def epoch(task, order, begin, end, chain, rule, work):
    """See :func:`.trigram.epoch`: the perceptron, for what :func:`serves` names."""
    return _epoch(
        corpus_of(task), order, begin, end, weights_of(chain, rule),
        chain.trigrams.value, chain.trigrams.moment, work_of(work), work.trigrams,
    )  # fmt: skip


def predict(task, begin, end, chain, rule, work, out, score):
    """See :func:`.trigram.predict`; for what :func:`serves` names, without options."""
    return _predict(
        corpus_of(task), begin, end, weights_of(chain, rule), chain.trigrams.value, work_of(work),
        work.trigrams, out, score,
    )  # fmt: skip
