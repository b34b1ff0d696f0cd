"""PubTator: title and abstract of an article, and its annotations on lines behind.

``ID|t|TITLE``, ``ID|a|ABSTRACT``, and
``ID<tab>START<tab>END<tab>TEXT<tab>TYPE<tab>...``; offsets are within title, a space,
and abstract. Lines of relations are passed over.

References
----------
C.-H. Wei, H.-Y. Kao and Z. Lu, "PubTator: a web-based text mining tool for assisting
biocuration", Nucleic Acids Research 41, 2013.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .entry import NO, Look, TextFormat, marked
from .head import Head
from .span_records import Annotation, Reading, Record
from .text_files import filled_lines, numbered_lines

_SECTION = re.compile(r"([^|\t]+)\|([A-Za-z])\|(.*)", re.DOTALL)


class PubTator(TextFormat):
    """The entry of the table."""

    name = "pubtator"
    description = "PubTator: ID|t|title, ID|a|abstract, a line for each annotation"
    endings = (".pubtator",)
    is_json = False

    def look(self, head: Head) -> Look:
        """There are lines ID|t|, ID|a|, and behind them lines of five tabs."""
        sections = [_SECTION.fullmatch(line) for line in head.lines]
        titles = sum(found is not None and found[2] == "t" for found in sections)
        rows = [line for line, found in zip(head.lines, sections) if found is None]
        spans = sum(_is_span(row.split("\t")) for row in rows)
        seen = f"{titles} lines are ID|t|TITLE, and {spans} are annotations"
        first = next(iter(sections), None)
        if first is None or not titles:
            return NO
        return marked(seen)

    def records(self, source: Any, reading: Reading) -> Iterator[Record]:
        """Yield the `Record` of each article."""
        with numbered_lines(source, reading.options.encoding) as (name, lines):
            for rows in filled_lines(lines):
                yield from _articles(list(rows), name, reading)


def _is_span(cells: list[str]) -> bool:
    return len(cells) >= 5 and cells[1].isdecimal() and cells[2].isdecimal()


def _articles(
    rows: list[tuple[int, str]], name: str, reading: Reading
) -> Iterator[Record]:
    """Yield the articles of lines without a blank one between."""
    sections: list[str] = []
    spans: list[Annotation] = []
    identifier = ""
    begin = rows[0][0]

    def record() -> Record:
        found = None if reading.texts_alone else spans
        place = f"{name}, line {begin}"
        return Record(place, " ".join(sections), found, {"id": identifier})

    for number, line in rows:
        section = _SECTION.fullmatch(line)
        cells = line.split("\t")
        if section is not None:
            if sections and section[1] != identifier:
                yield record()
                sections, spans, begin = [], [], number
            identifier = section[1]
            sections.append(section[3])
        elif not sections or cells[0] != identifier:
            of = f" of {identifier}" if sections else ""
            raise ValueError(
                f"{name}, line {number}: expected ID|t|TITLE or an annotation{of}, got "
                f"{line!r:.60}"
            )
        elif _is_span(cells):
            start, end = int(cells[1]), int(cells[2])
            where = f"{name}, line {number}"
            spans.append(Annotation(((start, end),), cells[4], cells[3], where))
        elif len(cells) >= 3 and not any(map(str.isdecimal, cells[1:3])):
            reading.contents.spans.seen += 1
            reading.contents.spans.structure += 1  # a relation
        else:
            raise ValueError(
                f"{name}, line {number}: expected {identifier}<tab>START<tab>END<tab>"
                f"TEXT<tab>TYPE, got {line!r:.60}"
            )
    yield record()
