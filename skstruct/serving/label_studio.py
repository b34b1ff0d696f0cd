"""A model of spans as a machine learning backend of Label Studio, which asks for predictions to be reviewed.

Label Studio sends its labelling interface (XML) with each request: the name of its tag Labels, that of the
tag Text, and the key of the text in a task's data follow from it.

References
----------
HumanSignal, "Write your own ML backend" and "Webhook event format reference", https://labelstud.io/guide.
"""

import contextlib
import io
import json
import os
import threading
from itertools import compress
from typing import NamedTuple
from xml.etree import ElementTree

from ..data.scheme_rules import LabelTable
from ..formats.annotation_tools import task as as_task
from ..formats.span_files import read_spans
from ..formats.span_writing import with_units, write_spans
from ..saving.atomic import atomic_write
from .retraining import Versions
from .wsgi import LOG, Application, Refused, Route

TASKS_LIMIT = 50_000_000
"""Bytes of a body: Label Studio asks at once for predictions of all tasks that are selected."""

_REMEMBERED = 10_000
"""Tasks whose data are kept in memory, since webhooks of older Label Studios name the task alone."""

_KEPT = "ANNOTATION_CREATED", "ANNOTATION_UPDATED"
_DROPPED = {"ANNOTATIONS_DELETED": ("annotations", "annotation"), "TASKS_DELETED": ("tasks", "id")}


class Control(NamedTuple):
    """Where a labelling interface has its spans."""

    labels: str  # name of the tag Labels
    text: str  # name of the tag Text
    key: str  # of the text in the data of a task
    known: frozenset  # labels that the interface has


def control_of(config):
    """The `Control` of a labelling interface: the first Labels over a Text."""
    try:
        root = ElementTree.fromstring(config or "")
    except (ElementTree.ParseError, TypeError, ValueError) as error:
        raise Refused(400, f"the labelling interface cannot be read: {error}") from None
    keys = {each.get("name"): each.get("value", "").lstrip("$") for each in root.iter("Text")}
    for each in root.iter("Labels"):
        if each.get("toName") in keys:
            known = frozenset(label.get("alias", label.get("value")) for label in each.iter("Label"))
            return Control(each.get("name"), each.get("toName"), keys[each.get("toName")], known)
    raise Refused(400, "the labelling interface has no tag Labels over a tag Text")


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

    def __init__(self, path, *, collect=None, train_on=None, max_bytes=TASKS_LIMIT, allowed_hosts=None):
        self._versions = Versions(path, collect, train_on)
        self._collection = None if collect is None else Collection(collect)
        self._tasks = {}  # data by the id of a task
        health = {"status": "UP", "model_class": type(self._versions.model).__name__}
        routes = {
            "/predict": {"POST": Route(self.predict)},
            "/setup": {"POST": Route(self.setup)},
            "/webhook": {"POST": Route(self.webhook)},
            "/health": {"GET": Route(lambda _: health)},
            "/": {"GET": Route(lambda _: health)},
            "/metrics": {"GET": Route(lambda _: {})},
        }
        super().__init__(routes, max_bytes, allowed_hosts)

    def setup(self, request):
        """A project was connected: say which labels its interface lacks."""
        model, version = self._versions.current()
        tagger, given = getattr(model, "estimator_", model), _object(request.json())
        kinds = {kind for _, kind in LabelTable(tagger.scheme).parse(tagger.tagger_.classes_.tolist())} - {""}
        unknown = kinds - control_of(given.get("schema")).known
        if unknown:
            LOG.warning("project %s has no label %s", given.get("project"), ", ".join(sorted(unknown)))
        return {"model_version": version}

    def predict(self, request):
        """A prediction for each task: the regions of its spans, and their score if the model knows one."""
        model, version = self._versions.current()
        given = _object(request.json())
        control, tasks = control_of(given.get("label_config")), _list(given, "tasks")
        texts = [_text(task, control) for task in tasks]
        for task in tasks:
            self._tasks[str(task.get("id"))] = task["data"]
        while len(self._tasks) > _REMEMBERED:
            del self._tasks[next(iter(self._tasks))]
        methods = "predict_sets", "predict_segment_proba"  # of sets a person drops what is wrong
        method = next((name for name in methods if hasattr(model, name)), None)
        if method is None:
            spans, proba = model.predict(texts), [None] * len(texts)
        else:
            found = getattr(model, method)(texts)
            spans = [[span for span, _ in row] for row in found]
            proba = [[float(p) for _, p in row] for row in found]
        names = control.labels, control.text
        rows = zip(texts, with_units(texts, spans), proba)
        found = [as_task(text, units, {}, p, version, names)["predictions"][0] for text, units, p in rows]
        return {"results": found, "model_version": version}

    def webhook(self, request):
        """An annotation was made, changed or deleted."""
        if "HTTP_ORIGIN" in request.environ:
            raise Refused(403, "webhooks come from Label Studio, not from a page in a browser")
        given = _object(request.json())
        action = given.get("action")
        if self._collection is None or action not in (*_KEPT, *_DROPPED):
            return {"status": "ignored"}
        if action in _DROPPED:
            listed, key = _DROPPED[action]
            self._collection.replace(key, {str(_object(each).get("id")) for each in _list(given, listed)})
            return {"status": "ok"}
        annotation, task = _object(given.get("annotation")), _object(given.get("task", {}))
        number = task.get("id", annotation.get("task"))
        data = task.get("data", self._tasks.get(str(number)))
        if data is None:
            raise Refused(400, f"nothing is known of the data of task {number}")
        control = control_of(_object(given.get("project")).get("label_config"))
        text = _text({"id": number, "data": data}, control)
        try:
            self._collection.keep(number, text, annotation, control.labels)
        except ValueError as error:
            LOG.warning("an annotation was not kept: %s", error)
            raise Refused(400, str(error)) from None
        self._versions.count()
        return {"status": "ok"}


def _object(value):
    if not isinstance(value, dict):
        raise Refused(400, "expected an object: a request, annotation, task or project of Label Studio")
    return value


def _list(given, key):
    if not isinstance(given.get(key), list):
        raise Refused(400, f"expected a list under {key!r}")
    return given[key]


def _text(task, control):
    """The text of a task."""
    given = task if isinstance(task, dict) else {}
    text = given["data"].get(control.key) if isinstance(given.get("data"), dict) else None
    if not isinstance(text, str):
        raise Refused(400, f"task {given.get('id')} has no text under {control.key!r} in its data")
    return text


class Collection:
    """The annotations in a file, which is made if need be.

    Raises
    ------
    ValueError, OSError
        If there is something else in the file, or it cannot be written.
    """

    def __init__(self, path):
        self.path, self._lock = path, threading.Lock()
        self.replace("id", ())

    def keep(self, task, text, annotation, labels):
        """Keep an annotation of Label Studio; ``labels`` names the tag whose regions count.

        Raises
        ------
        ValueError
            If it is none that can be read.
        """
        regions = annotation.get("result")
        if isinstance(regions, list):
            own = [each for each in regions if isinstance(each, dict) and each.get("from_name") == labels]
            annotation = {**annotation, "result": own}
        record = {"id": task, "data": {"text": text}, "annotations": [annotation]}
        X, y = read_spans([record], "label-studio", offsets="utf-16")  # none of a task that was skipped
        file = io.StringIO()
        write_spans(file, X, y, metadata=[{"id": task, "annotation": annotation.get("id")}] * len(X))
        self.replace("id", {str(task)}, file.getvalue())

    def replace(self, key, gone, added=""):
        """Forget the annotations whose id under a key is among some, and add lines."""
        with self._lock:
            lines = []
            if os.path.exists(self.path):
                with open(self.path, encoding="utf-8", newline="\n") as file:
                    # The last one may have no end.
                    lines = [line.rstrip("\n") + "\n" for line in file if line.strip()]
            parsed = map(self._parsed, lines)
            stay = ["annotation" not in each or str(each.get(key)) not in gone for each in parsed]
            with atomic_write(self.path, "utf-8") as file:
                file.writelines([*compress(lines, stay), added])

    def _parsed(self, line):
        with contextlib.suppress(ValueError):
            if isinstance(value := json.loads(line), dict):
                return value
        raise ValueError(f"{self.path}: expected JSON lines of objects, got {line!r:.60}")
