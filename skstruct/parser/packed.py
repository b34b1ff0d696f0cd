"""Features and weights of a parser in few bytes: as files have them, and models that wait to be averaged.

Features are listed by their keys, in ascending order, which makes keys small; rows of weights follow that
order.
"""

import numpy as np

from ..core.hashing import key_order, keys_of
from ..core.pruning import with_rows
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
    with writer.packing(model.packed or "float64"):
        for keys, weights, table, entries in PARTS:
            found = keys_of(getattr(model, table), getattr(model, entries))
            order = key_order(found)
            found, place = found[order], f"{name}.{keys}"
            out[keys] = packed_keys(found, writer, place) or writer.array(place, found.astype(np.int32))
            store = with_rows(getattr(model, weights), order)
            out[weights] = store_state(store, writer, f"{name}.{weights}", model.divisor)
    return out


def keys_from_state(node, reader, where):
    """The keys (R, 3) int64 of a file; those of earlier versions are an array of three columns."""
    if isinstance(node, dict) and "steps" in node:
        return unpacked_keys(node, reader, where)
    return reader.array(node, where, np.int32, (None, 3)).astype(np.int64)


class Waiting:
    """The features and weights of a model, which may be let go of."""

    def __init__(self, model):
        writer = Writer(False, None)
        self.state, self.arrays = features_state(model, writer, ""), writer.arrays
        self.columns = [getattr(model, weights).columns for _, weights, _, _ in PARTS]

    def parts(self):
        """(keys, weights) of states and of arcs, one after the other."""
        reader = Reader(self.arrays, None)
        for (keys, weights, _, _), columns in zip(PARTS, self.columns):
            found = keys_from_state(self.state[keys], reader, keys)
            rows = found.shape[0]
            yield (
                found,
                store_from_state(self.state[weights], reader, weights, rows, columns, READ_ONLY, 0, True),
            )
