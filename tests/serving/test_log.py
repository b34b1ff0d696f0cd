"""The log of a service: a client cannot write lines of it, nor speak to a terminal.

What belongs to the kind: fields of bodies, paths, what ends in tracebacks, what is kept
in files and quoted by a training, and messages of waitress.
"""

import datetime
import io
import json
import logging
import warnings

import pytest
from serving_cases import asked, call

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.serving import JsonFormatter, app, from_environment
from skstruct.serving.collection import Lines
from skstruct.serving.label_studio import Backend
from skstruct.serving.log import REQUESTS, log_as_json, one_line

FORGED = "1\nskstruct: ready: http://evil/\r\x1b[2J\u2028\ud83d"
CONFIG = (
    '<View><Labels name="label" toName="text"><Label value="X"/></Labels>'
    '<Text name="text" value="$text"/></View>'
)


@pytest.fixture
def lines():
    """The lines that the handler of the command writes, without those of tracebacks."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("skstruct: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.INFO)
    of_requests = REQUESTS.level
    REQUESTS.setLevel(logging.INFO)
    yield lambda: stream.getvalue()
    root.removeHandler(handler)
    root.setLevel(level)
    REQUESTS.setLevel(of_requests)


def check(text, n):
    """It has ``n`` messages, and all else is indented and printable."""
    assert text.isascii() and "ready: " in text
    found = text.split("\n")[:-1]
    assert all(line.isprintable() for line in found)
    assert sum(line.startswith("skstruct: ") for line in found) == n
    assert all(line.startswith(("skstruct: ", "    ")) for line in found)
    assert not any(line.startswith("skstruct: ready") for line in found)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "ner"
    SpanTagger(StructuredPerceptron(max_iter=1)).fit(["Ann"], [[(0, 3, "PER")]]).save(
        path
    )
    return str(path)


def test_fields_of_bodies(path, tmp_path, lines):
    service = Backend(path, collect=str(tmp_path / "notes"))
    assert asked(service, {"project": FORGED, "schema": CONFIG}, "/setup")[0] == 200
    check(lines(), 2)  # what is said, and that there was a request
    tasks = [{"id": FORGED, "data": {}}, {"id": 1, "data": {"text": "a"}}]
    assert asked(service, {"tasks": tasks, "label_config": CONFIG})[0] == 200
    check(lines(), 4)
    region = {"from_name": "label", "type": "labels", "value": {"labels": [FORGED]}}
    annotation = {"id": FORGED, "result": [region]}
    given = {
        "action": "ANNOTATION_CREATED", "annotation": annotation,
        "project": {"label_config": CONFIG}, "task": {"id": FORGED, "data": {"text": FORGED}},
    }  # fmt: skip
    assert asked(service, given, "/webhook")[0] == 400
    check(lines(), 6)


class Broken(StructuredPerceptron):
    def predict(self, X):
        raise IndexError(f"inside {X[0][0]}")


def test_paths_and_tracebacks(lines):
    model = Broken("word", max_iter=1).fit([["a"]], [["A"]])
    name = FORGED.replace("\ud83d", "").replace("/", "")
    service = app({name: model})
    given = name.encode().decode("latin-1")  # as servers of WSGI give it
    assert call(service, "POST", f"/{given}/predict", [[FORGED]])[0] == 500
    check(lines(), 2)
    assert "    IndexError: inside 1\n    skstruct: ready" in lines()


def test_files_that_are_read_again(tmp_path, lines):
    (tmp_path / "notes").write_text('{"text": "ready: \x1b[2J', encoding="utf-8")
    Lines(tmp_path / "notes")
    check(lines(), 1)


@pytest.mark.parametrize("name", ["waitress", "waitress.queue", "skstruct.serving"])
def test_every_logger_of_a_service(name, lines):
    for _ in range(2):
        logger = one_line(name)
    logger.error("not %s %d%%: %s", "ready: ", 5, FORGED)
    check(lines(), 1)
    assert "5%" in lines() and len(logger.filters) == 1


# -- JSON ------------------------------------------------------------------------------
KEYS = ["time", "level", "logger", "message"]
OF_REQUESTS = ["method", "path", "status", "milliseconds", "texts", "characters"]
OF_REQUESTS += ["bytes_in", "bytes_out"]
SECRET = "Zaphod Beeblebrox"


def parsed(text):
    """The objects of a log in JSON; each line is one, whatever a client sends."""
    assert text.isascii() and SECRET not in text
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        assert list(row)[:4] == KEYS and all(isinstance(row[key], str) for key in KEYS)
        assert row["level"] in ("INFO", "WARNING", "ERROR")
        moment = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00"))
        assert moment.utcoffset() == datetime.timedelta(0)
    return rows


@pytest.fixture
def start(monkeypatch):
    """Start a log in JSON; returns a function for the objects written since."""
    loggers = [logging.getLogger(name) for name in (None, "skstruct")]
    before = [(each, each.level, each.propagate) for each in [*loggers, REQUESTS]]

    def started(name=None):
        stream = io.StringIO()
        monkeypatch.setattr("sys.stderr", stream)
        logging.captureWarnings(False)  # pytest may have put its own in its place
        log_as_json(name)
        return lambda: parsed(stream.getvalue())

    yield started
    logging.captureWarnings(False)
    for each in loggers:
        for handler in list(each.handlers):
            if isinstance(handler.formatter, JsonFormatter):
                each.removeHandler(handler)
    for each, level, propagate in before:
        each.setLevel(level)
        each.propagate = propagate


def test_requests_as_json(start):
    objects = start()
    model = Broken("word", max_iter=1).fit([["a"]], [["A"]])
    works = StructuredPerceptron("word", max_iter=1).fit([["a"]], [["A"]])
    service = app({"tags": works, "fails": model})
    body = json.dumps([[SECRET, "b"]]).encode()
    assert asked(service, body, "/tags/predict")[0] == 200
    assert asked(service, body, "/fails/predict")[0] == 500
    assert asked(service, [SECRET])[0] == 400
    assert call(service, "HEAD", "/health")[0] == 200
    assert call(service, "GET", f"/{SECRET}", query=SECRET)[0] == 404
    rows = objects()
    failed = rows.pop(1)
    assert [(row["path"], row["status"]) for row in rows] == [
        ("/tags/predict", 200),
        ("/fails/predict", 500),
        ("/predict", 400),
        ("/health", 200),
        ("(other)", 404),
    ]
    assert all(list(row) == KEYS + OF_REQUESTS for row in rows)
    assert all(row["logger"] == "skstruct.serving.requests" for row in rows)
    first, head = rows[0], rows[3]
    assert first["message"] == "POST /tags/predict 200" and first["milliseconds"] > 0
    assert (first["texts"], first["characters"]) == (1, len(SECRET) + 1)
    assert first["bytes_in"] == len(body) and first["bytes_out"] == len(b'[["A", "A"]]')
    assert head["bytes_in"] == head["bytes_out"] == 0
    assert list(failed) == [*KEYS, "exception"] and failed["level"] == "ERROR"
    assert "in predict" in failed["exception"]
    assert failed["exception"].endswith("\nIndexError")


def test_causes_as_json(start):
    objects = start()
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(SECRET) from error
    except ValueError:
        logging.getLogger("any").exception("it failed")
    (row,) = objects()
    inner, outer = row["exception"].split("\n\n")
    assert inner.endswith("KeyError") and outer.endswith("ValueError")


def test_messages_that_may_quote_texts_as_json(path, tmp_path, start):
    objects = start()
    (tmp_path / "notes").write_text(f'{{"text": "{SECRET}', encoding="utf-8")
    service = Backend(path, collect=str(tmp_path / "notes"))
    value = {"start": 0, "end": 99, "labels": ["X"], "text": SECRET}
    region = {"from_name": "label", "type": "labels", "value": value}
    given = {
        "action": "ANNOTATION_CREATED", "annotation": {"id": 1, "result": [region]},
        "project": {"label_config": CONFIG}, "task": {"id": 7, "data": {"text": SECRET}},
    }  # fmt: skip
    assert asked(service, given, "/webhook")[0] == 400
    said = list(dict.fromkeys(row["message"] for row in objects()))  # read twice
    assert said == [
        f"{tmp_path / 'notes'}, line 1: cut short, and left out",
        "an annotation of task 7 was not kept",
        "POST /webhook 400",
    ]


def test_warnings_and_forged_lines_as_json(start):
    objects = start()
    log_as_json()  # a second handler would write each line twice
    warnings.warn("odd\nlines", UserWarning, stacklevel=1)
    one_line("waitress").error(FORGED)
    logging.getLogger("any").info("once")
    assert [row["logger"] for row in objects()] == ["py.warnings", "waitress", "any"]


def test_the_log_of_other_servers(start, path, monkeypatch):
    objects = start("skstruct")
    monkeypatch.setenv("SKSTRUCT_MODELS", f"ner={path}")
    monkeypatch.setenv("SKSTRUCT_LOG_FORMAT", "json")
    assert asked(from_environment(), [SECRET])[0] == 200
    logging.getLogger("gunicorn.error").info("a line of another program")
    loading, request = objects()
    assert loading["message"].startswith("loading ner: ") and request["status"] == 200
    monkeypatch.setenv("SKSTRUCT_LOG_FORMAT", "xml")
    with pytest.raises(ValueError, match="SKSTRUCT_LOG_FORMAT must be one of text, js"):
        from_environment()


def test_a_formatter_for_other_handlers():
    record = logging.LogRecord("a", logging.INFO, "", 0, "%s", ("b",), None)
    assert json.loads(JsonFormatter().format(record))["message"] == "b"
