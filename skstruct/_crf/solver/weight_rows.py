"""Features with many weights as rows of a table, one number for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .corpus_sums import Occurrences, row_width
from .table_sums import TableSums
from .token_features import TokenLists, select

if TYPE_CHECKING:
    from .table_sums import Map

MANY = 6
"""A feature with so many weights is a row, unless that is much wider."""
WIDEST = 4
"""A row has at most so many numbers for each weight."""


def have_many(n_weights: np.ndarray, n_labels: int) -> np.ndarray:
    """Tell which features are to be rows, (F,) bool, by how many weights each has."""
    return n_weights >= max(MANY, row_width(n_labels) / WIDEST)


def keep_items(lists: TokenLists, keep: np.ndarray, n: int) -> TokenLists:
    """Return lists of the features to ``keep`` (F,) bool, which occur n times."""
    numbers = np.where(keep, np.arange(keep.shape[0]), -1).astype(np.int32)
    return _selected(lists, numbers, n)


def _selected(lists: TokenLists, numbers: np.ndarray, n: int) -> TokenLists:
    new = TokenLists.new(lists.start.shape[0] - 1, n, lists.value.shape[0] > 0)
    if n:
        select(lists, numbers, new)
    return new


class Features(NamedTuple):
    """Features of tokens and their weights: F features, K weights."""

    lists: TokenLists
    occurrences: np.ndarray  # (F,): in how many places each is listed
    first: np.ndarray  # (F + 1,): the first weight of each
    label: np.ndarray  # (K,): of each weight


class WeightRows(TableSums[None]):
    """The weights of features that have many, padded to rows as wide as vectors are.

    Parameters
    ----------
    features : Features
    n_labels, n_runs : int

    Attributes
    ----------
    are_rows : ndarray of shape (F,), bool
    weights : ndarray of int
        The weights that stand in rows.
    place : ndarray of int
        Where each of them stands in ``scores``.
    """

    def __init__(self, features: Features, n_labels: int, n_runs: int) -> None:
        lists, occurrences, first, label = features
        self.width = row_width(n_labels)
        n_weights = np.diff(first)
        self.are_rows = have_many(n_weights, n_labels)
        rows = np.flatnonzero(self.are_rows)
        number = np.full(n_weights.shape[0], -1, np.int32)
        number[rows] = np.arange(rows.shape[0])
        owner = np.repeat(number, n_weights)
        self.weights = np.flatnonzero(owner >= 0)
        row = owner[self.weights].astype(np.int64)
        self.place = row * self.width + label[self.weights]
        self.tokens = _selected(lists, number, int(occurrences[rows].sum()))
        self.scores = np.zeros(rows.shape[0] * self.width)
        self.counts = np.zeros((n_runs, self.scores.shape[0]))

    def weights_of_rows(self, first: np.ndarray, label: np.ndarray) -> None:
        """Return nothing: these rows are made of the weights that they have."""

    def score(self, row_weights: None, weights: np.ndarray, map: Map) -> None:
        """Write the weights (K,) into their rows."""
        self.scores[self.place] = weights[self.weights]

    def count(
        self, row_weights: None, n: int, square: bool, gradient: np.ndarray, map: Map
    ) -> None:
        """Add to a gradient (K,) what the rows have received in n runs.

        The sum of the runs is left in the first one.
        """
        for other in self.counts[1:n]:
            self.counts[0] += other
        gradient[self.weights] += self.counts[0][self.place]


class AllStateSums:
    """An array in which a pass adds up the expected counts of all weights of states,
    those not in use, too.

    Parameters
    ----------
    features : Features
    n_labels, n_runs : int
    partial : ndarray of int, or None
        The tokens of sequences that are labelled in part, if there are any.

    Attributes
    ----------
    rows : WeightRows
        Of the features that have many weights.
    lists : list of (Occurrences, TokenLists)
        The other features, and the rows, of each of what passes walk through: all
        sequences, and those labelled in part, if there are any.
    """

    def __init__(
        self,
        features: Features,
        n_labels: int,
        n_runs: int,
        partial: np.ndarray | None,
    ) -> None:
        self.rows = WeightRows(features, n_labels, n_runs)
        lists, occurrences, first, label = features
        are_few = ~self.rows.are_rows & (np.diff(first) > 0)
        few = keep_items(lists, are_few, int(occurrences[are_few].sum()))
        walked = [(few, self.rows.tokens)]
        if partial is not None:
            walked.append((few.take(partial), self.rows.tokens.take(partial)))
        self.lists = [(Occurrences(few, first, label), rows) for few, rows in walked]
