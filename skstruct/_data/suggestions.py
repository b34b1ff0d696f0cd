"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_ALSO_CALLED = {"iob2": "BIO", "iobes": "BIOES"}
"""The meaning of names that resemble another one: ``IOB2`` is not ``IOB1``."""

_CUTOFF = 0.6
"""The least similarity of names, from 0 to 1."""


def closest(name: Any, known: Iterable[Any]) -> str | None:
    """Return the known name that is most like another; None if none is.

    Case does not count, nor do the letters' places in short names: of ``BOI`` ``BIO``
    is meant.
    """
    if not isinstance(name, str) or not name:
        return None
    names = {each.lower(): each for each in known if isinstance(each, str) and each}
    lower = name.lower()
    if _ALSO_CALLED.get(lower) in names.values():
        return _ALSO_CALLED[lower]
    found = [each for each in names if sorted(each) == sorted(lower)]
    if not found:
        found = get_close_matches(lower, names, 1, _CUTOFF)
    return names[found[0]] if found else None


def meant(name: Any, known: Iterable[Any]) -> str:
    """Return ``; did you mean 'max_iter'?``, or nothing."""
    found = closest(name, known)
    return "" if found is None else f"; did you mean {found!r}?"
