"""The log of a service, as lines of text or as JSON.

Nothing that a request says can look like a line of it.
"""

import json
import logging
import traceback
from datetime import datetime, timezone
from typing import Any

from ..inspection.explanations import printable

FORMATS = ("text", "json")
"""Names of the formats of the log."""


class OneLine(logging.Filter):
    """Escapes what does not print in messages, and indents tracebacks.

    Names, paths and texts come from clients. A line feed in one of them would begin a
    line of its own, and an escape character would be obeyed by a terminal.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Make the message of a record one line; always True."""
        record.msg = printable(record.getMessage())
        record.args = None
        if record.exc_info and record.exc_info[1] is not None:
            lines = "".join(traceback.format_exception(record.exc_info[1])).splitlines()
            # Formatters take this text as it is.
            record.exc_text = "\n".join(f"    {printable(line)}" for line in lines)
        return True


def one_line(name: str) -> logging.Logger:
    """Return the logger of a name, whose messages are one line each."""
    logger = logging.getLogger(name)
    if not any(isinstance(each, OneLine) for each in logger.filters):
        logger.addFilter(OneLine())
    return logger


LOG = one_line("skstruct.serving")

REQUESTS = one_line("skstruct.serving.requests")
"""A line for each request, which ``skstruct serve`` asks for; elsewhere
``setLevel("INFO")`` does.
"""

REQUESTS.setLevel(logging.WARNING)


def without_texts(message: str) -> dict[str, str]:
    """Return ``extra`` for a message that may quote texts: what JSON says instead."""
    return {"without_texts": message}


def moment(seconds: float) -> str:
    """Return a time since the epoch in ISO 8601, UTC, with milliseconds."""
    found = datetime.fromtimestamp(seconds, timezone.utc)
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonFormatter(logging.Formatter):
    """Formatter of log records as JSON, one object per line.

    The keys are ``time``, ``level``, ``logger`` and ``message``. Records of requests
    have ``method``, ``path``, ``status``, ``milliseconds``, ``texts``, ``characters``,
    ``bytes_in`` and ``bytes_out`` as well. Records of exceptions have ``exception``:
    types and places, without messages, which may quote a text.

    Examples
    --------
    >>> import logging
    >>> from skstruct.serving import JsonFormatter
    >>> handler = logging.StreamHandler()
    >>> handler.setFormatter(JsonFormatter())
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON."""
        message = getattr(record, "without_texts", None)
        found: dict[str, Any] = {
            "time": moment(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage() if message is None else message,
        }
        request = getattr(record, "request", None)
        if request is not None:
            about = (request[key] for key in ("method", "path", "status"))
            found["message"] = " ".join(map(str, about))
            found |= request
        if record.exc_info and record.exc_info[1] is not None:
            found["exception"] = _places(record.exc_info[1])
        return json.dumps(found, default=str)


def _places(error: BaseException) -> str:
    """Return the traceback of an exception and its causes, without their messages."""
    parts: list[str] = []
    each: BaseException | None = error
    seen: set[int] = set()
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        frames = "".join(traceback.format_tb(each.__traceback__))
        parts.append(f"{frames}{type(each).__qualname__}")
        context = None if each.__suppress_context__ else each.__context__
        each = each.__cause__ or context
    return "\n\n".join(reversed(parts))


def log_as_json(name: str | None = None) -> None:
    """Write the log, with a line for each request, to standard error as JSON.

    Parameters
    ----------
    name : str, optional
        The logger whose messages are written, and go no further; by default all.
    """
    logger = logging.getLogger(name)
    for each in list(logger.handlers):
        if isinstance(each.formatter, JsonFormatter):
            logger.removeHandler(each)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.captureWarnings(name is None)
    REQUESTS.setLevel(logging.INFO)
