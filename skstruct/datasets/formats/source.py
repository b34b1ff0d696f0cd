"""An input of text, looked at once and read once."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import deque
from collections.abc import Generator, Iterator
from itertools import chain
from typing import IO, Any

from ..._data.types import Path
from ..._saving.atomic import naming
from ..._saving.container import MAGIC
from .brat import is_brat
from .head import Head, NoText, head_of_lines
from .not_read import is_binary
from .text_files import UNREADABLE, opened, unreadable

PEEK = 50
"""Lines that a guess is made from."""

SHOWN = 100_000
"""Bytes after which a bar moves."""

STANDARD = ("-", None)
"""The names of standard input."""


class SourceError(ValueError):
    """An input cannot be read as text; the message names it, and the line."""


class Source(contextlib.AbstractContextManager):
    """An input, line by line: its beginning is looked at and read again, and the lines
    read since the last `take` are kept, unless `unkept` is called.

    Parameters
    ----------
    source : str, os.PathLike, text file or None
        ``-`` or None is standard input; a path that ends in ``.gz`` is decompressed.
        An open file is left open.
    encoding : str
        Of a path; an open file has its own.
    quiet : bool, default=False
        Whether warnings about the content are left out, since they were given before.

    Attributes
    ----------
    path : str or None
        None of standard input and of open files.
    name : str
        For messages.
    """

    def __init__(
        self,
        source: Path | IO[str] | None,
        encoding: str = "utf-8",
        quiet: bool = False,
    ) -> None:
        is_path = isinstance(source, str | os.PathLike) and source not in STANDARD
        self.path = os.fspath(source) if is_path else None  # type: ignore[arg-type]
        self._open: Any = None if is_path or source in STANDARD else source
        self.name = self.path or _name_of(self._open)
        self.encoding = encoding
        self.quiet = quiet
        # Lines with their numbers: those that were looked at, and will be read again;
        # and those that were read since the last `take`, None if they are not kept.
        self._ahead: deque[tuple[int, str]] = deque()
        self._kept: list[tuple[int, str]] | None = []
        self._head: Head | None = None
        # What is wrong behind the lines that were looked at: it is raised when reading
        # comes there.
        self._wrong: ValueError | None = None
        self._rest: Any = ()  # the lines of the file that nobody has looked at
        self._file = self._numbered()
        self._lines = self._read()

    def __exit__(self, *_: Any) -> None:
        self._file.close()

    def _numbered(self) -> Generator[tuple[int, str], None, None]:
        """Yield the number and text of each line of the file, which is opened for the
        first: that of a path which others open, a folder of brat, is never asked for.
        """
        number = 0
        try:
            with self._opened() as lines:
                self._rest = lines
                for number, line in enumerate(lines, start=1):
                    if number == 1 and isinstance(line, str):
                        line = line.removeprefix("\ufeff")
                    yield number, line
                self._rest = ()
        except UNREADABLE as error:
            _refuse_model(self.path)
            remedy = "; name another encoding with encoding= (--encoding)"
            raise SourceError(unreadable(error, self.name, number, remedy)) from None
        except OSError as error:
            with naming(self.name):
                raise error

    def _opened(self) -> Any:
        """Open the input, or hand an open file through."""
        if self.path is not None:
            return opened(self.path, self.encoding)
        if self._open is not None:
            return contextlib.nullcontext(self._open)
        if sys.stdin is None:
            raise SourceError("there is no standard input")
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding=self.encoding, errors="strict", newline="\n")
        return contextlib.nullcontext(sys.stdin)

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
                self._head = self._patient_head()
            else:
                n = 1
                while self.peek(n)[n - 1 :] and self.peek(n)[-1].startswith("#"):
                    n += 1
                return Head(self.name, self.peek(n))
        return self._head

    def _patient_head(self) -> Head:
        ahead = [line for _, line in self._ahead]
        lines = chain(ahead, (line for _, line in self._look_ahead()))
        try:
            return head_of_lines(self.name, lines, deque())
        except ValueError as error:
            if not self._ahead or isinstance(error, NoText):
                raise
            self._wrong = error
            return Head(self.name, [line for _, line in self._ahead])

    def _look_ahead(self) -> Iterator[tuple[int, str]]:
        """Yield further lines, which will be read again."""
        try:
            for numbered in self._file:
                self._ahead.append(numbered)
                yield numbered
        except SourceError as error:
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
            if self._kept is None and not ahead and self._wrong is None:
                yield from self._rest  # whose reader numbers the lines itself
                return
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


def _name_of(file: Any) -> str:
    """Return what messages call an open file, or standard input."""
    if file is None:
        return "<stdin>"
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else f"<{type(file).__name__}>"


def _refuse_model(path: str | None) -> None:
    """Raise for a model where a text belongs: its bytes are of no other encoding."""
    if path is None or path.endswith(".gz"):
        return
    with open(path, "rb") as file:
        is_model = file.read(len(MAGIC)) == MAGIC
    if is_model:
        raise SourceError(
            f"{path}: this is a model, but a file of texts was expected; pass "
            f"the model as --model {path}"
        )


@contextlib.contextmanager
def peeked(source: Any, encoding: str) -> Iterator[Source]:
    """Give the `Source` of a path or an open file; one that is a `Source` already stays
    as it is.
    """
    if isinstance(source, Source):
        yield source
        return
    with Source(source, encoding) as found:
        yield found.unkept()
