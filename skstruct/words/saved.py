"""The state of word segmenters.

Features are stored by their keys, in the order of rows; the table is built anew. Keys are checked: words
stand before what holds them, none occurs twice.
"""

from dataclasses import replace

import numpy as np

from ..core.codes import STANDARD, WORD_TEMPLATES, ZC14
from ..core.feature_table import for_training, seen_in_use, table_from_keys
from ..core.feature_table import in_use as features_in_use
from ..core.pruning import pruned, rows_in_use, with_rows
from ..core.store import READ_ONLY
from ..saving.stores import store_from_state, store_state
from ..saving.values import name_of, require
from .features import Scorer
from .keys import in_order, in_use
from .model import WordModel

FACTS = ("stream", "min_count")


def model_state(model, writer, name):
    """The JSON of a :class:`WordModel`."""
    return {
        "templates": name_of(model.templates, WORD_TEMPLATES),
        "beam": int(model.beam),
        "keys": writer.array(f"{name}.keys", model.keys().astype(np.int32)),
        "weights": store_state(model.weights, writer, f"{name}.weights"),
    }


def trained_state(scorer, writer, name):
    """The JSON of a :class:`Scorer`; its features are those of the model."""
    features = scorer.features
    out = {"weights": store_state(features_in_use(features), writer, f"{name}.weights")}
    if features.min_count > 1:
        out["seen"] = writer.array(f"{name}.seen", seen_in_use(features))
    return out


def model_from_state(node, fitted, reader, where):
    """The :class:`WordModel` of a file."""
    templates, beam, keys, weights = reader.members(node, where, "templates beam keys weights")
    templates = reader.choice(templates, f"{where}.templates", WORD_TEMPLATES)
    keys = reader.array(keys, f"{where}.keys", np.int32, (None, 3)).astype(np.int64)
    require(in_order(templates, keys), f"{where}.keys are no features")
    table, distinct = table_from_keys(keys)
    require(distinct, f"{where}.keys: a feature occurs twice")
    R, C = keys.shape[0], 1 if templates == ZC14 else 2
    store = store_from_state(weights, reader, f"{where}.weights", R, C, READ_ONLY, 0, True)
    require(not store.sparse, f"{where}.weights must not be sparse")
    return WordModel(templates, reader.integer(beam, f"{where}.beam", 0), store, table, R)


def compressed(model, dtype, keep):
    """The :class:`WordModel` without the features that have no weight and no other that holds their word."""
    (store,), keys = pruned([model.weights], dtype, keep), model.keys()
    rows, keys = in_use(model.templates, keys, rows_in_use(store))
    return replace(
        model, weights=with_rows(store, rows), table=table_from_keys(keys)[0], entries=len(rows), packed=dtype
    )


def trained_from_state(node, model, min_count, rule, clock, reader, where):
    """The :class:`Scorer` of a file."""
    store = model.weights
    R, C = model.entries, model.weights.columns
    # Which weights are too rare to count was settled when the model was made.
    seen = np.where(store.value != 0.0, min(min_count, 2**31 - 1), 0).astype(np.int32)
    if node is not None:
        (store,) = reader.members(node, where, "weights")
        store = store_from_state(store, reader, f"{where}.weights", R, C, rule, int(clock.step[0]))
        require(not store.sparse, f"{where}.weights must not be sparse")
        if min_count > 1:
            (seen,) = reader.members(node, where, "seen")
            seen = reader.array(seen, f"{where}.seen", np.int32, (R * C,))
    return Scorer(
        templates=model.templates,
        beam=model.beam,
        update=STANDARD,  # as the next training says
        features=for_training(store, model.table, R, rule, min_count, seen),
        clock=clock,
    )
