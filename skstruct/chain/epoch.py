"""Epochs and prediction of chains of both orders.

One text is for all kinds of arguments, and numba leaves out of a kernel what its arguments do not need. With
an empty ``noise`` they are the few arrays of :mod:`.small_kernels`, for what most users train and predict;
with empty ``trigrams`` the chain is of the first order; with an empty ``margin`` it is trained by the
perceptron, which looks for the best labelling only.

Letters: as in :mod:`.bigram`.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import DONE, PERCEPTRON, POOL_FULL, RESCALE
from ..core.compile import inline, kernel
from ..core.rules import begin_step, clear, end_step, room_for
from ..core.store import SMALLEST_SCALE
from . import bigram, small_kernels, trigram
from .bigram import forbid, is_plain, score_sequence, stride_of
from .dense import apply_dense, clear_dense, dense_norm
from .small_kernels import small_chain, small_task, small_work
from .trigram import emit_trigrams, is_steady, read_trigrams, refresh
from .visit import add_costs, count_mistakes, emit_features, note_update, set_target
from .viterbi import path_score, viterbi, viterbi_wrong
from .viterbi_second import trigram_score
from .viterbi_second import viterbi as viterbi_second
from .viterbi_second import viterbi_wrong as viterbi_wrong_second


class Structure(NamedTuple):
    """What ``training.epochs`` and models know of a chain of one order."""

    STORES: tuple
    new_work: object
    epoch: object
    predict: object


@inline
def _decode(work, stride, trigrams, chain, forced, path, T, L):
    """Write the best labelling to ``path``; returns its score. See :func:`.viterbi.viterbi`."""
    if len(trigrams) > 0:
        return viterbi_second(
            work.emission, work.transition, stride, trigrams, chain.start, chain.end,
            forced, work.score[0], path, T, L,
        )  # fmt: skip
    return viterbi(
        work.emission, work.transition, stride, chain.start, chain.end, forced, work.score[0], path, T, L
    )


@inline
def _decode_wrong(work, stride, trigrams, chain, gold, T, L):
    """Write the best wrong labelling to ``work.labels[1]``; returns its score."""
    if len(trigrams) > 0:
        return viterbi_wrong_second(
            work.emission, work.transition, stride, trigrams, chain.start, chain.end,
            gold, work.score[0], work.score[1], work.labels[1], T, L,
        )  # fmt: skip
    return viterbi_wrong(
        work.emission, work.transition, stride, chain.start, chain.end,
        gold, work.score[0], work.score[1], work.labels[1], T, L,
    )  # fmt: skip


@inline
def _score_target(work, stride, trigrams, chain, T, L):
    """The score of the labels to learn."""
    labels = work.labels[0]
    right = path_score(work.emission, work.transition, stride, chain.start, chain.end, labels, T, L)
    if len(trigrams) > 0:
        right += trigram_score(trigrams, labels, T, L)
    return right


@inline
def _has_room(task, chain, trigrams, work):
    """Whether the stores take the update; if not, it is dropped."""
    room = room_for(work.node_difference, chain.nodes) and room_for(work.edge_difference, chain.edges)
    if len(trigrams) > 0:
        room = room and room_for(work.trigram_difference, chain.trigrams)
    if not room:
        clear(work.node_difference)
        clear(work.edge_difference)
        if len(trigrams) > 0:
            clear(work.trigram_difference)
        clear_dense(task.dense, work.dense)
    return room


@inline
def _learn(task, i, gold, loss, n_nodes, n_edges, chain, rule, noise, trigrams, steady, work):
    """Learn from the labels that differ: emit, step, tick. False, and nothing done, if a pool is too full."""
    L, T = chain.nodes.columns, gold.shape[0]
    mistakes = count_mistakes(gold, work.path)
    if mistakes > 0 and loss > 0.0:
        emit_features(task, i, chain, noise, n_nodes, n_edges, work)
        if len(trigrams) > 0:
            step = chain.clock.step[0]
            emit_trigrams(work.target, work.path, T, L, step, noise, work.trigram_difference)
        if not _has_room(task, chain, trigrams, work):
            return False
        note_update(work.stats, mistakes, loss)
    norm2 = dense_norm(task.dense, task.token[i], T, work.target, work.path, rule, work.dense)
    if len(trigrams) > 0:
        changed = work.trigram_difference.size[0]
        three = work.node_difference, work.edge_difference, work.trigram_difference
        tau = begin_step(three, chain.clock, rule, loss, task.weight[i], norm2)
        apply_dense(task.dense, chain.nodes, chain.clock, rule, tau, work.dense)
        end_step(three, (chain.nodes, chain.edges, chain.trigrams), chain.clock, rule, tau)
        for entry in range(changed if steady else 0):  # an empty difference still holds the rows it had
            row = work.trigram_difference.row[entry]
            refresh(chain, rule, noise, row, np.int64(1), trigrams, work)
    else:
        two = work.node_difference, work.edge_difference
        tau = begin_step(two, chain.clock, rule, loss, task.weight[i], norm2)
        apply_dense(task.dense, chain.nodes, chain.clock, rule, tau, work.dense)
        end_step(two, (chain.nodes, chain.edges), chain.clock, rule, tau)
    return True


@kernel
def _epoch(task, order, begin, end, chain, rule, noise, trigrams, margin, work):
    """Visit the examples ``order[begin:end]`` in turn: decode, step, tick.

    Perceptron: if the best labelling (under costs) is not the target, step towards the target.
    Passive-aggressive: the best wrong labelling, with the hinge loss ``cost + score(ŷ) - score(y)``.

    Returns (code, k): DONE and ``end``, or why it stopped before example ``order[k]`` was learned:
    POOL_FULL (grow a sparse store and call again from k) or RESCALE (rebase the stores).
    """
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    plain, steady = is_plain(chain, rule, noise), is_steady(rule, noise)
    n_nodes, n_edges = np.int64(-1), np.int64(0)
    for k in range(begin, end):
        if chain.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        i = order[k]
        gold = task.gold[task.token[i] : task.token[i + 1]]
        T = gold.shape[0]
        if len(trigrams) > 0:
            if k == begin or not steady:
                refresh(chain, rule, noise, np.int64(0), L * (L + 1), trigrams, work)
        if len(noise) == 0:
            small_kernels.score(task, i, chain, work)
        else:
            n_nodes, n_edges = score_sequence(task, i, chain, rule, noise, plain, work)
        loss, right = 1.0, 0.0
        for last in range(np.int64(set_target(gold, work.labels[0])), 2):
            # If labels are missing, their best completion first.
            wrong = False
            if len(margin) > 0:
                wrong = last == 1 and rule.update != PERCEPTRON
                if wrong:
                    right = _score_target(work, stride, trigrams, chain, T, L)
            if last:
                add_costs(gold, chain.cost, L, work.emission)
            if len(margin) > 0:
                if wrong:
                    loss = _decode_wrong(work, stride, trigrams, chain, gold, T, L) - right
                    loss += 0.0 if rule.hamming else 1.0
            if not wrong:
                _decode(work, stride, trigrams, chain, gold[: T * (1 - last)], work.labels[last], T, L)
        if len(noise) == 0:
            small_kernels.learn(task, i, T, loss, chain, rule, trigrams, work)
        else:
            if not _learn(task, i, gold, loss, n_nodes, n_edges, chain, rule, noise, trigrams, steady, work):
                return POOL_FULL, k
    return DONE, end


@kernel
def _predict(task, begin, end, chain, rule, noise, trigrams, work, out, score):
    """Label the sequences ``begin <= i < end``; ``out`` (N,) int32, ``score`` (n,) float64.

    A score is -inf if constraints and options leave no labelling.
    """
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    plain = is_plain(chain, rule, noise)
    if len(trigrams) > 0:
        if len(noise) > 0:
            read_trigrams(chain, rule, noise, work)
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        score[i] = 0.0
        if stop > first:
            score_sequence(task, i, chain, rule, noise, plain, work)
            if task.option.shape[0] > 0:
                forbid(task.option, first, stop - first, L, work.emission)
            score[i] = _decode(work, stride, trigrams, chain, task.gold[:0], out[first:stop], stop - first, L)


def epoch(task, order, begin, end, chain, rule, noise, work):
    """See :func:`_epoch`: by the smallest kernel that serves."""
    trigrams, margin = getattr(work, "trigrams", ()), (True,)
    if small_kernels.applies_to(task, chain, rule, noise):
        if trigrams:
            trigrams = small_kernels.SmallTrigrams(*trigrams, chain.trigrams.value, chain.trigrams.moment)
        if rule.update == PERCEPTRON:
            margin = ()
        task, chain, noise, work = small_task(task), small_chain(chain), (), small_work(work)
    return _epoch(task, order, begin, end, chain, rule, noise, trigrams, margin, work)


def predict(task, begin, end, chain, rule, noise, work, out, score):
    """See :func:`_predict`; the arguments are those of a structure, or small."""
    trigrams = getattr(work, "trigrams", ())
    if trigrams and small_kernels.applies_to(task, chain, rule, noise):
        L, scale = chain.start.shape[0], chain.clock.scale[0]
        trigrams.score[:] = 0.0 + scale * chain.trigrams.value
        trigrams.score.reshape(-1, L).max(axis=1, out=trigrams.high)
        trigrams.score.reshape(-1, L).min(axis=1, out=trigrams.low)
        task, chain, noise, work = small_kernels.small(task, chain, work)
    _predict(task, begin, end, chain, rule, noise, trigrams, work, out, score)


STRUCTURES = {
    1: Structure(bigram.STORES, bigram.new_work, epoch, predict),
    2: Structure(trigram.STORES, trigram.new_work, epoch, predict),
}
"""By order."""
