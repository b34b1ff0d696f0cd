"""One sentence per line: its words, a tab, and as many labels, as in ATIS and SNIPS.

References
----------
D. Hakkani-Tür and others, "Multi-domain joint semantic frame parsing using
bi-directional RNN-LSTM", INTERSPEECH 2016: the form in which ATIS is mostly found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._core.user_warnings import warn
from ..._data.source_layout import SourceLayout
from .column_lines import are_names
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, TokenFormat, labels_alone, marked
from .head import Head, part_of_first
from .text_files import numbered_lines


def parallel(lines: list[str]) -> int:
    """Count the lines of words, a tab and as many labels; 0 unless nearly all are, and
    some have several words.
    """
    parts = [line.split("\t") for line in lines]
    lengths = [
        len(part[0].split())
        for part in parts
        if len(part) == 2 and len(part[0].split()) == len(part[1].split()) > 0
    ]
    if 10 * len(lengths) < 9 * len(lines) or 2 * len(lengths) > sum(lengths):
        return 0
    return len(lengths)


class Parallel(TokenFormat):
    """The entry of the table."""

    name = "words-labels"
    description = "one sentence per line: its words, a tab, and as many labels"
    is_written = True
    names_fields = True

    def look(self, head: Head) -> Look:
        """Nearly all lines have as many labels behind a tab as words before it."""
        n = parallel(head.lines) if head.lines and not head.is_json else 0
        if not n:
            return NO
        return marked(
            f"{part_of_first(n, len(head.lines), 'line', 'have')} as many labels as words"
        )

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with words and labels."""
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            for number, line in lines:
                if not line.strip():
                    tally.structure += 1
                    continue
                words, _, labels = (part.split() for part in line.partition("\t"))
                if number == 1 and are_names([*words, *labels]):
                    warn(
                        f"{name}, line 1: the line is left out, since it names columns: "
                        f"{line!r}"
                    )
                    tally.leave("names of columns", f"{name}, line {number}")
                    continue
                if words == ["#"]:
                    raise ValueError(
                        f"{name}, line {number}: {line!r:.60} looks like a comment, but "
                        "each line is a sentence; delete it"
                    )
                if with_labels and len(words) != len(labels):
                    raise ValueError(
                        f"{name}, line {number}: expected as many labels behind the tab "
                        f"as words before it; found {len(labels)} for {len(words)}"
                    )
                cells: list[Any] = list(zip(words, labels))
                if not with_labels:
                    cells = [(word,) for word in words]
                if cells:
                    tally.data += 1
                    yield Rows(cells, [number] * len(cells))
                else:
                    tally.leave("labels without words", f"{name}, line {number}")

    has_blank_lines = False

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return the line of words."""
        lines = [(0, " ".join(row.x) + "\t", True)]
        return Kept(row.x, row.document, row.weight, lines)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the sentence with its labels behind a tab."""
        for _, line, is_sentence in lines:
            if not is_sentence:
                yield line + "\n"
                continue
            yield from header
            words = line.partition("\t")[0]
            pairs = list(zip(words.split(), marks))
            labels = labels_alone((mark for _, mark in pairs), "words and labels have")
            yield f"{words}\t{' '.join(labels)}\n"
