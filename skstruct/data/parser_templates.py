"""Feature templates of the dependency parser: which atoms of a state, or of an arc, are looked at together.

Place on the ladder: rung 2. A template is a line of *atoms*. An atom is an attribute of a word that a parser
state points to (``s0.w``: the form of the word on top of the stack; ``s1.lc.t``: the tag of the leftmost child
of the one below), or a number (``s0.vl``). :func:`compile_templates` turns lines into integers for the kernels.

Words of a state: ``s0`` ``s1`` ``s2`` (stack, from the top), ``q0`` ``q1`` ``q2`` (queue), and of s0 and s1 the
outermost children ``lc`` ``rc`` and those next to them, ``lc2`` ``rc2``. Words of an arc: ``m`` (modifier), ``h``
(its head), ``g`` (the head of that), their neighbours ``m-1`` ``m+1`` ``h-1`` ``h+1``, children ``m.lc`` ``m.rc``
``h.lc`` ``h.rc``, and the nearest siblings ``sl`` ``sr``.

Attributes: ``w`` form, ``t`` tag, ``l`` form in lower case, ``x2`` ``x3`` its last two or three characters, ``f``
the form's shape. Numbers: ``vl`` ``vr`` (children on the left, on the right), ``d`` (distance; of arcs with the
side).

A feature's key is (compound, left, right), see ``core.hashing``. Forms and what is made of them take a half of 31
bits; two small atoms share a half, 15 bits each; two more go into the compound, 12 bits each above the 7 of the
template's number. So keys are exact, and nothing but the atoms themselves has to be numbered.

References
----------
L. Huang and K. Sagae (2010). Dynamic programming for linear-time incremental parsing. ACL.
Y. Zhang and J. Nivre (2011). Transition-based dependency parsing with rich non-local features. ACL.
K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron. EACL, section 6.1.3.
"""

from typing import NamedTuple

import numpy as np

from .inputs import describe

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

_COMMON_21 = """
s0.w
s0.t
s0.w s0.t
s1.w
s1.t
s1.w s1.t
q0.w
q0.t
q0.w q0.t
s0.w s1.w
s0.t s1.t
s0.t q0.t
s0.w s0.t s1.t
s0.t s1.w s1.t
s0.w s1.w s1.t
s0.w s0.t s1.w
s0.w s0.t s1.w s1.t
s0.t q0.t q1.t
s1.t s0.t q0.t
s0.w q0.t q1.t
s1.t s0.w q0.t
"""

_HS28 = (
    _COMMON_21
    + """
s1.t s1.lc.t s0.t
s1.t s1.rc.t s0.t
s1.t s0.t s0.rc.t
s1.t s1.lc.t s0.w
s1.t s1.rc.t s0.w
s1.t s0.w s0.lc.t
s2.t s1.t s0.t
"""
)

_HS29 = _HS28 + "s1.t s0.t s0.lc.t\n"

_ZSZ28 = (
    _COMMON_21
    + """
s1.t s1.lc.t s0.t
s1.t s1.rc.t s0.t
s1.t s0.t s0.rc.t
s1.t s0.t s0.lc.t
s1.t s0.w s0.lc.t
s1.t s0.w s0.rc.t
s2.t s1.t s0.t
"""
)

_RICH = (
    _HS29
    + """
s2.t
s2.w s2.t
q1.t
q1.w q1.t
q2.t
s2.t s1.t
q0.t q1.t
q1.t q2.t
s0.t q1.t
q0.t q1.t q2.t
s0.w q0.w
s0.t q0.w
s0.w q0.t
s1.t q0.t
s1.w q0.t
s1.t s1.rc.t s0.t s0.lc.t
s1.rc.t s0.t
s1.t s0.lc.t
s0.t s0.rc.t q0.t
s0.t s0.lc.t s0.rc.t
s1.t s1.lc.t s1.rc.t
s0.rc.w s0.t
s1.rc.w s1.t s0.t
s0.lc.w s0.t s1.t
s1.lc.w s1.t
s0.t s0.rc.t s0.rc2.t
s1.t s1.rc.t s1.rc2.t
s0.t s0.lc.t s0.lc2.t
s0.t s1.t d
s0.w s1.t d
s0.t s1.w d
s0.w s1.w d
s0.t s1.t d q0.t
s0.t s0.vl s0.vr
s1.t s1.vl s1.vr
s0.w s0.vl
s1.w s1.vr
s0.t s1.t s1.vr q0.t
s0.t s1.t s0.vl s1.vr
s0.x3 s0.t
s1.x3 s1.t
q0.x3 q0.t
s0.x3 s1.t
s1.x3 s0.t
s0.l s1.l
s0.f s0.t s1.t
s1.t s0.t s0.lc.t s0.lc2.t
s0.t s1.t s1.rc.t s1.rc2.t
s0.t s1.t s1.lc.t s1.lc2.t
s1.t s0.t s0.rc.t s0.rc2.t
s0.t s1.t s0.lc2.w
s0.t s0.lc.w s0.lc2.w
s1.t s1.lc.w s1.lc2.w
s1.t s1.rc.w s1.rc2.w
s1.t s0.t s1.lc.t s1.rc.t
s1.t s1.lc.t s1.rc.t s0.t s0.lc.t s0.rc.t
s1.t s0.lc.w s0.lc2.w
s0.t q0.t q1.w
s1.t s0.t q0.w
s1.t s0.t q1.w
s0.t q0.t q1.t q2.t
s1.t q0.t q1.t
s1.t s0.t q0.t q1.t
s2.t s1.t s0.t q0.t
s0.lc.w s1.t s0.t q0.t
s0.lc.w s1.t q0.w
s1.w s0.lc.w
s2.w s0.lc.w
s2.t s1.t s0.t s0.lc.t
s2.t s1.t s0.lc.w
s2.t s0.t s0.lc.w
s1.rc.w s0.lc.w
s1.rc.w s0.t
s0.rc.w q0.w
s0.rc.t q0.t
s0.rc.w s0.t q0.t
"""
)

_ARCS = """
m.t
m.w
m.w m.t
m.l
m.x3 m.t
m.x2
m.f m.t
h.t
h.w
h.w h.t
m.t h.t
m.t h.t d
m.w h.t
m.w h.t d
m.l h.l
m.t h.w
m.t h.w d
m.w h.w
m.t m-1.t
m.t m+1.t
m.t m-1.t m+1.t
m.t h.t m-1.t
m.t h.t m+1.t
m.t h.t h-1.t
m.t h.t h+1.t
m-1.w m.t
m+1.w m.t
m.t m.lc.t
m.t m.rc.t
m.t m.lc.w
m.t m.rc.w
m.w m.lc.t
m.w m.lc.w
m.t h.t m.lc.t d
m.t h.t m.lc.w
m.t h.w m.lc.w
m.t h.t m.rc.t d
m.t h.t g.t
m.t h.w g.t
m.t h.t sl.t d
m.t h.t sr.t d
m.t h.w sl.t
m.t h.w sr.t
m.t h.t h.lc.t d
m.t h.t h.rc.t d
m.t h.lc.w d
m.t m.vl m.vr d
m.t h.t m.vl m.vr
m.t h.t h.vl h.vr d
m.x3 h.x3
m.x3 h.t d
"""

TEMPLATE_SETS = {"hs28": _HS28, "hs29": _HS29, "zsz28": _ZSZ28, "rich": _RICH}
"""Named sets for the search."""


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
        return _lines(TEMPLATE_SETS[templates])
    if not templates or not all(isinstance(line, str) and line.strip() for line in templates):
        raise ValueError(f"templates must hold lines such as 's0.w s1.t', got {describe(templates)}")
    return list(templates)


def _lines(text):
    return [line for line in text.splitlines() if line]


ARC_LINES = _lines(_ARCS)
"""The templates that labels are chosen by."""


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
