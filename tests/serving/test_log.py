"""The log of a service: a client cannot write lines of it, nor speak to a terminal.

What belongs to the kind: fields of bodies, paths, what ends in tracebacks, what is kept
in files and quoted by a training, and messages of waitress.
"""

import io
import logging

import pytest
from serving_cases import asked, call

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.serving import app
from skstruct.serving.collection import Lines
from skstruct.serving.label_studio import Backend
from skstruct.serving.log import one_line

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
    yield lambda: stream.getvalue()
    root.removeHandler(handler)
    root.setLevel(level)


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
