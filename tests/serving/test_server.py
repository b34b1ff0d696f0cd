"""The service on waitress: limits, slow and odd clients, many clients, the command."""

import json
import logging
import pathlib
import re
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.request import urlopen

import pytest
from inside import open_connections
from serving_cases import (
    HEAD,
    NEXT,
    ask,
    exchange,
    logged,
    running,
    served,
    statuses,
    until,
)

from skstruct import StructuredPerceptron
from skstruct.cli import main
from skstruct.datasets import load_tagging
from skstruct.serving import app, server

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "deployment.md"


@pytest.fixture(scope="module")
def tagger():
    X, y = load_tagging()
    return StructuredPerceptron("word", max_iter=3, random_state=0).fit(X, y), X


MALFORMED = (
    b"\xff", "", "[[", "null", "3", '"a"', '{"a": 1}', '[["a"], 3]', '[["a"], [3]]', "[[[]]]",
    '[["a", null]]', "[" * 100_000, '[[{"a": {"b": []}}]]', "[[NaN]]", '["the dog"]',
)  # fmt: skip


def check_answers(model, X, n_requests, n_clients):
    """All answers are those that the model gives alone; every tenth request is
    malformed.
    """
    requests = [
        MALFORMED[k // 10 % len(MALFORMED)] if k % 10 == 9 else [X[k % len(X)]]
        for k in range(n_requests)
    ]
    with served({"model": model}) as address, ThreadPoolExecutor(n_clients) as clients:
        parts = [requests[k::n_clients] for k in range(n_clients)]
        found = list(clients.map(lambda part: ask(address, part), parts))
    for part, answers in zip(parts, found):
        for body, (status, answer) in zip(part, answers, strict=True):
            if isinstance(body, list):
                assert (status, answer) == (200, model.predict(body))
            else:
                assert status == 400 and answer["error"], body


def test_good_and_malformed_requests(tagger):
    check_answers(*tagger, 10 * len(MALFORMED), 4)


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_ten_thousand_requests_of_eight_clients(compressed, tagger):
    model, X = tagger
    check_answers(model.compress() if compressed else model, X, 10_000, 8)


@pytest.mark.parametrize(
    "request_, expected",
    [
        (HEAD + b"Content-Length: 4\r\nContent-Length: 6\r\n\r\n[[]]", [400]),
        (
            HEAD
            + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n[[]]\r\n0\r\n\r\n",
            [400],
        ),
        (
            HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
            [400],
        ),
        (
            HEAD.replace(b"1.1", b"1.0")
            + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            [400],
        ),
        (
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n" + NEXT,
            [200, 200],
        ),
        (HEAD + b"Transfer-Encoding: gzip\r\n\r\n", [501]),
        (
            b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 58\r\n\r\n"
            + NEXT[:58]
            + NEXT,
            [200, 200],
        ),
        (HEAD + b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n", [100]),
        (HEAD + b"\r\n" + NEXT, [400, 200]),
        (HEAD + b"Content-Length: 4000\r\n\r\n", [413]),
        (HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", [400]),
        (HEAD + b"A: " + b"x" * 300_000 + b"\r\n\r\n", [431]),
        (b"\r\nhello\r\n\r\n", [400]),
    ],
    ids=lambda value: value[:60].decode() if isinstance(value, bytes) else "",
)
def test_odd_framing(request_, expected, tagger, caplog):
    """What could be read in two ways is refused, and the connection closed.

    Whoever refuses a request, it is in the log and in the metrics.
    """
    caplog.set_level(logging.INFO, "skstruct.serving.requests")
    answered = [each for each in expected if each != 100]
    with served({"model": tagger[0]}, max_bytes=60) as address:
        found = exchange(address, request_, hangs_up=expected != [100])
        assert statuses(found) == expected, found
        assert b"text/plain" not in found  # what the server refuses itself is JSON, too
        until(lambda: len(logged(caplog)) == len(answered))
        assert logged(caplog) == answered
        with urlopen("http://{}:{}/metrics".format(*address)) as answer:
            counted = re.findall(
                r'requests_total\{.*status="(\d+)"\} (\d+)', answer.read().decode()
            )
    assert sum(int(n) for _, n in counted) == len(answered)
    assert {int(status) for status, _ in counted} == set(answered)


def test_long_bodies_without_a_temporary_folder(tagger, monkeypatch):
    """In a read-only container, neither a request nor an answer can become a file."""
    model, X = tagger
    many = X * (1 + 1_500_000 // len(json.dumps(model.predict(X))))
    body = json.dumps(many)
    assert len(body) > 2**19 and len(json.dumps(model.predict(many))) > 2**20

    def missing(*_, **__):
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr("tempfile.gettempdir", missing)
    monkeypatch.setattr("waitress.buffers.TempfileBasedBuffer.newfile", missing)
    with served({"model": model}, max_bytes=2 * len(body)) as address:
        assert ask(address, [body]) == [(200, model.predict(many))]


def test_threads_that_cannot_be_started(monkeypatch):
    """Of a small memory, or of few processes, a plain error tells."""

    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(
        "waitress.task.ThreadedTaskDispatcher.start_new_thread", refused
    )
    with pytest.raises(MemoryError, match="4 threads: can't start new thread"):
        server.new_server(lambda *_: [], port=0, max_bytes=100)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
@pytest.mark.parametrize(("files", "most"), [(1, 1), (400, 400), (10**6, 1000)])
def test_connections_leave_files_to_others(files, most, monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    found = server.most_connections()
    assert 1 <= found <= most and (found == 1000) == (files > 2000)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert server.most_connections() == 1000


def test_a_client_that_waits_for_the_server_to_go_on(tagger):
    with served({"model": tagger[0]}) as address:
        body = b'[["the"]]'
        head = (
            HEAD
            + b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
            % len(body)
        )
        assert statuses(exchange(address, head, body)) == [100, 200]


def test_slow_clients_hold_nothing(tagger):
    """Two hundred idle connections and bodies that arrive byte by byte, and others are
    answered.
    """
    model, X = tagger
    with served({"model": model}, timeout=1.0, threads=2) as address:
        idle = [socket.create_connection(address) for _ in range(200)]
        slow = [socket.create_connection(address) for _ in range(10)]
        for client in slow:
            client.sendall(HEAD + b"Content-Length: 40\r\n\r\n[[")
        began, closed = time.monotonic(), set()
        while len(closed) < len(slow) and time.monotonic() - began < 60:
            assert ask(address, [X[:1]]) == [(200, model.predict(X[:1]))]
            for client in set(slow) - closed:
                try:
                    client.sendall(b"[")  # never longer silent than this
                except OSError:
                    closed.add(client)
            time.sleep(0.2)
        assert len(closed) == len(slow)
        for client in idle + slow:
            client.close()
        assert ask(address, [X[:1]]) == [(200, model.predict(X[:1]))]


def test_clients_that_hang_up(tagger, caplog):
    model, X = tagger
    with running({"model": model}) as found, caplog.at_level(logging.ERROR):
        address = server.addresses_of(found)[0]
        whole = HEAD + b"Content-Length: 4\r\n\r\n[[]]"
        for sent in b"", b"POST", whole[:-2], whole:
            for _ in range(10):
                with socket.create_connection(address) as client:
                    client.sendall(sent)
        assert ask(address, [X[:1]]) == [(200, model.predict(X[:1]))]
        # The requests that were whole are answered, and nothing is left of any.
        until(lambda: not open_connections(found))
    # Other messages are of the queue, which may have been long.
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_limits(tagger):
    model, X = tagger
    with served({"model": model}, max_bytes=50) as address:
        assert ask(address, [[X[0] * 10]])[0][0] == 413
        assert ask(address, ["[" + " " * 48 + "]"]) == [
            (200, [])
        ]  # as many as are allowed


def test_the_loopback_of_ipv6(tagger):
    if not socket.has_ipv6:
        pytest.skip("there is no IPv6")
    try:
        found = server.new_server(app(tagger[0]), "::1", 0, max_bytes=100)
    except OSError:
        pytest.skip("there is no ::1")
    host, port = server.addresses_of(found)[0]
    thread = threading.Thread(target=found.run, daemon=True)
    thread.start()
    with urlopen(f"http://[{host}]:{port}/health") as answer:
        assert json.load(answer)["status"] == "ok"
    server.stop(found)
    thread.join(60)


# -- the command -----------------------------------------------------------------------
def test_usage(capsys, tmp_path, tagger):
    tagger[0].save(tmp_path / "m")
    path = str(tmp_path / "m")
    for options in (
        [f"a={path}", f"a={path}"], [f"health={path}"], [path, "--port", "x"], [path, "--timeout", "0"],
        [path, "--max-bytes", "0"], [path, "--threads", "0"],
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            main(["serve", *options])
    assert main(["serve", str(tmp_path / "none")]) == 1
    with served({"model": tagger[0]}) as (_, port):
        assert main(["serve", path, "--port", str(port)]) == 1
    assert f"port {port}" in capsys.readouterr().err
    assert main(["serve", path, "--host", "no.such.host.invalid"]) == 1
    assert "no.such.host.invalid, port 8000: " in capsys.readouterr().err


def test_without_waitress_the_error_names_the_extra(
    capsys, tmp_path, tagger, monkeypatch
):
    tagger[0].save(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "waitress.server", None)
    assert main(["serve", str(tmp_path / "m")]) == 1
    assert 'pip install "skstruct[serve]"' in capsys.readouterr().err


def test_the_command_serves_models_called_as_their_files(
    tmp_path, tagger, monkeypatch, capsys
):
    started, stopped = threading.Event(), []

    def ready(found):
        stopped.append(found)
        started.set()
        return server.addresses_of(found)

    monkeypatch.setattr("skstruct.cli.serve.addresses_of", ready)
    model, X = tagger
    ner, pos = (str(tmp_path / name) for name in ("ner.skstruct", "pos"))
    for path in ner, pos:
        model.save(path)
    given = [
        "serve",
        ner,
        f"tags={pos}",
        "--port",
        "0",
        "--allowed-host",
        "ner.example",
    ]
    thread = threading.Thread(target=main, args=(given,), daemon=True)
    thread.start()
    assert started.wait(60)
    ((host, port),) = server.addresses_of(stopped[0])
    assert ask((host, port), [X[:1]], "/ner/predict") == ask(
        (host, port), [X[:1]], "/tags/predict"
    )
    for name, status in (
        ("localhost", 200),
        ("ner.example:80", 200),
        ("evil.example", 400),
    ):
        connection = HTTPConnection(host, port)
        connection.request("GET", "/health", headers={"Host": name})
        assert connection.getresponse().status == status
        connection.close()
    server.stop(stopped[0])
    thread.join(60)
    assert f"ready: http://{host}:{port}/" in capsys.readouterr().err


def test_the_program_of_the_page_runs(tmp_path, monkeypatch, tagger):
    """Word for word but for the port, and for the server, which is the one that the
    program starts.
    """
    programs = re.findall(
        r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S
    )
    (program,) = (each for each in programs if "waitress" in each)
    model, X = tagger
    model.save(tmp_path / "model.skstruct")
    monkeypatch.chdir(tmp_path)
    given = []
    monkeypatch.setattr(
        "waitress.serve",
        lambda application, **options: given.append((application, options)),
    )
    exec(program, {})
    ((application, options),) = given
    assert options == {"host": "127.0.0.1", "port": 8000}
    with served(application) as address:
        assert ask(address, [X[:2]]) == [(200, model.predict(X[:2]))]
