"""What tests of the service share: a server in a thread, clients, and a WSGI call
without any.
"""

import contextlib
import io
import json
import re
import socket
import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from skstruct.serving import app
from skstruct.serving.server import addresses_of, new_server, stop


@contextmanager
def running(application, *, max_bytes=1_000_000, **options):
    """The server of an application, or of that for a model, while it runs on
    waitress.
    """
    if not callable(application):
        application = app(application, max_bytes=max_bytes)
        options.setdefault("note_refused", application.note_refused)
    server = new_server(application, port=0, max_bytes=max_bytes, **options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        stop(server)
        thread.join(60)
        assert not thread.is_alive()


@contextmanager
def served(application, **options):
    """The (host, port) of the server that `running` gives."""
    with running(application, **options) as server:
        yield addresses_of(server)[0]


def until(condition):
    """Wait until a condition holds; fail if it does not within a minute."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it never came")


def ask(address, requests, path="/predict", kind="application/json"):
    """(status, answer) of each body, over one connection."""
    connection, answers = HTTPConnection(*address), []
    for body in requests:
        body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(
            "POST", path, body, {} if kind is None else {"Content-Type": kind}
        )
        response = connection.getresponse()
        answers.append((response.status, json.loads(response.read())))
    connection.close()
    return answers


def call(application, method="GET", path="/", body=b"", query="", kind=None, **environ):
    """(status, headers, body) of a request, checked on both sides to be as WSGI
    says.
    """
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    environ |= {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SCRIPT_NAME": "",
    }
    environ |= {} if kind is None else {"CONTENT_TYPE": kind}
    environ.setdefault("CONTENT_LENGTH", str(len(body)) if method == "POST" else "")
    environ["wsgi.input"] = io.BytesIO(body)
    setup_testing_defaults(environ)
    told = []
    strange = environ["CONTENT_LENGTH"] and not 0 <= int(
        environ["CONTENT_LENGTH"][:9]
    ) <= len(body)
    checked = (
        application if strange else validator(application)
    )  # which takes no such numbers
    found = checked(environ, lambda status, headers, *_: told.extend((status, headers)))
    answer = b"".join(found)
    getattr(found, "close", list)()
    return int(told[0].split()[0]), dict(told[1]), answer


def asked(*arguments, **more):
    """(status, value of the JSON) of a POST to /predict."""
    application, body, *path = arguments
    status, headers, answer = call(
        application, "POST", *(path or ["/predict"]), body=body, **more
    )
    assert headers["Content-Type"] == "application/json" and int(
        headers["Content-Length"]
    ) == len(answer)
    return status, json.loads(answer)


def logged(caplog):
    """The statuses of the lines of the log, in order."""
    records = (each for each in caplog.records if hasattr(each, "request"))
    return [each.request["status"] for each in records]


HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
NEXT = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def exchange(address, *parts, hangs_up=True):
    """What comes back for bytes.

    Each part but the first is sent when a head has come back for those before it. The
    server has to hang up behind the last one, if it is not to be left waiting.
    """
    found = b""
    with socket.create_connection(address, timeout=60) as client:

        def read(is_over):
            nonlocal found
            with contextlib.suppress(ConnectionResetError):
                while not is_over() and (more := client.recv(65536)):
                    found += more

        for number, part in enumerate(parts, start=1):
            client.sendall(part)
            if number < len(parts) or not hangs_up:
                read(lambda: b"\r\n\r\n" in found)
        if hangs_up:
            read(lambda: False)
    return found


def statuses(found):
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+) ", found)]
