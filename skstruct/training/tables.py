"""Models that numbered their features themselves, brought to one numbering.

Place on the ladder: rung 6. A structure that meets features while it searches numbers them in the order of
their first update, so models that saw the examples in other orders number them differently. What a feature is
stands in its key: (compound, left, right), see ``core.hashing``. Models that share their vocabulary share the
keys.
"""

import numpy as np

from ..core.compile import kernel
from ..core.hashing import empty_table, grown, intern, keys_of, room
from .averaging import Average


@kernel
def _number_on(keys, is_node, known, table, entries, rows, begin):
    """Number the features from ``begin`` on; returns the first that finds the table full."""
    for r in range(begin, keys.shape[0]):
        if room(table, entries) < 1:
            return r
        compound, left, right = keys[r, 0], keys[r, 1], keys[r, 2]
        number = compound >> 2
        if number < is_node.shape[0]:
            if is_node[number, 0] and left > known:
                left = rows[left - 1 - known] + 1
            if is_node[number, 1] and right > known:
                right = rows[right - 1 - known] + 1
        rows[r] = intern(table, entries, compound, left, right)
    return keys.shape[0]


def extended(table, entries, keys, known, is_node=None):
    """A table with more features, numbered in their order unless it knows them.

    Parameters
    ----------
    table : ndarray of shape (capacity, 2), int64
        Changed; not the one that is returned if it had to grow.
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
    rows = np.empty(keys.shape[0], np.int64)
    if is_node is None:
        is_node = np.zeros((0, 2), np.bool_)
    done = _number_on(keys, is_node, known, table, entries, rows, 0)
    while done < keys.shape[0]:
        table = grown(table, 2 * int(entries[0]) + 1)
        done = _number_on(keys, is_node, known, table, entries, rows, done)
    return table, rows


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
        table, numbers = extended(table, entries, keys, 0)
        rows.append(numbers)
    return table, int(entries[0]), rows


class TableAverage:
    """The average of models that numbered their features themselves; see :class:`.averaging.Average`.

    Features are numbered in the order in which the models bring them.

    Parameters
    ----------
    nonzero : bool
    is_node : ndarray of shape (n, 2), bool, optional
        As of :func:`extended`.
    """

    def __init__(self, nonzero, is_node=None):
        self.average, self.is_node = Average(nonzero), is_node
        self.table, self.entries = empty_table(), np.zeros(1, np.int64)

    def add(self, store, table, entries):
        """Add the final weights of a model with that many rows in its table."""
        self.table, row_of = extended(self.table, self.entries, keys_of(table, entries), 0, self.is_node)
        self.average.add(store, row_of, int(self.entries[0]))

    def result(self):
        """(store, table, entries) of the average."""
        return self.average.store(), self.table, int(self.entries[0])
