"""The entry of a format in the table of formats.

A format says how it is called, what it looks like, which options it has, and how it is
read. There are three kinds: sequences of tokens, which a tagger or a parser learns;
sequences of words, which a segmenter learns; and texts with spans.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from enum import IntEnum
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..._data.places import Where
from .head import Head

if TYPE_CHECKING:
    from ..._data.source_layout import SourceLayout
    from .contents import Contents
    from .span_files import AnnotationReader
    from .span_records import Reading, Record

TOKENS = "tokens"
WORDS = "words"
TEXTS = "texts"
"""Kinds of formats."""


class Verdict(IntEnum):
    """The verdict of a format on the beginning of a file."""

    NO = 0
    """It cannot be this format."""

    NEAR = 1
    """Something of the format is there, and something is missed: errors name it."""

    FITS = 2
    """The format has no mark of its own, and the evidence that it declares is there."""

    MARKED = 3
    """Its grammar parses the beginning, and something stands there that only this
    format writes, or the name of the file says it.
    """


class Look(NamedTuple):
    """The verdict of a format on the beginning of a file, and the reasons.

    Attributes
    ----------
    verdict : Verdict
    seen : str
        Why: what was seen, as messages say it.
    options : str
        What the command line needs beside ``--format`` to read the file so.
    """

    verdict: Verdict
    seen: str
    options: str = ""

    @property
    def is_yes(self) -> bool:
        """Tell whether the file may be read as this format."""
        return self.verdict >= Verdict.FITS

    @property
    def is_sure(self) -> bool:
        """Tell whether only this format, or a special case of it, looks so."""
        return self.verdict is Verdict.MARKED


def no(seen: str) -> Look:
    """Return the look of another format."""
    return Look(Verdict.NO, seen)


def near(seen: str, options: str = "") -> Look:
    """Return the look of a file that lacks something of a format, and the options of
    the command line that it needs beside ``--format``.
    """
    return Look(Verdict.NEAR, seen, options)


def fits(seen: str) -> Look:
    """Return the look of a file with the evidence that a format without mark needs."""
    return Look(Verdict.FITS, seen)


def marked(seen: str) -> Look:
    """Return the look of a file with the mark of a format."""
    return Look(Verdict.MARKED, seen)


NO = no("nothing of it was seen")

_SAID = re.compile(r"#+\s*([^\s=:][^=:]*?)\s*[=:]\s*(?!//)(\S.*?)\s*$")
"""A comment that says something by a name."""


class Rows(NamedTuple):
    """One sentence of a file.

    Attributes
    ----------
    cells : list
        Of each token a tuple of its columns or fields; or a label and a dict of
        ready-made features.
    numbers : list of int
        The line of each token.
    document : str or None
        The document that it is a part of, if the file says it.
    weight : float
        As data of CRFsuite may say it.
    place : str or None
        For errors, where the numbers of lines say little.
    source : object
        What `TokenFormat.labelled` needs to write it again.
    """

    cells: list[Any]
    numbers: list[int]
    document: str | None = None
    weight: float = 1.0
    place: str | None = None
    source: Any = None


class Kept(NamedTuple):
    """The source of a sentence, to write it again unchanged.

    Attributes
    ----------
    x, document, weight
        As they were read: what is another now is written anew.
    lines : list of (int, str, bool)
        As of `TokenFormat.labelled`.
    source : object
        As of `Rows`.
    """

    x: Any
    document: str | None
    weight: float
    lines: list[tuple[int, str, bool]]
    source: Any = None

    def still_holds(self, row: Row) -> bool:
        """Tell whether nothing of a row but its labels is another now."""
        return (self.x, self.document, self.weight) == (row.x, row.document, row.weight)


class Row(NamedTuple):
    """One sequence of a corpus file.

    Attributes
    ----------
    x : object
        Its tokens: a list of str, of tuples or of dicts; or its text, a str.
    y : list
        Labels of its tokens, pairs (head, label), words, or spans.
    place : Where
        Where it stands: the file, and the line or record.
    document : str or None
        Which it is a part of, if the file says it.
    weight : float
        As data of CRFsuite may say it.
    more : object
        What `CorpusFile.write` needs to write it with what else the file says of it.
    """

    x: Any
    y: list[Any]
    place: Where = Where()
    document: str | None = None
    weight: float = 1.0
    more: Any = None


def cells_of(label: Any) -> list[Any]:
    """Return the cells of a label: of trees two."""
    return list(label) if isinstance(label, tuple) else [label]


class Format(ABC):
    """A format of files: subclasses are entries of the table.

    Attributes
    ----------
    name : str
        By which options call it.
    description : str
        What it is, in one sentence without a full stop.
    kind : {"tokens", "words", "texts"}
        What it holds.
    endings : tuple of str
        Endings of files that have it, as evidence.
    options : frozenset of str
        Options of readers that it has.
    is_written : bool
        Whether labelled data are written in it.
    comment_mark : str
        What lines begin with that the format itself calls comments; empty where it has
        none.
    special_case_of : tuple of str
        Formats whose grammar reads files of this one, too: where both are recognised,
        this one is taken. A format without a mark is a special case of none.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    kind: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[frozenset[str]] = frozenset()
    is_written: ClassVar[bool] = False
    comment_mark: ClassVar[str] = ""
    special_case_of: ClassVar[tuple[str, ...]] = ("columns", "segmented", "jsonl")

    @property
    def is_general(self) -> bool:
        """Tell whether the format has no mark, so that others can be special cases of
        it.
        """
        return not self.special_case_of

    @property
    def family(self) -> str:
        """The name that commands give formats that are handled alike."""
        return self.name

    @abstractmethod
    def look(self, head: Head) -> Look:
        """Tell whether the grammar of the format parses the beginning of a file."""

    def has_ending(self, head: Head) -> bool:
        """Tell whether the name of the file is one of this format."""
        return head.ending in self.endings


class TokenFormat(Format):
    """A format of sequences of tokens.

    Attributes
    ----------
    names_fields : bool
        Whether ``tokens`` and ``label`` are names: `rows` then gives the chosen fields
        only, those of the token first. Else they are numbers of columns, and `rows`
        gives all columns.
    label_fields : tuple of str
        Of such a format the fields that can hold labels.
    has_features : bool
        Whether a token is a dict of ready-made features: cells are (label, dict).
    has_comments : bool
        Whether lines of scores can stand between its sentences.
    adds_column : bool
        Of a format with names: whether labels are written beside those of the file, and
        not over them.
    """

    kind = TOKENS
    names_fields: ClassVar[bool] = False
    label_fields: ClassVar[tuple[str, ...]] = ()
    has_features: ClassVar[bool] = False
    has_comments: ClassVar[bool] = True
    adds_column: ClassVar[bool] = False

    @abstractmethod
    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences of a path or an open text file.

        Parameters
        ----------
        file : path or text file
        layout : SourceLayout
        contents : Contents
            Counts what is met, and is checked in the end.
        with_labels : bool, default=True
            Whether labels are read.
        """

    def check(self, layout: SourceLayout) -> None:
        """Raise a ValueError if columns or fields are none of the format."""

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Return the layout, with the fields that the beginning of a file shows where
        it leaves these open.

        What is settled here is said, and remembered by a model: a further file may have
        fields that would be chosen before these.
        """
        return layout

    def has_fields(self, head: Head, fields: Collection[Any]) -> bool:
        """Tell whether the beginning of a file shows some fields."""
        return True

    def said(self, lines: list[tuple[int, str, bool]], source: Any) -> dict[str, str]:
        """Return what the file says of a sentence beside its tokens, by names: here the
        comments before its first token, as ``# source = news``.

        Parameters
        ----------
        lines : list of (int, str, bool)
            As of `labelled`.
        source : object
            As of `Rows`.
        """
        before = takewhile(lambda each: not each[2], lines)
        found = (_SAID.match(line) for _, line, _ in before)
        return {each[1]: each[2] for each in found if each is not None}

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the lines of a sentence with one labelling.

        Parameters
        ----------
        layout : SourceLayout
        lines : list of (int, str, bool)
            Number, text without its end, and whether it is a token's.
        header : list of str
            What stands before the sentence: the line of its score, or nothing.
        marks : iterable of (list of str, list of (str, str))
            What is written of each token: ``cells`` and ``beside`` of `mark`.
        source : object
            As of `Rows`.
        """
        blank = next(k for k, (_, line, _) in enumerate(lines) if line.strip(" \t"))
        yield from (line + "\n" for _, line, _ in lines[:blank])
        yield from header
        marks = iter(marks)
        for _, line, is_token in lines[blank:]:
            yield (self.mark(layout, line, *next(marks)) if is_token else line) + "\n"
        if header and lines[-1][1].strip(" \t"):  # the file ends without a blank line
            yield "\n"

    has_blank_lines: ClassVar[bool] = True
    """True if a blank line ends a sentence."""

    numbers_documents: ClassVar[bool] = False
    """True if documents have no names in the format, but are counted."""

    def written(self, layout: SourceLayout, rows: list[Row]) -> Iterator[str]:
        """Yield the lines of a file of some rows.

        What a row was read from is written again with its labels; without it the tokens
        and labels alone.
        """
        document = None
        header: list[str] | None = None
        for row in rows:
            kept = row.more
            if not isinstance(kept, Kept) or not kept.still_holds(row):
                kept = self.new_sentence(layout, row, rows)
            if header is None:
                header = self.header(kept.source)
                yield from header
            if row.document not in (None, document):
                document = row.document
                yield from self.document_lines(str(document))
            marks = [(cells_of(label), ()) for label in row.y]
            lines = [
                (0, line, is_token)
                for _, line, is_token in kept.lines
                if is_token or line.strip() and not self.is_structure(line)
            ]
            if self.has_blank_lines:
                lines.append((0, "", False))
            yield from self.put(layout, lines, marks, kept.source)

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return what a sentence could have been read from, its labels left out.

        Parameters
        ----------
        layout : SourceLayout
        row : Row
        rows : list of Row
            All that are written.
        """
        raise ValueError(f"sentences cannot be written as {self.name}")

    def header(self, source: Any) -> list[str]:
        """Return the lines that a file begins with."""
        return []

    def document_lines(self, document: str) -> list[str]:
        """Return the lines that begin a document."""
        return []

    def is_structure(self, line: str) -> bool:
        """Tell whether a line is one of the header or begins a document: then it is
        written anew.
        """
        return False

    def put(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the lines of a sentence with its labels where they are read; arguments
        are those of `labelled`.
        """
        return self.labelled(layout, lines, [], marks, source)

    def selected(
        self, sentences: list[tuple[list[tuple[int, str, bool]], Any]]
    ) -> Iterator[str]:
        """Yield the lines of a file of some sentences, as they stand.

        Parameters
        ----------
        sentences : list of (lines, source)
            As of `labelled`.
        """
        for lines, _ in sentences:
            yield from (line + "\n" for _, line, _ in lines if line.strip())
            yield "\n"

    def mark(
        self, layout: SourceLayout, line: str, cells: list[str], beside: Any
    ) -> str:
        """Write the label of a token, and what is said beside it, into its line.

        Parameters
        ----------
        layout : SourceLayout
        line : str
        cells : list of str
            The label; of a tree head and label.
        beside : list of (name, value)
            Probabilities.
        """
        raise ValueError(
            f"labels cannot be written as {self.name}; write columns of its tokens "
            "first: skstruct.datasets.read_tokens gives them"
        )


def labels_alone(marks: Iterable[tuple[list[str], list[Any]]], what: str) -> list[str]:
    """Return the labels of what `TokenFormat.labelled` is given, for a format that
    holds nothing else.

    Raises
    ------
    ValueError
        If probabilities are to stand beside them; it begins with ``what``.
    """
    pairs = list(marks)
    if any(beside for _, beside in pairs):
        raise ValueError(f"{what} no place for probabilities")
    return [cells[0] for cells, _ in pairs]


class WordFormat(Format):
    """A format of segmented text: one sentence per line, or several lines of words.

    Attributes
    ----------
    lines_are_text : bool
        Whether a line is a text as it stands, but for spaces: one that is segmented
        can be written over it.
    """

    kind = WORDS
    lines_are_text: ClassVar[bool] = True

    def written(self, layout: SourceLayout, rows: list[Row]) -> Iterator[str]:
        """Yield the lines of a file of some rows, where the format is written."""
        raise ValueError(f"words cannot be written as {self.name}")

    @property
    def family(self) -> str:
        """The name that commands give segmented text of any format."""
        return "segmented"

    @abstractmethod
    def words(
        self, file: Any, layout: SourceLayout, contents: Contents
    ) -> Iterator[tuple[int, list]]:
        """Yield (number, words) of each line; words are str, or (word, tag).

        What is met is counted by ``contents``, which is checked in the end.
        """


class TextFormat(Format):
    """A format of texts with spans; most are values of JSON, each of them a text.

    Attributes
    ----------
    is_json : bool
        Whether `record` makes a text of each value of JSON; else `records` reads the
        file.
    """

    kind = TEXTS
    is_json: ClassVar[bool] = True

    @property
    def family(self) -> str:
        """The name that commands give annotated texts of any format."""
        return "spans"

    def with_options(self, options: AnnotationReader) -> TextFormat:
        """Return what reads the format by some options: the format itself, or one with
        the keys that they name.
        """
        return self

    def elements(self, value: Any, place: str) -> Iterator[tuple[str, Any]]:
        """Yield (place, value) of the texts in a value of JSON, which is one as a
        rule.
        """
        yield place, value

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a value of JSON.

        Raises
        ------
        TypeError
            If the format is not JSON: `records` reads it.
        """
        raise TypeError(f"{self.name} is not JSON: records() reads it")

    @property
    def mark_keys(self) -> frozenset[str]:
        """Keys of which a value of JSON with a mark of this format has one."""
        return frozenset()

    def has_mark(self, value: Any) -> bool:
        """Tell whether a value of JSON has something that only this format writes."""
        return False

    def merged(self, records: Iterator[Record], reading: Reading) -> Iterator[Record]:
        """Yield records; those of one text may become one."""
        return records

    def records(self, source: Any, reading: Reading) -> Iterator[Record]:
        """Yield the `Record` of each text of a path or an open file."""
        from .span_records import json_values

        for place, value in json_values(source, reading.options.encoding):
            yield self.record(value, place, reading)
