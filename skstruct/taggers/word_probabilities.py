"""What a segmenter says besides the best words: the k best segmentations, and probabilities of words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._sklearn import available_if
from ..chain.sums import segment_probabilities
from ..data.inputs import PlaceError, Sequences, as_tokens, lengths_of, offsets_of, renumbered, take
from ..data.scheme_rules import LabelTable
from ..data.segmented import ENDING_WORD, STARTING_WORD, as_pieces, cut
from ..data.types import Corpus, Texts
from .inner_tagger import knows_probabilities, tagger_has
from .probability_tagger import ProbabilityTagger, Segment, as_segments, check_sums, ids_of, paired


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
