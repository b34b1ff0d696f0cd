"""Text files, read line by line.

A file is a path or an open text file; lines end at line feeds only, so that a lone
carriage return, or one of the rarer characters that Unicode calls a line break, never
shifts a line number. A byte order mark at the start and carriage returns at line ends
are dropped. Text that was encoded twice is warned of.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import warnings
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from .atomic import atomic_write, naming

if TYPE_CHECKING:
    from .._data.types import Path


class Tally(Protocol):
    """A counter of the lines of a file."""

    seen: int

    def check(self, name: str) -> None:
        """Raise unless every line that was seen was counted."""


def opened(path: Path, encoding: str) -> Any:
    """Open a text file to read, decompressed if its name ends in ``.gz``; lines end at
    line feeds only.
    """
    refuse_text(path)
    opener = gzip.open if os.fspath(path).endswith(".gz") else open
    return opener(path, "rt", encoding=encoding, newline="\n")


@contextmanager
def open_text(path_or_file: Any, mode: str, encoding: str, opener: Any = None) -> Any:
    """Open a path, or hand an open file through and leave it open; a path is written
    whole or not at all.

    ``opener(path, encoding)`` opens a path to read, in place of :func:`opened`.
    """
    if isinstance(path_or_file, str | os.PathLike):
        # Line feeds only, both ways: a lone carriage return inside a line must not
        # shift line numbers.
        if mode == "w" and os.fspath(path_or_file).endswith(".gz"):
            raise ValueError(
                f"{os.fspath(path_or_file)}: output is not compressed; pass "
                "gzip.open(path, 'wt', encoding='utf-8') instead of the path"
            )
        with (atomic_write if mode == "w" else opener or opened)(
            path_or_file, encoding
        ) as file:
            yield file
    elif hasattr(path_or_file, "write" if mode == "w" else "readline"):
        yield path_or_file
    else:
        found = type(path_or_file).__name__
        raise TypeError(
            f"path_or_file must be a path or an open text file; got {found}"
        )


def refuse_text(path: Path) -> None:
    """Raise for a str of several lines that is the name of no file."""
    if isinstance(path, str) and "\n" in path and not os.path.exists(path):
        what = "no such file; a text of several lines is given as io.StringIO(text)"
        raise FileNotFoundError(errno.ENOENT, what, f"{path[:40]}...")


@contextmanager
def numbered_lines(
    path_or_file: Any,
    encoding: str,
    watch: Any = True,
    ends: str = "\r\n",
    tally: Tally | None = None,
    opener: Any = None,
) -> Any:
    """Open for reading: (name of the file, iterator of (line number from 1, line
    without its end)).

    Unless ``watch`` is False, text that was encoded twice is warned of. ``ends`` are
    the characters that are no part of a line. When all are read, ``tally`` has seen
    them, and is checked: who reads lines counts each as what it is.
    ``opener`` is as of :func:`open_text`.
    """
    with open_text(path_or_file, "r", encoding, opener) as file:
        name = (
            getattr(file, "name", None)
            if file is path_or_file
            else os.fspath(path_or_file)
        )
        name = name if isinstance(name, str) else f"<{type(file).__name__}>"
        is_of_lines = tally is not None or file is not path_or_file
        yield name, _lines(file, name, watch, ends, tally, bool(watch) and is_of_lines)
        if tally is not None and tally.seen:
            tally.check(name)


OLD_LINE_ENDS = (
    "its lines end in carriage returns alone; write line feeds, as tr '\\r' '\\n' does"
)
"""What is wrong with a file of one line that has others within."""


def _lines(
    file: Any,
    name: str,
    watch: Any,
    ends: str,
    tally: Tally | None,
    is_of_lines: bool,
) -> Any:
    number = 0
    accents = Accents()
    try:
        for number, line in enumerate(file, start=1):
            if number == 1:
                if not isinstance(line, str):
                    raise TypeError(
                        f"{name}: expected a file opened in text mode, got one of bytes"
                    )
                line = line.removeprefix("\ufeff")
                if is_of_lines and "\n" not in line and "\r" in line.rstrip():
                    raise ValueError(f"{name}: {OLD_LINE_ENDS}")
            if watch:
                accents.see(line)
            yield number, line.rstrip(ends)
        if tally is not None:
            tally.seen = number
        accents.tell(name)
    except UNREADABLE as error:
        raise ValueError(unreadable(error, name, number)) from error
    except OSError as error:
        with naming(name):
            raise error


UTF_16_MARKS = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE

UNREADABLE = UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile
"""Errors of reading bytes in another encoding, and files that are cut short, damaged,
or not compressed.
"""


_NO_TEXT = (
    (
        b"\x1f\x8b",
        "compressed by gzip: its name must end in .gz; or decompress it first",
    ),
    (b"BZh", "compressed by bzip2: decompress it first"),
    (b"\xfd7zXZ", "compressed by xz: decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: decompress it first"),
    (b"PK\x03\x04", "a ZIP archive, as .xlsx and .docx are: save text, CSV or JSON"),
    (b"\xd0\xcf\x11\xe0", "a file of an office program: save text, CSV or JSON"),
    (b"%PDF", "a PDF: extract its text first"),
)
"""Beginnings of files that are no text, with the remedy."""


def unreadable(error: BaseException, name: str, number: int, remedy: str = "") -> str:
    """Return the message for an `UNREADABLE` after so many lines of a file."""
    if not isinstance(error, UnicodeDecodeError):
        return f"{name}, after line {number}: {error}"
    # The decoder works on blocks: what it was given begins in the line after the last
    # one it gave.
    reason = error.reason
    known = (what for begin, what in _NO_TEXT if error.object.startswith(begin))
    if number == 0 and (what := next(known, None)) is not None:
        return f"{name}: this is {what}"
    if number == error.start == 0 and error.object[:2] in UTF_16_MARKS:
        reason = "it begins as UTF-16 does"
    number += 1 + error.object[: error.start].count(b"\n")
    return f"{name}, line {number}: not valid {error.encoding}: {reason}{remedy}"


# The characters of the bytes 128 to 159 in Windows' Latin-1; as bytes of UTF-8 they
# continue a character.
_WINDOWS = {
    ord(c): b for b in range(128, 160) for c in bytes([b]).decode("cp1252", "ignore")
}


class Accents:
    """A check for accents that were encoded twice: ``Ã±`` for ``ñ`` throughout.

    Such text comes from UTF-8 that was read as Latin-1. Line by line, its bytes in
    Latin-1 are valid UTF-8, which text that was encoded once hardly ever is.
    """

    ENOUGH = 1000
    """Lines with other characters than ASCII that are looked at."""

    def __init__(self) -> None:
        self.twice = 0
        self.once = 0
        self.example: tuple[str, str] | None = None

    def see(self, line: str) -> None:
        """Take note of a line, if it is not ASCII."""
        if line.isascii() or self.twice + self.once >= self.ENOUGH:
            return
        try:
            repaired = line.translate(_WINDOWS).encode("latin-1").decode("utf-8")
        except UnicodeError:
            self.once += 1
            return
        self.twice += 1
        self.example = self.example or (line, repaired)

    def tell(self, name: str) -> None:
        """Warn if nearly all lines were encoded twice."""
        if self.example is None or self.twice <= 10 * self.once:
            return
        line, repaired = self.example
        right = next(c for c in repaired if not c.isascii())
        start = next(k for k, c in enumerate(line) if not c.isascii())
        wrong = line[start : start + len(right.encode())]
        warnings.warn(
            f"{name}: the text looks like UTF-8 that was read as Latin-1 and encoded "
            f"again: {wrong!r} for "
            f"{right!r}, in {self.twice} of {self.twice + self.once} lines that are "
            "not ASCII. If it was "
            "opened with another encoding, use utf-8; else "
            "text.encode('cp1252').decode('utf-8') repairs it",
            stacklevel=2,
        )
