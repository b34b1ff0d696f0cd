"""What the parser looks at: states, arcs, and the weights of their features.

Templates (:mod:`.state_templates`) say which atoms are read in the row of a state, or
of an arc (:mod:`.states`). The search only looks features up; an update numbers those
it meets for the first time (``_core.hashing.intern``). Features that read an atom of -1
(an unknown form, or one that dropout hides) are left out.

States of a beam are alike: most of what their features, and the labels of their arcs,
depend on was met in other states of the same sentence. Weights and noise do not change
while a sentence is searched: partial scores are remembered (:class:`ScoreCache`).

Letters: n words, K templates, A atoms, C columns, B beam.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.compile import inline, spliced
from .._core.feature_table import FeatureTable
from .._core.hashing import EMPTY, LOW, home_of, intern, mix64
from .._core.noise import token_masked
from .._core.penalties import read_weight
from .._core.prefetch import prefetch
from .._core.rules import emit, noise_factor
from .._core.store import Clock
from .states import AHEAD, FIRST_WORD, NO_CHILD, STACK_END

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.rules import Adjustment, Difference
    from .parser_beam import ParseTask, ParseWork
    from .states import Int

MOST_FIELDS = 16
"""Room for the fields that decide what a group of templates scores."""


class Templates(NamedTuple):
    """Compiled templates; K of them over A atoms."""

    # (K, 6) int32: atoms, A for none; two of each half and of the compound.
    slot: np.ndarray
    # (K,) int32: the template's part of the compound; parts of a column share it.
    code: np.ndarray
    edge: np.ndarray  # (K,) bool: whether it looks at decisions before
    field: np.ndarray  # (A,) int32: of the state or arc
    offset: np.ndarray  # (A,) int32: added to the place in that field
    # (A,) int32: row of the sentence's array of atoms; -1, LABEL: the field's number.
    attribute: np.ndarray
    # (G + 1, 2) int32: where templates and atoms of each group begin (`template_sets`).
    group: np.ndarray
    # (G, MOST_FIELDS) int32: the fields that decide what a group scores, -1 behind
    # them; all -1 if nothing is remembered.
    by: np.ndarray


class ParseModel(NamedTuple):
    """Everything that scores."""

    beam: int
    merge: bool  # equivalent states are one
    joint: bool  # labels are part of the search
    root_step: bool  # the last action makes the tree left a child of the stack's end
    update: int  # EARLY, MAX_VIOLATION or STANDARD
    tracked: np.ndarray  # (N_FIELDS,) bool: fields that distinguish states
    templates: Templates  # of states
    arcs: Templates  # of arcs
    state_features: FeatureTable  # columns are actions
    arc_features: FeatureTable  # columns are labels; none without labels
    symbol: np.ndarray  # (L,) int32: what labels are called in fields, from 1 on
    # (2,) int64: entries that the two tables lacked when an example was put off.
    wanted: np.ndarray
    clock: Clock


class ScoreCache(NamedTuple):
    """What was computed in this sentence, by fields of rows; where two share a slot the
    later one stays.
    """

    key: np.ndarray  # (slots, fields) int32
    # (slots + 1, numbers) float64; the last one is for what is not remembered.
    value: np.ndarray
    stamp: np.ndarray  # (slots,) int64: the sentence, and the kind of row
    now: np.ndarray  # (1,) int64: that of the sentence at hand


KINDS = 64
"""The most kinds of rows in one cache."""


def new_cache(slots: int, fields: int, numbers: int) -> ScoreCache:
    """Make an empty cache of so many numbers by up to so many fields; ``slots`` is a
    power of two.
    """
    return ScoreCache(
        key=np.zeros((slots, fields), np.int32),
        value=np.zeros((slots + 1, numbers)),
        stamp=np.zeros(slots, np.int64),
        now=np.full(1, KINDS),
    )


class Lookup(NamedTuple):
    """A sentence of n words, and scratch for the features of one row; K templates in G
    groups, A atoms.
    """

    value: np.ndarray  # (rows of atoms, n + 2 + AHEAD) int32: atoms of the sentence
    step: np.ndarray  # (1,) int64: examples visited before
    atom: np.ndarray  # (A + 1,) int64
    key: np.ndarray  # (K,) int64: of each feature listed
    compound: np.ndarray  # (K,) int64
    template: np.ndarray  # (K,) int64
    slot: np.ndarray  # (K,) int64: of the table; then of the pool, if rows are sparse
    entry: np.ndarray  # (K,) int64: the row; -1: no such feature
    place: np.ndarray  # (G,) int64: by group the slot of the cache
    first: np.ndarray  # (G + 1,) int64: its first feature listed
    known: np.ndarray  # (G,) bool: whether the cache holds what the group scores


def new_lookup(n: int, rows: int, *templates: Templates) -> Lookup:
    """Make scratch for sentences of so many words and rows of atoms, and for these
    templates, a set of them at a time.
    """
    K = max(t.slot.shape[0] for t in templates)
    A = max(t.field.shape[0] for t in templates)
    G = max(t.by.shape[0] for t in templates)
    return Lookup(
        value=np.zeros((rows, n + 2 + AHEAD), np.int32),
        step=np.zeros(1, np.int64),
        atom=np.zeros(A + 1, np.int64),
        key=np.zeros(K, np.int64),
        compound=np.zeros(K, np.int64),
        template=np.zeros(K, np.int64),
        slot=np.zeros(K, np.int64),
        entry=np.zeros(K, np.int64),
        place=np.zeros(G, np.int64),
        first=np.zeros(G + 1, np.int64),
        known=np.zeros(G, np.bool_),
    )


@inline
def load(
    task: ParseTask, first: Int, n: Int, step: Int, noise: Noise, work: ParseWork
) -> None:
    """Begin with a sentence, its atoms and what surrounds it; what was found in others
    is forgotten.

    Input dropout hides forms, never tags and the like.
    """
    value = work.look.value
    atoms = task.atoms
    work.look.step[0] = step
    for cache in (work.scores, work.pairs):
        cache.now[0] += KINDS
    for a in range(atoms.shape[0]):
        value[a, STACK_END] = 0
        value[a, NO_CHILD] = 1
        for k in range(n):
            value[a, FIRST_WORD + k] = atoms[a, first + k]
        for k in range(AHEAD):
            value[a, FIRST_WORD + n + k] = 2
    if noise.token_below > np.uint64(0):
        for k in range(n):
            if token_masked(noise, step, k, 0):
                for a in range(1, task.n_forms + 1):
                    value[a, FIRST_WORD + k] = -1


# --------------------------------------------------------------------------------------
# Features of a row
# --------------------------------------------------------------------------------------
@spliced
def recall(
    cache: ScoreCache, by: np.ndarray, kind: Int, row: np.ndarray
) -> tuple[Int, bool]:
    """Find what was computed for the fields of a row; if it is not remembered, reserve
    a slot for it.

    Parameters
    ----------
    cache : ScoreCache
    by : (kinds, F) int32
        The fields of each kind, -1 behind the last one; with none, nothing is
        remembered.
    kind : int
    row : int32 array

    Returns
    -------
    slot : int
    known : bool
        Whether the slot holds the result.
    """
    if by[kind, 0] < 0:
        return cache.stamp.shape[0], False
    stamp = cache.now[0] + kind
    h = np.uint64(kind)
    F = 0
    while F < by.shape[1] and by[kind, F] >= 0:
        h = h * np.uint64(0x9E3779B97F4A7C15) + np.uint64(row[by[kind, F]])
        F += 1
    s = np.int64(mix64(h)) & (cache.stamp.shape[0] - 1)
    known = cache.stamp[s] == stamp
    f = 0
    while known and f < F:
        known = cache.key[s, f] == row[by[kind, f]]
        f += 1
    if not known:
        cache.stamp[s] = stamp
        for f in range(F):
            cache.key[s, f] = row[by[kind, f]]
    return s, known


@spliced
def list_keys(
    templates: Templates,
    group: Int,
    row: np.ndarray,
    table: np.ndarray,
    n: Int,
    look: Lookup,
) -> Int:
    """List the features of a row by a group of templates, behind the n listed before;
    returns their number.

    ``look.slot`` is where the search for each in the table begins, which is asked for.
    """
    atom = look.atom
    slot = templates.slot
    begin = templates.group[group]
    end = templates.group[group + 1]
    for a in range(begin[1], end[1]):
        place = row[templates.field[a]] + templates.offset[a]
        attribute = templates.attribute[a]
        atom[a] = place if attribute < 0 else look.value[attribute, place]
    atom[templates.field.shape[0]] = 0
    for k in range(begin[0], end[0]):
        a = atom[slot[k, 0]]
        b = atom[slot[k, 1]]
        c = atom[slot[k, 2]]
        d = atom[slot[k, 3]]
        e = atom[slot[k, 4]]
        f = atom[slot[k, 5]]
        if (a | b | c | d | e | f) >= 0:
            look.key[n] = (((a << 15) | b) << 32) | (c << 15) | d
            look.compound[n] = templates.code[k] | (e << 7) | (f << 19)
            look.template[n] = k
            look.slot[n] = home_of(table, look.compound[n], look.key[n])
            prefetch(table, 2 * look.slot[n])
            n += 1
    return n


@spliced
def find_rows(features: FeatureTable, n: Int, look: Lookup) -> None:
    """Write the rows of the n features listed, -1 for unknown ones, into
    ``look.entry``; their weights are asked for.
    """
    table = features.table
    store = features.weights
    mask = table.shape[0] - 1
    for k in range(n):
        s = look.slot[k]
        entry = table[s, 1]
        while entry != EMPTY and (
            entry >> 32 != look.compound[k] or table[s, 0] != look.key[k]
        ):
            s = (s + 1) & mask
            entry = table[s, 1]
        r = entry if entry == EMPTY else entry & LOW
        look.entry[k] = r
        if r >= 0 and store.sparse:
            prefetch(store.first, r)
            prefetch(store.count, r)
        elif r >= 0:
            prefetch(store.value, r * store.columns)


@inline
def find_features(
    templates: Templates, features: FeatureTable, row: np.ndarray, look: Lookup
) -> Int:
    """Write the rows of all features of a state or arc, -1 for unknown ones, into
    ``look.entry``; returns how many there are.
    """
    n: Int = np.int64(0)
    for g in range(templates.group.shape[0] - 1):
        n = list_keys(templates, g, row, features.table, n, look)
    find_rows(features, n, look)
    return n


@inline
def score(
    templates: Templates,
    features: FeatureTable,
    cache: ScoreCache,
    row: np.ndarray,
    adjustment: Adjustment | None,
    look: Lookup,
    total: np.ndarray,
) -> None:
    """Sum the weights of the features of a row, in units of stored values.

    ``total[a] = Σ_k x_k w[k, a]`` is written, for actions or labels a. What a group of
    templates adds is taken from ``cache`` if it is known there.
    """
    store = features.weights
    first = look.first
    n: Int = np.int64(0)
    G = templates.group.shape[0] - 1
    C = store.columns
    for g in range(G):
        look.place[g], look.known[g] = recall(cache, templates.by, g, row)
        first[g] = n
        if not look.known[g]:
            n = list_keys(templates, g, row, features.table, n, look)
    first[G] = n
    find_rows(features, n, look)
    if store.sparse:
        for k in range(n):
            if look.entry[k] >= 0:
                look.slot[k] = store.first[look.entry[k]]
                prefetch(store.column, look.slot[k])
                prefetch(store.value, look.slot[k])
    total[:C] = 0.0
    for g in range(G):
        found = cache.value[look.place[g]]
        if not look.known[g]:
            found[:C] = 0.0
            add_rows(
                templates, features, first[g], first[g + 1], adjustment, look, found
            )
        for a in range(C):
            total[a] += found[a]


@spliced
def add_rows(
    templates: Templates,
    features: FeatureTable,
    begin: Int,
    end: Int,
    adjustment: Adjustment | None,
    look: Lookup,
    total: np.ndarray,
) -> None:
    """Add the weights of the features ``begin <= k < end``, whose rows are found."""
    store = features.weights
    seen = features.seen
    step = look.step[0]
    for k in range(begin, end):
        r = look.entry[k]
        if r < 0 or (
            adjustment is not None
            and seen.shape[0] > 0
            and seen[r] < features.min_count
        ):
            continue
        x = noise_factor(
            adjustment,
            templates.edge[look.template[k]],
            step,
            look.compound[k],
            look.key[k],
        )
        first = look.slot[k] if store.sparse else r * store.columns
        last = first + (store.count[r] if store.sparse else store.columns)
        for place in range(first, last):
            column = store.column[place] if store.sparse else place - first
            if adjustment is None:
                total[column] += store.value[place]
            else:
                total[column] += x * read_weight(store, adjustment.rule, r, place, step)


@inline
def emit_row(
    templates: Templates,
    features: FeatureTable,
    row: np.ndarray,
    adjustment: Adjustment | None,
    up: Int,
    down: Int,
    look: Lookup,
    difference: Difference,
) -> None:
    """Emit the features of a row for column ``up``, and against column ``down``; -1 for
    none.
    """
    n: Int = np.int64(0)
    for g in range(templates.group.shape[0] - 1):
        n = list_keys(templates, g, row, features.table, n, look)
    for k in range(n):
        key = look.key[k]
        compound = look.compound[k]
        x = noise_factor(
            adjustment, templates.edge[look.template[k]], look.step[0], compound, key
        )
        if x != 0.0:
            r = intern(features.table, features.entries, compound, key >> 32, key & LOW)
            if up >= 0:
                emit(difference, r, up, x)
            if down >= 0:
                emit(difference, r, down, -x)
