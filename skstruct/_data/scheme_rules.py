"""The table of label schemes, and what it implies.

A scheme says how a chunk of each length is spelled, and everything else follows from
that spelling: which prefixes may open a chunk, follow each other inside it and close
it, hence which transitions a decoder may take and which sequences are well formed. A
label is a prefix, or a prefix and a type joined by the first hyphen (``B-PER``); in the
scheme IO it is the type alone (``PER``). Other spellings (``B_PER``, ``PER-B``) are read as well, by
`skstruct._data.spellings`. Inside this module a label is parsed into the
pair ``(prefix, type)``, with ``""`` for no type; `LabelTable` does that once per
distinct label.

`skstruct._data.schemes` builds its functions on this table.

References
----------
E. F. Tjong Kim Sang and S. Buchholz, "Introduction to the CoNLL-2000 shared task:
chunking", 2000: the evaluation script conlleval, whose reading of malformed sequences
`chunks` follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .elements import exact, spelled
from .labels import NOT_SEVERAL
from .places import PlaceError, numbered, refuse_str
from .spellings import USUAL, Style, parse_respelled, style_of
from .suggestions import meant

OPENING = ("B", "S", "U")
"""Prefixes of labels that open a chunk wherever they stand."""

CLOSING = ("E", "S", "L", "U")
"""Prefixes of labels after which the chunk is over."""


Parsed: TypeAlias = tuple[str, str]
"""A label as its prefix and its type."""

Chunk: TypeAlias = tuple[int, int, str]
"""(start, stop, type)."""


class Spelling(NamedTuple):
    """The spelling of a chunk: `single`, or `opening`, then `middle` as often as
    needed, then `closing`.
    """

    name: str
    single: str
    opening: tuple[str, ...]
    middle: str
    closing: str
    outside: bool = True  # whether O, a token of no chunk, exists
    clash: str = (
        ""  # replaces the first prefix right after a chunk of the same type (IOB1)
    )
    bare: bool = False  # whether labels are types without a prefix (IO)

    def spell(self, length: int) -> list[str]:
        """Return the prefixes of a chunk of `length` tokens."""
        if length == 1:
            return [self.single]
        inner = [*self.opening, *[self.middle] * (length - 1 - len(self.opening))]
        return [*inner[: length - 1], self.closing]

    def label(self, prefix: str, kind: Any) -> str:
        """Return the label of a prefix and a type, which may be empty."""
        if self.bare and kind and not _is_prefixed(kind):
            return spelled(kind)
        return f"{prefix}-{spelled(kind)}" if kind else prefix


def _is_prefixed(kind: str) -> bool:
    """Tell whether IO would not read a type back from a label without prefix: ``O``,
    ``I``, ``B-cell``.
    """
    return kind in ("O", "I") or ("-" in kind and kind.partition("-")[0] in _ANY_PREFIX)


class _Rules(NamedTuple):
    """The rules that a spelling implies for prefixes."""

    first: frozenset[str]  # may open a chunk
    inside: frozenset[tuple[str, str]]  # (previous, next) pairs within a chunk
    last: frozenset[str]  # may close a chunk
    prefixes: tuple[str, ...]  # all there are


def _rules(scheme: Spelling) -> _Rules:
    # No scheme spells a chunk of seven tokens with a pair of prefixes that a shorter
    # one lacks.
    spelled = [scheme.spell(length) for length in range(1, 8)]
    if scheme.clash:
        spelled += [[scheme.clash, *chunk[1:]] for chunk in spelled]
    return _Rules(
        frozenset(chunk[0] for chunk in spelled),
        frozenset(pair for chunk in spelled for pair in pairwise(chunk)),
        frozenset(chunk[-1] for chunk in spelled),
        tuple(dict.fromkeys([*chain.from_iterable(spelled), *["O"] * scheme.outside])),
    )


SPELLINGS = {
    scheme.name: scheme
    for scheme in (
        Spelling("IOB1", "I", ("I",), "I", "I", clash="B"),
        Spelling("BIO", "B", ("B",), "I", "I"),
        Spelling("BIOES", "S", ("B",), "I", "E"),
        Spelling("BILOU", "U", ("B",), "I", "L"),
        Spelling("BMES", "S", ("B",), "M", "E"),
        Spelling("BI", "B", ("B",), "I", "I", outside=False),
        Spelling("B2B3MES", "S", ("B", "B2", "B3"), "M", "E", outside=False),
        Spelling("IO", "I", ("I",), "I", "I", bare=True),
    )
}
_RULES = {name: _rules(scheme) for name, scheme in SPELLINGS.items()}
_ALIASES = {"IOB2": "BIO", "IOBES": "BIOES"}
_ANY_PREFIX = tuple(
    dict.fromkeys(prefix for rules in _RULES.values() for prefix in rules.prefixes)
)

SCHEMES = tuple(SPELLINGS)
"""Names of the schemes; ``"IOB2"`` means ``"BIO"``, ``"IOBES"`` means ``"BIOES"``."""


def check_scheme(scheme: Any) -> str:
    """Return the canonical name of a scheme.

    Parameters
    ----------
    scheme : str
        One of `SCHEMES`, or an alias.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no such scheme.

    Examples
    --------
    >>> check_scheme("IOB2")
    'BIO'
    """
    name = _ALIASES.get(scheme, scheme) if isinstance(scheme, str) else None
    if name not in SPELLINGS:
        allowed = ", ".join(map(repr, [*SCHEMES, *_ALIASES]))
        raise ValueError(
            f"scheme must be one of {allowed}; got {scheme!r}"
            f"{meant(scheme, (*SCHEMES, *_ALIASES))}"
        )
    return name


class LabelTable(dict):
    """Parsed labels, `label -> (prefix, type)`, each parsed once.

    Parameters
    ----------
    scheme : str or None, default=None
        Canonical name of the scheme that labels belong to; None stands for the prefixes
        of all of them.
    strict : bool, default=True
        False accepts the prefixes of all schemes. Labels without prefix are types if
        the scheme is IO.
    remedy : str, default="labels without prefix: scheme IO"
        What the error for a label without prefix advises.
    """

    def __init__(
        self,
        scheme: str | None = None,
        strict: bool = True,
        remedy: str = "labels without prefix: scheme IO",
    ) -> None:
        self.remedy = remedy
        self.scheme = scheme if strict else None
        self.prefixes = (
            _ANY_PREFIX if self.scheme is None else _RULES[self.scheme].prefixes
        )
        self.bare = scheme is not None and SPELLINGS[scheme].bare
        # Of labels with types, and of the one for the outside: ``b-PER`` is a mistake
        # where others are ``B-PER``.
        self._styles: dict[int, tuple[Style, str]] = {}

    def __missing__(self, label: Any) -> Parsed:
        text = exact(label) if isinstance(label, str) else ""
        prefix, hyphen, kind = text.partition("-")
        style: Style | None = None
        if self.bare and prefix and not _is_prefixed(text):
            prefix = "I"
            kind = text
        elif prefix in _ANY_PREFIX:
            style = USUAL if hyphen else ("O",) if prefix == "O" else None
        elif (other := parse_respelled(text)) is not None:
            prefix, kind = other
            style = style_of(text)
        if prefix not in self.prefixes or (prefix == "O" and kind and self.scheme):
            raise ValueError(f"label {label!r} does not belong to {self._expected()}")
        if style is not None and not self.bare:
            known = self._styles.setdefault(len(style), (style, text))
            if known[0] != style:
                raise ValueError(
                    f"label {text!r} is spelled otherwise than {known[1]!r}; write both "
                    "alike"
                )
        parsed = self[label] = ("O", "") if prefix == "O" else (prefix, kind)
        return parsed

    def _expected(self) -> str:
        if self.bare and self.scheme:
            return "the scheme IO; expected O or a type without prefix, such as PER"
        belongs = f"the scheme {self.scheme}" if self.scheme else "any known scheme"
        text = (
            f"{belongs}; expected one of {', '.join(self.prefixes)}, with or without "
            "a type such as B-X"
        )
        return text if self.scheme else f"{text} ({self.remedy})"

    def parse(self, labels: Iterable[Any]) -> list[Parsed]:
        """Parse a sequence; the error for a label that does not belong names its
        position.
        """
        refuse_str("labels", labels, "labels")
        labels = list(labels)
        parsed: list[Parsed] = []
        try:
            parsed.extend(map(self.__getitem__, labels))
        except (ValueError, TypeError) as error:  # TypeError: an unhashable label
            several = isinstance(labels[len(parsed)], (set, frozenset))
            raise PlaceError(
                None, len(parsed), NOT_SEVERAL if several else str(error)
            ) from None
        return parsed


def chunks(parsed: list[Parsed]) -> list[Chunk]:
    """Return chunks of a parsed sequence as conlleval reads them: [(start, stop,
    type)].
    """
    spans = []
    start = -1
    before = "O"
    kind_before = ""
    for t, (prefix, kind) in enumerate(parsed):
        if prefix == "O":
            if start >= 0:
                spans.append((start, t, kind_before))
            start = -1
        elif start < 0:
            start = t
        # conlleval's tables of chunk starts and ends, in one line: within a run without
        # O, a chunk ends and the next starts before B, S and U, after E, S, L and U,
        # and wherever the type changes.
        elif prefix in OPENING or before in CLOSING or kind != kind_before:
            spans.append((start, t, kind_before))
            start = t
        before = prefix
        kind_before = kind
    if start >= 0:
        spans.append((start, len(parsed), kind_before))
    return spans


def same_chunk(previous: Parsed, label: Parsed) -> bool:
    """Tell whether `chunks` reads two parsed labels that follow each other in one
    chunk.
    """
    if previous[0] == "O" or label[0] == "O" or previous[1] != label[1]:
        return False
    return label[0] not in OPENING and previous[0] not in CLOSING


def may_open(name: str, previous: Parsed | None, label: Parsed) -> bool:
    """Tell whether a parsed `label` may open a chunk after `previous` (None: the
    start).
    """
    prefix, kind = label
    if prefix not in _RULES[name].first:
        return False
    if prefix == SPELLINGS[name].clash:
        return previous is not None and previous[0] != "O" and previous[1] == kind
    return True


def may_end(name: str, label: Parsed) -> bool:
    """Tell whether a well-formed sequence may stop after a parsed `label`."""
    return label[0] == "O" or label[0] in _RULES[name].last


def may_follow(name: str, previous: Parsed | None, label: Parsed) -> bool:
    """Tell whether a well-formed sequence may go from `previous` (None: the start) to
    `label`.
    """
    if previous is not None:
        if previous[1] == label[1] and (previous[0], label[0]) in _RULES[name].inside:
            return True
        if not may_end(name, previous):
            return False
    return label[0] == "O" or may_open(name, previous, label)


def table_of_pairs(
    parsed: list[Parsed], holds: Callable[[Parsed, Parsed], bool]
) -> NDArray[np.bool_]:
    """(L, L) bool: whether ``holds(previous, label)``, which looks at types only to see
    if they are equal.
    """
    prefix, prefixes = numbered([prefix for prefix, _ in parsed])
    kind, _ = numbered([kind for _, kind in parsed])
    table = [
        [[holds((p, ""), (q, k)) for q in prefixes] for p in prefixes]
        for k in (" ", "")
    ]
    same = (kind[:, None] == kind).astype(int)
    return np.array(table, np.bool_)[same, prefix[:, None], prefix]


def first_fault(name: str, parsed: list[Parsed]) -> int | None:
    """Return the position of the first label that breaks the scheme; T if the last may
    not be the last; or None.
    """
    for t, (previous, label) in enumerate(zip([None, *parsed], parsed)):
        if not may_follow(name, previous, label):
            return t
    return len(parsed) if parsed and not may_end(name, parsed[-1]) else None


def well_formed(name: str, parsed: list[Parsed], start: int, stop: int) -> bool:
    """Tell whether a chunk found by `chunks` is spelled as the scheme spells chunks."""
    inside = _RULES[name].inside
    return (
        may_open(name, parsed[start - 1] if start else None, parsed[start])
        and all(
            (parsed[t - 1][0], parsed[t][0]) in inside for t in range(start + 1, stop)
        )
        and may_end(name, parsed[stop - 1])
    )


def read_spans(labels: Iterable[Any], table: LabelTable) -> list[Chunk]:
    """Return chunks of a label sequence: all of them, or, if the table names a scheme,
    the well-formed ones.

    Parameters
    ----------
    labels : sequence of str, length T
    table : LabelTable
        Shared by the sequences of a corpus, so that each distinct label is parsed once.

    Returns
    -------
    list of (start, stop, type)
    """
    parsed = table.parse(labels)
    spans = chunks(parsed)
    if table.scheme is None:
        return spans
    return [
        span for span in spans if well_formed(table.scheme, parsed, span[0], span[1])
    ]


def labels_to_spans(
    labels: Collection[str], scheme: str, strict: bool = False
) -> list[tuple[int, int, str]]:
    """Read the chunks off a label sequence.

    The lenient default is conlleval's reading, which finds chunks in any sequence: an I
    after O, or after another type, opens a chunk; so do B and S anywhere; E and S close
    theirs; a chunk that lacks its E still counts. M, B2 and B3 are read as I, U and L
    as S and E, and every prefix is understood whatever the scheme. Labels without
    prefix are types in the scheme IO.

    Parameters
    ----------
    labels : sequence of str, length T
    scheme : str
        One of `SCHEMES`.
    strict : bool, default=False
        Keep only the chunks that are spelled as the scheme spells them.

    Returns
    -------
    list of (start, stop, type)
        In order, with `stop` exclusive; `type` is ``""`` for labels without one.

    Raises
    ------
    ValueError
        If a label has an unknown prefix or, in strict mode, does not belong to the
        scheme.

    Examples
    --------
    >>> labels_to_spans(["B-NP", "I-NP", "O", "I-VP"], "BIO")
    [(0, 2, 'NP'), (3, 4, 'VP')]
    >>> labels_to_spans(["B-NP", "I-NP", "O", "I-VP"], "BIO", strict=True)
    [(0, 2, 'NP')]
    >>> labels_to_spans(["PER", "PER", "O", "LOC"], "IO")
    [(0, 2, 'PER'), (3, 4, 'LOC')]
    """
    return read_spans(labels, LabelTable(check_scheme(scheme), strict))


def are_chunks(labels: Iterable[Any]) -> bool:
    """Tell whether labels are those of a scheme such as BIO, so that their sequences
    are read as segments.

    All of them must be prefixes, with types or without; and either one has a type, or
    the bare prefixes are those of a scheme: of letters alone, such as ``I``, that could
    as well be tags nobody can tell.

    Parameters
    ----------
    labels : iterable of labels
        None among them does not count.

    Returns
    -------
    bool

    Examples
    --------
    >>> are_chunks(["B-NP", "O"]), are_chunks(["I", "O"])
    (True, True)
    >>> are_chunks(["I"]), are_chunks(["NN", "O"])
    (False, False)
    """
    labels = {label for label in labels if label is not None}
    try:
        parsed = LabelTable().parse(labels)
    except ValueError:
        return False
    prefixes = {prefix for prefix, _ in parsed}
    if any(kind for _, kind in parsed) or "B" in prefixes:
        return True
    return (
        prefixes == {"I", "O"}
        or "S" in prefixes
        and not prefixes.isdisjoint({"M", "E"})
    )


def allowed_transitions(
    labels: Collection[str], scheme: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which starts, transitions and ends a scheme permits.

    Parameters
    ----------
    labels : sequence of str, length L
        The labels of a model, in its order.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    start : ndarray of bool, shape (L,)
        Whether a sequence may begin with the label.
    transition : ndarray of bool, shape (L, L)
        Whether label ``[previous]`` may be followed by label ``[next]``.
    end : ndarray of bool, shape (L,)
        Whether a sequence may end with the label.

    Raises
    ------
    ValueError
        If a label does not belong to the scheme.

    Examples
    --------
    >>> start, transition, end = allowed_transitions(["B-X", "I-X", "I-Y", "O"], "BIO")
    >>> start.tolist()
    [True, False, False, True]
    >>> transition[0].tolist()
    [True, True, False, True]
    >>> end.tolist()
    [True, True, True, True]
    """
    name = check_scheme(scheme)
    parsed = LabelTable(name).parse(labels)
    start = np.array([may_follow(name, None, label) for label in parsed], dtype=bool)
    transition = table_of_pairs(parsed, partial(may_follow, name))
    end = np.array([may_end(name, label) for label in parsed], dtype=bool)
    return start, transition, end
