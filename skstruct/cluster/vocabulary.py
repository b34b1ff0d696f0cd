"""What shards met that were encoded apart, and their labels brought together.

Each shard's run says what it met (``run.vocabulary``). From that of all, ``merged`` makes a run without
examples, whose model is that of the whole, and for each shard a plan, by which ``run.adopt`` translates the
shard's run, once; see :class:`skstruct.training.run.Run`.
"""

from typing import NamedTuple

import numpy as np

from ..data.inputs import describe
from ..data.labels import UNLABELLED, Labels


class Vocabulary(NamedTuple):
    """What a shard met."""

    encoder: object = None  # None if features carry their meaning in their keys
    labels: Labels | None = None
    counts: object = None  # RowMap of occurrences by row
    label_counts: np.ndarray | None = None  # (L,) tokens by label


def merged_labels(vocabularies):
    """All labels, and by shard the new id of each; the last entry serves UNLABELLED."""
    first = type(vocabularies[0].labels.values[0])
    for s, vocabulary in enumerate(vocabularies):
        other = type(vocabulary.labels.values[0])
        if other is not first:
            raise ValueError(
                f"y: the labels of shard {s} are of type {other.__name__} (the first is "
                f"{describe(vocabulary.labels.values[0])}), those of shard 0 of type {first.__name__}"
            )
    labels = Labels({value for vocabulary in vocabularies for value in vocabulary.labels.values})
    maps = [
        np.array([labels.ids[value] for value in vocabulary.labels.values] + [UNLABELLED], np.int32)
        for vocabulary in vocabularies
    ]
    return labels, maps
