"""Sums over all labellings of one second-order chain: log Z and marginals.

The recursions of :mod:`.forward_backward` in logarithms, over pairs of labels, scored
by :mod:`.second_order`:

    α_t(p, y) = emission[t, y] + transition[t, p, y]
                + log Σ_a exp(α_{t-1}(a, p) + trigram[a, p, y])
    β_t(p, y) = log Σ_z exp(trigram[p, y, z] + transition[t+1, y, z] + emission[t+1, z]
                            + β_{t+1}(y, z))

At t = 0 there is no p, and α and β have L cells; the a of t = 1 is the boundary. A sum
over a and one over z for each pair makes O(T L^3), but hardly any term matters: those
below ``e^-45`` of the largest are left out, which changes nothing that a double can
show, and most are seen to be so small before they are looked at (:func:`_advance`).

Letters: as in :mod:`.second_order`, and z for the label after y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.compile import inline
from .forward_backward import NEGLIGIBLE, log_sum

if TYPE_CHECKING:
    from .second_order import Trigrams
    from .sums import LogSums


@inline
def list_large(
    before: np.ndarray, trigrams: Trigrams, p: int, L: int, keep: np.ndarray
) -> int:
    """Write the labels a that may matter in a sum over a to ``keep`` (L,) int32;
    returns how many.

    With a* the largest δ(a, p): what a* adds is at least ``δ(a*, p) + min_y trigram[a*,
    p, y]`` for every y, and an a whose ``δ(a, p) + max_y trigram[a, p, y]`` is far
    below that is negligible for every y.
    """
    best = -np.inf
    arg = 0
    for a in range(L):
        if before[a * L + p] > best:
            best = before[a * L + p]
            arg = a
    if best == -np.inf:
        return 0
    first = p * (L + 1) + 1
    bound = best + trigrams.low[first + arg] - NEGLIGIBLE
    n = 0
    for a in range(L):
        if before[a * L + p] + trigrams.high[first + a] >= bound:
            keep[n] = a
            n += 1
    return n


@inline
def _advance(
    before: np.ndarray,
    t: int,
    trigrams: Trigrams,
    transition: np.ndarray,
    at: int,
    emission: np.ndarray,
    now: np.ndarray,
    row: np.ndarray,
    keep: np.ndarray,
    L: int,
) -> None:
    """Write the log-sums over the prefixes that end at t to ``now`` (L * L,), from
    those at t - 1.
    """
    for p in range(L):
        first = p * (L + 1)
        n = 0 if t == 1 else list_large(before, trigrams, p, L, keep)
        for y in range(L):
            if t == 1:
                total = before[p] + trigrams.score[first * L + y]
            else:
                for j in range(n):
                    a = keep[j]
                    row[j] = before[a * L + p] + trigrams.score[(first + a + 1) * L + y]
                total = log_sum(row, n)
            now[p * L + y] = total + emission[y] + transition[at + p * L + y]


@inline
def _retreat(
    after: np.ndarray,
    trigrams: Trigrams,
    transition: np.ndarray,
    at: int,
    emission: np.ndarray,
    t: int,
    now: np.ndarray,
    row: np.ndarray,
    add: np.ndarray,
    L: int,
) -> None:
    """Write the log-sums over the suffixes behind t - 1 to ``now``, from those behind
    t; t = 1 writes L cells.
    """
    for y in range(L):
        for z in range(L):
            add[z] = transition[at + y * L + z] + emission[z] + after[y * L + z]
        first = y * (L + 1)
        if t == 1:
            for z in range(L):
                row[z] = add[z] + trigrams.score[first * L + z]
            now[y] = log_sum(row, L)
            continue
        for p in range(L):
            from_p = (first + p + 1) * L
            for z in range(L):
                row[z] = add[z] + trigrams.score[from_p + z]
            now[p * L + y] = log_sum(row, L)


@inline
def forward(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    trigrams: Trigrams,
    start: np.ndarray,
    end: np.ndarray,
    alpha: np.ndarray,
    sums: LogSums,
    T: int,
    L: int,
) -> float:
    """Sum the labellings of one sequence from left to right: returns log Z, and fills
    ``alpha`` (T * L * L,).
    """
    C = L * L
    row = sums.row
    add = sums.add
    pairs = L if T > 1 else 1
    for y in range(L):
        alpha[y] = start[y] + emission[y]
    for t in range(1, T):
        _advance(
            alpha[(t - 1) * C : t * C], t, trigrams, transition, t * stride,
            emission[t * L : (t + 1) * L], alpha[t * C : (t + 1) * C], row, sums.keep, L,
        )  # fmt: skip
    for y in range(L):
        for p in range(pairs):
            row[p] = alpha[(T - 1) * C + p * L + y] + end[y]
        add[y] = log_sum(row, pairs)
    return log_sum(add, L)


@inline
def backward(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    trigrams: Trigrams,
    end: np.ndarray,
    sums: LogSums,
    T: int,
    L: int,
) -> None:
    """Sum what may follow each pair of labels: fills ``sums.beta``, (T * L * L,)
    logarithms.
    """
    C = L * L
    beta = sums.beta
    for y in range(L):
        for p in range(L if T > 1 else 1):
            beta[(T - 1) * C + p * L + y] = end[y]
    for t in range(T - 1, 0, -1):
        _retreat(
            beta[t * C : (t + 1) * C], trigrams, transition, t * stride,
            emission[t * L : (t + 1) * L], t, beta[(t - 1) * C : t * C], sums.row, sums.add, L,
        )  # fmt: skip
