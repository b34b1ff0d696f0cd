"""Objects of a text and its spans: the package's own, and doccano's.

References
----------
H. Nakayama and others, "doccano: Text annotation tool for human", 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .entry import NO, Evidence, TextFormat
from .head import Head
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
    options = frozenset(("text", "spans", "annotator", "label_names", "rejected"))
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    is_written = True
    is_general = True

    def recognise(self, head: Head) -> Evidence:
        """Objects have a text, and a list under a usual key."""
        n = len(head.records)
        texts = [record for record in head.objects if _has_text(record)]
        spans = sum(any(key in record for key in SPAN_KEYS) for record in texts)
        seen = f"{len(texts)} of {n} records have a text, {spans} of them spans"
        if spans:
            return Evidence(0.8, seen)
        if n:
            return Evidence(0.6 if texts else 0.5, seen)
        if self.has_ending(head):
            return Evidence(0.5, f"the name ends in {head.ending}")
        return Evidence(0.5, "it begins as JSON does") if head.is_json else NO

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of an object, or of a pair as spaCy has them."""
        of_pair = isinstance(value, list | tuple)
        return (from_pair if of_pair else from_object)(value, place, reading)


class Doccano(JsonLines):
    """The entry of the table for doccano: spans are under ``label``."""

    name = "doccano"
    description = "records of doccano: a text, and its spans under label or entities"
    endings: ClassVar[tuple[str, ...]] = ()
    is_general = False

    def recognise(self, head: Head) -> Evidence:
        """Objects have a text and a list of rows under ``label``."""
        n = len(head.records)
        having = sum(_has_text(r) and _are_rows(r.get("label")) for r in head.objects)
        if having and 2 * having >= n:
            return Evidence(0.8, f"{having} of {n} records have a text and label")
        return NO
