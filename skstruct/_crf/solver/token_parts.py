"""Parts of tokens that repeat: sums of weights and of probabilities once for each part.

Features that look at the same thing come together: the word, its suffixes and its
capitals, wherever the word stands; the same of its neighbour. A *part* is such a
combination, and a token is a few parts. A table has a row of L numbers for each
different part. Before a pass it receives the sums of the weights of the parts, and a
token adds up its rows; in the pass a token adds its probabilities to a table of the
same shape, and afterwards each part hands on what it has received to its features,
once.

Features belong to *fields* (templates, keys of dicts): of what is one part is decided
by field, on a sample of the tokens. Fields that do not repeat together stay alone:
their features are parts of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._core.compile import inline, kernel
from .corpus_sums import Occurrences, row_width, spread
from .table_sums import TableSums
from .token_features import TokenLists, append

if TYPE_CHECKING:
    from .table_sums import Map

SAMPLE = 2**18
"""Tokens times fields that fields are grouped by."""
MOST_FIELDS = 1024
"""More fields are not grouped at all."""
PIECES = 8
"""Pieces of a table, which threads fill."""


# --------------------------------------------------------------------------------------
# Which fields repeat together
# --------------------------------------------------------------------------------------
@inline
def _extend_hash(h: np.uint64, feature: int, value: float) -> np.uint64:
    """A hash, never 0, of what has been hashed as h, followed by a feature."""
    h ^= np.uint64(feature + 1) * np.uint64(0x9E3779B97F4A7C15)
    h ^= np.uint64(np.int64(value * 4096.0))
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return (h ^ (h >> np.uint64(32))) | np.uint64(1)


@kernel
def _hash_fields(
    lists: TokenLists,
    field: np.ndarray,
    step: int,
    hashes: np.ndarray,
    sizes: np.ndarray,
) -> None:
    """The hash and the number of features by field, of every ``step``-th token; (n,
    fields).
    """
    for k in range(hashes.shape[0]):
        for e in range(lists.start[k * step], lists.start[k * step + 1]):
            f = lists.item[e]
            x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
            hashes[k, field[f]] = _extend_hash(hashes[k, field[f]], f, x)
            sizes[k, field[f]] += 1


@kernel
def _count_parts(
    hashes: np.ndarray, sizes: np.ndarray, table: np.ndarray
) -> tuple[int, int]:
    """Count the parts that some fields are of n tokens.

    ``hashes`` (n,) and ``sizes`` (n,) are of the part of each token, and how many
    features it has. ``table``: scratch, more than n long, a power of two. Returns
    (tokens that have such a part, features of the different parts).
    """
    tokens = 0
    size = 0
    mask = table.shape[0] - 1
    table[:] = 0
    for k in range(hashes.shape[0]):
        if sizes[k] == 0:
            continue
        tokens += 1
        h = hashes[k] | np.uint64(1)  # a table's 0 means: free
        i = np.int64(h >> np.uint64(20)) & mask
        while table[i] != 0 and table[i] != h:
            i = (i + 1) & mask
        if table[i] == 0:
            table[i] = h
            size += sizes[k]
    return tokens, size


class Grouping(NamedTuple):
    """Which fields are parts together."""

    # (F,) the group of each feature's field, from 0 on; -1 for features that stay
    # alone
    group: np.ndarray
    n_parts: float  # parts of all tokens, estimated
    n_features: float  # features of the different parts of a group, estimated


def group_fields(lists: TokenLists, field: np.ndarray) -> Grouping:
    """Choose which fields are parts together, from a sample of the tokens.

    Neighbouring fields are joined as long as that makes less to add up: the features of
    the different parts, and the parts of the tokens.
    """
    n_fields = int(field.max(initial=-1)) + 1
    group = np.full(n_fields, -1)
    n_tokens = lists.start.shape[0] - 1
    if not 0 < n_fields <= MOST_FIELDS or n_tokens == 0:
        return Grouping(group[field], float(lists.item.shape[0]), 0.0)
    step = -(-n_tokens * n_fields // SAMPLE)
    n = -(-n_tokens // step)
    hashes = np.zeros((n, n_fields), np.uint64)
    sizes = np.zeros((n, n_fields), np.int32)
    _hash_fields(lists, field, step, hashes, sizes)
    table = np.zeros(1 << int(2 * n).bit_length(), np.uint64)

    def part(fields: list[int], hashes: np.ndarray, sizes: np.ndarray) -> _Candidate:
        tokens, size = _count_parts(hashes, sizes, table)
        alone = int(sizes.sum())
        if len(fields) == 1 and alone <= tokens + size:
            tokens = alone
            size = 0
        return _Candidate(fields, hashes, sizes, tokens, size)

    def joined(a: _Candidate, b: _Candidate) -> _Candidate:
        return part(
            a.fields + b.fields, a.hashes * np.uint64(31) + b.hashes, a.sizes + b.sizes
        )

    parts = [
        part([k], hashes[:, k].copy(), sizes[:, k].copy()) for k in range(n_fields)
    ]
    pairs = [joined(a, b) for a, b in zip(parts, parts[1:])]
    while pairs:
        gains = [
            a.cost + b.cost - both.cost for a, b, both in zip(parts, parts[1:], pairs)
        ]
        k = int(np.argmax(gains))
        if gains[k] <= 0:
            break
        parts[k : k + 2] = pairs[k : k + 1]
        del pairs[k]
        for i in (k - 1, k):
            if 0 <= i < len(pairs):
                pairs[i] = joined(parts[i], parts[i + 1])
    for k, grouped in enumerate([p for p in parts if p.n_features]):
        group[grouped.fields] = k
    share = n_tokens / n
    n_parts = share * sum(p.n_parts for p in parts)
    n_features = share * sum(p.n_features for p in parts)
    return Grouping(group[field], n_parts, n_features)


class _Candidate(NamedTuple):
    """Fields that could be a group, on the sample."""

    fields: list[int]
    hashes: np.ndarray  # (n,) of the part that each token has
    sizes: np.ndarray  # (n,) its features
    n_parts: int  # of all tokens
    n_features: int  # of the different parts; 0 if features stay alone

    @property
    def cost(self) -> int:
        """Return the number of terms to add up."""
        return self.n_parts + self.n_features


# --------------------------------------------------------------------------------------
# The different parts
# --------------------------------------------------------------------------------------
@inline
def _is_part(
    p: int, t: int, g: int, lists: TokenLists, group: np.ndarray, parts: TokenLists
) -> bool:
    """Whether part p is what the features of group g are at token t."""
    k = parts.start[p]
    end = parts.start[p + 1]
    for e in range(lists.start[t], lists.start[t + 1]):
        if group[lists.item[e]] == g:
            if k == end or parts.item[k] != lists.item[e]:
                return False
            if lists.value.shape[0] > 0 and parts.value[k] != lists.value[e]:
                return False
            k += 1
    return k == end


@kernel
def _list_parts(
    lists: TokenLists,
    group: np.ndarray,
    alone: np.ndarray,
    hashes: np.ndarray,
    table: np.ndarray,
    tokens: TokenLists,
    parts: TokenLists,
) -> tuple[int, int, int]:
    """Fill ``tokens`` with their parts, and ``parts`` with features; both have room
    enough.

    Returns (parts of tokens, different parts, features of these). ``group`` (F,): of
    features. ``alone`` (F,): the part of a feature that is one by itself, -1 at first.
    ``hashes`` (groups,): scratch. ``table``: parts by hash, -1 at first.
    """
    m = 0
    n = 0
    size = 0
    mask = table.shape[0] - 1
    parts.start[0] = 0
    for t in range(lists.start.shape[0] - 1):
        tokens.start[t] = m
        hashes[:] = 0
        for e in range(lists.start[t], lists.start[t + 1]):
            f = lists.item[e]
            x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
            if group[f] >= 0:
                hashes[group[f]] = _extend_hash(hashes[group[f]], f, x)
                continue
            if alone[f] < 0:
                alone[f] = n
                size = append(parts, size, f, 1.0)
                n += 1
                parts.start[n] = size
            m = append(tokens, m, alone[f], x)
        for g in range(hashes.shape[0]):
            if hashes[g] == 0:
                continue
            i = np.int64(hashes[g] >> np.uint64(20)) & mask
            while table[i] >= 0 and not _is_part(table[i], t, g, lists, group, parts):
                i = (i + 1) & mask
            if table[i] < 0:
                table[i] = n
                for e in range(lists.start[t], lists.start[t + 1]):
                    if group[lists.item[e]] == g:
                        x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
                        size = append(parts, size, lists.item[e], x)
                n += 1
                parts.start[n] = size
            m = append(tokens, m, table[i], 1.0)
    tokens.start[lists.start.shape[0] - 1] = m
    return m, n, size


def find_parts(lists: TokenLists, group: np.ndarray) -> tuple[TokenLists, TokenLists]:
    """List the parts of each token, and the features of each different part.

    Parameters
    ----------
    lists : TokenLists
        Of features.
    group : ndarray of shape (F,)
        The group of each feature, -1 if it stays alone.

    Returns
    -------
    tokens, parts : TokenLists
    """
    n_groups = int(group.max(initial=-1)) + 1
    E = lists.item.shape[0]
    N = lists.start.shape[0] - 1
    valued = lists.value.shape[0] > 0
    # Memory that is never written to costs nothing.
    tokens = TokenLists.new(N, E, valued)
    parts = TokenLists.new(E, E, valued)
    table = np.full(1 << int(2 * N * n_groups + 1).bit_length(), -1, np.int32)
    alone = np.full(group.shape[0], -1, np.int32)
    hashes = np.zeros(n_groups, np.uint64)
    m, n, size = _list_parts(lists, group, alone, hashes, table, tokens, parts)
    return tokens.first(N, m), parts.first(n, size)


# --------------------------------------------------------------------------------------
# Sums
# --------------------------------------------------------------------------------------
@kernel
def _score(
    parts: Occurrences,
    begin: int,
    end: int,
    weights: np.ndarray,
    width: int,
    table: np.ndarray,
) -> None:
    """``table[r]`` (R, width) = Σ weights of part r, for the parts ``begin <= r <
    end``.
    """
    lists = parts.lists
    first = parts.first
    label = parts.label
    for r in range(begin, end):
        o = np.uint64(r * width)
        for y in range(np.uint64(width)):
            table[o + y] = 0.0
        for e in range(lists.start[r], lists.start[r + 1]):
            f = lists.item[e]
            x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
            for k in range(np.uint64(first[f]), np.uint64(first[f + 1])):
                table[o + np.uint64(label[k])] += x * weights[k]


@kernel
def _count(
    parts: Occurrences,
    table: np.ndarray,
    width: int,
    square: bool,
    gradient: np.ndarray,
) -> None:
    """``gradient[k]`` += Σ ``table[r, label of k]`` over the parts r that have the
    weight's feature.
    """
    for r in range(parts.lists.start.shape[0] - 1):
        spread(parts, r, table[r * width :], square, gradient)


class PartSums(TableSums[Occurrences]):
    """The parts of a corpus and their tables.

    Parameters
    ----------
    tokens, features : TokenLists
        From :func:`find_parts`.
    n_labels, n_runs : int

    Attributes
    ----------
    scores : ndarray of shape (R * width,)
        The scores of each part, by label; ``width`` is the number of labels, rounded up
        to whole vectors.
    counts : ndarray of shape (n_runs, R * width)
        What parts receive in a pass, by run of sequences.
    """

    def __init__(
        self, tokens: TokenLists, features: TokenLists, n_labels: int, n_runs: int
    ) -> None:
        self.tokens = tokens
        self.features = features
        self.width = row_width(n_labels)
        self.n = features.start.shape[0] - 1
        self.scores = np.zeros(self.n * self.width)
        self.counts = np.zeros((n_runs, self.n * self.width))

    def weights_of_rows(self, first: np.ndarray, label: np.ndarray) -> Occurrences:
        """Return the weights of the parts: those of their features, from ``first``
        (F + 1,) on, with ``label`` (K,).
        """
        return Occurrences(self.features, first, label)

    def score(self, row_weights: Occurrences, weights: np.ndarray, map: Map) -> None:
        """Fill the scores of all parts, which add up ``row_weights`` with the values
        ``weights`` (K,), in pieces that threads may share.
        """

        def work(k: int) -> None:
            begin = self.n * k // PIECES
            end = self.n * (k + 1) // PIECES
            _score(row_weights, begin, end, weights, self.width, self.scores)

        list(map(work, range(PIECES)))

    def count(
        self,
        row_weights: Occurrences,
        n: int,
        square: bool,
        gradient: np.ndarray,
        map: Map,
    ) -> None:
        """Add to a gradient (K,) what the parts have received in n runs.

        The sum of the runs is left in the first one; with ``square`` values of features
        count with their squares. ``map`` is not used: one thread is fast enough.
        """
        for other in self.counts[1:n]:
            self.counts[0] += other
        _count(row_weights, self.counts[0], self.width, square, gradient)
