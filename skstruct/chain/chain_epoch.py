"""Epochs and prediction of chains of both orders.

One text is for all kinds of arguments, and numba leaves out of a kernel what its arguments do not need. It
does so for what an empty tuple among the arguments decides, if a variable of the kernel has its name:

- ``has_noise``: with an empty ``noise`` the arguments are the few arrays of :mod:`.small_kernels`, for what
  most users train;
- ``second_order``: with empty ``trigrams`` the chain is of the first order;
- ``has_margin``: with an empty ``margin`` it is trained by the perceptron, which looks for the best labelling
  only.

Letters: as in :mod:`.bigram`.
"""

import numpy as np

from ..core.codes import DONE, NO_NOISE, PERCEPTRON, POOL_FULL, RESCALE
from ..core.compile import inline, kernel
from ..core.noise import QUIET
from ..core.penalties import keeps_untouched_weights
from ..core.rules import begin_step, clear, end_step, room_for
from ..core.store import READ_ONLY, SMALLEST_SCALE
from . import small_kernels
from .bigram import forbid, new_work, reads_whole_rows, score_sequence, stride_of
from .dense import apply_dense, clear_dense, dense_norm
from .second_order import emit_trigrams, read_trigrams, refresh
from .token_scores import add_costs, count_mistakes, emit_features, note_update, set_target, sum_features
from .viterbi import decode, decode_wrong, score_path


@inline
def _learn(task, i, gold, loss, n_nodes, n_edges, chain, rule, noise, trigrams, steady, work):
    """Learn from the labels that differ: emit, step, tick. False, and nothing done, if a pool is too full."""
    second_order = len(trigrams) > 0
    L, T = chain.nodes.columns, gold.shape[0]
    if second_order:
        differences = work.node_difference, work.edge_difference, work.trigram_difference
        stores = chain.nodes, chain.edges, chain.trigrams
    else:
        differences = work.node_difference, work.edge_difference
        stores = chain.nodes, chain.edges
    mistakes = count_mistakes(gold, task.sets, work.path)
    if mistakes > 0 and loss > 0.0:
        emit_features(task, i, chain, noise, n_nodes, n_edges, work)
        if second_order:
            step = chain.clock.step[0]
            emit_trigrams(work.labels, T, L, np.int64(0), step, noise, work.trigram_difference)
        room = True
        for k in range(len(stores)):
            room = room and room_for(differences[k], stores[k])
        if not room:
            for k in range(len(stores)):
                clear(differences[k])
            clear_dense(task.dense, work.dense)
            return False
        note_update(work.stats, mistakes, loss)
    norm2 = dense_norm(task.dense, task.token[i], T, work.target, work.path, rule, work.dense)
    tau = begin_step(differences, chain.clock, rule, loss, task.weight[i], norm2)
    apply_dense(task.dense, chain.nodes, chain.clock, rule, tau, work.dense)
    changed = differences[-1].size[0]
    end_step(differences, stores, chain.clock, rule, tau)
    if second_order:
        for entry in range(changed if steady else 0):  # an empty difference still holds the rows it had
            row = work.trigram_difference.row[entry]
            refresh(chain, rule, noise, row, np.int64(1), trigrams, work)
    return True


@kernel
def epoch(task, order, begin, end, chain, rule, noise, trigrams, margin, work):
    """Visit the examples ``order[begin:end]`` in turn: decode, step, tick.

    Perceptron: if the best labelling (under costs) is not the target, step towards the target.
    Passive-aggressive: the best wrong labelling, with the hinge loss ``cost + score(ŷ) - score(y)``.

    Returns (code, k): DONE and ``end``, or why it stopped before example ``order[k]`` was learned:
    POOL_FULL (grow a sparse store and call again from k) or RESCALE (rebase the stores).
    """
    has_noise = len(noise) > 0
    second_order = len(trigrams) > 0
    has_margin = len(margin) > 0
    token, labels, start, stop, clock = task.token, work.labels, chain.start, chain.end, chain.clock
    emission, transition, score, L = work.emission, work.transition, work.score, start.shape[0]
    stride, whole_rows, n_nodes, n_edges = np.int64(0), True, np.int64(-1), np.int64(0)
    steady = keeps_untouched_weights(rule)
    if has_noise:
        stride, whole_rows = stride_of(task, L, noise), reads_whole_rows(chain, rule, noise)
        steady = steady and noise.edge == NO_NOISE
    for k in range(begin, end):
        if clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        i = order[k]
        gold = task.gold[token[i] : token[i + 1]]
        T = gold.shape[0]
        if second_order:
            if k == begin or not steady:
                refresh(chain, rule, noise, np.int64(0), L * (L + 1), trigrams, work)
        if has_noise:
            n_nodes, n_edges = score_sequence(task, i, chain, rule, noise, whole_rows, work)
        else:
            small_kernels.score_tokens(task, i, chain, emission)
            small_kernels.score_transitions(chain, transition)
        loss, right = 1.0, 0.0
        complete = np.int64(set_target(gold, labels[0]))
        for last in range(complete, 2):  # if labels are missing, their best completion first
            wrong = False
            if has_margin:
                wrong = last == 1 and rule.update != PERCEPTRON
                if wrong:
                    right = score_path(emission, transition, stride, trigrams, start, stop, labels[0], T, L)
            if last:
                add_costs(gold, task.sets, chain.cost, L, emission)
            if has_margin:
                if wrong:
                    loss = 0.0 if rule.hamming else 1.0
                    loss += decode_wrong(
                        emission, transition, stride, trigrams, start, stop, gold, task.sets, score,
                        labels[1], T, L,
                    ) - right  # fmt: skip
            if not wrong:
                decode(
                    emission, transition, stride, trigrams, start, stop, gold[: T * (1 - last)], task.sets,
                    score[0], labels[last], T, L,
                )  # fmt: skip
        if has_noise:
            if not _learn(task, i, gold, loss, n_nodes, n_edges, chain, rule, noise, trigrams, steady, work):
                return POOL_FULL, k
        else:
            small_kernels.learn(task, i, gold, loss, chain, rule, trigrams, margin, work)
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
    """The same of what :mod:`.small_kernels` are for, as its ``for_predict_small`` has it.

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
                emission, transition, np.int64(0), trigrams, start, end, path[:0], (), scratch, path, T, L
            )


def kernel_arguments(task, chain, rule, noise, work):
    """What :func:`epoch` takes but for the examples to visit, for the smallest kernel that serves."""
    trigrams, margin = work.trigrams, (True,)
    if small_kernels.applies_to(task, chain, rule, noise):
        if rule.update == PERCEPTRON:
            margin = ()
        task, chain, noise, work = small_kernels.for_training(task, chain, work)
    return task, chain, rule, noise, trigrams, margin, work


def prediction_arguments(task, chain):
    """What a kernel of prediction takes first: (task, chain, rule, noise, trigrams, work)."""
    if small_kernels.applies_to(task, chain, READ_ONLY, QUIET):
        final = small_kernels.final_chain(chain)
        rows = small_kernels.rows_of(task, task.token)
        return small_kernels.for_prediction(rows, task.gold, task.option, final, task.sets)
    trigrams = read_trigrams(chain.trigrams, chain.clock.scale[0])
    work = new_work(task, chain.start.shape[0], 2 if trigrams else 1, training=False)
    return task, chain, READ_ONLY, QUIET, trigrams, work
