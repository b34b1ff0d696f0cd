"""Tables of final weights: the average of several, and smaller ones.

The average is of models trained on the same features. Zhang, Su and Zhou (2014) average
models that differ in the order of the examples, either over all models (equation 7) or
over those in which a weight is not zero (equation 8): a weight that is zero was never
tested, and counting it would punish rare features.

Smaller tables have fewer digits, fewer weights, fewer rows. Most weights of an online
learner are zero, and whole rows are: their features were met, but never decided
anything. Nothing is lost with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .store import longer, made_sparse, n_rows

if TYPE_CHECKING:
    from .store import Store


LARGEST_WEIGHT = 1e200
"""A model with larger ones has scores that are no numbers: values of features are up to
1e100.
"""

PIECE_ROWS = 2**18
"""Rows that are moved at a time: a copy of all would be as large as the model."""


def are_weights(values: np.ndarray) -> bool:
    """Tell whether all are numbers that scores can be sums of."""
    return values.size == 0 or bool(
        -LARGEST_WEIGHT <= values.min() and values.max() <= LARGEST_WEIGHT
    )


class Average:
    """The average of stores of final weights, which are added one after another.

    Only sums are kept, added in the order of the calls: a store may be dropped once it
    was added.

    Parameters
    ----------
    nonzero : bool
        Equation 8 (divide by the number of stores in which the weight is not zero),
        else equation 7 (divide by the number of stores).
    """

    def __init__(self, nonzero: bool) -> None:
        self.nonzero = nonzero
        self.n = 0
        self.like: Store | None = None

        self.rows = 0
        self.keys = np.zeros(0, np.int64)  # sparse: row * columns + column, sorted
        self.total = np.zeros(0)
        self.used = np.zeros(0, np.uint8)

    def add(
        self, store: Store, row_of: np.ndarray | None = None, rows: int = 0
    ) -> None:
        """Add the weights of a store.

        Each model may have chosen its layout by its own weights. If one is sparse, so
        is the average.

        Parameters
        ----------
        store : Store
        row_of : ndarray of shape (R,), int, optional
            The common number of each of its rows; by default they are numbered alike.
        rows : int, optional
            Rows that are numbered by now; needed with ``row_of``.
        """
        if self.like is None:
            nothing = {
                name: getattr(store, name)[:0]
                for name in ("value", "first", "count", "column")
            }
            self.like = store._replace(
                **{name: part.copy() for name, part in nothing.items()}
            )
        self.n += 1
        if self.n > np.iinfo(self.used.dtype).max:
            self.used = self.used.astype(np.int64)
        if store.sparse and not self.like.sparse:
            self._become_sparse()
        if self.like.sparse:
            self._add_sparse(made_sparse(store), row_of, rows)
        else:
            self._add_dense(store, row_of, rows)

    def _become_sparse(self) -> None:
        """Go on with the sums of dense stores as those of sparse ones."""
        self.keys = np.flatnonzero(self.total if not self.nonzero else self.used)
        self.total = self.total[self.keys]
        if self.nonzero:
            self.used = self.used[self.keys]
        self.like = made_sparse(self.like)

    def _add_dense(self, store: Store, row_of: np.ndarray | None, rows: int) -> None:
        C = store.columns
        n = n_rows(store) if row_of is None else row_of.shape[0]
        self.rows = n if row_of is None else rows
        self.total = longer(self.total, self.rows * C)
        if self.nonzero:
            self.used = longer(self.used, self.rows * C)
        for begin in range(0, n, PIECE_ROWS):
            end = min(begin + PIECE_ROWS, n)
            at = (
                slice(begin, end) if row_of is None else row_of[begin:end]
            )  # a slice is added in place
            value = store.value[begin * C : end * C].reshape(-1, C)
            self.total.reshape(self.rows, C)[at] += value
            if self.nonzero:
                self.used.reshape(self.rows, C)[at] += value != 0.0

    def _add_sparse(self, store: Store, row_of: np.ndarray | None, rows: int) -> None:
        C = store.columns
        keys, value = entries(store)
        self.rows = store.first.shape[0] if row_of is None else rows
        if row_of is not None:
            keys = row_of[keys // C].astype(np.int64) * C + keys % C
        merged = np.union1d(self.keys, keys)
        before = np.searchsorted(merged, self.keys)
        at = np.searchsorted(merged, keys)
        self.keys = merged
        self.total = _spread(self.total, before, merged.shape[0])
        self.total[at] += value  # a store holds a weight once, so there are no repeats
        if self.nonzero:
            self.used = _spread(self.used, before, merged.shape[0])
            self.used[at] += value != 0.0

    def store(self) -> Store:
        """Return the average; nothing can be added then."""
        self.total /= np.maximum(self.used, 1) if self.nonzero else self.n
        if not self.like.sparse:
            return self.like._replace(value=self.total)
        return sparse_store(
            self.like._replace(first=np.zeros(self.rows, np.int64)),
            self.keys,
            self.total,
        )


def _spread(array: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size, array.dtype)
    out[places] = array
    return out


def entries(store: Store) -> tuple[np.ndarray, np.ndarray]:
    """(key, value) of the weights of a sparse store; key = row * columns + column, not
    sorted.
    """
    count = store.count.astype(np.int64)
    row = np.repeat(np.arange(count.shape[0]), count)
    # Position of each weight in its row, hence in the pool.
    within = np.arange(row.shape[0]) - np.repeat(np.cumsum(count) - count, count)
    place = store.first[row] + within
    return row * store.columns + store.column[place], store.value[place]


def sparse_store(like: Store, keys: np.ndarray, values: np.ndarray) -> Store:
    """Return a sparse store for prediction with the given weights, packed; rows and
    columns as in ``like``.
    """
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


def pruned(stores: list[Store], dtype: str | None, keep: float) -> list[Store]:
    """Return the stores of one model with their largest weights, rounded.

    Parameters
    ----------
    stores : list of Store
        For prediction only; not changed.
    dtype : str
        Floating-point type that the weights are rounded to. They stay in arrays of
        float64.
    keep : float
        Share of the nonzero weights that stay, over all stores, the largest magnitudes
        first; of equal ones the first. The others become zero.

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
            raise ValueError(
                f"dtype={dtype!r} holds no weight of {largest:.6g}; use a larger one"
            )
        values.append(value)
    if keep < 1.0:
        magnitude = np.abs(np.concatenate(values))
        some = np.flatnonzero(magnitude)
        n_lost = some.shape[0] - int(np.ceil(keep * some.shape[0]))
        lost = some[
            np.argsort(-magnitude[some], kind="stable")[some.shape[0] - n_lost :]
        ]
        ends = np.cumsum([value.shape[0] for value in values])
        for value, begin, end in zip(
            values, ends - [value.shape[0] for value in values], ends
        ):
            value[lost[(lost >= begin) & (lost < end)] - begin] = 0.0
    return [
        _packed(store._replace(value=value)) for store, value in zip(stores, values)
    ]


def _packed(store: Store) -> Store:
    """Return ``store`` without places for zeros, if it is sparse."""
    if not store.sparse:
        return store
    keys, values = entries(store)
    held = values != 0.0
    return sparse_store(store, keys[held], values[held])


def rows_with_weights(store: Store) -> np.ndarray:
    """(R,) whether a row of a final store has a weight that is not zero."""
    if not store.sparse:
        return (
            store.value.reshape(-1, store.columns).any(axis=1)
            if store.columns
            else np.zeros(0, np.bool_)
        )
    keys, values = entries(store)
    used = np.zeros(n_rows(store), np.bool_)
    used[keys[values != 0.0] // store.columns] = True
    return used


def with_rows(store: Store, rows: np.ndarray) -> Store:
    """Return a final store of some rows of another, in the order given."""
    if not store.sparse:
        value = (
            store.value.reshape(-1, store.columns)[rows]
            if store.columns
            else store.value
        )
        return store._replace(value=value.ravel())
    return _packed(store._replace(first=store.first[rows], count=store.count[rows]))


def in_order(store: Store, order: np.ndarray) -> Store:
    """Copy ``store`` with its rows, or some of them, in another order."""
    parts = {name: getattr(store, name) for name in ("last", "first", "count", "room")}
    parts = {name: part[order] for name, part in parts.items() if part.shape[0]}
    if not store.sparse and store.columns:
        for name in ("value", "moment", "received"):
            part = getattr(store, name)
            parts[name] = (
                part.reshape(-1, store.columns)[order].ravel()
                if part.shape[0]
                else part
            )
    return store._replace(**parts)


def count_weights(store: Store) -> int:
    """Return how many weights of a final store are not zero."""
    return int(np.count_nonzero(store.value))
