"""Units that offsets may count beside characters and UTF-16, found by one vote of a
file.

Programs count bytes of UTF-8; the end of a span may be its last character; and where a
text was shown in a browser, or read in Python without ``newline=""``, a line end of two
characters counts as one.

Spans speak for the unit in which they cover what the file says, or are whole words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._data.text import tokenized

if TYPE_CHECKING:
    from .span_records import Record

SAMPLE = 200
"""Annotated texts that vote."""

_ENOUGH = 3
"""Spans that a unit needs at least."""


def _utf16(character: str) -> int:
    return 1 + (character > "\uffff")


def _utf8(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))


_SIZES: dict[str, tuple[Callable[[str], int], bool]] = {
    "characters": (lambda _: 1, False),
    "utf-16": (_utf16, False),
    "utf-8": (_utf8, False),
    "characters-lf": (lambda _: 1, True),
    "utf-16-lf": (_utf16, True),
}
"""Unit -> (what a character counts, whether CRLF counts as one)."""

UNITS = tuple(_SIZES)
ENDS = ("exclusive", "inclusive")

CALLED = {
    "characters": "characters",
    "utf-16": "UTF-16 units",
    "utf-8": "bytes of UTF-8",
    "characters-lf": "characters, a line end CRLF as one",
    "utf-16-lf": "UTF-16 units, a line end CRLF as one",
}
"""What units are called in sentences."""


class Count(NamedTuple):
    """What offsets count."""

    unit: str
    ends: str


def edges_of(text: str, unit: str) -> dict[int, int]:
    """Return the character before which each offset stands; others are within one."""
    size, lf = _SIZES[unit]
    sizes = [size(character) for character in text]
    if lf:
        for k, character in enumerate(text):
            if character == "\r" and text[k + 1 : k + 2] == "\n":
                sizes[k] = 0
    edges: dict[int, int] = {}
    for k, offset in enumerate(accumulate(sizes, initial=0)):
        edges.setdefault(offset, k)
    return edges


def in_characters(
    text: str, parts: Iterable[tuple[Any, Any]], count: Count
) -> list[tuple[int, int] | None]:
    """Return (start, end) of spans in characters; None for those that do not fit."""
    edges = edges_of(text, count.unit)
    found: list[tuple[int, int] | None] = []
    for start, end in parts:
        if not all(isinstance(x, int | np.integer) for x in (start, end)):
            found.append(None)
            continue
        last = int(end) + (count.ends == "inclusive")
        a, b = edges.get(int(start)), edges.get(last)
        found.append(None if a is None or b is None or a >= b else (a, b))
    return found


def signs_of(record: Record, offsets: str, ends: str) -> set[str]:
    """Return what a record has that tells units apart."""
    if record.sure or not record.spans:
        return set()
    signs = {"ends"} if ends == "auto" and record.unit == "characters" else set()
    if offsets == "auto" and "\r\n" in record.text:
        signs.add("crlf")
    if offsets == "auto" and record.unit == "characters" and not record.text.isascii():
        signs.add("wide")
    return signs


def sampled(
    first: Record, records: Iterator[Record]
) -> tuple[list[Record], Iterator[Record]]:
    """Return records until there are `SAMPLE` with spans, and the rest.

    An error of the source is raised where the rest begins: what stands before it can be
    learned.
    """
    held = [first]
    n = 1
    try:
        for record in records:
            held.append(record)
            n += bool(record.spans)
            if n >= SAMPLE:
                break
    except Exception as error:  # of whatever reads it
        return held, _raised(error)
    return held, records


def _raised(error: Exception) -> Iterator[Record]:
    raise error
    yield  # it is a generator


class _Tally(NamedTuple):
    """What spans say of a count, where it differs from the usual ones."""

    n: int  # spans
    whole: int  # those that are whole words
    usual: int  # those that are as they are usually counted
    n_said: int  # spans of which the file says what they cover
    said: int  # those that cover it
    usual_said: int

    @property
    def is_won(self) -> bool:
        """Whether the count is that of the file."""
        if self.n_said >= max(1, self.n // 2):
            return (
                10 * self.said >= 9 * self.n_said and 2 * self.usual_said < self.n_said
            )
        enough = self.n >= _ENOUGH and 10 * self.whole >= 9 * self.n
        return enough and 2 * self.usual <= self.n


def voted(records: list[Record], offsets: str, ends: str, name: str) -> Count | None:
    """Return what offsets count, if it is nothing usual; a warning says so."""
    voters = [r for r in records if r.spans and not r.sure]
    usual = [Count(u, "exclusive") for u in ("characters", "utf-16")]
    if offsets != "auto":
        usual = [Count(offsets, "exclusive")]
    elif any(record.unit == "utf-16" for record in voters):
        usual = [Count("utf-16", "exclusive")]
    tallies = {}
    edges = list(_word_edges([record.text for record in voters]))
    for count in _candidates(voters, offsets, ends):
        tally = _tallied(voters, edges, count, usual)
        if tally.is_won and (count.ends == "exclusive" or tally.n >= _ENOUGH):
            tallies[count] = tally
    if not tallies:
        return None
    best = max(tallies, key=lambda c: (tallies[c].said, tallies[c].whole))
    tally = tallies[best]
    what = []
    if best.unit not in ("characters", "utf-16"):
        what.append(f"offsets count {CALLED[best.unit]}")
    if best.ends == "inclusive":
        what.append("ends are inclusive")
    told = f"{tally.whole:,} of {tally.n:,} spans are whole words"
    other = tally.usual
    if tally.n_said >= max(1, tally.n // 2):
        told = f"{tally.said:,} of {tally.n_said:,} spans cover what the file says"
        other = tally.usual_said
    warnings.warn(
        f"{name}: {told} if {' and '.join(what)}, and {other:,} if not: they are read "
        f"so; offsets={best.unit!r}, ends={best.ends!r} says it"
    )
    return best


def _candidates(voters: list[Record], offsets: str, ends: str) -> Iterator[Count]:
    """Yield what offsets could count beside the usual."""
    crlf = any("\r\n" in record.text for record in voters)
    of_tool = any(record.unit == "utf-16" for record in voters)
    units = [offsets]
    if offsets == "auto" and of_tool:
        units = ["utf-16", *(["utf-16-lf"] if crlf else [])]
    elif offsets == "auto":
        wide = any(not record.text.isascii() for record in voters)
        units = ["characters", *(["utf-16", "utf-8"] if wide else [])]
        units += ["characters-lf", "utf-16-lf"] if crlf else []
    for end in ENDS if ends == "auto" and not of_tool else ("exclusive",):
        for unit in units:
            is_usual = offsets != "auto" or unit in ("characters", "utf-16")
            if end == "inclusive" or not is_usual:
                yield Count(unit, end)


def _word_edges(texts: list[str]) -> Iterator[tuple[set[int], set[int]]]:
    """Yield (starts, ends) of the words of each text."""
    for tokens in tokenized(texts).pairs() if texts else ():
        yield {start for start, _ in tokens}, {end for _, end in tokens}


def _tallied(
    voters: list[Record], edges: list[Any], count: Count, usual: list[Count]
) -> _Tally:
    """Count what the spans say that read otherwise than usual."""
    n = whole = n_said = said = 0
    others = np.zeros((len(usual), 2), np.int64)
    for record, (starts, ends) in zip(voters, edges):
        if count.unit.endswith("-lf") and "\r\n" not in record.text:
            continue
        if count.unit == "utf-8" and record.text.isascii():
            continue
        assert record.spans is not None
        single = [each for each in record.spans if len(each.parts) == 1]
        parts = [each.parts[0] for each in single]
        read = in_characters(record.text, parts, count)
        ways = [in_characters(record.text, parts, way) for way in usual]
        for k, (annotation, edge) in enumerate(zip(single, read)):
            as_usual = [way[k] for way in ways]
            if edge in as_usual and edge is not None:
                continue
            n += 1
            whole += _is_whole(edge, starts, ends)
            others[:, 0] += [_is_whole(each, starts, ends) for each in as_usual]
            if annotation.text is None:
                continue
            n_said += 1
            said += _covers(record.text, edge, annotation.text)
            others[:, 1] += [
                _covers(record.text, each, annotation.text) for each in as_usual
            ]
    return _Tally(
        n, whole, int(others[:, 0].max()), n_said, said, int(others[:, 1].max())
    )


def _is_whole(edge: Any, starts: set[int], ends: set[int]) -> bool:
    return edge is not None and edge[0] in starts and edge[1] in ends


def _covers(text: str, edge: Any, said: str) -> bool:
    return edge is not None and text[edge[0] : edge[1]].split() == said.split()
