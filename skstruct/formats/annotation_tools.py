"""Tasks of Label Studio, and standoff files of brat.

Of Label Studio the exports JSON and JSON_MIN are read, and predictions for review written. A task has
``data`` with the text, ``annotations`` (once ``completions``) by people and ``predictions`` of models. Each
of these holds ``result``, a list of regions. Offsets count UTF-16 units.

brat has two files for a text, ``NAME.txt`` with the text, ``NAME.ann`` with its annotations. A line
``T1<tab>LABEL START END<tab>TEXT`` is a span; ``START END;START END`` is a discontinuous one. Lines of other
kinds (relations, events, attributes, notes) are skipped. Offsets count characters, those of line ends too.

References
----------
Label Studio, "Export annotations" and "Import pre-annotations", https://labelstud.io/guide.
P. Stenetorp and others, "brat: a Web-based Tool for NLP-Assisted Text Annotation", EACL 2012.
"""

import os
import re
from collections.abc import Mapping
from itertools import pairwise
from numbers import Real
from pathlib import Path

from ..data.spans import Span
from ..saving.atomic import naming
from .span_records import Annotation, Record, check, without
from .text_files import numbered_lines

_OFFSETS = "utf-16"


def looks_like_task(record, text):
    """Whether a record is a task of Label Studio, or one of its export JSON_MIN."""
    return (isinstance(record.get("data"), Mapping) and text not in record) or bool(_controls(record))


def from_task(record, place, reading):
    """A `Record` of a task."""
    check(record, Mapping, place, "an object")
    reading.omits = True
    if "id" in record:
        place = f"{place} (task {record['id']})"
    if "data" not in record:
        return _from_minimal(record, place, reading)
    text = reading.text_of(record["data"], place)
    metadata = without({**without(record, *set(record) - {"id"}), **record["data"]}, reading.options.text)
    if reading.texts_alone:
        return Record(place, text, None, metadata)
    results = _results(record, place, reading)
    found = [_region(result, f"{place}, result {k}", reading) for k, result in enumerate(results or ())]
    # Of a task for other things than spans, all results are of other types.
    reading.n_annotated += not results or any(result.get("type") == "labels" for result in results)
    spans = None if results is None else [annotation for annotation in found if annotation is not None]
    return Record(place, text, spans, metadata, _OFFSETS)


def _results(record, place, reading):
    """The regions of the annotation that counts, or of a prediction; None if there is neither."""
    given = [key for key in ("annotations", "completions", "predictions") if record.get(key) is not None]
    key = given[0] if given else "predictions"
    all_of = [
        check(each, Mapping, place, f"objects in {key!r}")
        for each in check(record[key] if given else [], list, place, f"a list under {key!r}")
    ]
    if key != "predictions":
        all_of = [each for each in all_of if not each.get("was_cancelled")]
        chosen = reading.choose(place, map(_who, all_of))
        if reading.options.annotator is not None:
            all_of = [each for each in all_of if str(_who(each)) == chosen]
    if not all_of:
        return None
    times = [each.get("created_at") for each in all_of]
    last = len(times) - 1
    if all(isinstance(t, str) for t in times) or all(isinstance(t, Real) for t in times):
        last = max(range(len(times)), key=lambda k: (times[k], k))
    return check(all_of[last].get("result", []), list, place, "a list under 'result'")


def _who(annotation):
    """The person who made an annotation: an address or a number."""
    who = annotation.get("completed_by")
    return who.get("email", who.get("id")) if isinstance(who, Mapping) else who


def _region(result, place, reading):
    """An `Annotation`; None if a result is no span of text."""
    check(result, Mapping, place, "an object")
    kind, value = result.get("type"), result.get("value")
    if kind != "labels":
        if str(kind).endswith("labels") and isinstance(value, Mapping) and "start" in value:
            wrong = f"spans of the type {kind!r} have no offsets in the text; only 'labels' have"
            raise ValueError(f"{place}: {wrong}")
        return None
    if not reading.has_control(result.get("from_name")):
        return None
    return _value(check(value, Mapping, place, "an object under 'value'"), place, reading)


def _value(value, place, reading):
    if "start" not in value or "end" not in value:
        raise ValueError(f"{place}: expected start, end and labels, found keys {', '.join(map(str, value))}")
    labels = check(value.get("labels", []), list, place, "a list under 'labels'")
    if len(labels) > 1:
        two = ", ".join(map(repr, labels))
        raise ValueError(f"{place}: two labels on one span: {two}; a span has one label")
    label, text = reading.label(labels[0], place) if labels else None, value.get("text")
    return Annotation(((value["start"], value["end"]),), label, text if isinstance(text, str) else None)


# --------------------------------------------------------------------------------------------------
# JSON_MIN
# --------------------------------------------------------------------------------------------------
def _controls(record):
    """The keys of JSON_MIN that hold regions: the names of the controls."""
    return [k for k, v in record.items() if isinstance(v, list) and v and all(map(_is_region, v))]


def _is_region(value):
    return isinstance(value, Mapping) and "start" in value and isinstance(value.get("labels"), list)


def _from_minimal(record, place, reading):
    text = reading.text_of(record, place)
    controls = _controls(record)
    metadata = without(record, reading.options.text, *controls)
    if reading.texts_alone:
        return Record(place, text, None, metadata)
    reading.n_annotated += 1
    spans = None
    if reading.is_chosen(place, record.get("id", text), record.get("annotator")):
        values = (value for key in controls if reading.has_control(key) for value in record[key])
        spans = [_value(value, f"{place}, span {k}", reading) for k, value in enumerate(values)]
    return Record(place, text, spans, metadata, _OFFSETS)


# --------------------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------------------
def task(text, spans, metadata, proba, model_version, control):
    """A task with one prediction, to be reviewed; ``spans`` count UTF-16 units, ``text`` is cut by
    `covered`."""
    from_name, to_name = control
    result = []
    for k, (start, end, label, covered) in enumerate(spans):
        value = {"start": start, "end": end, "text": covered, "labels": [] if label is None else [label]}
        region = {"id": str(k), "from_name": from_name, "to_name": to_name, "type": "labels", "value": value}
        result.append(region if proba is None else {**region, "score": proba[k]})
    prediction = {} if model_version is None else {"model_version": model_version}
    if proba:
        prediction["score"] = sum(proba) / len(proba)
    return {"data": {**metadata, "text": text}, "predictions": [{**prediction, "result": result}]}


_SPAN = re.compile(
    r"T\S*\t(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*)(?:\t(.*))?", re.DOTALL
)


def is_brat(source):
    """Whether a path is a folder, or a file of brat's."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = Path(source)
    has_annotations = path.suffix == ".txt" and path.with_suffix(".ann").is_file()
    return has_annotations or path.suffix == ".ann" or path.is_dir()


def brat_records(source, encoding, texts_alone=False):
    """Yield the `Record` of each text of a folder, with the folders in it, in order of their names."""
    path = Path(source)
    files = sorted(path.rglob("*.ann")) if path.is_dir() else [path.with_suffix(".ann")]
    if not files:
        raise ValueError(f"{path}: there is no file NAME.ann in the folder")
    for file in files:
        name = file.relative_to(path if path.is_dir() else path.parent)
        text = _text(file.with_suffix(".txt"), encoding)
        spans = None if texts_alone else _annotations(file, encoding)
        yield Record(str(file), text, spans, {"name": name.with_suffix("").as_posix()})


def _text(path, encoding):
    try:
        # As it is: every character counts, carriage returns and a byte order mark, too.
        with naming(path), open(path, encoding=encoding, newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not valid {error.encoding}: {error.reason}") from None


def _annotations(file, encoding):
    found = []
    with numbered_lines(file, encoding, watch=False) as (name, lines):
        for number, line in lines:
            if not line.startswith("T"):
                continue
            match = _SPAN.fullmatch(line)
            if match is None:
                expected = "T1<tab>LABEL START END<tab>TEXT"
                raise ValueError(f"{name}, line {number}: expected {expected}, got {line!r:.60}")
            label, offsets, text = match.groups()
            parts = tuple(tuple(map(int, part.split(" "))) for part in offsets.split(";"))
            found.append(Annotation(parts, label, text, f"{name}, line {number}"))
    return found


def joined(text, parts, place, discontinuous):
    """One `Span` of its parts; None if it is discontinuous and to be left out.

    Parts with nothing but white space between them are one.
    """
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts)
    start, end, label = parts[0][0], max(part.end for part in parts), parts[0].label
    if any(text[a.end : b.start].strip() for a, b in pairwise(parts)):
        if discontinuous == "skip":
            return None
        if discontinuous == "error":
            shown = " ... ".join(text[a:b] for a, b, _ in parts)
            ways = "discontinuous='cover' takes all between its ends, 'skip' leaves it out"
            raise ValueError(f"{place}: the span {label!r} is discontinuous: {shown!r:.80}; {ways}")
    return Span(start, end, label)


def lines_of(text, spans, place):
    """The content of a file ``.ann``."""
    lines = []
    for k, (start, end, label) in enumerate(spans):
        if label is None or label.split() != [label]:
            wrong = f"brat has no label {label!r}: it takes text without white space"
            words = (label or "").split()
            remedy = f"; {'_'.join(words)!r} is one" if words else ""
            raise ValueError(f"{place}, span {k}: {wrong}{remedy}")
        covered = re.sub(r"[\r\n]", " ", text[start:end])
        lines.append(f"T{k + 1}\t{label} {start} {end}\t{covered}\n")
    return "".join(lines)
