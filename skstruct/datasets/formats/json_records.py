"""Records of JSON with a text and its spans, read by a table of where each stands.

Of several paths the first that is there counts. A named format is a row of the table,
`Fields`; options of a reader are another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ..._data.places import describe
from .entry import NO, Look, TextFormat, marked
from .head import Head, part_of_first
from .json_fields import (
    MISSING,
    Fields,
    at,
    elements_at,
    first_at,
    listed,
    lists_of,
    parsed,
)
from .span_records import Annotation, Reading, Record

OPEN = ("reject", "ignore")
"""Answers of Prodigy that leave open what is right."""

_NO_SPANS = frozenset(
    "tokens words sents sentences relations cats meta options accept comments Comments "
    "tags categories html links arcs predictions classes keywords rejected".split()
)
"""Lists of records that hold something else than spans."""


# --------------------------------------------------------------------------------------
# Records
# --------------------------------------------------------------------------------------
def record_of(value: Any, place: str, reading: Reading, fields: Fields) -> Record:
    """Make a `Record` of an object.

    Raises
    ------
    ValueError
        If it has no text, or a span cannot be read.
    """
    text, tokens = text_of(value, place, fields)
    keys = [*fields.text, *([fields.words] if fields.words else [])]
    if reading.texts_alone:
        found = _filled(value, fields)[0]
        return Record(place, text, None, _beside(value, keys, found, fields))
    key, rows, odd = _filled(value, fields)
    metadata = _beside(value, keys, key, fields)
    if rows is None:
        return _without_rows(
            value, Record(place, text, None, metadata), odd, reading, fields
        )
    reading.n_listed += 1
    rows = _as_rows(rows, place)
    if not rows:
        named = reading.options.spans is not None
        why = None if named else other_spans(value)
        if why is not None:
            return Record(place, text, None, metadata, why=why)
        return Record(place, text, [], metadata, n_seen=0)
    _count_others(value, key, rows, place, reading, fields)
    return _with_rows(rows, Record(place, text, [], metadata), tokens, reading, fields)


def _count_others(
    value: Mapping[str, Any],
    key: str,
    rows: Any,
    place: str,
    reading: Reading,
    fields: Fields,
) -> None:
    """Count the spans under further keys, which are left out: the first counts."""
    if len(fields.spans) == 1:
        return
    for other in fields.spans:
        found = value.get(other) if other != key and other in value else None
        if type(found) is list and found and is_span(found[0]) and found != rows:
            reading.contents.spans.seen += len(found)
            why = f"under {other!r} beside those under {key!r}"
            reading.leave_span(why, place, len(found))


def text_of(
    value: Any, place: str, fields: Fields
) -> tuple[str, list[tuple[int, int]] | None]:
    """Return the text of a record, and the (start, end) of its tokens if spans count
    these.
    """
    if not isinstance(value, Mapping):
        key = fields.text[0]
        raise ValueError(
            f"{place}: expected an object with the key {key!r}, got {describe(value)}"
        )
    text = first_at(value, fields.text)
    if fields.words is not None:
        words = parsed(at(value, fields.words, None))
        if not isinstance(words, list) or not all(isinstance(w, str) for w in words):
            raise ValueError(f"{place}: no list of str under {fields.words!r}")
        if text is MISSING:
            text = " ".join(words)
        return text, _edges_of_tokens(text, words, place)
    if text is MISSING:
        names = " or ".join(map(repr, fields.text))
        raise ValueError(
            f"{place}: no text under {names}: found keys {listed(value)}; name "
            f"another key with text={lists_of(value, place.rpartition(', ')[0])}"
        )
    if type(text) is not str and not isinstance(text, str):
        key = next(
            path
            for path in fields.text
            if at(value, path, None) is not None or path in value
        )
        raise ValueError(f"{place}: expected a str under {key!r}, got {describe(text)}")
    return text, None


def _edges_of_tokens(text: str, words: list[str], place: str) -> list[tuple[int, int]]:
    found = []
    end = 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            raise ValueError(
                f"{place}: the token {word!r} does not follow the token before it "
                "in the text"
            )
        end = start + len(word)
        found.append((start, end))
    return found


def _filled(value: Mapping[str, Any], fields: Fields) -> tuple[Any, Any, Any]:
    """The path of the spans and their list; or None, None and (path, value) of what
    stands in its place.
    """
    empty = odd = None
    for path in fields.spans:
        if path in value:
            found = value[path]
        elif "." in path:
            found = at(value, path, MISSING)
            if found is MISSING:
                continue
        else:
            continue
        if path in fields.text:
            continue
        if type(found) is str:
            found = parsed(found)
        if type(found) is list or _are_rows(found):
            if not _is_empty(found):
                return path, found, None
            empty = empty or (path, found)
        elif odd is None or odd[1] is None:
            odd = path, found
    if empty is not None:
        return *empty, odd
    return None, None, odd


def _are_rows(value: Any) -> bool:
    """Tell whether a value is a list of annotations, or a dict of lists, its columns.

    Libraries of datasets can be set to give arrays for lists.
    """
    parts = list(value.values()) if isinstance(value, Mapping) else [value]
    return bool(parts) and all(
        isinstance(part, list | tuple | np.ndarray) for part in parts
    )


def _is_empty(value: Any) -> bool:
    """Tell whether there are no annotations; an empty key hides no later one."""
    if isinstance(value, Mapping):
        return not any(len(part) for part in value.values())
    return not len(value)


def _as_rows(value: Any, place: Any) -> Any:
    """A list of annotations."""
    if type(value) is list:
        return value
    if not isinstance(value, Mapping):
        return value.tolist() if isinstance(value, np.ndarray) else value
    lengths = {name: len(column) for name, column in value.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"{place}: expected columns of the same length, got {describe(lengths)}"
        )
    return [
        dict(zip(value, row))
        for row in zip(*(_as_rows(column, place) for column in value.values()))
    ]


def _beside(
    value: Mapping[str, Any], keys: list[str], spans: str | None, fields: Fields
) -> dict[str, Any]:
    """Return the metadata of a record; a key of spans without a value is none."""
    out = {key.split(".")[0] for key in (*keys, *filter(None, [spans]))}
    return {
        key: each
        for key, each in value.items()
        if key not in out and not (each is None and key in fields.spans)
    }


def _without_rows(
    value: Mapping[str, Any], record: Record, odd: Any, reading: Reading, fields: Fields
) -> Record:
    """The record of a text without a list of spans."""
    given = reading.options.spans
    if odd is not None and odd[1] is None:
        why = None if given is not None else other_spans(value)
        return record._replace(why=why or f"null under {odd[0]!r}")
    if odd is None and given is not None:
        raise ValueError(
            f"{record.place}: no list of spans under {given!r}: found keys "
            f"{listed(value)}"
        )
    if odd is not None:
        kind = "an empty object" if odd[1] == {} else f"a {type(odd[1]).__name__}"
        return record._replace(why=f"{kind} and no list under {odd[0]!r}")
    if (why := other_spans(value, any_list=not fields.omits_empty)) is not None:
        return record._replace(why=why)
    if fields.omits_empty:
        reading.n_listed += 1
    else:
        reading.see_keyless(record.place)
    return record._replace(spans=[], n_seen=0)


def other_spans(value: Mapping[str, Any], any_list: bool = False) -> str | None:
    """Return why a record that yields no span is left out: it has a list of what looks
    like spans, or any list at all; None if it has none.
    """
    for key, found in value.items():
        rows = parsed(found)
        if isinstance(rows, list) and rows and key not in _NO_SPANS:
            if any_list or is_span(rows[0]):
                return f"a list under {key!r} that is not understood"
    return None


_ENDS = ("end", "stop", "length", "to", "last")
_NO_LABELS = frozenset(("text", "content", "value", "id", "_id", "uuid", "source"))


def is_span(row: Any) -> bool:
    """Tell whether something looks like a span: two numbers and a label, or an object
    with a number of its end and something that may be its label.
    """
    if isinstance(row, list | tuple):
        return len(row) == 3 and all(type(x) is int for x in row[:2])
    if not isinstance(row, Mapping):
        return False
    has_label = "label" in row or any(
        isinstance(each, str | list) and key not in _NO_LABELS and not _is_number(each)
        for key, each in row.items()
    )
    inner = (_inner(each) for each in row.values())
    return has_label and any(map(_has_end, (row, *filter(None, inner))))


def _inner(value: Any) -> Mapping[str, Any] | None:
    """An object within a span, which may hold its offsets."""
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, Mapping) else None


def _has_end(row: Mapping[str, Any]) -> bool:
    names = (str(key).lower() for key, each in row.items() if _is_number(each))
    return any(name.endswith(_ENDS) or name.startswith(_ENDS) for name in names)


def _is_number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value.isdecimal())


# --------------------------------------------------------------------------------------
# Spans
# --------------------------------------------------------------------------------------
def _with_rows(
    rows: Any, record: Record, tokens: Any, reading: Reading, fields: Fields
) -> Record:
    """The record with the annotations of a list."""
    place = record.place
    options = reading.options
    users = [r["user"] for r in rows if type(r) is dict and "user" in r]
    chosen = reading.choose(place, users) if users else None
    if users and chosen is None:
        return record._replace(spans=None, why="of other annotators")
    spans = []
    for k, row in enumerate(rows):
        if row is None:
            reading.leave_span("null", place)
        elif users and str(_user(row)) != chosen:
            reading.leave_span("of other annotators", place)
        elif options.rejected == "outside" and _answer(row) == "reject":
            reading.leave_span("rejected", place)
        else:
            found = annotation_of(row, k, place, reading, fields)
            if found is not None:
                spans.append(found)
    if tokens is not None:
        spans = [
            _in_text(span, k, tokens, place, fields, options)
            for k, span in enumerate(spans)
        ]
        record = record._replace(settled=True)
    elif fields.ends == "inclusive" and options.ends == "auto":
        spans = [_with_end_behind(span) for span in spans]
    return record._replace(spans=spans, n_seen=len(rows))


def _user(row: Any) -> Any:
    return row.get("user") if isinstance(row, Mapping) else None


def _answer(row: Any) -> Any:
    return row.get("answer") if isinstance(row, Mapping) else None


def annotation_of(
    row: Any, k: int, place: str, reading: Reading, fields: Fields
) -> Annotation | None:
    """Return the annotation number k of a record; None if it is left out."""
    if type(row) is list and len(row) == 3 and type(row[2]) is str:
        start, end, label = row
        if type(start) is int and type(end) is int:
            return Annotation(((start, end),), label)
    text = None
    if isinstance(row, Mapping):
        start, end, label = _of_object(row, f"{place}, span {k}", reading, fields)
        said = first_at(row, fields.covered)
        text = said if type(said) is str else None
        if row.get("answer") in OPEN:
            label = None
    elif isinstance(row, list | tuple) and len(row) == 3:
        start, end, label = row
        if type(start) is str and type(label) is int:  # the label comes first
            raise _no_span(row, f"{place}, span {k}", fields)
    else:
        raise _no_span(row, f"{place}, span {k}", fields)
    if type(label) is not str:
        try:
            label = label_of(label, f"{place}, span {k}", reading)
        except NoneOfSet:
            reading.leave_span("no label of labels=", place)
            return None
    return Annotation(((_whole(start), _whole(end)),), label, text)


def _of_object(
    row: Mapping[str, Any], place: str, reading: Reading, fields: Fields
) -> tuple[Any, Any, Any]:
    """The start, end and label of a span that is an object."""
    start = first_at(row, fields.start)
    end = first_at(row, fields.end)
    label = first_at(row, fields.label)
    if end is MISSING:
        length = _whole(first_at(row, fields.length))
        begin = 0 if start is MISSING and fields.omits_zero else _whole(start)
        if type(length) is int and type(begin) is int:
            end = begin + length
            end -= (reading.options.ends == "inclusive") or (
                fields.ends == "inclusive" and reading.options.ends == "auto"
            )
    if start is MISSING and fields.omits_zero and end is not MISSING:
        reading.omitted = reading.omitted or (
            f"{place}: nothing under {fields.start[0]!r}: found keys {listed(row)}"
        )
        start = 0
    elif start is not MISSING:
        reading.n_starts += 1
    if start is MISSING or end is MISSING or label is MISSING:
        raise _no_span(row, place, fields)
    return start, end, label


def _no_span(row: Any, place: str, fields: Fields) -> ValueError:
    """The error about what is no span."""
    if not isinstance(row, Mapping):
        found = f"got {describe(row)}"
    else:
        named = {
            paths[0]: paths
            for paths in (fields.start, fields.end, fields.label)
            if len(paths) == 1
        }
        for path, paths in named.items():
            if first_at(row, paths) is MISSING and path != "label":
                return ValueError(
                    f"{place}: nothing under {path!r}: found keys {listed(row)}"
                )
        found = (
            f"found keys {listed(row)}; name other keys with start=, end= and label="
        )
    start, end, label = (paths[0] for paths in (fields.start, fields.end, fields.label))
    also = " (or start_offset)" if len(fields.start) > 1 else ""
    return ValueError(
        f"{place}: expected [start, end, label] or an object with the keys "
        f"{start}{also}, {end} and {label}, {found}"
    )


class NoneOfSet(Exception):
    """A span has no label of those that an option names."""


def label_of(label: Any, place: str, reading: Reading) -> Any:
    """Return the one label of a span, as the user calls it.

    Raises
    ------
    ValueError
        If it has several, and no option chooses one.
    """
    if not isinstance(label, list | tuple):
        return reading.label(label, place)
    wanted = reading.options.labels
    if wanted not in (None, "first"):
        named = [each for each in label if each in wanted]
        if not named:
            raise NoneOfSet
        label = named[:1]
    if len(label) > 1 and wanted != "first":
        two = ", ".join(map(repr, label))
        raise ValueError(
            f"{place}: two labels on one span: {two}; pass labels='first' to "
            f"take the first, or labels={label[0]!r} to take those listed"
        )
    return reading.label(label[0], place) if label else None


def _whole(value: Any) -> Any:
    """A number that is written as a str, or as a float."""
    if type(value) is int:
        return value
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _with_end_behind(annotation: Annotation) -> Annotation:
    """The annotation with the end behind its last character, where it is that one."""
    ((start, end),) = annotation.parts
    behind = end + 1 if isinstance(end, int) else end
    return annotation._replace(parts=((start, behind),))


def _in_text(
    annotation: Annotation,
    k: int,
    tokens: Any,
    place: str,
    fields: Fields,
    options: Any,
) -> Annotation:
    """The annotation with offsets of the text in place of tokens."""
    ((first, last),) = annotation.parts
    ends = options.ends if options.ends != "auto" else fields.ends
    n = len(tokens)
    if type(first) is int and type(last) is int:
        last -= ends == "exclusive"
        if 0 <= first <= last < n:
            return annotation._replace(parts=((tokens[first][0], tokens[last][1]),))
    raise ValueError(
        f"{place}, span {k}: {annotation.parts[0]!r} is no span of {n} "
        f"tokens if ends are {ends}; pass ends='inclusive' or "
        "ends='exclusive'"
    )


# --------------------------------------------------------------------------------------
# Formats
# --------------------------------------------------------------------------------------
NAMED = frozenset("text spans start end length label label_names labels".split())
"""Options of formats that are rows of the table."""


class RecordFormat(TextFormat):
    """A format that is a row of the table.

    Attributes
    ----------
    fields : Fields
    marks : tuple of str
        Paths that a record of the format has, and no other one: a str, and a list or
        null.
    """

    fields: ClassVar[Fields]
    marks: ClassVar[tuple[str, ...]] = ()
    options = NAMED

    def look(self, head: Head) -> Look:
        """Most records have the marks."""
        records = [
            record
            for value in head.records
            for record in _quietly(value, self.fields.records)
            if isinstance(record, Mapping)
        ]
        having = sum(map(self.has_mark, records))
        if not having or 2 * having < len(records):
            return NO
        seen = part_of_first(having, len(records), "record", "have")
        return marked(f"{seen} {' and '.join(self.marks)}")

    @property
    def mark_keys(self) -> frozenset[str]:
        """The first key of each mark, but for the usual ones."""
        keys = {mark.split(".")[0] for mark in self.marks}
        return frozenset(keys - {"text", "spans"})

    def has_mark(self, value: Any) -> bool:
        """Tell whether a record is one that only this format has."""
        if not isinstance(value, Mapping):
            return False
        text, *lists = (at(value, path, MISSING) for path in self.marks)
        return isinstance(text, str) and all(
            each is None or isinstance(each, list) for each in lists
        )

    def elements(self, value: Any, place: str) -> Iterator[tuple[str, Any]]:
        """Yield the records of the one object that holds all."""
        return elements_at(value, self.fields.records, place)

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of an object."""
        return record_of(value, place, reading, self.fields.named(reading.options))


def _quietly(value: Any, path: str | None) -> list[Any]:
    """The records of a value; none if there is no such list."""
    try:
        return [record for _, record in elements_at(value, path, "")]
    except ValueError:
        return []
