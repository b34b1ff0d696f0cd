"""Training data of GLiNER: tokens, and spans of tokens whose ends are inclusive.

References
----------
U. Zaratiana and others, "GLiNER: generalist model for named entity recognition using
bidirectional transformer", NAACL 2024.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._core.user_warnings import warn
from ..._data.places import counted
from ..._data.schemes import labels_to_spans
from .entry import NO, Look, Rows, TokenOptions, labels_alone, marked
from .head import Head
from .span_records import json_values
from .token_records import TokenRecords, as_line, line_number

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

    def rows(self, file: Any, options: TokenOptions) -> Iterator[Rows]:
        """Yield the sentences, with labels in the scheme BIO."""
        left_out = 0
        name = ""
        for place, record in json_values(file, options.encoding):
            name = name or place.rpartition(",")[0]
            if record is None:
                continue
            tokens = _tokens(record, place)
            labels = ["O"] * len(tokens)
            for start, end, label in _spans(record, len(tokens), place):
                if any(each != "O" for each in labels[start : end + 1]):
                    left_out += 1
                    continue
                labels[start : end + 1] = [f"I-{label}"] * (end + 1 - start)
                labels[start] = f"B-{label}"
            number = line_number(place)
            cells: list[Any] = [
                (token, label) if options.labels else (token,)
                for token, label in zip(tokens, labels)
            ]
            if cells:
                yield Rows(cells, [number] * len(cells), place=place, source=record)
        if left_out:
            warn(
                f"{name}: {counted(left_out, 'span')} within or across others: left "
                "out, the longest count"
            )

    def labelled(
        self,
        options: TokenOptions,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the record with spans of the labels, as a line."""
        labels = labels_alone(marks, "data of GLiNER has")
        found = labels_to_spans(labels, "BIO")
        spans = [[start, stop - 1, label] for start, stop, label in found]
        yield as_line({**source, SPANS: spans})


def _tokens(record: Any, place: str) -> list[str]:
    found = record.get(TOKENS) if isinstance(record, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(t, str) for t in found):
        raise ValueError(f"{place}: expected a list of str under {TOKENS!r}")
    return found


def _spans(record: Any, n: int, place: str) -> list[tuple[int, int, str]]:
    """The spans of a record, the longest first."""
    found = record.get(SPANS)
    if not isinstance(found, list):
        raise ValueError(f"{place}: expected a list of spans under {SPANS!r}")
    spans = []
    for k, span in enumerate(found):
        fits = (
            isinstance(span, list)
            and len(span) == 3
            and all(type(number) is int for number in span[:2])
            and 0 <= span[0] <= span[1] < n
            and isinstance(span[2], str)
        )
        if not fits:
            raise ValueError(
                f"{place}, span {k}: expected [first, last, label] of {n} tokens, the "
                f"last inclusive, got {span!r:.60}"
            )
        spans.append(tuple(span))
    return sorted(spans, key=lambda span: (span[0] - span[1], span[0]))
