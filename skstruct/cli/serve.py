"""``skstruct serve``: answer requests over HTTP.

Answer POST /predict with the predictions of the first model, POST /NAME/predict with
those of the model of that name, GET /health and /models, and GET / with a page to try
them. A request is JSON, as predict takes it: [["the", "dog"]], or ["Ann met Bob."] for
models of texts; or, as text/plain, one text.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from ..serving.hosts import ANY, host_of, origin_of
from ..serving.label_studio import TASKS_LIMIT, Backend
from ..serving.log import FORMATS, LOG, REQUESTS, log_as_json
from ..serving.server import addresses_of, new_server
from ..serving.server import run as run_server
from ..serving.service import app, loaded, named_files
from ..serving.wsgi import LIMIT
from .common import check_inputs, checked_type, positive, tell
from .options import repeated
from .targets import add_output

if TYPE_CHECKING:
    from .common import Arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    what = (
        "model files; without NAME=, a single one is called model, several "
        "by their file names"
    )
    add("models", nargs="+", metavar="[NAME=]MODEL", help=what)
    add("--host", default="127.0.0.1", help="address to listen at")
    port = checked_type(int, lambda n: 0 <= n <= 65535, "a number up to 65535")
    add("--port", type=port, default=8000, help="0: any free port")
    what = (
        "name of the service for clients, NAME or NAME:PORT, besides "
        "localhost and --host; "
    )
    what += "* is any; may be repeated"
    add("--allowed-host", **repeated("NAME", _allowed_host), help=what)
    what = (
        "site whose pages may read answers, such as https://example.com; * "
        "is any; may be repeated"
    )
    add("--allowed-origin", **repeated("SITE", _allowed_origin), help=what)
    what = (
        f"refuse requests of more bytes (default: {LIMIT:,}; {TASKS_LIMIT:,} with "
        "--label-studio)"
    )
    add("--max-bytes", type=positive, metavar="N", help=what)
    patience = checked_type(float, lambda x: 0.0 < x < float("inf"), "more than 0")
    what = "seconds that a client may take to send a request"
    add("--timeout", type=patience, default=30.0, metavar="S", help=what)
    add(
        "--threads",
        type=positive,
        default=4,
        metavar="N",
        help="requests that are answered at a time",
    )
    what = "format of the log; JSON has one object per line, and never quotes texts"
    add("--log-format", choices=FORMATS, default="text", help=what)
    group = parser.add_argument_group("Label Studio")
    add = group.add_argument
    what = "serve one model of spans as a backend of Label Studio"
    add("--label-studio", action="store_true", help=what)
    add_output(
        parser,
        "--collect",
        help="keep the annotations from its webhook, as JSON lines",
        group=group,
        takes_standard=False,
        is_regular=True,
        is_own=True,
        metavar="FILE",
    )
    what = (
        "train a new model on the collected annotations after every N, and "
        "use it if it is not worse on held-out tasks"
    )
    add("--train-on", type=positive, metavar="N", help=what)


def _allowed_host(text: str) -> Any:
    """Return a host as written: a type of ``argparse``."""
    try:
        if text != ANY:
            host_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _allowed_origin(text: str) -> str:
    """Return a site as written: a type of ``argparse``."""
    try:
        if text != ANY:
            origin_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def run(arguments: Arguments) -> int | None:
    """Run the command, until it is stopped."""
    arguments.max_bytes = arguments.max_bytes or (
        TASKS_LIMIT if arguments.label_studio else LIMIT
    )
    _start_log(arguments.log_format)
    options = {
        name: getattr(arguments, name)
        for name in ("port", "threads", "max_bytes", "timeout")
    }
    application = _application(arguments)
    options["note_refused"] = application.note_refused
    server = new_server(application, arguments.host, **options)
    logging.getLogger("waitress.queue").setLevel(
        logging.ERROR
    )  # a full queue is no fault
    signals: list[int] = []

    def stop(number: int, _: Any) -> None:
        signals.append(number)
        if len(signals) > 1:  # somebody does not want to wait
            sys.exit(0)

    if threading.current_thread() is threading.main_thread():
        # The first process of a container has no default.
        signal.signal(signal.SIGTERM, stop)
    for host, port in addresses_of(server):
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        _tell(arguments, f"ready: {address}")
    run_server(server, lambda: bool(signals), arguments.timeout)


def _start_log(log_format: str) -> None:
    """Write the log, with a line for each request, to standard error."""
    if log_format == "json":
        log_as_json()
        return
    logging.basicConfig(format="skstruct: %(message)s", level=logging.INFO)
    REQUESTS.setLevel(logging.INFO)


def _tell(arguments: Arguments, text: str) -> None:
    """Write a message to standard error, in the format of the log."""
    if arguments.log_format == "json":
        LOG.info("%s", text)
    else:
        tell(text)


def _application(arguments: Arguments) -> Any:
    """Return what is to be served."""
    if (arguments.collect or arguments.train_on) and not arguments.label_studio:
        arguments.usage_error("--collect and --train-on are for --label-studio")
    if arguments.train_on and not arguments.collect:
        arguments.usage_error("--train-on needs --collect FILE")
    hosts = ["localhost", "127.0.0.1", "::1", *arguments.allowed_host]
    with contextlib.suppress(ValueError):  # all addresses, say
        hosts += [arguments.host] if host_of(arguments.host) else []
    options: dict[str, Any] = {
        "max_bytes": arguments.max_bytes,
        "allowed_hosts": hosts,
    }
    try:
        files = named_files(arguments.models)
    except ValueError as error:
        arguments.usage_error(str(error))
    paths = [os.fspath(path) for path in files.values()]
    check_inputs(paths)
    if not arguments.label_studio:
        options["allowed_origins"] = arguments.allowed_origin
        return app(loaded(files), files=files, **options)
    if arguments.allowed_origin:
        arguments.usage_error(
            "--allowed-origin is for pages, which a backend of Label Studio refuses"
        )
    if len(files) > 1:
        arguments.usage_error("--label-studio takes one model")
    (path,) = paths
    _tell(arguments, f"loading {path} ({os.path.getsize(path) / 1e6:.1f} MB)")
    return Backend(
        *files.values(),
        collect=arguments.collect,
        train_on=arguments.train_on,
        **options,
    )
