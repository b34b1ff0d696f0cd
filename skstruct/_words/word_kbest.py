"""The k best segmentations under the states that a beam search keeps.

States are merged where a word starts, and nowhere else; of those that merge the search
keeps the best. Here each such place keeps a list of its k best prefixes: a prefix is a
rank in the list of the word before, which is a *record* of the search. Since features
see no further back than the word before the word in progress, all prefixes of a record
go on alike: what one is behind the best there, its *loss*, it stays behind. So lists
are merged as numbers, no feature is scored twice, and the best of all is what the
search finds without lists (k best lists of a dynamic programme: Huang and Chiang 2005,
"Better k-best parsing", algorithm 1).

With all states kept these are the k best segmentations. Under a beam they are the k
best of those that the beam kept.
"""

from typing import NamedTuple

import numpy as np

from .._core.codes import INSIDE, START
from .._core.compile import inline


class Ranked(NamedTuple):
    """Lists of the k best prefixes, best first; ties: the one met first."""

    found: np.ndarray  # (R,) int32: how many a list has
    score: (
        np.ndarray
    )  # (R, k) float64; of a record how far behind its first one: the loss
    source: np.ndarray  # (R, k) int32: the record before
    rank: np.ndarray  # (R, k) int32: the rank there


class Lists(NamedTuple):
    """The k best prefixes of each record, and of words that are about to start.

    Scratch.
    """

    kept: Ranked  # record r stands at r + 1; the start of the text, record -1, at 0
    new: Ranked  # of a word that starts after one of ℓ characters, n + 2 of them


def new_lists(work, k):
    """Scratch beside that of a search, for k segmentations; no text has more than 2 **
    (n - 1).
    """
    m = work.slot.shape[0]
    k = min(k, 2 ** min(m - 3, 62))
    kept, new = (
        Ranked(np.empty(R, np.int32), np.empty((R, k)), *np.empty((2, R, k), np.int32))
        for R in (work.record_length.shape[0] + 1, m)
    )
    kept.found[0] = 1
    kept.score[0, 0] = 0.0
    return Lists(kept, new)


@inline
def offer(lists, length, score, record):
    """A word of ``length`` ends; the best prefix of its ``record`` has this score
    there. Merge the lists.
    """
    new = lists.new
    r = record + 1
    own = new.score[length]
    loss = lists.kept.score[r]
    k = new.score.shape[1]
    mine = new.found[length]
    theirs = lists.kept.found[r]
    if mine == k and score <= own[k - 1]:
        return
    p = q = 0  # how many of both the merged list has
    while p + q < k and (p < mine or q < theirs):
        if q < theirs and (p == mine or score - loss[q] > own[p]):
            q += 1
        else:
            p += 1
    new.found[length] = p + q
    while q > 0:  # from behind, in place
        place = p + q - 1
        if p > 0 and score - loss[q - 1] > own[p - 1]:
            p -= 1
            own[place] = own[p]
            new.source[length, place] = new.source[length, p]
            new.rank[length, place] = new.rank[length, p]
        else:
            q -= 1
            own[place] = score - loss[q]
            new.source[length, place] = record
            new.rank[length, place] = q


@inline
def keep(lists, length, record):
    """The beam kept the word that starts after one of ``length``: its list is that of
    ``record``.
    """
    kept = lists.kept
    new = lists.new
    r = record + 1
    kept.found[r] = new.found[length]
    for q in range(kept.found[r]):
        kept.score[r, q] = new.score[length, 0] - new.score[length, q]
        kept.source[r, q] = new.source[length, q]
        kept.rank[r, q] = new.rank[length, q]


@inline
def trace_rank(lists, record_length, rank, path, n):
    """Decisions of the segmentation of this rank; the list of words that start behind
    the text is at 0.
    """
    for t in range(n + 1):
        path[t] = INSIDE
    path[n] = START
    begin = n
    record = lists.new.source[0, rank]
    q = lists.new.rank[0, rank]
    while record >= 0:
        begin -= record_length[record]
        path[begin] = START
        record, q = lists.kept.source[record + 1, q], lists.kept.rank[record + 1, q]
