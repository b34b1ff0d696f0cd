"""From weights to the scores of labels at tokens, and from marginals to weights.

A token adds up its weights: those that are listed for it one by one, those that follow
the first one of a feature, and rows of a table (:class:`.corpus_sums.Corpus`). In the
other direction the probabilities of its labels are added to the same weights and rows.

Letters: T tokens, L labels, t token, y label, l a sequence of a group, W sequences in a
group, P places of a label (tokens × sequences), e an item of a list, k a weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._chain.token_scores import cost_of
from ..._chain.viterbi import differs
from ..._core.compile import inline, spliced
from .corpus_sums import LAST, row_width, spread

if TYPE_CHECKING:
    from .corpus_sums import Corpus, ExpectedCounts, ExpTransitions, Lanes
    from .token_features import TokenLists


@spliced
def _items(lists: TokenLists, token: int) -> tuple[np.uint64, np.uint64]:
    """The first item of a token, and the one behind its last."""
    return np.uint64(lists.start[token]), np.uint64(lists.start[token + 1])


@spliced
def _value(lists: TokenLists, e: int, square: bool) -> float:
    """What an item counts, or the square of that."""
    if lists.value.shape[0] == 0:
        return 1.0
    return lists.value[e] * lists.value[e] if square else lists.value[e]


# --------------------------------------------------------------------------------------
# From weights to scores
# --------------------------------------------------------------------------------------
@spliced
def _sum_rows(
    rows: TokenLists,
    token: int,
    table: np.ndarray,
    width: int,
    x: np.ndarray,
    i: int,
    stride: int,
) -> None:
    """x[i + y stride] = Σ_e value[e] table[rows[e], y], four labels at a time."""
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
        o = i + y * stride
        x[o] = s0
        x[o + stride] = s1
        x[o + two * stride] = s2
        x[o + three * stride] = s3


@spliced
def _sum_lists(corpus: Corpus, token: int, weight: np.ndarray, row: np.ndarray) -> None:
    """row[y] += Σ of the weights that are listed for a token, one by one or as runs."""
    entries = corpus.entries
    runs = corpus.runs
    begin, end = _items(entries, token)
    for e in range(begin, end):
        k = np.uint64(entries.item[e])
        v = entries.value[e] if entries.value.shape[0] > 0 else 1.0
        row[np.uint64(corpus.label[k])] += v * weight[k]
    begin, end = _items(runs, token)
    for e in range(begin, end):
        k = np.uint64(runs.item[e])
        y = 0
        v = runs.value[e] if runs.value.shape[0] > 0 else 1.0
        while y < LAST:
            y = corpus.run_label[k]
            row[np.uint64(y & (LAST - 1))] += v * weight[k]
            k += np.uint64(1)


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
    weight: np.ndarray,
    transitions: ExpTransitions,
    clamped: bool,
    x: np.ndarray,
    row: np.ndarray,
) -> None:
    """x[y, t, l] = Σ weights, with costs; -inf where a label is not allowed.

    Sums are formed in ``row``, which fits in the L1 cache; ``x`` does not.

    Parameters
    ----------
    corpus : Corpus
    q, n_lanes : int
        The first sequence of the group, and how many it has.
    W, P : int
        Room for sequences, and places of a label.
    weight : (K,) float64
    transitions : ExpTransitions
        Costs of labels, and those that sequences may begin and end with.
    clamped : bool
        Only labellings that agree with gold are allowed, and nothing costs.
    x : (row_width(L) * P,) float64
    row : (L,) float64
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
                _sum_rows(corpus.rows, token + t, corpus.table, width, x, i, stride)
            for y in range(np.uint64(L)):
                row[y] = 0.0
            _sum_lists(corpus, token + t, weight, row)
            if not by_row:
                for y in range(np.uint64(L)):
                    x[i + y * stride] = row[y]
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
    b: np.ndarray,
    i: int,
    stride: int,
    square: bool,
    of_rows: np.ndarray,
    width: int,
) -> None:
    """of_rows[rows[e], y] += value[e] b[i + y stride], four labels at a time."""
    one = np.uint64(1)
    two = np.uint64(2)
    three = np.uint64(3)
    begin, end = _items(rows, token)
    for y in range(np.uint64(0), width, np.uint64(4)):
        o = i + y * stride
        p0 = b[o]
        p1 = b[o + stride]
        p2 = b[o + two * stride]
        p3 = b[o + three * stride]
        for e in range(begin, end):
            r = np.uint64(rows.item[e]) * width + y
            v = _value(rows, e, square)
            s0 = of_rows[r] + v * p0
            s1 = of_rows[r + one] + v * p1
            s2 = of_rows[r + two] + v * p2
            s3 = of_rows[r + three] + v * p3
            of_rows[r] = s0
            of_rows[r + one] = s1
            of_rows[r + two] = s2
            of_rows[r + three] = s3


@inline
def add_expected(
    corpus: Corpus,
    q: int,
    n_lanes: int,
    W: int,
    P: int,
    square: bool,
    lattice: Lanes,
    counts: ExpectedCounts,
) -> None:
    """counts += x p(y | t), or x² p(y | t) if ``square``, for the tokens of a group.

    ``lattice.b`` (P places for each label) has the marginals; for q, n_lanes, W and P
    see :func:`sum_emissions`.
    """
    b = lattice.b
    row = lattice.row
    entries = corpus.entries
    runs = corpus.runs
    gradient = counts.feature
    L = row.shape[0]
    width = np.uint64(row_width(L))
    stride = np.uint64(P)
    for l in range(n_lanes):
        first = corpus.sequences.token[q + l]
        for t in range(corpus.sequences.token[q + l + 1] - first):
            i = np.uint64(t * W + l)
            token = first + t
            for y in range(np.uint64(L)):
                row[y] = b[i + y * stride]
            if corpus.rows.start.shape[0] > 1:
                _add_to_rows(
                    corpus.rows, token, b, i, stride, square, counts.of_rows, width
                )
            begin, end = _items(entries, token)
            for e in range(begin, end):
                k = np.uint64(entries.item[e])
                gradient[k] += (
                    _value(entries, e, square) * row[np.uint64(corpus.label[k])]
                )
            begin, end = _items(runs, token)
            for e in range(begin, end):
                k = np.uint64(runs.item[e])
                y = 0
                v = _value(runs, e, square)
                while y < LAST:
                    y = corpus.run_label[k]
                    gradient[k] += v * row[np.uint64(y & (LAST - 1))]
                    k += np.uint64(1)
            spread(counts.whole, token, row, False, counts.of_pairs)
