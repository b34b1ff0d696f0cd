"""Groups of templates that read the same few fields.

Many states of a sentence agree in some of their fields: which word is next, which ones are on top of the
stack, which children these have. What templates of such fields alone add to a score is the same in all of
them, so it is computed once and remembered (:mod:`.memory`). A template belongs to the first group that has
all fields it reads. The last group, of what no other has, is scored anew for each state.

The groups were chosen for the set ``"rich"``: on UD English EWT a state then needs 37 features instead of the
94 that it needs when those of two words on the stack and the next one are remembered together, and a
reduction's label 8 instead of 25.
"""

import numpy as np

from .templates import (
    ARC_FIELDS,
    ARC_LABELS,
    ARC_NUMBERS,
    DISTANCE,
    LC,
    LC2,
    LCL,
    LCL2,
    RC,
    RC2,
    RCL,
    RCL2,
    S0,
    S1,
    S2,
    VL,
    VR,
    J,
)

STATE_GROUPS = (
    (J,),
    (S1, S1 + LC, S1 + LC2, S1 + LCL, S2),
    (S0, S0 + LC, S0 + LC2, S0 + LCL, S0 + VL),
    (J, S0, S0 + RC, S0 + RC2, S0 + RCL),
    (S1, S1 + LC, S1 + RC, S1 + RC2, S1 + RCL, S1 + VL, S1 + VR),
    (S0, S1),
    (S0, S0 + LC, S0 + LCL, S0 + LCL2, S1, S1 + RC, S1 + RC2, S1 + RCL, S1 + RCL2),
    (S0 + LC, S0 + LC2, S1, S2),
    (J, S0, S0 + RC, S0 + RC2, S0 + RCL, S0 + RCL2, S1),
    (S0, S0 + LC, S0 + LC2, S1, S1 + LC, S1 + LC2, S1 + LCL, S1 + LCL2, S1 + RCL),
)


def _arc_groups():
    names = [*ARC_FIELDS, *ARC_NUMBERS, *(f"{name}.r" for name in ARC_LABELS)]
    lines = (
        "m",
        "m m.lc m.lc.r m.rc",
        "m h",
        "m h h.lc h.lc.r h.rc.r h.vl h.vr sl sl.r",
        "m h m.lc m.lc.r m.rc m.rc.r m.vl m.vr",
    )
    derived = {"m-1": "m", "m+1": "m", "h-1": "h", "h+1": "h", "d": "m h"}
    found = {names.index(name): tuple(map(names.index, of.split())) for name, of in derived.items()}
    return tuple(tuple(map(names.index, line.split())) for line in lines), found


ARC_GROUPS, ARC_DERIVED = _arc_groups()
STATE_DERIVED = {DISTANCE: (S0, S1)}
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
