"""Annotated texts in JSON: what a line of a file, or an element of a list, says of a
text.

A `Record` holds a text and its annotations as they are written; that offsets are
numbers within the text, and what they count, is found out later. Tasks of Label Studio
and the files of brat are read in files of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._data.places import counted, describe
from .contents import Contents
from .text_files import numbered_lines

if TYPE_CHECKING:
    from .span_files import AnnotationReader

SPAN_KEYS = ("spans", "entities", "label", "labels", "annotations")
"""Where records keep their annotations; the first that is a list, and not empty,
counts.
"""

OPEN = ("reject", "ignore")
"""Answers of Prodigy that leave open what is right."""


class Annotation(NamedTuple):
    """A span as a file has it.

    Attributes
    ----------
    parts : tuple of (start, end)
        Offsets as they are written, unchecked; one pair, unless the span is
        discontinuous.
    label : object
    text : str or None
        What the span covers, if the file says it.
    place : str or None
        For errors, if the span stands on a line of its own.
    rejected : bool
        Whether a person said that it is none.
    """

    parts: tuple[tuple[Any, ...], ...]
    label: Any
    text: str | None = None
    place: str | None = None
    rejected: bool = False


class Record(NamedTuple):
    """A text as a file has it.

    Attributes
    ----------
    place : str
        For errors: "notes.jsonl, line 3".
    text : str
    spans : list of Annotation or None
        None if nobody has annotated the text.
    metadata : dict
        What else the file says of it.
    unit : {"characters", "utf-16"}
        What offsets count in the tool that writes the format, if nothing tells.
    sure : bool
        Whether that is certain wherever the offsets fit the text, as of tools that are
        written in Python; else a vote decides.
    partial : bool
        Whether there may be spans that are not listed.
    number : int
        Which record of the source it is, from 0.
    id : object
        That it has in the source, or None.
    group : object
        What the records of one text have in common, where a text has several.
    """

    place: str
    text: str
    spans: list[Annotation] | None
    metadata: dict[Any, Any]
    unit: str = "characters"
    sure: bool = False
    partial: bool = False
    number: int = 0
    id: Any = None
    group: Any = None


_DOCUMENT = ("document_id", "doc_id", "document")


def document_of(record: Record) -> str | None:
    """Return the document that a record says its text is of, or None."""
    found = (record.metadata.get(key) for key in _DOCUMENT)
    return next((str(each) for each in found if isinstance(each, str | int)), None)


class Fault(NamedTuple):
    """What is wrong with a record of a file.

    Attributes
    ----------
    message : str
        What is wrong, with the place and what to do.
    record : int
        Which record of the source it is, from 0.
    id : object
        That the record has in the source, or None.
    line : int or None
        The line in which the record begins, from 1.
    """

    message: str
    record: int
    id: Any = None
    line: int | None = None


@dataclass
class Reading:
    """One reading of a source: by which options, and what was met so far.

    Attributes
    ----------
    options : AnnotationReader
        What reads it; its fields are the options.
    texts_alone : bool
        Whether annotations are not looked at, and may be anything.
    met : dict of str to set of str
        The names of annotators and of controls, by the option that chooses one.
    sources : dict of str to str
        The annotator of each text that has a record for each of them.
    n_annotated : int
        Records with a list of spans.
    keyless : list of str
        The places of records without a list of spans.
    n_left_out : int
        Records that nobody has annotated.
    omits : bool
        Whether a format was met that leaves empty lists out.
    keys : list of str
        Of the first record.
    format, why : str
        The format, if it was recognised, and by what.
    count : Count or None
        What offsets counted, and which ends spans had; None before the end.
    skipped : dict of str to int
        How many records were skipped, by why.
    faults : list of Fault or None
        Where faults are gathered; None: the first is raised.
    contents : Contents
        The numbers of records, by what they are.
    """

    options: AnnotationReader
    texts_alone: bool = False
    met: dict[str, set[str]] = field(
        default_factory=lambda: {"annotator": set(), "control": set()}
    )
    sources: dict[str, str] = field(default_factory=dict)
    n_annotated: int = 0
    keyless: list[Any] = field(default_factory=list)
    n_left_out: int = 0
    omits: bool = False
    keys: list[str] = field(default_factory=list)
    format: str = ""
    why: str = ""
    count: Any = None
    skipped: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] | None = None
    contents: Contents = field(default_factory=Contents)

    def fault(self, error: ValueError, record: Any) -> None:
        """Keep what is wrong with a `Record`, or raise it."""
        if self.faults is None:
            raise error
        self.keep_fault(error, record.number, record.id, record.place)

    def keep_fault(self, error: ValueError, number: int, id: Any, place: str) -> None:
        """Keep what is wrong with the record of a number, or raise it."""
        if self.faults is None:
            raise error
        line = re.search(r", line (\d+)", place)
        found = int(line[1]) if line else None
        self.faults.append(Fault(str(error), number, id, found))

    def n_unannotated(self) -> int:
        """Count the records without annotations beside others that have some."""
        silent = bool(self.n_annotated) and not self.omits
        return self.n_left_out + len(self.keyless) * silent

    def told_of_unannotated(self) -> str:
        """The end of an error about a source without annotations: what there is."""
        if not self.n_left_out:
            return ""
        n = counted(self.n_left_out, "record")
        needed = "; columns start, end and label, a span a row, say what they are"
        named = "csv-spans" in (self.format, self.options.format)
        table = needed if named else ""
        of = self.format or self.options.format
        return f", but {n} of {of} without annotations{table}"

    def skip(self, why: str) -> None:
        """Count a record that is left out."""
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def choose(self, place: Any, names: Any) -> Any:
        """Return the annotator whose annotations of a text count, of those that have
        annotated it; None if an option names another one.
        """
        names = list(dict.fromkeys(str(name) for name in names if name is not None))
        self.met["annotator"].update(names)
        chosen = self.options.annotator
        if chosen is not None:
            return str(chosen) if str(chosen) in names else None
        if len(names) > 1:
            several = ", ".join(names)
            raise ValueError(
                f"{place}: the text has annotations of {several}; annotator= chooses "
                "one of them"
            )
        return names[0] if names else None

    def is_chosen(self, place: Any, source: Any, name: str) -> bool:
        """Whether a record counts that holds the annotations of one person.

        Parameters
        ----------
        place : str
        source : object
            What records of the same text have in common.
        name : str
            Of the person.
        """
        if self.options.annotator is not None:
            return self.choose(place, [name]) is not None
        self.choose(place, [self.sources.setdefault(str(source), name), name])
        return True

    def text_of(self, record: Any, place: Any) -> Any:
        """The text of a record, or of the data of a task."""
        key = self.options.text
        check(record, Mapping, place, f"an object with the key {key!r}")
        if key not in record:
            raise ValueError(
                f"{place}: no text: found keys {_listed(record)}; text= names another "
                f"key{_lists_of(record)}"
            )
        return check(record[key], str, place, f"a str under {key!r}")

    def has_control(self, name: str) -> bool:
        """Whether the regions of a control of Label Studio count."""
        self.met["control"].add(str(name))
        return self.options.control in (None, name)

    def label(self, label: Any, place: Any) -> Any:
        """A label as the user calls it."""
        if isinstance(label, str | bool) or not isinstance(label, Integral):
            return label
        names = self.options.label_names
        if names is None:
            raise ValueError(
                f"{place}: the label is the number {label}; label_names= says what it "
                "stands for"
            )
        if label not in names:
            raise ValueError(f"{place}: label_names has no name for the label {label}")
        return names[label]


def check(value: Any, kind: Any, place: Any, expected: str) -> Any:
    """The value, if it is of a kind."""
    if not isinstance(value, kind):
        raise ValueError(f"{place}: expected {expected}, got {describe(value)}")
    return value


def without(record: Any, *keys: str | None) -> dict[str, Any]:
    """The other keys of a record, as a dict."""
    return {key: value for key, value in record.items() if key not in keys}


def _lists_of(record: Any) -> str:
    """The end of an error: which keys hold records, if texts stand there."""
    lists = [
        repr(key)
        for key, value in record.items()
        if isinstance(value, list) and value and isinstance(value[0], Mapping)
    ]
    if not lists or any(isinstance(value, str) for value in record.values()):
        return ""
    return f", or records= a list of records ({', '.join(lists)})"


def _listed(record: Any) -> Any:
    return ", ".join(map(str, record)) or "none"


# --------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------
def json_values(
    path_or_file: Any, encoding: str, keep_faults: bool = False
) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file of JSON, each with its place: those of its lines, or the
    elements of the one list that it holds.

    Parameters
    ----------
    path_or_file : path or text file
    encoding : str
    keep_faults : bool, default=False
        Whether the error of a line that is not valid takes the place of its value;
        else it is raised.
    """
    with numbered_lines(path_or_file, encoding, watch=False) as (name, lines):
        filled = (numbered for numbered in lines if numbered[1].strip())
        number, line = next(filled, (0, None))
        if line is None:
            return
        if line.lstrip()[0] not in '[{"':
            expected = "JSON, or files NAME.txt and NAME.ann of brat"
            raise ValueError(
                f"{name}, line {number}: expected {expected}, got {line!r:.60}"
            )
        try:
            value = _parsed(line, name, number)
        except ValueError:
            # A list or an object on many lines; if not, the error is found again.
            text = "\n".join(chain([line], (line for _, line in lines)))
            more = _several_parsed(text, name, number)
            if more is not None:
                yield from more
                return
            value = _parsed(text, name, number)
        if isinstance(value, list) and not is_pair(value):
            for number, _ in filled:
                raise ValueError(
                    f"{name}, line {number}: nothing is expected behind a list of "
                    "records"
                )
            for k, element in enumerate(value):
                yield f"{name}, record {k}", element
            return
        yield f"{name}, line {number}", value
        for number, line in filled:
            try:
                value = _parsed(line, name, number)
            except ValueError as error:
                if not keep_faults:
                    raise
                value = error
            yield f"{name}, line {number}", value


def is_pair(value: list[Any]) -> bool:
    """Whether a list is a text and what is said of it, and not a list of records."""
    return (
        len(value) == 2 and isinstance(value[0], str) and not isinstance(value[1], str)
    )


def _several_parsed(text: str, name: str, number: int) -> Any:
    """The values, with their places, of a text of objects on several lines each, one
    behind the other; None if it is something else.
    """
    decoder = json.JSONDecoder()
    found: list[tuple[str, Any]] = []
    at = 0
    while at < len(text):
        line = number + text.count("\n", 0, at)
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        behind = re.compile(r"\s*").match(text, end)
        assert behind is not None  # it may be empty
        at = behind.end()
        if (
            not isinstance(value, Mapping)
            or "\n" not in text[end:at]
            and at < len(text)
        ):
            return None
        found.append((f"{name}, line {line}", value))
    return found if len(found) > 1 else None


def _parsed(text: str, name: str, number: int) -> Any:
    """The value of a JSON text that begins in a line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{name}, line {number + error.lineno - 1}"
        raise ValueError(
            f"{where}: not valid JSON: {error.msg} (column {error.colno})"
        ) from None
    except RecursionError:
        raise ValueError(
            f"{name}, line {number}: the JSON is nested too deeply"
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(f"{name}, line {number}: not valid JSON: {error}") from None


# --------------------------------------------------------------------------------------
# Records
# --------------------------------------------------------------------------------------
def from_object(record: Any, place: Any, reading: Any) -> Any:
    """Make a `Record` of a line of doccano, a row of Hugging Face, or one like them."""
    text = reading.text_of(record, place)
    named = reading.options.spans
    keys = SPAN_KEYS if named is None else (named,)
    found = {k: record[k] for k in keys if k in record and k != reading.options.text}
    lists = [k for k, value in found.items() if _are_rows(value)]
    filled = [k for k in lists if not _is_empty(found[k])]
    key = next(iter(filled or lists), None)
    # A key without a value holds no annotations either, and is no metadata.
    empty = [k for k, value in found.items() if value is None]
    metadata = without(record, reading.options.text, key, *empty)
    if reading.texts_alone:
        return Record(place, text, None, metadata)
    if key is None and named is not None and not empty:
        raise ValueError(
            f"{place}: no list of spans under {named!r}: found keys {_listed(record)}"
        )
    rows = _rows(found[key], place) if key else []
    reading.n_annotated += key is not None
    if key is None:
        reading.keyless.append(place)
    users = [row["user"] for row in rows if isinstance(row, Mapping) and "user" in row]
    chosen = reading.choose(place, users) if users else None
    spans = None
    if chosen is not None or not users:
        rejected = reading.options.rejected
        counted = [
            (row, k) for k, row in enumerate(rows) if _counts(row, chosen, rejected)
        ]
        spans = [_annotation(*each, place, reading) for each in counted]
    return Record(place, text, spans, metadata)


def _are_rows(value: Any) -> bool:
    """Whether a value is a list of annotations, or a dict of lists, its columns.

    Libraries of datasets can be set to give arrays for lists.
    """
    parts = list(value.values()) if isinstance(value, Mapping) else [value]
    return bool(parts) and all(
        isinstance(part, list | tuple | np.ndarray) for part in parts
    )


def _is_empty(value: Any) -> bool:
    """Whether annotations are none; an earlier key that is empty hides no later one."""
    parts = list(value.values()) if isinstance(value, Mapping) else [value]
    return not any(len(part) for part in parts)


def _rows(value: Any, place: Any) -> Any:
    """A list of annotations."""
    if not isinstance(value, Mapping):
        return value.tolist() if isinstance(value, np.ndarray) else value
    lengths = {name: len(column) for name, column in value.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"{place}: expected columns of the same length, got {describe(lengths)}"
        )
    return [
        dict(zip(value, row))
        for row in zip(*(_rows(column, place) for column in value.values()))
    ]


def _counts(row: Any, annotator: Any, rejected: str | None) -> bool:
    """Whether a row is an annotation of the annotator, and not a rejected span that
    says nothing is there.
    """
    if not isinstance(row, Mapping):
        return annotator is None
    outside = rejected == "outside" and row.get("answer") == "reject"
    return annotator in (None, str(row.get("user"))) and not outside


def _annotation(row: Any, k: int, place: Any, reading: Any) -> Any:
    """The annotation number k of a record."""
    text = None
    try:
        if isinstance(row, Mapping):
            first, last = (
                ("start", "end") if "start" in row else ("start_offset", "end_offset")
            )
            start = row[first]
            end = row[last]
            label = row["label"]
            text = row.get("text")
            if row.get("answer") in OPEN:
                label = None
        else:
            start, end, label = check(row, (list, tuple), "", "")
    except (KeyError, ValueError):
        expected = (
            "[start, end, label] or an object with the keys start (or start_offset), "
            "end and label"
        )
        others = "; start=, end= and label= name other keys"
        found = (
            f"found keys {_listed(row)}"
            if isinstance(row, Mapping)
            else f"got {describe(row)}"
        )
        hint = others if isinstance(row, Mapping) else ""
        raise ValueError(
            f"{place}, span {k}: expected {expected}, {found}{hint}"
        ) from None
    if not isinstance(label, str):
        label = reading.label(label, f"{place}, span {k}")
    return Annotation(((start, end),), label, text if isinstance(text, str) else None)
