"""The spans of records, with offsets that count characters and lie within their texts.

What the offsets of a file count is found by a vote, in `skstruct.datasets.formats.span_units`.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any

from ..._data.inputs import flatten
from ..._data.places import PLACE, PlaceError
from ..._data.spans import CONVERTS, Span, as_spans, from_utf16
from .contents import FAULTY
from .span_units import CALLED, Count, Vote, in_characters, signs_of, voted

if TYPE_CHECKING:
    from .span_records import Reading, Record

_USUAL = ("characters", "utf-16")

SAMPLE = 200
"""Annotated texts that vote."""


def with_spans(
    records: Iterable[Record], name: str, reading: Reading
) -> Iterator[tuple[Record, list[Span]]]:
    """Yield records with their spans, whose offsets count characters.

    Where options leave open what offsets count, the first texts with spans vote, and
    again the first that have letters or line ends which tell more units apart. If a
    text has characters such as emoji, all records that follow are read before they
    vote.

    Parameters
    ----------
    records : iterable of Record
        With annotations.
    name : str
        Of the source, for warnings.
    reading : Reading
        Its options say what is settled; faults are gathered there.

    Raises
    ------
    ValueError
        If a span is none of its text; the message names the place.
    """
    options = reading.options
    vote = Vote(Count(options.offsets, options.ends), options.offsets != "auto")
    seen: set[str] = set()  # what tells units apart, and was voted on
    rest = iter(records)
    while (record := next(rest, None)) is not None:
        offsets, ends = vote.found
        signs = signs_of(record, offsets, ends) - seen
        if signs and not record.settled:
            sample, rest = _sampled(record, rest, "astral" in signs)
            seen.update(*(signs_of(each, offsets, ends) for each in sample))
            result = voted(_with_signs(sample, signs), offsets, ends)
            if result.sentence is not None:
                warnings.warn(f"{name}: {result.sentence}")
            is_usual = result.found.unit in _USUAL and "astral" not in seen
            if offsets == "auto" and is_usual:  # an emoji may yet tell
                result = result._replace(found=Count("auto", result.found.ends))
            vote = result
            rest = chain(sample, rest)  # they are read now
            continue
        unit = "characters" if offsets == "auto" else offsets
        count = Count(unit, "exclusive" if ends == "auto" else ends)
        if record.settled:
            count = Count("characters", "exclusive")
        spans = _spans_of(record, count, vote, reading)
        if spans is not None:
            yield record, spans
    if vote.is_told:
        reading.count = vote.found


def _sampled(
    first: Record, records: Iterator[Record], whole: bool
) -> tuple[list[Record], Iterator[Record]]:
    """Return records until there are `SAMPLE` with spans, or all, and the rest.

    An error of the source is raised where the rest begins: what stands before it can be
    learned.
    """
    held = [first]
    n = 1
    try:
        for record in records:
            held.append(record)
            n += bool(record.spans)
            if n >= SAMPLE and not whole:
                break
    except Exception as error:  # of whatever reads it
        return held, _raised(error)
    return held, records


def _raised(error: Exception) -> Iterator[Record]:
    raise error
    yield  # it is a generator


def _with_signs(sample: list[Record], signs: set[str]) -> list[Record]:
    """Return the first records that have a say in what tells units apart."""
    having = (
        r for r in sample if signs & signs_of(r, "auto", "auto") and not r.settled
    )
    return list(islice(having, SAMPLE))


class SpanFault(ValueError):
    """A span is not as the file says; ``position`` is that of its annotation in the
    record.
    """

    def __init__(self, text: str, position: int) -> None:
        super().__init__(text)
        self.position = position


def _parts_of(record: Any, unit: str, ends: str = "exclusive") -> list[list[Span]]:
    """Return the parts of each annotation as spans.

    Raises
    ------
    SpanFault
        If one is not within the text, or does not cover what the file says.
    """
    given = [
        (start, end, each.label) for each in record.spans for start, end in each.parts
    ]
    if ends == "inclusive" or unit not in _USUAL:
        given = _converted(record, given, Count(unit, ends))
        unit = "characters"
    try:
        if unit == "utf-16":
            (spans,) = from_utf16([record.text], [given])
        else:
            spans = as_spans([given], [record.text]).spans
    except PlaceError as error:
        of_part = [k for k, each in enumerate(record.spans) for _ in each.parts]
        assert error.position is not None  # it is about a span
        place = _place(record, of_part[error.position])
        raise SpanFault(
            error.text.replace(PLACE, place, 1).replace(CONVERTS, ""),
            of_part[error.position],
        ) from None
    flat = iter(spans)
    found = [[next(flat) for _ in each.parts] for each in record.spans]
    for k, parts in enumerate(found):
        if record.spans[k].text is not None:
            _check_text(record, k, parts, unit)
    return found


def _place(record: Any, k: int) -> Any:
    """Return the place of annotation k, for errors."""
    return record.spans[k].place or f"{record.place}, span {k}"


def _check_text(record: Any, k: int, parts: Any, unit: Any) -> None:
    """Raise unless the parts of the annotation k cover what the file says."""
    found = [record.text[start:end] for start, end, _ in parts]
    said = record.spans[k].text
    if found != [said] and _solid("".join(found)) != _solid(said):
        counted = "" if record.text.isascii() else f", counted in {CALLED[unit]},"
        wrong = f"{tuple(parts[0])!r}{counted} is {' '.join(found)!r:.60}"
        raise SpanFault(
            f"{_place(record, k)}: {wrong}, but the file says {said!r:.60}", k
        )


def _solid(text: str) -> str:
    """Return the text without white space, in one normal form; Label Studio writes a
    backslash and an n for a line break.
    """
    solid = "".join(text.replace("\\n", " ").split())
    return unicodedata.normalize("NFC", solid)


def _converted(record: Any, given: Any, count: Count) -> Any:
    """Spans in characters; raises if one does not fit."""
    of_part = [k for k, each in enumerate(record.spans) for _ in each.parts]
    edges = in_characters(record.text, [(a, b) for a, b, _ in given], count)
    found = []
    for position, (edge, (start, end, label)) in enumerate(zip(edges, given)):
        if edge is None:
            k = of_part[position]
            how = "" if count.ends == "exclusive" else ", ends inclusive"
            wrong = (
                f"{(start, end, label)!r}, counted in {CALLED[count.unit]}{how}, is no "
                f"span of a text of {len(record.text)} characters"
            )
            raise SpanFault(f"{_place(record, k)}: {wrong}", k)
        found.append((*edge, label))
    return found


def _spans_of(
    record: Record, count: Count, vote: Vote, reading: Reading
) -> list[Any] | None:
    """Return the spans of a record; None if it has faults, which are gathered."""
    found = _plain_spans(record, count)
    if found is not None:
        return found
    whole = record
    faulty = False
    while True:
        try:
            spans = [
                joined(record.text, parts, _place(record, k), reading)
                for k, parts in enumerate(_parts_of(record, count.unit, count.ends))
            ]
            break
        except ValueError as error:
            reading.fault(_with_other_unit(error, whole, count, vote, reading), whole)
            faulty = True
            if not isinstance(error, SpanFault) or record.spans is None:
                break
            # Without this one the others are looked at: all that is wrong is told.
            others = [j for j in range(len(record.spans)) if j != error.position]
            record = record._replace(spans=[_placed(record, j) for j in others])
    if faulty:
        reading.contents.leave(whole, FAULTY)
        return None
    if any(each.rejected for each in record.spans or ()):
        return _known_alone(record, spans)
    n_apart = spans.count(None)
    if n_apart:
        reading.leave_span("discontinuous", record.place, n_apart)
        reading.contents.spans.data -= n_apart
        spans = [span for span in spans if span is not None]
    if record.partial and Span(0, len(record.text), None) not in spans:
        spans.append(Span(0, len(record.text), None))
    return spans


def _plain_spans(record: Record, count: Count) -> list[Span] | None:
    """Return the spans of a record with nothing special about any of them, else
    None.
    """
    text, n = record.text, len(record.text)
    is_plain = count == ("characters", "exclusive") or (
        text.isascii() and count == ("utf-16", "exclusive")
    )
    if not is_plain or record.partial:
        return None
    found = []
    for each in record.spans or ():
        if len(each.parts) != 1 or each.rejected:
            return None
        ((start, end),), label, said = each[:3]
        if type(start) is not int or type(end) is not int:
            return None
        is_label = label is None or (type(label) is str and label)
        if not (0 <= start <= end <= n and is_label):
            return None
        if said is not None and text[start:end] != said:
            return None
        found.append(Span(start, end, label))
    return found


def _with_other_unit(
    error: ValueError, record: Record, count: Count, vote: Vote, reading: Reading
) -> ValueError:
    """Return the error about a record that fits a unit which others do not have, so
    that it says this.
    """
    options = reading.options
    is_of_offsets = isinstance(error, SpanFault)
    if not is_of_offsets or options.offsets != "auto" or count.unit not in _USUAL:
        return error
    other = _USUAL[1 - _USUAL.index(count.unit)]
    try:
        spans = _parts_of(record, other, count.ends)
    except ValueError:
        return error
    covered = ", ".join(
        repr(record.text[start:end]) for start, end, _ in flatten(spans)
    )
    others = (
        f"other records count {CALLED[count.unit]}"
        if vote.is_told
        else "the unit of other records is unknown"
    )
    text = (
        f"{error}; in {CALLED[other]} the spans of this record are "
        f"{covered:.80}, but {others}: correct the record, or pass "
        f"offsets={other!r} if all records count these"
    )
    assert isinstance(error, SpanFault)
    return SpanFault(text, error.position)


def _known_alone(record: Any, spans: list[Any]) -> list[Span]:
    """The spans that were accepted; what is around them, and around those that were
    rejected, is unknown.
    """
    found = []
    at = 0
    for span, each in sorted(zip(spans, record.spans), key=lambda pair: pair[0][:2]):
        if span.start > at:
            found.append(Span(at, span.start, None))
        at = max(at, span.end)
        if not each.rejected:
            found.append(span)
    if at < len(record.text):
        found.append(Span(at, len(record.text), None))
    return found


def _placed(record: Any, k: int) -> Any:
    """The annotation k of a record, with its place."""
    return record.spans[k]._replace(place=_place(record, k))


def joined(text: str, parts: Any, place: Any, reading: Reading) -> Span | None:
    """Return one `Span` of its parts; None if it is discontinuous and to be left out.

    Parts with nothing but white space between them are one.
    """
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts)
    start = parts[0][0]
    end = max(part.end for part in parts)
    label = parts[0].label
    if any(text[a.end : b.start].strip() for a, b in pairwise(parts)):
        discontinuous = reading.options.discontinuous
        if discontinuous == "skip":
            return None
        if discontinuous == "error":
            shown = " ... ".join(text[a:b] for a, b, _ in parts)
            ways = (
                "pass discontinuous='cover' to take all between its ends, or "
                "'skip' to leave it out"
            )
            raise ValueError(
                f"{place}: the span {label!r} is discontinuous: {shown!r:.80}; {ways}"
            )
    return Span(start, end, label)
