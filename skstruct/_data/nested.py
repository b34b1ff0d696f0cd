"""Spans of texts that overlap, parted by their types so that in no part two do.

Types that overlap somewhere are neighbours in a graph. Its vertices are coloured, and a
colour is a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from .places import PlaceError
from .spans import Given, PartialSpans, Span

OF_ONE_TYPE = (
    "overlaps {!r}, which has the same type: one chain for each type cannot hold both; "
    'overlap="longest" keeps the longer of two'
)


def overlapping_pairs(spans: list[Span]) -> list[tuple[Span, Span]]:
    """Return all pairs of different labelled spans of a text that share characters."""
    pairs = []
    open_: list[Span] = []
    some = sorted(
        {span for span in spans if span.label is not None and span[0] < span[1]}
    )
    for span in some:
        open_ = [other for other in open_ if other.end > span.start]
        pairs += [(other, span) for other in open_]
        open_.append(span)
    return pairs


def types_apart(given: Given, name: str = "y") -> list[list[str]]:
    """Return the types of spans in groups; types of one group never overlap.

    The type that is most frequent stands in the first group.

    Raises
    ------
    ValueError
        If two spans of one type overlap; the message names the place.
    """
    neighbours: dict[str, set[str]] = {}
    for i, spans in enumerate(given.by_text()):
        for one, two in overlapping_pairs(spans):
            if one.label == two.label:
                k = list(spans).index(two)
                wrong = f"{tuple(two)!r} {OF_ONE_TYPE.format(tuple(one))}"
                raise PlaceError(i, k, wrong, name)
            neighbours.setdefault(str(one.label), set()).add(str(two.label))
            neighbours.setdefault(str(two.label), set()).add(str(one.label))
    counts = Counter(span.label for span in given.spans if span.label is not None)
    groups: list[list[str]] = []
    for kind in sorted(counts, key=lambda kind: (-counts[kind], kind)):
        near = neighbours.get(kind, set())
        group = next((each for each in groups if near.isdisjoint(each)), None)
        if group is None:
            groups.append([kind])
        else:
            group.append(kind)
    return groups or [[]]


def of_types(
    given: Given, types: Collection[str]
) -> tuple[list[list[Span]], list[list[int]]]:
    """Return the spans of some types, and those without one, by text; and their
    positions.
    """
    found: list[list[Span]] = []
    positions = []
    for row in given.by_text():
        some = [
            (k, s) for k, s in enumerate(row) if s.label is None or s.label in types
        ]
        spans: Any = [span for _, span in some]
        if isinstance(row, PartialSpans):
            spans = PartialSpans(spans, row.types)
        found.append(spans)
        positions.append([k for k, _ in some])
    return found, positions
