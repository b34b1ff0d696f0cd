"""The texts of a corpus and the spans in them, as columns of numbers.

Characters are counted through all texts, between which there is one that belongs to
none, so that no span of one text meets one of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.spans import Span

Ints = NDArray[np.int64]

Floats = NDArray[np.float64]

Flags = NDArray[np.bool_]


class Judged(NamedTuple):
    """The predictions of a model for a text that it was not trained on."""

    fold: int
    text: str
    spans: list[Span]  # that are given
    types: Any  # that are annotated, a frozenset; None: all
    tokens: list[tuple[int, int]]  # (start, end)
    inside: NDArray[np.float64]  # that a token is in a span, (n_tokens,)
    found: list[tuple[Span, float]]  # spans with a probability that is not tiny


class Places(NamedTuple):
    """Spans of texts; each column has the shape (n,).

    Attributes
    ----------
    text : ndarray
        The number of the text.
    start, end : ndarray
        In the characters of all texts.
    label : ndarray
        The number of the label.
    """

    text: Ints
    start: Ints
    end: Ints
    label: Ints

    def take(self, rows: Any) -> Places:
        """Return some of the spans."""
        return Places(*(column[rows] for column in self))


class Counts:
    """How often numbers occur, which is asked of many at a time.

    Parameters
    ----------
    keys : ndarray of int, shape (n,)
    weights : ndarray of shape (n,), optional
        How much each counts; 1 by default.
    """

    def __init__(self, keys: Ints, weights: Any = None) -> None:
        self._keys, where = np.unique(keys, return_inverse=True)
        total = np.bincount(where.ravel(), weights, len(self._keys))
        self._counts = np.append(total, 0).astype(np.int64)

    def of(self, keys: Ints) -> Ints:
        """Return how often each number occurs, (n,)."""
        at = np.searchsorted(self._keys, keys)
        known = at < len(self._keys)
        known[known] = self._keys[at[known]] == keys[known]
        return self._counts[np.where(known, at, len(self._keys))]


def spread(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return all numbers from each first one to before its stop, and their rows."""
    size = np.maximum(stop - first, 0)
    row = np.repeat(np.arange(len(size)), size)
    before = np.cumsum(size) - size
    return np.arange(len(row)) + (first - before)[row], row


def by_row(reduce: np.ufunc, values: Any, row: Ints, n: int, empty: float) -> Any:
    """Reduce the values of each of n rows, which are in order; some rows are empty."""
    values = np.asarray(values)
    result = np.full(n, empty, values.dtype)
    if len(row):
        begin = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        result[row[begin]] = reduce.reduceat(values, begin)
    return result


class SpanCorpus:
    """The texts of a corpus in one, with the spans that are given and those found.

    Parameters
    ----------
    judged : list of Judged

    Attributes
    ----------
    text : str
        All texts.
    offset : ndarray of shape (n_texts,)
        Where each begins.
    labels : list of str
    token_start, token_end : ndarray of shape (n_tokens,)
    token_text, fold, inside : ndarray of shape (n_tokens,)
        The text of each token, its fold, and the probability that it is in a span.
    given : Places
        The spans that have labels.
    found : Places
        The spans that models give at least a tiny probability, in the order of their
        starts.
    probability : ndarray of shape (n_found,)
    """

    def __init__(self, judged: Sequence[Judged]) -> None:
        self.judged = judged
        self.text = "\n".join(each.text for each in judged)
        size = np.array([len(each.text) + 1 for each in judged], np.int64)
        self.offset = np.cumsum(size) - size
        tokens = np.array([pair for each in judged for pair in each.tokens], np.int64)
        tokens = tokens.reshape(-1, 2)
        n_tokens = np.array([len(each.tokens) for each in judged], np.int64)
        self.token_text = np.repeat(np.arange(len(judged)), n_tokens)
        self.token_start, self.token_end = (tokens.T + self.offset[self.token_text])[:]
        self.fold = np.array([each.fold for each in judged], np.int64)[self.token_text]
        self.inside = np.concatenate([np.zeros(0), *(each.inside for each in judged)])
        spans = [(i, span) for i, each in enumerate(judged) for span in each.spans]
        found = [(i, *pair) for i, each in enumerate(judged) for pair in each.found]
        named: set[Any] = {span.label for _, span in spans} - {None}
        named.update(span.label for _, span, _ in found)
        self.labels = sorted(named)
        self._numbers = {label: k for k, label in enumerate(self.labels)}
        self.given = self.places((i, s) for i, s in spans if s.label is not None)
        self.annotated = Covered(self._columns([(i, *s[:2], 0) for i, s in spans]))
        self._of_given = Covered(self.given)
        self._collect_found(found)

    def _collect_found(self, found: list[tuple[int, Span, float]]) -> None:
        places = self.places((i, span) for i, span, _ in found)
        order = np.argsort(places.start, kind="stable")
        self.found = places.take(order)
        self.probability = np.array([p for *_, p in found], np.float64)[order]
        length = places.end - places.start
        self._longest = int(length.max(initial=0))

    def places(self, spans: Iterable[tuple[int, Span]]) -> Places:
        """Return spans, each with the number of its text, as columns."""
        number = self._numbers
        return self._columns([(i, a, b, number[label]) for i, (a, b, label) in spans])

    def _columns(self, rows: list[tuple[int, int, int, int]]) -> Places:
        """Return texts, starts, ends and labels as columns."""
        text, start, end, label = np.array(rows, np.int64).reshape(-1, 4).T
        return Places(text, start + self.offset[text], end + self.offset[text], label)

    def span(self, places: Places, k: int) -> Span:
        """Return one of some places as a span of its text."""
        before = int(self.offset[places.text[k]])
        start, end = int(places.start[k]), int(places.end[k])
        return Span(start - before, end - before, self.labels[places.label[k]])

    def key(self, places: Places) -> Ints:
        """Return a number for the begin and end of each span."""
        return places.start * (len(self.text) + 1) + places.end - places.start

    def strings(self, start: Ints, end: Ints) -> list[str]:
        """Return what stands at some places."""
        text = self.text
        return [text[a:b] for a, b in zip(start.tolist(), end.tolist())]

    def tokens_of(self, places: Places) -> tuple[Ints, Ints]:
        """Return the first token of each span, also if it covers that in part, and the
        one after its last.
        """
        first = np.searchsorted(self.token_end, places.start, "right")
        return first, np.searchsorted(self.token_start, places.end, "left")

    def are_whole(self, places: Places, first: Ints, stop: Ints) -> Flags:
        """Tell which spans begin and end where tokens do."""
        whole = first < stop
        some, last = first[whole], stop[whole] - 1
        whole[whole] = (self.token_start[some] == places.start[whole]) & (
            self.token_end[last] == places.end[whole]
        )
        return whole

    def meeting(self, places: Places) -> tuple[Ints, Ints]:
        """Return the numbers of the found spans that share a character with some
        places, and the rows of these.
        """
        first = np.searchsorted(self.found.start, places.start - self._longest, "left")
        k, row = spread(first, np.searchsorted(self.found.start, places.end, "left"))
        meets = self.found.end[k] > places.start[row]
        return k[meets], row[meets]

    def number_met(self, start: Ints, end: Ints) -> Ints:
        """Return how many of the given spans share a character with parts of the text."""
        return self._of_given.count(start, end)


class Covered:
    """How many spans share a character with a part of the text."""

    def __init__(self, places: Places) -> None:
        self.start, self._end = np.sort(places.start), np.sort(places.end)

    def count(self, start: Ints, end: Ints) -> Ints:
        """Return the number of spans that each part of the text meets, (n,)."""
        begun = np.searchsorted(self.start, end, "left")
        return begun - np.searchsorted(self._end, start, "right")
