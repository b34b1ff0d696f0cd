"""Least probabilities of spans as commands and services take them: written as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .probability_tagger import least_by_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .probability_tagger import LeastProba


def min_proba_of(text: str) -> float | dict[str | None, float]:
    """Read ``0.8``, or ``PER=0.9,ORG=0.6,0.5``, where a number alone is that of types
    not named.

    Raises
    ------
    ValueError
        If it is no number, and no list of these; or names a type twice.
    """
    parts = [part.rpartition("=") for part in text.split(",")]
    found = {kind if equals else None: float(p) for kind, equals, p in parts}
    if len(found) < len(parts) or "" in found:
        raise ValueError(text)
    return found[None] if [*found] == [None] else found


def check_types(min_proba: LeastProba, kinds: Iterable[str]) -> None:
    """Check that what was read names types of a model, and leaves none out.

    Raises
    ------
    ValueError
        As :func:`least_by_type`; the message says what to write in the text.
    """
    try:
        least_by_type(min_proba, kinds)
    except ValueError as error:
        told = str(error).replace("under the key None it has", "a P alone is")
        raise ValueError(told) from None
