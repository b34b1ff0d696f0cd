"""A description in two lines of how a file was read: how it is read and why, and its
first record.

Who sees numbers where words should stand, or spans that cut words, stops here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._data.places import counted
from ..datasets.kinds import excerpt
from .common import tell

if TYPE_CHECKING:
    from .corpus import Corpus, Layout

_SHOWN = 12
"""Tokens of the first record."""


def tell_understood(corpus: Corpus, amount: str) -> None:
    """Say how a file was read that is to be learned, and show its first record.

    Parameters
    ----------
    corpus : Corpus
    amount : str
        How much there is in it, as "40 sentences, 900 tokens".
    """
    layout = corpus.layout
    assert layout is not None
    why = corpus.why
    labels = len(corpus.kind.labels_of(corpus.y))
    more = ""
    if labels:
        more = ", " + counted(labels, corpus.kind.label)
    how = f"{layout.describe()}{f' ({why})' if why else ''}"
    tell(f"read {amount}{more}: {how}")
    tell(f"first: {corpus.kind.sample(corpus.X, corpus.y)}")


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
    columns = [layout.entry.name]
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
    tell(f"{name}: {', '.join(columns)}{why}; first: {excerpt(first) or 'empty'}{more}")
