"""Warnings that point at the line of the user's program, and are given once for all
parts of a corpus.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Iterator
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

_HERE = threading.local()
"""A flag of each thread, ``silent``."""

_NUMBER = re.compile(r"\d[\d.,e+-]*")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line that is neither ours nor of libraries that call us."""
    if getattr(_HERE, "silent", False):
        return
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
def without_warnings() -> Iterator[None]:
    """Return a context in which this thread's :func:`warn` says nothing: what is tried
    there is no work of the user's.
    """
    before = getattr(_HERE, "silent", False)
    _HERE.silent = True
    try:
        yield
    finally:
        _HERE.silent = before


@contextmanager
def warning_once() -> Any:
    """Return a context whose warnings are given at its end: one of those that differ in
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
