"""Tokens that are dense rows of numbers: scores, the gradient of an example, and the step along it.

A row of F numbers is F features of its token, each with the row of weights of its number, and with a window
F features for each neighbour. Listed one by one, as sparse features are, they would be looked up in the hash
table of a :class:`..core.rules.Difference`; here the gradient of an example is a full array, by label. All
sums are in the order of the columns, so that results are those of the same numbers as sparse rows.

A corpus without such rows has an empty tuple in their place. The functions here then do nothing, and numba
leaves out what follows ``len(dense) > 0``: where tokens are strings, kernels compile as fast as before.

Letters: as in :mod:`.bigram`, and F columns, R rows of weights: F for each place of the window, and the bias.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import NO_AVERAGE, PERCEPTRON
from ..core.compile import inline
from ..core.noise import factor


class DenseWork(NamedTuple):
    """A row of a token, and ``Δφ`` of an example; scratch, the latter all zeros between examples.

    Empty arrays if they are not needed; an empty tuple in place of all if tokens are no such rows.
    """

    row: np.ndarray  # (F + 1,) int64: rows of weights of the columns that are not zero
    value: np.ndarray  # (F + 1,) float64: what these count
    delta: np.ndarray  # (L * R,) float64 by label
    counted: np.ndarray  # (L * R,) bool: what the norm has seen
    label: np.ndarray  # (L,) int64: the labels whose rows are not zero, ``size`` of them
    touched: np.ndarray  # (L,) bool: whether a label is one of them
    size: np.ndarray  # (1,) int64


def new_dense_work(dense, n_labels, training):
    """Scratch for the examples of a corpus with the rows ``dense``."""
    if not dense:
        return ()
    n, columns = n_labels if training else 0, dense.block.shape[1] + 1
    size = n * dense.n_rows
    return DenseWork(
        np.zeros(columns, np.int64), np.zeros(columns), np.zeros(size), np.zeros(size, np.bool_),
        np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(1, np.int64),
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------------------
@inline
def _add_full(dense, at, first, weight, L, out, start):
    """``out[start + y] += Σ_f x_f w[first + f, y]`` for the row ``at`` of the block.

    Four columns at a time, in their order: a sum is read and written once for four products.
    """
    F, n = dense.block.shape[1], np.uint64(L)
    f = 0
    while f + 4 <= F:
        p, q = dense.scale * dense.block[at, f], dense.scale * dense.block[at, f + 1]
        r, s = dense.scale * dense.block[at, f + 2], dense.scale * dense.block[at, f + 3]
        # Unsigned: numba then omits the check for negative indices, and the loop vectorises.
        a = np.uint64((first + f) * L)
        b, c, d = a + n, a + n + n, a + n + n + n
        for y in range(n):
            total = (out[start + y] + p * weight[a + y]) + q * weight[b + y]
            out[start + y] = (total + r * weight[c + y]) + s * weight[d + y]
        f += 4
    while f < F:
        a, p = np.uint64((first + f) * L), dense.scale * dense.block[at, f]
        for y in range(n):
            out[start + y] += p * weight[a + y]
        f += 1


@inline
def _filled(dense, at, first, work):
    """List the columns of the row ``at`` that are not zero, as rows of weights from ``first`` on; how many.

    Without a branch, which pixels would mispredict: what is zero is overwritten by the next.
    """
    n = 0
    for f in range(dense.block.shape[1]):
        x = dense.scale * dense.block[at, f]
        work.row[n] = first + f
        work.value[n] = x
        n += np.int64(x != 0.0)
    return n


@inline
def _add_rows(work, n, weight, L, out, start):
    """The same for the ``n`` features that :func:`_filled` has listed; the same sums, but for zeros."""
    row, value, m = work.row, work.value, np.uint64(L)
    k = 0
    while k + 4 <= n:
        a, b = np.uint64(row[k] * L), np.uint64(row[k + 1] * L)
        c, d = np.uint64(row[k + 2] * L), np.uint64(row[k + 3] * L)
        p, q, r, s = value[k], value[k + 1], value[k + 2], value[k + 3]
        for y in range(m):
            total = (out[start + y] + p * weight[a + y]) + q * weight[b + y]
            out[start + y] = (total + r * weight[c + y]) + s * weight[d + y]
        k += 4
    while k < n:
        a, p = np.uint64(row[k] * L), value[k]
        for y in range(m):
            out[start + y] += p * weight[a + y]
        k += 1


@inline
def _add_sparse(store, row, x, out, start):
    """The same for one feature, whose weights stand in a pool."""
    for k in range(store.first[row], store.first[row] + store.count[row]):
        out[start + store.column[k]] += x * store.value[k]


@inline
def sum_dense(dense, store, first_token, T, work, out):
    """``out[t, y] += Σ_f x_f w[f, y]`` of one sequence; weights without a lazy penalty."""
    if len(dense) > 0:
        F, L = dense.block.shape[1], store.columns
        for t in range(T):
            start, first = np.uint64(t * L), 0
            for s in range(dense.low, dense.high + 1):
                if 0 <= t + s < T:
                    at = first_token + t + s
                    if dense.full and not store.sparse:
                        _add_full(dense, at, first, store.value, L, out, start)
                    else:
                        n = _filled(dense, at, first, work)
                        if not store.sparse:
                            _add_rows(work, n, store.value, L, out, start)
                        else:
                            for k in range(n):
                                _add_sparse(store, work.row[k], work.value[k], out, start)
                first += F
            if dense.bias and not store.sparse:
                for y in range(np.uint64(L)):
                    out[start + y] += store.value[np.uint64(first * L) + y]
            elif dense.bias:
                _add_sparse(store, first, 1.0, out, start)


@inline
def list_dense(dense, first_token, T, step, noise, code, stream, masked, runs, n):
    """List the rows of one sequence behind ``n`` runs, as ``features.list_runs`` does; returns how many."""
    if len(dense) > 0:
        F, dropout = dense.block.shape[1], noise.token_below > np.uint64(0)
        for t in range(T):
            if dropout and masked[t, 0]:
                continue
            row = 0
            for s in range(dense.low, dense.high + 1):
                inside = 0 <= t + s < T
                for f in range(F if inside else 0):
                    x = factor(noise, code, stream, step, row + f) * (
                        dense.scale * dense.block[first_token + t + s, f]
                    )
                    if x != 0.0:
                        runs.row[n], runs.token[n], runs.width[n], runs.value[n] = row + f, t, 1, x
                        n += 1
                row += F
            x = factor(noise, code, stream, step, row) if dense.bias else 0.0
            if x != 0.0:
                runs.row[n], runs.token[n], runs.width[n], runs.value[n] = row, t, 1, x
                n += 1
    return n


# --------------------------------------------------------------------------------------------------
# Updates of dense weights without a lazy penalty
# --------------------------------------------------------------------------------------------------
@inline
def _touch(work, y):
    """Note that the row of label y will not be zero."""
    if not work.touched[y]:
        work.touched[y] = True
        work.label[work.size[0]] = y
        work.size[0] += 1


@inline
def add_dense(dense, first_token, T, target, path, work):
    """Dense part of ``Δφ = φ(x, target) - φ(x, path)``."""
    if len(dense) > 0:
        F, R = dense.block.shape[1], work.delta.shape[0] // work.label.shape[0]
        delta = work.delta
        for t in range(T):
            if target[t] == path[t]:
                continue
            _touch(work, target[t])
            _touch(work, path[t])
            right, wrong = np.uint64(target[t] * R), np.uint64(path[t] * R)
            for s in range(dense.low, dense.high + 1):
                if 0 <= t + s < T:
                    at = first_token + t + s
                    for f in range(F):
                        x = dense.scale * dense.block[at, f]
                        delta[right + np.uint64(f)] += x
                        delta[wrong + np.uint64(f)] -= x
                right += np.uint64(F)
                wrong += np.uint64(F)
            if dense.bias:
                delta[right] += 1.0
                delta[wrong] -= 1.0


@inline
def _square(work, place):
    """The square of a component that was not counted before."""
    if work.counted[place]:
        return 0.0
    work.counted[place] = True
    return work.delta[place] * work.delta[place]


@inline
def dense_norm(dense, first_token, T, target, path, rule, work):
    """``‖Δφ‖²`` of the dense part; 0 for rules that do not ask for it.

    Components are added in the order in which an example meets them, as those of a ``Difference`` are.
    """
    total = 0.0
    if len(dense) > 0:
        if rule.update != PERCEPTRON and work.size[0] > 0:
            F, R = dense.block.shape[1], work.delta.shape[0] // work.label.shape[0]
            for t in range(T):
                if target[t] == path[t]:
                    continue
                right, wrong = np.int64(target[t]) * R, np.int64(path[t]) * R
                for s in range(dense.low, dense.high + 1):
                    if 0 <= t + s < T:
                        for f in range(F):
                            if dense.block[first_token + t + s, f] != 0.0:
                                total += _square(work, right + f)
                                total += _square(work, wrong + f)
                    right += F
                    wrong += F
                if dense.bias:
                    total += _square(work, right)
                    total += _square(work, wrong)
    return total


@inline
def apply_dense(dense, store, clock, rule, tau, work):
    """``w += τ Δφ``, and an empty gradient again."""
    if len(dense) > 0:
        if work.size[0] > 0:
            L = store.columns
            R = work.delta.shape[0] // L
            step, total = tau / clock.scale[0], clock.scale[1]
            averaged = rule.average != NO_AVERAGE
            for r in range(R):
                for k in range(work.size[0]):
                    y = work.label[k]
                    dv = step * work.delta[y * R + r]
                    store.value[r * L + y] += dv
                    if averaged:
                        store.moment[r * L + y] += dv * total
            clear_dense(dense, work)


@inline
def clear_dense(dense, work):
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
