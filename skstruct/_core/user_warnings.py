"""Warnings that point at the line of the user's program, and are given once for all
parts of a corpus.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from typing import Any

_BETWEEN = {
    "skstruct",
    "sklearn",
    "contextlib",
    "functools",
    "joblib",
    "concurrent",
    "threading",
}
"""Packages whose lines say nothing to who is warned."""

_NUMBER = re.compile(r"\d[\d.,e+-]*")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line that is neither ours nor of libraries that call us."""
    level = 1
    frame = sys._getframe()
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN
    ):
        level = level + 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def warning_once() -> Any:
    """A context whose warnings are given at its end: one of those that differ in
    numbers only.
    """
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield
    kinds = [(each.category, _NUMBER.sub("", str(each.message))) for each in given]
    first = dict(zip(kinds[::-1], given[::-1]))
    times = Counter(kinds)
    for kind in dict.fromkeys(kinds):
        more = f"; warnings like this: {times[kind]}" if times[kind] > 1 else ""
        warn(f"{first[kind].message}{more}", first[kind].category)
