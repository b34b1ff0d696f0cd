"""Templates of a model as a file holds them: values, combinations, and where their
weights are.

Only what has weights is kept, with what longer combinations begin with. Values are
sorted; combinations are sorted by the combination that they extend and then by their
last value, so that a number is a place.

Functions of characters read what this Python says of all code points. A table lists the
places at which being in it begins, ends, begins ...: the first, and then how far it is
to the next. Other versions of Python, and JavaScript, know other versions of Unicode.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..features.accessor import AccessorVariety
from ..features.contexts import (
    FoldedEntries,
    entries_in_tokens,
    is_context,
    lexicon_of,
)
from .sections import combination_table, refuse

if TYPE_CHECKING:
    from ..features.bag_encoder import BagEncoder
    from ..features.pattern_encoder import PatternEncoder
    from ..features.template_encoder import TemplateEncoder
    from .sections import Sections


class Keys(ABC):
    """The features of a model as a file names them; one class for each kind of encoder.

    Attributes
    ----------
    spelled : list of (known strings, written strings)
        By what the model tells strings apart, and what of them a file has.
    """

    spelled: list[tuple[Any, Any]]

    @abstractmethod
    def header(self, sections: Sections) -> dict[str, Any]:
        """Return what the header of a file says of the features; add their tables."""

    @abstractmethod
    def write(self, sections: Sections) -> list[tuple[np.ndarray, int]]:
        """Add the combinations of values.

        Returns for state features and for transitions the new row by row, -1 for those
        that are left out, and how many rows there are.
        """


class TemplateKeys(Keys):
    """The keys of a ``TemplateEncoder`` whose rows of state and transition features
    have weights.

    Parameters
    ----------
    encoder : TemplateEncoder
    used : pair of ndarray of bool
        By row, whether it has weights: of ``encoder.nodes`` and of ``encoder.edges``.
    """

    def __init__(self, encoder: TemplateEncoder, used: Sequence[np.ndarray]) -> None:
        self.encoder = encoder
        self.sides = (encoder.nodes, encoder.edges)
        plan = encoder.plan
        self.pairs = [side.all_pairs(encoder.table) for side in self.sides]
        self.kept = [
            side.used_nodes(pairs, mine)[1]
            for side, pairs, mine in zip(self.sides, self.pairs, used)
        ]
        met = [
            [np.zeros(0, np.int64)] for _ in plan.channels
        ]  # by channel the values of what is kept
        for side, pairs, kept in zip(self.sides, self.pairs, self.kept):
            for compound, own, mine in zip(side.compounds, pairs, kept):
                values = np.flatnonzero(mine) if compound.prefix < 0 else own[mine, 1]
                met[compound.channel].append(values)
        outside = plan.left + plan.right
        # By channel: new number by id; strings
        self.numbers: list[np.ndarray] = []
        self.values: list[list[Any]] = []
        self.spelled = []
        for channel, ids in zip(plan.channels, met):
            if channel[0] == "const":
                self.numbers.append(np.ones(1, np.int64))
                self.values.append([])
                continue
            strings = list(encoder.values_of(channel))
            ids = [v for v in np.unique(np.concatenate(ids)).tolist() if v >= outside]
            ids.sort(key=lambda v: strings[v - outside])
            number = np.zeros(outside + len(strings), np.int64)
            number[:outside] = np.arange(1, outside + 1)
            number[ids] = 1 + outside + np.arange(len(ids))
            self.numbers.append(number)
            self.values.append([strings[v - outside] for v in ids])
            self.spelled.append((strings, self.values[-1]))
        if encoder.templates.words is not None:
            self.spelled.append((encoder.templates.words.words,) * 2)

    def header(self, sections: Sections) -> dict[str, Any]:
        """Return what the header of a file says of templates."""
        plan = self.encoder.plan
        words = self.encoder.templates.words
        out: dict[str, Any] = {
            "features": "templates",
            "unicode": tables_for(name for name, _ in plan.channels),
        }
        if self.encoder.contexts.are_read:
            out.update(contexts_header(self.encoder, sections))
        if words is not None:
            out["clusters"] = words.by_label()
        out |= {
            "left": plan.left,
            "right": plan.right,
            "channels": plan.channels,
            "values": self.values,
        }
        for name, side in zip(("nodes", "edges"), self.sides):
            compounds = [
                [c.prefix, c.channel, c.distance, c.slots, c.forms]
                for c in side.compounds
            ]
            groups = [[g.compound, g.slot, g.lo, g.width] for g in side.groups]
            out[name] = {"compounds": compounds, "groups": groups}
        return out

    def write(self, sections: Sections) -> list[tuple[np.ndarray, int]]:
        """Add the combinations, and return for each side (new row by row, -1 without;
        how many).
        """
        maps = []
        for name, side, pairs, kept in zip(
            ("nodes", "edges"), self.sides, self.pairs, self.kept
        ):
            row_of = np.full(side.n_rows, -1, np.int64)
            row_of[: side.first_row] = np.arange(side.first_row)
            n_rows = side.first_row
            numbers: list[Any] = []
            for c, compound in enumerate(side.compounds):
                number = self.numbers[
                    compound.channel
                ]  # all values, those outside of a sequence too
                if compound.prefix >= 0:
                    before = numbers[compound.prefix]
                    number = combination_table(
                        sections, f"{name}.{c}", pairs[c], kept[c], before, number
                    )
                numbers.append(number)
                slots = np.arange(len(compound.slots))
                first = side.row_of[c][:-1]
                mine = np.flatnonzero((first >= 0) & kept[c])
                row_of[first[mine, None] + slots] = (
                    n_rows + (number[mine, None] - 1) * slots.size + slots
                )
                n_rows += int(number.max(initial=0)) * slots.size
            maps.append((row_of, n_rows))
        return maps


# --------------------------------------------------------------------------------------
# Lexicons and accessor varieties
# --------------------------------------------------------------------------------------
def contexts_header(encoder: TemplateEncoder, sections: Sections) -> dict[str, Any]:
    """Add the tables of the functions of contexts, and return their part of the header."""
    contexts = encoder.contexts
    lexicons = []
    for name, column in encoder.plan.channels:
        lexicon = lexicon_of(name)
        if lexicon is not None:
            entries = encoder.templates.lexicons[lexicon]
            if isinstance(entries, FoldedEntries):
                refuse(f"the lexicon {lexicon!r}, which ignores case")
            of_characters = bool(contexts.characters.get(column))
            written = entries_in_tokens(entries, of_characters)
            lexicons.append({"name": name, "column": column, "entries": written})
    statistics = contexts.trained if contexts.adapted is None else contexts.adapted
    varieties = [
        {
            "column": c,
            "longest": longest,
            "tokens": _varieties(statistics[c], c, longest, sections),
        }
        for c, longest in contexts.longest.items()
    ]
    return {"lexicons": lexicons, "varieties": varieties}


def _varieties(
    statistics: AccessorVariety, column: int, longest: int, sections: Sections
) -> list[str]:
    """Add the strings whose variety matters and their beginnings, and return the
    tokens.
    """
    varieties = statistics.varieties[:longest]
    pairs = statistics.pairs
    buckets = [
        np.minimum(np.log2(np.maximum(v, 1)), 15).astype(np.int64) for v in varieties
    ]
    kept = [each > 0 for each in buckets]
    for n in range(longest - 1, 0, -1):
        kept[n - 1][pairs[n - 1][kept[n], 0]] = True
        kept[0][pairs[n - 1][kept[n], 1]] = True
    strings = list(statistics.alphabet)
    order = sorted(np.flatnonzero(kept[0]).tolist(), key=strings.__getitem__)
    token = number = np.zeros(len(strings), np.int64)
    token[order] = np.arange(1, len(order) + 1)
    for n in range(longest):
        name = f"varieties.{column}.{n + 1}"
        if n:
            number = combination_table(
                sections, name, pairs[n - 1], kept[n], number, token
            )
        by_number = np.zeros(number.max(initial=0) + 1, np.int64)
        by_number[number] = buckets[n]
        sections.add(f"{name}.bucket", by_number[1:])
    return [strings[k] for k in order]


# --------------------------------------------------------------------------------------
# Features that are names: those of dicts and lists, and those that patterns write
# --------------------------------------------------------------------------------------
class NameKeys(Keys):
    """The keys of a ``BagEncoder``."""

    def __init__(
        self, encoder: BagEncoder | PatternEncoder, used: Sequence[np.ndarray]
    ) -> None:
        self.encoder = encoder
        self.names = []
        self.rows = []
        self.n_rows = [len(rows) for rows in used]
        self.spelled = []
        for index, mine in zip((encoder.nodes, encoder.edges), used):
            rows = dict(zip(index.ids, index.row_of.tolist()))
            names = sorted(name for name, row in rows.items() if row >= 0 and mine[row])
            self.names.append(names)
            self.rows.append(np.array([rows[name] for name in names], np.int64))
            self.spelled.append((index.ids, names))

    def header(self, sections: Sections) -> dict[str, Any]:
        """Return what the header of a file says of them."""
        return {"features": "names", "names": self.names[0]}

    def write(self, sections: Sections) -> list[tuple[np.ndarray, int]]:
        """Return for each side (new row by row, -1 without; how many)."""
        maps = []
        for first, (n_rows, rows) in enumerate(zip(self.n_rows, self.rows)):
            row_of = np.full(n_rows, -1, np.int64)
            row_of[:first] = 0  # the label bigram, before the names of transitions
            row_of[rows] = first + np.arange(rows.size)
            maps.append((row_of, first + rows.size))
        return maps


class PatternKeys(NameKeys):
    """The keys of a ``PatternEncoder``."""

    encoder: PatternEncoder

    def header(self, sections: Sections) -> dict[str, Any]:
        """Return what the header of a file says of them."""
        patterns = self.encoder.templates
        nodes, edges = (
            [
                [
                    p.literals,
                    [[m.position, m.absolute, m.column, m.lower] for m in p.macros],
                ]
                for p in lines
            ]
            for lines in (patterns.of_labels, patterns.of_transitions)
        )
        either = (
            {"either": True} if self.encoder.takes_both else {}
        )  # tokens: str, or tuples
        syntax = {"syntax": patterns.syntax, "nodes": nodes, "edges": edges}
        names = {"names": self.names[0], "edge_names": self.names[1]}
        return {"features": "patterns", **either, "patterns": syntax, **names}


N_CODES = 0x110000

FUNCTIONS = {
    "lower": ("cased", "ignorable", "mapping"),
    "cluster": (
        "cased",
        "ignorable",
        "mapping",
    ),  # of the lower-cased form, where the form has none
    "shape": ("upper", "lower", "digit"),
    "type": ("digit", "punctuation"),
    "digit": ("digit",),
    "upper": ("upper",),
    "hyphen": (),
}
"""The tables that each function reads."""

WITHOUT_TABLES = ("x", "const")
"""Channels that are the token itself, and one that is always the same."""

_AFFIX = re.compile(r"(prefix|suffix)[0-9]+")

_TESTS: dict[str, Callable[[str], bool]] = {
    "upper": str.isupper,
    "lower": str.islower,
    "digit": str.isdigit,
    "punctuation": lambda c: unicodedata.category(c)[0] in "PS",
    # A capital sigma is final behind a cased letter; what is ignorable between the two
    # does not matter.
    "cased": lambda c: (c + "\u03a3").lower()[-1] == "\u03c2",
    "ignorable": lambda c: (
        ("a" + c + "\u03a3").lower()[-1] == "\u03c2" and not _TESTS["cased"](c)
    ),
}


@functools.cache
def table(name: str) -> Any:
    """Return the table of a property, or the mapping to lower case."""
    if name == "mapping":
        return _lower_case()
    inside = np.fromiter(map(_TESTS[name], map(chr, range(N_CODES))), np.bool_, N_CODES)
    return gaps(np.flatnonzero(np.diff(inside, prepend=False)))


def gaps(places: Any) -> list[int]:
    """Turn numbers into the first one and the distances from each to the next."""
    return np.diff(places, prepend=0).tolist()


def _lower_case() -> dict[str, Any]:
    """Return the code points that change and by how much, both as :func:`gaps`, and
    what becomes two characters.
    """
    lower = [chr(code).lower() for code in range(N_CODES)]
    changed = [
        code for code, to in enumerate(lower) if to != chr(code) and code != 0x3A3
    ]  # see "cased"
    places = [code for code in changed if len(lower[code]) == 1]
    differences = [ord(lower[code]) - code for code in places]
    longer = {chr(code): lower[code] for code in changed if len(lower[code]) > 1}
    return {"places": gaps(places), "differences": gaps(differences), "long": longer}


def tables_for(functions: Iterable[str]) -> dict[str, Any]:
    """Return the tables that functions of templates read, by name.

    Raises
    ------
    ValueError
        If the runtime of a file does not know a function.
    """
    names: set[str] = set()
    for function in functions:
        known = function in WITHOUT_TABLES or _AFFIX.fullmatch(function) is not None
        if function not in FUNCTIONS and not known and not is_context(function):
            refuse(f"the function %{function}[...] of its templates")
        names.update(FUNCTIONS.get(function, ()))
    return {name: table(name) for name in sorted(names)}
