"""What estimators over texts say besides the best: the k best, and probabilities of spans and of words."""

from __future__ import annotations

from collections.abc import Collection
from heapq import nsmallest
from itertools import chain
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._sklearn import available_if
from ..chain.sums import segment_probabilities
from ..data.inputs import (
    PlaceError,
    Sequences,
    as_tokens,
    flatten,
    lengths_of,
    offsets_of,
    place,
    renumbered,
    take,
)
from ..data.labels import some_of
from ..data.pieces import Pieces
from ..data.places import by_sequence
from ..data.scheme_rules import LabelTable
from ..data.segmented import ENDING_WORD, STARTING_WORD, as_pieces, cut
from ..data.spans import Span, as_spans
from ..data.text import as_texts
from ..data.types import Corpus, Texts
from .inner_tagger import knows_probabilities, tagger_has
from .probability_tagger import ProbabilityTagger, Segment, as_segments, check_sums, ids_of, paired


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


class RankedWords:
    """What a segmenter can do whose tagger has k best labellings."""

    @available_if(tagger_has("predict_kbest"))
    def predict_kbest(
        self, X: Texts, k: int = 5, dictionary: Collection[str] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The segmentations that the k best labellings of each text spell.

        Parameters
        ----------
        X : list of str
            Texts.
        k : int, default=5
            Labellings.
        dictionary : collection of str, optional
            As in :meth:`predict`.

        Returns
        -------
        list of lists of (words, score)
            For each text the different segmentations, best first, with the score of the best labelling that
            spells them: at most k, and fewer where several labellings spell the same. The first is that of
            :meth:`predict`, unless several labellings share the best score. A text that is empty or white
            space has one, [], with score 0.

        Raises
        ------
        ValueError
            As :meth:`predict`, or if ``k`` is no int of at least 1.
        """
        n, filled, texts, marks = self._read(X, dictionary)
        joined = [list("".join(parts)) for parts in texts]
        with renumbered(filled):
            ranked = self.tagger_.predict_kbest(joined, k, **self._constraints(texts, marks))
        which = np.repeat(np.arange(len(texts)), lengths_of(ranked)).tolist()
        if marks is not None:  # one for each character of the texts, end to end
            of_text = np.split(marks, offsets_of(lengths_of(joined))[1:-1])
            marks = np.concatenate(take(of_text, which))
        labels = [list(labels) for best in ranked for labels, _ in best]
        words = iter(cut(take(texts, which), labels, self.scheme, self.tagged_, marks) if which else ())
        result = Sequences([([], 0.0)] for _ in range(n))
        for i, best in zip(filled, ranked):
            found = {}
            for _, score in best:
                found.setdefault(tuple(spelled := next(words)), (spelled, score))
            result[i] = list(found.values())
        return result


class WordProbabilities:
    """What a segmenter can do whose tagger knows probabilities."""

    @available_if(knows_probabilities)
    def predict_segment_proba(
        self, X: Texts, segments: Corpus | None = None
    ) -> list[list[tuple[Segment, float]]]:
        """Probabilities of words.

        The probability of a word is the sum over all labellings of its text in which exactly this word
        stands, among those that :meth:`predict` chooses from: they have boundaries at white space.

        Parameters
        ----------
        X : list of str
            Texts.
        segments : list of lists of (start, stop, tag), optional
            The words asked for: ``text[start:stop]``, and the tag ``""`` where words have none; by default
            those that :meth:`predict` finds.

        Returns
        -------
        list of lists of ((start, stop, tag), probability)
            For each text, in the order of ``segments``.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, or a word is empty, leaves its text, begins or ends with white
            space, or has a tag that no label has; the message names the place.
        """
        check_is_fitted(self, "tagger_")
        pieces = as_pieces(X)
        filled = [i for i, parts in enumerate(pieces) if parts]
        known = LabelTable(self.scheme).parse(np.asarray(self.tagger_.classes_).tolist())
        kinds = {kind: k for k, kind in enumerate(sorted({kind for _, kind in known}))}
        places = [np.flatnonzero([not c.isspace() for c in text]).tolist() for text in X]
        if segments is None:
            segments = _found(self.predict(X), places, self.tagged_)
        segments = as_segments(segments, lengths_of(X), kinds)
        inner = [
            [_without_space(span, i, k, at) for k, span in enumerate(spans)]
            for i, (spans, at) in enumerate(zip(segments, places))
        ]
        with renumbered(filled):
            p = self._word_probabilities(
                take(pieces, filled), ids_of(take(inner, filled), kinds), known, kinds
            )
        return paired(segments, p)

    def _word_probabilities(self, pieces, spans, known, kinds):
        texts = as_tokens([list("".join(parts)) for parts in pieces])
        tagger = self.tagger_
        while not isinstance(tagger, ProbabilityTagger):  # an average, say
            tagger = tagger.estimator if isinstance(tagger, FrozenEstimator) else tagger.estimator_
        options = tagger._options(texts, self._constraints(pieces).get("allowed"))
        fixed = np.concatenate([np.zeros(0, np.bool_), *map(_starts, pieces)])
        of_label = np.array([kinds[kind] for _, kind in known])
        joins = np.array(
            [[p not in ENDING_WORD and q not in STARTING_WORD for q, _ in known] for p, _ in known]
        )
        p, log_z = segment_probabilities(
            tagger._distribution, texts, spans, of_label, joins, fixed, options, self.tagger_.n_jobs
        )
        check_sums(log_z)
        return p


def _starts(parts):
    """(T,) bool: where a piece of a text starts."""
    out = np.zeros(sum(map(len, parts)), np.bool_)
    out[np.cumsum([0, *map(len, parts[:-1])])] = True
    return out


def _found(texts, places, tagged):
    """The words of each text as (start, stop, tag)."""
    spans = []
    for words, at in zip(texts, places):
        plain = [word for word, _ in words] if tagged else words
        tags = [tag for _, tag in words] if tagged else [""] * len(words)
        stops = np.cumsum([len(word) for word in plain]).tolist()
        starts = [0, *stops[:-1]]
        spans.append([(at[a], at[b - 1] + 1, tag) for a, b, tag in zip(starts, stops, tags)])
    return spans


def _without_space(span, i, k, at):
    """A word as the tagger counts its characters, that is without white space."""
    start, stop, kind = span
    a, b = np.searchsorted(at, [start, stop - 1]).tolist()
    if not (b < len(at) and at[a] == start and at[b] == stop - 1):
        raise PlaceError(i, k, f"{span!r} begins or ends with white space", "segments")
    return a, b + 1, kind
