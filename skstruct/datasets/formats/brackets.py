"""Labels in brackets behind what they mark: ``fly to [Oslo](city)``.

Rasa writes training data so, in Markdown and within YAML. An item of a list, or a line,
is a text; headings, and lists of synonyms, look-up tables and expressions, are none.

References
----------
T. Bocklisch and others, "Rasa: open source language understanding and dialogue
management", 2017.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..._data.places import part_of
from .entry import NO, Evidence, TextFormat
from .head import Head
from .span_records import Annotation, Record
from .text_files import numbered_lines

MARK = re.compile(
    r"\[(?P<text>[^\[\]\n]+)\](?:\((?P<label>[A-Za-z_][\w-]*)(?::(?!//)[^()\n]*)?\)"
    r"|(?P<object>\{[^{}\n]*\}))"
)
"""A text in brackets with its label; behind a colon a synonym, which is passed over."""

_FEW = 3
"""So few labels need not occur twice."""

_ITEM = re.compile(r"\s*[-*+]\s+(.*)")
_SECTION = re.compile(r"\s*(?:#+\s*|-\s*)(intent|synonym|regex|lookup)\s*:.*")
_OF_YAML = re.compile(r"\s*(?:version|nlu|examples|rules|stories)\s*:.*|\s*---\s*")
_COMMENT = re.compile(r"<!--.*?-->")


class Brackets(TextFormat):
    """The entry of the table."""

    name = "brackets"
    description = "texts with [words](label), as Rasa has them in Markdown and YAML"
    is_json = False

    def recognise(self, head: Head) -> Evidence:
        """Lines have words in brackets, and a label in parentheses behind."""
        if not head.lines or head.is_json:
            return NO
        marked = sum(MARK.search(line) is not None for line in head.lines)
        sections = sum(_SECTION.fullmatch(line) is not None for line in head.lines)
        n = len(head.lines)
        seen = f"{part_of(marked, n, 'line', 'have')} [words](label)"
        labels = Counter(
            found["label"] or found["object"]
            for line in head.lines
            for found in MARK.finditer(line)
        )
        # Links of other Markdown lead to different places.
        repeated = labels.total() <= _FEW or max(labels.values()) > 1
        if marked and (sections or (10 * marked >= n and repeated)):
            return Evidence(0.85, seen)
        return Evidence(0.3 if marked else 0.0, seen)

    def records(self, source: Any, reading: Any) -> Iterator[Record]:
        """Yield the `Record` of each item or line."""
        with numbered_lines(source, reading.options.encoding) as (name, lines):
            section = "intent"
            for number, line in lines:
                if found := _SECTION.fullmatch(line):
                    section = found[1]
                    continue
                text = _COMMENT.sub("", line).rstrip()
                if section != "intent" or not text.strip() or _OF_YAML.fullmatch(text):
                    continue
                if text.lstrip().startswith("#"):
                    continue
                item = _ITEM.fullmatch(text)
                place = f"{name}, line {number}"
                yield _record(item[1] if item else text, place, reading.texts_alone)


def _record(written: str, place: str, texts_alone: bool) -> Record:
    """The `Record` of a text as it is written."""
    parts: list[str] = []
    spans: list[Annotation] = []
    at = 0
    length = 0
    for found in MARK.finditer(written):
        before = written[at : found.start()]
        start = length + len(before)
        length = start + len(found["text"])
        label = found["label"] or _entity(found["object"], place)
        parts += [before, found["text"]]
        spans.append(Annotation(((start, length),), label, found["text"]))
        at = found.end()
    text = "".join([*parts, written[at:]])
    return Record(place, text, None if texts_alone else spans, {}, sure=True)


def _entity(written: str, place: str) -> str:
    """The label in an object of JSON."""
    try:
        label = json.loads(written)["entity"]
    except (ValueError, KeyError, TypeError):
        label = None
    if not isinstance(label, str):
        raise ValueError(
            f'{place}: expected {{"entity": LABEL}} behind brackets, got {written:.60}'
        )
    return label
