"""The type that ``CRF.predict`` returns: an array of lists, one for each sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class SequenceArray(np.ndarray):
    """A 1-D array of lists, also where all lists are equally long.

    ``np.array`` makes a matrix of lists of one length, and tools that cut and join
    predictions, as cross-validation does, then get matrices and vectors by chance.
    ``==`` and ``!=`` compare whole sequences, as programs expect that were written for
    the matrix, or for a list: one bool for each, whether it is the list of the other
    side. A pickle holds a plain array.
    """

    @classmethod
    def of(cls, sequences: Iterable[Any]) -> SequenceArray:
        """Return the array of an iterable of lists."""
        sequences = list(sequences)
        found = np.empty(len(sequences), dtype=object)
        for k, sequence in enumerate(
            sequences
        ):  # numpy would spread lists of the array's length
            found[k] = sequence
        return found.view(cls)

    def __eq__(self, other: Any) -> Any:
        """Tell which sequences are equal; ``other`` may be one sequence, which is
        compared
        with each."""
        is_many = isinstance(other, Iterable) and not isinstance(other, (str, bytes))
        if self.ndim != 1 or not is_many:
            return super().__eq__(other)
        others = list(other)
        if not all(map(_is_sequence, others)):
            others = [others]
        if len(others) == 1:
            others *= len(self)
        if len(others) != len(self):
            raise ValueError(
                f"{len(self)} sequences cannot be compared with {len(others)}"
            )
        return np.array([_same(a, b) for a, b in zip(self, others)], dtype=bool)

    def __ne__(self, other: Any) -> Any:
        """Tell which sequences differ."""
        return np.logical_not(self == other)

    __hash__ = None

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _same(one: Any, other: Any) -> bool:
    return (
        list(one) == list(other)
        if _is_sequence(one) and _is_sequence(other)
        else one == other
    )
