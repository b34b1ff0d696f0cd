"""A table of a spreadsheet with one token per row, and the sentence in a column."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from ..._core.user_warnings import warn
from ..._data.scheme_rules import are_chunks
from ..._data.source_layout import SourceLayout
from .column_lines import DOCUMENT_KEYS, IDS
from .contents import Contents
from .csv_spans import END, START
from .entry import NO, Kept, Look, Row, Rows, TokenFormat, marked, near, no
from .head import Head
from .span_records import ANNOTATORS, People
from .tables import Row as TableRow
from .tables import Table, as_line, opened_table

SENTENCE = (
    "sentence #",
    "sentence",
    "sentence_id",
    "sentence id",
    "sentence_idx",
    "sent_id",
    "sent",
    "sid",
)
WORD = ("word", "words", "token", "tokens", "form", "text")
LABEL = ("tag", "ner", "ner_tag", "ner_tags", "iob", "label", "labels", "tags", "pos")
DOCUMENT = (*DOCUMENT_KEYS, "file", "filename")


_EMPTY_ROW = ' \t,;"'
"""What lines without any cell consist of: spreadsheets write ``,,,``."""


class CsvTokens(TokenFormat):
    """The entry of the table."""

    name = "csv"
    description = "a table with one token per row, and columns that its header names"
    options = frozenset(("tokens", "label", "separator"))
    is_written = True
    names_fields = True
    has_comments = False
    adds_column = True

    def look(self, head: Head) -> Look:
        """The header names a word, a label and a sentence."""
        if not head.table:
            return NO
        names = {cell.strip().lower() for cell in head.table[0]}
        shown = ", ".join(filter(None, map(str.strip, head.table[0])))
        has = {
            "a word": names & set(WORD),
            "a label": names & set(LABEL),
            "a sentence": names & set(SENTENCE),
        }
        missing = [what for what, found in has.items() if not found]
        seen = f"the header has {shown}"
        if names & set(START) and names & set(END):
            return no(f"{seen}, and spans")
        if not missing:
            return marked(seen)
        if missing == ["a label"] and not {"text"} & names:
            return marked(seen)
        blank = any(not line.strip(_EMPTY_ROW) for line in head.raw[:-1])
        if missing == ["a sentence"] and blank and "\t" not in head.lines[0]:
            return marked(f"{seen}, and blank lines end sentences")
        if missing == ["a sentence"]:
            what = "no column sentence_id and no blank line says where sentences end"
            return near(f"{seen}, but {what}")
        options = _columns_of_other_names(head.table)
        what = "which are other names than usual"
        return near(f"{seen}, {what}", options) if options else no(seen)

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with the columns asked for."""
        how = layout.encoding, layout.separator
        for table in opened_table(file, *how, of_lines=True, tally=contents.lines):
            yield from _sentences(table, layout, with_labels, contents)

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle the columns: the first usual ones that the header has."""
        if not head.table:
            return layout
        word, label = (_usual_of(head.table[0], names) for names in (WORD, LABEL))
        tokens = layout.tokens or (None if word is None else (word,))
        return replace(
            layout, tokens=tokens, label=label if layout.label is None else layout.label
        )

    def has_fields(self, head: Head, fields: Collection[Any]) -> bool:
        """Tell whether the header has some names."""
        names = {cell.strip() for row in head.table[:1] for cell in row}
        return all(isinstance(field, int) or field in names for field in fields)

    def said(self, lines: Any, source: Any) -> dict[str, str]:
        """Return the columns in which all rows of a sentence have one value, or only the
        first has one.
        """
        _, _, rows, header = source
        found = {}
        for name, (first, *others) in zip(header, zip(*rows)):
            if name.strip() and first.strip() and set(others) <= {first, ""}:
                found[name.strip()] = first.strip()
        return found

    def written(self, layout: SourceLayout, rows: list[Row]) -> Iterator[str]:
        """Yield the header and the rows of all sentences, which blank lines part."""
        kept = (each.more for each in rows if isinstance(each.more, Kept))
        delimiter, header = next(((k.source[0], k.source[3]) for k in kept), (",", []))
        tokens = list(map(str, layout.tokens or WORD[:1]))
        label = str(LABEL[0] if layout.label is None else layout.label)
        if not header:
            header = [SENTENCE[2], *tokens, label]
            if any(row.document is not None for row in rows):
                header = [DOCUMENT[0], *header]
        table = Table(self.name, delimiter, header, iter(()))
        places = [table.named(each) for each in tokens]
        of_label = table.named(label)
        yield as_line(header, delimiter)
        are_as_read = all(
            isinstance(row.more, Kept) and row.more.still_holds(row) for row in rows
        )
        is_blank = table.where(SENTENCE) is None or not are_as_read
        for k, row in enumerate(rows):
            if isinstance(row.more, Kept) and row.more.still_holds(row):
                cells = [list(each) for each in row.more.source[2]]
            else:
                cells = _new_rows(table, row, places, str(k + 1))
            for line, given in zip(cells, row.y):
                line[of_label] = given
                yield as_line(line, delimiter)
            if is_blank:
                yield "\n"

    def selected(
        self, sentences: list[tuple[list[tuple[int, str, bool]], Any]]
    ) -> Iterator[str]:
        """Yield the header and the rows of some sentences."""
        for k, (_, (delimiter, _, rows, header)) in enumerate(sentences):
            for row in rows if k else [header, *rows]:
                yield as_line(row, delimiter)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the rows with their labels as one more column."""
        delimiter, names, rows, _ = source
        pairs = list(marks)
        if names is not None:
            beside = [name for name, _ in pairs[0][1]] if pairs else []
            yield as_line([*names, "Predicted", *beside], delimiter)
        for row, (cells, more) in zip(rows, pairs):
            added = [*cells, *(value for _, value in more)]
            yield as_line([*row, *added], delimiter)


def _columns_of_other_names(table: list[list[str]]) -> str:
    """Return the options for a table whose header calls words and labels in another
    way; nothing without a column that marks segments, and one of words.
    """
    header, *rows = table
    names = [name.strip() for name in header]
    if len(rows) < 2 or not all(names) or len(set(names)) < len(names):
        return ""
    columns = list(zip(*(row for row in rows if len(row) == len(names))))
    labels = [
        c
        for c, column in enumerate(columns)
        if are_chunks(set(column) - {""}) and len(set(column) - {"", "O"}) > 0
    ]
    words = [
        c
        for c, column in enumerate(columns)
        if c not in labels and sum(map(str.isalpha, column)) * 2 > len(column)
    ]
    if not labels or not words:
        return ""
    word = max(words, key=lambda c: len(set(columns[c])))
    fields = [
        str(c) if "," in names[c] or names[c].lstrip("-").isdecimal() else names[c]
        for c in (word, labels[-1])
    ]  # options take a comma or a number for something else than a name
    return f"--tokens {shlex.quote(fields[0])} --label {shlex.quote(fields[1])}"


def _new_rows(
    table: Table, row: Row, places: list[int], number: str
) -> list[list[str]]:
    """The rows of a sentence that a table does not have, without labels."""
    found = []
    for token in row.x:
        cells = [""] * len(table.header)
        for names, value in ((SENTENCE, number), (DOCUMENT, row.document or "")):
            if (c := table.where(names)) is not None:
                cells[c] = value
        values = token if isinstance(token, tuple) else (token,)
        for c, value in zip(places, values):
            cells[c] = value
        found.append(cells)
    return found


def _sentences(
    table: Table, layout: SourceLayout, with_labels: bool, contents: Contents
) -> Iterator[Rows]:
    tokens = layout.tokens or (_usual(table, WORD, "a word", "--tokens"),)
    places = [table.named(each) for each in tokens]
    if with_labels:
        label = layout.label
        label = _usual(table, LABEL, "a label", "--label") if label is None else label
        places.append(table.named(label))
        if places[-1] in places[:-1]:
            raise ValueError(
                f"{table.name}: the column {label!r} is named for labels and for "
                "tokens; name another one for either"
            )
    sentence = table.where(SENTENCE)
    document = table.where(DOCUMENT)
    names: list[str] | None = table.header
    apart = _Apart(table, [] if sentence is None else [*places, sentence, document])
    people = People()
    who = table.where(ANNOTATORS)
    n_sentences = 0
    whole: list[TableRow] = []
    for rows in _grouped(table, sentence, document, contents):
        n_sentences += 1
        cells = [tuple([row.cells[c] for c in places]) for row in rows]
        for row, values in zip(rows, cells):
            if not values[0]:
                raise ValueError(
                    f"{table.name}, line {row.number}: the column "
                    f"{table.header[places[0]]!r} is empty; each row needs a token"
                )
            if any("\n" in value for value in values):
                raise ValueError(
                    f"{table.name}, line {row.number}: a quotation mark begins a cell "
                    "that ends in a later line; write a cell that is a quotation mark "
                    'as """"'
                )
            if with_labels and not values[-1].strip():
                raise ValueError(
                    f"{table.name}, line {row.number}: the column "
                    f"{table.header[places[-1]]!r} is empty: write O for a token "
                    "outside of all segments"
                )
        apart.see(rows)
        people.see("" if who is None else rows[0].cells[who].strip())
        of = None if document is None else rows[0].cells[document] or None
        of_rows = [row.cells for row in rows]
        source = table.delimiter, names, of_rows, table.header
        numbers = [row.number for row in rows]
        contents.lines.data += sum([row.n_lines for row in rows])
        whole = rows if sentence is None and n_sentences == 1 else []
        yield Rows(cells, numbers, of, source=source)
        names = None
    people.tell(table.name)
    if whole:
        _warn_of_one(table, whole, places)


class _Apart:
    """Warns of a sentence in which another column names something else from some row on:
    numbers of sentences begin anew, as for each patient, and several are read as one.
    """

    def __init__(self, table: Table, used: list[int | None]) -> None:
        self._table = table
        self._columns = [
            c
            for c, name in enumerate(table.header)
            if used and c not in used and _NAMES.search(name.strip())
        ]

    def see(self, rows: list[TableRow]) -> None:
        """Look at the rows of a sentence, and warn once."""
        for c in self._columns:
            values = [row.cells[c].strip() for row in rows]
            if not _in_stretches(values):
                continue
            k = next(k for k, value in enumerate(values) if value != values[0])
            self._columns = []
            warn(
                f"{self._table.name}, line {rows[k].number}: {self._table.header[c]!r} "
                f"changes from {values[0]!r:.40} to {values[k]!r:.40} within a sentence, "
                "which goes on; if it begins another document, rename the column to "
                "doc_id"
            )
            return


_NAMES = re.compile(
    r"^(?!.*(?:tok|word|entit|span|annot|ment|coref|cluster))"
    rf".*(?:(?:^|[^a-z])(?:{IDS})|Id|ID)$|"
    r"patient|article|note|report|case|book|chapter|speaker|author|topic",
    re.I,
)
"""Names of columns whose values name something larger than a word."""


def _warn_of_one(table: Table, rows: list[TableRow], used: list[int]) -> None:
    """Warn of a table that is one sentence where nothing says that sentences end.

    ``used`` are the columns of tokens and labels. Another one whose values come in
    stretches, and do not come back, looks like that of sentences.
    """
    looks = [
        table.header[c].strip()
        for c in range(len(table.header))
        if c not in used and _in_stretches([row.cells[c].strip() for row in rows])
    ]
    if not looks and len(rows) < _LONG:
        return
    which = f"; {looks[0]!r} looks like such a column" if looks else ""
    warn(
        f"{table.name}: all {len(rows):,} rows are read as one sentence, "
        "since no column is called sentence_id or the like, and no blank "
        f"line ends a sentence{which}; rename the column that numbers "
        "sentences"
    )


def _in_stretches(values: list[str]) -> bool:
    """Tell whether values come several times in a row, and do not come back."""
    stretches = [value for value, _ in groupby(values)]
    return 1 < len(stretches) < len(values) and len(set(stretches)) == len(stretches)


_LONG = 100
"""A single sentence of so many rows is warned of."""


def _usual_of(header: list[str], names: Any) -> str | None:
    """The first of some usual names that a header has, as it is spelled there."""
    spelled = {cell.strip().lower(): cell.strip() for cell in reversed(header)}
    return next((spelled[name] for name in names if name in spelled), None)


def _usual(table: Table, names: Any, what: str, option: str) -> str:
    found = _usual_of(table.header, names)
    if found is None:
        has = ", ".join(table.header)
        raise ValueError(
            f"{table.name}: no column of {what} was found: it has {has}; name "
            f"one with {option}"
        )
    return found


def _grouped(
    table: Table, sentence: int | None, document: int | None, contents: Contents
) -> Iterator[list[TableRow]]:
    """The rows of each sentence: its column is filled in where one begins, or in each
    of its rows; a blank line ends one, too, and so does a document, for numbers of
    sentences may begin anew in the next one.
    """
    rows: list[Any] = []
    current: list[str] = ["", ""]
    begun: dict[tuple[str, ...], int] = {}  # the lines where sentences begin
    warned = False
    for row in table.rows:
        blank = not any(cell.strip() for cell in row.cells)
        names = [
            "" if blank or c is None else row.cells[c].strip()
            for c in (sentence, document)
        ]
        if rows and (blank or any(a and a != b for a, b in zip(names, current))):
            yield rows
            rows = []
        current = [a or b for a, b in zip(names, current)]
        if not rows and names[0]:
            first = begun.setdefault(tuple(current), row.number)
            if first != row.number and not warned:
                warned = True
                _warn_of_return(table, names[0], first, row.number)
        if blank:
            contents.lines.structure += row.n_lines
        else:
            rows.append(row)
    if rows:
        yield rows


def _warn_of_return(table: Table, sentence: str, first: int, again: int) -> None:
    """Warn of a sentence that begins twice: rows may have been sorted by something else,
    or numbers begin anew in a document that no column names.
    """
    warn(
        f"{table.name}, line {again}: sentence {sentence} begins again, after line "
        f"{first}, and is read as another sentence; if rows of one sentence are apart, "
        "sort the table; if numbers begin anew, add a column doc_id"
    )
