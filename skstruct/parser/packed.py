"""Features and weights of a parser in few bytes: in files, and in memory while other models are trained.

Features are listed by their keys, in ascending order, which makes keys small; rows of weights follow that
order.
"""

import numpy as np

from ..core.hashing import key_order, keys_of
from ..core.pruning import rows_in_use, with_rows
from ..core.store import READ_ONLY
from ..saving.packing import packed_keys
from ..saving.stores import store_from_state, store_state
from ..saving.values import Reader, Writer
from ..training.tables import keys_from_state

PREFIXES = "", "label_"
"""Of the names, in models and in files, that belong to the table of states, and to that of arcs."""


def features_state(model, writer, name):
    """The JSON of the features of a :class:`.model.ParserModel` and of their weights."""
    out = {}
    for prefix in PREFIXES:
        keys, names = _keys(model, prefix), [f"{prefix}keys", f"{prefix}weights"]
        store = getattr(model, f"{prefix}weights")
        out.update(zip(names, _table_state(keys, store, model, writer, [f"{name}.{n}" for n in names])))
    return out


def _keys(model, prefix):
    return keys_of(getattr(model, f"{prefix}table"), getattr(model, f"{prefix}entries"))


def _table_state(keys, store, model, writer, names):
    """The JSON of keys and of the rows of weights that belong to them."""
    with writer.packing(model.packed or "float64"):
        order = key_order(keys)
        keys = keys[order]
        node = packed_keys(keys, writer, names[0]) or writer.array(names[0], keys.astype(np.int32))
        return node, store_state(with_rows(store, order), writer, names[1], model.divisor)


class PackedTables:
    """The features of a model that have weights, and the weights, packed until all models can be averaged."""

    def __init__(self, model):
        self.tables = {}
        for prefix in PREFIXES:
            store, writer = getattr(model, f"{prefix}weights"), Writer(False, None)
            rows = np.flatnonzero(rows_in_use(store))
            keys, names = _keys(model, prefix)[rows], ("keys", "weights")
            state = _table_state(keys, with_rows(store, rows), model, writer, names)
            self.tables[prefix] = state, writer.arrays, (rows.shape[0], store.columns)

    def keys(self, prefix):
        """The keys (R, 3) of a table."""
        (keys, _), arrays, _ = self.tables[prefix]
        return keys_from_state(keys, Reader(arrays, None), "keys")

    def take_weights(self, prefix):
        """The weights of the features of a table, which are removed here."""
        (_, weights), arrays, shape = self.tables.pop(prefix)
        return store_from_state(weights, Reader(arrays, None), "weights", *shape, READ_ONLY, 0, True)
