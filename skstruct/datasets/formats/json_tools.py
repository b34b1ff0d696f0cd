"""Records of tools that differ from others in their keys: rows of the table of
`skstruct.datasets.formats.json_records`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .contents import NOT_ANNOTATED
from .entry import NO, Look, marked
from .head import Head
from .json_fields import MISSING, Fields, at, elements_at, parsed
from .json_records import RecordFormat, record_of, text_of
from .span_records import Reading, Record, without


class SpacyDoc(RecordFormat):
    """The entry of the table for what spaCy's ``Doc.to_json`` gives."""

    name = "spacy-doc"
    description = "output of spaCy's Doc.to_json: a text and its ents"
    fields = Fields(spans=("ents",), start=("start",), end=("end",))
    marks = ("text", "ents")


class Presidio(RecordFormat):
    """The entry of the table for records of Presidio's evaluator."""

    name = "presidio"
    description = "records of Presidio: full_text and spans with entity_type"
    fields = Fields(
        text=("full_text",),
        spans=("spans",),
        start=("start_position",),
        end=("end_position",),
        label=("entity_type",),
        covered=("entity_value",),
    )
    marks = ("full_text", "spans")


class Rasa(RecordFormat):
    """The entry of the table for Rasa's JSON: one object that holds all examples.

    The ``value`` of a span is what it stands for, such as a synonym, and not what it
    covers.
    """

    name = "rasa"
    description = "training data of Rasa: rasa_nlu_data with common_examples"
    fields = Fields(
        spans=("entities",),
        start=("start",),
        end=("end",),
        label=("entity",),
        covered=(),
        records="rasa_nlu_data.common_examples",
        omits_empty=True,
    )
    marks = ("text", "entities")

    def elements(self, value: Any, place: str) -> Iterator[tuple[str, Any]]:
        """Yield the examples, those of old files, too, which tell kinds of them apart."""
        data = at(value, "rasa_nlu_data", None)
        for key in ("common_examples", "entity_examples", "intent_examples"):
            if key == "common_examples" or isinstance(data, Mapping) and key in data:
                yield from elements_at(value, f"rasa_nlu_data.{key}", place)

    def look(self, head: Head) -> Look:
        """One object has the list of examples."""
        if len(head.records) == 1 and self.has_mark(head.records[0]):
            return marked("it has rasa_nlu_data.common_examples")
        return NO

    @property
    def mark_keys(self) -> frozenset[str]:
        """The key of all."""
        return frozenset(("rasa_nlu_data",))

    def has_mark(self, value: Any) -> bool:
        """Tell whether an object holds examples."""
        path = self.fields.records
        assert path is not None
        return isinstance(value, Mapping) and isinstance(at(value, path, None), list)


class Dataturks(RecordFormat):
    """The entry of the table for DataTurks, where ends are inclusive."""

    name = "dataturks"
    description = "records of DataTurks: content and annotation with points"
    fields = Fields(
        text=("content",),
        spans=("annotation",),
        start=("points.start",),
        end=("points.end",),
        label=("label",),
        covered=("points.text",),
        ends="inclusive",
    )
    marks = ("content", "annotation")


class PubAnnotation(RecordFormat):
    """The entry of the table for records of PubAnnotation."""

    name = "pubannotation"
    description = "records of PubAnnotation: a text and its denotations"
    fields = Fields(
        spans=("denotations",),
        start=("span.begin",),
        end=("span.end",),
        label=("obj",),
        covered=(),
        omits_empty=True,
    )
    marks = ("text", "denotations")


class Vertex(RecordFormat):
    """The entry of the table for Vertex AI, whose JSON leaves zeros out."""

    name = "vertex"
    description = "records of Vertex AI: textContent and textSegmentAnnotations"
    fields = Fields(
        text=("textContent",),
        spans=("textSegmentAnnotations",),
        start=("startOffset",),
        end=("endOffset",),
        label=("displayName",),
        covered=(),
        omits_empty=True,
        omits_zero=True,
    )
    marks = ("textContent", "textSegmentAnnotations")


class GroundTruth(RecordFormat):
    """The entry of the table for manifests of SageMaker Ground Truth.

    The key of the annotations is the name of the job.
    """

    name = "ground-truth"
    description = "manifests of SageMaker Ground Truth: source, annotations of a job"
    fields = Fields(
        text=("source",),
        start=("startOffset",),
        end=("endOffset",),
        covered=(),
    )
    marks = ("source",)
    options = frozenset(("text", "spans", "label_names", "labels"))

    def has_mark(self, value: Any) -> bool:
        """Tell whether there is a source, and a job with entities."""
        has_text = isinstance(value, Mapping) and isinstance(value.get("source"), str)
        return has_text and bool(_jobs_of(value))

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a line."""
        jobs = _jobs_of(value) if isinstance(value, Mapping) else []
        if len(jobs) > 1 and reading.options.spans is None:
            first = f"{jobs[0]}.annotations.entities"
            raise ValueError(
                f"{place}: several jobs have spans: {', '.join(jobs)}; choose one, "
                f"such as spans={first!r}"
            )
        job = jobs[0] if jobs else None
        spans = f"{job}.annotations.entities"
        fields = self.fields._replace(spans=(spans,)).named(reading.options)
        if at(value, fields.spans[0], MISSING) is not MISSING:
            return record_of(value, place, reading, fields)
        text, _ = text_of(value, place, fields)
        why = NOT_ANNOTATED if job is None else f"no list under {spans!r}"
        return Record(place, text, None, without(value, "source"), why=why)


def _jobs_of(record: Mapping[str, Any]) -> list[str]:
    """The names of the jobs whose annotations a line has."""
    return [
        str(key)
        for key, job in record.items()
        if isinstance(job, Mapping) and isinstance(job.get("annotations"), Mapping)
    ]


class Kili(RecordFormat):
    """The entry of the table for exports of Kili: offset and content of each span.

    Only the first of several jobs of named entities is read, if ``spans`` names none.
    """

    name = "kili"
    description = "exports of Kili: content, labels with jsonResponse"
    fields = Fields(
        text=("content",),
        start=("beginOffset",),
        end=("endOffset",),
        label=("categories.name",),
        covered=("content",),
    )
    marks = ("content", "labels.0.jsonResponse")
    options = frozenset(("text", "spans", "label_names", "labels"))

    def has_mark(self, value: Any) -> bool:
        """Tell whether there is a content, and a label with answers to jobs, if there
        is any.
        """
        if not isinstance(value, Mapping) or not isinstance(value.get("content"), str):
            return False
        is_empty = value.get("labels") == [] and "externalId" in value
        return is_empty or isinstance(_answers_of(value), Mapping)

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of an asset: the last of its labels counts."""
        text, _ = text_of(value, place, self.fields.named(reading.options))
        beside = without(value, "content", "labels", "jsonResponse")
        answers = _answers_of(value)
        if not isinstance(answers, Mapping):
            is_empty = value.get("labels") == []
            why = NOT_ANNOTATED if is_empty else "no answers under 'labels'"
            return Record(place, text, None, beside, why=why)
        jobs = _jobs_with_spans(answers)
        filled = [job for job in jobs if at(answers, f"{job}.annotations")] or jobs[:1]
        if len(filled) > 1 and reading.options.spans is None:
            raise ValueError(
                f"{place}: several jobs have spans: {', '.join(jobs)}; choose one "
                "with spans="
            )
        if answers and not jobs:
            why = "no annotations under 'jsonResponse'"
            return Record(place, text, None, beside, why=why)
        self._count_earlier(value, place, reading)
        job = reading.options.spans or (filled[0] if filled else "")
        given = {"content": text, "spans": at(answers, f"{job}.annotations", [])}
        fields = self.fields._replace(text=("content",), spans=("spans",))
        return record_of(given, place, reading, fields)._replace(metadata=beside)

    def _count_earlier(
        self, value: Mapping[str, Any], place: str, reading: Reading
    ) -> None:
        """Count the spans of labels before the last, which are left out."""
        labels = value.get("labels")
        for label in labels[:-1] if isinstance(labels, list) else ():
            answers = parsed(at(label, "jsonResponse", {}))
            jobs = _jobs_with_spans(answers)
            n = sum(len(at(answers, f"{job}.annotations")) for job in jobs)
            reading.contents.spans.seen += n
            if n:
                reading.leave_span("in an earlier label of the asset", place, n)


def _jobs_with_spans(answers: Any) -> list[str]:
    """The jobs whose answers are lists of spans."""
    if not isinstance(answers, Mapping):
        return []
    return [
        job
        for job, answer in answers.items()
        if isinstance(at(answer, "annotations", None), list)
    ]


def _answers_of(record: Mapping[str, Any]) -> Any:
    """The answers to the jobs of an asset, of the last label."""
    labels = record.get("labels")
    if isinstance(labels, list) and labels and isinstance(labels[-1], Mapping):
        return parsed(labels[-1].get("jsonResponse"))
    return parsed(record.get("jsonResponse"))
