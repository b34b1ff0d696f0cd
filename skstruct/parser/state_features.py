"""What the parser looks at: states, arcs, and the weights of their features.

A state of the search, and an arc of a tree, is a row of
small integers: places of words in the sentence, and numbers. Templates (``parser.templates``) say which
atoms are read there. The search only looks features up; an update numbers those it meets for the first time
(``core.hashing.intern``).

A sentence of n words stands at the places 2 ... n + 1 of its array of atoms. Place 0 is what a stack has
below its last tree, place 1 a child that is missing, and the places from n + 2 on are the end of the queue.
Features that read an atom of -1 (an unknown form, or one that dropout hides) are left out.

Letters: n words, K templates, A atoms, C columns, B beam.
"""

from typing import NamedTuple

import numpy as np

from ..core.adjustment import noise_factor
from ..core.compile import inline, spliced
from ..core.feature_table import FeatureTable
from ..core.hashing import EMPTY, LOW, home_of, intern
from ..core.noise import token_masked
from ..core.penalties import read_weight
from ..core.prefetch import prefetch
from ..core.rules import emit
from ..core.store import Clock
from .beam_memory import recall
from .dependency_trees import LEFT, SHIFT
from .state_templates import (
    DISTANCE,
    LC,
    LC2,
    LCL,
    LCL2,
    N_FIELDS,
    N_TREE,
    RC,
    RC2,
    RCL,
    RCL2,
    S0,
    S1,
    S2,
    VL,
    VR,
    H,
    I,
    J,
    Templates,
)

STACK_END, NO_CHILD, FIRST_WORD = 0, 1, 2
"""Places."""

SPECIAL = 3
"""Ids of atoms of words start here: 0, 1 and 2 are the stack's end, no child and the queue's end."""

AHEAD = 3
"""Places behind the last word."""

N_ACTIONS = 3

MOST_CHILDREN = 7
"""Numbers of children count up to here."""

_BLANK = np.array([0, 0] + 2 * [STACK_END, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0] + [STACK_END], np.int32)


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
# States
# --------------------------------------------------------------------------------------------------
@inline
def bucket(distance):
    """1 ... 5 as they are, 6 ... 10 as 6, more as 7."""
    if distance <= 5:
        return distance
    return 6 if distance <= 10 else 7


@inline
def start_state(row):
    """The state before the first word."""
    for f in range(N_FIELDS):
        row[f] = _BLANK[f]
    row[I] = row[J] = FIRST_WORD
    row[DISTANCE] = 0


@inline
def successor(action, label, p, q, tracked, row):
    """The state that an action leads to; ``label`` is the field's number of the label of a new arc.

    After SHIFT ``q`` is the state before, ``p`` is not read. After a reduction ``q`` is the state before, and
    what is below its first tree comes from ``p``, the state before the first word of that tree was read: q
    may have been merged with states that have another one below.
    """
    if action == SHIFT:
        row[I] = q[J]
        row[J] = q[J] + 1
        row[S2] = q[S1 + H]
        for f in range(N_TREE):
            row[S1 + f] = q[S0 + f]
            row[S0 + f] = _BLANK[S0 + f]
        row[S0 + H] = q[J]
    else:
        row[I] = p[I]
        row[J] = q[J]
        row[S2] = p[S2]
        for f in range(N_TREE):
            row[S1 + f] = p[S1 + f]
        if action == LEFT:
            for f in range(N_TREE):
                row[S0 + f] = q[S0 + f]
            row[S0 + LC] = p[S0 + H]
            row[S0 + LC2] = q[S0 + LC]
            row[S0 + LCL] = label
            row[S0 + LCL2] = q[S0 + LCL]
            row[S0 + VL] = min(q[S0 + VL] + 1, MOST_CHILDREN)
        else:
            for f in range(N_TREE):
                row[S0 + f] = p[S0 + f]
            row[S0 + RC] = q[S0 + H]
            row[S0 + RC2] = p[S0 + RC]
            row[S0 + RCL] = label
            row[S0 + RCL2] = p[S0 + RCL]
            row[S0 + VR] = min(p[S0 + VR] + 1, MOST_CHILDREN)
    for f in range(N_FIELDS):
        if not tracked[f]:
            row[f] = _BLANK[f]
    row[DISTANCE] = bucket(row[S0 + H] - row[S1 + H]) if row[S1 + H] != STACK_END else 0


# --------------------------------------------------------------------------------------------------
# Features of a row
# --------------------------------------------------------------------------------------------------
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
