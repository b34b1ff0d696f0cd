"""Weights as messages between the driver of parameter mixing and its shards.

A :class:`Piece` holds the weights of a store that changed. :func:`take_over` and :func:`differences` are the
shard's side of a round; :mod:`.weights` is the driver's.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import kernel
from ..core.store import _insert, grow_pool, place_of, places_needed


class Piece(NamedTuple):
    """Some weights of a store, or what became of them; key = row * columns + column."""

    keys: np.ndarray | None  # (n,) uint32 or int64, ascending; None: 0 ... n - 1
    value: np.ndarray  # (n,) float64
    moment: np.ndarray  # (n,) float64, or (0,)
    received: np.ndarray  # (n,) float64, or (0,)


def n_bytes(message):
    """Bytes of the arrays in nested tuples, lists and dicts."""
    if isinstance(message, np.ndarray):
        return message.nbytes
    if isinstance(message, dict):
        message = message.values()
    elif not isinstance(message, (tuple, list)):
        return 0
    return sum(map(n_bytes, message))


def make_piece(keys, size, fields):
    """The smaller of two: weights with their keys, or all of them; ``fields`` are full arrays."""
    filled = sum(field.shape[0] > 0 for field in fields)
    width = 4 if size < 2**32 else 8
    if keys.shape[0] * (width + 8 * filled) >= size * 8 * filled:
        return Piece(None, *(field.copy() for field in fields))
    return Piece(
        keys.astype(np.uint32 if width == 4 else np.int64), *(f[keys] if f.shape[0] else f for f in fields)
    )


@kernel
def locate(known, keys, at, new):
    """Where ascending ``keys`` stand in, or belong into, ascending ``known``; returns how many are new."""
    place, n_new = 0, 0
    for k in range(keys.shape[0]):
        while place < known.shape[0] and known[place] < keys[k]:
            place += 1
        at[k] = place
        new[k] = place == known.shape[0] or known[place] != keys[k]
        n_new += new[k]
    return n_new


# --------------------------------------------------------------------------------------------------
# The shard's side
# --------------------------------------------------------------------------------------------------
@kernel
def _put(store, keys, value, received, begin):
    """Overwrite weights of a sparse store; returns the entry before which its pool was too full."""
    for k in range(begin, keys.shape[0]):
        row, column = keys[k] // store.columns, keys[k] % store.columns
        place = place_of(store, row, column)
        if place < 0:
            if store.used[0] + places_needed(store, row) > store.value.shape[0]:
                return k
            place = _insert(store, row, column)
        store.value[place] = value[k]
        if received.shape[0] > 0:
            store.received[place] = received[k]
    return keys.shape[0]


def take_over(store, base, piece, rule, step):
    """Let a shard's store begin a round from mixed weights.

    Parameters
    ----------
    store : Store
        With room for all rows; changed.
    base : Weights
        What the round before began with; brought up to date.
    piece : Piece
        What changed since, or everything that is not zero if ``base`` is new.
    rule : Rule
    step : int
        Up to which the weights are current.

    Returns
    -------
    Store
    """
    at = base.put(piece)
    if store.sparse:
        keys, done = base.keys[at], 0
        while done < keys.shape[0]:
            done = _put(store, keys, piece.value, piece.received, done)
            if done < keys.shape[0]:
                store = grow_pool(store, rule, 8 * (keys.shape[0] - done))
    else:
        store.value[at] = piece.value
        if base.has_received:
            store.received[at] = piece.received
    store.moment[:] = 0.0
    store.last[:] = step
    return store


@kernel
def _by_key(store, rows, keys, places):
    """The weights of a sparse store by ascending key; those of a row by insertion: they are few."""
    n = 0
    for row in range(rows):
        begin, first = n, store.first[row]
        for place in range(first, first + store.count[row]):
            key, at = row * store.columns + store.column[place], n
            while at > begin and keys[at - 1] > key:
                keys[at], places[at] = keys[at - 1], places[at - 1]
                at -= 1
            keys[at], places[at] = key, place
            n += 1


def differences(store, base, rows):
    """The :class:`Piece` with what a round has changed.

    Parameters
    ----------
    store : Store
        After the round, settled.
    base : Weights
        What the round began with.
    rows : int
        Rows in use.
    """
    nothing = np.zeros(0)
    if not store.sparse:
        n = rows * store.columns
        base.places(None, n)
        value, moment, received = store.value[:n] - base.value[:n], store.moment[:n], nothing
        if base.has_received:
            received = store.received[:n] - base.received[:n]
        touched = value != 0.0
        for field in (moment, received):
            if field.shape[0]:
                touched |= field != 0.0
        return make_piece(np.flatnonzero(touched), n, (value, moment, received))
    size = int(store.count[:rows].sum())
    keys, places = np.empty(size, np.int64), np.empty(size, np.int64)
    _by_key(store, rows, keys, places)
    at, new = np.empty(size, np.int64), np.empty(size, np.bool_)
    locate(base.keys, keys, at, new)
    old = at[~new]
    value, moment, received = store.value[places], nothing, nothing
    value[~new] -= base.value[old]
    touched = value != 0.0
    if store.moment.shape[0]:
        moment = store.moment[places]
        touched |= moment != 0.0
    if base.has_received:
        received = store.received[places]
        received[~new] -= base.received[old]
        touched |= received != 0.0
    fields = (field[touched] if field.shape[0] else field for field in (value, moment, received))
    return Piece(keys[touched], *fields)
