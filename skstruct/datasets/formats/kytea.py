"""Partial annotation of KyTea: ``日 本|人-々/名詞|は``, a mark after each character.

``|`` says that a word ends, ``-`` that none does, and a space that it is not known. A
tag stands behind the last character of a word.

References
----------
G. Neubig and S. Mori, "Word-based partial annotation for efficient corpus
construction", LREC 2010.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..._core.user_warnings import warn
from ..._data.partial_words import PartialWords
from ..._data.places import counted
from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Look, WordFormat, marked, near, no
from .head import Head, part_of_first
from .text_files import numbered_lines

_CHARACTER = r"(?:\\\S|[^\s|/\\-])"
_UNIT = re.compile(rf"({_CHARACTER})((?:/(?:\\.|[^\s|/\\-])*)*)([ |-]|$)")
"""A character, the tags behind it, and the mark."""

_LINE = re.compile(
    rf"{_CHARACTER}(?:/[^\s|/-]*)*(?:[ |-]{_CHARACTER}(?:/[^\s|/-]*)*)+\|?"
)


class Kytea(WordFormat):
    """The entry of the table."""

    name = "kytea"
    description = (
        "partial annotation of KyTea: 日 本|人-々, a mark after each character"
    )
    lines_are_text = False
    special_case_of = ("columns", "segmented", "jsonl", "bars", "segmented-tags")

    def look(self, head: Head) -> Look:
        """Most lines are characters with marks, of which bars are some."""
        if not head.lines or head.is_json:
            return NO
        fitting = [line for line in head.lines if _LINE.fullmatch(line.strip())]
        share = part_of_first(len(fitting), len(head.lines), "line", "have")
        seen = f"{share} a mark after each character"
        if 2 * len(fitting) <= len(head.lines):
            return no(seen)
        barred = sum("|" in line for line in fitting)
        others = sum(" " in line or "-" in line for line in fitting)
        if not (barred and others):
            return near(seen)
        return marked(f"{seen}, and {counted(barred, 'line')} a known boundary")

    def words(
        self, file: Any, layout: SourceLayout, contents: Contents
    ) -> Iterator[tuple[int, list]]:
        """Yield (number, stretches) of each line, blank ones too."""
        said = False
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            for number, line in lines:
                stretches, left_out = _stretches(line.strip(), f"{name}, line {number}")
                if left_out and not said:
                    said = True
                    warn(
                        f"{name}, line {number}: only the first of several tags of a word "
                        f"is read; others, such as {left_out!r:.40}, are left out in all "
                        "lines"
                    )
                if stretches:
                    tally.data += 1
                else:
                    tally.structure += 1
                yield number, PartialWords(stretches)


def _stretches(line: str, where: str) -> tuple[list[Any], str]:
    """Return the stretches of a line, and a tag that is left out or ""."""
    found: list[Any] = []
    text = ""
    left_out = ""
    at = 0
    while at < len(line):
        unit = _UNIT.match(line, at)
        if unit is None:
            raise ValueError(
                f"{where}: expected a character, its tag or none, and one of '|', '-' "
                f"and space, got {line[at : at + 20]!r}"
            )
        at = unit.end()
        character, tags, mark = unit.groups()
        text += character[-1]
        tag, *others = re.split(r"(?<!\\)/", tags)[1:] or [""]
        left_out = next(filter(None, others), left_out)
        if at == len(line):
            mark = "|"
        if tag and mark != "|":
            raise ValueError(
                f"{where}: the tag {tag!r} stands behind {character!r}, where no word is "
                "known to end; write '|' behind it"
            )
        if mark == "|":
            tag = re.sub(r"\\(.)", r"\1", tag)
            found.append((text, tag) if tag else text)
            text = ""
        elif mark == " ":
            text += " "
    return found, left_out
