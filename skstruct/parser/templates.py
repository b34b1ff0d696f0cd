"""Feature templates of the dependency parser: which atoms of a state, or of an arc, are looked at together.

A template is a line of *atoms*. An atom is an attribute of a word that a
parser state points to (``s0.w``: the form of the word on top of the stack; ``s1.lc.t``: the tag of the
leftmost child of the one below), or a number (``s0.vl``). :func:`compile_templates` turns lines into
integers for the kernels.

Words of a state: ``s0`` ``s1`` ``s2`` (stack, from the top), ``q0`` ``q1`` ``q2`` (queue), and of s0 and s1
the outermost children ``lc`` ``rc`` and those next to them, ``lc2`` ``rc2``. Words of an arc: ``m``
(modifier), ``h`` (its head), ``g`` (the head of that), their neighbours ``m-1`` ``m+1`` ``h-1`` ``h+1``,
children ``m.lc`` ``m.rc`` ``h.lc`` ``h.rc``, and the nearest siblings ``sl`` ``sr``.

Attributes: ``w`` form, ``t`` tag, ``l`` form in lower case, ``x2`` ``x3`` its last two or three characters,
``f`` the form's shape. Numbers: ``vl`` ``vr`` (children on the left, on the right), ``d`` (distance; of
arcs with the side).

A feature's key is (compound, left, right), see ``core.hashing``. Forms and what is made of them take a half
of 31 bits; two small atoms share a half, 15 bits each; two more go into the compound, 12 bits each above
the 7 of the template's number. So keys are exact, and nothing but the atoms themselves has to be numbered.
"""

from typing import NamedTuple

import numpy as np

from ..data.inputs import describe
from .template_sets import TEMPLATE_SETS

MOST_SMALL = 2**12
"""Tags and numbers are below this; the four special symbols included."""

MOST_TEMPLATES = 2**7

# Fields of a state; those of s0, s1 and their children in one order, S1 - S0 apart.
I, J, S0, S1, S2, DISTANCE = 0, 1, 2, 9, 16, 17
H, LC, RC, LC2, RC2, VL, VR = range(7)
N_FIELDS = 17
"""Fields that say whether two states are equivalent; the distance is a function of them."""

# Fields of an arc.
ARC_FIELDS = ("m", "h", "g", "m-1", "m+1", "h-1", "h+1", "m.lc", "m.rc", "h.lc", "h.rc", "sl", "sr")
ARC_NUMBERS = ("d", "m.vl", "m.vr", "h.vl", "h.vr")

ATTRIBUTES = ("t", "w", "l", "x2", "x3", "f")
"""Rows of the array of atoms; the tag comes first."""

_CHILDREN = {"lc": LC, "rc": RC, "lc2": LC2, "rc2": RC2}


def _state_places():
    """{name: (field, offset, is a number, tells of decisions before)}."""
    out = {"q0": (J, 0, False, False), "q1": (J, 1, False, False), "q2": (J, 2, False, False)}
    out["s2"] = (S2, 0, False, False)
    out["d"] = (DISTANCE, 0, True, False)
    for name, first in (("s0", S0), ("s1", S1)):
        out[name] = (first, 0, False, False)
        out.update((f"{name}.{c}", (first + k, 0, False, True)) for c, k in _CHILDREN.items())
        out.update((f"{name}.{v}", (first + k, 0, True, True)) for v, k in (("vl", VL), ("vr", VR)))
    return out


def _arc_places():
    out = {name: (k, 0, False, False) for k, name in enumerate(ARC_FIELDS)}
    out.update((name, (len(ARC_FIELDS) + k, 0, True, False)) for k, name in enumerate(ARC_NUMBERS))
    return out


STATE_PLACES = _state_places()
ARC_PLACES = _arc_places()


class Templates(NamedTuple):
    """Compiled templates; K of them over A atoms."""

    slot: np.ndarray  # (K, 6) int32: atoms, A for none; two of each half and of the compound
    edge: np.ndarray  # (K,) bool: whether it looks at decisions before
    field: np.ndarray  # (A,) int32: of the state or arc
    offset: np.ndarray  # (A,) int32: added to the place in that field
    attribute: np.ndarray  # (A,) int32: row of the sentence's array of atoms; -1: the field is the number


def template_lines(templates):
    """The lines that a ``templates`` parameter means.

    Parameters
    ----------
    templates : str or list of str
        The name of a set, or lines.
    """
    if isinstance(templates, str):
        if templates not in TEMPLATE_SETS:
            raise ValueError(
                f"templates={templates!r} is not one of {', '.join(sorted(TEMPLATE_SETS))}; a list of lines "
                "would do as well"
            )
        return list(TEMPLATE_SETS[templates])
    if not templates or not all(isinstance(line, str) and line.strip() for line in templates):
        raise ValueError(f"templates must hold lines such as 's0.w s1.t', got {describe(templates)}")
    return list(templates)


def _atom(name, places, line):
    """(place, attribute) of an atom; the attribute of a number is None."""
    if name in places and places[name][2]:
        return places[name], None
    word, _, attribute = name.rpartition(".")
    if word in places and not places[word][2] and attribute in ATTRIBUTES:
        return places[word], attribute
    numbers = [n for n, place in places.items() if place[2]]
    words = [n for n, place in places.items() if not place[2]]
    raise ValueError(
        f"template {line!r}: {name!r} is no atom; atoms are {', '.join(numbers)}, and one of "
        f"{', '.join(words)} followed by one of .{', .'.join(ATTRIBUTES)}"
    )


def compile_templates(lines, places, attributes):
    """Templates as integers.

    Parameters
    ----------
    lines : list of str
    places : dict
        ``STATE_PLACES`` or ``ARC_PLACES``.
    attributes : list of str
        The rows of the array of atoms.

    Returns
    -------
    Templates
    """
    if len(lines) > MOST_TEMPLATES:
        raise ValueError(f"at most {MOST_TEMPLATES} templates are possible, got {len(lines)}")
    atoms, slots, edges = {}, [], []
    for line in lines:
        small, large, edge = [], [], False
        for name in line.split():
            place, attribute = _atom(name, places, line)
            number = atoms.setdefault((place, attribute), len(atoms))
            (small if attribute in (None, "t") else large).append(number)
            edge = edge or place[3]
        if len(large) > 2 or len(small) > 6 - 2 * len(large):
            raise ValueError(
                f"template {line!r}: there is room for two forms and two tags or numbers, one form and four, "
                "or six tags or numbers"
            )
        halves = [[None, number] for number in large]
        while len(halves) < 3:
            halves.append((small[:2] + [None, None])[:2])
            small = small[2:]
        slots.append([number for half in halves for number in half])
        edges.append(edge)
    A = len(atoms)
    slot = [[A if number is None else number for number in row] for row in slots]
    keys = list(atoms)
    return Templates(
        slot=np.array(slot, np.int32).reshape(-1, 6),
        edge=np.array(edges, np.bool_),
        field=np.array([place[0] for place, _ in keys], np.int32),
        offset=np.array([place[1] for place, _ in keys], np.int32),
        attribute=np.array([-1 if a is None else attributes.index(a) for _, a in keys], np.int32),
    )


def decode_keys(keys, lines, places, attributes, strings):
    """What keys say.

    Parameters
    ----------
    keys : ndarray of shape (R, 3), int64
        Compound, left and right.
    lines, places, attributes
        As for :func:`compile_templates`.
    strings : list of lists of str
        By attribute, what the ids stand for.

    Returns
    -------
    list of (line, tuple of str and int)
    """
    templates = compile_templates(lines, places, attributes)
    of_atom = {}
    for a, atom in enumerate(zip(templates.field, templates.offset, templates.attribute)):
        of_atom[tuple(map(int, atom))] = a
    slots = []  # of each template, the (slot, attribute) of its atoms in order
    for line, slot in zip(lines, templates.slot.tolist()):
        found = []
        for name in line.split():
            (field, offset, _, _), attribute = _atom(name, places, line)
            number = -1 if attribute is None else attributes.index(attribute)
            found.append((slot.index(of_atom[field, offset, number]), number))
        slots.append(found)
    out = []
    for compound, left, right in keys.tolist():
        k = compound & (MOST_TEMPLATES - 1)
        values = []
        for slot, attribute in slots[k]:
            half = (left, right)[slot // 2] if slot < 4 else 0
            if slot >= 4:
                value = compound >> (7 if slot == 4 else 19) & (MOST_SMALL - 1)
            elif slot % 2 == 0:
                value = half >> 15
            else:  # alone in its half, or the second of two
                large = attribute >= 0 and attributes[attribute] != "t"
                value = half if large else half & (2**15 - 1)
            values.append(value if attribute < 0 else strings[attribute][value])
        out.append((lines[k], tuple(values)))
    return out


def attributes_of(lines, places):
    """The attributes that templates read, in the order of ``ATTRIBUTES``; the tag is always among them."""
    read = {_atom(name, places, line)[1] for line in lines for name in line.split()} | {"t"}
    return [name for name in ATTRIBUTES if name in read]


def tracked_fields(templates):
    """(N_FIELDS,) bool: the fields of a state that its features, or those of later states, depend on."""
    read = np.zeros(N_FIELDS + 1, np.bool_)
    read[templates.field] = True
    if read[DISTANCE]:
        read[[S0, S1]] = True
    out = read[:N_FIELDS].copy()
    out[[I, J, S0]] = True
    for first, second in ((LC, LC2), (RC, RC2)):  # a second child was the first one once
        for s in (S0, S1):
            out[s + first] |= out[s + second]
    out[S1] |= out[S2]
    out[S0 : S0 + 7] |= out[S1 : S1 + 7]  # what is s0 now becomes s1
    return out
