"""The corpus written out in some of the weights.

A pass over a corpus adds up the weights of each token, and hands probabilities on to
them. A :class:`View` lists for it what a token has to add up, in the one of two ways
that has less of it: the weights one by one, which is little where few weights are in
use; or the rows of a table of sums, one for each part of the token (see
:mod:`.token_parts`).

Of dense rows of numbers the scores of all tokens are ``X W``, and the gradient is ``Xᵀ
B`` with the probabilities B of their labels: two products of matrices. Both are done in
blocks of tokens, on one thread of BLAS each: results do not depend on how many threads
there are. In between a token is a row of a table, too.
"""

import functools
import threading
from contextlib import contextmanager

import numpy as np

from ..._core.compile import kernel
from .corpus_sums import LAST, Corpus, Occurrences, row_width
from .token_features import TokenLists, append, select

MANY = 6
"""A feature with so many weights has them listed in one place, not at each of its
tokens.
"""
PART = 4.0
LABEL = 0.75
PART_FEATURE = 6.0
"""What a part of a token costs, each label of it, and a feature of a part, if a weight
listed at a token costs 1: measured with 4 to 49 labels.
"""
BLOCK = 2048
"""Tokens of a product."""
RUNS = 8
"""Runs of blocks whose gradients are summed separately."""


@kernel
def _list_weights(lists, first, n_weights, new):
    """List the weights of each feature f, ``n_weights[f]`` from ``first[f]`` on."""
    n = 0
    for t in range(lists.start.shape[0] - 1):
        new.start[t] = n
        for e in range(lists.start[t], lists.start[t + 1]):
            f = lists.item[e]
            x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
            for k in range(first[f], first[f] + n_weights[f]):
                n = append(new, n, k, x)
    new.start[lists.start.shape[0] - 1] = n


def _made(kernel, n, lists, *how):
    """New lists of n items by :func:`select` or :func:`_list_weights`."""
    new = TokenLists.new(lists.start.shape[0] - 1, n, lists.value.shape[0] > 0)
    if n:
        kernel(lists, *how, new)
    return new


def _with_weights(lists, n_weights):
    """The lists of the features that have weights."""
    in_use = np.where(n_weights > 0, np.arange(n_weights.shape[0]), -1).astype(np.int32)
    return _made(select, np.count_nonzero(in_use[lists.item] >= 0), lists, in_use)


def _first(owner, n):
    """(how many weights each of n features has, the first of each), from the owners of
    the weights.
    """
    n_weights = np.bincount(owner, minlength=n)
    return n_weights, np.append(0, np.cumsum(n_weights)).astype(np.int32)


class Selection:
    """Some weights: ``chosen`` (sorted indices of optional ones), and all pairs of
    labels.

    Attributes
    ----------
    chosen : ndarray
    n_states : int
        How many of them are pairs of a feature and a label.
    where : ndarray of shape (size,)
        The places of these weights among all.
    """

    def __init__(self, objective, chosen):
        self.chosen, self.n_states = (
            chosen,
            int(np.searchsorted(chosen, objective.n_pairs)),
        )
        self.where = np.concatenate(
            [chosen, np.arange(objective.n_optional, objective.size)]
        )
        self.size = self.where.shape[0]


class View(Selection):
    """The corpus written out in some of the weights.

    Attributes
    ----------
    corpus : Corpus
        What tokens add up.
    sums : PartSums, ProductSums or None
        The table whose rows tokens add up, if they do.
    parts : Occurrences or ndarray
        The weights of the rows, as ``sums`` takes them.
    edges : Occurrences
        The transitions that look at the input.
    clamped : tuple (Corpus, Occurrences) or None
        The partially labelled sequences and their transitions.
    """

    def __init__(self, objective, chosen):
        super().__init__(objective, chosen)
        o = objective
        self.sums = None
        self.parts = None
        self.edges = objective.edges
        pairs = chosen[: self.n_states]
        edges = chosen[self.n_states :] - o.n_pairs
        label = o.pair_label[pairs]
        n_weights, first = _first(o.pair_feature[pairs], o.n_features)
        if o.edge_pair.shape[0]:
            of_edges, first_edge = _first(o.edge_pair[edges, 0], o.n_edge_rows)
            self.edges = Occurrences(
                _with_weights(o.edges.lists, of_edges), first_edge, o.edges.label[edges]
            )
        if o.products is not None:
            self.sums, self.parts = o.products, o.products.whole(first, label)
        elif o.grouping is not None and _is_shorter_by_parts(o, n_weights):
            self.sums = o.parts
            self.parts = Occurrences(
                _with_weights(o.parts.features, n_weights), first, label
            )
        if self.sums is not None:
            entries = runs = TokenLists.new(o.n_tokens)
            run_label = label
            rows = self.sums.tokens
            table = self.sums.scores
        else:
            many, times = (
                n_weights >= MANY,
                o.occurrences,
            )  # which say how much there will be
            few = np.where(many, 0, n_weights)
            n_listed = int(times @ few)
            n_runs = int(times[many].sum())
            entries = _made(_list_weights, n_listed, o.features, first, few)
            # Runs take the numbers of their first weights for the numbers of the
            # features.
            runs = _made(
                select,
                n_runs,
                o.features,
                np.where(many, first[:-1], -1).astype(np.int32),
            )
            run_label = label.copy()
            run_label[first[1:][first[1:] > first[:-1]] - 1] += LAST
            rows = TokenLists.new(0)
            table = np.zeros(0)
        self.corpus = Corpus(o.sequences, entries, runs, label, run_label, rows, table)
        self.clamped = o.subcorpus(self.corpus, self.edges)


def _is_shorter_by_parts(objective, n_weights):
    """Whether tokens have less to add up by parts, if features have ``n_weights``."""
    o = objective
    listed = float(np.dot(o.occurrences, n_weights))
    by_parts = (
        PART + LABEL * o.n_labels
    ) * o.grouping.n_parts + PART_FEATURE * o.grouping.n_features
    return listed > by_parts


# -- dense rows of numbers -------------------------------------------------------------
@functools.cache
def _libraries():
    """What limits the threads of BLAS."""
    from threadpoolctl import ThreadpoolController  # which scikit-learn brings along

    return ThreadpoolController()


_lock = threading.Lock()
_limits = []


@contextmanager
def one_thread_of_blas():
    """A limit of one thread of BLAS, which is one for the whole process: the first of
    its users sets it, and the last one takes it back.
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


class ProductSums:
    """The tokens of a corpus as rows of a table; has the methods of
    :class:`.token_parts.PartSums`.

    Parameters
    ----------
    features : DenseFeatures
        Of N tokens.
    sequences : Sequences
    row : ndarray of shape (F,)
        The weight row of each feature.
    n_labels, n_runs : int
    """

    def __init__(self, features, sequences, row, n_labels, n_runs):
        self.dense = features.rows
        self.place = features.place
        self.row, self.width, self.n = row, row_width(n_labels), features.place.shape[0]
        length = sequences.lengths
        self.before = np.arange(self.n) - np.repeat(sequences.token[:-1], length)
        self.behind = np.repeat(length, length) - 1 - self.before
        self.tokens = TokenLists(
            np.arange(self.n + 1), np.arange(self.n, dtype=np.int32), np.zeros(0)
        )
        self.scores = np.zeros(self.n * self.width)
        self.counts = np.zeros((n_runs, self.n * self.width))

    def whole(self, first, label):
        """The places, in a matrix of weights, of those from ``first`` on by feature,
        with ``label``.
        """
        return np.repeat(self.row, np.diff(first)) * np.int64(self.width) + label

    def score(self, places, weights, map):
        """Fill the scores; ``places`` of the weights as of :meth:`whole`."""
        matrix = np.zeros((self.dense.n_rows, self.width))
        matrix.ravel()[places] = weights
        columns = self._columns(places)
        scores = self.scores.reshape(self.n, self.width)
        self._map = map

        def work(a):
            out = scores[a : a + BLOCK]
            out[:] = matrix[-1] if self.dense.bias else 0.0
            for rows, block, of_matrix in self._blocks(a, columns):
                out[rows] += block @ matrix[of_matrix]

        with one_thread_of_blas():
            list(self._map(work, range(0, self.n, BLOCK)))

    def count(self, places, n, square, gradient):
        """Add to a gradient what the tokens have received in n runs; their sum is left
        in the first one.
        """
        for other in self.counts[1:n]:
            self.counts[0] += other
        columns = self._columns(places)
        runs = np.zeros((RUNS, self.dense.n_rows, self.width))

        def work(k):
            for a in range(0, self.n, BLOCK)[k::RUNS]:
                self._add_product(a, columns, square, runs[k])

        with one_thread_of_blas():
            list(self._map(work, range(RUNS)))
        gradient[: places.shape[0]] += runs.sum(axis=0).ravel()[places]

    def _add_product(self, a, columns, square, out):
        received = self.counts[0].reshape(self.n, self.width)[a : a + BLOCK]
        for rows, block, of_matrix in self._blocks(a, columns):
            out[of_matrix] += (block * block if square else block).T @ received[rows]
        if self.dense.bias:
            out[-1] += received.sum(axis=0)

    def _columns(self, places):
        """By neighbour of a token: (its distance, columns in use, their rows in a
        matrix of weights).
        """
        d = self.dense
        F = self.dense.block.shape[1]
        used = np.unique(places // self.width)
        found = []
        for k, shift in enumerate(range(d.low, d.high + 1)):
            mine = used[(used >= k * F) & (used < (k + 1) * F)]
            found.append((shift, mine - k * F, mine))
        return [each for each in found if each[1].shape[0]]

    def _blocks(self, a, columns):
        """By neighbour: (tokens of the block that have it, its columns in use, rows of
        a matrix).
        """
        d = self.dense
        b = min(a + BLOCK, self.n)
        for shift, mine, of_matrix in columns:
            rows = slice(None)
            if shift:
                rows = np.flatnonzero(
                    (self.before[a:b] + shift >= 0) & (self.behind[a:b] - shift >= 0)
                )
            at = self.place[a:b][rows] + shift
            block = (
                d.block[at]
                if mine.shape[0] == d.block.shape[1]
                else d.block[at[:, None], mine]
            )
            block = block.astype(np.float64, copy=False)
            yield rows, block if d.scale == 1.0 else d.scale * block, of_matrix
