"""Records of Prodigy's ``db-out``, one object per line.

References
----------
Explosion, "Annotation interfaces", https://prodi.gy/docs/api-interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from .entry import NO, Look, TextFormat, fits, marked
from .head import Head, part_of_first
from .json_fields import Fields, at, parsed
from .json_records import record_of
from .span_records import SPAN_KEYS, Reading, Record

_OF_SPANS = (None, "ner", "ner_manual", "spans", "spans_manual", "blocks")
"""Prodigy's interfaces in which spans are annotated; old records name none."""

_HASHES = frozenset(("_input_hash", "_task_hash", "_view_id", "_session_id"))
_KEYS = _HASHES | {"answer"}
"""Keys of which records of Prodigy have one."""


_FIELDS = Fields(spans=("spans",), start=("start",), end=("end",), omits_empty=True)

_OTHERS = frozenset(("options", "accept", "label"))
"""Keys of records that ask for something else than spans."""

_ANSWERS = {"reject": "rejected", "ignore": "ignored"}
"""Answers that leave a record out, and what it is counted as."""


def from_prodigy(record: Any, place: str, reading: Reading) -> Record:
    """Make a `Record` of a line of Prodigy's ``db-out``."""
    fields = _FIELDS.named(reading.options)
    if reading.texts_alone or not isinstance(record, Mapping):
        return record_of(record, place, reading, fields)
    view = record.get("_view_id")
    who = record.get("_annotator_id", record.get("_session_id"))
    why = _ANSWERS.get(str(record.get("answer")))
    has_spans = isinstance(record.get(fields.spans[0]), list)
    if view not in _OF_SPANS:
        why = f"of the view {view!r}, which has no spans"
    elif view is None and not has_spans and not _OTHERS.isdisjoint(record):
        why = "of another interface than that of spans"
    if why is None:
        source = record.get("_input_hash", at(record, fields.text[0], None))
        if reading.is_chosen(place, source, who):
            found = record_of(record, place, reading, fields)
            return found._replace(sure=True, partial=view == "ner")
        why = "of other annotators"
    return _text_alone(record, place, reading, fields)._replace(why=why)


def _text_alone(record: Any, place: str, reading: Reading, fields: Fields) -> Record:
    """The `Record` of a line whose annotations do not count."""
    alone = Reading(reading.options, texts_alone=True)
    return record_of(record, place, alone, fields)


class Prodigy(TextFormat):
    """The entry of the table."""

    name = "prodigy"
    description = "records of Prodigy, one per line"
    options = frozenset(
        ("text", "spans", "annotator", "label_names", "labels", "rejected")
    )
    is_written = True
    special_case_of: ClassVar[tuple[str, ...]] = ("jsonl", "label-studio")

    def look(self, head: Head) -> Look:
        """Objects have hashes, or an answer."""
        having = [record for record in head.objects if self.has_mark(record)]
        if not having or are_decisions(head):
            return NO
        met = ", ".join(sorted(_KEYS.intersection(*having[:1])))
        seen = part_of_first(len(having), len(head.records), "record", "have")
        seen = f"{seen} {met or 'an answer'}"
        return fits(seen) if met == "answer" else marked(seen)

    @property
    def mark_keys(self) -> frozenset[str]:
        """Hashes and the answer."""
        return _KEYS

    def has_mark(self, value: Any) -> bool:
        """Tell whether a record has hashes, or an answer beside spans."""
        if not isinstance(value, Mapping):
            return False
        if not _HASHES.isdisjoint(value):
            return True
        is_answer = value.get("answer") in ("accept", *_ANSWERS)
        others = any(isinstance(value.get(key), list) for key in SPAN_KEYS[1:])
        return is_answer and isinstance(value.get("text"), str) and not others

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a line."""
        return from_prodigy(value, place, reading)


_REJECTED = "rejected (rejected='outside' takes them)"


def is_decision(record: Any) -> bool:
    """Tell whether a record asks about one span, which the answer accepts or rejects."""
    if not isinstance(record, Mapping) or "answer" not in record:
        return False
    if record.get("_view_id") is not None:
        return record["_view_id"] == "ner"
    spans = parsed(record.get("spans"))
    return (
        isinstance(spans, list)
        and len(spans) == 1
        and isinstance(spans[0], Mapping)
        and bool({"score", "source"} & spans[0].keys())
    )


def are_decisions(head: Head) -> bool:
    """Tell whether most records are decisions on one span."""
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
        seen = f"{part_of_first(n, len(head.records), 'record', 'have')} a decision on one span"
        return marked(seen) if are_decisions(head) else NO

    def has_mark(self, value: Any) -> bool:
        """Tell whether a record is a decision."""
        return is_decision(value)

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a decision: what is rejected is known not to be it."""
        if not is_decision(value) or reading.texts_alone:
            return super().record(value, place, reading)
        given = {k: v for k, v in value.items() if k != "answer"}
        given["spans"] = [
            {k: v for k, v in span.items() if k != "answer"}
            for span in parsed(value.get("spans")) or ()
        ]
        if value["answer"] not in ("accept", "reject"):
            return from_prodigy(value, place, reading)
        found = from_prodigy(given, place, reading)
        if found.spans is None:
            return found
        rejected = value["answer"] == "reject"
        spans = [each._replace(rejected=rejected) for each in found.spans]
        group = value.get("_input_hash", found.text)
        return found._replace(spans=spans, partial=True, group=str(group))

    def merged(self, records: Iterator[Record], reading: Reading) -> Iterator[Record]:
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
                more = [s for s in record.spans if s not in first.spans]
                reading.contents.records.structure += 1
                reading.contents.spans.structure += len(record.spans) - len(more)
                texts[record.group] = first._replace(spans=[*first.spans, *more])
        for record in texts.values():
            assert record.spans is not None
            accepted = [s.parts for s in record.spans if not s.rejected]
            spans = [
                s for s in record.spans if not (s.rejected and s.parts in accepted)
            ]
            reading.contents.spans.structure += len(record.spans) - len(spans)
            if reading.options.rejected == "unknown":
                n = sum(s.rejected for s in spans)
                if n:
                    reading.leave_span(_REJECTED, record.place, n)
                spans = [s for s in spans if not s.rejected]
            yield record._replace(spans=spans)
