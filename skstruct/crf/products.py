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

from ..chain.marginals import row_width

BLOCK = 2048
"""Tokens of a product."""

RUNS = 8
"""Runs of blocks whose gradients are summed separately."""

PRODUCT = 0.15
"""What a column costs a token for each label, if a weight listed at a token costs 1."""


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
    dense : Dense
        The rows of N tokens.
    token : ndarray of shape (n + 1,)
        First token of each sequence.
    place : ndarray of shape (N,)
        The number of each token of the objective, whose sequences are in another order, in ``dense``.
    row : ndarray of shape (F,)
        The weight row of each feature.
    n_labels, n_runs : int
    """

    def __init__(self, dense, token, place, row, n_labels, n_runs):
        self.dense, self.row, self.width = dense, row, row_width(n_labels)
        self.n = dense.block.shape[0]
        length = np.diff(token)
        self.before = np.arange(self.n) - np.repeat(token[:-1], length)
        self.behind = np.repeat(length, length) - 1 - self.before
        self.tokens = np.arange(self.n + 1), place.astype(np.int32), np.zeros(0)
        self.scores = np.zeros(self.n * self.width)
        self.counts = np.zeros((n_runs, self.n * self.width))
        self._product, self._map = None, map

    def is_shorter(self, occurrences, n_weights):
        """Whether products cost less than the weights that would be listed at all tokens."""
        listed = float(np.dot(occurrences, n_weights))
        return listed > PRODUCT * self.n * self.dense.n_rows * self.width

    def whole(self, first, label):
        """The places, in a matrix of weights, of those from ``first`` on by feature, with ``label``."""
        return np.repeat(self.row, np.diff(first)) * np.int64(self.width) + label

    def score(self, places, weights, map, n):
        """Fill the scores; ``places`` of the weights as of :meth:`whole`."""
        matrix = np.zeros((self.dense.n_rows, self.width))
        matrix.ravel()[places] = weights
        scores = self.scores.reshape(self.n, self.width)
        self._product, self._map = None, map

        def work(a):
            out = scores[a : a + BLOCK]
            out[:] = matrix[-1] if self.dense.bias else 0.0
            for columns, rows, block in self._blocks(a):
                out[rows] += block @ matrix[columns]

        self._on_one_thread(work, range(0, self.n, BLOCK))

    def count(self, places, n, square, gradient):
        """Add to a gradient what the tokens have received in n runs; their sum is left in the first one."""
        if self._product is None:
            for other in self.counts[1:n]:
                self.counts[0] += other
            runs = np.zeros((RUNS, self.dense.n_rows, self.width))

            def work(k):
                for a in range(0, self.n, BLOCK)[k::RUNS]:
                    self._add_product(a, square, runs[k])

            self._on_one_thread(work, range(RUNS))
            self._product = runs.sum(axis=0).ravel()
        gradient[: places.shape[0]] += self._product[places]

    def _add_product(self, a, square, out):
        received = self.counts[0].reshape(self.n, self.width)[a : a + BLOCK]
        for columns, rows, block in self._blocks(a):
            out[columns] += (block * block if square else block).T @ received[rows]
        if self.dense.bias:
            out[-1] += received.sum(axis=0)

    def _blocks(self, a):
        """By place of the window: (columns of weights, tokens of the block, their rows as float64)."""
        d, b = self.dense, min(a + BLOCK, self.n)
        F = d.block.shape[1]
        for k, shift in enumerate(range(d.low, d.high + 1)):
            rows, at = slice(None), slice(a, b)
            if shift:
                inside = (self.before[a:b] + shift >= 0) & (self.behind[a:b] - shift >= 0)
                rows = np.flatnonzero(inside)
                at = rows + (a + shift)
            block = d.block[at].astype(np.float64, copy=False)
            yield slice(k * F, (k + 1) * F), rows, block if d.scale == 1.0 else d.scale * block

    def _on_one_thread(self, work, items):
        """All items, on the threads of the objective; each calls BLAS on one."""
        with one_thread_of_blas():
            list(self._map(work, items))
