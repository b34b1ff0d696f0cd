"""Held-out sequences with their labels, encoded once: they are labelled after each epoch."""

from typing import NamedTuple

import numpy as np

from ..chain.bigram import ChainTask
from ..data.labels import UNLABELLED

UNSEEN = -2
"""The id of a label that training lacks: no prediction is right."""


class EncodedPart(NamedTuple):
    """What token accuracy needs."""

    task: ChainTask
    gold: np.ndarray  # (N,) int32: ids, UNLABELLED or UNSEEN

    @classmethod
    def of(cls, task, gold, unseen):
        """``gold`` and ``unseen`` as from ``data.labels.encode_known``."""
        return cls(task, np.where(unseen, np.int32(UNSEEN), gold))

    def accuracy(self, model):
        """Token accuracy of a :class:`.ChainModel`, over the tokens whose label is given."""
        given = self.gold != UNLABELLED
        right = (model.best_ids(self.task) == self.gold)[given]
        return float(right.mean()) if right.shape[0] else 0.0
