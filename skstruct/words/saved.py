"""The state of word segmenters.

Place: beside ``chain``; used by the entry in the registry. Features are stored by their keys, in the order
of rows; the table is built anew. Keys are checked: words stand before what holds them, none occurs twice.
"""

import numpy as np

from ..core.codes import STANDARD, WORD_TEMPLATES, ZC14
from ..core.feature_table import for_training, in_use, seen_in_use, table_from_keys
from ..core.store import READ_ONLY, new_clock
from ..saving.stores import _clock_from_state, _rule_from_state, _steps_state, _store_from_state, _store_state
from ..saving.values import name_of, require
from ..training.run import TrainingState
from .features import Scorer
from .keys import in_order
from .model import WordModel


def to_state(segmenter, writer, name):
    """Model and training of a word segmenter; empty if it is not fitted."""
    attributes = vars(segmenter)
    if "_model" not in attributes:
        return {}
    model = attributes["_model"]
    state = {
        "templates": name_of(model.templates, WORD_TEMPLATES),
        "beam": int(model.beam),
        "keys": writer.array(f"{name}model.keys", model.keys().astype(np.int32)),
        "weights": _store_state(model.weights, writer, f"{name}model.weights"),
    }
    if "_training" in attributes:
        history = attributes.get("history_")
        state["training"] = _training_state(attributes["_training"], history, writer, f"{name}training")
    return state


def _training_state(state, history, writer, name):
    """The JSON of a :class:`TrainingState`; its features are those of the model."""
    scorer = state.model
    out = {
        "key": int(state.key),
        "epoch": int(state.epoch),
        "stream": bool(state.stream),
        "min_count": int(scorer.features.min_count),
    }
    if not writer.training:
        return out
    if state.history is not history:
        out["history"] = writer.value(state.history, f"{name}.history")
    out.update(_steps_state(state))
    features = scorer.features
    out["weights"] = _store_state(in_use(features), writer, f"{name}.weights")
    if features.min_count > 1:
        out["seen"] = writer.array(f"{name}.seen", seen_in_use(features))
    return out


def from_state(node, fitted, reader, where):
    """The attributes ``_model`` and ``_training``."""
    require(isinstance(node, dict), f"{where}: the state must be a JSON object")
    if not node:
        return {}
    templates, beam, keys, weights = reader.members(node, where, "templates beam keys weights")
    templates = reader.choice(templates, f"{where}.templates", WORD_TEMPLATES)
    keys = reader.array(keys, f"{where}.keys", np.int32, (None, 3)).astype(np.int64)
    require(in_order(templates, keys), f"{where}.keys are no features")
    table, distinct = table_from_keys(keys)
    require(distinct, f"{where}.keys: a feature occurs twice")
    R, C = keys.shape[0], 1 if templates == ZC14 else 2
    store = _store_from_state(weights, reader, f"{where}.weights", R, C, READ_ONLY, 0, True)
    require(not store.sparse, f"{where}.weights must not be sparse")
    model = WordModel(templates, reader.integer(beam, f"{where}.beam", 0), store, table, R)
    attributes = {"_model": model}
    history = fitted.get("history_", [])
    require(isinstance(history, list), f"{where}.history_ must be a list")
    if "training" in node:
        attributes["_training"] = _training_from_state(
            node["training"], model, history, reader, f"{where}.training"
        )
    return attributes


def _training_from_state(node, model, history, reader, where):
    """The :class:`TrainingState` of a file; without weights in it, one that starts from the model's."""
    key, epoch, stream, min_count = reader.members(node, where, "key epoch stream min_count")
    min_count = reader.integer(min_count, f"{where}.min_count", 1)
    rule, clock, store = READ_ONLY, new_clock(), model.weights
    R, C = model.entries, model.weights.columns
    # Which weights are too rare to count was settled when the model was made.
    seen = np.where(store.value != 0.0, min(min_count, 2**31 - 1), 0).astype(np.int32)
    if "rule" in node:
        rule, clock, store = reader.members(node, where, "rule clock weights")
        rule = _rule_from_state(rule, reader, f"{where}.rule")
        clock = _clock_from_state(clock, reader, f"{where}.clock")
        store = _store_from_state(store, reader, f"{where}.weights", R, C, rule, int(clock.step[0]))
        require(not store.sparse, f"{where}.weights must not be sparse")
        if min_count > 1:
            (seen,) = reader.members(node, where, "seen")
            seen = reader.array(seen, f"{where}.seen", np.int32, (R * C,))
    if "history" in node:
        history = reader.value(reader.list(node["history"], where), f"{where}.history")
    scorer = Scorer(
        templates=model.templates,
        beam=model.beam,
        update=STANDARD,  # as the next training says
        features=for_training(store, model.table, R, rule, min_count, seen),
        clock=clock,
    )
    return TrainingState(
        scorer,
        rule,
        reader.integer(key, f"{where}.key", 0, 2**31),
        reader.integer(epoch, f"{where}.epoch", 0),
        False,
        reader.flag(stream, f"{where}.stream"),
        history,
    )
