"""Input files: their lines, and what is unusual about them.

The readers of `skstruct.datasets.formats.readers` take an open text file and give
tokens. A `Source` is such a file, and remembers the lines they were made from, so that
a command can give back what it read and say in which line something stood. It can be
looked at before it is read.

Tables that other programs export begin with the names of their columns and know no
blank lines. Nothing in the format forbids that, so that these are warnings.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._data.inputs import flatten
from .._data.places import counted
from .._saving.atomic import naming
from .._saving.container import MAGIC
from ..datasets.formats.brat import is_brat
from ..datasets.formats.column_lines import COLUMN_NAMES
from ..datasets.formats.columns import A_TOKEN_A_LINE, is_prose
from ..datasets.formats.entry import TOKENS
from ..datasets.formats.head import Head, head_of_lines
from ..datasets.formats.not_read import is_binary
from ..datasets.formats.table import recognised
from ..datasets.formats.text_files import UNREADABLE, opened, unreadable
from .common import STANDARD, CommandError, warn

if TYPE_CHECKING:
    from .corpus import Corpus


PEEK = 50
"""Lines that a guess is made from."""

SHOWN = 100_000
"""Bytes after which a bar moves."""

ENOUGH = 10
"""Text of at least so many lines that looks like columns is warned of."""

LONG = 1000
"""A single sentence of more tokens is warned of."""

MANY = 500
"""With more labels than these, and fewer than ten tokens for each, the column is hardly
the right one.
"""

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


class Source(contextlib.AbstractContextManager):
    """An input, line by line; the lines read since the last `take` are kept, unless
    `unkept` is called.

    Parameters
    ----------
    path : str or None
        ``-`` or None is standard input; what ends in ``.gz`` is decompressed.
    encoding : str
    quiet : bool, default=False
        Whether warnings about the content are left out, since they were given before.
    """

    def __init__(
        self, path: str | None, encoding: str = "utf-8", quiet: bool = False
    ) -> None:
        self.path = None if path in STANDARD else path
        self.name = self.path or "<stdin>"
        self.encoding = encoding
        self.quiet = quiet
        # Lines with their numbers: those that were looked at, and will be read again;
        # and those that were read since the last `take`, None if they are not kept.
        self._ahead: deque[tuple[int, str]] = deque()
        self._kept: list[tuple[int, str]] | None = []
        self._head: Head | None = None
        # What is wrong behind the lines that were looked at: it is raised when reading
        # comes there.
        self._wrong: CommandError | None = None
        self._file = self._numbered()
        self._lines = self._read()

    def __exit__(self, *_: Any) -> None:
        self._file.close()

    def _numbered(self) -> Generator[tuple[int, str], None, None]:
        """Yield the number and text of each line of the file, which is opened for the
        first: that of a path which others open, a folder of brat, is never asked for.
        """
        if self.path is not None:
            file = opened(self.path, self.encoding)
        elif sys.stdin is None:
            raise CommandError("there is no standard input")
        else:
            if hasattr(sys.stdin, "reconfigure"):
                sys.stdin.reconfigure(
                    encoding=self.encoding, errors="strict", newline="\n"
                )
            file = contextlib.nullcontext(sys.stdin)
        number = 0
        try:
            with file as lines:
                for number, line in enumerate(lines, start=1):
                    yield number, line.removeprefix("\ufeff") if number == 1 else line
        except UNREADABLE as error:
            _refuse_model(self.path)
            remedy = "; --encoding names another encoding"
            raise CommandError(unreadable(error, self.name, number, remedy)) from None
        except OSError as error:
            with naming(self.name):
                raise error

    def peek(self, n: int = PEEK) -> list[str]:
        """Return the first `n` lines that are not blank, or fewer; they will be read
        again.
        """
        found = [line for _, line in self._ahead if line.strip()]
        while len(found) < n and (numbered := next(self._file, None)) is not None:
            self._ahead.append(numbered)
            found += [numbered[1]] if numbered[1].strip() else []
        return [line.rstrip("\r\n") for line in found[:n]]

    def head(self, patient: bool = True) -> Head:
        """Return the first lines, as formats look at them; they will be read again.

        Parameters
        ----------
        patient : bool, default=True
            Whether to wait for more of standard input than one line that is no comment.
        """
        if self._head is None:
            if self.path is not None and (is_binary(self.path) or is_brat(self.path)):
                self._head = Head(self.path)
            elif patient or self.path is not None:
                ahead = [line for _, line in self._ahead]
                lines = chain(ahead, (line for _, line in self._look_ahead()))
                self._head = head_of_lines(self.name, lines, deque())
            else:
                n = 1
                while self.peek(n)[n - 1 :] and self.peek(n)[-1].startswith("#"):
                    n += 1
                return Head(self.name, self.peek(n))
        return self._head

    def _look_ahead(self) -> Iterator[tuple[int, str]]:
        """Yield further lines, which will be read again."""
        try:
            for numbered in self._file:
                self._ahead.append(numbered)
                yield numbered
        except CommandError as error:
            if not self._ahead:
                raise
            self._wrong = error  # what stands before it can be read

    def _read(self) -> Iterator[str]:
        """Yield the lines, those that were looked at first, and keep them."""
        ahead = self._ahead
        file = self._file
        while (numbered := ahead.popleft() if ahead else next(file, None)) is not None:
            if self._kept is not None:
                self._kept.append(numbered)
            yield numbered[1]
        if self._wrong is not None:
            raise self._wrong

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def readline(self) -> str:
        """Return the next line, or an empty string; by this method readers know a
        file.
        """
        return next(self._lines, "")

    def unkept(self) -> Source:
        """Keep no lines from now on, where nobody will `take` them; return the
        source.
        """
        self._kept = None
        return self

    def with_progress(self) -> Iterator[str]:
        """Yield the lines and keep none; show a bar of how much has been read, if the
        extra ``progress`` is installed.
        """
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            yield from self.unkept()
            return
        total = os.path.getsize(self.path) if self.path else None
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(self.name, total=total)
            read = 0
            for line in self.unkept():
                read += len(line.encode("utf-8", "surrogatepass"))
                if read >= SHOWN:
                    bar.advance(task, read)
                    read = 0
                yield line

    def take(self) -> list[tuple[int, str]]:
        """Return the lines read since the last call: the number of each, and its text
        without its end.
        """
        kept = self._kept
        assert kept is not None, "an unkept source keeps no lines"
        self._kept = []
        return [(number, line.rstrip("\r\n")) for number, line in kept]


# --------------------------------------------------------------------------------------
# What is unusual about a file
# --------------------------------------------------------------------------------------
def warn_of_text(source: Source) -> None:
    """Warn of a file for a tagger or a parser that looks like text: every line would be
    a token.
    """
    lines = source.peek(1 if source.path is None else PEEK)
    prose = [line for line in lines if is_prose(line)]
    if 2 * len(prose) > len(lines):
        what = "looks like text, and each line is taken for one token"
        warn(f"{source.name}: {what}: {A_TOKEN_A_LINE}")


def warn_of_columns(source: Source, what: str) -> None:
    """Warn of a file for a model of texts that looks like tokens; ``what`` is done with
    it.
    """
    if source.path is None:
        # who writes to a pipe line by line need not wait for a guess
        return
    found = recognised(source.head())
    if found is None or found.format.kind != TOKENS:
        return
    if not found.format.is_general or len(source.peek(ENOUGH)) >= ENOUGH:
        is_crfsuite = found.format.name == "crfsuite"
        called = "data of CRFsuite" if is_crfsuite else "columns"
        warn(f"{source.name}: looks like {called}; {what}")


def warning_of_header(
    source: Source, sentences: Iterable[Any], number: int, line: str, label: int | None
) -> Iterator[Any]:
    """Hand on the sentences of a file of columns, and warn when all were read: of a first
    line that looks like a header, and of a file that is one sentence.

    The first line looks like names of columns if its label occurs nowhere else, and
    some cell is a usual name of a column or stands above numbers only.

    Parameters
    ----------
    source : Source
    sentences : iterable of (Rows, list)
        The rows of each sentence, and its lines.
    number : int
        Of the line of the first token.
    line : str
        Its text.
    label : int or None
        Column of the labels, if they are read.
    """
    first: Sequence[str] = ()
    above_numbers: list[
        int
    ] = []  # columns with numbers everywhere but in the first row
    is_unique = label is not None
    of_label = -1 if label is None else label
    n_tokens = 0
    n_sentences = 0
    for rows, lines in sentences:
        rest = rows.cells if first else rows.cells[1:]
        if not first:
            first = rows.cells[0]
            above_numbers = [
                c for c, cell in enumerate(first) if not _NUMBER.fullmatch(cell)
            ]
        if is_unique:
            is_unique = all(row[of_label] != first[of_label] for row in rest)
            above_numbers = [
                c
                for c in above_numbers
                if all(_NUMBER.fullmatch(row[c]) for row in rest)
            ]
        n_tokens = n_tokens + len(rows.cells)
        n_sentences = n_sentences + 1
        yield rows, lines
    if source.quiet:
        return
    has_name = any(cell.strip(" #").lower() in COLUMN_NAMES for cell in first)
    if is_unique and n_tokens > 1 and (has_name or above_numbers):
        what = (
            "looks like names of columns, but is read as a token: the label "
            f"{first[of_label]!r} is nowhere"
        )
        warn(
            f"{source.name}, line {number}: {what} else; --comment {shlex.quote(line)} "
            "leaves it out"
        )
    if n_sentences == 1 and n_tokens > LONG:
        warn(
            f"{source.name}: all {n_tokens:,} tokens are one sentence; a blank line "
            "ends a sentence"
        )


def tell_empty(corpus: Corpus) -> None:
    """Warn of a corpus whose tokens have a column that nobody has filled in."""
    first = next(iter(corpus.X[0]), "")  # of a text a character
    for c in range(1, len(first) if isinstance(first, tuple) else 0):
        if all(token[c] == "_" for tokens in corpus.X for token in tokens):
            warn(
                f"{corpus.name}: column {c} of tokens is empty: tag first; --tokens "
                "says what to read"
            )


def _refuse_model(path: str | None) -> None:
    """Raise for a model where a text belongs: its bytes are of no other encoding."""
    if path is None or path.endswith(".gz"):
        return
    with open(path, "rb") as file:
        is_model = file.read(len(MAGIC)) == MAGIC
    if is_model:
        raise CommandError(
            f"{path}: this is a model, where a file of texts is to be read; --model "
            f"{path} names it as the model"
        )


def tell_labels(corpus: Corpus) -> None:
    """Warn of a corpus whose labels look like words, or have mistakes of typing: before
    it is learned.
    """
    if corpus.format == "segmented" or not corpus.y:
        return
    found = Counter(
        each[-1] if isinstance(each, tuple) else each for each in flatten(corpus.y)
    )
    found.pop(None, None)  # of spans that say nothing
    total = found.total()
    _warn_of_alike(corpus, found)
    if len(found) > MANY and total < 10 * len(found):
        unit = "token"
        fix = "; is it the right column? --label says which"
        if corpus.format == "spans":
            unit = "span"
            fix = ""
        warn(
            f"{corpus.name}: {counted(len(found), 'label')} for "
            f"{counted(total, unit)}{fix}"
        )
        return
    told = []
    for label in sorted(label for label, n in found.items() if n == 1):
        _, dash, kind = label.rpartition("-")
        others = [
            other for other, n in found.items() if n > 1 and len(other) == len(label)
        ]
        meant = get_close_matches(label, others, n=1, cutoff=0.5) if dash + kind else []
        told.append(f"{label}{f' (meant {meant[0]}?)' if meant else ''}")
    if told and total >= 100:
        more = f" and {len(told) - 10} more" if len(told) > 10 else ""
        warn(f"{corpus.name}: labels that occur once: {', '.join(told[:10])}{more}")


def _warn_of_alike(corpus: Corpus, found: Counter[Any]) -> None:
    """Warn of labels that differ in case or white space alone."""
    groups: dict[str, list[str]] = {}
    for label in found:
        if isinstance(label, str):
            groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    alike = [" and ".join(map(repr, group)) for group in groups.values() if group[1:]]
    if alike:
        more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
        warn(
            f"{corpus.name}: labels that differ in case or spaces alone are learned as "
            f"different ones: {', '.join(alike[:3])}{more}"
        )
