"""The encoder for rows of numbers: a column is a feature, and has a row of weights once
it was met.

Dense rows are handed on as they are, and all of their columns have weights. Columns of
sparse rows get rows of weights in the order in which the corpus first uses them, as the
names of ready-made features do, so that a matrix of the same features leads to the same
model. Hashed features have a million columns of which few are used: those that never
occur have no weights.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._data.corpus import DENSE, called_by_kind
from .._data.places import describe
from .._data.reads import FeatureNames, ModelReads
from .._saving import fields
from .._saving.container import require
from .._saving.fields import Field, Table
from .._saving.values import savable_value
from .encoded import NO_BAG, NOTHING, Bag, Dense, RowMap, without_templates
from .encoder_fields import MIN_COUNT, MOST_ROWS, ROWS, has_cutoff
from .indexed_encoder import IndexedEncoder
from .numeric import (
    NumericFeatures,
    as_features,
    exact_sum,
    neighbours_of,
    warn_unless_centred,
)
from .row_index import FeatureIndex, RowIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .._chain.bigram import ChainTask
    from .._data.corpus import TokenCorpus
    from .._data.types import Self
    from .._saving.fields import Members
    from .base import Features
    from .encoded import Encoded

SOME_ROWS = 4096
"""Dense rows that are read at a time where a copy is made."""


class RowsEncoder(IndexedEncoder):
    """Encodes tokens that are rows of numbers.

    Parameters
    ----------
    features : NumericFeatures
    width : int
        Columns.
    names : FeatureNames or None
        Of the columns.
    is_sparse : bool
        Whether columns have rows by first use, or all of them.
    min_count : int
        Columns that are not zero fewer times in training are left out.
    bigram : bool
        Whether the label bigram is a feature.
    scaled : bool or None
        Whether values are multiplied by the scale of ``features``, or taken as they
        are. None: they are until :meth:`merged` knows the scale of all shards.
    """

    token_type = np.ndarray
    named = called_by_kind(DENSE)  # type: ignore[assignment]  # the kind has a name

    features: NumericFeatures
    nodes: RowIndex
    edges: FeatureIndex
    scale: float = 1.0
    """The factor applied to feature values, so that rows are of one size."""

    @classmethod
    def for_tokens(
        cls,
        features: Features,
        min_count: int,
        corpus: TokenCorpus,
        scaled: bool | None = True,
    ) -> Self:
        """Make an encoder for the columns of a corpus.

        The columns of features that were encoded before count as they are.

        Raises
        ------
        ValueError
            If ``features`` reads strings.
        """
        bigram = True if corpus.info is None else corpus.info.bigram
        if isinstance(features, str) and features == "auto":
            # The columns of features that were encoded once are complete as they are.
            features = (
                NumericFeatures()
                if corpus.info is None
                else NumericFeatures(False, 1.0)
            )
        if not isinstance(features, NumericFeatures):
            text = (
                f"features={describe(features)} reads strings, but the tokens are "
                "rows of numbers; use "
            )
            raise ValueError(f"{text}features='auto' or NumericFeatures")
        matrix = corpus.matrix
        is_sparse = sparse.issparse(matrix)
        return cls(
            features,
            matrix.shape[1],
            corpus.names,
            is_sparse,
            min_count,
            bigram,
            scaled,
        )

    def __init__(
        self,
        features: NumericFeatures,
        width: int,
        names: FeatureNames | None,
        is_sparse: bool,
        min_count: int,
        bigram: bool,
        scaled: bool | None,
    ) -> None:
        self.features = features
        self.width = width
        self.names = names
        self.sparse = is_sparse
        self.min_count = min_count
        self.has_bigram = bigram
        self.scaled = scaled
        if min_count > 1 and not is_sparse:
            raise ValueError(f"min_count={min_count} applies to sparse rows only")
        self.size = features.size(width)  # features that there may be
        most = np.iinfo(np.int32).max
        if self.size > most:
            text = (
                f"X has {width} columns; with window={features.window} these are "
                f"{self.size} features, "
            )
            raise ValueError(f"{text}more than {most}")
        # Its number is behind those of all columns.
        self._bias = self.size - 1 if features.bias else -1
        self.reads = ModelReads(self.named, width, names)
        self.scale = 1.0
        self.squares = Fraction(0)  # of the first corpus: sum of ‖x_t‖²,
        self.n_tokens = 0  # and tokens
        # Sum of the rows of a shard, and of their squared norms.
        self.sums: tuple[np.ndarray, Fraction] | None = None
        # (width,) of columns that are features encoded before.
        self._template: np.ndarray | None = None
        # Features are numbered place by place of the window, then by column; the last
        # one is the bias. Copies share these arrays: they are replaced, never changed.
        self.order = NOTHING  # features by first use
        self.nodes = RowIndex()  # their rows, in this order
        self.edges = FeatureIndex(1)
        # (size,) 1 + the row of each feature, 0 if it has none: zeros take memory only
        # where features are.
        self._place = NOTHING
        if not is_sparse:
            self._number(np.arange(self.size, dtype=np.int32))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_place": NOTHING}  # which follows from the rest

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.place(self.order)

    @property
    def bias_row(self) -> int:
        """The row of the bias; -1 if there is none."""
        return int(self._place[self._bias]) - 1 if self.features.bias else -1

    # -- encoding ----------------------------------------------------------------------
    def encode(self, corpus: TokenCorpus, grow: bool) -> Encoded:
        """Encode a corpus.

        Parameters
        ----------
        corpus : TokenCorpus
            Of rows of numbers, sparse or dense or both.
        grow : bool
            Training: columns that are new get rows.

        Returns
        -------
        Encoded
            With ``dense`` if the rows are, and were in training; else with ``bag``.
        """
        token = corpus.offsets
        matrix = corpus.matrix
        how = self.features
        if not token[-1]:
            matrix = np.zeros((0, self.width))
        elif grow:
            if corpus.info is not None and how.window == (0, 0):
                self._template = corpus.info.template
            if not self.n_tokens:
                self._measure(matrix, token, corpus.info is None)
        if sparse.issparse(matrix) or self.sparse:
            return without_templates(
                token, self._bag(sparse.csr_matrix(matrix), token, grow)
            )
        some = matrix[:SOME_ROWS]
        full = 2 * np.count_nonzero(some) > some.size
        dense = Dense(matrix, self.scale, bool(how.bias), *how.window, full)
        return without_templates(token, NO_BAG, dense=dense)

    def _measure(self, matrix: Any, token: np.ndarray, are_data: bool) -> None:
        """Take the scale from the rows of the first corpus."""
        # Added up in the order of the columns, whatever the matrix is.
        norms = np.zeros(matrix.shape[0])
        sums: Any  # (width,) float64
        if sparse.issparse(matrix):
            owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
            values = matrix.data.astype(np.float64)
            norms = np.bincount(owner, values * values, minlength=matrix.shape[0])
            sums = np.bincount(matrix.indices, values, minlength=self.width)
        else:
            for first in range(0, matrix.shape[0], SOME_ROWS):
                for column in matrix[first : first + SOME_ROWS].T.astype(np.float64):
                    norms[first : first + SOME_ROWS] += column * column
            sums = matrix.sum(axis=0, dtype=np.float64)
        low, high = self.features.window
        # How often a row is read: it has so many readers.
        times = neighbours_of(token, -high, -low)[1].sum(axis=1)
        squares = (n * exact_sum(norms[times == n]) for n in np.unique(times).tolist())
        self._take_scale(squares, matrix.shape[0])
        if are_data and self.scaled:
            warn_unless_centred(sums, exact_sum(norms), self.n_tokens)
        elif are_data and self.scaled is None:
            self.sums = sums, exact_sum(norms)

    def _take_scale(self, squares: Iterable[Fraction], n_tokens: int) -> None:
        """Take over sums of squared norms, of so many tokens in all, and the scale that
        follows.
        """
        self.squares = sum(squares, Fraction(0))
        self.n_tokens = n_tokens
        if self.scaled:
            self.scale = self.features.factor(self.squares, n_tokens)

    def _bag(self, rows: sparse.csr_matrix, token: np.ndarray, grow: bool) -> Bag:
        """Return the rows of a corpus as features by token; in training new ones get
        rows of weights.
        """
        how = self.features
        start, number, value = as_features(
            rows, token, how.window, self.scale, how.bias
        )
        if grow and self.sparse:
            use = np.arange(number.shape[0])
            # As `_place`: zeros take memory only where features are.
            first = np.zeros(self.size, np.int64)
            # Of several the last one written: the first use.
            first[number[::-1]] = use[::-1]
            met = number[first[number] == use]
            new = met[self._by_feature(np.int32(0))[met] == 0]
            self._number(np.append(self.order, new.astype(np.int32)), number)
        return Bag(
            start,
            self._place[number] - np.int32(1),
            np.zeros(0) if (value == 1.0).all() else value,
        )

    def _number(self, order: np.ndarray, column: np.ndarray = NOTHING) -> None:
        """Give rows to the features of ``order`` that have none and deserve them; those
        of a corpus count.
        """
        self.order = order
        seen = NOTHING
        if self.min_count > 1:
            seen = self._by_feature(np.arange(order.shape[0]))[column] - 1
        self.nodes.give_rows(
            order.shape[0], seen, self.min_count, np.flatnonzero(order == self._bias)
        )
        self.place(order)

    def place(self, order: np.ndarray) -> None:
        """Take over the features of the index, in the order of their numbers there.

        Parameters
        ----------
        order : ndarray of int32
            Their numbers here: place by place of the window, then by column.
        """
        self.order = order
        self._place = self._by_feature(self.nodes.row_of[:-1])

    @property
    def row_of(self) -> np.ndarray:
        """(size,) int32: the row of each feature, -1 if it has none."""
        return self._place - np.int32(1)

    def _by_feature(self, values: np.ndarray | np.int32) -> np.ndarray:
        """(size,) int32: 1 + the values of the features met, in their order; 0 of
        others.
        """
        out = np.zeros(self.size, np.int32)
        out[self.order] = values + np.int32(1)
        return out

    # -- what models and their readers ask ---------------------------------------------
    def template_of_row(self, encoded: Encoded | ChainTask) -> np.ndarray | None:
        """Tell the templates of columns that were encoded before; None of others.

        See :meth:`.base.Encoder.template_of_row`.
        """
        if self._template is None:
            return None
        bias = int(self._template.max(initial=-1)) + 1  # a template of its own
        of_row = np.full(self.n_node_rows, bias, np.int32)
        rows = self._place[self.order] - 1
        used = (rows >= 0) & (self.order < self.width)
        of_row[rows[used]] = self._template[self.order[used]]
        return of_row

    def _name(self, feature: int) -> str:
        if feature == self._bias:
            return "bias"
        at, column = divmod(feature, self.width)
        name = f"x{column}" if self.names is None else self.names.all()[column]
        shift = self.features.window[0] + at
        return f"{name}@{shift:+d}" if shift else name

    def row_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of columns, {row: name}; ``x3@-1`` where they have no name."""
        numbered = zip(self.order.tolist(), self.nodes.row_of.tolist())
        return {
            row: self._name(column)
            for column, row in numbered
            if row >= 0 and row in rows
        }

    def edge_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of transitions, of which there are none: ``{}``."""
        return self.edges.row_names(rows)

    def keep_rows(
        self, nodes: np.ndarray, edges: np.ndarray
    ) -> tuple[Self, np.ndarray, np.ndarray]:
        """Make an encoder that gives some columns rows; dense ones all keep theirs.

        See :meth:`.base.Encoder.keep_rows`.
        """
        if not self.sparse:
            return self.copy(), np.arange(self.n_node_rows), np.zeros(1, np.int64)
        twin = copy.copy(self)
        twin.nodes, node_rows = self.nodes.keep(nodes, self.min_count)
        twin.edges, edge_rows = self.edges.keep(edges, self.min_count)
        twin.place(self.order[self.nodes.is_kept(nodes)])
        return twin, node_rows, edge_rows

    # -- shards ------------------------------------------------------------------------
    def merged(
        self, encoders: Sequence[Self], counts: Sequence[RowMap | None], min_count: int
    ) -> tuple[Self, list[RowMap]]:
        """Make one encoder of the columns of several shards, with one scale for all.

        See :meth:`.base.Encoder.merged`; this is the first of ``encoders``.
        """
        for s, other in enumerate(encoders):
            if other.width != self.width:
                raise ValueError(
                    f"shard {s}: {other.width} columns, those of shard 0 are "
                    f"{self.width}"
                )
            self.reads.check_names(other.names, f"shard {s}", "shard 0")
            if (other.sparse, other.has_bigram) != (self.sparse, self.has_bigram):
                raise ValueError(
                    f"shard {s}: its rows are not of the kind of those of shard 0"
                )
        kind = self.features, self.width, self.names, self.sparse
        out = type(self)(*kind, min_count, self.has_bigram, self.scaled is not False)
        out._take_scale(
            (e.squares for e in encoders), sum(e.n_tokens for e in encoders)
        )
        known = [encoder.sums for encoder in encoders if encoder.sums is not None]
        if len(known) == len(encoders):
            squares = sum((each for _, each in known), Fraction(0))
            sums = np.sum([each for each, _ in known], axis=0)
            warn_unless_centred(sums, squares, out.n_tokens)
        columns, first = np.unique(
            np.concatenate([encoder.order for encoder in encoders]), return_index=True
        )
        out.order = columns[np.argsort(first)]
        number_of = out._by_feature(np.arange(out.order.shape[0])) - 1
        numbers = [number_of[encoder.order] for encoder in encoders]
        occurrences = [count and count.nodes for count in counts]
        bias = np.flatnonzero(out.order == out._bias)
        nodes = [encoder.nodes for encoder in encoders]
        maps = out.nodes.merge(
            nodes, numbers, occurrences, out.order.shape[0], min_count, bias
        )
        out.place(out.order)
        return out, [RowMap(rows, np.zeros(1, np.int32)) for rows in maps]

    def rescaled(self, task: ChainTask, scale: float) -> ChainTask:
        """Multiply the values of a task by a scale; a bias stays 1.

        See :meth:`.base.Encoder.rescaled`.
        """
        if task.dense:
            return task._replace(dense=task.dense._replace(scale=scale))
        bag = task.bag
        if scale == 1.0 or bag.start.shape[0] == 1:
            return task
        value = bag.value if bag.value.shape[0] else np.ones(bag.row.shape[0])
        return task._replace(
            bag=bag._replace(
                value=np.where(bag.row == self.bias_row, 1.0, value * scale)
            )
        )


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
MOST_COLUMNS = 2**31 - 1
"""The encoder of rows of numbers."""

NUMERIC = Table(
    "`$numeric`",
    Field("bias", fields.flag),
    Field("scale", fields.value),
    Field("window", fields.each(fields.integer(-MOST_ROWS, MOST_ROWS))),
    make=fields.built(NumericFeatures, "bias scale window"),
)

numeric = savable_value("$numeric", NumericFeatures, NUMERIC)


def _fraction(parts: tuple[str, str]) -> Fraction:
    if not (all(map(str.isdecimal, parts)) and int(parts[1])):
        raise ValueError("a fraction in digits expected")
    return Fraction(*map(int, parts))


fraction = fields.via(
    fields.pair(fields.string, fields.string), Fraction.as_integer_ratio, _fraction
)


_READ = fields.built(RowsEncoder, "features width names sparse min_count bigram scaled")


def _rows_encoder(f: Members) -> RowsEncoder:
    """Check that the parts of the encoder agree, and return it; sizes are checked
    before memory is taken.
    """
    columns = f["column"]
    n = len(f["column"])
    row = f["nodes"].row_of[:-1]
    is_dense = not f["sparse"]
    require(f["size"] <= MOST_COLUMNS, f"{f.where}: the window has too many columns")
    ok = f["names"] is None or len(f["names"].all()) == f["width"]
    require(ok, f"{f.where}.names must be {f['width']}")
    require(np.unique(columns).shape[0] == n, f"{f.where}.column holds a column twice")
    require(not is_dense or n == f["size"], f"{f.where}.column must hold all columns")
    ok = np.array_equal(np.sort(row[row >= 0]), np.arange(f["nodes"].n_rows))
    require(ok, f"{f.where}.row must hold each row once")
    require(
        not is_dense or np.array_equal(row, columns),
        f"{f.where}.row must be those of the columns",
    )
    require(
        not is_dense or f["min_count"] == 1,
        f"{f.where}.min_count applies to sparse rows only",
    )
    encoder = _READ(f)
    encoder.place(columns)
    return encoder


NUMBERS = Table(
    "Encoder `rows`",
    Field("features", numeric),
    MIN_COUNT,
    Field("bigram", fields.flag, of="has_bigram"),
    Field("scaled", fields.flag),
    Field("width", fields.integer(0, MOST_COLUMNS)),
    Field(
        "names",
        fields.optional(fields.via(fields.strings, FeatureNames.all, FeatureNames)),
    ),
    Field("sparse", fields.flag),
    Field("scale", fields.number(np.finfo(float).smallest_subnormal)),
    Field("squares", fraction),
    Field("n_tokens", fields.integer(1)),
    Field("column", fields.array("int32", None, low=0, high="size"), of="order"),
    Field("nodes", fields.inline(ROWS), of="nodes"),
    make=_rows_encoder,
    cut=has_cutoff,
    first_row=lambda _: 0,
    n=lambda f: len(f["column"]),
    size=lambda f: f["features"].size(f["width"]),
)
