"""One weight table from many: the average of models trained on the same features.

Place on the ladder: rung 6. Zhang, Su and Zhou (2014) average models that differ in the order of the
examples, either over all models (equation 7) or over those in which a weight is not zero (equation
8): a weight that is zero was never tested, and counting it would punish rare features.
"""

import numpy as np


def average_stores(stores, nonzero):
    """The average of stores with the same rows and columns.

    Parameters
    ----------
    stores : list of Store
        Final weights, all dense or all sparse.
    nonzero : bool
        Equation 8 (divide by the number of models in which the weight is not zero), else equation 7
        (divide by the number of models).

    Returns
    -------
    Store

    Notes
    -----
    Sums run in the order of the list, so that the result does not depend on who finished first.
    """
    if stores[0].sparse:
        return _average_sparse(stores, nonzero)
    total = np.zeros_like(stores[0].value)
    used = np.zeros(total.shape[0], np.int32) if nonzero else None
    for store in stores:
        total += store.value
        if nonzero:
            used += store.value != 0.0
    total /= np.maximum(used, 1) if nonzero else len(stores)
    return stores[0]._replace(value=total)


def entries(store):
    """(key, value) of the weights of a sparse store; key = row * columns + column, not sorted."""
    count = store.count.astype(np.int64)
    row = np.repeat(np.arange(count.shape[0]), count)
    # Position of each weight in its row, hence in the pool.
    within = np.arange(row.shape[0]) - np.repeat(np.cumsum(count) - count, count)
    place = store.first[row] + within
    return row * store.columns + store.column[place], store.value[place]


def _average_sparse(stores, nonzero):
    parts = [entries(store) for store in stores]
    keys, inverse = np.unique(np.concatenate([k for k, _ in parts]), return_inverse=True)
    total = np.zeros(keys.shape[0])
    used = np.zeros(keys.shape[0], np.int32)
    begin = 0
    for key, value in parts:
        at = inverse[begin : begin + key.shape[0]]
        begin += key.shape[0]
        total[at] += value  # a store holds a weight once, so there are no repeats
        used[at] += value != 0.0
    total /= np.maximum(used, 1) if nonzero else len(stores)
    return sparse_store(stores[0], keys, total)


def sparse_store(like, keys, values):
    """A sparse store for prediction with the given weights, packed; rows and columns as in ``like``."""
    rows = like.first.shape[0]
    row = keys // like.columns
    count = np.bincount(row, minlength=rows)
    first = np.cumsum(count) - count
    return like._replace(
        value=values,
        first=first,
        count=count.astype(np.int32),
        room=np.zeros(0, np.int32),
        column=(keys % like.columns).astype(np.int32),
        used=np.array([keys.shape[0]], np.int64),
    )
