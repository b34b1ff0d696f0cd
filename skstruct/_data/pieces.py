"""Texts cut into pieces, the sequences that a tagger sees: lines, paragraphs or texts,
none too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .alignment_report import ACROSS
from .places import by_sequence
from .shared import SharedCorpus
from .text import LINE, PARAGRAPH, Tokens, codes_of

if TYPE_CHECKING:
    from .alignment_report import Aligned
    from .corpus import TokenCorpus
    from .known_spans import TokenRanges


PIECES = "lines", "paragraphs", "texts"
"""From the shortest to the longest."""

FEW = 0.01
"""Share of the spans that a kind of pieces may cut to be taken by itself."""

MOST_TOKENS = 50_000
"""Tokens of a piece in prediction, which bounds its memory: some hundred pages without
the break that `pieces` asks for. A span there may be as long.
"""

MARGIN = 2
"""Tokens between a span and a cut that ``max_length`` makes: as far as the presets of
templates look. Spans of clauses end where
texts have their gaps: were these cut, a tagger would learn that spans begin and end
where sequences do, which they do not in prediction.
"""

_LEAST = {"lines": LINE, "paragraphs": PARAGRAPH, "texts": PARAGRAPH + 1}
"""The least gap before the first token of a piece, unless it is the first piece of a
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

    def sequences(self, layout: bool, reader: Any = None) -> Any:
        """Return the tokens of each piece, as a tagger reads them, in lists.

        Of shared texts a ``reader`` that takes a corpus gets the same one each time, in
        which what was made for one reader is kept.
        """
        kept = self.tokens.kept
        if kept is None:
            return by_sequence(self.tokens.words(layout), self.bounds)

        def cut() -> TokenCorpus:
            words = kept.get(layout, lambda: self.tokens.words(layout))
            return SharedCorpus.of_lists(by_sequence(words, self.bounds))

        corpus = kept.get((self.bounds.tobytes(), layout), cut)
        # One sequence alone has a short way through taggers, as a list.
        takes = len(self.text) > 1 and getattr(reader, "accepts_corpus", False)
        return corpus if takes else corpus.lists()


def chosen(tokens: Tokens, aligned: Aligned, pieces: str) -> str:
    """Return the kind of pieces that ``pieces="auto"`` means: the shortest that cuts
    almost no span.

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
        n_cut = np.count_nonzero(_are_cut(tokens, aligned, kind))
        if n_cut <= FEW * len(aligned.start):
            return kind
    return PIECES[-1]


def _are_cut(tokens: Tokens, aligned: Aligned, kind: str) -> np.ndarray:
    """(R,) bool: which spans no piece holds that is cut without looking at spans."""
    before = np.cumsum(_begins(tokens, kind))
    return before[aligned.stop - 1] > before[aligned.start]


def marked_across(tokens: Tokens, aligned: Aligned, kind: str) -> Aligned:
    """Note the spans that stand in several pieces: training keeps their pieces in one,
    and no prediction can hold them.
    """
    too_long = aligned.stop - aligned.start > MOST_TOKENS
    problem = aligned.problem.copy()
    problem[aligned.of[_are_cut(tokens, aligned, kind) | too_long]] = ACROSS
    return aligned._replace(problem=problem)


def cut_texts(
    tokens: Tokens,
    pieces: str,
    max_length: int | None = None,
    aligned: Aligned | TokenRanges | None = None,
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
    aligned : Aligned or TokenRanges, optional
        Spans, none of which is cut; nor are, by ``max_length``, the `MARGIN` tokens on
        either side, so that pieces may be longer.

    Returns
    -------
    Pieces
    """
    n = len(tokens.start)
    free = _outside(n, aligned, 0)
    bounds = np.append(np.flatnonzero(_begins(tokens, pieces) & free), n)
    if max_length is not None and (np.diff(bounds) > max_length).any():
        margin = min(MARGIN, max_length // 8)
        gap = np.where(_outside(n, aligned, margin), _gaps(tokens), -1)
        pairs = zip(bounds.tolist(), bounds[1:].tolist())
        more = [cut for a, b in pairs for cut in _cuts(gap, a, b, max_length)]
        bounds = np.union1d(bounds, np.array(more, np.int64))
    return Pieces(
        tokens, bounds, np.searchsorted(tokens.first, bounds[:-1], side="right") - 1
    )


def _outside(n: int, aligned: Aligned | TokenRanges | None, margin: int) -> np.ndarray:
    """(n,) bool: whether a piece that begins at the token cuts no span, and leaves
    ``margin`` tokens on either side of one.
    """
    inside = np.zeros(n + 1, np.int64)  # differences: +1 where a range begins
    if aligned is not None:
        np.add.at(inside, np.maximum(aligned.start + 1 - margin, 0), 1)
        np.add.at(inside, np.minimum(aligned.stop + margin, n), -1)
    return np.cumsum(inside[:n]) == 0


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
    """Yield where the piece of the tokens a ... b - 1 is cut; ``gap`` is -1 where it
    must not be.
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
