"""What the parser looks at: states, arcs, and the weights of their features.

Templates (:mod:`.state_templates`) say which atoms are read in the row of a state, or of an arc
(:mod:`.states`). The search only looks features up; an update numbers those it meets for the first time
(``core.hashing.intern``). Features that read an atom of -1 (an unknown form, or one that dropout hides) are
left out.

States of a beam are alike: most of what their features, and the labels of their arcs, depend on was met in
other states of the same sentence. Weights and noise do not change while a sentence is searched: partial
scores are remembered (:class:`Memory`).

Letters: n words, K templates, A atoms, C columns, B beam.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, spliced
from ..core.feature_table import FeatureTable
from ..core.hashing import EMPTY, LOW, home_of, intern, mix64
from ..core.noise import token_masked
from ..core.penalties import read_weight
from ..core.prefetch import prefetch
from ..core.rules import emit, noise_factor
from ..core.store import Clock
from .states import AHEAD, FIRST_WORD, NO_CHILD, STACK_END


class Templates(NamedTuple):
    """Compiled templates; K of them over A atoms."""

    slot: np.ndarray  # (K, 6) int32: atoms, A for none; two of each half and of the compound
    code: np.ndarray  # (K,) int32: the template's part of the compound; parts of a column share it
    edge: np.ndarray  # (K,) bool: whether it looks at decisions before
    field: np.ndarray  # (A,) int32: of the state or arc
    offset: np.ndarray  # (A,) int32: added to the place in that field
    attribute: np.ndarray  # (A,) int32: row of the sentence's array of atoms; -1, LABEL: the field's number
    group: np.ndarray  # (G + 1, 2) int32: where each group's templates and atoms begin, see `template_sets`
    by: np.ndarray  # (G, F) int32: the fields that decide what a group scores, -1 behind them; all: -1


class ParseModel(NamedTuple):
    """Everything that scores."""

    beam: int
    merge: bool  # equivalent states are one
    joint: bool  # labels are part of the search
    root_step: bool  # the last action makes the only tree left a child of the stack's end
    update: int  # EARLY, MAX_VIOLATION or STANDARD
    tracked: np.ndarray  # (N_FIELDS,) bool: fields that distinguish states
    templates: Templates  # of states
    arcs: Templates  # of arcs
    state_features: FeatureTable  # columns are actions
    arc_features: FeatureTable  # columns are labels; none without labels
    symbol: np.ndarray  # (L,) int32: what labels are called in fields, from 1 on
    wanted: np.ndarray  # (2,) int64: entries that the two tables lacked when an example was put off
    clock: Clock


class Memory(NamedTuple):
    """What was computed in this sentence, by fields of rows; where two share a slot the later one stays."""

    key: np.ndarray  # (slots, fields) int32
    value: np.ndarray  # (slots + 1, numbers) float64; the last one is for what is not remembered
    stamp: np.ndarray  # (slots,) int64: the sentence, and the kind of row
    now: np.ndarray  # (1,) int64: that of the sentence at hand


KINDS = 64
"""The most kinds of rows in one memory."""


def new_memory(slots, fields, numbers):
    """An empty cache; ``slots`` is a power of two."""
    return Memory(
        np.zeros((slots, fields), np.int32), np.zeros((slots + 1, numbers)), np.zeros(slots, np.int64),
        np.full(1, KINDS),
    )  # fmt: skip


class Lookup(NamedTuple):
    """Scratch for the features of one row; K templates in G groups, A atoms."""

    atom: np.ndarray  # (A + 1,) int64
    key: np.ndarray  # (K,) int64
    compound: np.ndarray  # (K,) int64
    slot: np.ndarray  # (K,) int64: of the table; -1: no such feature
    entry: np.ndarray  # (K,) int64: what the table holds there
    place: np.ndarray  # (G,) int64: by group the slot of the memory
    known: np.ndarray  # (G,) bool: whether it holds what the group scores


def new_lookup(*templates):
    """Scratch for these templates, those of states or those of arcs at a time."""
    K, A, G = (
        max(sizes) for sizes in zip(*(t.slot.shape[:1] + t.field.shape + t.by.shape[:1] for t in templates))
    )
    ints = np.zeros((4, K), np.int64)
    return Lookup(np.zeros(A + 1, np.int64), *ints, np.zeros(G, np.int64), np.zeros(G, np.bool_))


@inline
def load(atoms, n_forms, first, n, step, noise, value):
    """The atoms of a sentence with what surrounds it; input dropout hides forms, never tags and the like."""
    for a in range(atoms.shape[0]):
        value[a, STACK_END], value[a, NO_CHILD] = 0, 1
        for k in range(n):
            value[a, FIRST_WORD + k] = atoms[a, first + k]
        for k in range(AHEAD):
            value[a, FIRST_WORD + n + k] = 2
    if noise.token_below > np.uint64(0):
        for k in range(n):
            if token_masked(noise, step, k, 0):
                for a in range(1, n_forms + 1):
                    value[a, FIRST_WORD + k] = -1


# --------------------------------------------------------------------------------------------------
# Features of a row
# --------------------------------------------------------------------------------------------------
@spliced
def recall(memory, by, kind, row):
    """(slot, whether it holds the result for these fields of a row); if not, the slot is reserved for it.

    Parameters
    ----------
    memory : Memory
    by : (kinds, F) int32
        The fields of each kind, -1 behind the last one; with none, nothing is remembered.
    kind : int
    row : int32 array
    """
    if by[kind, 0] < 0:
        return memory.stamp.shape[0], False
    stamp = memory.now[0] + kind
    h, F = np.uint64(kind), 0
    while F < by.shape[1] and by[kind, F] >= 0:
        h = h * np.uint64(0x9E3779B97F4A7C15) + np.uint64(row[by[kind, F]])
        F += 1
    s = np.int64(mix64(h)) & (memory.stamp.shape[0] - 1)
    known = memory.stamp[s] == stamp
    f = 0
    while known and f < F:
        known = memory.key[s, f] == row[by[kind, f]]
        f += 1
    if not known:
        memory.stamp[s] = stamp
        for f in range(F):
            memory.key[s, f] = row[by[kind, f]]
    return s, known


@spliced
def list_keys(templates, group, row, value, look):
    """The keys of a row's features; ``look.slot`` is -1 where there is none, else 0.

    Only of the templates of one group.
    """
    atom, slot, begin, end = look.atom, templates.slot, templates.group[group], templates.group[group + 1]
    for a in range(begin[1], end[1]):
        place = row[templates.field[a]] + templates.offset[a]
        attribute = templates.attribute[a]
        atom[a] = place if attribute < 0 else value[attribute, place]
    atom[templates.field.shape[0]] = 0
    for k in range(begin[0], end[0]):
        a, b = atom[slot[k, 0]], atom[slot[k, 1]]
        c, d = atom[slot[k, 2]], atom[slot[k, 3]]
        e, f = atom[slot[k, 4]], atom[slot[k, 5]]
        look.key[k] = (((a << 15) | b) << 32) | (c << 15) | d
        look.compound[k] = templates.code[k] | (e << 7) | (f << 19)
        look.slot[k] = -1 if (a | b | c | d | e | f) < 0 else 0


@spliced
def ask_for_slots(table, begin, end, look):
    """Where the search for each listed feature begins, to be read by :func:`find_rows`."""
    for k in range(begin, end):
        if look.slot[k] >= 0:
            s = home_of(table, look.compound[k], look.key[k])
            look.slot[k] = s
            prefetch(table, 2 * s)


@spliced
def find_rows(table, begin, end, look):
    """``look.entry``: the rows of the listed features, -1 for unknown ones."""
    mask = table.shape[0] - 1
    for k in range(begin, end):
        entry, s = EMPTY, look.slot[k]
        if s >= 0:
            entry = table[s, 1]
            while entry != EMPTY and (entry >> 32 != look.compound[k] or table[s, 0] != look.key[k]):
                s = (s + 1) & mask
                entry = table[s, 1]
        look.entry[k] = entry if entry == EMPTY else entry & LOW


@spliced
def ask_for_rows(store, begin, end, look):
    """Ask for what :func:`add_rows` reads of rows."""
    for k in range(begin, end):
        r = look.entry[k]
        if r >= 0 and store.sparse:
            prefetch(store.first, r)
            prefetch(store.count, r)
        elif r >= 0:
            prefetch(store.value, r * store.columns)


@spliced
def ask_for_weights(store, begin, end, look):
    """The same of the pool in which sparse rows stand; ``look.slot`` is where they begin."""
    for k in range(begin, end):
        r = look.entry[k]
        if r >= 0:
            look.slot[k] = store.first[r]
            prefetch(store.column, look.slot[k])
            prefetch(store.value, look.slot[k])


@inline
def look_up(templates, table, row, value, look):
    """``look.entry``: the rows of all features of a row, -1 for unknown ones."""
    for g in range(templates.group.shape[0] - 1):
        list_keys(templates, g, row, value, look)
    ask_for_slots(table, np.int64(0), templates.slot.shape[0], look)
    find_rows(table, np.int64(0), templates.slot.shape[0], look)


@inline
def score(templates, features, memory, row, value, adjustment, step, look, total):
    """``total[a] = Σ_k x_k w[k, a]`` over the features of a row, in units of stored values.

    What a group of templates adds is taken from ``memory`` if it is known there.
    """
    group, known, place = templates.group, look.known, look.place
    table, store = features.table, features.weights
    G, C = group.shape[0] - 1, store.columns
    for g in range(G):
        place[g], known[g] = recall(memory, templates.by, g, row)
        if not known[g]:
            list_keys(templates, g, row, value, look)
            ask_for_slots(table, group[g, 0], group[g + 1, 0], look)
    for g in range(G):
        if not known[g]:
            find_rows(table, group[g, 0], group[g + 1, 0], look)
            ask_for_rows(store, group[g, 0], group[g + 1, 0], look)
    if store.sparse:
        for g in range(G):
            if not known[g]:
                ask_for_weights(store, group[g, 0], group[g + 1, 0], look)
    total[:C] = 0.0
    for g in range(G):
        found = memory.value[place[g]]
        if not known[g]:
            found[:C] = 0.0
            if adjustment is None:
                add_rows(store, group[g, 0], group[g + 1, 0], look, found)
            else:
                add_adjusted_rows(
                    templates, features, group[g, 0], group[g + 1, 0], adjustment, step, look, found
                )
        for a in range(C):
            total[a] += found[a]


@spliced
def add_rows(store, begin, end, look, total):
    """Add the weights of the features ``begin <= k < end``, whose rows are found."""
    C = store.columns
    if not store.sparse:
        for k in range(begin, end):
            if look.entry[k] >= 0:
                place = look.entry[k] * C
                for a in range(C):
                    total[a] += store.value[place + a]
        return
    for k in range(begin, end):
        r = look.entry[k]
        if r >= 0:
            for place in range(look.slot[k], look.slot[k] + store.count[r]):
                total[store.column[place]] += store.value[place]


@spliced
def add_adjusted_rows(templates, features, begin, end, adjustment, step, look, total):
    """The same under a lazy penalty, noise on features, or a cut-off."""
    store, seen = features.weights, features.seen
    C = store.columns
    for k in range(begin, end):
        r = look.entry[k]
        if r < 0 or (seen.shape[0] > 0 and seen[r] < features.min_count):
            continue
        x = noise_factor(adjustment, templates.edge[k], step, look.compound[k], look.key[k])
        first = store.first[r] if store.sparse else r * C
        last = first + (store.count[r] if store.sparse else C)
        for place in range(first, last):
            column = store.column[place] if store.sparse else place - first
            total[column] += x * read_weight(store, adjustment.rule, r, place, step)


@inline
def emit_row(templates, features, row, value, adjustment, step, up, down, look, difference):
    """Emit the features of a row for column ``up``, and against column ``down``; -1 for none."""
    for g in range(templates.group.shape[0] - 1):
        list_keys(templates, g, row, value, look)
    for k in range(templates.slot.shape[0]):
        if look.slot[k] < 0:
            continue
        key, compound = look.key[k], look.compound[k]
        x = noise_factor(adjustment, templates.edge[k], step, compound, key)
        if x != 0.0:
            r = intern(features.table, features.entries, compound, key >> 32, key & LOW)
            if up >= 0:
                emit(difference, r, up, x)
            if down >= 0:
                emit(difference, r, down, -x)


@spliced
def score_state(row, model, adjustment, work, total):
    """``total``: the scores of the actions in a state, without labels."""
    score(
        model.templates, model.state_features, work.scores, row, work.value, adjustment,
        model.clock.step[0], work.look, total,
    )  # fmt: skip


@spliced
def emit_state(row, up, down, model, adjustment, work):
    """Emit the features of a state for action ``up``, against ``down``; -1 for none."""
    emit_row(
        model.templates, model.state_features, row, work.value, adjustment, model.clock.step[0],
        np.int64(up), np.int64(down), work.look, work.difference,
    )  # fmt: skip
