"""Examples of spaCy: a list of pairs of a text and its entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._data.places import describe
from .entry import NO, Look, TextFormat, marked
from .head import Head, part_of_first
from .json_fields import Fields
from .json_records import record_of
from .span_records import Reading, Record, check

_FIELDS = Fields(start=("start",), end=("end",))


def from_pair(pair: Any, place: str, reading: Reading) -> Record:
    """Make a `Record` of ``[text, {"entities": [[start, end, label]]}]``, as spaCy's
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
    key = reading.options.text
    fields = _FIELDS.named(reading.options)
    return record_of({**pair[1], key: pair[0]}, place, reading, fields)._replace(
        sure=True
    )


class SpacyPairs(TextFormat):
    """The entry of the table."""

    name = "spacy"
    description = 'examples of spaCy: [text, {"entities": [[start, end, label]]}]'
    options = frozenset(("text", "label_names", "labels"))
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
        seen = (
            f"{part_of_first(pairs, len(lists), 'element', 'are')} a text and an object"
        )
        return marked(seen)

    def has_mark(self, value: Any) -> bool:
        """Tell whether a value is a text and an object with spans."""
        if not isinstance(value, list | tuple) or len(value) != 2:
            return False
        return isinstance(value[0], str) and isinstance(value[1], Mapping)

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a pair."""
        return from_pair(value, place, reading)
