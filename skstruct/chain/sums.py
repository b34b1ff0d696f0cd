"""Sums over the labellings of each sequence of a corpus: log Z and marginals, of chains of both orders.

With empty ``trigrams`` by :mod:`.lattice`, else by :mod:`.marginals_second`. With an empty ``exact`` a chain of
the first order is summed by scaled probabilities; log Z is NaN where these do not do, and a second call, with
(True,), sums such sequences by logarithms (:func:`sum_exactly_too`).

Letters: as in :mod:`.lattice`; C cells tell prefixes apart, as in :class:`.bigram.ChainWork`.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel
from . import lattice as first_order
from . import marginals_second as second_order
from .bigram import forbid, reads_whole_rows, score_sequence, stride_of
from .decoding import score_path
from .lattice import Lattice, clamp, log_sum, new_lattice, set_step


class Sums(NamedTuple):
    """Scratch for sequences of up to T tokens."""

    lattice: Lattice
    beta: np.ndarray  # (T * C,) float64: log-sums over suffixes; in the first order the lattice's
    row: np.ndarray  # (L,) float64
    add: np.ndarray  # (L,) float64
    keep: np.ndarray  # (L,) int64


def new_sums(token, L, order):
    """Scratch for sequences that start at ``token``."""
    T = int(np.diff(token).max(initial=1))
    lattice = new_lattice(T if order == 1 else 1, L)
    beta = lattice.beta if order == 1 else np.empty(T * L**order)
    return Sums(lattice, beta, np.empty(L), np.empty(L), np.empty(L, np.int64))


def sum_exactly_too(kernel, log_z, *given):
    """Call a kernel that takes ``exact`` and ``log_z`` last, once more if log Z of a sequence is NaN."""
    log_z[:] = np.nan
    kernel(*given, (), log_z)
    if np.isnan(log_z).any():
        kernel(*given, (True,), log_z)


@inline
def _forward(work, stride, trigrams, start, end, edges, exact, unit, sums, T, L):
    """log Z of one sequence. Fills ``sums.lattice``, or ``work.score[0]`` with log-sums over prefixes."""
    emission, transition, alpha = work.emission, work.transition, work.score[0]
    if len(trigrams) > 0:
        return second_order.forward(emission, transition, stride, trigrams, start, end, alpha, sums, T, L)
    if len(exact) > 0:
        return first_order.log_forward(emission, transition, stride, start, end, alpha, sums.row, T, L)
    lattice = sums.lattice
    z = first_order.forward(
        emission, transition, stride, start, end, edges, lattice, lattice.inverse, T, L
    )
    return z + (T - 1) * unit


@inline
def sum_labellings(work, stride, trigrams, start, end, edges, exact, unit, sums, T, L):
    """The same. Fills ``sums.lattice`` completely, or ``sums.beta`` with log-sums over suffixes, too."""
    emission, transition, alpha = work.emission, work.transition, work.score[0]
    if len(trigrams) > 0:
        return second_order.sum_labellings(
            emission, transition, stride, trigrams, start, end, alpha, sums, T, L
        )
    if len(exact) > 0:
        return first_order.log_sums(
            emission, transition, stride, start, end, alpha, sums.beta, sums.row, T, L
        )
    lattice = sums.lattice
    z = _forward(work, stride, trigrams, start, end, edges, exact, unit, sums, T, L)
    if z > -np.inf and not first_order.backward(transition, stride, edges, lattice, lattice.inverse, T, L):
        z = np.nan
    return z


@inline
def score_tokens(task, i, chain, rule, noise, whole_rows, stride, exact, trigrams, unit, work, sums):
    """Score sequence i as :func:`.bigram.score_sequence` does, and set the matrix; returns the unit of M.

    ``unit`` is what it returned for the sequence before, or NaN: one matrix for all tokens is set once.
    """
    score_sequence(task, i, chain, rule, noise, whole_rows, work)
    if len(trigrams) == 0 and len(exact) == 0:
        if stride > 0:
            return 0.0
        if np.isnan(unit):
            return set_step(work.transition, np.int64(0), sums.lattice, chain.start.shape[0])
    return unit


@kernel
def log_partitions(task, chain, rule, noise, trigrams, work, sums, free, exact, log_z):
    """Write log Z of each sequence that is NaN: see :func:`marginals`.

    ``free``: all labels may be anything, those given too. Else, where all are given, it is their score.
    """
    L, start, end = chain.start.shape[0], chain.start, chain.end
    stride, unit = stride_of(task, L, noise), np.nan
    whole_rows = reads_whole_rows(chain, rule, noise)
    for i in range(log_z.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        T, gold = stop - first, task.gold[first:stop]
        if not np.isnan(log_z[i]):
            continue
        log_z[i] = 0.0
        if T == 0:
            continue
        unit = score_tokens(task, i, chain, rule, noise, whole_rows, stride, exact, trigrams, unit, work, sums)
        n = 0
        for t in range(T):
            n += gold[t] >= 0
        if n == T and not free:
            log_z[i] = score_path(work.emission, work.transition, stride, trigrams, start, end, gold, T, L)
            continue
        if not free:
            clamp(gold, L, work.emission)
        log_z[i] = _forward(work, stride, trigrams, start, end, noise, exact, unit, sums, T, L)


@kernel
def marginals(task, chain, rule, noise, trigrams, work, sums, out, exact, log_z):
    """Marginals and log Z, under a chain's weights, of each sequence whose log Z is NaN.

    Writes ``out`` (N * L,) and ``log_z`` (n,), float64; log Z is -inf if constraints leave no labelling.
    Empty sequences have log Z = 0.
    """
    L = chain.start.shape[0]
    C, row, add = L * L, sums.row, sums.add
    stride, unit = stride_of(task, L, noise), np.nan
    whole_rows = reads_whole_rows(chain, rule, noise)
    for i in range(log_z.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        T = stop - first
        if not np.isnan(log_z[i]):
            continue
        log_z[i] = 0.0
        if T == 0:
            continue
        unit = score_tokens(task, i, chain, rule, noise, whole_rows, stride, exact, trigrams, unit, work, sums)
        z = sum_labellings(
            work, stride, trigrams, chain.start, chain.end, noise, exact, unit, sums, T, L
        )
        log_z[i] = z
        alpha, beta = work.score[0], sums.beta
        for t in range(T):
            # at_t is Z in theory; at scores of any size the marginals then sum to 1.
            if len(trigrams) == 0 and len(exact) == 0:
                at_t = 0.0
                for y in range(L):
                    at_t += beta[t * L + y]
                for y in range(L):
                    out[(first + t) * L + y] = beta[t * L + y] / at_t
                continue
            for y in range(L):
                if len(trigrams) > 0:
                    previous = L if t > 0 else 1
                    for p in range(previous):
                        row[p] = alpha[t * C + p * L + y] + beta[t * C + p * L + y]
                    add[y] = log_sum(row, previous)
                else:
                    add[y] = alpha[t * L + y] + beta[t * L + y]
            at_t = log_sum(add, L)
            for y in range(L):
                out[(first + t) * L + y] = 0.0 if z == -np.inf else np.exp(add[y] - at_t)
