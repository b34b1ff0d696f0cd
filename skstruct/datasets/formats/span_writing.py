"""Texts and spans written for annotation tools: the inverse of
`skstruct.datasets.formats.span_files`.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path as Folder
from typing import IO, Any

from ..._data.inputs import PlaceError, check_choice, describe
from ..._data.spans import as_spans, to_utf16
from ..._data.text import as_texts
from ..._data.types import Path, Texts
from ..._saving.atomic import check_path, write_files
from .brat import lines_of
from .label_studio import task
from .span_records import SPAN_KEYS
from .text_files import open_text


def write_spans(
    path: Path | IO[str],
    X: Texts,
    y: Collection[Any],
    format: str = "jsonl",
    *,
    metadata: Collection[Mapping[str, Any]] | None = None,
    proba: Any = None,
    model_version: str | None = None,
    control: tuple[str, str] = ("label", "text"),
) -> None:
    """Write texts and spans for an annotation tool; what is written is read again the
    same.

    Spans say what they cover where the format has a place for it, so that it is known
    what offsets count.

    The files of a folder of brat take their places once all are written; other lines of
    an annotation file that is there are lost.

    Parameters
    ----------
    path : str, os.PathLike or text file
        A path is written whole or not at all, a file is left open. For brat a folder,
        which is made if need be.
    X : list of str
        Texts.
    y : list of lists of (start, end, label)
        The spans of each text; offsets count characters, ends are exclusive.
    format : str, default="jsonl"
        Or "doccano", "prodigy", "label-studio", "spacy" or "brat". "label-studio"
        writes tasks with one prediction, which the tool shows for review; offsets of
        these count UTF-16 units, as there.
    metadata : list of dict, optional
        More keys for each record; for Label Studio of ``data``. For brat ``{"name":
        NAME}`` alone, the name of the files; texts are numbered without.
    proba : list of lists of (span, float), optional
        The probability of each span, as ``predict_segment_proba(X, y)`` returns it. For
        "jsonl" and "label-studio".
    model_version : str, optional
        The name of the model in Label Studio.
    control : (str, str), default=("label", "text")
        The names of the tags Labels and Text in the labelling interface of Label
        Studio.

    Raises
    ------
    ValueError
        If a span is not within its text, or something cannot be written in the format;
        nothing is written then.

    Warns
    -----
    UserWarning
        If texts for doccano have characters such as emoji, which tools in JavaScript
        count as two: the format does not say what offsets count.

    Examples
    --------
    >>> import os, tempfile
    >>> from skstruct.datasets import write_spans
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "notes.jsonl")
    ...     write_spans(path, ["Rome"], [[(0, 4, "LOC")]])
    ...     print(open(path).read().strip())
    {"text": "Rome", "spans": [{"start": 0, "end": 4, "label": "LOC", "text": "Rome"}]}
    """
    check_choice("format", format, (*_KEYS, "label-studio", "brat"))
    texts = as_texts(X)
    spans = as_spans(y, texts).by_text()
    metadata = _as_metadata(metadata, len(texts), format)
    if format not in ("jsonl", "label-studio") and proba is not None:
        raise ValueError(
            "proba is for the formats 'jsonl' and 'label-studio', got "
            f"format={format!r}"
        )
    if format != "label-studio" and (
        model_version is not None or tuple(control) != ("label", "text")
    ):
        options = "model_version and control are for the format 'label-studio'"
        raise ValueError(f"{options}, got format={format!r}")
    proba = [None] * len(texts) if proba is None else _as_probabilities(proba, spans)
    if format == "brat":
        if not isinstance(path, str | os.PathLike):
            raise TypeError(
                "path must name a folder, in which brat has its files, got "
                f"{describe(path)}"
            )
        check_path(path)
        contents = _brat_files(texts, spans, metadata)
        if not all("name" in each for each in metadata):
            _refuse_mixture(Folder(path), contents)
        files = {Folder(path, name): content for name, content in contents.items()}
        for folder in {file.parent for file in files}:
            folder.mkdir(parents=True, exist_ok=True)
        write_files(files, "utf-8")
        return
    if format == "label-studio":
        write = partial(task, model_version=model_version, control=control)
        spans = with_units(texts, spans)
    else:
        write = partial(_record, format)
        if format == "doccano" and to_utf16(texts, spans) != spans:
            warnings.warn(
                "the offsets written count characters, and the format of doccano "
                "has no place to say so; to read texts with emoji back, call "
                "read_spans(..., offsets='characters')",
                stacklevel=2,
            )
    lines = (
        _dumped(k, write(*record))
        for k, record in enumerate(zip(texts, spans, metadata, proba))
    )
    with open_text(path, "w", "utf-8") as file:
        if format in ("label-studio", "spacy"):  # one list; its elements are lines, too
            file.write("[")
            file.writelines(
                ("\n" if k == 0 else ",\n") + line for k, line in enumerate(lines)
            )
            file.write("\n]\n")
        else:
            file.writelines(line + "\n" for line in lines)


_KEYS = {"jsonl": "spans", "doccano": "label", "prodigy": "spans", "spacy": "entities"}
"""The keys of spans that are written."""


def _record(format: str, text: str, spans: Any, metadata: Any, proba: Any) -> Any:
    """A text and its spans as JSON has them."""
    if _KEYS[format] == "spans":
        spans = [
            {**span._asdict(), "text": text[span.start : span.end]} for span in spans
        ]
        if proba is not None:
            spans = [{**span, "probability": p} for span, p in zip(spans, proba)]
    rest = {_KEYS[format]: spans, **metadata}
    return [text, rest] if format == "spacy" else {"text": text, **rest}


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two characters in Python that are one in JSON."""


def _dumped(k: int, value: Any) -> str:
    """A value as one line of JSON."""
    try:
        line = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"metadata: sequence {k}: cannot be written as JSON: {error}"
        ) from None
    try:
        line.encode()
    except UnicodeEncodeError:  # half a pair of surrogates
        if _PAIR.search(line):
            wrong = "two surrogates in a row, which JSON takes for one character"
            remedy = (
                "join them with text.encode('utf-16', 'surrogatepass').decode('utf-16')"
            )
            raise ValueError(f"sequence {k}: {wrong}; {remedy}") from None
        line = json.dumps(value)
    return line


def with_units(texts: Any, spans: Any) -> Any:
    """Spans as (start, end, label, text) with offsets that count UTF-16 units."""
    rows = zip(texts, spans, to_utf16(texts, spans))
    return [
        [(*unit, text[a:b]) for unit, (a, b, _) in zip(units, row)]
        for text, row, units in rows
    ]


def reserved_keys(format: str | None) -> Any:
    """The keys of text and spans in a format, which no metadata can have."""
    # A reader would take an earlier one of the keys for the spans.
    keys = SPAN_KEYS[: SPAN_KEYS.index(_KEYS[format]) + 1] if format in _KEYS else ()
    return "text", *keys


def _as_metadata(metadata: Any, n: int, format: str | None) -> Any:
    if metadata is None:
        return [{}] * n
    metadata = list(metadata)
    if len(metadata) != n:
        raise ValueError(f"X has {n} texts, metadata has {len(metadata)} dicts")
    keys = reserved_keys(format)
    for k, each in enumerate(metadata):
        if not isinstance(each, Mapping):
            raise ValueError(
                f"metadata: sequence {k}: expected a dict, got {describe(each)}"
            )
        wrong = next(
            (
                key
                for key in each
                if key in keys or (format == "brat" and key != "name")
            ),
            None,
        )
        if wrong is not None:
            why = (
                "brat has a name only"
                if format == "brat"
                else "it is that of the text or of the spans"
            )
            raise ValueError(
                f"metadata: sequence {k}: the key {wrong!r} cannot be written: {why}"
            )
    return metadata


def brat_names(texts: Any, metadata: Any) -> Any:
    """The names of texts in a folder of brat, without endings; some are numbers.

    Raises
    ------
    ValueError
        If a name is none of a file within the folder, is there twice, or a text cannot
        be written.
    """
    names = {}
    for k, (text, each) in enumerate(zip(texts, metadata)):
        name = each.get("name", f"{k:0{len(str(len(texts)))}}")
        parts = Folder(name).parts if isinstance(name, str) else ()
        if not parts or ".." in parts or "\0" in name or Folder(name).is_absolute():
            wrong = f"expected the name of a file within the folder, got {name!r}"
            raise PlaceError(k, None, wrong, "metadata")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            wrong = f"cannot be written as UTF-8: {error.reason}"
            raise PlaceError(k, None, wrong, "X") from None
        name = Folder(name).as_posix()  # "a" and "./a" are one file
        if name in names:
            raise PlaceError(
                k,
                None,
                f"there is a text {name!r} already; give each text another name",
                "metadata",
            )
        names[name] = k
    return list(names)


def _refuse_mixture(folder: Folder, contents: Mapping[str, str]) -> None:
    """Raise if texts that are numbered would stand among other files of brat."""
    others = sorted(
        name
        for file in folder.rglob("*.ann")
        if (name := file.relative_to(folder).as_posix()) not in contents
    )
    if others:
        raise ValueError(
            f"path: {folder} has other files of brat, such as {others[0]}, and would hold "
            "old and new texts: name an empty folder, or give metadata [{'name': NAME}, "
            "...]"
        )


def _as_probabilities(proba: Any, spans: Any) -> Any:
    """The probability of each span as a float."""
    for k, (found, row) in enumerate(zip(proba, spans)):
        if [tuple(span) for span, _ in found] != row:
            wrong = "expected a pair of span and probability for each span of y"
            raise ValueError(f"proba: sequence {k}: {wrong}")
    if len(proba) != len(spans):
        raise ValueError(f"X has {len(spans)} texts, proba has {len(proba)} lists")
    return [[float(p) for _, p in found] for found in proba]


def _brat_files(texts: Any, spans: Any, metadata: Any) -> Any:
    """The contents of the files of a folder, by name."""
    contents = {}
    names = brat_names(texts, metadata)
    for k, (name, text, row) in enumerate(zip(names, texts, spans)):
        contents[f"{name}.txt"], contents[f"{name}.ann"] = (
            text,
            lines_of(text, row, f"y: sequence {k}"),
        )
    return contents
