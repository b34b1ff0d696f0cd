"""Models at work: shared by threads, behind a web server, and never changed by being asked."""

import http.server
import importlib.util
import pathlib
import re
import sys
import threading

import joblib
import pytest
from model_cases import ALL_CASES, fitted

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.datasets import load_chunking, load_tagging

SERVE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "serve.py"

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def loaded_service():
    """The module ``examples/serve.py``."""
    if not SERVE.is_file():
        pytest.skip("the examples are not installed")
    spec = importlib.util.spec_from_file_location("serve", SERVE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def serve():
    return loaded_service()


@pytest.fixture(scope="module")
def tagger():
    X, y = load_tagging()
    return StructuredPerceptron("word", max_iter=3, random_state=0).fit(X, y), X


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("threads", [True, False])
def test_a_web_service(threads, compressed, serve, tagger):
    model, X = tagger
    model = model.compress() if compressed else model
    assert serve.wrong_answers(model, X, 1000, 8, threads) == 0


def test_the_program_of_the_page_runs(serve, tmp_path, monkeypatch):
    """Word for word but for the port; with a model whose tokens are tuples, which arrive as lists."""
    page = SERVE.parent.parent / "docs" / "deployment.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    X, y = load_chunking()
    model = StructuredPerceptron("word-tag", max_iter=1).fit(X[:20], y[:20])
    model.save(tmp_path / "model.skstruct")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "serve", serve)
    started, servers = threading.Event(), []

    class Server(http.server.ThreadingHTTPServer):
        def serve_forever(self):
            servers.append(self)
            started.set()
            super().serve_forever()

    monkeypatch.setattr(serve, "ThreadingHTTPServer", Server)
    program = program.replace("8000", "0").replace('["the", "dog"]', '[("the", "DT"), ("dog", "NN")]')
    threading.Thread(target=exec, args=(program, {}), daemon=True).start()
    assert started.wait(60)
    try:
        (answer,) = serve.ask(("127.0.0.1", servers[0].server_port), [X[:2]])
    finally:
        servers[0].shutdown()
        servers[0].server_close()
    assert answer == model.predict(X[:2])


def test_texts_are_served(serve):
    X = ["🚒 Ann met Bob.", "Bob met Ann"]
    y = [[(2, 5, "PER"), (10, 13, "PER")], [(0, 3, "PER"), (8, 11, "PER")]]
    model = SpanTagger(StructuredPerceptron(random_state=0)).fit(X, y)
    server = serve.service(model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        found, error = serve.ask(server.server_address, [X, [3]])
    finally:
        server.shutdown()
        server.server_close()
    assert found == [[list(span) for span in spans] for spans in y]
    assert error == {"error": "X: sequence 0: expected a text (str), got int 3"}


def test_the_service_needs_no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert loaded_service().service


def test_a_request_that_is_wrong_is_answered(serve, tagger):
    server = serve.service(tagger[0])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        bad, good = serve.ask(server.server_address, [[["a"], [3]], [tagger[1][0]]])
    finally:
        server.shutdown()
        server.server_close()
    assert "sequence 1, position 0" in bad["error"]
    assert good == tagger[0].predict(tagger[1][:1])


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
