"""The state of chain models.

Every array is checked against the number of labels and of feature rows, every row number and column against
its range: kernels index without checks.
"""

from dataclasses import replace

import numpy as np

from ..core.pruning import pruned, rows_in_use, with_rows
from ..core.store import READ_ONLY
from ..features.saved import encoder_from_state, encoder_state
from ..saving.labels import labels_from_state, labels_state
from ..saving.stores import full, store_from_state, store_state
from . import epoch as structure
from .model import ChainModel, new_chain
from .state import store_rows

FACTS = ("closed", "stream")


def trained_state(chain, writer, name):
    """The JSON of the stores of a chain, trained or in training; only one of order 2 has trigrams."""
    stores = {part: getattr(chain, part) for part in structure.STORES}
    return {part: store_state(store, writer, f"{name}.{part}") for part, store in stores.items() if store}


def _stores_from_state(node, reader, where, encoder, labels, order, *bookkeeping):
    """The stores of a chain by name; see :func:`store_from_state` for what follows ``order``."""
    rows = store_rows(encoder, len(labels), order)
    stores = reader.members(node, where, " ".join(rows))
    return {
        part: store_from_state(store, reader, f"{where}.{part}", rows[part], len(labels), *bookkeeping)
        for part, store in zip(rows, stores)
    }


def model_state(model, writer, name):
    """The JSON of a :class:`ChainModel`."""
    start, allowed, end = (part == 0.0 for part in model.constraints)
    state = {
        "labels": labels_state(model.labels, writer, f"{name}.labels"),
        "encoder": encoder_state(model.encoder, writer, f"{name}.encoder"),
        **trained_state(model, writer, name),
        "constraints": {
            "start": writer.array(f"{name}.constraints.start", start),
            "allowed": writer.array(f"{name}.constraints.allowed", allowed),
            "end": writer.array(f"{name}.constraints.end", end),
        },
    }
    return {"model": state}


def model_from_state(node, fitted, reader, where):
    """The :class:`ChainModel` of a file."""
    (node,) = reader.members(node, where, "model")
    where = f"{where}.model"
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


def compressed(model, dtype, keep):
    """The :class:`ChainModel` without the features that have no weight."""
    names, stores = zip(*model.stores().items())
    L, stores = len(model.labels), dict(zip(names, pruned(list(stores), dtype, keep)))
    used = rows_in_use(stores["nodes"]), rows_in_use(stores["edges"]).reshape(-1, L).any(axis=1)
    encoder, nodes, edges = model.encoder.keep_rows(*used)
    stores["nodes"] = with_rows(stores["nodes"], nodes)
    stores["edges"] = with_rows(stores["edges"], (edges[:, None] * L + np.arange(L)).ravel())
    return replace(model, encoder=encoder, packed=dtype, **stores)


def trained_from_state(node, model, min_count, rule, clock, reader, where):
    """The chain in training of a file."""
    if node is None:
        stores = {part: full(store) for part, store in model.stores().items()}
    else:
        encoder, labels, step = model.encoder, model.labels, int(clock.step[0])
        stores = _stores_from_state(node, reader, where, encoder, labels, model.order, rule, step)
    return new_chain(model.encoder, stores, clock, model.constraints, np.zeros(0))
