"""An encoded corpus: for each feature of each token, the row of its weights.

Encoders give it, whatever their tokens are, and kernels read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from .._core.compile import kernel
from .._data.corpus import TokenCorpus
from .._data.places import offsets_of, ranges
from .numeric import as_features

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .._chain.bigram import ChainTask
    from .._data.corpus import Block
    from .._data.reads import ColumnInfo, FeatureNames
    from .base import Encoder


class Grid(NamedTuple):
    """Feature rows by anchor for G groups of templates; A anchors in the corpus.

    A *combination* is what the templates of a group read together: its *atoms*, one
    input column each at some position from the anchor p; see ``_chain.token_scores``.
    """

    # (G, A) int32: first weight row of the combination, -1 if it has none
    row: np.ndarray
    lo: np.ndarray  # (G,) int32: the first row speaks of token p + lo
    width: np.ndarray  # (G,) int32: rows, and tokens, a combination speaks of
    # (G + 1,) int32: where the atoms of each group start in the next two
    atom: np.ndarray
    offset: np.ndarray  # (n_atoms,) int32: position of the atom relative to the anchor
    # (n_atoms,) int32: the input column it reads (for input dropout)
    source: np.ndarray


class Bag(NamedTuple):
    """Ready-made features by token, as in ``sklearn-crfsuite``."""

    # (N + 1,) int64: first feature of each token; (1,) if there are none
    start: np.ndarray
    row: np.ndarray  # int32: weight row, -1 if it has none
    value: np.ndarray  # float64; empty if all are 1


class Dense(NamedTuple):
    """Rows of numbers: F columns; column f of the token t + s is feature (s - low) * F
    + f of the token t.
    """

    block: np.ndarray  # (N, F) float32 or float64
    scale: float  # values are multiplied by it
    bias: bool  # whether there is one more feature, of value 1
    # the first and the last neighbour whose columns are features of a token; 0 without
    # a window
    low: int
    high: int
    full: bool  # whether most values are not zero: decides what is faster alone

    @property
    def n_rows(self) -> int:
        """Number of features of a token."""
        return self.block.shape[1] * (self.high - self.low + 1) + self.bias


class Encoded(NamedTuple):
    """The features of a corpus: a part of ``ChainTask``."""

    anchor: np.ndarray  # (n + 1,) int64: first anchor of each sequence
    left: int  # anchors before the first token of a sequence
    n_columns: int  # input columns, which input dropout masks
    nodes: Grid
    edges: Grid
    bag: Bag
    # (R,) uint8: 0 for features below the count cut-off; empty without one
    node_alive: np.ndarray
    edge_alive: np.ndarray  # (E,) uint8
    dense: Dense | tuple[()] = ()  # empty if tokens are no dense rows of numbers

    def take(self, sequences: np.ndarray, token: np.ndarray) -> Encoded:
        """Take the features of some sequences.

        Parameters
        ----------
        sequences : ndarray of int
            Their numbers.
        token : ndarray of shape (n + 1,), int64
            Where each sequence of this corpus starts.
        """
        anchor, at = ranges(self.anchor[sequences], np.diff(self.anchor)[sequences])
        of = ranges(token[sequences], np.diff(token)[sequences])[1]
        nodes, edges = (
            grid._replace(row=grid.row.take(at, axis=1))
            for grid in (self.nodes, self.edges)
        )
        bag = self.bag
        dense = self.dense
        if bag.start.shape[0] > 1:
            start, entry = ranges(bag.start[of], np.diff(bag.start)[of])
            bag = Bag(
                start,
                bag.row[entry],
                bag.value[entry] if bag.value.shape[0] else bag.value,
            )
        if dense:
            dense = dense._replace(block=dense.block[of])
        return self._replace(
            anchor=anchor, nodes=nodes, edges=edges, bag=bag, dense=dense
        )


class EncodedCorpus(TokenCorpus):
    """A corpus together with what an encoder made of it, in parts of it too; copies in
    files are of the corpus alone.

    Parameters
    ----------
    corpus : TokenCorpus
    encoder : Encoder
    encoded : Encoded
        What the encoder made of the corpus.
    """

    corpus: TokenCorpus
    encoder: Encoder
    encoded: Encoded

    def __init__(self, corpus: TokenCorpus, encoder: Encoder, encoded: Encoded) -> None:
        vars(self).update(corpus=corpus, encoder=encoder, encoded=encoded)

    def encoded_by(self, encoder: Encoder, grow: bool = False) -> Encoded | None:
        """Return what an encoder made of this corpus; None if that is not kept."""
        return None if grow or self.encoder is not encoder else self.encoded

    def __getitem__(self, key: Any) -> Any:
        found = self.corpus[key]
        if not isinstance(found, TokenCorpus):
            return found
        which = np.arange(len(self))[key]
        some = self.encoded.take(which, self.offsets)
        return type(self)(found, self.encoder, some)

    def for_users(self) -> TokenCorpus | list[Any]:
        """Return the list that the corpus was, or this one."""
        seen = self.corpus.for_users()
        return self if seen is self.corpus else seen

    def __reduce__(self) -> tuple[Any, ...]:
        return _as_it_is, (self.corpus,)

    # -- the corpus inside answers -----------------------------------------------------
    @property
    def lengths(self) -> np.ndarray:
        """(n_sequences,) int64: tokens of each sequence."""
        return self.corpus.lengths

    @property
    def offsets(self) -> np.ndarray:
        """(n_sequences + 1,) int64: where each sequence begins, and the last one
        ends.
        """
        return self.corpus.offsets

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The parts of the tokens."""
        return self.corpus.blocks

    @property
    def kinds(self) -> tuple[str, ...]:
        """Those of the blocks."""
        return self.corpus.kinds

    @property
    def tokens(self) -> list[Any]:
        """The tokens that are no rows of numbers, as one list."""
        return self.corpus.tokens

    @property
    def like(self) -> Any:
        """The token that all of these resemble; None if there is none."""
        return self.corpus.like

    @property
    def shown(self) -> Block | None:
        """The block that a user sees; None if it is several."""
        return self.corpus.shown

    @property
    def runs(self) -> tuple[int, ...]:
        """Which columns of numbers are dense."""
        return self.corpus.runs

    @property
    def matrix(self) -> Any:
        """All numbers in one matrix; None if there are none."""
        return self.corpus.matrix

    @property
    def names(self) -> FeatureNames | None:
        """The names of the columns of ``matrix``; None if some are not known."""
        return self.corpus.names

    @property
    def info(self) -> ColumnInfo | None:
        """Return what is known of columns that are encoded features, or None for
        others.
        """
        return self.corpus.info

    def lists(self) -> list[Any]:
        """Return the tokens that are no rows of numbers, as lists."""
        return self.corpus.lists()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.corpus)

    def emptied(self, keep: np.ndarray) -> TokenCorpus:
        """Return the corpus with some sequences emptied; it keeps no encoding."""
        return self.corpus.emptied(keep)


def _as_it_is(corpus: TokenCorpus) -> TokenCorpus:
    return corpus


class RowMap(NamedTuple):
    """A number for each row of an encoder: what it has become, -1 if nothing; or how
    often it occurs.
    """

    nodes: np.ndarray  # (R,) int32
    edges: np.ndarray  # (E,) int32


NOTHING = np.zeros(0, np.int32)
NO_ROWS = np.zeros((0, 0), np.int32)
ALL_ALIVE = np.zeros(0, np.uint8)
"""Without a count cut-off, or where rows below it do not exist."""

NO_BAG = Bag(np.zeros(1, np.int64), NOTHING, np.zeros(0))
"""Of corpora that have templates, or dense rows of numbers, instead."""


_NO_ATOMS = np.zeros(1, np.int32)


def without_templates(
    token: np.ndarray,
    bag: Bag,
    edges: Grid | None = None,
    dense: Dense | tuple[()] = (),
) -> Encoded:
    """Make an encoded corpus whose features stand at their tokens.

    Parameters
    ----------
    token : ndarray of shape (n + 1,), int64
        Where each sequence starts.
    bag : Bag
        Features of labels.
    edges : Grid, optional
        Features of transitions.
    dense : Dense, optional
        Rows of numbers.
    """
    none = Grid(
        np.empty((0, int(token[-1])), np.int32),
        NOTHING,
        NOTHING,
        _NO_ATOMS,
        NOTHING,
        NOTHING,
    )
    return Encoded(
        token,
        0,
        1,
        none,
        none if edges is None else edges,
        bag,
        ALL_ALIVE,
        ALL_ALIVE,
        dense,
    )


@kernel
def count_grid(
    rows: np.ndarray,
    lo: np.ndarray,
    width: np.ndarray,
    left: int,
    anchor: np.ndarray,
    token: np.ndarray,
    first: int,
    count: np.ndarray,
) -> None:
    """Add the occurrences of each feature of a grid to ``count`` (R,), of tokens from
    ``first`` on.

    Tokens before ``first`` of a sequence have no such features: no transition leads
    into the first one.
    """
    for g in range(rows.shape[0]):
        for i in range(anchor.shape[0] - 1):
            T = token[i + 1] - token[i]
            for a in range(anchor[i], anchor[i + 1]):
                if rows[g, a] < 0:
                    continue
                t = a - anchor[i] - left + lo[g]
                for s in range(max(0, first - t), min(width[g], T - t)):
                    count[rows[g, a] + s] += 1


def count_rows(encoder: Encoder, task: ChainTask) -> RowMap:
    """Count the occurrences of all features in a corpus.

    Parameters
    ----------
    encoder : encoder
        Without count cut-off.
    task : NamedTuple
        Has the fields of :class:`Encoded`, and ``token``.
    """
    counts = []
    for grid, n, first in (
        (task.nodes, encoder.n_node_rows, 0),
        (task.edges, encoder.n_edge_rows, 1),
    ):
        count = np.zeros(n, np.int32)
        count_grid(
            grid.row,
            grid.lo,
            grid.width,
            task.left,
            task.anchor,
            task.token,
            first,
            count,
        )
        counts.append(count)
    rows = task.bag.row[task.bag.row >= 0]  # a feature whose value is 0 has none
    counts[0] += np.bincount(rows, minlength=encoder.n_node_rows).astype(np.int32)
    return RowMap(*counts)


# --------------------------------------------------------------------------------------
# Features listed by token
# --------------------------------------------------------------------------------------
def bag_of(encoded: Encoded | ChainTask, token: np.ndarray) -> Bag:
    """Make a bag of the features of a corpus, those of dense rows behind the others.

    Parameters
    ----------
    encoded : Encoded
    token : ndarray of shape (n + 1,), int64
        Where each sequence starts.
    """
    bags = [encoded.bag] if encoded.bag.start.shape[0] > 1 else []
    if encoded.dense:
        bags.append(_of_dense(encoded.dense, token))
    return _side_by_side(bags)


def features_listed(encoded: Encoded | ChainTask, token: np.ndarray) -> Bag:
    """List the features of labels that have rows, by token: numbers, named ones,
    templates.
    """
    bags = [_of_dense(encoded.dense, token)] if encoded.dense else []
    if encoded.bag.start.shape[0] > 1:
        bags.append(encoded.bag)
    if encoded.nodes.row.shape[0] or not bags:
        bags.append(grid_listed(encoded, token, encoded.nodes, encoded.node_alive))
    bag = _side_by_side(bags)
    return keep_features(bag, bag.row >= 0)


def keep_features(bag: Bag, used: np.ndarray) -> Bag:
    """Keep the features of a bag, which has values, that are ``used``."""
    return Bag(offsets_of(used)[bag.start], bag.row[used], bag.value[used])


def grid_listed(
    encoded: Encoded | ChainTask, token: np.ndarray, grid: Grid, alive: np.ndarray
) -> Bag:
    """List the rows of a grid that are ``alive``, by token.

    They come in the order in which kernels add them.

    Parameters
    ----------
    encoded : Encoded or ChainTask
    token : ndarray of shape (n + 1,), int64
        Where each sequence starts.
    grid : Grid
        Its ``nodes`` or ``edges``.
    alive : ndarray of uint8
        By row whether it counts; empty if all do.
    """
    anchor = encoded.anchor
    n = int(token[-1])
    sequence = np.repeat(np.arange(token.shape[0] - 1), np.diff(token))
    here = np.arange(n) - token[sequence] + anchor[sequence] + encoded.left
    columns = []
    for row, lo, width in zip(grid.row, grid.lo.tolist(), grid.width.tolist()):
        for s in reversed(range(width)):  # anchors from left to right
            at = here - lo - s
            inside = (at >= anchor[sequence]) & (at < anchor[sequence + 1])
            first = row[np.where(inside, at, 0)]
            columns.append(np.where(inside & (first >= 0), first + s, -1))
    rows = np.array(columns, np.int32).reshape(len(columns), n).T
    if alive.shape[0]:
        rows[(rows >= 0) & (alive[rows] == 0)] = -1
    used = rows >= 0
    return Bag(np.append(0, np.cumsum(used.sum(axis=1))), rows[used], np.zeros(0))


def _of_dense(dense: Dense, token: np.ndarray) -> Bag:
    rows = sparse.csr_matrix(dense.block)
    start, row, value = as_features(
        rows, token, (dense.low, dense.high), dense.scale, dense.bias
    )
    return Bag(start, row.astype(np.int32), value)


def _side_by_side(bags: Sequence[Bag]) -> Bag:
    """A bag of the features of several, with all values."""
    values = [
        bag.value if bag.value.shape[0] else np.ones(bag.row.shape[0]) for bag in bags
    ]
    if len(bags) == 1:
        return bags[0]._replace(value=values[0])
    owner = [
        np.repeat(np.arange(bag.start.shape[0] - 1), np.diff(bag.start)) for bag in bags
    ]
    order = np.argsort(np.concatenate(owner), kind="stable")
    rows = np.concatenate([bag.row for bag in bags])
    start = np.sum([bag.start for bag in bags], axis=0)
    return Bag(start, rows[order], np.concatenate(values)[order])
