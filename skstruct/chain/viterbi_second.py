"""Decoding of the second-order chain: the best labelling, and the best one that is wrong.

Viterbi keeps the best prefix for each pair of last labels,
``δ_t(p, y) = emission[t, y] + transition[t, p, y] + max_a δ_{t-1}(a, p) + trigram[a, p, y]``,
in O(T L^3). Most a cannot win for any y, and one comparison shows it (:func:`_advance`), so that the
usual cost is nearer to O(T L^2). As in the first order, forward passes keep scores only.

Letters: as in :mod:`.viterbi`, and a for the label before the previous one, -1 for the boundary.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline


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
def viterbi(emission, transition, stride, trigrams, start, end, forced, score, path, T, L):
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
def viterbi_wrong(emission, transition, stride, trigrams, start, end, gold, agree, deviated, path, T, L):
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
        if g < 0:
            continue
        for p in range(L if t > 0 else 1):
            for y in range(L):
                if y != g:  # a step off the gold labels
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
            if gold[t] >= 0 and y != gold[t] and from_agree > from_deviated:
                off = False
            else:
                a = a_deviated
        p, y = a, p
    return total
