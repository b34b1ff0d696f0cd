"""The lines of a file of columns that are no tokens: comments, a header, ends of
sentences.

A ``#`` can be a token, and ``#MeToo`` too. So a line that begins with one is a comment
where it stands at the beginning of a sentence and its label is none that other lines
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..._data.spellings import style_of
from .head import Head
from .text_files import split_cells

END = "EOS"
"""A line of this alone ends a sentence among lines of several columns, as MeCab, Juman
and nagisa write them.
"""

DOCUMENT_KEYS = ("document_id", "doc_id", "document", "doc", "docid", "doc_key")
"""Keys of records, and columns of tables, that name a document; in any case."""

IDS = "id|ids|key|no|nr|name|file|url|source|title"
"""Last words of names of keys and columns whose values name something, as a pattern."""

COLUMN_NAMES = frozenset(
    "char character characters chunk chunks form forms head id idx index iob label "
    "labels lemma lemmas ner "
    "ner_tag ner_tags pos pos_tag pos_tags sent_id sentence sentence_id tag tags "
    "target text token token_id "
    "tokens upos word word_id words xpos".split()
)
"""Usual names of columns, in lower case."""


def are_names(cells: Sequence[str]) -> bool:
    """Tell whether all of several cells are usual names of columns, each its own."""
    names = {cell.strip(" #").lower() for cell in cells}
    return 1 < len(cells) == len(names) and names <= COLUMN_NAMES


class Comments(NamedTuple):
    """The beginning of comments in a file of columns."""

    prefix: str
    number: int  # of the first of them, from 1
    line: str


def comments_in(
    head: Head, separator: str | None = None, label: int | None = -1
) -> Comments | None:
    """Find how comments begin in the beginning of a file of columns.

    Parameters
    ----------
    head : Head
    separator : str, optional
        What stands between columns; None is any run of spaces and tabs.
    label : int, optional
        The column of the label; None where there is none.

    Returns
    -------
    Comments or None
        None if no line is a comment.

    Raises
    ------
    ValueError
        If comments begin as tokens do.
    """
    marked = [line for line in head.lines if line.startswith("#")]
    if not marked or len(marked) == len(head.lines):
        return None
    others = [
        split_cells(line, separator) for line in head.lines if not line.startswith("#")
    ]
    width = Counter(map(len, others)).most_common(1)[0][0]
    labels = None
    if label is not None and -width <= label < width and width > 1:
        labels = {row[label] for row in others if len(row) == width}
    found: list[tuple[int, str]] = []
    tokens: list[str] = []
    starts = list(_marked_lines(head))
    for number, line, is_start in starts:
        cells = split_cells(line, separator)
        if not is_start or (
            len(cells) == width and _is_token(cells, label, labels, starts, head)
        ):
            tokens.append(line)
        else:
            found.append((number, line))
    if not found:
        return None
    lines = [line for _, line in found]
    for prefix in ("# ", "#\t", "#", _words_shared(lines)):
        if prefix and all(line.startswith(prefix) for line in lines):
            if not any(line.startswith(prefix) for line in tokens):
                return Comments(prefix, *found[0])
    raise ValueError(
        f"{head.name}, line {found[0][0]}: {lines[0][:40]!r} looks like a "
        f"comment, and {tokens[0][:40]!r} like a token; say how comments "
        "begin with comment= (--comment)"
    )


def _marked_lines(head: Head) -> Iterator[tuple[int, str, bool]]:
    """Yield (number, line, whether a sentence begins there) of lines that begin with
    ``#``.
    """
    is_start = True
    for number, line in enumerate(head.raw, start=1):
        if not line.strip():
            is_start = True
        elif line.startswith("#"):
            yield number, line, is_start
        else:
            is_start = line.strip() == END


def _is_token(
    cells: list[str],
    label: int | None,
    labels: set[str] | None,
    starts: list[tuple[int, str, bool]],
    head: Head,
) -> bool:
    """Tell whether a line as wide as tokens is one: its label is known, or it is a sign
    that is its own label, as ``# #`` in part-of-speech corpora. Without labels, lines
    that begin most sentences are comments.
    """
    if labels is not None:
        assert label is not None
        of_line = cells[label]
        is_known = of_line in labels or style_of(of_line) is not None
        return is_known or of_line == cells[0]
    n_sentences = 1 + sum(
        not line.strip() and bool(before.strip())
        for before, line in zip(head.raw, head.raw[1:])
    )
    n_starts = sum(is_start for _, _, is_start in starts)
    return n_starts < 2 or 2 * n_starts < n_sentences


def _words_shared(lines: list[str]) -> str:
    """Return the words that all lines begin with."""
    first, last = min(lines), max(lines)
    n = next((k for k, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
    return first[: first.rfind(" ", 0, n) + 1]
