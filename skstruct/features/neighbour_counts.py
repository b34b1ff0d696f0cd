"""Counts of neighbouring words for :class:`.word_vectors.WordVectors`, and their
weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._data.places import numbered, offsets_of
from .numeric import neighbours_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

SMOOTHING = 0.75
"""Power of the counts of contexts: without it those that are rare would weigh most."""

AT_ONCE = 1_000_000
"""Characters of raw text that are counted at once."""


def parts(lines: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Cut texts into parts of about `AT_ONCE` characters.

    Yields
    ------
    first : int
        Number of its first text.
    texts : list of str
    """
    first = 0
    texts = []
    size = 0
    for line in lines:
        texts.append(line)
        size += len(line) if isinstance(line, str) else 0
        if size >= AT_ONCE:
            yield first, texts
            first = first + len(texts)
            texts = []
            size = 0
    if texts or not first:
        yield first, texts


class NeighbourCounts:
    """Occurrences of words, and of their neighbours at each distance and side.

    Attributes
    ----------
    known : dict of str to int
        The words, in the order of their first occurrence.
    of_word : ndarray of shape (n_words,), int64
    """

    def __init__(self, window: int) -> None:
        self.known: dict[str, int] = {}
        self.of_word = np.zeros(0, np.int64)
        shifts = [
            shift
            for distance in range(1, window + 1)
            for shift in (-distance, distance)
        ]
        self._blocks = {shift: sparse.csr_matrix((0, 1)) for shift in shifts}

    def add(self, forms: Sequence[str], lengths: np.ndarray) -> None:
        """Count the words of sequences, and their neighbours.

        Parameters
        ----------
        forms : list of str
            The words, one sequence behind the other.
        lengths : ndarray of int64
            Words of each sequence.
        """
        ids, self.known = numbered(forms, self.known)
        n_words = len(self.known)
        token = offsets_of(lengths)
        before = np.pad(self.of_word, (0, n_words - self.of_word.shape[0]))
        self.of_word = before + np.bincount(ids, minlength=n_words)
        for shift, before in self._blocks.items():
            at, inside = neighbours_of(token, shift, shift)
            column = np.where(inside, ids[at] + 1, 0)[
                :, 0
            ]  # column 0 is the end of a sequence
            shape = n_words, n_words + 1
            before.resize(shape)
            self._blocks[shift] = before + sparse.csr_matrix(
                (np.ones(ids.shape), (ids, column)), shape=shape
            )

    def neighbours(self, keep: np.ndarray) -> sparse.csr_matrix:
        """Return the counts of neighbours of the words kept.

        Parameters
        ----------
        keep : ndarray of shape (n_words,), bool

        Returns
        -------
        CSR of shape (n_kept, 2 * window * (n_words + 1))
            A block of columns for each distance and side; its last column is the end
            of a sequence.
        """
        blocks = [block[keep] for block in self._blocks.values()]
        parts = [part for block in blocks for part in (block[:, 1:], block[:, :1])]
        return sparse.hstack(parts, format="csr")


def mutual_information(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Weight counts by positive pointwise mutual information.

    max(0, log p(word, context) / (p(word) p(context))), the contexts' probabilities
    smoothed.

    Parameters
    ----------
    counts : CSR of shape (n_words, n_contexts)

    Returns
    -------
    CSR of the same shape
    """
    words = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** SMOOTHING
    found = counts.tocoo()
    ratio = found.data * contexts.sum() / (words[found.row] * contexts[found.col])
    found.data = np.log(np.maximum(ratio, 1.0))
    found = found.tocsr()
    found.eliminate_zeros()
    return found
