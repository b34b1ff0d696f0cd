"""Features and weights of a parser in few bytes: as files have them, and models that wait to be averaged.

Features are listed by their keys, in ascending order, which makes keys small; rows of weights follow that
order.
"""

import numpy as np

from ..core.hashing import key_order, keys_of
from ..core.pruning import rows_in_use, with_rows
from ..core.store import READ_ONLY
from ..saving.packing import packed_keys, unpacked_keys
from ..saving.stores import store_from_state, store_state
from ..saving.values import Reader, Writer

PARTS = (
    ("keys", "weights", "table", "entries"),
    ("label_keys", "label_weights", "label_table", "label_entries"),
)
"""Members of a file, and fields of a model."""


def features_state(model, writer, name):
    """The JSON of the features of a :class:`.model.ParserModel` and of their weights."""
    out = {}
    for keys, weights, table, entries in PARTS:
        found, store = keys_of(getattr(model, table), getattr(model, entries)), getattr(model, weights)
        names = f"{name}.{keys}", f"{name}.{weights}"
        out[keys], out[weights] = _part_state(found, store, model, writer, names)
    return out


def _part_state(keys, store, model, writer, names):
    """The JSON of keys and of the rows of weights that belong to them."""
    with writer.packing(model.packed or "float64"):
        order = key_order(keys)
        keys = keys[order]
        node = packed_keys(keys, writer, names[0]) or writer.array(names[0], keys.astype(np.int32))
        return node, store_state(with_rows(store, order), writer, names[1], model.divisor)


def keys_from_state(node, reader, where):
    """The keys (R, 3) int64 of a file; those of earlier versions are an array of three columns."""
    if isinstance(node, dict) and "values" in node:  # arrays may have "steps" too
        return unpacked_keys(node, reader, where)
    return reader.array(node, where, np.int32, (None, 3)).astype(np.int64)


class Waiting:
    """The features of a model that have weights, and these; the model may be let go of."""

    def __init__(self, model):
        self.parts = []
        for keys, weights, table, entries in PARTS:
            store, writer = getattr(model, weights), Writer(False, None)
            rows = np.flatnonzero(rows_in_use(store))
            found = keys_of(getattr(model, table), getattr(model, entries))[rows]
            state = _part_state(found, with_rows(store, rows), model, writer, (keys, weights))
            self.parts.append((state, writer.arrays, (rows.shape[0], store.columns)))

    def keys(self, part):
        """The keys (R, 3) of states (part 0) or arcs (part 1)."""
        (keys, _), arrays, _ = self.parts[part]
        return keys_from_state(keys, Reader(arrays, None), "keys")

    def take_weights(self, part):
        """The rows of weights that belong to them, which are then forgotten."""
        (_, weights), arrays, shape = self.parts[part]
        self.parts[part] = None
        return store_from_state(weights, Reader(arrays, None), "weights", *shape, READ_ONLY, 0, True)
