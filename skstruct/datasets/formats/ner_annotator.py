"""Exports of NER Annotator: one object with the classes, and pairs of a text and its
entities, null for texts that were skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from .entry import NO, Look, TextFormat, marked, no
from .head import Head
from .json_fields import elements_at
from .spacy_pairs import from_pair
from .span_records import Reading, Record


class NerAnnotator(TextFormat):
    """The entry of the table."""

    name = "ner-annotator"
    description = "an export of NER Annotator: classes, and annotations as pairs"
    options = frozenset(("label_names", "labels"))
    special_case_of: ClassVar[tuple[str, ...]] = ("jsonl", "spacy")

    def look(self, head: Head) -> Look:
        """One object has classes, and a list of pairs under ``annotations``."""
        if len(head.records) != 1 or not isinstance(head.records[0], Mapping):
            return NO
        pairs = head.records[0].get("annotations")
        if not isinstance(pairs, list) or "text" in head.records[0]:
            return NO
        found = [pair for pair in pairs if isinstance(pair, list) and len(pair) == 2]
        has_classes = "classes" in head.records[0]
        seen = f"annotations has {len(found)} pairs, classes are {'' if has_classes else 'not '}there"
        return marked(seen) if found and (has_classes or pairs) else no(seen)

    def has_mark(self, value: Any) -> bool:
        """Tell whether an object holds classes and annotations."""
        keys = {"classes", "annotations"}
        return isinstance(value, Mapping) and keys <= value.keys()

    def elements(self, value: Any, place: str) -> Iterator[tuple[str, Any]]:
        """Yield the pairs."""
        return elements_at(value, "annotations", place)

    def record(self, value: Any, place: str, reading: Reading) -> Record:
        """Make a `Record` of a pair; a text that is white space is left out."""
        found = from_pair(value, place, reading)
        if not found.text.strip() and not found.spans:
            return found._replace(spans=None, why="a blank text")
        return found._replace(sure=False)
