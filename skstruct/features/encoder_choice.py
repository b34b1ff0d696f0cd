"""The choice of an encoder by the first token of a corpus, or of two of them by its
blocks; and one encoder from those of shards.

A kind of input is a subclass of :class:`.base.Encoder`, entered in :data:`ENCODERS`
with the table of its fields in files. Features that are :class:`.patterns.Patterns`
choose their encoder, whatever the token is.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

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
from .._data.places import describe, placed
from .._data.reads import ColumnInfo, ModelReads, names_of_all, runs_of
from .._data.tables import as_float
from .._saving.container import require
from .._saving.fields import Field, Kind, Table, array, choice, each, optional, string
from .bag_encoder import BAG, BagEncoder
from .base import Encoder, Features
from .encoded import RowMap
from .numeric import NumericFeatures
from .pattern_encoder import PATTERN_ENCODER, PatternEncoder
from .patterns import Patterns
from .rows_encoder import NUMBERS, RowsEncoder
from .template_encoder import TEMPLATE_ENCODER, TemplateEncoder
from .templates import is_template_path, resolve_templates
from .word_clusters import check_strings_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._chain.bigram import ChainTask
    from .._data.types import Self
    from .._saving.fields import Members
    from .encoded import Encoded
    from .templates import FeatureTemplates
    from .word_clusters import WordClusters


def new_encoder(
    features: Features,
    min_count: int,
    corpus: TokenCorpus,
    scaled: bool | None = True,
    words: WordClusters | None = None,
) -> Encoder:
    """Make the encoder that suits the first token of a corpus.

    Parameters
    ----------
    features : str, path, list of str, FeatureTemplates, Patterns or NumericFeatures
        As of the estimators.
    min_count : int
        Features seen fewer times in training are left out.
    corpus : TokenCorpus
        Not empty.
    scaled : bool or None
        Whether rows of numbers are scaled; see :class:`.rows_encoder.RowsEncoder`.
    words : WordClusters, optional
        Clusters that templates read.

    Returns
    -------
    Encoder

    Raises
    ------
    ValueError
        If the first token is of no known kind, or templates were asked for ready-made
        features.
    """
    if words is not None:
        features = _with_words(features, words, corpus)
    if len(corpus.blocks) > 1:
        return MixedEncoder.for_tokens(features, min_count, corpus, scaled)
    if corpus.numbers:
        return RowsEncoder.for_tokens(features, min_count, corpus, scaled)
    first = corpus.tokens[0]
    if isinstance(features, NumericFeatures):
        text = f"features={features!r} reads rows of numbers, but the first token is "
        raise ValueError(text + describe(first))
    cls = _class_for(features, first)
    if cls is None:
        text = (
            "a token must be a str, a tuple of str, a dict, a list of str or a row "
            "of numbers, got "
        )
        raise placed(corpus.offsets, 0, text + describe(first))
    encoder = cls.for_tokens(features, min_count, corpus, scaled)
    if corpus.blocks[0].names is not None:
        encoder.reads = replace(encoder.reads, titles=corpus.blocks[0].names)
    return encoder


def _class_for(features: Features, first: Any) -> type[Encoder] | None:
    """Return the class of encoders for a first token, or None."""
    if isinstance(features, Patterns):
        return PatternEncoder
    fitting = (cls for cls, _ in ENCODERS.values() if isinstance(first, cls.TOKENS))
    return next(fitting, None)


def _with_words(
    features: Features, words: WordClusters, corpus: TokenCorpus
) -> FeatureTemplates:
    """Return the templates that a ``features`` parameter means, with clusters of words."""
    check_strings_in(corpus)
    flat = corpus.only(STRINGS).tokens
    if isinstance(features, (NumericFeatures, Patterns)):
        raise ValueError(
            f"words: templates read clusters, features={describe(features)} does not"
        )
    return resolve_templates(features, flat[0], flat).with_words(words)


def check_same_features(
    encoder: Encoder,
    features: Features,
    min_count: int,
    words: WordClusters | None = None,
) -> None:
    """Raise ValueError if parameters ask for other features than an encoder has.

    Parameters
    ----------
    encoder : Encoder
        Of the training so far, which a fit continues.
    features, min_count, words
        As of :func:`new_encoder`.
    """
    if min_count != encoder.min_count:
        text = (
            f"min_count={min_count} differs from that of the training so far, "
            f"{encoder.min_count}; "
        )
        raise ValueError(f"{text}a fit that continues cannot change it")
    if words != _words_of(encoder):
        raise ValueError(
            "words= differ from those of the training so far; a fit that continues "
            "keeps them"
        )
    if features == "auto":
        return
    if is_template_path(features) and not os.path.isfile(features):
        return  # a template file is read once; it may have gone since
    asked: Any = features
    known: Any = encoder.templates
    if isinstance(features, NumericFeatures):
        known = encoder.features
    elif not isinstance(features, Patterns):
        templates = resolve_templates(features, "", [])
        asked = templates if words is None else templates.with_words(words)
    if asked != known:
        text = (
            f"features={describe(features)} differ from those of the training so far; "
        )
        raise ValueError(f"{text}a fit that continues cannot change them")


def _words_of(encoder: Encoder) -> WordClusters | None:
    """Return the clusters of words that the templates of an encoder read."""
    return getattr(encoder.templates, "words", None)


def _kind_of(encoder: Encoder) -> tuple[Any, ...]:
    """Return what the encoders of all shards have in common."""
    return type(encoder), encoder.token_type, encoder.templates


def merge_encoders(
    encoders: Sequence[Encoder], counts: Sequence[RowMap | None], min_count: int
) -> tuple[Encoder, list[RowMap]]:
    """Make the encoder that has read all shards.

    Parameters
    ----------
    encoders : list of Encoder
        Without count cut-off; of one kind.
    counts : list of RowMap or None
        Occurrences by row of each, needed if ``min_count`` is above 1.
    min_count : int

    Returns
    -------
    encoder : Encoder
    maps : list of RowMap
        What the rows of each shard have become.

    Raises
    ------
    ValueError
        If the shards' tokens are of different kinds, or templates look at a text as a
        whole.
    """
    first = encoders[0]
    for s, encoder in enumerate(encoders):
        if _words_of(encoder) != _words_of(first):
            raise ValueError(
                f"shard {s}: words= are not those of shard 0: learn them before, "
                "words.table()"
            )
        if _kind_of(encoder) != _kind_of(first):
            raise ValueError(
                f"shard {s}: its tokens are not of the kind of those of shard 0"
            )
        first.reads.check_titles(encoder.reads.titles, f"shard {s}", "in shard 0")
    return first.merged(encoders, counts, min_count)


class MixedEncoder(Encoder):
    """Encodes tokens of two blocks: dense rows of numbers, and strings or sparse rows
    beside them.

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

    @classmethod
    def for_tokens(
        cls,
        features: Features,
        min_count: int,
        corpus: TokenCorpus,
        scaled: bool | None = True,
    ) -> Self:
        """Make an encoder of dense rows, and one of what stands beside them.

        ``features`` is for strings if there are some and it can be.
        """
        strings = corpus.block(STRINGS)
        numeric = strings is None or isinstance(features, NumericFeatures)
        of_rows, of_others = (
            (features, "auto") if numeric else (NumericFeatures(), features)
        )
        numbers = RowsEncoder.for_tokens(of_rows, 1, corpus.only(DENSE), scaled)
        others = new_encoder(of_others, min_count, corpus.only(SPARSE, STRINGS), scaled)
        numbers.has_bigram = others.has_bigram
        return cls(
            numbers, others, corpus.is_dense if strings is None else strings.names
        )

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


def _write_encoder(
    value: Encoder, writer: Any, name: str, f: Members
) -> dict[str, Any]:
    for kind, (cls, table) in ENCODERS.items():
        if type(value) is cls:
            return {"kind": kind, **table.write(value, writer, name, f)}
    raise TypeError(f"features made by a {type(value).__name__} cannot be saved")


def _read_encoder(node: Any, where: str, f: Members) -> Encoder:
    require(isinstance(node, dict) and "kind" in node, f"{where} lacks kind")
    _, table = choice(ENCODERS).read(node["kind"], f"{where}.kind", f)
    return table.read(node, where, f)


encoder = Kind("encoder", _write_encoder, _read_encoder)

JOINT = Table(
    "Encoder `joint`",
    Field("numbers", NUMBERS),
    Field("others", encoder),
    Field(
        "mask",
        optional(array("bool", None)),
        of=lambda e: None if e.are_strings else e.columns,
    ),
    Field(
        "columns", each(string), of=lambda e: list(e.columns) if e.are_strings else []
    ),
    make=_joint,
)

ENCODERS: dict[str, tuple[type[Encoder], Table]] = {
    "bag": (BagEncoder, BAG),
    "joint": (MixedEncoder, JOINT),
    "rows": (RowsEncoder, NUMBERS),
    "patterns": (PatternEncoder, PATTERN_ENCODER),
    "templates": (TemplateEncoder, TEMPLATE_ENCODER),
}
"""The encoders by their names in files: their class, and their fields."""
