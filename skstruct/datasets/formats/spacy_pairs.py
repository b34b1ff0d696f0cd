"""Examples of spaCy: a list of pairs of a text and its entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._data.places import describe, part_of
from .entry import NO, Look, TextFormat, marked
from .head import Head
from .span_records import Record, check, from_object


def from_pair(pair: Any, place: Any, reading: Any) -> Any:
    """A `Record` of ``[text, {"entities": [[start, end, label]]}]``, as spaCy's
    examples are written.
    """
    expected = '[text, {"entities": [[start, end, label], ...]}]'
    check(pair, (list, tuple), place, expected)
    if (
        len(pair) != 2
        or not isinstance(pair[0], str)
        or not isinstance(pair[1], Mapping)
    ):
        raise ValueError(f"{place}: expected {expected}, got {describe(pair)}")
    return from_object(
        {**pair[1], reading.options.text: pair[0]}, place, reading
    )._replace(sure=True)


class SpacyPairs(TextFormat):
    """The entry of the table."""

    name = "spacy"
    description = 'examples of spaCy: [text, {"entities": [[start, end, label]]}]'
    options = frozenset(("text", "label_names"))
    is_written = True

    def look(self, head: Head) -> Look:
        """The elements are pairs of a text and an object."""
        lists = [isinstance(r, list | tuple) for r in head.records]
        if not lists or not lists[0]:
            return NO
        pairs = sum(
            isinstance(r, list | tuple) and len(r) == 2 and isinstance(r[0], str)
            for r in head.records
        )
        seen = f"{part_of(pairs, len(lists), 'element', 'are')} a text and an object"
        return marked(seen)

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of a pair."""
        return from_pair(value, place, reading)
