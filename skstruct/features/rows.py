"""The encoder for rows of numbers: a column is a feature, and has a row of weights once it was met.

Columns get rows of weights in the order in which the corpus first uses them, as the names of ready-made
features do, so that a matrix of the same features leads to the same model. Hashed features have a million
columns of which few are used: those that never occur have no weights.
"""

import copy
from fractions import Fraction

import numpy as np
from scipy import sparse

from ..data.inputs import PLACE, PlaceError, describe, place
from ..data.matrix import Rows
from .encoded import Bag, Encoded, RowMap, no_bag, no_grid
from .numeric import NumericFeatures, exact_sum


class RowsEncoder:
    """Encodes tokens that are rows of numbers.

    Parameters
    ----------
    features : NumericFeatures
    min_count : int
        Columns that are not zero fewer times in training are left out.
    bigram : bool
        Whether the label bigram is a feature.
    scaled : bool
        Whether values are multiplied by the scale of ``features``, or taken as they are; they are in shards,
        until the scale of the whole is known.
    """

    TOKENS = (Rows,)
    """Types of tokens it is for."""

    kind = np.ndarray
    """Of tokens."""

    templates = None
    """There are none."""

    n_columns = 0
    """Columns of a token that input dropout could mask: a row is one item."""

    n_edge_rows = 1
    """Combinations that own a matrix of transition weights: the label bigram."""

    @classmethod
    def for_tokens(cls, features, min_count, flat, scaled=True):
        """The encoder that a ``features`` parameter means for a corpus."""
        bigram = True if flat.constants is None else flat.constants.bigram
        if isinstance(features, str) and features == "auto":
            # The columns of features that were encoded once are complete as they are.
            features = NumericFeatures() if flat.constants is None else NumericFeatures(False, 1.0)
        if not isinstance(features, NumericFeatures):
            raise ValueError(
                f"features={describe(features)} reads strings, but the tokens are rows of numbers; use "
                f"features='auto' or NumericFeatures"
            )
        if min_count > 1 and not sparse.issparse(flat.matrix):
            raise ValueError(f"min_count={min_count} applies to sparse rows only")
        return cls(features, min_count, bigram, scaled)

    def __init__(self, features, min_count=1, bigram=True, scaled=True):
        self.features, self.min_count, self.has_bigram, self.scaled = features, min_count, bigram, scaled
        self.width = None  # columns, from the first corpus
        self.names = None  # FeatureNames, if there are any
        self.sparse = None  # whether columns have rows by first use, or all of them
        self.scale = 1.0
        self.squares, self.n_tokens = Fraction(0), 0  # of the first corpus: sum of ‖x_t‖², tokens
        self.order = np.zeros(0, np.int32)  # columns by first use; column ``width`` is the bias
        self.row_of = np.zeros(0, np.int32)  # (width + 1,) row of each column, -1 if it has none
        self.counts = np.zeros(0, np.int64)  # (width + 1,) uses of each column, if there is a cut-off
        self.n_rows = 0
        self._fields = None  # of columns that are features encoded before

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        return copy.copy(self)  # arrays are replaced, never changed

    # -- encoding ----------------------------------------------------------------------------------
    def encode(self, flat, token, grow, like=None):
        """Encode a corpus.

        Parameters
        ----------
        flat : Rows
            All N tokens; an empty list if there are none.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts; for error messages.
        grow : bool
            Training: columns that are new get rows.
        like : optional
            Not needed here.

        Returns
        -------
        Encoded
        """
        bag = no_bag()
        if len(flat):
            self._check(flat, token, grow)
            if grow and flat.constants is not None:
                self._fields = flat.constants.fields
            bag = self._bag(flat.matrix, grow)
        no_grids, none = no_grid(len(flat)), np.zeros(0, np.uint8)
        return Encoded(
            anchor=token, left=0, n_columns=1, nodes=no_grids, edges=no_grids, bag=bag, node_alive=none,
            edge_alive=none,
        )  # fmt: skip

    def _check(self, flat, token, grow):
        width = flat.matrix.shape[1]
        if self.width is None and grow:
            self._begin(width, flat.names, sparse.issparse(flat.matrix))
        i = place(token, 0)[0]
        if width != self.width:
            text = f"{PLACE} has {width} columns, expected {self.width} as in training"
            raise PlaceError(i, None, text, "X")
        wrong = None if self.names is None else self.names.differs(flat.names)
        if wrong is not None:
            mine, theirs = self.names.all()[wrong], flat.names.all()[wrong]
            raise ValueError(
                f"X: feature names differ from those of training: column {wrong} is {theirs!r}, was {mine!r}"
            )

    def _begin(self, width, names, is_sparse):
        self.width, self.names, self.sparse = width, names, is_sparse
        self.row_of = np.full(width + 1, -1, np.int32)
        self.counts = np.zeros(width + 1 if self.min_count > 1 else 0, np.int64)
        if not is_sparse:
            self._assign(np.arange(width + bool(self.features.bias), dtype=np.int32))

    def _bag(self, matrix, grow):
        """The rows of a corpus as features by token."""
        rows = matrix if sparse.issparse(matrix) else sparse.csr_matrix(matrix)
        start, column = rows.indptr.astype(np.int64), rows.indices
        value = rows.data.astype(np.float64)  # a copy
        used = value != 0.0
        if not used.all():  # zeros that are written down
            start = np.append(0, np.cumsum(used))[start]
            column, value = column[used], value[used]
        if grow and not self.n_tokens:
            owner = np.repeat(np.arange(rows.shape[0]), np.diff(start))
            self.squares, self.n_tokens = exact_sum(np.bincount(owner, value * value)), rows.shape[0]
            if self.scaled:
                self.scale = self.features.factor(self.squares, self.n_tokens)
        value *= self.scale
        if self.features.bias:
            start, column, value = _with_bias(start, column, value, self.width)
        if grow and self.sparse:
            self._grow(column)
        if (value == 1.0).all():
            value = np.zeros(0)
        return Bag(start, self.row_of[column], value)

    def _grow(self, column):
        """Count columns, and give rows to those that are new and frequent enough."""
        size, n = self.width + 1, column.shape[0]
        first = np.full(size, n, np.int64)
        first[column[::-1]] = np.arange(n - 1, -1, -1)  # of several the last one written: the first use
        known = np.zeros(size, np.bool_)
        known[self.order] = True
        new = np.flatnonzero((first < n) & ~known)
        if self.min_count > 1:
            self.counts = self.counts + np.bincount(column, minlength=size)
        self._assign(np.append(self.order, new[np.argsort(first[new])].astype(np.int32)))

    def _assign(self, order):
        """Give rows to the columns of ``order`` that have none and deserve them."""
        deserving = self.row_of[order] < 0
        if self.min_count > 1:
            deserving &= (self.counts[order] >= self.min_count) | (order == self.width)
        columns = order[deserving]
        row_of = self.row_of.copy()
        row_of[columns] = self.n_rows + np.arange(columns.shape[0], dtype=np.int32)
        self.order, self.row_of, self.n_rows = order, row_of, self.n_rows + columns.shape[0]

    # -- what models and their readers ask ---------------------------------------------------------
    @property
    def n_features(self):
        """Number of features in use."""
        return self.n_rows

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.n_rows

    def fields(self, encoded):
        """(n_rows,) what each feature looks at, as a number; None if nobody knows."""
        if self._fields is None:
            return None
        of_row = np.zeros(self.n_rows, np.int32)
        columns = np.flatnonzero(self.row_of[:-1] >= 0)
        of_row[self.row_of[columns]] = self._fields[columns]
        return of_row

    def adapted(self, flat, token):
        """Raise: there is nothing to adapt."""
        raise ValueError("there is nothing to adapt: rows of numbers have no accessor variety")

    def _name(self, column):
        if column == self.width:
            return "bias"
        return f"x{column}" if self.names is None else self.names.all()[column]

    def row_names(self, rows):
        """The names of rows, {row: name}."""
        columns = self.order[self.row_of[self.order] >= 0].tolist()
        return {row: self._name(c) for c, row in zip(columns, self.row_of[columns].tolist()) if row in rows}

    def named(self, encoded, sequence):
        """The features of one sequence, encoded; by token, of labels and of transitions, which have none.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        bag = encoded.bag
        names = self.row_names(set(bag.row.tolist()))
        values = bag.value if bag.value.size else np.ones(bag.row.shape[0])
        parts = [
            (row, value, names[row]) if row >= 0 else None
            for row, value in zip(bag.row.tolist(), values.tolist())
        ]
        nodes = [list(filter(None, parts[a:b])) for a, b in zip(bag.start, bag.start[1:])]
        return nodes, [[] for _ in nodes]

    # -- shards ------------------------------------------------------------------------------------
    def merged(self, encoders, counts, min_count):
        """See :func:`.merging.merge_encoders`; this is the first of ``encoders``."""
        for s, other in enumerate(encoders):
            if other.width != self.width:
                raise ValueError(
                    f"shard {s}: its rows have {other.width} columns, those of shard 0 {self.width}"
                )
            wrong = None if self.names is None else self.names.differs(other.names)
            if wrong is not None:
                mine, theirs = self.names.all()[wrong], other.names.all()[wrong]
                raise ValueError(
                    f"shard {s}: feature names differ from those of shard 0: column {wrong} is {theirs!r}, "
                    f"was {mine!r}"
                )
            if (other.sparse, other.has_bigram) != (self.sparse, self.has_bigram):
                raise ValueError(f"shard {s}: its rows are not of the kind of those of shard 0")
        out = type(self)(self.features, min_count, self.has_bigram)
        out._begin(self.width, self.names, self.sparse)
        out.squares = sum((encoder.squares for encoder in encoders), Fraction(0))
        out.n_tokens = sum(encoder.n_tokens for encoder in encoders)
        out.scale = self.features.factor(out.squares, out.n_tokens)
        if min_count > 1:
            for encoder, count in zip(encoders, counts):
                out.counts[encoder.order] += count.nodes[encoder.row_of[encoder.order]]
        if self.sparse:
            met = np.concatenate([encoder.order for encoder in encoders])
            columns, first = np.unique(met, return_index=True)
            out._assign(columns[np.argsort(first)])
        maps = []
        for encoder in encoders:
            rows = np.empty(encoder.n_rows, np.int32)
            rows[encoder.row_of[encoder.order]] = out.row_of[encoder.order]
            maps.append(RowMap(rows, np.zeros(1, np.int32)))
        return out, maps

    def rescaled(self, bag, scale):
        """``bag``, which this encoder made of values as they are, under a scale."""
        if scale == 1.0:
            return bag
        value = bag.value if bag.value.shape[0] else np.ones(bag.row.shape[0])
        bias = self.row_of[self.width] if self.features.bias else -1
        return bag._replace(value=np.where(bag.row == bias, 1.0, value * scale))


def _with_bias(start, column, value, bias):
    """The same with one more entry a token, the last: column ``bias``, of value 1."""
    n = start.shape[0] - 1
    start = start + np.arange(n + 1)
    given = np.ones(int(start[-1]), np.bool_)
    given[start[1:] - 1] = False
    columns, values = np.full(given.shape[0], bias, np.int32), np.ones(given.shape[0])
    columns[given], values[given] = column, value
    return start, columns, values
