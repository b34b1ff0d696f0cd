"""SIGTERM: what has arrived is answered, nothing else is taken, and the process ends
with 0.
"""

import contextlib
import json
import select
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from serving_cases import ask, until

from skstruct import StructuredPerceptron

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM")

SLOW = """
import os, sys, time
from skstruct import StructuredPerceptron
from skstruct.cli import main
from skstruct.serving import server

folder, predict = sys.argv[1], StructuredPerceptron.predict
calls = iter(range(1000))

def slow(self, X):
    open(f"{folder}/begun{next(calls)}", "w").close()
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.01)
    return predict(self, X)

if "none" not in sys.argv[2:]:
    StructuredPerceptron.predict = slow
    server._ARRIVAL = 60.0  # on a busy machine, the rest of a request takes longer
sys.exit(main(["serve", f"{folder}/model", "--port", "0", "--threads", "2", *sys.argv[3:]]))
"""
X = [["the", "dog"]]
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n"
BODY = b'[["the","dog"]]'


@contextlib.contextmanager
def service(folder, *options):
    """(process, its address); predictions wait for a file ``go``, also that of the
    start.
    """
    model = StructuredPerceptron("word", max_iter=5).fit(X, [["D", "N"]])
    model.save(folder / "model")
    (folder / "go").touch()
    command = [sys.executable, "-c", SLOW, str(folder), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = ""
        while "ready" not in said:
            said = process.stderr.readline()
            assert said, "it ended before it was ready"
        port = int(said.rstrip("/\n").rpartition(":")[2])
        (folder / "go").unlink()
        for path in folder.glob("begun*"):
            path.unlink()
        yield process, ("127.0.0.1", port)
    finally:
        process.kill()
        process.stderr.close()
        process.wait()


def refuses(address):
    try:
        socket.create_connection(address, timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def body(client):
    """The JSON of an answer, whose connection is closed behind it."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while more := client.recv(65536):
            found += more
    head, _, content = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), found
    return json.loads(content)


def test_what_has_arrived_is_answered(tmp_path):
    """Those in work, those that wait for a thread, and one of which a part is there."""
    with service(tmp_path, "slow") as (process, address):
        *clients, part, idle = (
            socket.create_connection(address, timeout=60) for _ in range(10)
        )
        for client in clients:
            client.sendall(HEAD + BODY)
        part.sendall(HEAD + BODY[:7])
        until(lambda: len(list(tmp_path.glob("begun*"))) == 2)
        process.send_signal(signal.SIGTERM)
        until(lambda: refuses(address))
        part.sendall(BODY[7:])
        assert process.poll() is None
        assert select.select([*clients, part], [], [], 0)[0] == []  # no answer yet
        assert idle.recv(1) == b""  # it is not waited for
        (tmp_path / "go").touch()
        for client in (*clients, part):
            assert body(client) == [["D", "N"]]
            client.close()
        idle.close()
        assert process.wait(60) == 0
        assert "stopping" in process.stderr.read()


def test_a_service_without_requests_stops(tmp_path):
    with service(tmp_path, "none") as (process, address):
        ask(address, [X])
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_second_signal_does_not_wait(tmp_path):
    with service(tmp_path, "slow") as (process, address):
        with socket.create_connection(address) as client:
            sent = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
            client.sendall(sent + b'[["the"]]')
            until(lambda: list(tmp_path.glob("begun*")))
            process.send_signal(signal.SIGTERM)
            until(lambda: refuses(address))
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


def test_clients_that_send_or_read_slowly_do_not_hold_the_end(tmp_path):
    """A byte now and then, requests one behind the other, and answers that nobody
    reads: the service ends long before its clients do.
    """
    part = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n["
    whole = b"GET /models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with service(tmp_path, "none", "--timeout", "600") as (process, address):
        # a full pipe would hold the log, and with it the service
        threading.Thread(target=process.stderr.read, daemon=True).start()
        slow = [socket.create_connection(address) for _ in range(12)]
        for client in slow:
            client.sendall(part)
        busy, deaf = (socket.create_connection(address) for _ in range(2))
        deaf.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                deaf.send(whole * 100)
        ask(address, [X])
        process.send_signal(signal.SIGTERM)
        for _ in range(300):
            if process.poll() is not None:
                break
            for client, sent in [*((each, b" ") for each in slow), (busy, whole)]:
                with contextlib.suppress(OSError):
                    client.sendall(sent)
            time.sleep(0.1)
        assert process.poll() == 0
