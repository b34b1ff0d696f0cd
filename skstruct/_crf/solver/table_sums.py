"""Sums of weights that are found once for a table of rows instead of at each token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from .token_features import TokenLists

Map: TypeAlias = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]
"""``map``, or what does its work in threads."""

RowWeights = TypeVar("RowWeights")
"""The record of the weights that each row adds up; each class has its own."""


class TableSums(ABC, Generic[RowWeights]):
    """The tokens of a corpus as sums of rows of a table.

    Before a pass the rows receive the sums of the weights of their features
    (:meth:`score`). In the pass tokens add up their rows, and add the probabilities of
    their labels to as many rows of ``counts``. Afterwards each row hands on what it has
    received to its features (:meth:`count`).

    There are three: :class:`.PartSums`, whose rows are parts that many tokens share,
    :class:`.ProductSums`, whose rows are the tokens of rows of numbers, and
    :class:`.WeightRows`, whose rows are features with many weights.

    Attributes
    ----------
    tokens : TokenLists
        The rows of each token.
    width : int
        Numbers of a row: the number of labels, rounded up to whole vectors.
    scores : ndarray of shape (R * width,)
        The score of each row, by label.
    counts : ndarray of shape (n_runs, R * width)
        What rows receive in a pass, by run of sequences.
    """

    tokens: TokenLists
    width: int
    scores: np.ndarray
    counts: np.ndarray

    @abstractmethod
    def weights_of_rows(self, first: np.ndarray, label: np.ndarray) -> RowWeights:
        """Return which weights each row adds up, as the other methods take it.

        Parameters
        ----------
        first : ndarray of shape (F + 1,)
            The first weight of each feature.
        label : ndarray of shape (K,)
            The label of each weight.
        """

    @abstractmethod
    def score(self, row_weights: RowWeights, weights: np.ndarray, map: Map) -> None:
        """Fill ``scores``.

        Parameters
        ----------
        row_weights
            Which weights the rows add up, see :meth:`weights_of_rows`.
        weights : ndarray of shape (K,)
            Their values.
        map : callable
            Runs pieces of the work, in any order.
        """

    @abstractmethod
    def count(
        self,
        row_weights: RowWeights,
        n: int,
        square: bool,
        gradient: np.ndarray,
        map: Map,
    ) -> None:
        """Add to a gradient (K,) what the rows have received.

        Parameters
        ----------
        row_weights
            Which weights the rows add up, see :meth:`weights_of_rows`.
        n : int
            Runs of ``counts`` that are in use; their sum is left in the first one.
        square : bool
            Values of features count with their squares.
        gradient : ndarray of shape (K,)
        map : callable
            Runs pieces of the work, in any order.
        """
