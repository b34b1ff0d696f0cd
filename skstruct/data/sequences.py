"""Sequences whose tokens stand in one table: one container, whatever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import PLACE, PlaceError, describe


class TokenTable(ABC):
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

    def _cut(self, lengths):
        """Note where sequences end."""
        self.lengths = lengths
        self.offsets = np.zeros(lengths.shape[0] + 1, np.int64)
        np.cumsum(lengths, out=self.offsets[1:])

    @abstractmethod
    def _rows(self, rows):
        """What stands in some rows, a slice or an array of numbers: without a copy if it is a slice."""

    @abstractmethod
    def _picked(self, rows, lengths):
        """Sequences of these lengths over some rows."""

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
        if isinstance(key, tuple):  # X[key, ...] is how scikit-learn slices what has a shape
            rest = [part for part in key if part is not Ellipsis]
            if len(rest) > 1:
                raise IndexError(f"a {type(self).__name__} has one dimension, got {len(rest)} indices")
            key = rest[0] if rest else slice(None)
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            i = range(len(self))[key]
            return self._rows(slice(int(self.offsets[i]), int(self.offsets[i + 1])))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                rows = slice(int(self.offsets[start]), int(self.offsets[stop]))
                return self._picked(rows, self.lengths[start:stop])
            key = np.arange(start, stop, step)
        which = _positions(key, len(self))
        lengths = self.lengths[which]
        ends = np.cumsum(lengths)
        n = int(ends[-1]) if ends.shape[0] else 0
        return self._picked(np.arange(n) + np.repeat(self.offsets[which] - ends + lengths, lengths), lengths)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        array = np.empty(len(self), dtype=object)
        for i, sequence in enumerate(self):
            array[i] = sequence
        return array

    def blanked(self, keep):
        """The sequences, of which only those of the mask ``keep`` have tokens."""
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
        bounds = self.offsets.tolist()
        if len(values) != bounds[-1]:
            raise ValueError(f"values must have one entry a token, {bounds[-1]}, got {len(values)}")
        return [values[a:b] for a, b in zip(bounds, bounds[1:])]

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


def _positions(key, n):
    """The positions that a list of indices or a mask means."""
    found = np.asarray(key)
    if found.ndim != 1:
        raise IndexError(f"expected an index, a slice, or a list of indices or of bool, got {describe(key)}")
    if found.dtype == bool:
        if found.shape[0] != n:
            raise IndexError(f"the mask has {found.shape[0]} entries for {n} sequences")
        return np.flatnonzero(found)
    if not found.shape[0]:
        return np.zeros(0, np.int64)
    if found.dtype.kind not in "iu":
        raise IndexError(f"expected indices or a mask, got {describe(key)}")
    if found.max() >= n or found.min() < -n:
        raise IndexError(f"an index is out of range for {n} sequences")
    return np.where(found < 0, found + n, found)
