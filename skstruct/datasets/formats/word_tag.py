"""Words with their tags behind them: ``dog/NN`` or ``dog_NN``, one sentence per line.

Where words stand apart in writing, the tokens are theirs, and the labels the tags
(:class:`WordTag`). In scripts without spaces, as in the People's Daily corpus, the
words are what is to be found, too (:class:`SegmentedTags`): segmentation and tagging in
one.

References
----------
W. N. Francis and H. Kučera, "Brown corpus manual", 1979.
S. Yu and others, "The basic processing of contemporary Chinese corpus at Peking
University", 2002: brackets around compounds, and a number before each paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..._core.user_warnings import warn
from ..._data.places import part_of
from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import (
    NO,
    Kept,
    Look,
    Row,
    Rows,
    TokenFormat,
    WordFormat,
    labels_alone,
    marked,
    near,
    no,
)
from .head import Head
from .source import peeked
from .text_files import numbered_lines

SEPARATORS = ("/", "_")

_TAG = re.compile(r"[^\W\d_][\w$*+:.-]{0,19}|[^\w\s]{1,3}(?:-\w+)*|-\w{3}-")
"""The pattern of a tag: letters, or a tag of punctuation."""

_CLOSED = re.compile(r"(/\w+)\](?:/?\w+)?$")
"""The end of a compound in brackets, with a tag of its own: ``电台/n]nt``, ``]/nt``."""

_PARAGRAPH = re.compile(r"^\d{8}-\d\d-\d{3}-\d{3}/m\s*")
"""The number of a paragraph of the People's Daily."""


def separator_of(lines: list[str]) -> str | None:
    """Return what stands between most words and their tags, or None."""
    counts: Counter[str] = Counter()
    for line in lines:
        for cell in line.split():
            for separator in SEPARATORS:
                word, found, tag = cell.rpartition(separator)
                counts[separator] += bool(word and found and _TAG.fullmatch(tag))
    if not counts.total():
        return None
    return max(SEPARATORS, key=lambda each: counts[each])


def seen(head: Head) -> tuple[float, float, str]:
    """Return the shares of lines whose words have tags and of lines of several words,
    and a sentence.
    """
    separator = separator_of(head.lines)
    cells = [line.split() for line in head.lines]
    n = sum(map(len, cells))
    tabbed = any("\t" in line.strip() for line in head.lines)
    if separator is None or head.is_json or tabbed:
        return 0.0, 0.0, "no word has a tag"
    tagged = sum(_has_tag(cell, separator) for row in cells for cell in row)
    whole = sum(
        10 * sum(_has_tag(cell, separator) for cell in row) >= 9 * len(row)
        for row in cells
    )
    several = sum(len(row) > 1 for row in cells) / len(cells)
    return (
        whole / len(cells),
        several,
        f"{part_of(tagged, n, 'word', 'are')} WORD{separator}TAG",
    )


def _has_tag(cell: str, separator: str) -> bool:
    word, found, tag = _CLOSED.sub(r"\1", cell).rpartition(separator)
    return bool(word and found and _TAG.fullmatch(tag))


def parts_in(lines: list[str], separator: str) -> int:
    """Return of how many parts nearly all words of some lines are: two of ``dog/NN``,
    three of ``dog/NN/O``.
    """
    counts = Counter(
        cell.replace("\\" + separator, "").count(separator)
        for line in lines
        for cell in line.split()
    )
    if not counts:
        return 2
    most, n = counts.most_common(1)[0]
    return most + 1 if most > 1 and 10 * n >= 9 * counts.total() else 2


def _pairs(
    file: Any, layout: SourceLayout, contents: Contents, has_readings: bool = False
) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
    """Yield (number, line, (word, tag) pairs) of each line.

    ``has_readings`` says that of several tags the first is read: KyTea writes readings
    behind it. Else words of three parts are an error.
    """
    first = _first_lines(file, layout.encoding)
    separator = layout.separator or separator_of(first)
    n_parts = parts_in(first, separator or "/")
    tally = contents.lines
    with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
        if n_parts > 2 and not has_readings:
            raise ValueError(
                f"{name}, line 1: words have {n_parts} parts, such as "
                f"{first[0].split()[0]!r:.40}; write one token per line with tabs "
                f"between its parts: sed 's/$/ /' {name} | tr ' {separator}' "
                "'\\n\\t'"
            )
        if n_parts > 2:
            example = first[0].split()[0].rsplit(separator or "/", n_parts - 2)[-1]
            warn(
                f"{name}: only the first of the {n_parts - 1} tags of a word is "
                f"read; the others, such as {example!r:.40}, are left out"
            )
        for number, line in lines:
            separator = separator or separator_of([line])
            text = _PARAGRAPH.sub("", line, count=1)
            pairs = []
            for cell in text.split():
                whole = _CLOSED.sub(r"\1", cell)
                if n_parts > 2:
                    whole = whole.rsplit(separator or "/", n_parts - 2)[0]
                word, found, tag = whole.rpartition(separator or "/")
                if not (word and found and tag):
                    raise ValueError(
                        f"{name}, line {number}: expected WORD{separator or '/'}TAG, "
                        f"got {cell!r:.40}"
                    )
                pairs.append((word, tag))
            if pairs:
                tally.data += 1
            else:
                tally.structure += 1
            yield number, line, pairs


def _first_lines(file: Any, encoding: str) -> list[str]:
    """The first lines, which are read again; none of a file that is read once."""
    if hasattr(file, "head"):
        return list(file.head().lines)
    if hasattr(file, "readline"):
        return []
    with peeked(file, encoding) as opened:
        return list(opened.head().lines)


def _unbracketed(word: str, tag: str) -> tuple[str, str]:
    """A word and its tag without the bracket before a compound that it begins."""
    return word.lstrip("[") or word, tag


class WordTag(TokenFormat):
    """The entry of the table for scripts with spaces."""

    name = "word-tag"
    description = "word/tag or word_tag, one sentence per line, spaces between words"
    options = frozenset(("separator",))
    is_written = True
    names_fields = True

    def look(self, head: Head) -> Look:
        """Nearly all words have a tag, and their script has spaces."""
        tagged, several, sentence = seen(head)
        if head.spaceless >= 0.3:
            return NO
        if tagged <= 0.5 or several < 0.5:
            return near(sentence) if tagged >= 0.25 else no(sentence)
        return marked(sentence)

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with words and tags."""
        for number, _, pairs in _pairs(file, layout, contents):
            cells = [(word.replace("\\/", "/"), tag) for word, tag in pairs]
            if not with_labels:
                cells = [pair[:1] for pair in cells]  # type: ignore[misc]
            if cells:
                yield Rows(cells, [number] * len(cells))

    has_blank_lines = False

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return the line of words, each with something in place of its tag."""
        between = layout.separator or "/"
        words = (word.replace("/", "\\/") for word in row.x)
        lines = [(0, " ".join(f"{word}{between}X" for word in words), True)]
        return Kept(row.x, row.document, row.weight, lines)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the sentence, each word with its tag, in the spelling of the file."""
        for _, line, is_sentence in lines:
            if not is_sentence:
                yield line + "\n"
                continue
            yield from header
            separator = layout.separator or separator_of([line]) or "/"
            words = (cell.rpartition(separator)[0] for cell in line.split())
            pairs = list(zip(words, marks))
            tags = labels_alone((mark for _, mark in pairs), "word/tag has")
            cells = (f"{w}{separator}{tag}" for (w, _), tag in zip(pairs, tags))
            yield " ".join(cells) + "\n"


class SegmentedTags(WordFormat):
    """The entry of the table for scripts without spaces."""

    name = "segmented-tags"
    description = "segmented text whose words have tags: word/tag (People's Daily)"
    options = frozenset(("separator",))
    lines_are_text = False

    def look(self, head: Head) -> Look:
        """Nearly all words have a tag, and their script has no spaces."""
        tagged, several, sentence = seen(head)
        if head.spaceless < 0.3:
            return NO
        if tagged <= 0.5 or several < 0.5:
            return near(sentence) if tagged >= 0.25 else no(sentence)
        return marked(sentence)

    def words(
        self, file: Any, layout: SourceLayout, contents: Contents
    ) -> Iterator[tuple[int, list]]:
        """Yield (number, (word, tag) pairs) of each line, blank ones too."""
        for number, _, pairs in _pairs(file, layout, contents, has_readings=True):
            yield number, [_unbracketed(*pair) for pair in pairs]
