"""Dense rows of numbers in a pass over the corpus: two products of matrices.

The scores of all tokens are ``X W``, and the gradient is ``Xᵀ B`` with the probabilities B of their labels.
Both are done in blocks of tokens, on one thread of BLAS each: results do not depend on how many threads there
are. In between a token is a row of a table (see :mod:`.parts`): it adds up one row, and hands its
probabilities on to one.
"""

import functools
import threading
from contextlib import contextmanager

import numpy as np

from .corpus_sums import row_width

BLOCK = 2048
"""Tokens of a product."""

RUNS = 8
"""Runs of blocks whose gradients are summed separately."""


@functools.cache
def _libraries():
    """What limits the threads of BLAS; None without threadpoolctl, which scikit-learn brings along."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # pragma: no cover
        return None
    return ThreadpoolController()


class _OneThread:
    """A limit of one thread of BLAS, which is one for the whole process: the first of its users sets it, and
    the last one takes it back."""

    def __init__(self):
        self._lock, self._users, self._limit = threading.Lock(), 0, None

    @contextmanager
    def __call__(self):
        with self._lock:
            if self._users == 0 and _libraries() is not None:
                self._limit = _libraries().limit(limits=1, user_api="blas")
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0 and self._limit is not None:
                    self._limit.restore_original_limits()
                    self._limit = None


one_thread_of_blas = _OneThread()


class ProductSums:
    """The tokens of a corpus as rows of a table; has the methods of :class:`.parts.PartSums`.

    Parameters
    ----------
    features : DenseFeatures
        Of N tokens.
    token : ndarray of shape (n + 1,)
        First token of each sequence.
    row : ndarray of shape (F,)
        The weight row of each feature.
    n_labels, n_runs : int
    """

    def __init__(self, features, token, row, n_labels, n_runs):
        self.dense, self.place = features.rows, features.place
        self.row, self.width, self.n = row, row_width(n_labels), features.place.shape[0]
        length = np.diff(token)
        self.before = np.arange(self.n) - np.repeat(token[:-1], length)
        self.behind = np.repeat(length, length) - 1 - self.before
        self.tokens = np.arange(self.n + 1), np.arange(self.n, dtype=np.int32), np.zeros(0)
        self.scores = np.zeros(self.n * self.width)
        self.counts = np.zeros((n_runs, self.n * self.width))
        self._map = map

    def whole(self, first, label):
        """The places, in a matrix of weights, of those from ``first`` on by feature, with ``label``."""
        return np.repeat(self.row, np.diff(first)) * np.int64(self.width) + label

    def score(self, places, weights, map, n):
        """Fill the scores; ``places`` of the weights as of :meth:`whole`."""
        matrix = np.zeros((self.dense.n_rows, self.width))
        matrix.ravel()[places] = weights
        columns, scores, self._map = self._columns(places), self.scores.reshape(self.n, self.width), map

        def work(a):
            out = scores[a : a + BLOCK]
            out[:] = matrix[-1] if self.dense.bias else 0.0
            for rows, block, of_matrix in self._blocks(a, columns):
                out[rows] += block @ matrix[of_matrix]

        self._on_one_thread(work, range(0, self.n, BLOCK))

    def count(self, places, n, square, gradient):
        """Add to a gradient what the tokens have received in n runs; their sum is left in the first one."""
        for other in self.counts[1:n]:
            self.counts[0] += other
        columns, runs = self._columns(places), np.zeros((RUNS, self.dense.n_rows, self.width))

        def work(k):
            for a in range(0, self.n, BLOCK)[k::RUNS]:
                self._add_product(a, columns, square, runs[k])

        self._on_one_thread(work, range(RUNS))
        gradient[: places.shape[0]] += runs.sum(axis=0).ravel()[places]

    def _add_product(self, a, columns, square, out):
        received = self.counts[0].reshape(self.n, self.width)[a : a + BLOCK]
        for rows, block, of_matrix in self._blocks(a, columns):
            out[of_matrix] += (block * block if square else block).T @ received[rows]
        if self.dense.bias:
            out[-1] += received.sum(axis=0)

    def _columns(self, places):
        """By neighbour of a token: (its distance, columns in use, their rows in a matrix of weights)."""
        d, F = self.dense, self.dense.block.shape[1]
        used = np.unique(places // self.width)
        found = []
        for k, shift in enumerate(range(d.low, d.high + 1)):
            mine = used[(used >= k * F) & (used < (k + 1) * F)]
            found.append((shift, mine - k * F, mine))
        return [each for each in found if each[1].shape[0]]

    def _blocks(self, a, columns):
        """By neighbour: (tokens of the block that have it, its columns in use, rows of a matrix)."""
        d, b = self.dense, min(a + BLOCK, self.n)
        for shift, mine, of_matrix in columns:
            rows = slice(None)
            if shift:
                rows = np.flatnonzero((self.before[a:b] + shift >= 0) & (self.behind[a:b] - shift >= 0))
            at = self.place[a:b][rows] + shift
            block = d.block[at] if mine.shape[0] == d.block.shape[1] else d.block[at[:, None], mine]
            block = block.astype(np.float64, copy=False)
            yield rows, block if d.scale == 1.0 else d.scale * block, of_matrix

    def _on_one_thread(self, work, items):
        """All items, on the threads of the objective; each calls BLAS on one."""
        with one_thread_of_blas():
            list(self._map(work, items))
