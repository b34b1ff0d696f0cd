"""Models whose features get their rows while they learn: their state in training, and their fields in files.

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
from ..core.final_weights import count_weights, in_order, pruned, rows_in_use, with_rows
from ..core.hashing import key_order, keys_of
from ..core.store import Store, new_clock
from ..saving.container import require
from ..saving.fields import Field, Kind, Table, array, inline
from ..saving.packing import unpacked_keys
from ..saving.stores import full, weights
from .epochs import learned_parts, snapshot
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

    def stored(self):
        """What a file has of the features, in the order of rows."""
        return {"keys": self.keys(), "weights": self.weights}

    def compressed(self, dtype, keep):
        """The model without the features that have no weight; see :meth:`.Savable.compress`."""
        return compressed_tables(self, dtype, keep)


def check_unchanged(estimator, **parameters):
    """Raise if parameters differ from those of the training to go on from: ``name=(value, value then)``."""
    for name, (value, before) in parameters.items():
        if value != before:
            raise ValueError(
                f"{name}={getattr(estimator, name)!r} differs from that of the training so far; use a new "
                f"estimator, or fit without warm_start"
            )


def continued_state(before, rule, stream=False, **settings):
    """A copy of an earlier state, with other settings of its model.

    Under another rule, or in a stream after a fit, it begins a new average.
    """
    model = snapshot(before.model)._replace(**settings)
    if before.rule != rule or (stream and not before.stream):
        tables = {
            name: restart_average(table, model.clock, before.rule, rule)
            for name, table in learned_parts(model).items()
        }
        model = model._replace(clock=new_clock(), **tables)
    return TrainingState(model, rule, before.key, before.epoch, False, stream, [*before.history])


# --------------------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------------------
def read_keys(node, where, f):
    """The keys (R, 3) int64 of a file: an array of three columns, or packed."""
    if isinstance(node, dict) and "values" in node:  # arrays may have "steps" too
        return unpacked_keys(node, f.reader, where)
    return f.reader.array(node, where, np.int32, (None, 3)).astype(np.int64)


KEYS = Kind(
    "int32 (R, 3)", lambda keys, writer, name, _: writer.array(name, keys.astype(np.int32)), read_keys
)
"""In any order."""


def features_of(are_features, columns, prefix="", kind=KEYS):
    """The fields of a table of features: their keys, and their weights in the same order.

    Parameters
    ----------
    are_features : callable
        ``(members, keys) -> bool``: whether an array of keys, (R, 3) int64, is one of features.
    columns : str
        What has the number of columns of the weights.
    prefix : str
    kind : Kind
        Of the keys.
    """

    def make(f):
        stored, where = f[f"{prefix}keys"], f"{f.where}.{prefix}keys"
        require(are_features(f, stored), f"{where} are no features of the templates")
        table, is_distinct = table_from_keys(stored)
        require(is_distinct, f"{where}: a feature occurs twice")
        found = f[f"{prefix}weights"], table, stored.shape[0]
        return dict(zip((f"{prefix}weights", f"{prefix}table", f"{prefix}entries"), found))

    return Table(
        "Features",
        Field(f"{prefix}keys", kind),
        Field(f"{prefix}weights", weights(f"{prefix}keys", columns, may_be_sparse=bool(prefix))),
        make=make,
    )


def training_of(names, *, ascending=False, by_weight=True):
    """The table of what a model in training has of its features, in the order of those of the fitted model.

    Parameters
    ----------
    names : dict of str to str
        By prefix, where the model has its :class:`FeatureTable`.
    ascending : bool
        Whether files have features in the order of keys, not of rows.
    by_weight : bool
        What the cut-off counts updates of: weights, or rows.
    """
    fields, sizes = [], {"cut": lambda f: f["min_count"] > 1}
    for p in names:
        stored = weights(f"{p}entries", f"{p}columns", final=False, may_be_sparse=bool(p))
        fields.append(Field(f"{p}weights", stored))
        fields.append(Field(f"{p}seen", array("int32", f"{p}counters"), when="cut", default=None))
        sizes[f"{p}columns"] = lambda f, p=p: getattr(f["model"], f"{p}weights").columns
        sizes[f"{p}counters"] = lambda f, p=p: f[f"{p}entries"] * (f[f"{p}columns"] if by_weight else 1)
    table = Table("Features in training", *fields, **sizes)

    def write(model, *how):
        parts = {}
        for prefix, name in names.items():
            features = getattr(model, name)
            store, seen = in_use(features), seen_in_use(features)
            if ascending:
                order = key_order(keys(features))
                store, seen = in_order(store, order), seen[order] if seen.shape[0] else seen
            parts[f"{prefix}weights"], parts[f"{prefix}seen"] = store, seen
        return table.write(parts, *how)

    return inline(table)._replace(write=write)


def features_in_training(f, prefix="", *, by_weight=True):
    """The :class:`FeatureTable` that training goes on from: a file's, or one made of the fitted model."""
    model, found, enough = f["model"], f["trained"], min(f["min_count"], 2**31 - 1)
    R, store = getattr(model, f"{prefix}entries"), getattr(model, f"{prefix}weights")
    if found is not None:
        store, seen = found[f"{prefix}weights"], found[f"{prefix}seen"]
    else:
        store = full(store) if store.sparse else store
        # Which weights are too rare to count was settled when the model was made.
        seen = np.where(store.value != 0.0, enough, 0) if by_weight else np.full(R, enough)
        seen = seen.astype(np.int32)
    table = getattr(model, f"{prefix}table")
    return for_training(store, table, R, f["rule"], f["min_count"], seen, by_weight=by_weight)


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
