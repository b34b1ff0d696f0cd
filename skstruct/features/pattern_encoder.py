"""The encoder for patterns of CRF++ and Wapiti: features are the strings that they
write.

Features of labels become a bag, in the order of the patterns, as the tools add them.
Each pattern of transitions that reads tokens is a group of its own, whose combination
stands at the token that it speaks of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._data.corpus import STRINGS, called_by_kind
from .._data.inputs import describe
from .._data.reads import ModelReads
from .._saving.fields import Field, Table, built, knowing, value, via
from .encoded import NOTHING, Bag, Grid, without_templates
from .encoder_fields import (
    INDEX,
    MIN_COUNT,
    TITLES,
    TOKENS,
    has_cutoff,
    take_titles,
)
from .indexed_encoder import NamedEncoder
from .patterns import Patterns, pattern_writer
from .row_index import FeatureIndex
from .tokens import string_columns

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._data.corpus import TokenCorpus
    from .._data.types import Self
    from .base import Features
    from .encoded import Encoded


class PatternEncoder(NamedEncoder):
    """Encodes tokens that are strings, or tuples of strings, by the patterns of a tool.

    Parameters
    ----------
    patterns : Patterns
    min_count : int
        Features seen fewer times in training are left out.
    """

    reads = ModelReads(called_by_kind(STRINGS))
    named = "patterns"
    templates: Patterns

    @classmethod
    def for_tokens(
        cls,
        features: Features,
        min_count: int,
        corpus: TokenCorpus,
        scaled: bool | None = True,
    ) -> Self:
        """Make an encoder of patterns for tokens that are strings, or tuples of them.

        Raises
        ------
        ValueError
            If the tokens are others.
        """
        first = corpus.tokens[0]
        if not isinstance(first, (str, tuple)):
            text = (
                f"features={describe(features)} are for tokens that are str or "
                "tuples of str, got "
            )
            raise ValueError(text + describe(first))
        if not isinstance(features, Patterns):
            raise TypeError(f"features={describe(features)} are no patterns")
        return cls(features, min_count)

    def __init__(self, patterns: Patterns, min_count: int = 1) -> None:
        self.templates = patterns
        self.has_bigram = patterns.bigram
        self.n_columns = patterns.n_columns
        self.min_count = min_count
        # str or tuple, from the first corpus.
        self.first_type: type | None = None
        self.nodes = FeatureIndex()
        self.edges = FeatureIndex(1)

    @classmethod
    def of_names(
        cls, patterns: Patterns, nodes: Iterable[str], edges: Iterable[str]
    ) -> Self:
        """Make an encoder that knows features with these names, row by row in their
        order.
        """
        encoder = cls(patterns)
        encoder.nodes = FeatureIndex.of_names(nodes)
        encoder.edges = FeatureIndex.of_names(edges, 1)
        return encoder

    def encode(self, corpus: TokenCorpus, grow: bool) -> Encoded:
        """Encode a corpus.

        Parameters
        ----------
        corpus : TokenCorpus
            Of str, or of tuples of str.
        grow : bool
            Training: new features are added.

        Returns
        -------
        Encoded
        """
        columns = string_columns(corpus, self.n_columns, self.first_type)
        token = corpus.offsets
        n = int(token[-1])
        write = pattern_writer(self.templates.syntax, columns, token.tolist())
        of_labels = self.templates.of_labels
        of_transitions = self.templates.of_transitions
        found = [self.nodes.find(write(pattern), grow) for pattern in of_labels]
        nodes = np.array(found, np.int32).reshape(len(of_labels), n).T.ravel()
        edges = np.full((len(of_transitions), n), -1, np.int32)
        # There is no transition into the first token.
        places = np.setdiff1d(np.arange(n), token)
        for k, pattern in enumerate(of_transitions):
            written = write(pattern)
            edges[k, places] = self.edges.find(
                [written[t] for t in places.tolist()], grow
            )
        if grow:
            if n:
                self.first_type = tuple if isinstance(corpus.like, tuple) else str
            self.nodes.assign(nodes, self.min_count)
            self.edges.assign(edges[edges >= 0], self.min_count)
        zeros = np.zeros(len(of_transitions) + 1, np.int32)
        grid = Grid(
            self.edges.row_of[edges],
            zeros[1:],
            zeros[1:] + np.int32(1),
            zeros,
            NOTHING,
            NOTHING,
        )
        start = np.arange(n + 1, dtype=np.int64) * len(of_labels)
        return without_templates(
            token, Bag(start, self.nodes.row_of[nodes], np.zeros(0)), grid
        )

    # -- what models and their readers ask ---------------------------------------------
    @property
    def token_type(self) -> type:
        """Type of the tokens, str or tuple; see `takes_both`."""
        return self.first_type or (tuple if self.n_columns > 1 else str)

    @property
    def takes_both(self) -> bool:
        """Tell whether tuples will do as well as str: of a model from a file that reads
        one column.
        """
        return self.first_type is None and self.n_columns == 1


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
def _are_patterns(found: Any) -> Patterns:
    if not isinstance(found, Patterns):
        raise ValueError("patterns expected")
    return found


PATTERN_ENCODER = Table(
    "Encoder `patterns`",
    Field("tokens", TOKENS, of="first_type"),
    Field(
        "patterns", via(value, lambda patterns: patterns, _are_patterns), of="templates"
    ),
    MIN_COUNT,
    Field("nodes", knowing(INDEX, lambda _: {"first_row": 0})),
    Field("edges", knowing(INDEX, lambda _: {"first_row": 1})),
    TITLES,
    make=built(PatternEncoder, "patterns min_count", take_titles),
    cut=has_cutoff,
)
