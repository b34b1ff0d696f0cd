"""Taggers whose scores are log-probabilities up to a constant: marginals, and probabilities of labellings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.inputs import PlaceError, Sequences, as_sequences, check_X_y, lengths_of, offsets_of
from ..data.labels import encode_labels
from ..data.types import Corpus
from .tagger import SequenceTagger


class ProbabilityTagger(SequenceTagger):
    """Base of the chain taggers that know probabilities: ``p(y|x) = exp score(y) / Z(x)``."""

    @property
    def _distribution(self):
        """The ChainModel whose scores are log-probabilities up to a constant."""
        return self._model

    def _sums(self, X, gold=None):
        """(marginals (N * L,), log Z (n,), first tokens) under the model, with labels given or not."""
        check_is_fitted(self)
        sequences = as_sequences(X)
        out, log_z = self._distribution.sums(sequences, gold, self.n_jobs)
        bad = np.flatnonzero(~(log_z < np.inf))
        if bad.size:
            raise PlaceError(bad[0], None, "the scores of its labellings overflow", "X")
        return out, log_z, offsets_of(lengths_of(sequences))

    def predict_marginals(self, X: Corpus) -> list[NDArray[np.float64]]:
        """Probabilities of the labels of each token, given the whole sequence.

        The most probable label of each token (:meth:`predict_posterior`) need not be the one of the most
        probable labelling (:meth:`predict`): marginals sum over all labellings.

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
            If a sequence is not what the model was trained on, the constraints leave it no labelling, or
            values of its features are so large that scores overflow; the message names it.
        """
        rows, token = self._marginals(X)
        return Sequences(rows[a:b] for a, b in zip(token[:-1].tolist(), token[1:].tolist()))

    def predict_posterior(self, X: Corpus) -> list[list[Any]]:
        """The most probable label of each token: posterior decoding.

        Has the fewest wrong labels in expectation, where :meth:`predict` is the labelling that is most
        often right as a whole. Neighbours may contradict the constraints.

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
        return Sequences(self._model.labels.decode(rows.argmax(axis=1).astype(np.int32), token))

    def _marginals(self, X):
        """(marginals (N, L), first tokens)"""
        out, log_z, token = self._sums(X)
        stuck = np.flatnonzero(log_z == -np.inf)
        if stuck.size:
            raise PlaceError(stuck[0], None, "the constraints leave no labelling")
        return out.reshape(-1, len(self._model.labels)), token

    def sequence_log_proba(self, X: Corpus, y: Corpus) -> NDArray[np.float64]:
        """Log-probability of labellings.

        Parameters
        ----------
        X : list of sequences of tokens
        y : list of sequences of labels
            None stands for any label: the probabilities of all completions are summed.

        Returns
        -------
        ndarray of shape (n_sequences,)
            -inf for labellings that constraints forbid.

        Raises
        ------
        ValueError
            If sequences and labels do not fit, a label is unknown, or scores overflow; the message names
            the place.
        """
        check_is_fitted(self)
        X, y, token = check_X_y(X, y)
        gold, _ = encode_labels(y, token, self._model.labels, grow=False)
        given = self._sums(X, gold)[1]
        possible = given > -np.inf
        given[possible] -= self._sums(X)[1][possible]
        return given
