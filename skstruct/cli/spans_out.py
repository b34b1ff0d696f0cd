"""Texts with spans, written as XML, as tokens, or with names replaced."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from .._data.lexicon import folded
from .._data.nested import overlapping_pairs
from .._data.places import by_sequence
from .._data.schemes import convert_scheme
from .._sklearn import innermost
from .common import CommandError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._data.spans import Span
    from .texts import TextRead


_NAME = re.compile(r"[^\W\d][\w.-]*")  # of an element of XML
_NOT_XML = re.compile(
    r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # characters, XML 1.0


WITHOUT_OVERLAP = ("xml", "conll", "replaced", "docbin")
"""Formats that hold no spans that overlap."""


def refuse_overlap(batch: list[Any], y: list[Any], format: str) -> None:
    """Raise if spans of a text overlap, as those of a model with several chains may."""
    if format not in WITHOUT_OVERLAP:
        return
    for text, spans in zip(batch, y):
        for one, two in overlapping_pairs(spans):
            raise CommandError(
                f"{text.place}: --write {format} holds no spans that overlap, as "
                f"{tuple(one)!r} and {tuple(two)!r} do; --write jsonl, brat and html do"
            )


def conll_lines(
    model: Any, batch: Sequence[TextRead], y: list[list[Span]]
) -> Iterator[str]:
    """Yield the lines of texts as columns: a token, and its label of the scheme BIO.

    Behind each line, paragraph or text, as the model sees sequences, a line is empty.
    """
    tagger = innermost(model).estimator
    pieces, labels = tagger._pieces_of([each.text for each in batch], y)
    words = by_sequence(pieces.tokens.words(layout=False), pieces.bounds)
    labels = convert_scheme(labels, tagger.scheme, "BIO")
    for i, tokens, of_tokens in zip(pieces.text.tolist(), words, labels):
        for token, label in zip(tokens, of_tokens):
            if token.split() != [token]:
                wrong = f"the token {token!r} holds white space, which ends columns"
                raise CommandError(f"{batch[i].place}: --write conll: {wrong}")
            yield f"{token}\t{label}\n"
        yield "\n"


class Placeholders:
    """Numbers of names: the same name of one type has one number, in all texts.

    Names are the same if they differ in case, width, normal form and white space alone.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def replaced(self, read: TextRead, spans: list[Span]) -> str:
        """Return a text, with a line feed at its end, in which ``[PER-1]`` and the like
        stand for spans.
        """
        types = {str(span.label) for span in spans} | self._numbers.keys()
        listed = "|".join(map(re.escape, sorted(types)))
        found = re.search(rf"\[(?:{listed})-\d+\]", read.text) if types else None
        if found is not None:
            wrong = f"the text holds {found[0]!r} itself, as a placeholder would be"
            raise CommandError(f"{read.place}: --write replaced: {wrong}")
        ends = [0, *(end for span in spans for end in span[:2]), len(read.text)]
        parts = [read.text[a:b] for a, b in pairwise(ends)]
        parts[1::2] = [
            self._placeholder(str(span.label), name)
            for span, name in zip(spans, parts[1::2])
        ]
        text = "".join(parts)
        return text if text.endswith("\n") else f"{text}\n"

    def _placeholder(self, label: str, name: str) -> str:
        known = self._numbers.setdefault(label, {})
        key = " ".join(map(folded, name.split()))
        return f"[{label}-{known.setdefault(key, len(known) + 1)}]"


def as_xml(text: str, spans: Any) -> str:
    """Return a text whose spans are elements of XML.

    Parameters
    ----------
    text : str
    spans : list of (Span, float or None)
        Spans and their probabilities. A label that is no name of an element becomes an
        attribute.
    """
    parts = []
    at = 0
    for (start, end, label), p in spans:
        name = label if _NAME.fullmatch(label) else "span"
        more = "" if name == label else f" label={quoteattr(label)}"
        more += "" if p is None else f' probability="{p:.6f}"'
        parts += [
            escape(text[at:start]),
            f"<{name}{more}>",
            escape(text[start:end]),
            f"</{name}>",
        ]
        at = end
    found = "".join([*parts, escape(text[at:])])
    if odd := _NOT_XML.search(found):
        warn(
            f"{text[:40]!r}: XML has no place for {odd[0]!r}, which is written as "
            "U+FFFD"
        )
        found = _NOT_XML.sub("\ufffd", found)
    return found if found.endswith("\n") else found + "\n"
