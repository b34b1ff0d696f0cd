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
from .entry import NO, Look, TextFormat, marked, near, no
from .head import Head
from .span_records import Annotation, Record
from .text_files import numbered_lines

MARK = re.compile(
    r"\[(?P<text>[^\[\]\n]+)\](?:\((?P<label>[^\W\d][\w-]*)(?::(?!//)[^()\n]*)?\)"
    r"|(?P<object>\{[^{}\n]*\}|\[\s*\{[^\[\]\n]*\}\s*\]))"
)
"""A text in brackets with its label; behind a colon a synonym, which is passed over."""

_LIKE_MARK = re.compile(r"\[[^\[\]\n]+\](?:\([^()\n]*\)|\{|\[\s*\{)")
"""What looks like a `MARK`, and is one or an error, unless it leads to a page."""

_ADDRESS = re.compile(r"\([^()]*[/.#@][^()]*\)$|\(\)$")

_FEW = 3
"""So few labels need not occur twice."""

_ITEM = re.compile(r"\s*[-*+]\s+(.*)")
_SECTION = re.compile(r"\s*(?:#+\s*|-\s*)(intent|synonym|regex|lookup)\s*:.*")
_OF_YAML = re.compile(r"\s*(?:version|nlu|examples|rules|stories)\s*:.*|\s*---\s*")
_TOP_OF_YAML = re.compile(r"(\w+)\s*:.*")
_BLOCK = re.compile(r"(?P<before>\s*(?:-\s+)?)(?:examples|text)\s*:\s*(?P<rest>.*)")
_COMMENT = re.compile(r"<!--.*?-->")


class Brackets(TextFormat):
    """The entry of the table."""

    name = "brackets"
    description = "texts with [words](label), as Rasa has them in Markdown and YAML"
    is_json = False

    def look(self, head: Head) -> Look:
        """Lines have words in brackets, and a label in parentheses behind."""
        if not head.lines or head.is_json:
            return NO
        n_marked = sum(MARK.search(line) is not None for line in head.lines)
        sections = sum(_SECTION.fullmatch(line) is not None for line in head.lines)
        n = len(head.lines)
        seen = f"{part_of(n_marked, n, 'line', 'have')} [words](label)"
        labels = Counter(
            found["label"] or found["object"]
            for line in head.lines
            for found in MARK.finditer(line)
        )
        # Links of other Markdown lead to different places.
        repeated = labels.total() <= _FEW or max(labels.values()) > 1
        if n_marked and (sections or (10 * n_marked >= n and repeated)):
            return marked(seen)
        return near(seen) if n_marked else no(seen)

    def records(self, source: Any, reading: Any) -> Iterator[Record]:
        """Yield the `Record` of each item or line."""
        with numbered_lines(source, reading.options.encoding) as (name, lines):
            for number, text in _texts(lines):
                place = f"{name}, line {number}"
                yield _record(text, place, reading.texts_alone)


def _texts(lines: Any) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the lines, or items of lists, that are texts.

    In YAML these are the lines of blocks ``examples: |`` and ``text: |``, and what
    stands behind ``text:``, under ``nlu:``.
    """
    section = "intent"
    yaml = False
    block: int | None = None  # the indentation of the key of a block that is open
    for number, line in lines:
        text = _COMMENT.sub("", line).rstrip()
        if not text.strip():
            continue
        if (top := _TOP_OF_YAML.fullmatch(text)) and (
            yaml or top[1] in ("version", "nlu")
        ):
            yaml, block = True, None
            section = "intent" if top[1] == "nlu" else top[1]
            continue
        if yaml and block is not None and _indentation(text) <= block:
            block = None
        if block is None and (found := _SECTION.fullmatch(line)):
            section = found[1] if not yaml or section in _OF_NLU else section
            continue
        if section != "intent" or text.lstrip().startswith("#"):
            continue
        if yaml and block is None:
            if found := _BLOCK.fullmatch(text):
                rest = found["rest"]
                if rest[:1] in ("|", ">"):
                    block = len(found["before"])
                elif rest:
                    yield number, _unquoted(rest)
            continue
        if _OF_YAML.fullmatch(text):
            continue
        item = _ITEM.fullmatch(text)
        yield number, item[1] if item else text.strip() if yaml else text


_OF_NLU = ("intent", "synonym", "regex", "lookup")


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


def _unquoted(text: str) -> str:
    """A value of YAML without the quotation marks around it."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _record(written: str, place: str, texts_alone: bool) -> Record:
    """The `Record` of a text as it is written."""
    parts: list[str] = []
    spans: list[Annotation] = []
    at = 0
    length = 0
    for found in _LIKE_MARK.finditer(written):
        if not MARK.match(written, found.start()) and not _ADDRESS.search(found[0]):
            raise ValueError(
                f"{place}: expected [words](label), a label of letters, digits, _ and "
                f'-, or [words]{{"entity": LABEL}}, got {found[0]!r:.60}'
            )
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
        given = json.loads(written)
        several = given if isinstance(given, list) else [given]
        labels = list(dict.fromkeys(each["entity"] for each in several))
    except (ValueError, KeyError, TypeError):
        labels = []
    if len(labels) > 1:
        two = ", ".join(map(repr, labels))
        raise ValueError(f"{place}: two labels on one span: {two}; a span has one")
    label = labels[0] if labels else None
    if not isinstance(label, str):
        raise ValueError(
            f'{place}: expected {{"entity": LABEL}} behind brackets, got {written:.60}'
        )
    return label
