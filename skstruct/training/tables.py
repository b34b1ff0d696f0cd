"""Models that numbered their features themselves, brought to one numbering.

Place on the ladder: rung 6. A structure that meets features while it searches numbers them in the order of
their first update, so models that saw the examples in other orders number them differently. What a feature is
stands in its key: (compound, left, right), see ``core.hashing``. Models that share their vocabulary share the
keys.
"""

import numpy as np

from ..core.compile import kernel
from ..core.hashing import empty_table, grown, intern, keys_of
from .averaging import entries as weights_of
from .averaging import sparse_store


@kernel
def _number(keys, table, entries, rows):
    """Number features in a table that has room for them; ``rows`` (R,) int64 is written."""
    for r in range(keys.shape[0]):
        rows[r] = intern(table, entries, keys[r, 0], keys[r, 1], keys[r, 2])


def united(parts):
    """One table for the features of several models.

    Parameters
    ----------
    parts : list of ndarray of shape (R, 3)
        The keys of each model.

    Returns
    -------
    table : ndarray of shape (capacity, 2), int64
    entries : int
    rows : list of ndarray of shape (R,), int64
        For each row of each model its row in the common table.
    """
    table, entries, rows = empty_table(), np.zeros(1, np.int64), []
    for keys in parts:
        table = grown(table, int(entries[0]) + keys.shape[0])
        rows.append(np.empty(keys.shape[0], np.int64))
        _number(keys, table, entries, rows[-1])
    return table, int(entries[0]), rows


def aligned(stores, tables, entries):
    """Stores of several models with rows that mean the same.

    Parameters
    ----------
    stores : list of Store
        Final weights.
    tables : list of ndarray of shape (capacity, 2), int64
    entries : list of int
        Rows of each.

    Returns
    -------
    stores : list of Store
        Weights of features that a model lacks are zero.
    table : ndarray of shape (capacity, 2), int64
    entries : int
    """
    table, total, rows = united([keys_of(t, n) for t, n in zip(tables, entries)])
    return [moved(store, new, total) for store, new in zip(stores, rows)], table, total


def moved(store, row_of, rows):
    """A final ``store`` with each row r at ``row_of[r]``, and as many ``rows``."""
    R, C = row_of.shape[0], store.columns
    if not store.sparse:
        value = np.zeros((rows, C))
        value[row_of] = store.value[: R * C].reshape(R, C)
        return store._replace(value=value.ravel())
    keys, values = weights_of(store)
    keys = row_of[keys // C] * C + keys % C
    order = np.argsort(keys, kind="stable")
    empty = store._replace(first=np.zeros(rows, np.int64), count=np.zeros(rows, np.int32))
    return sparse_store(empty, keys[order], values[order])


@kernel
def _number_on(keys, is_node, known, table, entries, rows):
    """The same from row ``known`` on; ``is_node`` (n, 2) bool marks halves that are rows plus 1."""
    for r in range(keys.shape[0]):
        compound, left, right = keys[r, 0], keys[r, 1], keys[r, 2]
        number = compound >> 2
        if number < is_node.shape[0]:
            if is_node[number, 0] and left > known:
                left = rows[left - 1 - known] + 1
            if is_node[number, 1] and right > known:
                right = rows[right - 1 - known] + 1
        rows[r] = intern(table, entries, compound, left, right)


def extended(table, entries, keys, known, is_node=None):
    """A table with more features, numbered in their order unless it knows them.

    Parameters
    ----------
    table : ndarray of shape (capacity, 2), int64
        Changed, unless it has to grow.
    entries : ndarray of shape (1,), int64
        Updated.
    keys : ndarray of shape (K, 3), int64
        The rows of another table that follow its first ``known``.
    known : int
        Rows that this table began with too.
    is_node : ndarray of shape (n, 2), bool, optional
        By ``compound >> 2``, whether the left, and the right, half of a key is a row plus 1.

    Returns
    -------
    table : ndarray
    rows : ndarray of shape (K,), int64
        The row of each feature.
    """
    table = grown(table, int(entries[0]) + keys.shape[0])
    rows = np.empty(keys.shape[0], np.int64)
    if is_node is None:
        is_node = np.zeros((0, 2), np.bool_)
    _number_on(keys, is_node, known, table, entries, rows)
    return table, rows
