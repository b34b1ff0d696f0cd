"""Words between bars: ``กรุงเทพ|มาก|``, one sentence per line.

References
----------
National Electronics and Computer Technology Center, "BEST: benchmark for enhancing the
standard of Thai language processing", 2009.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Look, WordFormat, marked, near, no
from .head import Head, part_of_first
from .segmented import lines_of_words, separated_words
from .text_files import numbered_lines

BAR = "|"

_MARKS = re.compile(r"</?(?:NE|AB|POEM)>")
"""The marks of BEST around names, abbreviations and verses."""


class Bars(WordFormat):
    """The entry of the table."""

    name = "bars"
    description = (
        "one sentence per line, words between bars, as in the Thai corpus BEST"
    )
    options = frozenset(("separator",))
    lines_are_text = False

    def look(self, head: Head) -> Look:
        """Lines of a script without spaces have bars between letters."""
        if not head.lines or head.is_json or any("\t" in line for line in head.lines):
            return NO
        barred = sum(
            re.search(r"[^\s|]\|[^\s|]", line) is not None for line in head.lines
        )
        seen = f"{part_of_first(barred, len(head.lines), 'line', 'have')} bars between words"
        if barred < 0.5 * len(head.lines):
            return no(seen)
        spaceless = head.spaceless >= 0.3
        return marked(seen) if spaceless else near(seen)

    def words(
        self, file: Any, layout: SourceLayout, contents: Contents
    ) -> Iterator[tuple[int, list]]:
        """Yield (number, words) of each line, blank ones too."""
        separator = layout.separator or BAR
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            for number, line in lines_of_words(lines, name):
                words = separated_words(_MARKS.sub("", line), separator)
                if words:
                    tally.data += 1
                else:
                    tally.structure += 1
                yield number, words
