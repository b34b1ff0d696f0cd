"""What a service counts: read by a parser of Prometheus' format, and lines of the
log.
"""

import json
import logging
import os
import subprocess
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving_cases import asked, call

from skstruct import L1CRF, Segmenter, SpanTagger, StructuredPerceptron, load
from skstruct.serving import app
from skstruct.serving.log import REQUESTS
from skstruct.serving.measures import Measures

TEXTS = ["Ann met Bob.", "Bob left Rome."]
SPANS = [[(0, 3, "PER"), (8, 11, "PER")], [(0, 3, "PER"), (9, 13, "LOC")]]


@pytest.fixture(scope="module")
def model():
    return SpanTagger(L1CRF(c1=0.01, random_state=0)).fit(TEXTS * 5, SPANS * 5)


def numbers(service):
    """{(name, labels): value} of /metrics."""
    status, headers, body = call(service, path="/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version")
    found = {}
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


def value(found, name, **labels):
    return found[f"skstruct_{name}", tuple(sorted(labels.items()))]


def test_what_is_counted(model):
    service = app({"ner": model})
    assert asked(service, [*TEXTS, "Ann saw Zork."])[0] == 200
    assert asked(service, TEXTS[:1], "/ner/predict", query="proba=1")[0] == 200
    assert asked(service, [7])[0] == 400
    assert call(service, path="/secret")[0] == 404
    found = numbers(service)
    assert value(found, "requests_total", path="/predict", status="200") == 1
    assert value(found, "requests_total", path="/predict", status="400") == 1
    assert value(found, "errors_total", path="/predict") == 1
    assert value(found, "requests_total", path="(other)", status="404") == 1
    assert not any("secret" in str(key) for key in found)
    assert value(found, "texts_total", model="ner") == 4
    assert value(found, "labels_total", model="ner", label="LOC") == 1
    assert value(found, "words_total", model="ner") == 16
    assert value(found, "unknown_words_total", model="ner") == 2  # saw, Zork
    assert value(found, "unknown_words_share", model="ner") == pytest.approx(2 / 16)
    assert value(found, "confidences_total", model="ner") == 2
    assert 0.5 < value(found, "confidence_mean", model="ner") <= 1.0
    seconds = {key: n for key, n in found.items() if "request_seconds" in key[0]}
    last = value(seconds, "request_seconds_bucket", path="/predict", le="+Inf")
    assert last == value(seconds, "request_seconds_count", path="/predict") == 2
    assert value(found, "model_info", model="ner") == 1


def test_models_of_other_tasks(model):
    X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"]] * 2
    tags = StructuredPerceptron("word", random_state=0).fit(X, y)
    chunks = StructuredPerceptron("word", random_state=0).fit(
        X, [["B-NP", "I-NP"], ["B-NP", "I-NP"]]
    )
    words = Segmenter(StructuredPerceptron(random_state=0)).fit(
        ["他在北京"], [["他", "在", "北京"]]
    )
    service = app({"tags": tags, "chunks": chunks, "words": words})
    asked(service, [["the", "bird"]], "/tags/predict")
    asked(service, X, "/chunks/predict", query="kbest=2")
    asked(service, ["他在北京"], "/words/predict")
    found = numbers(service)
    assert value(found, "labels_total", model="tags", label="N") == 1
    assert value(found, "unknown_words_total", model="tags") == 1
    assert value(found, "labels_total", model="chunks", label="NP") == 2
    assert value(found, "labels_total", model="words", label="word") == 3


def test_names_are_escaped():
    odd = 'a"b\\c\nd'
    measures = Measures({odd: None}, {odd: {}})
    (family,) = text_string_to_metric_families(measures.text())
    assert family.samples[0].labels == {"model": odd}


def test_a_line_of_the_log_says_how_much_and_never_what(model, caplog):
    service = app({"ner": model})
    REQUESTS.setLevel(logging.INFO)
    try:
        asked(service, TEXTS)
        call(service, path="/secret")
    finally:
        REQUESTS.setLevel(logging.WARNING)
    first, second = caplog.messages
    n = sum(map(len, TEXTS))
    assert f"POST /predict 200 texts=2 characters={n} ms=" in first
    assert "GET (other) 404 texts=0 characters=0" in second
    assert "Bob" not in caplog.text and "secret" not in caplog.text
    asked(service, TEXTS)
    assert len(caplog.messages) == 2  # only if somebody asks for it


def test_which_model_it_is(model, tmp_path):
    path = tmp_path / "ner.skstruct"
    model.save(path, card={"date": "2026-01-31T12:00:00Z", "version": "0.4.0"})
    service = app({"ner": load(path)}, files={"ner": path})
    (about,) = json.loads(call(service, path="/models")[2])["models"]
    assert (about["version"], about["date"]) == ("0.4.0", "2026-01-31T12:00:00Z")
    assert len(about["sha256"]) == 64
    health = json.loads(call(service, path="/health")[2])
    assert health["models"] == {"ner": "SpanTagger"}
    assert health["about"]["ner"]["sha256"] == about["sha256"]


def test_the_numbers_of_one_process_say_so(model, monkeypatch):
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    text = call(app(model), path="/metrics")[2].decode()
    assert text.startswith("# These are the numbers of one process.")


WORKERS = """
import os, sys
sys.path[:0] = sys.argv[2:]
from serving_cases import asked, call
from skstruct import load
from skstruct.serving import app

model = load(sys.argv[1])
early = app({"ner": model})  # as with gunicorn's --preload
workers = []
for n in (1, 2, 3):
    pid = os.fork()
    if not pid:
        service = early if n == 3 else app({"ner": model})
        for _ in range(n):
            assert asked(service, ["Ann met Bob."], query="proba=1")[0] == 200
        assert asked(service, 3)[0] == 400
        os._exit(0)
    workers.append(pid)
for pid in workers:
    assert os.waitpid(pid, 0)[1] == 0
print(call(app({"ner": model}), path="/metrics")[2].decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_all_processes_count_together(model, tmp_path):
    """Any of the workers answers with the numbers of all."""
    model.save(tmp_path / "m")
    folder = tmp_path / "numbers"  # made by the first
    command = [sys.executable, "-c", WORKERS, str(tmp_path / "m"), *sys.path]
    env = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {}
    for family in text_string_to_metric_families(done.stdout):
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in found and "pid" not in sample.labels
            found[key] = sample.value
    assert value(found, "texts_total", model="ner") == 6
    assert value(found, "requests_total", path="/predict", status="200") == 6
    assert value(found, "errors_total", path="/predict") == 3
    assert value(found, "request_seconds_count", path="/predict") == 9
    assert value(found, "words_total", model="ner") == 24
    assert value(found, "unknown_words_share", model="ner") == 0.0
    assert 0.5 < value(found, "confidence_mean", model="ner") <= 1.0
    assert sum(name == "skstruct_model_info" for name, _ in found) == 1
    assert "one process" not in done.stdout


def test_without_prometheus_client_nothing_is_counted(model, monkeypatch):
    """All else answers; the numbers say what is missing."""
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    service = app({"ner": model})
    assert asked(service, TEXTS)[0] == 200
    status, _, body = call(service, path="/metrics")
    error = json.loads(body)["error"]
    assert status == 501 and 'pip install "skstruct[serve]"' in error
