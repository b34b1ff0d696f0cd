"""The log of a service: nothing that a request says can look like a line of it."""

import logging
import traceback

from ..inspection.explanations import printable


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
