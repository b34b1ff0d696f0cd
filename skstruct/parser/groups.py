"""Groups of templates that read the same few fields.

Many states of a sentence agree in some of their fields: which word is next, which ones are on top of the
stack, which children these have. What templates of such fields alone add to a score is the same in all of
them, so it is computed once and remembered (:mod:`.memory`). A template belongs to the first group that has
all fields it reads. The last group, of what no other has, is scored anew for each state.

The groups were chosen for the set ``"rich"``: on UD English EWT a state then needs 37 features instead of the
94 that it needs when those of two words on the stack and the next one are remembered together, and a
reduction's label 8 instead of 25.
"""

from functools import lru_cache

import numpy as np

from .lines import reads_labels
from .state_templates import ARC_PLACES, STATE_PLACES, compile_templates


def _groups(text, places):
    """The fields of the places that each line names."""
    return tuple(tuple(places[name][0] for name in line.split()) for line in text.strip().splitlines())


def _derived(places, **determined):
    """{field: those that determine it}, of places by name."""
    return {places[name][0]: _groups(of, places)[0] for name, of in determined.items()}


STATE_GROUPS = _groups(
    """
q0
s1 s1.lc s1.lc2 s1.lc.r s2
s0 s0.lc s0.lc2 s0.lc.r s0.vl
q0 s0 s0.rc s0.rc2 s0.rc.r
s1 s1.lc s1.rc s1.rc2 s1.rc.r s1.vl s1.vr
s0 s1
s0 s0.lc s0.lc.r s0.lc2.r s1 s1.rc s1.rc2 s1.rc.r s1.rc2.r
s0.lc s0.lc2 s1 s2
q0 s0 s0.rc s0.rc2 s0.rc.r s0.rc2.r s1
s0 s0.lc s0.lc2 s1 s1.lc s1.lc2 s1.lc.r s1.lc2.r s1.rc.r
""",
    STATE_PLACES,
)
ARC_GROUPS = _groups(
    """
m
m m.lc m.lc.r m.rc
m h
m h h.lc h.lc.r h.rc.r h.vl h.vr sl sl.r
m h m.lc m.lc.r m.rc m.rc.r m.vl m.vr
""",
    ARC_PLACES,
)
STATE_DERIVED = _derived(STATE_PLACES, d="s0 s1")
ARC_DERIVED = _derived(ARC_PLACES, **{"m-1": "m", "m+1": "m", "h-1": "h", "h+1": "h", "d": "m h"})
"""Fields that others determine."""


def grouped(templates, groups, derived):
    """The same templates in groups.

    Parameters
    ----------
    templates : Templates
        Of one group.
    groups : tuple of tuples of int
        Fields; a tuple for each group but the last.
    derived : dict
        {field: those that determine it}.
    """
    A, members = templates.field.shape[0], [[] for _ in (*groups, None)]
    for k, slot in enumerate(templates.slot.tolist()):
        read = {field for a in slot if a < A for field in _sources(templates, a, derived)}
        members[next((g for g, group in enumerate(groups) if read <= {*group}), -1)].append(k)
    order, atoms, slots, starts, keys = [], [], [], [(0, 0)], []
    for g, group in enumerate(members):
        if not group:
            continue
        used = sorted({a for a in templates.slot[group].ravel().tolist() if a < A})
        number = {a: len(atoms) + i for i, a in enumerate(used)}
        slots += [[number.get(a, -1) for a in slot] for slot in templates.slot[group].tolist()]
        read = {field for a in used for field in _sources(templates, a, derived)}
        keys.append(sorted(read) if g < len(groups) else [])
        order += group
        atoms += used
        starts.append((len(order), len(atoms)))
    slot, by = np.array(slots, np.int32).reshape(-1, 6), np.full((len(keys), 16), -1, np.int32)
    for row, key in zip(by, keys):
        row[: len(key)] = key
    return templates._replace(
        slot=np.where(slot < 0, np.int32(len(atoms)), slot),
        code=templates.code[order],
        edge=templates.edge[order],
        field=templates.field[atoms],
        offset=templates.offset[atoms],
        attribute=templates.attribute[atoms],
        group=np.array(starts, np.int32),
        by=by,
    )


def _sources(templates, atom, derived):
    field = int(templates.field[atom])
    return derived.get(field, (field,))


def compiled(lines, rows):
    """The two sets of templates, of states and of arcs, for these rows of atoms; not to be written to."""
    return _compiled(tuple(lines.states), tuple(lines.arcs), tuple(rows))


@lru_cache(maxsize=16)  # each prediction asks for it: a third of the time of one sentence
def _compiled(state_lines, arc_lines, rows):
    states = compile_templates(state_lines, STATE_PLACES, rows)
    arcs = compile_templates(arc_lines, ARC_PLACES, rows)
    if reads_labels(state_lines):
        return grouped(states, STATE_GROUPS, STATE_DERIVED), grouped(arcs, ARC_GROUPS, ARC_DERIVED)
    return states, arcs
