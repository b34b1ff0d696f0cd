"""The choice of an encoder by the first token of a corpus.

A kind of input is a subclass of :class:`.base.Encoder`, entered in :data:`ENCODERS`, and what
``skstruct.features.saved`` needs to write and read it. Features that are :class:`.patterns.Patterns` choose
their encoder, whatever the token is.
"""

import os

from ..data.places import describe
from .bag_encoder import BagEncoder
from .mixed_encoder import MixedEncoder
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
        return MixedEncoder.for_tokens(features, min_count, corpus, scaled, new_encoder)
    if corpus.numbers:
        return RowsEncoder.for_tokens(features, min_count, corpus, scaled)
    flat = corpus.tokens
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
