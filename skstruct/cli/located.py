"""Errors of learning and predicting, with the file and the line that they are about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..datasets.formats.source import SourceError
from .common import CommandError


@contextlib.contextmanager
def locating(name: str, places: Any = ()) -> Iterator[None]:
    """Let a ValueError that is raised within it name the file and the line: raise what
    `located` makes of it.
    """
    try:
        yield
    except SourceError:
        raise  # it names the file itself
    except ValueError as error:
        raise located(error, name, places) from error


def located(error: Any, name: str, places: Any) -> CommandError:
    """Return an error that says in which file and line the sequence stands that another
    error is about.

    Parameters
    ----------
    error : ValueError
        A `PlaceError` has the numbers of the sequence and of the token.
    name, places
        As of `Corpus`. Without places the file is named alone.
    """
    i = getattr(error, "sequence", None)
    if i is None or i >= len(places):
        return CommandError(f"{name}: {error}")
    lines = places[i]
    if isinstance(lines, str):
        return CommandError(f"{lines}: {error}")
    t = error.position or 0
    return CommandError(
        f"{name}, line {lines[t] if t < len(lines) else lines[0]}: {error}"
    )
