"""States of the search: their fields, what actions make of them, and the sequences of actions.

A state is a row of small integers: places of words in the sentence, and numbers. So is an arc of a tree.
A sentence of n words stands at the places 2 ... n + 1 of its array of atoms. Place 0 is what a stack has
below its last tree, place 1 a child that is missing, and the places from n + 2 on are the end of the queue.
"""

import numpy as np

from ..core.compile import inline
from .dependency_trees import LEFT, SHIFT

# Fields of a state; those of s0, s1 and their children in one order, S1 - S0 apart.
I, J, S0, S1, S2, DISTANCE = 0, 1, 2, 13, 24, 25
H, LC, RC, LC2, RC2, VL, VR, LCL, RCL, LCL2, RCL2 = range(11)
N_TREE = 11
N_FIELDS = 25
"""Fields that say whether two states are equivalent; the distance is a function of them."""

# Fields of an arc.
ARC_FIELDS = ("m", "h", "g", "m-1", "m+1", "h-1", "h+1", "m.lc", "m.rc", "h.lc", "h.rc", "sl", "sr", "q0")
ARC_NUMBERS = ("d", "m.vl", "m.vr", "h.vl", "h.vr")
ARC_LABELS = ("m.lc", "m.rc", "h.lc", "h.rc", "sl")
"""Words whose labels are fields too, behind the numbers."""

N_ARC = len(ARC_FIELDS) + len(ARC_NUMBERS) + len(ARC_LABELS)

READ_BY_ARCS = np.array([LC, RC, VL, VR, LCL, RCL])
"""What fields of an arc say of its word, and of its head, besides which one it is."""

LABEL = -2
"""Stands for the attribute of a field that is a label: 0 for none, else the number of its symbol."""

_CHILDREN = {"lc": LC, "rc": RC, "lc2": LC2, "rc2": RC2}
_LABELS = {"lc.r": LCL, "rc.r": RCL, "lc2.r": LCL2, "rc2.r": RCL2}


def _state_places():
    """{name: (field, offset, is a number, tells of decisions before)}."""
    out = {"q0": (J, 0, False, False), "q1": (J, 1, False, False), "q2": (J, 2, False, False)}
    out["s2"] = (S2, 0, False, False)
    out["d"] = (DISTANCE, 0, True, False)
    for name, first in (("s0", S0), ("s1", S1)):
        out[name] = (first, 0, False, False)
        out.update((f"{name}.{c}", (first + k, 0, False, True)) for c, k in _CHILDREN.items())
        out.update((f"{name}.{v}", (first + k, 0, True, True)) for v, k in (("vl", VL), ("vr", VR)))
        out.update((f"{name}.{r}", (first + k, 0, True, True)) for r, k in _LABELS.items())
    return out


def _arc_places():
    out = {name: (k, 0, False, False) for k, name in enumerate(ARC_FIELDS)}
    numbers = [*ARC_NUMBERS, *(f"{name}.r" for name in ARC_LABELS)]
    out.update((name, (len(ARC_FIELDS) + k, 0, True, name[-2:] == ".r")) for k, name in enumerate(numbers))
    return out


STATE_PLACES = _state_places()
ARC_PLACES = _arc_places()

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


def tracked_fields(templates, joint=False):
    """(N_FIELDS,) bool: the fields of a state that its features, or those of later states, depend on.

    ``joint``: labels, which look at trees on the stack too, are part of the search.
    """
    read = np.zeros(N_FIELDS + 1, np.bool_)
    read[templates.field] = True
    if read[DISTANCE]:
        read[[S0, S1]] = True
    out = read[:N_FIELDS].copy()
    out[[I, J, S0]] = True
    if joint:
        out[S0 + READ_BY_ARCS] = out[S1 + READ_BY_ARCS] = out[[S0 + H, S1 + H, S2]] = True
    for first, second in ((LC, LC2), (RC, RC2), (LCL, LCL2), (RCL, RCL2)):
        for s in (S0, S1):  # a second child was the first one once
            out[s + first] |= out[s + second]
    out[S1] |= out[S2]
    out[S0 : S0 + N_TREE] |= out[S1 : S1 + N_TREE]  # what is s0 now becomes s1
    return out


# --------------------------------------------------------------------------------------------------
# States, and actions
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
        side = 0 if action == LEFT else 1  # fields of the right stand behind those of the left
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


@inline
def trace(states, x, m, stack, path, label):
    """The actions that led to a state after m of them, last to first, and their labels if it knows some."""
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
                if states.left[y] > 0:  # in a root step it is the state before the first word
                    stack[depth] = states.left[y]
                    depth += 1
                stack[depth] = states.right[y]
                depth += 1
        x = states.linked[states.first[states.owner[x]]]


@inline
def attach(path, label, m, stack, head, out):
    """The heads that m actions give, 1-based, 0 for words without one; and their labels, if any."""
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
        a, b = stack[depth - 2], stack[depth - 1]
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
