"""Taggers whose scores are log-probabilities up to a constant: marginals, and
probabilities of labellings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._chain.sums import (
    log_partitions,
    marginals,
    marginals_of_one,
    probable_segments,
    segment_probabilities,
)
from .._data.inputs import (
    Sequences,
    as_sequences,
    as_tokens,
    check_same_lengths,
    flatten,
    lengths_of,
)
from .._data.labels import encode_labels, some_of
from .._data.places import PlaceError, by_sequence, describe, offsets_of
from .._data.scheme_rules import (
    LabelTable,
    check_scheme,
    read_spans,
    same_chunk,
    table_of_pairs,
)
from .._data.types import Corpus, Given
from .._sklearn import Real
from .constraints import scheme_of
from .sequence_tagger import SequenceTagger, is_one_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from .._chain.chain_model import ChainModel
    from .._data.corpus import TokenCorpus
    from .._data.labels import Gold


Segment: TypeAlias = tuple[int, int, str]
"""(start, stop, type), ``stop`` exclusive."""


class ProbabilityTagger(SequenceTagger):
    """Base of the chain taggers that know probabilities: ``p(y|x) = exp score(y) /
    Z(x)``.
    """

    @property
    def _distribution(self) -> ChainModel:
        """The ChainModel whose scores are log-probabilities up to a constant."""
        return self._model

    @property
    def _scheme(self) -> str | None:
        """The label scheme that the constraints name, or None."""
        return scheme_of(self)

    def _log_partitions(self, X: Corpus, gold: Gold | None = None) -> list[np.ndarray]:
        """Compute log Z of each sequence.

        With ``gold`` that of the labellings that agree with it stands before it.
        """
        check_is_fitted(self)
        found = log_partitions(self._distribution, as_tokens(X), gold, self.n_jobs)
        for log_z in found:
            check_sums(log_z, given=True)
        return found

    def predict_marginals(self, X: Corpus) -> list[NDArray[np.float64]]:
        """Return the probabilities of the labels of each token, given the whole
        sequence.

        The most probable label of each token (:meth:`predict_posterior`) need not be
        the one of the most probable labelling (:meth:`predict`): marginals sum over all
        labellings.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        list of ndarray of shape (n_tokens, n_labels)
            Columns as in ``classes_``; rows sum to 1.

        Raises
        ------
        ValueError
            If a sequence is not what the model was trained on, the constraints leave it
            no labelling, or values of its features are so large that scores overflow;
            the message names it.
        """
        rows, token = self._marginals(X)
        if len(token) == 2:  # one sequence at a time is to cost little
            return Sequences((rows,))
        return Sequences(
            rows[a:b] for a, b in zip(token[:-1].tolist(), token[1:].tolist())
        )

    def predict_posterior(self, X: Corpus) -> list[list[Any]]:
        """Return the most probable label of each token: posterior decoding.

        Has the fewest wrong labels in expectation, where :meth:`predict` is the
        labelling that is most often right as a whole. Neighbours may contradict the
        constraints.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        list of lists of labels
            Of labels that are equally probable the first in ``classes_``.

        Raises
        ------
        ValueError
            As :meth:`predict_marginals`.
        """
        rows, token = self._marginals(X)
        return Sequences(
            self._model.labels.decode(rows.argmax(axis=1).astype(np.int32), token)
        )

    def _marginals(self, X: Corpus) -> tuple[np.ndarray, np.ndarray]:
        """Return the marginals of all tokens (N, L), and where sequences start."""
        if is_one_list(X) and hasattr(self, "_model"):
            rows = marginals_of_one(self._distribution, X[0])
            if rows is not None:
                return rows, np.array([0, rows.shape[0]])
        check_is_fitted(self)
        sequences = as_tokens(X)
        out, log_z = marginals(self._distribution, sequences, self.n_jobs)
        check_sums(log_z)
        return out.reshape(-1, len(self._model.labels)), sequences.offsets

    def sequence_log_proba(self, X: Corpus, y: Corpus) -> NDArray[np.float64]:
        """Log-probability of labellings.

        Parameters
        ----------
        X : list of sequences of tokens
        y : list of sequences of labels
            None stands for any label, a set for one of its labels: the probabilities of
            all completions are summed.

        Returns
        -------
        ndarray of shape (n_sequences,)
            -inf for labellings that constraints forbid.

        Raises
        ------
        ValueError
            If sequences and labels do not fit, a label is unknown, or scores overflow;
            the message names the place.
        """
        check_is_fitted(self)
        corpus: Any = as_tokens(X)
        labels = as_sequences(y, "y", "label")
        check_same_lengths(corpus.lengths, lengths_of(labels))
        offsets = corpus.offsets
        gold, _ = encode_labels(labels, offsets, self._model.labels, grow=False)
        given, free = self._log_partitions(corpus, gold)
        possible = given > -np.inf
        given[possible] = np.minimum(given[possible] - free[possible], 0.0)
        return given

    def predict_segment_proba(
        self,
        X: Corpus,
        segments: Given = None,
        *,
        min_proba: MinProba = None,
        scheme: str | None = None,
        allowed: Given = None,
    ) -> list[list[tuple[Segment, float]]]:
        """Return the probabilities of segments: chunks, entities.

        The probability of a segment is the sum over all labellings in which exactly
        this segment stands.

        Parameters
        ----------
        X : list of sequences of tokens
        segments : list of lists of (start, stop, type), optional
            The segments asked for, ``stop`` exclusive and the type ``""`` where labels
            have none; by default those of the labellings that :meth:`predict` returns.
        min_proba : float in (0, 1], or dict, optional
            In place of ``segments``: all that have at least this probability; of a dict
            that of their type, or under the key None that of types not named.
        scheme : str, optional
            The label scheme; by default the one that ``constraints`` names. Segments
            are read as by `skstruct.schemes.labels_to_spans`, which finds them in
            labellings that are not well formed too, unless constraints exclude these.
        allowed : list of lists, optional
            As in :meth:`predict`; probabilities are then those among the labellings
            allowed.

        Returns
        -------
        list of lists of ((start, stop, type), probability)
            For each sequence, in the order of ``segments``; with ``min_proba`` the most
            probable first.

        Raises
        ------
        ValueError
            If there is no scheme, or labels do not belong to it; if a segment is empty,
            leaves its sequence or has a type that no label has; and as
            :meth:`predict_marginals`. The message names the place.
        """
        check_is_fitted(self)
        name = self._scheme if scheme is None else scheme
        if name is None:
            raise ValueError(
                "scheme is needed, such as 'BIO', since constraints name none"
            )
        check_min_proba(segments, min_proba)
        name = check_scheme(name)
        parsed = LabelTable(name).parse(self._model.labels.values)
        kinds = {
            kind: k
            for k, kind in enumerate(
                sorted({kind for prefix, kind in parsed if prefix != "O"})
            )
        }
        of_label = np.array(
            [-1 if prefix == "O" else kinds[kind] for prefix, kind in parsed]
        )
        joins = table_of_pairs(parsed, same_chunk)
        sequences = as_tokens(X)
        table = LabelTable(name, strict=False)
        if segments is None and min_proba is None:
            segments = [
                read_spans(labels, table)
                for labels in self._best(sequences, allowed)[0]
            ]
        if segments is not None:
            segments = as_segments(segments, sequences.lengths, kinds)
        options = self._options(sequences, allowed)
        given = self._distribution, sequences, of_label, joins, None, options
        return probabilities_of(segments, min_proba, kinds, *given, n_jobs=self.n_jobs)


LeastProba: TypeAlias = "float | Mapping[str, float] | Mapping[str | None, float]"
"""The least probability of segments; of a dict by type, under None of types not named."""

MinProba: TypeAlias = "LeastProba | None"


def check_min_proba(segments: Given, min_proba: MinProba) -> None:
    """Check the parameter ``min_proba``, which is given in place of ``segments``.

    Raises
    ------
    ValueError
        If both are given, or it is no number above 0, up to 1, and no dict of these.
    """
    if min_proba is None:
        return
    if segments is not None:
        raise ValueError("segments and min_proba cannot both be given")
    named = min_proba if isinstance(min_proba, Mapping) else {"": min_proba}
    for kind, least in named.items():
        if (
            isinstance(least, bool)
            or not isinstance(least, Real)
            or not 0.0 < least <= 1.0
        ):
            of_type = f" of the type {kind!r}" if named is min_proba else ""
            raise ValueError(
                f"min_proba{of_type} must be a number above 0, up to 1, got {least!r}"
            )


def least_by_type(min_proba: LeastProba, kinds: Iterable[str]) -> dict[str, float]:
    """Return the least probability of each type.

    Parameters
    ----------
    min_proba : float or dict
        Checked by :func:`check_min_proba`.
    kinds : iterable of str
        The types there are.

    Raises
    ------
    ValueError
        If a dict names a type that no label has, or leaves one out and has no None.
    """
    kinds = list(kinds)
    if not isinstance(min_proba, Mapping):
        return dict.fromkeys(kinds, float(min_proba))
    given: dict[str | None, float] = {kind: p for kind, p in min_proba.items()}
    unknown = [kind for kind in given if kind is not None and kind not in kinds]
    if unknown:
        known = some_of(sorted(kinds))
        raise ValueError(
            f"min_proba: no label has the type {unknown[0]!r}; known are {known}"
        )
    missing = [kind for kind in kinds if kind not in given]
    if missing and None not in given:
        raise ValueError(
            f"min_proba names no probability for the type {missing[0]!r}; under the key "
            "None it has one for types that it does not name"
        )
    return {kind: float(given.get(kind, given.get(None, 1.0))) for kind in kinds}


def probabilities_of(
    segments: list[list[Segment]] | None,
    min_proba: MinProba,
    kinds: dict[str, int],
    model: ChainModel,
    corpus: TokenCorpus,
    *how: Any,
    n_jobs: int | None = None,
) -> list[list[tuple[Segment, float]]]:
    """Return for each sequence a list of ((start, stop, type), probability).

    Parameters
    ----------
    segments : list of lists of (start, stop, type), or None
        From :func:`as_segments`; None: all that have the probability ``min_proba``, the
        most probable first.
    kinds : dict
        The numbers of types, in their order.
    model : ChainModel
        Its scores are log-probabilities up to a constant.
    corpus : TokenCorpus
    *how : ndarray
        How labels make segments, as of :func:`._chain.sums.segment_probabilities`.
    n_jobs : int, optional
        Threads.
    """
    options: dict[str, Any] = {"n_jobs": n_jobs}
    spans: Any
    if segments is not None:
        spans = [
            [(start, stop, kinds[kind]) for start, stop, kind in each]
            for each in segments
        ]
        p, log_z = segment_probabilities(model, corpus, spans, *how, **options)
        flat = flatten(segments)
        counts = lengths_of(segments)
    else:
        least = least_by_type(1.0 if min_proba is None else min_proba, kinds)
        spans, p, counts, log_z = probable_segments(
            model, corpus, min(least.values(), default=1.0), *how, **options
        )
        if isinstance(min_proba, Mapping):
            enough = p >= np.array([*least.values()])[spans[:, 2]]
            of_sequence = np.repeat(np.arange(len(counts)), counts)
            counts = np.bincount(of_sequence[enough], minlength=len(counts))
            spans, p = spans[enough], p[enough]
        order = np.lexsort(
            (*spans.T[::-1], -p, np.repeat(np.arange(len(counts)), counts))
        )
        names = list(kinds)
        p = p[order]
        flat = [
            (start, stop, names[kind]) for start, stop, kind in spans[order].tolist()
        ]
    check_sums(log_z)
    return Sequences(by_sequence(list(zip(flat, p.tolist())), offsets_of(counts)))


def as_segments(
    segments: Corpus, lengths: Collection[int] | np.ndarray, kinds: dict[str, int]
) -> list[list[Segment]]:
    """Check the segments that users ask for, one list for each sequence.

    Parameters
    ----------
    segments : list of lists of (start, stop, type)
    lengths : sequence of int
        Tokens of each sequence.
    kinds : dict
        Has the types there are.

    Raises
    ------
    PlaceError
        If one is no triple, leaves its sequence, or has an unknown type.
    """
    segments = as_sequences(segments, "segments", "segment")
    check_same_lengths(
        np.zeros(len(lengths), np.int64),
        np.zeros(len(segments), np.int64),
        ("X", "segments"),
    )
    return [
        [_checked(segment, i, k, int(T), kinds) for k, segment in enumerate(each)]
        for i, (each, T) in enumerate(zip(segments, lengths))
    ]


def _checked(segment: Any, i: int, k: int, T: int, kinds: dict[str, int]) -> Segment:
    try:
        start, stop, kind = segment
        start = index(start)
        stop = index(stop)
        kind = kind or ""
    except (TypeError, ValueError):
        raise PlaceError(
            i, k, f"expected (start, stop, type), got {describe(segment)}", "segments"
        ) from None
    if not 0 <= start < stop <= T:
        raise PlaceError(
            i, k, f"{segment!r} is empty or leaves the {T} tokens", "segments"
        )
    if kind not in kinds:
        known = some_of(sorted(kinds))
        raise PlaceError(
            i, k, f"no label has the type {kind!r}; choose from {known}", "segments"
        )
    return start, stop, kind


def check_sums(log_z: np.ndarray, given: bool = False) -> None:
    """Check log-partition functions.

    Raises
    ------
    PlaceError
        If scores overflow; or if a sequence has no labelling, unless labels are
        ``given``.
    """
    bad = np.flatnonzero(~(log_z < np.inf))
    if bad.size:
        raise PlaceError(bad[0], None, "the scores of its labellings overflow", "X")
    stuck = np.flatnonzero(log_z == -np.inf)
    if stuck.size and not given:
        raise PlaceError(stuck[0], None, "the constraints leave no labelling")
