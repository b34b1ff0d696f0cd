"""Objects of a text and its spans: the package's own, and doccano's.

References
----------
H. Nakayama and others, "doccano: Text annotation tool for human", 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .entry import NO, Look, TextFormat, fits, marked
from .head import Head, part_of_first
from .json_fields import Fields
from .json_records import NAMED, RecordFormat, is_span
from .spacy_pairs import from_pair
from .span_records import SPAN_KEYS, Reading, Record, annotator_in

_OF_OBJECTS = frozenset(("annotator", "rejected", *NAMED))


class JsonLines(RecordFormat):
    """The entry of the table for a text and its spans under one of several keys."""

    name = "jsonl"
    description = "objects of a text and its spans, one per line, or one list"
    options = frozenset(("records", "words", *_OF_OBJECTS))
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    is_written = True
    special_case_of: ClassVar[tuple[str, ...]] = ()
    fields = Fields()

    def look(self, head: Head) -> Look:
        """Objects have a text, and a list under a usual key."""
        n = len(head.records)
        texts = [r for r in head.objects if isinstance(r.get("text"), str)]
        spans = sum(any(key in record for key in SPAN_KEYS) for record in texts)
        seen = f"{part_of_first(len(texts), n, 'record', 'have')} a text, {spans} of them spans"
        if n:
            return fits(seen)
        if self.has_ending(head):
            return fits(f"the name ends in {head.ending}")
        return fits("it begins as JSON does") if head.is_json else NO

    def has_mark(self, value: Any) -> bool:
        """Return that no record is of this format alone."""
        return False

    def with_options(self, options: Any) -> TextFormat:
        """Return the format itself, or one with the list of records that options
        name.
        """
        return self if options.records is None else _WithRecords(options.records)

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of an object, or of a pair as spaCy has them."""
        if isinstance(value, str) and reading.options.records is None:
            return Record(place, value, None, {}, why="a text alone")
        if isinstance(value, list | tuple):
            return from_pair(value, place, reading)
        found = super().record(value, place, reading)
        person = "" if found.spans is None else annotator_in(value)
        if not person or reading.is_chosen(place, found.text, person):
            return found
        return found._replace(spans=None, why="of other annotators")


class _WithRecords(JsonLines):
    """Objects in a list that an option names; it is no entry of the table."""

    def __init__(self, records: str) -> None:
        self.fields = Fields(records=records)  # type: ignore[misc]


class Doccano(JsonLines):
    """The entry of the table for doccano: spans are under ``label``."""

    name = "doccano"
    description = "records of doccano: a text, and its spans under label or entities"
    options = _OF_OBJECTS
    endings: ClassVar[tuple[str, ...]] = ()
    special_case_of = ("jsonl",)

    def look(self, head: Head) -> Look:
        """Objects have a text and a list of rows under ``label``."""
        n = len(head.records)
        having = sum(map(_is_of_doccano, head.objects))
        if having and 2 * having >= n:
            return marked(
                f"{part_of_first(having, n, 'record', 'have')} a text and label"
            )
        return NO

    def has_mark(self, value: Any) -> bool:
        """Tell whether there is a span under ``label``."""
        if not isinstance(value, Mapping) or not _is_of_doccano(value):
            return False
        return any(map(is_span, value["label"]))


def _is_of_doccano(record: Mapping[str, Any]) -> bool:
    """Tell whether there is a text, and a list of spans as doccano has them."""
    rows = record.get("label")
    return (
        isinstance(record.get("text"), str)
        and isinstance(rows, list)
        and not any(isinstance(row, Mapping) and "labels" in row for row in rows)
    )
