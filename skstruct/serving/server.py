"""A server of waitress: bounded connections, threads, sizes, and time for a request.

waitress reads requests in one thread and hands over whole ones, so that a slow client
holds no worker. What is added to its connections stands in `connections`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .log import LOG, one_line

if TYPE_CHECKING:
    from .connections import Note

PATIENCE = 30.0
"""Seconds that a client may take to send a request, unless a service says otherwise."""

_GRACE = 0.5
"""Seconds that a connection without a request stays open after a stop is asked for."""

_ARRIVAL = 2.0
"""Seconds after a stop is asked for in which the rest of a request may arrive."""

_READING = 5.0
"""Seconds that clients may take, once nothing is in work, to read the last answers."""

_CONNECTIONS = 1000
"""Open connections; with more the server accepts none until some are closed."""

_OTHER_FILES = 24
"""Files that a service may open besides connections: its own, and those of kernels."""


def new_server(
    application: Callable[..., Any],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    threads: int = 4,
    max_bytes: int,
    timeout: float = PATIENCE,
    note_refused: Note | None = None,
) -> Any:
    """Make a server that is bound, and answers once its ``run()`` is called.

    Parameters
    ----------
    application : callable
        A WSGI application.
    host, port : str, int
        Port 0 is any that is free.
    threads : int
        Requests that are answered at a time.
    max_bytes : int
        Larger bodies are refused before they are read.
    timeout : float
        Seconds that a client may take to send a whole request.
    note_refused : callable, optional
        Called for each request that the server refuses itself, see `Note`.

    Returns
    -------
    waitress server

    Raises
    ------
    ImportError
        If waitress is not installed.
    OSError
        If the address cannot be bound.
    """
    try:
        from waitress.server import create_server

        from .connections import connection_class
    except ImportError:
        raise ImportError(
            'serve needs waitress: pip install "skstruct[serve]" installs it'
        ) from None
    for name in "waitress", "waitress.queue":
        one_line(name)
    sockets: dict[int, Any] = {}
    channel = connection_class(timeout, note_refused)
    options = {
        "connection_limit": most_connections(),
        "asyncore_use_poll": True,
        "ident": "skstruct",
    }
    options |= {"threads": threads, "max_request_body_size": max_bytes + 1}
    if not _has_temporary_folder():
        options |= {"inbuf_overflow": sys.maxsize, "outbuf_overflow": sys.maxsize}
    try:
        listen = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        server = create_server(application, sockets, listen=listen, **options)
    except (OSError, ValueError) as error:  # ValueError: of a name that nobody knows
        number = getattr(error, "errno", None)
        said = getattr(error, "strerror", str(error))
        raise OSError(number, said, f"{host}, port {port}") from None
    except RuntimeError as error:  # of memory, or of processes a container may have
        raise MemoryError(f"{threads} threads: {error}") from None
    for each in sockets.values():
        each.channel_class = channel
    return server


def _has_temporary_folder() -> bool:
    """Tell whether long bodies can be put into files, as waitress does by default."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:  # a read-only container, say
        return False
    return True


def most_connections() -> int:
    """Return how many connections the limit of open files leaves, and at least one.

    A server that cannot accept a connection for want of a file would try again and
    again, and log each time.
    """
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return _CONNECTIONS
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return _CONNECTIONS
    first_free = os.open(os.devnull, os.O_RDONLY)
    os.close(first_free)
    return max(1, min(_CONNECTIONS, most - first_free - _OTHER_FILES))


def addresses_of(server: Any) -> list[tuple[str, int]]:
    """List (host, port) of each address that a server listens at."""
    found = getattr(server, "effective_listen", None) or [
        (server.effective_host, server.effective_port)
    ]
    return [(host, int(port)) for host, port in found]


def run(
    server: Any, asked_to_stop: Callable[[], bool], timeout: float = PATIENCE
) -> None:
    """Answer requests until a stop is asked for, then those that have arrived.

    A second signal, as an exception, ends it at once.

    Parameters
    ----------
    server : waitress server
        Of `new_server`.
    asked_to_stop : callable
        Asked at least once a second.
    timeout : float
        Seconds that clients may take to read the last answers, if less than
        `_READING`.
    """
    from waitress import wasyncore

    sockets = _sockets_of(server)

    def serve(seconds: float) -> None:
        wasyncore.loop(seconds, map=sockets, use_poll=True, count=1)

    try:
        while sockets and not asked_to_stop():
            serve(1.0)
        if sockets:
            LOG.info("stopping: requests already received are being answered")
            _finish(sockets, serve, timeout)
    except (SystemExit, KeyboardInterrupt):
        pass
    finally:
        server.task_dispatcher.shutdown()
        wasyncore.close_all(sockets, ignore_all=True)


def _finish(
    sockets: dict[int, Any], serve: Callable[[float], None], timeout: float
) -> None:
    """Answer the requests that have arrived, take no others, and close connections.

    However slowly clients send and read, the end comes `_READING` after the last answer
    was made, or sooner.
    """
    from waitress import wasyncore

    known = None
    while known is None or _connections(sockets) - known:  # each round accepts one more
        known = _connections(sockets)
        serve(0)
    for each in list(sockets.values()):
        if each.accepting:
            # Its own `close` closes what wakes the loop, too.
            wasyncore.dispatcher.close(each)
    stopped = time.monotonic()
    for each in _connections(sockets):
        each.reads_until = stopped + _ARRIVAL
    busy = set()
    now = stopped
    last_work = stopped
    while connections := _connections(sockets):
        serve(0.1)
        now = time.monotonic()
        for each in connections:
            has_part = each.request is not None and now <= each.reads_until
            if _is_in_work(each):
                last_work = now
            if each.requests or has_part or each.total_outbufs_len:
                busy.add(each)
            elif each in busy or now > stopped + _GRACE:
                each.handle_close()
        if now - last_work > min(timeout, _READING):  # clients that do not read
            break
    for each in _connections(sockets):  # wakes threads that wait for their clients
        each.handle_close()


def _is_in_work(connection: Any) -> bool:
    """Tell whether an answer is being made that does not wait for its client to read."""
    most: int = connection.adj.outbuf_high_watermark
    return bool(connection.requests) and connection.total_outbufs_len <= most


def _sockets_of(server: Any) -> dict[int, Any]:
    """Return what a server listens to, by file descriptor."""
    return server.map if hasattr(server, "map") else server._map


def _connections(sockets: dict[int, Any]) -> set[Any]:
    """Collect the open connections."""
    return {each for each in list(sockets.values()) if hasattr(each, "requests")}


def stop(server: Any) -> None:
    """Let ``run()`` return, from another thread; open connections are closed."""
    from waitress import wasyncore

    server.task_dispatcher.shutdown()  # answers that are being written need the pipe
    sockets = _sockets_of(server)
    trigger = next(each for each in sockets.values() if hasattr(each, "thunks"))
    with (
        trigger.lock
    ):  # until the pipe is written to: closing it is what the server does next
        trigger.thunks.append(lambda: wasyncore.close_all(sockets, ignore_all=True))
        trigger.pull_trigger()
