"""Texts that a corpus holds several times, with the same spans or with others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple


class Repeats(NamedTuple):
    """Texts that occur several times.

    Attributes
    ----------
    same : list of list of int
        Groups of sequences that have the same text and the same annotation.
    contradictory : list of list of int
        Groups that have the same text and differ in their annotation.
    """

    same: list[list[int]]
    contradictory: list[list[int]]


def repeats_of(X: Sequence[Any], y: Sequence[Any], order: bool = False) -> Repeats:
    """Find the sequences that are there several times; blank texts do not count.

    Spans speak of what they annotate: where two annotations name types, as
    `PartialSpans` do, those of types that both name can contradict each other, and
    where one has a span with the label None, nothing is said there.

    Parameters
    ----------
    X : list of str, or of sequences of tokens, which are str, tuples, lists of
        names, or flat dicts
    y : list of lists
        Spans or labels.
    order : bool, default=False
        Whether the order of what ``y`` holds counts: that of labels does, that of spans
        does not.
    """
    groups: dict[Hashable, list[int]] = {}
    for i, x in enumerate(X):
        if not isinstance(x, str) or x.strip():
            groups.setdefault(_key(x), []).append(i)
    same: list[list[int]] = []
    contradictory: list[list[int]] = []
    for group in groups.values():
        if len(group) > 1:
            kinds = {tuple(y[i]) for i in group} if order else _said(y, group)
            if len(kinds) > 1:
                contradictory.append(group)
            elif len({getattr(y[i], "types", None) for i in group}) == 1:
                same.append(group)
    return Repeats(same, contradictory)


def _key(x: Any) -> Hashable:
    """Return what is equal for equal sequences: of features their items."""
    if isinstance(x, str):
        return x
    return tuple(map(_token_key, x))


def _token_key(token: Any) -> Hashable:
    if isinstance(token, dict):
        return frozenset(token.items())
    return tuple(token) if isinstance(token, list) else token


def _said(y: Sequence[Any], group: list[int]) -> set[frozenset[Any]]:
    """Return the different sets of spans of some texts, where all say something."""
    named = [y[i].types for i in group if hasattr(y[i], "types")]
    common = frozenset.intersection(*named) if named else None
    spans = [[tuple(span) for span in y[i]] for i in group]
    unknown = [s for each in spans for s in each if s[-1] is None]

    def counts(span: tuple[Any, ...]) -> bool:
        if common is not None and span[-1] not in common:
            return False
        return not any(span[0] < end and start < span[1] for start, end, _ in unknown)

    return {frozenset(s for s in each if counts(s)) for each in spans}
