"""Feature templates: which combinations of tokens around a position are features.

A template is a line of a CRF++ template file: an identifier that starts with ``U`` (a
feature of the label) or ``B`` (a feature of the label transition), and macros:
``U05:%x[-1,0]/%x[0,0]`` is the combination of column 0 at the previous and the current
token. Besides ``%x``, a macro may name a function of the token, ``%suffix3[0,0]``; see
:mod:`.tokens`. A few functions look at more than the token, ``%av2[0,0]``,
``%lex_city[0,0]``; see :mod:`.contexts`.

Templates are compiled to a :class:`Plan`. A *channel* is a function of a column. A
*compound* is a set of channels at fixed distances, wherever it stands; its position in
a sequence is its *anchor*. All templates of one compound share its look-up: each is a
*slot*, a number of tokens between anchor and the token it speaks of. Slots of adjacent
shifts form a *group* whose weight rows are neighbours.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

from .._data.elements import elements, exact_strings
from .._data.inputs import describe
from .._data.lexicon import Lexicon
from .._data.suggestions import meant
from .._data.text import TextToken
from .._data.types import Path, Self
from .._saving.atomic import naming
from .._saving.container import require
from .._saving.fields import Field, Kind, Table, each, pair, string, value
from .._saving.values import savable_value
from .contexts import (
    FoldedEntries,
    as_entries,
    entries_of,
    is_context,
    lexicon_of,
    refuse_several_types,
)
from .presets import PRESETS, columns_preset, window
from .tokens import FUNCTION_NAMES, is_function
from .word_clusters import CLUSTER, WordClusters, normal_form

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .._saving.fields import Members
    from .base import Features
    from .contexts import Entry
    from .tokens import Channel

Lexicons: TypeAlias = Mapping[str, Collection[str | tuple[str, ...]] | Lexicon] | None

Form: TypeAlias = tuple[tuple[str, ...], tuple[int, ...]]
"""The form of a feature: the literals around its atoms, and for each written atom its
place in the compound.
"""

Atoms: TypeAlias = tuple[tuple[int, int], ...]
"""(channel, distance from the anchor) of each atom of a compound."""

FARTHEST = 1000
"""The largest distance of a macro: sequences are encoded with as many positions around
them.
"""

_PLACE = r"([A-Za-z]\w*)\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]"
MACRO = re.compile(f"%{_PLACE}")
_WITHOUT_SIGN = re.compile(rf"(?<![%\w]){_PLACE}")
"""A pattern of text that was meant as a macro: its feature would be the same
everywhere.
"""


class Template(NamedTuple):
    """One parsed line: ``atoms`` are (function name, column, offset), in the order
    written.
    """

    text: str
    edge: bool
    skeleton: str
    atoms: tuple[tuple[str, int, int], ...]


def parse_template(line: Any, where: str = "template") -> Template:
    """Parse one line of a template file.

    Raises
    ------
    ValueError
        If the line is not a template; the message starts with ``where``.
    """
    if not isinstance(line, str):
        raise ValueError(f"{where}: a template must be a str, got {line!r}")
    line = line.strip()
    if not line or line[0] not in "UB":
        text = (
            "a template starts with U (features of a label) or B (features of a "
            "label transition)"
        )
        raise ValueError(f"{where}: {text}, got {line!r}")
    atoms = []
    for name, offset, column in MACRO.findall(line):
        if not (is_context(name) or name == CLUSTER or is_function(name)):
            raise ValueError(
                f"{where}: unknown function %{name} in {line!r}; choose from "
                f"{FUNCTION_NAMES}"
            )
        if len(offset) > 5 or abs(int(offset)) > FARTHEST:
            raise ValueError(
                f"{where}: {line!r:.80} reads too far away: a row is at most "
                f"{FARTHEST} from 0"
            )
        atoms.append((name, int(column), int(offset)))
    if "%" in MACRO.sub("", line):
        raise ValueError(
            f"{where}: malformed macro in {line!r}; expected %x[row,column]"
        )
    if _WITHOUT_SIGN.search(line):
        meant = _WITHOUT_SIGN.sub(r"%\g<0>", line)
        warnings.warn(
            f"{where}: {line!r:.80} reads no token where % is missing; did you mean "
            f"{meant!r:.80}?",
            stacklevel=2,
        )
    skeleton = MACRO.sub(r"%\1", line)
    return Template(line, line[0] == "B", skeleton, tuple(atoms))


class Compound(NamedTuple):
    """Channels at fixed distances from the anchor; ``prefix`` is the compound of all
    but the last.
    """

    prefix: int  # index of the compound, -1 if this one has a single atom
    channel: int  # channel of the last atom
    distance: int  # position of the last atom relative to the anchor
    atoms: Atoms  # by distance
    # Shifts (token minus anchor) of its templates, in the order of their rows.
    slots: tuple[int, ...]
    forms: tuple[Form, ...]  # by slot


class Group(NamedTuple):
    """Adjacent slots of a compound: rows ``slot ...`` apply to tokens ``anchor + lo
    ...``.
    """

    compound: int
    slot: int
    lo: int
    width: int


class Plan(NamedTuple):
    """Templates compiled; see the module."""

    channels: tuple[Channel, ...]
    nodes: tuple[Compound, ...]  # of U templates
    node_groups: tuple[Group, ...]
    edges: tuple[Compound, ...]  # of B templates that read the input
    edge_groups: tuple[Group, ...]
    bigram: bool  # whether a bare B makes the label bigram a feature
    left: int  # positions read before the first token
    right: int  # and after the last one
    n_columns: int  # columns the data must have


def _compile(
    templates: Sequence[Template], channels: dict[Channel, int]
) -> tuple[tuple[Compound, ...], tuple[Group, ...]]:
    """Compounds and groups of the templates; ``channels`` (a dict) is extended."""
    # atoms -> position in compounds
    compounds: list[Compound] = []
    index: dict[Atoms, int] = {}

    def compound_of(atoms: Atoms) -> int:
        """Number the compound of some atoms, which is added if it is new."""
        if atoms not in index:
            prefix = compound_of(atoms[:-1]) if len(atoms) > 1 else -1
            index[atoms] = len(compounds)
            compounds.append(Compound(prefix, *atoms[-1], atoms, (), ()))
        return index[atoms]

    # By compound, shift and skeleton the number of templates.
    uses: Counter[tuple[int, int, str]] = Counter()
    forms: dict[str, Form] = {}  # how the features of a skeleton are written
    # By skeleton the compound: CRF++ lets equal identifiers share their features.
    shared: dict[str, tuple[int, list[int]]] = {}
    for template in templates:
        atoms = template.atoms or (("const", 0, 0),)
        order = sorted(range(len(atoms)), key=lambda k: (atoms[k][2], atoms[k][:2], k))
        anchor = atoms[order[0]][2]
        found = tuple(
            (channels.setdefault(atoms[k][:2], len(channels)), atoms[k][2] - anchor)
            for k in order
        )
        number = compound_of(found)
        if shared.setdefault(template.skeleton, (number, order)) != (number, order):
            text = (
                "has the same identifier as another one that combines other columns "
                "or distances"
            )
            raise ValueError(
                f"template {template.text!r} {text}; give the two different "
                "identifiers, or let them share features as in CRF++: Patterns"
            )
        uses[number, -anchor, template.skeleton] += 1
        forms[template.skeleton] = tuple(MACRO.split(template.text)[::4]), tuple(order)
    return _grouped(compounds, uses, forms)


def _grouped(
    compounds: list[Compound],
    uses: Counter[tuple[int, int, str]],
    forms: dict[str, Form],
) -> tuple[tuple[Compound, ...], tuple[Group, ...]]:
    """Compounds with their slots, and the groups that these form.

    For ``uses`` and ``forms`` see :func:`_compile`.
    """
    complete: list[Compound] = []
    groups: list[Group] = []
    for c, compound in enumerate(compounds):
        own = sorted((shift, skeleton) for k, shift, skeleton in uses if k == c)
        # Templates with one identifier share their rows: the slot is that of the first.
        first = {skeleton: shift for shift, skeleton in reversed(own)}
        slots = sorted(first, key=lambda skeleton: (first[skeleton], skeleton))
        shifts = tuple(first[skeleton] for skeleton in slots)
        spelled = tuple(forms[skeleton] for skeleton in slots)
        complete.append(compound._replace(slots=shifts, forms=spelled))
        places = [
            (slots.index(skeleton), shift, uses[c, shift, skeleton])
            for shift, skeleton in own
        ]
        # Where slot and shift both go up by one, they are a run.
        for _, run in groupby(
            enumerate(places), lambda each: (each[1][0] - each[0], each[1][1] - each[0])
        ):
            found = [place for _, place in run]
            slot, shift, _ = found[0]
            groups.append(Group(c, slot, shift, len(found)))
            groups += [
                Group(c, slot, shift, 1)
                for slot, shift, n in found
                for _ in range(n - 1)
            ]
    return tuple(complete), tuple(groups)


def _checked_lexicons(
    lexicons: Any, templates: Sequence[Template]
) -> dict[str, tuple[Entry, ...]]:
    """Return the lexicons by name, their entries distinct and sorted; those that
    templates name, no others.
    """
    lexicons = {} if lexicons is None else lexicons
    if not hasattr(lexicons, "items"):
        raise TypeError(
            f"lexicons must be a mapping of names to lists, got {describe(lexicons)}"
        )
    lexicons = dict(lexicons.items())
    read = {
        lexicon_of(name): t.text for t in reversed(templates) for name, _, _ in t.atoms
    }
    read.pop(None, None)  # what other functions read
    for name, text in read.items():
        if name not in lexicons:
            text = (
                f"template {text!r} reads the lexicon {name!r}, which is not among "
                "those given: "
            )
            raise ValueError(text + (", ".join(map(repr, lexicons)) or "none"))
    for name in lexicons:
        if name not in read:
            raise ValueError(f"lexicons: no template reads %lex_{name}[...]")
    return {
        name: _checked_entries(entries, f"lexicons[{name!r}]")
        for name, entries in lexicons.items()
    }


def _checked_entries(entries: Any, where: str) -> tuple[Entry, ...]:
    """Return the entries of a lexicon, distinct and sorted."""
    if isinstance(entries, Lexicon):
        entries = entries_of(entries, where)
    elif isinstance(entries, Mapping):
        refuse_several_types(entries.values(), where)
    checked = as_entries(_exact_entries(entries), where)
    return FoldedEntries(checked) if isinstance(entries, FoldedEntries) else checked


def _exact_entries(entries: Any) -> Any:
    """Entries of a lexicon, of which those of a subclass of str are the strings that
    they hold.
    """
    if isinstance(entries, (str, bytes)) or not hasattr(entries, "__iter__"):
        return entries
    items = exact_strings(elements(entries))
    return [
        tuple(exact_strings(item)) if isinstance(item, (tuple, list)) else item
        for item in items
    ]


class FeatureTemplates:
    """A set of feature templates.

    Parameters
    ----------
    templates : iterable of str
        Lines in CRF++ syntax. A bare ``B`` makes the label bigram a feature.
    lexicons : mapping of str to list, optional
        Lists of strings by name; ``%lex_NAME[0,0]`` reads whether a token is part of
        one. An entry is a str or a tuple of tokens. Where tokens are characters (over
        half of the training tokens have length 1) a str stands for its characters, else
        for its words. Matches are found from left to right, the longest first; their
        tokens are marked ``B``, ``I``, ``E`` or ``S`` (a match of one token), others
        ``O``. In the entries of a :class:`skstruct.Lexicon` case, width and normal form
        make no difference.

    Attributes
    ----------
    lines : tuple of str
        The templates as written.
    offsets : tuple of int
        All positions that any template reads, sorted.
    n_columns : int
        Number of columns that the data must have.
    bigram : bool
        Whether the label bigram is a feature.

    Examples
    --------
    >>> templates = FeatureTemplates(
    ...     ["U00:%x[-1,0]", "U01:%x[0,0]", "U02:%x[-1,0]/%x[0,0]", "B"])
    >>> len(templates), templates.offsets
    (4, (-1, 0))
    >>> places = {"place": ["New York", "Rome"]}
    >>> FeatureTemplates(["U00:%lex_place[0,0]", "B"], lexicons=places).lexicons
    {'place': ('New York', 'Rome')}
    """

    def __init__(
        self,
        templates: Iterable[str],
        lexicons: Lexicons = None,
        words: WordClusters | None = None,
    ) -> None:
        if isinstance(templates, str):
            raise TypeError("templates must be a list of template strings, got a str")
        parsed = [
            parse_template(line, f"template {k}") for k, line in enumerate(templates)
        ]
        if not parsed:
            raise ValueError("at least one template is needed")
        bigrams = [
            t for t in parsed if t.edge and not t.atoms
        ]  # a second one adds nothing
        self.templates = tuple(t for t in parsed if t not in bigrams or t is bigrams[0])
        self.bigram: bool = bool(bigrams)
        self.lines: tuple[str, ...] = tuple(t.text for t in self.templates)
        atoms = [atom for t in self.templates for atom in t.atoms]
        self.offsets: tuple[int, ...] = tuple(
            sorted({offset for _, _, offset in atoms})
        )
        self.n_columns: int = 1 + max((column for _, column, _ in atoms), default=0)
        self.lexicons = _checked_lexicons(lexicons, parsed)
        self.words = words

    def in_normal_form(self) -> Self:
        """Return the templates with the entries of lexicons in Unicode's normal form C;
        themselves if all are.
        """
        normal = {
            name: type(entries)(
                normal_form(entry)
                if isinstance(entry, str)
                else tuple(map(normal_form, entry))
                for entry in entries
            )
            for name, entries in self.lexicons.items()
        }
        if normal == self.lexicons:
            return self
        return type(self)(self.lines, normal, self.words)

    @classmethod
    def from_file(cls, path: Path, lexicons: Lexicons = None) -> Self:
        """Read a CRF++ template file; ``#`` starts a comment line.

        ``lexicons`` as of the constructor.
        """
        lines = []
        try:
            with naming(path), open(path, encoding="utf-8-sig") as file:
                written = file.read().split("\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{os.fspath(path)}: not valid UTF-8: {error.reason}"
            ) from None
        for number, line in enumerate(map(str.strip, written), 1):
            if line and not line.startswith("#"):
                parse_template(line, f"{os.fspath(path)}:{number}")
                lines.append(line)
        if not lines:
            raise ValueError(f"{os.fspath(path)}: the file holds no template")
        return cls(lines, lexicons)

    @classmethod
    def preset(cls, name: str) -> Self:
        """Make one of the built-in sets.

        ``skstruct.features.presets.PRESETS`` lists them.
        """
        if name not in PRESETS:
            raise ValueError(
                f"unknown preset {name!r}; choose from {', '.join(sorted(PRESETS))}"
            )
        return cls(PRESETS[name])

    def __len__(self) -> int:
        return len(self.templates)

    def __repr__(self) -> str:
        sizes = {name: len(entries) for name, entries in self.lexicons.items()}
        lexicons = f", lexicons with {sizes!r} entries" if sizes else ""
        words = "" if self.words is None else f", words={self.words!r}"
        return (
            f"FeatureTemplates({[t.text for t in self.templates]!r}{lexicons}{words})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureTemplates) and vars(self) == vars(other)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self.lines), self.lexicons or None, self.words)

    def with_words(self, words: WordClusters) -> Self:
        """Add clusters of words to these templates, and three templates that read them
        unless one does already.
        """
        if self.words not in (None, words):
            raise ValueError("words: the templates have clusters of their own")
        named = any(name == CLUSTER for t in self.templates for name, _, _ in t.atoms)
        more = [] if named else window(0, -1, 1, CLUSTER)
        return type(self)([*self.lines, *more], self.lexicons, words)

    def __hash__(self) -> int:
        return hash(self.lines)

    def compile(self) -> Plan:
        """Compile these templates to a :class:`Plan`."""
        channels: dict[Channel, int] = {}
        offsets = (0, *self.offsets)
        nodes = _compile([t for t in self.templates if not t.edge], channels)
        edges = _compile([t for t in self.templates if t.edge and t.atoms], channels)
        reads = -min(offsets), max(offsets), self.n_columns
        return Plan(tuple(channels), *nodes, *edges, self.bigram, *reads)


def resolve_templates(
    features: Features, first: Any, flat: Sequence[Any]
) -> FeatureTemplates:
    """Make the templates that a ``features`` parameter means.

    Parameters
    ----------
    features : str, path, list of str or FeatureTemplates
        ``"auto"``, the name of a preset, or the path of a template file (a str without
        a folder is no path); or templates.
    first : str or tuple
        The first token.
    flat : list
        All tokens.

    Raises
    ------
    ValueError
        If a str is neither a preset nor a file, or a template is none.
    TypeError
        If ``features`` is anything else.
    """
    if isinstance(features, FeatureTemplates):
        return features
    if isinstance(features, (list, tuple)):
        return FeatureTemplates(features)
    if not isinstance(features, (str, os.PathLike)):
        raise TypeError(f"features={describe(features)} are no templates")
    name = os.fspath(features)
    if name == "auto":
        if isinstance(first, TextToken):
            return FeatureTemplates.preset("text")
        if isinstance(first, tuple):
            return FeatureTemplates(columns_preset(len(first)))
        single = sum(
            1 for token in flat[:10_000] if isinstance(token, str) and len(token) == 1
        )
        return FeatureTemplates.preset(
            "char" if 2 * single > len(flat[:10_000]) else "word"
        )
    if is_template_path(features):
        if os.path.isfile(name):
            return FeatureTemplates.from_file(name)
        raise ValueError(f"features={features!r}: there is no such template file")
    if name in PRESETS:
        return FeatureTemplates.preset(name)
    if "%" in name:
        advice = f"; templates are a list, features=[{name!r}]"
    elif os.path.isfile(name):
        advice = f"; to read the file of this name write features={'./' + name!r}"
    else:
        advice = meant(name, ("auto", *PRESETS))
    known = ", ".join(sorted(PRESETS))
    raise ValueError(
        f"features={name!r} is no preset ({known}) and names no folder, as the path of "
        f"a template file does{advice}"
    )


def is_template_path(
    features: Any,
) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether ``features`` is the path of a file: a path object, or a str that
    names a folder.

    Other strings are names of presets, so that a file in the working folder never
    changes what they mean.
    """
    if isinstance(features, str):
        return bool(os.path.dirname(features)) and not MACRO.search(features)
    return isinstance(features, os.PathLike)


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
_LEXICONS = each(pair(string, value), lambda f, k, item: item[0])


def _folded_names(templates: FeatureTemplates) -> list[str]:
    """Return the names of lexicons that ignore case, width and normal form."""
    lexicons = templates.lexicons.items()
    return [name for name, entries in lexicons if isinstance(entries, FoldedEntries)]


LINES = Table(
    "`$templates` with lexicons or clusters",
    Field("lines", each(string), of=lambda templates: list(templates.lines)),
    Field(
        "lexicons",
        _LEXICONS,
        of=lambda t: [(n, list(e)) for n, e in t.lexicons.items()],
        stem="",
    ),
    Field("words", value, default=None),
    Field("folded", each(string), of=_folded_names, default=()),
)


def _write_templates(templates: FeatureTemplates, *how: Any) -> Any:
    node = LINES.write(templates, *how)
    return node if templates.lexicons or templates.words is not None else node["lines"]


def _read_templates(node: Any, where: str, f: Members) -> FeatureTemplates:
    found = LINES.read(
        node if isinstance(node, dict) else {"lines": node, "lexicons": []}, where, f
    )
    lexicons = dict(found["lexicons"])
    require(len(lexicons) == len(found["lexicons"]), f"{where}: a lexicon occurs twice")
    require(
        lexicons.keys() >= set(found["folded"]),
        f"{where}.folded must be names of lexicons",
    )
    lexicons.update((name, FoldedEntries(lexicons[name])) for name in found["folded"])
    require(
        isinstance(found["words"], WordClusters | None),
        f"{where}.words must be clusters",
    )
    return FeatureTemplates(found["lines"], lexicons, found["words"])


_KIND = Kind("as `$templates`", _write_templates, _read_templates)

templates_kind = savable_value("$templates", FeatureTemplates, _KIND)
