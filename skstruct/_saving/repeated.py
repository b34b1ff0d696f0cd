"""A cache for repeated requests: the bytes of a model that each task of a pool of
processes is handed, and what a process has read of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

MOST = 4
"""Models of which something is kept."""


class _Entry(NamedTuple):
    value: Any  # None at first
    owners: list[Any]  # weak references


class Repeated:
    """Values by key, each kept from the second time on that it is made.

    So who pickles or reads a model once has no second copy of it in memory.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}

    def find(self, key: Hashable) -> Any:
        """Return the value that is kept for a key, or None."""
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def made(self, key: Hashable, value: Any, owners: Iterable[Any] = ()) -> None:
        """Note a value that was made, because none was kept.

        Parameters
        ----------
        key : hashable
        value : object
        owners : iterable of objects
            The value is forgotten when one of them is gone.
        """
        entries = dict(self._entries)  # replaced as a whole: threads may look
        known = entries.pop(key, None)

        def forget(_: Any) -> None:
            self._entries = {k: v for k, v in self._entries.items() if k != key}

        references = [weakref.ref(owner, forget) for owner in owners]
        entries[key] = _Entry(None if known is None else value, references)
        self._entries = dict(list(entries.items())[-MOST:])
