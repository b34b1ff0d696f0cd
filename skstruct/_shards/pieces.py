"""The changes of the shards of a round, added up on its way to the driver.

A shard says what it has changed (:class:`Changes`) multiplied with its part in the
mixture, so that all that is left to do is to add pieces of long vectors. Features that
it met are numbered behind those that all know. Where changes of several shards meet,
the new ones get the numbers in which the shards bring them, one after the other, as if
a single shard had met them. So a sum of changes is such changes too, and can be added
up in a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._core.feature_table import extended
from .._core.hashing import empty_table, keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .weights import Coefficients


Seen: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Places of counters, and how often they were changed."""


FAN = 4
"""Neighbours that are added up at once."""

_NONE = np.zeros(0, np.int32)
NOTHING = np.zeros(0)


class Piece(NamedTuple):
    """Some elements of a long vector, such as weights of a store, or what became of
    them.

    The key of a weight is row * columns + column.
    """

    keys: np.ndarray | None  # (n,) uint32 or int64, ascending; None: 0 ... n - 1
    value: np.ndarray  # (n,) float64
    moment: np.ndarray = NOTHING  # (n,) float64, or (0,)
    received: np.ndarray = NOTHING  # (n,) float64, or (0,)
    count: np.ndarray = _NONE  # type: ignore[assignment]  # hides a tuple's count
    # (n,) int32, or (0,): shards that changed them

    @classmethod
    def of(cls, keys: np.ndarray, value: np.ndarray, size: int) -> Piece:
        """Sort some elements of a vector of ``size``, and leave out those that are
        0.
        """
        order = np.argsort(keys, kind="stable")
        order = order[value[order] != 0.0]
        return cls(keys[order].astype(key_type(size)), value[order])

    def vector(self, size: int) -> np.ndarray:
        """Return the whole vector of which these are elements."""
        out = np.zeros(size)
        out[slice(self.value.shape[0]) if self.keys is None else self.keys] = self.value
        return out


def key_type(size: int) -> type[np.uint32] | type[np.int64]:
    """Return the smallest type that holds keys below ``size``."""
    return np.uint32 if size < 2**32 else np.int64


def n_bytes(message: Any) -> int:
    """Count the bytes of the arrays in nested tuples, lists and dicts."""
    if isinstance(message, np.ndarray):
        return message.nbytes
    if isinstance(message, dict):
        message = message.values()
    elif not isinstance(message, (tuple, list)):
        return 0
    return sum(map(n_bytes, message))


def taken(fields: Iterable[np.ndarray], at: np.ndarray) -> list[np.ndarray]:
    """Take the elements ``at`` of each field; fields that are empty stay empty."""
    return [field[at] if field.shape[0] else field for field in fields]


def any_nonzero(fields: Sequence[np.ndarray]) -> np.ndarray:
    """Tell, by element, whether it is not zero in some field.

    All fields but the first may be empty.
    """
    found = fields[0] != 0.0
    for field in fields[1:]:
        if field.shape[0]:
            found |= field != 0.0
    return found


def smaller_piece(keys: np.ndarray, size: int, fields: Sequence[np.ndarray]) -> Piece:
    """Return a piece in the smaller form: weights with their keys, or all of them.

    Parameters
    ----------
    keys : ndarray
        Of the weights to tell, ascending.
    size : int
        All keys are below it.
    fields : sequence of ndarray
        Full arrays, of ``size`` elements or empty, in the order of a :class:`Piece`.
    """
    filled = sum(field.itemsize for field in fields if field.shape[0])
    kind = np.dtype(key_type(size))
    if keys.shape[0] * (kind.itemsize + filled) >= size * filled:
        return Piece(None, *(field.copy() for field in fields))
    return Piece(keys.astype(kind), *taken(fields, keys))


def scaled(piece: Piece, coefficients: Coefficients, counted: bool) -> Piece:
    """Multiply what a shard has changed with its part in the mixture.

    ``counted``: with the number of shards that changed each weight, here 1.
    """
    c = coefficients
    moment = piece.moment
    count = any_nonzero(piece[1:4]).astype(np.int32) if counted else _NONE
    if moment.shape[0]:
        moment = c.moment * moment + c.shift * piece.value
    return Piece(
        piece.keys, c.value * piece.value, moment, c.share * piece.received, count
    )


def united(parts: list[np.ndarray], size: int) -> np.ndarray:
    """Unite keys below ``size``, ascending.

    To mark them in an array is faster than to sort them, unless they are few.
    """
    if size > 256 * sum(part.shape[0] for part in parts):
        return np.unique(np.concatenate(parts))
    present = np.zeros(size, np.bool_)
    for part in parts:
        present[part] = True
    return np.flatnonzero(present).astype(parts[0].dtype)


def _end(piece: Piece) -> int:
    """Return the number after the largest key."""
    if piece.keys is None:
        return piece.value.shape[0]
    return int(piece.keys[-1]) + 1 if piece.keys.shape[0] else 0


def add_pieces(pieces: list[Piece]) -> Piece:
    """Add up pieces of one store, in their order."""
    n = sum(piece.value.shape[0] for piece in pieces)
    known = [piece.keys for piece in pieces if piece.keys is not None]
    keyed = len(known) == len(pieces)
    size = max(map(_end, pieces))
    keys = None
    wide = keyed and known[0].dtype == np.int64
    if keyed and (wide or size > 8 * n):
        keys = united(known, size)
    n = size if keys is None else keys.shape[0]
    total = [
        np.zeros(n if any(field.shape[0] for field in fields) else 0, fields[0].dtype)
        for fields in zip(*(piece[1:] for piece in pieces))
    ]
    present = np.zeros(size if keys is None else 0, np.bool_)
    for piece in pieces:
        at: slice | np.ndarray
        if piece.keys is None:
            at = slice(piece.value.shape[0])
        else:
            at = piece.keys if keys is None else np.searchsorted(keys, piece.keys)
        if keys is None:
            present[at] = True
        for out, field in zip(total, piece[1:]):
            if field.shape[0]:
                out[at] += field
    return (
        smaller_piece(np.flatnonzero(present), size, total)
        if keys is None
        else Piece(keys, *total)
    )


# --------------------------------------------------------------------------------------
# Changes of weights
# --------------------------------------------------------------------------------------
class Kind(NamedTuple):
    """The kind of the rows of a store."""

    columns: int
    counters: int  # counts of updates of a row
    known: int  # rows that all shards began the round with; the others are new


class Changes(NamedTuple):
    """The changes of weights in a round; lists by store."""

    kinds: list[Kind]
    halves: np.ndarray | None  # as ``_core.feature_table.extended`` takes them
    keys: list[np.ndarray]  # (K, 3): features that are new
    pieces: list[Piece]
    seen: list[Seen]


def moved(kind: Kind, rows: np.ndarray, piece: Piece, seen: Seen) -> tuple[Piece, Seen]:
    """Give the new features of a piece, and of its counts of updates, other rows.

    ``rows[k]`` is the row of the k-th new feature.
    """

    def renumbered(keys: np.ndarray, width: int) -> np.ndarray:
        row = keys // width
        new = row >= kind.known
        row[new] = rows[row[new] - kind.known]
        return row * width + keys % width

    at, count = seen
    if at.shape[0]:
        at = renumbered(at, kind.counters)
    keys = (
        np.arange(piece.value.shape[0])
        if piece.keys is None
        else piece.keys.astype(np.int64)
    )
    if keys.shape[0]:
        keys = renumbered(keys, kind.columns)
        order = np.argsort(keys, kind="stable")
        kept = np.int64 if int(keys.max()) >= 2**32 else np.uint32
        keys = keys[order].astype(kept if piece.keys is None else piece.keys.dtype)
        piece = Piece(keys, *taken(piece[1:], order))
    return piece, (at, count)


def add_changes(parts: list[Changes | None]) -> Changes | None:
    """Add up the changes of some shards, in their order; empty shards have None."""
    there = [part for part in parts if part is not None]
    if not there:
        return None
    first = there[0]
    keys = []
    pieces = []
    seen = []
    for k, kind in enumerate(first.kinds):
        mine = [(part.pieces[k], part.seen[k]) for part in there]
        new = first.keys[k]
        if any(part.keys[k].shape[0] for part in there):
            table = empty_table()
            entries = np.array([kind.known], np.int64)
            for s, part in enumerate(there):
                table, rows = extended(
                    table, entries, part.keys[k], kind.known, first.halves
                )
                mine[s] = moved(kind, rows, *mine[s])
            new = keys_of(table, entries[0])[kind.known :]
        keys.append(new)
        pieces.append(add_pieces([piece for piece, _ in mine]))
        seen.append(_add_counts([of for _, of in mine]))
    return Changes(first.kinds, first.halves, keys, pieces, seen)


def _add_counts(parts: list[Seen]) -> Seen:
    places = np.concatenate([at for at, _ in parts])
    if not places.shape[0]:
        return parts[0]
    places, index = np.unique(places, return_inverse=True)
    count = np.zeros(places.shape[0], np.int64)
    np.add.at(count, index, np.concatenate([count for _, count in parts]))
    return places, count


# --------------------------------------------------------------------------------------
# Sums over shards in a tree
#
# Rounding makes the order of a sum part of its result. So shards are added up in runs
# of neighbours, the sums of these in runs again, and so on: which are added to which
# depends on the number of shards alone, wherever they are and whoever is first.
# --------------------------------------------------------------------------------------
def add_neighbours(
    nodes: dict[tuple[int, int], Any], n: int, add: Callable[[list[Any]], Any]
) -> dict[tuple[int, int], Any]:
    """Add up all nodes of a tree over n shards whose children are there.

    Parameters
    ----------
    nodes : dict of (level, number) to summand
        On level 0 shards; node k of the next level is the sum of the nodes ``FAN k`` to
        ``FAN k + FAN - 1``. Taken over.
    n : int
    add : callable
        Adds up a list of summands. One alone is passed on as it is.
    """
    level = 0
    while n > 1:
        for k in sorted({number // FAN for at, number in nodes if at == level}):
            children = [
                (level, number) for number in range(FAN * k, min(FAN * (k + 1), n))
            ]
            if all(child in nodes for child in children):
                parts = [nodes.pop(child) for child in children]
                nodes[level + 1, k] = add(parts) if len(parts) > 1 else parts[0]
        n = -(-n // FAN)
        level = level + 1
    return nodes


def in_tree(items: Sequence[Any], add: Callable[[list[Any]], Any]) -> Any:
    """Add up the summands of all shards, in the tree of :func:`add_neighbours`."""
    (total,) = add_neighbours(
        {(0, s): item for s, item in enumerate(items)}, len(items), add
    ).values()
    return total


def add_arrays(arrays: list[np.ndarray]) -> np.ndarray:
    """Add up arrays of one shape, in their order."""
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total
