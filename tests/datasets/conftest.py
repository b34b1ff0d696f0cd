"""What tests of downloads share: a running server."""

import threading

import pytest
from file_server import CONTENT, Server


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        server.hold = threading.Event()
        thread = threading.Thread(
            target=server.serve_forever, args=(0.01,), daemon=True
        )
        thread.start()
        server.files["words.txt"] = CONTENT
        yield server
        server.hold.set()
        server.shutdown()
        thread.join()
