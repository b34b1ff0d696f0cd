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
        self._ahead: deque[tuple[int, str]] = deque()
        self._kept: list[tuple[int, str]] | None = []
        self._head: Head | None = None
        self._wrong: CommandError | None = None
        self._raw, self._lines = self._decoded(), self._all()

    def __exit__(self, *_: Any) -> None:
        self._raw.close()

    def _decoded(self) -> Generator[tuple[int, str], None, None]:
        """Yield (number, line) of the file, which is opened now: those of brat are
        opened by their names.
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
        """The first `n` lines that are not blank, or fewer; they will be read again."""
        found = [line for _, line in self._ahead if line.strip()]
        while len(found) < n and (numbered := next(self._raw, None)) is not None:
            self._ahead.append(numbered)
            found += [numbered[1]] if numbered[1].strip() else []
        return [line.rstrip("\r\n") for line in found[:n]]

    def head(self, patient: bool = True) -> Head:
        """The first lines, as formats look at them; they will be read again.

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
                rest = (line for _, line in self._raw_kept())
                self._head = head_of_lines(self.name, chain(ahead, rest), deque())
            else:
                n = 1
                while self.peek(n)[n - 1 :] and self.peek(n)[-1].startswith("#"):
                    n += 1
                return Head(self.name, self.peek(n))
        return self._head

    def _raw_kept(self) -> Iterator[tuple[int, str]]:
        """Yield further lines, which will be read again."""
        try:
            for numbered in self._raw:
                self._ahead.append(numbered)
                yield numbered
        except CommandError as error:
            if not self._ahead:
                raise
            self._wrong = error  # what stands before it can be read

    def _all(self) -> Iterator[str]:
        """Yield the lines, and keep them."""
        ahead = self._ahead
        raw = self._raw
        while (numbered := ahead.popleft() if ahead else next(raw, None)) is not None:
            if self._kept is not None:
                self._kept.append(numbered)
            yield numbered[1]
        if self._wrong is not None:
            raise self._wrong

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def readline(self) -> str:
        """The next line, or an empty string; by this method readers know a file."""
        return next(self._lines, "")

    def unkept(self) -> Source:
        """Keep no lines from now on, for who never calls `take`; return the source."""
        self._kept = None
        return self

    def watched(self) -> Iterator[str]:
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
        """The (number, line without its end) read since the last call."""
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
    if not found.format.is_general or len(source.peek(_ENOUGH)) >= _ENOUGH:
        called = _CALLED.get(found.format.name, "columns")
        warn(f"{source.name}: looks like {called}; {what}")


_ENOUGH = 10
"""Text of at least so many lines that looks like columns is warned of."""

_CALLED = {"crfsuite": "data of CRFsuite"}


LONG = 1000
"""A single sentence of more tokens is warned of."""

NAMES = frozenset(
    "char character characters chunk chunks form forms head id idx index iob label "
    "labels lemma lemmas ner "
    "ner_tag ner_tags pos pos_tag pos_tags sent_id sentence sentence_id tag tags "
    "target text token token_id "
    "tokens upos word word_id words xpos".split()
)
"""Usual names of columns, in lower case."""

MANY = 500
"""With more labels than these, and fewer than ten tokens for each, the column is hardly
the right one.
"""

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


def noticed(
    source: Source, found: Iterable[Any], number: int, line: str, label: int | None
) -> Iterator[Any]:
    """Hand on (`Rows`, lines) of sentences of columns; warn in the end of what
    is unusual.

    The first line looks like names of columns if its label occurs nowhere else, and
    some cell is a usual name of a column or stands above numbers only.

    Parameters
    ----------
    source : Source
    found : iterator
    number, line : int, str
        Where the first token stands.
    label : int or None
        Column of the labels, if they are read.
    """
    cells: Sequence[str] = ()
    numeric: list[int] = []
    unique = label is not None
    of_label = -1 if label is None else label
    n_tokens = 0
    n_sentences = 0
    for rows, lines in found:
        rest = rows.cells if cells else rows.cells[1:]
        if not cells:
            cells = rows.cells[0]
            numeric = [c for c, cell in enumerate(cells) if not _NUMBER.fullmatch(cell)]
        if unique:
            unique = all(row[of_label] != cells[of_label] for row in rest)
            numeric = [
                c for c in numeric if all(_NUMBER.fullmatch(row[c]) for row in rest)
            ]
        n_tokens = n_tokens + len(rows.cells)
        n_sentences = n_sentences + 1
        yield rows, lines
    if source.quiet:
        return
    named = any(cell.strip(" #").lower() in NAMES for cell in cells)
    if unique and n_tokens > 1 and (named or numeric):
        what = (
            "looks like names of columns, but is read as a token: the label "
            f"{cells[of_label]!r} is nowhere"
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
