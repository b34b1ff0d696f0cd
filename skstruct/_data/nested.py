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
    given: Given,
    groups: Collection[Collection[str]] = (),
    held_out: Given | None = None,
) -> list[list[str]]:
    """Return the types of spans in groups; types of one group never overlap, nor do
    those of held-out spans.

    The type that is most frequent stands in the first group. Types of held-out spans
    alone have no group of their own. ``groups`` are those of
    earlier spans, to which new types are added, and groups if there must be more.

    Raises
    ------
    ValueError
        If two spans of one type, or of two of one of the ``groups``, overlap; the
        message names the place.
    """
    found = [list(group) for group in groups]
    of_type = {kind: number for number, group in enumerate(found) for kind in group}
    neighbours = _neighbours(given, "y", of_type)
    if held_out is not None:
        for kind, near in _neighbours(held_out, "y_val", of_type).items():
            neighbours.setdefault(kind, set()).update(near)
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
    found = found or [[]]
    spans = [] if held_out is None else held_out.spans
    others = {span.label for span in spans if span.label is not None}
    for kind in sorted(others.difference(*found)):
        near = neighbours.get(kind, set())
        next((each for each in found if near.isdisjoint(each)), found[0]).append(kind)
    return found


def _neighbours(
    given: Given, name: str, of_type: dict[str, int]
) -> dict[str, set[str]]:
    """Return by type those that it overlaps.

    ``of_type``: numbers of the groups that types are in already.
    """
    found: dict[str, set[str]] = {}
    for i, spans in enumerate(given.by_text()):
        for one, two in overlapping_pairs(spans):
            labels = str(one.label), str(two.label)
            if labels[0] == labels[1]:
                wrong = OF_ONE_TYPE.format(tuple(one))
                _refuse(spans, i, two, wrong, name)
            if of_type.get(labels[0], -1) == of_type.get(labels[1], -2):
                wrong = IN_ONE_CHAIN.format(tuple(one), one.label)
                _refuse(spans, i, two, wrong, name)
            found.setdefault(labels[0], set()).add(labels[1])
            found.setdefault(labels[1], set()).add(labels[0])
    return found


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
