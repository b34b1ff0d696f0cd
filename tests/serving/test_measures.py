"""What a service counts: read by a parser of Prometheus' format, and lines of the
log.
"""

import json
import logging

import pytest
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
    parser = pytest.importorskip("prometheus_client.parser")
    status, headers, body = call(service, path="/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version")
    found = {}
    for family in parser.text_string_to_metric_families(body.decode()):
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
    parser = pytest.importorskip("prometheus_client.parser")
    (family,) = parser.text_string_to_metric_families(measures.text())
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
