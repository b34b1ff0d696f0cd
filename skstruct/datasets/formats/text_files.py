"""What readers and writers of corpus files share: opening text, numbering lines,
splitting cells.

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
import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..._saving.atomic import atomic_write, naming
from .contents import Tally
from .frame_files import FrameLines, is_frame_file

if TYPE_CHECKING:
    from ..._data.types import Path


#: Names of the ten CoNLL-U columns, in file order.
CONLLU_FIELDS = (
    "id",
    "form",
    "lemma",
    "upos",
    "xpos",
    "feats",
    "head",
    "deprel",
    "deps",
    "misc",
)

#: The columns a dependency parser works with.
TREE_FIELDS = ("form", "xpos", "head", "deprel")


KEYED_FIELDS = ("feats", "misc")
"""Columns of CoNLL-U that hold ``KEY=VALUE``, between bars."""


def keyed(field: Any) -> tuple[Any, str | None]:
    """Part ``misc:name`` into a column of CoNLL-U and a key of it, None without one."""
    if isinstance(field, str):
        column, colon, key = field.partition(":")
        if colon and key and column in KEYED_FIELDS:
            return column, key
    return field, None


def value_of(cell: str, key: str) -> str | None:
    """Return the value of a key in a cell of ``feats`` or ``misc``, None without it."""
    for part in cell.split("|"):
        name, equals, value = part.partition("=")
        if name == key and equals:
            return value
    return None


def with_value(cell: str, key: str, value: str) -> str:
    """Write the value of a key into a cell of ``feats`` or ``misc``."""
    parts = [] if cell == "_" else cell.split("|")
    written = f"{key}={value}"
    for k, part in enumerate(parts):
        if part.partition("=")[0] == key:
            parts[k] = written
            break
    else:
        parts.append(written)
    return "|".join(parts)


def check_fields(fields: Any) -> Any:
    """Check names of CoNLL-U columns, or of keys of them, and return them as a
    tuple.
    """
    fields = (fields,) if isinstance(fields, str) else tuple(fields)
    if not fields or any(
        keyed(field)[0] not in CONLLU_FIELDS or fields.count(field) > 1
        for field in fields
    ):
        allowed = (
            f"be at least one, and each once, among {', '.join(CONLLU_FIELDS)}, "
            "feats:KEY and misc:KEY"
        )
        raise ValueError(f"fields must {allowed}; got {fields!r}")
    return fields


def split_cells(line: str, separator: str | None) -> list[str]:
    """Split a line into columns; None stands for any run of spaces and tabs, and
    nothing else.
    """
    if separator is not None:
        return line.split(separator)
    cells = line.replace("\t", " ").split(" ")
    return [cell for cell in cells if cell] if "" in cells else cells


def filled_lines(
    lines: Any, tally: Tally | None = None, blank: str | None = None
) -> Iterator[Any]:
    """Yield the numbered lines of each sentence: those between lines of nothing but the
    characters of `blank`, which are counted as structure.
    """
    n_blank = 0
    for is_filled, rows in groupby(lines, lambda row: bool(row[1].strip(blank))):
        if is_filled:
            yield rows
        else:
            n_blank += len(list(rows))
    if tally is not None:
        tally.structure += n_blank


_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words: Thai, Lao, Tibetan, Burmese,
Khmer, Japanese, Chinese.
"""


def spaceless_share(text: str) -> float:
    """The share of the letters of a text that are of scripts without spaces."""
    n = sum(map(str.isalpha, text))
    return min(1.0, len(_SPACELESS.findall(text)) / n) if n else 0.0


def opened(path: Path, encoding: str) -> Any:
    """A text file to read, decompressed if its name ends in ``.gz``; lines end at line
    feeds only. The rows of Parquet and Arrow are lines of JSON.
    """
    _refuse_text(path)
    if is_frame_file(path) and os.path.isfile(path):
        return FrameLines(path)
    opener = gzip.open if os.fspath(path).endswith(".gz") else open
    return opener(path, "rt", encoding=encoding, newline="\n")


@contextmanager
def open_text(path_or_file: Any, mode: str, encoding: str) -> Any:
    """Open a path, or hand an open file through and leave it open; a path is written
    whole or not at all.
    """
    if isinstance(path_or_file, str | os.PathLike):
        # Line feeds only, both ways: a lone carriage return inside a line must not
        # shift line numbers.
        if mode == "w" and os.fspath(path_or_file).endswith(".gz"):
            raise ValueError(
                f"{os.fspath(path_or_file)}: what is written is not compressed; give "
                "gzip.open(path, 'wt', encoding='utf-8') in its place"
            )
        with (atomic_write if mode == "w" else opened)(path_or_file, encoding) as file:
            yield file
    elif hasattr(path_or_file, "write" if mode == "w" else "readline"):
        yield path_or_file
    else:
        found = type(path_or_file).__name__
        raise TypeError(
            f"path_or_file must be a path or an open text file; got {found}"
        )


def _refuse_text(path: Path) -> None:
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
) -> Any:
    """Open for reading: (name of the file, iterator of (line number from 1, line
    without its end)).

    Unless ``watch`` is False, text that was encoded twice is warned of. ``ends`` are
    the characters that are no part of a line. When all are read, ``tally`` has seen
    them, and is checked: who reads lines counts each as what it is.
    """
    with open_text(path_or_file, "r", encoding) as file:
        name = (
            getattr(file, "name", None)
            if file is path_or_file
            else os.fspath(path_or_file)
        )
        name = name if isinstance(name, str) else f"<{type(file).__name__}>"
        yield name, _lines(file, name, watch, ends, tally)
        if tally is not None and tally.seen:
            tally.check(name)


def _lines(file: Any, name: str, watch: Any, ends: str, tally: Tally | None) -> Any:
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


class SharedStrings:
    """Equal strings of a corpus as one object, which share memory and hash.

    ``sys.intern`` would keep them beyond the corpus: Python 3.12 gives no string back
    that was interned.

    Parameters
    ----------
    most : int, optional
        Distinct strings that are remembered at a time: of streams, which nobody may
        hold as a whole. Without, all are.

    Attributes
    ----------
    share : callable
        ``share(s, s)`` is the string that stands for s.
    """

    MOST = 100_000
    """Of streams. The frequent strings of a text are met anew at once."""

    def __init__(self, most: int | None = None) -> None:
        self._known: dict[str, str] = {}
        self._most = most
        self.share = self._known.setdefault

    def end_sentence(self) -> None:
        """Begin anew if there are too many: to be called once a sentence."""
        if self._most is not None and len(self._known) > self._most:
            self._known.clear()


UTF_16_MARKS = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE

UNREADABLE = UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile
"""What reading raises of bytes of another encoding, and of files cut short, damaged, or
not compressed.
"""


_NO_TEXT = (
    (b"\x1f\x8b", "compressed by gzip: its name must end in .gz"),
    (b"BZh", "compressed by bzip2: decompress it first"),
    (b"\xfd7zXZ", "compressed by xz: decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: decompress it first"),
    (b"PK\x03\x04", "a ZIP archive, as .xlsx and .docx are: save text, CSV or JSON"),
    (b"\xd0\xcf\x11\xe0", "a file of an office program: save text, CSV or JSON"),
    (b"%PDF", "a PDF: extract its text first"),
)
"""How files begin that are no text, and what to do."""


def unreadable(error: BaseException, name: str, number: int, remedy: str = "") -> str:
    """The message for an `UNREADABLE` after so many lines of a file."""
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
    """Whether the accents of a text were encoded twice: ``Ã±`` for ``ñ`` throughout.

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
