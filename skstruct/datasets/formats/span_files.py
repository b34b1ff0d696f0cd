"""Annotated texts of annotation tools, read as texts and spans; the inverse is in
:mod:`.span_writing`.

Each record of a file becomes a text and its list of `Span`, in the order of the file.
Everything that is refused is named with file and line, or record.

References
----------
The tools: doccano (H. Nakayama and others, 2018), Prodigy and spaCy (Explosion), Label
Studio (M. Tkachenko and others, 2020), brat (P. Stenetorp and others, EACL 2012).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import chain, islice
from typing import IO, Any

from ..._data.elements import is_frame, spelled
from ..._data.inputs import check_choice, describe
from ..._data.source_layout import names_of_labels
from ..._data.spans import PartialSpans, Span
from ..._data.types import Path
from .brat import is_brat
from .contents import FAULTY, id_of, keyless_sentence, where_of
from .entry import TEXTS, TextFormat
from .head import RECORDS, Head
from .not_read import advice_for, is_binary
from .source import peeked
from .span_offsets import with_spans
from .span_records import SPAN_KEYS, Fault, Reading, Record, json_values
from .span_units import ENDS, UNITS
from .table import (
    BY_NAME,
    has_own_keys,
    names,
    recognised,
    refuse_options,
    text_formats,
)
from .text_files import Accents

FORMATS = names(TEXTS)
"""Formats of annotated texts."""


def _option(default: Any, allowed: Any, called: str = "") -> Any:
    """An option of a reader: its values, or the type of these and what errors call
    it.
    """
    return field(default=default, metadata={"allowed": allowed, "called": called})


_OF_ALL = frozenset(("format", "offsets", "ends", "annotated", "encoding"))
"""Options that all formats have."""


@dataclass(frozen=True)
class AnnotationReader:
    """The options of `read_spans` for annotated texts, checked once.

    Raises
    ------
    ValueError
        If an option has a value that it cannot have, or is not for the format that is
        named.
    """

    format: str = _option("auto", ("auto", *FORMATS))
    offsets: str = _option("auto", ("auto", *UNITS))
    ends: str = _option("auto", ("auto", *ENDS))
    text: str = _option("text", str, "a str, the key of the text")
    spans: str | None = _option(None, str | None, "a str, the key of the spans")
    records: str | None = _option(None, str | None, "a str, the key of the records")
    start: str | None = _option(None, str | None, "a str, the key of starts")
    end: str | None = _option(None, str | None, "a str, the key of ends")
    label: str | None = _option(None, str | None, "a str, the key of labels")
    length: str | None = _option(None, str | None, "a str, the key of lengths")
    words: str | None = _option(None, str | None, "a str, the key of words")
    annotator: Any = _option(None, str | int | None, "a str or an int")
    control: str | None = _option(None, str | None, "a str, the name of a tag Labels")
    to_name: str | None = _option(None, str | None, "a str, the name of a tag Text")
    labels: Any = _option(None, object)
    label_names: Any = _option(None, object)
    discontinuous: str = _option("error", ("error", "cover", "skip"))
    rejected: str = _option("unknown", ("unknown", "outside"))
    annotated: Any = _option(None, object)
    encoding: str = _option("utf-8", object)

    def __post_init__(self) -> None:
        for option in fields(self):
            name = option.name
            value = getattr(self, option.name)
            allowed = option.metadata["allowed"]
            if isinstance(allowed, tuple):
                check_choice(name, value, allowed)
            elif not isinstance(value, allowed):
                raise ValueError(
                    f"{name} must be {option.metadata['called']}, got {describe(value)}"
                )
            if value != option.default and self.format != "auto":
                refuse_options(BY_NAME[self.format], {name} - _OF_ALL)
        object.__setattr__(self, "label_names", names_of_labels(self.label_names))
        object.__setattr__(self, "labels", _as_labels(self.labels))
        if self.annotated is not None:
            object.__setattr__(
                self, "annotated", PartialSpans(types=self.annotated).types
            )

    def given(self) -> set[str]:
        """Return the names of the options that are not as usual."""
        every = fields(self)
        return {o.name for o in every if getattr(self, o.name) != o.default}

    def marked(
        self, source: Any, reading: Reading | None = None
    ) -> Iterator[tuple[Record, list[Span]]]:
        """Return an iterator over the records that somebody has annotated, each with its
        spans, whose offsets count characters.

        Parameters
        ----------
        source : path, text file or iterable of records
        reading : Reading, optional
            Of this reader; what was met stands there afterwards.
        """
        reading = Reading(self) if reading is None else reading
        name = _name_of(source)
        records = _warning_of_accents(_records(source, reading), name)
        found = _annotated(records, reading, name)
        types = self.annotated
        if types is None:
            return found
        return ((record, PartialSpans(spans, types)) for record, spans in found)

    def texts(self, source: Any) -> Iterator[Record]:
        """Return an iterator over the record of each text, annotated or not; annotations
        are not looked at.
        """
        records = _records(source, Reading(self, texts_alone=True))
        return _warning_of_accents(records, _name_of(source))


def read_spans(
    source: Path | IO[str] | Iterable[Any],
    format: str = "auto",
    *,
    offsets: str = "auto",
    ends: str = "auto",
    text: str = "text",
    spans: str | None = None,
    records: str | None = None,
    start: str | None = None,
    end: str | None = None,
    label: str | None = None,
    length: str | None = None,
    words: str | None = None,
    annotator: Any = None,
    control: str | None = None,
    to_name: str | None = None,
    labels: str | Collection[str] | None = None,
    label_names: Any = None,
    discontinuous: str = "error",
    rejected: str = "unknown",
    annotated: Collection[str] | None = None,
    encoding: str = "utf-8",
    return_metadata: bool = False,
    return_places: bool = False,
    on_error: str = "raise",
) -> Any:
    r"""Read texts and their annotated spans from a file of an annotation tool.

    Parameters
    ----------
    source : str, os.PathLike, text file, or iterable of records
        A file; a folder, of brat; or the records themselves: dicts, a split of Hugging
        Face ``datasets``.
    format : str, default="auto"
        A name of the table of formats, such as "jsonl", "prodigy" or "brat".
        "auto" goes by the content. "jsonl" and "doccano" are read alike: objects with a
        text and, as the first list among the keys spans, entities, label, labels and
        annotations, its spans: ``[start, end, label]``, or objects with the keys start
        (or start_offset), end (end_offset) and label.
    offsets : str, default="auto"
        The unit of offsets: "characters"; "utf-16", units of UTF-16 as tools in
        JavaScript count them, for which an emoji is two; "utf-8", bytes of it;
        "characters-lf" and "utf-16-lf", where a line end of two characters counts as
        one; "characters-from-1", where the first character has the offset 1; or
        "characters-nfc" and "characters-nfd", characters of the text in a normal form
        of Unicode, although it stands in the file in another one. "auto" goes by the
        text of the spans, if the file has it, or takes what makes more spans begin and
        end with words, and warns of that; a record that fits another unit than the
        others is an error. Label Studio counts UTF-16 units.
    ends : {"auto", "exclusive", "inclusive"}, default="auto"
        The meaning of the end of a span: the offset behind its last character, or of
        that character. "auto" means exclusive, unless nearly all spans are whole words
        if ends are inclusive; then it warns.
    text : str, default="text"
        The key of the text; in tasks of Label Studio, within ``data``.
    spans : str, optional
        The key of the spans in objects, if it is none of those above; each object must
        have it.
    records, start, end, label : str, optional
        Other names of keys in objects: of the list of records in the one object of a
        file, and of a span's start, end and label. As in ``text`` and ``spans`` a dot
        leads into an object, a list of one, or an element of a list, and into a string
        that holds JSON: ``start="span.begin"``, ``label="categories.0.name"``. If
        ``start`` is named, a span without it begins at 0, as tools write which leave
        zeros out.
    length : str, optional
        The key of the length of a span, in place of its end.
    words : str, optional
        The key of a list of words, in which spans count. A record without a text has
        these, with spaces between.
    annotator : str or int, optional
        The person whose annotations to take, if several people have annotated a text.
        Of one person's annotations of a task of Label Studio the last counts.
    control : str, optional
        For Label Studio: the name of the tag Labels whose spans to take. By default all
        are taken.
    to_name : str, optional
        For Label Studio: the name of the tag Text whose spans to take, if there are
        several.
    labels : "first" or collection of str, optional
        The label to take of a span that has several: the first, or the first of these,
        which may stand between commas. By default such a span is an error.
    label_names : list or dict, optional
        The names of labels that are numbers.
    discontinuous : {"error", "cover", "skip"}, default="error"
        The treatment of discontinuous spans of brat: refuse them, take all that is
        between their ends, or leave them out.
    rejected : {"unknown", "outside"}, default="unknown"
        The meaning of a span that was rejected in Prodigy: its label is unknown, or
        there is no span.
    annotated : collection of str, optional
        The types that are annotated, where that is not all: the spans of each text are
        `PartialSpans`.
    encoding : str, default="utf-8"
        Encoding of a file given by its path; an open file has its own.
    return_metadata : bool, default=False
        Also return the other keys of the records.
    return_places : bool, default=False
        Also return the place of each text, as ``label_issues`` and ``report`` take it.
    on_error : {"raise", "list"}, default="raise"
        Raise the first error in a record, or leave out all records with errors and
        return a list of these.

    Returns
    -------
    X : list of str
        The texts, as they are.
    y : list of lists of Span
        Label None stands for parts that are not annotated: spans rejected in Prodigy
        (see ``rejected``), and what is outside of the spans of its binary questions
        (``_view_id`` "ner"). Texts that nobody has annotated, or whose annotations were
        rejected, ignored or cancelled, are left out.
    metadata : list of dict
        With ``return_metadata=True``: the other keys of each record; of brat, the name.
    places : list of Where
        With ``return_places=True``: the file, the number of the record, from 0, with
        those counted that are left out, its id and its line.
    faults : list of Fault
        With ``on_error="list"``: (message, record, id, line) of each, in the order of
        the file.

    Raises
    ------
    ValueError
        If a record has no text; if a span is not within it, or is not what the file
        says it covers, has two labels, or is discontinuous; if several people have
        annotated a text; or if a record fits a unit of offsets that is not that of the
        others. The message names file and line, or record.

    Warns
    -----
    UserWarning
        If the unit of offsets was decided by words, or records have no list of spans,
        or the text looks as if it was encoded twice (``Ã±`` for ``ñ``).

    Examples
    --------
    >>> import io
    >>> line = '{"text": "Ann in Rome", "label": [[0, 3, "PER"], [7, 11, "LOC"]]}\n'
    >>> X, y = read_spans(io.StringIO(line))
    >>> X
    ['Ann in Rome']
    >>> y[0]
    [Span(start=0, end=3, label='PER'), Span(start=7, end=11, label='LOC')]
    """
    check_choice("on_error", on_error, ("raise", "list"))
    reader = AnnotationReader(
        format,
        offsets,
        ends,
        text,
        spans,
        records,
        start,
        end,
        label,
        length,
        words,
        annotator,
        control,
        to_name,
        labels,
        label_names,
        discontinuous,
        rejected,
        annotated,
        encoding,
    )
    faults: list[Fault] | None = [] if on_error == "list" else None
    reading = Reading(reader, faults=faults)
    found = [
        (record.text, marked, record.metadata, where_of(record))
        for record, marked in reader.marked(source, reading)
    ]
    X, y, metadata, places = map(list, zip(*found)) if found else ([], [], [], [])
    parts: list[Any] = [X, y]
    if return_metadata:
        parts.append(metadata)
    if return_places:
        parts.append(places)
    if faults is not None:
        parts.append(sorted(faults, key=lambda fault: fault.record))
    return tuple(parts)


def iter_spans(
    source: Path | IO[str] | Iterable[Any], format: str = "auto", **options: Any
) -> Iterator[tuple[str, list[Span], dict[str, Any]]]:
    """Yield (text, spans, metadata) of each record.

    One record is in memory at a time. Under ``offsets="auto"`` all those from the first
    text on that has spans and characters beyond U+FFFF are, since all of them decide.

    Parameters
    ----------
    source, format, **options
        As of `read_spans`.
    """
    found = AnnotationReader(format, **options).marked(source)
    return ((record.text, marked, record.metadata) for record, marked in found)


def _annotated(
    records: Iterator[Record], reading: Reading, name: str
) -> Iterator[tuple[Record, list[Span]]]:
    """Yield the annotated ones of some records with their spans; in the end check that
    everything was counted, warn of what was left out, and raise if an option chose what
    is not there.
    """
    contents = reading.contents
    for record, spans in with_spans(_without_left_out(records, reading), name, reading):
        contents.take(record)
        yield record, spans
    contents.check(name)
    for option, met in reading.met.items():
        chosen = getattr(reading.options, option)
        if chosen is not None and str(chosen) not in met:
            known = ", ".join(sorted(met)) or "none"
            raise ValueError(f"{name}: there is no {option} {chosen!r}; found {known}")
    controls = sorted(reading.met["control"])
    if len(controls) > 1 and reading.options.control is None:
        warnings.warn(
            f"{name}: regions of several controls are read together: "
            f"{', '.join(controls)}; choose one with control="
        )
    if reading.omitted and not reading.n_starts and reading.options.start is not None:
        raise ValueError(reading.omitted)
    if reading.keys and not reading.n_listed:
        is_span = {"start", "end", "label"} <= {key.lower() for key in reading.keys}
        advice = "; records of one span each are read from tables alone: write CSV"
        warnings.warn(
            f"{name}: no record has spans, which are a list under one of the "
            f"keys {', '.join(SPAN_KEYS)}, or results of the type labels (Label "
            f"Studio); the first record has the keys {', '.join(reading.keys)}"
            f"{advice if is_span else ''}"
        )
    if told := contents.left_out():
        warnings.warn(f"{name}: left out: {told}")
    if reading.keyless and reading.n_listed:
        warnings.warn(
            f"{name}: {keyless_sentence(reading.keyless, reading.first_keyless)}"
        )


def _without_left_out(records: Iterator[Record], reading: Reading) -> Iterator[Record]:
    """Hand on the records that somebody has annotated, and count the others."""
    for record in records:
        if record.spans is None:
            reading.contents.leave(record, record.why)
        else:
            yield record


def _warning_of_accents(records: Iterator[Record], name: str) -> Iterator[Record]:
    """Hand on records, and warn in the end of text that was encoded twice."""
    accents = Accents()
    for record in records:
        for line in record.text.splitlines():
            accents.see(line)
        yield record
    accents.tell(name)


def _records(source: Any, reading: Reading) -> Iterator[Record]:
    """Yield the `Record` of each text of a source."""
    if is_frame(source):
        rows = (
            "source.to_dict('records')"
            if hasattr(source, "iloc")
            else "source.to_dicts()"
        )
        found = f"a table with the columns {', '.join(map(spelled, source.columns))}"
        raise TypeError(
            f"source is {found}; give its rows as records: read_spans({rows})"
        )
    if isinstance(source, str | os.PathLike) or hasattr(source, "readline"):
        yield from _of_file(source, reading)
        return
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        expected = "a path, an open text file or a list of records"
        raise TypeError(f"source must be {expected}, got {describe(source)}")
    rest = iter(source)
    first = list(islice(rest, RECORDS))
    format = _format_of(Head.of_records("source", first), reading)
    values = ((f"record {k}", value) for k, value in enumerate(chain(first, rest)))
    yield from _of_values(values, format, reading)


def _of_file(source: Any, reading: Reading) -> Iterator[Record]:
    """Yield the `Record` of each text of a path or an open file."""
    name = _name_of(source)
    if is_binary(name) and (advice := advice_for(Head(name))) is not None:
        raise ValueError(advice)
    if isinstance(source, str | os.PathLike) and is_brat(source):
        format = _format_of(Head(name), reading)
        if not format.is_json:
            yield from _numbered(format.records(source, reading), reading)
            return
    with peeked(source, reading.options.encoding) as file:
        format = _format_of(file.head(), reading)
        if not format.is_json:
            given = source if isinstance(source, str | os.PathLike) else file
            yield from _numbered(format.records(given, reading), reading)
            return
        values = json_values(file, reading.options.encoding, reading.faults is not None)
        yield from _of_values(values, format, reading)


def _numbered(records: Iterator[Record], reading: Reading) -> Iterator[Record]:
    """Hand on records with their numbers, and count them."""
    for k, record in enumerate(records):
        yield _counted(record, k, record.id, reading)


def _counted(record: Record, number: int, id: Any, reading: Reading) -> Record:
    """The record with its number, after it was counted."""
    contents = reading.contents
    contents.records.seen += 1
    if record.spans is not None:
        n = record.n_seen
        contents.spans.seen += len(record.spans) if n < 0 else n
    return record._replace(number=number, id=id)


def _of_values(
    values: Iterable[tuple[str, Any]], format: TextFormat, reading: Reading
) -> Iterator[Record]:
    """Yield the records of values of JSON, which come with their places; the keys of the
    first are remembered.
    """
    format = format.with_options(reading.options)
    return format.merged(_of_elements(values, format, reading), reading)


@cache
def _marks_of_others(name: str) -> frozenset[str]:
    """Keys that records of other formats have."""
    formats = text_formats()
    others = (each.mark_keys for each in formats.values() if each.name != name)
    return frozenset().union(*others) - formats[name].mark_keys


def _of_elements(
    values: Iterable[tuple[str, Any]], format: TextFormat, reading: Reading
) -> Iterator[Record]:
    """Yield the record of each element of the values; an error in place of a value is a
    fault.
    """
    contents = reading.contents
    found = (
        each
        for place, value in values
        for each in (
            [(place, value)]
            if isinstance(value, ValueError)
            else format.elements(value, place)
        )
    )
    for k, (place, value) in enumerate(found):
        id = id_of(value)
        if value is None:
            contents.records.seen += 1
            contents.records.leave("null", place)
            continue
        n_spans = (
            contents.spans.seen - contents.spans.n_left_out - contents.spans.structure
        )
        try:
            if isinstance(value, ValueError):
                raise value
            if (other := _better(format, value, place, reading)) is not None:
                format = other.with_options(reading.options)
                reading.format = other.name
            record = _record(format, value, place, reading)
        except ValueError as error:
            contents.records.seen += 1
            contents.records.leave(FAULTY, place)
            gone = contents.spans.n_left_out + contents.spans.structure
            contents.spans.seen = n_spans + gone
            reading.keep_fault(error, k, id, place)
            continue
        if not reading.keys and not isinstance(value, str):
            of_pair = isinstance(value, list | tuple) and len(value) == 2
            reading.keys = list(map(str, value[1] if of_pair else value))
        yield _counted(record, k, id, reading)


def _record(format: TextFormat, value: Any, place: str, reading: Reading) -> Record:
    """The record of a value.

    Raises
    ------
    ValueError
        If it is not read, or has no span and is one of another format.
    """
    try:
        record = format.record(value, place, reading)
    except ValueError as error:
        other = None if reading.texts_alone else _other_format(format, value, False)
        if other is None:
            raise
        raise _two_formats(format, other, place, str(error)) from None
    if reading.texts_alone:
        return record
    if record.spans:
        if reading.has_own_keys:
            return record
        marks = _marks_of_others(format.name)
        if not isinstance(value, Mapping) or marks.isdisjoint(value):
            return record
    other = _other_format(format, value)
    if other is not None:
        raise _two_formats(format, other, place, "")
    return record


def _better(
    format: TextFormat, value: Any, place: str, reading: Reading
) -> TextFormat | None:
    """The format of a record, if it is not that of the file, which was recognised by
    a beginning without spans.
    """
    is_guessed = reading.options.format == "auto" and reading.format == format.name
    contents = reading.contents
    was_seen = contents.records.seen < RECORDS or contents.spans.seen > 0
    if not is_guessed or was_seen or reading.texts_alone:
        return None
    for other in text_formats().values():
        is_special = format.name in other.special_case_of and other.has_mark(value)
        if is_special and other.name != format.name:
            reads_records = type(other).merged is TextFormat.merged
            if not reads_records or reading.options.given() - _OF_ALL - other.options:
                raise ValueError(
                    f"{place}: this record is one of {other.name}, but those before "
                    f"look like {format.name}; choose with format={other.name!r} or "
                    f"format={format.name!r}"
                )
            return other
    return None


def _other_format(
    format: TextFormat, value: Any, is_read: bool = True
) -> TextFormat | None:
    """The other format of which a record is, if it has something that only this one
    writes; one that is read may be of a special case of the format.
    """
    if format.has_mark(value):
        return None
    for other in text_formats().values():
        is_kin = other.name in format.special_case_of or (
            format.name in other.special_case_of and format.special_case_of
        )
        if (
            not (is_kin and is_read)
            and other.name != format.name
            and other.has_mark(value)
        ):
            return other
    return None


def _two_formats(
    format: TextFormat, other: TextFormat, place: str, error: str
) -> ValueError:
    """The error about a record of another format than that of its file."""
    return ValueError(
        (
            f"{place}: this record is one of {other.name}, but the file is read "
            f"as {format.name}; divide it into files of one format each"
        )
        + (f"; {error}" if error else "")
    )


def _format_of(head: Head, reading: Reading) -> TextFormat:
    """Return the format that the options name, or that a source looks like."""
    known = text_formats()
    options = reading.options
    if options.format != "auto":
        return known[options.format]
    if has_own_keys(head, options.given()):
        return known["jsonl"]
    found = recognised(head, known.values())
    format = known["jsonl"] if found is None else known[found.format.name]
    refuse_options(format, options.given() - _OF_ALL)
    reading.why = "" if found is None else found.look.seen
    reading.format = format.name
    return format


def _name_of(source: Any) -> str:
    """Return what errors call a source."""
    name = (
        source
        if isinstance(source, str | os.PathLike)
        else getattr(source, "name", None)
    )
    return os.fspath(name) if isinstance(name, str | os.PathLike) else "source"


def _as_labels(labels: Any) -> Any:
    """Return "first", None, or the names of labels."""
    if labels is None or labels == "first":
        return labels
    if isinstance(labels, str):
        labels = labels.split(",")
    if not isinstance(labels, Collection) or not all(
        isinstance(each, str) for each in labels
    ):
        raise ValueError(
            f"labels must be 'first' or a collection of str, got {describe(labels)}"
        )
    return list(labels)  # as a model remembers them
