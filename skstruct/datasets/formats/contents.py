"""What a file of annotated texts holds: counts of its records, and all that is wrong.

A reader stops at the first fault. Whoever mends a file wants all of them: they are noted
here, each with its place, and the reader goes on behind them.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..._data.places import Where, counted

ANSWERS = {"reject": "rejected", "ignore": "ignored"}
"""Answers of Prodigy that leave a record out, and what it is counted as."""


class Fault(NamedTuple):
    """Something that is wrong in a file of annotated texts.

    Attributes
    ----------
    where : Where
    problem : str
        What is wrong, in a sentence.
    refused : bool
        Whether training refuses it; else it is learned as it is.
    """

    where: Where
    problem: str
    refused: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


@dataclass
class Contents:
    """What a file holds.

    Attributes
    ----------
    counts : Counter
        Records by what they are: ``records`` in all; ``annotated``, of which ``empty``
        have no span; ``not annotated``, ``cancelled``, ``rejected``, ``ignored``,
        ``faulty``; and ``spans``, of which ``without label`` say that a part of a text
        is not annotated.
    faults : list of Fault
        In the order in which they were found.
    """

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def note(self, where: Where, error: ValueError) -> None:
        """Take note of what a reader refuses."""
        problem = str(error)
        for place in (f"{where.file}, line {where.line}", f"{where.file}"):
            problem = problem.removeprefix(place)
        self.faults.append(Fault(where, problem.lstrip(":, ")))

    def see(self, record: Any, value: Any) -> None:
        """Count a record that was read."""
        counts = self.counts
        if record.spans is None:
            counts[why_left_out(value)] += 1
            return
        counts["annotated"] += 1
        counts["empty"] += not record.spans
        counts["spans"] += len(record.spans)
        counts["without label"] += sum(each.label is None for each in record.spans)
        counts["cancelled annotations"] += n_cancelled(value)

    def summary(self) -> str:
        """Say what there is in one sentence."""
        counts = self.counts
        parts = [f"{counts['annotated']:,} annotated"]
        if counts["empty"]:
            parts[0] += f" ({counts['empty']:,} of them without spans)"
        for name in ("not annotated", "cancelled", "rejected", "ignored", "faulty"):
            if counts[name]:
                parts.append(f"{counts[name]:,} {name}")
        text = f"{counted(counts['records'], 'record')}: {', '.join(parts)}"
        text += f"; {counted(counts['spans'], 'span')}"
        if counts["without label"]:
            text += f", {counts['without label']:,} of them without label"
        if counts["cancelled annotations"]:
            of = counted(counts["cancelled annotations"], "cancelled annotation")
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


@contextlib.contextmanager
def attempt(contents: Contents | None, where: Where) -> Iterator[None]:
    """Note a ValueError within it, if there is where to; else it goes on."""
    try:
        yield
    except ValueError as error:
        if contents is None:
            raise
        contents.counts["records"] += where.record is None
        contents.counts["faulty"] += 1
        contents.note(where, error)
