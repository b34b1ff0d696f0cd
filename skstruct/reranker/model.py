"""A re-ranker without scikit-learn around it: features and weights beside those of the base."""

from dataclasses import dataclass

import numpy as np

from ..core.feature_table import final, for_reading, restart_average
from ..core.noise import QUIET
from ..core.pruning import count_weights
from ..core.store import new_clock
from ..features.names import NamedWeights
from ..training.chunks import as_writeable_view
from ..training.epochs import snapshot
from ..training.run import TrainingState
from ..training.saved import SavableModel
from . import epoch as structure
from .parts import feature_names


@dataclass
class RerankModel(SavableModel):
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

    @property
    def n_features(self):
        """Number of features."""
        return self.entries

    def named_weights(self):
        """The weights with the names of their features, as a list of NamedWeights."""
        return [NamedWeights(self.weights, ["path"], lambda rows: feature_names(self, rows))]

    def sizes(self):
        """See ``training.saved.SavableModel``."""
        return None, self.n_features, count_weights(self.weights), None

    def reranker(self):
        """The arrays that kernels search under."""
        features = for_reading(self.weights, self.table, self.entries)
        return as_writeable_view(structure.Reranker(features, new_clock()))


def choose(model, rule, task):
    """(nodes on the best paths, scores) of lattices."""
    out, scores = np.zeros(task.begin.shape[0], np.bool_), np.empty(task.node.shape[0] - 1)
    work = structure.new_work(task, training=False)
    structure.predict(task, 0, scores.shape[0], model, rule, QUIET, work, out, scores)
    return out, scores


def final_model(model, rule, words, tags):
    """The :class:`RerankModel` that training so far amounts to, without bookkeeping."""
    return RerankModel(words, tags, *final(model.features, model.clock, rule))


def continued_state(before, rule):
    """A copy of an earlier state; under another rule the average begins anew."""
    model = snapshot(structure, before.model)
    if before.rule != rule:
        features = restart_average(model.features, model.clock, before.rule, rule)
        model = model._replace(features=features, clock=new_clock())
    return TrainingState(model, rule, before.key, before.epoch, history=[*before.history])
