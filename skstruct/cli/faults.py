"""The faults and oddities of a corpus that could be read: spans that overlap or are
empty, and texts that are there twice.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.nested import overlapping_pairs
from .._data.places import Where
from .._data.repeats import repeats_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._data.spans import Span
    from ..datasets.formats.span_records import Reading
    from .corpus import Corpus


class Problem(NamedTuple):
    """Something that is wrong with a file, or odd.

    ``refused`` tells whether training refuses it; else it is learned as it is.
    """

    where: Where
    problem: str
    refused: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def unreadable(name: str, reading: Reading) -> list[Problem]:
    """List what could not be read of a file, in the order of its records."""
    found = []
    for fault in sorted(reading.faults or (), key=lambda fault: fault.record):
        where = Where(name, fault.record, fault.id, fault.line)
        text = fault.message.removeprefix(name)
        text = re.sub(r"^, (line|record) \d+( \(task [^)]*\))?[,:] ?", "", text)
        found.append(Problem(where, text))
    return found


def faults_of(corpus: Corpus, overlap: str = "error") -> list[Problem]:
    """List what is wrong in a corpus, and what is there twice.

    Parameters
    ----------
    corpus : Corpus
    overlap : {"error", "longest", "by-type"}
        What training does with spans that overlap: refuse them, keep the longest, or
        refuse those of one type.
    """
    found: list[Problem] = []
    if corpus.kind.has_spans:
        for where, text, spans in zip(corpus.where, corpus.X, corpus.y):
            problems = _problems(text, spans, overlap)
            found += (Problem(where, *problem) for problem in problems)
    repeats = repeats_of(corpus.X, corpus.y, order=not corpus.kind.has_spans)
    what = corpus.kind.noted
    for first, *others in repeats.contradictory:
        places = "; ".join(str(corpus.where[i]) for i in others)
        problem = f"the same text has other {what} at {places}"
        found.append(Problem(corpus.where[first], problem, refused=False))
    if repeats.same:
        first, second, *_ = repeats.same[0]
        n = sum(len(group) - 1 for group in repeats.same)
        problem = f"the same text with the same {what} is at {corpus.where[second]}"
        if n > 1:
            problem += f"; {n:,} texts repeat another so"
        found.append(Problem(corpus.where[first], problem, refused=False))
    return found


def _problems(text: str, spans: list[Span], overlap: str) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with the spans of a text, and whether training refuses it."""
    known = []
    # Training takes a span that is given twice once.
    for span in sorted({span for span in spans if span.label is not None}):
        if text[span.start : span.end].strip():
            known.append(span)
        else:
            yield f"{tuple(span)!r} is empty", False
    if overlap == "by-type":
        for one, two in overlapping_pairs(known):
            if one.label == two.label:
                yield f"{tuple(one)!r} and {tuple(two)!r} overlap, of one type", True
        return
    last: Any = None
    for one, two in pairwise(known):
        last = one if last is None or one.end > last.end else last
        if two.start < last.end:
            both = f"{tuple(last)!r} and {tuple(two)!r} overlap"
            if last.label != two.label:
                both += "; -p overlap=by-type learns both"
            yield both, overlap == "error"
