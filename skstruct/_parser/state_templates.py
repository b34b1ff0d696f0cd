"""Feature templates of the dependency parser: which atoms of a state, or of an arc, are
looked at together.

A template is a line of *atoms*. An atom is an attribute of a word that a parser state
points to (``s0.w``: the form of the word on top of the stack; ``s1.lc.t``: the tag of
the leftmost child of the one below), or a number (``s0.vl``). :func:`compile_templates`
turns lines into integers for the kernels.

Words of a state: ``s0`` ``s1`` ``s2`` (stack, from the top), ``q0`` ``q1`` ``q2``
(queue), and of s0 and s1 the outermost children ``lc`` ``rc`` and those next to them,
``lc2`` ``rc2``. Words of an arc: ``m`` (modifier), ``h`` (its head), ``g`` (the head of
that), their neighbours ``m-1`` ``m+1`` ``h-1`` ``h+1``, children ``m.lc`` ``m.rc``
``h.lc`` ``h.rc``, and the nearest siblings ``sl`` ``sr``.

Attributes: ``w`` form, ``t`` tag, ``l`` form in lower case, ``x2`` ``x3`` its last two
or three characters, ``f`` the form's shape; ``c2`` ``c3`` and so on further columns,
counted from 0 as the form's; ``p2`` ``p3`` and so on the parts of such a column
(``Number=Sing`` of ``Case=Nom|Number=Sing``), a feature for each. Numbers: ``vl``
``vr`` (children on the left, on the right), ``d`` (distance; of arcs with the side).

A feature's key is (compound, left, right), see ``_core.hashing``. Forms, what is made
of them and further columns take a half of 31 bits; two small atoms share a half, 15
bits each; two more go into the compound, 12 bits each above the 7 of the template's
number. So keys are exact, and nothing but the atoms themselves has to be numbered. Of
more than 128 templates those that leave room in the compound have their number there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .state_features import MOST_FIELDS, Templates
from .states import LABEL

if TYPE_CHECKING:
    from .states import Places

Atom: TypeAlias = tuple[tuple[int, int, bool, bool], str | None]
"""A place, as in :data:`.states.Places`, and the attribute of its word: None for a
number, "r" for a label.
"""

MOST_SMALL = 2**12
"""Tags and numbers are below this; the four special symbols included."""

MOST_TEMPLATES = 2**12

_NUMBER = 2**7 - 1
"""The bits of a compound that are the template's number."""

_HALF = 2**15 - 1
"""The bits of the second of two atoms that share half a key."""

_FREE = 127
_HALF_FREE = 126
"""Numbers that many templates share, told apart by the bits of the compound that their
atoms leave free.
"""

_SMALL = (None, "t", "r")

ATTRIBUTES = ("t", "w", "l", "x2", "x3", "f")
"""Rows of the array of atoms, those of further columns behind them; the tag comes
first.
"""

_FURTHER = re.compile(r"[cp](?:[2-9]|[1-9][0-9]+)", re.ASCII)


def is_part(name: str) -> bool:
    """Return whether an attribute is that of the parts of a column."""
    return name[0] == "p"


def column_of(name: str) -> int:
    """Return the column of a word that an attribute is read from."""
    return int(name[1:]) if _FURTHER.fullmatch(name) else int(name == "t")


def rank(name: str) -> tuple[int, int]:
    """Return what attributes are sorted by."""
    if name in ATTRIBUTES:
        return ATTRIBUTES.index(name), 0
    return len(ATTRIBUTES) + column_of(name), is_part(name)


def _atom(name: str, places: Places, line: str) -> Atom:
    """Return the place and the attribute that an atom's name stands for.

    Raises
    ------
    ValueError
        If it is no atom; the message names the template.
    """
    if name in places and places[name][2]:
        return places[name], "r" if name.endswith(".r") else None
    word, _, attribute = name.rpartition(".")
    known = attribute in ATTRIBUTES or _FURTHER.fullmatch(attribute)
    if known and word in places and not places[word][2]:
        return places[word], attribute
    numbers = [n for n, place in places.items() if place[2]]
    words = [n for n, place in places.items() if not place[2]]
    raise ValueError(
        f"template {line!r}: {name!r} is no atom; atoms are {', '.join(numbers)}, and "
        f"one of {', '.join(words)} followed by one of .{', .'.join(ATTRIBUTES)}, .c2, "
        ".p2"
    )


def _slots(line: str, places: Places) -> list[Atom | None]:
    """Return the six atoms of a template, None where there is none: two of each half of
    the key, and of the compound.

    Raises
    ------
    ValueError
        If there is no room for all atoms.
    """
    small: list[Atom | None] = []
    large: list[Atom | None] = []
    for name in line.split():
        atom = _atom(name, places, line)
        if atom[1] in _SMALL:
            small.append(atom)
        else:
            large.append(atom)
    if len(large) > 2 or len(small) > 6 - 2 * len(large):
        raise ValueError(
            f"template {line!r}: there is room for two forms and two tags or numbers, "
            "one form and four, or six tags or numbers (further columns count as forms)"
        )
    slots = [part for atom in large for part in (None, atom)] + small
    return slots + [None] * (6 - len(slots))


def _codes(slots: list[list[Atom | None]]) -> list[int]:
    """Return what each template adds to its compound; of many templates all but those
    that fill the compound share a number.
    """
    if len(slots) <= _NUMBER + 1:
        return list(range(len(slots)))
    out = []
    found = [0, 0, 0]
    for row in slots:
        free = row[4:].count(None)
        n = found[free]
        found[free] = found[free] + 1
        out.append((n, _HALF_FREE | n << 19, _FREE | n << 7)[free])
    if found[0] > _HALF_FREE:
        raise ValueError(
            f"of {len(slots)} templates at most {_HALF_FREE} may read six tags or "
            f"numbers, where forms count as two; {found[0]} do"
        )
    return out


def compile_templates(
    lines: Sequence[str],
    places: Places,
    attributes: Sequence[str],
    groups: tuple[set[int], ...] = (),
    determined: dict[int, set[int]] | None = None,
) -> Templates:
    """Translate templates to integers for the kernels.

    Parameters
    ----------
    lines : list of str
    places : dict
        ``STATE_PLACES`` or ``ARC_PLACES``.
    attributes : list of str
        The rows of the array of atoms. That of parts may be there several times.
    groups : tuple of sets of int
        Fields. A template belongs to the first group that has all that it reads, or to
        a last one.
    determined : dict, optional
        {field: those that determine it}, where there are such.

    Returns
    -------
    Templates
    """
    if len(lines) > MOST_TEMPLATES:
        raise ValueError(
            f"at most {MOST_TEMPLATES} templates are possible, got {len(lines)}"
        )
    slots = [_slots(line, places) for line in lines]
    row_of: dict[str | None, int] = {None: -1, "r": LABEL}
    row_of.update((name, row) for row, name in reversed(list(enumerate(attributes))))
    members: list[list[Any]] = [[] for _ in (*groups, None)]
    for line, slot, code in zip(lines, slots, _codes(slots)):
        atoms = [atom for atom in slot if atom]
        parts = [name for _, name in atoms if name and is_part(name)]
        if len(parts) > 1:
            raise ValueError(
                f"template {line!r}: at most one atom of parts is possible"
            )
        read = {
            field
            for (place, *_), _ in atoms
            for field in (determined or {}).get(place, (place,))
        }
        group = next((g for g, fields in enumerate(groups) if read <= fields), -1)
        edge = any(place[3] for place, _ in atoms)
        # Once for each row where a part stands.
        for k in range(attributes.count(parts[0]) if parts else 1):
            rows = {
                name: row + k if name in parts else row for name, row in row_of.items()
            }
            found = [atom and (*atom[0][:2], rows.get(atom[1], 0)) for atom in slot]
            members[group].append((found, code, edge, read))
    return _in_groups(members, len(groups))


def _in_groups(members: list[list[Any]], n_groups: int) -> Templates:
    """Make the :class:`.Templates` of groups of (atoms, code, edge, fields read).

    Of a last one behind the ``n_groups`` nothing is remembered.
    """
    rows: list[Any] = []
    atoms: list[tuple[int, int, int]] = []
    starts = [(0, 0)]
    by: list[list[int]] = []
    for g, group in enumerate(members):
        if not group:
            continue
        number: dict[Any, int] = {}
        for slot, code, edge, _ in group:
            slot = [
                atom and len(atoms) + number.setdefault(atom, len(number))
                for atom in slot
            ]
            rows.append((slot, code, edge))
        atoms += number
        starts.append((len(rows), len(atoms)))
        fields = (
            sorted(set().union(*(read for *_, read in group))) if g < n_groups else []
        )
        by.append(fields + [-1] * (MOST_FIELDS - len(fields)))
    slot = [
        [len(atoms) if number is None else number for number in slot]
        for slot, _, _ in rows
    ]
    field, offset, attribute = np.array(atoms, np.int32).reshape(-1, 3).T.copy()
    return Templates(
        slot=np.array(slot, np.int32).reshape(-1, 6),
        code=np.array([code for _, code, _ in rows], np.int32),
        edge=np.array([edge for _, _, edge in rows], np.bool_),
        field=field,
        offset=offset,
        attribute=attribute,
        group=np.array(starts, np.int32),
        by=np.array(by, np.int32).reshape(-1, MOST_FIELDS),
    )


def templates_of(
    compounds: np.ndarray, lines: Sequence[str], places: Places
) -> np.ndarray:
    """Find the templates that compounds belong to.

    Returns
    -------
    ndarray of shape (R,), int64
        By compound the number of its template, -1 for none.
    """
    codes = _codes([_slots(line, places) for line in lines])
    line_of = {code: k for k, code in enumerate(codes)}
    number = compounds & _NUMBER
    if len(codes) > _NUMBER + 1:
        of_half = _HALF_FREE | compounds >> 19 << 19
        number = np.where(
            number == _FREE, compounds, np.where(number == _HALF_FREE, of_half, number)
        )
    found, where = np.unique(number, return_inverse=True)
    return np.array([line_of.get(n, -1) for n in found.tolist()], np.int64)[where]


def decode_keys(
    keys: np.ndarray,
    lines: Sequence[str],
    places: Places,
    strings: dict[str, list[Any]],
) -> list[tuple[str, tuple[str | int, ...]]]:
    """Translate the keys of features back to what they say.

    Parameters
    ----------
    keys : ndarray of shape (R, 3), int64
        Compound, left and right.
    lines, places
        As for :func:`compile_templates`.
    strings : dict of str to list of str
        By attribute, what the ids stand for; ``"r"`` are the labels.

    Returns
    -------
    list of (line, tuple of str and int)
    """
    # Of each template, the (slot, attribute) of its atoms in order.
    slots: list[list[tuple[int, str | None]]] = []
    for line in lines:
        filled = _slots(line, places)
        atoms = [_atom(name, places, line) for name in line.split()]
        slots.append([(filled.index(atom), atom[1]) for atom in atoms])
    out = []
    numbers = templates_of(keys[:, 0], lines, places).tolist()
    for k, (compound, left, right) in zip(numbers, keys.tolist()):
        values = []
        in_compound = (compound >> 7 & (MOST_SMALL - 1), compound >> 19)
        small = left >> 15, left & _HALF, right >> 15, right & _HALF, *in_compound
        for slot, attribute in slots[k]:
            if attribute in _SMALL:
                value = small[slot]
            else:  # alone in its half
                value = (left, right)[slot // 2]
            values.append(value if attribute is None else strings[attribute][value])
        out.append((lines[k], tuple(values)))
    return out


def attributes_of(lines: Sequence[str], places: Places) -> list[str]:
    """List the attributes that templates read, in order; the tag is always among
    them.
    """
    read = {_atom(name, places, line)[1] for line in lines for name in line.split()} | {
        "t"
    }
    return sorted((name for name in read if name and name != "r"), key=rank)
