"""Word segmentation: scores of words in a text, and the difference that an example
teaches.

A segmentation of n characters is a decision at each of 0 ... n: a word starts there
(START; the first and the last are given) or goes on (INSIDE). The search
(:mod:`.word_beam`) reads the characters from left to right; a state before the decision
at i is the length ℓ of the word in progress and the length ℓ' of the word before. All
features are functions of (i, ℓ, ℓ') and the decision, so states that agree in these are
merged without loss. Of those that remain the B best are kept; with all of them the
search is exact, and cubic in n.

* ZSZ18 (Zhang, Sun and Zhou 2012; Zhang, Su and Zhou 2014, section 6) scores decisions.
* ZC14 (Zhang and Clark 2007) scores pairs of adjacent words. Their decoder compares
  prefixes as if the word in progress ended here, and so does this one.

Learning uses the prefix up to which the search went wrong: until the right state is
lost (early update, Collins and Roark 2004), where it falls back most (max-violation,
Huang, Fayong and Guo 2012), or all of it.

Letters: n characters, i the place of a decision, m decisions of a prefix, ℓ and ℓ'
lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.codes import (
    DONE,
    FREE,
    INSIDE,
    MAX_VIOLATION,
    RESCALE,
    STANDARD,
    START,
    TABLE_FULL,
    ZC14,
)
from .._core.compile import inline, kernel, spliced
from .._core.feature_table import lacks_room, new_table, with_room
from .._core.noise import QUIET
from .._core.rules import adjustment_of, clear, learn
from .._core.store import SMALLEST_SCALE, new_clock
from .word_beam import (
    BEFORE,
    LENGTH,
    SCORE,
    begin_states,
    copy_state,
    new_states,
    new_work,
    search,
)
from .word_features import ROWS_EACH, Scorer, emit_decision, load
from .word_kbest import trace_rank

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.rules import Adjustment
    from .._core.store import Rule
    from .word_beam import SegmentTask, SegmentWork, States
    from .word_features import Int
    from .word_kbest import Lists


@inline
def count_differing(target: np.ndarray, path: np.ndarray, m: Int) -> Int:
    """Count the decisions before m at which the states, or what is decided, differ."""
    differing = 0
    # Where the word in progress, and the one before, begin.
    a_word = b_word = a_last = b_last = 0
    for i in range(1, m):
        if a_word != b_word or a_last != b_last or target[i] != path[i]:
            differing += 1
        if target[i] == START:
            a_last = a_word
            a_word = i
        if path[i] == START:
            b_last = b_word
            b_word = i
    return differing


@inline
def emit_path(
    model: Scorer,
    adjustment: Adjustment | None,
    work: SegmentWork,
    path: np.ndarray,
    other: np.ndarray,
    m: Int,
    amount: float,
) -> None:
    """Emit the features of the first m decisions of ``path``, without those that
    ``other`` has too.
    """
    n = path.shape[0] - 1
    words = model.templates == ZC14
    zero = np.int64(0)
    # Where the word in progress, and the one before, begin.
    word: Int = zero
    last: Int = zero
    other_word: Int = zero
    other_last: Int = zero
    for i in range(1, min(m, n) + 1 if words else m):
        decision = zero + path[i]
        theirs = zero + other[i]
        if i == m:  # the word in progress counts as if it ended here
            decision = theirs = zero + START
        # A pair of characters, which does not look at words.
        alone = words and decision == INSIDE
        if decision != theirs or (
            not alone and (word != other_word or last != other_last)
        ):
            emit_decision(
                model, adjustment, work, last, word, zero + i, decision, amount
            )
        if decision == START:
            last = word
            word = i
        if theirs == START:
            other_last = other_word
            other_word = i


@spliced
def _load_gold(gold: np.ndarray, limit: np.ndarray, n: Int, work: SegmentWork) -> bool:
    """Write what is known of a text into ``work.target``, and what its best completion
    has to respect into ``work.forced``; returns whether it is known in part only.
    """
    partly = False
    for t in range(n):
        work.target[t] = gold[t]
        work.forced[t] = gold[t] if gold[t] != FREE else limit[t]
        partly = partly or gold[t] == FREE
    work.target[n] = START
    return partly


@spliced
def _count_mistakes(gold: np.ndarray, path: np.ndarray, m: Int) -> Int:
    """Count the first m decisions that contradict what is known."""
    mistakes = 0
    for t in range(m):
        if gold[t] != FREE and gold[t] != path[t]:
            mistakes += 1
    return mistakes


@kernel
def _epoch(
    task: SegmentTask,
    order: np.ndarray,
    begin: int,
    end: int,
    model: Scorer,
    rule: Rule,
    noise: Noise,
    adjustment: Adjustment | None,
    work: SegmentWork,
) -> tuple[int, int]:
    """Visit the texts ``order[begin:end]`` in turn: search, step, tick.

    Returns (code, k): DONE and ``end``, or why it stopped before text ``order[k]`` was
    learned: TABLE_FULL (grow the model and call again from k) or RESCALE (rebase the
    store).
    """
    path = work.path
    target = work.target
    difference = work.difference
    for k in range(begin, end):
        i = order[k]
        if model.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        first = task.token[i]
        stop = task.token[i + 1]
        n = stop - first
        gold = task.gold[first:stop]
        limit = task.limit[first:stop]
        load(
            task.char[first:stop], n, model.clock.step[0], noise, work.char, work.hidden
        )
        partly = _load_gold(gold, limit, n, work)
        # With all decisions known, a state that is lost is lost to a better one. The
        # best completion of a text known in part may have been lost to a worse: its
        # search had the beam for itself.
        shadow = partly or model.update == MAX_VIOLATION
        m = n
        gap = 0.0
        # First the best completion of what is known.
        for final in range(0 if partly else 1, 2):
            known = limit if final else work.forced[:n]
            right = gold if final else gold[:0]
            out = path[: n + 1] if final else target[: n + 1]
            m, _, gap = search(
                known, right, shadow and final == 1, model, adjustment, work, out, None
            )
        mistakes = _count_mistakes(gold, path, min(m, n))
        if mistakes > 0 and (gap >= 0.0 or model.update == STANDARD):
            differing = count_differing(target, path, min(m + 1, n + 1))
            # Features, and the words, prefix by prefix; checked before anything
            # changes.
            if lacks_room(model.features, 2 * (ROWS_EACH * differing + m)):
                return TABLE_FULL, k
            emit_path(model, adjustment, work, target[: n + 1], path[: n + 1], m, 1.0)
            emit_path(model, adjustment, work, path[: n + 1], target[: n + 1], m, -1.0)
            work.stats[0] += 1.0
            work.stats[1] += mistakes
            work.stats[2] += 1.0
        learn(model.features, difference, model.clock, rule, adjustment, task.weight[i])
    return DONE, end


@kernel
def predict(
    task: SegmentTask,
    begin: int,
    end: int,
    model: Scorer,
    noise: Noise,
    work: SegmentWork,
    lists: Lists | None,
    out: np.ndarray,
    score: np.ndarray,
    found: np.ndarray,
) -> None:
    """Segment the texts ``begin <= i < end``: the best segmentation, or with ``lists``
    the k best.

    Writes how many text i has to ``found[i]``, 0 if it is empty, and their scores to
    ``score[i]``, (n, k) float64, of the k best that the beam keeps; to ``out``, (k *
    N,) int8, the decisions of all of them, one behind the other.
    """
    place = 0
    for i in range(begin, end):
        first = task.token[i]
        stop = task.token[i + 1]
        n = stop - first
        score[i, 0] = 0.0
        found[i] = 0
        if n > 0:
            load(
                task.char[first:stop],
                n,
                model.clock.step[0],
                noise,
                work.char,
                work.hidden,
            )
            limit = task.limit[first:stop]
            nothing = task.gold[:0]
            path = work.path[: n + 1]
            _, score[i, 0], _ = search(
                limit, nothing, nothing.shape[0] > 0, model, None, work, path, lists
            )
            found[i] = 1 if lists is None else lists.new.found[0]
            for r in range(found[i]):
                if lists is not None:
                    score[i, r] = lists.new.score[0, r]
                    trace_rank(lists, work.record_length, r, work.path, n)
                for t in range(n):
                    out[place + t] = work.path[t]
                place += n


def epoch(
    task: SegmentTask,
    order: np.ndarray,
    begin: int,
    end: int,
    model: Scorer,
    rule: Rule,
    noise: Noise,
    work: SegmentWork,
) -> tuple[int, int]:
    """Visit the texts ``order[begin:end]`` in turn and learn from each.

    Returns (code, k) of :func:`_epoch`: DONE and ``end``, or what is needed before text
    ``order[k]`` can be learned.
    """
    adjustment = adjustment_of(model.features, rule, noise)
    return _epoch(task, order, begin, end, model, rule, noise, adjustment, work)


def new_model(
    templates: int, beam: int, update: int, min_count: int, rule: Rule
) -> Scorer:
    """Make a model without features."""
    features = new_table(1 if templates == ZC14 else 2, rule, min_count)
    return Scorer(templates, beam, update, features, new_clock())


# --------------------------------------------------------------------------------------
# One segmentation taken apart: the features that make up its score, and what other
# decisions would score
# --------------------------------------------------------------------------------------
@kernel
def list_features(
    char: np.ndarray,
    path: np.ndarray,
    model: Scorer,
    noise: Noise,
    work: SegmentWork,
    out: np.ndarray,
) -> int:
    """List the features of the decisions of ``path`` (n + 1,), of which the first and
    the last are START.

    Writes rows (i, row, column) of ``out``, where i is the decision, and returns how
    many there are. New features are numbered.
    """
    n = char.shape[0]
    m = 0
    zero = np.int64(0)
    load(char, n, zero, noise, work.char, work.hidden)
    word: Int = zero
    last: Int = zero
    for i in range(1, n + 1):
        decision = zero + path[i]
        emit_decision(model, None, work, last, word, zero + i, decision, 1.0)
        for entry in range(work.difference.size[0]):
            out[m, 0] = i
            out[m, 1] = work.difference.row[entry]
            out[m, 2] = work.difference.column[entry]
            m += 1
        clear(work.difference)
        if decision == START:
            last = word
            word = i
    return m


def features_of_path(
    model: Scorer, task: SegmentTask, path: np.ndarray, work: SegmentWork
) -> np.ndarray:
    """List the known features of one segmentation of the only text of a task.

    Parameters
    ----------
    model : Scorer
    task : SegmentTask
    path : ndarray of shape (n + 1,), int8
        The decisions.
    work : SegmentWork

    Returns
    -------
    ndarray of shape (3, m), int64
        The decision that each feature speaks for, its row and its column.
    """
    n = task.char.shape[0]
    out = np.empty((ROWS_EACH * (n + 1), 3), np.int64)
    # A prefix of a word may be new at each character.
    larger = with_room(model.features, out.shape[0] + n)
    m = list_features(
        task.char, path, model._replace(features=larger), QUIET, work, out
    )
    out = out[:m]
    return out[out[:, 1] < model.features.entries[0]].T


# The score of the best segmentation with another decision at one place is found for
# each place by two searches. Up to the place the search is the usual one. From there on
# two searches run side by side, and one of them has to take the other decision. As soon
# as both hold the same states in the same order, and the scores of one are all higher
# by the same amount, they go on alike, and that amount is what the other decision
# gains. Under a beam this happens a few words further on. It need not happen where a
# few characters repeat over and over, or where all states are kept: then both run to
# the end of the text, as each decision may matter up to there.
ROUNDING = 1e-12
"""Amounts are the same if they differ by less than this times the scores."""


@inline
def _advance(
    limit: np.ndarray,
    i: Int,
    size: Int,
    model: Scorer,
    work: SegmentWork,
    part: np.ndarray,
) -> tuple[Int, float]:
    """Take the decision at i from ``size`` states; returns how many there are then, and
    the best score.
    """
    part[0] = i
    part[1] = i + 1
    part[2] = size
    nothing = limit[:0]
    _, score, _ = search(
        limit, nothing, nothing.shape[0] > 0, model, None, work, work.path, None, part
    )
    return part[2], score


@inline
def _alike(a: States, b: States, size: Int, gain: float) -> bool:
    """Return whether the states are the same, the scores of ``a`` higher by a gain."""
    for z in range(size):
        x = a.score[z, SCORE]
        y = b.score[z, SCORE]
        if (
            a.fact[z, LENGTH] != b.fact[z, LENGTH]
            or a.fact[z, BEFORE] != b.fact[z, BEFORE]
        ):
            return False
        if abs(x - y - gain) > ROUNDING * (abs(x) + abs(y)):
            return False
    return True


@kernel
def search_rivals(
    task: SegmentTask,
    path: np.ndarray,
    limit: np.ndarray,
    model: Scorer,
    noise: Noise,
    work: SegmentWork,
    other: SegmentWork,
    usual: SegmentWork,
    part: np.ndarray,
    gain: np.ndarray,
) -> tuple[float, int]:
    """Write to ``gain`` (n,) by how much the decision other than ``path[i]`` raises the
    best score.

    Parameters
    ----------
    limit : (n,) int8
        That of the only text of ``task``; scratch. Where it leaves no choice nothing is
        written.
    work, other, usual : SegmentWork
        For the whole text, and for both searches from a place on; they share all but
        the states.
    part : (3,) int64
        Scratch.

    Returns
    -------
    score : float
        Of the best segmentation.
    steps : int
        Decisions that all searches took.
    """
    n = limit.shape[0]
    size: Int = np.int64(1)
    steps = 0
    score = 0.0
    load(task.char, n, model.clock.step[0], noise, work.char, work.hidden)
    begin_states(work.now, size)
    for i in range(n + 1):
        if i < n and limit[i] == FREE:
            for z in range(size):
                copy_state(work.now, z, other.now, z)
                copy_state(work.now, z, usual.now, z)
            a = b = size
            limit[i] = START + INSIDE - path[i]
            for j in range(i, n + 1):
                a, high = _advance(limit, j, a, model, other, part)
                limit[i] = FREE
                b, low = _advance(limit, j, b, model, usual, part)
                gain[i] = high - low
                steps += 2
                if a == b and _alike(other.now, usual.now, a, gain[i]):
                    break
        size, score = _advance(limit, i, size, model, work, part)
        steps += 1
    return score, steps


def rival_scores(
    model: Scorer, task: SegmentTask, path: np.ndarray
) -> tuple[dict[int, float], int]:
    """Find the scores of the best segmentations with another decision at one place.

    Parameters
    ----------
    model : Scorer
    task : SegmentTask
        One text.
    path : ndarray of shape (n + 1,), int8
        The decisions that are not taken.

    Returns
    -------
    scores : dict
        By the place of the decision; only where ``task.limit`` leaves a choice.
    steps : int
        Decisions that all searches took.
    """
    work = new_work(task, model.beam, training=False)
    gain = np.zeros(task.limit.shape[0])
    other, usual = (
        work._replace(now=new_states(work.now.score.shape[0])) for _ in range(2)
    )
    limit = task.limit.copy()
    part = np.zeros(3, np.int64)
    score, steps = search_rivals(
        task, path, limit, model, QUIET, work, other, usual, part, gain
    )
    free = np.flatnonzero(task.limit == FREE)
    return dict(zip(free.tolist(), (score + gain[free]).tolist())), steps
