"""Tables of a spreadsheet: a header, cells between commas, semicolons or tabs, quoted
where these stand within them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from .contents import Tally
from .text_files import numbered_lines

_MOST_LINES = 1000
"""Lines of a row."""

_SEPARATOR = re.compile(r"sep=(.)\s*")
"""The line of a spreadsheet before the header that names the separator of cells."""


class Row(NamedTuple):
    """A row of a table."""

    number: int  # of its first line, from 1
    cells: list[str]
    n_lines: int = 1


class Table(NamedTuple):
    """A table that is read."""

    name: str
    delimiter: str
    header: list[str]
    rows: Iterator[Row]

    def where(self, names: Iterable[str]) -> int | None:
        """Return the column that has one of some names, in lower case."""
        lower = [cell.strip().lower() for cell in self.header]
        return next((lower.index(name) for name in names if name in lower), None)

    def named(self, column: Any) -> int:
        """Return the number of a column that an option names.

        Raises
        ------
        ValueError
            If there is none.
        """
        if isinstance(column, int) and -len(self.header) <= column < len(self.header):
            return column % len(self.header)
        names = [cell.strip() for cell in self.header]
        if column in names:
            return names.index(column)
        raise ValueError(
            f"{self.name}: there is no column {column!r}; it has {', '.join(names)}"
        )


def delimiter_of(line: str) -> str:
    """Return what stands between the cells of a header."""
    return max(",;\t", key=line.count)


def opened_table(
    file: Any,
    encoding: str,
    delimiter: str | None = None,
    of_lines: bool = False,
    tally: Tally | None = None,
) -> Any:
    """Yield the one `Table` of a path or open file; blank rows are empty.

    ``of_lines`` says that each row is a line where cells are between tabs: a quotation
    mark that none closes stands for itself. Else line ends within cells stay as they
    are. The lines up to the header are counted as structure.
    """
    ends = "\r\n" if of_lines else "\n"
    with numbered_lines(file, encoding, ends=ends, tally=tally) as (name, lines):
        filled = ((n, line) for n, line in lines if line.strip())
        first = next(filled, None)
        if first is None:
            if tally is not None:
                tally.structure = tally.seen  # blank lines
            return
        if (said := _SEPARATOR.fullmatch(first[1])) is not None:
            delimiter = delimiter or said[1]
            first = next(filled, first)
        between = delimiter or delimiter_of(first[1])
        numbered = chain([first], lines)
        rows = (_lines_as_rows if of_lines else _rows)(name, numbered, between)
        top = next(rows)
        if tally is not None:
            tally.structure += top.number + top.n_lines - 1
        checked = _checked(name, rows, len(top.cells))
        if len(top.cells) > 1 and all(cell[:1] == " " for cell in top.cells[1:]):
            checked = map(_without_spaces, checked)
        yield Table(name, between, top.cells, checked)


def table_of_lines(lines: list[str]) -> list[list[str]]:
    """Return the rows of the lines of a table, blank ones left out; none if they are no
    table.
    """
    said = _SEPARATOR.fullmatch(lines[0]) if lines else None
    if said is not None:
        lines = lines[1:]
    if not lines:
        return []
    delimiter = delimiter_of(lines[0]) if said is None else said[1]
    if delimiter not in lines[0]:
        return []
    found = []
    try:
        rows = _lines_as_rows if delimiter == "\t" else _rows
        for row in rows("", iter(enumerate(lines)), delimiter):
            if row.cells:
                found.append(row.cells)
    except ValueError:  # its reader names what is wrong
        return [line.split(delimiter) for line in lines if line.strip()]
    return found


def _rows(name: str, lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    """The rows, with the numbers of their first lines."""
    for number, line in lines:
        cells: list[str] = []
        n_lines = 1
        if '"' in line:
            cells, n_lines = _quoted_cells(
                f"{name}, line {number}", line, lines, delimiter
            )
        elif line.strip("\r"):
            cells = line.rstrip("\r").split(delimiter)
        yield Row(number, cells, n_lines)


def _lines_as_rows(
    name: str, lines: Iterator[tuple[int, str]], delimiter: str
) -> Iterator[Row]:
    """The rows of a table of which each is a line, if its cells are between tabs: a
    quotation mark that nothing closes stands for itself.
    """
    width = 0
    all_quoted = False
    for number, line in lines:
        if line.startswith('{"') and line.rstrip().endswith("}"):
            raise ValueError(
                f"{name}, line {number}: expected a row, got a record of JSON: "
                f"{line!r:.60}"
            )
        cells = line.split(delimiter) if line.strip() else []
        n_lines = 1
        if delimiter == "\t" and len(cells) == (width or len(cells)):
            if not width:
                all_quoted = all(_QUOTED.fullmatch(cell) for cell in cells if cell)
            cells = [_unquoted(cell, all_quoted) for cell in cells]
        elif cells:
            place = f"{name}, line {number}"
            cells, n_lines = _quoted_cells(place, line, lines, delimiter)
        width = width or len(cells)
        yield Row(number, cells, n_lines)


def _quoted_cells(
    place: str, line: str, rest: Any, delimiter: str
) -> tuple[list[str], int]:
    """The cells of a row, which may end in a later line, and how many lines it has."""
    row = [line]
    while True:
        cells = _cells("\n".join(row).removesuffix("\r"), delimiter, place)
        if cells is not None:
            return cells, len(row)
        while True:  # to the next line that may close the cell
            _, more = next(rest, (0, None))
            if more is None or len(row) > _MOST_LINES:
                raise ValueError(
                    f"{place}: unexpected end of data: a quotation mark is not closed"
                )
            row.append(more)
            if '"' in more:
                break


_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')
"""A cell between quotation marks; two of them stand for one."""


def _cells(row: str, delimiter: str, place: str) -> list[str] | None:
    """The cells of a row; None if it ends within quotation marks."""
    found = []
    at = 0
    while True:
        if row.startswith('"', at):
            cell = _QUOTED.match(row, at)
            if cell is None:
                return None
            found.append(cell[1].replace('""', '"'))
            end = cell.end()
            if end < len(row) and row[end] != delimiter:
                raise ValueError(f"{place}: {delimiter!r} expected after '\"'")
        else:
            end = row.find(delimiter, at)
            end = len(row) if end < 0 else end
            found.append(row[at:end])
        if end >= len(row):
            return found
        at = end + 1


def _unquoted(cell: str, all_quoted: bool) -> str:
    """A cell without the quotation marks that a program has put around it: around all
    cells, or around one that has a mark inside, which it doubles. Others are the
    cell's own: ``"hi"``.
    """
    if _QUOTED.fullmatch(cell) and (all_quoted or '""' in cell[1:-1]):
        return cell[1:-1].replace('""', '"')
    return cell


def _checked(name: str, rows: Iterator[Row], width: int) -> Iterator[Row]:
    for row in rows:
        if row.cells and len(row.cells) != width:
            raise ValueError(
                f"{name}, line {row.number}: expected {width} cells, as in the header; "
                f"found {len(row.cells)}"
            )
        yield row


def _without_spaces(row: Row) -> Row:
    """The row without the spaces that stand behind each delimiter, as in the header."""
    cells = (_unquoted(cell.lstrip(" "), True) for cell in row.cells[1:])
    return row._replace(cells=[*row.cells[:1], *cells])


def as_line(cells: Iterable[str], delimiter: str) -> str:
    """Return cells as a line, quoted where they need to be."""
    found = []
    for cell in cells:
        if any(c in cell for c in (delimiter, '"', "\n", "\r")):
            cell = '"' + cell.replace('"', '""') + '"'
        found.append(cell)
    return delimiter.join(found) + "\n"
