"""Tasks of Label Studio.

The exports JSON and JSON_MIN are read, and predictions for review written. A task has
``data`` with the text, ``annotations`` (once ``completions``) by people and
``predictions`` of models. Each of these holds ``result``, a list of regions. Offsets
count UTF-16 units.

References
----------
Label Studio, "Export annotations" and "Import pre-annotations",
https://labelstud.io/guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from ..._data.places import part_of
from .entry import NO, Look, TextFormat, marked
from .head import Head
from .span_records import Annotation, Record, check, without

_OFFSETS = "utf-16"


def from_task(record: Any, place: Any, reading: Any) -> Any:
    """A `Record` of a task."""
    check(record, Mapping, place, "an object")
    reading.omits = True
    if "id" in record:
        place = f"{place} (task {record['id']})"
    if "data" not in record:
        return _from_minimal(record, place, reading)
    text = reading.text_of(record["data"], place)
    metadata = without(
        {**without(record, *set(record) - {"id"}), **record["data"]},
        reading.options.text,
    )
    if reading.texts_alone:
        return Record(place, text, None, metadata)
    results = _results(record, place, reading)
    found = [
        _region(result, f"{place}, result {k}", reading)
        for k, result in enumerate(results or ())
    ]
    # Of a task for other things than spans, all results are of other types.
    reading.n_annotated += not results or any(
        result.get("type") == "labels" for result in results
    )
    spans = (
        None
        if results is None
        else [annotation for annotation in found if annotation is not None]
    )
    return Record(place, text, spans, metadata, _OFFSETS)


def _results(record: Any, place: Any, reading: Any) -> Any:
    """The regions of the annotation that counts, or of a prediction; None if there is
    neither.
    """
    given = [
        key
        for key in ("annotations", "completions", "predictions")
        if record.get(key) is not None
    ]
    key = given[0] if given else "predictions"
    all_of = [
        check(each, Mapping, place, f"objects in {key!r}")
        for each in check(
            record[key] if given else [], list, place, f"a list under {key!r}"
        )
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
    if all(isinstance(t, str) for t in times) or all(
        isinstance(t, Real) for t in times
    ):
        last = max(range(len(times)), key=lambda k: (times[k], k))
    return check(all_of[last].get("result", []), list, place, "a list under 'result'")


def _who(annotation: Any) -> Any:
    """The person who made an annotation: an address or a number."""
    who = annotation.get("completed_by")
    return who.get("email", who.get("id")) if isinstance(who, Mapping) else who


def _region(result: Any, place: Any, reading: Any) -> Any:
    """An `Annotation`; None if a result is no span of text."""
    check(result, Mapping, place, "an object")
    kind = result.get("type")
    value = result.get("value")
    if kind != "labels":
        if (
            str(kind).endswith("labels")
            and isinstance(value, Mapping)
            and "start" in value
        ):
            wrong = (
                f"spans of the type {kind!r} have no offsets in the text; only "
                "'labels' have"
            )
            raise ValueError(f"{place}: {wrong}")
        return None
    if not reading.has_control(result.get("from_name")):
        return None
    return _value(
        check(value, Mapping, place, "an object under 'value'"), place, reading
    )


def _value(value: Any, place: Any, reading: Any) -> Any:
    if "start" not in value or "end" not in value:
        raise ValueError(
            f"{place}: expected start, end and labels, found keys "
            f"{', '.join(map(str, value))}"
        )
    labels = check(value.get("labels", []), list, place, "a list under 'labels'")
    if len(labels) > 1:
        two = ", ".join(map(repr, labels))
        raise ValueError(
            f"{place}: two labels on one span: {two}; a span has one label"
        )
    label = reading.label(labels[0], place) if labels else None
    text = value.get("text")
    return Annotation(
        ((value["start"], value["end"]),),
        label,
        text if isinstance(text, str) else None,
    )


# --------------------------------------------------------------------------------------
# JSON_MIN
# --------------------------------------------------------------------------------------
def _controls(record: Any) -> Any:
    """The keys of JSON_MIN that hold regions: the names of the controls."""
    return [
        k
        for k, v in record.items()
        if isinstance(v, list) and v and all(map(_is_region, v))
    ]


def _is_region(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and "start" in value
        and isinstance(value.get("labels"), list)
    )


def _from_minimal(record: Any, place: Any, reading: Any) -> Any:
    text = reading.text_of(record, place)
    controls = _controls(record)
    metadata = without(record, reading.options.text, *controls)
    if reading.texts_alone:
        return Record(place, text, None, metadata)
    reading.n_annotated += 1
    spans = None
    if reading.is_chosen(place, record.get("id", text), record.get("annotator")):
        values = (
            value
            for key in controls
            if reading.has_control(key)
            for value in record[key]
        )
        spans = [
            _value(value, f"{place}, span {k}", reading)
            for k, value in enumerate(values)
        ]
    return Record(place, text, spans, metadata, _OFFSETS)


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
def task(
    text: str,
    spans: Any,
    metadata: Any,
    proba: Any,
    model_version: str | None,
    control: Any,
) -> dict[str, Any]:
    """A task with one prediction, to be reviewed; ``spans`` count UTF-16 units,
    ``text`` is cut by `covered`.
    """
    from_name, to_name = control
    result = []
    for k, (start, end, label, covered) in enumerate(spans):
        value = {
            "start": start,
            "end": end,
            "text": covered,
            "labels": [] if label is None else [label],
        }
        region = {
            "id": str(k),
            "from_name": from_name,
            "to_name": to_name,
            "type": "labels",
            "value": value,
        }
        result.append(region if proba is None else {**region, "score": proba[k]})
    prediction = {} if model_version is None else {"model_version": model_version}
    if proba:
        prediction["score"] = sum(proba) / len(proba)
    return {
        "data": {**metadata, "text": text},
        "predictions": [{**prediction, "result": result}],
    }


class LabelStudio(TextFormat):
    """The entry of the table."""

    name = "label-studio"
    description = "tasks of Label Studio, exported as JSON or JSON_MIN"
    options = frozenset(("text", "annotator", "control", "label_names"))
    is_written = True

    def look(self, head: Head) -> Look:
        """Objects have ``data``, or regions with ``labels`` under a control's name."""
        n = len(head.records)
        tasks = sum(isinstance(r.get("data"), Mapping) for r in head.objects)
        if tasks and 2 * tasks >= n:
            return marked(f"{part_of(tasks, n, 'record', 'have')} data, as tasks have")
        regions = sum(bool(_controls(r)) for r in head.objects)
        if regions:
            return marked(
                f"{part_of(regions, n, 'record', 'have')} regions with labels"
            )
        return NO

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of a task."""
        return from_task(value, place, reading)
