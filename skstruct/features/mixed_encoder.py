"""The encoder of tokens that have dense rows of numbers and something beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from scipy import sparse

from .._core.hashing import check_rows
from .._data.corpus import (
    DENSE,
    SPARSE,
    STRINGS,
    BlockCorpus,
    TokenCorpus,
    called_by_kind,
    number_block,
)
from .._data.reads import ColumnInfo, ModelReads, names_of_all, runs_of
from .._data.tables import as_float
from .._saving.container import require
from .._saving.fields import Field, Kind, Table, array, each, optional, string
from .base import Encoder
from .encoded import RowMap
from .pattern_encoder import PatternEncoder
from .rows_encoder import NUMBERS, RowsEncoder
from .template_encoder import TemplateEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._chain.bigram import ChainTask
    from .._data.types import Self
    from .._saving.fields import Members
    from .encoded import Encoded


class MixedEncoder(Encoder):
    """An encoder of tokens of two blocks: dense rows of numbers, and strings or sparse
    rows beside them. `.encoder_choice.new_encoder` makes both parts.

    The columns of dense rows have the first rows of weights. Behind them stand the rows
    of the other part, whose own encoder numbers them. Kernels add both.

    Parameters
    ----------
    numbers : RowsEncoder
        Of the dense columns.
    others : Encoder
        Of the rest.
    columns : ndarray of bool, or tuple of str
        Which columns are dense, or the names of the columns of strings.
    """

    token_type = np.ndarray

    def __init__(
        self,
        numbers: RowsEncoder,
        others: Encoder,
        columns: np.ndarray | tuple[str, ...],
    ) -> None:
        self.numbers = numbers
        self.others = others
        self.columns = columns
        self.features = numbers.features  # how numbers count
        self.templates = others.templates
        self.min_count = others.min_count
        # Input dropout masks numbers with the first column of the strings.
        self.has_bigram = others.has_bigram
        self.n_columns = others.n_columns
        self.are_strings = isinstance(columns, tuple)  # the rest, not sparse rows
        self.runs: tuple[int, ...] = ()
        if isinstance(columns, tuple):
            self.reads = ModelReads(
                called_by_kind(DENSE, STRINGS), numbers.width, numbers.names, columns
            )
        else:
            self.runs = runs_of(columns)
            rest = cast(RowsEncoder, others)
            names = names_of_all(self.runs, numbers.names, rest.names)
            self.reads = ModelReads(
                called_by_kind(DENSE, SPARSE), columns.shape[0], names
            )

    def copy(self) -> Self:
        """Make an encoder that can grow while this one stays as it is."""
        return type(self)(self.numbers.copy(), self.others.copy(), self.columns)

    def count_anew(self) -> None:
        """Forget how often features occurred that are still below the count cut-off.

        Dense rows are never cut off.
        """
        self.others.count_anew()

    # -- what the parts say ------------------------------------------------------------
    @property
    def n_node_rows(self) -> int:
        """Number of weight rows of features of labels, of both parts."""
        return self.numbers.n_node_rows + self.others.n_node_rows

    @property
    def n_edge_rows(self) -> int:
        """Number of combinations that own a matrix of transition weights; the label
        bigram is the first.
        """
        return self.others.n_edge_rows

    @property
    def n_features(self) -> int:
        """Number of features that have weights, of both parts."""
        return self.numbers.n_features + self.others.n_features

    @property
    def bias_row(self) -> int:
        """The row of the bias of dense rows; -1 if there is none."""
        return self.numbers.bias_row

    @property
    def scale(self) -> float:
        """Return what dense rows are multiplied by."""
        return self.numbers.scale

    def rescaled(self, task: ChainTask, scale: float) -> ChainTask:
        """Multiply the dense rows of a task by a scale; see
        :meth:`.base.Encoder.rescaled`.
        """
        return self.numbers.rescaled(task, scale)

    # -- encoding ----------------------------------------------------------------------
    def encode(self, corpus: TokenCorpus, grow: bool) -> Encoded:
        """Encode a corpus of dense rows with others, each by its part.

        Parameters
        ----------
        corpus : TokenCorpus
            Of rows of numbers, whose columns are divided as they were in training, or
            of strings with numbers.
        grow : bool
            Training: new features are added.

        Returns
        -------
        Encoded
            With ``dense``, and the features of the other part behind.
        """
        if not self.are_strings and corpus.offsets[-1]:
            corpus = self._divided(corpus)
        dense = self.numbers.encode(corpus.only(DENSE), grow).dense
        found = self.others.encode(corpus.only(SPARSE, STRINGS), grow)
        n = self.numbers.n_node_rows
        alive = found.node_alive
        check_rows(self.n_node_rows)
        if alive.shape[0]:
            alive = np.append(np.ones(n, np.uint8), alive)
        return found._replace(
            nodes=found.nodes._replace(row=_behind(found.nodes.row, n)),
            bag=found.bag._replace(row=_behind(found.bag.row, n)),
            node_alive=alive,
            dense=dense,
        )

    def _divided(self, corpus: TokenCorpus) -> TokenCorpus:
        """Return the corpus with the same dense columns as in training."""
        if corpus.runs == self.runs:
            return corpus
        is_dense = np.asarray(self.columns)
        matrix = sparse.csr_matrix(corpus.matrix)
        rest = matrix[:, ~is_dense]
        dense = number_block(as_float(matrix[:, is_dense].toarray()))
        complete = ColumnInfo(self.has_bigram, np.zeros(rest.shape[1], np.int32))
        others = number_block(rest)._replace(info=complete)
        return BlockCorpus.of((dense, others), corpus.lengths, self.runs)

    def adapted(self, corpus: TokenCorpus | None) -> Self:
        """Make the encoder with the statistics of another text, if the templates of
        its strings have any.

        Raises
        ------
        ValueError
            If they have none.
        """
        others = self.others.adapted(
            None if corpus is None else corpus.only(SPARSE, STRINGS)
        )
        return type(self)(self.numbers, others, self.columns)

    # -- names -------------------------------------------------------------------------
    def row_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of labels, {row: name}, of both parts."""
        n = self.numbers.n_node_rows
        behind = self.others.row_names({row - n for row in rows if row >= n})
        return {
            **self.numbers.row_names(rows),
            **{row + n: name for row, name in behind.items()},
        }

    def edge_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of transitions, {row: name}, which are of strings."""
        return self.others.edge_names(rows)

    def template_of_row(self, encoded: Encoded | ChainTask) -> None:
        """Return None: columns of dense rows have no templates."""
        return None

    def keep_rows(
        self, nodes: np.ndarray, edges: np.ndarray
    ) -> tuple[Self, np.ndarray, np.ndarray]:
        """Make an encoder that knows some rows of the other part; dense rows keep all.

        See :meth:`.base.Encoder.keep_rows`.
        """
        n = self.numbers.n_node_rows
        others, behind, edge_rows = self.others.keep_rows(nodes[n:], edges)
        twin = type(self)(self.numbers.copy(), others, self.columns)
        return twin, np.append(np.arange(n), behind + n), edge_rows

    # -- shards ------------------------------------------------------------------------
    def merged(
        self, encoders: Sequence[Self], counts: Sequence[RowMap | None], min_count: int
    ) -> tuple[Self, list[RowMap]]:
        """Make one encoder of both parts of those of several shards.

        See :meth:`.base.Encoder.merged`; this is the first of ``encoders``.
        """
        for s, other in enumerate(encoders):
            if other.are_strings != self.are_strings or list(other.columns) != list(
                self.columns
            ):
                raise ValueError(
                    f"shard {s}: its columns are not of the kinds of those of shard 0"
                )
        numbers, first = self.numbers.merged([e.numbers for e in encoders], counts, 1)
        n = self.numbers.n_node_rows
        rest = [c if c is None else RowMap(c.nodes[n:], c.edges) for c in counts]
        others, behind = self.others.merged(
            [e.others for e in encoders], rest, min_count
        )
        maps = [
            RowMap(np.append(a.nodes, _behind(b.nodes, n)), b.edges)
            for a, b in zip(first, behind)
        ]
        return type(self)(numbers, others, self.columns), maps


def _behind(rows: np.ndarray, n: int) -> np.ndarray:
    """Rows that are n further on; -1 stays."""
    return np.where(rows < 0, np.int32(-1), rows + np.int32(n))


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
def _joint(f: Members) -> MixedEncoder:
    """Make a `MixedEncoder` of what a file has, after checks that its parts fit."""
    numbers, others, mask, columns = (
        f[name] for name in ("numbers", "others", "mask", "columns")
    )
    require(not numbers.sparse, f"{f.where}.numbers must be dense")
    ok = isinstance(
        others, (TemplateEncoder, PatternEncoder) if mask is None else RowsEncoder
    )
    require(ok, f"{f.where}.others is of the wrong kind")
    if mask is not None:
        sizes = int(mask.sum()), int((~mask).sum())
        ok = others.sparse and sizes == (numbers.width, others.width)
        require(ok, f"{f.where}.mask must tell which columns are dense")
    require(
        numbers.has_bigram == others.has_bigram,
        f"{f.where}: the parts differ in bigrams",
    )
    return MixedEncoder(numbers, others, tuple(columns) if mask is None else mask)


def joint_fields(encoder: Kind) -> Table:
    """Make the fields of a `MixedEncoder` in files.

    Parameters
    ----------
    encoder : Kind
        Of encoders, for the part that stands beside dense rows.
    """
    return Table(
        "Encoder `joint`",
        Field("numbers", NUMBERS),
        Field("others", encoder),
        Field(
            "mask",
            optional(array("bool", None)),
            of=lambda e: None if e.are_strings else e.columns,
        ),
        Field(
            "columns",
            each(string),
            of=lambda e: list(e.columns) if e.are_strings else [],
        ),
        make=_joint,
    )
