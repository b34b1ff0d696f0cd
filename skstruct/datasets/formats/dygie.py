"""Data of SciERC and DyGIE++: documents of sentences, and spans whose positions count the
tokens of the document, ends inclusive.

References
----------
Y. Luan and others, "Multi-task identification of entities, relations, and coreference
for scientific knowledge graph construction", EMNLP 2018.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, marked
from .head import Head, part_of_first
from .token_records import (
    TokenRecords,
    as_line,
    checked_spans,
    counted_records,
    line_number,
    spans_of,
)

SENTENCES = "sentences"
SPANS = "ner"
DOCUMENT = "doc_key"


class Dygie(TokenRecords):
    """The entry of the table."""

    name = "dygie"
    description = "documents of sentences and ner, as SciERC and DyGIE++ have them"

    def look(self, head: Head) -> Look:
        """Objects have sentences, lists of tokens, and as many lists of spans."""
        having = sum(map(_is_document, head.objects))
        if not having or 2 * having < len(head.records):
            return NO
        seen = part_of_first(having, len(head.records), "record", "have")
        return marked(f"{seen} {SENTENCES} and {SPANS}")

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
                if not _is_document(record):
                    raise ValueError(
                        f"{place}: expected lists of tokens under {SENTENCES!r}, and as "
                        f"many lists of spans under {SPANS!r}"
                    )
                begin = 0
                document = record.get(DOCUMENT)
                for k, (tokens, found) in enumerate(
                    zip(record[SENTENCES], record[SPANS])
                ):
                    where = f"{place}, sentence {k}"
                    spans = checked_spans(found, len(tokens), where, begin)
                    begin += len(tokens)
                    labels = records.labels_of(spans, len(tokens), where)
                    if tokens:
                        columns = (tokens, labels) if with_labels else (tokens,)
                        numbers = [line_number(place)] * len(tokens)
                        source: dict[str, Any] = {
                            DOCUMENT: document,
                            SENTENCES: [tokens],
                        }
                        source[SPANS] = [[list(span) for span in spans]]
                        of = None if document is None else str(document)
                        cells = list(zip(*columns))
                        yield Rows(cells, numbers, of, place=where, source=source)

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return a document of one sentence."""
        source: dict[str, Any] = {
            DOCUMENT: row.document,
            SENTENCES: [list(row.x)],
            SPANS: [[]],
        }
        return Kept(row.x, row.document, row.weight, [], source)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the sentence as a document of its own, as a line."""
        yield as_line({**source, SPANS: [spans_of(marks, "data of DyGIE++ have")]})


def _is_document(record: Any) -> bool:
    if not isinstance(record, Mapping):
        return False
    sentences, spans = record.get(SENTENCES), record.get(SPANS)
    return (
        isinstance(sentences, list)
        and isinstance(spans, list)
        and len(sentences) == len(spans)
        and all(isinstance(each, list) for each in (*sentences, *spans))
        and all(isinstance(token, str) for each in sentences for token in each)
    )
