"""Features that get their rows while a model learns: the table that numbers them, and
their weights.

A structure that meets features only while it searches numbers them in the order of
their first update. What a feature is stands in its key: (compound, left, right), see
``_core.hashing``. A :class:`FeatureTable` holds all that grows with the features. The
kernels look rows up, and number new ones after asking :func:`lacks_room`; from Python a
table is made (:func:`new_table`), grown, averaged, and closed for prediction
(:func:`final`).

Models that saw the examples in other orders number their features differently. Those
that share their vocabulary share the keys, so :func:`extended` says the rows of one in
the numbers of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import hashing
from . import store as stores
from .compile import inline, kernel
from .final_weights import Average, sparse_store
from .final_weights import entries as entries_of
from .hashing import MAX_LOAD, check_rows, empty_table, grown, intern, keys_of, room
from .store import READ_ONLY, Store, copy_store, grow_rows, n_rows, new_store

if TYPE_CHECKING:
    from .rules import Difference
    from .store import Clock, Rule


FIRST_CAPACITY = 2**14
"""Slots of the table that training begins with."""


class FeatureTable(NamedTuple):
    """Features, numbered as they are met, and their weights; R rows."""

    table: np.ndarray  # (capacity, 2) int64: rows by key, see core.hashing
    entries: np.ndarray  # (1,) int64: features that have a row
    weights: Store  # (R, C)
    # (R,) or, by weight, (R * C,) int32: updates; empty without a cut-off
    seen: np.ndarray
    min_count: int  # what fewer updates changed does not count
    by_weight: bool  # whether updates are counted by weight, not by row


# --------------------------------------------------------------------------------------
# Kernels
# --------------------------------------------------------------------------------------
@inline
def lacks_room(features: FeatureTable, needed: int) -> bool:
    """Tell whether the table, or the rows that go with it, have no room for so many new
    features.
    """
    store = features.weights
    rows = (
        store.count.shape[0] if store.sparse else store.value.shape[0] // store.columns
    )
    return (
        room(features.table, features.entries) < needed
        or features.entries[0] + needed > rows
    )


@inline
def count_updates(features: FeatureTable, difference: Difference) -> None:
    """Count the weights, or rows, that an update changes, if there is a cut-off."""
    if features.seen.shape[0] > 0:
        for entry in range(difference.size[0]):
            if difference.amount[entry] != 0.0:
                place = difference.row[entry]
                if features.by_weight:
                    place = place * features.weights.columns + difference.column[entry]
                features.seen[place] += 1


@kernel
def _intern_rows(keys: np.ndarray, table: np.ndarray, entries: np.ndarray) -> None:
    """Number features in a table that has room for them."""
    for r in range(keys.shape[0]):
        intern(table, entries, keys[r, 0], keys[r, 1], keys[r, 2])


@kernel
def _number_on(
    keys: np.ndarray,
    is_node: np.ndarray,
    known: int,
    table: np.ndarray,
    entries: np.ndarray,
    rows: np.ndarray,
    begin: int,
) -> int:
    """Number the features from ``begin`` on; returns the first that finds the table
    full.
    """
    for r in range(begin, keys.shape[0]):
        if room(table, entries) < 1:
            return r
        compound = keys[r, 0]
        left = keys[r, 1]
        right = keys[r, 2]
        number = compound >> 2
        if number < is_node.shape[0]:
            if is_node[number, 0] and left > known:
                left = rows[left - 1 - known] + 1
            if is_node[number, 1] and right > known:
                right = rows[right - 1 - known] + 1
        rows[r] = intern(table, entries, compound, left, right)
    return keys.shape[0]


# --------------------------------------------------------------------------------------
# In training
# --------------------------------------------------------------------------------------
def _capacity(table: np.ndarray) -> int:
    """Return rows of weights that go with a table: as many as it takes entries, and as
    can be numbered.
    """
    return min(int(MAX_LOAD * table.shape[0]), hashing.MOST_NUMBERED)


def new_table(
    columns: int,
    rule: Rule,
    min_count: int = 1,
    *,
    by_weight: bool = True,
    sparse: bool = False,
) -> FeatureTable:
    """No features, and room for some; with no columns for none.

    Parameters
    ----------
    columns : int
    rule : Rule
    min_count : int
    by_weight : bool
        What the cut-off counts updates of: weights, or rows.
    sparse : bool
        See :class:`.store.Store`.
    """
    table = empty_table(FIRST_CAPACITY if columns else 1)
    rows = _capacity(table) if columns else 0
    return FeatureTable(
        table=table,
        entries=np.zeros(1, np.int64),
        weights=new_store(rows, columns, rule, sparse),
        seen=np.zeros(
            rows * (columns if by_weight else 1) if min_count > 1 else 0, np.int32
        ),
        min_count=int(min_count),
        by_weight=bool(by_weight),
    )


def _with_rows(features: FeatureTable, table: np.ndarray, rule: Rule) -> FeatureTable:
    """``features`` under a larger table, with as many rows as go with it."""
    rows = _capacity(table)
    store = features.weights
    seen = np.zeros(
        rows * counters(features) if features.min_count > 1 else 0, np.int32
    )
    seen[: features.seen.shape[0]] = features.seen
    return features._replace(
        table=table, weights=grow_rows(store, rows, rule), seen=seen
    )


def growth(
    rule: Rule, wanted: int = 0
) -> Iterator[Callable[[FeatureTable], FeatureTable]]:
    """Yield steps that give features room for ``wanted`` more, and for twice as many if
    that is more.

    Each is a function of a :class:`FeatureTable` that returns one with another array in
    it. Drop the old table after each step; then at most one array exists twice.
    """
    yield lambda features: features._replace(table=_longer_table(features, wanted))
    yield lambda features: features._replace(seen=_longer_seen(features))
    for name in stores.ROW_FIELDS:
        yield partial(_longer_rows, rule, name)


def _longer_seen(features: FeatureTable) -> np.ndarray:
    rows = _capacity(features.table) if features.min_count > 1 else 0
    return stores.longer(features.seen, rows * counters(features))


def _longer_rows(rule: Rule, name: str, features: FeatureTable) -> FeatureTable:
    store = stores.longer_field(features.weights, name, _capacity(features.table), rule)
    return features._replace(weights=store)


def _longer_table(features: FeatureTable, wanted: int) -> np.ndarray:
    table = features.table
    check_rows(int(features.entries[0]) + wanted)
    if _capacity(table) == hashing.MOST_NUMBERED:  # more slots would be no more rows
        check_rows(hashing.MOST_NUMBERED + 1)
    return grown(table, max(2 * _capacity(table), int(features.entries[0]) + wanted))


def is_short(features: FeatureTable, wanted: int) -> bool:
    """Tell whether the table has no room for ``wanted`` more features; without columns
    it needs none.
    """
    free = _capacity(features.table) - int(features.entries[0])
    return features.weights.columns > 0 and free < wanted


def counters(features: FeatureTable) -> int:
    """Return counts of updates that a row has, if there is a cut-off."""
    return features.weights.columns if features.by_weight else 1


def copy_table(features: FeatureTable) -> FeatureTable:
    """Return a copy that shares no array."""
    return features._replace(
        table=features.table.copy(),
        entries=features.entries.copy(),
        weights=copy_store(features.weights),
        seen=features.seen.copy(),
    )


def restart_average(
    features: FeatureTable, clock: Clock, old: Rule, new: Rule
) -> FeatureTable:
    """Return features whose average begins anew, from the average so far.

    Parameters are those of :func:`.store.restart_average`.
    """
    return features._replace(
        weights=stores.restart_average(features.weights, clock, old, new)
    )


def keys(features: FeatureTable) -> np.ndarray:
    """Return the keys of the features in the order of their rows, (R, 3) int64."""
    return keys_of(features.table, features.entries[0])


def weights_of_features(features: FeatureTable) -> Store:
    """Return the weights without the rows that no feature has yet."""
    R = int(features.entries[0])
    store = features.weights
    rows = {
        name: getattr(store, name)[:R] for name in ("last", "first", "count", "room")
    }
    if store.sparse:
        return store._replace(**rows)
    places = {
        name: getattr(store, name)[: R * store.columns]
        for name in ("value", "moment", "received")
    }
    return store._replace(**rows, **places)


def seen_of_features(features: FeatureTable) -> np.ndarray:
    """Return the counts of updates of the features."""
    return features.seen[: int(features.entries[0]) * counters(features)]


# --------------------------------------------------------------------------------------
# Out of training and back
# --------------------------------------------------------------------------------------
def final(
    features: FeatureTable,
    clock: Clock,
    rule: Rule,
    reuse: bool = False,
    ended: bool = False,
) -> FeatureTable:
    """Return what the training so far amounts to, for prediction: weights without
    bookkeeping.

    Weights that too few updates changed are 0.

    Parameters
    ----------
    features : FeatureTable
    clock : Clock
    rule : Rule
    reuse : bool
        Whether training ends here for good, so that the result may be made of its
        arrays.
    ended : bool
        Whether training ends here, and goes on, if ever, with copies: the table may be
        shared.
    """
    store = stores.without_spare_places(weights_of_features(features))
    R = int(features.entries[0])
    C = store.columns
    table = features.table
    value = stores.weights(store, clock, rule, reuse)
    table = table if reuse or ended else table.copy()
    like = new_store(0, C, READ_ONLY, store.sparse)
    rare = np.zeros((0, 1), np.bool_)
    if features.min_count > 1:
        rare = (
            seen_of_features(features).reshape(R, -1) < features.min_count
            if R
            else rare
        )
    if not store.sparse:
        if rare.shape[0]:
            value.reshape(R, C)[np.broadcast_to(rare, (R, C))] = 0.0
        return for_reading(like._replace(value=value), table, R, features.by_weight)
    places, values = entries_of(store._replace(value=value))
    if rare.shape[0]:
        common = ~np.broadcast_to(rare, (R, C))[places // C, places % C]
        places = places[common]
        values = values[common]
    store = sparse_store(like._replace(first=np.zeros(R, np.int64)), places, values)
    return for_reading(store, table, R, features.by_weight)


def for_reading(
    weights: Store, table: np.ndarray, entries: int, by_weight: bool = True
) -> FeatureTable:
    """Return a :class:`FeatureTable` for prediction: final weights, whose row r is that
    of the r-th entry.
    """
    return FeatureTable(
        table,
        np.array([entries], np.int64),
        weights,
        np.zeros(0, np.int32),
        1,
        by_weight,
    )


def with_room(features: FeatureTable, more: int) -> FeatureTable:
    """Copy a table of features, with room for so many more, which have no weights."""
    table = grown(features.table.copy(), int(features.entries[0]) + more)
    return features._replace(table=table, entries=features.entries.copy())


def for_training(features: FeatureTable, rule: Rule) -> FeatureTable:
    """Return what training goes on from: the same features in a table of their own,
    with room for more.
    """
    return _with_rows(
        features._replace(entries=features.entries.copy()), features.table.copy(), rule
    )


# --------------------------------------------------------------------------------------
# Several models, one numbering
# --------------------------------------------------------------------------------------
def table_from_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the table in which row r has the key ``keys[r]`` (R, 3), and whether no
    key occurs twice.
    """
    table = grown(empty_table(), keys.shape[0])
    entries = np.zeros(1, np.int64)
    _intern_rows(keys, table, entries)
    return table, int(entries[0]) == keys.shape[0]


def extended(
    table: np.ndarray,
    entries: np.ndarray,
    keys: np.ndarray,
    known: int,
    is_node: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a table with more features, numbered in their order unless it knows them.

    Parameters
    ----------
    table : ndarray of shape (capacity, 2), int64
        Changed; not the one that is returned if it had to grow.
    entries : ndarray of shape (1,), int64
        Updated.
    keys : ndarray of shape (K, 3), int64
        The rows of another table that follow its first ``known``.
    known : int
        Rows that this table began with too.
    is_node : ndarray of shape (n, 2), bool, optional
        By ``compound >> 2``, whether the left, and the right, half of a key is a row
        plus 1.

    Returns
    -------
    table : ndarray
    rows : ndarray of shape (K,), int64
        The row of each feature.
    """
    rows = np.empty(keys.shape[0], np.int64)
    if is_node is None:
        is_node = np.zeros((0, 2), np.bool_)
    done = _number_on(keys, is_node, known, table, entries, rows, 0)
    while done < keys.shape[0]:
        table = grown(table, 2 * int(entries[0]) + 1)
        done = _number_on(keys, is_node, known, table, entries, rows, done)
    check_rows(int(entries[0]))
    return table, rows


def renumbered(
    features: FeatureTable,
    table: np.ndarray,
    keys: np.ndarray,
    known: int,
    rule: Rule,
) -> tuple[FeatureTable, np.ndarray]:
    """``features`` as others number them; what is not among theirs is forgotten.

    Parameters
    ----------
    features : FeatureTable
    table : ndarray of shape (capacity', 2), int64
        The first ``known`` features, which both have, and no others; taken over.
    keys : ndarray of shape (K, 3), int64
        The features that follow these.
    known : int
        Rows that keep their weights; updates are counted anew.
    rule : Rule

    Returns
    -------
    features : FeatureTable
    table : ndarray
        ``table`` with the new features; not the one in ``features``.
    """
    entries = np.array([known], np.int64)
    store = features.weights
    table = grown(table, _capacity(features.table))  # as many slots as before
    table, _ = extended(table, entries, keys, known)
    if store.sparse:
        store.count[known:] = 0
    else:
        store.value[known * store.columns :] = 0.0
        store.received[known * store.columns :] = 0.0
    rows = max(n_rows(store), _capacity(table)) if store.columns else 0
    features = features._replace(
        table=table.copy(),
        entries=entries,
        weights=grow_rows(store, rows, rule),
        seen=np.zeros(
            rows * counters(features) if features.min_count > 1 else 0, np.int32
        ),
    )
    return features, table


class TableAverage:
    """The average of models that numbered their features themselves; see
    :class:`.final_weights.Average`.

    Features are numbered in the order in which the models bring them.

    Parameters
    ----------
    nonzero : bool
    is_node : ndarray of shape (n, 2), bool, optional
        As of :func:`extended`.
    """

    def __init__(self, nonzero: bool, is_node: np.ndarray | None = None) -> None:
        self.average = Average(nonzero)
        self.is_node = is_node
        self.table = empty_table()
        self.entries = np.zeros(1, np.int64)

    def add(self, store: Store, keys: np.ndarray) -> None:
        """Add the final weights of a model, with the keys of its rows."""
        self.add_rows(store, self.number(keys))

    def number(self, keys: np.ndarray) -> np.ndarray:
        """Return the common numbers of the rows of a model, by their keys."""
        self.table, row_of = extended(self.table, self.entries, keys, 0, self.is_node)
        return (
            row_of
            if self.entries[0] > np.iinfo(np.int32).max
            else row_of.astype(np.int32)
        )

    def add_rows(self, store: Store, row_of: np.ndarray | None) -> None:
        """Add the final weights of a model whose rows are numbered; best when those of
        all are.
        """
        self.average.add(store, row_of, int(self.entries[0]))

    def result(self, by_weight: bool = True) -> FeatureTable:
        """Return the average, a :class:`FeatureTable`."""
        return for_reading(self.average.store(), self.table, self.entries[0], by_weight)
