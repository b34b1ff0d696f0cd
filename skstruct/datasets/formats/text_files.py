"""Functions for all readers and writers of corpus files: opening text, numbering lines,
splitting cells.

A file is a path or an open text file; lines end at line feeds only, so that a lone
carriage return, or one of the rarer characters that Unicode calls a line break, never
shifts a line number. A byte order mark at the start and carriage returns at line ends
are dropped. Text that was encoded twice is warned of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..._saving import text_lines
from ..._saving.text_lines import OLD_LINE_ENDS as OLD_LINE_ENDS
from ..._saving.text_lines import UNREADABLE as UNREADABLE
from ..._saving.text_lines import UTF_16_MARKS as UTF_16_MARKS
from ..._saving.text_lines import Accents as Accents
from ..._saving.text_lines import refuse_text
from ..._saving.text_lines import unreadable as unreadable
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
            for _ in rows:
                n_blank += 1
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
    """Open a text file to read, as :func:`skstruct._saving.text_lines.opened` does; the
    rows of Parquet and Arrow are lines of JSON.
    """
    refuse_text(path)
    if is_frame_file(path) and os.path.isfile(path):
        return FrameLines(path)
    return text_lines.opened(path, encoding)


def open_text(path_or_file: Any, mode: str, encoding: str) -> Any:
    """Open a path of text, Parquet or Arrow, or hand an open file through: see
    :func:`skstruct._saving.text_lines.open_text`.
    """
    return text_lines.open_text(path_or_file, mode, encoding, opened)


def numbered_lines(
    path_or_file: Any,
    encoding: str,
    watch: Any = True,
    ends: str = "\r\n",
    tally: Tally | None = None,
) -> Any:
    """Open a path of text, Parquet or Arrow, or an open file, to read: see
    :func:`skstruct._saving.text_lines.numbered_lines`.
    """
    return text_lines.numbered_lines(path_or_file, encoding, watch, ends, tally, opened)


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
