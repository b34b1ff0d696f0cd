"""What formats share whose sentences are JSON objects with lists of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .entry import TokenFormat


class TokenRecords(TokenFormat):
    """A format of which each sentence is an object, on a line of its own when
    written.
    """

    is_written = True
    names_fields = True
    has_comments = False

    def selected(
        self, sentences: list[tuple[list[tuple[int, str, bool]], Any]]
    ) -> Iterator[str]:
        """Yield the records of some sentences, a line each."""
        for _, source in sentences:
            yield as_line(source)


def as_line(record: Mapping[str, Any]) -> str:
    """Return a record as a line of JSON."""
    return json.dumps(record, ensure_ascii=False) + "\n"


def line_number(place: str) -> int:
    """Return the line that a place of a record names; 1 if it names none."""
    return int(place.rpartition(" ")[2]) if ", line " in place else 1
