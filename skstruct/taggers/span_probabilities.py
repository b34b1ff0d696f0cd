"""What a span tagger says besides the best spans: the k best sets of spans, and probabilities of spans."""

from __future__ import annotations

from heapq import nsmallest
from itertools import chain
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._sklearn import available_if
from ..data.inputs import PlaceError, Sequences, flatten, offsets_of, place, renumbered
from ..data.labels import some_of
from ..data.pieces import Pieces
from ..data.places import by_sequence
from ..data.scheme_rules import LabelTable
from ..data.spans import Span, as_spans
from ..data.text import as_texts
from ..data.types import Corpus, Texts
from .inner_tagger import knows_probabilities, tagger_has


class RankedSpans:
    """What a span tagger can do whose tagger has k best labellings."""

    @available_if(tagger_has("predict_kbest"))
    def predict_kbest(self, X: Texts, k: int = 5) -> list[list[tuple[list[Span], float]]]:
        """The k best sets of spans of each text.

        Parameters
        ----------
        X : list of str
            Texts.
        k : int, default=5

        Returns
        -------
        list of lists of (spans, score)
            For each text different sets of spans, best first: at most k. A score is the sum of the scores of
            the text's pieces, each that of the best labelling that spells its spans. The first is that of
            :meth:`predict`, unless several share the best score. A text without a token has one, [], with
            score 0.

        Raises
        ------
        ValueError
            As :meth:`predict`, or if ``k`` is no int of at least 1.
        """
        check_is_fitted(self, "tagger_")
        result = Sequences()
        for part in self._parts(as_texts(X)):
            with renumbered(part.text):
                ranked = self.tagger_.predict_kbest(part.sequences(self.layout), k)
            which = np.repeat(np.arange(len(ranked)), list(map(len, ranked)))
            spans = iter(self._spans([list(labels) for best in ranked for labels, _ in best], part, which))
            best = [_distinct([(next(spans), score) for _, score in each]) for each in ranked]
            result += [best_sums(each, k) for each in by_sequence(best, part.of_text())]
        return result


def _distinct(ranked):
    """The first of each set of spans."""
    found = {}
    for spans, score in ranked:
        found.setdefault(tuple(spans), (spans, score))
    return list(found.values())


def best_sums(pieces, k):
    """The k best sums over pieces, each of which has a list of (spans, score), best first."""
    best, steps = [0.0], []
    for ranked in pieces:
        # Of what is i-th and j-th there are (i + 1)(j + 1) sums that are at least as good.
        sums = [
            (-(score + more), i, j)
            for i, score in enumerate(best)
            for j, (_, more) in enumerate(ranked[: k // (i + 1)])
        ]
        chosen = nsmallest(k, sums)
        best = [-score for score, _, _ in chosen]
        steps.append([(i, j) for _, i, j in chosen])
    return [(_spans_of(pieces, steps, i), score) for i, score in enumerate(best)]


def _spans_of(pieces, steps, i):
    """The spans of the i-th sum over all pieces; a step says of each sum of which two it is made."""
    found = []
    for ranked, step in zip(reversed(pieces), reversed(steps)):
        i, j = step[i]
        found.append(ranked[j][0])
    return list(chain.from_iterable(reversed(found)))


class SpanProbabilities:
    """What a span tagger can do whose tagger knows probabilities."""

    @available_if(knows_probabilities)
    def predict_segment_proba(
        self, X: Texts, segments: Corpus | None = None
    ) -> list[list[tuple[Span, float]]]:
        """Probabilities of spans.

        The probability of a span is the sum over all labellings of its piece of text in which exactly this
        span stands.

        Parameters
        ----------
        X : list of str
            Texts.
        segments : list of lists of (start, end, label), optional
            The spans asked for; by default those that :meth:`predict` finds. What is not whole tokens of one
            piece has the probability 0.

        Returns
        -------
        list of lists of (Span, probability)
            For each text, in the order of ``segments``.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, or a span leaves its text or has a label that the model does not
            know; the message names the place.
        """
        check_is_fitted(self, "tagger_")
        texts = as_texts(X)
        given = as_spans(self.predict(texts) if segments is None else segments, texts, "segments")
        known = {
            kind for _, kind in LabelTable(self.scheme).parse(np.asarray(self.tagger_.classes_).tolist())
        }
        for s, span in enumerate(given.spans):
            if not span.label or span.label not in known:
                wrong = f"no label has the type {span.label!r}; known are {some_of(sorted(known - {''}))}"
                raise PlaceError(*place(given.first, s), wrong, "segments")
        asked, result, first = given.by_text(), Sequences(), 0
        for part in self._parts(texts):
            n = len(part.tokens.first) - 1
            result += self._span_probabilities(part, asked[first : first + n], first)
            first += n
        return result

    def _span_probabilities(self, part, spans, first):
        flat, offsets = flatten(spans), offsets_of(np.array(list(map(len, spans)), np.int64))
        text = np.repeat(np.arange(len(spans)), np.diff(offsets))
        start, end = (np.array([span[k] for span in flat], np.int64) for k in (0, 1))
        piece, a, b = _in_pieces(part, start + part.tokens.offset[text], end + part.tokens.offset[text])
        inside = [[] for _ in part.text]
        whole = np.flatnonzero(piece >= 0)
        for s, p, t, u in zip(*(each[whole].tolist() for each in (np.arange(len(flat)), piece, a, b))):
            inside[p].append((t, u, flat[s].label))
        with renumbered(part.text):
            found = self.tagger_.predict_segment_proba(
                part.sequences(self.layout), inside, scheme=self.scheme
            )
        p = np.zeros(len(flat))
        order = np.argsort(piece[whole], kind="stable")
        p[whole[order]] = [value for each in found for _, value in each]
        return by_sequence(list(zip(flat, p.tolist())), offsets)


def _in_pieces(part: Pieces, start, end) -> Any:
    """Of spans of the joined texts the piece, -1 where they are not whole tokens of one, and its tokens."""
    tokens, bounds = part.tokens, part.bounds
    if not len(tokens.start):
        return (np.full(len(start), -1),) * 3
    a = np.minimum(np.searchsorted(tokens.start, start), len(tokens.start) - 1)
    b = np.minimum(np.searchsorted(tokens.end, end), len(tokens.start) - 1)
    piece = np.searchsorted(bounds, a, side="right") - 1
    whole = (tokens.start[a] == start) & (tokens.end[b] == end) & (a <= b) & (b < bounds[piece + 1])
    return np.where(whole, piece, -1), a - bounds[piece], b + 1 - bounds[piece]
