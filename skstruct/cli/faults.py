"""What is wrong or odd in a corpus that could be read: spans that overlap or are empty,
and texts that are there twice.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._data.repeats import repeats_of
from ..datasets.formats.contents import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._data.spans import Span
    from .corpus import Corpus


def faults_of(corpus: Corpus, overlap: str = "error") -> list[Fault]:
    """List what is wrong in a corpus, and what is there twice.

    Parameters
    ----------
    corpus : Corpus
    overlap : {"error", "longest"}
        What training does with spans that overlap: refuse them, or keep the longest.
    """
    found: list[Fault] = []
    if corpus.format == "spans":
        for where, text, spans in zip(corpus.where, corpus.X, corpus.y):
            problems = _problems(text, spans, overlap == "error")
            found += (Fault(where, *problem) for problem in problems)
    X = [x if isinstance(x, str) else tuple(x) for x in corpus.X]
    repeats = repeats_of(X, corpus.y, order=corpus.format != "spans")
    what = "spans" if corpus.format == "spans" else "labels"
    for first, *others in repeats.contradictory:
        places = "; ".join(str(corpus.where[i]) for i in others)
        problem = f"the same text has other {what} at {places}"
        found.append(Fault(corpus.where[first], problem, refused=False))
    if repeats.same:
        first, second, *_ = repeats.same[0]
        n = sum(len(group) - 1 for group in repeats.same)
        problem = f"the same text with the same {what} stands at {corpus.where[second]}"
        if n > 1:
            problem += f"; {n:,} texts repeat another so"
        found.append(Fault(corpus.where[first], problem, refused=False))
    return found


def _problems(
    text: str, spans: list[Span], refused: bool
) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with the spans of a text, and whether training refuses it."""
    known = []
    for span in sorted(span for span in spans if span.label is not None):
        if text[span.start : span.end].strip():
            known.append(span)
        else:
            yield f"{tuple(span)!r} is empty", False
    last: Any = None
    for one, two in pairwise(known):
        last = one if last is None or one.end > last.end else last
        if two.start < last.end:
            yield f"{tuple(last)!r} and {tuple(two)!r} overlap", refused
