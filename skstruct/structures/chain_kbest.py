"""The k best labellings of a chain, exactly.

Place on the ladder: rung 4. Each cell (t, y) keeps the k best prefixes that end in y at t, best
first; the cell at t + 1 merges the L lists of its predecessors, which are sorted already, so that its
own k best cost one comparison with the heads of the lists each. Labellings are distinct by
construction. Ties go to the smaller previous label, then to the better rank.

Letters: T tokens, L labels, k labellings, r rank within a cell.
"""

import numpy as np

from ..core.compile import inline, kernel
from .chain import forbid, is_plain, score_sequence


@inline
def _merge(previous, transition, at, step, bias, k, L, head, score, back):
    """The k best of the L sorted lists ``previous[p] + transition[at + p * step]``, plus ``bias``.

    ``previous`` (L, k) and ``score`` (k,) are padded with -inf; ``back`` (k,) gets p * k + r.
    """
    for p in range(L):
        head[p] = 0
    for r in range(k):
        best, arg = -np.inf, -1
        for p in range(L):
            if head[p] < k:
                c = previous[p, head[p]] + transition[at + p * step]
                if c > best:
                    best, arg = c, p
        if arg < 0:
            score[r] = -np.inf
            back[r] = -1
        else:
            score[r] = best + bias
            back[r] = arg * k + head[arg]
            head[arg] += 1


@kernel
def predict_kbest(task, i, k, chain, rule, noise, work, cell, back, head, out, score):
    """The k best labellings of sequence i.

    Parameters
    ----------
    cell : ndarray of shape (2, L, k), float64; back : (T, L, k), int64; head : (L,), int64
        Scratch.
    out : ndarray of shape (k, T), int32; score : (k,), float64
        The labellings, best first. Where there are fewer than k, the score is -inf.
    """
    L = chain.nodes.columns
    stride = L * L if task.edges.row.shape[0] > 0 else 0
    T = task.token[i + 1] - task.token[i]
    score_sequence(task, i, chain, rule, noise, is_plain(task, chain, rule, noise), work)
    if task.option.shape[0] > 0:
        forbid(task.option, task.token[i], T, L, work.emission)
    for y in range(L):
        for r in range(k):
            cell[0, y, r] = -np.inf
        cell[0, y, 0] = work.emission[y] + chain.start[y]
    for t in range(1, T):
        for y in range(L):
            _merge(
                cell[(t - 1) % 2], work.transition, t * stride + y, L, work.emission[t * L + y],
                k, L, head, cell[t % 2, y], back[t, y],
            )  # fmt: skip
    # One more merge, into an imaginary last state: row 0 of ``back`` is free for it.
    _merge(cell[(T - 1) % 2], chain.end, 0, 1, 0.0, k, L, head, score, back[0, 0])
    for r in range(k):
        if score[r] == -np.inf:
            continue
        place = back[0, 0, r]
        for t in range(T - 1, -1, -1):
            y = place // k
            out[r, t] = y
            if t > 0:
                place = back[t, y, place % k]
