"""What the word segmenter looks at: features of a word in progress, of its neighbours
and of characters.

Features are met while searching; the search only looks them up, an update numbers those
it meets for the first time (``_core.hashing.intern``). A key is a *compound*, 4 times
the template's number plus a decision, and two integers. Characters are their code
points plus 1, 0 is the boundary; so keys mean the same in every model.

Words are integers too, exactly and whatever their length: compound ``WORD`` maps (node
of the word without its last character, last character) to a row; the word's *node* is
that row plus 1, and 0 is the empty word. That row is the row of the feature "word w" as
well: a trie whose places are weights.

Rows are numbered as features are met, so models that saw texts in other orders number
them differently; and words stand in keys as nodes, which are rows too. Every word is
numbered before the features that hold it, and after its prefixes. So going through rows
in order, each key can be said in the numbers of another table.

Two sets of templates. w is the word in progress, w' the one before it, ℓ and ℓ' their
lengths, b the decisions before: does a word start at a character (S) or go on (C)?

* ``ZSZ18`` (K. Zhang, M. Sun, C. Zhou 2012) scores the decision at character i, given
  the state before:

      number   0     1 ... 7                                    8          15
      feature  w     c-1 | c0 | c-2 | c-1c0 | c-2c-1 | c0c1     c-1 c0     b-1 b-2
                     | c-3c-2, each with b-1
      number   9     10       11       12        13         14        16     17
      feature  ℓ     w_1 ℓ    w_ℓ ℓ    w_1 w_ℓ   w'_ℓ' w_ℓ  w_1 c0    w ℓ'   w' ℓ

  The numbers 1 ... 8 look at characters only. Those up to 14, and w, are functions of i
  and ℓ: states that differ in ℓ' share their sum.

* ``ZC14`` (Y. Zhang, S. Clark 2007) scores the pair of words w' w; numbers are those of
  the paper's table 1, but for the word itself, which is 0. Lengths count up to 15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .._core.codes import INSIDE, START, ZC14
from .._core.compile import inline, spliced
from .._core.feature_table import FeatureTable
from .._core.hashing import EMPTY, LOW, find, home_of, intern
from .._core.noise import token_masked
from .._core.penalties import read_weight
from .._core.rules import emit, emit_feature, noise_factor
from .._core.store import Clock

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.rules import Adjustment, Difference
    from .word_beam import SegmentWork

Int: TypeAlias = int | np.integer
"""A whole number in a kernel: of arrays, or an int64 where a literal would have a
helper compiled once more.
"""

NONE = 2
"""Stands for the decision at a character that does not exist."""

PAD = 4
"""Boundary symbols around a text; templates look up to three characters back and one
ahead.
"""

WORD = 0
CONTEXT = 9
SHARED = 15
"""ZSZ18: the numbers below CONTEXT look at characters only, those below SHARED not at
ℓ'.
"""

PAIR = 7
"""The number of ZC14 that looks at characters only."""

N_NUMBERS = 18
ROWS_EACH = 18
"""Features of a decision, or of a pair of words and a pair of characters, at most."""

LONGEST = 15
"""Lengths of words in ZC14 count up to here."""

# Characters of the templates 1 ... 8 of ZSZ18, relative to i; ALONE: there is no second
# one.
ALONE = 9
_LEFT = np.array([0, -1, 0, -2, -1, -2, 0, -3, -1])
_RIGHT = np.array([0, ALONE, ALONE, ALONE, 0, -1, 1, -2, 0])


class Scorer(NamedTuple):
    """Everything that scores; columns are the decisions START and INSIDE (ZSZ18), or
    one (ZC14).
    """

    templates: int  # ZSZ18 or ZC14
    beam: int  # states kept at each character; 0: all
    update: int  # EARLY, MAX_VIOLATION or STANDARD
    features: FeatureTable
    clock: Clock


@inline
def load(
    char: np.ndarray, n: Int, step: Int, noise: Noise, c: np.ndarray, hidden: np.ndarray
) -> None:
    """Write the n characters of a text, padded, into ``c``, and which of them input
    dropout hides at this step into ``hidden``.
    """
    for k in range(n):
        c[PAD + k] = char[k]
        hidden[PAD + k] = token_masked(noise, step, k, 0)
    for k in range(PAD):
        c[k] = c[PAD + n + k] = 0
        hidden[k] = hidden[PAD + n + k] = False


# --------------------------------------------------------------------------------------
# Keys: row k of ``keys`` (N_NUMBERS, 4) belongs to number k. Columns 0 and 1 hold the
# key, -1 in the first where there is no such feature; columns 2 and 3 are scratch of
# :func:`sum_keys`.
# --------------------------------------------------------------------------------------
@inline
def list_context(c: np.ndarray, hidden: np.ndarray, i: Int, keys: np.ndarray) -> None:
    """Write the keys of ZSZ18 for the characters around the decision at character i.

    A hidden character takes its features along; not those of c-1 as the last character
    of w.
    """
    j = PAD + i
    for k in range(1, CONTEXT):
        left = j + _LEFT[k]
        right = j + _RIGHT[k]
        alone = _RIGHT[k] == ALONE
        seen = k == CONTEXT - 1 or not hidden[left]
        seen = seen and (alone or not hidden[right])
        keys[k, 0] = c[left] if seen else -1
        keys[k, 1] = 0 if alone else c[right]


@inline
def decisions_before(length: Int, before: Int) -> tuple[Int, Int]:
    """Return the two decisions before, (b-1, b-2): functions of the state."""
    if length == 1:
        b2 = NONE
        if before > 0:
            b2 = START if before == 1 else INSIDE
        return START, b2
    return INSIDE, START if length == 2 else INSIDE


@inline
def list_state(
    c: np.ndarray,
    hidden: np.ndarray,
    i: Int,
    length: Int,
    before: Int,
    node: Int,
    node_before: Int,
    keys: np.ndarray,
) -> None:
    """Write the keys of ZSZ18 for the words before the decision at character i."""
    j = PAD + i
    first = c[j - length]
    last = c[j - 1]
    b1, b2 = decisions_before(length, before)
    keys[9, 0] = length
    keys[9, 1] = 0
    keys[10, 0] = first
    keys[10, 1] = length
    keys[11, 0] = last
    keys[11, 1] = length
    keys[12, 0] = first
    keys[12, 1] = last
    keys[13, 0] = c[j - length - 1]  # the boundary if there is no word before
    keys[13, 1] = last
    keys[14, 0] = -1 if hidden[j] else first
    keys[14, 1] = c[j]
    keys[15, 0] = b1
    keys[15, 1] = b2
    keys[16, 0] = node
    keys[16, 1] = before
    keys[17, 0] = node_before
    keys[17, 1] = length


@inline
def list_words(
    c: np.ndarray,
    hidden: np.ndarray,
    i: Int,
    length: Int,
    before: Int,
    node: Int,
    node_before: Int,
    keys: np.ndarray,
) -> None:
    """Write the keys of ZC14 for the word that ends before character i, and the one
    before it.
    """
    j = PAD + i - length
    first = c[j]
    last = c[PAD + i - 1]
    last_before = c[j - 1]
    size = min(length, LONGEST)
    one = length == 1
    second = before > 0
    off = np.int64(-1)
    known = second and node >= 0
    seen = second and not (hidden[j - 1] or hidden[j])
    keys[2, 0] = node_before if node >= 0 else off
    keys[2, 1] = node
    keys[3, 0] = first if one else off
    keys[3, 1] = 0
    keys[4, 0] = off if one else first
    keys[4, 1] = size
    keys[5, 0] = off if one else last
    keys[5, 1] = size
    keys[6, 0] = last_before if seen else off
    keys[6, 1] = first
    keys[PAIR, 0] = off
    keys[8, 0] = off if one else first
    keys[8, 1] = last
    keys[9, 0] = node_before if second else off
    keys[9, 1] = first
    keys[10, 0] = last_before if known else off
    keys[10, 1] = node
    keys[11, 0] = c[j - before] if second else off
    keys[11, 1] = first
    keys[12, 0] = last_before if second else off
    keys[12, 1] = last
    keys[13, 0] = node_before if second else off
    keys[13, 1] = size
    keys[14, 0] = min(before, LONGEST) if known else off
    keys[14, 1] = node


@inline
def list_pair(c: np.ndarray, hidden: np.ndarray, i: Int, keys: np.ndarray) -> None:
    """Write the key of ZC14 for the characters i - 1 and i, inside of a word."""
    j = PAD + i
    keys[PAIR, 0] = -1 if hidden[j - 1] or hidden[j] else c[j - 1]
    keys[PAIR, 1] = c[j]


# --------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------
@inline
def is_edge(templates: Int, compound: Int) -> bool:
    """Return whether a feature is the one of transitions: decisions before (ZSZ18)."""
    return templates != ZC14 and compound >> 2 == SHARED


@inline
def add_row(
    model: Scorer,
    adjustment: Adjustment | None,
    compound: Int,
    key: Int,
    row: Int,
    total: np.ndarray,
) -> None:
    """Add the weights of a feature: ``total[a] += w[row, a]``, corrupted if there is
    noise.
    """
    features = model.features
    step = model.clock.step[0]
    store = features.weights
    C = features.weights.columns
    place = row * C
    if adjustment is None:
        for a in range(C):
            total[a] += store.value[place + a]
        return
    x = noise_factor(
        adjustment, is_edge(model.templates, compound), step, compound, key
    )
    for a in range(C):
        if features.min_count <= 1 or features.seen[place + a] >= features.min_count:
            total[a] += x * read_weight(store, adjustment.rule, row, place + a, step)


@inline
def sum_keys(
    model: Scorer,
    adjustment: Adjustment | None,
    keys: np.ndarray,
    begin: Int,
    end: Int,
    decision: Int,
    total: np.ndarray,
) -> None:
    """Add the weights of the numbers ``begin <= k < end``; ``decision`` is part of
    their compounds.
    """
    table = model.features.table
    for k in range(begin, end):  # all slots are asked for before the first is needed
        if keys[k, 0] >= 0:
            slot = home_of(table, 4 * k + decision, (keys[k, 0] << 32) | keys[k, 1])
            keys[k, 2] = table[slot, 0]
            keys[k, 3] = table[slot, 1]
    for k in range(begin, end):
        if keys[k, 0] < 0 or keys[k, 3] == EMPTY:
            continue
        compound = 4 * k + decision
        key = (keys[k, 0] << 32) | keys[k, 1]
        row = keys[k, 3] & LOW
        if keys[k, 2] != key or keys[k, 3] >> 32 != compound:
            row = find(table, compound, keys[k, 0], keys[k, 1])
        if row >= 0:
            add_row(model, adjustment, compound, key, row, total)


@inline
def sum_state(
    model: Scorer,
    adjustment: Adjustment | None,
    keys: np.ndarray,
    begin: Int,
    end: Int,
    node: Int,
    total: np.ndarray,
) -> None:
    """Add the weights of a state: of the numbers ``begin <= k < end``, and of the word
    if it has a node.
    """
    zero = np.int64(0)
    sum_keys(model, adjustment, keys, begin, end, zero, total)
    if node > 0:
        add_row(model, adjustment, zero, (node - 1) << 32, node - 1, total)


@inline
def sum_characters(
    model: Scorer, adjustment: Adjustment | None, i: Int, work: SegmentWork
) -> None:
    """Sum what states before the decision at i share, in ``work.total[:2]``.

    ZSZ18: the scores of the decisions by the one before. ZC14: that of the pair of
    characters i - 1 and i inside of a word, in ``total[0, 0]``.
    """
    keys = work.keys
    total = work.total
    words = model.templates == ZC14
    zero = np.int64(0)  # variables: a literal would have helpers compiled for it alone
    if words:
        list_pair(work.char, work.hidden, i, keys)
    else:
        list_context(work.char, work.hidden, i, keys)
    for b in range(1 if words else 3):  # 2: what does not look at the decision before
        begin = PAIR if words else (CONTEXT - 1 if b == 2 else 1)
        stop = PAIR + 1 if words else (CONTEXT if b == 2 else CONTEXT - 1)
        total[b, 0] = total[b, 1] = 0.0
        sum_keys(
            model,
            adjustment,
            keys,
            zero + begin,
            zero + stop,
            zero if b == 2 else b,
            total[b],
        )
    if not words:
        for a in range(2):
            total[0, a] += total[2, a]
            total[1, a] += total[2, a]


@spliced
def sum_decisions(
    model: Scorer,
    adjustment: Adjustment | None,
    i: Int,
    length: Int,
    before: Int,
    node: Int,
    node_before: Int,
    work: SegmentWork,
) -> None:
    """Score the decisions at i in a state under ZSZ18, in ``work.total[3]``."""
    keys = work.keys
    total = work.total
    shared = work.shared[length]
    zero = np.int64(0)
    list_state(work.char, work.hidden, i, length, before, node, node_before, keys)
    if work.shared_at[length] != i:
        work.shared_at[length] = i
        b = START if length == 1 else INSIDE
        shared[0] = total[b, 0]
        shared[1] = total[b, 1]
        sum_state(model, adjustment, keys, zero + CONTEXT, zero + SHARED, node, shared)
    total[3, 0] = shared[0]
    total[3, 1] = shared[1]
    sum_keys(model, adjustment, keys, zero + SHARED, zero + N_NUMBERS, zero, total[3])


@spliced
def sum_words(
    model: Scorer,
    adjustment: Adjustment | None,
    i: Int,
    length: Int,
    before: Int,
    node: Int,
    node_before: Int,
    work: SegmentWork,
) -> None:
    """Add the score under ZC14 of the word that ends before character i, after the one
    before, to ``work.total[3]``.
    """
    zero = np.int64(0)
    list_words(work.char, work.hidden, i, length, before, node, node_before, work.keys)
    sum_state(
        model, adjustment, work.keys, zero + 1, zero + N_NUMBERS, node, work.total[3]
    )


@inline
def extend_word(table: np.ndarray, node: Int, character: Int) -> Int:
    """Return the node of a word with one more character; -1 if it is unknown."""
    row = find(table, np.int64(WORD), node, character) if node >= 0 else node
    return row + 1 if row >= 0 else np.int64(-1)


# --------------------------------------------------------------------------------------
# Learning
# --------------------------------------------------------------------------------------
@inline
def emit_keys(
    model: Scorer,
    adjustment: Adjustment | None,
    keys: np.ndarray,
    begin: Int,
    end: Int,
    decision: Int,
    column: Int,
    amount: float,
    difference: Difference,
) -> None:
    """Emit the features :func:`sum_keys` sums; new ones are numbered."""
    for k in range(begin, end):
        if keys[k, 0] >= 0:
            compound = np.int64(4 * k + decision)
            emit_feature(
                model.features,
                adjustment,
                is_edge(model.templates, compound),
                model.clock.step[0],
                compound,
                keys[k, 0],
                keys[k, 1],
                column,
                amount,
                difference,
            )


@inline
def intern_word(
    table: np.ndarray, entries: np.ndarray, c: np.ndarray, begin: Int, end: Int
) -> Int:
    """Return the node of the characters ``begin <= k < end`` as a word, numbered if it
    is new.
    """
    node: Int = np.int64(0)
    for k in range(begin, end):
        node = intern(table, entries, np.int64(WORD), node, c[PAD + k]) + 1
    return node


@inline
def emit_decision(
    model: Scorer,
    adjustment: Adjustment | None,
    work: SegmentWork,
    last: Int,
    word: Int,
    i: Int,
    decision: Int,
    amount: float,
) -> None:
    """Emit the features of the decision at i, for which new ones are numbered.

    ``word`` is where the word in progress begins, ``last`` where the one before does.
    """
    c = work.char
    hidden = work.hidden
    keys = work.keys
    difference = work.difference
    table = model.features.table
    entries = model.features.entries
    words = model.templates == ZC14
    zero = np.int64(0)  # variables: a literal would have helpers compiled for it alone
    if words and decision == INSIDE:
        list_pair(c, hidden, i, keys)
        emit_keys(
            model,
            adjustment,
            keys,
            zero + PAIR,
            zero + PAIR + 1,
            zero,
            zero,
            amount,
            difference,
        )
        return
    length = i - word
    before = word - last
    node_before = intern_word(table, entries, c, last, word)
    node = intern_word(table, entries, c, word, i)
    column: Int = zero
    context = zero
    begin = zero + 1
    if words:
        list_words(c, hidden, i, length, before, node, node_before, keys)
    else:
        list_context(c, hidden, i, keys)
        list_state(c, hidden, i, length, before, node, node_before, keys)
        column = decision
        context = zero + decisions_before(length, before)[0]
        begin = zero + CONTEXT - 1
    for part in range(1 if words else 2):  # 1: what looks at the decision before
        emit_keys(
            model,
            adjustment,
            keys,
            zero + 1 if part else begin,
            begin if part else zero + N_NUMBERS,
            context if part else zero,
            column,
            amount,
            difference,
        )
    row = node - 1
    edge = is_edge(model.templates, zero)
    step = model.clock.step[0]
    x = noise_factor(adjustment, edge, step, zero, row << 32)
    if x != 0.0:  # the feature "word w"
        emit(difference, row, column, x * amount)
