"""The vocabularies of shards that were encoded apart, and their labels, merged.

Each shard's run says what it met (``run.vocabulary``). From that of all, ``merged``
makes a run without examples, whose model is that of the whole, and for each shard a
plan, by which ``run.adopt`` translates the shard's run, once; see
:class:`skstruct._training.run.Run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._data.inputs import describe
from .._data.labels import UNLABELLED, Labels

if TYPE_CHECKING:
    from .._chain.shown_pairs import ShownPairs
    from ..features.encoded import RowMap

NO_LABEL = "y holds no label: all tokens are None"


class Vocabulary(NamedTuple):
    """The features and labels that a shard met."""

    encoder: Any = None
    """An Encoder, or what a structure has in its place; None where features carry their
    meaning in their keys."""
    labels: Any = None  # Labels
    counts: RowMap | None = None  # occurrences by row
    label_counts: np.ndarray | None = None  # (L,) tokens by label
    pairs: ShownPairs | None = None  # as in its TrainingState


def merged_labels(
    vocabularies: list[Vocabulary], no_label: str = NO_LABEL
) -> tuple[Labels, list[np.ndarray]]:
    """Unite the labels of shards.

    Parameters
    ----------
    vocabularies : list of Vocabulary
        By shard.
    no_label : str
        What the error says if there is no label at all.

    Returns
    -------
    Labels
    list of ndarray
        By shard, the new id of each of its labels; the last entry serves UNLABELLED.

    Raises
    ------
    ValueError
        If there is no label, or the labels of two shards are of different types.
    """
    known = [each.labels.values for each in vocabularies if each.labels is not None]
    types = {s: type(values[0]) for s, values in enumerate(known) if values}
    if not types:
        raise ValueError(no_label)
    first, expected = next(iter(types.items()))
    for s, kind in types.items():
        if kind is not expected:
            wrong = f"of type {kind.__name__} (the first is {describe(known[s][0])})"
            raise ValueError(
                f"y: the labels of shard {s} are {wrong}, those of shard {first} "
                f"{expected.__name__}"
            )
    labels = Labels(set().union(*known))
    return labels, [
        np.array([*map(labels.ids.get, values), UNLABELLED], np.int32)
        for values in known
    ]
