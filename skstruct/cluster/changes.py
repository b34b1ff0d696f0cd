"""What the shards of a round have changed, added up on its way to the driver.

A shard says what it has changed (:class:`Changes`) multiplied with its part in the mixture, so that all that
is left to do is to add. Features that it met are numbered behind those that all know. Where changes of
several shards meet, the new ones get the numbers in which the shards bring them, one after the other, as if a
single shard had met them. So a sum of changes is such changes too, and can be added up in a tree
(:mod:`.tree`).
"""

from typing import NamedTuple

import numpy as np

from ..core.feature_table import extended
from ..core.hashing import empty_table, keys_of
from .pieces import Piece, add_pieces, taken


class Kind(NamedTuple):
    """What the rows of a store are."""

    columns: int
    counters: int  # counts of updates of a row
    known: int  # rows that all shards began the round with; the others are new


class Changes(NamedTuple):
    """What became of weights in a round; lists by store."""

    kinds: list  # of Kind
    halves: np.ndarray | None  # as ``core.feature_table.extended`` takes them
    keys: list  # of ndarray (K, 3): features that are new
    pieces: list  # of Piece
    seen: list  # of (places, how often they were changed)


def moved(kind, rows, piece, seen):
    """A piece, and counts of updates, with ``rows`` for the numbers of the new features."""

    def renumbered(keys, width):
        row = keys // width
        new = row >= kind.known
        row[new] = rows[row[new] - kind.known]
        return row * width + keys % width

    at, count = seen
    if at.shape[0]:
        at = renumbered(at, kind.counters)
    keys = np.arange(piece.value.shape[0]) if piece.keys is None else piece.keys.astype(np.int64)
    if keys.shape[0]:
        keys = renumbered(keys, kind.columns)
        order = np.argsort(keys, kind="stable")
        kept = np.int64 if int(keys.max()) >= 2**32 else np.uint32
        keys = keys[order].astype(kept if piece.keys is None else piece.keys.dtype)
        piece = Piece(keys, *taken(piece[1:], order))
    return piece, (at, count)


def add_changes(parts):
    """The sum of the changes of some shards, in their order."""
    first, keys, pieces, seen = parts[0], [], [], []
    for k, kind in enumerate(first.kinds):
        mine = [(part.pieces[k], part.seen[k]) for part in parts]
        new = first.keys[k]
        if any(part.keys[k].shape[0] for part in parts):
            table, entries = empty_table(), np.array([kind.known], np.int64)
            for s, part in enumerate(parts):
                table, rows = extended(table, entries, part.keys[k], kind.known, first.halves)
                mine[s] = moved(kind, rows, *mine[s])
            new = keys_of(table, entries[0])[kind.known :]
        keys.append(new)
        pieces.append(add_pieces([piece for piece, _ in mine]))
        seen.append(_add_counts([of for _, of in mine]))
    return Changes(first.kinds, first.halves, keys, pieces, seen)


def _add_counts(parts):
    places = np.concatenate([at for at, _ in parts])
    if not places.shape[0]:
        return parts[0]
    places, index = np.unique(places, return_inverse=True)
    count = np.zeros(places.shape[0], np.int64)
    np.add.at(count, index, np.concatenate([count for _, count in parts]))
    return places, count
