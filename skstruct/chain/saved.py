"""The states of chain models and of online training.

Place: over ``encoders``; used by the taggers' entries in the registry. Every array is checked against
the number of labels and of feature rows, every row number and column against its range: kernels index
without checks.
"""

import numpy as np

from ..core.store import READ_ONLY, new_clock
from ..features.saved import encoder_from_state, encoder_state, labels_from_state, labels_state
from ..saving.stores import (
    _clock_from_state,
    _full,
    _rule_from_state,
    _steps_state,
    _store_from_state,
    _store_state,
)
from ..training.run import TrainingState
from .model import ChainModel, new_chain
from .state import store_rows

# --------------------------------------------------------------------------------------------------
# Weights
# --------------------------------------------------------------------------------------------------


def _stores_state(chain, writer, name):
    """The JSON of the stores of a chain; only one of order 2 has trigrams."""
    stores = {part: getattr(chain, part, None) for part in ("nodes", "edges", "trigrams")}
    return {
        part: _store_state(store, writer, f"{name}.{part}")
        for part, store in stores.items()
        if store is not None
    }


def _stores_from_state(node, reader, where, encoder, labels, order, *bookkeeping):
    """The stores of a chain by name; see :func:`_store_from_state` for what follows ``order``."""
    rows = store_rows(encoder, len(labels), order)
    stores = reader.members(node, where, " ".join(rows))
    return {
        part: _store_from_state(store, reader, f"{where}.{part}", rows[part], len(labels), *bookkeeping)
        for part, store in zip(rows, stores)
    }


# --------------------------------------------------------------------------------------------------
# The model
# --------------------------------------------------------------------------------------------------
def model_state(model, writer, name):
    """The JSON of a :class:`ChainModel`."""
    start, allowed, end = (part == 0.0 for part in model.constraints)
    return {
        "labels": labels_state(model.labels, writer, f"{name}.labels"),
        "encoder": encoder_state(model.encoder, writer, f"{name}.encoder"),
        **_stores_state(model, writer, name),
        "constraints": {
            "start": writer.array(f"{name}.constraints.start", start),
            "allowed": writer.array(f"{name}.constraints.allowed", allowed),
            "end": writer.array(f"{name}.constraints.end", end),
        },
    }


def model_from_state(node, reader, where):
    """The :class:`ChainModel` of a file."""
    labels, encoder, constraints = reader.members(node, where, "labels encoder constraints")
    labels = labels_from_state(labels, reader, f"{where}.labels")
    encoder = encoder_from_state(encoder, reader, f"{where}.encoder")
    L = len(labels)
    order = 2 if "trigrams" in node else 1
    stores = _stores_from_state(node, reader, where, encoder, labels, order, READ_ONLY, 0, True)
    where = f"{where}.constraints"
    parts = reader.members(constraints, where, "start allowed end")
    allowed = [reader.array(part, where, np.bool_, shape) for part, shape in zip(parts, ((L,), (L, L), (L,)))]
    constraints = tuple(np.where(ok, 0.0, -np.inf) for ok in allowed)
    return ChainModel(encoder=encoder, labels=labels, constraints=constraints, **stores)


# --------------------------------------------------------------------------------------------------
# Training
# --------------------------------------------------------------------------------------------------
def training_state(state, history, writer, name):
    """The JSON of a :class:`TrainingState`; without weights unless ``writer.training``.

    ``history`` is the estimator's: usually the very list that the state holds.
    """
    out = {
        "key": int(state.key),
        "epoch": int(state.epoch),
        "closed": bool(state.closed),
        "stream": bool(state.stream),
    }
    if not writer.training:
        return out
    if state.history is not history:
        out["history"] = writer.value(state.history, f"{name}.history")
    out.update(_steps_state(state))
    out.update(_stores_state(state.model, writer, name))
    return out


def training_from_state(node, model, history, reader, where):
    """The :class:`TrainingState` of a file; without weights in it, one that starts from the model's."""
    key, epoch, closed, stream = reader.members(node, where, "key epoch closed stream")
    rule, clock = READ_ONLY, new_clock()
    stores = {part: _full(getattr(model, part)) for part in model.structure.STORES}
    if "rule" in node:
        rule, clock = reader.members(node, where, "rule clock")
        rule = _rule_from_state(rule, reader, f"{where}.rule")
        clock = _clock_from_state(clock, reader, f"{where}.clock")
        step = int(clock.step[0])
        stores = _stores_from_state(node, reader, where, model.encoder, model.labels, model.order, rule, step)
    if "history" in node:
        history = reader.value(reader.list(node["history"], where), f"{where}.history")
    return TrainingState(
        new_chain(model.encoder, stores, clock, model.constraints, np.zeros(0)),
        rule,
        reader.integer(key, f"{where}.key", 0, 2**31),
        reader.integer(epoch, f"{where}.epoch", 0),
        reader.flag(closed, f"{where}.closed"),
        reader.flag(stream, f"{where}.stream"),
        history,
    )
