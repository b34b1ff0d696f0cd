"""Decoding: the best labelling of a chain of either order, and the best one that is
wrong.

A *cell* tells prefixes apart: by their last label y, or in the second order by their
last two, at place p * L + y (at t = 0 there is no p). ``δ_t`` of a cell is the score of
its best prefix. In the first order

    δ_t(y) = emission[t, y] + max_p δ_{t-1}(p) + transition[t, p, y]

and in the second, with empty ``trigrams`` for the first,

    δ_t(p, y) = emission[t, y] + transition[t, p, y] + max_a δ_{t-1}(a, p) + trigram[a,
    p, y]

in O(T L^3). Most a cannot win for any y, and one comparison shows it
(:func:`_advance_pairs`), so that the usual cost is nearer to O(T L^2).

Transitions into token t start at ``t * stride``: stride is L * L, or 0 if all tokens
share one matrix. Forward passes keep scores only; the way back finds the argmax again,
on the one path that matters: keeping back pointers would cost more than half of the
forward pass. Ties go to the smaller label, from the last token backwards.

Letters: T tokens, L labels, t token, y label, p previous label, a the one before, C
cells.

What the functions take that score or decode a sequence:

``emission`` (T * L,)
    Scores of the labels of each token, at ``t * L + y``.
``transition`` (L * L,) or (T * L * L,)
    Scores of label bigrams, constraints included, at ``t * stride + p * L + y``.
``start``, ``end`` (L,)
    Added to the score of the first and of the last label: 0, or -inf if it is not
    allowed there.
``sets`` (S, L + 1) or empty
    Sets of labels, of which a token may be given one: see :func:`differs`.
``score``
    Scratch for δ.
``path`` (T,)
    A labelling; where it is decoded, it is filled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.compile import inline, spliced

if TYPE_CHECKING:
    from .bigram import Empty
    from .second_order import Trigrams

ONE_BY_ONE = 8
"""Up to here Viterbi looks at one label after the other instead of at all of them at
once.
"""


@inline
def differs(y: int, g: int, sets: np.ndarray | Empty) -> bool:
    """Tell whether label y contradicts what is given, g.

    A g of 0 and more is a label; -1, UNLABELLED, is contradicted by nothing; -2 - s is
    any label of the set ``sets[s]``.
    """
    if len(sets) > 0:
        if g < -1:
            return not sets[-2 - g, y]
    return g >= 0 and y != g


@spliced
def path_score(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    start: np.ndarray,
    end: np.ndarray,
    path: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Score a labelling under a chain of the first order."""
    score = start[path[0]] + end[path[T - 1]] + emission[path[0]]
    for t in range(1, T):
        score += (
            emission[t * L + path[t]]
            + transition[t * stride + path[t - 1] * L + path[t]]
        )
    return score


@inline
def score_path(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    trigrams: Trigrams | Empty,
    start: np.ndarray,
    end: np.ndarray,
    path: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Score a labelling under a chain of either order; empty ``trigrams``: the
    first.
    """
    score = path_score(emission, transition, stride, start, end, path, T, L)
    if len(trigrams) > 0:
        added = 0.0
        for t in range(1, T):
            a = path[t - 2] if t > 1 else -1
            added += trigrams.score[(path[t - 1] * (L + 1) + a + 1) * L + path[t]]
        score += added
    return score


# --------------------------------------------------------------------------------------
# First order
# --------------------------------------------------------------------------------------
@inline
def _advance_labels(
    score: np.ndarray,
    before: int,
    transition: np.ndarray,
    at: int,
    emission: np.ndarray,
    now: int,
    L: int,
) -> None:
    """``score[now + y] = emission[now + y] + max_p score[before + p] + transition[at +
    p L + y]``.
    """
    if L <= ONE_BY_ONE:  # one label at a time: its maximum stays in a register
        for y in range(L):
            best = -np.inf
            for p in range(L):
                c = score[before + p] + transition[at + p * L + y]
                best = c if c > best else best
            score[now + y] = best + emission[now + y]
        return
    previous = score[before : before + L]
    current = score[now : now + L]
    for y in range(L):
        current[y] = -np.inf
    p = 0
    while p + 4 <= L:  # all labels at once: the inner loop becomes vector instructions
        a = previous[p]
        b = previous[p + 1]
        c = previous[p + 2]
        d = previous[p + 3]
        rows = transition[at + p * L : at + (p + 4) * L]
        for y in range(L):
            best = current[y]
            x = a + rows[y]
            best = x if x > best else best
            x = b + rows[L + y]
            best = x if x > best else best
            x = c + rows[2 * L + y]
            best = x if x > best else best
            x = d + rows[3 * L + y]
            current[y] = x if x > best else best
        p += 4
    while p < L:
        a = previous[p]
        row = transition[at + p * L : at + (p + 1) * L]
        for y in range(L):
            x = a + row[y]
            current[y] = x if x > current[y] else current[y]
        p += 1
    added = emission[now : now + L]
    for y in range(L):
        current[y] += added[y]


@inline
def _before_label(
    score: np.ndarray, before: int, transition: np.ndarray, at: int, y: int, L: int
) -> tuple[int, float]:
    """(best p, its score) for a step into y; ties go to the smaller label."""
    best = score[before] + transition[at + y]
    arg = 0
    for p in range(1, L):
        c = score[before + p] + transition[at + p * L + y]
        # No branch: it would be mispredicted every other token.
        arg = p if c > best else arg
        best = c if c > best else best
    return arg, best


# --------------------------------------------------------------------------------------
# Second order
# --------------------------------------------------------------------------------------
@inline
def _advance_pairs(
    before: np.ndarray,
    t: int,
    trigrams: Trigrams,
    transition: np.ndarray,
    at: int,
    emission: np.ndarray,
    now: np.ndarray,
    L: int,
) -> None:
    """Write the scores of the prefixes that end at t to ``now`` (L * L,), from those at
    t - 1.

    With a* the best a for some p, ``δ(a*, p) + min_y trigram[a*, p, y]`` bounds what
    every y can get; an a with ``δ(a, p) + max_y trigram[a, p, y]`` below that is
    nobody's best. Addition of floats is monotone, so that nothing changes, not even a
    tie.
    """
    for p in range(L):
        row = now[p * L : (p + 1) * L]
        first = p * (L + 1)
        if t == 1:  # the only a is the boundary
            added = trigrams.score[first * L : (first + 1) * L]
            for y in range(L):
                row[y] = before[p] + added[y]
        else:
            best = -np.inf
            arg = 0
            for a in range(L):
                if before[a * L + p] > best:
                    best = before[a * L + p]
                    arg = a
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
def _before_pair(
    before: np.ndarray, t: int, trigrams: Trigrams, p: int, y: int, L: int
) -> tuple[int, float]:
    """(best a, its score) for the step from p to y; ties go to the smaller label."""
    place = p * (L + 1) * L + y
    if t == 1:
        return 0, before[p] + trigrams.score[place]
    best = before[p] + trigrams.score[place + L]
    arg = 0
    for a in range(1, L):
        c = before[a * L + p] + trigrams.score[place + (a + 1) * L]
        if c > best:
            best = c
            arg = a
    return arg, best


# --------------------------------------------------------------------------------------
# Both orders
# --------------------------------------------------------------------------------------
@inline
def _cells(t: int, trigrams: Trigrams | Empty, L: int) -> tuple[int, int]:
    """(first, n): where the cells of token t begin, and how many times L there are."""
    if len(trigrams) == 0:
        return t * L, 1
    return t * L * L, L if t > 0 else 1


@inline
def _advance(
    score: np.ndarray,
    t: int,
    trigrams: Trigrams | Empty,
    transition: np.ndarray,
    stride: int,
    emission: np.ndarray,
    L: int,
) -> None:
    """Write δ_t behind δ_{t-1}."""
    now = _cells(t, trigrams, L)[0]
    at = t * stride
    before = _cells(t - 1, trigrams, L)[0]
    if len(trigrams) == 0:
        _advance_labels(score, before, transition, at, emission, now, L)
    else:
        added = emission[t * L : (t + 1) * L]
        _advance_pairs(
            score[before:now],
            t,
            trigrams,
            transition,
            at,
            added,
            score[now : now + L * L],
            L,
        )


@inline
def _before(
    score: np.ndarray,
    t: int,
    trigrams: Trigrams | Empty,
    transition: np.ndarray,
    stride: int,
    p: int,
    y: int,
    L: int,
) -> tuple[int, int, float]:
    """The labels (a, p) of the best prefix before a step into p, y or, in the first
    order, y; its score.
    """
    before = _cells(t - 1, trigrams, L)[0]
    if len(trigrams) == 0:
        p, best = _before_label(score, before, transition, t * stride, y, L)
        return p, p, best
    a, best = _before_pair(score[before : before + L * L], t, trigrams, p, y, L)
    return a, p, best


@inline
def _last(
    score: np.ndarray, T: int, trigrams: Trigrams | Empty, end: np.ndarray, L: int
) -> tuple[int, int, float]:
    """(p, y, score) of the best last cell; ties go to the smaller y, then p."""
    now, pairs = _cells(T - 1, trigrams, L)
    best = score[now] + end[0]
    arg_p = 0
    arg = 0
    for y in range(L):
        for p in range(pairs):
            c = score[now + p * L + y] + end[y]
            if c > best:
                best = c
                arg_p = p
                arg = y
    return arg_p, arg, best


@inline
def decode(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    trigrams: Trigrams | Empty,
    start: np.ndarray,
    end: np.ndarray,
    forced: np.ndarray,
    sets: np.ndarray | Empty,
    score: np.ndarray,
    path: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Find the best labelling: writes ``path``, returns its score, and leaves δ in
    ``score`` (T * C,).

    ``forced`` (T,) gives a token its label, one of a set of ``sets``, or -1 for any
    label (see :func:`differs`); an empty ``forced`` forces nothing.
    """
    for y in range(L):
        score[y] = start[y] + emission[y]
    for t in range(T):
        if t > 0:
            _advance(score, t, trigrams, transition, stride, emission, L)
        if forced.shape[0] > 0 and forced[t] != -1:
            first, pairs = _cells(t, trigrams, L)
            for p in range(pairs):
                for y in range(L):
                    if differs(y, forced[t], sets):
                        score[first + p * L + y] = -np.inf
    p, y, total = _last(score, T, trigrams, end, L)
    path[T - 1] = y
    for t in range(T - 1, 0, -1):
        p, y, _ = _before(score, t, trigrams, transition, stride, p, y, L)
        path[t - 1] = y
    return total


@inline
def decode_wrong(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    trigrams: Trigrams | Empty,
    start: np.ndarray,
    end: np.ndarray,
    gold: np.ndarray,
    sets: np.ndarray | Empty,
    score: np.ndarray,
    path: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Find the best labelling that contradicts the gold labels (Gao, Qiu and Huang
    2010, equation 2).

    Equal to the better wrong one of the two best labellings, in one pass: besides the
    best prefixes that agree with gold so far keep the best ones that have deviated;
    ``score`` (2, T * C) holds both. ``gold`` (T,) is as ``forced`` of :func:`decode`.
    Writes ``path`` and returns its score, -inf if there is no such labelling.
    """
    agree = score[0]
    deviated = score[1]
    for y in range(L):
        agree[y] = start[y] + emission[y]
        deviated[y] = -np.inf
    for t in range(T):
        if t > 0:
            _advance(agree, t, trigrams, transition, stride, emission, L)
            _advance(deviated, t, trigrams, transition, stride, emission, L)
        first, pairs = _cells(t, trigrams, L)
        for p in range(pairs if gold[t] != -1 else 0):
            for y in range(L):
                if differs(y, gold[t], sets):  # a step off the gold labels
                    cell = first + p * L + y
                    deviated[cell] = max(agree[cell], deviated[cell])
                    agree[cell] = -np.inf
    p, y, total = _last(deviated, T, trigrams, end, L)
    path[T - 1] = y
    off = True
    for t in range(T - 1, 0, -1):
        a, q, from_agree = _before(agree, t, trigrams, transition, stride, p, y, L)
        if off:
            b, r, from_deviated = _before(
                deviated, t, trigrams, transition, stride, p, y, L
            )
            off = not (differs(y, gold[t], sets) and from_agree > from_deviated)
            if off:
                a = b
                q = r
        p = a
        y = q
        path[t - 1] = y
    return total
