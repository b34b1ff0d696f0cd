"""Chains of the second order: label trigrams in scores and gradient (Collins 2002).

Extends the score of :mod:`.bigram`: a labelling y scores

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t]
             + Σ_{t>0} trigram[y_{t-2}, y_{t-1}, y_t] + end[y_{T-1}]

with a boundary symbol for y_{-1}.

Letters: as in :mod:`.bigram`, and a for the label before the previous one, -1 for the
boundary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.compile import ONE, inline
from .._core.final_weights import entries
from .._core.rules import emit
from .._core.store import n_rows
from .token_scores import TRIGRAM_ROWS, edge_factor, sum_rows

if TYPE_CHECKING:
    from .._core.rules import Difference
    from .._core.store import Rule, Store
    from .bigram import Chain, ChainWork, Empty, General


class Trigrams(NamedTuple):
    """Scores of trigrams; R = L (L + 1) pairs (p, a), at p (L + 1) + a + 1. Scratch."""

    score: np.ndarray  # (R * L,) float64
    high: np.ndarray  # (R,) float64: the largest over y
    low: np.ndarray  # (R,) float64: the smallest


def new_trigrams(rows: int, L: int) -> Trigrams:
    """Make scratch for the trigrams of R rows and L labels."""
    return Trigrams(np.empty(rows * L), np.empty(rows), np.empty(rows))


def read_trigrams(store: Store | Empty, scale: float) -> Trigrams | Empty:
    """Read the scores of trigrams from final weights; () in the first order."""
    if not store:
        return ()
    trigrams = new_trigrams(n_rows(store), store.columns)
    trigrams.score[:] = 0.0
    places, values = entries(store) if store.sparse else (slice(None), store.value)
    trigrams.score[places] += scale * values
    by_row = trigrams.score.reshape(-1, store.columns)
    by_row.max(axis=1, out=trigrams.high)
    by_row.min(axis=1, out=trigrams.low)
    return trigrams


@inline
def refresh(
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    first: int,
    n: int,
    table: Trigrams,
    work: ChainWork,
) -> None:
    """Read the scores of the ``n`` rows from ``first`` on out of the weights in
    training into ``table``.

    Row ``p * (L + 1) + a + 1`` is of the labels a, p; there are ``L * (L + 1)``.
    """
    L = chain.nodes.columns
    step = chain.clock.step[0]
    scale = chain.clock.scale[0]
    for k in range(first * L, (first + n) * L):
        table.score[k] = 0.0
    if len(general) == 0:
        for k in range(first * L, (first + n) * L):
            table.score[k] += scale * chain.trigrams.value[k]
    else:
        runs = work.edge_runs
        runs.row[0] = first
        runs.token[0] = first
        runs.width[0] = n
        runs.value[0] = 1.0
        sum_rows(chain.trigrams, rule, step, runs, ONE, ONE, L, scale, table.score)
        for k in range(first * L, (first + n) * L):
            table.score[k] *= edge_factor(general, step, _item(k, L))
    for row in range(first, first + n):
        high = -np.inf
        low = np.inf
        for k in range(row * L, (row + 1) * L):
            high = max(high, table.score[k])
            low = min(low, table.score[k])
        table.high[row] = high
        table.low[row] = low


@inline
def _item(k: int, L: int) -> int:
    """Number the trigram at place k for noise; label bigrams have -1 to -L²."""
    return -1 - L * L - k


@inline
def emit_trigrams(
    labels: np.ndarray,
    T: int,
    L: int,
    step: int,
    general: General | Empty,
    difference: Difference,
) -> None:
    """Emit the trigram part of ``Δφ``; ``labels`` (2, T): right and predicted."""
    for t in range(1, T):
        differs = labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]
        if differs or (t > 1 and labels[0, t - 2] != labels[1, t - 2]):
            sign = 1.0
            for k in range(2):
                a = labels[k, t - 2] if t > 1 else np.int32(-1)
                row = labels[k, t - 1] * (L + 1) + a + 1
                x = sign * edge_factor(general, step, _item(row * L + labels[k, t], L))
                emit(difference, TRIGRAM_ROWS + row, labels[k, t], x)
                sign = -sign
