"""Requests that are none: methods, hosts, options, bodies."""

import json
import logging

import pytest
from serving_cases import asked, call

from skstruct import (
    L1CRF,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.datasets import load_chunking, load_tagging
from skstruct.serving import app

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


TEXTS = ["🚒 Ann met Bob.", "Bob met Ann"]


SPANS = [[[2, 5, "PER"], [10, 13, "PER"]], [[0, 3, "PER"], [8, 11, "PER"]]]


@pytest.fixture(scope="module")
def models():
    X, y = load_tagging()
    chunks = [part[:20] for part in load_chunking()]
    words = ["他在北京", "她在上海"], [["他", "在", "北京"], ["她", "在", "上海"]]
    spans = [list(map(tuple, each)) for each in SPANS]
    return {
        "tags": L1CRF("word", max_iter=5).fit(X[:40], y[:40]),
        "chunks": StructuredPerceptron("word-tag", max_iter=1).fit(*chunks),
        "ner": SpanTagger(L1CRF(max_iter=20)).fit(TEXTS, spans),
        "words": Segmenter(L1CRF("char", max_iter=20)).fit(*words),
    }


@pytest.fixture(scope="module")
def service(models):
    return app(models, max_bytes=5000)


def test_methods_and_paths(service):
    for method, path, allow in (
        ("GET", "/predict", "POST"), ("PUT", "/ner/predict", "POST"), ("POST", "/health", "GET, HEAD"),
        ("DELETE", "/", "GET, POST, HEAD"),
    ):  # fmt: skip
        status, headers, body = call(service, method, path)
        assert (
            status == 405
            and headers["Allow"] == allow
            and method in json.loads(body)["error"]
        )
    for path in "/other/predict", "/ner", "/predict/", "//predict", "/ner/predict/x":
        status, answer = asked(service, [], path)
        assert status == 404 and "/ner/predict" in answer["error"]


def test_pages_take_no_options(service):
    assert (
        call(service, path="/", query="text=Ann")[0]
        == call(service, path="/health", query="a")[0]
        == 400
    )


BODIES = [
    (b"", "not JSON: Expecting value: line 1 column 1"),
    (b'[["a"],\n["b"', "line 2 column 5"),
    (b"[" * 2400, "not JSON"),
    (b"[" + b"9" * 4900 + b"]", "not JSON"),
    (b"3", "a JSON list of sequences, got 3"),
    (b'"the dog"', "a JSON list of sequences"),
    (b'{"a": 1}', "a JSON list of sequences"),
]


@pytest.mark.parametrize("body, error", BODIES)
def test_bodies_that_are_none(body, error, service):
    status, answer = asked(service, body)
    assert (
        status == 400
        and error in answer["error"]
        and answer["example"] == [["the", "dog"]]
    )


def test_lengths(service):
    assert (
        asked(service, b"[[]]", CONTENT_LENGTH="")[0]
        == asked(service, b"[[]]", CONTENT_LENGTH="-4")[0]
        == 411
    )
    status, answer = asked(service, b"[[]]", CONTENT_LENGTH="9")
    assert status == 400 and "4 bytes, but Content-Length says 9" in answer["error"]
    for length in "5001", "9" * 5000:
        assert asked(service, b"[[]]", CONTENT_LENGTH=length)[0] == 413
    chunked = {
        "CONTENT_LENGTH": "",
        "wsgi.input_terminated": True,
    }  # as gunicorn gives it
    assert asked(service, b'[["a"]]', **chunked)[0] == 200
    assert asked(service, b" " * 5001, **chunked)[0] == 413


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "text/plain; charset=gbk",
    ],
)
def test_foreign_bodies(kind, service):
    assert asked(service, TEXTS, "/ner/predict", kind=kind)[0] == 415


@pytest.mark.parametrize("coding", ["gzip", "BR", "zstd, gzip"])
def test_a_compressed_body_is_refused_as_such(coding, service):
    status, answer = asked(service, TEXTS, "/ner/predict", HTTP_CONTENT_ENCODING=coding)
    assert status == 415 and f"compressed as {coding}" in answer["error"]
    plain = asked(service, TEXTS, "/ner/predict", HTTP_CONTENT_ENCODING="identity")
    assert plain[0] == 200


def test_hosts(models):
    service = app(models, allowed_hosts=["localhost", "::1"])
    for host, status in (
        ("localhost:8000", 200), ("LOCALHOST", 200), ("[::1]:80", 200), ("evil.example", 400), ("[", 400),
    ):  # fmt: skip
        found, _, body = call(service, path="/health", HTTP_HOST=host)
        assert found == status, host
    assert "--allowed-host" in json.loads(body)["error"]
    assert (
        call(
            app(models, allowed_hosts=["*"]), path="/health", HTTP_HOST="evil.example"
        )[0]
        == 200
    )


class Broken(StructuredPerceptron):
    def predict(self, X):
        raise IndexError("inside")


def test_a_model_that_fails_is_told_in_the_log(caplog):
    service = app({"broken": Broken("word", max_iter=1).fit([["a"]], [["A"]])})
    form = {"kind": "application/x-www-form-urlencoded"}
    for ask in (("POST", "/predict", b'[["a"]]'), ("POST", "/", b"text=a")):
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            status, _, body = call(service, *ask, **form)
        assert status == 500 and "see the log" in json.loads(body)["error"]
        assert "IndexError: inside" in caplog.text and ask[1] in caplog.text
