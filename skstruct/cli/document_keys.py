"""Keys and columns of a corpus that can name the documents of its sequences.

A file may call them anything: ``patient_id``, ``article``, ``# source = ...``. Nobody
but the user knows which of them holds sentences that are alike; so ``--document`` names
one, and a message offers those whose values stand together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from .._data.places import counted
from ..datasets.formats.column_lines import IDS
from .common import CommandError, warn

_ID = re.compile(rf"(^|[^a-z])({IDS})$", re.I)
"""Names of what names something, wherever its values stand."""

_MOST = 3
"""Keys that are offered."""


def carried(said: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return what comments say of sentences: of one that begins a document, it holds of
    the next ones, too.
    """
    last: dict[str, str] = {}
    found = []
    for each in said:
        last = {**last, **each}
        found.append(last)
    return found


def documents_by(
    key: str, said: Sequence[Mapping[str, str]], name: str, unit: str
) -> list[str | None]:
    """Return the value of a key for each sequence.

    Parameters
    ----------
    key : str
    said : sequence of dict
        What the file says of each sequence.
    name, unit : str
        Of the file and a sequence, for messages.

    Raises
    ------
    CommandError
        If no sequence has it; the message names those that there are.
    """
    found = [each.get(key) for each in said]
    n_missing = found.count(None)
    if n_missing == len(found):
        keys = list(dict.fromkeys(name for each in said for name in each))
        there = (
            f"there are {', '.join(keys)}"
            if keys
            else "there is no key, column or comment beside the annotations"
        )
        raise CommandError(f"{name}: no {unit} has {key!r} (--document); {there}")
    if n_missing:
        warn(
            f"{name}: {counted(n_missing, unit)} without {key!r} (--document), each a "
            "document of its own"
        )
    return found


def offered(said: Sequence[Mapping[str, str]]) -> list[str]:
    """Return keys that can name documents, those with the most values first: several
    sequences have one value, and these stand together, or the key is called as what
    names something.
    """
    counts: dict[str, int] = {}
    for key in dict.fromkeys(key for each in said for key in each):
        values = [each.get(key) for each in said]
        if None in values:
            continue
        n = len(set(values))
        stands_together = n == sum(1 for _ in groupby(values))
        if 1 < n < len(values) and (stands_together or _ID.search(key)):
            counts[key] = n
    return sorted(counts, key=lambda key: -counts[key])[:_MOST]


def offer(said: Sequence[Mapping[str, str]], unit: str) -> str:
    """Return what a message adds about `offered` keys; nothing where there are none."""
    keys = offered(said)
    if not keys:
        return ""
    first, *others = keys
    n = len({each[first] for each in said})
    also = f" (or {', '.join(others)})" if others else ""
    return (
        f"; {first!r} has {n} values for {counted(len(said), unit)}: --document "
        f"{first}{also} keeps those with one value together"
    )
