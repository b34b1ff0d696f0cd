"""Records of Prodigy's ``db-out``, an object a line.

References
----------
Explosion, "Annotation interfaces", https://prodi.gy/docs/api-interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ..._data.places import part_of
from .entry import NO, Look, TextFormat, fits, marked
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
    special_case_of: ClassVar[tuple[str, ...]] = ("jsonl", "label-studio")

    def look(self, head: Head) -> Look:
        """Objects have hashes, or an answer."""
        having = sum(not _KEYS.isdisjoint(record) for record in head.objects)
        if having and not are_decisions(head):
            met = ", ".join(sorted(_KEYS.intersection(*head.objects[:1])))
            seen = f"{part_of(having, len(head.records), 'record', 'have')} {met or 'an answer'}"
            return fits(seen) if met == "answer" else marked(seen)
        return NO

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of a line."""
        return from_prodigy(value, place, reading)


def is_decision(record: Any) -> bool:
    """Whether a record asks about one span, which the answer accepts or rejects."""
    if not isinstance(record, Mapping) or "answer" not in record:
        return False
    if record.get("_view_id") is not None:
        return record["_view_id"] == "ner"
    spans = record.get("spans")
    return (
        isinstance(spans, list)
        and len(spans) == 1
        and isinstance(spans[0], Mapping)
        and bool({"score", "source"} & spans[0].keys())
    )


def are_decisions(head: Head) -> bool:
    """Whether most records are decisions on one span."""
    return 2 * sum(map(is_decision, head.objects)) > max(1, len(head.records))


class ProdigyDecisions(Prodigy):
    """The entry of the table for binary questions: the records of a text are one."""

    name = "prodigy-decisions"
    description = "decisions of Prodigy's binary ner.teach: one span a record, answer"
    is_written = False
    special_case_of = ("jsonl", "label-studio", "prodigy")

    def look(self, head: Head) -> Look:
        """Most records have an answer, and one span with a score or a source."""
        n = sum(map(is_decision, head.objects))
        seen = (
            f"{part_of(n, len(head.records), 'record', 'have')} a decision on one span"
        )
        return marked(seen) if are_decisions(head) else NO

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of a decision: what is rejected is known not to be it."""
        if not is_decision(value) or reading.texts_alone:
            return super().record(value, place, reading)
        given = {k: v for k, v in value.items() if k != "answer"}
        given["spans"] = [
            {k: v for k, v in span.items() if k != "answer"}
            for span in value.get("spans") or ()
        ]
        found = from_prodigy(given, place, reading)
        if found.spans is None or value["answer"] not in ("accept", "reject"):
            reading.skip(f"answer {value['answer']!r}")
            return found._replace(spans=None)
        rejected = value["answer"] == "reject"
        spans = [each._replace(rejected=rejected) for each in found.spans]
        group = value.get("_input_hash", found.text)
        return found._replace(spans=spans, partial=True, group=str(group))

    def merged(self, records: Iterator[Record], reading: Any) -> Iterator[Record]:
        """Yield the records of each text as one, in the order of the first of them."""
        texts: dict[Any, Record] = {}
        for record in records:
            if record.group is None or record.spans is None:
                yield record
            elif record.group not in texts:
                texts[record.group] = record
            else:
                first = texts[record.group]
                assert first.spans is not None
                spans = [
                    *first.spans,
                    *(s for s in record.spans if s not in first.spans),
                ]
                texts[record.group] = first._replace(spans=spans)
        n = 0
        for record in texts.values():
            assert record.spans is not None
            accepted = {s.parts for s in record.spans if not s.rejected}
            spans = [
                s for s in record.spans if not (s.rejected and s.parts in accepted)
            ]
            if reading.options.rejected == "unknown":
                n += sum(s.rejected for s in spans)
                spans = [s for s in spans if not s.rejected]
            yield record._replace(spans=spans)
        if n:
            reading.skipped["rejected span (rejected='outside' takes them)"] = n
