"""From weights to the scores of labels at tokens, and from marginals to weights.

A token adds up its weights: those that are listed for it one by one, and rows of a
table (:class:`.corpus_sums.Corpus`). In the other direction the probabilities of its
labels are added to the same weights and rows.

A row has ``width = row_width(L)`` numbers, a multiple of four; ``padded`` has as many.
Rows are numbered below R, and tables have R * width numbers. So no row, read or written
four numbers at a time from a multiple of four on, ends beyond the table or ``padded``.

Letters: T tokens, L labels, t token, y label, q the first of the ``n_lanes`` sequences
of a group, W the room for them, l one of them, P places of a label (tokens ×
sequences), e an item of a list, k a weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._chain.token_scores import cost_of
from ..._chain.viterbi import differs
from ..._core.compile import inline, spliced
from .corpus_sums import row_width, spread

if TYPE_CHECKING:
    from .corpus_sums import Corpus, ExpectedCounts, ExpTransitions, Lanes
    from .token_features import TokenLists


@spliced
def _items(lists: TokenLists, token: int) -> tuple[np.uint64, np.uint64]:
    """The first item of a token, and the one behind its last."""
    return np.uint64(lists.start[token]), np.uint64(lists.start[token + 1])


# --------------------------------------------------------------------------------------
# From weights to scores
# --------------------------------------------------------------------------------------
@spliced
def _sum_rows(
    rows: TokenLists, token: int, table: np.ndarray, width: int, padded: np.ndarray
) -> None:
    """padded[y] = Σ_e value[e] table[rows[e], y], four labels at a time."""
    one = np.uint64(1)
    two = np.uint64(2)
    three = np.uint64(3)
    begin, end = _items(rows, token)
    for y in range(np.uint64(0), width, np.uint64(4)):
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for e in range(begin, end):
            r = np.uint64(rows.item[e]) * width + y
            v = rows.value[e] if rows.value.shape[0] > 0 else 1.0
            s0 = s0 + v * table[r]
            s1 = s1 + v * table[r + one]
            s2 = s2 + v * table[r + two]
            s3 = s3 + v * table[r + three]
        padded[y] = s0
        padded[y + one] = s1
        padded[y + two] = s2
        padded[y + three] = s3


@spliced
def _sum_entries(
    corpus: Corpus, token: int, weights: np.ndarray, padded: np.ndarray
) -> None:
    """padded[y] += Σ of the weights that are listed for a token."""
    entries = corpus.entries
    begin, end = _items(entries, token)
    for e in range(begin, end):
        k = np.uint64(entries.item[e])
        v = entries.value[e] if entries.value.shape[0] > 0 else 1.0
        padded[np.uint64(corpus.label[k])] += v * weights[k]


@spliced
def _forbid_ends(
    transitions: ExpTransitions, length: int, l: int, W: int, P: int, x: np.ndarray
) -> None:
    """x = -inf for labels that sequence l of a group may not begin or end with."""
    for y in range(transitions.cost.shape[0]):
        if length > 0 and not transitions.start[y]:
            x[y * P + l] = -np.inf
        if length > 0 and not transitions.end[y]:
            x[y * P + (length - 1) * W + l] = -np.inf


@inline
def sum_emissions(
    corpus: Corpus,
    q: int,
    n_lanes: int,
    W: int,
    P: int,
    weights: np.ndarray,
    transitions: ExpTransitions,
    clamped: bool,
    x: np.ndarray,
    padded: np.ndarray,
) -> None:
    """x[y, t, l] = Σ weights, with costs; -inf where a label is not allowed.

    Sums are formed in ``padded``, which fits in the L1 cache; ``x`` does not.

    Parameters
    ----------
    corpus : Corpus
    q, n_lanes : int
        The first sequence of the group, and how many it has.
    W, P : int
        Room for sequences, and places of a label.
    weights : (K,) float64
    transitions : ExpTransitions
        Costs of labels, and those that sequences may begin and end with.
    clamped : bool
        Only labellings that agree with gold are allowed, and nothing costs.
    x : (row_width(L) * P,) float64
    padded : (row_width(L),) float64
    """
    L = transitions.cost.shape[0]
    for k in range(np.uint64(L * P)):
        x[k] = 0.0
    gold = corpus.sequences.gold
    sets = corpus.sequences.sets
    by_row = corpus.rows.start.shape[0] > 1
    width = np.uint64(row_width(L))
    stride = np.uint64(P)
    for l in range(n_lanes):
        token = corpus.sequences.token[q + l]
        length = corpus.sequences.token[q + l + 1] - token
        for t in range(length):
            i = np.uint64(t * W + l)
            if by_row:
                _sum_rows(corpus.rows, token + t, corpus.table, width, padded)
            else:
                for y in range(width):
                    padded[y] = 0.0
            _sum_entries(corpus, token + t, weights, padded)
            for y in range(np.uint64(L)):
                x[i + y * stride] = padded[y]
            g = gold[token + t]
            missing = -np.inf if clamped else cost_of(g, sets, transitions.cost)
            if g != -1 and missing != 0.0:
                for y in range(L):
                    if differs(y, g, sets):
                        x[y * P + t * W + l] += missing
        _forbid_ends(transitions, length, l, W, P, x)


# --------------------------------------------------------------------------------------
# From marginals to weights
# --------------------------------------------------------------------------------------
@spliced
def _add_to_rows(
    rows: TokenLists,
    token: int,
    padded: np.ndarray,
    square: bool,
    of_rows: np.ndarray,
    width: int,
) -> None:
    """of_rows[rows[e], y] += value[e] padded[y]."""
    begin, end = _items(rows, token)
    for e in range(begin, end):
        v = rows.value[e] if rows.value.shape[0] > 0 else 1.0
        if square:
            v *= v
        r = np.uint64(rows.item[e]) * width
        for y in range(width):
            of_rows[r + y] += v * padded[y]


@inline
def add_expected(
    corpus: Corpus,
    q: int,
    n_lanes: int,
    W: int,
    P: int,
    square: bool,
    lanes: Lanes,
    counts: ExpectedCounts,
) -> None:
    """counts += x p, for the tokens of a group, with p the probability of a label times
    the weight w of the sequence.

    What is for the weights of ``corpus``, ``feature`` and ``of_rows``, receives with
    ``square`` x² p (1 - p / w); the rest never does. ``lanes.b`` (P places for each
    label) has p; for q, n_lanes, W and P see :func:`sum_emissions`. Behind the labels
    ``lanes.padded`` has zeros, which is what padding receives.
    """
    b = lanes.b
    padded = lanes.padded
    entries = corpus.entries
    gradient = counts.feature
    L = lanes.row.shape[0]
    width = np.uint64(row_width(L))
    stride = np.uint64(P)
    by_row = corpus.rows.start.shape[0] > 1 and counts.of_rows.shape[0] > 0
    for y in range(np.uint64(L), width):
        padded[y] = 0.0
    for l in range(n_lanes):
        first = corpus.sequences.token[q + l]
        weight = corpus.sequences.weight[q + l]
        for t in range(corpus.sequences.token[q + l + 1] - first):
            i = np.uint64(t * W + l)
            token = first + t
            for y in range(np.uint64(L)):
                padded[y] = b[i + y * stride]
            if counts.of_all_rows.shape[0] > 0:
                _add_to_rows(
                    counts.all_rows, token, padded, False, counts.of_all_rows, width
                )
            spread(counts.all_features, token, padded, False, counts.of_all_features)
            if square:
                for y in range(np.uint64(L)):
                    padded[y] *= 1.0 - padded[y] / weight
            if by_row:
                _add_to_rows(corpus.rows, token, padded, square, counts.of_rows, width)
            begin, end = _items(entries, token)
            if gradient.shape[0] == 0:
                end = begin
            for e in range(begin, end):
                k = np.uint64(entries.item[e])
                v = entries.value[e] if entries.value.shape[0] > 0 else 1.0
                if square:
                    v *= v
                gradient[k] += v * padded[np.uint64(corpus.label[k])]
