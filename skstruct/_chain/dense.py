"""Tokens that are dense rows of numbers: scores, the gradient of an example, and the
step along it.

A row of F numbers is F features of its token, each with the row of weights of its
number, and with a window F features for each neighbour. Listed one by one, as sparse
features are, they would be looked up in the hash table of a
:class:`skstruct._core.rules.Difference`; here the gradient of an example is a full array, by
label. All sums are in the order of the columns, so that results are those of the same
numbers as sparse rows.

A corpus without such rows has an empty tuple in their place. The functions here then do
nothing, and numba leaves out what follows ``len(dense) > 0``: where tokens are strings,
kernels compile as fast as before.

Letters: as in :mod:`.bigram`, and F columns, R rows of weights: F for each place of the
window, and the bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.codes import NO_AVERAGE, PERCEPTRON
from .._core.compile import inline
from .._core.store import add_to

if TYPE_CHECKING:
    from .._core.store import Clock, Rule, Store
    from ..features.encoded import Dense
    from .bigram import Empty


class DenseWork(NamedTuple):
    """Features of a token, and ``Δφ`` of an example; scratch, the latter all zeros
    between examples.

    Empty arrays if they are not needed; an empty tuple in place of all if tokens are no
    such rows.
    """

    row: np.ndarray  # (R,) int64: rows of weights of features
    value: np.ndarray  # (R,) float64: what these count
    delta: np.ndarray  # (L * R,) float64 by label
    counted: np.ndarray  # (L * R,) bool: what the norm has seen
    label: np.ndarray  # (L,) int64: labels whose rows are not zero, ``size`` of them
    touched: np.ndarray  # (L,) bool: whether a label is one of them
    size: np.ndarray  # (1,) int64


def new_dense_work(
    dense: Dense | Empty, n_labels: int, training: bool
) -> DenseWork | Empty:
    """Make scratch for the examples of a corpus with the rows ``dense``; () without."""
    if not dense:
        return ()
    n = n_labels if training else 0
    n_rows = dense.n_rows
    size = n * n_rows
    return DenseWork(
        np.zeros(n_rows, np.int64), np.zeros(n_rows), np.zeros(size), np.zeros(size, np.bool_),
        np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(1, np.int64),
    )  # fmt: skip


# --------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------
@inline
def list_features(
    dense: Dense | Empty, first_token: int, t: int, T: int, work: DenseWork | Empty
) -> int:
    """Write the features of token t that are not zero to ``work.row`` and
    ``work.value``; returns how many.

    Without a branch, which pixels would mispredict: what is zero is overwritten by the
    next.
    """
    # Unsigned: numba then omits the check for negative indices.
    F = np.uint64(dense.block.shape[1])
    n = np.uint64(0)
    first = np.uint64(0)
    for s in range(dense.low, dense.high + 1):
        if 0 <= t + s < T:
            at = np.uint64(first_token + t + s)
            for f in range(F):
                x = dense.scale * dense.block[at, f]
                work.row[n] = first + f
                work.value[n] = x
                n += np.uint64(x != 0.0)
        first += F
    if dense.bias:
        work.row[n] = first
        work.value[n] = 1.0
        n += np.uint64(1)
    return np.int64(n)  # type: ignore[return-value]  # an int to numba


@inline
def _place(row: np.ndarray | Empty, k: int, L: int) -> np.uint64:
    """Where the weights of feature k begin; with an empty ``row`` features have the
    rows 0, 1, ...
    """
    # Unsigned: numba then omits the check for negative indices, and loops vectorise.
    if len(row) == 0:
        return np.uint64(k * L)
    return np.uint64(row[k] * L)


@inline
def _add_rows(
    row: np.ndarray | Empty,
    value: np.ndarray,
    scale: float,
    n: int,
    weight: np.ndarray,
    L: int,
    out: np.ndarray,
    start: int,
) -> None:
    """Add ``Σ_k scale value_k w[row_k, y]`` to ``out[start + y]`` for n features.

    Four at a time, in their order: a sum is read and written once for four products.
    """
    m = np.uint64(L)
    k = 0
    while k + 4 <= n:
        a = _place(row, k, L)
        b = _place(row, k + 1, L)
        c = _place(row, k + 2, L)
        d = _place(row, k + 3, L)
        p = scale * value[k]
        q = scale * value[k + 1]
        r = scale * value[k + 2]
        s = scale * value[k + 3]
        for y in range(m):
            total = (out[start + y] + p * weight[a + y]) + q * weight[b + y]
            out[start + y] = (total + r * weight[c + y]) + s * weight[d + y]
        k += 4
    while k < n:
        a = _place(row, k, L)
        p = scale * value[k]
        for y in range(m):
            out[start + y] += p * weight[a + y]
        k += 1


@inline
def _add_full(
    dense: Dense | Empty,
    first_token: int,
    t: int,
    T: int,
    weight: np.ndarray,
    L: int,
    out: np.ndarray,
    start: int,
) -> None:
    """Add ``Σ_f x_f w[f, y]`` to ``out[start + y]`` for a token whose features are
    hardly ever zero: they need not be listed.
    """
    F = dense.block.shape[1]
    first = 0
    for s in range(dense.low, dense.high + 1):
        if 0 <= t + s < T:
            row = dense.block[first_token + t + s]
            _add_rows((), row, dense.scale, F, weight[first * L :], L, out, start)
        first += F
    for y in range(np.uint64(L if dense.bias else 0)):
        out[start + y] += weight[np.uint64(first * L) + y]


@inline
def sum_dense(
    dense: Dense | Empty,
    store: Store,
    first_token: int,
    T: int,
    work: DenseWork | Empty,
    out: np.ndarray,
) -> None:
    """Add ``Σ_f x_f w[f, y]`` to ``out[t, y]`` for one sequence, under weights without
    a lazy penalty.
    """
    if len(dense) > 0:
        L = store.columns
        weight = store.value
        for t in range(T):
            start = np.uint64(t * L)
            if dense.full and not store.sparse:
                _add_full(dense, first_token, t, T, weight, L, out, start)
                continue
            n = list_features(dense, first_token, t, T, work)
            if not store.sparse:
                _add_rows(work.row, work.value, 1.0, n, weight, L, out, start)
                continue
            for k in range(n):
                row = work.row[k]
                for place in range(
                    store.first[row], store.first[row] + store.count[row]
                ):
                    out[t * L + store.column[place]] += work.value[k] * weight[place]


# --------------------------------------------------------------------------------------
# Updates of dense weights without a lazy penalty
# --------------------------------------------------------------------------------------
@inline
def _touch(work: DenseWork | Empty, y: int) -> None:
    """Note that the row of label y will not be zero."""
    if not work.touched[y]:
        work.touched[y] = True
        work.label[work.size[0]] = y
        work.size[0] += 1


@inline
def add_dense(
    dense: Dense | Empty,
    first_token: int,
    T: int,
    target: np.ndarray,
    path: np.ndarray,
    work: DenseWork | Empty,
) -> None:
    """Add the dense part of ``Δφ = φ(x, target) - φ(x, path)`` to the gradient."""
    if len(dense) > 0:
        F = dense.block.shape[1]
        R = work.delta.shape[0] // work.label.shape[0]
        delta = work.delta
        for t in range(T):
            if target[t] == path[t]:
                continue
            _touch(work, target[t])
            _touch(work, path[t])
            right = np.uint64(target[t] * R)
            wrong = np.uint64(path[t] * R)
            for s in range(dense.low, dense.high + 1):
                for f in range(F if 0 <= t + s < T else 0):
                    x = dense.scale * dense.block[first_token + t + s, f]
                    delta[right + np.uint64(f)] += x
                    delta[wrong + np.uint64(f)] -= x
                right += np.uint64(F)
                wrong += np.uint64(F)
            if dense.bias:
                delta[right] += 1.0
                delta[wrong] -= 1.0


@inline
def _square(work: DenseWork | Empty, place: int) -> float:
    """Return the square of a component, 0 if it was counted before."""
    if work.counted[place]:
        return 0.0
    work.counted[place] = True
    return work.delta[place] * work.delta[place]


@inline
def dense_norm(
    dense: Dense | Empty,
    first_token: int,
    T: int,
    target: np.ndarray,
    path: np.ndarray,
    rule: Rule,
    work: DenseWork | Empty,
) -> float:
    """Return ``‖Δφ‖²`` of the dense part; 0 for rules that do not ask for it.

    Components are added in the order in which an example meets them, as those of a
    ``Difference`` are.
    """
    total = 0.0
    if len(dense) > 0:
        if rule.update != PERCEPTRON and work.size[0] > 0:
            R = work.delta.shape[0] // work.label.shape[0]
            for t in range(T):
                if target[t] == path[t]:
                    continue
                for k in range(list_features(dense, first_token, t, T, work)):
                    total += _square(work, target[t] * R + work.row[k])
                    total += _square(work, path[t] * R + work.row[k])
    return total


@inline
def apply_dense(
    dense: Dense | Empty,
    store: Store,
    clock: Clock,
    rule: Rule,
    tau: float,
    work: DenseWork | Empty,
) -> None:
    """Step along the gradient, ``w += τ Δφ``, and empty it."""
    if len(dense) > 0:
        if work.size[0] > 0:
            L = store.columns
            R = work.delta.shape[0] // L
            step = tau / clock.scale[0]
            total = clock.scale[1]
            averaged = rule.average != NO_AVERAGE
            for r in range(R):
                for k in range(work.size[0]):
                    y = work.label[k]
                    dv = step * work.delta[y * R + r]
                    place = r * L + y
                    add_to(store.value, store.moment, averaged, total, place, dv)
            clear_dense(dense, work)


@inline
def clear_dense(dense: Dense | Empty, work: DenseWork | Empty) -> None:
    """Empty the gradient."""
    if len(dense) > 0:
        for k in range(work.size[0]):
            y = work.label[k]
            R = work.delta.shape[0] // work.label.shape[0]
            for place in range(y * R, (y + 1) * R):
                work.delta[place] = 0.0
                work.counted[place] = False
            work.touched[y] = False
        work.size[0] = 0
