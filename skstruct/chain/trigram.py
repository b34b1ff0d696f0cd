"""The second-order chain: label trigrams, decoded exactly (Collins 2002).

Extends the score of :mod:`.bigram`: a labelling y scores

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t]
             + Σ_{t>0} trigram[y_{t-2}, y_{t-1}, y_t] + end[y_{T-1}]

with a boundary symbol for y_{-1}.

Letters: as in :mod:`.bigram`, and a for the label before the previous one, -1 for the boundary.
"""

from typing import NamedTuple

import numpy as np

from ..core.codes import NO_NOISE
from ..core.compile import inline
from ..core.noise import EDGE_STREAM, factor
from ..core.penalties import keeps_untouched_weights
from ..core.rules import Difference, emit, new_difference
from ..core.store import Clock, Store
from . import small_kernels
from .bigram import forbid, score_sequence
from .bigram import new_work as new_chain_work
from .dense import DenseWork
from .features import Runs, sum_rows
from .viterbi_second import Trigrams, viterbi

STORES = ("nodes", "edges", "trigrams")


class TrigramChain(NamedTuple):
    """A :class:`.bigram.Chain` with label trigrams."""

    nodes: Store
    edges: Store
    trigrams: Store  # row p * (L + 1) + a + 1, column y: the labels a, p, y in this order
    clock: Clock
    bigram: bool
    start: np.ndarray
    allowed: np.ndarray
    end: np.ndarray
    cost: np.ndarray


class TrigramWork(NamedTuple):
    """A :class:`.bigram.ChainWork` whose prefixes are told apart by their last two labels."""

    node_runs: Runs
    edge_runs: Runs
    masked: np.ndarray
    emission: np.ndarray
    transition: np.ndarray
    score: np.ndarray  # (2, T * L * L) float64 [t, previous, last]; for t = 0 [last]
    path: np.ndarray
    target: np.ndarray
    labels: np.ndarray
    node_difference: Difference
    edge_difference: Difference
    dense: DenseWork | tuple[()]
    trigrams: Trigrams
    trigram_difference: Difference
    stats: np.ndarray


def n_rows(L):
    """Rows of the store of trigrams."""
    return L * (L + 1)


def new_work(task, n_labels, training=True, listed=True):
    """Scratch that fits every sequence of ``task``; see :func:`.bigram.new_work`."""
    L, T = n_labels, int(np.diff(task.token).max(initial=1))
    first_order = new_chain_work(task, L, training, listed)._asdict()
    first_order["score"] = np.empty((2 if training else 1, T * L * L))
    return TrigramWork(
        **first_order,
        trigrams=Trigrams(np.empty(n_rows(L) * L), np.empty(n_rows(L)), np.empty(n_rows(L))),
        trigram_difference=new_difference(2 * T if training else 0),
    )


# --------------------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------------------
@inline
def refresh(chain, rule, noise, first, n, table, work):
    """Read the scores of the ``n`` rows from ``first`` on out of the store into ``table``."""
    if len(noise) == 0:
        small_kernels.refresh_trigrams(chain, first, n, table)
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
def is_steady(rule, noise):
    """Whether the scores of trigrams change with their weights only, not with every step."""
    if len(noise) == 0:
        return keeps_untouched_weights(rule)
    return keeps_untouched_weights(rule) and noise.edge == NO_NOISE


# --------------------------------------------------------------------------------------------------
# Learning
# --------------------------------------------------------------------------------------------------
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


@inline
def read_trigrams(chain, rule, noise, work):
    """Fill ``work.trigrams`` with the scores of all rows."""
    zero, R = np.int64(0), np.int64(chain.nodes.columns * (chain.nodes.columns + 1))
    refresh(chain, rule, noise, zero, R, work.trigrams, work)


@inline
def decode(task, i, chain, rule, noise, plain, work, path):
    """Score and label sequence i under ``work.trigrams``; returns the score. The sequence has tokens."""
    L = chain.nodes.columns
    stride = L * L if task.edges.row.shape[0] > 0 else 0
    T = task.token[i + 1] - task.token[i]
    score_sequence(task, i, chain, rule, noise, plain, work)
    if task.option.shape[0] > 0:
        forbid(task.option, task.token[i], T, L, work.emission)
    return viterbi(
        work.emission, work.transition, stride, work.trigrams, chain.start, chain.end,
        task.gold[:0], work.score[0], path, T, L,
    )  # fmt: skip
