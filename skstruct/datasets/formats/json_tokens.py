"""Objects of tokens and labels, as libraries of data sets write them.

Labels are str, or numbers of names. -100 and null say that a token has no label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from numbers import Integral
from typing import Any

from ..._data.source_layout import SourceLayout
from .column_lines import DOCUMENT_KEYS
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, marked, no
from .head import RECORDS, Head, part_of_first
from .span_records import People, annotator_in, document_in
from .token_records import (
    Records,
    TokenRecords,
    as_line,
    counted_records,
    line_number,
)

TOKENS = ("tokens", "words")
LABELS = ("ner_tags", "labels", "tags", "ner", "pos_tags", "upos", "label", "pos")
UNLABELLED = -100
"""The number that stands for no label."""


class JsonTokens(TokenRecords):
    """The entry of the table."""

    name = "json-tokens"
    description = "objects of tokens and ner_tags, labels or tags, one per line"
    options = frozenset(("tokens", "label", "label_names"))

    def look(self, head: Head) -> Look:
        """Objects have a list of str under ``tokens``, and labels as long beside it."""
        records = [r for r in head.objects if r.keys() & set(TOKENS)]
        listed = [r for r in records if _are_words(r.get(_first(r, TOKENS) or ""))]
        if not listed or 2 * len(listed) < len(head.records):
            return NO
        n = len(head.records)
        labelled = sum(_first_label(r) is not None for r in listed)
        if labelled == 0 and any(isinstance(r.get("text"), str) for r in listed):
            return no("tokens stand beside a text")
        seen = f"{part_of_first(len(listed), n, 'record', 'have')} tokens, {labelled} of them labels"
        return marked(seen)

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with the fields asked for."""
        with counted_records(file, layout.encoding, contents) as records:
            yield from self._rows(records, layout, with_labels)

    def _rows(
        self, records: Records, layout: SourceLayout, with_labels: bool
    ) -> Iterator[Rows]:
        names: Any = layout.label_names
        values = iter(records)
        if with_labels and layout.label is None:
            # A record without labels must not choose other ones than the rest.
            first = list(islice(values, RECORDS))
            head = Head.of_records("", [record for _, record in first])
            layout = replace(layout, label=self.with_fields(head, layout).label)
            values = chain(first, values)
        people = People()
        for place, record in values:
            if not isinstance(record, Mapping):
                raise ValueError(f"{place}: expected an object, got {record!r:.60}")
            tokens = list(map(str, layout.tokens or ())) or [
                _first(record, TOKENS) or "tokens"
            ]
            columns = [_column(record, field, place) for field in tokens]
            for field, column in zip(tokens, columns):
                if not _are_words(column):
                    raise ValueError(f"{place}: expected a list of str under {field!r}")
            label = ""
            if with_labels:
                label = str(layout.label or LABELS[0])
                found = _labels(record, label, len(columns[0]), place)
                names = names or record.get("names") or record.get(f"{label}_names")
                columns.append(_named(found, names, place, label))
            lengths = [len(column) for column in columns]
            if len(set(lengths)) > 1:
                raise ValueError(
                    f"{place}: expected lists of one length, got {lengths} under "
                    f"{', '.join(map(repr, (*tokens, label)))}"
                )
            if not columns[0]:
                records.leave_empty(place)
                continue
            number = line_number(place)
            of = document_in(record)
            cells = list(zip(*columns))
            numbers = [number] * len(cells)
            people.see(annotator_in(record))
            yield Rows(cells, numbers, of, place=place, source=record)
        people.tell(records.name)

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle the keys: of tokens, and of labels the first usual one that any record
        has.
        """
        records = head.objects
        tokens, label = layout.tokens, layout.label
        if tokens is None:
            met = {_first(record, TOKENS) for record in records}
            tokens = tuple(key for key in TOKENS if key in met)[:1] or None
        if label is None:
            of = {_first_label(record) for record in records}
            label = next((key for key in LABELS if key in of), None)
        return replace(layout, tokens=tokens, label=label)

    def has_fields(self, head: Head, fields: Collection[Any]) -> bool:
        """Tell whether a record has some keys."""
        return any(record.keys() >= set(fields) for record in head.objects)

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return a record of tokens."""
        fields = layout.tokens or TOKENS[:1]
        several = [token if isinstance(token, tuple) else (token,) for token in row.x]
        source: dict[str, Any] = dict(zip(map(str, fields), map(list, zip(*several))))
        if row.document is not None:
            source = {DOCUMENT_KEYS[0]: row.document, **source}
        return Kept(row.x, row.document, row.weight, [], source)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the record with its labels, as a line."""
        label = layout.label or _first_label(source) or LABELS[0]
        pairs = list(marks)
        record = {**source, label: [cells[0] for cells, _ in pairs]}
        for k in range(len(pairs[0][1]) if pairs else 0):
            name = {"Prob": "proba", "SegmentProb": "segment_proba"}[pairs[0][1][k][0]]
            record[name] = [_number(beside[k][1]) for _, beside in pairs]
        yield as_line(record)


def _number(text: str) -> float | None:
    return None if text == "_" else float(text)


def _first(record: Mapping[str, Any], keys: Any) -> str | None:
    return next((key for key in keys if record.get(key) is not None), None)


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _first_label(record: Mapping[str, Any]) -> str | None:
    """The key of the labels: the first usual one that is as long as the tokens."""
    tokens = _first(record, TOKENS)
    if tokens is None:
        return None
    n = len(record[tokens])
    for key in LABELS:
        value = record.get(key)
        if isinstance(value, list) and len(value) == n and all(map(_is_label, value)):
            return key
    return None


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str | int) or _is_whole(value)


def _is_whole(value: Any) -> bool:
    """Tell whether a float is a whole number: data frames make such of ints with gaps."""
    return isinstance(value, float) and value.is_integer()


def _column(record: Mapping[str, Any], field: str, place: str) -> list[Any]:
    value = record.get(field)
    if not isinstance(value, list):
        keys = ", ".join(map(str, record))
        raise ValueError(
            f"{place}: no list under {field!r}: found keys {keys}; name other "
            "keys with --tokens and --label"
        )
    return value


def _labels(record: Mapping[str, Any], field: str, n: int, place: str) -> list[Any]:
    """The labels of a record; where null stands for them it has none."""
    if field in record and record[field] is None:
        return [None] * n
    return _column(record, field, place)


def _named(labels: list[Any], names: Any, place: str, key: str) -> list[Any]:
    """Labels as they are called; None for those that are none."""
    if {*map(type, labels)} == {str}:
        return list(labels)
    found: list[Any] = []
    for label in (int(each) if _is_whole(each) else each for each in labels):
        if label is None or (isinstance(label, Integral) and label < 0):
            found.append(None)
        elif isinstance(label, str):
            found.append(label)
        elif names is None:
            shown = ", ".join(
                map(
                    str,
                    islice(
                        sorted({int(x) for x in labels if _is_int(x) or _is_whole(x)}),
                        8,
                    ),
                )
            )
            raise ValueError(
                f"{place}: labels under {key!r} are numbers ({shown}); give their "
                "names with label_names= (--label-names FILE)"
            )
        else:
            found.append(_name_of(label, names, place))
    return found


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral)


def _name_of(label: Any, names: Any, place: str) -> str:
    try:
        return str(names[label])
    except (KeyError, IndexError):
        raise ValueError(
            f"{place}: label_names has no name for the label {label}"
        ) from None
