"""Beam search for words.

States and scores are explained in :mod:`.word_epoch`.

Merging only ever happens between states that start a word at the same place, after
words of equal length; so one slot for each length finds the state to merge with.

Letters: n characters, B beam, i the place of a decision, ℓ and ℓ' lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.codes import EARLY, FREE, INSIDE, MAX_VIOLATION, START, ZC14
from .._core.compile import inline, spliced
from .._core.rules import Difference, new_difference
from .word_features import (
    N_NUMBERS,
    PAD,
    ROWS_EACH,
    extend_word,
    sum_characters,
    sum_decisions,
    sum_words,
)
from .word_kbest import keep, offer

if TYPE_CHECKING:
    from .._core.rules import Adjustment
    from .word_features import Int, Scorer
    from .word_kbest import Lists


class SegmentTask(NamedTuple):
    """Texts as integers; n texts, N characters. Read-only."""

    token: np.ndarray  # (n + 1,) int64: first character of each text
    char: np.ndarray  # (N,) int32: code point + 1
    # (N,) int8: decision the search must take, or FREE; START at the first character.
    limit: np.ndarray
    # (N,) int8: the right decision, FREE where it is not known; empty in prediction.
    gold: np.ndarray
    weight: np.ndarray  # (n,) float64: weight of each text


class States(NamedTuple):
    """States of a search; room for M.

    Few arrays: kernels with many take long to compile.
    """

    score: np.ndarray  # (M, 3) float64: columns SCORE, DONE, INNER
    fact: np.ndarray  # (M, 6) int64: columns LENGTH ... AGREES


SCORE = 0
DONE = 1
INNER = 2
"""Of a state: what the beam compares; ZC14: that without the word in progress; the
pairs inside of it.
"""

LENGTH, BEFORE, NODE, NODE_BEFORE, RECORD, AGREES = range(6)
"""Of a state: ℓ; ℓ', 0 at the first word; the nodes of both words; the last finished
word; whether no decision so far contradicts what is known. A candidate has the node of
its word but for the last character, and the record of the state it comes from.
"""


class SegmentWork(NamedTuple):
    """Scratch for texts of up to n characters; belongs to one thread."""

    char: np.ndarray  # (n + 2 PAD,) int64: padded
    hidden: np.ndarray  # (n + 2 PAD,) bool
    keys: np.ndarray  # (N_NUMBERS, 4) int64
    # (4, 2) float64: sums by decision, see sum_characters; row 3: of a state.
    total: np.ndarray
    shared: np.ndarray  # (n + 2, 2) float64: ZSZ18: sums that states of equal ℓ share
    shared_at: np.ndarray  # (n + 2,) int32: the i they belong to
    now: States
    candidate: States
    order: np.ndarray  # (M,) int32: candidates kept, best first
    slot: np.ndarray  # (n + 2,) int32: candidate that starts a word, by ℓ'; -1 for none
    record_length: np.ndarray  # (S,) int32: length of a finished word
    record_parent: np.ndarray  # (S,) int32: the record of the word before; -1 for none
    forced: np.ndarray  # (n + 1,) int8: what completes a text that is segmented in part
    path: np.ndarray  # (n + 1,) int8: the predicted decisions
    # (n + 1,) int8: the right decisions, completed where they are not known.
    target: np.ndarray
    difference: Difference
    # (3,) float64: updates, wrong decisions, loss since it was last cleared.
    stats: np.ndarray


def new_states(m: int) -> States:
    """Make room for m states."""
    return States(np.empty((m, 3)), np.empty((m, 6), np.int64))


def new_work(task: SegmentTask, beam: int, training: bool = True) -> SegmentWork:
    """Make scratch that fits every text of ``task`` under a beam of this size.

    A beam of 0 keeps all states. Without ``training`` there is no room for what an
    example teaches.
    """
    n = int(np.diff(task.token).max(initial=1))
    most = n * (n - 1) // 2 + 1  # states before the last decision
    kept = min(beam, most) if beam else most
    records = n * min(kept, n) + 1
    return SegmentWork(
        char=np.zeros(n + 2 * PAD, np.int64),
        hidden=np.zeros(n + 2 * PAD, np.bool_),
        keys=np.full((N_NUMBERS, 4), -1, np.int64),
        total=np.zeros((4, 2)),
        shared=np.zeros((n + 2, 2)),
        shared_at=np.zeros(n + 2, np.int32),
        now=new_states(kept + 1),
        candidate=new_states(kept + min(kept, n) + 1),
        order=np.empty(kept, np.int32),
        slot=np.full(n + 2, -1, np.int32),
        record_length=np.empty(records, np.int32),
        record_parent=np.empty(records, np.int32),
        forced=np.empty(n + 1, np.int8),
        path=np.empty(n + 1, np.int8),
        target=np.empty(n + 1, np.int8),
        difference=new_difference(2 * ROWS_EACH * (n + 1) if training else 0),
        stats=np.zeros(3),
    )


# --------------------------------------------------------------------------------------
# Search
# --------------------------------------------------------------------------------------
@inline
def _set(
    states: States,
    k: Int,
    score: float,
    inner: float,
    length: Int,
    before: Int,
    node: Int,
    node_before: Int,
    record: Int,
    agrees: Int,
) -> None:
    states.score[k, SCORE] = states.score[k, DONE] = score
    states.score[k, INNER] = inner
    fact = states.fact[k]
    fact[LENGTH] = length
    fact[BEFORE] = before
    fact[NODE] = node
    fact[NODE_BEFORE] = node_before
    fact[RECORD] = record
    fact[AGREES] = agrees


@spliced
def copy_state(states: States, a: Int, out: States, z: Int) -> None:
    """Copy a state to place z of others."""
    for j in range(3):
        out.score[z, j] = states.score[a, j]
    for j in range(6):
        out.fact[z, j] = states.fact[a, j]


@inline
def begin_states(states: States, size: Int) -> None:
    """Write the states before the first character."""
    for z in range(size):
        states.score[z] = 0.0
        states.fact[z] = 0
        states.fact[z, RECORD] = -1
        states.fact[z, AGREES] = 1


@inline
def _best_first(score: np.ndarray, k: Int, order: np.ndarray) -> Int:
    """Write the best of k candidates into ``order``, as many as it holds, best first;
    returns how many. Ties go to the one created first.
    """
    B = order.shape[0]
    kept = 0
    for a in range(k):
        v = score[a, SCORE]
        if kept == B:
            if v <= score[order[B - 1], SCORE]:
                continue
            kept -= 1
        place = kept
        while place > 0 and score[order[place - 1], SCORE] < v:
            order[place] = order[place - 1]
            place -= 1
        order[place] = a
        kept += 1
    return kept


@inline
def trace(work: SegmentWork, begin: Int, record: Int, path: np.ndarray, n: Int) -> None:
    """Write the decisions of a text of n characters into ``path``: the word in progress
    begins at ``begin``, the words before it are those of ``record``.
    """
    for k in range(n + 1):
        path[k] = INSIDE
    path[begin] = START
    while record >= 0:
        begin -= work.record_length[record]
        path[begin] = START
        record = work.record_parent[record]


@inline
def search(
    limit: np.ndarray,
    given: np.ndarray,
    shadow: bool,
    model: Scorer,
    adjustment: Adjustment | None,
    work: SegmentWork,
    path: np.ndarray,
    lists: Lists | None,
    part: np.ndarray | None = None,
) -> tuple[Int, float, float]:
    """Search the text in ``work.char``; writes the best decisions to ``path``.

    Parameters
    ----------
    limit : (n,) int8
        Decisions that must be taken, or FREE.
    given : (n,) int8
        Decisions that are right, or FREE. The prefix ends as ``model.update`` says when
        the best states contradict them. Empty in prediction.
    shadow : bool
        Whether to score ``work.target`` alongside.
    lists : Lists or None
        Where to keep the k best prefixes, in prediction; the list of the whole text is
        then that of the words after one of no characters. With None the code for it is
        not there: it is compiled apart.
    part : (3,) int64 or None
        Take the decisions ``part[0] <= i < part[1]`` only, from the ``part[2]`` states
        in ``work.now``, whose number is then written there; no path. With None the code
        for it is not there.

    Returns
    -------
    m : int
        Decisions of the prefix; n + 1 for a whole segmentation.
    score : float
        Of the best prefix, in units of stored values.
    gap : float
        ``score`` minus that of the target's prefix; 0 without ``shadow``.
    """
    n = limit.shape[0]
    now = work.now
    new = work.candidate
    slot = work.slot
    total = work.total
    words = model.templates == ZC14
    tracked = given.shape[0] > 0
    extra = 1 if shadow else 0  # the target is one more state, behind those of the beam
    worst = -np.inf
    m = -1
    begin = 0
    record = -1
    score = 0.0
    n_records = 0
    size: Int = 1
    zero = np.int64(0)
    first = 0
    last = n + 1
    if part is None:
        work.shared_at[: n + 1] = 0  # the scratch fits the longest text
        begin_states(now, size + extra)
    else:
        first = part[0]
        last = part[1]
        size = part[2]
    for i in range(first, last):
        may_start = i == n or limit[i] != INSIDE
        may_go_on = i < n and limit[i] != START
        right = given[i] if tracked and i < n else FREE
        if i > 0:
            sum_characters(model, adjustment, i, work)
        k = zero
        for z in range(size + extra):
            fact = now.fact[z]
            length = fact[LENGTH]
            before = fact[BEFORE]
            node = fact[NODE]
            node_before = fact[NODE_BEFORE]
            last_record = fact[RECORD]
            agrees = fact[AGREES]
            v_start = v_inside = now.score[z, SCORE]
            if words:
                v_inside = now.score[z, DONE]
            elif i > 0:
                sum_decisions(
                    model, adjustment, i, length, before, node, node_before, work
                )
                v_start += total[3, START]
                v_inside += total[3, INSIDE]
            target = z == size  # it has one successor, which merges with none
            if work.target[i] != INSIDE if target else may_start:
                at = k if target else slot[length]
                if at < 0:
                    at = k
                    slot[length] = k
                    k += 1
                    new.score[at, DONE] = -np.inf
                    if lists is not None:
                        lists.new.found[length] = 0
                if lists is not None:
                    offer(lists, length, v_start, last_record)
                if target or v_start > new.score[at, DONE]:
                    still = agrees if right != INSIDE else 0
                    _set(
                        new,
                        at,
                        v_start,
                        0.0,
                        zero + 1,
                        length,
                        zero,
                        node,
                        last_record,
                        still,
                    )
            if work.target[i] == INSIDE if target else may_go_on:
                inner = now.score[z, INNER] + total[0, 0]
                still = agrees if right != START else 0
                _set(
                    new,
                    k,
                    v_inside,
                    inner,
                    length + 1,
                    before,
                    node,
                    node_before,
                    last_record,
                    still,
                )
                if not target:
                    k += 1
        for z in range(size):
            slot[now.fact[z, LENGTH]] = -1
        if (
            words and i < n
        ):  # nodes of the words in progress, and scores as if they ended here
            for a in range(k + extra):
                fact = new.fact[a]
                score_of = new.score[a]
                fact[NODE] = extend_word(
                    model.features.table, fact[NODE], work.char[PAD + i]
                )
                total[3, 0] = score_of[DONE] + score_of[INNER]
                length = fact[LENGTH]
                before = fact[BEFORE]
                node = fact[NODE]
                node_before = fact[NODE_BEFORE]
                sum_words(
                    model, adjustment, i + 1, length, before, node, node_before, work
                )
                score_of[SCORE] = total[3, 0]
        size = _best_first(new.score, k, work.order) if model.beam else k
        alive = False
        best = 0
        for z in range(size + extra):
            source: Int = np.int64(k)
            if z < size:
                source = np.int64(work.order[z]) if model.beam else z
            fact = now.fact[z]
            copy_state(new, source, now, z)
            if not words and i < n:
                fact[NODE] = extend_word(
                    model.features.table, fact[NODE], work.char[PAD + i]
                )
            if z == size:
                continue
            alive = alive or fact[AGREES] == 1
            best = z if now.score[z, SCORE] > now.score[best, SCORE] else best
            if fact[LENGTH] == 1 and fact[BEFORE] > 0:  # a word was finished
                work.record_length[n_records] = fact[BEFORE]
                work.record_parent[n_records] = fact[RECORD]
                fact[RECORD] = n_records
                if lists is not None:
                    keep(lists, fact[BEFORE], n_records)
                n_records += 1
        top = now.score[best, SCORE]
        fact = now.fact[best]
        gap = top - now.score[size, SCORE] if shadow else 0.0
        stop = i + 1 == last or (tracked and model.update == EARLY and not alive)
        violated = model.update == MAX_VIOLATION and tracked and fact[AGREES] == 0
        if gap > worst if violated else stop:
            worst = gap
            m = i + 1
            score = top
            begin = i + 1 - fact[LENGTH]
            record = fact[RECORD]
        if stop:
            break
    if lists is not None:  # what ends the text
        lists.new.found[0] = 0
        for z in range(size):
            offer(lists, zero, now.score[z, SCORE], now.fact[z, RECORD])
    if part is None:
        trace(work, begin, record, path, n)
    else:
        part[2] = size
    return m, score, worst if shadow else 0.0
