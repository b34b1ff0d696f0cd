"""Sums over the labellings of each sequence of a corpus: log Z and marginals, of chains of both orders.

With empty ``trigrams`` by :mod:`.marginals`, else by :mod:`.marginals_second`.

Letters: as in :mod:`.marginals`; C cells tell prefixes apart, as in :class:`.bigram.ChainWork`.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel
from . import marginals as first_order
from . import marginals_second as second_order
from .bigram import reads_whole_rows, score_sequence, stride_of
from .marginals import clamp, log_sum


class Sums(NamedTuple):
    """Scratch for sequences of up to T tokens."""

    beta: np.ndarray  # (T * C,) float64: log-sums over suffixes
    row: np.ndarray  # (L,) float64
    add: np.ndarray  # (L,) float64
    keep: np.ndarray  # (L,) int64


def new_sums(token, L, order):
    """Scratch for sequences that start at ``token``."""
    longest = int(np.diff(token).max(initial=1))
    return Sums(np.empty(longest * L**order), np.empty(L), np.empty(L), np.empty(L, np.int64))


@inline
def forward(work, stride, trigrams, start, end, sums, T, L):
    """log Z of one sequence. Fills ``work.score[0]``, log-sums over prefixes."""
    alpha = work.score[0]
    if len(trigrams) > 0:
        return second_order.forward(
            work.emission, work.transition, stride, trigrams, start, end, alpha, sums, T, L
        )
    return first_order.forward(work.emission, work.transition, stride, start, end, alpha, sums.row, T, L)


@inline
def sum_labellings(work, stride, trigrams, start, end, sums, T, L):
    """log Z of one sequence. Fills ``work.score[0]`` and ``sums.beta``, log-sums over suffixes."""
    alpha = work.score[0]
    if len(trigrams) > 0:
        return second_order.sum_labellings(
            work.emission, work.transition, stride, trigrams, start, end, alpha, sums, T, L
        )
    return first_order.sum_labellings(
        work.emission, work.transition, stride, start, end, alpha, sums.beta, sums.row, T, L
    )


@kernel
def log_partitions(task, chain, rule, noise, trigrams, work, sums, log_z):
    """Write log Z of each sequence, as :func:`marginals` does."""
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    whole_rows = reads_whole_rows(chain, rule, noise)
    for i in range(log_z.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        log_z[i] = 0.0
        if stop > first:
            score_sequence(task, i, chain, rule, noise, whole_rows, work)
            clamp(task.gold[first:stop], task.sets, L, work.emission)
            log_z[i] = forward(work, stride, trigrams, chain.start, chain.end, sums, stop - first, L)


@kernel
def marginals(task, chain, rule, noise, trigrams, work, sums, out, log_z):
    """Marginals and log Z of each sequence under a chain's weights.

    Writes ``out`` (N * L,) and ``log_z`` (n,), float64. Labels set in ``task.gold`` are kept: log Z
    then sums over their completions, and is -inf if constraints leave none. Empty sequences have
    log Z = 0.
    """
    L = chain.start.shape[0]
    C, row, add = L * L, sums.row, sums.add
    stride = stride_of(task, L, noise)
    whole_rows = reads_whole_rows(chain, rule, noise)
    for i in range(log_z.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        T = stop - first
        log_z[i] = 0.0
        if T == 0:
            continue
        score_sequence(task, i, chain, rule, noise, whole_rows, work)
        clamp(task.gold[first:stop], task.sets, L, work.emission)
        z = sum_labellings(work, stride, trigrams, chain.start, chain.end, sums, T, L)
        log_z[i] = z
        alpha, beta = work.score[0], sums.beta
        for t in range(T):
            for y in range(L):
                if len(trigrams) > 0:
                    previous = L if t > 0 else 1
                    for p in range(previous):
                        row[p] = alpha[t * C + p * L + y] + beta[t * C + p * L + y]
                    add[y] = log_sum(row, previous)
                else:
                    add[y] = alpha[t * L + y] + beta[t * L + y]
            # log Z in theory; at scores of any size the marginals then sum to 1.
            at_t = log_sum(add, L)
            for y in range(L):
                out[(first + t) * L + y] = 0.0 if z == -np.inf else np.exp(add[y] - at_t)
