"""Offsets in UTF-16 units, as tools in JavaScript count them, and in characters, as Python does.

A character beyond U+FFFF, such as an emoji, is one character of a str and two units of UTF-16. Behind the
first of these in a text the two ways to count differ.

References
----------
The Unicode Standard, section 3.9, "Unicode Encoding Forms": surrogate pairs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .places import PlaceError, by_sequence
from .spans import Span, as_spans
from .text import as_texts
from .types import Texts


def wide_characters(text):
    """Positions of the characters that are two units of UTF-16, as an ascending int64 array."""
    if text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return np.zeros(0, np.int64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.flatnonzero(codes > 0xFFFF)


def from_utf16(X: Texts, y: Collection[Any]) -> list[list[Span]]:
    """Spans whose offsets count UTF-16 units, with offsets that count characters.

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
        If a span leaves its text, or begins or ends between the two units of a character. The message names
        text and span.

    Examples
    --------
    >>> from skstruct.datasets import from_utf16
    >>> from_utf16(["🚒 in Rome"], [[(6, 10, "LOC")]])
    [[Span(start=5, end=9, label='LOC')]]
    """
    return _converted(X, y, to_characters=True)


def to_utf16(X: Texts, y: Collection[Any]) -> list[list[Span]]:
    """Spans whose offsets count characters, with offsets that count UTF-16 units; see `from_utf16`.

    Examples
    --------
    >>> from skstruct.datasets import to_utf16
    >>> to_utf16(["🚒 in Rome"], [[(5, 9, "LOC")]])
    [[Span(start=6, end=10, label='LOC')]]
    """
    return _converted(X, y, to_characters=False)


def _converted(X, y, to_characters):
    texts = as_texts(X)
    given = as_spans(y, None if to_characters else texts)
    if len(given.first) != len(texts) + 1:
        raise ValueError(f"X has {len(texts)} texts, y has {len(given.first) - 1} lists of spans")
    rows = by_sequence(given.spans, given.first)
    for i, (text, row) in enumerate(zip(texts, rows)):
        wide = wide_characters(text)
        if to_characters:
            _check_units(row, len(text) + wide.shape[0], i)
        if wide.size and row:
            starts, ends, labels = zip(*row)
            edges = np.array([starts, ends], np.int64)
            edges = _to_characters(edges, wide, row, i) if to_characters else edges + wide.searchsorted(edges)
            rows[i] = list(map(Span, *edges.tolist(), labels))
    return rows


def _check_units(row, n, i):
    for k, span in enumerate(row):
        if span.start < 0 or span.end > n:
            raise PlaceError(i, k, f"{tuple(span)!r} leaves the text, which has {n} UTF-16 units", "y")


def _to_characters(edges, wide, row, i):
    """Offsets in characters of those in units; ``edges`` (2, S) and ``wide`` are int64."""
    units = wide + np.arange(wide.shape[0])  # where the wide characters begin
    before = units.searchsorted(edges)
    inside = (before > 0) & (units[before - 1] == edges - 1)
    if inside.any():
        k, side = np.argwhere(inside.T)[0]
        verb = ("begins", "ends")[side]
        raise PlaceError(i, k, f"{tuple(row[k])!r} {verb} between the two UTF-16 units of a character", "y")
    return edges - before
