"""What a trained re-ranker predicts with, made of a training state and back."""

from dataclasses import dataclass

import numpy as np

from ..core.store import READ_ONLY, new_clock, new_store, weights
from ..training.chunks import lend
from ..training.epochs import snapshot
from ..training.run import TrainingState
from . import epoch as structure


@dataclass
class RerankModel:
    """What prediction needs besides the base.

    Attributes
    ----------
    words, tags : dict
        Ids from 1 on, by value.
    weights : Store
        Final weights; no bookkeeping of the training.
    table : ndarray of shape (capacity, 2), int64
    entries : int
        Features; row r of the weights belongs to the r-th.
    """

    words: dict
    tags: dict
    weights: object
    table: np.ndarray
    entries: int

    def reranker(self):
        """The arrays that kernels search under."""
        return lend(
            structure.Reranker(
                weights=self.weights,
                table=self.table,
                entries=np.array([self.entries], np.int64),
                seen=np.zeros(0, np.int32),
                min_count=1,
                clock=new_clock(),
            )
        )


def final_model(model, rule, words, tags):
    """The :class:`RerankModel` that training so far amounts to, without bookkeeping."""
    R = int(model.entries[0])
    value = weights(model.weights, model.clock, rule)[:R].copy()
    if model.min_count > 1:
        value[model.seen[:R] < model.min_count] = 0.0
    store = new_store(0, 1, READ_ONLY, False)._replace(value=value)
    return RerankModel(words, tags, store, model.table.copy(), R)


def continued_state(before, rule):
    """A copy of an earlier state; under another rule the average begins anew."""
    model = snapshot(structure, before.model)
    if before.rule != rule:
        fresh = new_store(model.weights.value.shape[0], 1, rule, False)
        value = weights(model.weights, model.clock, before.rule).copy()
        model = model._replace(weights=fresh._replace(value=value), clock=new_clock())
    return TrainingState(model, rule, before.key, before.epoch, history=[*before.history])
