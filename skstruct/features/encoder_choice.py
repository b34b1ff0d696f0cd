"""The choice of an encoder by the first token of a corpus, or of two of them by its
blocks; and one encoder from those of shards.

A kind of input is a subclass of :class:`.base.BlockEncoder`, entered in :data:`ENCODERS`
with the table of its fields in files. Features that are :class:`.patterns.Patterns`
choose their encoder, whatever the token is.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scipy import sparse

from .._data.corpus import (
    DENSE,
    SPARSE,
    STRINGS,
    TokenCorpus,
)
from .._data.places import describe, placed
from .._saving.container import require
from .._saving.fields import Kind, Table, choice
from .bag_encoder import BAG, BagEncoder
from .base import BlockEncoder, Encoder, Features
from .encoded import RowMap
from .mixed_encoder import MixedEncoder, joint_fields
from .numeric import NumericFeatures
from .pattern_encoder import PATTERN_ENCODER, PatternEncoder
from .patterns import Patterns
from .rows_encoder import NUMBERS, RowsEncoder
from .template_encoder import TEMPLATE_ENCODER, TemplateEncoder
from .templates import is_template_path, resolve_templates
from .word_clusters import check_strings_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._saving.fields import Members
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
        return _mixed_encoder(features, min_count, corpus, scaled)
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
        hint = ""
        if sparse.issparse(first):
            hint = "; a sequence is one sparse matrix: scipy.sparse.vstack(sequence)"
        raise placed(corpus.offsets, 0, text + describe(first) + hint)
    encoder = cls.for_tokens(features, min_count, corpus, scaled)
    if corpus.blocks[0].names is not None:
        encoder.reads = replace(encoder.reads, titles=corpus.blocks[0].names)
    return encoder


def _mixed_encoder(
    features: Features, min_count: int, corpus: TokenCorpus, scaled: bool | None
) -> MixedEncoder:
    """Make the encoder of a corpus of two blocks.

    ``features`` are those of the strings, if there are some and they can be read by
    such features; else they say how dense rows are read.
    """
    strings = corpus.block(STRINGS)
    are_of_rows = strings is None or isinstance(features, NumericFeatures)
    of_rows, of_others = (
        (features, "auto") if are_of_rows else (NumericFeatures(), features)
    )
    numbers = RowsEncoder.for_tokens(of_rows, 1, corpus.only(DENSE), scaled)
    others = new_encoder(of_others, min_count, corpus.only(SPARSE, STRINGS), scaled)
    numbers.has_bigram = others.has_bigram
    columns = corpus.is_dense if strings is None else strings.names
    return MixedEncoder(numbers, others, columns)


def _class_for(features: Features, first: Any) -> type[BlockEncoder] | None:
    """Return the class of encoders for a first token, or None."""
    if isinstance(features, Patterns):
        return PatternEncoder
    for cls, _ in ENCODERS.values():
        if issubclass(cls, BlockEncoder) and isinstance(first, cls.TOKENS):
            return cls
    return None


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


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
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

JOINT = joint_fields(encoder)

ENCODERS: dict[str, tuple[type[Encoder], Table]] = {
    "bag": (BagEncoder, BAG),
    "joint": (MixedEncoder, JOINT),
    "rows": (RowsEncoder, NUMBERS),
    "patterns": (PatternEncoder, PATTERN_ENCODER),
    "templates": (TemplateEncoder, TEMPLATE_ENCODER),
}
"""The encoders by their names in files: their class, and their fields."""
