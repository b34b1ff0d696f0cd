"""The methods of estimators over texts besides ``predict``: the k best, and
probabilities of spans and of words.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from heapq import nsmallest
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._data.inputs import Sequences, as_tokens, flatten, lengths_of, renumbered, take
from .._data.labels import some_of
from .._data.places import PlaceError, by_sequence, offsets_of, place
from .._data.scheme_rules import LabelTable
from .._data.segmented import (
    ENDING_WORD,
    STARTING_WORD,
    as_pieces,
    cut,
    with_tags_of,
    word_spans,
)
from .._data.spans import Span, as_spans
from .._data.text import as_texts
from .._data.types import Given, Ranked, Texts
from .meta_learner import inside_has
from .probability_tagger import (
    MinProba,
    ProbabilityTagger,
    Segment,
    as_segments,
    check_min_proba,
    least_by_type,
    probabilities_of,
)
from .settings import KeepsSettings
from .span_chains import (
    Question,
    asked,
    chains_of,
    has_chains,
    in_order,
    known_types,
    merged,
    min_proba_of_chains,
    most_probable,
    spans_of_chains,
)

if TYPE_CHECKING:
    from .._data.pieces import Pieces
    from .._data.segmented import Tags


def placed(
    part: Pieces, segments: list[list[Segment]], which: np.ndarray
) -> list[list[Span]]:
    """Turn segments of tokens into spans of their texts.

    Parameters
    ----------
    part : Pieces
    segments : list of lists of (start, stop, type)
    which : ndarray of int
        By list, the piece whose tokens the segments count.
    """
    tokens = part.tokens
    begin = part.bounds[which]
    shift = tokens.offset[np.searchsorted(tokens.first, begin, side="right") - 1]
    starts = tokens.start.tolist()
    ends = tokens.end.tolist()
    return [
        [
            Span(starts[first + a] - before, ends[first + b - 1] - before, kind)
            for a, b, kind in each
        ]
        for each, first, before in zip(segments, begin.tolist(), shift.tolist())
    ]


def _in_pieces(part: Pieces, spans: list[list[Span]]) -> list[list[Segment]]:
    """Turn spans, given by text, into segments of the tokens of each piece.

    Spans that are not whole tokens of one piece are left out.
    """
    tokens = part.tokens
    found: list[list[Any]] = [[] for _ in part.text]
    starts, ends = (
        {at: t for t, at in enumerate(each.tolist())}
        for each in (tokens.start, tokens.end)
    )
    piece_of = np.repeat(np.arange(len(found)), np.diff(part.bounds)).tolist()
    for before, of_text in zip(tokens.offset.tolist(), spans):
        for start, end, kind in of_text:
            a = starts.get(start + before)
            b = ends.get(end + before)
            if (
                a is not None
                and b is not None
                and a <= b
                and piece_of[a] == piece_of[b]
            ):
                first = int(part.bounds[piece_of[a]])
                found[piece_of[a]].append((a - first, b + 1 - first, kind))
    return found


def _distinct(ranked: list[tuple[list[Any], float]]) -> list[tuple[list[Any], float]]:
    """Return the first of each analysis."""
    found: dict[tuple[Any, ...], tuple[list[Any], float]] = {}
    for items, score in ranked:
        found.setdefault(tuple(items), (items, score))
    return list(found.values())


_FEWEST_ASKED = 1000
"""Labellings of a sequence that are asked for at least, before its search ends."""


def ranked_analyses(
    ranked_of: Callable[[list[int], int], Ranked],
    spelled: Callable[[list[int], Ranked], list[list[Any]]],
    n: int,
    k: int,
) -> list[list[tuple[list[Any], float]]]:
    """Return the k best analyses of each sequence, which several labellings may spell.

    As long as a sequence has fewer than k, and has more labellings, twice as many of
    these are asked for: up to 64 for each analysis, or `_FEWEST_ASKED`.

    Parameters
    ----------
    ranked_of : callable
        (numbers of sequences, k) -> their k best labellings, with scores.
    spelled : callable
        (numbers of sequences, their labellings) -> analyses of all these labellings,
        end to end.
    n : int
        Sequences.
    k : int
    """
    found: list[list[tuple[list[Any], float]]] = [[] for _ in range(n)]
    left = list(range(n))
    asked = k
    while True:
        ranked = ranked_of(left, asked)
        items = iter(spelled(left, ranked))
        again = []
        for i, best in zip(left, ranked):
            found[i] = _distinct([(next(items), score) for _, score in best])[:k]
            if len(found[i]) < k and len(best) == asked:
                again.append(i)
        if not again or asked >= max(64 * k, _FEWEST_ASKED):
            return found
        left = again
        asked *= 2


class SpanAnalyses:
    """The methods of a span tagger whose tagger has k best labellings, or
    probabilities.
    """

    tagger_: Any
    scheme: str
    layout: bool

    @abstractmethod
    def predict(
        self, X: Texts, known: Given = None, *, min_proba: MinProba = None
    ) -> list[list[Span]]:
        """Find the spans of each text."""

    @abstractmethod
    def _parts(
        self, texts: list[str], known: Given = None
    ) -> Iterator[tuple[Pieces, dict[str, Any]]]:
        """Cut texts into pieces, some texts at once; the pieces' numbers count all.
        Beside them stand the arguments by which the tagger keeps to what is known.
        """

    @abstractmethod
    def _spans(
        self, labels: list[list[str]], part: Pieces, which: np.ndarray
    ) -> list[list[Span]]:
        """Read the spans that labels of the pieces ``which`` spell, in a list for
        each.
        """

    @inside_has("predict_kbest")
    def predict_kbest(
        self, X: Texts, k: int = 5, known: Given = None
    ) -> list[list[tuple[list[Span], float]]]:
        """Return the k best sets of spans of each text.

        Parameters
        ----------
        X : list of str
            Texts.
        k : int, default=5
        known : list of lists of (start, end, label), or Lexicon, optional
            As of :meth:`predict`.

        Returns
        -------
        list of lists of (spans, score)
            For each text different sets of spans, best first: at most k. A score is the
            sum of the scores of the text's pieces, each that of the best labelling that
            spells its spans. The first is that of :meth:`predict`, unless several share
            the best score. A text without a token has one, [], with score 0.

        Raises
        ------
        ValueError
            As :meth:`predict`, or if ``k`` is no int of at least 1.
        """
        check_is_fitted(self)
        texts = as_texts(X)
        if has_chains(self):

            def ranked(q: Question) -> Ranked:
                return q.chain.predict_kbest(q.texts, k, q.known)

            return best_of_chains(asked(self, texts, known, ranked), k)
        result = Sequences()
        for part, allowed in self._parts(texts, known):
            with renumbered(part.text):
                best = self._ranked_pieces(part, k, **allowed)
            result += [best_sums(each, k) for each in by_sequence(best, part.of_text())]
        return result

    def _ranked_pieces(
        self, part: Pieces, k: int, allowed: Given = None
    ) -> list[list[tuple[list[Span], float]]]:
        """Return the k best sets of spans of each piece."""
        sequences = part.sequences(self.layout, self.tagger_)

        def ranked_of(pieces: list[int], k: int) -> Ranked:
            given = allowed
            some = sequences
            if len(pieces) < len(sequences):
                some = take(sequences, pieces)
                given = None if allowed is None else take(allowed, pieces)
            options = {} if given is None else {"allowed": given}
            with renumbered(pieces):
                return self.tagger_.predict_kbest(some, k, **options)

        def spelled(pieces: list[int], ranked: Ranked) -> list[list[Any]]:
            labels = [list(labels) for best in ranked for labels, _ in best]
            which = np.repeat(np.array(pieces, np.int64), lengths_of(ranked))
            return self._spans(labels, part, which)

        return ranked_analyses(ranked_of, spelled, len(sequences), k)

    @inside_has("predict_segment_proba")
    def predict_segment_proba(
        self,
        X: Texts,
        segments: Given = None,
        *,
        min_proba: MinProba = None,
        known: Given = None,
    ) -> list[list[tuple[Span, float]]]:
        """Return the probabilities of spans.

        The probability of a span is the sum over all labellings of its piece of text in
        which exactly this span stands.

        Parameters
        ----------
        X : list of str
            Texts.
        segments : list of lists of (start, end, label), optional
            The spans asked for; by default those that :meth:`predict` finds. What is
            not whole tokens of one piece has the probability 0.
        min_proba : float in (0, 1], or dict, optional
            In place of ``segments``: all that have at least this probability; of a dict
            that of their type, or under the key None that of types not named.
        known : list of lists of (start, end, label), or Lexicon, optional
            As of :meth:`predict`; probabilities are then those among the labellings in
            which all that is known stands.

        Returns
        -------
        list of lists of (Span, probability)
            For each text, in the order of ``segments``; with ``min_proba`` the most
            probable first.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, or a span leaves its text or has a label that
            the model does not know; the message names the place.
        """
        check_is_fitted(self)
        check_min_proba(segments, min_proba)
        texts = as_texts(X)
        if not has_chains(self):
            return self._segment_proba(texts, segments, min_proba, known)
        if min_proba is not None:
            least = min_proba_of_chains(self, min_proba)

            def probable(q: Question) -> list[list[tuple[Span, float]]]:
                return q.chain.predict_segment_proba(
                    q.texts, min_proba=least[q.number], known=q.known
                )

            return most_probable(asked(self, texts, known, probable))
        if segments is None:
            segments = self.predict(texts, known)
        given = as_spans(segments, texts, "segments")
        spans = spans_of_chains(self, given)

        def probabilities(q: Question) -> list[list[tuple[Span, float]]]:
            some = spans[q.number][q.where]
            return q.chain.predict_segment_proba(q.texts, some, known=q.known)

        return in_order(given, asked(self, texts, known, probabilities))

    def _segment_proba(
        self, texts: list[str], segments: Given, min_proba: MinProba, known: Given
    ) -> list[list[tuple[Span, float]]]:
        """Return the probabilities of spans of the only chain."""
        result = Sequences()
        inside = None
        asked = self._asked(texts, segments, known) if min_proba is None else None
        for part, allowed in self._parts(texts, known):
            mine = slice(len(result), len(result) + len(part.tokens.first) - 1)
            if asked is not None:
                inside = _in_pieces(part, asked[mine])
            with renumbered(part.text):
                found = self.tagger_.predict_segment_proba(
                    part.sequences(self.layout, self.tagger_),
                    inside,
                    min_proba=min_proba,
                    scheme=self.scheme,
                    **allowed,
                )
            spans = placed(
                part,
                [[segment for segment, _ in each] for each in found],
                np.arange(len(found)),
            )
            of_pieces = [
                [(span, p) for span, (_, p) in zip(*both)] for both in zip(spans, found)
            ]
            found = list(map(flatten, by_sequence(of_pieces, part.of_text())))
            if asked is None:
                result += [
                    sorted(each, key=lambda found: (-found[1], found[0]))
                    for each in found
                ]
            else:
                probable = map(dict, found)
                result += [
                    [(span, p.get(span, 0.0)) for span in each]
                    for each, p in zip(asked[mine], probable)
                ]
        return result

    def _least(self, min_proba: MinProba) -> dict[str, float] | None:
        """Return the least probability of each type; None if none is asked for.

        Raises
        ------
        ValueError
            If it is not as :func:`check_min_proba` and :func:`least_by_type` take it,
            or the tagger has no probabilities.
        """
        if min_proba is None:
            return None
        check_min_proba(None, min_proba)
        try:
            self.predict_segment_proba  # noqa: B018  # an error says why there is none
        except AttributeError as error:
            wrong = str(error).rpartition(": ")[2]
            raise ValueError(f"min_proba needs probabilities: {wrong}") from None
        types = map(known_types, chains_of(self))
        return least_by_type(min_proba, sorted(set().union(*types)))

    def _likely(
        self,
        texts: list[str],
        found: list[list[Span]],
        known: Given,
        least: dict[str, float],
    ) -> list[list[Span]]:
        """Return those of the spans found that have the ``least`` probability of their
        type.
        """
        pairs = self.predict_segment_proba(texts, found, known=known)
        return Sequences(
            [span for span, p in row if p >= least[str(span.label)]] for row in pairs
        )

    def _asked(
        self, texts: list[str], segments: Given, known: Given
    ) -> list[list[Span]]:
        """Return the spans whose probabilities are asked for, by text."""
        if segments is None:
            segments = self.predict(texts, known)
        given = as_spans(segments, texts, "segments")
        classes = np.asarray(self.tagger_.classes_).tolist()
        types = {kind for _, kind in LabelTable(self.scheme).parse(classes)} - {""}
        for s, span in enumerate(given.spans):
            if span.label not in types:
                wrong = f"no label has the type {span.label!r}; choose from {some_of(sorted(types))}"
                raise PlaceError(*place(given.first, s), wrong, "segments")
        return given.by_text()


def best_of_chains(
    chains: list[list[list[tuple[list[Span], float]]]], k: int
) -> list[list[tuple[list[Span], float]]]:
    """Find the k best sets of spans of each text, which several chains find: their
    scores add up.
    """
    return Sequences(
        [(merged([[spans]])[0], score) for spans, score in best_sums(list(each), k)]
        for each in zip(*chains)
    )


def best_sums(
    pieces: list[list[tuple[list[Span], float]]], k: int
) -> list[tuple[list[Span], float]]:
    """Find the k best sums over pieces.

    Parameters
    ----------
    pieces : list of lists of (spans, score)
        By piece its analyses, best first.
    k : int

    Returns
    -------
    list of (spans, score)
        Best first: the spans of one analysis of each piece, and the sum of the scores.
    """
    best = [0.0]
    steps = []
    for ranked in pieces:
        # Of what is i-th and j-th there are (i + 1)(j + 1) sums that are at least as
        # good.
        sums = [
            (-(score + more), i, j)
            for i, score in enumerate(best)
            for j, (_, more) in enumerate(ranked[: k // (i + 1)])
        ]
        chosen = nsmallest(k, sums)
        best = [-score for score, _, _ in chosen]
        steps.append([(i, j) for _, i, j in chosen])
    return [(_spans_of(pieces, steps, i), score) for i, score in enumerate(best)]


def _spans_of(
    pieces: list[list[tuple[list[Span], float]]],
    steps: list[list[tuple[int, int]]],
    i: int,
) -> list[Span]:
    """Return the spans of the i-th sum over all pieces.

    A step says of each sum of which two it is made.
    """
    found = []
    for ranked, step in zip(reversed(pieces), reversed(steps)):
        i, j = step[i]
        found.append(ranked[j][0])
    return list(chain.from_iterable(reversed(found)))


class WordAnalyses(KeepsSettings):
    """The methods of a segmenter whose tagger has k best labellings, or probabilities."""

    tagger_: Any
    tagged_: bool
    scheme: Any

    @abstractmethod
    def predict(
        self, X: Texts, dictionary: Collection[str] | None = None
    ) -> list[list[Any]]:
        """Find the words of each text."""

    @abstractmethod
    def _read(
        self, X: Texts, dictionary: Collection[str] | None
    ) -> tuple[int, list[int], list[list[str]], np.ndarray | None, Tags]:
        """Return the number of texts, positions, pieces and marks of those filled, and
        the tags of words of the dictionary.
        """

    @abstractmethod
    def _sequences(self, X: Texts) -> list[list[str]]:
        """Turn texts into the characters that the tagger sees."""

    @abstractmethod
    def _constraints(
        self,
        pieces: list[list[str]],
        marks: np.ndarray | None = None,
        tags: Tags | None = None,
    ) -> dict[str, Any]:
        """Return the arguments that let the tagger keep to white space and marks."""

    @inside_has("predict_kbest")
    def predict_kbest(
        self, X: Texts, k: int = 5, dictionary: Collection[str] | None = None
    ) -> Ranked:
        """Return the k best segmentations of each text.

        Parameters
        ----------
        X : list of str
            Texts.
        k : int, default=5
        dictionary : collection of str, optional
            As in :meth:`predict`.

        Returns
        -------
        list of lists of (words, score)
            For each text the different segmentations, best first, with the score of the
            best labelling that spells them: at most k, and fewer if there are no more
            among the 64 k best labellings, or the best thousand. The first is that of :meth:`predict`, unless
            several labellings share the best score. A text that is empty or white space
            has one, [], with score 0.

        Raises
        ------
        ValueError
            As :meth:`predict`, or if ``k`` is no int of at least 1.
        """
        n, filled, texts, marks, tags = self._read(X, dictionary)
        joined = [list("".join(parts)) for parts in texts]
        of_text = None  # marks, one for each character of the texts, end to end
        if marks is not None:
            of_text = np.split(marks, offsets_of(lengths_of(joined))[1:-1])

        def marks_of(which: list[int]) -> np.ndarray | None:
            return None if of_text is None else np.concatenate(take(of_text, which))

        def ranked_of(which: list[int], k: int) -> Ranked:
            given = self._constraints(take(texts, which), marks_of(which), tags)
            with renumbered(which):
                return self.tagger_.predict_kbest(take(joined, which), k, **given)

        def spelled(which: list[int], ranked: Ranked) -> list[list[Any]]:
            of = np.repeat(np.array(which, np.int64), lengths_of(ranked)).tolist()
            labels = [list(labels) for best in ranked for labels, _ in best]
            if not of:
                return []
            found = cut(
                take(texts, of), labels, self.scheme, self.tagged_, marks_of(of)
            )
            return [with_tags_of(line, tags) for line in found] if tags else found

        with renumbered(filled):
            found = ranked_analyses(ranked_of, spelled, len(texts), k)
        result = Sequences([([], 0.0)] for _ in range(n))
        for i, best in zip(filled, found):
            result[i] = best
        return result

    @inside_has("predict_segment_proba")
    def predict_segment_proba(
        self, X: Texts, segments: Given = None, *, min_proba: MinProba = None
    ) -> list[list[tuple[Segment, float]]]:
        """Return the probabilities of words.

        The probability of a word is the sum over all labellings of its text in which
        exactly this word stands, among those that :meth:`predict` chooses from: they
        have boundaries at white space.

        Parameters
        ----------
        X : list of str
            Texts.
        segments : list of lists of (start, stop, tag), optional
            The words asked for: ``text[start:stop]``, and the tag ``""`` where words
            have none; by default those that :meth:`predict` finds.
        min_proba : float in (0, 1], or dict, optional
            In place of ``segments``: all that have at least this probability; of a dict
            that of their type, or under the key None that of types not named.

        Returns
        -------
        list of lists of ((start, stop, tag), probability)
            For each text, in the order of ``segments``; with ``min_proba`` the most
            probable first.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, or a word is empty, leaves its text, begins
            or ends with white space, or has a tag that no label has; the message names
            the place.
        """
        check_is_fitted(self)
        self._check_settings()
        check_min_proba(segments, min_proba)
        pieces = as_pieces(X)
        tagger = self.tagger_
        parsed = LabelTable(self.scheme).parse(np.asarray(tagger.classes_).tolist())
        kinds = {kind: k for k, kind in enumerate(sorted({kind for _, kind in parsed}))}
        places = [
            np.flatnonzero([not c.isspace() for c in text]).tolist() for text in X
        ]
        asked: list[list[Segment]] | None = None
        if segments is None and min_proba is None:
            asked = [
                [(a, b, tag) for a, b, _, tag in word_spans(words)]
                for words in self.predict(X)
            ]
        elif segments is not None:
            asked = [
                [_without_space(span, i, k, at) for k, span in enumerate(spans)]
                for i, (spans, at) in enumerate(
                    zip(as_segments(segments, lengths_of(X), kinds), places)
                )
            ]
        while not isinstance(tagger, ProbabilityTagger):  # an average, say
            tagger = (
                tagger.estimator
                if isinstance(tagger, FrozenEstimator)
                else tagger.estimator_
            )
        texts = as_tokens(self._sequences(X))
        prefixes = [prefix for prefix, _ in parsed]
        starts = np.zeros(int(texts.offsets[-1]), np.bool_)
        starts[offsets_of(lengths_of(flatten(pieces)))[:-1]] = True
        of_label = np.array([kinds[kind] for _, kind in parsed])
        goes_on, is_inner = (
            ~np.isin(prefixes, list(of)) for of in (ENDING_WORD, STARTING_WORD)
        )
        joins = goes_on[:, None] & is_inner
        options = tagger._options(texts, self._constraints(pieces).get("allowed"))
        how = tagger._distribution, texts, of_label, joins, starts, options
        found = probabilities_of(
            asked, min_proba, kinds, *how, n_jobs=self.tagger_.n_jobs
        )
        return Sequences(
            [((at[a], at[b - 1] + 1, tag), p) for (a, b, tag), p in words]
            for words, at in zip(found, places)
        )


def _without_space(span: Segment, i: int, k: int, at: list[int]) -> Segment:
    """Return a word as the tagger counts its characters, without white space."""
    start, stop, kind = span
    a, b = np.searchsorted(at, [start, stop - 1]).tolist()
    if not (b < len(at) and at[a] == start and at[b] == stop - 1):
        raise PlaceError(i, k, f"{span!r} begins or ends with white space", "segments")
    return a, b + 1, kind
