"""Spans of characters: checked, trimmed, and counted in other units.

`data.alignment_report` aligns them with tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from .elements import elements, exact
from .inputs import PlaceError, as_sequences, describe, lengths_of, offsets_of
from .places import by_sequence
from .text import BREAK, as_texts, classes_of, codes_of, joined
from .types import Texts

CONVERTS = ": skstruct.datasets.from_utf16 converts"
"""The advice of errors where offsets could count UTF-16 units."""


class Span(NamedTuple):
    """A labelled part of a text, ``text[start:end]``; it equals the tuple of its three
    parts.

    Attributes
    ----------
    start, end : int
        In code points, as Python counts the characters of a str; ``end`` is exclusive.
    label : str or None
        None: the part is not annotated, and may hold anything.

    Examples
    --------
    >>> from skstruct import Span
    >>> span = Span(0, 3, "PER")
    >>> "Ann Lee"[span.start : span.end], span == (0, 3, "PER")
    ('Ann', True)
    """

    start: int
    end: int
    label: str | None


class PartialSpans(list):
    """The spans of a text in which only some types are annotated; it takes the place of
    their list.

    Elsewhere in that text anything but these types may stand.

    Parameters
    ----------
    spans : iterable of (start, end, label)
    types : collection of str
        What is annotated.

    Attributes
    ----------
    types : frozenset of str

    Examples
    --------
    >>> from skstruct import PartialSpans
    >>> PartialSpans([(0, 3, "PER")], types={"PER"})
    PartialSpans([(0, 3, 'PER')], types=['PER'])
    """

    def __init__(self, spans: Iterable[Any] = (), types: Collection[str] = ()) -> None:
        super().__init__(spans)
        if isinstance(types, str) or not all(
            isinstance(kind, str) and kind for kind in types
        ):
            raise ValueError(
                "types must be a collection of str that are not empty, got "
                f"{describe(types)}"
            )
        self._types = frozenset(map(exact, types))

    @property
    def types(self) -> frozenset[str]:
        """Return what is annotated."""
        return self._types

    def __reduce__(self) -> tuple[Any, ...]:
        return PartialSpans, (list(self), self._types)

    def copy(self) -> PartialSpans:
        """Return a copy with the same types."""
        return PartialSpans(self, self._types)

    def __repr__(self) -> str:
        return f"PartialSpans({list(self)!r}, types={sorted(self._types)!r})"


class Given(NamedTuple):
    """The spans of n texts, checked."""

    spans: list[Span]  # (S,) as they were given
    first: np.ndarray  # (n + 1,) int64: first span of each text
    types: list[
        frozenset[str] | None
    ]  # (n,) what is annotated of each; None: all types

    def places(self, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(S,) start and end of spans in the joined texts, and where their texts begin
        (``offset``) there.
        """
        shift = np.repeat(offset[:-1], np.diff(self.first))
        start, end = (
            np.fromiter((s[k] for s in self.spans), np.int64, len(shift)) + shift
            for k in (0, 1)
        )
        return start, end, shift

    def by_text(self) -> list[list[Span]]:
        """For each text the list of its spans."""
        return self.lists_of(self.spans)

    def lists_of(self, spans: list[Span]) -> list[list[Span]]:
        """Cut spans that stand in place of these into a list for each text."""
        lists = zip(by_sequence(spans, self.first), self.types)
        return [
            some if types is None else PartialSpans(some, types)
            for some, types in lists
        ]


# --------------------------------------------------------------------------------------
# Checks
# --------------------------------------------------------------------------------------
def as_spans(
    y: Any, texts: list[str] | None = None, name: str = "y", in_utf16: bool = False
) -> Given:
    """Return the spans in ``y`` as :class:`Given`.

    Parameters
    ----------
    y : list of lists of (start, end, label)
        Tuples, lists, or dicts with these keys; in any order.
    texts : list of str, optional
        Which the spans have to lie in.
    name : str
        What errors call the argument.
    in_utf16 : bool
        Whether offsets count UTF-16 units.

    Raises
    ------
    ValueError
        If a span is not as described; the message names the place.
    """
    refuse_dicts(y, name)
    types = y
    y = as_sequences(y, name, "span")
    types = [
        each.types if isinstance(each, PartialSpans) else None
        for each in elements(types)
    ]
    if texts is not None and len(y) != len(texts):
        raise ValueError(
            f"X has {len(texts)} texts, {name} has {len(y)} lists of spans"
        )
    spans = []
    for i, (each, text, some) in enumerate(zip(y, texts or repeat(None), types)):
        for k, span in enumerate(each):
            try:
                spans.append(_checked(span, text, some, in_utf16))
            except ValueError as error:
                hint = f"; of one text write {name} = [spans]" if _is_span(each) else ""
                raise PlaceError(i, k, f"{error}{hint}", name) from None
    return Given(spans, offsets_of(lengths_of(y)), types)


def _is_span(value: Any) -> bool:
    """Tell whether what stands for the spans of a text is one of them."""
    return (
        isinstance(value, (tuple, list))
        and len(value) == len(Span._fields)
        and all(isinstance(number, (int, np.integer)) for number in value[:2])
        and isinstance(value[2], str)
    )


def refuse_dicts(y: Any, name: str) -> None:
    """Raise where a dict holds the list of the spans of a text, as examples of spaCy
    have it.
    """
    for i, each in enumerate(y if isinstance(y, (list, tuple)) else [y]):
        key = isinstance(each, Mapping) and next(
            (k for k in ("entities", "spans") if k in each), None
        )
        if key:
            write = (
                f"[each[{key!r}] for each in {name}]"
                if each is not y
                else f"[{name}[{key!r}]]"
            )
            wrong = (
                f"expected a list of spans, got {describe(each)}; write {name} = "
                f"{write}"
            )
            raise PlaceError(i, None, wrong, name)


def _checked(
    span: Any, text: str | None, types: frozenset[str] | None, in_utf16: bool
) -> Span:
    """Return a span as a Span, which lies in the text and has one of the types, if
    these are given.
    """
    by_key = type(span) not in (tuple, list) and isinstance(span, Mapping)
    try:
        start, end, label = map(span.__getitem__, Span._fields) if by_key else span
    except (TypeError, ValueError, KeyError):
        raise ValueError(
            f"expected (start, end, label), got {describe(span)}"
        ) from None
    for number in (start, end):
        if type(number) is not int and not isinstance(number, np.integer):
            raise ValueError(f"start and end must be ints, got {describe(number)}")
    if label is not None and not (isinstance(label, str) and label):
        raise ValueError(
            f"the label must be a str that is not empty, or None, got {describe(label)}"
        )
    found = Span(int(start), int(end), None if label is None else exact(label))
    if found.end < found.start:
        raise ValueError(f"{tuple(found)!r} ends before it begins")
    if text is None and found.start < 0:
        raise ValueError(f"{tuple(found)!r} begins before the text")
    if types is not None and label is not None and label not in types:
        raise ValueError(
            f"{tuple(found)!r} has a type that is not annotated; those are "
            f"{sorted(types)}"
        )
    if text is not None and (found.start < 0 or found.end > len(text)):
        _check_end(found, text, in_utf16)
    return found


def _check_end(span: Span, text: str, in_utf16: bool) -> None:
    """Raise unless a span that leaves a text by the count of its characters is in it by
    that of its units.
    """
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    fits = span.start >= 0 and span.end <= units
    if not (fits and in_utf16):
        n = f"{units} UTF-16 units" if in_utf16 else f"{len(text)} characters"
        hint = f"; in UTF-16 units it has {units}{CONVERTS}" if fits else ""
        raise ValueError(f"{tuple(span)!r} leaves the text, which has {n}{hint}")


def trimmed(
    text: str, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return spans of a text without white space at their ends; a span of white space
    has length 0.

    Parameters
    ----------
    text : str
    start, end : ndarray of shape (S,), int64

    Returns
    -------
    start, end : ndarray of shape (S,), int64
    """
    solid = np.flatnonzero(classes_of(codes_of(text)) > BREAK)
    if not solid.size:
        return start, start
    first = np.searchsorted(solid, start)
    last = np.searchsorted(solid, end) - 1
    some = first <= last
    first, last = np.where(some, (first, last), 0)
    return np.where(some, solid[first], start), np.where(some, solid[last] + 1, start)


def trimmed_spans(texts: list[str], y: Any, name: str = "y") -> list[list[Span]]:
    """Check the spans of texts, and take white space off their ends, text by text."""
    given = as_spans(y, texts, name)
    text, offset = joined(texts)
    start, end, shift = given.places(offset)
    start, end = ((each - shift).tolist() for each in trimmed(text, start, end))
    spans = [Span(a, b, span.label) for a, b, span in zip(start, end, given.spans)]
    return given.lists_of(spans)


def check_annotated(
    texts: list[str], spans: list[list[Span]], weights: Iterable[float], name: str = "y"
) -> None:
    """Raise if nothing in some texts is annotated: spans with the label None hold all
    of them.

    Parameters
    ----------
    texts : list of str
    spans : list of lists of Span
        Those of each text, from :func:`trimmed_spans`.
    weights : iterable of float
        By text; those of weight 0 do not count.
    name : str
        What an error calls the spans.

    Raises
    ------
    ValueError
        If there is nothing to compare predictions with. Texts without spans are
        annotated: they say that there are none.
    """
    blank = False
    for text, found, weight in zip(texts, spans, weights):
        unknown = [span for span in found if span.label is None]
        if weight and (
            len(unknown) < len(found) or not unknown or _has_rest(text, unknown)
        ):
            return
        blank = blank or bool(weight)
    if blank:
        raise ValueError(
            f"there is nothing to score: {name} says that no part of a text is "
            "annotated, by spans "
            f"with the label None around all of it"
        )


def _has_rest(text: str, spans: list[Span]) -> bool:
    """Tell whether a text has more than white space outside of spans."""
    at = 0
    for span in sorted(spans):
        if text[at : span.start].strip():
            return True
        at = max(at, span.end)
    return bool(text[at:].strip())


# --------------------------------------------------------------------------------------
# Offsets in UTF-16 units, as tools in JavaScript count them. A character beyond U+FFFF,
# such as an emoji, is two (The Unicode Standard, section 3.9: surrogate pairs); behind
# the first of a text the counts differ.
# --------------------------------------------------------------------------------------
def wide_characters(text: str) -> np.ndarray:
    """Return positions of the characters that are two units of UTF-16, as an ascending
    int64 array.
    """
    if text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(
        text
    ):
        return np.zeros(0, np.int64)
    return np.flatnonzero(codes_of(text) > 0xFFFF)


def from_utf16(X: Texts, y: Collection[Any]) -> list[list[Span]]:
    """Return spans whose offsets count UTF-16 units, with offsets that count
    characters.

    Parameters
    ----------
    X : list of str
        Texts.
    y : list of lists of (start, end, label)
        The spans of each text, in UTF-16 units, end exclusive.

    Returns
    -------
    list of lists of Span
        In the same order.

    Raises
    ------
    ValueError
        If a span leaves its text, or begins or ends between the two units of a
        character. The message names text and span.

    Examples
    --------
    >>> from skstruct.datasets import from_utf16
    >>> from_utf16(["🚒 in Rome"], [[(6, 10, "LOC")]])
    [[Span(start=5, end=9, label='LOC')]]
    """
    return _converted(X, y, to_characters=True)


def to_utf16(X: Texts, y: Collection[Any]) -> list[list[Span]]:
    """Return spans whose offsets count characters, with offsets that count UTF-16
    units; see `from_utf16`.

    Examples
    --------
    >>> from skstruct.datasets import to_utf16
    >>> to_utf16(["🚒 in Rome"], [[(5, 9, "LOC")]])
    [[Span(start=6, end=10, label='LOC')]]
    """
    return _converted(X, y, to_characters=False)


def _converted(X: Any, y: Any, to_characters: bool) -> list[list[Span]]:
    texts = as_texts(X)
    given = as_spans(y, texts, in_utf16=to_characters)
    rows = by_sequence(given.spans, given.first)
    for i, (text, row) in enumerate(zip(texts, rows)):
        wide = wide_characters(text)
        if wide.size and row:
            starts, ends, labels = zip(*row)
            edges = np.array([starts, ends], np.int64)
            edges = (
                _to_characters(edges, wide, row, i)
                if to_characters
                else edges + wide.searchsorted(edges)
            )
            rows[i] = list(map(Span, *edges.tolist(), labels))
    return rows


def _to_characters(
    edges: np.ndarray, wide: np.ndarray, row: list[Span], i: int
) -> np.ndarray:
    """Convert units to characters; ``edges`` (2, S) and ``wide`` are int64."""
    units = wide + np.arange(wide.shape[0])  # where the wide characters begin
    before = units.searchsorted(edges)
    inside = (before > 0) & (units[before - 1] == edges - 1)
    if inside.any():
        k, side = np.argwhere(inside.T)[0]
        verb = ("begins", "ends")[side]
        raise PlaceError(
            i,
            k,
            f"{tuple(row[k])!r} {verb} between the two UTF-16 units of a character",
            "y",
        )
    return edges - before
