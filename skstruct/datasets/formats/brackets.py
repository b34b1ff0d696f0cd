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

from .entry import NO, Look, TextFormat, marked, near, no
from .head import Head, part_of_first
from .span_records import Annotation, Reading, Record
from .text_files import numbered_lines

MARK = re.compile(
    r"\[(?P<text>[^\[\]\n]+)\](?:\((?P<label>[^\W\d][\w-]*)(?::(?!//)[^()\n]*)?\)"
    r"|(?P<object>\{[^{}\n]*\}|\[\s*\{[^\[\]\n]*\}\s*\]))"
)
"""A text in brackets with its label; behind a colon a synonym, which is passed over."""

_LIKE_MARK = re.compile(r"\[[^\[\]\n]+\](?:\([^()\n]*\)|\{|\[\s*\{)")
"""Text that looks like a `MARK`, and is one or an error, unless it links to a page."""

_ADDRESS = re.compile(r"\([^()]*[/.#@][^()]*\)$|\(\)$")

_FEW = 3
"""So few labels need not occur twice."""

_ITEM = re.compile(r"\s*[-*+]\s+(.*)")
_SECTION = re.compile(r"\s*(?:#+\s*|-\s*)(intent|synonym|regex|lookup)\s*:.*")
_OF_RASA = frozenset(
    "version nlu stories rules responses intents entities slots actions forms "
    "session_config domain lookups synonyms".split()
)
"""Keys that a file of Rasa in YAML may begin with."""

_NLU = re.compile(r"nlu\s*:\s*")
_UTTERANCES = re.compile(r"utterances\s*:\s*")
_REVERSED = re.compile(
    r"\[(?P<slot>[^\W\d][\w-]*)(?::[^\[\]\n]*)?\]\((?P<text>[^()\n]+)\)"
)
"""A label in brackets with its words behind, as Snips has them."""

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
        n_reversed = sum(_REVERSED.search(line) is not None for line in head.lines)
        if n_reversed and any(map(_UTTERANCES.fullmatch, head.lines)):
            return marked(f"utterances, {n_reversed} lines of them [slot](words)")
        n_marked = sum(MARK.search(line) is not None for line in head.lines)
        sections = sum(_SECTION.fullmatch(line) is not None for line in head.lines)
        n = len(head.lines)
        seen = f"{part_of_first(n_marked, n, 'line', 'have')} [words](label)"
        labels = Counter(
            found["label"] or found["object"]
            for line in head.lines
            for found in MARK.finditer(line)
        )
        # Links of other Markdown lead to different places.
        repeated = labels.total() <= _FEW or max(labels.values()) > 1
        words = {m["text"] for line in head.lines for m in MARK.finditer(line)}
        if labels.total() > _FEW and 2 * len(words) < len(labels) and not sections:
            return near(f"{seen}, or labels in brackets before their words")
        if n_marked and (sections or (10 * n_marked >= n and repeated)):
            return marked(seen)
        return near(seen) if n_marked else no(seen)

    def records(self, source: Any, reading: Reading) -> Iterator[Record]:
        """Yield the `Record` of each item or line; other lines are structure."""
        with numbered_lines(source, reading.options.encoding) as (name, lines):
            filled = [(n, line) for n, line in lines if line.strip()]
        is_of_snips = any(_UTTERANCES.fullmatch(line) for _, line in filled)
        make = _record_of_snips if is_of_snips else _record
        tally = reading.contents.records
        for number, text in _texts(filled):
            if text is None:
                tally.seen += 1
                tally.structure += 1
            else:
                yield make(text, f"{name}, line {number}", reading.texts_alone)


_Lines = list[tuple[int, str]]
_Texts = Iterator[tuple[int, "str | None"]]


def _texts(lines: _Lines) -> _Texts:
    """Yield (number, text) of lines; None for those that are no texts."""
    written = [line for _, line in lines]
    if any(map(_UTTERANCES.fullmatch, written)):
        return _texts_of_snips(lines)
    if _is_yaml(written):
        return _texts_of_yaml(lines)
    items = sum(_ITEM.fullmatch(line) is not None for line in written)
    sections = any(line[0] == "#" and _SECTION.fullmatch(line) for line in written)
    if sections or 2 * items > len(lines):
        return _texts_of_markdown(lines)
    return ((number, _COMMENT.sub("", line).rstrip() or None) for number, line in lines)


def _is_yaml(lines: list[str]) -> bool:
    """Tell whether lines begin with a key of Rasa's YAML, and have examples."""
    plain = (line for line in lines if line[0] != "#" and line.strip() != "---")
    first = _TOP_OF_YAML.fullmatch(next(plain, ""))
    has_key = first is not None and first[1] in _OF_RASA and not MARK.search(first[0])
    return has_key and any(map(_NLU.fullmatch, lines))


def _texts_of_markdown(lines: _Lines) -> _Texts:
    """Items, and other lines, of the sections of intents; headings are none."""
    section = "intent"
    for number, line in lines:
        text = _COMMENT.sub("", line).rstrip()
        found = _SECTION.fullmatch(line) if line.lstrip()[0] == "#" else None
        if found is not None:
            section = found[1]
        is_heading = line.lstrip()[0] == "#" and not MARK.search(line)
        if found is not None or section != "intent" or is_heading or not text.strip():
            yield number, None
            continue
        item = _ITEM.fullmatch(text)
        yield number, item[1] if item else text


def _texts_of_yaml(lines: _Lines) -> _Texts:
    """Lines of blocks ``examples: |`` and ``text: |``, and what stands behind
    ``text:``, under ``nlu:``.
    """
    section = ""
    block: int | None = None  # the indentation of the key of a block that is open
    for number, line in lines:
        text = _COMMENT.sub("", line).rstrip()
        if top := _TOP_OF_YAML.fullmatch(text):
            block = None
            section = "intent" if top[1] == "nlu" else top[1]
            yield number, None
            continue
        if block is not None and _indentation(text) <= block:
            block = None
        if block is None and (found := _SECTION.fullmatch(line)):
            section = found[1] if section in _OF_NLU else section
            yield number, None
        elif section != "intent" or not text.strip() or text.lstrip()[0] == "#":
            yield number, None
        elif block is not None:
            item = _ITEM.fullmatch(text)
            yield number, item[1] if item else text.strip()
        elif found := _BLOCK.fullmatch(text):
            rest = found["rest"]
            if rest[:1] in ("|", ">"):
                block = len(found["before"])
            yield number, _unquoted(rest) if rest and block is None else None
        else:
            yield number, None


def _texts_of_snips(lines: _Lines) -> _Texts:
    """Items under ``utterances:``."""
    inside = False
    for number, line in lines:
        item = _ITEM.fullmatch(line)
        if _UTTERANCES.fullmatch(line):
            inside = True
        elif item is None:
            inside = False
        yield number, _unquoted(item[1]) if inside and item is not None else None


def _record_of_snips(written: str, place: str, texts_alone: bool) -> Record:
    """The `Record` of an utterance of Snips."""
    parts: list[str] = []
    spans: list[Annotation] = []
    at = length = 0
    for found in _REVERSED.finditer(written):
        before = written[at : found.start()]
        start = length + len(before)
        length = start + len(found["text"])
        parts += [before, found["text"]]
        spans.append(Annotation(((start, length),), found["slot"], found["text"]))
        at = found.end()
    text = "".join([*parts, written[at:]])
    return Record(place, text, None if texts_alone else spans, {})


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
        raise ValueError(
            f"{place}: two labels on one span: {two}; give each span one label"
        )
    label = labels[0] if labels else None
    if not isinstance(label, str):
        raise ValueError(
            f'{place}: expected {{"entity": LABEL}} behind brackets, got {written:.60}'
        )
    return label
