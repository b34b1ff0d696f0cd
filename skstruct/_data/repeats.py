"""Texts that a corpus holds several times, with the same spans or with others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple


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


def repeats_of(
    X: Sequence[Hashable], y: Sequence[Iterable[Hashable]], order: bool = False
) -> Repeats:
    """Find the sequences that are there several times; blank texts do not count.

    Parameters
    ----------
    X : list of str, or of tuples of tokens
    y : list of lists
        Spans or labels.
    order : bool, default=False
        Whether the order of what ``y`` holds counts: that of labels does, that of spans
        does not.
    """
    groups: dict[Hashable, list[int]] = {}
    for i, x in enumerate(X):
        if not isinstance(x, str) or x.strip():
            groups.setdefault(x, []).append(i)
    same: list[list[int]] = []
    contradictory: list[list[int]] = []
    for group in groups.values():
        if len(group) > 1:
            kinds = {tuple(y[i]) if order else frozenset(y[i]) for i in group}
            (same if len(kinds) == 1 else contradictory).append(group)
    return Repeats(same, contradictory)
