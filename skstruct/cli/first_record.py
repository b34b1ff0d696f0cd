"""What was understood of a file, said in two lines: how it is read and why, and its
first record.

Who sees numbers where words should stand, or spans that cut words, stops here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._data.elements import label_text
from .._data.inputs import flatten
from .._data.places import counted
from .common import tell

if TYPE_CHECKING:
    from .corpus import Corpus, Layout

_SHOWN = 12
"""Tokens, words or spans of the first record."""

_EXCERPT = 120


def tell_understood(corpus: Corpus, amount: str) -> None:
    """Say how a file was read that is to be learned, and show its first record.

    Parameters
    ----------
    corpus : Corpus
    amount : str
        How much there is in it, as "40 sentences, 900 tokens".
    """
    assert corpus.understood is not None
    layout, why, _ = corpus.understood
    labels = labels_in(corpus)
    more = ""
    if labels:
        more = ", " + counted(labels, "type" if corpus.format == "spans" else "label")
    how = f"{layout.describe()}{f' ({why})' if why else ''}"
    tell(f"read {amount}{more}: {how}")
    tell(f"first: {first_record(corpus.format, corpus.X, corpus.y)}")


def first_record(format: str, X: Any, y: Any) -> str:
    """Return one line that shows a sequence with its labels, words or spans: the first
    that has any.
    """
    pairs = list(zip(X, y))
    x, y = next((pair for pair in pairs if len(pair[1])), pairs[0])
    if format == "spans":
        text = _cut(" ".join(x[: 2 * _EXCERPT].split()))
        spans = [f"{x[s:e]!r} {label}" for s, e, label in list(y)[:_SHOWN]]
        return f"{text} | {', '.join(spans) or 'no span'}"
    if format == "segmented":
        words = ("/".join(w) if isinstance(w, tuple) else w for w in y[:_SHOWN])
        return " ".join(words) + (" …" if len(y) > _SHOWN else "")
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


def _cut(text: str) -> str:
    """Return a text, cut if it is too long for a line."""
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def labels_in(corpus: Corpus) -> int:
    """Return how many labels, or types of spans, there are; 0 of words."""
    if corpus.format == "segmented":
        return 0
    found = (each for each in flatten(corpus.y) if each is not None)
    last = (each if isinstance(each, str) else each[-1] for each in found)
    return len(set(last) - {None})


def tell_tagged(name: str, layout: Layout, lines: list[str]) -> None:
    """Say how a file was read that is tagged, and show the first record as written.

    Parameters
    ----------
    name : str
        Of the file.
    layout : Layout
    lines : list of str
        That were written for the first sentences, with their ends.
    """
    columns = [layout.format if layout.entry is None else layout.entry.name]
    if layout.tokens is not None:
        columns.append(f"tokens {','.join(map(str, layout.tokens))}")
    adds = getattr(layout.entry, "adds_column", False)
    if isinstance(layout.label, str) and not adds:
        columns.append(f"label to {layout.label}")
    why = f" ({layout.why})" if layout.why else ""
    cells: list[str] = []
    for line in lines:
        if not line.strip() and cells:
            break
        if line.strip():
            cells.append("/".join(line.split()) if "\t" in line else line.strip())
    more = " …" if len(cells) > _SHOWN else ""
    first = " | ".join(cells[:_SHOWN])
    tell(f"{name}: {', '.join(columns)}{why}; first: {_cut(first) or 'empty'}{more}")
