"""Decoding of the first-order chain: the best labelling, and the best one that is wrong.

Transitions into token t start at ``t * stride``: stride is L * L, or 0 if all tokens share one matrix.
Forward passes keep scores only; the way back finds the argmax again, on the one path that matters: keeping
back pointers would cost more than half of the forward pass.

Letters: T tokens, L labels, t token, y label, p previous label.
"""

import numpy as np

from ..core.compile import inline, spliced

ONE_BY_ONE = 8
"""Up to here Viterbi looks at one label after the other instead of at all of them at once."""


@inline
def differs(y, g, sets):
    """Whether a label contradicts the one that is given, or the set; nothing contradicts UNLABELLED."""
    if len(sets) > 0:
        if g < -1:
            return not sets[-2 - g, y]
    return g >= 0 and y != g


@spliced
def path_score(emission, transition, stride, start, end, path, T, L):
    """The score of a given labelling."""
    score = start[path[0]] + end[path[T - 1]] + emission[path[0]]
    for t in range(1, T):
        score += emission[t * L + path[t]] + transition[t * stride + path[t - 1] * L + path[t]]
    return score


@inline
def _advance(score, before, transition, at, emission, now, L):
    """``score[now + y] = emission[now + y] + max_p score[before + p] + transition[at + p L + y]``."""
    if L <= ONE_BY_ONE:  # one label at a time: its maximum stays in a register
        for y in range(L):
            best = -np.inf
            for p in range(L):
                c = score[before + p] + transition[at + p * L + y]
                best = c if c > best else best
            score[now + y] = best + emission[now + y]
        return
    previous, current = score[before : before + L], score[now : now + L]
    for y in range(L):
        current[y] = -np.inf
    p = 0
    while p + 4 <= L:  # all labels at once: the inner loop becomes vector instructions
        a, b, c, d = previous[p], previous[p + 1], previous[p + 2], previous[p + 3]
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
def _predecessor(score, before, transition, at, y, L):
    """(best p, its score) for a step into y; ties go to the smaller label."""
    best, arg = score[before] + transition[at + y], 0
    for p in range(1, L):
        c = score[before + p] + transition[at + p * L + y]
        arg = p if c > best else arg  # no branch: it would be mispredicted every other token
        best = c if c > best else best
    return arg, best


@inline
def _last(score, now, end, L):
    """(best last label, its score)."""
    best = 0
    for y in range(1, L):
        if score[now + y] + end[y] > score[now + best] + end[best]:
            best = y
    return best, score[now + best] + end[best]


@inline
def viterbi(emission, transition, stride, start, end, forced, sets, score, path, T, L):
    """The best labelling: writes ``path``, returns its score.

    ``δ_t(y) = emission[t, y] + max_p δ_{t-1}(p) + transition[t, p, y]``

    Tokens with a label in ``forced`` (T,) keep it, or get one of ``sets``; an empty ``forced`` forces
    nothing. Ties go to the smaller label, from the last token backwards.
    """
    for y in range(L):
        score[y] = start[y] + emission[y]
    for t in range(T):
        now = t * L
        if t > 0:
            _advance(score, now - L, transition, t * stride, emission, now, L)
        if forced.shape[0] > 0 and forced[t] != -1:
            for y in range(L):
                if differs(y, forced[t], sets):
                    score[now + y] = -np.inf
    best, total = _last(score, (T - 1) * L, end, L)
    path[T - 1] = best
    for t in range(T - 1, 0, -1):
        best, _ = _predecessor(score, (t - 1) * L, transition, t * stride, best, L)
        path[t - 1] = best
    return total


@spliced
def viterbi_wrong(emission, transition, stride, start, end, gold, sets, agree, deviated, path, T, L):
    """The best labelling that contradicts the gold labels (Gao, Qiu and Huang 2010, equation 2).

    Equal to the better wrong one of the two best labellings, in one pass: besides the best prefixes
    that agree with gold so far, ``agree`` (T * L,), keep the best prefixes that have ``deviated`` it.
    Writes ``path`` and returns its score, -inf if there is no such labelling.
    """
    for y in range(L):
        agree[y] = start[y] + emission[y]
        deviated[y] = -np.inf
    for t in range(T):
        g, now = gold[t], t * L
        if t > 0:
            _advance(agree, now - L, transition, t * stride, emission, now, L)
            _advance(deviated, now - L, transition, t * stride, emission, now, L)
        for y in range(L):
            if differs(y, g, sets):
                deviated[now + y] = max(agree[now + y], deviated[now + y])  # a step off the gold labels
                agree[now + y] = -np.inf
    best, total = _last(deviated, (T - 1) * L, end, L)
    path[T - 1] = best
    off = True
    for t in range(T - 1, 0, -1):
        before, at = (t - 1) * L, t * stride
        p, from_agree = _predecessor(agree, before, transition, at, best, L)
        if off:
            p_deviated, from_deviated = _predecessor(deviated, before, transition, at, best, L)
            if differs(best, gold[t], sets) and from_agree > from_deviated:
                off = False
            else:
                p = p_deviated
        best = p
        path[t - 1] = best
    return total
