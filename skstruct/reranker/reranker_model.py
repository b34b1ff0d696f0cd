"""The fitted model of a re-ranker: features and weights beside those of the base."""

from dataclasses import dataclass

import numpy as np

from ..core.feature_table import final
from ..core.noise import QUIET
from ..core.store import new_clock
from ..saving.checks import require
from ..saving.fields import Field, Table, arguments, inline, value, via
from ..training.chunks import as_writeable_view
from ..training.saved import NamedWeights
from ..training.tables import TableModel, features_in_training, features_of, training_of
from . import reranker_epoch as structure
from .lattice import view_of
from .path_features import feature_names


def _are_features(_, keys):
    return (keys >= 0).all() and (keys[:, 0] < structure.N_TEMPLATES).all()


def _ids(values):
    ids = {value: k for k, value in enumerate(values, 1)}
    if not isinstance(values, list) or len(ids) != len(values):
        raise ValueError("a list of distinct values expected")
    return ids


def _arguments(f):
    """Those of :class:`RerankModel`, from a file; the base is a fitted attribute, an estimator of its own."""
    require(all(type(word) is str for word in f["words"]), f"{f.where}.words must be strings")
    require(len(f["tags"]) < structure.HALF - 1, f"{f.where}: too many tags")
    try:
        view_of(f["fitted"].get("base_"))
    except (ValueError, TypeError, AttributeError):
        require(False, f"{f.where}.base_ must be a segmenter or tagger with k best analyses")
    return arguments(f)


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

    # Features are stored by their keys, in the order of rows.
    FIELDS = Table(
        "KBestReranker",
        Field("words", via(value, list, _ids)),
        Field("tags", via(value, list, _ids)),
        Field("features", inline(features_of(_are_features, 1)), of=TableModel.stored),
        make=_arguments,
    )
    TRAINED = training_of({"": "features"})
    FACTS = ("min_count",)

    def in_training(self, f):
        """See ``training.saved.SavableModel``."""
        return structure.Reranker(features_in_training(f), f["clock"])

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
