"""The choice of an encoder by the first token of a corpus, or of two of them by its blocks.

A kind of input is a subclass of :class:`.base.Encoder`, entered in :data:`ENCODERS`, and what
``skstruct.features.encoder_fields`` needs to write and read it. Features that are
:class:`.patterns.Patterns` choose their encoder, whatever the token is.
"""

import copy
import os

import numpy as np
from scipy import sparse

from ..data.corpus import DENSE, SPARSE, STRINGS, TokenCorpus, called_by_kind, number_block
from ..data.places import describe
from ..data.reads import ColumnInfo, Reads, names_of_all
from ..data.tables import as_float
from .bag_encoder import BagEncoder
from .base import Encoder
from .encoded import RowMap
from .numeric import NumericFeatures
from .pattern_encoder import PatternEncoder
from .patterns import Patterns
from .presets import PRESETS
from .rows_encoder import RowsEncoder
from .template_encoder import TemplateEncoder
from .templates import resolve_templates

ENCODERS = (TemplateEncoder, BagEncoder)


def new_encoder(features, min_count, corpus, scaled=True):
    """The encoder that suits the first token of a corpus; ``scaled``: whether rows of numbers may be.

    Raises
    ------
    ValueError
        If the first token is of no known kind, or templates were asked for ready-made features.
    """
    if len(corpus.blocks) > 1:
        return MixedEncoder.for_tokens(features, min_count, corpus, scaled)
    if corpus.numbers:
        return RowsEncoder.for_tokens(features, min_count, corpus, scaled)
    encoder = _encoder_of_lists(features, min_count, corpus.tokens)
    if corpus.blocks[0].names is not None:
        encoder.reads = encoder.reads._replace(titles=corpus.blocks[0].names)
    return encoder


def _encoder_of_lists(features, min_count, flat):
    if isinstance(features, Patterns):
        return PatternEncoder.for_tokens(features, min_count, flat)
    if isinstance(features, NumericFeatures):
        raise ValueError(
            f"features={features!r} reads rows of numbers, but the first token is {describe(flat[0])}"
        )
    for encoder in ENCODERS:
        if isinstance(flat[0], encoder.TOKENS):
            return encoder.for_tokens(features, min_count, flat)
    raise ValueError(
        "X: sequence 0, position 0: a token must be a str, a tuple of str, a dict of features, a list of str "
        f"or a row of numbers, got {describe(flat[0])}"
    )


def check_same_features(encoder, features, min_count):
    """Raise if parameters ask for other features than those a model was trained with."""
    if min_count != encoder.min_count:
        raise ValueError(
            f"min_count={min_count} differs from that of the training so far, {encoder.min_count}; "
            f"a fit that continues cannot change it"
        )
    if isinstance(features, NumericFeatures):
        if features == getattr(encoder, "features", None):
            return
    elif isinstance(features, (str, os.PathLike)):
        name = os.fspath(features)
        if name == "auto" or not (name in PRESETS or os.path.isfile(name)):
            return  # a template file is read once; it may have gone since
    numeric = isinstance(features, NumericFeatures)
    if numeric or encoder.templates is None or resolve_templates(features, "", []) != encoder.templates:
        raise ValueError(
            f"features={describe(features)} differ from those of the training so far; a fit that "
            f"continues cannot change them"
        )


class MixedEncoder(Encoder):
    """Encodes tokens of two blocks: dense rows of numbers, and strings or sparse rows beside them.

    The columns of dense rows have the first rows of weights. Behind them stand the rows of the other part,
    whose own encoder numbers them. Kernels add both.

    Parameters
    ----------
    numbers : RowsEncoder
        Of the dense columns.
    others : encoder
        Of the rest.
    columns : ndarray of bool, or tuple of str
        Which columns are dense, or the names of the columns of strings.
    """

    token_type = np.ndarray

    sparse = False
    """There are dense rows."""

    @classmethod
    def for_tokens(cls, features, min_count, corpus, scaled):
        """The encoder that a ``features`` parameter means for a corpus."""
        rows, others = corpus.only(DENSE), corpus.only(SPARSE, STRINGS)
        strings = corpus.block(STRINGS)
        if strings is not None:
            numeric = isinstance(features, NumericFeatures)
            others = new_encoder("auto" if numeric else features, min_count, others)
            numbers = RowsEncoder.for_tokens(features if numeric else NumericFeatures(), 1, rows, scaled)
        else:
            numbers = RowsEncoder.for_tokens(features, 1, rows, scaled)
            others = RowsEncoder.for_tokens("auto", min_count, others, scaled)
        numbers.has_bigram = others.has_bigram
        return cls(numbers, others, corpus.is_dense if strings is None else strings.names)

    def __init__(self, numbers, others, columns):
        self.numbers, self.others, self.columns = numbers, others, columns
        self.features = numbers.features  # how numbers count
        self.templates, self.min_count = others.templates, others.min_count
        # Input dropout masks numbers with the first column of the strings.
        self.has_bigram, self.n_columns = others.has_bigram, others.n_columns

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        out = copy.copy(self)
        out.numbers, out.others = self.numbers.copy(), self.others.copy()
        return out

    # -- what the parts say ------------------------------------------------------------------------
    @property
    def are_strings(self):
        """Whether the rest are strings, not sparse rows."""
        return isinstance(self.columns, tuple)

    @property
    def reads(self):
        """See :class:`.base.Encoder`."""
        called = called_by_kind(DENSE, STRINGS if self.are_strings else SPARSE)
        return Reads(called, self.width, self.names, self.columns if self.are_strings else None)

    @property
    def n_edge_rows(self):
        """Combinations that own a matrix of transition weights."""
        return self.others.n_edge_rows

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.numbers.n_node_rows + self.others.n_node_rows

    @property
    def bias_row(self):
        """The row of the bias, -1 if there is none."""
        return self.numbers.bias_row

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
        return self.numbers.width if self.are_strings else self.columns.shape[0]

    @property
    def names(self):
        """The names of these columns, or None."""
        if self.are_strings:
            return self.numbers.names
        return names_of_all(self.columns, self.numbers.names, self.others.names)

    # -- encoding ----------------------------------------------------------------------------------
    def encode(self, corpus, grow):
        """Encode a corpus: see :class:`.rows_encoder.RowsEncoder`."""
        if not self.are_strings and corpus.offsets[-1]:
            corpus = self._divided(corpus)
        dense = self.numbers.encode(corpus.only(DENSE), grow).dense
        found = self.others.encode(corpus.only(SPARSE, STRINGS), grow)
        n = np.int32(self.numbers.n_node_rows)
        alive = found.node_alive
        if alive.shape[0]:
            alive = np.append(np.ones(n, np.uint8), alive)
        return _shifted(found, n)._replace(node_alive=alive, dense=dense)

    def _divided(self, corpus):
        """The corpus with those columns dense that were dense in training."""
        if np.array_equal(corpus.is_dense, self.columns):
            return corpus
        matrix, blocks = sparse.csr_matrix(corpus.matrix), []
        for used in (self.columns, ~self.columns):
            blocks.append(number_block(matrix[:, used] if blocks else as_float(matrix[:, used].toarray())))
        complete = ColumnInfo(self.has_bigram, np.zeros(self.others.width, np.int32))
        return TokenCorpus.of((blocks[0], blocks[1]._replace(info=complete)), corpus.lengths, self.columns)

    def rescaled(self, task, scale):
        """A task of values as they are, which this encoder made, under a scale."""
        return self.numbers.rescaled(task, scale)

    def adapted(self, corpus):
        """The encoder with the statistics of another text, if the strings' templates have any."""
        out = copy.copy(self)
        out.others = self.others.adapted(None if corpus is None else corpus.only(SPARSE, STRINGS))
        return out

    # -- names -------------------------------------------------------------------------------------
    def row_names(self, rows):
        """The names of rows, {row: name}."""
        n = self.numbers.n_node_rows
        behind = self.others.row_names({row - n for row in rows if row >= n})
        return {**self.numbers.row_names(rows), **{row + n: name for row, name in behind.items()}}

    def edge_names(self, rows):
        """The names of rows of transition features, {row: name}."""
        return self.others.edge_names(rows)

    def keep_rows(self, nodes, edges):
        """See :class:`.base.Encoder`; dense rows keep all columns."""
        out, n = self.copy(), self.numbers.n_node_rows
        out.others, behind, edges = self.others.keep_rows(nodes[n:], edges)
        return out, np.append(np.arange(n), behind + n), edges

    # -- shards ------------------------------------------------------------------------------------
    def merged(self, encoders, counts, min_count):
        """See :func:`.base.merge_encoders`; this is the first of ``encoders``."""
        for s, other in enumerate(encoders):
            if other.are_strings != self.are_strings or list(other.columns) != list(self.columns):
                raise ValueError(f"shard {s}: its columns are not of the kinds of those of shard 0")
        numbers, first = self.numbers.merged([e.numbers for e in encoders], counts, 1)
        n = self.numbers.n_node_rows
        counts = [c if c is None else RowMap(c.nodes[n:], c.edges) for c in counts]
        others, behind = self.others.merged([e.others for e in encoders], counts, min_count)
        maps = []
        for a, b in zip(first, behind):
            nodes = np.append(a.nodes, np.where(b.nodes < 0, -1, b.nodes + n).astype(np.int32))
            maps.append(RowMap(nodes, b.edges))
        return type(self)(numbers, others, self.columns), maps


def _shifted(encoded, n):
    """An encoded corpus whose features of labels have rows n further on."""
    n = np.int32(n)
    grid, bag = encoded.nodes, encoded.bag
    grid = grid._replace(row=np.where(grid.row < 0, np.int32(-1), grid.row + n))
    bag = bag._replace(row=np.where(bag.row < 0, np.int32(-1), bag.row + n))
    return encoded._replace(nodes=grid, bag=bag)
