"""Records of Prodigy's ``db-out``, an object a line.

References
----------
Explosion, "Annotation interfaces", https://prodi.gy/docs/api-interfaces.
"""

from __future__ import annotations

from typing import Any

from .entry import NO, Evidence, TextFormat
from .head import Head
from .span_records import OPEN, Record, from_object

_OF_SPANS = (None, "ner", "ner_manual", "spans", "spans_manual", "blocks")
"""Prodigy's interfaces in which spans are annotated; old records name none."""

_KEYS = frozenset(("_input_hash", "_task_hash", "_view_id", "answer"))
"""Keys of which records of Prodigy have one."""


def from_prodigy(record: Any, place: Any, reading: Any) -> Any:
    """A `Record` of a line of Prodigy's ``db-out``."""
    reading.omits = True
    found = from_object(record, place, reading)
    if reading.texts_alone:
        return found
    reading.n_annotated += (
        record.get("_view_id") in _OF_SPANS
    )  # a text without spans has no list of them
    who = record.get("_annotator_id", record.get("_session_id"))
    source = record.get("_input_hash", found.text)
    if record.get("answer") in OPEN or not reading.is_chosen(place, source, who):
        return found._replace(spans=None)
    return found._replace(sure=True, partial=record.get("_view_id") == "ner")


class Prodigy(TextFormat):
    """The entry of the table."""

    name = "prodigy"
    description = "records of Prodigy, an object a line"
    options = frozenset(("text", "spans", "annotator", "label_names", "rejected"))
    is_written = True

    def recognise(self, head: Head) -> Evidence:
        """Objects have hashes, or an answer."""
        having = sum(not _KEYS.isdisjoint(record) for record in head.objects)
        if having:
            met = ", ".join(sorted(_KEYS.intersection(*head.objects[:1])))
            seen = f"{having} of {len(head.records)} records have {met or 'an answer'}"
            return Evidence(0.7 if met == "answer" else 0.9, seen)
        return NO

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of a line."""
        return from_prodigy(value, place, reading)
