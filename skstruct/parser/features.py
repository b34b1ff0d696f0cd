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

from ..core.codes import NO_NOISE
from ..core.compile import inline
from ..core.feature_table import FeatureTable
from ..core.hashing import EMPTY, home_of, intern, mix64
from ..core.noise import EDGE_STREAM, NODE_STREAM, factor, token_masked
from ..core.penalties import is_lazy, read_weight
from ..core.rules import Difference, emit
from ..core.store import Clock
from .templates import (
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
from .trees import LEFT, SHIFT

STACK_END, NO_CHILD, FIRST_WORD = 0, 1, 2
"""Places."""

SPECIAL = 3
"""Ids of atoms of words start here: 0, 1 and 2 are the stack's end, no child and the queue's end."""

AHEAD = 3
"""Places behind the last word."""

N_ACTIONS = 3

MOST_CHILDREN = 7
"""Numbers of children count up to here."""

_LOW = 0xFFFFFFFF
_BLANK = np.array([0, 0] + 2 * [STACK_END, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0] + [STACK_END], np.int32)


class ParseModel(NamedTuple):
    """Everything that scores."""

    beam: int
    merge: bool  # equivalent states are one
    joint: bool  # labels are part of the search
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
    """Scratch for the features of one row; K templates, A atoms."""

    atom: np.ndarray  # (A + 1,) int64
    key: np.ndarray  # (K,) int64
    compound: np.ndarray  # (K,) int64
    slot: np.ndarray  # (K,) int64: of the table; -1: no such feature
    entry: np.ndarray  # (K,) int64: what the table holds there


def new_lookup(templates):
    """Scratch for these templates."""
    K, A = templates.slot.shape[0], templates.field.shape[0]
    return Lookup(np.zeros(A + 1, np.int64), *np.zeros((4, K), np.int64))


@inline
def is_plain(model, rule, noise):
    """Whether a score is nothing but a sum of values: no lazy penalty, no noise on features, no cut-off."""
    quiet = noise.feature == NO_NOISE and noise.edge == NO_NOISE
    return quiet and not is_lazy(rule) and model.state_features.min_count <= 1


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
@inline
def list_keys(templates, begin, end, row, value, look):
    """The keys of a row's features; ``look.slot`` is -1 where there is none, else 0.

    Only of the templates ``begin <= k < end``.
    """
    atom, slot = look.atom, templates.slot
    A = templates.field.shape[0]
    for a in range(A):
        place = row[templates.field[a]] + templates.offset[a]
        attribute = templates.attribute[a]
        atom[a] = place if attribute < 0 else value[attribute, place]
    atom[A] = 0
    for k in range(begin, end):
        a, b = atom[slot[k, 0]], atom[slot[k, 1]]
        c, d = atom[slot[k, 2]], atom[slot[k, 3]]
        e, f = atom[slot[k, 4]], atom[slot[k, 5]]
        look.key[k] = (((a << 15) | b) << 32) | (c << 15) | d
        look.compound[k] = templates.code[k] | (e << 7) | (f << 19)
        look.slot[k] = -1 if (a | b | c | d | e | f) < 0 else 0


@inline
def find_rows(table, begin, end, look):
    """Replace ``look.entry`` by the rows of the listed features, -1 for unknown ones.

    All first slots are read before any is compared: a table is far larger than the caches, and the reads
    then overlap.
    """
    mask = table.shape[0] - 1
    for k in range(begin, end):
        look.entry[k] = EMPTY
        if look.slot[k] >= 0:
            s = home_of(table, look.compound[k], look.key[k])
            look.slot[k] = s
            look.entry[k] = table[s, 1]
    for k in range(begin, end):
        entry, s = look.entry[k], look.slot[k]
        while entry != EMPTY and (entry >> 32 != look.compound[k] or table[s, 0] != look.key[k]):
            s = (s + 1) & mask
            entry = table[s, 1]
        look.entry[k] = entry if entry == EMPTY else entry & _LOW


@inline
def noise_of(edge, noise, step, compound, key):
    """The factor of a feature; those that look at decisions before count as transition features."""
    code = noise.edge if edge else noise.feature
    if code == NO_NOISE:
        return 1.0
    item = mix64(np.uint64(key) + np.uint64(compound) * np.uint64(0x9E3779B97F4A7C15))
    return factor(noise, code, EDGE_STREAM if edge else NODE_STREAM, step, np.int64(item))


@inline
def score_row(templates, features, row, value, rule, noise, step, plain, look, total):
    """``total[a] = Σ_k x_k w[k, a]`` over the features of a row, in units of stored values."""
    for a in range(features.weights.columns):
        total[a] = 0.0
    K = templates.slot.shape[0]
    add_scores(templates, 0, K, features, row, value, rule, noise, step, plain, look, total)


@inline
def add_scores(templates, first, last, features, row, value, rule, noise, step, plain, look, total):
    """The same for the templates ``first <= k < last``, added to ``total``."""
    store, seen = features.weights, features.seen
    C = store.columns
    list_keys(templates, first, last, row, value, look)
    find_rows(features.table, first, last, look)
    if plain and not store.sparse:
        for k in range(first, last):
            if look.entry[k] >= 0:
                place = look.entry[k] * C
                for a in range(C):
                    total[a] += store.value[place + a]
        return
    if plain:
        # Rows are found for all features before one is read: the reads then overlap, as in find_rows.
        for k in range(first, last):
            r = look.entry[k]
            look.key[k] = store.first[r] if r >= 0 else 0
            look.compound[k] = store.count[r] if r >= 0 else 0
        for k in range(first, last):
            for place in range(look.key[k], look.key[k] + look.compound[k]):
                total[store.column[place]] += store.value[place]
        return
    for k in range(first, last):
        r = look.entry[k]
        if r < 0 or (seen.shape[0] > 0 and seen[r] < features.min_count):
            continue
        x = 1.0
        if not plain:
            x = noise_of(templates.edge[k], noise, step, look.compound[k], look.key[k])
        begin = store.first[r] if store.sparse else r * C
        end = begin + (store.count[r] if store.sparse else C)
        for place in range(begin, end):
            column = store.column[place] if store.sparse else place - begin
            total[column] += x * read_weight(store, rule, r, place, step)


@inline
def emit_row(templates, features, row, value, noise, step, up, down, look, difference: Difference):
    """Emit the features of a row for column ``up``, and against column ``down``; -1 for none."""
    list_keys(templates, 0, templates.slot.shape[0], row, value, look)
    for k in range(look.slot.shape[0]):
        if look.slot[k] < 0:
            continue
        key, compound = look.key[k], look.compound[k]
        x = noise_of(templates.edge[k], noise, step, compound, key)
        if x != 0.0:
            r = intern(features.table, features.entries, compound, key >> 32, key & _LOW)
            if up >= 0:
                emit(difference, r, up, x)
            if down >= 0:
                emit(difference, r, down, -x)
