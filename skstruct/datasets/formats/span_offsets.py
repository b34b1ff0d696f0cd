"""What the offsets of a file count: characters, or units of UTF-16 as tools in
JavaScript do.

The two differ behind a character beyond U+FFFF, such as an emoji. A file counts one of
them. Where a record fits one unit only, by the text that its spans say they cover or by
the length of its text, it speaks for that unit. Those of Prodigy and spaCy that fit
both speak for characters; all others together for the unit in which more of their spans
begin and end where words do. The unit that most records speak for is that of the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from ..._data.inputs import flatten
from ..._data.places import PLACE, PlaceError
from ..._data.spans import CONVERTS, Span, as_spans, from_utf16, wide_characters
from ..._data.text import tokenized
from .span_units import CALLED, Count, in_characters, sampled, signs_of, voted

if TYPE_CHECKING:
    from .span_records import Reading, Record

_USUAL = ("characters", "utf-16")

_GROUP = 500
"""Texts whose words are found at a time."""

_UNTOLD = 0.05
"""What a record speaks for the usual unit if words tell nothing: one odd record in a
hundred is no proof.
"""


def with_spans(
    records: Iterable[Record], name: str, reading: Reading
) -> Iterator[tuple[Record, list[Span]]]:
    """Yield records with their spans, whose offsets count characters.

    Where options leave open what offsets count, the first texts with spans vote, and
    again the first that have letters or line ends which tell more units apart. Of
    characters and UTF-16 units all records decide, which are read to their end at the
    first whose offsets could count either.

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
    offsets = options.offsets
    ends = options.ends
    seen: set[str] = set()  # what tells units apart, and was voted on
    rest = iter(records)
    while (record := next(rest, None)) is not None:
        if signs_of(record, offsets, ends) - seen:
            sample, rest = sampled(record, rest)
            seen.update(*(signs_of(each, offsets, ends) for each in sample))
            count = voted(sample, offsets, ends, name)
            if count is not None:  # something unusual; else it is left open
                offsets, ends = count
            rest = chain(sample, rest)  # they are read now
        elif offsets == "auto" and record.spans and wide_characters(record.text).size:
            everything = [record, *rest]
            offsets = _unit_of(everything, name, reading)
            rest = iter(everything)
        else:
            count = Count(offsets, "exclusive" if ends == "auto" else ends)
            spans = _spans_of(record, count, options.discontinuous, reading)
            if spans is not None:
                yield record, spans
    reading.count = Count(offsets, ends)


def _unit_of(records: Iterable[Record], name: str, reading: Reading) -> str:
    """Return the unit, of characters and UTF-16 units, that the offsets of all records
    count.

    Raises
    ------
    ValueError
        If a record fits the other unit only.
    """
    usual = None
    ambiguous = []
    n_sure = dict.fromkeys(_USUAL, 0)
    # (record, its spans, why they are none in the other unit)
    only: dict[str, list[Any]] = {unit: [] for unit in _USUAL}
    for record in records:
        if not record.spans or not wide_characters(record.text).size:
            continue
        usual = usual or record.unit
        read = {}
        wrong = None
        for unit in _USUAL:
            try:
                read[unit] = _parts_of(record, unit)
            except ValueError as error:
                wrong = str(error)
        if len(read) == 1:
            ((unit, spans),) = read.items()
            only[unit].append((record, spans, wrong))
        elif (
            not read
            or read["characters"] == read["utf-16"]
            or None not in [s.text for s in record.spans]
        ):
            continue  # it speaks for none: what is wrong in both is an error later
        elif record.sure or record.unit == "utf-16":  # by the definition of its format
            n_sure[record.unit] += 1
        else:
            ambiguous.append((record.text, read))
    met = _edges_met(ambiguous)
    by_words = max(_USUAL, key=lambda unit: (met[unit], unit == usual))
    told = met["characters"] != met["utf-16"]
    votes: dict[str, float] = {unit: len(only[unit]) + n_sure[unit] for unit in _USUAL}
    votes[by_words] += len(ambiguous) * (1 if told else _UNTOLD)
    best = max(_USUAL, key=lambda unit: (votes[unit], unit == usual))
    other = _USUAL[1 - _USUAL.index(best)]
    if (
        only[other] and reading.faults is None
    ):  # else they are faults when they are read
        record, spans, wrong = only[other][0]
        others_speak = told or sum(n_sure.values()) > 0 or bool(only[best])
        _refuse_odd(record, spans, wrong, best, other, others_speak)
    if ambiguous and not (only[best] and by_words == best):
        also = (
            f"records that need it: {len(only[best]):,}; elsewhere "
            if only[best]
            else ""
        )
        warnings.warn(
            f"{name}: offsets are taken for {CALLED[best]}: {also}{met[best]:,} of "
            "them are ends of "
            f"words, {met[other]:,} if they count {CALLED[other]}; "
            f"offsets={other!r} would say so"
        )
    return best


def _refuse_odd(
    record: Any, spans: Any, wrong: Any, best: Any, other: Any, told: Any
) -> None:
    """Raise for a record that fits the unit ``other`` only; ``told``: whether others
    speak for ``best``.
    """
    covered = ", ".join(
        repr(record.text[start:end]) for start, end, _ in flatten(spans)
    )
    others = (
        f"other records count {CALLED[best]}"
        if told
        else "nothing tells what other records count"
    )
    wrong += (
        f"; in {CALLED[other]} the spans of this record are {covered:.80}, but {others}"
    )
    raise ValueError(
        f"{wrong}: correct the record, or give offsets={other!r} if all count these"
    )


def _edges_met(ambiguous: list[Any]) -> dict[str, int]:
    """Return for each unit how many edges of spans are edges of words.

    ``ambiguous`` are texts with what each unit makes of their spans.
    """
    met = dict.fromkeys(_USUAL, 0)
    for k in range(0, len(ambiguous), _GROUP):
        group = ambiguous[k : k + _GROUP]
        for (_, read), tokens in zip(
            group, tokenized([text for text, _ in group]).pairs()
        ):
            starts = {start for start, _ in tokens}
            ends = {end for _, end in tokens}
            for unit, spans in read.items():
                met[unit] += sum(
                    (start in starts) + (end in ends)
                    for start, end, _ in flatten(spans)
                )
    return met


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
    """Where the annotation k stands, for errors."""
    return record.spans[k].place or f"{record.place}, span {k}"


def _check_text(record: Any, k: int, parts: Any, unit: Any) -> None:
    """Raise unless the parts of the annotation k cover what the file says."""
    found = [record.text[start:end] for start, end, _ in parts]
    said = record.spans[k].text
    if found != [said] and _solid("".join(found)) != _solid(said):
        counted = "" if record.text.isascii() else f", counted in {CALLED[unit]},"
        wrong = f"{tuple(parts[0])!r}{counted} is {' '.join(found)!r:.60}"
        raise SpanFault(
            f"{_place(record, k)}: {wrong}, and the file says {said!r:.60}", k
        )


def _solid(text: str) -> str:
    """Return the text without white space; Label Studio writes a backslash and an n for a line
    break.
    """
    return "".join(text.replace("\\n", " ").split())


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


def _spans_of(record: Any, count: Count, discontinuous: str, reading: Any) -> Any:
    """Return the spans of a record; None if it has faults, which are gathered."""
    unit = "characters" if count.unit == "auto" else count.unit
    whole = record
    faulty = False
    while True:
        try:
            spans = [
                joined(record.text, parts, _place(record, k), discontinuous)
                for k, parts in enumerate(_parts_of(record, unit, count.ends))
            ]
            break
        except ValueError as error:
            reading.fault(error, whole)
            faulty = True
            if not isinstance(error, SpanFault):
                break
            # Without this one the others are looked at: all that is wrong is told.
            others = [j for j in range(len(record.spans)) if j != error.position]
            record = record._replace(spans=[_placed(record, j) for j in others])
    if faulty:
        reading.contents.see_faulty(True)
        return None
    if any(each.rejected for each in record.spans):
        return _known_alone(record, spans)
    spans = [span for span in spans if span is not None]
    if record.partial and Span(0, len(record.text), None) not in spans:
        spans.append(Span(0, len(record.text), None))
    return spans


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


def joined(text: str, parts: Any, place: Any, discontinuous: str) -> Any:
    """One `Span` of its parts; None if it is discontinuous and to be left out.

    Parts with nothing but white space between them are one.
    """
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts)
    start = parts[0][0]
    end = max(part.end for part in parts)
    label = parts[0].label
    if any(text[a.end : b.start].strip() for a, b in pairwise(parts)):
        if discontinuous == "skip":
            return None
        if discontinuous == "error":
            shown = " ... ".join(text[a:b] for a, b, _ in parts)
            ways = (
                "discontinuous='cover' takes all between its ends, 'skip' leaves it out"
            )
            raise ValueError(
                f"{place}: the span {label!r} is discontinuous: {shown!r:.80}; {ways}"
            )
    return Span(start, end, label)
