"""An exact hash table for pairs of integers, and the mixing function behind every hash.

A *node* is a combination of atoms (token ids at fixed offsets). It is built pairwise:
(node of the first k atoms, atom k + 1) is interned to one id, so that combinations of
any length stay exact in 64 bits. Nothing is ever hashed to a bucket and left there:
keys are compared, and two combinations never share an id.

The table is one ``(capacity, 2)`` array: a slot lies in one cache line. Column 0 holds
the key ``left << 32 | right``, column 1 the ``compound << 32 | value``; an empty slot
holds -1 in column 1. ``capacity`` is a power of two. A kernel that finds the table too
full returns where it stopped, the caller grows the table (:func:`grown`) and calls
again.

Combinations of ids become dense nodes over this table, corpus by corpus. A combination
is interned pairwise, (node of all atoms but the last, last atom) to one node, at every
position of a corpus at once. Growing numbers new combinations in the order of their
first occurrence; looking up leaves -1 for what is unknown. Feature templates and
accessor variety share this.

Positions are *anchors*: sequence i owns ``anchor[i] ... anchor[i + 1] - 1``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import inline, kernel

EMPTY = -1
MAX_LOAD = 0.6
LOW = 0xFFFFFFFF
MOST_NUMBERED = 2**31 - 1
"""Combinations, and rows of weights, are numbered in 32 bits."""


def check_rows(n: int, what: str = "rows of weights") -> None:
    """Raise a ValueError if there are more of something than can be numbered."""
    if n > MOST_NUMBERED:
        raise ValueError(
            f"the features need {n} {what}, and there can be {MOST_NUMBERED}: use a "
            "larger min_count, fewer "
            f"templates, or TokenVectorizer to choose features"
        )


@inline
def mix64(x: Any) -> Any:
    """Mix 64 bits so that every input bit reaches every output bit (Steele, Lea, Flood
    2014).

    Parameters and result are ``uint64``; a bijection, hence no two inputs collide.
    """
    x = np.uint64(x)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


@inline
def home_of(table: np.ndarray, compound: int, key: int) -> int:
    """Return the slot where the search for ``(compound, key)`` begins."""
    h = mix64(np.uint64(key) + np.uint64(compound) * np.uint64(0x9E3779B97F4A7C15))
    return np.int64(h) & (table.shape[0] - 1)


@inline
def slot_of(table: np.ndarray, compound: int, key: int) -> int:
    """Return the slot that holds ``(compound, key)``, or the empty slot where it
    belongs.
    """
    mask = table.shape[0] - 1
    slot = home_of(table, compound, key)
    while True:
        entry = table[slot, 1]
        if entry == EMPTY or (table[slot, 0] == key and (entry >> 32) == compound):
            return slot
        slot = (slot + 1) & mask


@inline
def find(table: np.ndarray, compound: int, left: int, right: int) -> int:
    """Return the value stored for ``(compound, left, right)``, or -1."""
    key = (np.int64(left) << 32) | np.int64(right)
    entry = table[slot_of(table, compound, key), 1]
    if entry == EMPTY:
        return np.int64(-1)
    return entry & LOW


@inline
def intern(
    table: np.ndarray, entries: np.ndarray, compound: int, left: int, right: int
) -> int:
    """Return the value stored for ``(compound, left, right)``; new ones are numbered
    from ``entries[0]``.

    Numbers are shared by all compounds. The table has a free slot at the load allowed
    (:func:`room`).
    """
    key = (np.int64(left) << 32) | np.int64(right)
    slot = slot_of(table, compound, key)
    if table[slot, 1] == EMPTY:
        table[slot, 0] = key
        table[slot, 1] = (np.int64(compound) << 32) | entries[0]
        entries[0] += 1
    return table[slot, 1] & LOW


@inline
def room(table: np.ndarray, entries: np.ndarray) -> int:
    """Return how many more entries the table takes at the load allowed."""
    return np.int64(MAX_LOAD * table.shape[0]) - entries[0]


@kernel
def rehash(old: np.ndarray, new: np.ndarray) -> None:
    for i in range(old.shape[0]):
        if old[i, 1] != EMPTY:
            slot = slot_of(new, old[i, 1] >> 32, old[i, 0])
            new[slot, 0] = old[i, 0]
            new[slot, 1] = old[i, 1]


def empty_table(capacity: int = 1024) -> np.ndarray:
    """Return a table without entries; ``capacity`` is rounded up to a power of two."""
    table = np.empty((1 << int(capacity - 1).bit_length(), 2), dtype=np.int64)
    table[:, 0] = 0
    table[:, 1] = EMPTY
    return table


def grown(table: np.ndarray, entries: int) -> np.ndarray:
    """``table``, or a larger copy of it that takes ``entries`` entries at the load
    allowed.
    """
    capacity = table.shape[0]
    while entries > MAX_LOAD * capacity:
        capacity *= 2
    if capacity == table.shape[0]:
        return table
    new = empty_table(capacity)
    rehash(table, new)
    return new


def keys_of(table: np.ndarray, entries: int) -> np.ndarray:
    """Return the keys of all rows, (R, 3) int64: compound, left and right.

    Parameters
    ----------
    table : ndarray of shape (capacity, 2), int64
    entries : int
    """
    used = table[table[:, 1] != EMPTY]
    keys = np.empty((int(entries), 3), np.int64)
    row = used[:, 1] & LOW
    keys[row, 0] = used[:, 1] >> 32
    keys[row, 1] = used[:, 0] >> 32
    keys[row, 2] = used[:, 0] & LOW
    return keys


def key_order(keys: np.ndarray) -> np.ndarray:
    """Return the rows of keys (R, 3) int64, none of whose parts has over 32 bits, in
    ascending order of the keys.
    """
    return np.lexsort((keys[:, 1] << 32 | keys[:, 2], keys[:, 0]))


@kernel
def _intern_pairs(
    table: np.ndarray,
    entries: np.ndarray,
    compound: int,
    left: np.ndarray,
    right: np.ndarray,
    distance: int,
    span: np.ndarray,
    begin: int,
    anchor: np.ndarray,
    out: np.ndarray,
    n_nodes: np.ndarray,
) -> int:
    """Return nodes of a compound at every anchor, new ones numbered from
    ``n_nodes[0]``.

    ``span`` (2,): first anchor of a sequence relative to its start, last one relative
    to its end. Returns the sequence before which the table was too full, or the number
    of sequences.
    """
    n = anchor.shape[0] - 1
    for i in range(begin, n):
        first = anchor[i]
        stop = anchor[i + 1]
        if entries[0] + (stop - first) > MAX_LOAD * table.shape[0]:
            return i
        for a in range(first + span[0], stop - span[1]):
            j = a + distance
            if left[a] < 0 or j >= stop or right[j] < 0:
                continue
            key = (np.int64(left[a]) << 32) | np.int64(right[j])
            slot = slot_of(table, compound, key)
            if table[slot, 1] == -1:
                table[slot, 0] = key
                table[slot, 1] = (np.int64(compound) << 32) | n_nodes[0]
                n_nodes[0] += 1
                entries[0] += 1
            out[a] = table[slot, 1] & LOW
    return n


@kernel
def find_pairs(
    table: np.ndarray,
    compound: int,
    left: np.ndarray,
    right: np.ndarray,
    distance: int,
    span: np.ndarray,
    anchor: np.ndarray,
    out: np.ndarray,
) -> None:
    """Look up known combinations; ``out`` is left alone where there is none."""
    for i in range(anchor.shape[0] - 1):
        first = anchor[i]
        stop = anchor[i + 1]
        for a in range(first + span[0], stop - span[1]):
            j = a + distance
            if left[a] >= 0 and j < stop and right[j] >= 0:
                out[a] = find(table, compound, left[a], right[j])


@kernel
def find_rows(
    table: np.ndarray,
    pairs: Any,
    row_of: np.ndarray,
    groups: np.ndarray,
    n_channels: int,
    anchor: np.ndarray,
    nodes: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Look up the nodes of all known combinations at once, and their rows.

    Parameters
    ----------
    table, anchor : ndarray
        See :func:`intern_pairs`.
    pairs : ndarray of shape (Q, 6), int64
        Combinations of several atoms, those of fewer ones first: compound, ``left`` and
        ``right`` as rows of ``nodes``, ``distance``, and the two of ``span``.
    groups : ndarray of shape (G, 3), int64
        A row of ``nodes``, where its part of ``row_of`` begins, and what is added to
        what stands there.
    row_of : ndarray of int32
        By node its row, or -1, for one combination after the other.
    nodes : ndarray of shape (n_channels + Q, A), int32
        Behind the ids of channels, nodes are written.
    rows : ndarray of shape (G, A), int32
        Written: the rows, -1 for none.
    """
    n_anchors = nodes.shape[1]
    for q in range(pairs.shape[0]):
        compound = pairs[q, 0]
        left = nodes[pairs[q, 1]]
        right = nodes[pairs[q, 2]]
        distance = pairs[q, 3]
        before = pairs[q, 4]
        behind = max(pairs[q, 5], distance)
        out = nodes[n_channels + q]
        out[:] = -1
        for i in range(anchor.shape[0] - 1):
            for a in range(anchor[i] + before, anchor[i + 1] - behind):
                if left[a] >= 0 and right[a + distance] >= 0:
                    out[a] = find(table, compound, left[a], right[a + distance])
    for g in range(groups.shape[0]):
        node = nodes[groups[g, 0]]
        begin = groups[g, 1]
        step = groups[g, 2]
        out = rows[g]
        for a in range(n_anchors):
            row = row_of[begin + node[a]] if node[a] >= 0 else -1
            out[a] = row + step if row >= 0 else -1


def intern_pairs(
    table: np.ndarray,
    entries: np.ndarray,
    compound: int,
    left: np.ndarray,
    right: np.ndarray,
    distance: int,
    span: np.ndarray,
    anchor: np.ndarray,
    out: np.ndarray,
    n_nodes: np.ndarray,
) -> np.ndarray:
    """Return nodes of a compound at every anchor; new combinations join the table.

    Parameters
    ----------
    table : ndarray of shape (capacity, 2), int64
        See ``_core.hashing``.
    entries : ndarray of shape (1,), int64
        Entries of the table; updated.
    compound : int
        Keeps combinations of different kinds apart.
    left : ndarray of shape (A,), int32
        Node of all atoms but the last by anchor, -1 for none.
    right : ndarray of shape (A,), int32
        Id by position, -1 for none.
    distance : int
        The last atom stands so far behind the anchor.
    span : ndarray of shape (2,), int64
        Anchors left out at the start and at the end of each sequence.
    anchor : ndarray of shape (n + 1,), int64
    out : ndarray of shape (A,), int32
        Written: the nodes; left alone where there is none.
    n_nodes : ndarray of shape (1,), int64
        Nodes of the compound; updated.

    Returns
    -------
    ndarray
        The table, or the larger one that took its place.
    """
    done = 0
    n = anchor.shape[0] - 1
    while done < n:
        done = _intern_pairs(
            table,
            entries,
            compound,
            left,
            right,
            distance,
            span,
            done,
            anchor,
            out,
            n_nodes,
        )
        if done < n:
            longest = int(np.diff(anchor).max())
            table = grown(table, max(2 * int(entries[0]), int(entries[0]) + longest))
    check_rows(int(n_nodes[0]), "numbers of combinations")
    return table


def table_of(pairs: Any, first: int = 0) -> tuple[np.ndarray, bool]:
    """Return a table that holds given combinations.

    Parameters
    ----------
    pairs : list of ndarray of shape (n, 2), int32
        For each compound, from number ``first`` on, the (left, right) of its nodes 0
        ... n - 1.

    Returns
    -------
    table : ndarray of shape (capacity, 2), int64
    distinct : bool
        Whether no combination occurs twice; if one does, the table holds its last node
        only.
    """
    keys = np.concatenate([np.zeros((0, 2), np.int32), *pairs]).astype(np.int64)
    nodes = [
        ((first + c) << 32) | np.arange(p.shape[0], dtype=np.int64)
        for c, p in enumerate(pairs)
    ]
    entries = np.empty(keys.shape, np.int64)
    entries[:, 0] = keys[:, 0] << 32 | keys[:, 1]
    entries[:, 1] = np.concatenate([np.zeros(0, np.int64), *nodes])
    table = grown(empty_table(), entries.shape[0])
    rehash(entries, table)
    return table, int(np.count_nonzero(table[:, 1] != -1)) == entries.shape[0]


def pairs_of(table: np.ndarray, compound: int) -> np.ndarray:
    """Return what :func:`table_of` was given for a compound: the (left, right) of its
    nodes, (n, 2) int32.
    """
    entries = table[table[:, 1] >> 32 == compound]
    pairs = np.empty(entries.shape, np.int32)
    pairs[entries[:, 1] & LOW] = np.stack(
        [entries[:, 0] >> 32, entries[:, 0]], axis=1
    ).astype(np.int32)
    return pairs
