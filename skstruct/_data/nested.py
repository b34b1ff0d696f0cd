"""Spans of texts that overlap, parted by their types so that in no part two do.

Types that overlap somewhere are neighbours in a graph. Its vertices are coloured, and a
colour is a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, NoReturn

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


IN_ONE_CHAIN = (
    "overlaps {!r}; its type shares a chain of labels with {!r}, since they did not "
    "overlap before: fit on all texts anew"
)


def types_apart(
    given: Given, name: str = "y", groups: Collection[Collection[str]] = ()
) -> list[list[str]]:
    """Return the types of spans in groups; types of one group never overlap.

    The type that is most frequent stands in the first group. ``groups`` are those of
    earlier spans, to which new types are added, and groups if there must be more.

    Raises
    ------
    ValueError
        If two spans of one type, or of two of one of the ``groups``, overlap; the
        message names the place.
    """
    found = [list(group) for group in groups]
    of_type = {kind: number for number, group in enumerate(found) for kind in group}
    neighbours: dict[str, set[str]] = {}
    for i, spans in enumerate(given.by_text()):
        for one, two in overlapping_pairs(spans):
            if one.label == two.label:
                wrong = OF_ONE_TYPE.format(tuple(one))
                _refuse(spans, i, two, wrong, name)
            if of_type.get(str(one.label), -1) == of_type.get(str(two.label), -2):
                wrong = IN_ONE_CHAIN.format(tuple(one), one.label)
                _refuse(spans, i, two, wrong, name)
            neighbours.setdefault(str(one.label), set()).add(str(two.label))
            neighbours.setdefault(str(two.label), set()).add(str(one.label))
    counts = Counter(span.label for span in given.spans if span.label is not None)
    for kind in sorted(counts, key=lambda kind: (-counts[kind], kind)):
        if kind in of_type:
            continue
        near = neighbours.get(kind, set())
        group = next((each for each in found if near.isdisjoint(each)), None)
        if group is None:
            found.append([kind])
        else:
            group.append(kind)
    return found or [[]]


def _refuse(spans: list[Span], i: int, span: Span, wrong: str, name: str) -> NoReturn:
    """Raise for a span of the text i."""
    raise PlaceError(i, list(spans).index(span), f"{tuple(span)!r} {wrong}", name)


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
