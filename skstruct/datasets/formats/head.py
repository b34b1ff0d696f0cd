"""The beginning of a file, as formats look at it to recognise themselves."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from ..._data.places import part_of
from .tables import table_of_lines
from .text_files import UNREADABLE, spaceless_share, split_cells, unreadable

HEAD = 65_536
"""Characters that a format is recognised from."""

LINE = 4096
"""Characters of a line that count: one long cell is not all that is looked at."""

_EXCERPT = 100

RECORDS = 50
"""Values of JSON, or lines, that are looked at."""


def part_of_first(number: int, of: int, noun: str, verb: str) -> str:
    """Return the beginning of a sentence about some of the lines or records of a head, as
    ``3 of 4 lines have``, or ``50 of the first 50 lines have`` where more may follow.
    """
    text = part_of(number, of, noun, verb)
    return text if of < RECORDS else text.replace(" of ", " of the first ", 1)


_JSON = re.compile(r"""\{\s*"[^"\n]*"\s*:|\[\s*[\[{]\s*"|\[\n\s*["\]]""")
"""The beginning of an object; of a list of objects, or of pairs; or of a list of
anything over several lines.

Other text begins with such brackets, too: ``[[Category:Towns]]``.
"""


class Head:
    """The beginning of a file.

    Parameters
    ----------
    name : str
        Of the file; its ending is evidence.
    lines : iterable of str
        Its first lines, with or without line ends.
    is_whole : bool, default=False
        Whether these are all of them.

    Attributes
    ----------
    raw : list of str
        The lines without their ends.
    lines : list of str
        Those of them that are not blank.
    """

    def __init__(
        self, name: str, lines: Iterable[str] = (), is_whole: bool = False
    ) -> None:
        self.name = name
        self.raw = [line.rstrip("\r\n") for line in lines]
        if self.raw:
            self.raw[0] = self.raw[0].removeprefix("\ufeff")
        self.lines = [line for line in self.raw if line.strip()]
        self.is_whole = is_whole

    @classmethod
    def of_records(cls, name: str, records: Iterable[Any]) -> Head:
        """Make the head of records that are in memory, not in a file."""
        head = cls(name, (), True)
        head.__dict__["records"] = list(records)  # what a file would have been read as
        return head

    @property
    def ending(self) -> str:
        """The ending of the name in lower case, without that of compression."""
        return os.path.splitext(self.name.removesuffix(".gz"))[1].lower()

    @cached_property
    def spaceless(self) -> float:
        """The share of letters of scripts without spaces, on average over the beginnings
        of lines: one long line is not all there is.
        """
        shares = [
            spaceless_share(line[:_EXCERPT])
            for line in self.lines
            if any(map(str.isalpha, line[:_EXCERPT]))
        ]
        return sum(shares) / len(shares) if shares else 0.0

    @property
    def is_json(self) -> bool:
        """Tell whether it begins as JSON does, be it valid or not."""
        begin = "\n".join(self.lines[:3]).lstrip()
        return bool(self.records) or _JSON.match(begin) is not None

    @cached_property
    def records(self) -> list[Any]:
        """The first values of a file of JSON; none if it is something else.

        They are the elements of the list that the file holds, or else the values that
        follow each other.
        """
        text = "\n".join(self.raw).strip()
        if not text or text[0] not in "[{":
            return []
        if text[0] == "[":
            found = _elements(text)
            pair = len(found) == 2 and isinstance(found[0], str)
            if found and not (pair and not isinstance(found[1], str)):
                return found
        return _values(text)

    @property
    def objects(self) -> list[Mapping[str, Any]]:
        """The records that are objects."""
        return [record for record in self.records if isinstance(record, Mapping)]

    def share(self, keys: Iterable[str]) -> float:
        """Tell the share of the records that are objects with all of some keys."""
        wanted = set(keys)
        having = sum(wanted <= record.keys() for record in self.objects)
        return having / len(self.records) if self.records else 0.0

    @cached_property
    def rows(self) -> list[str]:
        """The lines that are not blank and no comments."""
        return [line for line in self.lines if not line.startswith("#")] or self.lines

    @cached_property
    def widths(self) -> Counter[int]:
        """The number of lines by the number of their cells between spaces and tabs."""
        return Counter(len(split_cells(line, None)) for line in self.rows)

    @cached_property
    def tabs(self) -> Counter[int]:
        """The number of lines by the number of their cells between tabs."""
        return Counter(line.count("\t") + 1 for line in self.rows)

    @cached_property
    def table(self) -> list[list[str]]:
        """The rows of a table of a spreadsheet, the first its header; none if there is
        no header of several names.
        """
        if not self.lines or self.is_json:
            return []
        rows = table_of_lines(self.raw[self.raw.index(self.lines[0]) :])
        if not rows:
            return []
        if not self.is_whole and len(rows) > 1:
            rows.pop()  # it may be cut
        names = [cell.strip() for cell in rows[0]]
        # An index has no name, nor what stands behind commas that end each row.
        named = names[not names[0] :]
        while named and not named[-1]:
            named.pop()
        return rows if all(named) and len(set(named)) == len(named) > 1 else []

    def seen(self) -> str:
        """Say what was seen, for an error."""
        if self.records:
            first = self.records[0]
            if isinstance(first, Mapping):
                return f"objects with the keys {', '.join(map(str, first)) or 'none'}"
            return f"JSON of a {type(first).__name__}"
        if not self.lines:
            return "nothing"
        n_tabs, n_lines = Counter(line.count("\t") for line in self.lines).most_common(
            1
        )[0]
        widths = sorted(self.widths)
        cells = f"{widths[0]} to {widths[-1]}" if len(widths) > 1 else str(widths[0])
        of = f"{n_tabs} tabs in {n_lines} of {len(self.lines)} lines"
        return f"{of}, {cells} cells a line, first {self.lines[0][:40]!r}"


class NoText(ValueError):
    """A file is none of text, or of another encoding."""


def head_of_lines(
    name: str, rest: Iterator[str], ahead: deque[str], size: int = HEAD
) -> Head:
    """Return the head of a file.

    A value of JSON that is longer is read to the end of the file, as its reader does.

    Parameters
    ----------
    name : str
        Of the file.
    rest : iterator of str
        Its lines.
    ahead : deque of str
        Where the lines are put that were taken from ``rest``, to be read again.
    size : int
        Characters that are enough.
    """
    read = 0
    try:
        for line in rest:
            ahead.append(line)
            read += min(len(line), LINE)
            if read >= size:
                head = _checked(Head(name, ahead))
                if head.records or not head.is_json:
                    return head
                ahead.extend(rest)
    except UNREADABLE as error:
        raise ValueError(unreadable(error, name, len(ahead))) from error
    return _checked(Head(name, ahead, True))


def _checked(head: Head) -> Head:
    """The head itself; raises if its characters are not those of a text."""
    begin = "\n".join(head.raw[:20])[:512]
    if 4 * begin.count("\0") > len(begin) > 0:
        raise NoText(
            f"{head.name}: every few characters are NUL, so this is no text, or "
            "UTF-16 without a byte order mark; to read that, pass "
            "encoding='utf-16-le' (--encoding utf-16-le)"
        )
    return head


def _elements(text: str) -> list[Any]:
    """The first elements of the list that a text of JSON begins with."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = 1
    while len(found) < RECORDS:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text) or text[at] == "]":
            return found if not text[at + 1 :].split("\n")[0].strip() else []
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found
        found.append(value)
    return found


def _is_object(text: str) -> bool:
    """Tell whether a line of JSON that is an object begins a text."""
    line = text.lstrip().partition("\n")[0]
    try:
        return isinstance(json.loads(line), Mapping)
    except (ValueError, RecursionError):
        return False


def _values(text: str) -> list[Any]:
    """The first values of a text of JSON, one after the other."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = 0
    while len(found) < RECORDS and at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            bad, line_end, _ = text[at:].partition("\n")
            if found or not line_end or not _is_object(text[at + len(bad) :]):
                return found
            at += len(bad) + 1  # one bad line, which the reader names
            continue
        if text[at:].split("\n", 1)[0].strip():
            return []  # text that begins as JSON
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return found
