"""The k best segmentations under the states that a beam search keeps.

States are merged where a word starts, and nowhere else; of those that merge the search keeps the best. Here
each such place keeps a list of its k best prefixes: a prefix is a rank in the list of the word before, which
is a *record* of the search. Since features see no further back than the word before the word in progress,
all prefixes of a record go on alike: what one is behind the best there, its *loss*, it stays behind. So lists
are merged as numbers, no feature is scored twice, and the best of all is what the search finds without lists
(k best lists of a dynamic programme: Huang and Chiang 2005, "Better k-best parsing", algorithm 1).

With all states kept these are the k best segmentations. Under a beam they are the k best of those that the
beam kept.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import INSIDE, START
from ..core.compile import inline


class Lists(NamedTuple):
    """The k best prefixes of each record, and of words that are about to start. Scratch.

    Record r stands at r + 1; the start of the text, record -1, at 0. Best first; ties: the one met first.
    """

    found: np.ndarray  # (R + 1,) int32: prefixes of a record
    loss: np.ndarray  # (R + 1, k) float64: how far behind the first of the record
    source: np.ndarray  # (R + 1, k) int32: the record before
    rank: np.ndarray  # (R + 1, k) int32: the rank there
    new_found: np.ndarray  # (n + 2,) int32: the same for a word that starts after one of ℓ characters
    new_score: np.ndarray  # (n + 2, k) float64
    new_source: np.ndarray  # (n + 2, k) int32
    new_rank: np.ndarray  # (n + 2, k) int32


def new_lists(work, k):
    """Scratch beside that of a search, for k segmentations; no text has more than 2 ** (n - 1)."""
    R, m = work.record_length.shape[0], work.slot.shape[0]
    k = min(k, 2 ** min(m - 3, 62))
    lists = Lists(
        found=np.empty(R + 1, np.int32),
        loss=np.empty((R + 1, k)),
        source=np.empty((R + 1, k), np.int32),
        rank=np.empty((R + 1, k), np.int32),
        new_found=np.empty(m, np.int32),
        new_score=np.empty((m, k)),
        new_source=np.empty((m, k), np.int32),
        new_rank=np.empty((m, k), np.int32),
    )
    lists.found[0], lists.loss[0, 0] = 1, 0.0
    return lists


@inline
def offer(lists, length, score, record):
    """A word of ``length`` ends; the best prefix of its ``record`` has this score there. Merge the lists."""
    r = record + 1
    own, loss, k = lists.new_score[length], lists.loss[r], lists.loss.shape[1]
    mine, theirs = lists.new_found[length], lists.found[r]
    if mine == k and score <= own[k - 1]:
        return
    p = q = 0  # how many of both the merged list has
    while p + q < k and (p < mine or q < theirs):
        if q < theirs and (p == mine or score - loss[q] > own[p]):
            q += 1
        else:
            p += 1
    lists.new_found[length] = p + q
    while q > 0:  # from behind, in place
        place = p + q - 1
        if p > 0 and score - loss[q - 1] > own[p - 1]:
            p -= 1
            own[place] = own[p]
            lists.new_source[length, place] = lists.new_source[length, p]
            lists.new_rank[length, place] = lists.new_rank[length, p]
        else:
            q -= 1
            own[place] = score - loss[q]
            lists.new_source[length, place] = record
            lists.new_rank[length, place] = q


@inline
def keep(lists, length, record):
    """The beam kept the word that starts after one of ``length``: its list is that of ``record``."""
    r = record + 1
    lists.found[r] = lists.new_found[length]
    for q in range(lists.found[r]):
        lists.loss[r, q] = lists.new_score[length, 0] - lists.new_score[length, q]
        lists.source[r, q] = lists.new_source[length, q]
        lists.rank[r, q] = lists.new_rank[length, q]


@inline
def trace_rank(lists, record_length, rank, path, n):
    """Decisions of the segmentation of this rank; the list of words that start behind the text is at 0."""
    for t in range(n + 1):
        path[t] = INSIDE
    path[n] = START
    begin, record, q = n, lists.new_source[0, rank], lists.new_rank[0, rank]
    while record >= 0:
        begin -= record_length[record]
        path[begin] = START
        record, q = lists.source[record + 1, q], lists.rank[record + 1, q]
