"""Which weights decide: some are taken out of a model, and its search is asked again."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from .runners_up import CLEAR


class Rows(NamedTuple):
    """The weight rows of an analysis, once for each use."""

    at: np.ndarray  # (n,): the decision, or the node
    row: np.ndarray  # (n,)
    value: np.ndarray  # (n,): what the use contributes

    def gains(self, other):
        """By how much more each row contributes here than to another analysis, {row: gain}."""
        gains = defaultdict(float)
        for rows, sign in ((self, 1.0), (other, -1.0)):
            for row, value in zip(rows.row.tolist(), rows.value.tolist()):
                gains[row] += sign * value
        return gains


def without_rows(store, rows):
    """A copy of a dense store of final weights, some rows of which are zero."""
    value = store.value.copy()
    value.reshape(-1, store.columns)[np.asarray(rows)] = 0.0
    return store._replace(value=value)


def few_rows(rows, gains, margin, flips):
    """A few of the rows of one place without which the search decides otherwise; none of them can be spared.

    Parameters
    ----------
    rows : ndarray
        The rows of this place.
    gains : dict
        See :meth:`Rows.gains`; of the rival.
    margin : float
        By how much the rival falls behind.
    flips : callable
        Whether without a list of rows something else is decided here.

    Returns
    -------
    list of int, or None
        None if none are found: those that gain most are taken out, one after the other.
    """
    order = sorted({row for row in rows.tolist() if gains[row] > 0.0}, key=lambda row: -gains[row])
    total, clear = 0.0, margin + CLEAR * max(1.0, abs(margin))
    for k, row in enumerate(order, start=1):
        total += gains[row]
        if total <= clear or not flips(order[:k]):
            continue
        return _needed(order[:k], flips)
    return None


def _needed(rows, flips):
    """The rows without those that can be spared."""
    for row in reversed(rows) if len(rows) > 1 else ():
        rest = [other for other in rows if other != row]
        if flips(rest):
            return _needed(rest, flips)
    return rows
