"""Models at work: shared by threads, behind a web server, and never changed by being asked."""

import json
import pathlib
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer

import joblib
import pytest
from model_cases import ALL_CASES, fitted
from sklearn.pipeline import make_pipeline

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.cli import main
from skstruct.cli.serve import service
from skstruct.datasets import load_chunking, load_tagging

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "deployment.md"

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@contextmanager
def served(models, **options):
    """The address of a service, while it runs."""
    server = service(models, **options)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address
    finally:
        server.shutdown()
        server.server_close()


def ask(address, requests, path="/predict", kind="application/json"):
    """(status, answer) of each body, over one connection."""
    connection, answers = HTTPConnection(*address), []
    for body in requests:
        body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request("POST", path, body, {"Content-Type": kind})
        response = connection.getresponse()
        answers.append((response.status, json.loads(response.read())))
    connection.close()
    return answers


def get(address, path):
    connection = HTTPConnection(*address)
    connection.request("GET", path)
    response = connection.getresponse()
    status, text = response.status, response.read().decode()
    connection.close()
    return status, text


@pytest.fixture(scope="module")
def tagger():
    X, y = load_tagging()
    return StructuredPerceptron("word", max_iter=3, random_state=0).fit(X, y), X


MALFORMED = (
    b"\xff", "", "[[", "null", "3", '"a"', '{"a": 1}', '[["a"], 3]', '[["a"], [3]]', "[[[]]]",
    '[["a", null]]', "[" * 100_000, '[[{"a": {"b": []}}]]', "[[NaN]]", '["the dog"]',
)  # fmt: skip


def asked(model, X, n_requests, n_clients):
    """Whether answers of so many requests, every tenth malformed, are those that the model gives alone."""
    requests = [
        MALFORMED[k // 10 % len(MALFORMED)] if k % 10 == 9 else [X[k % len(X)]] for k in range(n_requests)
    ]
    with served(model) as address, ThreadPoolExecutor(n_clients) as clients:
        parts = [requests[k::n_clients] for k in range(n_clients)]
        found = list(clients.map(lambda part: ask(address, part), parts))
    for part, answers in zip(parts, found):
        for body, (status, answer) in zip(part, answers, strict=True):
            if isinstance(body, list):
                assert (status, answer) == (200, model.predict(body))
            else:
                assert status == 400 and answer["error"], body


def test_good_and_malformed_requests(tagger):
    asked(*tagger, 10 * len(MALFORMED), 4)


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_a_thousand_requests_of_eight_clients(compressed, tagger):
    model, X = tagger
    asked(model.compress() if compressed else model, X, 1000, 8)


def test_the_place_of_what_is_wrong(tagger):
    with served(tagger[0]) as address:
        ((status, answer),) = ask(address, [[["a"], ["a", 3]]])
    assert status == 400 and (answer["sequence"], answer["position"]) == (1, 1)
    assert "sequence 1, position 1" in answer["error"]


def test_several_models_tuples_and_texts():
    X, y = load_chunking()
    chunker = StructuredPerceptron("word-tag", max_iter=1).fit(X[:20], y[:20])
    texts = ["🚒 Ann met Bob.", "Bob met Ann"]
    spans = [[(2, 5, "PER"), (10, 13, "PER")], [(0, 3, "PER"), (8, 11, "PER")]]
    ner = SpanTagger(StructuredPerceptron(random_state=0)).fit(texts, spans)
    with served({"chunks": chunker, "names": ner}) as address:
        assert (
            ask(address, [X[:2]])
            == ask(address, [X[:2]], "/chunks/predict")
            == [(200, chunker.predict(X[:2]))]
        )
        assert ask(address, ["the/DT dog/NN"], "/chunks/predict", "text/plain") == [
            (200, chunker.predict([[("the", "DT"), ("dog", "NN")]])[0])
        ]
        assert ask(address, ["the dog"], "/chunks/predict", "text/plain")[0][0] == 400
        listed = [[list(span) for span in each] for each in spans]
        assert ask(address, [texts], "/names/predict") == [(200, listed)]
        assert ask(address, [texts[0].encode()], "/names/predict", "text/plain") == [(200, listed[0])]
        assert ask(address, [texts], "/names/predict?offsets=utf-16")[0][1][0][0] == [3, 6, "PER"]
        status, answer = ask(address, [texts], "/names/predict?offsets=utf16")[0]
        assert status == 400 and answer["error"] == "offsets must be utf-16, or left out, got 'utf16'"
        assert "the body is not JSON" in ask(address, [""], "/names/predict")[0][1]["error"]
        assert ask(address, [[3]], "/names/predict")[0][0] == 400
        assert ask(address, [texts], "/other/predict")[0][0] == 404
        status, health = get(address, "/health")
        assert status == 200 and json.loads(health)["models"] == {
            "chunks": "StructuredPerceptron",
            "names": "SpanTagger",
        }
        assert get(address, "/other")[0] == 404
        page = get(address, "/?model=names&text=%F0%9F%9A%92+Ann+met+Bob.")[1]
        assert page.startswith("<!DOCTYPE html>") and page.count("PER") == 2 and "<script" not in page
        assert "slashes" in get(address, "/?model=chunks&text=the+dog")[1]
        assert "&lt;b>" in get(address, "/?model=names&text=%3Cb%3E")[1]


def test_limits(tagger):
    model, X = tagger
    with served(model, max_bytes=50, timeout=0.3) as address:
        assert ask(address, [[X[0] * 10]])[0][0] == 413
        assert ask(address, [[["a"]]])[0][0] == 200
        connection = HTTPConnection(*address)
        connection.putrequest("POST", "/predict")
        connection.putheader("Content-Length", "40")
        connection.endheaders(b"[[")  # and no more
        assert connection.sock.recv(100) == b""  # it hangs up
        connection.close()
        connection = HTTPConnection(*address)
        connection.request("POST", "/predict", iter([b"[[]]"]), encode_chunked=True)
        assert connection.getresponse().status == 411
        connection.close()
        connection = HTTPConnection(*address)
        connection.request("POST", "/predict", "[[]]", {"Content-Length": "9" * 5000})
        assert connection.getresponse().status == 413
        connection.close()


def test_usage(capsys, tmp_path, tagger):
    tagger[0].save(tmp_path / "m")
    for options in ["a=m", "a=m"], ["m", "--port", "x"], ["m", "--timeout", "0"], ["m", "--max-bytes", "0"]:
        with pytest.raises(SystemExit):
            main(["serve", *(option.replace("=m", f"={tmp_path}/m") for option in options)])
    assert main(["serve", str(tmp_path / "none")]) == 1
    with served(tagger[0]) as (host, port):
        assert main(["serve", str(tmp_path / "m"), "--port", str(port)]) == 1
    assert f"port {port}" in capsys.readouterr().err


def test_models_are_called_as_their_files(tmp_path, tagger, monkeypatch):
    called = []

    def stopped(models, *address, **options):
        called.append(list(models))
        raise OSError(0, "stopped")

    monkeypatch.setattr("skstruct.cli.serve.service", stopped)
    ner, pos = (str(tmp_path / name) for name in ("ner.skstruct", "pos"))
    for path in ner, pos:
        tagger[0].save(path)
    for given in [ner], [ner, pos], [ner, f"tags={ner}"]:
        assert main(["serve", *given]) == 1
    assert called == [["model"], ["ner", "pos"], ["ner", "tags"]]


def test_a_pipeline_is_asked_by_json_alone(tagger):
    model, X = tagger
    with served(make_pipeline(model)) as address:
        assert ask(address, [X[:1]]) == [(200, model.predict(X[:1]))]
        status, page = get(address, "/?text=the+dog")
        assert status == 200 and "send JSON" in page


def test_the_program_of_the_page_runs(tmp_path, monkeypatch, tagger):
    """Word for word but for the port."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    model, X = tagger
    model.save(tmp_path / "model.skstruct")
    monkeypatch.chdir(tmp_path)
    started, servers = threading.Event(), []

    original = ThreadingHTTPServer.serve_forever

    def serve_forever(self):
        servers.append(self)
        started.set()
        original(self)

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", serve_forever)
    threading.Thread(target=exec, args=(program.replace("8000", "0"), {}), daemon=True).start()
    assert started.wait(60)
    try:
        assert ask(("127.0.0.1", servers[0].server_port), [X[:2]]) == [(200, model.predict(X[:2]))]
    finally:
        servers[0].shutdown()
        servers[0].server_close()


@pytest.mark.parametrize("name", ALL_CASES)
def test_prediction_never_changes_a_model(name, tmp_path):
    model, X, y = fitted(name, 4)
    asked = {"predict": (X,), "predict_kbest": (X, 2), "decision_function": (X,), "predict_marginals": (X,)}
    asked |= {"score": (X, y), "info": (), "n_features": (), "predict_posterior": (X,)}
    model.save(tmp_path / "before")
    before = joblib.hash(model)
    for method, given in asked.items():
        if hasattr(model, method):
            getattr(model, method)(*given)
    assert joblib.hash(model) == before
    model.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
