"""From a feature difference to a weight update.

A structure decodes an example and emits ``Δφ = φ(x, y) - φ(x, ŷ)`` as (row, column,
amount) triples into a :class:`Difference`; :func:`step_size` says how far to go along
it, :func:`apply` goes there. Perceptron and passive-aggressive learning differ in that
one number τ.

A difference is *coalesced*: the same weight met twice in an example is one entry, since
the passive-aggressive step needs the true ``‖Δφ‖²``, and features that y and ŷ share
cancel.

An :class:`Adjustment` says how features of a table are read and emitted where a weight
counts other than it is stored: a pending penalty makes a weight smaller, noise
multiplies it, and a cut-off leaves out what few updates changed. Without any of them
scores are plain sums: the adjustment is then None, for which numba compiles kernels
that have no trace of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .codes import NO_NOISE, PA, PA_I, PERCEPTRON
from .compile import ZERO, inline, spliced
from .feature_table import count_updates
from .hashing import intern, mix64
from .noise import Noise, factor_of_key
from .penalties import decay, has_lazy_penalty, is_lazy
from .store import Rule, add_to, nudge, places_needed, tick

if TYPE_CHECKING:
    from .feature_table import FeatureTable
    from .store import Clock, Store


class Difference(NamedTuple):
    """A sparse vector under construction; room for M entries, 2^k >= 2 M slots."""

    row: np.ndarray  # (M,) int64
    column: np.ndarray  # (M,) int32
    amount: np.ndarray  # (M,) float64
    # (2^k,) int32: entry number by hash of (row, column), -1 where empty
    slot: np.ndarray
    size: np.ndarray  # (1,) int64: entries in use


def new_difference(entries: int) -> Difference:
    """Return an empty difference with room for ``entries`` entries."""
    slots = 1 << int(max(2 * entries, 16) - 1).bit_length()
    return Difference(
        row=np.zeros(entries, np.int64),
        column=np.zeros(entries, np.int32),
        amount=np.zeros(entries),
        slot=np.full(slots, -1, np.int32),
        size=np.zeros(1, np.int64),
    )


@inline
def _slot(difference: Difference, row: int, column: int) -> int:
    mask = difference.slot.shape[0] - 1
    h = mix64(np.uint64(row) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(column))
    s = np.int64(h) & mask
    while True:
        entry = difference.slot[s]
        if entry < 0 or (
            difference.row[entry] == row and difference.column[entry] == column
        ):
            return s
        s = (s + 1) & mask


@inline
def emit(difference: Difference, row: int, column: int, amount: float) -> None:
    """Add ``amount`` to the component (row, column)."""
    s = _slot(difference, row, column)
    entry = difference.slot[s]
    if entry >= 0:
        difference.amount[entry] += amount
        return
    entry = difference.size[0]
    difference.slot[s] = entry
    difference.row[entry] = row
    difference.column[entry] = column
    difference.amount[entry] = amount
    difference.size[0] = entry + 1


class Pairs(NamedTuple):
    """Pairs of a row and a column, by row; R rows, K pairs.

    Without any row they are all pairs.
    """

    start: np.ndarray  # (R + 1,) int64: where the columns of each row begin
    column: np.ndarray  # (K,) int32: ascending in each row


@inline
def leave_out(
    difference: Difference, begin: int, end: int, row_offset: int, pairs: Any
) -> None:
    """Set to zero the amounts of entries whose pair of a row, less ``row_offset``, and
    a column is none of ``pairs``.

    ``pairs`` is a :class:`Pairs`, or an empty tuple for all pairs.
    """
    if len(pairs) > 0:
        start = pairs.start
        columns = pairs.column
        for entry in range(begin, end if start.shape[0] > 0 else begin):
            row = difference.row[entry] - row_offset
            column = difference.column[entry]
            low = start[row]
            stop = start[row + 1]
            high = stop
            while low < high:
                middle = (low + high) // 2
                if columns[middle] < column:
                    low = middle + 1
                else:
                    high = middle
            if low == stop or columns[low] != column:
                difference.amount[entry] = 0.0


@inline
def clear(difference: Difference) -> None:
    """Empty the difference, in time proportional to its entries."""
    # Backwards, so that when an entry's slot is freed no earlier entry's probe path is
    # cut.
    for entry in range(difference.size[0] - 1, -1, -1):
        difference.slot[
            _slot(difference, difference.row[entry], difference.column[entry])
        ] = -1
    difference.size[0] = 0


@inline
def sum_of_squares(amount: np.ndarray, begin: int, end: int) -> float:
    """Return the sum of the squares of some amounts."""
    total = 0.0
    for entry in range(begin, end):
        total += amount[entry] * amount[entry]
    return total


@spliced
def step_size(rule: Rule, loss: float, norm2: float, weight: float) -> float:
    """Return τ, the length of the step along Δφ for an example of weight v.

    Every kernel asks for it, once an example. Those that train by the perceptron alone
    work out neither a loss nor ``‖Δφ‖²``, and give 1 and 0.

    Perceptron: v (Zhang, Su and Zhou 2014, equation 5 with η = v). Passive-aggressive:
    PA ``ℓ / ‖Δφ‖²``, PA-I ``min(v C, ℓ / ‖Δφ‖²)`` (Gao, Qiu and Huang 2010, equations
    12 and 13), PA-II ``ℓ / (‖Δφ‖² + 1 / 2C)`` (Crammer et al. 2006). The costs in the
    hinge loss ℓ are multiplied by v already: if all examples weigh v, all weights of
    features are v times those of v = 1.
    """
    if rule.update == PERCEPTRON:
        return weight
    if loss <= 0.0 or norm2 == 0.0:
        return 0.0
    if rule.update == PA:
        return loss / norm2
    if rule.update == PA_I:
        return min(weight * rule.aggressiveness, loss / norm2)
    return loss / (norm2 + 0.5 / rule.aggressiveness)


@inline
def room_for(
    difference: Difference, begin: int, end: int, row_offset: int, store: Store
) -> bool:
    """Tell whether the pool of a store takes an update along the entries ``begin`` to
    ``end - 1``, whose rows are those of the store plus ``row_offset``.
    """
    needed = ZERO
    for entry in range(begin, end if store.sparse else begin):
        needed += places_needed(store, difference.row[entry] - row_offset)
    return not store.sparse or store.used[0] + needed <= store.value.shape[0]


@inline
def add_entries(
    difference: Difference,
    begin: int,
    end: int,
    row_offset: int,
    store: Store,
    clock: Clock,
    tau: float,
) -> None:
    """``w += τ Δφ`` along the entries ``begin`` to ``end - 1``, of full rows under a
    penalty that is not lazy.

    Entries have the rows of the store plus ``row_offset``. Without averaging, where
    ``store.moment`` is empty, no sums are kept.
    """
    row = difference.row
    column = difference.column
    amount = difference.amount
    L = store.columns
    value = store.value
    moment = store.moment
    averaged = store.moment.shape[0] > 0
    factor = tau / clock.scale[0]
    total = clock.scale[1]
    for entry in range(begin, end):
        place = (row[entry] - row_offset) * L + column[entry]
        add_to(value, moment, averaged, total, place, factor * amount[entry])


@inline
def apply(
    difference: Difference,
    begin: int,
    end: int,
    row_offset: int,
    store: Store,
    clock: Clock,
    rule: Rule,
    tau: float,
) -> None:
    """Add ``tau`` times the entries of a difference to weights, under any penalty.

    Entries ``begin`` to ``end - 1`` are added; their row ``row_offset`` is row 0 of the
    store. Without a lazy penalty it is what `add_entries` does; with one, each weight
    first pays what is due.
    """
    if not store.sparse and not is_lazy(rule):
        add_entries(difference, begin, end, row_offset, store, clock, tau)
        return
    for entry in range(begin, end):
        amount = difference.amount[entry]
        if amount != 0.0:
            nudge(
                store,
                clock,
                rule,
                difference.row[entry] - row_offset,
                difference.column[entry],
                tau * amount,
            )


@spliced
def finish_visit(
    differences: tuple[Difference, ...],
    stores: tuple[Store, ...],
    clock: Clock,
    rule: Rule,
    weight: float,
) -> None:
    """End the visit of an example: decay, a step of the perceptron along each
    difference, and tick.

    Parameters
    ----------
    differences : tuple of Difference
        Emptied.
    stores : tuple of Store
        The weights that each difference is for.
    weight : float
        That of the example.
    """
    decay(clock, rule)  # Zhang, Su and Zhou 2014, equation 10: decay, then step
    tau = step_size(rule, 1.0, 0.0, weight)
    for k in range(len(differences)):
        apply(
            differences[k],
            ZERO,
            differences[k].size[0],
            ZERO,
            stores[k],
            clock,
            rule,
            tau,
        )
        clear(differences[k])
    tick(clock, rule)


class Adjustment(NamedTuple):
    """What weights are read under."""

    rule: Rule
    noise: Noise


def adjustment_of(features: FeatureTable, rule: Rule, noise: Noise) -> Any:
    """Return the :class:`Adjustment` of a feature table, or None if scores are sums of
    what is stored.
    """
    quiet = noise.feature == NO_NOISE and noise.edge == NO_NOISE
    plain = quiet and not has_lazy_penalty(rule) and features.min_count <= 1
    return None if plain else Adjustment(rule, noise)


@inline
def noise_factor(
    adjustment: Any, edge: bool, step: int, compound: int, key: int
) -> float:
    """Return what a feature is multiplied by at a step; ``edge``: it is one of
    transitions.
    """
    if adjustment is None:
        return 1.0
    return factor_of_key(adjustment.noise, edge, step, compound, key)


@inline
def emit_feature(
    features: FeatureTable,
    adjustment: Any,
    edge: bool,
    step: int,
    compound: int,
    left: int,
    right: int,
    column: int,
    amount: float,
    difference: Difference,
) -> None:
    """Emit a feature by its key; one that is new is numbered, for which the table must
    have room.
    """
    x = noise_factor(adjustment, edge, step, compound, (left << 32) | right)
    if x != 0.0:
        emit(
            difference,
            intern(features.table, features.entries, compound, left, right),
            column,
            x * amount,
        )


@inline
def learn(
    features: FeatureTable,
    difference: Difference,
    clock: Clock,
    rule: Rule,
    adjustment: Any,
    weight: float,
) -> None:
    """End the visit of an example: count the updates, and take a step of the
    perceptron.
    """
    count_updates(features, difference)
    if adjustment is not None:
        finish_visit((difference,), (features.weights,), clock, rule, weight)
        return
    decay(clock, rule)
    tau = step_size(rule, 1.0, 0.0, weight)
    add_entries(
        difference, ZERO, difference.size[0], ZERO, features.weights, clock, tau
    )
    clear(difference)
    tick(clock, rule)
