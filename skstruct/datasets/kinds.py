"""The kinds of corpus files: texts with spans, sequences of tokens, of words, and
trees.

A kind answers what depends on it: what sequences and their elements are called, what
is predicted of them, how one is shown in a line. Nothing else compares kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from .._data.elements import label_text
from .._data.inputs import LABELS, SPANS, TREES, WORDS, flatten
from .formats.entry import TEXTS, Format
from .formats.entry import WORDS as OF_WORDS

_SHOWN = 12
"""Tokens, words or spans of a sequence that is shown."""

_EXCERPT = 120
"""Characters of a text that is shown."""


class Kind(ABC):
    """The kind of a corpus file.

    Attributes
    ----------
    name : str
    task : str
        What models predict that learn from it; see `skstruct._data.inputs`.
    sequence, element : str
        What a sequence and its elements are called, in the singular.
    record : str
        What a sequence is called where it stands in the file.
    noted : str
        What is noted of a sequence, in the plural: labels, words or spans.
    label : str
        What a label is called.
    is_text : bool
        Whether a sequence is a text that models cut themselves.
    has_words : bool
        Whether words are predicted, which have no labels.
    has_spans : bool
        Whether spans of texts are.
    """

    name: ClassVar[str]
    task: ClassVar[str]
    sequence: ClassVar[str] = "sentence"
    element: ClassVar[str] = "token"
    record: ClassVar[str] = "sentence"
    noted: ClassVar[str] = "labels"
    label: ClassVar[str] = "label"
    is_text: ClassVar[bool] = False
    has_words: ClassVar[bool] = False
    has_spans: ClassVar[bool] = False

    def __repr__(self) -> str:
        return type(self).__name__

    @property
    def units(self) -> tuple[str, str]:
        """The names of sequences and their elements."""
        return self.sequence, self.element

    def labels_of(self, y: Iterable[Any]) -> set[Any]:
        """Return the different labels, or types of spans, of some sequences."""
        found = (each for each in flatten(list(y)) if each is not None)
        last = (each if isinstance(each, str) else each[-1] for each in found)
        return set(last) - {None}

    def sample(self, X: Iterable[Any], y: Iterable[Any]) -> str:
        """Return one line that shows the first sequence of which something is noted."""
        pairs = list(zip(X, y))
        return self.shown(*next((pair for pair in pairs if len(pair[1])), pairs[0]))

    @abstractmethod
    def shown(self, x: Any, y: Any) -> str:
        """Return one line that shows a sequence and what is noted of it."""


class Tokens(Kind):
    """Sequences of tokens, each with a label."""

    name = "tokens"
    task = LABELS

    def shown(self, x: Any, y: Any) -> str:
        """Return tokens, each with its cells and its label."""
        cells: list[str] = []
        for token, label in list(zip(x, y))[:_SHOWN]:
            if isinstance(token, dict):
                token = next(iter(token), "")
            parts = [*(token if isinstance(token, tuple) else (token,))]
            parts += (
                label
                if isinstance(label, tuple)
                else ("_" if label is None else label_text(label),)
            )
            cells.append("/".join(map(str, parts)))
        return " ".join(cells) + (" …" if len(x) > _SHOWN else "")


class Trees(Tokens):
    """Sequences of tokens, each with a head and the label of the arc to it."""

    name = "trees"
    task = TREES


class Words(Kind):
    """Texts without spaces, each with its words."""

    name = "words"
    task = WORDS
    element = "word"
    record = "line"
    noted = "words"
    is_text = True
    has_words = True

    def labels_of(self, y: Iterable[Any]) -> set[Any]:
        """Return none: words have no labels."""
        return set()

    def shown(self, x: Any, y: Any) -> str:
        """Return the words, with their tags if they have some."""
        words = ("/".join(w) if isinstance(w, tuple) else w for w in y[:_SHOWN])
        return " ".join(words) + (" …" if len(y) > _SHOWN else "")


class Texts(Kind):
    """Texts, each with labelled spans."""

    name = "texts"
    task = SPANS
    sequence = "text"
    element = "span"
    record = "text"
    noted = "spans"
    label = "type"
    is_text = True
    has_spans = True

    def shown(self, x: Any, y: Any) -> str:
        """Return the beginning of the text, and its first spans."""
        text = excerpt(" ".join(x[: 2 * _EXCERPT].split()))
        spans = [f"{x[s:e]!r} {label}" for s, e, label in list(y)[:_SHOWN]]
        return f"{text} | {', '.join(spans) or 'no span'}"


TOKENS = Tokens()
KINDS: dict[str, Kind] = {
    each.name: each for each in (TOKENS, Trees(), Words(), Texts())
}
"""All kinds, by name."""

_OF_FORMATS = {OF_WORDS: "words", TEXTS: "texts"}


def kind_of(entry: Format, label: Any = None) -> Kind:
    """Return what files of a format hold.

    Parameters
    ----------
    entry : Format
    label : int, str or tuple of these, optional
        Column or field of what is predicted: two of them are a tree's.
    """
    if isinstance(label, tuple) and len(label) > 1:
        return KINDS["trees"]
    return KINDS[_OF_FORMATS.get(entry.kind, "tokens")]


def excerpt(text: str) -> str:
    """Return a text, cut if it is too long for a line."""
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
