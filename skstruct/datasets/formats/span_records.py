"""Annotated texts as files have them, what was met in a reading of them, and the values
of files of JSON.

A `Record` holds a text and its annotations as they are written; that offsets are
numbers within the text, and what they count, is found out later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._core.user_warnings import warn
from ..._data.places import describe
from .column_lines import DOCUMENT_KEYS
from .contents import FAULTY, NOT_ANNOTATED, Contents
from .text_files import OLD_LINE_ENDS, numbered_lines

if TYPE_CHECKING:
    from .span_files import AnnotationReader

SPAN_KEYS = ("spans", "entities", "label", "labels", "annotations")
"""The keys under which records keep annotations; the first list that is not empty
counts.
"""


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
    why : str
        Why the record is left out, if ``spans`` is None.
    settled : bool
        Whether offsets count characters, and ends are exclusive, whatever options say:
        the reader of the format has made them so.
    n_seen : int
        Annotations that were met in the record, those that are left out, too; -1: those
        in ``spans``.
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
    why: str = NOT_ANNOTATED
    settled: bool = False
    n_seen: int = -1


ANNOTATORS = ("annotator", "annotator_id", "annotator_name", "annotated_by")
"""Keys of records, and columns of tables, that name who has annotated a text."""


def annotator_in(record: Mapping[Any, Any]) -> str:
    """Return who has annotated a record by its keys, or an empty str."""
    named = (name_of(record[key]) for key in ANNOTATORS if key in record)
    return next(filter(None, named), "")


def name_of(value: Any) -> str:
    """Return what a value calls something: a str, or a number as one; an empty str if
    the value is missing, or anything else.
    """
    if value is None or isinstance(value, bool) or not isinstance(value, str | Real):
        return ""
    return "" if value != value else str(value).strip()  # NaN is missing


class People:
    """Those who have labelled the sentences of a file, by its keys or columns."""

    def __init__(self) -> None:
        self.met: dict[str, None] = {}

    def see(self, name: str) -> None:
        """Note who has labelled a sentence; an empty name is nobody's."""
        if name:
            self.met[name] = None

    def tell(self, name: str) -> None:
        """Warn of a file with the labels of several."""
        if len(self.met) > 1:
            several = ", ".join(self.met)
            warn(
                f"{name}: the labels are of {several}, and all are read; if they have "
                "labelled the same sentences, keep those of one"
            )


_BESIDE = ("meta", "metadata")
"""Keys of an object in which tools such as Prodigy put what a record says of itself."""


def document_of(record: Record) -> str | None:
    """Return the document that a record says its text is of, or None."""
    return document_in(record.metadata)


def document_in(metadata: Mapping[Any, Any]) -> str | None:
    """Return the document that the metadata of a text name, or None."""
    inner = [metadata[key] for key in _BESIDE if key in metadata]
    for about in (metadata, *inner):
        if not isinstance(about, Mapping):
            continue
        named = {key.lower(): key for key in about if isinstance(key, str)}
        for name in DOCUMENT_KEYS:
            if name in named and (found := name_of(about[named[name]])):
                return found
    return None


def said_of_record(metadata: Mapping[Any, Any]) -> dict[str, str]:
    """Return what a record says of itself: str and numbers by their keys, those of
    objects within it as ``meta.source``. An empty str says nothing.
    """
    found: dict[str, str] = {}
    for key, value in metadata.items():
        if isinstance(value, Mapping):
            inner = said_of_record(value)
            found.update((f"{key}.{name}", each) for name, each in inner.items())
        elif name := name_of(value):
            found[str(key)] = name
    return found


class Fault(NamedTuple):
    """An error in a record of a file.

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
    n_listed : int
        Records that say what their spans are, or that there is none.
    keyless : int
        Records without a list of spans, in a format that has one where there is none.
    first_keyless : str
        The place of the first of these.
    n_starts : int
        Spans that are objects with a start.
    omitted : str
        Where the first span without a start stands, if that is 0.
    keys : list of str
        Of the first record.
    format, why : str
        The format, if it was recognised, and by what.
    count : Count or None
        What offsets counted, and which ends spans had; None before the end.
    faults : list of Fault or None
        Where faults are gathered; None: the first is raised.
    contents : Contents
        The numbers of records, by what they are.
    remedy : str
        What makes annotations of those that a table seems to have.
    """

    options: AnnotationReader
    texts_alone: bool = False
    met: dict[str, set[str]] = field(
        default_factory=lambda: {"annotator": set(), "control": set(), "to_name": set()}
    )
    sources: dict[str, str] = field(default_factory=dict)
    n_listed: int = 0
    keyless: int = 0
    first_keyless: str = ""
    n_starts: int = 0
    omitted: str = ""
    keys: list[str] = field(default_factory=list)
    format: str = ""
    why: str = ""
    count: Any = None
    faults: list[Fault] | None = None
    contents: Contents = field(default_factory=Contents)
    remedy: str = ""

    @cached_property
    def has_own_keys(self) -> bool:
        """Tell whether options name keys, which then decide what a record holds."""
        named = ("records", "spans", "start", "end", "label", "length", "words")
        return self.options.text != "text" or any(
            getattr(self.options, name) is not None for name in named
        )

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
        left_out = self.contents.records.left_out
        others = sum(each.number for why, each in left_out.items() if why != FAULTY)
        return others + self.keyless * bool(self.n_listed)

    def told_of_unannotated(self) -> str:
        """The end of an error about a source without annotations: what there is."""
        said = self.contents.records.told()
        if not said:
            return ""
        of = self.format or self.options.format
        remedy = ""
        if self.remedy:
            remedy = f"; {self.remedy}"
        elif of == "csv-spans":
            remedy = "; add columns start, end and label, with a span in each row"
        elif "under" in said:
            remedy = "; name the key of the spans with spans="
        return f"; of {of} it has {said}{remedy}"

    def leave_span(self, why: str, place: str, n: int = 1) -> None:
        """Count spans that are left out."""
        self.contents.spans.leave(why, place, n)

    def see_keyless(self, place: str) -> None:
        """Count a record that has no list of spans."""
        self.keyless += 1
        self.first_keyless = self.first_keyless or place

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
                f"{place}: the text has annotations of {several}; choose one of "
                "them with annotator="
            )
        return names[0] if names else None

    def is_chosen(self, place: Any, source: Any, name: str) -> bool:
        """Tell whether a record with the annotations of one person counts.

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

    def has_control(self, name: str) -> bool:
        """Tell whether the regions of a control of Label Studio count."""
        self.met["control"].add(str(name))
        return self.options.control in (None, name)

    def label(self, label: Any, place: Any) -> Any:
        """A label as the user calls it."""
        if isinstance(label, str | bool) or not isinstance(label, Integral):
            return label
        names = self.options.label_names
        if names is None:
            raise ValueError(
                f"{place}: the label is the number {label}; give the names of "
                "labels with label_names="
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
            if "\r" in line.strip():
                raise ValueError(f"{name}: {OLD_LINE_ENDS}")
            expected = "JSON, or files NAME.txt and NAME.ann of brat"
            raise ValueError(
                f"{name}, line {number}: expected {expected}, got {line!r:.60}"
            )
        try:
            value = _parsed(line, name, number)
        except ValueError:
            # A list or an object on many lines; if not, the error is found again.
            rest = list(lines)
            text = "\n".join(chain([line], (each for _, each in rest)))
            more = _several_parsed(text, name, number)
            if more is not None:
                yield from more
                return
            try:
                value = _parsed(text, name, number)
            except ValueError as error:
                if not keep_faults or not _are_records(rest):
                    raise
                value = error
            else:
                rest = []
            filled = (numbered for numbered in rest if numbered[1].strip())
        if isinstance(value, list) and not is_pair(value):
            for number, _ in filled:
                raise ValueError(
                    f"{name}, line {number}: there is text behind the list of records; "
                    "delete it"
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


def _are_records(lines: list[tuple[int, str]]) -> bool:
    """Tell whether the first line that is not blank is an object of its own."""
    first = next((line for _, line in lines if line.strip()), "")
    try:
        return isinstance(json.loads(first), Mapping)
    except (ValueError, RecursionError):
        return False


def is_pair(value: list[Any]) -> bool:
    """Tell whether a list is a text with its annotations, and not a list of records."""
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


def _hint_about(error: json.JSONDecodeError) -> str:
    """Say what to change if the fault is a usual one: a comma too many, line ends."""
    before = error.doc[: error.pos].rstrip()
    behind = error.doc[error.pos :].lstrip()
    if behind[:1] == "," and behind[1:].lstrip()[:1] in ("]", "}"):
        # from Python 3.13 on the place is that of the comma
        return f"; delete the comma before {behind[1:].lstrip()[0]!r}"
    if behind[:1] == "," and not behind[1:].partition("\n")[0].strip():
        return "; delete the comma behind the record"
    if before[-1:] == "," and behind[:1] in ("]", "}"):
        return f"; delete the comma before {behind[0]!r}"
    if behind and "\r" in error.doc.strip() and "\n" not in error.doc.strip():
        return f"; {OLD_LINE_ENDS}"
    return ""


def _parsed(text: str, name: str, number: int) -> Any:
    """The value of a JSON text that begins in a line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{name}, line {number + error.lineno - 1}"
        raise ValueError(
            f"{where}: not valid JSON: {error.msg} (column {error.colno})"
            f"{_hint_about(error)}"
        ) from None
    except RecursionError:
        raise ValueError(
            f"{name}, line {number}: the JSON is nested too deeply"
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(f"{name}, line {number}: not valid JSON: {error}") from None
