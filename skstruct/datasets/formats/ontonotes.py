"""Columns of OntoNotes, as in the CoNLL tasks of 2011 and 2012: segments in brackets.

``(PERSON*`` begins a segment, ``*)`` ends it, ``(GPE)`` is one of a token. Lines have
as many columns as their sentence has verbs, so that files are ragged.

References
----------
S. Pradhan and others, "CoNLL-2012 shared task: modeling multilingual unrestricted
coreference in OntoNotes", 2012.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..._data.schemes import labels_to_spans
from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import (
    NO,
    Kept,
    Look,
    Row,
    Rows,
    TokenFormat,
    labels_alone,
    marked,
    near,
    no,
)
from .head import Head, part_of_first
from .text_files import filled_lines, numbered_lines

NUMBER = 2
WORD = 3
NAMES = 10
"""Columns of the word and of names."""

WIDTH = 11
"""Columns that all lines have at least: those up to the names."""

_BEGIN = re.compile(r"#begin document (.*)")

_FIRST = 5
"""Lines among which a document begins."""

_CELL = re.compile(r"(?:\([^()*\s]+)*(?:\*|(?<=[^*(]))\)*")


def is_bracketed(cell: str) -> bool:
    """Tell whether a cell begins, goes on with, or ends segments."""
    return cell[:1] in ("(", "*") and _CELL.fullmatch(cell) is not None


def labels_of(cells: list[str], name: str, numbers: list[int]) -> list[str]:
    """Return the labels of the scheme BIO that a column of brackets says.

    Of segments within segments the outermost count.
    """
    labels = []
    open_: list[str] = []
    for cell, number in zip(cells, numbers):
        if not is_bracketed(cell):
            raise ValueError(
                f"{name}, line {number}: expected (TYPE*, *, *) or (TYPE), got "
                f"{cell!r:.40}"
            )
        found = re.findall(r"\(([^()*\s]+)", cell)
        if open_:
            labels.append(f"I-{open_[0]}")
        else:
            labels.append(f"B-{found[0]}" if found else "O")
        open_ += found
        closed = cell.count(")")
        if closed > len(open_):
            raise ValueError(
                f"{name}, line {number}: {cell} ends a segment, but none is open"
            )
        del open_[len(open_) - closed :]
    if open_:
        raise ValueError(
            f"{name}, line {numbers[-1]}: the sentence ends, but ({open_[-1]} "
            "is not closed"
        )
    return labels


def _label_of(layout: SourceLayout) -> int:
    """The column of the label."""
    return NAMES if layout.label is None else int(layout.labels[0])


class OntoNotes(TokenFormat):
    """The entry of the table."""

    name = "ontonotes"
    description = "columns of OntoNotes and CoNLL-2012, segments as (PERSON* and *)"
    options = frozenset(("tokens", "label"))
    comment_mark = "#"
    is_written = True
    names_fields = True

    def look(self, head: Head) -> Look:
        """Lines have eleven columns and more, with brackets and stars in the last."""
        rows = [line.split() for line in head.lines if not line.startswith("#")]
        if not rows or head.is_json:
            return NO
        begins = any(map(_BEGIN.match, head.lines[:_FIRST]))
        wide = [row for row in rows if len(row) > WIDTH and is_bracketed(row[NAMES])]
        seen = f"{part_of_first(len(wide), len(rows), 'line', 'have')} brackets in column {NAMES}"
        if 10 * len(wide) >= (5 if begins else 9) * len(rows):
            return marked(seen)
        return near(seen) if begins else no(seen)

    def check(self, layout: SourceLayout) -> None:
        """Raise a ValueError if columns are named, as only fields are."""
        for column in (*(layout.tokens or ()), layout.label):
            if isinstance(column, str):
                raise ValueError(
                    f"for input of the format {self.name}, --tokens and --label must be "
                    "numbers of columns"
                )

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with the columns asked for; the label as BIO."""
        tokens = [int(c) for c in layout.tokens or (WORD,)]
        label = _label_of(layout)
        document = None
        width = 0
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            for rows in filled_lines(lines, tally):
                found: list[list[str]] = []
                numbers: list[int] = []
                for number, line in rows:
                    if line.startswith("#"):
                        begun = _BEGIN.match(line)
                        document = begun[1] if begun else document
                        tally.structure += 1
                        continue
                    cells = line.split()
                    if numbers and len(cells) != width:
                        raise ValueError(
                            f"{name}, line {number}: expected {width} columns, as on "
                            f"line {numbers[0]}; found {len(cells)}"
                        )
                    width = len(cells)
                    if width > NUMBER and cells[NUMBER] != str(len(numbers)):
                        raise ValueError(
                            f"{name}, line {number}: expected {len(numbers)}, the number "
                            f"of the word, in column {NUMBER}; found "
                            f"{cells[NUMBER]!r:.40}"
                        )
                    wanted = [*tokens, label] if with_labels else list(tokens)
                    for c in wanted:
                        if not -len(cells) <= c < len(cells):
                            raise ValueError(
                                f"{name}, line {number}: expected a column {c}; found "
                                f"{len(cells)} columns"
                            )
                    found.append([cells[c] for c in wanted])
                    numbers.append(number)
                tally.data += len(numbers)
                if not found:
                    continue
                columns = [list(column) for column in zip(*found)]
                if with_labels and is_bracketed(columns[-1][0]):
                    columns[-1] = labels_of(columns[-1], name, numbers)
                yield Rows(list(zip(*columns)), numbers, document)

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle the columns: those of the word and of names."""
        return replace(
            layout,
            tokens=layout.tokens or (WORD,),
            label=NAMES if layout.label is None else layout.label,
        )

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return lines with nothing but numbers and tokens."""
        columns = [int(c) for c in layout.tokens or (WORD,)]
        label = _label_of(layout)
        lines = []
        for k, token in enumerate(row.x):
            cells = ["-"] * (1 + max(WIDTH, *columns, label))
            cells[NUMBER] = str(k)
            cells[NAMES] = "*"
            if any(str(each).startswith("B-") for each in row.y):
                cells[label] = "*"
            values = token if isinstance(token, tuple) else (token,)
            for c, value in zip(columns, values):
                cells[c] = value
            lines.append((0, " ".join(cells), True))
        return Kept(row.x, row.document, row.weight, lines)

    def document_lines(self, document: str) -> list[str]:
        """Return the line that begins a document."""
        return [f"#begin document {document}\n"]

    def is_structure(self, line: str) -> bool:
        """Tell whether a line begins or ends a document."""
        return line.startswith(("#begin document", "#end document"))

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the lines of a sentence, with labels in their column, as brackets."""
        labels = labels_alone(marks, "columns of OntoNotes have")
        c = _label_of(layout)
        rows = [line.split() for _, line, is_token in lines if is_token]
        if is_bracketed(rows[0][c]):
            labels = brackets_of(labels)
        written = iter(labels)
        yield from header
        for _, line, is_token in lines:
            if is_token:
                row = _CELLS.findall(line)
                row[c] = re.sub(r"\S+", lambda _: next(written), row[c])
                line = "".join(row)
            yield line + "\n"


_CELLS = re.compile(r"\s*\S+\s*?(?=\s*\S|\s*$)")


def brackets_of(labels: list[str]) -> list[str]:
    """Return labels of the scheme BIO as a column of brackets."""
    cells = ["*"] * len(labels)
    for start, stop, kind in labels_to_spans(labels, "BIO"):
        cells[start] = f"({kind}*"
        cells[stop - 1] = f"({kind})" if stop - start == 1 else "*)"
    return cells
