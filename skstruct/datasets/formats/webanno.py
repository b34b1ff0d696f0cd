"""WebAnno TSV 3, which INCEpTION exports: one token per line, annotations in columns.

Lines ``#T_SP=LAYER|FEATURE`` name the columns. ``PER[1]`` is part of the span 1, a
value without a number a span of one token, ``_`` nothing, ``*`` a span without a value,
``A[1]|B[2]`` two spans. Labels are those of one feature, in the scheme BIO.

References
----------
R. Eckart de Castilho and others, "A web-based tool for the integrated annotation of
semantic and syntactic structures", LT4DH 2016.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..._core.user_warnings import warn
from ..._data.places import counted
from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Look, Rows, TokenFormat, marked, near
from .head import Head
from .source import peeked
from .text_files import filled_lines, numbered_lines

_FORMAT = re.compile(r"#FORMAT=WebAnno TSV 3(\.\d+)?\s*")

_FIRST = 20
"""Lines among which the format is named."""

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
        """The name in options."""
        return f"{self.layer}.{self.name}" if self.name else self.layer

    @property
    def of_tokens(self) -> bool:
        """Tell whether every token has a value."""
        return self.layer in _OF_TOKENS


class WebAnno(TokenFormat):
    """The entry of the table."""

    name = "webanno"
    description = "WebAnno TSV 3, as INCEpTION exports it; --label LAYER.FEATURE"
    options = frozenset(("label",))
    comment_mark = "#"
    special_case_of = ("columns", "segmented", "jsonl", "conllu")
    names_fields = True

    def look(self, head: Head) -> Look:
        """The first line says what it is."""
        for line in head.lines[:_FIRST]:
            if _FORMAT.fullmatch(line):
                return marked(f"a line is {line.strip()}")
        return near("it has #Text=") if _has_text(head) else NO

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with tokens and the labels of one feature."""
        with peeked(file, layout.encoding) as source:
            feature = None
            if with_labels:
                feature = _chosen(source.head(), layout.label)
            yield from _sentences(source, layout.encoding, feature, contents)

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle the feature; where a file has no annotations none is."""
        if layout.label is not None:
            return layout
        try:
            return replace(layout, label=_chosen(head, None).called or None)
        except ValueError:  # the reader says it, if it needs labels
            return layout

    def selected(
        self, sentences: list[tuple[list[tuple[int, str, bool]], Any]]
    ) -> Iterator[str]:
        """Yield the header, and the lines of some sentences."""
        header = [line for _, source in sentences[:1] for line in source]
        yield from (line + "\n" for line in header)
        yield "\n" * bool(header)
        others = [
            ([line for line in lines if not _of_header(line[1])], source)
            for lines, source in sentences
        ]
        yield from super().selected(others)


def _of_header(line: str) -> bool:
    return bool(_FORMAT.fullmatch(line) or _LAYER.fullmatch(line))


def _sentences(
    source: Any, encoding: str, feature: Feature | None, contents: Contents
) -> Iterator[Rows]:
    """Yield the sentences, with the labels of a feature, if there is one."""
    features: list[Feature] = []
    header: list[str] = []
    stacked = _LeftOut()
    parts = _LeftOut()
    tally = contents.lines
    with numbered_lines(source, encoding, tally=tally) as (name, lines):
        for rows in filled_lines(lines, tally):
            tokens: list[str] = []
            column: list[str] = []
            numbers: list[int] = []
            for number, line in rows:
                if line.startswith("#"):
                    features += _features(line, features)
                    header += [line] if _of_header(line) else []
                    tally.structure += 1
                    continue
                cells = line.split("\t")
                _check(cells, features, f"{name}, line {number}")
                cell = "_" if feature is None else cells[feature.column]
                if _PART.fullmatch(cells[0]):
                    parts.see(cell != "_", number)
                    tally.leave("parts of tokens", f"{name}, line {number}")
                    continue
                if cells[0].rpartition("-")[2] != str(len(tokens) + 1):
                    raise ValueError(
                        f"{name}, line {number}: expected token {len(tokens) + 1} of the "
                        f"sentence; found the number {cells[0]!r}"
                    )
                tokens.append(_unescaped(cells[2]))
                column.append(cell)
                numbers.append(number)
            tally.data += len(numbers)
            if not tokens:
                continue
            found: list[Any] = [tokens]
            if feature is not None:
                labels, others = _labels(column, feature)
                found.append(labels)
                stacked.see_all([numbers[at] for at in others])
            yield Rows(list(zip(*found)), numbers, source=header)
    called = "" if feature is None else feature.called
    stacked.tell(f"within or across others of {called}", name)
    parts.tell(f"of {called} on parts of tokens", name)


class _LeftOut:
    """Spans that are left out, and the line of the first."""

    def __init__(self) -> None:
        self.number = 0
        self.line = 0

    def see(self, is_one: bool, line: int) -> None:
        """Count one, if it is."""
        self.number += is_one
        if is_one and not self.line:
            self.line = line

    def see_all(self, lines: list[int]) -> None:
        """Count one in each of some lines."""
        for line in lines:
            self.see(True, line)

    def tell(self, what: str, name: str) -> None:
        """Warn, if there are any."""
        if self.number:
            n = counted(self.number, "span")
            warn(f"{name}: left out: {n} {what}, first line {self.line}")


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


def _chosen(head: Head, label: Any) -> Feature:
    """The feature that is asked for, or the first that has spans; others are named."""
    features: list[Feature] = []
    rows = []
    for line in head.lines:
        if line.startswith("#"):
            features += _features(line, features)
        else:
            rows.append(line.split("\t"))
    if not features:
        return Feature("", "", FIRST, True)  # the reader says what is missing
    known = [each for each in features if each.of_spans]
    has = ", ".join(each.called for each in known) or "none of spans"
    if label is not None:
        for each in known:
            if label in (each.called, each.name, each.layer):
                return each
        raise ValueError(f"{head.name}: there is no feature {label!r}; it has {has}")
    used = [each for each in known if _has_values(rows, each)]
    used = used or [each for each in known if _has_values(rows, each, "_")]
    if not used and (head.is_whole or not known):
        raise ValueError(f"{head.name}: no layer has annotations; it has {has}")
    used = used or known  # further down there may be some
    spans = [each for each in used if not each.of_tokens] or used
    if len(used) > 1:
        others = ", ".join(each.called for each in used if each is not spans[0])
        warn(
            f"{head.name}: labels are those of {spans[0].called}; there are "
            f"also {others}: choose one with label= (--label)"
        )
    return spans[0]


def _has_values(rows: Any, feature: Feature, none: str = "_*") -> bool:
    """Tell whether a token has a value of a feature, other than the sign for none."""
    c = feature.column
    return any(len(row) > c and row[c][:1] not in none for row in rows)


def _labels(column: list[str], feature: Feature) -> tuple[list[str | None], list[int]]:
    """The labels of a sentence, and the first tokens of spans that are within or across
    others: of these the longest count.
    """
    if feature.of_tokens:
        values = [_values(cell, feature) for cell in column]
        several = [t for t, found in enumerate(values) if len(found) > 1]
        return [found[0][1] if found else None for found in values], several
    spans = sorted(
        _runs(column, feature), key=lambda span: (span[0] - span[1], span[0])
    )
    labels: list[str | None] = ["O"] * len(column)
    left_out = []
    for start, end, value in spans:
        if any(label != "O" for label in labels[start:end]):
            left_out.append(start)
            continue
        labels[start:end] = [f"I-{value}"] * (end - start)
        labels[start] = f"B-{value}"
    return labels, sorted(left_out)


def _runs(column: list[str], feature: Feature) -> list[tuple[int, int, str]]:
    """The spans (start, end, value) of a sentence: what has one number goes on as long
    as it stands at each token.
    """
    found: list[tuple[int, int, str]] = []
    open_: dict[str, int] = {}  # number -> where its span stands in found
    for t, cell in enumerate(column):
        here = {}
        for number, value in _values(cell, feature):
            k = None if number is None else open_.get(number)
            if k is None:
                k = len(found)
                found.append((t, t + 1, value))
            else:
                found[k] = (found[k][0], t + 1, found[k][2])
            if number is not None:
                here[number] = k
        open_ = here
    return found


def _values(cell: str, feature: Feature) -> list[tuple[str | None, str]]:
    """The (number, value) of each annotation of a token."""
    if cell == "_":
        return []
    values = []
    for each in _SEVERAL.split(cell):
        found = _VALUE.fullmatch(each)
        written = each if found is None else found["value"]
        number = None if found is None else found["number"]
        value = feature.layer if written == "*" else _unescaped(written)
        values.append((number, value))
    return values


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
