"""The votes of a corpus's spans on the type of one of them.

Of a string that is annotated elsewhere, other annotations are better evidence than a
model, which weighs it among much else; of a string that is not, its first and last word
are. Models and annotations are joined by back-off smoothing: where there are few votes,
what is more general counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from .span_columns import Floats, Ints

PSEUDO_VOTES_OF_STRING = 0.25
PSEUDO_VOTES_OF_ENDS = 1.0
"""The weight of more general evidence, in votes of a string or of its first and last
words.
"""

UNSURE = 1e-2
"""The number added to each probability of a model, since models are overconfident."""

LITTLE = 5e-4
"""The probability from which on one is told from another."""

_WORDS = re.compile(r"\w+")


class TypeVotes:
    """Votes of annotated spans about types.

    Parameters
    ----------
    n_labels : int
    spans : iterable of (str, int)
        Texts of spans, and the numbers of their labels.
    """

    def __init__(self, n_labels: int, spans: Iterable[tuple[str, int]]) -> None:
        self._rows: dict[Any, int] = {}
        votes = [
            (self._rows.setdefault(key, len(self._rows)), label)
            for text, label in spans
            for key in _keys(text)
        ]
        rows, labels = np.array(votes, np.int64).reshape(-1, 2).T
        shape = len(self._rows) + 1, n_labels  # the last has no votes
        self._votes = sparse.csr_matrix((np.ones(len(rows)), (rows, labels)), shape)

    def voters(self, text: str) -> tuple[int, int, int, int]:
        """Return the rows of the string, of its first and last word, and how often it
        votes itself by these.
        """
        nobody = len(self._rows)
        string, *ends = (self._rows.get(key, nobody) for key in _keys(text))
        return string, ends[0], ends[1] if len(ends) > 1 else nobody, len(ends)

    def shares(self, voters: Ints, own: Floats, model: Floats) -> Floats:
        """Return how probable each type is of n spans, (n, L).

        Parameters
        ----------
        voters : ndarray of shape (n, 4)
            Of each string.
        own : ndarray of shape (n, L)
            How often spans at the place itself have voted; these votes do not count.
        model : ndarray of shape (n, L)
            Its probability with each label, by a model that has not seen it.
        """
        string, first, last, n_ends = voters.T
        by_string = self._votes[string].toarray() - own
        by_ends = (self._votes[first] + self._votes[last]).toarray()
        by_ends -= own * n_ends[:, None]
        by_model = model + UNSURE
        by_model /= by_model.sum(axis=1, keepdims=True)
        backed = _backed_off(by_ends, by_model, PSEUDO_VOTES_OF_ENDS)
        return _backed_off(by_string, backed, PSEUDO_VOTES_OF_STRING)


def rivals_of(labels: Ints, shares: Floats) -> tuple[Ints, Floats]:
    """Return the most probable other type of n spans, and its log-odds against their
    labels; -1 and 0 if there is a single type.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    shares : ndarray of shape (n, L)
    """
    n = np.arange(len(labels))
    if shares.shape[1] < 2:
        return np.full(len(labels), -1), np.zeros(len(labels))
    others = shares.copy()
    others[n, labels] = -1.0
    rival = others.argmax(axis=1)
    return rival, np.log(shares[n, rival] / shares[n, labels])


def believed(p: Floats, other: Floats, odds: Floats) -> Floats:
    """Estimate how often labels are given rightly: of the probability of a label and of
    the best other one, the part that the model and the votes give it, half and half.
    """
    ratio = np.log(np.maximum(p, LITTLE) / np.maximum(other, LITTLE))
    return (p + other) / (1.0 + np.exp(0.5 * (odds - ratio)))


@lru_cache(maxsize=2**16)
def _keys(text: str) -> tuple[tuple[str, str, str], ...]:
    """Return what a span votes about: its string, its first and its last word."""
    words = _WORDS.findall(text.casefold()) or [text]
    string = "string", "", " ".join(words)
    if len(words) == 1:
        return string, ("ends", "alone", words[0])
    return string, ("ends", "first", words[0]), ("ends", "last", words[-1])


def _backed_off(votes: Floats, general: Floats, weight: float) -> Floats:
    """Compute shares of votes, to which what is more general adds some."""
    total = votes.sum(axis=1, keepdims=True) + weight
    return (votes + weight * general) / total
