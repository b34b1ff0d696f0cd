"""``skstruct serve``: models behind a web server, that of the standard library.

All requests share the models: prediction never changes one, and compiled code lets other threads run. What is
wrong with a request is said with the sequence and the position.
"""

import contextlib
import json
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from ..data.inputs import SPANS
from ..datasets import to_utf16
from ..inspection import render
from ..inspection.html import Html, attribute, box, escaped
from .common import CommandError, as_sequence, load_model, number, positive, tell

LIMIT = 1_000_000
"""Bytes of a request, unless ``--max-bytes`` says more."""

PATIENCE = 30.0
"""Seconds that a client may take to send a request, unless ``--timeout`` says more."""


class BadRequest(Exception):
    """A request that cannot be answered; holds the status and what is wrong."""


def add_parser(commands):
    """Add the command to the command line."""
    parser = commands.add_parser(
        "serve",
        help="answer requests over HTTP",
        description="Answer POST /predict with what the first model predicts, POST /NAME/predict with "
        "what the model of that name does, GET /health with the names, and GET / with a page to try it. A "
        "request is JSON, as predict takes it: [[\"the\", \"dog\"]], or [\"Ann met Bob.\"] for models of "
        "texts; or, as text/plain, one text.",
    )  # fmt: skip
    parser.add_argument(
        "models", nargs="+", metavar="[NAME=]MODEL",
        help="model files; without NAME= one is called model, several as their files",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1)")
    parser.add_argument(
        "--port",
        type=number(int, lambda n: 0 <= n <= 65535, "a number up to 65535"),
        default=8000,
        help="port (default: 8000; 0: any that is free)",
    )
    parser.add_argument(
        "--max-bytes", type=positive, default=LIMIT, metavar="N",
        help=f"refuse requests of more bytes (default: {LIMIT:,})",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=number(float, lambda x: 0.0 < x < float("inf"), "more than 0"), default=PATIENCE,
        metavar="S", help=f"seconds that a client may take to send a request (default: {PATIENCE:.0f})",
    )  # fmt: skip
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments):
    """Run the command, until it is stopped.

    Returns
    -------
    int
        The exit code, 0.
    """
    models = {}
    for given in arguments.models:
        name, equals, path = given.partition("=")
        if not equals or "/" in name:
            name, path = "model" if len(arguments.models) == 1 else Path(given).stem, given
        if name in models:
            arguments.usage_error(f"there are two models of the name {name!r}; write NAME=MODEL")
        models[name] = load_model(path)
    for model in models.values():
        _warm_up(model)
    address = arguments.host, arguments.port
    try:
        server = service(models, address, max_bytes=arguments.max_bytes, timeout=arguments.timeout)
    except OSError as error:
        raise CommandError(f"{arguments.host}, port {arguments.port}: {error.strerror}") from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(
            signal.SIGTERM, lambda *_: sys.exit(0)
        )  # the first process of a container has no default
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    tell(f"ready: http://{host}:{server.server_port}/")
    with server:
        server.serve_forever()
    return 0


def service(models, address=("127.0.0.1", 0), *, max_bytes=LIMIT, timeout=PATIENCE):
    """A web server, not started yet, that answers with what models predict.

    Parameters
    ----------
    models : dict of str to fitted estimator, or a fitted estimator
        ``POST /NAME/predict`` asks a model by its name, ``POST /predict`` the first.
    address : (str, int), default=("127.0.0.1", 0)
        Host and port; 0 is any port that is free.
    max_bytes : int, default=1_000_000
        Larger requests are refused.
    timeout : float, default=30
        Seconds that a client may take to send a request.

    Returns
    -------
    http.server.ThreadingHTTPServer
        ``serve_forever()`` starts it; each connection has a thread.
    """
    if not isinstance(models, dict):
        models = {"model": models}
    options = {"models": models, "max_bytes": max_bytes, "timeout": timeout}
    return _Server(address, type("Handler", (_Handler,), options))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Ignore connections that break: clients may close them."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # clients keep their connections
    wbufsize = -1  # an answer leaves in one piece: small ones wait for each other otherwise
    disable_nagle_algorithm = True

    models: dict
    max_bytes: int

    def do_GET(self):
        path, query = self._parsed()
        if path == "/health":
            names = {name: type(model).__name__ for name, model in self.models.items()}
            self._answer(200, {"status": "ok", "models": names})
        elif path == "/":
            self._send(200, page(self.models, query).encode(), "text/html; charset=utf-8")
        else:
            self._answer(404, {"error": f"there is no {path}; GET / and /health, POST /predict"})

    def do_POST(self):
        try:
            path, query = self._parsed()
            model, body = self._model(path), self._body()
            self._answer(200, predicted(model, body, self.headers.get_content_type(), query))
        except BadRequest as error:
            status, about = error.args
            self._answer(status, about)
        except TimeoutError:
            self.close_connection = True
        except Exception as error:  # a fault of the program: the service goes on
            tell(f"error: {type(error).__name__}: {error}")
            self._answer(500, {"error": "the model failed; see the log of the service"})

    def _parsed(self):
        parts = urlsplit(self.path)
        return parts.path, {name: values[-1] for name, values in parse_qs(parts.query).items()}

    def _model(self, path):
        name = path.removesuffix("/predict").strip("/")
        if path.endswith("/predict") and (not name or name in self.models):
            return self.models[name] if name else next(iter(self.models.values()))
        self.close_connection = True  # its body was not read
        known = ", ".join(f"/{name}/predict" for name in self.models)
        raise BadRequest(404, {"error": f"there is no {path}; POST /predict, {known}"})

    def _body(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            self.close_connection = True
            raise BadRequest(411, {"error": "the header Content-Length is needed"})
        if len(length) > 18 or int(length) > self.max_bytes:  # Python reads no numbers of 5,000 digits
            self.close_connection = True
            text = f"a request has at most {self.max_bytes:,} bytes, got {length[:18]}"
            raise BadRequest(413, {"error": text})
        return self.rfile.read(int(length))

    def _answer(self, status, value):
        self._send(status, json.dumps(value, default=str).encode(), "application/json")

    def _send(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Requests are not logged."""


def predicted(model, body, kind, query):
    """What a model says to the body of a request.

    Parameters
    ----------
    model : fitted estimator
    body : bytes
    kind : str
        Its media type: of ``text/plain`` it is one text, of all others JSON.
    query : dict of str to str
        ``offsets=utf-16`` asks for spans as JavaScript counts.

    Raises
    ------
    BadRequest
    """
    try:
        if query.get("offsets", "utf-16") != "utf-16":
            raise ValueError(f"offsets must be utf-16, or left out, got {query['offsets']!r}")
        text = body.decode()
        X = [as_sequence(_inputs(model), text)] if kind == "text/plain" else _with_tuples(model, _json(text))
        if not isinstance(X, list):
            raise ValueError(f"expected a JSON list of sequences, got {text[:40]!r}")
        y = model.predict(X)
        if query.get("offsets") and _inputs(model) is not None and model.inputs.task == SPANS:
            y = to_utf16(X, y)
    except (ValueError, TypeError, RecursionError) as error:
        about = {"error": str(error)}
        for name in ("sequence", "position"):
            if getattr(error, name, None) is not None:
                about[name] = int(getattr(error, name))
        raise BadRequest(400, about) from None
    return y[0] if kind == "text/plain" else list(y)


def _json(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the body is not JSON: {error}; send one text as text/plain") from None


def _with_tuples(model, X):
    """Lists of JSON as the tuples that a model wants."""
    if not hasattr(model, "inputs") or model.inputs.token is not tuple or not isinstance(X, list):
        return X
    return [[tuple(t) if isinstance(t, list) else t for t in x] if isinstance(x, list) else x for x in X]


def _inputs(model):
    return getattr(model, "inputs", None)


def _warm_up(model):
    """Let kernels be loaded, or compiled, before the first request."""
    with contextlib.suppress(ValueError):  # rows of numbers, say
        inputs = _inputs(model)
        columns = inputs.width if inputs is not None and inputs.token is tuple else 1
        model.predict([as_sequence(inputs, "/".join("a" * columns))])


def page(models, query):
    """The page to try models at; ``query`` may have a ``text`` for a ``model``."""
    name = query.get("model", next(iter(models)))
    text, shown = query.get("text", ""), ""
    if name in models and text.strip():
        try:
            X = [as_sequence(_inputs(models[name]), text)]
            shown = render(X, models[name].predict(X)).fragment
        except ValueError as error:
            shown = f"<p>{escaped(error, 500)}</p>"
    options = "".join(
        f'<option value="{attribute(each)}"{" selected" * (each == name)}>{escaped(each)}</option>'
        for each in models
    )
    value = text.replace("&", "&amp;").replace("<", "&lt;")
    form = (
        '<form style="display:grid;gap:.5em;max-width:45em">'
        f'<label>Model <select name="model">{options}</select></label>'
        f'<textarea name="text" rows="5" aria-label="text" required>{value}</textarea>'
        "<div><button>Predict</button></div></form>"
    )
    return Html(box(form) + shown)
