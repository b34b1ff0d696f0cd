"""A corpus file of any format: what it is, its sequences one by one, what became of all
that stands in it, and the way back to a file.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, zip_longest
from typing import IO, Any

from .._data.elements import is_frame, spelled
from .._data.inputs import describe
from .._data.partial_words import text_of_words
from .._data.places import Where, counted
from .._data.source_layout import SourceLayout, as_source_layout
from .._data.types import Path
from .formats.annotation_layout import reader_of
from .formats.brat import is_brat
from .formats.contents import Contents, where_of
from .formats.entry import Format, Kept, Row, TextFormat, TokenFormat, WordFormat
from .formats.head import RECORDS, Head
from .formats.source import STANDARD, Source
from .formats.span_records import Reading, document_of
from .formats.span_writing import write_spans
from .formats.table import BY_NAME, FORMATS, recognised, unknown
from .formats.text_files import open_text, split_cells
from .formats.token_files import Sequences, as_file, place_of
from .kinds import Kind, kind_of


def open_corpus(
    path: Path | IO[str] | Iterable[Any],
    layout: SourceLayout | Mapping[str, Any] | None = None,
) -> CorpusFile:
    r"""Open a corpus file of any format.

    Parameters
    ----------
    path : str, os.PathLike, text file, or iterable of records
        A file; a folder, of brat; ``-`` for standard input; or the records themselves,
        as `read_spans` and `read_tokens` take them.
    layout : SourceLayout or dict, optional
        The layout of the file, such as that of a model or of another `CorpusFile`. By
        default it is detected from the beginning of the file, and so is everything that
        a given layout leaves open.

    Returns
    -------
    CorpusFile

    Raises
    ------
    ValueError
        If no format fits, or several do, or the layout names none. The message says
        what was seen.

    Examples
    --------
    >>> import io
    >>> from skstruct.datasets import open_corpus
    >>> corpus = open_corpus(io.StringIO("Ann B-PER\nleft O\n\nRome B-LOC\n"))
    >>> corpus.kind.name, corpus.layout.describe()
    ('tokens', 'columns, tokens 0, label -1')
    >>> rows = list(corpus.rows())
    >>> rows[0].x, rows[0].y, str(rows[1].place)
    (['Ann', 'left'], ['B-PER', 'O'], '<StringIO>, line 4')
    >>> corpus.contents.lines.data, corpus.contents.lines.structure
    (3, 1)
    >>> file = io.StringIO()
    >>> layout = corpus.write(rows, file)
    >>> print(file.getvalue(), end="")
    Ann B-PER
    left O
    <BLANKLINE>
    Rome B-LOC
    <BLANKLINE>
    """
    given = as_source_layout(layout)
    if given is not None and given.format not in BY_NAME:
        raise ValueError(
            f"layout: there is no format {given.format!r}; choose one of "
            f"{', '.join(BY_NAME)}"
        )
    opening = _opening(path, "utf-8" if given is None else given.encoding)
    with opening.head() as head:
        if given is None:
            found = recognised(head)
            if found is None:
                raise unknown(head)
            given = SourceLayout(found.format.name, encoding=opening.encoding)
            entry, why = found.format, found.look.seen
        else:
            entry, why = BY_NAME[given.format], "the layout says it"
        return CorpusFile(opening, entry, _settled(entry, head, given), why)


class CorpusFile:
    """A corpus file that is open, as `open_corpus` returns it.

    Attributes
    ----------
    kind : Kind
        Its kind, by ``kind.name``: "tokens" with labels, "words", "texts" with spans,
        or "trees".
    layout : SourceLayout
        Its layout. Once all rows of annotated texts are read, it includes the unit of
        their offsets.
    why : str
        The reason for this format.
    contents : Contents
        Counts of the lines, records and spans of the last reading. Once all rows are
        read, each is counted as data, as structure, or as left out.
    """

    def __init__(
        self, opening: _Opening, entry: Format, layout: SourceLayout, why: str
    ) -> None:
        self._opening = opening
        self._entry = entry
        self.layout = layout
        self.why = why
        self.contents = Contents()

    def __repr__(self) -> str:
        return f"<CorpusFile {self._opening.name}: {self.layout.describe()}>"

    @property
    def kind(self) -> Kind:
        """The kind of the file."""
        return kind_of(self._entry, self.layout.label)

    def rows(self) -> Iterator[Row]:
        """Read the sequences, one after the other.

        Yields
        ------
        Row
            With ``x``, ``y``, ``place``, ``document`` and ``weight``.

        Raises
        ------
        ValueError
            If something is none of the format; the message names line or record. Also
            if an open file is to be read a second time.
        """
        self.contents = contents = Contents()
        if isinstance(self._entry, TextFormat):
            return self._texts(contents)
        return self._sequences(contents)

    def _texts(self, contents: Contents) -> Iterator[Row]:
        """Yield the annotated texts."""
        reading = Reading(reader_of(self.layout), contents=contents)
        with self._opening.for_texts() as source:
            for record, spans in reading.options.marked(source, reading):
                of = document_of(record)
                yield Row(
                    record.text, spans, where_of(record), of, 1.0, record.metadata
                )
        if reading.count is not None:
            unit, ends = reading.count
            self.layout = replace(
                self.layout,
                offsets=self.layout.offsets if unit == "auto" else unit,
                # a format whose ends are inclusive has made them exclusive
                ends=ends if ends == "inclusive" else self.layout.ends,
            )

    def _sequences(self, contents: Contents) -> Iterator[Row]:
        """Yield the sequences of tokens, or of words."""
        with self._opening.source() as source:
            entry = self._entry
            if isinstance(entry, WordFormat):
                for number, words in entry.words(source, self.layout, contents):
                    source.take()
                    if words:
                        raw = text_of_words(words)
                        yield Row(raw, words, Where(source.name, line=number))
                return
            assert isinstance(entry, TokenFormat)
            sequences = Sequences(entry, self.layout, source.name)
            for rows in entry.rows(source, self.layout, contents):
                numbers = set(rows.numbers)
                lines = [(n, line, n in numbers) for n, line in source.take()]
                x, y = sequences.of(rows)
                kept = Kept(x, rows.document, rows.weight, lines, rows.source)
                place = place_of(rows, lines, source.name)
                yield Row(x, y, place, rows.document, rows.weight, kept)

    def write(self, rows: Iterable[Row], path: Path | IO[str]) -> SourceLayout:
        """Write rows in the format of the file; `open_corpus` reads the same again.

        A row that `rows` gave is written with what else the file says of it: other
        columns, comments, keys. Where tokens were changed, or in a row that was made
        otherwise, stand tokens and labels alone.

        Parameters
        ----------
        rows : iterable of Row
            Of this file or of another; a `Row` that users make needs ``x`` and ``y``.
        path : str, os.PathLike or text file
            A path is written whole or not at all. Of brat it is a folder.

        Returns
        -------
        SourceLayout
            That of what was written: ``open_corpus(path, layout)`` reads it.

        Raises
        ------
        ValueError
            If the format is not written, or has no place for something; nothing is
            written then. The message names the row.
        """
        kept = list(rows)
        for k, row in enumerate(kept):
            if not isinstance(row, Row):
                raise TypeError(f"rows: row {k}: expected a Row, got {describe(row)}")
            if not row.x:
                raise ValueError(f"rows: row {k}: it has no token; leave it out")
        if not self._entry.is_written:
            others = [
                f.name for f in FORMATS if f.is_written and f.kind == self._entry.kind
            ]
            raise ValueError(
                f"{self._entry.name} can be read, but not written; choose one of "
                f"{', '.join(others)}"
            )
        if isinstance(self._entry, TextFormat):
            return self._write_texts(kept, path)
        assert isinstance(self._entry, TokenFormat | WordFormat)
        for k, row in enumerate(kept):
            if len(row.y) != len(row.x) and isinstance(self._entry, TokenFormat):
                raise ValueError(
                    f"rows: row {k}: {counted(len(row.x), 'token')} and "
                    f"{counted(len(row.y), 'label')}; give each token one label"
                )
        try:
            text = "".join(self._entry.written(self.layout, kept))
        except TypeError as error:
            raise ValueError(f"rows cannot be written: {error}") from error
        layout = self.layout
        self._check(kept, text, layout)
        with open_text(path, "w", layout.encoding) as file:
            file.write(text)
        return layout

    def _write_texts(self, rows: list[Row], path: Path | IO[str]) -> SourceLayout:
        """Write texts and spans, and say how these are laid out."""
        name = self._entry.name
        metadata = [row.more if isinstance(row.more, dict) else {} for row in rows]
        if name == "brat" and not all("name" in each for each in metadata):
            metadata = [{} for _ in rows]
        X = [row.x for row in rows]
        y = [row.y for row in rows]
        layout = SourceLayout(name)
        if name == "brat":
            write_spans(path, X, y, name, metadata=metadata)
            return layout
        if name == "doccano":
            layout = replace(layout, offsets="characters", ends="exclusive")
        file = io.StringIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the layout says
            write_spans(file, X, y, name, metadata=metadata)
        self._check(rows, file.getvalue(), layout)
        with open_text(path, "w", "utf-8") as written:
            written.write(file.getvalue())
        return layout

    def _check(self, rows: list[Row], text: str, layout: SourceLayout) -> None:
        """Raise a ValueError unless a text is read again as some rows."""
        if not rows:
            return
        name = self._entry.name
        file = io.StringIO(text)
        file.name = name  # type: ignore[misc]  # for messages
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                again = list(open_corpus(file, layout).rows())
            except ValueError as error:
                raise ValueError(f"rows cannot be written as {name}: {error}") from None
        is_counted = getattr(self._entry, "numbers_documents", False)
        given, read = (_compared(each, is_counted) for each in (rows, again))
        for k, (row, found) in enumerate(zip_longest(given, read)):
            if row != found:
                raise ValueError(
                    f"rows: row {k} cannot be written as {name}: {_shown(row)} would be "
                    f"read as {_shown(found)}"
                )


def _compared(rows: list[Row], is_counted: bool) -> list[tuple[Any, ...]]:
    """Return what rows hold, to compare them; documents are counted as a file counts
    them.
    """
    found = []
    n_documents = 0
    before = None
    for row in rows:
        document: Any = row.document
        if is_counted and document is not None:
            n_documents += document != before
            before = document
            document = n_documents
        found.append((row.x, list(row.y), document, row.weight))
    return found


def _shown(row: tuple[Any, ...] | None) -> str:
    return "nothing" if row is None else f"{row[:2]!r:.80}"


# --------------------------------------------------------------------------------------
# Layouts
# --------------------------------------------------------------------------------------
def _settled(entry: Format, head: Head, layout: SourceLayout) -> SourceLayout:
    """Return a layout with what the beginning of a file shows, where it is open."""
    if isinstance(entry, TextFormat):
        reader_of(layout)  # which checks it
        return layout
    if not isinstance(entry, TokenFormat):
        return layout
    entry.check(layout)
    layout = entry.with_fields(head, layout)
    if entry.name == "columns":
        layout = replace(layout, label=-1 if layout.label is None else layout.label)
        if layout.tokens is None:
            layout = replace(layout, tokens=_columns_of_tokens(head, layout))
    return layout


def _columns_of_tokens(head: Head, layout: SourceLayout) -> tuple[int, ...] | None:
    """The columns that are not the label's, if the beginning of a file shows them."""
    lines = (
        line
        for line in head.lines
        if not (layout.comment and line.startswith(layout.comment))
        and not line.startswith("-DOCSTART-")
    )
    line = next(lines, None)
    width = 0 if line is None else len(split_cells(line, layout.separator))
    taken = {int(c) % width for c in layout.labels} if width else set()
    return tuple(c for c in range(width) if c not in taken) or None


# --------------------------------------------------------------------------------------
# What is opened
# --------------------------------------------------------------------------------------
class _Opening(ABC):
    """Something that is opened: a file that can be opened again, records in memory, or
    an input that is read once.
    """

    def __init__(self, name: str, encoding: str) -> None:
        self.name = name
        self.encoding = encoding

    @contextlib.contextmanager
    def head(self) -> Iterator[Head]:
        """Give the beginning."""
        with self.source() as source:
            yield source.head()

    @abstractmethod
    def source(self) -> contextlib.AbstractContextManager[Source]:
        """Open it for reading."""

    def for_texts(self) -> contextlib.AbstractContextManager[Any]:
        """Open it for a reader of annotated texts."""
        return self.source()


class _OfPath(_Opening):
    """A file, or a folder of brat."""

    def source(self) -> Source:
        """Open the file."""
        return Source(self.name, self.encoding)

    def for_texts(self) -> contextlib.AbstractContextManager[Any]:
        """Give the path of brat, which has companions, or the open file."""
        if is_brat(self.name):
            return contextlib.nullcontext(self.name)
        return Source(self.name, self.encoding)


class _Once(_Opening):
    """An open file or standard input."""

    def __init__(self, source: Any, encoding: str) -> None:
        self._source = Source(source, encoding)
        self._is_read = False
        super().__init__(self._source.name, encoding)

    @contextlib.contextmanager
    def head(self) -> Iterator[Head]:
        """Give the beginning, which is read again."""
        yield self._source.head()

    def source(self) -> Source:
        """Give the file, once."""
        if self._is_read:
            raise ValueError(
                f"{self.name}: an open file can be read only once; open it again, "
                "or give its path"
            )
        self._is_read = True
        return self._source


class _OfRecords(_Opening):
    """Records in memory."""

    def __init__(self, records: Any) -> None:
        super().__init__("records", "utf-8")
        self._records = list(records)

    @contextlib.contextmanager
    def head(self) -> Iterator[Head]:
        """Give the first records."""
        yield Head.of_records(self.name, islice(self._records, RECORDS))

    def source(self) -> Source:
        """Open the file of JSON that the records would be."""
        return Source(as_file(self._records))

    def for_texts(self) -> contextlib.AbstractContextManager[Any]:
        """Give the records."""
        return contextlib.nullcontext(self._records)


def _opening(given: Any, encoding: str) -> _Opening:
    """Return what is opened."""
    if is_frame(given):
        found = f"a table with the columns {', '.join(map(spelled, given.columns))}"
        raise TypeError(
            f"path is {found}; give its rows to open_corpus as a list of records"
        )
    if hasattr(given, "readline") or given in STANDARD[:1]:
        return _Once(given, encoding)
    if isinstance(given, str | os.PathLike):
        again = (
            os.path.isfile(given) or os.path.isdir(given) or not os.path.exists(given)
        )
        return (_OfPath if again else _Once)(os.fspath(given), encoding)
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        expected = "a path, an open text file or a list of records"
        raise TypeError(f"path must be {expected}, got {describe(given)}")
    return _OfRecords(given)
