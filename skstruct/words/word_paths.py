"""One segmentation taken apart: the features that make up its score, and what other decisions would score.

The score of the best segmentation with another decision at one place is found for each place by two searches.
Up to the place the search is the usual one. From there on two searches run side by side, and one of them has
to take the other decision. As soon as both hold the same states in the same order, and the scores of one are
all higher by the same amount, they go on alike, and that amount is what the other decision gains. Under a
beam this happens a few words further on. It need not happen where a few characters repeat over and over, or
where all states are kept: then both run to the end of the text, as each decision may matter up to there.
"""

import numpy as np

from ..core.codes import FREE, INSIDE, START
from ..core.compile import inline, kernel
from ..core.feature_table import with_room
from ..core.noise import QUIET
from ..core.rules import clear
from .word_beam import BEFORE, LENGTH, SCORE, begin_states, new_states, new_work, search
from .word_epoch import emit_decision
from .word_features import ROWS_EACH, load

ROUNDING = 1e-12
"""Amounts are the same if they differ by less than this times the scores."""


# --------------------------------------------------------------------------------------------------
# Features
# --------------------------------------------------------------------------------------------------
@kernel
def list_features(char, path, model, noise, work, out):
    """The features of the decisions of ``path`` (n + 1,), of which the first and the last are START.

    Writes rows (i, row, column) of ``out``, where i is the decision, and returns how many there are. New
    features are numbered.
    """
    n, m, zero = char.shape[0], 0, np.int64(0)
    load(char, n, zero, noise, work.char, work.hidden)
    word = last = zero
    for i in range(1, n + 1):
        decision = zero + path[i]
        emit_decision(model, None, work, last, word, zero + i, decision, 1.0)
        for entry in range(work.difference.size[0]):
            out[m, 0], out[m, 1], out[m, 2] = i, work.difference.row[entry], work.difference.column[entry]
            m += 1
        clear(work.difference)
        if decision == START:
            last, word = word, i
    return m


def features_of_path(model, task, path, work):
    """(decision, row, column) arrays of the known features of one segmentation of the only text of a task."""
    n = task.char.shape[0]
    out = np.empty((ROWS_EACH * (n + 1), 3), np.int64)
    more = with_room(model.features, out.shape[0] + n)  # a prefix of a word at each character
    out = out[: list_features(task.char, path, model._replace(features=more), QUIET, work, out)]
    return out[out[:, 1] < model.features.entries[0]].T


# --------------------------------------------------------------------------------------------------
# Rivals
# --------------------------------------------------------------------------------------------------
@inline
def _advance(limit, i, size, model, work, part):
    """Take the decision at i; returns how many states there are now, and the best score."""
    part[0], part[1], part[2] = i, i + 1, size
    nothing = limit[:0]
    _, score, _ = search(
        limit, nothing, nothing.shape[0] > 0, model.update, model, None, work, work.path, None, part
    )
    return part[2], score


@inline
def _copy(states, size, out):
    for z in range(size):
        for j in range(3):
            out.score[z, j] = states.score[z, j]
        for j in range(6):
            out.fact[z, j] = states.fact[z, j]


@inline
def _alike(a, b, size, gain):
    """Whether the states are the same ones, and the scores of ``a`` higher by ``gain``."""
    for z in range(size):
        x, y = a.score[z, SCORE], b.score[z, SCORE]
        if a.fact[z, LENGTH] != b.fact[z, LENGTH] or a.fact[z, BEFORE] != b.fact[z, BEFORE]:
            return False
        if abs(x - y - gain) > ROUNDING * (abs(x) + abs(y)):
            return False
    return True


@kernel
def search_rivals(task, path, limit, model, noise, work, other, usual, part, gain):
    """Write to ``gain`` (n,) by how much the decision other than ``path[i]`` raises the best score.

    Parameters
    ----------
    limit : (n,) int8
        That of the only text of ``task``; scratch. Where it leaves no choice nothing is written.
    work, other, usual : SegmentWork
        For the whole text, and for both searches from a place on; they share all but the states.
    part : (3,) int64
        Scratch.

    Returns
    -------
    score : float
        Of the best segmentation.
    steps : int
        Decisions that all searches took.
    """
    n, size, steps, score = limit.shape[0], np.int64(1), 0, 0.0
    load(task.char, n, model.clock.step[0], noise, work.char, work.hidden)
    begin_states(work.now, size)
    for i in range(n + 1):
        if i < n and limit[i] == FREE:
            _copy(work.now, size, other.now)
            _copy(work.now, size, usual.now)
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


def rival_scores(model, task, path):
    """The scores of the best segmentations with another decision, and the work that was.

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
    work, gain = new_work(task, model.beam, training=False), np.zeros(task.limit.shape[0])
    other, usual = (work._replace(now=new_states(work.now.score.shape[0])) for _ in range(2))
    limit, part = task.limit.copy(), np.zeros(3, np.int64)
    score, steps = search_rivals(task, path, limit, model, QUIET, work, other, usual, part, gain)
    free = np.flatnonzero(task.limit == FREE)
    return dict(zip(free.tolist(), (score + gain[free]).tolist())), steps
