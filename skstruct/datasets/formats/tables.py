"""Tables of a spreadsheet: a header, cells between commas, semicolons or tabs, quoted
where these stand within them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from .text_files import numbered_lines

_MOST = 10_000_000
"""Characters of a cell: a text of a book."""


_MOST_LINES = 1000
"""Lines of a row."""


class Row(NamedTuple):
    """A row of a table."""

    number: int  # of its first line, from 1
    cells: list[str]


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
    file: Any, encoding: str, delimiter: str | None = None, of_lines: bool = False
) -> Any:
    """Yield the one `Table` of a path or open file; blank rows are empty.

    ``of_lines`` says that each row is a line where cells are between tabs: a quotation
    mark that none closes stands for itself.
    """
    with numbered_lines(file, encoding) as (name, lines):
        first = next(((n, line) for n, line in lines if line.strip()), None)
        if first is None:
            return
        between = delimiter or delimiter_of(first[1])
        csv.field_size_limit(max(csv.field_size_limit(), _MOST))
        read = _lines_as_rows if of_lines else _rows
        rows = read(name, first, lines, between)
        header = next(rows).cells
        yield Table(name, between, header, _checked(name, rows, len(header)))


def _rows(name: str, first: Any, lines: Any, delimiter: str) -> Iterator[Row]:
    """The rows, with the numbers of their first lines."""
    at = [first[0]]
    before = [first[0] - 1]

    def fed() -> Iterator[str]:
        yield first[1] + "\n"
        for number, line in lines:
            at[0] = number
            yield line + "\n"

    reader = csv.reader(fed(), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            yield Row(before[0] + 1, cells)
            before[0] = at[0]
    except csv.Error as error:
        raise ValueError(f"{name}, line {before[0] + 1}: {error}") from None


def _lines_as_rows(name: str, first: Any, lines: Any, delimiter: str) -> Iterator[Row]:
    """The rows of a table of which each is a line, if its cells are between tabs: a
    quotation mark that nothing closes stands for itself.
    """
    width = 0
    numbered = chain([first], lines)
    for number, line in numbered:
        cells = line.split(delimiter) if line.strip() else []
        if delimiter == "\t" and len(cells) == (width or len(cells)):
            cells = [_unquoted(cell) for cell in cells]
        elif cells:
            cells = _quoted_cells(f"{name}, line {number}", line, numbered, delimiter)
        width = width or len(cells)
        yield Row(number, cells)


def _quoted_cells(place: str, line: str, rest: Any, delimiter: str) -> list[str]:
    """The cells of a row, which may end in a later line."""
    row = [line]
    while True:
        try:
            (cells,) = csv.reader(row, delimiter=delimiter, strict=True)
            return cells
        except csv.Error as error:
            _, more = next(rest, (0, None))
            if more is None or len(row) > _MOST_LINES or '"' not in line:
                raise ValueError(f"{place}: {error}") from None
            row = [*row[:-1], row[-1] + "\n", more]


def _unquoted(cell: str) -> str:
    """A cell without the quotation marks around it, if there is a pair."""
    inner = cell[1:-1].replace('""', "")
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner
    return cell[1:-1].replace('""', '"') if quoted else cell


def _checked(name: str, rows: Iterator[Row], width: int) -> Iterator[Row]:
    for row in rows:
        if row.cells and len(row.cells) != width:
            raise ValueError(
                f"{name}, line {row.number}: expected {width} cells, as in the header; "
                f"found {len(row.cells)}"
            )
        yield row


def as_line(cells: Iterable[str], delimiter: str) -> str:
    """Return cells as a line, quoted where they need to be."""
    found = []
    for cell in cells:
        if any(c in cell for c in (delimiter, '"', "\n", "\r")):
            cell = '"' + cell.replace('"', '""') + '"'
        found.append(cell)
    return delimiter.join(found) + "\n"
