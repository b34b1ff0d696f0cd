"""Sequences whose tokens stand in one table: one container, whatever the rows are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import PLACE, PlaceError, as_objects, by_sequence, describe, offsets_of, ranges


class TokenTable:
    """Sequences of tokens, of which each is a row of one table.

    It behaves as the list of its sequences: it has a length, can be iterated over and sliced, and all of
    scikit-learn that splits lists splits it.

    Attributes
    ----------
    lengths : ndarray of shape (n_sequences,), int64
        Rows of each sequence.
    offsets : ndarray of shape (n_sequences + 1,), int64
        Where each sequence begins and the last one ends.
    """

    lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, tokens, lengths):
        """Sequences over a table that needs no check.

        Parameters
        ----------
        tokens : Rows or MixedTokens
            ``tokens.take(rows)`` are those of some rows, ``tokens.shown`` is what a user sees of them.
        lengths : ndarray of shape (n_sequences,), int64
        """
        X = cls.__new__(cls)
        X._hold(tokens, lengths)
        return X

    def _hold(self, tokens, lengths):
        self._tokens, self.lengths, self.offsets = tokens, lengths, offsets_of(lengths)

    def flat(self):
        """All tokens."""
        return self._tokens

    def _rows(self, rows):
        """What a user sees of some rows, a slice or an array of numbers: no copy if it is a slice."""
        return self._tokens.take(rows).shown

    def _picked(self, rows, lengths):
        """Sequences of these lengths over some rows."""
        return type(self).of(self._tokens.take(rows), lengths)

    @property
    def shape(self) -> tuple[int]:
        """``(n_sequences,)``"""
        return (self.lengths.shape[0],)

    def __len__(self) -> int:
        return int(self.lengths.shape[0])

    def __iter__(self) -> Iterator[Any]:
        bounds = self.offsets.tolist()
        return (self._rows(slice(a, b)) for a, b in zip(bounds, bounds[1:]))

    def __getitem__(self, key: Any) -> Any:
        which, offsets = np.arange(len(self))[key], self.offsets
        if which.ndim == 0:
            return self._rows(slice(int(offsets[which]), int(offsets[which + 1])))
        if which.ndim > 1:
            raise IndexError(f"a {type(self).__name__} has one dimension, got the index {describe(key)}")
        lengths = self.lengths[which]
        if (np.diff(which) == 1).all():
            first, last = (int(which[0]), int(which[-1])) if which.size else (0, -1)
            return self._picked(slice(int(offsets[first]), int(offsets[last + 1])), lengths)
        return self._picked(ranges(offsets[which], lengths)[1], lengths)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return as_objects(self)

    def blanked(self, keep):
        """The sequences, with those outside of the mask ``keep`` emptied."""
        return self._picked(np.flatnonzero(np.repeat(keep, self.lengths)), np.where(keep, self.lengths, 0))

    def split(self, values: Any) -> list[Any]:
        """Flat values, one a token, by sequence.

        Parameters
        ----------
        values : sequence of length n_tokens
            Such as labels or probabilities; arrays are sliced without a copy.

        Returns
        -------
        list
            One part for each sequence.
        """
        if not hasattr(values, "__len__") or hasattr(values, "tocsr"):
            raise ValueError(f"values must be a list or an array, got {describe(values)}")
        if hasattr(values, "iloc") or hasattr(values, "to_numpy"):
            values = values.to_numpy()
        n = int(self.offsets[-1])
        if len(values) != n:
            raise ValueError(f"values must have one entry a token, {n}, got {len(values)}")
        return by_sequence(values, self.offsets)

    def column(self, values: Any) -> list[Any]:
        """Values by sequence, one a token, in one list: what was predicted, as a column of a table.

        Parameters
        ----------
        values : list of lists
            One list for each sequence, as ``predict`` returns them.

        Returns
        -------
        list
            One value for each token.

        Examples
        --------
        >>> from skstruct import SequenceMatrix
        >>> SequenceMatrix([[1.0], [2.0], [3.0]], [2, 1]).column([["a", "b"], ["c"]])
        ['a', 'b', 'c']
        """
        values = list(values)
        if len(values) != len(self):
            raise ValueError(f"values must have one list a sequence, {len(self)}, got {len(values)}")
        for i, (n, part) in enumerate(zip(self.lengths.tolist(), values)):
            if len(part) != n:
                raise PlaceError(i, None, f"{PLACE} has {n} tokens, got {len(part)} values", "values")
        return [value for part in values for value in part]
