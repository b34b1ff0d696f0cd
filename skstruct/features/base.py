"""What every encoder has: the contract between features and models."""

import copy

from .names import named_bag
from .rows_as_features import bag_of


class Encoder:
    """Turns tokens of one kind into rows of weights; subclasses are listed in :mod:`.choose`.

    A subclass has the constructor ``for_tokens(features, min_count, flat)``, and

    * ``encode(flat, token, grow, reference_token)``: the rows of a corpus, an ``Encoded``;
    * ``n_node_rows``, ``n_edge_rows``, ``has_bigram``, ``n_features``: the weights a model needs for it;
    * ``min_count``, ``templates`` (None without), ``token_type`` and ``n_columns``: what it reads;
    * ``keep_rows(nodes, edges)``: an encoder with the rows marked True, of label and of transition features;
      also returns each kept row's old number, of both;
    * ``row_names(rows)``, ``features_by_token(encoded, sequence)``: its features in words;
    * ``merged(encoders, counts, min_count)``: one encoder from those of several shards.
    """

    TOKENS = ()
    """Types of tokens it is for."""

    token_type = None
    """Of tokens, as ``data.inputs.Inputs`` has it."""

    templates = None
    """Those of features; None if features are ready-made."""

    n_columns = 0
    """Columns of a token that input dropout could mask; 0 if a token is one item."""

    has_bigram = True
    """Whether the label bigram is a feature."""

    is_independent = False
    """Whether the features of a sequence do not depend on other sequences, but for ``min_count``."""

    named = "features"
    """What errors call what it makes."""

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        return copy.copy(self)

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

    def features_by_token(self, encoded, sequence):
        """The features of one sequence, encoded; by token, of labels and of transitions.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        nodes = named_bag(bag_of(encoded), self.row_names)
        return nodes, [[] for _ in nodes]

    def template_of_row(self, encoded):
        """(n_node_rows,) the template, or the key, of each row as a number; None if nobody knows."""
        return None

    def adapted(self, flat, token):
        """The encoder with the statistics of another text, if it has any.

        Raises
        ------
        ValueError
            If it has none.
        """
        raise ValueError(f"there is nothing to adapt: {self.named} have no accessor variety")
