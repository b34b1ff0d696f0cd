"""A corpus that comes with the encoder which has numbered its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .encoded import EncodedCorpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._data.corpus import TokenCorpus
    from .base import Encoder
    from .encoded import Encoded


class LearnedCorpus(EncodedCorpus):
    """A corpus, encoded for training: a new fit on it begins with its encoder.

    So what counts features before training need not encode twice. Parts of it are
    encoded corpora like others, on which a fit begins with an encoder of its own.

    Parameters
    ----------
    corpus, encoder, encoded
        As of :class:`.encoded.EncodedCorpus`; the encoder has numbered the features of
        this corpus, and no others.
    """

    def encoder_of(self, settings: Any, make: Callable[[], Encoder]) -> Encoder:
        """Return the encoder that has numbered the features of this corpus."""
        return self.encoder

    def encoded_by(self, encoder: Encoder, grow: bool = False) -> Encoded | None:
        """Return what the encoder made of this corpus, for training, too."""
        return self.encoded if self.encoder is encoder else None

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if not isinstance(part, LearnedCorpus):
            return part
        # Without empty sequences it is the same to an encoder.
        in_order = isinstance(key, np.ndarray) and (np.diff(key) > 0).all()
        if in_order and part.offsets[-1] == self.offsets[-1]:
            return part
        return EncodedCorpus(part.corpus, part.encoder, part.encoded)


def learned_encoder(corpus: TokenCorpus) -> Encoder | None:
    """Return the encoder that a corpus comes with, or None."""
    return corpus.encoder if isinstance(corpus, LearnedCorpus) else None
