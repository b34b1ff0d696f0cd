"""The fitted model of a re-ranker: features and weights beside those of the base."""

from dataclasses import dataclass

import numpy as np

from ..core.feature_table import final
from ..core.noise import QUIET
from ..core.store import new_clock
from ..features.names import NamedWeights
from ..training.chunks import as_writeable_view
from ..training.tables import TableModel
from . import epoch as structure
from .path_features import feature_names


@dataclass
class RerankModel(TableModel):
    """What prediction needs besides the base; see also :class:`.TableModel`.

    Attributes
    ----------
    words, tags : dict
        Ids from 1 on, by value.
    """

    words: dict
    tags: dict

    def named_weights(self):
        """The weights with the names of their features, as a list of NamedWeights."""
        return [NamedWeights(self.weights, ["path"], lambda rows: feature_names(self, rows))]

    def reranker(self):
        """The arrays that kernels search under."""
        return as_writeable_view(structure.Reranker(self.for_reading(), new_clock()))

    def choose(self, task):
        """(nodes on the best paths, scores) of lattices."""
        out, scores = np.zeros(task.begin.shape[0], np.bool_), np.empty(task.node.shape[0] - 1)
        work = structure.new_work(task, training=False)
        structure.predict(task, 0, scores.shape[0], self.reranker(), QUIET, work, out, scores)
        return out, scores


def final_model(model, rule, words, tags):
    """The :class:`RerankModel` with the final weights of a model in training."""
    return RerankModel(*final(model.features, model.clock, rule), words, tags)
