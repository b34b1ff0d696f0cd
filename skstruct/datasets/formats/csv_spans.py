"""A table of a spreadsheet with a span a row, or a text a row.

A row has a text, or the name of its file, and start, end and label of a span. Rows of
one text belong together; a row without a span says that its text has none. A table of
texts alone can be labelled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .contents import FAULTY
from .entry import NO, Look, TextFormat, marked, near, no
from .head import Head
from .span_records import Annotation, Record
from .tables import Row, Table, opened_table

TEXT = ("text", "sentence", "content", "full_text", "document", "body", "passage")
FILE = ("file", "filename", "file_name", "path", "document_file")
KEY = ("id", "text_id", "doc_id", "document_id", "record_id")
START = ("start", "start_offset", "begin", "start_char", "span_start", "startchar")
END = ("end", "end_offset", "stop", "end_char", "span_end", "endchar")
LABEL = ("label", "entity", "type", "tag", "entity_type", "label_name", "class")
COVERED = ("span", "span_text", "mention", "value", "surface", "covered_text")


class CsvSpans(TextFormat):
    """The entry of the table."""

    name = "csv-spans"
    description = (
        "a table with a span a row: text or file, start, end, label; or texts alone"
    )
    options = frozenset(("text", "label_names"))
    is_json = False

    def look(self, head: Head) -> Look:
        """The header names a text, or a file, and start, end and label."""
        if not head.table:
            return NO
        names = {cell.strip().lower() for cell in head.table[0]}
        seen = f"the header has {', '.join(cell.strip() for cell in head.table[0])}"
        has_text = bool(names & {*TEXT, *FILE})
        spans = [bool(names & set(kind)) for kind in (START, END, LABEL)]
        if has_text and all(spans):
            return marked(seen)
        of_table = head.ending in (".csv", ".tsv") or "\t" not in head.lines[0]
        if names & set(TEXT) and not any(spans[:2]) and of_table:
            widths = {len(row) for row in head.table}
            return marked(seen) if len(widths) == 1 else near(seen)
        return no(seen)

    def records(self, source: Any, reading: Any) -> Iterator[Record]:
        """Yield the `Record` of each text, in the order of their first rows."""
        for table in opened_table(source, reading.options.encoding):
            yield from _records(table, reading)


def _records(table: Table, reading: Any) -> Iterator[Record]:
    wanted = reading.options.text
    text = table.where(TEXT) if wanted == "text" else table.named(wanted)
    file = table.where(FILE) if text is None else None
    if text is None and file is None:
        has = ", ".join(table.header)
        raise ValueError(
            f"{table.name}: no column of a text: it has {has}; text= names it"
        )
    spans = [table.where(kind) for kind in (START, END, LABEL)]
    key = table.where(KEY)
    by = text if text is not None else file
    assert by is not None  # one of them is there
    groups: dict[Any, list[Row]] = {}
    for row in table.rows:
        if any(cell.strip() for cell in row.cells):
            name = row.cells[by], None if key is None else row.cells[key]
            groups.setdefault(name, []).append(row)
    has_spans = None not in spans
    used = {by, key, table.where(COVERED), *spans}
    for number, ((name, id), rows) in enumerate(groups.items()):
        place = f"{table.name}, line {rows[0].number}"
        try:
            content = name if text is not None else _of_file(table.name, name, place)
            found = None
            if has_spans and not reading.texts_alone:
                reading.n_listed += 1
                found = _annotations(table, rows, spans, reading)
        except ValueError as error:
            reading.contents.records.seen += 1
            reading.contents.records.leave(FAULTY, place)
            reading.keep_fault(error, number, id, place)
            continue
        named = (c for c in range(len(table.header)) if table.header[c].strip())
        rest = [c for c in named if c not in used]
        beside = {table.header[c].strip(): rows[0].cells[c] for c in rest}
        more = {} if text is not None else {"name": name}
        of = {} if key is None else {table.header[key].strip(): id}
        yield Record(place, content, found, {**of, **more, **beside}, id=id)


def _annotations(table: Table, rows: list[Row], spans: Any, reading: Any) -> list[Any]:
    """The annotations of the rows of a text."""
    covered = table.where(COVERED)
    found = []
    for row in rows:
        start, end, label = (row.cells[c].strip() for c in spans)
        if not start and not end:
            continue
        place = f"{table.name}, line {row.number}"
        try:
            parts = ((_whole(start), _whole(end)),)
        except ValueError:
            raise ValueError(
                f"{place}: expected numbers for start and end, got {start!r} and {end!r}"
            ) from None
        said = row.cells[covered] if covered is not None else None
        name: Any = int(label) if label.isdecimal() else label
        found.append(Annotation(parts, reading.label(name, place), said or None, place))
    return found


def _whole(text: str) -> int:
    """A number; spreadsheets write 3.0 for 3 where cells of the column are empty."""
    return int(text.removesuffix(".0"))


def _of_file(table: str, name: str, place: str) -> str:
    """The text in a file beside the table."""
    path = os.path.join(os.path.dirname(table), name)
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise ValueError(f"{place}: {path}: {error.strerror}") from None
