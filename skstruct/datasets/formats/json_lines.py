"""Objects of a text and its spans: the package's own, and doccano's.

References
----------
H. Nakayama and others, "doccano: Text annotation tool for human", 2018.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ..._data.places import part_of
from .entry import NO, Look, TextFormat, fits, marked
from .head import Head
from .keyed import Keys, at, elements_at, keyed_record
from .spacy_pairs import from_pair
from .span_records import SPAN_KEYS, Record, from_object


def _has_text(record: Any) -> bool:
    return isinstance(record.get("text"), str)


def _are_rows(value: Any) -> bool:
    """Whether a value is a list of spans as doccano has them."""
    return isinstance(value, list) and not any(
        isinstance(row, Mapping) and "labels" in row for row in value
    )


class JsonLines(TextFormat):
    """The entry of the table for a text and its spans under one of several keys."""

    name = "jsonl"
    description = "objects of a text and its spans, an object a line or one list"
    options = frozenset(
        (
            "records",
            "text",
            "spans",
            "start",
            "end",
            "label",
            "annotator",
            "label_names",
            "rejected",
        )
    )
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    is_written = True
    special_case_of: ClassVar[tuple[str, ...]] = ()

    def look(self, head: Head) -> Look:
        """Objects have a text, and a list under a usual key."""
        n = len(head.records)
        texts = [record for record in head.objects if _has_text(record)]
        spans = sum(any(key in record for key in SPAN_KEYS) for record in texts)
        seen = (
            f"{part_of(len(texts), n, 'record', 'have')} a text, {spans} of them spans"
        )
        if spans:
            return fits(seen)
        if n:
            return fits(seen)
        if self.has_ending(head):
            return fits(f"the name ends in {head.ending}")
        return fits("it begins as JSON does") if head.is_json else NO

    def with_options(self, options: Any) -> TextFormat:
        """Return the format itself, or one with the keys that options name."""
        named = options.records, options.start, options.end, options.label
        dotted = any("." in key for key in (options.text, options.spans or ""))
        return OwnKeys(options) if any(named) or dotted else self

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of an object, or of a pair as spaCy has them."""
        if isinstance(value, str):
            return Record(place, value, None, {})
        of_pair = isinstance(value, list | tuple)
        return (from_pair if of_pair else from_object)(value, place, reading)


class OwnKeys(TextFormat):
    """Objects with keys that options name; it is no entry of the table."""

    name = "jsonl"

    def __init__(self, options: Any) -> None:
        self._records = options.records
        self._named = options

    def look(self, head: Head) -> Look:
        """Return no evidence: only options say that a file is one of these."""
        return NO

    def elements(self, value: Any, place: str) -> Iterator[tuple[str, Any]]:
        """Yield the records of the list that an option names."""
        return elements_at(value, self._records, place)

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of an object; keys without a name are the usual ones."""
        given = self._named
        spans = given.spans or next(
            (key for key in SPAN_KEYS if isinstance(at(value, key, None), list)),
            SPAN_KEYS[0],
        )
        usual = ("start", "end", "label")
        names = (getattr(given, name) or _usual(value, spans, name) for name in usual)
        return keyed_record(value, place, reading, Keys(given.text, spans, *names))


_ALSO = {
    "start": ("start", "start_offset", "begin"),
    "end": ("end", "end_offset"),
    "label": ("label",),
}


def _usual(value: Any, spans: str, name: str) -> str:
    """The key that the first span has of the usual ones."""
    rows = at(value, spans, None)
    first = rows[0] if isinstance(rows, list) and rows else {}
    return next((key for key in _ALSO[name] if at(first, key, None) is not None), name)


class Doccano(JsonLines):
    """The entry of the table for doccano: spans are under ``label``."""

    name = "doccano"
    description = "records of doccano: a text, and its spans under label or entities"
    options = frozenset(("text", "spans", "annotator", "label_names", "rejected"))
    endings: ClassVar[tuple[str, ...]] = ()
    special_case_of = ("jsonl",)

    def look(self, head: Head) -> Look:
        """Objects have a text and a list of rows under ``label``."""
        n = len(head.records)
        having = sum(_has_text(r) and _are_rows(r.get("label")) for r in head.objects)
        if having and 2 * having >= n:
            return marked(f"{part_of(having, n, 'record', 'have')} a text and label")
        return NO
