"""Pieces of long vectors, such as the weights that a shard has changed, and their sums."""

from typing import NamedTuple

import numpy as np

_NONE, NOTHING = np.zeros(0, np.int32), np.zeros(0)


class Piece(NamedTuple):
    """Some elements of a long vector, such as weights of a store, or what became of them.

    The key of a weight is row * columns + column.
    """

    keys: np.ndarray | None  # (n,) uint32 or int64, ascending; None: 0 ... n - 1
    value: np.ndarray  # (n,) float64
    moment: np.ndarray = NOTHING  # (n,) float64, or (0,)
    received: np.ndarray = NOTHING  # (n,) float64, or (0,)
    count: np.ndarray = _NONE  # (n,) int32, or (0,): shards that changed them

    @classmethod
    def of(cls, keys, value, size):
        """Some elements of a vector of a size, in any order; those that are zero are left out."""
        order = np.argsort(keys, kind="stable")
        order = order[value[order] != 0.0]
        return cls(keys[order].astype(key_type(size)), value[order])

    def vector(self, size):
        """The whole vector of which these are elements."""
        out = np.zeros(size)
        out[slice(self.value.shape[0]) if self.keys is None else self.keys] = self.value
        return out


def key_type(size):
    """The type of keys below ``size``."""
    return np.uint32 if size < 2**32 else np.int64


def n_bytes(message):
    """Bytes of the arrays in nested tuples, lists and dicts."""
    if isinstance(message, np.ndarray):
        return message.nbytes
    if isinstance(message, dict):
        message = message.values()
    elif not isinstance(message, (tuple, list)):
        return 0
    return sum(map(n_bytes, message))


def taken(fields, at):
    """Some elements of each field that is there; the others are empty."""
    return [field[at] if field.shape[0] else field for field in fields]


def any_nonzero(fields):
    """Whether an element of some field is not zero, by element; the first field is always there."""
    found = fields[0] != 0.0
    for field in fields[1:]:
        if field.shape[0]:
            found |= field != 0.0
    return found


def smaller_piece(keys, size, fields):
    """The smaller of two: weights with their keys, or all of them; ``fields`` are full arrays."""
    filled = sum(field.itemsize for field in fields if field.shape[0])
    kind = np.dtype(key_type(size))
    if keys.shape[0] * (kind.itemsize + filled) >= size * filled:
        return Piece(None, *(field.copy() for field in fields))
    return Piece(keys.astype(kind), *taken(fields, keys))


def scaled(piece, coefficients, counted):
    """What a shard has changed, as it is added to the mixture; ``counted``: with counts."""
    c, moment = coefficients, piece.moment
    count = any_nonzero(piece[1:4]).astype(np.int32) if counted else _NONE
    if moment.shape[0]:
        moment = c.moment * moment + c.shift * piece.value
    return Piece(piece.keys, c.value * piece.value, moment, c.share * piece.received, count)


def united(parts, size):
    """All keys of some, below ``size``, ascending; to mark them is faster than to sort, but for a few."""
    if size > 256 * sum(part.shape[0] for part in parts):
        return np.unique(np.concatenate(parts))
    present = np.zeros(size, np.bool_)
    for part in parts:
        present[part] = True
    return np.flatnonzero(present).astype(parts[0].dtype)


def add_pieces(pieces):
    """The sum of pieces of one store, in their order."""
    n = sum(piece.value.shape[0] for piece in pieces)
    keyed = all(piece.keys is not None for piece in pieces)
    ends = [
        p.value.shape[0] if p.keys is None else int(p.keys[-1]) + 1 if p.keys.shape[0] else 0 for p in pieces
    ]
    size, keys, wide = max(ends), None, keyed and pieces[0].keys.dtype == np.int64
    if keyed and (wide or size > 8 * n):
        keys = united([piece.keys for piece in pieces], size)
    n = size if keys is None else keys.shape[0]
    total = [
        np.zeros(n if any(field.shape[0] for field in fields) else 0, fields[0].dtype)
        for fields in zip(*(piece[1:] for piece in pieces))
    ]
    present = np.zeros(size if keys is None else 0, np.bool_)
    for piece in pieces:
        at = slice(piece.value.shape[0]) if piece.keys is None else piece.keys
        if keys is None:
            present[at] = True
        else:
            at = np.searchsorted(keys, piece.keys)
        for out, field in zip(total, piece[1:]):
            if field.shape[0]:
                out[at] += field
    return smaller_piece(np.flatnonzero(present), size, total) if keys is None else Piece(keys, *total)
