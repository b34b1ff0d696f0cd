"""What the second order adds to the scores and the gradient of a chain: label trigrams (Collins 2002).

Extends the score of :mod:`.bigram`: a labelling y scores

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t]
             + Σ_{t>0} trigram[y_{t-2}, y_{t-1}, y_t] + end[y_{T-1}]

with a boundary symbol for y_{-1}.

Letters: as in :mod:`.bigram`, and a for the label before the previous one, -1 for the boundary.
"""

import numpy as np

from ..core.averaging import entries
from ..core.codes import NO_NOISE
from ..core.compile import inline
from ..core.noise import EDGE_STREAM, factor
from ..core.rules import emit
from . import small_kernels
from .features import sum_rows


def read_trigrams(store, scale, trigrams):
    """Fill the scores of trigrams from final weights."""
    if not trigrams:
        return
    trigrams.score[:] = 0.0
    places, values = entries(store) if store.sparse else (slice(None), store.value)
    trigrams.score[places] += scale * values
    by_row = trigrams.score.reshape(-1, store.columns)
    by_row.max(axis=1, out=trigrams.high)
    by_row.min(axis=1, out=trigrams.low)


@inline
def refresh(chain, rule, noise, first, n, table, work):
    """Read the scores of the ``n`` rows from ``first`` on out of the weights in training into ``table``."""
    if len(noise) == 0:
        scale, L = chain.clock.scale[0], chain.start.shape[0]
        small_kernels.refresh_trigrams(chain.trigrams, scale, first, n, L, table)
        return
    L, step, scale = chain.nodes.columns, chain.clock.step[0], chain.clock.scale[0]
    for k in range(first * L, (first + n) * L):
        table.score[k] = 0.0
    runs = work.edge_runs
    runs.row[0], runs.token[0], runs.width[0], runs.value[0] = first, first, n, 1.0
    one = np.int64(1)
    sum_rows(chain.trigrams, rule, step, runs, one, one, L, scale, table.score)
    if noise.edge != NO_NOISE:
        for k in range(first * L, (first + n) * L):
            table.score[k] *= factor(noise, noise.edge, EDGE_STREAM, step, _item(k, L))
    for row in range(first, first + n):
        high, low = -np.inf, np.inf
        for k in range(row * L, (row + 1) * L):
            high = max(high, table.score[k])
            low = min(low, table.score[k])
        table.high[row], table.low[row] = high, low


@inline
def _item(k, L):
    """What noise knows the trigram at place k by; label bigrams have -1 to -L²."""
    return -1 - L * L - k


@inline
def emit_trigrams(target, path, T, L, step, noise, difference):
    """Trigram part of ``Δφ = φ(x, target) - φ(x, path)``."""
    for t in range(1, T):
        a, b = np.int64(-1), np.int64(-1)
        if t > 1:
            a, b = np.int64(target[t - 2]), np.int64(path[t - 2])
        if target[t] != path[t] or target[t - 1] != path[t - 1] or a != b:
            row = target[t - 1] * (L + 1) + a + 1
            emit(
                difference, row, target[t],
                factor(noise, noise.edge, EDGE_STREAM, step, _item(row * L + target[t], L)),
            )  # fmt: skip
            row = path[t - 1] * (L + 1) + b + 1
            emit(
                difference, row, path[t],
                -factor(noise, noise.edge, EDGE_STREAM, step, _item(row * L + path[t], L)),
            )  # fmt: skip
