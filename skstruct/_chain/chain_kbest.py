"""The k best labellings of a chain, exactly, and found only as far as they are asked
for.

Viterbi's forward pass gives the best prefix of each cell. A cell's next best prefix
ends in the next best prefix of one of its predecessors; which one needs only the heads
of the predecessors' lists, and only cells that lie on labellings found so far have
lists at all (Jiménez and Marzal 1999, "Computing the k shortest paths", recursive
enumeration). So the forward pass costs what prediction does, and each further labelling
O(T L) at most.

A *cell* at t is the label y, or in the second order the pair p * L + y (at t = 0: y); C
cells a token. Labellings are distinct by construction. Ties go to the smaller previous
label, then to the better rank.

Letters: T tokens, L labels, C cells, k labellings, r rank within a cell, j predecessor
of a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.compile import inline, kernel
from .bigram import forbid, reads_whole_rows, score_sequence, stride_of
from .viterbi import decode

if TYPE_CHECKING:
    from .._core.store import Rule
    from .bigram import Chain, ChainTask, ChainWork, Empty, General
    from .second_order import Trigrams


class Lists(NamedTuple):
    """Ranked prefixes of the cells that need them; room for S such cells, P prefixes.

    Scratch.
    """

    slot: np.ndarray  # (T * C,) int32: where a cell's list is, -1 if it has none
    used: np.ndarray  # (2,) int64: slots given away, and places of prefixes
    found: np.ndarray  # (S,) int64: prefixes ranked so far
    first: np.ndarray  # (S,) int64: the place of the first; the others follow
    room: np.ndarray  # (S,) int64: places that the list has
    score: np.ndarray  # (P,) float64
    before: np.ndarray  # (P,) int32: the predecessor j, -1 if there is none
    rank: np.ndarray  # (P,) int32: the rank there
    head: np.ndarray  # (S * L,) int64: for each predecessor the rank not used yet
    end_head: np.ndarray  # (C,) int64: as head, for the end of the sequence
    cell: np.ndarray  # (T,) int64: cells whose next prefix is being looked for
    path: np.ndarray  # (T,) int32: the best labelling


class Trellis(NamedTuple):
    """Scores of one sequence after a forward pass.

    ``delta`` at t * C + cell; see :func:`_arcs`.
    """

    second: bool
    delta: np.ndarray
    arc: np.ndarray  # first order: transitions; second order: trigrams
    emission: np.ndarray
    transition: np.ndarray
    stride: int
    end: np.ndarray


def new_lists(token: np.ndarray, L: int, order: int, k: int) -> Lists:
    """Make scratch for the k best labellings of sequences that start at ``token``.

    A labelling needs at most one new list a token.
    """
    T = int(np.diff(token).max(initial=1))
    C = L**order
    S = T * min(k, C)
    # It ranks one more prefix a token. Lists that double have had four places for each
    # in all: `_next_place`.
    P = 4 * (S + T * (k - 1))
    return Lists(
        slot=np.empty(T * C, np.int32),
        used=np.empty(2, np.int64),
        found=np.empty(S, np.int64),
        first=np.empty(S, np.int64),
        room=np.empty(S, np.int64),
        score=np.empty(P),
        before=np.empty(P, np.int32),
        rank=np.empty(P, np.int32),
        head=np.empty(S * L, np.int64),
        end_head=np.empty(C, np.int64),
        cell=np.empty(T, np.int64),
        path=np.empty(T, np.int32),
    )


@inline
def _arcs(
    trellis: Trellis, t: int, cell: int, L: int
) -> tuple[int, int, int, int, int, float]:
    """Describe the steps into a cell at t > 0: (n, first, step, at, jump, bias).

    Predecessor j < n is the cell ``first + j * step`` at t - 1 and its step scores
    ``arc[at + j * jump]``; ``bias`` is the same for all.
    """
    if not trellis.second:
        return L, 0, 1, t * trellis.stride + cell, L, trellis.emission[t * L + cell]
    p = cell // L
    y = cell % L
    bias = trellis.emission[t * L + y] + trellis.transition[t * trellis.stride + cell]
    at = p * (L + 1) * L + y
    if t == 1:
        return 1, p, 1, at, L, bias
    return L, p, L, at + L, L, bias


@inline
def _value(trellis: Trellis, lists: Lists, t: int, cell: int, r: int, C: int) -> float:
    """Return the score of the prefix of rank r in a cell; its rank is known, or 0."""
    if r == 0:
        return trellis.delta[t * C + cell]
    return lists.score[lists.first[lists.slot[t * C + cell]] + r]


@inline
def _next_place(lists: Lists, slot: int) -> int:
    """Return the place of a list's next prefix.

    A list without room moves to twice as many places.
    """
    n = lists.found[slot]
    if n == lists.room[slot]:
        old = lists.first[slot]
        new = lists.used[1]
        for r in range(n):
            lists.score[new + r] = lists.score[old + r]
            lists.before[new + r] = lists.before[old + r]
            lists.rank[new + r] = lists.rank[old + r]
        lists.first[slot] = new
        lists.room[slot] = max(2 * n, 2)
        lists.used[1] += lists.room[slot]
    lists.found[slot] += 1
    return lists.first[slot] + n


@inline
def _append(
    trellis: Trellis, lists: Lists, t: int, cell: int, slot: int, L: int, C: int
) -> None:
    """Rank the next prefix of a cell at t > 0, by the heads of its predecessors."""
    n, first, step, at, jump, bias = _arcs(trellis, t, cell, L)
    best = -np.inf
    arg = -1
    for j in range(n):
        c = _value(trellis, lists, t - 1, first + j * step, lists.head[slot * L + j], C)
        c += trellis.arc[at + j * jump]
        if c > best:
            best = c
            arg = j
    place = _next_place(lists, slot)
    lists.score[place] = best + bias
    lists.before[place] = arg
    lists.rank[place] = 0 if arg < 0 else lists.head[slot * L + arg]


@inline
def _rank(
    trellis: Trellis, lists: Lists, t: int, cell: int, r: int, L: int, C: int
) -> None:
    """Make the prefix of rank r >= 1 of a cell known; those before it are, or r is
    1.
    """
    bottom = t
    while True:  # down, as long as the prefix needed next is not known
        slot = np.int64(lists.slot[bottom * C + cell])
        if slot < 0:
            slot = lists.used[0]
            lists.used[0] += 1
            lists.slot[bottom * C + cell] = slot
            lists.found[slot] = lists.room[slot] = 0
            for j in range(L):
                lists.head[slot * L + j] = 0
            if bottom > 0:
                _append(trellis, lists, bottom, cell, slot, L, C)
            else:  # nothing comes before: one prefix, its label
                place = _next_place(lists, slot)
                lists.score[place] = trellis.delta[cell]
                lists.before[place] = -1
        if lists.found[slot] > r:
            bottom += 1
            break
        lists.cell[bottom] = cell
        place = lists.first[slot] + r - 1
        before: Any = np.int64(lists.before[place])  # an integer
        if bottom == 0 or before < 0:
            break
        n, first, step, at, jump, bias = _arcs(trellis, bottom, cell, L)
        cell = first + before * step
        r = np.int64(lists.rank[place]) + 1  # type: ignore[assignment]  # an int to numba
        bottom -= 1
    for u in range(bottom, t + 1):  # and up again
        cell = lists.cell[u]
        slot = np.int64(lists.slot[u * C + cell])
        last = np.int64(lists.before[lists.first[slot] + lists.found[slot] - 1])
        if last < 0:  # the list is at its end
            place = _next_place(lists, slot)
            lists.score[place] = -np.inf
            lists.before[place] = -1
        else:
            lists.head[slot * L + last] += 1
            _append(trellis, lists, u, cell, slot, L, C)


@inline
def _trace(
    trellis: Trellis,
    lists: Lists,
    T: int,
    cell: int,
    r: int,
    L: int,
    C: int,
    out: np.ndarray,
) -> None:
    """Write the labels of the prefix of rank r of a cell at T - 1."""
    path = lists.path
    for t in range(T - 1, -1, -1):
        best_cell = np.int64(path[t])
        if trellis.second and t > 0:
            best_cell += path[t - 1] * L
        if r == 0 and cell == best_cell:  # the best labelling from here on
            for u in range(t + 1):
                out[u] = path[u]
            return
        out[t] = cell % L if trellis.second else cell
        if t == 0:
            return
        n, first, step, at, jump, bias = _arcs(trellis, t, cell, L)
        slot = np.int64(lists.slot[t * C + cell])
        if slot >= 0:
            place = lists.first[slot] + r
            cell = first + lists.before[place] * step
            r = np.int64(lists.rank[place])  # type: ignore[assignment]  # an int to numba
            continue
        # no list: what Viterbi's way back would find
        best = -np.inf
        arg = 0
        for j in range(n):
            c = (
                trellis.delta[(t - 1) * C + first + j * step]
                + trellis.arc[at + j * jump]
            )
            if c > best:
                best = c
                arg = j
        cell = first + arg * step
        r = 0


@inline
def _enumerate(
    trellis: Trellis,
    lists: Lists,
    T: int,
    L: int,
    C: int,
    k: int,
    out: np.ndarray,
    score: np.ndarray,
) -> int:
    """Write the labellings to ``out`` (k * T,), best first, and their scores; returns
    how many.
    """
    lists.used[0] = lists.used[1] = 0
    for place in range(T * C):
        lists.slot[place] = -1
    pairs = trellis.second and T > 1
    n = L * L if pairs else L
    for cell in range(n):
        lists.end_head[cell] = 0
    for found in range(k):
        best = -np.inf
        arg: Any = np.int64(-1)  # an integer
        # Ties go to the smaller last label, then to the smaller one before.
        for j in range(n):
            cell = (j % L) * L + j // L if pairs else j
            c = _value(trellis, lists, T - 1, cell, lists.end_head[cell], C)
            c += trellis.end[j // L if pairs else j]
            if c > best:
                best = c
                arg = cell
        if arg < 0:
            return found
        r = lists.end_head[arg]
        score[found] = best
        _trace(trellis, lists, T, arg, r, L, C, out[found * T : (found + 1) * T])
        if found + 1 < k:
            _rank(trellis, lists, T - 1, arg, r + 1, L, C)
            lists.end_head[arg] += 1
    return k


@kernel
def predict_kbest(
    task: ChainTask,
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    trigrams: Trigrams | Empty,
    work: ChainWork,
    k: int,
    lists: Lists,
    out: np.ndarray,
    score: np.ndarray,
    found: np.ndarray,
) -> None:
    """Find the k best labellings of each sequence.

    Parameters
    ----------
    task, chain, rule, general, trigrams, work
        See :func:`.chain_arguments.prediction_arguments`.
    lists : Lists
    out : ndarray of shape (k * N,), int32
        The labellings of sequence i start at ``k * task.token[i]``, best first.
    score : (k * n,), float64
    found : (n,), int64
        How many there are: fewer than k if there are no more. A sequence without tokens
        has none.
    """
    L = chain.start.shape[0]
    stride = stride_of(task, L, general)
    whole_rows = reads_whole_rows(chain, rule, general)
    for i in range(found.shape[0]):
        first = task.token[i]
        T = task.token[i + 1] - task.token[i]
        found[i] = 0
        if T == 0:
            continue
        score_sequence(task, i, chain, rule, general, whole_rows, work)
        forbid(task.option, first, T, L, work.emission)
        decode(
            work.emission, work.transition, stride, trigrams, chain.start, chain.end, task.gold[:0], (),
            work.score[0], lists.path, T, L,
        )  # fmt: skip
        second = False
        C = L
        arc = work.transition
        if len(trigrams) > 0:
            second = True
            C = L * L
            arc = trigrams.score
        trellis = Trellis(
            second,
            work.score[0],
            arc,
            work.emission,
            work.transition,
            stride,
            chain.end,
        )
        found[i] = _enumerate(
            trellis,
            lists,
            T,
            L,
            C,
            k,
            out[k * first : k * (first + T)],
            score[k * i : k * (i + 1)],
        )
