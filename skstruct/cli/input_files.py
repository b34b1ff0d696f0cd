"""Warnings about unusual input files.

Tables that other programs export begin with the names of their columns and know no
blank lines. Nothing in the format forbids that, so that these are warnings.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .._data.inputs import flatten
from .._data.places import counted
from .._data.scheme_rules import are_chunks
from ..datasets.formats.column_lines import COLUMN_NAMES
from ..datasets.formats.columns import A_TOKEN_A_LINE, is_prose
from ..datasets.formats.entry import TOKENS
from ..datasets.formats.source import PEEK, Source
from ..datasets.formats.table import recognised_or_open
from .common import tell, warn

if TYPE_CHECKING:
    from .corpus import Corpus


ENOUGH = 10
"""Text of at least so many lines that looks like columns is warned of."""

LONG = 100
"""A single sentence of more tokens is warned of."""

MANY = 500
"""With more labels than these, and fewer than ten tokens for each, the column is hardly
the right one.
"""

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


# --------------------------------------------------------------------------------------
# What is unusual about a file
# --------------------------------------------------------------------------------------
def warn_of_text(source: Source) -> None:
    """Warn of a file for a tagger or a parser that looks like text: every line would be
    a token.
    """
    lines = source.peek(1 if source.path is None else PEEK)
    prose = [line for line in lines if is_prose(line)]
    if 2 * len(prose) > len(lines):
        what = "looks like text, and each line is taken for one token"
        warn(f"{source.name}: {what}: {A_TOKEN_A_LINE}")


def warn_of_columns(source: Source, what: str) -> None:
    """Warn of a file for a model of texts that looks like tokens; ``what`` is done with
    it.
    """
    if source.path is None:
        # who writes to a pipe line by line need not wait for a guess
        return
    found = recognised_or_open(source.head())
    if found is None or found.format.kind != TOKENS:
        return
    if not found.format.is_general or len(source.peek(ENOUGH)) >= ENOUGH:
        is_crfsuite = found.format.name == "crfsuite"
        called = "data of CRFsuite" if is_crfsuite else "columns"
        warn(f"{source.name}: looks like {called}; {what}")


def warning_of_header(
    source: Source, sentences: Iterable[Any], number: int, line: str, label: int | None
) -> Iterator[Any]:
    """Hand on the sentences of a file of columns, and warn when all were read: of a first
    line that looks like a header, and of a file that is one sentence.

    The first line looks like names of columns if its label occurs nowhere else, and
    some cell is a usual name of a column or stands above numbers only, or all other
    labels are those of segments and it is none.

    Parameters
    ----------
    source : Source
    sentences : iterable of (Rows, list)
        The rows of each sentence, and its lines.
    number : int
        Of the line of the first token.
    line : str
        Its text.
    label : int or None
        Column of the labels, if they are read.
    """
    first: Sequence[str] = ()
    above_numbers: list[
        int
    ] = []  # columns with numbers everywhere but in the first row
    is_unique = label is not None
    of_label = -1 if label is None else label
    others: set[str] = set()  # labels, as long as the first is none of them
    n_tokens = 0
    n_sentences = 0
    for rows, lines in sentences:
        rest = rows.cells if first else rows.cells[1:]
        if not first:
            first = rows.cells[0]
            above_numbers = [
                c for c, cell in enumerate(first) if not _NUMBER.fullmatch(cell)
            ]
        if is_unique:
            others.update(row[of_label] for row in rest)
            is_unique = first[of_label] not in others
            above_numbers = [
                c
                for c in above_numbers
                if all(_NUMBER.fullmatch(row[c]) for row in rest)
            ]
        n_tokens = n_tokens + len(rows.cells)
        n_sentences = n_sentences + 1
        yield rows, lines
    if source.quiet:
        return
    has_name = any(cell.strip(" #").lower() in COLUMN_NAMES for cell in first)
    is_odd = (
        is_unique and are_chunks(others) and not are_chunks({*others, first[of_label]})
    )
    if is_unique and n_tokens > 1 and (has_name or above_numbers or is_odd):
        what = (
            "looks like a header, but is read as a token: the label "
            f"{first[of_label]!r} is nowhere"
        )
        warn(
            f"{source.name}, line {number}: {what} else; --comment {shlex.quote(line)} "
            "leaves it out"
        )
    if n_sentences == 1 and n_tokens > LONG:
        warn(
            f"{source.name}: all {n_tokens:,} tokens are one sentence; a blank line "
            "ends a sentence"
        )


def tell_empty(corpus: Corpus) -> None:
    """Warn of a corpus whose tokens have a column that nobody has filled in."""
    first = next(iter(corpus.X[0]), "")  # of a text a character
    for c in range(1, len(first) if isinstance(first, tuple) else 0):
        if all(token[c] == "_" for tokens in corpus.X for token in tokens):
            warn(
                f"{corpus.name}: column {c} of tokens is empty: tag first, or name the "
                "columns to read with --tokens"
            )


def tell_labels(corpus: Corpus) -> None:
    """Warn of a corpus whose labels look like words, or have mistakes of typing: before
    it is learned.
    """
    if corpus.kind.has_words or not corpus.y:
        return
    found = Counter(
        each[-1] if isinstance(each, tuple) else each for each in flatten(corpus.y)
    )
    n_unknown = found.pop(None, 0)  # of tokens its own message says it
    total = found.total()
    if n_unknown and corpus.kind.has_spans:
        tell(
            f"{corpus.name}: {n_unknown:,} of {counted(n_unknown + total, 'span')} have "
            "no label: their parts of the texts count as not annotated"
        )
    _warn_of_alike(corpus, found)
    if len(found) > MANY and total < 10 * len(found):
        unit = corpus.kind.element
        fix = "; if it is not the label column, pass --label COLUMN"
        if corpus.kind.has_spans:
            fix = ""
        warn(
            f"{corpus.name}: {counted(len(found), 'label')} for "
            f"{counted(total, unit)}{fix}"
        )
        return
    told = []
    for label in sorted(label for label, n in found.items() if n == 1):
        _, dash, kind = label.rpartition("-")
        others = [
            other for other, n in found.items() if n > 1 and len(other) == len(label)
        ]
        meant = get_close_matches(label, others, n=1, cutoff=0.5) if dash + kind else []
        told.append(f"{label}{f' (meant {meant[0]}?)' if meant else ''}")
    if told and total >= 100:
        more = f" and {len(told) - 10} more" if len(told) > 10 else ""
        warn(f"{corpus.name}: labels that occur once: {', '.join(told[:10])}{more}")


def _warn_of_alike(corpus: Corpus, found: Counter[Any]) -> None:
    """Warn of labels that differ in case or white space alone."""
    groups: dict[str, list[str]] = {}
    for label in found:
        if isinstance(label, str):
            groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    alike = [" and ".join(map(repr, group)) for group in groups.values() if group[1:]]
    if alike:
        more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
        warn(
            f"{corpus.name}: labels that differ in case or spaces alone are learned as "
            "different labels"
            f": {', '.join(alike[:3])}{more}"
        )
