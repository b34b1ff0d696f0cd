"""The second-order chain: label trigrams, decoded exactly (Collins 2002).

Extends the score of :mod:`.bigram`: a labelling y scores

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t]
             + Σ_{t>0} trigram[y_{t-2}, y_{t-1}, y_t] + end[y_{T-1}]

with a boundary symbol for y_{-1}.

Letters: as in :mod:`.bigram`, and a for the label before the previous one, -1 for the boundary.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import DONE, NO_NOISE, PERCEPTRON, POOL_FULL, RESCALE
from ..core.compile import inline, kernel
from ..core.noise import EDGE_STREAM, factor
from ..core.penalties import keeps_untouched_weights
from ..core.rules import Difference, begin_step, clear, emit, end_step, new_difference, room_for
from ..core.store import SMALLEST_SCALE, Clock, Store
from . import lean_second
from .bigram import forbid, is_plain, score_sequence
from .bigram import new_work as new_chain_work
from .dense import DenseWork, apply_dense, clear_dense, dense_norm
from .features import Runs, sum_rows
from .visit import add_costs, count_mistakes, emit_features, note_update, set_target
from .viterbi import path_score
from .viterbi_second import Trigrams, trigram_score, viterbi, viterbi_wrong

STORES = ("nodes", "edges", "trigrams")


class TrigramChain(NamedTuple):
    """A :class:`.bigram.Chain` with label trigrams."""

    nodes: Store
    edges: Store
    trigrams: Store  # row p * (L + 1) + a + 1, column y: the labels a, p, y in this order
    clock: Clock
    bigram: bool
    start: np.ndarray
    allowed: np.ndarray
    end: np.ndarray
    cost: np.ndarray


class TrigramWork(NamedTuple):
    """A :class:`.bigram.ChainWork` whose prefixes are told apart by their last two labels."""

    node_runs: Runs
    edge_runs: Runs
    masked: np.ndarray
    emission: np.ndarray
    transition: np.ndarray
    score: np.ndarray  # (2, T * L * L) float64 [t, previous, last]; for t = 0 [last]
    path: np.ndarray
    target: np.ndarray
    labels: np.ndarray
    node_difference: Difference
    edge_difference: Difference
    dense: DenseWork | tuple[()]
    trigrams: Trigrams
    trigram_difference: Difference
    stats: np.ndarray


def n_rows(L):
    """Rows of the store of trigrams."""
    return L * (L + 1)


def new_work(task, n_labels, training=True, listed=True):
    """Scratch that fits every sequence of ``task``; see :func:`.bigram.new_work`."""
    L, T = n_labels, int(np.diff(task.token).max(initial=1))
    first_order = new_chain_work(task, L, training, listed)._asdict()
    first_order["score"] = np.empty((2 if training else 1, T * L * L))
    return TrigramWork(
        **first_order,
        trigrams=Trigrams(np.empty(n_rows(L) * L), np.empty(n_rows(L)), np.empty(n_rows(L))),
        trigram_difference=new_difference(2 * T if training else 0),
    )


# --------------------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------------------
@inline
def _refresh(chain, rule, noise, scale, first, n, work):
    """Read the scores of the ``n`` rows from ``first`` on out of the store."""
    L, step = chain.nodes.columns, chain.clock.step[0]
    table = work.trigrams
    for k in range(first * L, (first + n) * L):
        table.score[k] = 0.0
    runs = work.edge_runs
    runs.row[0], runs.token[0], runs.width[0], runs.value[0] = first, first, n, 1.0
    one = np.int64(1)
    sum_rows(chain.trigrams, rule, step, runs, one, one, L, scale, table.score)
    if noise.edge != NO_NOISE:
        for k in range(first * L, (first + n) * L):
            table.score[k] *= factor(noise, noise.edge, EDGE_STREAM, step, _item(k, L))
    for row in range(first, first + n):
        high, low = -np.inf, np.inf
        for k in range(row * L, (row + 1) * L):
            high = max(high, table.score[k])
            low = min(low, table.score[k])
        table.high[row], table.low[row] = high, low


@inline
def _item(k, L):
    """What noise knows the trigram at place k by; label bigrams have -1 to -L²."""
    return -1 - L * L - k


@inline
def is_steady(rule, noise):
    """Whether the scores of trigrams change with their weights only, not with every step."""
    return keeps_untouched_weights(rule) and noise.edge == NO_NOISE


# --------------------------------------------------------------------------------------------------
# Learning
# --------------------------------------------------------------------------------------------------
@inline
def _emit_trigrams(target, path, T, L, step, noise, difference):
    """Trigram part of ``Δφ = φ(x, target) - φ(x, path)``."""
    for t in range(1, T):
        a, b = np.int64(-1), np.int64(-1)
        if t > 1:
            a, b = np.int64(target[t - 2]), np.int64(path[t - 2])
        if target[t] != path[t] or target[t - 1] != path[t - 1] or a != b:
            row = target[t - 1] * (L + 1) + a + 1
            emit(
                difference, row, target[t],
                factor(noise, noise.edge, EDGE_STREAM, step, _item(row * L + target[t], L)),
            )  # fmt: skip
            row = path[t - 1] * (L + 1) + b + 1
            emit(
                difference, row, path[t],
                -factor(noise, noise.edge, EDGE_STREAM, step, _item(row * L + path[t], L)),
            )  # fmt: skip


@inline
def read_trigrams(chain, rule, noise, work):
    """Fill ``work.trigrams`` with the scores of all rows."""
    zero, R = np.int64(0), np.int64(chain.nodes.columns * (chain.nodes.columns + 1))
    _refresh(chain, rule, noise, chain.clock.scale[0], zero, R, work)


@inline
def _find_rival(gold, T, chain, rule, stride, work):
    """Write the labelling to learn against to ``work.path``; returns the loss. See :func:`.bigram.epoch`."""
    L = chain.nodes.columns
    emission, transition, trigrams = work.emission, work.transition, work.trigrams
    if rule.update == PERCEPTRON:
        add_costs(gold, chain.cost, L, emission)
        viterbi(
            emission, transition, stride, trigrams, chain.start, chain.end,
            gold[:0], work.score[0], work.path, T, L,
        )  # fmt: skip
        return 1.0
    right = path_score(emission, transition, stride, chain.start, chain.end, work.target, T, L)
    right += trigram_score(trigrams, work.target, T, L)
    add_costs(gold, chain.cost, L, emission)
    wrong = viterbi_wrong(
        emission, transition, stride, trigrams, chain.start, chain.end,
        gold, work.score[0], work.score[1], work.path, T, L,
    )  # fmt: skip
    return wrong - right + (0.0 if rule.hamming else 1.0)


@inline
def _has_room(task, chain, work):
    """Whether the stores take the update; if not, it is dropped."""
    if (
        room_for(work.node_difference, chain.nodes)
        and room_for(work.edge_difference, chain.edges)
        and room_for(work.trigram_difference, chain.trigrams)
    ):
        return True
    clear(work.node_difference)
    clear(work.edge_difference)
    clear(work.trigram_difference)
    clear_dense(task.dense, work.dense)
    return False


def epoch(task, order, begin, end, chain, rule, noise, work):
    """As :func:`epoch_of_all`; where they are equal, by a kernel that compiles faster."""
    if rule.update == PERCEPTRON and lean_second.serves(task, chain, rule, noise):
        return lean_second.epoch(task, order, begin, end, chain, rule, work)
    return epoch_of_all(task, order, begin, end, chain, rule, noise, work)


@kernel
def epoch_of_all(task, order, begin, end, chain, rule, noise, work):
    """Visit the examples ``order[begin:end]`` in turn: decode, step, tick. See :func:`.bigram.epoch`."""
    L = chain.nodes.columns
    one = np.int64(1)
    stride = L * L if task.edges.row.shape[0] > 0 else 0
    plain, steady = is_plain(chain, rule, noise), is_steady(rule, noise)
    if steady:
        read_trigrams(chain, rule, noise, work)
    for k in range(begin, end):
        i = order[k]
        if chain.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        gold = task.gold[task.token[i] : task.token[i + 1]]
        T = gold.shape[0]
        if not steady:
            read_trigrams(chain, rule, noise, work)
        n_nodes, n_edges = score_sequence(task, i, chain, rule, noise, plain, work)
        if not set_target(gold, work.target):  # the best completion of the labels given
            viterbi(
                work.emission, work.transition, stride, work.trigrams, chain.start, chain.end,
                gold, work.score[0], work.target, T, L,
            )  # fmt: skip
        loss = _find_rival(gold, T, chain, rule, stride, work)
        mistakes = count_mistakes(gold, work.path)
        if mistakes > 0 and loss > 0.0:
            emit_features(task, i, chain, noise, n_nodes, n_edges, work)
            step = chain.clock.step[0]
            _emit_trigrams(work.target, work.path, T, L, step, noise, work.trigram_difference)
            if not _has_room(task, chain, work):
                return POOL_FULL, k
            note_update(work.stats, mistakes, loss)
        changed = work.trigram_difference.size[0]
        differences = work.node_difference, work.edge_difference, work.trigram_difference
        norm2 = dense_norm(task.dense, task.token[i], T, work.target, work.path, rule, work.dense)
        tau = begin_step(differences, chain.clock, rule, loss, task.weight[i], norm2)
        apply_dense(task.dense, chain.nodes, chain.clock, rule, tau, work.dense)
        end_step(differences, (chain.nodes, chain.edges, chain.trigrams), chain.clock, rule, tau)
        if steady:
            for entry in range(changed):  # an empty difference still holds the rows it had
                row = work.trigram_difference.row[entry]
                _refresh(chain, rule, noise, chain.clock.scale[0], row, one, work)
    return DONE, end


@inline
def decode(task, i, chain, rule, noise, plain, work, path):
    """Score and label sequence i under ``work.trigrams``; returns the score. The sequence has tokens."""
    L = chain.nodes.columns
    stride = L * L if task.edges.row.shape[0] > 0 else 0
    T = task.token[i + 1] - task.token[i]
    score_sequence(task, i, chain, rule, noise, plain, work)
    if task.option.shape[0] > 0:
        forbid(task.option, task.token[i], T, L, work.emission)
    return viterbi(
        work.emission, work.transition, stride, work.trigrams, chain.start, chain.end,
        task.gold[:0], work.score[0], path, T, L,
    )  # fmt: skip


def predict(task, begin, end, chain, rule, noise, work, out, score):
    """As :func:`predict_all`; where they are equal, by a kernel that compiles faster."""
    if task.option.shape[0] == 0 and lean_second.serves(task, chain, rule, noise):
        return lean_second.predict(task, begin, end, chain, rule, work, out, score)
    return predict_all(task, begin, end, chain, rule, noise, work, out, score)


@kernel
def predict_all(task, begin, end, chain, rule, noise, work, out, score):
    """Label the sequences ``begin <= i < end``. See :func:`.bigram.predict`."""
    plain = is_plain(chain, rule, noise)
    read_trigrams(chain, rule, noise, work)
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        score[i] = 0.0
        if stop > first:
            score[i] = decode(task, i, chain, rule, noise, plain, work, out[first:stop])
