"""What every encoder has: the contract between features and models."""

import copy

import numpy as np

from ..data.corpus import OTHER
from ..data.places import by_sequence
from ..data.reads import Reads
from .encoded import features_listed, grid_listed


class Encoder:
    """Turns tokens of one kind into rows of weights; subclasses are listed in :mod:`.choose`.

    A subclass has the constructor ``for_tokens(features, min_count, flat)``, where ``flat`` are the tokens of
    a corpus of lists, and

    * ``reads``: a ``data.reads.Reads``, the tokens that it takes;
    * ``encode(corpus, grow)``: the rows of a corpus that passed ``check``, an ``Encoded``;
    * ``n_node_rows``, ``n_edge_rows``, ``has_bigram``, ``n_features``: the weights a model needs for it;
    * ``min_count``, ``templates`` (None without), ``token_type`` and ``n_columns``: what it reads;
    * ``keep_rows(nodes, edges)``: an encoder with the rows marked True, of label and of transition features;
      also returns each kept row's old number, of both;
    * ``row_names(rows)``, and ``edge_names`` of transitions: its features in words;
    * ``merged(encoders, counts, min_count)``: one encoder from those of several shards.
    """

    reads = Reads(OTHER)
    """What it reads; a property where that depends on training."""

    token_type = None
    """Of tokens, as ``data.inputs.Inputs`` has it."""

    templates = None
    """Those of features; None if features are ready-made."""

    n_columns = 0
    """Columns of a token that input dropout could mask; 0 if a token is one item."""

    has_bigram = True
    """Whether the label bigram is a feature."""

    bias_row = -1
    """The row of the bias of rows of numbers; -1 if there is none."""

    is_independent = False
    """Whether the features of a sequence do not depend on other sequences, but for ``min_count``."""

    named = "features"
    """What errors call what it makes."""

    def check(self, corpus):
        """Raise unless a corpus is what it reads: once a verb, before the corpus is cut into pieces."""
        self.reads.check(corpus)

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.nodes, twin.edges = self.nodes.copy(), self.edges.copy()
        return twin

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.nodes.n_rows

    @property
    def n_edge_rows(self):
        """Combinations that own a matrix of transition weights; the label bigram is the first."""
        return self.edges.n_rows

    @property
    def n_features(self):
        """Number of features in use."""
        return self.n_node_rows

    def row_names(self, rows):
        """The names of rows of label features, {row: name}."""
        return self.nodes.row_names(rows)

    def edge_names(self, rows):
        """The names of rows of transition features, {row: name}."""
        return self.edges.row_names(rows)

    def features_by_token(self, task):
        """The features of an encoded corpus in words; by token, of labels and of transitions.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        nodes = features_listed(task, task.token)
        edges = grid_listed(task, task.token, task.edges, task.edge_alive)
        return _named(nodes, self.row_names), _named(edges, self.edge_names)

    def template_of_row(self, encoded):
        """(n_node_rows,) the template, or the key, of each row as a number; None if nobody knows."""
        return None

    def adapted(self, corpus):
        """The encoder with the statistics of another text, if it has any.

        Raises
        ------
        ValueError
            If it has none.
        """
        raise ValueError(f"there is nothing to adapt: {self.named} have no accessor variety")


def _named(bag, names_of):
    names, values = names_of(set(bag.row.tolist())), bag.value if bag.value.size else np.ones(bag.row.shape)
    flat = [(row, value, names[row]) for row, value in zip(bag.row.tolist(), values.tolist())]
    return by_sequence(flat, bag.start)


def merge_encoders(encoders, counts, min_count):
    """The encoder that has read all shards, and the new rows of each.

    Parameters
    ----------
    encoders : list of TemplateEncoder or BagEncoder
        Without count cut-off; of one kind.
    counts : list of RowMap, or None
        Occurrences by row, needed if ``min_count`` is above 1.
    min_count : int

    Returns
    -------
    encoder : TemplateEncoder or BagEncoder
    maps : list of RowMap

    Raises
    ------
    ValueError
        If the shards' tokens are of different kinds, or templates look at a text as a whole.
    """
    first = encoders[0]
    for s, encoder in enumerate(encoders):
        kinds = [(type(each), each.token_type, each.templates) for each in (encoder, first)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"shard {s}: its tokens are not of the kind of those of shard 0")
        first.reads.check_titles(encoder.reads.titles, f"shard {s}", "in shard 0")
    united, maps = first.merged(encoders, counts, min_count)
    if united.reads.titles != first.reads.titles:
        united.reads = first.reads
    return united, maps
