"""Dense rows of numbers in a pass over a corpus: two products of matrices.

The scores of all tokens are ``X W``, and the gradient is ``Xᵀ B`` with the
probabilities B of their labels. Both are done in blocks of tokens, on one thread of
BLAS each: results do not depend on how many threads there are. In between a token is a
row of a table (:mod:`.table_sums`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .corpus_sums import row_width
from .table_sums import TableSums
from .token_features import TokenLists

if TYPE_CHECKING:
    from .corpus_sums import Sequences
    from .table_sums import Map
    from .token_features import DenseFeatures

BLOCK = 2048
"""Tokens of a product."""
RUNS = 8
"""Runs of blocks whose gradients are summed separately."""


class Columns(NamedTuple):
    """The columns in use of a neighbour of the tokens."""

    shift: int  # its distance from a token, below 0 before it
    mine: np.ndarray  # numbers of the columns
    of_matrix: np.ndarray  # their rows in a matrix of weights


@functools.cache
def _libraries() -> Any:
    """Return what limits the threads of BLAS."""
    from threadpoolctl import ThreadpoolController  # which scikit-learn brings along

    return ThreadpoolController()


_lock = threading.Lock()
_limits: list[Any] = []


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Limit BLAS to one thread.

    There is one limit for the whole process: the first of its users sets it, and the
    last one takes it back.
    """
    with _lock:
        _limits.append(
            _limits[0] if _limits else _libraries().limit(limits=1, user_api="blas")
        )
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


class ProductSums(TableSums[np.ndarray]):
    """The tokens of a corpus as rows of a table; its scores are a product of matrices.

    Parameters
    ----------
    features : DenseFeatures
        Of N tokens.
    sequences : Sequences
    row : ndarray of shape (F,)
        The weight row of each feature.
    n_labels, n_runs : int
    """

    def __init__(
        self,
        features: DenseFeatures,
        sequences: Sequences,
        row: np.ndarray,
        n_labels: int,
        n_runs: int,
    ) -> None:
        self.dense = features.rows
        self.place = features.place
        self.row = row
        self.width = row_width(n_labels)
        self.n = features.place.shape[0]
        length = sequences.lengths
        self.before = np.arange(self.n) - np.repeat(sequences.token[:-1], length)
        self.behind = np.repeat(length, length) - 1 - self.before
        self.tokens = TokenLists(
            np.arange(self.n + 1), np.arange(self.n, dtype=np.int32), np.zeros(0)
        )
        self.scores = np.zeros(self.n * self.width)
        self.counts = np.zeros((n_runs, self.n * self.width))

    def weights_of_rows(self, first: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the places of weights in a matrix with a row for each column of X.

        Parameters
        ----------
        first : ndarray of shape (F + 1,)
            The first weight of each feature.
        label : ndarray of shape (K,)

        Returns
        -------
        ndarray of shape (K,)
        """
        return np.repeat(self.row, np.diff(first)) * np.int64(self.width) + label

    def score(self, row_weights: np.ndarray, weights: np.ndarray, map: Map) -> None:
        """Fill the scores, ``X W``.

        ``row_weights`` (K,) has the places in W of ``weights`` (K,).
        """
        matrix = np.zeros((self.dense.n_rows, self.width))
        matrix.ravel()[row_weights] = weights
        columns = self._find_columns(row_weights)
        scores = self.scores.reshape(self.n, self.width)

        def work(a: int) -> None:
            out = scores[a : a + BLOCK]
            out[:] = matrix[-1] if self.dense.bias else 0.0
            for rows, block, of_matrix in self._blocks(a, columns):
                out[rows] += block @ matrix[of_matrix]

        with one_thread_of_blas():
            list(map(work, range(0, self.n, BLOCK)))

    def count(
        self,
        row_weights: np.ndarray,
        n: int,
        square: bool,
        gradient: np.ndarray,
        map: Map,
    ) -> None:
        """Add to a gradient (K,) what tokens have received in n runs: ``Xᵀ B``.

        The sum of the runs is left in the first one. ``row_weights`` has the places of
        the weights, see :meth:`weights_of_rows`; with ``square`` it is the square of
        each x.
        """
        for other in self.counts[1:n]:
            self.counts[0] += other
        columns = self._find_columns(row_weights)
        runs = np.zeros((RUNS, self.dense.n_rows, self.width))

        def work(k: int) -> None:
            for a in range(0, self.n, BLOCK)[k::RUNS]:
                self._add_product(a, columns, square, runs[k])

        with one_thread_of_blas():
            list(map(work, range(RUNS)))
        gradient[: row_weights.shape[0]] += runs.sum(axis=0).ravel()[row_weights]

    def _add_product(
        self, a: int, columns: list[Columns], square: bool, out: np.ndarray
    ) -> None:
        received = self.counts[0].reshape(self.n, self.width)[a : a + BLOCK]
        for rows, block, of_matrix in self._blocks(a, columns):
            out[of_matrix] += (block * block if square else block).T @ received[rows]
        if self.dense.bias:
            out[-1] += received.sum(axis=0)

    def _find_columns(self, places: np.ndarray) -> list[Columns]:
        """List the columns that have weights, by neighbour of a token."""
        d = self.dense
        F = self.dense.block.shape[1]
        used = np.unique(places // self.width)
        found = []
        for k, shift in enumerate(range(d.low, d.high + 1)):
            mine = used[(used >= k * F) & (used < (k + 1) * F)]
            found.append(Columns(shift, mine - k * F, mine))
        return [each for each in found if each.mine.shape[0]]

    def _blocks(
        self, a: int, columns: list[Columns]
    ) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        """Yield the part of a block of tokens that each neighbour has, from token a on.

        Yields
        ------
        rows : slice or ndarray
            Tokens of the block that have the neighbour.
        block : ndarray of shape (tokens, columns)
            The values of its columns in use.
        of_matrix : ndarray
            Their rows in a matrix of weights.
        """
        d = self.dense
        b = min(a + BLOCK, self.n)
        for shift, mine, of_matrix in columns:
            rows: Any = slice(None)
            if shift:
                rows = np.flatnonzero(
                    (self.before[a:b] + shift >= 0) & (self.behind[a:b] - shift >= 0)
                )
            at = self.place[a:b][rows] + shift
            if mine.shape[0] == d.block.shape[1]:
                block = d.block[at]
            else:
                block = d.block[at[:, None], mine]
            block = block.astype(np.float64, copy=False)
            yield rows, block if d.scale == 1.0 else d.scale * block, of_matrix
