"""Epochs and prediction of chains of both orders.

One text is for all kinds of arguments, and numba leaves out of a kernel what its arguments do not need. It
does so for what an empty tuple among the arguments decides, if a variable of the kernel has its name:

- ``has_noise``: with an empty ``noise`` the arguments are the few arrays of what most users train, see
  :mod:`.chain_arguments`;
- ``second_order``: with empty ``trigrams`` the chain is of the first order;
- ``has_margin``: with an empty ``margin`` it is trained by the perceptron, which looks for the best labelling
  only.

Letters: as in :mod:`.bigram`.
"""

import numpy as np

from ..core.codes import DONE, NO_NOISE, PERCEPTRON, POOL_FULL, RESCALE
from ..core.compile import ONE, ZERO, inline, kernel
from ..core.penalties import decay, keeps_untouched_weights
from ..core.rules import add_entries, apply, clear, leave_out, room_for, step_size, sum_of_squares
from ..core.store import SMALLEST_SCALE, tick
from .bigram import forbid, reads_whole_rows, score_sequence, score_tokens, score_transitions, stride_of
from .dense import apply_dense, clear_dense, dense_norm
from .second_order import emit_trigrams, refresh
from .token_scores import (
    EDGE_ROWS,
    TRIGRAM_ROWS,
    add_costs,
    count_mistakes,
    emit_bigrams,
    emit_edges,
    emit_listed,
    emit_stored,
    set_target,
    sum_features,
)
from .viterbi import decode, decode_wrong, score_path


@inline
def _learn(task, i, gold, loss, n_nodes, n_edges, chain, rule, noise, trigrams, margin, steady, work):
    """Learn from the labels that differ: emit, step, tick. False, and nothing done, if a pool is too full."""
    has_noise = len(noise) > 0
    second_order = len(trigrams) > 0
    has_margin = len(margin) > 0
    difference, labels, clock, nodes = work.difference, work.labels, chain.clock, task.nodes
    T, L, step = gold.shape[0], chain.nodes.columns, clock.step[0]
    edges, more, norm2, tau = ZERO, ZERO, 0.0, task.weight[i]  # entries of edges, and of trigrams, begin here
    mistakes = count_mistakes(gold, task.sets, labels[1])
    if mistakes > 0 and loss > 0.0:
        if n_nodes < 0:
            emit_stored(
                nodes.row, nodes.lo, nodes.width, task.left, task.anchor[i], task.anchor[i + 1], task.bag,
                task.token[i], T, task.node_alive, labels, difference,
            )  # fmt: skip
        if has_noise:
            emit_listed(task, i, T, chain.nodes, noise, step, n_nodes, work)
        edges = difference.size[0]
        if chain.bigram:
            emit_bigrams(labels, T, L, step, noise, difference)
        if has_noise:
            emit_edges(work.edge_runs, n_edges, L, task.edge_alive, labels, difference)
        more = difference.size[0]
        leave_out(difference, ZERO, edges, ZERO, task.node_pairs)
        leave_out(difference, edges, more, EDGE_ROWS, task.edge_pairs)
        if second_order:
            emit_trigrams(labels, T, L, step, noise, difference)
        if has_noise:
            if not _has_room(difference, edges, more, chain, trigrams):
                clear(difference)
                clear_dense(task.dense, work.dense)
                return False
        work.stats[0] += 1.0
        work.stats[1] += mistakes
        work.stats[2] += loss
    end = difference.size[0]
    decay(clock, rule)  # Zhang, Su and Zhou 2014, equation 10: decay, then step
    if has_margin:
        if has_noise:
            norm2 = dense_norm(task.dense, task.token[i], T, labels[0], labels[1], rule, work.dense)
        norm2 += sum_of_squares(difference.amount, ZERO, edges)
        norm2 += sum_of_squares(difference.amount, edges, more)
        norm2 += sum_of_squares(difference.amount, more, end)
        tau = step_size(rule, loss, norm2, tau)
    if has_noise:
        apply_dense(task.dense, chain.nodes, clock, rule, tau, work.dense)
    _step(difference, ZERO, edges, ZERO, chain.nodes, clock, rule, noise, tau)
    _step(difference, edges, more, EDGE_ROWS, chain.edges, clock, rule, noise, tau)
    if second_order:
        _step(difference, more, end, TRIGRAM_ROWS, chain.trigrams, clock, rule, noise, tau)
        for entry in range(more, end if steady else more):  # else all are read again
            row = difference.row[entry] - TRIGRAM_ROWS
            refresh(chain, rule, noise, row, ONE, trigrams, work)
    clear(difference)
    tick(clock, rule)
    return True


@inline
def _has_room(difference, edges, more, chain, trigrams):
    """Whether the pools of all stores take an update."""
    room = room_for(difference, ZERO, edges, ZERO, chain.nodes)
    room = room and room_for(difference, edges, more, EDGE_ROWS, chain.edges)
    if len(trigrams) > 0:
        room = room and room_for(difference, more, difference.size[0], TRIGRAM_ROWS, chain.trigrams)
    return room


@inline
def _step(difference, begin, end, first, store, clock, rule, noise, tau):
    """``w += τ Δφ`` of one store."""
    if len(noise) > 0:
        apply(difference, begin, end, first, store, clock, rule, tau)
    else:
        add_entries(difference, begin, end, first, store, clock, tau)


@kernel
def epoch(task, order, begin, end, chain, rule, noise, trigrams, margin, work):
    """Visit the examples ``order[begin:end]`` in turn: decode, step, tick.

    Perceptron: if the best labelling (under costs) is not the target, step towards the target.
    Passive-aggressive: the best wrong labelling, with the hinge loss ``cost + score(ŷ) - score(y)``.
    The weight of an example multiplies its costs, as it multiplies steps (see ``core.rules.step_size``).

    Returns (code, k): DONE and ``end``, or why it stopped before example ``order[k]`` was learned:
    POOL_FULL (grow a sparse store and call again from k) or RESCALE (rebase the stores).
    """
    has_noise = len(noise) > 0
    second_order = len(trigrams) > 0
    has_margin = len(margin) > 0
    token, labels, start, stop, clock = task.token, work.labels, chain.start, chain.end, chain.clock
    emission, transition, score, L = work.emission, work.transition, work.score, start.shape[0]
    stride, whole_rows = stride_of(task, L, noise), reads_whole_rows(chain, rule, noise)
    n_nodes, n_edges = -ONE, ZERO
    steady = keeps_untouched_weights(rule)
    if has_noise:
        steady = steady and noise.edge == NO_NOISE
    for k in range(begin, end):
        if clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        i = order[k]
        gold = task.gold[token[i] : token[i + 1]]
        T = gold.shape[0]
        if second_order:
            if k == begin or not steady:
                refresh(chain, rule, noise, ZERO, L * (L + 1), trigrams, work)
        if has_noise:
            n_nodes, n_edges = score_sequence(task, i, chain, rule, noise, whole_rows, work)
        else:
            score_tokens(task, i, chain, emission)
            score_transitions(chain, transition)
        loss, right, weight = 1.0, 0.0, task.weight[i]
        complete = np.int64(set_target(gold, labels[0]))
        for last in range(complete, 2):  # if labels are missing, their best completion first
            wrong = False
            if has_margin:
                wrong = last == 1 and rule.update != PERCEPTRON
                if wrong:
                    right = score_path(emission, transition, stride, trigrams, start, stop, labels[0], T, L)
            if last:
                add_costs(gold, task.sets, chain.cost, weight, L, emission)
            if has_margin:
                if wrong:
                    loss = 0.0 if rule.hamming else weight
                    loss += decode_wrong(
                        emission, transition, stride, trigrams, start, stop, gold, task.sets, score,
                        labels[1], T, L,
                    ) - right  # fmt: skip
            if not wrong:
                decode(
                    emission, transition, stride, trigrams, start, stop, gold[: T * (1 - last)], task.sets,
                    score[0], labels[last], T, L,
                )  # fmt: skip
        if not _learn(
            task, i, gold, loss, n_nodes, n_edges, chain, rule, noise, trigrams, margin, steady, work
        ):
            return POOL_FULL, k
    return DONE, end


@kernel
def predict(task, chain, rule, noise, trigrams, work, out, score):
    """Label all sequences: ``out`` (N,) int32, ``score`` (n,) float64.

    A score is -inf if constraints and options leave no labelling.
    """
    L, start, end = chain.start.shape[0], chain.start, chain.end
    emission, transition, scratch = work.emission, work.transition, work.score[0]
    stride, whole_rows = stride_of(task, L, noise), reads_whole_rows(chain, rule, noise)
    for i in range(score.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        T = stop - first
        score[i] = 0.0
        if T > 0:
            score_sequence(task, i, chain, rule, noise, whole_rows, work)
            forbid(task.option, first, T, L, emission)
            path = out[first:stop]
            score[i] = decode(
                emission, transition, stride, trigrams, start, end, path[:0], (), scratch, path, T, L
            )


@kernel
def predict_small(
    token, anchor, left, row, lo, width, bag_start, bag_row, bag_value, option, nodes, scale, start, end,
    transition, trigrams, emission, scratch, out, score,
):  # fmt: skip
    """The same of what small kernels are for, as :func:`.chain_arguments.for_predict_small` has it.

    It takes arrays, which reach a kernel in a quarter of the time that tuples of them take.
    """
    has_option = len(option) > 0
    L = start.shape[0]
    for i in range(score.shape[0]):
        first, stop = token[i], token[i + 1]
        T = stop - first
        score[i] = 0.0
        if T > 0:
            sum_features(
                row, lo, width, left, anchor[i], anchor[i + 1] - anchor[i], bag_start, bag_row, bag_value,
                first, T, nodes, L, emission,
            )  # fmt: skip
            for k in range(T * L if scale != 1.0 else 0):
                emission[k] *= scale
            if has_option:
                forbid(option, first, T, L, emission)
            path = out[first:stop]
            score[i] = decode(
                emission, transition, ZERO, trigrams, start, end, path[:0], (), scratch, path, T, L
            )
