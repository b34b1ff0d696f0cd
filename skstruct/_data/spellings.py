"""Labels of segments in other spellings than ``B-PER``: ``B_PER``, ``PER-B``, ``b-per``.

A label names a prefix, which says where in a segment a token stands, and a type. Most
corpora write the prefix first and join the two by a hyphen. Others put it last, join
by another mark, or write lower case; and their label for tokens outside of all
segments is ``o``, ``0``, ``-`` or ``_``. One table reads them all, so that segments are
found, constrained and scored whatever the spelling. Labels stay as they are, in models
and in files; only what is rewritten in another scheme is written by a
:class:`Respelling`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

PREFIXES = "B2|B3|[BIESMLU]"
"""Prefixes of all schemes but ``O``, as a regular expression."""

Style: TypeAlias = tuple[Any, ...]
"""Order, mark and case of labels with types, or the label of the outside."""

USUAL: Style = (False, "-", False)
"""That of ``B-PER``."""

_FIRST = re.compile(rf"(?i:({PREFIXES}))([_:./|-])(.+)", re.DOTALL)
_LAST = re.compile(rf"(.+)([_:./|-])(?i:({PREFIXES}))", re.DOTALL)
_OUTSIDE = frozenset(("o", "0", "-", "_"))


class Respelling(NamedTuple):
    """The spelling of segment labels in a corpus, if it is not ``B-PER`` and ``O``.

    Attributes
    ----------
    is_last : bool
        Whether the prefix stands behind the type.
    mark : str
        What joins prefix and type.
    is_lower : bool
        Whether the prefix is a small letter.
    outside : str
        The label of tokens outside of all segments.
    """

    is_last: bool
    mark: str
    is_lower: bool
    outside: str

    def write(self, label: str) -> str:
        """Return a label such as ``B-PER``, ``B`` or ``O`` in this spelling."""
        if label == "O":
            return self.outside
        prefix, hyphen, kind = label.partition("-")
        prefix = prefix.lower() if self.is_lower else prefix
        if not hyphen:
            return prefix
        parts = (kind, prefix) if self.is_last else (prefix, kind)
        return self.mark.join(parts)


def parse_respelled(text: str) -> tuple[str, str] | None:
    """Return (prefix, type) of a label in another spelling than ``B-PER``, or None.

    Examples
    --------
    >>> parse_respelled("B_PER"), parse_respelled("PER-I"), parse_respelled("o")
    (('B', 'PER'), ('I', 'PER'), ('O', ''))
    >>> parse_respelled("NNP") is None
    True
    """
    if text in _OUTSIDE:
        return "O", ""
    if found := _FIRST.fullmatch(text):
        return found[1].upper(), found[3]
    if found := _LAST.fullmatch(text):
        return found[3].upper(), found[1]
    return None


def is_usual(text: str) -> bool:
    """Tell whether a label is a prefix, or a prefix, a hyphen and a type."""
    return text == "O" or re.fullmatch(rf"(?:{PREFIXES})(?:-.*)?", text) is not None


def style_of(text: str) -> Style | None:
    """Return what labels of one corpus have in common: of a label with a type the
    order, the mark and the case, of one for the outside itself; None of a prefix alone,
    and of labels of no segments.

    Examples
    --------
    >>> style_of("B-PER") == style_of("I-LOC"), style_of("B-PER") == style_of("I_LOC")
    (True, False)
    """
    if text == "O" or text in _OUTSIDE:
        return (text,)
    if is_usual(text):
        return USUAL if "-" in text else None
    first = _FIRST.fullmatch(text)
    found = first or _LAST.fullmatch(text)
    if found is None:
        return None
    return first is None, found[2], found[1 if first else 3].islower()


def parts_of(text: str) -> tuple[str, str]:
    """Return (prefix, type) of a label of a segment in any spelling; of other labels
    an empty prefix and the label itself.

    Examples
    --------
    >>> parts_of("B-PER"), parts_of("PER_I"), parts_of("O"), parts_of("NNP")
    (('B', 'PER'), ('I', 'PER'), ('', 'O'), ('', 'NNP'))
    """
    prefix, hyphen, kind = text.partition("-")
    if hyphen and kind and is_usual(text):
        return prefix, kind
    found = None if text in _OUTSIDE else parse_respelled(text)
    return ("", text) if found is None else found


def respelling_of(labels: Iterable[Any]) -> Respelling | None:
    """Return how labels spell segments; None if they do as ``B-PER`` and ``O``, or if
    some are no labels of segments.

    Parameters
    ----------
    labels : iterable of labels
        None among them does not count.

    Examples
    --------
    >>> respelling_of(["PER_B", "-"])
    Respelling(is_last=True, mark='_', is_lower=False, outside='-')
    >>> respelling_of(["B-PER", "O"]) is None
    True
    """
    styles = set()
    for label in dict.fromkeys(labels):
        if label is None:
            continue
        if not isinstance(label, str):
            return None
        style = style_of(label)
        if style is None and not is_usual(label):
            return None
        styles.add(style)
    outside = next((style[0] for style in styles if style and len(style) == 1), "O")
    typed = sorted(style for style in styles if style and len(style) == 3)
    if not typed or (typed[0] == USUAL and outside == "O"):
        return None
    return Respelling(*typed[0], outside)


def spelling_of(y: Iterable[Iterable[Any]]) -> str | None:
    """Return an example of how sequences of labels spell segments, such as ``B_PER``;
    None if they do as usual, or hold no segments.
    """
    found = respelling_of(label for labels in y for label in labels)
    return None if found is None else shown(found)


def shown(respelling: Respelling) -> str:
    """Return an example of a spelling, as messages show it: ``B_PER``."""
    return respelling.write("B-PER")
