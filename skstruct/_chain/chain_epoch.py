"""Epochs and prediction of chains of both orders.

One text is for all kinds of arguments. An empty tuple among these says what is not
needed; numba sees it in their types, and leaves out of a kernel what it decides. So a
kernel has *variants*, each compiled when it is first called for:

==============  ==========================  ============================================
variable        is false with               the kernel then
==============  ==========================  ============================================
is_general      ``general == ()``           is the small one of what most users train:
                                            no noise but ``dropout``, full rows, no lazy
                                            penalty; see :mod:`.chain_arguments`
second_order    ``trigrams == ()``          is for chains of the first order
has_margin      ``margin == ()``, else      trains by the perceptron, which looks for
                ``(True,)``                 the best labelling only
has_option      ``option == ()``            lets each token have any label
==============  ==========================  ============================================

Numba decides ``len(x) > 0`` where x is an argument of the function itself. So compiled
helpers take x, and say the condition again; what is spliced into a kernel takes the
variable. A factory with Python booleans would say as much, but closures are compiled
anew by each process.

Letters: as in :mod:`.bigram`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.codes import DONE, NO_NOISE, PERCEPTRON, POOL_FULL, RESCALE
from .._core.compile import ONE, ZERO, inline, kernel, spliced
from .._core.penalties import decay, keeps_untouched_weights
from .._core.rules import (
    add_entries,
    apply,
    clear,
    leave_out,
    room_for,
    step_size,
    sum_of_squares,
)
from .._core.store import SMALLEST_SCALE, tick
from .bigram import (
    forbid,
    reads_whole_rows,
    score_rows,
    score_sequence,
    score_tokens,
    score_transitions,
    stride_of,
)
from .dense import apply_dense, clear_dense, dense_norm
from .second_order import emit_trigrams, refresh
from .token_scores import (
    EDGE_ROWS,
    TRIGRAM_ROWS,
    ReadFeatures,
    add_costs,
    count_mistakes,
    emit_bigrams,
    emit_edges,
    emit_listed,
    emit_stored,
    hide_rows,
    set_target,
)
from .viterbi import decode, decode_wrong, score_path

if TYPE_CHECKING:
    import numpy as np

    from .._core.noise import Dropout
    from .._core.rules import Difference
    from .._core.store import Clock, Rule, Store
    from .bigram import Chain, ChainTask, ChainWork, Empty, General
    from .second_order import Trigrams


@spliced
def _emit(
    task: ChainTask,
    i: int,
    T: int,
    read: ReadFeatures,
    chain: Chain,
    general: General | Empty,
    is_general: bool,
    second_order: bool,
    work: ChainWork,
) -> tuple[int, int]:
    """Write ``Δφ`` of sequence i, of the labels in ``work.labels``, to
    ``work.difference``: entries of nodes, then of edges, then of trigrams.

    Returns (edge_begin, trigram_begin), the first entry of edges and of trigrams.
    """
    difference = work.difference
    labels = work.labels
    nodes = task.nodes
    L = chain.nodes.columns
    step = chain.clock.step[0]
    if read.n_node_runs < 0:
        emit_stored(
            read.rows, nodes.lo, nodes.width, task.left, read.begin, read.end, task.bag,
            task.token[i], T, task.node_alive, labels, difference,
        )  # fmt: skip
    if is_general:
        emit_listed(
            task, i, T, chain.nodes, general.noise, step, read.n_node_runs, work
        )
    edge_begin = difference.size[0]
    if chain.bigram:
        emit_bigrams(labels, T, L, step, general, difference)
    if is_general:
        emit_edges(
            work.edge_runs, read.n_edge_runs, L, task.edge_alive, labels, difference
        )
    trigram_begin = difference.size[0]
    leave_out(difference, ZERO, edge_begin, ZERO, task.node_pairs)
    leave_out(difference, edge_begin, trigram_begin, EDGE_ROWS, task.edge_pairs)
    if second_order:
        emit_trigrams(labels, T, L, step, general, difference)
    return edge_begin, trigram_begin


@spliced
def _squared_norm(
    task: ChainTask,
    i: int,
    T: int,
    edge_begin: int,
    trigram_begin: int,
    rule: Rule,
    is_general: bool,
    work: ChainWork,
) -> float:
    """Return ``‖Δφ‖²`` of sequence i.

    Entries of edges begin at ``edge_begin``, those of trigrams at ``trigram_begin``, in
    ``work.difference``.
    """
    amount = work.difference.amount
    labels = work.labels
    norm2 = 0.0
    if is_general:
        norm2 = dense_norm(
            task.dense, task.token[i], T, labels[0], labels[1], rule, work.dense
        )
    norm2 += sum_of_squares(amount, ZERO, edge_begin)
    norm2 += sum_of_squares(amount, edge_begin, trigram_begin)
    norm2 += sum_of_squares(amount, trigram_begin, work.difference.size[0])
    return norm2


@inline
def _learn(
    task: ChainTask,
    i: int,
    gold: np.ndarray,
    loss: float,
    read: ReadFeatures,
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    trigrams: Trigrams | Empty,
    margin: tuple[bool] | Empty,
    keeps_trigrams: bool,
    work: ChainWork,
) -> bool:
    """Learn from the labels of sequence i that differ: emit ``Δφ``, step along it, tick
    the clock.

    Parameters
    ----------
    gold : ndarray of shape (T,), int32
        The labels given; those to step towards and away from are in ``work.labels``.
    loss : float
        The hinge loss, 1 for the perceptron; without any there is no update.
    read : ReadFeatures
        The features of the sequence as decoding read them.
    keeps_trigrams : bool
        Whether ``trigrams`` goes on to hold the scores of all label trigrams, so that
        rows which the step changes are read again; else ``epoch`` reads all of them
        before the next sequence.

    Returns
    -------
    bool
        False, with nothing changed, if the pool of a sparse store is too full.
    """
    is_general = len(general) > 0
    second_order = len(trigrams) > 0
    has_margin = len(margin) > 0
    difference = work.difference
    clock = chain.clock
    T = gold.shape[0]
    edge_begin = ZERO
    trigram_begin = ZERO
    norm2 = 0.0
    mistakes = count_mistakes(gold, task.sets, work.labels[1])
    if mistakes > 0 and loss > 0.0:
        edge_begin, trigram_begin = _emit(
            task, i, T, read, chain, general, is_general, second_order, work
        )
        if is_general:  # only there stores may be sparse
            if not _has_room(difference, edge_begin, trigram_begin, chain, trigrams):
                clear(difference)
                clear_dense(task.dense, work.dense)
                return False
        work.stats[0] += 1.0
        work.stats[1] += mistakes
        work.stats[2] += loss
    end = difference.size[0]
    decay(clock, rule)  # Zhang, Su and Zhou 2014, equation 10: decay, then step
    if has_margin:
        norm2 = _squared_norm(
            task, i, T, edge_begin, trigram_begin, rule, is_general, work
        )
    tau = step_size(rule, loss, norm2, task.weight[i])
    if is_general:
        apply_dense(task.dense, chain.nodes, clock, rule, tau, work.dense)
    _step(difference, ZERO, edge_begin, ZERO, chain.nodes, clock, rule, is_general, tau)
    _step(
        difference, edge_begin, trigram_begin, EDGE_ROWS, chain.edges, clock, rule,
        is_general, tau,
    )  # fmt: skip
    if second_order:
        _step(
            difference, trigram_begin, end, TRIGRAM_ROWS, chain.trigrams, clock, rule,
            is_general, tau,
        )  # fmt: skip
        for entry in range(trigram_begin, end if keeps_trigrams else trigram_begin):
            row = difference.row[entry] - TRIGRAM_ROWS
            refresh(chain, rule, general, row, ONE, trigrams, work)
    clear(difference)
    tick(clock, rule)
    return True


@inline
def _has_room(
    difference: Difference,
    edge_begin: int,
    trigram_begin: int,
    chain: Chain,
    trigrams: Trigrams | Empty,
) -> bool:
    """Whether the pools of all stores take an update."""
    room = room_for(difference, ZERO, edge_begin, ZERO, chain.nodes)
    room = room and room_for(
        difference, edge_begin, trigram_begin, EDGE_ROWS, chain.edges
    )
    if len(trigrams) > 0:
        room = room and room_for(
            difference, trigram_begin, difference.size[0], TRIGRAM_ROWS, chain.trigrams
        )
    return room


@spliced
def _step(
    difference: Difference,
    begin: int,
    end: int,
    row_offset: int,
    store: Store,
    clock: Clock,
    rule: Rule,
    is_general: bool,
    tau: float,
) -> None:
    """``w += τ Δφ`` of one store, whose entries are ``begin`` to ``end - 1``."""
    if is_general:
        apply(difference, begin, end, row_offset, store, clock, rule, tau)
    else:
        add_entries(difference, begin, end, row_offset, store, clock, tau)


@spliced
def _decode(
    task: ChainTask,
    i: int,
    gold: np.ndarray,
    chain: Chain,
    rule: Rule,
    trigrams: Trigrams | Empty,
    has_margin: bool,
    stride: int,
    work: ChainWork,
) -> float:
    """Write the target to ``work.labels[0]``, and the labelling to step away from to
    ``work.labels[1]``.

    The target, row 0, is the gold labels; if some are missing, their best completion is
    decoded first. Row 1 is the best labelling under costs, or with a margin the best
    wrong one. Returns the hinge loss; 1 for the perceptron.
    """
    labels = work.labels
    start = chain.start
    end = chain.end
    emission = work.emission
    transition = work.transition
    score = work.score
    T = gold.shape[0]
    L = start.shape[0]
    loss = 1.0
    right = 0.0
    weight = task.weight[i]
    complete = np.int64(set_target(gold, labels[0]))
    for k in range(complete, 2):  # row k of the labels; row 0 if it is not complete
        wrong = False  # whether to look for the best labelling that is wrong
        if has_margin:
            wrong = k == 1 and rule.update != PERCEPTRON
            if wrong:
                right = score_path(
                    emission, transition, stride, trigrams, start, end, labels[0], T, L
                )  # fmt: skip
        if k == 1:
            add_costs(gold, task.sets, chain.cost, weight, L, emission)
        if has_margin:
            if wrong:
                loss = 0.0 if rule.hamming else weight
                loss += decode_wrong(
                    emission, transition, stride, trigrams, start, end, gold, task.sets, score,
                    labels[1], T, L,
                ) - right  # fmt: skip
        if not wrong:
            forced = gold[: T * (1 - k)]  # all that are given; none in row 1
            decode(
                emission, transition, stride, trigrams, start, end, forced, task.sets,
                score[0], labels[k], T, L,
            )  # fmt: skip
    return loss


@kernel
def epoch(
    task: ChainTask,
    order: np.ndarray,
    begin: int,
    end: int,
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    dropout: Dropout | Empty,
    trigrams: Trigrams | Empty,
    margin: tuple[bool] | Empty,
    work: ChainWork,
) -> tuple[int, int]:
    """Visit the examples ``order[begin:end]`` in turn: decode, step, tick.

    Perceptron: if the best labelling (under costs) is not the target, step towards the
    target. Passive-aggressive: the best wrong labelling, with the hinge loss ``cost +
    score(ŷ) - score(y)``. The weight of an example multiplies its costs, as it
    multiplies steps (see ``_core.rules.step_size``).

    What it takes after ``end``, :func:`.chain_arguments.kernel_arguments` makes; the
    module says what empty tuples mean.

    Parameters
    ----------
    task : ChainTask
        The corpus, with gold labels.
    order : ndarray of int
        Numbers of sequences, none of them empty, in the order of visits.
    begin, end : int
        Which of ``order`` to visit.
    chain : Chain
        Its weights and its clock are changed.
    rule : Rule
    general : General or ()
    dropout : Dropout or ()
        Input dropout, which small kernels know.
    trigrams : Trigrams or ()
        Scores of trigrams, computed from the store ``chain.trigrams``.
    margin : tuple of bool or ()
        Its length alone counts: empty leaves out what only passive-aggressive learning
        needs. Whether to learn so, ``rule.update`` says.
    work : ChainWork
        Scratch; ``work.stats`` adds up updates, wrong tokens and loss.

    Returns
    -------
    code : int
        DONE, or why it stopped before ``order[k]`` was learned: POOL_FULL (grow a
        sparse store) or RESCALE (rebase the stores). The caller does so, and calls
        again from k.
    k : int
        ``end``, or where it stopped.
    """
    is_general = len(general) > 0
    clock = chain.clock
    L = chain.start.shape[0]
    stride = ZERO
    whole_rows = True
    n_node_runs = -ONE
    n_edge_runs = ZERO
    keeps_trigrams = keeps_untouched_weights(rule)
    if is_general:
        stride = stride_of(task, L, general)
        whole_rows = reads_whole_rows(chain, rule, general)
        keeps_trigrams = keeps_trigrams and general.noise.edge == NO_NOISE
    rows = task.nodes.row
    if len(dropout) > 0:
        if dropout.token_below > np.uint64(0):
            rows = work.rows
    for k in range(begin, end):
        if clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        i = order[k]
        gold = task.gold[task.token[i] : task.token[i + 1]]
        anchor = task.anchor[i]  # where its rows begin
        anchor_end = task.anchor[i + 1]
        if len(trigrams) > 0:
            if k == begin or not keeps_trigrams:
                refresh(chain, rule, general, ZERO, L * (L + 1), trigrams, work)
        if is_general:
            n_node_runs, n_edge_runs = score_sequence(
                task, i, chain, rule, general, whole_rows, work
            )
        else:
            if len(dropout) > 0:
                if dropout.token_below > np.uint64(0):
                    anchor_end -= anchor
                    hide_rows(
                        task.nodes, task.left, anchor, anchor_end, gold.shape[0],
                        clock.step[0], dropout, work.masked, work.rows,
                    )  # fmt: skip
                    anchor = ZERO
            score_tokens(task, i, rows, anchor, anchor_end, chain, work.emission)
            score_transitions(chain, work.transition)
        loss = _decode(
            task, i, gold, chain, rule, trigrams, len(margin) > 0, stride, work
        )
        read = ReadFeatures(rows, anchor, anchor_end, n_node_runs, n_edge_runs)
        if not _learn(
            task, i, gold, loss, read, chain, rule, general, trigrams, margin, keeps_trigrams, work
        ):  # fmt: skip
            return POOL_FULL, k
    return DONE, end


@kernel
def predict(
    task: ChainTask,
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    trigrams: Trigrams | Empty,
    work: ChainWork,
    out: np.ndarray,
    score: np.ndarray,
) -> None:
    """Label all sequences by Viterbi decoding.

    Parameters
    ----------
    task : ChainTask
        Encoded sequences; gold labels are not read.
    chain, rule, general
        What scores; an empty ``general`` as of :func:`.score_sequence`.
    trigrams : Trigrams or ()
        Empty for a chain of the first order.
    work : ChainWork
        Scratch.
    out : ndarray of shape (N,), int32
        Filled with the labels of all tokens.
    score : ndarray of shape (n,), float64
        Filled with the scores of the labellings: -inf if constraints and options leave
        none, 0 for an empty sequence.
    """
    L = chain.start.shape[0]
    start = chain.start
    end = chain.end
    emission = work.emission
    transition = work.transition
    scratch = work.score[0]
    stride = stride_of(task, L, general)
    whole_rows = reads_whole_rows(chain, rule, general)
    for i in range(score.shape[0]):
        first = task.token[i]
        stop = task.token[i + 1]
        T = stop - first
        score[i] = 0.0
        if T > 0:
            score_sequence(task, i, chain, rule, general, whole_rows, work)
            forbid(task.option, first, T, L, emission)
            path = out[first:stop]
            score[i] = decode(
                emission,
                transition,
                stride,
                trigrams,
                start,
                end,
                path[:0],
                (),
                scratch,
                path,
                T,
                L,
            )


@kernel
def predict_small(
    token: np.ndarray,
    anchor: np.ndarray,
    left: int,
    row: np.ndarray,
    lo: np.ndarray,
    width: np.ndarray,
    bag_start: np.ndarray,
    bag_row: np.ndarray,
    bag_value: np.ndarray,
    option: np.ndarray,
    nodes: np.ndarray,
    scale: float,
    L: int,
    limits: np.ndarray,
    trigrams: Trigrams | Empty,
    work: np.ndarray,
    out: np.ndarray,
    score: np.ndarray,
) -> None:
    """Label all sequences, as :func:`predict` does, under final weights in full rows.

    It takes few arrays, as :func:`.chain_arguments.for_predict_small` has them: these
    reach a kernel in a quarter of the time that tuples of them take. From ``token`` to
    ``option`` they are those of a :class:`.ChainTask`, its grid of nodes and its bag;
    from ``nodes`` to ``trigrams`` they are :class:`.chain_arguments.FinalArrays`;
    ``work`` is for the scores of a sequence; ``out`` and ``score`` are filled.
    """
    has_option = len(option) > 0
    start = limits[:L]
    end = limits[L : 2 * L]
    transition = limits[2 * L :]
    for i in range(score.shape[0]):
        first = token[i]
        stop = token[i + 1]
        T = stop - first
        score[i] = 0.0
        if T > 0:
            emission = work[: T * L]
            scratch = work[T * L :]
            score_rows(
                token, anchor, i, left, row, lo, width, bag_start, bag_row, bag_value,
                nodes, scale, L, emission,
            )  # fmt: skip
            if has_option:
                forbid(option, first, T, L, emission)
            path = out[first:stop]
            score[i] = decode(
                emission,
                transition,
                ZERO,
                trigrams,
                start,
                end,
                path[:0],
                (),
                scratch,
                path,
                T,
                L,
            )
