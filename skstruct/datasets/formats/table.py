"""The table of formats: which there are, and which one a file has.

A new format is a file beside this one and a line here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from .bars import Bars
from .brackets import Brackets
from .brat import Brat
from .columns import Columns
from .conllu import Conllu
from .conllu_plus import ConlluPlus, Cupt
from .crfsuite import Crfsuite
from .csv_spans import CsvSpans
from .csv_tokens import CsvTokens
from .dygie import Dygie
from .entry import TEXTS, TOKENS, WORDS, Format, Look, TextFormat, Verdict
from .gliner import Gliner
from .head import Head
from .hf_pipeline import HfPipeline
from .json_lines import Doccano, JsonLines
from .json_tokens import JsonTokens
from .json_tools import (
    Dataturks,
    GroundTruth,
    Kili,
    Presidio,
    PubAnnotation,
    Rasa,
    SpacyDoc,
    Vertex,
)
from .kytea import Kytea
from .label_studio import LabelStudio
from .mecab import Mecab
from .ner_annotator import NerAnnotator
from .not_read import advice_for, hint_for
from .ontonotes import OntoNotes
from .parallel import Parallel
from .prodigy import Prodigy, ProdigyDecisions
from .pubtator import PubTator
from .segmented import Segmented
from .spacy_pairs import SpacyPairs
from .webanno import WebAnno
from .word_tag import SegmentedTags, WordTag
from .xml_texts import XmlTexts

FORMATS: tuple[Format, ...] = (
    Columns(),
    Conllu(),
    Crfsuite(),
    Segmented(),
    JsonLines(),
    Doccano(),
    Prodigy(),
    LabelStudio(),
    SpacyPairs(),
    Brat(),
    JsonTokens(),
    CsvTokens(),
    CsvSpans(),
    NerAnnotator(),
    ProdigyDecisions(),
    Presidio(),
    HfPipeline(),
    Rasa(),
    PubAnnotation(),
    SpacyDoc(),
    Dataturks(),
    Vertex(),
    GroundTruth(),
    Kili(),
    PubTator(),
    Brackets(),
    XmlTexts(),
    WebAnno(),
    ConlluPlus(),
    Cupt(),
    OntoNotes(),
    Gliner(),
    Dygie(),
    WordTag(),
    SegmentedTags(),
    Bars(),
    Kytea(),
    Mecab(),
    Parallel(),
)
"""All formats."""

BY_NAME = {each.name: each for each in FORMATS}

_KINDS = {TOKENS: "tokens and labels", WORDS: "words", TEXTS: "texts and spans"}


class Recognised(NamedTuple):
    """The format that a file has, and what was seen of it."""

    format: Format
    look: Look


class UnknownFormat(ValueError):
    """Two formats fit a file, or none does."""


class SeveralFormats(UnknownFormat):
    """Two formats fit a file."""


def names(kind: str) -> tuple[str, ...]:
    """Return the names of the formats of a kind."""
    return tuple(each.name for each in FORMATS if each.kind == kind)


def text_formats() -> dict[str, TextFormat]:
    """Return the formats of texts with spans, by name."""
    return {each.name: each for each in FORMATS if isinstance(each, TextFormat)}


def looks(head: Head, among: Iterable[Format] = FORMATS) -> list[Recognised]:
    """Return what each format says of the beginning of a file."""
    return [Recognised(each, each.look(head)) for each in among]


def taken(found: Iterable[Recognised]) -> list[Recognised]:
    """Return the formats that a file may be read as: one, if all is well.

    A mark counts more than none, and a special case is taken for what it is.
    """
    fitting = [each for each in found if each.look.is_yes]
    sure = [each for each in fitting if each.look.is_sure]
    rest = sure or fitting
    general = {name for each in rest for name in each.format.special_case_of}
    return [each for each in rest if each.format.name not in general]


def recognised(
    head: Head, among: Iterable[Format] = FORMATS, for_model: bool = False
) -> Recognised | None:
    """Return the format of a file and why; None if none fits.

    ``for_model`` says that a model reads it, which knows how.

    Raises
    ------
    UnknownFormat
        If two formats fit, or it is one that is known and not read.
    """
    advice = advice_for(head, for_model)
    if advice is not None:
        raise UnknownFormat(advice)
    found = taken(looks(head, among))
    if not found:
        return None
    if len(found) > 1:
        either = " and ".join(f"{f.name} ({look.seen})" for f, look in found)
        named = " or ".join(f"--format {f.name}" for f, _ in found)
        raise SeveralFormats(
            f"{head.name}: looks like {either}; choose one with {named}"
        )
    return found[0]


KEYS = frozenset(("records", "start", "end", "label", "length", "words"))
"""Options of annotated texts that name a key of records."""


def has_own_keys(head: Head, options: Iterable[str]) -> bool:
    """Tell whether options name keys of records that are of no format that has these
    options, whatever the records look like: then they are read as "jsonl", the one
    format with keys of any names.
    """
    named = KEYS.intersection(options)
    if not named or not head.objects:
        return False
    return not any(
        isinstance(entry, TextFormat) and named <= entry.options
        for entry, _ in taken(looks(head))
    )


def recognised_or_open(head: Head) -> Recognised | None:
    """Return the format of a file for a model; None if none fits, or several, of which
    the model then says one.
    """
    try:
        return recognised(head, for_model=True)
    except SeveralFormats:
        return None


def unknown(head: Head, among: Iterable[Format] = FORMATS) -> UnknownFormat:
    """Return the error for a file that no format fits: what was seen, what to write."""
    if not head.lines and not head.records:
        return UnknownFormat(f"{head.name}: the file is empty")
    close = [each for each in looks(head, among) if each.look.verdict is Verdict.NEAR]
    told = "".join(
        f"; it could be {each.name} ({look.seen}): "
        + " ".join(filter(None, (f"--format {each.name}", look.options)))
        for each, look in close[:2]
    )
    if not told:
        told = f"; name it with --format: {', '.join(each.name for each in among)}"
    return UnknownFormat(
        f"{head.name}: cannot tell the format from the content: {head.seen()}{told}"
        f"{hint_for(head)}"
    )


def refuse_options(format: Format, given: Collection[str]) -> None:
    """Raise a ValueError if a format lacks an option that is given.

    Parameters
    ----------
    format : Format
    given : collection of str
        Names of options, as of `read_spans`.
    """
    of_texts = format.kind == TEXTS
    for name in sorted(given):
        if name not in format.options:
            having = formats_with(name)
            alike = [
                each for each in having if (BY_NAME[each].kind == TEXTS) == of_texts
            ]
            raise ValueError(
                f"{name} is for {', '.join(alike or having)}, but format is "
                f"{format.name!r}"
            )


def formats_with(option: str) -> tuple[str, ...]:
    """Return the names of the formats that have an option."""
    return tuple(each.name for each in FORMATS if option in each.options)


def described() -> str:
    """Return the formats and what they are, for ``--help``: a line each."""
    return "\n".join(f"  {each.name}: {each.description}" for each in FORMATS)


_MARKUP = re.compile(r"([|*<\[\]])")
"""Characters that Markdown would take for its own."""


def markdown() -> str:
    """Return the table of ``docs/guide-files.md``."""
    rows = ["| format | what | holds | written | options |", "|---|---|---|---|---|"]
    for each in FORMATS:
        cells: tuple[Any, ...] = (
            f"`{each.name}`",
            _MARKUP.sub(r"\\\1", each.description)
            + (f" ({', '.join(each.endings)})" if each.endings else ""),
            _KINDS[each.kind],
            "yes" if each.is_written else "",
            ", ".join(sorted(each.options)),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
