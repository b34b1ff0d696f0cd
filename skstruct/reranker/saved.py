"""Re-rankers in files.

Features are stored by their keys, in the order of rows; the table is built anew. The base is a fitted
attribute, an estimator of its own.
"""

from ..saving.values import require
from ..training.tables import (
    compressed_tables,
    table_from_state,
    table_state,
    training_state,
    training_tables,
)
from .epoch import HALF, N_TEMPLATES, Reranker
from .lattice import view_of
from .model import RerankModel

FACTS = ("min_count",)


def model_state(model, writer, name):
    """The JSON of a :class:`RerankModel`."""
    return {
        "words": writer.value(list(model.words), f"{name}.words"),
        "tags": writer.value(list(model.tags), f"{name}.tags"),
        **table_state(model, writer, name),
    }


def trained_state(model, writer, name):
    """The JSON of a :class:`Reranker`; its features are those of the model."""
    return training_state({"": model.features}, writer, name)


def model_from_state(node, fitted, reader, where):
    """The :class:`RerankModel` of a file."""
    words, tags = reader.members(node, where, "words tags")
    words, tags = _ids(words, reader, f"{where}.words"), _ids(tags, reader, f"{where}.tags")
    require(all(type(word) is str for word in words), f"{where}.words must be strings")
    require(len(tags) < HALF - 1, f"{where}: too many tags")
    table = table_from_state(node, _are_features, 1, reader, where)
    _require_base(fitted.get("base_"), where)
    return RerankModel(*table, words, tags)


def _are_features(keys):
    return (keys >= 0).all() and (keys[:, 0] < N_TEMPLATES).all()


def _require_base(base, where):
    try:
        view_of(base)
    except (ValueError, TypeError, AttributeError):
        require(False, f"{where}.base_ must be a segmenter or tagger with k best analyses")


def _ids(node, reader, where):
    values = reader.value(node, where)
    require(isinstance(values, list), f"{where} must be a list")
    try:
        ids = {value: k for k, value in enumerate(values, 1)}
    except TypeError:
        ids = {}
    require(len(ids) == len(values), f"{where} must be distinct")
    return ids


def compressed(model, dtype, keep):
    """The :class:`RerankModel` without the features that have no weight."""
    return compressed_tables(model, dtype, keep)


def trained_from_state(node, model, min_count, rule, clock, reader, where):
    """The :class:`Reranker` of a file."""
    return Reranker(*training_tables(node, model, ("",), min_count, rule, clock, reader, where), clock)
