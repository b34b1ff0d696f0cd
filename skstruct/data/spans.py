"""Spans of characters: checked, aligned with tokens, and written as labels.

What happens to a span whose edge is inside of a token, and to one that white space, a duplicate or another
span leaves no token, is decided here, once, and noted for `data.alignment_report`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .inputs import PlaceError, as_sequences, describe, lengths_of, offsets_of
from .places import by_sequence
from .schemes import spans_to_labels
from .text import BREAK, classes_of, codes_of, joined

PROBLEMS = "none", "trimmed", "empty", "duplicate", "overlap", "moved", "unknown", "dropped", "crowded"
NONE, TRIMMED, EMPTY, DUPLICATE, OVERLAP, MOVED, UNKNOWN, DROPPED, CROWDED = range(9)
"""What was changed of a span: numbers of :data:`PROBLEMS`."""

CONVERTS = ": skstruct.datasets.from_utf16 converts"
"""What errors advise where offsets could count UTF-16 units."""


class Span(NamedTuple):
    """A labelled part of a text, ``text[start:end]``; it equals the tuple of its three parts.

    Attributes
    ----------
    start, end : int
        In code points, as Python counts the characters of a str; ``end`` is exclusive.
    label : str or None
        None: the part is not annotated, and may hold anything.

    Examples
    --------
    >>> from skstruct import Span
    >>> span = Span(0, 3, "PER")
    >>> "Ann Lee"[span.start : span.end], span == (0, 3, "PER")
    ('Ann', True)
    """

    start: int
    end: int
    label: str | None


class Given(NamedTuple):
    """The spans of n texts, checked."""

    spans: list  # (S,) Span, as they were given
    first: np.ndarray  # (n + 1,) int64: first span of each text

    def places(self, offset):
        """(S,) start and end of spans in the joined texts, and where their texts begin (``offset``) there."""
        shift = np.repeat(offset[:-1], np.diff(self.first))
        start, end = (np.fromiter((s[k] for s in self.spans), np.int64, len(shift)) + shift for k in (0, 1))
        return start, end, shift

    def by_text(self):
        """For each text the list of its spans."""
        return by_sequence(self.spans, self.first)


class Aligned(NamedTuple):
    """The spans of n texts as tokens; of S spans, R are left."""

    problem: np.ndarray  # (S,) uint8: NONE ... CROWDED; NONE where the label is None
    of: np.ndarray  # (R,) int64: which of the S, by place
    start: np.ndarray  # (R,) int64: first token
    stop: np.ndarray  # (R,) int64: behind the last token
    unknown: np.ndarray  # (N,) bool: whether the label of a token is not known


# --------------------------------------------------------------------------------------------------
# Checks
# --------------------------------------------------------------------------------------------------
def as_spans(y, texts=None, name="y"):
    """The spans in ``y`` as :class:`Given`.

    Parameters
    ----------
    y : list of lists of (start, end, label)
        Tuples, lists, or dicts with these keys; in any order.
    texts : list of str, optional
        Which the spans have to lie in.
    name : str
        What errors call the argument.

    Raises
    ------
    ValueError
        If a span is not as described; the message names the place.
    """
    if y is None:
        raise ValueError(f"{name} must be a list of lists of spans, got None")
    refuse_dicts(y, name)
    y = as_sequences(y, name, "span")
    if texts is not None and len(y) != len(texts):
        raise ValueError(f"X has {len(texts)} texts, {name} has {len(y)} lists of spans")
    spans = [_checked(span, i, k, name) for i, each in enumerate(y) for k, span in enumerate(each)]
    given = Given(spans, offsets_of(lengths_of(y)))
    if texts is not None:
        for i, (text, each) in enumerate(zip(texts, given.by_text())):
            if each and not (
                min([span.start for span in each]) >= 0 and max([span.end for span in each]) <= len(text)
            ):
                _refuse_outside(text, each, i, name)
    return given


def refuse_dicts(y, name):
    """Raise where a dict holds the list of the spans of a text, as examples of spaCy have it."""
    for i, each in enumerate(y if isinstance(y, (list, tuple)) else [y]):
        key = isinstance(each, Mapping) and next((k for k in ("entities", "spans") if k in each), None)
        if key:
            write = f"[each[{key!r}] for each in {name}]" if each is not y else f"[{name}[{key!r}]]"
            wrong = f"expected a list of spans, got {describe(each)}; write {name} = {write}"
            raise PlaceError(i, None, wrong, name)


def _checked(span, i, k, name):
    """A span as a Span."""
    try:
        if type(span) not in (tuple, list) and isinstance(span, Mapping):
            start, end, label = span["start"], span["end"], span["label"]
        else:
            start, end, label = span
    except (TypeError, ValueError, KeyError):
        wrong = f"expected (start, end, label), got {describe(span)}"
        raise PlaceError(i, k, wrong, name) from None
    for number in (start, end):
        if type(number) is not int and not isinstance(number, np.integer):
            raise PlaceError(i, k, f"start and end must be ints, got {describe(number)}", name)
    if label is not None and not (isinstance(label, str) and label):
        wrong = f"the label must be a str that is not empty, or None, got {describe(label)}"
        raise PlaceError(i, k, wrong, name)
    found = Span(int(start), int(end), None if label is None else str(label))
    if found.end < found.start:
        raise PlaceError(i, k, f"{tuple(found)!r} ends before it begins", name)
    return found


def _refuse_outside(text, spans, i, name):
    k = next(k for k, span in enumerate(spans) if span.start < 0 or span.end > len(text))
    hint, units = "", len(text.encode("utf-16-le", "surrogatepass")) // 2
    if spans[k].start >= 0 and spans[k].end <= units:
        hint = f"; in UTF-16 units it has {units}{CONVERTS}"
    wrong = f"{tuple(spans[k])!r} leaves the text, which has {len(text)} characters{hint}"
    raise PlaceError(i, k, wrong, name)


# --------------------------------------------------------------------------------------------------
# Alignment
# --------------------------------------------------------------------------------------------------
class _Places:
    """The spans of a corpus while they are aligned; places count code points of the joined texts."""

    def __init__(self, tokens, given):
        self.tokens, self.given = tokens, given
        self.text = np.repeat(np.arange(len(given.first) - 1), np.diff(given.first))  # (S,)
        start, end, self.shift = given.places(tokens.offset)
        self.start, self.end = trimmed(tokens.text, start, end)  # (S,)
        self.lo = np.searchsorted(tokens.end, self.start, side="right")  # (S,) first token touched
        self.hi = np.maximum(np.searchsorted(tokens.start, self.end), self.lo)
        self.hi[self.start == self.end] = self.lo[self.start == self.end]
        self.labelled = np.array([span.label is not None for span in given.spans], np.bool_)
        self.problem = np.where((self.start != start) | (self.end != end), TRIMMED, NONE).astype(np.uint8)
        self.problem[self.hi == self.lo] = EMPTY

    def refuse(self, s, wrong):
        """Raise for the span s."""
        text = int(self.text[s])
        span = tuple(self.given.spans[s])
        raise PlaceError(text, int(s - self.given.first[text]), f"{span!r} {wrong}", "y")

    def left(self):
        """Labelled spans with a token, by place, without duplicates."""
        found = np.flatnonzero(self.labelled & (self.hi > self.lo))
        numbers = {}
        label = np.array([numbers.setdefault(self.given.spans[s].label, len(numbers)) for s in found], int)
        order = np.lexsort((label, self.end[found], self.start[found]))
        found, label = found[order], label[order]
        same = np.zeros(len(found), np.bool_)
        for each in (self.start[found], self.end[found], label):
            same[1:] |= each[1:] != each[:-1]
        same[1:] = ~same[1:]
        self.problem[found[same]] = DUPLICATE
        return found[~same]


def trimmed(text, start, end):
    """Spans of a text without white space at their ends; a span of white space has length 0.

    Parameters
    ----------
    text : str
    start, end : ndarray of shape (S,), int64

    Returns
    -------
    start, end : ndarray of shape (S,), int64
    """
    solid = np.flatnonzero(classes_of(codes_of(text)) > BREAK)
    if not solid.size:
        return start, start
    first, last = np.searchsorted(solid, start), np.searchsorted(solid, end) - 1
    some = first <= last
    last = np.where(some, last, 0)
    first = np.where(some, first, 0)
    return np.where(some, solid[first], start), np.where(some, solid[last] + 1, start)


def trimmed_spans(texts, y, name="y"):
    """For each text the list of its spans, checked, without white space at their ends."""
    given = as_spans(y, texts, name)
    text, offset = joined(texts)
    start, end, shift = given.places(offset)
    start, end = ((each - shift).tolist() for each in trimmed(text, start, end))
    spans = [Span(a, b, span.label) for a, b, span in zip(start, end, given.spans)]
    return by_sequence(spans, given.first)


def align_spans(tokens, given, align="nearest", overlap="error"):
    """What the spans of texts are in tokens.

    Parameters
    ----------
    tokens : data.text.Tokens
    given : Given
        Of the same texts.
    align, overlap : str
        See ``chain.span_tagger.SpanTagger``.

    Returns
    -------
    Aligned

    Raises
    ------
    ValueError
        Under ``align="error"`` and ``overlap="error"``; the message names the place.
    """
    places = _Places(tokens, given)
    if align == "error" and (none := np.flatnonzero(places.labelled & (places.problem == EMPTY))).size:
        places.refuse(none[0], "holds no token")
    left = _apart(places, places.left(), overlap)
    lo, hi = places.lo[left], places.hi[left]
    cuts = tokens.start[lo] < places.start[left], tokens.end[hi - 1] > places.end[left]
    cut = cuts[0] | cuts[1]
    unknown = np.zeros(len(tokens.start) + 1, np.int64)  # differences: +1 where a range begins, -1 behind it
    if align == "error" and cut.any():
        _refuse_cut(places, left, cuts)
    if align == "nearest":
        lo, hi = _nearest(places, left, lo, hi)
    elif align == "contract":
        lo, hi = lo + cuts[0], hi - cuts[1]
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
    left, lo, hi = left[~gone], lo[~gone], hi[~gone]
    if (lo[1:] < hi[:-1]).any():
        left, lo, hi = _one_for_each_token(places, left, lo, hi)
    places.problem[~places.labelled] = NONE
    return Aligned(places.problem, left, lo, hi, np.cumsum(unknown[:-1]) > 0)


def _apart(places, left, overlap):
    """The spans, by place, of which no two overlap."""
    start, end = places.start[left], places.end[left]
    furthest = np.maximum.accumulate(end)
    clash = np.flatnonzero(start[1:] < furthest[:-1]) + 1
    if not clash.size:
        return left
    if overlap == "error":
        k = clash[0]
        other = tuple(places.given.spans[left[np.argmax(end[:k])]])
        places.refuse(left[k], f'overlaps {other!r}; overlap="longest" keeps the longer of two')
    keep = np.zeros(len(left), np.bool_)
    # Groups of spans that overlap directly or over others; from each the longest first
    opens = np.append(0, np.flatnonzero(start[1:] >= furthest[:-1]) + 1)
    for a, b in zip(opens.tolist(), [*opens[1:].tolist(), len(left)]):
        free = np.ones(furthest[b - 1] - start[a], np.bool_) if b > a + 1 else None
        order = np.lexsort((left[a:b], start[a:b], start[a:b] - end[a:b])) + a if b > a + 1 else [a]
        for k in order:
            inside = free is None or free[start[k] - start[a] : end[k] - start[a]]
            keep[k] = np.all(inside)
            if keep[k] and free is not None:
                inside[:] = False
    places.problem[left[~keep]] = OVERLAP
    return left[keep]


def _refuse_cut(places, left, cuts):
    """Raise for the first span with an edge inside of a token."""
    tokens = places.tokens
    k = int(np.argmax(cuts[0] | cuts[1]))
    s = left[k]
    t, how = (places.lo[s], "begins") if cuts[0][k] else (places.hi[s] - 1, "ends")
    span, shift = places.given.spans[s], int(places.shift[s])
    covered = tokens.text[span.start + shift : span.end + shift]
    token = tokens.text[tokens.start[t] : tokens.end[t]]
    wrong = f'is {covered!r} and {how} inside of the token {token!r}; align="nearest" takes whole tokens'
    places.refuse(s, wrong)


def _covered(places, spans, t):
    """How many characters of the tokens t are in the spans."""
    tokens = places.tokens
    return np.minimum(places.end[spans], tokens.end[t]) - np.maximum(places.start[spans], tokens.start[t])


def _nearest(places, left, lo, hi):
    """The tokens of which at least half is in the span."""
    sizes = places.tokens.end - places.tokens.start
    out = [2 * _covered(places, left, t) < sizes[t] for t in (lo, hi - 1)]
    return lo + out[0], hi - out[1]


def _one_for_each_token(places, left, lo, hi):
    """A token that two spans claim goes to the one with more of its characters; spans come by place."""
    lo, hi, kept = lo.copy(), hi.copy(), []
    for k in range(len(left)):
        # No two spans share characters: what neighbours both claim is one token.
        while kept and hi[k] > lo[k] and hi[kept[-1]] > lo[k]:
            j = kept[-1]
            more = _covered(places, left[k], lo[k]) > _covered(places, left[j], lo[k])
            loser = j if more else k
            places.problem[left[loser]] = CROWDED
            if more:
                hi[j] -= 1
                if hi[j] == lo[j]:
                    kept.pop()
            else:
                lo[k] += 1
        if hi[k] > lo[k]:
            kept.append(k)
    return left[kept], lo[kept], hi[kept]


def labels_of(aligned, given, bounds, scheme):
    """Labels of the tokens of pieces.

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
    pieces = [["O"] * n for n in np.diff(bounds).tolist()]
    begin = bounds[:-1].tolist()
    which = np.searchsorted(bounds, aligned.start, side="right") - 1
    found = {}
    for p, s, a, b in zip(*(each.tolist() for each in (which, aligned.of, aligned.start, aligned.stop))):
        found.setdefault(p, []).append((a - begin[p], b - begin[p], given.spans[s].label))
    for p, spans in found.items():
        pieces[p] = spans_to_labels(spans, len(pieces[p]), scheme)
    unknown = np.flatnonzero(aligned.unknown)
    for p, t in zip((np.searchsorted(bounds, unknown, side="right") - 1).tolist(), unknown.tolist()):
        if pieces[p][t - begin[p]] == "O":
            pieces[p][t - begin[p]] = None
    return pieces
