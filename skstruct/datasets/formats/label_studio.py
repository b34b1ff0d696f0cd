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

from .contents import NOT_ANNOTATED
from .entry import NO, Look, TextFormat, marked
from .head import Head, part_of_first
from .json_fields import Fields
from .json_records import NoneOfSet, label_of, other_spans, text_of
from .span_records import Annotation, Reading, Record, check, without

_OFFSETS = "utf-16"

_FIELDS = Fields()

_ANNOTATIONS = ("annotations", "completions", "predictions")
"""The keys under which a task has regions; the first that exists counts."""


def from_task(record: Any, place: str, reading: Reading) -> Record:
    """Make a `Record` of a task."""
    check(record, Mapping, place, "an object")
    record = _from_storage(record)
    if "id" in record:
        place = f"{place} (task {record['id']})"
    if "data" not in record:
        return _from_minimal(record, place, reading)
    fields = _FIELDS.named(reading.options)
    data = record["data"]
    text, _ = text_of(data, place, fields)
    key = fields.text[0]
    metadata = without({**without(record, *set(record) - {"id"}), **data}, key)
    found = Record(place, text, None, metadata, _OFFSETS)
    if reading.texts_alone:
        return found
    results, why = _results(record, place, reading)
    if results is None:
        reading.n_listed += why != NOT_ANNOTATED
        return found._replace(why=why)
    # Of a task for other things than spans, all results are of other types.
    reading.n_listed += not results or any(
        isinstance(result, Mapping) and result.get("type") == "labels"
        for result in results
    )
    spans = []
    for k, result in enumerate(results):
        span = _region(result, f"{place}, result {k}", reading, data, key)
        if isinstance(span, str):
            reading.leave_span(span, place)
        else:
            spans.append(span)
    return found._replace(spans=spans, n_seen=len(results))


def _from_storage(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The task of an annotation as it is synchronised to a storage: it holds its
    task.
    """
    task = record.get("task")
    if isinstance(task, Mapping) and "result" in record and "data" in task:
        return {**task, "annotations": [without(record, "task")]}
    return record


def _results(record: Any, place: str, reading: Reading) -> tuple[Any, str]:
    """The regions of the annotation that counts, or of a prediction; or None, and why
    the task is left out.
    """
    given = [key for key in _ANNOTATIONS if record.get(key) is not None]
    key = given[0] if given else "predictions"
    all_of = [
        check(each, Mapping, place, f"objects in {key!r}")
        for each in check(
            record[key] if given else [], list, place, f"a list under {key!r}"
        )
    ]
    why = NOT_ANNOTATED
    if key != "predictions":
        n = len(all_of)
        all_of = [each for each in all_of if not each.get("was_cancelled")]
        if n > len(all_of):
            why = "cancelled"
            if all_of:
                reading.contents.n_cancelled += n - len(all_of)
        chosen = reading.choose(place, map(_who, _candidates(all_of, reading)))
        if reading.options.annotator is not None:
            why = "of other annotators" if all_of else why
            all_of = [each for each in all_of if str(_who(each)) == chosen]
    if not all_of:
        if why is NOT_ANNOTATED:
            why = _unknown(record) or why
        return None, why
    last = _last(_candidates(all_of, reading))
    earlier = [each for each in all_of if each is not last]
    n = sum(len(each["result"]) for each in earlier if _has_regions(each))
    if n and key != "predictions":
        reading.contents.spans.seen += n
        reading.leave_span("in another annotation of the text", place, n)
    if "result" not in last:
        return None, "an annotation without result"
    return check(last["result"], list, place, "a list under 'result'"), ""


def _candidates(annotations: list[Any], reading: Reading) -> list[Any]:
    """The annotations of a task that may count: those marked as ground truth, if there
    are some and no option names an annotator; else all.
    """
    if reading.options.annotator is not None:
        return annotations
    truth = [each for each in annotations if each.get("ground_truth") is True]
    return truth or annotations


def _last(annotations: list[Any]) -> Any:
    """The annotation that was made last: by the times, if all have one of one kind."""
    times = [each.get("created_at") for each in annotations]
    if all(isinstance(t, str) for t in times) or all(
        isinstance(t, Real) for t in times
    ):
        return annotations[max(range(len(times)), key=lambda k: (times[k], k))]
    return annotations[-1]


def _has_regions(annotation: Mapping[str, Any]) -> bool:
    return isinstance(annotation.get("result"), list)


def _unknown(record: Mapping[str, Any]) -> str | None:
    """Why a task is left out that has something in place of annotations."""
    for key, value in record.items():
        if key in _ANNOTATIONS:
            if value is None and not any(record.get(name) for name in _ANNOTATIONS):
                return f"null under {key!r}"
        elif isinstance(value, list) and any(
            isinstance(each, Mapping) and "result" in each for each in value
        ):
            return f"a list under {key!r} that is not understood"
    return None


def _who(annotation: Any) -> Any:
    """The person who made an annotation: an address or a number."""
    who = annotation.get("completed_by")
    return who.get("email", who.get("id")) if isinstance(who, Mapping) else who


def _region(
    result: Any, place: str, reading: Reading, data: Mapping[str, Any], key: str
) -> Annotation | str:
    """An `Annotation`; or why a result is none."""
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
        return f"of the type {kind!r}, which is no span"
    if not reading.has_control(result.get("from_name")):
        return "of other controls"
    if (
        why := _of_other_text(result.get("to_name"), place, reading, data, key)
    ) is not None:
        return why
    return _value(
        check(value, Mapping, place, "an object under 'value'"), place, reading
    )


def _of_other_text(
    name: Any, place: str, reading: Reading, data: Mapping[str, Any], key: str
) -> str | None:
    """Why a region does not count that belongs to another tag Text than the text that
    is read; None if it does.

    A tag is called as the user likes. One that is called as another text of the task is
    that one's; of several that are called otherwise an option chooses one.
    """
    chosen = reading.options.to_name
    if name is None:
        return None
    name = str(name)
    met = reading.met["to_name"]
    if chosen is None and name != key and isinstance(data.get(name), str):
        return f"of the text {name!r}"
    met.add(name)
    if chosen is not None:
        return None if name == chosen else "other text"
    if len(met) > 1:
        names = ", ".join(map(repr, sorted(met)))
        raise ValueError(
            f"{place}: regions of several tags Text: {names}; name the one that "
            f"has {key!r} with to_name=, or another key with text="
        )
    return None


def _value(value: Any, place: str, reading: Reading) -> Annotation | str:
    if "start" not in value or "end" not in value:
        raise ValueError(
            f"{place}: expected start, end and labels, found keys "
            f"{', '.join(map(str, value))}"
        )
    labels = check(value.get("labels", []), list, place, "a list under 'labels'")
    try:
        label = label_of(labels, place, reading)
    except NoneOfSet:
        return "no label of labels="
    text = value.get("text")
    return Annotation(
        ((value["start"], value["end"]),),
        label,
        text if isinstance(text, str) else None,
    )


# --------------------------------------------------------------------------------------
# JSON_MIN
# --------------------------------------------------------------------------------------
def _is_task(record: Mapping[str, Any]) -> bool:
    return isinstance(_from_storage(record).get("data"), Mapping)


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


def _from_minimal(record: Any, place: str, reading: Reading) -> Record:
    fields = _FIELDS.named(reading.options)
    text, _ = text_of(record, place, fields)
    controls = _controls(record)
    metadata = without(record, fields.text[0], *controls)
    found = Record(place, text, None, metadata, _OFFSETS)
    if reading.texts_alone:
        return found
    if not controls and (why := other_spans(record)) is not None:
        return found._replace(why=why)
    reading.n_listed += 1
    if not reading.is_chosen(place, record.get("id", text), record.get("annotator")):
        return found._replace(why="of other annotators")
    values = [(key, value) for key in controls for value in record[key]]
    spans = []
    for k, (key, value) in enumerate(values):
        counts = reading.has_control(key)
        span = (
            _value(value, f"{place}, span {k}", reading)
            if counts
            else "of other controls"
        )
        if isinstance(span, str):
            reading.leave_span(span, place)
        else:
            spans.append(span)
    return found._replace(spans=spans, n_seen=len(values))


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
    options = frozenset(
        ("text", "annotator", "control", "to_name", "label_names", "labels")
    )
    is_written = True

    def look(self, head: Head) -> Look:
        """Objects have ``data``, or regions with ``labels`` under a control's name."""
        n = len(head.records)
        tasks = sum(map(_is_task, head.objects))
        if tasks and 2 * tasks >= n:
            return marked(
                f"{part_of_first(tasks, n, 'record', 'have')} data, as tasks have"
            )
        regions = sum(bool(_controls(r)) for r in head.objects)
        if regions:
            return marked(
                f"{part_of_first(regions, n, 'record', 'have')} regions with labels"
            )
        return NO

    @property
    def mark_keys(self) -> frozenset[str]:
        """Those of tasks."""
        return frozenset(("data", "task"))

    def has_mark(self, value: Any) -> bool:
        """Tell whether a record is a task, or has regions with labels."""
        return isinstance(value, Mapping) and (
            _is_task(value) or bool(_controls(value))
        )

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a task."""
        return from_task(value, place, reading)
