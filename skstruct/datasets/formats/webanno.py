"""WebAnno TSV 3, which INCEpTION exports: a token a line, annotations in columns.

Lines ``#T_SP=LAYER|FEATURE`` name the columns. ``PER[1]`` is part of the span 1, a value
without a number a span of one token, ``_`` nothing, ``*`` a span without a value,
``A[1]|B[2]`` two spans. Labels are those of one feature, in the scheme BIO.

References
----------
R. Eckart de Castilho and others, "A web-based tool for the integrated annotation of
semantic and syntactic structures", LT4DH 2016.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..._core.user_warnings import warn
from ..._data.places import counted
from .entry import NO, Evidence, Rows, TokenFormat, TokenOptions
from .head import Head
from .text_files import filled_lines, numbered_lines

_FORMAT = re.compile(r"#FORMAT=WebAnno TSV 3(\.\d+)?\s*")
_LAYER = re.compile(r"#T_(SP|RL|CH)=(.*)")
_TOKEN = re.compile(r"\d+-\d+")
_PART = re.compile(r"\d+-\d+\.\d+")
_VALUE = re.compile(r"(?P<value>(?:\\.|[^\\\[\]])*)(?:\[(?P<number>\d+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(->|.)")
_SEVERAL = re.compile(r"(?<!\\)(?:\\\\)*\|")

FIRST = 3
"""The column of the first feature, behind number, offsets and token."""

_OF_TOKENS = frozenset(
    ("Lemma", "POS", "Stem", "MorphologicalFeatures", "Token", "Sentence")
)
"""Layers that say something of every token, and hold no spans."""


class Feature(NamedTuple):
    """A column of annotations."""

    layer: str
    name: str
    column: int
    of_spans: bool  # and not of relations or chains

    @property
    def called(self) -> str:
        """What an option calls it."""
        return f"{self.layer}.{self.name}" if self.name else self.layer

    @property
    def of_tokens(self) -> bool:
        """Whether every token has a value."""
        return self.layer in _OF_TOKENS


class WebAnno(TokenFormat):
    """The entry of the table."""

    name = "webanno"
    description = "WebAnno TSV 3, as INCEpTION exports it; --label LAYER.FEATURE"
    options = frozenset(("label",))
    names_fields = True

    def recognise(self, head: Head) -> Evidence:
        """The first line says what it is."""
        first = head.lines[0] if head.lines else ""
        if _FORMAT.fullmatch(first):
            return Evidence(1.0, f"the first line is {first.strip()}")
        return Evidence(0.3, "it has #Text=") if _has_text(head) else NO

    def rows(self, file: Any, options: TokenOptions) -> Iterator[Rows]:
        """Yield the sentences, with tokens and the labels of one feature."""
        features: list[Feature] = []
        sentences = []
        with numbered_lines(file, options.encoding) as (name, lines):
            for rows in filled_lines(lines):
                sentence = []
                for number, line in rows:
                    if line.startswith("#"):
                        features += _features(line, features)
                        continue
                    cells = line.split("\t")
                    where = f"{name}, line {number}"
                    _check(cells, features, where)
                    if not _PART.fullmatch(cells[0]):
                        sentence.append((number, cells))
                if sentence:
                    sentences.append(sentence)
        if not options.labels:
            for sentence in sentences:
                alone = [(_unescaped(cells[2]),) for _, cells in sentence]
                yield Rows(alone, [number for number, _ in sentence])
            return
        feature = _chosen(features, sentences, options.label, name)
        stacked = 0
        for sentence in sentences:
            column = [cells[feature.column] for _, cells in sentence]
            stacked += sum(_SEVERAL.search(cell) is not None for cell in column)
            tokens = [_unescaped(cells[2]) for _, cells in sentence]
            labels = _labels(column, feature)
            yield Rows(list(zip(tokens, labels)), [number for number, _ in sentence])
        if stacked:
            warn(
                f"{name}: {counted(stacked, 'token')} with several values of "
                f"{feature.called}: the first of each counts"
            )


def _has_text(head: Head) -> bool:
    return any(line.startswith("#Text=") for line in head.lines)


def _features(line: str, known: list[Feature]) -> list[Feature]:
    """The columns that a line of the header names."""
    found = _LAYER.fullmatch(line.rstrip())
    if found is None:
        return []
    layer, *names = found[2].split("|")
    first = FIRST + len(known)
    short = layer.rpartition(".")[2]
    return [
        Feature(short, name, first + k, found[1] == "SP")
        for k, name in enumerate(names or [""])
    ]


def _check(cells: list[str], features: list[Feature], where: str) -> None:
    """Raise unless a line is that of a token."""
    if not features:
        raise ValueError(
            f"{where}: expected #T_SP=LAYER|FEATURE before the first token"
        )
    n = FIRST + len(features)
    if not (_TOKEN.fullmatch(cells[0]) or _PART.fullmatch(cells[0])):
        raise ValueError(
            f"{where}: expected the number of a token, such as 1-1, got {cells[0]!r:.40}"
        )
    if len(cells) not in (n, n + 1) or len(cells) == n + 1 and cells[-1].strip():
        raise ValueError(
            f"{where}: expected {n} columns, as the header names; found {len(cells)}"
        )


def _chosen(features: list[Feature], sentences: Any, label: Any, name: str) -> Feature:
    """The feature that is asked for, or the first that has spans; others are named."""
    if not sentences:
        return Feature("", "", FIRST, True)
    known = [each for each in features if each.of_spans]
    if label is not None:
        fitting = [
            each for each in known if label in (each.called, each.name, each.layer)
        ]
        if not fitting:
            raise ValueError(
                f"{name}: there is no feature {label!r}; it has "
                f"{', '.join(each.called for each in known) or 'none of spans'}"
            )
        return fitting[0]
    used = [each for each in known if _has_values(sentences, each)]
    used = used or [each for each in known if _has_values(sentences, each, "_")]
    spans = [each for each in used if not each.of_tokens] or used
    if not spans:
        raise ValueError(
            f"{name}: no layer has annotations; it has "
            f"{', '.join(each.called for each in known) or 'none of spans'}"
        )
    if len(used) > 1:
        others = ", ".join(each.called for each in used if each is not spans[0])
        warn(
            f"{name}: labels are those of {spans[0].called}; there are also {others}: "
            "label= (--label) names another"
        )
    return spans[0]


def _has_values(sentences: Any, feature: Feature, none: str = "_*") -> bool:
    """Whether a token has a value of a feature, other than what stands for none."""
    return any(
        cells[feature.column][:1] not in none
        for sentence in sentences
        for _, cells in sentence
    )


def _labels(column: list[str], feature: Feature) -> list[str | None]:
    """The labels of a sentence."""
    labels: list[str | None] = []
    before = None
    for cell in column:
        if cell == "_":
            labels.append(None if feature.of_tokens else "O")
            before = None
            continue
        first = _SEVERAL.split(cell, maxsplit=1)[0]
        found = _VALUE.fullmatch(first)
        written = first if found is None else found["value"]
        number = None if found is None else found["number"]
        value = feature.layer if written == "*" else _unescaped(written)
        if feature.of_tokens:
            labels.append(value)
            continue
        goes_on = number is not None and number == before
        labels.append(f"{'I' if goes_on else 'B'}-{value}")
        before = number
    return labels


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
