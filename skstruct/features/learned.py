"""A corpus that comes with the encoder which has numbered its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.corpus import TokenCorpus
from .encoded import EncodedCorpus

if TYPE_CHECKING:
    from .._data.types import Self
    from .base import Encoder
    from .encoded import Encoded


class LearnedCorpus(EncodedCorpus):
    """A corpus, encoded for training: a new fit on it begins with its encoder.

    So what counts features before training need not encode twice. Parts of it are
    encoded corpora like others, on which a fit begins with an encoder of its own.
    """

    _is_whole = False

    @classmethod
    def by_growing(
        cls, encoder: Encoder, corpus: TokenCorpus, encoded: Encoded
    ) -> Self:
        """Make the corpus whose features, and no others, an encoder has numbered."""
        X = cls.by(encoder, corpus, encoded)
        vars(X)["_is_whole"] = True
        return X

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if self._is_whole and isinstance(found, LearnedCorpus):
            # Without empty sequences it is the same to an encoder.
            in_order = isinstance(key, np.ndarray) and (np.diff(key) > 0).all()
            if in_order and found.offsets[-1] == self.offsets[-1]:
                vars(found)["_is_whole"] = True
        return found


def learned_encoder(corpus: TokenCorpus) -> Encoder | None:
    """Return the encoder that a corpus comes with, or None."""
    if isinstance(corpus, LearnedCorpus) and corpus._is_whole:
        return corpus._kept[0]
    return None
