"""A connection of waitress: time for a whole request, and refusals that arrive.

waitress' own time limit is one of inactivity. That of a whole request is added here, and
so is the refusal of requests that say their length in two ways. What is refused here is
answered, logged and counted as what the application refuses.

Only `server.new_server` imports this module, since waitress may not be installed.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ErrorTask
from waitress.utilities import Error

LINGER = 2.0
"""Seconds in which the rest of a refused request is read and dropped.

A connection that is closed while bytes arrive is reset, and the client loses the
answer.
"""

Note: TypeAlias = Callable[[str, str, int, int], None]
"""Takes method, path, status and the bytes of the answer of a refused request."""


class RequestTimeout(Error):  # type: ignore[misc]
    """A request of which only a part has arrived in time."""

    code = 408
    reason = "Request Timeout"


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """The parser of a request."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse a header, and refuse one that says the length of the body in two
        ways.
        """
        try:
            super().parse_header(header_plus)
        except ValueError:  # Python reads no numbers of 5,000 digits
            raise ParsingError("Content-Length is invalid") from None
        if "TRANSFER_ENCODING" in self.headers or (
            self.chunked and "CONTENT_LENGTH" in self.headers
        ):
            raise ParsingError(
                "Transfer-Encoding goes with HTTP/1.1 and without Content-Length"
            )


class ErrorAsJson(ErrorTask):  # type: ignore[misc]
    """The answer to a request that waitress refuses itself."""

    def execute(self) -> None:
        """Answer as the application answers, and note it."""
        error = self.request.error
        about = f"{error.reason}: {error.body}"
        if error.code == 413:
            most = self.channel.adj.max_request_body_size - 1
            about = f"a request has at most {most:,} bytes"
        body = json.dumps({"error": about}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.channel.lingers = True
        if self.channel.note_refused is not None:
            method = getattr(self.request, "command", "")
            path = getattr(self.request, "path", "")
            self.channel.note_refused(method, path, error.code, len(body))
        self.write(body)


class Connection(HTTPChannel):  # type: ignore[misc]
    """A connection; `connection_class` sets its limits."""

    parser_class = Parser
    error_task_class = ErrorAsJson
    patience: float
    note_refused: Note | None
    request: Any
    close_when_flushed: bool
    _since = 0.0
    reads_until = float("inf")  # the end of reading, once a stop is asked for
    lingers = False  # whether a refusal is on its way
    _drops_until: float | None = None  # what arrives, once the refusal is sent

    def readable(self) -> bool:
        """Tell whether to read; the server asks at least once a second."""
        now = time.monotonic()
        if self._drops_until is not None and now > self._drops_until:
            self.will_close = True
        if now > self.reads_until:
            return False
        if (
            self.request is None or self.requests
        ):  # nothing has begun to arrive, or it is not its turn
            self._since = now
        elif now - self._since > self.patience:
            self._refuse_late()
        return bool(super().readable())

    def _refuse_late(self) -> None:
        """Refuse the request of which only a part has arrived."""
        with self.requests_lock:
            late = self.request
            self.request = None
            late.error = RequestTimeout(f"not sent within {self.patience:g} seconds")
            late.completed = True
            self.requests.append(late)
            self.server.add_task(self)

    def handle_read(self) -> None:
        """Read what arrives; behind a refusal, drop it."""
        if self._drops_until is None:
            super().handle_read()
        elif not self._n_dropped():
            self.handle_close()

    def _n_dropped(self) -> int:
        """Drop what has arrived, and return how many bytes it was."""
        with contextlib.suppress(OSError):
            return len(self.recv(self.adj.recv_bytes))
        return 0

    def handle_write(self) -> None:
        """Send what is to be sent; behind a refusal, close only this direction."""
        is_last = self.lingers and self.close_when_flushed
        if is_last:
            self.close_when_flushed = False
        super().handle_write()
        if not is_last or not self.connected or self.will_close:
            return
        if self.total_outbufs_len:
            self.close_when_flushed = True
            return
        self._drops_until = time.monotonic() + LINGER
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)


def connection_class(patience: float, note_refused: Note | None) -> type[Any]:
    """Make the class of connections whose requests have to arrive within some seconds.

    Parameters
    ----------
    patience : float
    note_refused : callable, optional
        Called for each request that is refused before the application sees it.
    """

    class Limited(Connection):
        pass

    Limited.patience = patience
    # a plain function as an attribute of the class would become a method
    Limited.note_refused = None if note_refused is None else staticmethod(note_refused)
    return Limited
