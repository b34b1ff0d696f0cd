"""Encoders whose rows are kept by an index of features of labels and by one of features
of transitions.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Protocol

from .base import BlockEncoder
from .encoded import RowMap
from .row_index import FeatureIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from .._chain.bigram import ChainTask
    from .._data.types import Self
    from .encoded import Encoded


class Rows(Protocol):
    """An object with rows of weights: an index of features, or one side of templates."""

    n_rows: int

    def copy(self) -> Self:
        """Make one that can grow while this one stays as it is."""
        ...

    def count_anew(self, min_count: int) -> None:
        """Forget how often features occurred that are still below ``min_count``."""
        ...


class IndexedEncoder(BlockEncoder):
    """An encoder with an index of each sort of rows.

    Attributes
    ----------
    nodes, edges : RowIndex or TemplateSide
        Of features of labels, and of features of transitions.
    """

    nodes: Rows
    edges: Rows

    def copy(self) -> Self:
        """Make an encoder that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.nodes = self.nodes.copy()
        twin.edges = self.edges.copy()
        return twin

    def count_anew(self) -> None:
        """Forget how often features occurred that are still below the count cut-off."""
        if self.min_count > 1:
            self.nodes.count_anew(self.min_count)
            self.edges.count_anew(self.min_count)

    @property
    def n_node_rows(self) -> int:
        """Number of weight rows of features of labels."""
        return self.nodes.n_rows

    @property
    def n_edge_rows(self) -> int:
        """Number of combinations that own a matrix of transition weights; the label
        bigram is the first.
        """
        return self.edges.n_rows


class NamedEncoder(IndexedEncoder):
    """An encoder of features that have names.

    Attributes
    ----------
    nodes, edges : FeatureIndex
        The names of features of labels, and of features of transitions.
    """

    nodes: FeatureIndex
    edges: FeatureIndex

    def row_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of labels, {row: name}."""
        return self.nodes.row_names(rows)

    def edge_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of transitions, {row: name}."""
        return self.edges.row_names(rows)

    def template_of_row(self, encoded: Encoded | ChainTask) -> np.ndarray | None:
        """Number the keys of features: (n_node_rows,) int32, the key of each row.

        Not looked at: ``encoded``, since names tell their keys.
        """
        return self.nodes.key_of_row()

    def keep_rows(
        self, nodes: np.ndarray, edges: np.ndarray
    ) -> tuple[Self, np.ndarray, np.ndarray]:
        """Make an encoder that knows the names of some rows only.

        Parameters
        ----------
        nodes, edges : ndarray of bool
            Which rows stay.

        Returns
        -------
        encoder : NamedEncoder
        nodes, edges : ndarray of int
            The row that each of the new rows was.
        """
        twin = copy.copy(self)
        twin.nodes, node_rows = self.nodes.keep(nodes, self.min_count)
        twin.edges, edge_rows = self.edges.keep(edges, self.min_count)
        return twin, node_rows, edge_rows

    def merged(
        self,
        encoders: Sequence[Self],
        counts: Sequence[RowMap | None],
        min_count: int,
    ) -> tuple[Self, list[RowMap]]:
        """Make one encoder of all names that those of several shards know.

        Arguments are those of :meth:`.Encoder.merged`.
        """
        out = copy.copy(self)
        out.min_count = min_count
        out.nodes, of_nodes = FeatureIndex.merged(
            [each.nodes for each in encoders],
            [count and count.nodes for count in counts],
            min_count,
        )
        out.edges, of_edges = FeatureIndex.merged(
            [each.edges for each in encoders],
            [count and count.edges for count in counts],
            min_count,
        )
        return out, list(map(RowMap, of_nodes, of_edges))
