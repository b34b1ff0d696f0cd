"""What shards met that were encoded apart, and their labels brought together.

Each shard's run says what it met (``run.vocabulary``). From that of all, ``merged``
makes a run without examples, whose model is that of the whole, and for each shard a
plan, by which ``run.adopt`` translates the shard's run, once; see
:class:`skstruct._training.run.Run`.
"""

from typing import NamedTuple

import numpy as np

from .._data.inputs import describe
from .._data.labels import UNLABELLED, Labels

NO_LABEL = "y holds no label: all tokens are None"


class Vocabulary(NamedTuple):
    """What a shard met."""

    encoder: object = None  # None if features carry their meaning in their keys
    labels: Labels | None = None
    counts: object = None  # RowMap of occurrences by row
    label_counts: np.ndarray | None = None  # (L,) tokens by label
    pairs: object = None  # the ``pairs`` of its TrainingState


def merged_labels(vocabularies, no_label=NO_LABEL):
    """All labels, and by shard the new id of each; the last entry serves UNLABELLED.

    ``no_label``: what the error says if there is none.
    """
    known = [vocabulary.labels.values for vocabulary in vocabularies]
    types = {s: type(values[0]) for s, values in enumerate(known) if values}
    if not types:
        raise ValueError(no_label)
    first, expected = next(iter(types.items()))
    for s, kind in types.items():
        if kind is not expected:
            wrong = f"of type {kind.__name__} (the first is {describe(known[s][0])})"
            raise ValueError(
                f"y: the labels of shard {s} are {wrong}, those of shard {first} {expected.__name__}"
            )
    labels = Labels(set().union(*known))
    return labels, [
        np.array([*map(labels.ids.get, values), UNLABELLED], np.int32)
        for values in known
    ]
