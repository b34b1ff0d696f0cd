"""Models whose features get their rows while they learn: their state in training, and
their fields in files.

A *table* is a hash table of features with their weights
(:mod:`skstruct._core.feature_table`). A model has one, or, as the parser, one for each
kind of feature. ``TableModel.TABLES`` names the tables twice: by the *prefix* of their
fields in files, which is empty for the first, and by their attribute of the arrays
under which kernels search. So the parser has ``keys`` and ``weights`` for the features
of actions, and ``label_keys`` and ``label_weights`` for those of labels.

Of each table a model's file has (:func:`features_of`)

- ``{prefix}keys``: which features there are;
- ``{prefix}weights``: their final weights, in the same order;

and its training state, if weights in training are kept (:func:`training_of`),

- ``{prefix}weights``: their weights with bookkeeping, in the order of the fitted model;
- ``{prefix}seen``: how often they were updated, if a cut-off counts that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._core.feature_table import (
    FeatureTable,
    counters,
    final,
    for_reading,
    for_training,
    keys,
    restart_average,
    seen_of_features,
    table_from_keys,
    weights_of_features,
)
from .._core.final_weights import (
    count_weights,
    in_order,
    pruned,
    rows_with_weights,
    with_rows,
)
from .._core.hashing import key_order
from .._core.store import new_clock
from .._saving.container import require
from .._saving.fields import Field, Kind, Table, array, inline
from .._saving.packing import unpacked_keys
from .._saving.stores import full, weights
from .epochs import learned_parts, snapshot
from .run import TrainingState
from .saved import SavableModel

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from .._core.store import Rule, Store
    from .._data.types import Self
    from .._saving.fields import Members
    from .saved import Sizes


@dataclass
class TableModel(SavableModel):
    """A model with tables, as prediction needs it.

    Attributes
    ----------
    arrays : NamedTuple
        What kernels search under; as in training, but that weights are final.
    """

    TABLES: ClassVar[dict[str, str]] = {"": "features"}
    """By prefix, where ``arrays`` has each table."""

    arrays: Any  # a NamedTuple of the structure

    @property
    def weights(self) -> Store:
        """The final weights of the first table."""
        return self.table("").weights

    def table(self, prefix: str) -> FeatureTable:
        """Return the feature table whose prefix this is."""
        return getattr(self.arrays, self.TABLES[prefix])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(int(self.table(prefix).entries[0]) for prefix in self.TABLES)

    def sizes(self) -> Sizes:
        """Count features and weights; there are no labels, and no transitions."""
        n_weights = sum(
            count_weights(self.table(prefix).weights) for prefix in self.TABLES
        )
        return None, self.n_features, n_weights, None

    def keys(self, prefix: str = "") -> np.ndarray:
        """Return the key of each row of a table, (R, 3) int64; see
        ``_core.hashing``.
        """
        return keys(self.table(prefix))

    def stored(self) -> dict[str, Any]:
        """Return what a file has of the features, in the order of rows."""
        return {"keys": self.keys(), "weights": self.weights}

    def compressed(self, dtype: str, keep: float) -> Self:
        """Return a model without small weights, and without the features that have none
        left; see :meth:`.Savable.compress`.
        """
        stores = pruned(
            [self.table(prefix).weights for prefix in self.TABLES], dtype, keep
        )
        smaller = {}
        for (prefix, name), store in zip(self.TABLES.items(), stores):
            rows, kept = self.rows_to_keep(self.keys(prefix), rows_with_weights(store))
            table = for_reading(
                with_rows(store, rows), table_from_keys(kept)[0], len(rows)
            )
            smaller[name] = table._replace(by_weight=self.table(prefix).by_weight)
        return replace(self, packed=dtype, arrays=self.arrays._replace(**smaller))

    def rows_to_keep(
        self, keys: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that a smaller model has, and their keys; ``used`` (R,) bool:
        those with weights.
        """
        rows = np.flatnonzero(used)
        return rows, keys[rows]

    def in_training(self, f: Members) -> Any:
        """Return the model in training; how to search is for the next training to
        say.
        """
        tables = {
            name: features_in_training(f, prefix)
            for prefix, name in self.TABLES.items()
        }
        return self.arrays._replace(clock=f["clock"], **tables)


def final_arrays(
    model: Any, rule: Rule, reuse: bool = False, ended: bool = False
) -> Any:
    """Return what prediction searches under after the training so far.

    ``reuse`` and ``ended`` are those of :func:`skstruct._core.feature_table.final`.
    """
    tables = {
        name: final(table, model.clock, rule, reuse, ended)
        for name, table in learned_parts(model, FeatureTable).items()
    }
    return model._replace(clock=new_clock(), **tables)


def check_unchanged(estimator: BaseEstimator, **parameters: tuple[Any, Any]) -> None:
    """Raise if parameters differ from those of the training to go on from:
    ``name=(value, value then)``.
    """
    for name, (value, before) in parameters.items():
        if value != before:
            raise ValueError(
                f"{name}={getattr(estimator, name)!r} differs from that of the training so "
                f"far; use a new estimator, or fit without warm_start"
            )


def copy_state(
    before: TrainingState, rule: Rule, stream: bool = False, **settings: Any
) -> TrainingState:
    """Copy an earlier state to train on, with other settings of its model.

    Under another rule, or in a stream after a fit, it begins a new average.
    """
    model = snapshot(before.model)._replace(**settings)
    if before.rule != rule or (stream and not before.stream):
        tables = {
            name: restart_average(table, model.clock, before.rule, rule)
            for name, table in learned_parts(model).items()
        }
        model = model._replace(clock=new_clock(), **tables)
    return TrainingState(
        model, rule, before.key, before.epoch, False, stream, [*before.history]
    )


# --------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------
def read_keys(node: Any, where: str, f: Members) -> np.ndarray:
    """Read the keys (R, 3) int64 of a file: an array of three columns, or packed."""
    if isinstance(node, dict) and "values" in node:  # arrays may have "steps" too
        return unpacked_keys(node, f.reader, where)
    return f.reader.array(node, where, np.int32, (None, 3)).astype(np.int64)


KEYS = Kind(
    "int32 (R, 3)",
    lambda keys, writer, name, _: writer.array(name, keys.astype(np.int32)),
    read_keys,
)
"""In any order."""


def features_of(
    are_features: Callable[[Members, np.ndarray], bool],
    columns: int | str,
    prefix: str = "",
    kind: Kind = KEYS,
    by_weight: bool = True,
) -> Table:
    """Make the fields of a :class:`FeatureTable`: its keys, and its weights in the same
    order.

    Parameters
    ----------
    are_features : callable
        ``(members, keys) -> bool``: whether an array of keys, (R, 3) int64, is one of
        features.
    columns : int or str
        The number, or what has the number of columns of the weights.
    prefix : str
    kind : Kind
        Of the keys.
    by_weight : bool
        What a cut-off in training counts updates of: weights, or rows.
    """

    def make(f: Members) -> FeatureTable:
        stored = f[f"{prefix}keys"]
        where = f"{f.where}.{prefix}keys"
        require(are_features(f, stored), f"{where} are no features of the templates")
        table, is_distinct = table_from_keys(stored)
        require(is_distinct, f"{where}: a feature occurs twice")
        return for_reading(f[f"{prefix}weights"], table, stored.shape[0], by_weight)

    return Table(
        "Features",
        Field(f"{prefix}keys", kind),
        Field(
            f"{prefix}weights",
            weights(f"{prefix}keys", columns, may_be_sparse=bool(prefix)),
        ),
        make=make,
    )


def _fields_in_training(prefix: str) -> tuple[Field, Field]:
    """Make the fields of one table in a training state, whose sizes are those of
    :func:`_sizes_in_training`.
    """
    stored = weights(
        f"{prefix}entries", f"{prefix}columns", final=False, may_be_sparse=bool(prefix)
    )
    counts = array("int32", f"{prefix}counters")
    return (
        Field(f"{prefix}weights", stored),
        Field(f"{prefix}seen", counts, when="cut", default=None),
    )


def _sizes_in_training(prefix: str) -> dict[str, Callable[[Members], int]]:
    """Return the sizes of one table, which follow from the fitted ``model``: its
    features, its columns, and the numbers that count updates.
    """

    def table_of(f: Members) -> FeatureTable:
        return f["model"].table(prefix)

    def n_entries(f: Members) -> int:
        return int(table_of(f).entries[0])

    return {
        f"{prefix}entries": n_entries,
        f"{prefix}columns": lambda f: table_of(f).weights.columns,
        f"{prefix}counters": lambda f: n_entries(f) * counters(table_of(f)),
    }


def training_of(names: dict[str, str], *, ascending: bool = False) -> Kind:
    """Make the kind of what a model in training has of its features, in the order of
    those of the fitted model.

    Parameters
    ----------
    names : dict of str to str
        ``TableModel.TABLES``.
    ascending : bool
        Whether files have features in the order of keys, not of rows.
    """
    fields = [field for prefix in names for field in _fields_in_training(prefix)]
    sizes: dict[str, Any] = {"cut": lambda f: f["min_count"] > 1}
    for prefix in names:
        sizes.update(_sizes_in_training(prefix))
    table = Table("Features in training", *fields, **sizes)

    def write(model: Any, *how: Any) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        for prefix, name in names.items():
            features = getattr(model, name)
            store = weights_of_features(features)
            seen = seen_of_features(features)
            if ascending:
                order = key_order(keys(features))
                store = in_order(store, order)
                seen = seen[order] if seen.shape[0] else seen
            parts[f"{prefix}weights"] = store
            parts[f"{prefix}seen"] = seen
        return table.write(parts, *how)

    return inline(table)._replace(write=write)


def features_in_training(f: Members, prefix: str) -> FeatureTable:
    """Return the table that training goes on from: a file's, or one made of the fitted
    model.
    """
    features = f["model"].table(prefix)
    found = f["trained"]
    if found is not None:
        store = found[f"{prefix}weights"]
        seen = found[f"{prefix}seen"]
    else:
        store = full(features.weights) if features.weights.sparse else features.weights
        seen = _seen_of_fitted(features, store, f["min_count"])
    if f["min_count"] <= 1:
        seen = np.zeros(0, np.int32)
    features = features._replace(
        weights=store, seen=seen, min_count=int(f["min_count"])
    )
    return for_training(features, f["rule"])


def _seen_of_fitted(features: FeatureTable, store: Store, min_count: int) -> np.ndarray:
    """Return how often features of a fitted model count as seen, where no file says it.

    Which weights are too rare to count was settled when the model was made: those that
    count have been seen often enough.
    """
    if features.by_weight:
        count = store.value != 0.0
    else:
        count = np.ones(int(features.entries[0]), np.bool_)
    enough = min(min_count, 2**31 - 1)
    return np.where(count, enough, 0).astype(np.int32)
