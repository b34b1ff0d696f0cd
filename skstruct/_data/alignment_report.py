"""The fate of a user's spans in training: aligned with tokens, written as labels,
reported.

What happens to a span whose edge is inside of a token, and to one that white space, a
duplicate or another span leaves no token, is decided here, once, and noted for the
report, which can be read, printed and sorted.
"""

from __future__ import annotations

import html
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .places import PlaceError, counted, numbered, place
from .schemes import check_scheme, write_spans
from .spans import Span, trimmed

if TYPE_CHECKING:
    from .spans import Given
    from .text import Tokens


PROBLEMS = (
    "none",
    "trimmed",
    "empty",
    "duplicate",
    "overlap",
    "moved",
    "unknown",
    "dropped",
    "crowded",
    "across",
)
NONE, TRIMMED, EMPTY, DUPLICATE, OVERLAP, MOVED, UNKNOWN, DROPPED, CROWDED, ACROSS = (
    range(10)
)
"""The changes of a span: numbers of :data:`PROBLEMS`."""

SHOWN = 20
"""Changed spans that are printed."""


class Aligned(NamedTuple):
    """The spans of n texts as tokens; of S spans, R are left."""

    problem: np.ndarray  # (S,) uint8: NONE ... ACROSS; NONE where the label is None
    of: np.ndarray  # (R,) int64: which of the S, by place
    start: np.ndarray  # (R,) int64: first token
    stop: np.ndarray  # (R,) int64: behind the last token
    unknown: np.ndarray  # (N,) bool: whether the label of a token is not known


class _Places:
    """The spans of a corpus while they are aligned; places count code points of the
    joined texts.
    """

    def __init__(self, tokens: Tokens, given: Given) -> None:
        self.tokens = tokens
        self.given = given
        start, end, self.shift = given.places(tokens.offset)
        self.start, self.end = trimmed(tokens.text, start, end)  # (S,)
        self.lo = np.searchsorted(
            tokens.end, self.start, side="right"
        )  # (S,) first token touched
        self.hi = np.maximum(np.searchsorted(tokens.start, self.end), self.lo)
        self.hi[self.start == self.end] = self.lo[self.start == self.end]
        self.labelled = np.array(
            [span.label is not None for span in given.spans], np.bool_
        )
        self.problem = np.where(
            (self.start != start) | (self.end != end), TRIMMED, NONE
        ).astype(np.uint8)
        self.problem[self.hi == self.lo] = EMPTY

    def refuse(self, s: int, wrong: str) -> NoReturn:
        """Raise for the span s."""
        raise PlaceError(
            *place(self.given.first, s), f"{tuple(self.given.spans[s])!r} {wrong}", "y"
        )

    def left(self) -> np.ndarray:
        """Labelled spans with a token, by place, without duplicates."""
        found = np.flatnonzero(self.labelled & (self.hi > self.lo))
        label, _ = numbered([self.given.spans[s].label for s in found])
        order = np.lexsort((label, self.end[found], self.start[found]))
        found = found[order]
        label = label[order]
        keys = np.stack([self.start[found], self.end[found], label])
        same = np.zeros(len(found), np.bool_)
        same[1:] = (keys[:, 1:] == keys[:, :-1]).all(axis=0)
        self.problem[found[same]] = DUPLICATE
        return found[~same]


def align_spans(
    tokens: Tokens, given: Given, align: str = "nearest", overlap: str = "error"
) -> Aligned:
    """Return what the spans of texts are in tokens.

    Parameters
    ----------
    tokens : _data.text.Tokens
    given : Given
        Of the same texts.
    align, overlap : str
        See ``_taggers.span_tagger.SpanTagger``.

    Returns
    -------
    Aligned

    Raises
    ------
    ValueError
        Under ``align="error"`` and ``overlap="error"``; the message names the place.
    """
    places = _Places(tokens, given)
    if (
        align == "error"
        and (none := np.flatnonzero(places.labelled & (places.problem == EMPTY))).size
    ):
        places.refuse(none[0], "holds no token")
    left = _apart(places, places.left(), overlap)
    lo = places.lo[left]
    hi = places.hi[left]
    cuts = tokens.start[lo] < places.start[left], tokens.end[hi - 1] > places.end[left]
    cut = cuts[0] | cuts[1]
    unknown = np.zeros(
        len(tokens.start) + 1, np.int64
    )  # differences: +1 where a range begins, -1 behind it
    if align == "error" and cut.any():
        _refuse_cut(places, left, cuts)
    if align == "nearest":
        sizes = tokens.end - tokens.start
        out = [
            2 * _covered(places, left, t) < sizes[t] for t in (lo, hi - 1)
        ]  # less than half is in the span
        lo = lo + out[0]
        hi = hi - out[1]
    elif align == "contract":
        lo = lo + cuts[0]
        hi = hi - cuts[1]
    elif align == "unknown":
        hi = np.where(cut, lo, hi)
    gone = hi <= lo
    places.problem[left[cut]] = MOVED
    places.problem[left[gone]] = DROPPED if align == "contract" else UNKNOWN
    not_known = ~places.labelled
    if align != "contract":
        not_known[left[gone]] = True
    np.add.at(unknown, places.lo[not_known], 1)
    np.add.at(unknown, places.hi[not_known], -1)
    left = left[~gone]
    lo = lo[~gone]
    hi = hi[~gone]
    if (lo[1:] < hi[:-1]).any():
        left, lo, hi = _one_for_each_token(places, left, lo, hi)
    places.problem[~places.labelled] = NONE
    return Aligned(places.problem, left, lo, hi, np.cumsum(unknown[:-1]) > 0)


def _apart(places: _Places, left: np.ndarray, overlap: str) -> np.ndarray:
    """Return the spans, by place, of which no two overlap."""
    start = places.start[left]
    end = places.end[left]
    furthest = np.maximum.accumulate(end)
    clash = np.flatnonzero(start[1:] < furthest[:-1]) + 1
    if not clash.size:
        return left
    if overlap != "longest":
        k = clash[0]
        other = places.given.spans[left[np.argmax(end[:k])]]
        advice = '; overlap="longest" keeps the longer of two'
        if overlap == "by-type":
            advice = (
                "; both types share a chain of labels, and others are learned by the fit "
                "of a SpanTagger alone: put what mixes models inside of it" + advice
            )
        elif other.label != places.given.spans[left[k]].label:
            advice += ', overlap="by-type" learns both'
        places.refuse(left[k], f"overlaps {tuple(other)!r}{advice}")
    keep = np.zeros(len(left), np.bool_)
    free = np.ones(furthest[-1], np.bool_)  # characters in no span that is kept
    for k in np.lexsort((left, start, start - end)).tolist():  # the longest first
        inside = free[start[k] : end[k]]
        keep[k] = inside.all()
        if keep[k]:
            inside[:] = False
    places.problem[left[~keep]] = OVERLAP
    return left[keep]


def _refuse_cut(
    places: _Places, left: np.ndarray, cuts: tuple[np.ndarray, np.ndarray]
) -> NoReturn:
    """Raise for the first span with an edge inside of a token."""
    tokens = places.tokens
    k = int(np.argmax(cuts[0] | cuts[1]))
    s = left[k]
    t, how = (places.lo[s], "begins") if cuts[0][k] else (places.hi[s] - 1, "ends")
    span = places.given.spans[s]
    shift = int(places.shift[s])
    covered = tokens.text[span.start + shift : span.end + shift]
    token = tokens.text[tokens.start[t] : tokens.end[t]]
    wrong = (
        f'is {covered!r} and {how} inside of the token {token!r}; align="nearest" '
        "takes whole tokens"
    )
    places.refuse(s, wrong)


def _covered(places: _Places, spans: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return how many characters of the tokens t are in the spans."""
    tokens = places.tokens
    return np.minimum(places.end[spans], tokens.end[t]) - np.maximum(
        places.start[spans], tokens.start[t]
    )


def _one_for_each_token(
    places: _Places, left: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a token that two spans claim to the one with more of its characters.

    Spans come by place.
    """
    lo = lo.copy()
    hi = hi.copy()
    kept: list[int] = []
    for k in range(len(left)):
        # No two spans share characters: what neighbours both claim is one token.
        while kept and hi[k] > lo[k] and hi[kept[-1]] > lo[k]:
            j = kept[-1]
            more = _covered(places, left[k], lo[k]) > _covered(places, left[j], lo[k])
            places.problem[left[j if more else k]] = CROWDED
            if more:
                hi[j] -= 1
                if hi[j] == lo[j]:
                    kept.pop()
            else:
                lo[k] += 1
        if hi[k] > lo[k]:
            kept.append(k)
    return left[kept], lo[kept], hi[kept]


def labels_of(
    aligned: Aligned, given: Given, bounds: np.ndarray, scheme: str
) -> list[list[str | None]]:
    """Return labels of the tokens of pieces.

    Parameters
    ----------
    aligned, given
    bounds : ndarray of shape (P + 1,), int64
        First token of each piece; none cuts a span.
    scheme : str

    Returns
    -------
    list of lists of str or None
    """
    name = check_scheme(scheme)
    pieces: list[list[str | None]] = [["O"] * n for n in np.diff(bounds).tolist()]
    which = np.searchsorted(bounds, aligned.start, side="right") - 1
    places = (
        each.tolist()
        for each in (which, aligned.start - bounds[which], aligned.stop - bounds[which])
    )
    kinds = [given.spans[s].label for s in aligned.of.tolist()]
    for p, spans in groupby(zip(*places, kinds), itemgetter(0)):
        chunks = [span[1:] for span in spans]
        pieces[p] = list(write_spans(chunks, len(pieces[p]), name))
    unknown = np.flatnonzero(aligned.unknown)
    which = np.searchsorted(bounds, unknown, side="right") - 1
    for p, t in zip(which.tolist(), (unknown - bounds[which]).tolist()):
        if pieces[p][t] == "O":
            pieces[p][t] = None
    return pieces


# --------------------------------------------------------------------------------------
# The report
# --------------------------------------------------------------------------------------
def counts_of(given: Given, aligned: Aligned) -> dict[str, int]:
    """Return the ``counts`` of an :class:`AlignmentReport`."""
    labelled = [span.label is not None for span in given.spans]
    numbers = np.bincount(aligned.problem[labelled], minlength=len(PROBLEMS)).tolist()
    return {"spans": sum(numbers), **dict(zip(PROBLEMS[1:], numbers[1:]))}


class AlignmentReport:
    """A report of what becomes of spans in training; ``print`` lists those that change,
    notebooks show a table.

    Attributes
    ----------
    counts : dict of str to int
        "spans": those with a label; and how many of them were "trimmed", "empty",
        "duplicate", "overlap", "moved", "unknown", "dropped", "crowded" and "across".
        Each span counts once, as the last of these that fits. What is "across" several
        lines or paragraphs, the pieces of texts, is learned and never predicted.
    reachable : float
        Share of the spans, duplicates aside, that are whole tokens of one piece as they
        are, white space at their ends aside: predictions can equal no others.
    long_pieces : int
        Pieces that ``max_length`` cuts, for training alone, at places outside of spans.
    moves : list of (text, position, span, problem, result)
        The spans that change: the number of the text, the place in its list, the span
        as it was given, what is wrong with it (one of the names in ``counts``), and the
        span it becomes, or None.
    """

    def __init__(
        self, tokens: Tokens, given: Given, aligned: Aligned, long_pieces: int = 0
    ) -> None:
        self.long_pieces = long_pieces
        self.counts = counts_of(given, aligned)
        distinct = self.counts["spans"] - self.counts["duplicate"]
        changed = (
            sum(self.counts[name] for name in PROBLEMS[TRIMMED + 1 :])
            - self.counts["duplicate"]
        )
        self.reachable = 1.0 - changed / distinct if distinct else 1.0
        shift = tokens.offset[
            np.searchsorted(given.first, aligned.of, side="right") - 1
        ]
        start = tokens.start[aligned.start] - shift
        end = tokens.end[aligned.stop - 1] - shift
        result = dict(zip(aligned.of.tolist(), zip(start.tolist(), end.tolist())))
        self._tokens = tokens
        self.moves: list[tuple[int, int, Span, str, Span | None]] = []
        for s in np.flatnonzero(aligned.problem).tolist():
            span = given.spans[s]
            problem = PROBLEMS[aligned.problem[s]]
            found = None
            if s in result:
                found = Span(result[s][0], result[s][1], span.label)
            self.moves.append((*place(given.first, s), span, problem, found))

    def _words(self, text: int, span: Span | None) -> str:
        """Return what a span covers, or what a result of None says."""
        if span is None:
            return "nothing"
        shift = int(self._tokens.offset[text])
        return (
            f"{tuple(span)!r} "
            f"{self._tokens.text[shift + span.start : shift + span.end]!r:.60}"
        )

    def _shown(self) -> tuple[list[tuple[Any, ...]], list[str]]:
        """Return the cells of the first changes, and in a list how many there are
        besides.
        """
        rows = [
            (
                text,
                position,
                problem,
                self._words(text, span),
                self._words(text, result),
            )
            for text, position, span, problem, result in self.moves[:SHOWN]
        ]
        n = len(self.moves) - len(rows)
        return rows, [f"{n:,} more"] if n else []

    def summary(self) -> str:
        """Return how many spans there are, and what changes, in one sentence."""
        changed = [
            f"{n:,} {name}" for name, n in self.counts.items() if n and name != "spans"
        ]
        found = (
            f"{self.counts['spans']:,} spans, {self.reachable:.1%} of them whole tokens"
        )
        text = f"{found}; {', '.join(changed) or 'none changes'}"
        if self.long_pieces:
            pieces = counted(self.long_pieces, "long piece")
            text += f"; {pieces} cut for training (max_length), outside of spans"
        return text

    def __str__(self) -> str:
        rows, more = self._shown()
        lines = ["text {}, position {}: {}: {} -> {}".format(*row) for row in rows]
        return "\n  ".join([self.summary(), *lines, *more])

    def __repr__(self) -> str:
        return f"<AlignmentReport: {self.summary()}>"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each change.

        Columns are ``text``, ``position``, ``start``, ``end``, ``label``, ``problem``,
        and ``new_start`` and ``new_end``, which are missing where nothing is left.
        """
        import pandas

        names = "text position start end label problem new_start new_end".split()
        rows = [
            (i, k, *span, problem, *(new or (None, None))[:2])
            for i, k, span, problem, new in self.moves
        ]
        frame = pandas.DataFrame(rows, columns=names)
        return frame.astype({"new_start": "Int64", "new_end": "Int64"})

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>"
            for name in ("text", "position", "problem", "span", "becomes")
        )
        rows, more = self._shown()
        cells = [
            "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row)
            for row in rows
        ]
        table = (
            f"<table><tr>{head}</tr><tr>{'</tr><tr>'.join(cells)}</tr></table>"
            if rows
            else ""
        )
        rest = "".join(f"<p>{text}</p>" for text in more)
        return f"<div><b>{html.escape(self.summary())}</b>{table}{rest}</div>"
