"""The second-order chain: label trigrams, decoded exactly (Collins 2002).

It extends the score of :mod:`.bigram`: a labelling y scores

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t]
             + Σ_{t>0} trigram[y_{t-2}, y_{t-1}, y_t] + end[y_{T-1}]

with a boundary symbol for y_{-1}. Viterbi keeps the best prefix for each pair of last labels,
``δ_t(p, y) = emission[t, y] + transition[t, p, y] + max_a δ_{t-1}(a, p) + trigram[a, p, y]``,
in O(T L^3). Most a cannot win for any y, and one comparison shows it (:func:`_advance`), so that the
usual cost is nearer to O(T L^2).

Letters: as in :mod:`.bigram`, and a for the label before the previous one, -1 for the boundary.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import DONE, L2, NO_NOISE, NO_PENALTY, PERCEPTRON, POOL_FULL, RESCALE
from ..core.compile import inline, kernel
from ..core.noise import EDGE_STREAM, NODE_STREAM, factor
from ..core.rules import Difference, apply, clear, emit, new_difference, room_for, squared_norm, step_size
from ..core.store import SMALLEST_SCALE, Clock, Store, tick
from .bigram import add_costs, emit_bigrams, forbid, is_plain, path_score, score_sequence
from .bigram import new_work as new_chain_work
from .features import Runs, emit_edges, emit_nodes, list_runs, sum_rows

STORES = ("nodes", "edges", "trigrams")


class TrigramChain(NamedTuple):
    """A :class:`.chain.Chain` with label trigrams."""

    nodes: Store
    edges: Store
    trigrams: Store  # row p * (L + 1) + a + 1, column y: the labels a, p, y in this order
    clock: Clock
    bigram: bool
    start: np.ndarray
    allowed: np.ndarray
    end: np.ndarray
    cost: np.ndarray


class Trigrams(NamedTuple):
    """Scores of trigrams; R = L (L + 1) pairs (p, a) as in ``TrigramChain.trigrams``. Scratch."""

    score: np.ndarray  # (R * L,) float64
    high: np.ndarray  # (R,) float64: the largest over y
    low: np.ndarray  # (R,) float64: the smallest


class TrigramWork(NamedTuple):
    """A :class:`.chain.ChainWork` whose prefixes are told apart by their last two labels."""

    node_runs: Runs
    edge_runs: Runs
    masked: np.ndarray
    emission: np.ndarray
    transition: np.ndarray
    score: np.ndarray  # (2, T * L * L) float64 [t, previous, last]; for t = 0 [last]
    path: np.ndarray
    target: np.ndarray
    node_difference: Difference
    edge_difference: Difference
    trigrams: Trigrams
    trigram_difference: Difference
    stats: np.ndarray


def n_rows(L):
    """Rows of the store of trigrams."""
    return L * (L + 1)


def new_work(task, n_labels, training=True):
    """Scratch that fits every sequence of ``task``."""
    L, T = n_labels, int(np.diff(task.token).max(initial=1))
    first_order = new_chain_work(task, L, training)._asdict()
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
    return rule.penalty == NO_PENALTY and noise.edge == NO_NOISE


@inline
def trigram_score(trigrams, path, T, L):
    """What the trigrams of a given labelling add to :func:`.chain.path_score`."""
    total = 0.0
    for t in range(1, T):
        a = path[t - 2] if t > 1 else -1
        total += trigrams.score[(path[t - 1] * (L + 1) + a + 1) * L + path[t]]
    return total


# --------------------------------------------------------------------------------------------------
# Decoding. As in the first order, forward passes keep scores only.
# --------------------------------------------------------------------------------------------------
@inline
def _advance(before, t, trigrams, transition, at, emission, now, L):
    """Scores ``now`` (L * L,) of the prefixes that end at t from those at t - 1; see the module.

    With a* the best a for some p, ``δ(a*, p) + min_y trigram[a*, p, y]`` bounds what every y can get;
    an a with ``δ(a, p) + max_y trigram[a, p, y]`` below that is nobody's best. Addition of floats is
    monotone, so that nothing changes, not even a tie.
    """
    for p in range(L):
        row = now[p * L : (p + 1) * L]
        first = p * (L + 1)
        if t == 1:  # the only a is the boundary
            added = trigrams.score[first * L : (first + 1) * L]
            for y in range(L):
                row[y] = before[p] + added[y]
        else:
            best, arg = -np.inf, 0
            for a in range(L):
                if before[a * L + p] > best:
                    best, arg = before[a * L + p], a
            for y in range(L):
                row[y] = -np.inf
            if best == -np.inf:
                continue
            bound = best + trigrams.low[first + arg + 1]
            for a in range(L):
                from_a = before[a * L + p]
                r = first + a + 1
                if from_a + trigrams.high[r] >= bound:
                    added = trigrams.score[r * L : (r + 1) * L]
                    for y in range(L):
                        c = from_a + added[y]
                        row[y] = c if c > row[y] else row[y]
        bigram = transition[at + p * L : at + (p + 1) * L]
        for y in range(L):
            row[y] += emission[y] + bigram[y]


@inline
def _before(before, t, trigrams, p, y, L):
    """(best a, its score) for the step from p to y; ties go to the smaller label."""
    place = p * (L + 1) * L + y
    if t == 1:
        return 0, before[p] + trigrams.score[place]
    best, arg = before[p] + trigrams.score[place + L], 0
    for a in range(1, L):
        c = before[a * L + p] + trigrams.score[place + (a + 1) * L]
        if c > best:
            best, arg = c, a
    return arg, best


@inline
def _last(now, T, end, L):
    """(p, y, score) of the best last pair; ties go to the smaller y, then p. For T = 1, p is 0."""
    best, arg_p, arg = now[0] + end[0], 0, 0
    for y in range(L):
        for p in range(L if T > 1 else 1):
            c = now[p * L + y] + end[y]
            if c > best:
                best, arg_p, arg = c, p, y
    return arg_p, arg, best


@inline
def viterbi(emission, transition, stride, trigrams, start, end, forced, score, path, T, L):
    """The best labelling: writes ``path``, returns its score. See :func:`.chain.viterbi`."""
    C = L * L
    for y in range(L):
        score[y] = start[y] + emission[y]
    for t in range(T):
        now = score[t * C : (t + 1) * C]
        if t > 0:
            _advance(
                score[(t - 1) * C : t * C], t, trigrams, transition, t * stride,
                emission[t * L : (t + 1) * L], now, L,
            )  # fmt: skip
        if forced.shape[0] > 0 and forced[t] >= 0:
            for p in range(L if t > 0 else 1):
                for y in range(L):
                    if y != forced[t]:
                        now[p * L + y] = -np.inf
    p, y, total = _last(score[(T - 1) * C : T * C], T, end, L)
    path[T - 1] = y
    for t in range(T - 1, 0, -1):
        path[t - 1] = p
        a, _ = _before(score[(t - 1) * C : t * C], t, trigrams, p, y, L)
        p, y = a, p
    return total


@inline
def viterbi_wrong(emission, transition, stride, trigrams, start, end, gold, agree, left, path, T, L):
    """The best labelling that contradicts the gold labels; see :func:`.chain.viterbi_wrong`.

    ``agree`` and ``left`` are (T * L * L,). Writes ``path`` and returns its score, -inf if there is none.
    """
    C = L * L
    for y in range(L):
        agree[y] = start[y] + emission[y]
        left[y] = -np.inf
    for t in range(T):
        g = gold[t]
        now_agree, now_left = agree[t * C : (t + 1) * C], left[t * C : (t + 1) * C]
        if t > 0:
            added = emission[t * L : (t + 1) * L]
            _advance(agree[(t - 1) * C : t * C], t, trigrams, transition, t * stride, added, now_agree, L)
            _advance(left[(t - 1) * C : t * C], t, trigrams, transition, t * stride, added, now_left, L)
        if g < 0:
            continue
        for p in range(L if t > 0 else 1):
            for y in range(L):
                if y != g:  # a step off the gold labels
                    now_left[p * L + y] = max(now_agree[p * L + y], now_left[p * L + y])
                    now_agree[p * L + y] = -np.inf
    p, y, total = _last(left[(T - 1) * C : T * C], T, end, L)
    path[T - 1] = y
    off = True
    for t in range(T - 1, 0, -1):
        path[t - 1] = p
        a, from_agree = _before(agree[(t - 1) * C : t * C], t, trigrams, p, y, L)
        if off:
            a_left, from_left = _before(left[(t - 1) * C : t * C], t, trigrams, p, y, L)
            if gold[t] >= 0 and y != gold[t] and from_agree > from_left:
                off = False
            else:
                a = a_left
        p, y = a, p
    return total


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


@kernel
def epoch(task, order, begin, end, chain, rule, noise, work):
    """Visit the examples ``order[begin:end]`` in turn: decode, step, tick. See :func:`.chain.epoch`."""
    L = chain.nodes.columns
    R = np.int64(L * (L + 1))
    zero, one = np.int64(0), np.int64(1)
    stride = L * L if task.edges.row.shape[0] > 0 else 0
    target, path, transition, trigrams = work.target, work.path, work.transition, work.trigrams
    plain, steady = is_plain(task, chain, rule, noise), is_steady(rule, noise)
    if steady:
        _refresh(chain, rule, noise, chain.clock.scale[0], zero, R, work)
    for k in range(begin, end):
        i = order[k]
        if chain.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        gold = task.gold[task.token[i] : task.token[i + 1]]
        T = gold.shape[0]
        step = chain.clock.step[0]
        if not steady:
            _refresh(chain, rule, noise, chain.clock.scale[0], zero, R, work)
        n_nodes, n_edges = score_sequence(task, i, chain, rule, noise, plain, work)
        complete = True
        for t in range(T):
            target[t] = gold[t]
            complete = complete and gold[t] >= 0
        if not complete:  # the best completion of the labels given
            viterbi(
                work.emission, transition, stride, trigrams, chain.start, chain.end,
                gold, work.score[0], target, T, L,
            )  # fmt: skip
        loss = 1.0
        if rule.update == PERCEPTRON:
            add_costs(gold, chain.cost, L, work.emission)
            viterbi(
                work.emission, transition, stride, trigrams, chain.start, chain.end,
                gold[:0], work.score[0], path, T, L,
            )  # fmt: skip
        else:
            right = path_score(work.emission, transition, stride, chain.start, chain.end, target, T, L)
            right += trigram_score(trigrams, target, T, L)
            add_costs(gold, chain.cost, L, work.emission)
            wrong = viterbi_wrong(
                work.emission, transition, stride, trigrams, chain.start, chain.end,
                gold, work.score[0], work.score[1], path, T, L,
            )  # fmt: skip
            loss = wrong - right + (0.0 if rule.hamming else 1.0)
        mistakes = 0
        for t in range(T):
            if gold[t] >= 0 and gold[t] != path[t]:
                mistakes += 1
        if mistakes > 0 and loss > 0.0:
            if n_nodes < 0:
                n_nodes = list_runs(
                    task.nodes, task.bag, task.left, task.anchor[i],
                    task.anchor[i + 1] - task.anchor[i], task.token[i], T,
                    step, noise, noise.feature, NODE_STREAM, work.masked, work.node_runs,
                )  # fmt: skip
            emit_nodes(work.node_runs, n_nodes, task.node_alive, target, path, work.node_difference)
            if chain.bigram:
                emit_bigrams(target, path, T, L, step, noise, work.edge_difference)
            emit_edges(work.edge_runs, n_edges, L, task.edge_alive, target, path, work.edge_difference)
            _emit_trigrams(target, path, T, L, step, noise, work.trigram_difference)
            if not (
                room_for(work.node_difference, chain.nodes)
                and room_for(work.edge_difference, chain.edges)
                and room_for(work.trigram_difference, chain.trigrams)
            ):
                clear(work.node_difference)
                clear(work.edge_difference)
                clear(work.trigram_difference)
                return POOL_FULL, k
            work.stats[0] += 1.0
            work.stats[1] += mistakes
            work.stats[2] += loss
        if rule.penalty == L2:  # equation 10: decay, then step
            chain.clock.scale[0] *= 1.0 - rule.alpha
        changed = work.trigram_difference.size[0]
        if work.node_difference.size[0] + work.edge_difference.size[0] + changed > 0:
            norm2 = squared_norm(work.node_difference) + squared_norm(work.edge_difference)
            norm2 += squared_norm(work.trigram_difference)
            tau = step_size(rule, loss, norm2) * task.weight[i]
            apply(work.node_difference, chain.nodes, chain.clock, rule, tau)
            apply(work.edge_difference, chain.edges, chain.clock, rule, tau)
            apply(work.trigram_difference, chain.trigrams, chain.clock, rule, tau)
            if steady:
                for entry in range(changed):
                    row = work.trigram_difference.row[entry]
                    _refresh(chain, rule, noise, chain.clock.scale[0], row, one, work)
            clear(work.node_difference)
            clear(work.edge_difference)
            clear(work.trigram_difference)
        tick(chain.clock, rule)
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


@inline
def read_trigrams(chain, rule, noise, work):
    """Fill ``work.trigrams`` for weights that do not change."""
    zero, R = np.int64(0), np.int64(chain.nodes.columns * (chain.nodes.columns + 1))
    _refresh(chain, rule, noise, chain.clock.scale[0], zero, R, work)


@kernel
def predict(task, begin, end, chain, rule, noise, work, out, score):
    """Label the sequences ``begin <= i < end``. See :func:`.chain.predict`."""
    plain = is_plain(task, chain, rule, noise)
    read_trigrams(chain, rule, noise, work)
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        score[i] = 0.0
        if stop > first:
            score[i] = decode(task, i, chain, rule, noise, plain, work, out[first:stop])
