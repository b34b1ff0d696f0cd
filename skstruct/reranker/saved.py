"""The state of re-rankers.

Features are stored by their keys, in the order of rows; the table is built anew. The base is a fitted
attribute, an estimator of its own.
"""

from dataclasses import replace

import numpy as np

from ..core.feature_table import for_training, in_use, seen_in_use, table_from_keys
from ..core.hashing import keys_of
from ..core.pruning import pruned, rows_in_use, with_rows
from ..core.store import READ_ONLY
from ..saving.stores import store_from_state, store_state
from ..saving.values import require
from .epoch import HALF, N_TEMPLATES, Reranker
from .lattice import view_of
from .model import RerankModel

FACTS = ("min_count",)


def model_state(model, writer, name):
    """The JSON of a :class:`RerankModel`."""
    return {
        "words": writer.value(list(model.words), f"{name}.words"),
        "tags": writer.value(list(model.tags), f"{name}.tags"),
        "keys": writer.array(f"{name}.keys", keys_of(model.table, model.entries).astype(np.int32)),
        "weights": store_state(model.weights, writer, f"{name}.weights"),
    }


def trained_state(model, writer, name):
    """The JSON of a :class:`Reranker`; its features are those of the model."""
    features = model.features
    out = {"weights": store_state(in_use(features), writer, f"{name}.weights")}
    if features.min_count > 1:
        out["seen"] = writer.array(f"{name}.seen", seen_in_use(features))
    return out


def model_from_state(node, fitted, reader, where):
    """The :class:`RerankModel` of a file."""
    words, tags, keys, weights = reader.members(node, where, "words tags keys weights")
    words, tags = _ids(words, reader, f"{where}.words"), _ids(tags, reader, f"{where}.tags")
    require(all(type(word) is str for word in words), f"{where}.words must be strings")
    require(len(tags) < HALF - 1, f"{where}: too many tags")
    keys = reader.array(keys, f"{where}.keys", np.int32, (None, 3)).astype(np.int64)
    ok = (keys >= 0).all() and (keys[:, 0] < N_TEMPLATES).all()
    table, distinct = table_from_keys(keys) if ok else (None, False)
    require(distinct, f"{where}.keys are no distinct features")
    R = keys.shape[0]
    store = store_from_state(weights, reader, f"{where}.weights", R, 1, READ_ONLY, 0, True)
    require(not store.sparse, f"{where}.weights must not be sparse")
    _require_base(fitted.get("base_"), where)
    return RerankModel(words, tags, store, table, R)


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
    (store,) = pruned([model.weights], dtype, keep)
    rows = np.flatnonzero(rows_in_use(store))
    table, _ = table_from_keys(keys_of(model.table, model.entries)[rows])
    return replace(model, weights=with_rows(store, rows), table=table, entries=len(rows), packed=dtype)


def trained_from_state(node, model, min_count, rule, clock, reader, where):
    """The :class:`Reranker` of a file."""
    store, R = model.weights, model.entries
    # Which weights are too rare to count was settled when the model was made.
    seen = np.where(store.value != 0.0, min(min_count, 2**31 - 1), 0).astype(np.int32)
    if node is not None:
        (store,) = reader.members(node, where, "weights")
        store = store_from_state(store, reader, f"{where}.weights", R, 1, rule, int(clock.step[0]))
        require(not store.sparse, f"{where}.weights must not be sparse")
        if min_count > 1:
            (seen,) = reader.members(node, where, "seen")
            seen = reader.array(seen, f"{where}.seen", np.int32, (R,))
    return Reranker(for_training(store, model.table, R, rule, min_count, seen), clock)
