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

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.codes import INSIDE, START
from .._core.compile import inline

if TYPE_CHECKING:
    from .word_beam import SegmentWork
    from .word_features import Int


class Ranked(NamedTuple):
    """Lists of the k best prefixes, best first; ties: the one met first."""

    found: np.ndarray  # (R,) int32: how many a list has
    # (R, k) float64; of a record how far behind its first one: the loss.
    score: np.ndarray
    source: np.ndarray  # (R, k) int32: the record before
    rank: np.ndarray  # (R, k) int32: the rank there


class Lists(NamedTuple):
    """The k best prefixes of each record, and of words that are about to start.

    Scratch.
    """

    kept: Ranked  # record r stands at r + 1; the start of the text, record -1, at 0
    new: Ranked  # of a word that starts after one of ℓ characters, n + 2 of them


def new_lists(work: SegmentWork, k: int) -> Lists:
    """Make scratch beside that of a search, for k segmentations of each text.

    No text of n characters has more than 2 ** (n - 1): there is no room for more.
    """
    m = work.slot.shape[0]
    k = min(k, 2 ** min(m - 3, 62))
    kept = _new_ranked(work.record_length.shape[0] + 1, k)
    new = _new_ranked(m, k)
    kept.found[0] = 1
    kept.score[0, 0] = 0.0
    return Lists(kept, new)


def _new_ranked(R: int, k: int) -> Ranked:
    """Make R empty lists of k prefixes."""
    return Ranked(
        found=np.empty(R, np.int32),
        score=np.empty((R, k)),
        source=np.empty((R, k), np.int32),
        rank=np.empty((R, k), np.int32),
    )


@inline
def offer(lists: Lists, length: Int, score: float, record: Int) -> None:
    """Merge the list of a ``record`` into that of the words that start after a word of
    ``length``; its best prefix has this score there.
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
def keep(lists: Lists, length: Int, record: Int) -> None:
    """Make the list of the word that starts after one of ``length`` that of a
    ``record``: the beam kept it.
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
def trace_rank(
    lists: Lists, record_length: np.ndarray, rank: Int, path: np.ndarray, n: Int
) -> None:
    """Write the decisions of the segmentation of this rank into ``path`` (n + 1,); the
    list of words that start behind the text is at 0.
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
