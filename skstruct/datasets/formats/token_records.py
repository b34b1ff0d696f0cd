"""The base of formats whose sentences are JSON objects with lists of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..._core.user_warnings import warn
from ..._data.schemes import labels_to_spans
from .contents import Contents
from .entry import TokenFormat, labels_alone
from .span_records import json_values, said_of_record


class TokenRecords(TokenFormat):
    """A format of which each sentence is an object, on a line of its own when
    written.
    """

    is_written = True
    names_fields = True
    has_comments = False

    def said(self, lines: Any, source: Any) -> dict[str, str]:
        """Return the keys of the record beside its tokens."""
        return said_of_record(source)

    def selected(
        self, sentences: list[tuple[list[tuple[int, str, bool]], Any]]
    ) -> Iterator[str]:
        """Yield the records of some sentences, a line each."""
        for _, source in sentences:
            yield as_line(source)


class Records:
    """The records of a file, counted by what becomes of them.

    Attributes
    ----------
    contents : Contents
        Of records, and of spans if the format has some.
    """

    def __init__(self, values: Iterator[tuple[str, Any]], contents: Contents) -> None:
        self._values = values
        self.contents = contents
        self.name = ""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        tally = self.contents.records
        for place, record in self._values:
            self.name = self.name or place.rpartition(",")[0]
            tally.seen += 1
            if record is None:
                tally.leave("null", place)
            else:
                tally.data += 1
                yield place, record

    def leave_empty(self, place: str) -> None:
        """Count a record that has no token."""
        self.contents.records.data -= 1
        self.contents.records.leave("without tokens", place)

    def labels_of(
        self, spans: list[tuple[int, int, str]], n: int, place: str
    ) -> list[str]:
        """Return the labels of n tokens in the scheme BIO; of spans (first, last, label)
        within or across others the longest count.
        """
        labels = ["O"] * n
        tally = self.contents.spans
        tally.seen += len(spans)
        for start, end, label in sorted(spans, key=lambda s: (s[0] - s[1], s[0])):
            if any(each != "O" for each in labels[start : end + 1]):
                tally.leave("within or across others, the longest count", place)
                continue
            labels[start : end + 1] = [f"I-{label}"] * (end + 1 - start)
            labels[start] = f"B-{label}"
            tally.data += 1
        return labels


@contextmanager
def counted_records(file: Any, encoding: str, contents: Contents) -> Iterator[Records]:
    """Give the records of a file of JSON; when all are read, check that each was counted,
    and warn of those that were left out.
    """
    records = Records(json_values(file, encoding), contents)
    yield records
    records.contents.check(records.name)
    if said := records.contents.left_out():
        warn(f"{records.name}: left out: {said}")


def checked_spans(found: Any, n: int, place: str, begin: int = 0) -> list[Any]:
    """Return spans [first, last, label] of n tokens, counted from ``begin``, as tuples
    that are counted from 0.

    Raises
    ------
    ValueError
        If one is none of the tokens.
    """
    spans = []
    for k, span in enumerate(found):
        fits = (
            isinstance(span, list)
            and len(span) == 3
            and all(type(number) is int for number in span[:2])
            and begin <= span[0] <= span[1] < begin + n
            and isinstance(span[2], str)
        )
        if not fits:
            of = (
                f"{n} tokens" if not begin else f"the tokens {begin} to {begin + n - 1}"
            )
            raise ValueError(
                f"{place}, span {k}: expected [first, last, label] of {of}, the "
                f"last inclusive, got {span!r:.60}"
            )
        spans.append((span[0] - begin, span[1] - begin, span[2]))
    return spans


def spans_of(marks: Any, what: str) -> list[list[Any]]:
    """Return spans [first, last, label] of what `TokenFormat.labelled` is given."""
    found = labels_to_spans(labels_alone(marks, what), "BIO")
    return [[start, stop - 1, label] for start, stop, label in found]


def as_line(record: Mapping[str, Any]) -> str:
    """Return a record as a line of JSON."""
    return json.dumps(record, ensure_ascii=False) + "\n"


def line_number(place: str) -> int:
    """Return the line that a place of a record names; 1 if it names none."""
    return int(place.rpartition(" ")[2]) if ", line " in place else 1
