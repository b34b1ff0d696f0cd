"""Segmented text: one sentence per line, words separated by white space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from ..._core.user_warnings import warn
from ..._data.places import counted
from ..._data.source_layout import SourceLayout
from ..._data.types import Path
from .contents import Contents
from .entry import NO, Look, Row, WordFormat, fits, marked, no
from .head import Head, part_of_first
from .text_files import SharedStrings, numbered_lines


def read_segmented(
    path_or_file: Path | IO[str], *, encoding: str = "utf-8"
) -> list[list[str]]:
    r"""Read segmented text: one sentence per line, words separated by white space.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Returns
    -------
    list of lists of str
        The words of each sentence. Any white space separates, the ideographic space
        too; blank lines are skipped.

    Raises
    ------
    ValueError
        If the file has bytes that are not in the encoding.

    Examples
    --------
    >>> import io
    >>> read_segmented(io.StringIO("我  喜欢　图书馆\n\n好 。\n"))
    [['我', '喜欢', '图书馆'], ['好', '。']]
    """
    return list(_segmented(path_or_file, encoding, SharedStrings()))


def iter_segmented(path_or_file: Any, *, encoding: str = "utf-8") -> Iterator[Any]:
    """Yield the sentences of a segmented text one by one; see `read_segmented`."""
    return _segmented(path_or_file, encoding, SharedStrings(SharedStrings.MOST))


def _segmented(path_or_file: Any, encoding: str, strings: SharedStrings) -> Any:
    share = strings.share
    with numbered_lines(path_or_file, encoding) as (name, lines):
        for _, line in lines_of_words(lines, name):
            words = line.split()
            if words:
                words = list(map(share, words, words))
                strings.end_sentence()
                yield words


def lines_of_words(lines: Any, name: str) -> Iterator[tuple[int, str]]:
    """Hand on the numbered lines of a text in which nothing but words is expected.

    Raises
    ------
    ValueError
        For a record of JSON, naming the line.

    Warns
    -----
    UserWarning
        If lines begin as comments do, which are read as words.
    """
    n_marked = 0
    first = 0
    for number, line in lines:
        if line.startswith('{"') and line.rstrip().endswith("}"):
            raise ValueError(
                f"{name}, line {number}: expected words, got a record of JSON: "
                f"{line!r:.60}"
            )
        if line.startswith(("# ", "#\t")):
            n_marked += 1
            first = first or number
        yield number, line
    if n_marked:
        warn(
            f"{name}, line {first}: the line begins with '# ' like a comment, "
            f"but is read as words; {counted(n_marked, 'such line')} in all"
        )


def separated_words(line: str, separator: str | None) -> list[str]:
    """Return the words of a line between separators; None stands for white space."""
    if separator is None:
        return line.split()
    parts = (part.strip() for part in line.split(separator))
    return [part for part in parts if part]


_AGAINST = {
    r"\t": "it has tabs",
    r"<[\w/!?][^>]*>": "it has markup",
    r"\S[/_][A-Za-z]\w*(?=\s|$)": "its words have tags",
    r"\S\|\S": "it has bars between words",
    r"^\s*[-+]?\d+([.,]\d+)?\s*$": "it has lines of a number alone",
    r"\]\(\w+\)": "it has labels in brackets",
}
"""Patterns that segmented text hardly has, and the words for them."""


class Segmented(WordFormat):
    """The entry of the table."""

    name = "segmented"
    description = "one sentence per line, words separated by white space"
    endings = (".seg", ".segmented")
    options = frozenset(("separator",))
    is_written = True
    special_case_of = ()

    def look(self, head: Head) -> Look:
        """White space parts words of a script that is written without."""
        if self.has_ending(head):
            return marked(f"the name ends in {head.ending}")
        if not head.lines or head.is_json:
            return NO
        for pattern, why in _AGAINST.items():
            met = sum(re.search(pattern, line) is not None for line in head.lines)
            if 20 * met > len(head.lines):
                return no(why)
        parted = sum(len(line.split()) > 1 for line in head.lines)
        share = head.spaceless
        seen = (
            f"{part_of_first(parted, len(head.lines), 'line', 'have')} white space between words, and "
            f"{share:.0%} of the letters are of a script without"
        )
        if 2 * parted >= len(head.lines) and share >= 0.5:
            return fits(seen)
        return no(seen)

    def written(self, layout: SourceLayout, rows: list[Row]) -> Iterator[str]:
        """Yield a line for each row."""
        between = layout.separator or "  "
        for row in rows:
            yield between.join(row.y) + "\n"

    def words(
        self, file: Any, layout: SourceLayout, contents: Contents
    ) -> Iterator[tuple[int, list]]:
        """Yield (number, words) of each line, blank ones too."""
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            for number, line in lines:
                words = separated_words(line, layout.separator)
                if words:
                    tally.data += 1
                else:
                    tally.structure += 1
                yield number, words
