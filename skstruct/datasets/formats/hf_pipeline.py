"""Texts with what a token-classification pipeline of Hugging Face says of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._data.places import part_of
from .entry import NO, Look, TextFormat, marked
from .head import Head
from .keyed import Keys, keyed_record
from .span_records import Annotation, Record

_TEXT = ("text", "inputs", "input", "sentence")
_LABEL = ("entity_group", "entity")


class HfPipeline(TextFormat):
    """The entry of the table."""

    name = "hf-pipeline"
    description = "texts with entities of a Hugging Face pipeline: entity_group, score"
    options = frozenset(("text", "label_names"))

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
        return marked(f"{part_of(having, n, 'record', 'have')} entities with scores")

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of an object; what labels with prefixes begin and go on is
        one span.
        """
        keys = keys_of(value)
        if keys is None:
            lists = (
                [k for k, v in dict(value).items() if _is_empty(v)]
                if _is(value)
                else []
            )
            text = next((key for key in _TEXT if _is(value) and key in value), "text")
            spans = lists[0] if lists else "entities"
            keys = Keys(text, spans, "start", "end", "entity")
        found = keyed_record(value, place, reading, keys)
        if not found.spans:
            return found
        return found._replace(spans=_joined(found.spans))


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_empty(value: Any) -> bool:
    return isinstance(value, list) and not value


def _joined(spans: list[Annotation]) -> list[Annotation]:
    """Spans whose labels have no prefixes: B-PER and I-PER behind it are one PER."""
    found: list[Annotation] = []
    for span in spans:
        match = re.fullmatch(r"([BI])-(.+)", str(span.label))
        if match is None:
            found.append(span)
            continue
        prefix, label = match.groups()
        if prefix == "I" and found and found[-1].label == label:
            ((start, _),), ((_, end),) = found[-1].parts, span.parts
            found[-1] = found[-1]._replace(parts=((start, end),))
        else:
            found.append(span._replace(label=label))
    return found


def keys_of(record: Any) -> Keys | None:
    """The keys of a record; None if it has no entities of a pipeline."""
    if not isinstance(record, Mapping):
        return None
    text = next((key for key in _TEXT if isinstance(record.get(key), str)), None)
    for key, rows in record.items():
        if not isinstance(rows, list) or not rows or text is None:
            continue
        label = next((k for k in _LABEL if all(_has(row, k) for row in rows)), None)
        if label is not None:
            return Keys(text, key, "start", "end", label)
    return None


def _has(row: Any, label: str) -> bool:
    wanted = {"start", "end", label}
    return (
        isinstance(row, Mapping)
        and wanted <= row.keys()
        and bool({"score", "word"} & row.keys())
    )
