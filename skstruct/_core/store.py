"""Tables of weights, with their averages and what penalties have yet to take.

A :class:`Store` has one row per feature and one column per outcome (a label for node
features, a pair of labels for transitions, an action for a parser). Kernels read whole
rows. Every step of training adds to weights by :func:`add_to`, which keeps the sums for
the average: :func:`nudge` asks it for one weight under any penalty,
:func:`.rules.add_entries` and ``_chain.dense.apply_dense`` for full rows without a lazy
penalty. Besides, :func:`.penalties.catch_up` takes what a lazy penalty is due,
:func:`insert` begins a weight of a sparse row with zero, and :func:`rebase` writes all
weights in other units.

Whatever acts on *all* weights at every step is applied to the weights that are touched.
Penalties are in ``_core.penalties``. The average of the weight vectors after each step,
``(1/T) Σ_t w(t)`` (Zhang, Su and Zhou 2014, equation 6), follows from the sum of scales
``S = Σ_t s_t``. A weight that changes by ``dv`` (in units of ``value``) at step t
contributes ``dv * (S_T - S_{t-1})``; so ``Σ_t w(t) = value * S_T - moment`` with
``moment = Σ dv * S_{t-1}``.

``value * S - moment`` would cancel once s is tiny, so the store is *rebased*
(:func:`rebase`) when s falls below ``SMALLEST_SCALE``: values are multiplied by s,
moments become the negated sums so far.

Two layouts share all of this. *Dense*: weight (row, column) stands at ``row * columns +
column``. *Sparse*, for many columns: a row is a segment of a pool and holds only the
columns ever touched, in the order of their first update; a full row moves to the end of
the pool with twice the room.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .codes import EACH_EPOCH, EACH_STEP, NO_AVERAGE, NO_PENALTY, PERCEPTRON
from .compile import inline, kernel, spliced
from .penalties import catch_up, has_lazy_penalty, is_lazy, paid_before_update
from .penalties import sizes as penalty_sizes

SMALLEST_SCALE = 1e-6
"""Rebase below this: with w of order 1 and decay λ the average then errs by about 1e-10
/ λ.
"""

FIRST_ROOM = 4
"""Columns a sparse row has room for at its first update."""

DENSE_WEIGHTS = 2**24
"""Largest number of weights that are stored as full rows when there are many labels."""

FEW_LABELS = 16
"""Up to here rows are always full: a row is then two cache lines at most."""


ROW_FIELDS = ("value", "moment", "received", "last", "first", "count", "room")
"""Arrays of a store that grow with its rows, if they are there."""


class Clock(NamedTuple):
    """What the stores of one model have in common."""

    step: np.ndarray  # (2,) int64: examples visited, weight vectors in the average
    # (2,) float64: scale s, and S, the sum of the averaged steps' scales
    scale: np.ndarray


class Store(NamedTuple):
    """A table of weights; R rows, C columns, P places for weights."""

    sparse: bool
    columns: int  # C
    value: np.ndarray  # (P,) float64: weight / scale
    moment: np.ndarray  # (P,) float64: see the module; empty without averaging
    received: np.ndarray  # (P,) float64: L1 penalty received; empty unless cumulative
    # (R,) int64: step up to which the row is current; empty unless the penalty is lazy
    last: np.ndarray
    first: np.ndarray  # (R,) int64: sparse: where the row starts in the pool
    count: np.ndarray  # (R,) int32: sparse: weights in the row
    room: np.ndarray  # (R,) int32: sparse: places reserved for the row
    column: np.ndarray  # (P,) int32: sparse: column of each weight
    used: np.ndarray  # (1,) int64: sparse: places of the pool given away


class Rule(NamedTuple):
    """How a step changes the weights."""

    update: int  # PERCEPTRON, PA, PA_I or PA_II
    aggressiveness: float  # the C of PA-I and PA-II
    hamming: bool  # passive-aggressive: the cost is the number of wrong tokens, not 1
    penalty: int  # NO_PENALTY, L2, L1 or L1_CUMULATIVE
    alpha: float  # strength of the penalty per visited example
    average: int  # NO_AVERAGE, EACH_STEP or EACH_EPOCH


# --------------------------------------------------------------------------------------
# Kernels
# --------------------------------------------------------------------------------------
@inline
def place_of(store: Store, row: int, column: int) -> int:
    """Return the place of weight (row, column); -1 if a sparse row does not hold it."""
    if not store.sparse:
        return row * store.columns + column
    first = store.first[row]
    for k in range(first, first + store.count[row]):
        if store.column[k] == column:
            return k
    return np.int64(-1)


@spliced
def insert(store: Store, row: int, column: int) -> int:
    """Make place for a new weight in a sparse row; the pool has room (see
    ``places_needed``).
    """
    count = store.count[row]
    if count == store.room[row]:
        room = max(FIRST_ROOM, 2 * count)
        old = store.first[row]
        new = store.used[0]
        for k in range(count):
            store.value[new + k] = store.value[old + k]
            store.column[new + k] = store.column[old + k]
            if store.moment.shape[0] > 0:
                store.moment[new + k] = store.moment[old + k]
            if store.received.shape[0] > 0:
                store.received[new + k] = store.received[old + k]
        store.first[row] = new
        store.room[row] = room
        store.used[0] = new + room
    place = store.first[row] + count
    store.column[place] = column
    store.value[place] = 0.0
    if store.moment.shape[0] > 0:
        store.moment[place] = 0.0
    if store.received.shape[0] > 0:
        store.received[place] = 0.0
    store.count[row] = count + 1
    return place


@spliced
def add_to(
    value: np.ndarray,
    moment: np.ndarray,
    averaged: bool,
    total: float,
    place: int,
    dv: float,
) -> None:
    """Add ``dv``, in units of ``value``, to the weight at ``place`` of a store.

    Parameters
    ----------
    value, moment : ndarray
        Those of the store.
    averaged : bool
        Whether ``moment`` is kept, for the average.
    total : float
        The sum of the averaged steps' scales so far, ``clock.scale[1]``.
    place : int
    dv : float
    """
    value[place] += dv
    if averaged:
        moment[place] += dv * total


@spliced
def nudge(
    store: Store, clock: Clock, rule: Rule, row: int, column: int, delta: float
) -> None:
    """Add ``delta`` to one weight at step ``clock.step[0] + 1``."""
    lazy = is_lazy(rule)
    step = clock.step[0]
    if lazy:
        catch_up(store, rule, row, paid_before_update(rule, step))
    place = place_of(store, row, column)
    if place < 0:
        place = insert(store, row, column)
    if lazy:  # moments are sums of weights; the row's may have counted this step
        averaged = rule.average == EACH_STEP and store.last[row] > step
        total = 1.0
        dv = delta
    else:
        averaged = rule.average != NO_AVERAGE
        total = clock.scale[1]
        dv = delta / clock.scale[0]
    add_to(store.value, store.moment, averaged, total, place, dv)


@inline
def places_needed(store: Store, row: int) -> int:
    """Return bound on the pool places that one update of ``row`` takes."""
    if not store.sparse:
        return np.int64(0)
    return np.int64(max(FIRST_ROOM, 2 * (store.count[row] + FIRST_ROOM)))


@spliced
def tick(clock: Clock, rule: Rule) -> None:
    """Close a step: count it, and let the current scale enter the average."""
    clock.step[0] += 1
    if rule.average == EACH_STEP:
        clock.step[1] += 1
        clock.scale[1] += clock.scale[0]


@kernel
def _settle(store: Store, rule: Rule, step: int) -> None:
    """Bring every row up to date under a lazy penalty."""
    for row in range(store.last.shape[0]):
        catch_up(store, rule, row, step)


@kernel
def _average(
    value: np.ndarray, moment: np.ndarray, total: float, steps: float, out: np.ndarray
) -> None:
    """``(value * S - moment) / T`` in one pass; ``out`` is written."""
    for k in range(value.shape[0]):
        out[k] = (value[k] * total - moment[k]) / steps


# --------------------------------------------------------------------------------------
# The same arrays seen from Python
# --------------------------------------------------------------------------------------
def new_clock() -> Clock:
    """Return a clock at step 0 with scale 1."""
    return Clock(np.zeros(2, np.int64), np.array([1.0, 0.0]))


def sizes(rule: Rule, rows: int, places: int) -> dict[str, int]:
    """Return the lengths of the arrays that training under a rule needs beside the
    weights; by field of a store.
    """
    return {
        "moment": 0 if rule.average == NO_AVERAGE else places,
        **penalty_sizes(rule, rows, places),
    }


def n_rows(store: Store) -> int:
    """Return rows that a store has room for."""
    if store.sparse:
        return store.count.shape[0]
    return store.value.shape[0] // store.columns if store.columns else 0


def new_store(rows: int, columns: int, rule: Rule, sparse: bool) -> Store:
    """Return weights that are all zero.

    Parameters
    ----------
    rows, columns : int
    rule : Rule
        Decides which of the bookkeeping arrays exist.
    sparse : bool
    """
    places = 0 if sparse else rows * columns
    size = sizes(rule, rows, places)
    return Store(
        sparse=bool(sparse),
        columns=int(columns),
        value=np.zeros(places),
        moment=np.zeros(size["moment"]),
        received=np.zeros(size["received"]),
        last=np.zeros(size["last"], np.int64),
        first=np.zeros(rows if sparse else 0, np.int64),
        count=np.zeros(rows if sparse else 0, np.int32),
        room=np.zeros(rows if sparse else 0, np.int32),
        column=np.zeros(0, np.int32),
        used=np.zeros(1, np.int64),
    )


def longer(array: np.ndarray, size: int) -> np.ndarray:
    """``array`` with zeros appended up to ``size``; the array itself if it is long
    enough.
    """
    if array.shape[0] >= size:
        return array
    out = np.zeros(size, array.dtype)
    out[: array.shape[0]] = array
    return out


def _row_sizes(store: Store, rows: int, rule: Rule) -> dict[str, int]:
    """Return the lengths of the arrays of ``ROW_FIELDS`` that go with so many rows."""
    places = store.value.shape[0] if store.sparse else rows * store.columns
    size = {"value": places, **sizes(rule, rows, places)}
    return {
        **size,
        **(dict.fromkeys(("first", "count", "room"), rows) if store.sparse else {}),
    }


def longer_field(store: Store, name: str, rows: int, rule: Rule) -> Store:
    """``store`` with one of its arrays, of ``ROW_FIELDS``, as :func:`grow_rows` makes
    it.
    """
    size = _row_sizes(store, rows, rule).get(name, 0)
    return store._replace(**{name: longer(getattr(store, name), size)})


def grow_rows(store: Store, rows: int, rule: Rule) -> Store:
    """``store`` with room for ``rows`` rows; new weights are zero, as if they had
    always existed.
    """
    for name in ROW_FIELDS:
        store = longer_field(store, name, rows, rule)
    return store


def grow_pool(store: Store, rule: Rule, places: int) -> Store:
    """Return a sparse ``store`` whose pool has at least ``places`` free places, and is
    at least doubled.
    """
    size = max(2 * store.value.shape[0], int(store.used[0]) + int(places), 1024)
    grown = {
        name: longer(getattr(store, name), n)
        for name, n in sizes(rule, 0, size).items()
    }
    return store._replace(
        value=longer(store.value, size), column=longer(store.column, size), **grown
    )


def is_sparse(rows: int, columns: int) -> bool:
    """Tell whether a table of this size is stored sparsely."""
    return columns > FEW_LABELS and rows * columns > DENSE_WEIGHTS


def made_sparse(store: Store) -> Store:
    """Return a store with its weights and bookkeeping in the sparse layout, packed.

    A store that is sparse is returned itself.
    """
    if store.sparse:
        return store
    C = max(store.columns, 1)  # the labels of a parser without labels have no column
    held = store.value != 0.0
    for part in (store.moment, store.received):
        if part.shape[0]:
            held |= part != 0.0
    places = np.flatnonzero(held)
    count = np.bincount(places // C, minlength=held.shape[0] // C)
    return store._replace(
        sparse=True,
        value=store.value[places],
        moment=store.moment[places] if store.moment.shape[0] else store.moment,
        received=store.received[places] if store.received.shape[0] else store.received,
        first=np.cumsum(count) - count,
        count=count.astype(np.int32),
        room=count.astype(np.int32),
        column=(places % C).astype(np.int32),
        used=np.array([places.shape[0]], np.int64),
    )


def remap_columns(store: Store, new_of_old: np.ndarray, columns: int) -> Store:
    """``store`` with ``columns`` columns, in which old column c is column
    ``new_of_old[c]``.
    """
    if store.sparse:
        return store._replace(
            columns=int(columns), column=new_of_old.astype(np.int32)[store.column]
        )

    def spread(flat: np.ndarray) -> np.ndarray:
        if flat.shape[0] == 0:
            return flat
        out = np.zeros((flat.shape[0] // store.columns, columns))
        out[:, new_of_old] = flat.reshape(-1, store.columns)
        return out.ravel()

    return store._replace(
        columns=int(columns),
        value=spread(store.value),
        moment=spread(store.moment),
        received=spread(store.received),
    )


def without_spare_places(store: Store) -> Store:
    """Return a view of ``store`` without the places of a pool that are not given away
    yet.
    """
    if not store.sparse:
        return store
    places = int(store.used[0])
    pools = {
        name: getattr(store, name)[:places]
        for name in ("value", "moment", "received", "column")
    }
    return store._replace(**pools)


def copy_store(store: Store) -> Store:
    """Return a copy that shares no array."""
    arrays = {
        name: part.copy()
        for name, part in store._asdict().items()
        if isinstance(part, np.ndarray)
    }
    return store._replace(**arrays)


def settle(store: Store, clock: Clock, rule: Rule) -> None:
    """Bring every weight of ``store`` up to date, in place (lazy penalties)."""
    if has_lazy_penalty(rule):
        _settle(store, rule, clock.step[0])


def close_epoch(stores: Iterable[Store], clock: Clock, rule: Rule) -> None:
    """Let the weights as they stand enter the average, if it is one of epochs."""
    if rule.average != EACH_EPOCH:
        return
    for store in stores:
        settle(store, clock, rule)
        if has_lazy_penalty(rule):
            store.moment[:] += store.value
    clock.step[1] += 1
    clock.scale[1] += clock.scale[0]


def rebase(stores: Iterable[Store], clock: Clock) -> None:
    """Return to scale 1 without changing a weight or an average; see the module's
    docstring.
    """
    s, total = clock.scale
    for store in stores:
        if store.moment.shape[0]:
            store.moment[:] -= store.value * total
        store.value[:] *= s
    clock.scale[:] = 1.0, 0.0


def weights(store: Store, clock: Clock, rule: Rule, reuse: bool = False) -> np.ndarray:
    """Return the weights that the training so far amounts to: averaged if the rule says
    so.

    Parameters
    ----------
    store : Store
    clock : Clock
    rule : Rule
    reuse : bool
        Whether training ends here, so that the result may take the place of its arrays.

    Returns
    -------
    ndarray of shape (P,), parallel to ``store.value``
    """
    if has_lazy_penalty(rule):
        # A copy: looking at the weights must not change, in the last digit, what is
        # learned later.
        store = store if reuse else copy_store(store)
        settle(store, clock, rule)
        if rule.average == NO_AVERAGE or clock.step[1] == 0:
            return store.value
        return np.divide(store.moment, clock.step[1], out=store.moment)
    out = store.value if reuse else np.empty_like(store.value)
    if rule.average == NO_AVERAGE or clock.step[1] == 0:
        return np.multiply(store.value, clock.scale[0], out=out)
    _average(store.value, store.moment, clock.scale[1], clock.step[1], out)
    return out


def restart_average(store: Store, clock: Clock, old: Rule, new: Rule) -> Store:
    """``store`` with the weights that training under the rule ``old`` amounts to, and a
    new average.

    What goes on from there has a new clock, and the bookkeeping of the rule ``new``.
    """
    size = sizes(new, n_rows(store), store.value.shape[0])
    return store._replace(
        value=weights(store, clock, old),
        moment=np.zeros(size["moment"]),
        received=np.zeros(size["received"]),
        last=np.zeros(size["last"], np.int64),
    )


READ_ONLY = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
"""The rule of a model that is not being trained."""
