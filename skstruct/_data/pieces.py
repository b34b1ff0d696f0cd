"""Texts cut into pieces, the sequences that a tagger sees: lines, paragraphs or texts,
none too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .places import by_sequence
from .text import LINE, PARAGRAPH, Tokens, codes_of

if TYPE_CHECKING:
    from .alignment_report import Aligned


PIECES = "lines", "paragraphs", "texts"
"""From the shortest to the longest."""

FEW = 0.01
"""Share of the spans that a kind of pieces may cut to be taken by itself."""

_LEAST = {"lines": LINE, "paragraphs": PARAGRAPH, "texts": PARAGRAPH + 1}
"""What is before the first token of a piece, at least, unless it is the first of a
text.
"""
_SENTENCE_ENDS = codes_of(".!?…。！？｡؟۔।॥")


class Pieces(NamedTuple):
    """Pieces of n texts."""

    tokens: Tokens
    bounds: np.ndarray  # (P + 1,) int64: first token of each piece
    text: np.ndarray  # (P,) int64: which text a piece is of

    def of_text(self) -> np.ndarray:
        """(n + 1,) the first piece of each text."""
        return np.searchsorted(self.bounds, self.tokens.first)

    def sequences(self, layout: bool) -> list[list[Any]]:
        """The tokens of each piece, as a tagger reads them."""
        return by_sequence(self.tokens.words(layout), self.bounds)


def chosen(tokens: Tokens, aligned: Aligned, pieces: str) -> str:
    """The kind of pieces that ``pieces="auto"`` means: the shortest that cuts almost no
    span.

    Parameters
    ----------
    tokens : Tokens
    aligned : data.spans.Aligned
    pieces : str
        "auto", or one of `PIECES`.
    """
    if pieces != "auto":
        return pieces
    for kind in PIECES[:-1]:
        before = np.cumsum(_begins(tokens, kind))
        n_cut = np.count_nonzero(before[aligned.stop - 1] > before[aligned.start])
        if n_cut <= FEW * len(aligned.start):
            return kind
    return PIECES[-1]


def cut_texts(
    tokens: Tokens,
    pieces: str,
    max_length: int | None = None,
    aligned: Aligned | None = None,
) -> Pieces:
    """Cut texts into pieces.

    Parameters
    ----------
    tokens : Tokens
    pieces : str
        One of `PIECES`.
    max_length : int, optional
        Tokens of a piece; longer ones are cut in their second half where the text has
        its largest gap: at a blank line, a line break, behind a sentence, at a space.
    aligned : data.spans.Aligned, optional
        Spans, none of which is cut.

    Returns
    -------
    Pieces
    """
    n = len(tokens.start)
    free = np.ones(n + 1, np.bool_)  # whether a piece may begin at the token
    if aligned is not None:
        inside = np.zeros(n + 2, np.int64)  # differences, as spans do not overlap
        np.add.at(inside, aligned.start + 1, 1)
        np.add.at(inside, aligned.stop, -1)
        free = np.cumsum(inside)[: n + 1] == 0
    bounds = np.append(np.flatnonzero(_begins(tokens, pieces) & free[:n]), n)
    if max_length is not None and (np.diff(bounds) > max_length).any():
        gap = np.where(free[:n], _gaps(tokens), -1)
        pairs = zip(bounds.tolist(), bounds[1:].tolist())
        more = [cut for a, b in pairs for cut in _cuts(gap, a, b, max_length)]
        bounds = np.union1d(bounds, np.array(more, np.int64))
    return Pieces(
        tokens, bounds, np.searchsorted(tokens.first, bounds[:-1], side="right") - 1
    )


def _begins(tokens: Tokens, pieces: str) -> np.ndarray:
    """(N,) bool: where a piece begins."""
    begins = np.zeros(len(tokens.start) + 1, np.bool_)
    begins[tokens.first] = True
    return begins[:-1] | (tokens.before >= _LEAST[pieces])


def _gaps(tokens: Tokens) -> np.ndarray:
    """(N,) how well a text can be cut before each token."""
    gap = 2 * tokens.before.astype(np.int64)
    codes = codes_of(tokens.text)
    sentence = np.zeros(len(gap), np.bool_)
    last = codes[tokens.end[:-1] - 1]
    # "U.S." goes on, "。" does not.
    sentence[1:] = np.isin(last, _SENTENCE_ENDS) & ((gap[1:] > 0) | (last > 127))
    gap[sentence] = np.maximum(
        gap[sentence], 3
    )  # better than a space, worse than a line break
    return gap


def _cuts(gap: np.ndarray, a: int, b: int, max_length: int) -> Iterator[int]:
    """Where the piece of the tokens a ... b - 1 is cut; ``gap`` is -1 where it must not
    be.
    """
    while b - a > max_length:
        first = a + max(1, max_length // 2)
        window = gap[first : a + max_length + 1]
        cut = a + max_length - int(np.argmax(window[::-1]))  # the last of the best
        if gap[cut] < 0:
            later = np.flatnonzero(gap[cut:b] >= 0)
            if not later.size:
                return
            cut += int(later[0])
        yield cut
        a = cut
