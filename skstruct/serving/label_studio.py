"""A model of spans as a machine learning backend of Label Studio.

It asks for predictions to be reviewed.

Label Studio sends its labelling interface (XML) with each request: the name of its tag
Labels, that of the tag Text, and the key of the text in a task's data follow from it.

References
----------
HumanSignal, "Write your own ML backend" and "Webhook event format reference",
https://labelstud.io/guide.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection as Some
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from .._taggers.abilities import span_labels
from ..datasets.formats.label_studio import task as as_task
from ..datasets.formats.span_records import document_in
from ..datasets.formats.span_writing import with_units
from .answers import warm
from .collection import Collection
from .log import LOG, without_texts
from .measures import Measures
from .retraining import Versions
from .service import about_model
from .wsgi import Application, Refused, Route, numbers

if TYPE_CHECKING:
    from .._data.types import Path
    from .wsgi import Request


TASKS_LIMIT = 50_000_000
"""Bytes of a body: Label Studio asks at once for predictions of all tasks that are
selected.
"""

_REMEMBERED = 10_000
"""Tasks whose data are kept in memory, since webhooks of older Label Studios name the
task alone.
"""

_KEPT = "ANNOTATION_CREATED", "ANNOTATION_UPDATED"
_DROPPED = {
    "ANNOTATIONS_DELETED": ("annotations", "annotation"),
    "TASKS_DELETED": ("tasks", "id"),
}


class Control(NamedTuple):
    """The control of a labelling interface that holds the spans."""

    labels: str  # name of the tag Labels
    text: str  # name of the tag Text
    key: str  # of the text in the data of a task
    known: frozenset[str]  # labels that the interface has


def control_of(config: str | None) -> Control:
    """Find the `Control` of a labelling interface: the first Labels over a Text."""
    try:
        root = ElementTree.fromstring(config or "")
    except (ElementTree.ParseError, TypeError, ValueError) as error:
        raise Refused(400, f"the labelling interface cannot be read: {error}") from None
    keys = {
        each.get("name", ""): each.get("value", "").lstrip("$")
        for each in root.iter("Text")
    }
    for each in root.iter("Labels"):
        text = each.get("toName", "")
        if text in keys:
            known = frozenset(
                label.get("alias", label.get("value", ""))
                for label in each.iter("Label")
            )
            return Control(each.get("name", ""), text, keys[text], known)
    raise Refused(400, "the labelling interface has no tag Labels over a tag Text")


class Remembered:
    """The data of the last tasks, by their ids; threads may share it.

    Parameters
    ----------
    most : int
        Tasks that are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._data: dict[str, Any] = {}

    def keep(self, tasks: list[dict[str, Any]]) -> None:
        """Remember tasks, and forget the oldest of those that are too many."""
        with self._lock:
            for task in tasks:
                number = str(task.get("id"))
                self._data.pop(number, None)  # those asked for again are young
                self._data[number] = task["data"]
            while len(self._data) > self._most:
                del self._data[next(iter(self._data))]

    def get(self, number: Any) -> Any:
        """Return the data of a task; None if nothing is known of it."""
        with self._lock:
            return self._data.get(str(number))


class Backend(Application):
    """The application that Label Studio asks.

    Parameters
    ----------
    path : str
        Of the model.
    collect : str, optional
        A file of JSON lines for the annotations that come by the webhook.
    train_on : int, optional
        After so many of them the model is trained anew on the file; see `Versions`.
    max_bytes, allowed_hosts
        As of `Application`, but for the default.
    """

    def __init__(
        self,
        path: Path,
        *,
        collect: Path | None = None,
        train_on: int | None = None,
        max_bytes: int = TASKS_LIMIT,
        allowed_hosts: Some[str] | None = None,
    ) -> None:
        self._collection = None if collect is None else Collection(collect)
        self._versions = Versions(path, collect, train_on)
        if self._collection is not None:
            self._collection.open()
        self._tasks = Remembered(_REMEMBERED)
        model = self._versions.model
        warm(model)
        about = about_model(model, os.fspath(path))
        health = {"status": "UP", "model_class": type(model).__name__}
        measures = Measures({"model": model}, {"model": about})
        routes = {
            "/predict": {"POST": Route(self.predict, keeps=True)},
            "/setup": {"POST": Route(self.setup, keeps=True)},
            "/webhook": {"POST": Route(self.webhook, keeps=True)},
            "/health": {"GET": Route(lambda _: health)},
            "/models": {"GET": Route(self.models)},
            "/": {"GET": Route(lambda _: health)},
            "/metrics": {"GET": Route(lambda _: numbers(measures))},
        }
        super().__init__(routes, max_bytes, allowed_hosts, measures)

    def models(self, _: Request) -> dict[str, Any]:
        """Say which model answers now."""
        model, version = self._versions.current()
        about = about_model(model, self._versions.path)
        return {"models": [{"name": version, "kind": type(model).__name__, **about}]}

    def setup(self, request: Request) -> dict[str, Any]:
        """Take note of a project, and log which labels its interface lacks."""
        model, version = self._versions.current()
        given = _object(request.json())
        unknown = set(span_labels(model)) - control_of(given.get("schema")).known
        if unknown:
            LOG.warning(
                "project %s has no label %s",
                given.get("project"),
                ", ".join(sorted(unknown)),
            )
        return {"model_version": version}

    def predict(self, request: Request) -> dict[str, Any]:
        """Predict for each task: the regions of its spans, and their score if there is
        one.
        """
        model, version = self._versions.current()
        given = _object(request.json())
        control = control_of(given.get("label_config"))
        tasks = _list(given, "tasks")
        texts = _texts(tasks, control)
        self._tasks.keep([task for task, text in zip(tasks, texts) if text is not None])
        filled = [text for text in texts if text is not None]
        spans, proba = _found(model, filled, control.known)
        beside = [
            row if p is None else list(zip(row, p)) for row, p in zip(spans, proba)
        ]
        request.asked = self.measures.answer("model", model, filled, beside, False)
        predicted = iter(_written(version, control, filled, spans, proba))
        nothing = {"model_version": version, "result": []}
        results = [nothing if text is None else next(predicted) for text in texts]
        return {"results": results, "model_version": version}

    def webhook(self, request: Request) -> dict[str, Any]:
        """Take note of an annotation that was made, changed or deleted."""
        given = _object(request.json())
        action = given.get("action")
        if self._collection is None or action not in (*_KEPT, *_DROPPED):
            return {"status": "ignored"}
        if action in _DROPPED:
            listed, key = _DROPPED[action]
            self._collection.replace(
                key, {str(_object(each).get("id")) for each in _list(given, listed)}
            )
            return {"status": "ok"}
        annotation = _object(given.get("annotation"))
        task = _object(given.get("task", {}))
        number = task.get("id", annotation.get("task"))
        data = task.get("data", self._tasks.get(number))
        if data is None:
            raise Refused(400, f"there are no data of task {number}")
        control = control_of(_object(given.get("project")).get("label_config"))
        text = _text({"id": number, "data": data}, control)
        about = {key: each for key, each in data.items() if key != control.key}
        document = document_in({"meta": task.get("meta"), **about})
        try:
            self._collection.keep(number, text, annotation, control.labels, document)
        except ValueError as error:
            quiet = without_texts(f"an annotation of task {number} was not kept")
            LOG.warning("an annotation was not kept: %s", error, extra=quiet)
            raise Refused(400, str(error)) from None
        self._versions.count()
        return {"status": "ok"}


def _found(
    model: Any, texts: list[str], known: frozenset[str]
) -> tuple[list[list[Any]], list[list[float] | None]]:
    """Predict spans, with probabilities if there are any.

    Labels that the labelling interface lacks cannot be shown, and are left out.
    """
    # of sets a person drops what is wrong
    methods = "predict_sets", "predict_segment_proba"
    method = next((name for name in methods if hasattr(model, name)), None)

    def shown(span: Any) -> bool:
        # an interface may take its labels from the data of tasks, and lists none
        return not known or span.label in known

    if method is None:
        found = [list(filter(shown, row)) for row in model.predict(texts)]
        return found, [None] * len(texts)
    pairs = [
        [(span, float(p)) for span, p in row if shown(span)]
        for row in getattr(model, method)(texts)
    ]
    return (
        [[span for span, _ in row] for row in pairs],
        [[p for _, p in row] for row in pairs],
    )


def _written(
    version: str,
    control: Control,
    texts: list[str],
    spans: list[list[Any]],
    proba: list[list[float] | None],
) -> list[dict[str, Any]]:
    """Write what Label Studio is to show of each text."""
    names = control.labels, control.text
    rows = zip(texts, with_units(texts, spans), proba)
    tasks = (as_task(text, units, {}, p, version, names) for text, units, p in rows)
    return [task["predictions"][0] for task in tasks]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused(
            400,
            "expected an object: a request, annotation, task or project of Label Studio",
        )
    return value


def _list(given: dict[str, Any], key: str) -> list[Any]:
    if not isinstance(given.get(key), list):
        raise Refused(400, f"expected a list under {key!r}")
    return given[key]


def _text(task: Any, control: Control) -> str:
    """Return the text of a task, or refuse the request."""
    given = task if isinstance(task, dict) else {}
    text = (
        given["data"].get(control.key) if isinstance(given.get("data"), dict) else None
    )
    if not isinstance(text, str):
        raise Refused(
            400, f"task {given.get('id')} has no text under {control.key!r} in its data"
        )
    return text


def _texts(tasks: list[Any], control: Control) -> list[str | None]:
    """Return the texts of tasks; None, told in the log, of those that have none.

    If none of them has one, the labelling interface does not fit, and the request is
    refused.
    """
    texts: list[str | None] = []
    wrong: list[Refused] = []
    for task in tasks:
        try:
            texts.append(_text(task, control))
        except Refused as error:
            texts.append(None)
            wrong.append(error)
    if wrong and len(wrong) == len(tasks):
        raise wrong[0]
    for refused in wrong:
        LOG.warning("%s: no prediction for it", refused)
    return texts
