"""Smaller tables of final weights: fewer digits, fewer weights, fewer rows.

Most weights of an online learner are zero, and whole rows are: their features were met, but never decided
anything. Nothing is lost with them.
"""

import numpy as np

from .averaging import entries, sparse_store
from .store import n_rows


def pruned(stores, dtype, keep):
    """The stores of one model with their largest weights, rounded.

    Parameters
    ----------
    stores : list of Store
        For prediction only; not changed.
    dtype : str
        Floating-point type that the weights are rounded to. They stay in arrays of float64.
    keep : float
        Share of the nonzero weights that stay, over all stores, the largest magnitudes first; of equal ones
        the first. The others become zero.

    Returns
    -------
    list of Store

    Raises
    ------
    ValueError
        If a weight is beyond the range of ``dtype``.
    """
    values = []
    for store in stores:
        with np.errstate(over="ignore"):
            value = store.value.astype(dtype).astype(np.float64)
        if not np.isfinite(value).all():
            largest = np.abs(store.value).max()
            raise ValueError(f"dtype={dtype!r} holds no weight of {largest:.6g}; use a larger one")
        values.append(value)
    if keep < 1.0:
        magnitude = np.abs(np.concatenate(values))
        some = np.flatnonzero(magnitude)
        n_lost = some.shape[0] - int(np.ceil(keep * some.shape[0]))
        lost = some[np.argsort(-magnitude[some], kind="stable")[some.shape[0] - n_lost :]]
        ends = np.cumsum([value.shape[0] for value in values])
        for value, begin, end in zip(values, ends - [value.shape[0] for value in values], ends):
            value[lost[(lost >= begin) & (lost < end)] - begin] = 0.0
    return [_packed(store._replace(value=value)) for store, value in zip(stores, values)]


def _packed(store):
    """``store`` without places for zeros, if it is sparse."""
    if not store.sparse:
        return store
    keys, values = entries(store)
    held = values != 0.0
    return sparse_store(store, keys[held], values[held])


def rows_in_use(store):
    """(R,) whether a row of a final store has a weight that is not zero."""
    if not store.sparse:
        return store.value.reshape(-1, store.columns).any(axis=1) if store.columns else np.zeros(0, np.bool_)
    keys, values = entries(store)
    used = np.zeros(n_rows(store), np.bool_)
    used[keys[values != 0.0] // store.columns] = True
    return used


def with_rows(store, rows):
    """A final store of some rows of another, in the order given."""
    if not store.sparse:
        value = store.value.reshape(-1, store.columns)[rows] if store.columns else store.value
        return store._replace(value=value.ravel())
    return _packed(store._replace(first=store.first[rows], count=store.count[rows]))


def in_order(store, order):
    """A copy of ``store`` with its rows in another order; all of them, or some."""
    parts = {name: getattr(store, name) for name in ("last", "first", "count", "room")}
    parts = {name: part[order] for name, part in parts.items() if part.shape[0]}
    if not store.sparse and store.columns:
        for name in ("value", "moment", "received"):
            part = getattr(store, name)
            parts[name] = part.reshape(-1, store.columns)[order].ravel() if part.shape[0] else part
    return store._replace(**parts)


def count_weights(store):
    """How many weights of a final store are not zero."""
    return int(np.count_nonzero(store.value))
