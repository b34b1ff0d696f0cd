"""Input files line by line: with look-ahead, with line numbers, and with the lines read so far.

The readers of `skstruct.formats.readers` take an open text file and give tokens. A `Source` is such a
file, and remembers the lines they were made from, so that a command can give back what it read and say in
which line something stood.
"""

import contextlib
import os
import sys
from collections import deque

from ..formats.text_files import UNREADABLE, opened, unreadable
from .common import STANDARD, CommandError

PEEK = 50
"""Lines that a guess is made from."""

SHOWN = 100_000
"""Bytes after which a bar moves."""


class Source(contextlib.AbstractContextManager):
    """An input, line by line; the lines read since the last `take` are kept, unless `unkept` is called.

    Parameters
    ----------
    path : str or None
        ``-`` or None is standard input; what ends in ``.gz`` is decompressed.
    encoding : str
    quiet : bool, default=False
        Whether warnings about the content are left out, since they were given before.
    """

    def __init__(self, path, encoding="utf-8", quiet=False):
        self.path = None if path in STANDARD else path
        self.name = path if self.path else "<stdin>"
        self.encoding = encoding
        self.quiet = quiet
        self._ahead, self._kept = deque(), []  # (number, line)
        self._raw, self._lines = self._decoded(), self._all()

    def __exit__(self, *_):
        self._raw.close()

    def _decoded(self):
        """Yield (number, line) of the file, which is opened now; readers of brat open files by their names."""
        if self.path is not None:
            file = opened(self.path, self.encoding)
        elif sys.stdin is None:
            raise CommandError("there is no standard input")
        else:
            if hasattr(sys.stdin, "reconfigure"):
                sys.stdin.reconfigure(encoding=self.encoding, errors="strict", newline="\n")
            file = contextlib.nullcontext(sys.stdin)
        number = 0
        try:
            with file as lines:
                for number, line in enumerate(lines, start=1):
                    yield number, line.removeprefix("\ufeff") if number == 1 else line
        except UNREADABLE as error:
            remedy = "; --encoding names another encoding"
            raise CommandError(unreadable(error, self.name, number, remedy)) from None

    def peek(self, n=PEEK):
        """The first `n` lines that are not blank, or fewer; they will be read again."""
        found = [line for _, line in self._ahead if line.strip()]
        while len(found) < n and (numbered := next(self._raw, None)) is not None:
            self._ahead.append(numbered)
            found += [numbered[1]] if numbered[1].strip() else []
        return [line.rstrip("\r\n") for line in found[:n]]

    def _all(self):
        """Yield the lines, and keep them."""
        ahead, raw = self._ahead, self._raw
        while (numbered := ahead.popleft() if ahead else next(raw, None)) is not None:
            if self._kept is not None:
                self._kept.append(numbered)
            yield numbered[1]

    def __iter__(self):
        return self._lines

    def readline(self):
        """The next line, or an empty string; by this method readers know a file."""
        return next(self._lines, "")

    def unkept(self):
        """The same source, which keeps no lines from now on: for who never calls `take`."""
        self._kept = None
        return self

    def watched(self):
        """As `unkept`; a bar shows how much has been read, if the extra ``progress`` is installed."""
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            yield from self.unkept()
            return
        total = os.path.getsize(self.path) if self.path else None
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task, read = bar.add_task(self.name, total=total), 0
            for line in self.unkept():
                read += len(line.encode("utf-8", "surrogatepass"))
                if read >= SHOWN:
                    bar.advance(task, read)
                    read = 0
                yield line

    def take(self):
        """The (number, line without its end) read since the last call."""
        kept, self._kept = self._kept, []
        return [(number, line.rstrip("\r\n")) for number, line in kept]
