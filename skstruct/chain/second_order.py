"""Chains of the second order: label trigrams in scores, gradient and decoding (Collins 2002).

Extends the score of :mod:`.bigram`: a labelling y scores

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t]
             + Σ_{t>0} trigram[y_{t-2}, y_{t-1}, y_t] + end[y_{T-1}]

with a boundary symbol for y_{-1}. Viterbi keeps the best prefix for each pair of last labels,
``δ_t(p, y) = emission[t, y] + transition[t, p, y] + max_a δ_{t-1}(a, p) + trigram[a, p, y]``,
in O(T L^3). Most a cannot win for any y, and one comparison shows it (:func:`_advance`), so that the
usual cost is nearer to O(T L^2). As in the first order, forward passes keep scores only.

What is for both orders (:func:`decode`) takes empty ``trigrams`` for the first.

Letters: as in :mod:`.bigram`, and a for the label before the previous one, -1 for the boundary.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import NO_NOISE
from ..core.compile import inline
from ..core.final_weights import entries
from ..core.noise import EDGE_STREAM, factor
from ..core.rules import emit
from ..core.store import n_rows
from .token_scores import sum_rows
from .viterbi import differs, path_score, viterbi, viterbi_wrong


class Trigrams(NamedTuple):
    """Scores of trigrams; R = L (L + 1) pairs (p, a), at p (L + 1) + a + 1. Scratch."""

    score: np.ndarray  # (R * L,) float64
    high: np.ndarray  # (R,) float64: the largest over y
    low: np.ndarray  # (R,) float64: the smallest


def new_trigrams(rows, L):
    """Scratch for R rows."""
    return Trigrams(np.empty(rows * L), np.empty(rows), np.empty(rows))


@inline
def trigram_score(trigrams, path, T, L):
    """What the trigrams of a given labelling add to :func:`.viterbi.path_score`."""
    total = 0.0
    for t in range(1, T):
        a = path[t - 2] if t > 1 else -1
        total += trigrams.score[(path[t - 1] * (L + 1) + a + 1) * L + path[t]]
    return total


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
def viterbi_pairs(emission, transition, stride, trigrams, start, end, forced, sets, score, path, T, L):
    """The best labelling: writes ``path``, returns its score. See :func:`.viterbi.viterbi`."""
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
        if forced.shape[0] > 0 and forced[t] != -1:
            for p in range(L if t > 0 else 1):
                for y in range(L):
                    if differs(y, forced[t], sets):
                        now[p * L + y] = -np.inf
    p, y, total = _last(score[(T - 1) * C : T * C], T, end, L)
    path[T - 1] = y
    for t in range(T - 1, 0, -1):
        path[t - 1] = p
        a, _ = _before(score[(t - 1) * C : t * C], t, trigrams, p, y, L)
        p, y = a, p
    return total


@inline
def wrong_pairs(emission, transition, stride, trigrams, start, end, gold, sets, agree, deviated, path, T, L):
    """The best labelling that contradicts the gold labels; see :func:`.viterbi.viterbi_wrong`.

    ``agree`` and ``deviated`` are (T * L * L,). Writes ``path`` and returns its score, -inf if there is none.
    """
    C = L * L
    for y in range(L):
        agree[y] = start[y] + emission[y]
        deviated[y] = -np.inf
    for t in range(T):
        g = gold[t]
        now_agree, now_deviated = agree[t * C : (t + 1) * C], deviated[t * C : (t + 1) * C]
        if t > 0:
            added = emission[t * L : (t + 1) * L]
            _advance(agree[(t - 1) * C : t * C], t, trigrams, transition, t * stride, added, now_agree, L)
            _advance(
                deviated[(t - 1) * C : t * C], t, trigrams, transition, t * stride, added, now_deviated, L
            )
        if g == -1:
            continue
        for p in range(L if t > 0 else 1):
            for y in range(L):
                if differs(y, g, sets):  # a step off the gold labels
                    now_deviated[p * L + y] = max(now_agree[p * L + y], now_deviated[p * L + y])
                    now_agree[p * L + y] = -np.inf
    p, y, total = _last(deviated[(T - 1) * C : T * C], T, end, L)
    path[T - 1] = y
    off = True
    for t in range(T - 1, 0, -1):
        path[t - 1] = p
        a, from_agree = _before(agree[(t - 1) * C : t * C], t, trigrams, p, y, L)
        if off:
            a_deviated, from_deviated = _before(deviated[(t - 1) * C : t * C], t, trigrams, p, y, L)
            if differs(y, gold[t], sets) and from_agree > from_deviated:
                off = False
            else:
                a = a_deviated
        p, y = a, p
    return total


def read_trigrams(store, scale):
    """The scores of trigrams from final weights; () in the first order."""
    if not store:
        return ()
    trigrams = new_trigrams(n_rows(store), store.columns)
    trigrams.score[:] = 0.0
    places, values = entries(store) if store.sparse else (slice(None), store.value)
    trigrams.score[places] += scale * values
    by_row = trigrams.score.reshape(-1, store.columns)
    by_row.max(axis=1, out=trigrams.high)
    by_row.min(axis=1, out=trigrams.low)
    return trigrams


@inline
def read_rows(weights, scale, first, n, L, trigrams):
    """Read the scores of the ``n`` rows from ``first`` on; ``weights``: full rows, no lazy penalty."""
    for row in range(first, first + n):
        high, low = -np.inf, np.inf
        for k in range(row * L, (row + 1) * L):
            w = 0.0 + scale * weights[k]
            trigrams.score[k] = w
            high, low = max(high, w), min(low, w)
        trigrams.high[row], trigrams.low[row] = high, low


@inline
def refresh(chain, rule, noise, first, n, table, work):
    """Read the scores of the ``n`` rows from ``first`` on out of the weights in training into ``table``."""
    if len(noise) == 0:
        scale, L = chain.clock.scale[0], chain.start.shape[0]
        read_rows(chain.trigrams, scale, first, n, L, table)
        return
    L, step, scale = chain.nodes.columns, chain.clock.step[0], chain.clock.scale[0]
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
def emit_trigrams(labels, T, L, first, step, noise, difference):
    """Trigram part of ``Δφ``, as rows from ``first`` on; ``labels`` (2, T): right and predicted."""
    for t in range(1, T):
        differs = labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]
        if differs or (t > 1 and labels[0, t - 2] != labels[1, t - 2]):
            x = 1.0
            for k in range(2):
                a = labels[k, t - 2] if t > 1 else np.int32(-1)
                row = labels[k, t - 1] * (L + 1) + a + 1
                if len(noise) > 0:
                    item = _item(row * L + labels[k, t], L)
                    emit(
                        difference, first + row, labels[k, t],
                        x * factor(noise, noise.edge, EDGE_STREAM, step, item),
                    )  # fmt: skip
                else:
                    emit(difference, first + row, labels[k, t], x)
                x = -x


@inline
def decode(emission, transition, stride, trigrams, start, end, forced, sets, score, path, T, L):
    """Write the best labelling to ``path``; returns its score. See :func:`.viterbi.viterbi`."""
    if len(trigrams) > 0:
        return viterbi_pairs(
            emission, transition, stride, trigrams, start, end, forced, sets, score, path, T, L
        )
    return viterbi(emission, transition, stride, start, end, forced, sets, score, path, T, L)


@inline
def decode_wrong(emission, transition, stride, trigrams, start, end, gold, sets, score, path, T, L):
    """Write the best wrong labelling to ``path``; returns its score. ``score``: (2, T * C)."""
    if len(trigrams) > 0:
        return wrong_pairs(
            emission, transition, stride, trigrams, start, end, gold, sets, score[0], score[1], path, T, L
        )
    return viterbi_wrong(emission, transition, stride, start, end, gold, sets, score[0], score[1], path, T, L)


@inline
def score_path(emission, transition, stride, trigrams, start, end, path, T, L):
    """The score of a given labelling."""
    score = path_score(emission, transition, stride, start, end, path, T, L)
    if len(trigrams) > 0:
        score += trigram_score(trigrams, path, T, L)
    return score
