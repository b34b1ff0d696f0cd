"""A web server on this machine, for tests of downloads; `tests/datasets/conftest.py`
starts it.
"""

import hashlib
import http.server

CONTENT = b"some words\n" * 20_000


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files``, {path: bytes}, and notes what was asked for."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = {}, []
        self.url = f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.lstrip("/")
        self.server.asked.append(path)
        name = path.removeprefix("short/").removeprefix("silent/")
        if name not in self.server.files:
            self.send_error(404)
            return
        if path.startswith("silent/"):
            self.server.hold.wait(10)
            return
        content = self.server.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(
            content[: len(content) // 2] if path.startswith("short/") else content
        )

    def log_message(self, *_):
        pass


def names(folder):
    return sorted(path.name for path in folder.iterdir())
