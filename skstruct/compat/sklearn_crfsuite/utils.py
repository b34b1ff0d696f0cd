"""The names of ``sklearn_crfsuite.utils``."""

from __future__ import annotations

from itertools import chain
from typing import Any


def flatten(y: Any) -> list[Any]:
    """Return a list of lists as one list."""
    return list(chain.from_iterable(y))
