"""Models whose features get their rows while they learn: their state in training, and in files.

A *table* is a hash table of features with their weights (:mod:`skstruct.core.feature_table`). A model has
one, or, as the parser, one for each kind of feature. What a table is called in a fitted model and in
files begins with its prefix, which is empty for the first.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..core.feature_table import (
    for_reading,
    for_training,
    in_use,
    keys,
    restart_average,
    seen_in_use,
    table_from_keys,
)
from ..core.hashing import key_order, keys_of
from ..core.pruning import count_weights, in_order, pruned, rows_in_use, with_rows
from ..core.store import READ_ONLY, Store, new_clock
from ..saving.packing import unpacked_keys
from ..saving.stores import full, store_from_state, store_state
from ..saving.values import require
from .epochs import snapshot
from .run import TrainingState
from .saved import SavableModel


@dataclass
class TableModel(SavableModel):
    """What prediction needs of a model with one table.

    Attributes
    ----------
    weights : Store
        Final weights; no bookkeeping of the training.
    table : ndarray of shape (capacity, 2), int64
    entries : int
        Features; row r of the weights belongs to the r-th.
    """

    weights: Store
    table: np.ndarray
    entries: int

    @property
    def n_features(self):
        """Number of features."""
        return self.entries

    def sizes(self):
        """See ``training.saved.SavableModel``."""
        return None, self.n_features, count_weights(self.weights), None

    def keys(self):
        """The key of each row, (R, 3) int64; see ``core.hashing``."""
        return keys_of(self.table, self.entries)

    def for_reading(self):
        """The :class:`FeatureTable` that kernels search under."""
        return for_reading(self.weights, self.table, self.entries)


def check_unchanged(estimator, **parameters):
    """Raise if parameters differ from those of the training to go on from: ``name=(value, value then)``."""
    for name, (value, before) in parameters.items():
        if value != before:
            raise ValueError(
                f"{name}={getattr(estimator, name)!r} differs from that of the training so far; use a new "
                f"estimator, or fit without warm_start"
            )


def continued_state(structure, before, rule, stream=False, **settings):
    """A copy of an earlier state, with other settings of its model.

    Under another rule, or in a stream after a fit, it begins a new average.
    """
    model = snapshot(structure, before.model)._replace(**settings)
    if before.rule != rule or (stream and not before.stream):
        tables = {
            name: restart_average(getattr(model, name), model.clock, before.rule, rule)
            for name in structure.TABLES
        }
        model = model._replace(clock=new_clock(), **tables)
    return TrainingState(model, rule, before.key, before.epoch, False, stream, [*before.history])


# --------------------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------------------
def table_state(model, writer, name):
    """The JSON of the table of a :class:`TableModel`."""
    return {
        "keys": writer.array(f"{name}.keys", model.keys().astype(np.int32)),
        "weights": store_state(model.weights, writer, f"{name}.weights"),
    }


def keys_from_state(node, reader, where):
    """The keys (R, 3) int64 of a file: an array of three columns, or packed."""
    if isinstance(node, dict) and "values" in node:  # arrays may have "steps" too
        return unpacked_keys(node, reader, where)
    return reader.array(node, where, np.int32, (None, 3)).astype(np.int64)


def table_from_state(node, are_features, columns, reader, where, prefix=""):
    """(weights, table, entries) in a file.

    ``are_features``: whether an array of keys, (R, 3) int64, is one of features.
    """
    stored, weights = reader.members(node, where, f"{prefix}keys {prefix}weights")
    where = f"{where}.{prefix}"
    stored = keys_from_state(stored, reader, f"{where}keys")
    require(are_features(stored), f"{where}keys are no features of the templates")
    table, distinct = table_from_keys(stored)
    require(distinct, f"{where}keys: a feature occurs twice")
    R = stored.shape[0]
    store = store_from_state(weights, reader, f"{where}weights", R, columns, READ_ONLY, 0, True)
    require(prefix or not store.sparse, f"{where}weights must not be sparse")
    return store, table, R


def training_state(tables, writer, name, ascending=False):
    """The JSON of the tables of a model in training, by prefix.

    Their features are those of the fitted model, in the order of its rows, or with ``ascending`` keys.
    """
    out = {}
    for prefix, features in tables.items():
        store, seen = in_use(features), seen_in_use(features)
        if ascending:
            order = key_order(keys(features))
            store, seen = in_order(store, order), seen[order] if seen.shape[0] else seen
        out[f"{prefix}weights"] = store_state(store, writer, f"{name}.{prefix}weights")
        if features.min_count > 1:
            out[f"{prefix}seen"] = writer.array(f"{name}.{prefix}seen", seen)
    return out


def training_tables(node, model, prefixes, min_count, rule, clock, reader, where, *, by_weight=True):
    """The tables, in the order of ``prefixes``, that training goes on from.

    They are read from a file's ``node``, or made of the fitted ``model`` if that is None.
    """
    found = []
    for prefix in prefixes:
        store, R = getattr(model, f"{prefix}weights"), getattr(model, f"{prefix}entries")
        C = store.columns
        # Which weights are too rare to count was settled when the model was made.
        enough = min(min_count, 2**31 - 1)
        if node is not None:
            (stored,) = reader.members(node, where, f"{prefix}weights")
            place = f"{where}.{prefix}weights"
            store = store_from_state(stored, reader, place, R, C, rule, int(clock.step[0]))
            require(prefix or not store.sparse, f"{place} must not be sparse")
        elif store.sparse:
            store = full(store)
        seen = np.where(store.value != 0.0, enough, 0) if by_weight else np.full(R, enough)
        seen = seen.astype(np.int32)
        if node is not None and min_count > 1:
            (stored,) = reader.members(node, where, f"{prefix}seen")
            seen = reader.array(stored, f"{where}.{prefix}seen", np.int32, (R * C if by_weight else R,))
        table = getattr(model, f"{prefix}table")
        found.append(for_training(store, table, R, rule, min_count, seen, by_weight=by_weight))
    return found


def compressed_tables(model, dtype, keep, prefixes=("",), rows_and_keys=None):
    """The model without the features that have no weight; see :meth:`.Savable.compress`.

    ``rows_and_keys`` takes the keys and whether their rows have weights; it returns the rows that stay and
    their keys.
    """
    parts = {}
    stores = pruned([getattr(model, f"{prefix}weights") for prefix in prefixes], dtype, keep)
    for prefix, store in zip(prefixes, stores):
        used, entries = rows_in_use(store), getattr(model, f"{prefix}entries")
        stored = keys_of(getattr(model, f"{prefix}table"), entries)
        if rows_and_keys is None:
            rows = np.flatnonzero(used)
            stored = stored[rows]
        else:
            rows, stored = rows_and_keys(stored, used)
        parts[f"{prefix}weights"] = with_rows(store, rows)
        parts[f"{prefix}table"], _ = table_from_keys(stored)
        parts[f"{prefix}entries"] = len(rows)
    return replace(model, packed=dtype, **parts)
