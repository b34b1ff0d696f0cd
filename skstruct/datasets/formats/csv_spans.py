"""A table of a spreadsheet with one span per row, or one text per row.

A row has a text, or the name of its file, and start, end and label of a span. Rows of
one text belong together; a row without a span says that its text has none. A table of
texts alone can be labelled.

Amazon Comprehend counts spans in the lines of a file: with a column ``Line`` each line of
the file is a text.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from ..._data.places import counted
from .contents import FAULTY, NOT_ANNOTATED
from .entry import NO, Look, TextFormat, marked, near, no
from .head import Head
from .span_records import ANNOTATORS, Annotation, Reading, Record
from .tables import Row, Table, opened_table

TEXT = ("text", "sentence", "content", "full_text", "document", "body", "passage")
FILE = ("file", "filename", "file_name", "path", "document_file")
LINE = ("line",)
KEY = ("id", "text_id", "doc_id", "document_id", "record_id")
START = (
    "start",
    "start_offset",
    "begin",
    "start_char",
    "span_start",
    "startchar",
    "begin offset",
)
END = ("end", "end_offset", "stop", "end_char", "span_end", "endchar", "end offset")
LABEL = ("label", "entity", "type", "tag", "entity_type", "label_name", "class")
COVERED = ("span", "span_text", "mention", "value", "surface", "covered_text")


class CsvSpans(TextFormat):
    """The entry of the table."""

    name = "csv-spans"
    description = (
        "a table with one span per row: text or file, start, end, label; or texts alone"
    )
    options = frozenset(("text", "annotator", "label_names"))
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

    def records(self, source: Any, reading: Reading) -> Iterator[Record]:
        """Yield the `Record` of each text, in the order of their first rows."""
        for table in opened_table(source, reading.options.encoding):
            yield from _records(table, reading)


def _columns_of_text(table: Table, wanted: str) -> tuple[int | None, int | None]:
    """The column of texts, or that of files of texts."""
    text = table.where(TEXT) if wanted == "text" else table.named(wanted)
    file = table.where(FILE) if text is None else None
    if text is None and file is None:
        has = ", ".join(table.header)
        raise ValueError(
            f"{table.name}: no column of texts was found: it has {has}; name "
            "one with text="
        )
    return text, file


def _records(table: Table, reading: Reading) -> Iterator[Record]:
    text, file = _columns_of_text(table, reading.options.text)
    spans = [table.where(kind) for kind in (START, END, LABEL)]
    key = table.where(KEY)
    by = text if text is not None else file
    assert by is not None  # one of them is there
    has_spans = None not in spans
    used = {by, key, table.where(COVERED), *spans}
    line = table.where(LINE) if file is not None else None
    if line is not None and has_spans:
        yield from _of_lines(table, by, line, spans, reading)
        return
    who = table.where(ANNOTATORS) if has_spans and not reading.texts_alone else None
    groups = _groups(table, by, key, who, spans if has_spans else [])
    if key is None and text is not None and who is None:
        _warn_of_repeats(table, groups)
    if not has_spans and text is not None and groups:
        reading.remedy = _remedy(table, groups[0][2][0], groups[0][0])
    for number, (name, id, rows) in enumerate(groups):
        place = f"{table.name}, line {rows[0].number}"
        why = NOT_ANNOTATED
        try:
            content = name if text is not None else _of_file(table.name, name, place)
            person = "" if who is None else rows[0].cells[who].strip()
            found = None
            if person and not reading.is_chosen(place, content, person):
                why = "of other annotators"
            elif has_spans and not reading.texts_alone:
                found = _annotations(table, rows, spans, reading)
        except ValueError as error:
            reading.contents.records.seen += 1
            reading.contents.records.leave(FAULTY, place)
            reading.keep_fault(error, number, id, place)
            continue
        beside = _beside(table, rows[0], used)
        more = {} if text is not None else {"name": name}
        of = {} if key is None else {table.header[key].strip(): id}
        yield Record(place, content, found, {**of, **more, **beside}, id=id, why=why)


def _beside(table: Table, row: Row, used: Collection[int | None]) -> dict[str, str]:
    """The cells of the columns that have a name, and are not used."""
    named = (c for c in range(len(table.header)) if table.header[c].strip())
    return {table.header[c].strip(): row.cells[c] for c in named if c not in used}


def _remedy(table: Table, row: Row, text: str) -> str:
    """Say how a table becomes one that is read, whose cells hold lists of spans, or as
    many labels as the text has words.
    """
    for name, cell in zip(table.header, row.cells):
        if cell[:1] == "[" and cell.rstrip()[-1:] == "]":
            return (
                f"the column {name!r} holds lists; make records of the table: import "
                f"ast, pandas; data = pandas.read_csv({table.name!r}, sep=None, engine="
                "'python', keep_default_na=False); data = data.map(lambda x: "
                "ast.literal_eval(x) if str(x)[:1] == '[' else x); "
                f"data.to_json({table.name!r} + '.jsonl', orient='records', lines=True)"
            )
        labels = cell.replace(",", " ").split()
        if len(labels) == len(text.split()) > 1 and cell != text:
            of = next(n for n, each in zip(table.header, row.cells) if each == text)
            return (
                f"the column {name!r} has a label for each word; write both on a line, "
                f"with a tab between: import pandas; data = pandas.read_csv("
                f"{table.name!r}, sep=None, engine='python'); open({table.name!r} + "
                "'.tsv', 'w', -1, 'utf-8').writelines(f'{x}\\t{y}\\n' for x, y in "
                f"zip(data[{of!r}], data[{name!r}].str.replace(',', ' ')))"
            )
    return ""


def _of_lines(
    table: Table, file: int, line: int, spans: Any, reading: Reading
) -> Iterator[Record]:
    """Yield the records of the lines of the files that rows name, numbered from 0."""
    rows_of: dict[str, dict[int, list[Row]]] = {}
    for row in table.rows:
        if any(cell.strip() for cell in row.cells):
            place = f"{table.name}, line {row.number}"
            number = _offset(row.cells[line], "the number of a line", place)
            lines = rows_of.setdefault(row.cells[file], {})
            lines.setdefault(number, []).append(row)
    for name, lines in rows_of.items():
        first = min(rows[0].number for rows in lines.values())
        texts = _of_file(table.name, name, f"{table.name}, line {first}").split("\n")
        texts = texts[: -1 if not texts[-1] else None]
        beyond = next((k for k in sorted(lines) if k >= len(texts)), None)
        if beyond is not None:
            raise ValueError(
                f"{table.name}, line {lines[beyond][0].number}: {name} has "
                f"{len(texts)} lines, numbered from 0, so there is no line {beyond}"
            )
        for k, text in enumerate(texts):
            rows = lines.get(k, [])
            place = (
                f"{table.name}, line {rows[0].number}"
                if rows
                else f"{name}, line {k + 1}"
            )
            alone = reading.texts_alone
            found = None if alone else _annotations(table, rows, spans, reading)
            yield Record(place, text.rstrip("\r"), found, {"name": name, "line": k})


_Group = tuple[str, Any, list[Row]]
"""A text or a file, its id, and its rows."""


def _groups(
    table: Table, by: int, key: int | None, who: int | None, spans: Any
) -> list[_Group]:
    """The rows of each text, in the order of the first of them.

    Rows belong to one text if they are of one person, and have one id, or, without ids,
    one text. Then the
    same text may stand several times: a span that it has already, or that it has none,
    is said of another one.
    """
    groups: dict[Any, _Group] = {}
    met: dict[Any, int] = {}
    for row in table.rows:
        if not any(cell.strip() for cell in row.cells):
            continue
        _refuse_swallowed(table, row, spans)
        name, id = row.cells[by], None if key is None else row.cells[key]
        which = 0
        person = None if who is None else row.cells[who].strip()
        if key is None and spans:
            edges = name, person, *(row.cells[c].strip() for c in spans[:2])
            which = met.get(edges, 0)
            met[edges] = which + 1
            if not any(edges[2:]):  # a text without spans is one of its own
                which = -1 - which
        groups.setdefault((name, id, person, which), (name, id, []))[2].append(row)
    return list(groups.values())


def _warn_of_repeats(table: Table, groups: list[_Group]) -> None:
    """Warn of texts that stand several times where no id tells them apart."""
    names = Counter(name for name, _, _ in groups)
    several = [name for name, n in names.items() if n > 1]
    if several:
        first = next(rows[0].number for name, _, rows in groups if name == several[0])
        n = counted(len(several), "text")
        warnings.warn(
            f"{table.name}: {n} with the same span twice, or with spans and "
            f"without, first in line {first}; these rows are read as several "
            "texts. To join the rows of one text, add a column id"
        )


def _refuse_swallowed(table: Table, row: Row, spans: Any) -> None:
    """Raise if rows of the table stand within a cell, as behind a quotation mark that is
    not closed.
    """
    if not spans or not any("\n" in cell for cell in row.cells):
        return
    for cell in row.cells:
        for line in cell.split("\n")[1:]:
            cells = line.split(table.delimiter)
            if len(cells) >= len(table.header) - 1 and all(
                c < len(cells) and cells[c].strip().isdecimal() for c in spans[:2]
            ):
                raise ValueError(
                    f"{table.name}, line {row.number}: a cell contains what looks like "
                    f"rows, {line!r:.60}, since a quotation mark is not closed; write "
                    "quotation marks within quoted text twice"
                )


def _annotations(
    table: Table, rows: list[Row], spans: Any, reading: Reading
) -> list[Any]:
    """The annotations of the rows of a text, which is counted."""
    reading.n_listed += 1
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


def _offset(text: str, what: str, place: str) -> int:
    try:
        return _whole(text.strip())
    except ValueError:
        raise ValueError(f"{place}: expected {what}, got {text!r}") from None


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
