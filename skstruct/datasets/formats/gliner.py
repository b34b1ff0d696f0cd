"""Training data of GLiNER: tokens, and spans of tokens whose ends are inclusive.

References
----------
U. Zaratiana and others, "GLiNER: generalist model for named entity recognition using
bidirectional transformer", NAACL 2024.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, marked
from .head import Head
from .token_records import (
    TokenRecords,
    as_line,
    checked_spans,
    counted_records,
    line_number,
    spans_of,
)

TOKENS = "tokenized_text"
SPANS = "ner"


class Gliner(TokenRecords):
    """The entry of the table."""

    name = "gliner"
    description = "objects of tokenized_text and ner, spans of tokens, of GLiNER"

    def look(self, head: Head) -> Look:
        """Objects have the two keys."""
        share = head.share((TOKENS, SPANS))
        seen = f"{share:.0%} of the records have {TOKENS} and {SPANS}"
        return marked(seen) if share >= 0.5 else NO

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with labels in the scheme BIO."""
        with counted_records(file, layout.encoding, contents) as records:
            for place, record in records:
                tokens = _tokens(record, place)
                found = record.get(SPANS)
                if not isinstance(found, list):
                    raise ValueError(
                        f"{place}: expected a list of spans under {SPANS!r}"
                    )
                spans = checked_spans(found, len(tokens), place)
                labels = records.labels_of(spans, len(tokens), place)
                if not tokens:
                    records.leave_empty(place)
                    continue
                columns = (tokens, labels) if with_labels else (tokens,)
                numbers = [line_number(place)] * len(tokens)
                yield Rows(list(zip(*columns)), numbers, place=place, source=record)

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return a record of tokens."""
        source = {TOKENS: list(row.x), SPANS: []}
        return Kept(row.x, row.document, row.weight, [], source)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the record with spans of the labels, as a line."""
        spans = spans_of(marks, "data of GLiNER has")
        yield as_line({**source, SPANS: spans})


def _tokens(record: Any, place: str) -> list[str]:
    found = record.get(TOKENS) if isinstance(record, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(t, str) for t in found):
        raise ValueError(f"{place}: expected a list of str under {TOKENS!r}")
    return found
