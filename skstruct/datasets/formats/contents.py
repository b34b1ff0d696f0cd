"""The contents of a file: its records and spans, counted by kind, and their places.

What is read is what is there: each record, and each span, is returned, or belongs to the
structure of the file, or is left out, counted and said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..._data.places import Where, agreeing, counted

FAULTY = "faulty"
"""Why a record is left out that cannot be read: a fault says more."""

NOT_ANNOTATED = "not annotated"
"""Why a record is left out that says nothing of its text: it is no surprise."""


_GONE = "in a record left out: "


ASKED = frozenset(
    ("of other annotators", "of other controls", "no label of labels=", "other text")
)
"""Why something is left out that an option leaves out: who gave it knows."""


class LeftOut(NamedTuple):
    """The number of records or spans that were left out for a reason, and the place of
    the first.
    """

    number: int
    first: str


@dataclass
class Tally:
    """Things of a file, counted by what became of them.

    Attributes
    ----------
    called : str
        What they are called, in the singular.
    seen : int
        All that were met.
    data : int
        Those that were returned.
    structure : int
        Those that the format has beside its data.
    left_out : dict of str to LeftOut
        Those that were not returned, by why.
    """

    called: str
    seen: int = 0
    data: int = 0
    structure: int = 0
    left_out: dict[str, LeftOut] = field(default_factory=dict)

    def leave(self, why: str, place: str, n: int = 1) -> None:
        """Count some that are left out."""
        number, first = self.left_out.get(why, (0, place))
        self.left_out[why] = LeftOut(number + n, first)

    @property
    def n_left_out(self) -> int:
        """The number that were left out."""
        return sum(each.number for each in self.left_out.values())

    def check(self, name: str) -> None:
        """Raise a RuntimeError unless everything that was met has been counted."""
        if self.seen != self.data + self.structure + self.n_left_out:
            raise RuntimeError(
                f"{name}: {self.seen} {self.called}s were met, and {self.data} are "
                f"returned, {self.structure} structure, {self.n_left_out} left out: "
                "this is a bug of skstruct, please report it"
            )

    def told(self, quiet: Set[str] = frozenset()) -> str:
        """Say what was left out, and where the first of each kind stands."""
        return "; ".join(
            f"{counted(n, self.called)} ({why}), first {first}"
            for why, (n, first) in self.left_out.items()
            if why not in quiet
        )


@dataclass
class Contents:
    """Counts of the records of a file and of their spans, by what became of them.

    Attributes
    ----------
    lines, records, spans : Tally
        Of files of lines the first, of records the others: which of them a format
        counts.
    empty : int
        Records that are annotated, and have no span.
    without_label : int
        Spans which say that a part of a text is not annotated.
    n_cancelled : int
        Annotations of Label Studio that were cancelled, beside others of the same text.
    """

    lines: Tally = field(default_factory=lambda: Tally("line"))
    records: Tally = field(default_factory=lambda: Tally("record"))
    spans: Tally = field(default_factory=lambda: Tally("span"))
    empty: int = 0
    without_label: int = 0
    n_cancelled: int = 0

    def take(self, record: Any) -> None:
        """Count a record that is returned with its spans."""
        self.records.data += 1
        self.spans.data += len(record.spans)
        self.empty += not record.spans
        for span in record.spans:
            if span.label is None:
                self.without_label += 1

    def leave(self, record: Any, why: str) -> None:
        """Count a record that is left out, and the spans that were met in it."""
        self.records.leave(why, record.place)
        if record.spans:
            self.spans.leave(f"{_GONE}{why}", record.place, len(record.spans))

    def check(self, name: str) -> None:
        """Raise a RuntimeError unless everything that was met has been counted."""
        self.lines.check(name)
        self.records.check(name)
        self.spans.check(name)

    def summary(self) -> str:
        """Say what there is in one sentence."""
        if self.lines.seen and not self.records.seen:
            found = (
                f"{counted(self.lines.seen, 'line')}: {self.lines.data:,} of data, "
                f"{self.lines.structure:,} of structure"
            )
            left = self.lines.left_out.items()
            return found + "".join(f", {n:,} left out ({why})" for why, (n, _) in left)
        parts = [f"{self.records.data:,} annotated"]
        if self.empty:
            parts[0] += f" ({self.empty:,} of them without spans)"
        left = self.records.left_out.items()
        parts += [f"{n:,} {why}" for why, (n, _) in left]
        text = f"{counted(self.records.seen, 'record')}: {', '.join(parts)}"
        text += f"; {counted(self.spans.data, 'span')}"
        if self.without_label:
            text += f", {self.without_label:,} of them without label"
        left = self.spans.left_out.items()
        if said := ", ".join(f"{n:,} {why}" for why, (n, _) in left):
            text += f"; left out: {said}"
        if self.n_cancelled:
            of = counted(self.n_cancelled, "cancelled annotation")
            text += f"; {of} beside others, left out"
        return text

    def left_out(self) -> str:
        """Say what was left out, but for what nobody annotated and for faults."""
        n_more = self.records.n_left_out and not self.records.data
        quiet = ASKED | {FAULTY} | (set() if n_more else {NOT_ANNOTATED})
        of_records = frozenset(
            why for why in self.spans.left_out if why.startswith(_GONE)
        )
        said = (self.records.told(quiet), self.spans.told(of_records | ASKED))
        return "; ".join(filter(None, said))


def keyless_sentence(n: int, first: str) -> str:
    """Say how many records have no list of spans."""
    some = f"{n:,} of the records {agreeing(n, 'have')} no list of spans, first {first}"
    return f"{some}; they are read as texts without spans"


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
