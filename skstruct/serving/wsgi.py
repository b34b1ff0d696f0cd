"""Requests and answers of WSGI: methods, hosts, options, bodies and failures.

An `Application` is a table of routes. A route is a function of a `Request`, which
returns a value for JSON, or a page as bytes, and raises `Refused` for what it cannot
answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable
from http import HTTPStatus
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs

from .hosts import AllowedHosts, AllowedOrigins
from .log import LOG, REQUESTS, moment
from .measures import KIND, MISSING, Asked, Measures

Environ: TypeAlias = dict[str, Any]
"""The environment of a request, as WSGI defines it."""

LIMIT = 1_000_000
"""Bytes of a body, unless a service says otherwise."""

_METHODS = "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"

_ENCODINGS = ("utf-8", "utf8", "us-ascii")


class Refused(Exception):
    """A request that cannot be answered: the status, and what is wrong.

    ``more`` is said of that in JSON.
    """

    def __init__(
        self,
        status: int,
        error: str,
        headers: Iterable[tuple[str, str]] = (),
        **more: Any,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.headers = list(headers)
        self.about = {"error": error, **more}


class Route(NamedTuple):
    """The handler of a method of a path.

    Its options may stand behind the question mark.
    """

    answer: Callable[[Request], Any]
    options: tuple[str, ...] = ()
    keeps: bool = False  # whether it changes or remembers something: no page may ask


class Text(NamedTuple):
    """An answer that is neither JSON nor a page: the text, and its media type."""

    text: str
    kind: str


def numbers(measures: Measures) -> Text:
    """Answer with the numbers of a service."""
    if not measures.counts:
        raise Refused(501, MISSING)
    return Text(measures.text(), KIND)


class Request:
    """A request: ``options`` by name, the media type ``kind`` of the body, and `body`.

    ``asked`` says for the log how much an answer was made of.
    """

    def __init__(self, environ: Environ, max_bytes: int) -> None:
        self.environ = environ
        self._max_bytes = max_bytes
        self.path = _decoded(environ.get("PATH_INFO", ""))
        self.method = environ["REQUEST_METHOD"]
        self.options: dict[str, str] = {}
        self.asked = Asked()
        self.bytes_read = 0
        self.kind = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()

    def read_options(self, known: Collection[str]) -> None:
        """Set ``options``; those that are not choose from refused."""
        given = parse_qs(
            self.environ.get("QUERY_STRING", ""),
            keep_blank_values=True,
            errors="replace",
        )
        for name, values in given.items():
            if name not in known:
                listed = f"; there are {', '.join(known)}" if known else ""
                raise Refused(400, f"{self.path} has no option {name!r}{listed}")
            if len(values) > 1:
                raise Refused(400, f"the option {name!r} is given twice")
            self.options[name] = values[0]

    def body(self) -> str:
        """Read the whole body as text."""
        if self.kind.startswith("multipart/"):
            raise Refused(
                415,
                f"{self.kind} is not supported; send JSON, or one text as text/plain",
            )
        coding = self.environ.get("HTTP_CONTENT_ENCODING", "").strip()
        if coding.lower() not in ("", "identity"):
            raise Refused(
                415, f"a body compressed as {coding} is not supported; send it as it is"
            )
        for parameter in self.environ.get("CONTENT_TYPE", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if (
                name.strip().lower() == "charset"
                and value.strip(' "').lower() not in _ENCODINGS
            ):
                raise Refused(
                    415, f"the charset {value.strip()} is not supported; send UTF-8"
                )
        try:
            return self._bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Refused(
                400, f"the body is not UTF-8: {error.reason} at byte {error.start}"
            ) from None

    def _bytes(self) -> bytes:
        length = self.environ.get("CONTENT_LENGTH") or ""
        limit = self._max_bytes
        in_chunks = not length and self.environ.get("wsgi.input_terminated")
        if not in_chunks and not (length.isascii() and length.isdecimal()):
            raise Refused(411, "the header Content-Length is needed")
        # Python reads no numbers of 5,000 digits.
        expected = limit + 1 if in_chunks or len(length) > 18 else int(length)
        data = self.environ["wsgi.input"].read(min(expected, limit + 1))
        self.bytes_read = len(data)
        if len(data) > limit or (expected > limit and not in_chunks):
            raise Refused(413, f"a request has at most {limit:,} bytes")
        if len(data) < expected and not in_chunks:
            raise Refused(
                400,
                f"the body has {len(data):,} bytes, but Content-Length says "
                f"{expected:,}",
            )
        return data

    def json(self, **more: Any) -> Any:
        """Read the value of a body of JSON; ``more`` is said of a body that is none.

        An object that has a key twice is refused, unless the body is a list: of tokens
        that are objects there can be many.
        """
        try:
            text = self.body()
            is_object = text[: len(text) - len(text.lstrip()) + 1].endswith("{")
            return json.loads(text, object_pairs_hook=object_of if is_object else None)
        except (ValueError, RecursionError) as error:  # RecursionError: lists in lists
            raise Refused(400, f"the body is not JSON: {error}", **more) from None


class Application:
    """A WSGI application.

    Parameters
    ----------
    routes : dict of str to dict of str to Route
        By path and method; HEAD is answered where GET is.
    max_bytes : int
        Larger bodies are refused.
    allowed_hosts : collection of str, optional
        Hosts that the header Host may name, see `skstruct.serving.hosts.host_of`; by
        default, and with ``"*"`` among them, any.
    measures : Measures, optional
        Where requests are counted; ``/metrics`` answers with it.
    allowed_origins : collection of str, default=()
        Sites whose pages may read answers (CORS), see
        `skstruct.serving.hosts.origin_of`.
    """

    def __init__(
        self,
        routes: dict[str, dict[str, Route]],
        max_bytes: int = LIMIT,
        allowed_hosts: Collection[str] | None = None,
        measures: Measures | None = None,
        allowed_origins: Collection[str] = (),
    ) -> None:
        self.routes = routes
        self.measures = Measures({}, {}) if measures is None else measures
        self._max_bytes = max_bytes
        self._hosts = AllowedHosts(allowed_hosts)
        self._origins = AllowedOrigins(allowed_origins)
        self._names_origins = bool(allowed_origins)

    def __call__(
        self, environ: Environ, start_response: Callable[..., Any]
    ) -> list[bytes]:
        """Answer a request, as a server of WSGI asks."""
        began = time.perf_counter()
        request = Request(environ, self._max_bytes)
        headers: list[tuple[str, str]] = []
        try:
            status = 200
            value = self._value(request)
        except Refused as error:
            status = error.status
            value = error.about
            headers = error.headers
        except Exception:  # a fault of the program: the service goes on
            LOG.exception("%s %s failed", request.method, request.path)
            status = 500
            value = {"error": "the model failed; see the log of the service"}
        if isinstance(value, Text):
            body = value.text.encode()
            kind = value.kind
        elif isinstance(value, bytes):
            body = value
            kind = "text/html; charset=utf-8"
        else:
            body = json.dumps(value, default=_as_json).encode()
            kind = "application/json"
        sent = b"" if request.method == "HEAD" else body
        seconds = time.perf_counter() - began
        told = request.method, request.path, status, seconds
        self._note(*told, request.asked, request.bytes_read, len(sent))
        headers += [("Content-Type", kind), ("Content-Length", str(len(body)))]
        headers += self._of_origin(request)
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [sent]

    def note_refused(self, method: str, path: str, status: int, n_sent: int) -> None:
        """Count and log a request that the server has refused, and not passed on.

        Parameters
        ----------
        method, path : str
            As WSGI has them; empty if they could not be read.
        status : int
        n_sent : int
            Bytes of the answer.
        """
        self._note(method, _decoded(path), status, 0.0, Asked(), 0, n_sent)

    def _note(
        self,
        method: str,
        path: str,
        status: int,
        seconds: float,
        asked: Asked,
        n_read: int,
        n_sent: int,
    ) -> None:
        """Count a request, and write a line of the log, without its content."""
        # what is no route comes from a client, and is content
        path = path if path in self.routes else "(other)"
        method = method if method in _METHODS else "(other)"
        self.measures.request(path, status, seconds)
        about = {
            "method": method,
            "path": path,
            "status": status,
            "milliseconds": round(1000.0 * seconds, 3),
            "texts": asked.texts,
            "characters": asked.characters,
            "bytes_in": n_read,
            "bytes_out": n_sent,
        }
        REQUESTS.info(
            "%s %s %s %d texts=%d characters=%d ms=%.1f",
            moment(time.time()),
            method,
            path,
            status,
            *asked,
            1000.0 * seconds,
            extra={"request": about},
        )

    def _value(self, request: Request) -> Any:
        self._check_host(request.environ)
        methods = self.routes.get(request.path)
        if methods is None:
            raise Refused(
                404,
                f"there is no {request.path}; choose one of {', '.join(self.routes)}",
            )
        origin = request.environ.get("HTTP_ORIGIN", "")
        if request.method == "OPTIONS" and self._origins.allows(origin):
            # A browser asks so before it sends JSON for a page.
            return Text("", "text/plain")
        route = methods.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            allowed = ", ".join([*methods, *["HEAD"] * ("GET" in methods)])
            error = f"{request.path} answers {allowed}, not {request.method}"
            raise Refused(405, error, [("Allow", allowed)])
        if route.keeps and "HTTP_ORIGIN" in request.environ:
            wrong = f"{request.path} is for programs, not for a page in a browser"
            raise Refused(403, wrong)
        request.read_options(route.options)
        return route.answer(request)

    def _of_origin(self, request: Request) -> list[tuple[str, str]]:
        """Return the headers by which a browser lets a page of another site read."""
        if not self._names_origins:
            return []
        origin = request.environ.get("HTTP_ORIGIN", "")
        varies = [("Vary", "Origin")]
        if not self._origins.allows(origin):
            return varies
        headers = [("Access-Control-Allow-Origin", origin), *varies]
        if request.method == "OPTIONS":
            methods = ", ".join(self.routes.get(request.path, ()))
            headers += [
                ("Access-Control-Allow-Methods", methods),
                ("Access-Control-Allow-Headers", "Content-Type"),
                ("Access-Control-Max-Age", "600"),
            ]
        return headers

    def _check_host(self, environ: Environ) -> None:
        given = environ.get("HTTP_HOST", "")
        if not self._hosts.allows(given, environ.get("wsgi.url_scheme", "http")):
            remedy = "to serve it: skstruct serve --allowed-host NAME"
            raise Refused(400, f"the host {given!r} is not served; {remedy}")


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of two values for a key, one would be lost.

    Parameters
    ----------
    pairs : list of (str, object)

    Raises
    ------
    ValueError
        If a key is given twice.
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r:.40} is given twice")
        found[key] = value
    return found


def _decoded(path: str) -> str:
    """Return a path of WSGI, which has a character for each byte, as text."""
    return path.encode("latin-1").decode("utf-8", "replace")


def _as_json(value: Any) -> Any:
    """Return what JSON has in the place of a number of numpy, or of any label."""
    return value.item() if hasattr(value, "item") else str(value)
