"""The base of every encoder: the contract between the features of tokens and the models
that weight them.

An encoder numbers features, and gives those that count a *row* of weights. Models know
its methods and attributes only, whatever the tokens are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from .._data.corpus import OTHER
from .._data.places import by_sequence
from .._data.reads import ModelReads
from .encoded import features_listed, grid_listed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from .._chain.bigram import ChainTask
    from .._data.corpus import TokenCorpus
    from .._data.types import Self
    from .encoded import Bag, Encoded, RowMap
    from .numeric import NumericFeatures
    from .patterns import Patterns
    from .templates import FeatureTemplates

Features: TypeAlias = (
    "str | os.PathLike[str] | Collection[str] | FeatureTemplates | Patterns "
    "| NumericFeatures"
)
"""The types of the parameter ``features``."""

SmallRows: TypeAlias = "tuple[Any, ...]"
"""The arrays of an encoded sentence in the order in which small kernels take them; see
``_chain.chain_arguments.rows_of``.
"""

NamedFeatures: TypeAlias = "list[list[tuple[int, float, str]]]"
"""By token the (row, value, name) of its features."""


class Encoder(ABC):
    """Turns tokens of one kind into rows of weights.

    :data:`.encoder_choice.ENCODERS` lists the subclasses. There are two sorts of
    rows: *node rows* are of features of labels, *edge rows* of features of
    transitions.
    """

    named: ClassVar[str] = "features"
    """The name of its features in errors."""

    reads: ModelReads = ModelReads(OTHER)
    """The tokens that it takes; of an instance where that depends on training."""

    templates: FeatureTemplates | Patterns | None = None
    """The description of the features of strings; None if features are ready-made."""

    features: NumericFeatures | None = None
    """The parameters of rows of numbers; None if it reads none."""

    min_count: int
    """Features seen fewer times in training have no row."""

    n_columns: int = 0
    """Columns of a token that input dropout could mask; 0 if a token is one item."""

    has_bigram: bool = True
    """True if the label bigram is a feature."""

    # -- from tokens to rows -----------------------------------------------------------
    def check(self, corpus: TokenCorpus) -> None:
        """Raise ValueError unless a corpus is what it reads.

        It is called once a verb, before the corpus is cut into pieces.
        """
        self.reads.check(corpus)

    @abstractmethod
    def encode(self, corpus: TokenCorpus, grow: bool) -> Encoded:
        """Look up the rows of all features of a corpus.

        Parameters
        ----------
        corpus : TokenCorpus
            That passed :meth:`check`.
        grow : bool
            Training: new features are added, and given rows. Without, features that
            are not choose from left out, and the encoder stays as it is.

        Returns
        -------
        Encoded
        """

    def encode_one(self, tokens: Any) -> SmallRows | None:
        """Look up the rows of one sentence, a list of tokens, for small kernels.

        Returns
        -------
        tuple of arrays, or None
            None if it may not read these tokens, or if transitions do; then
            :meth:`check` and :meth:`encode` say more.
        """
        return None

    def plain_rows(self, tokens: Any) -> SmallRows | None:
        """Look up what :meth:`encode_one` does of tokens that are str, or dicts and
        lists of nothing but str, flags and the numbers 0 and 1.

        None for other tokens, and in an encoder that is no faster with these.
        """
        return None

    # -- growing, and cutting down -----------------------------------------------------
    @abstractmethod
    def copy(self) -> Self:
        """Make an encoder that can grow while this one stays as it is."""

    @abstractmethod
    def count_anew(self) -> None:
        """Forget how often features occurred that are still below the count cut-off.

        The next corpus alone then decides about them: it may be the last one again.
        """

    @abstractmethod
    def keep_rows(
        self, nodes: np.ndarray, edges: np.ndarray
    ) -> tuple[Self, np.ndarray, np.ndarray]:
        """Make an encoder that knows some of the rows only.

        Parameters
        ----------
        nodes : ndarray of shape (n_node_rows,), bool
            Which rows of features of labels stay.
        edges : ndarray of shape (n_edge_rows,), bool
            Which rows of features of transitions stay.

        Returns
        -------
        encoder : Encoder
        nodes, edges : ndarray of int
            The row that each of the new rows was.
        """

    @abstractmethod
    def merged(
        self,
        encoders: Sequence[Self],
        counts: Sequence[RowMap | None],
        min_count: int,
    ) -> tuple[Self, list[RowMap]]:
        """Make one encoder that knows what those of several shards know.

        Parameters
        ----------
        encoders : list of Encoder
            Of one class and without count cut-off; this is the first of them.
        counts : list of RowMap or None
            Occurrences of each row; needed if ``min_count`` is above 1.
        min_count : int
            The count cut-off of all shards together.

        Returns
        -------
        encoder : Encoder
        maps : list of RowMap
            What the rows of each shard have become.

        Raises
        ------
        ValueError
            If they do not go together.
        """

    def adapted(self, corpus: TokenCorpus | None) -> Self:
        """Make the encoder with the statistics of another text, if it has any.

        Raises
        ------
        ValueError
            If it has none.
        """
        raise ValueError(
            f"there is nothing to adapt: {self.named} have no accessor variety"
        )

    def rescaled(self, task: ChainTask, scale: float) -> ChainTask:
        """Multiply the values of a task by a scale; those of no numbers stay.

        Parameters
        ----------
        task : ChainTask
            That this encoder made, of values as they are.
        scale : float
        """
        return task

    # -- what a model needs to know ----------------------------------------------------
    @property
    @abstractmethod
    def n_node_rows(self) -> int:
        """Number of weight rows of features of labels."""

    @property
    @abstractmethod
    def n_edge_rows(self) -> int:
        """Number of combinations that own a matrix of transition weights; the label
        bigram is the first.
        """

    @property
    def n_features(self) -> int:
        """Number of features that have weights."""
        return self.n_node_rows

    @property
    def token_type(self) -> type | None:
        """Type of the tokens, as ``_data.inputs.Inputs`` has it."""
        return None

    @property
    def bias_row(self) -> int:
        """The row of the bias of rows of numbers; -1 if there is none."""
        return -1

    @property
    def scale(self) -> float:
        """Return what values of features are multiplied by: 1 but for rows of numbers."""
        return 1.0

    @property
    def may_repeat(self) -> bool:
        """Tell whether a token may have one feature several times."""
        return True

    # -- features in words -------------------------------------------------------------
    @abstractmethod
    def row_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of labels, {row: name}."""

    @abstractmethod
    def edge_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of transitions, {row: name}."""

    @abstractmethod
    def template_of_row(self, encoded: Encoded | ChainTask) -> np.ndarray | None:
        """Tell which template, or key, each row of features of labels belongs to.

        Parameters
        ----------
        encoded : Encoded or ChainTask
            A corpus in which all rows occur.

        Returns
        -------
        ndarray of shape (n_node_rows,), int32, or None
            Their numbers; None if columns of numbers have no such groups.
        """

    def features_by_token(self, task: ChainTask) -> tuple[NamedFeatures, NamedFeatures]:
        """List the features of an encoded corpus in words.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
            By token, of labels and of transitions.
        """
        nodes = features_listed(task, task.token)
        edges = grid_listed(task, task.token, task.edges, task.edge_alive)
        return _in_words(nodes, self.row_names), _in_words(edges, self.edge_names)


def _in_words(
    bag: Bag, names_of: Callable[[set[int]], dict[int, str]]
) -> NamedFeatures:
    """Return (row, value, name) of the features of a bag, by token."""
    names = names_of(set(bag.row.tolist()))
    rows: list[int] = bag.row.tolist()
    values: Any = bag.value if bag.value.size else np.ones(bag.row.shape)
    flat = [(row, value, names[row]) for row, value in zip(rows, values.tolist())]
    return by_sequence(flat, bag.start)


class BlockEncoder(Encoder):
    """An encoder of corpora of one block, which is chosen by their first token."""

    TOKENS: ClassVar[tuple[type, ...]] = ()
    """Types of the first token of the corpora of lists that it is chosen for."""

    @classmethod
    @abstractmethod
    def for_tokens(
        cls,
        features: Features,
        min_count: int,
        corpus: TokenCorpus,
        scaled: bool | None = True,
    ) -> Self:
        """Make the encoder that a ``features`` parameter means for a corpus.

        Parameters
        ----------
        features : str, path, list of str, FeatureTemplates, Patterns or NumericFeatures
        min_count : int
            Features seen fewer times in training are left out.
        corpus : TokenCorpus
            Not empty, and of tokens that the class is for.
        scaled : bool or None
            Whether rows of numbers are scaled; see :class:`.rows_encoder.RowsEncoder`.

        Returns
        -------
        Encoder
            That has read nothing yet.

        Raises
        ------
        ValueError
            If ``features`` does not go together with such tokens.
        """
