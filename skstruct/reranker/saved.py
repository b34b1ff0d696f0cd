"""The state of re-rankers.

Place: beside ``chain``; used by the entry in the registry. Features are stored by their keys, in the order
of rows; the table is built anew. The base is a fitted attribute, an estimator of its own.
"""

import numpy as np

from ..core.feature_table import for_training, in_use, seen_in_use, table_from_keys
from ..core.hashing import keys_of
from ..core.store import READ_ONLY, new_clock
from ..saving.stores import _clock_from_state, _rule_from_state, _steps_state, _store_from_state, _store_state
from ..saving.values import require
from ..training.run import TrainingState
from .epoch import HALF, N_TEMPLATES, Reranker
from .lattice import view_of
from .model import RerankModel


def to_state(reranker, writer, name):
    """Model and training of a re-ranker; empty if it is not fitted."""
    attributes = vars(reranker)
    if "_model" not in attributes:
        return {}
    model = attributes["_model"]
    state = {
        "words": writer.value(list(model.words), f"{name}model.words"),
        "tags": writer.value(list(model.tags), f"{name}model.tags"),
        "keys": writer.array(f"{name}model.keys", keys_of(model.table, model.entries).astype(np.int32)),
        "weights": _store_state(model.weights, writer, f"{name}model.weights"),
    }
    if "_training" in attributes:
        history = attributes.get("history_")
        state["training"] = _training_state(attributes["_training"], history, writer, f"{name}training")
    return state


def _training_state(state, history, writer, name):
    """The JSON of a :class:`TrainingState`; its features are those of the model."""
    model = state.model
    out = {"key": int(state.key), "epoch": int(state.epoch), "min_count": int(model.features.min_count)}
    if not writer.training:
        return out
    if state.history is not history:
        out["history"] = writer.value(state.history, f"{name}.history")
    out.update(_steps_state(state))
    features = model.features
    out["weights"] = _store_state(in_use(features), writer, f"{name}.weights")
    if features.min_count > 1:
        out["seen"] = writer.array(f"{name}.seen", seen_in_use(features))
    return out


def from_state(node, fitted, reader, where):
    """The attributes ``_model`` and ``_training``."""
    require(isinstance(node, dict), f"{where}: the state must be a JSON object")
    if not node:
        return {}
    words, tags, keys, weights = reader.members(node, where, "words tags keys weights")
    words, tags = _ids(words, reader, f"{where}.words"), _ids(tags, reader, f"{where}.tags")
    require(all(type(word) is str for word in words), f"{where}.words must be strings")
    require(len(tags) < HALF - 1, f"{where}: too many tags")
    keys = reader.array(keys, f"{where}.keys", np.int32, (None, 3)).astype(np.int64)
    ok = (keys >= 0).all() and (keys[:, 0] < N_TEMPLATES).all()
    table, distinct = table_from_keys(keys) if ok else (None, False)
    require(distinct, f"{where}.keys are no distinct features")
    R = keys.shape[0]
    store = _store_from_state(weights, reader, f"{where}.weights", R, 1, READ_ONLY, 0, True)
    require(not store.sparse, f"{where}.weights must not be sparse")
    _require_base(fitted.get("base_"), where)
    model = RerankModel(words, tags, store, table, R)
    attributes = {"_model": model}
    history = fitted.get("history_", [])
    require(isinstance(history, list), f"{where}.history_ must be a list")
    if "training" in node:
        attributes["_training"] = _training_from_state(
            node["training"], model, history, reader, f"{where}.training"
        )
    return attributes


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


def _training_from_state(node, model, history, reader, where):
    """The :class:`TrainingState` of a file; without weights in it, one that starts from the model's."""
    key, epoch, min_count = reader.members(node, where, "key epoch min_count")
    min_count = reader.integer(min_count, f"{where}.min_count", 1)
    rule, clock, store, R = READ_ONLY, new_clock(), model.weights, model.entries
    # Which weights are too rare to count was settled when the model was made.
    seen = np.where(store.value != 0.0, min(min_count, 2**31 - 1), 0).astype(np.int32)
    if "rule" in node:
        rule, clock, store = reader.members(node, where, "rule clock weights")
        rule = _rule_from_state(rule, reader, f"{where}.rule")
        clock = _clock_from_state(clock, reader, f"{where}.clock")
        store = _store_from_state(store, reader, f"{where}.weights", R, 1, rule, int(clock.step[0]))
        require(not store.sparse, f"{where}.weights must not be sparse")
        if min_count > 1:
            (seen,) = reader.members(node, where, "seen")
            seen = reader.array(seen, f"{where}.seen", np.int32, (R,))
    if "history" in node:
        history = reader.value(reader.list(node["history"], where), f"{where}.history")
    reranker = Reranker(for_training(store, model.table, R, rule, min_count, seen), clock)
    return TrainingState(
        reranker,
        rule,
        reader.integer(key, f"{where}.key", 0, 2**31),
        reader.integer(epoch, f"{where}.epoch", 0),
        history=history,
    )
