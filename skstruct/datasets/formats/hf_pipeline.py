"""Texts with what a token-classification pipeline of Hugging Face says of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .entry import NO, Look, TextFormat, marked
from .head import Head, part_of_first
from .json_fields import Fields
from .json_records import record_of
from .span_records import Annotation, Reading, Record

_TEXT = ("text", "inputs", "input", "sentence")
_LABEL = ("entity_group", "entity")


class HfPipeline(TextFormat):
    """The entry of the table."""

    name = "hf-pipeline"
    description = "texts with entities of a Hugging Face pipeline: entity_group, score"
    options = frozenset(("text", "spans", "label_names", "labels"))

    def look(self, head: Head) -> Look:
        """Objects have a text, and a list of objects with entity and score."""
        n = len(head.records)
        having = sum(keys_of(record) is not None for record in head.objects)
        empty = sum(
            keys_of(record) is None and any(map(_is_empty, record.values()))
            for record in head.objects
        )
        if not having or 2 * (having + empty) < n:
            return NO
        return marked(
            f"{part_of_first(having, n, 'record', 'have')} entities with scores"
        )

    def has_mark(self, value: Any) -> bool:
        """Tell whether a record has entities of a pipeline."""
        return keys_of(value) is not None

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of an object; what labels with prefixes begin and go on is
        one span, and what has the label O is none.
        """
        fields = keys_of(value)
        if fields is None:
            keys = (
                [k for k, v in dict(value).items() if _is_empty(v)]
                if _is(value)
                else []
            )
            fields = _FIELDS._replace(spans=tuple(keys[:1]) or ("entities",))
        found = record_of(value, place, reading, fields.named(reading.options))
        if not found.spans:
            return found
        indices = [_index(row) for row in value[fields.spans[0]]]
        if len(indices) != len(found.spans):  # some were left out
            indices = [None] * len(found.spans)
        spans = _joined(found.spans, indices, found.text)
        reading.contents.spans.structure += len(found.spans) - len(spans)
        return found._replace(spans=spans)


_FIELDS = Fields(text=_TEXT, start=("start",), end=("end",), label=_LABEL, covered=())


def _index(row: Any) -> Any:
    return row.get("index") if _is(row) else None


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_empty(value: Any) -> bool:
    return isinstance(value, list) and not value


def _joined(spans: list[Annotation], indices: list[Any], text: str) -> list[Annotation]:
    """Spans whose labels have no prefixes: B-PER and I-PER right behind it are one
    PER.
    """
    found: list[Annotation] = []
    last = None  # the index of the token before
    for span, index in zip(spans, indices):
        if span.label == "O":
            last = None
            continue
        match = re.fullmatch(r"([BI])-(.+)", str(span.label))
        prefix, label = ("", span.label) if match is None else match.groups()
        if prefix == "I" and found and found[-1].label == label:
            ((start, behind),), ((begin, end),) = found[-1].parts, span.parts
            if _are_neighbours(last, index, text[behind:begin]):
                found[-1] = found[-1]._replace(parts=((start, end),))
                last = index
                continue
        found.append(span._replace(label=label))
        last = index
    return found


def _are_neighbours(last: Any, index: Any, between: str) -> bool:
    """Tell whether nothing stands between two tokens: by their numbers, if they have
    some.
    """
    if type(last) is int and type(index) is int:
        return index == last + 1
    return not between.strip()


def keys_of(record: Any) -> Fields | None:
    """The keys of a record; None if it has no entities of a pipeline."""
    if not isinstance(record, Mapping):
        return None
    text = next((key for key in _TEXT if isinstance(record.get(key), str)), None)
    for key, rows in record.items():
        if not isinstance(rows, list) or not rows or text is None:
            continue
        label = next((k for k in _LABEL if all(_has(row, k) for row in rows)), None)
        if label is not None:
            return _FIELDS._replace(text=(text,), spans=(key,), label=(label,))
    return None


def _has(row: Any, label: str) -> bool:
    wanted = {"start", "end", label}
    return (
        isinstance(row, Mapping)
        and wanted <= row.keys()
        and bool({"score", "word"} & row.keys())
    )
