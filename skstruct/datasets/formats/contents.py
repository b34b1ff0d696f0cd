"""What a file of annotated texts holds: its records by what they are, and their
places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..._data.places import Where, counted

ANSWERS = {"reject": "rejected", "ignore": "ignored"}
"""Answers of Prodigy that leave a record out, and what it is counted as."""


class Contents(Counter[str]):
    """Records of a file, counted by what they are.

    ``records`` are all; ``annotated``, of which ``empty`` have no span; ``not
    annotated``, ``cancelled``, ``rejected``, ``ignored``, ``null``, ``faulty``; and
    there are ``spans``, of which ``without label`` say that a part of a text is not
    annotated.
    """

    def see(self, record: Any, value: Any) -> None:
        """Count a record that was read from a value."""
        self["records"] += 1
        if record.spans is None:
            self[why_left_out(value)] += 1
            return
        self["annotated"] += 1
        self["empty"] += not record.spans
        self["spans"] += len(record.spans)
        self["without label"] += sum(each.label is None for each in record.spans)
        self["cancelled annotations"] += n_cancelled(value)

    def see_null(self) -> None:
        """Count a record that holds nothing."""
        self["records"] += 1
        self["null"] += 1

    def see_faulty(self, was_counted: bool) -> None:
        """Count a record that cannot be read, or whose spans cannot."""
        self["faulty"] += 1
        if was_counted:
            self["annotated"] -= 1
        else:
            self["records"] += 1

    def summary(self) -> str:
        """Say what there is in one sentence."""
        parts = [f"{self['annotated']:,} annotated"]
        if self["empty"]:
            parts[0] += f" ({self['empty']:,} of them without spans)"
        left_out = "not annotated", "cancelled", "rejected", "ignored", "null", "faulty"
        for name in left_out:
            if self[name]:
                parts.append(f"{self[name]:,} {name}")
        text = f"{counted(self['records'], 'record')}: {', '.join(parts)}"
        text += f"; {counted(self['spans'], 'span')}"
        if self["without label"]:
            text += f", {self['without label']:,} of them without label"
        if self["cancelled annotations"]:
            of = counted(self["cancelled annotations"], "cancelled annotation")
            text += f"; {of} beside others, left out"
        return text


def why_left_out(value: Any) -> str:
    """Say what a record is that is not learned."""
    if isinstance(value, Mapping):
        if n_cancelled(value):
            return "cancelled"
        return ANSWERS.get(str(value.get("answer")), "not annotated")
    return "not annotated"


def n_cancelled(value: Any) -> int:
    """Count the annotations of a task of Label Studio that were cancelled."""
    if not isinstance(value, Mapping):
        return 0
    given = value.get("annotations", value.get("completions"))
    if not isinstance(given, list):
        return 0
    return sum(
        isinstance(each, Mapping) and bool(each.get("was_cancelled")) for each in given
    )


def id_of(value: Any) -> Any:
    """Return what a record calls itself; None if it has no name."""
    record = value[1] if isinstance(value, list | tuple) and len(value) == 2 else value
    if not isinstance(record, Mapping):
        return None
    data = record.get("data")
    # an import numbers tasks anew, and keeps what their data say
    found = data.get("id") if isinstance(data, Mapping) else None
    found = record.get("id") if found is None else found
    return found if isinstance(found, str | int) else None


_PLACE = re.compile(r"(?s)(.*?)(?:, line (\d+)|, record (\d+))")


def where_at(place: str) -> Where:
    """Return what the place of an error says, as "notes.json, record 3"."""
    found = _PLACE.match(place)
    if found is None:
        return Where(place)
    line, record = (None if n is None else int(n) for n in found.groups()[1:])
    return Where(found[1], record, None, line)


def where_of(record: Any) -> Where:
    """Return where a record stands."""
    found = _PLACE.match(record.place)
    if found is None:  # a file of its own, or one of the records that were given
        name = record.place if record.place.endswith(".ann") else None
        return Where(name, record.number, record.id or record.metadata.get("name"))
    return where_at(record.place)._replace(record=record.number, id=record.id)
