"""The encoder for tokens of two parts: rows of numbers, and strings or encoded features besides.

The numbers are dense; their columns have the first rows of weights. Behind them stand the rows of the other
part, whose own encoder numbers them. Kernels add both.
"""

import copy

import numpy as np
from scipy import sparse

from ..data.inputs import PLACE, PlaceError, describe, place
from ..data.matrix import ColumnInfo, FeatureNames, Rows
from ..data.mixed import MixedTokens
from .base import Encoder
from .encoded import RowMap, no_bag
from .numeric import NumericFeatures
from .rows import RowsEncoder


class MixedEncoder(Encoder):
    """Encodes tokens that are dense numbers and something else.

    Parameters
    ----------
    numbers : RowsEncoder
        Of the dense columns.
    others : encoder
        Of the rest.
    mask : ndarray of shape (n_columns,), bool, or None
        Which columns of a sparse matrix are dense; None if tokens are strings with numbers.
    columns : tuple of str
        The names of the columns of strings.
    """

    token_type = np.ndarray

    sparse = False
    """There are dense rows."""

    @classmethod
    def for_tokens(cls, features, min_count, flat, scaled, new_encoder):
        """The encoder that a ``features`` parameter means for a corpus; ``new_encoder`` makes the other."""
        numeric = isinstance(features, NumericFeatures)
        how = features if numeric else NumericFeatures()
        if isinstance(flat, MixedTokens):
            others = new_encoder("auto" if numeric else features, min_count, flat.tokens)
            return cls(RowsEncoder(how, 1, others.has_bigram, scaled), others, None, tuple(flat.columns))
        if not (numeric or isinstance(features, str) and features == "auto"):
            raise ValueError(
                f"features={describe(features)} reads strings, but the tokens are rows of numbers; use "
                f"features='auto' or NumericFeatures"
            )
        bigram = flat.column_info.bigram
        others = RowsEncoder(NumericFeatures(False, 1.0), min_count, bigram, scaled)
        return cls(RowsEncoder(how, 1, bigram, scaled), others, flat.column_info.dense, ())

    def __init__(self, numbers, others, mask, columns):
        self.numbers, self.others, self.mask, self.columns = numbers, others, mask, columns
        self.features = numbers.features  # how numbers count
        self.templates, self.min_count = others.templates, others.min_count
        # Input dropout masks numbers with the first column of the strings.
        self.has_bigram, self.n_columns = others.has_bigram, others.n_columns
        self._names = None  # those of the last matrix, and of its two parts

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        out = copy.copy(self)
        out.numbers, out.others = self.numbers.copy(), self.others.copy()
        return out

    # -- what the parts say ------------------------------------------------------------------------
    @property
    def TOKENS(self):
        """Types of tokens it is for."""
        return (MixedTokens,) if self.mask is None else (Rows,)

    @property
    def n_edge_rows(self):
        """Combinations that own a matrix of transition weights."""
        return self.others.n_edge_rows

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.numbers.n_node_rows + self.others.n_node_rows

    @property
    def n_features(self):
        """Number of features in use."""
        return self.numbers.n_features + self.others.n_features

    @property
    def scale(self):
        """What numbers are multiplied by."""
        return self.numbers.scale

    @property
    def width(self):
        """Columns of a token."""
        return self.numbers.width if self.mask is None else self.mask.shape[0]

    @property
    def names(self):
        """The names of these columns, or None."""
        if self.mask is None:
            return self.numbers.names
        if self.numbers.names is None:
            return None
        found = np.empty(self.width, dtype=object)
        found[self.mask], found[~self.mask] = self.numbers.names.all(), self.others.names.all()
        return FeatureNames(found.tolist())

    # -- encoding ----------------------------------------------------------------------------------
    def encode(self, flat, token, grow, reference_token=None):
        """Encode a corpus: see :class:`.rows.RowsEncoder`."""
        rows, others = self._split(flat, token)
        dense = self.numbers.encode(rows, token, grow).dense
        found = self.others.encode(others, token, grow, reference_token)
        n = np.int32(self.numbers.n_rows)
        alive = found.node_alive
        if alive.shape[0]:
            alive = np.append(np.ones(n, np.uint8), alive)
        return _shifted(found, n)._replace(node_alive=alive, dense=dense)

    def _split(self, flat, token):
        if isinstance(flat, MixedTokens):
            if tuple(flat.columns) != self.columns:
                found, known = (", ".join(names) for names in (flat.columns, self.columns))
                raise ValueError(f"X: the columns of strings are {found}, expected {known} as in training")
            return flat.rows, flat.tokens
        if not isinstance(flat, Rows):
            return [], []
        width = flat.matrix.shape[1]
        if width != self.width:
            i = place(token, 0)[0] if len(flat) else 0
            text = f"{PLACE} has {width} columns, expected {self.width} as in training"
            raise PlaceError(i, None, text, "X")
        matrix = sparse.csr_matrix(flat.matrix)
        block, rest = _cut(matrix, self.mask)
        if self._names is None or self._names[0] is not flat.names:
            of = (None, None)
            if flat.names is not None:
                of = tuple(_some_names(flat.names, m) for m in (self.mask, ~self.mask))
            self._names = flat.names, *of
        complete = ColumnInfo(self.has_bigram, np.zeros(rest.shape[1], np.int32))
        return Rows(block, self._names[1], None), Rows(rest, self._names[2], complete)

    def rescaled(self, task, scale):
        """A task of values as they are, which this encoder made, under a scale."""
        return self.numbers.rescaled(task, scale)

    def adapted(self, flat, token):
        """The encoder with the statistics of another text, if the strings' templates have any."""
        out = copy.copy(self)
        out.others = self.others.adapted(flat.tokens if isinstance(flat, MixedTokens) else flat, token)
        return out

    # -- names -------------------------------------------------------------------------------------
    def row_names(self, rows):
        """The names of rows, {row: name}."""
        n = self.numbers.n_rows
        behind = self.others.row_names({row - n for row in rows if row >= n})
        return {**self.numbers.row_names(rows), **{row + n: name for row, name in behind.items()}}

    def features_by_token(self, encoded, sequence):
        """The features of one sequence, encoded; by token, of labels and of transitions.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        n = self.numbers.n_rows
        first, _ = self.numbers.features_by_token(_of_numbers(encoded), sequence)
        alive = encoded.node_alive[n:] if encoded.node_alive.shape[0] else encoded.node_alive
        rest = _shifted(encoded, -n)._replace(node_alive=alive, dense=())
        nodes, edges = self.others.features_by_token(rest, sequence)
        nodes = [a + [(row + n, x, name) for row, x, name in b] for a, b in zip(first, nodes)]
        return nodes, edges

    def keep_rows(self, nodes, edges):
        """See :class:`.base.Encoder`; dense rows keep all columns."""
        out, n = self.copy(), self.numbers.n_rows
        out.others, behind, edges = self.others.keep_rows(nodes[n:], edges)
        return out, np.append(np.arange(n), behind + n), edges

    # -- shards ------------------------------------------------------------------------------------
    def merged(self, encoders, counts, min_count):
        """See :func:`.merging.merge_encoders`; this is the first of ``encoders``."""
        for s, other in enumerate(encoders):
            same = other.columns == self.columns and (other.mask is None) == (self.mask is None)
            if not same or self.mask is not None and not np.array_equal(other.mask, self.mask):
                raise ValueError(f"shard {s}: its columns are not of the kinds of those of shard 0")
        numbers, first = self.numbers.merged([e.numbers for e in encoders], counts, 1)
        n = self.numbers.n_rows
        counts = [c if c is None else RowMap(c.nodes[n:], c.edges) for c in counts]
        others, behind = self.others.merged([e.others for e in encoders], counts, min_count)
        maps = []
        for a, b in zip(first, behind):
            nodes = np.append(a.nodes, np.where(b.nodes < 0, -1, b.nodes + n).astype(np.int32))
            maps.append(RowMap(nodes, b.edges))
        return type(self)(numbers, others, self.mask, self.columns), maps


def _cut(matrix, mask):
    """(the columns of a mask as a dense array, the others as CSR)"""
    N, D = matrix.shape[0], int(np.count_nonzero(mask))
    at = mask[matrix.indices]
    kept = ~at
    if matrix.data.shape[0] - np.count_nonzero(kept) == N * D and matrix.has_canonical_format:
        block = matrix.data[at].reshape(N, D)  # all are written out, as unions do
        start = matrix.indptr - D * np.arange(N + 1)
    else:
        block = matrix[:, np.flatnonzero(mask)].toarray()
        start = np.append(0, np.cumsum(kept))[matrix.indptr]
    position = (np.cumsum(~mask) - 1).astype(matrix.indices.dtype)
    rest = matrix.data[kept], position[matrix.indices[kept]], start
    return block, sparse.csr_matrix(rest, shape=(N, mask.shape[0] - D))


def _some_names(names, mask):
    """The names of some columns, made when they are asked for."""
    return FeatureNames(make=lambda: [name for name, use in zip(names.all(), mask.tolist()) if use])


def _shifted(encoded, n):
    """An encoded corpus whose features of labels have rows n further on."""
    n = np.int32(n)
    grid, bag = encoded.nodes, encoded.bag
    grid = grid._replace(row=np.where(grid.row < 0, np.int32(-1), grid.row + n))
    bag = bag._replace(row=np.where(bag.row < 0, np.int32(-1), bag.row + n))
    return encoded._replace(nodes=grid, bag=bag)


def _of_numbers(encoded):
    """The same with dense rows alone."""
    token = encoded.token
    return encoded._replace(anchor=token, bag=no_bag())
