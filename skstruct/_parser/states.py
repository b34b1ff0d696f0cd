"""States of the search: their fields, what actions make of them, and the sequences of
actions.

A state is a row of small integers: places of words in the sentence, and numbers. So is
an arc of a tree. A sentence of n words stands at the places 2 ... n + 1 of its array of
atoms. Place 0 is what a stack has below its last tree, place 1 a child that is missing,
and the places from n + 2 on are the end of the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._core.compile import inline, spliced
from .dependency_trees import LEFT, SHIFT

if TYPE_CHECKING:
    from .parser_beam import States
    from .state_features import Templates

Int: TypeAlias = int | np.integer
"""A whole number in a kernel: of arrays, or an int64 where a literal would have a
helper compiled once more.
"""

Places: TypeAlias = dict[str, tuple[int, int, bool, bool]]
"""By the name of a place: its field, what is added to the place in that field, whether
it is a number, and whether it tells of decisions before.
"""

# Fields of a state; those of s0, s1 and their children in one order, S1 - S0 apart.
I = 0
J = 1
S0 = 2
S1 = 13
S2 = 24
DISTANCE = 25
H, LC, RC, LC2, RC2, VL, VR, LCL, RCL, LCL2, RCL2 = range(11)
N_TREE = 11
N_FIELDS = 25
"""Fields that say whether two states are equivalent; the distance is a function of
them.
"""

# Fields of an arc.
ARC_FIELDS = (
    "m",
    "h",
    "g",
    "m-1",
    "m+1",
    "h-1",
    "h+1",
    "m.lc",
    "m.rc",
    "h.lc",
    "h.rc",
    "sl",
    "sr",
    "q0",
)
ARC_NUMBERS = ("d", "m.vl", "m.vr", "h.vl", "h.vr")
ARC_LABELS = ("m.lc", "m.rc", "h.lc", "h.rc", "sl")
"""Words whose labels are fields too, behind the numbers."""

N_ARC = len(ARC_FIELDS) + len(ARC_NUMBERS) + len(ARC_LABELS)

READ_BY_ARCS = np.array([LC, RC, VL, VR, LCL, RCL])
"""What fields of an arc say of its word, and of its head, besides which one it is."""

LABEL = -2
"""Stands for the attribute of a field that is a label: 0 for none, else the number of
its symbol.
"""

_TREES = ("s0", S0), ("s1", S1)
_CHILDREN = {"lc": LC, "rc": RC, "lc2": LC2, "rc2": RC2}
_NUMBERS = {"vl": VL, "vr": VR, "lc.r": LCL, "rc.r": RCL, "lc2.r": LCL2, "rc2.r": RCL2}

STATE_PLACES: Places = {
    **{f"q{k}": (J, k, False, False) for k in range(3)},
    "s2": (S2, 0, False, False),
    "d": (DISTANCE, 0, True, False),
    **{name: (first, 0, False, False) for name, first in _TREES},
    **{
        f"{name}.{c}": (first + k, 0, False, True)
        for name, first in _TREES
        for c, k in _CHILDREN.items()
    },
    **{
        f"{name}.{c}": (first + k, 0, True, True)
        for name, first in _TREES
        for c, k in _NUMBERS.items()
    },
}
"""What templates of states read."""

_ARC_NUMBERS = enumerate(
    [*ARC_NUMBERS, *(f"{name}.r" for name in ARC_LABELS)], len(ARC_FIELDS)
)

ARC_PLACES: Places = {
    **{name: (k, 0, False, False) for k, name in enumerate(ARC_FIELDS)},
    **{name: (k, 0, True, name.endswith(".r")) for k, name in _ARC_NUMBERS},
}
"""What templates of arcs read."""

STACK_END = 0
NO_CHILD = 1
FIRST_WORD = 2
"""Places."""

SPECIAL = 3
"""Ids of atoms of words start here: 0, 1 and 2 are the stack's end, no child and the
queue's end.
"""

AHEAD = 3
"""Places behind the last word."""

N_ACTIONS = 3

MOST_CHILDREN = 7
"""Numbers of children count up to here."""

_BLANK = np.array(
    [0, 0] + 2 * [STACK_END, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0] + [STACK_END, 0], np.int32
)


def tracked_fields(templates: Templates, joint: bool = False) -> np.ndarray:
    """Find the fields of a state that its features, or those of later ones, depend on.

    Parameters
    ----------
    templates : Templates
        Of states.
    joint : bool
        Labels, which look at trees on the stack too, are part of the search.

    Returns
    -------
    ndarray of shape (N_FIELDS,), bool
    """
    read = np.zeros(N_FIELDS + 1, np.bool_)
    read[templates.field] = True
    if read[DISTANCE]:
        read[[S0, S1]] = True
    out = read[:N_FIELDS].copy()
    out[[I, J, S0]] = True
    if joint:
        out[S0 + READ_BY_ARCS] = True
        out[S1 + READ_BY_ARCS] = True
        out[[S0 + H, S1 + H, S2]] = True
    for first, second in ((LC, LC2), (RC, RC2), (LCL, LCL2), (RCL, RCL2)):
        for s in (S0, S1):  # a second child was the first one once
            out[s + first] |= out[s + second]
    out[S1] |= out[S2]
    out[S0 : S0 + N_TREE] |= out[S1 : S1 + N_TREE]  # what is s0 now becomes s1
    return out


# --------------------------------------------------------------------------------------
# States, and actions
# --------------------------------------------------------------------------------------
@inline
def bucket(distance: Int) -> Int:
    """Return the bucket of a distance: up to 5 as it is, up to 10 as 6, more as 7."""
    if distance <= 5:
        return distance
    return 6 if distance <= 10 else 7


@inline
def start_state(row: np.ndarray) -> None:
    """Write the state before the first word into a row."""
    for f in range(N_FIELDS + 1):
        row[f] = _BLANK[f]
    row[I] = row[J] = FIRST_WORD


@inline
def successor(
    action: Int,
    label: Int,
    p: np.ndarray,
    q: np.ndarray,
    tracked: np.ndarray,
    row: np.ndarray,
) -> None:
    """Write the state that an action leads to into ``row``.

    ``label`` is what the label of a new arc is called in fields, ``tracked``
    (N_FIELDS,) bool says which fields count. After SHIFT ``q`` is the state before,
    ``p`` is not read. After a reduction ``q`` is the state before, and what is below
    its first tree comes from ``p``, the state before the first word of that tree was
    read: q may have been merged with states that have another one below.
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
        # Fields of the right stand behind those of the left.
        side = 0 if action == LEFT else 1
        head, child = (q, p) if action == LEFT else (p, q)
        for f in range(N_TREE):
            row[S0 + f] = head[S0 + f]
        row[S0 + LC + side] = child[S0 + H]
        row[S0 + LC2 + side] = head[S0 + LC + side]
        row[S0 + LCL + side] = label
        row[S0 + LCL2 + side] = head[S0 + LCL + side]
        row[S0 + VL + side] = min(head[S0 + VL + side] + 1, MOST_CHILDREN)
    for f in range(N_FIELDS):
        if not tracked[f]:
            row[f] = _BLANK[f]
    row[DISTANCE] = bucket(row[S0 + H] - row[S1 + H]) if row[S1 + H] != STACK_END else 0


# --------------------------------------------------------------------------------------
# Arcs
# --------------------------------------------------------------------------------------
FIRST_LEFT, LAST_RIGHT, N_LEFT, N_RIGHT, BEFORE, AFTER, LATEST = range(7)
"""What :func:`look_around` finds of a word: outermost children, numbers of children,
nearest siblings, and its latest child so far.
"""

# Where an arc has these of its word, and of its head; and the labels of the outermost
# children.
_OF_WORD = np.array([7, 8, 15, 16, 19, 20])
_OF_HEAD = np.array([9, 10, 17, 18, 21, 22])

LEFT_SIDE = 8
"""Added to the distance of a dependent on the left of its head."""


@spliced
def look_around(head: np.ndarray, n: Int, around: np.ndarray) -> None:
    """Find the children and siblings of all words.

    ``around`` (7, n + 1) has what :data:`FIRST_LEFT` and the like name, by the 1-based
    number of a word; there words are places in the sentence.
    """
    for k in range(n + 1):
        around[FIRST_LEFT, k] = NO_CHILD
        around[LAST_RIGHT, k] = NO_CHILD
        around[BEFORE, k] = NO_CHILD
        around[AFTER, k] = NO_CHILD
        around[N_LEFT, k] = 0
        around[N_RIGHT, k] = 0
        around[LATEST, k] = 0
    for k in range(1, n + 1):
        h = head[k - 1]
        here = FIRST_WORD + k - 1
        side = 0 if k < h else 1
        if side == 1 or around[N_LEFT, h] == 0:
            around[FIRST_LEFT + side, h] = here
        around[N_LEFT + side, h] = min(around[N_LEFT + side, h] + 1, MOST_CHILDREN)
        before = around[LATEST, h]
        if before > 0:
            around[BEFORE, k] = FIRST_WORD + before - 1
            around[AFTER, before] = here
        around[LATEST, h] = k


@inline
def _describe_words(here: Int, there: Int, grand: Int, arc: np.ndarray) -> None:
    """Write the fields of an arc that follow from the places of its word, of its head
    and of the head of that.
    """
    arc[0] = here
    arc[1] = there
    arc[2] = grand
    arc[3] = here - 1 if here > FIRST_WORD else STACK_END
    arc[4] = here + 1
    arc[5] = there - 1 if there > FIRST_WORD else STACK_END
    arc[6] = STACK_END
    arc[14] = 0
    if there != STACK_END:
        arc[6] = there + 1
        arc[14] = (
            bucket(here - there) if here > there else LEFT_SIDE + bucket(there - here)
        )


@inline
def describe_arc(k: Int, head: np.ndarray, around: np.ndarray, arc: np.ndarray) -> None:
    """Write the fields of the arc to word k, 1-based, of a tree that is complete.

    They are ``ARC_FIELDS`` and ``ARC_NUMBERS``; ``around`` is from :func:`look_around`.
    """
    h = np.int64(head[k - 1])
    there = np.int64(STACK_END)
    grand = np.int64(STACK_END)
    if h > 0:
        there = FIRST_WORD + h - 1
        if head[h - 1] > 0:
            grand = np.int64(FIRST_WORD + head[h - 1] - 1)
    _describe_words(np.int64(FIRST_WORD + k - 1), there, grand, arc)
    for j in range(4):
        arc[_OF_WORD[j]] = around[j, k]
        arc[_OF_HEAD[j]] = around[j, h]
    arc[11] = around[BEFORE, k]
    arc[12] = around[AFTER, k]
    arc[13] = STACK_END  # no queue: all words are read
    arc[19:24] = 0


@inline
def describe_reduction(action: Int, row: np.ndarray, arc: np.ndarray) -> None:
    """Write the fields of the arc that a reduction makes in the state ``row``.

    What is read or attached later is not yet known.
    In the last state RIGHT makes the arc to the root: there the second tree is what a
    stack has below.
    """
    m, h = (S1, S0) if action == LEFT else (S0, S1)
    _describe_words(np.int64(row[m + H]), np.int64(row[h + H]), np.int64(row[S2]), arc)
    for j in range(READ_BY_ARCS.shape[0]):
        arc[_OF_WORD[j]] = row[m + READ_BY_ARCS[j]]
        arc[_OF_HEAD[j]] = row[h + READ_BY_ARCS[j]]
    side = 0 if action == LEFT else 1
    # the sibling between both
    arc[11] = arc[9 + side]
    arc[12] = NO_CHILD
    arc[13] = row[J]
    arc[23] = arc[21 + side]


@inline
def word_of(action: Int, row: np.ndarray, last: bool) -> Int:
    """Return the word, 0-based, that an action in the state ``row`` reads or gives a
    head; of the ``last`` action that is the root.
    """
    field = (S1 if action == LEFT else S0) + H
    return np.int64(row[J if action == SHIFT and not last else field]) - FIRST_WORD


# --------------------------------------------------------------------------------------
# Sequences of actions
# --------------------------------------------------------------------------------------
@inline
def trace(
    states: States,
    x: Int,
    m: Int,
    stack: np.ndarray,
    path: np.ndarray,
    label: np.ndarray,
) -> None:
    """Write the m actions that led to state x into ``path``, and their labels into
    ``label`` if the search has chosen some.

    ``stack`` is scratch. Actions are found from the last to the first.
    """
    k = m
    while k > 0:
        depth = 1
        stack[0] = x
        while depth > 0:
            depth -= 1
            y = stack[depth]
            k -= 1
            path[k] = states.action[y]
            if states.right[y] >= 0:
                if states.label.shape[0] > 1:
                    label[k] = states.label[states.right[y], path[k]]
                # In a root step it is the state before the first word.
                if states.left[y] > 0:
                    stack[depth] = states.left[y]
                    depth += 1
                stack[depth] = states.right[y]
                depth += 1
        x = states.linked[states.first[x]]


@inline
def attach(
    path: np.ndarray,
    label: np.ndarray,
    m: Int,
    stack: np.ndarray,
    head: np.ndarray,
    out: np.ndarray,
) -> Int:
    """Write the heads that m actions give, 1-based, 0 for words without one, into
    ``head``, and their labels into ``out`` unless it is empty.

    Returns how many words the actions read. ``stack`` is scratch.
    """
    depth = k = 0
    for i in range(m):
        if path[i] == SHIFT:
            head[k] = 0
            k += 1
            stack[depth] = k
            depth += 1
            continue
        if depth < 2:  # a root step: the head stays 0
            continue
        a = stack[depth - 2]
        b = stack[depth - 1]
        depth -= 1
        if path[i] == LEFT:
            head[a - 1] = b
            stack[depth - 1] = b
        else:
            head[b - 1] = a
            a = b
        if out.shape[0] > 0:
            out[a - 1] = label[i]
    return k
