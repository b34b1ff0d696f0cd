"""Expectations with logarithms, sequence by sequence: right for every input.

For the sequences that :mod:`.expectations` cannot represent.

Letters: as in :mod:`.corpus`.
"""

from typing import NamedTuple

import numpy as np

from ...chain.marginals import sum_labellings
from ...chain.visit import cost_of
from ...chain.viterbi import differs
from ...core.compile import inline, kernel
from .corpus_sums import LAST, row_width, spread


class LogLattice(NamedTuple):
    """Scratch of one thread for sequences of up to T tokens."""

    emission: np.ndarray  # (T * L,) float64
    transition: np.ndarray  # (L * L,) or (T * L * L,) float64
    alpha: np.ndarray  # (T * L,) float64: log-sums over prefixes
    beta: np.ndarray  # (T * L,) float64: log-sums over suffixes
    row: np.ndarray  # (L,) float64


def new_log_lattice(T, L, conditioned):
    """Scratch for :func:`expect_exactly`; ``conditioned``: each token has its own transitions."""
    return LogLattice(
        np.zeros(T * L), np.zeros((T if conditioned else 1) * L * L),
        np.zeros(T * L), np.zeros(T * L), np.zeros(L),
    )  # fmt: skip


@inline
def _score_tokens(corpus, edges, first, T, weight, edge_weight, potentials, clamped, lattice):
    """Fill ``lattice.emission`` and ``lattice.transition`` for the T tokens from ``first`` on."""
    L = potentials.cost.shape[0]
    conditioned = edges.start.shape[0] > 1
    stride = L * L if conditioned else 0
    emission, transition = lattice.emission, lattice.transition
    for k in range(T * L):
        emission[k] = 0.0
    for t in range(T if conditioned else 1):
        for p in range(L):
            for y in range(L):
                transition[t * stride + p * L + y] = potentials.transition[p, y]
    for t in range(T):
        for e in range(corpus.start[first + t], corpus.start[first + t + 1]):
            k = corpus.entry[e]
            x = corpus.value[e] if corpus.value.shape[0] > 0 else 1.0
            emission[t * L + corpus.label[k]] += x * weight[k]
        for e in range(corpus.run_start[first + t], corpus.run_start[first + t + 1]):
            k, y = corpus.run[e], 0
            x = corpus.run_value[e] if corpus.run_value.shape[0] > 0 else 1.0
            while y < LAST:
                y = corpus.run_label[k]
                emission[t * L + y % LAST] += x * weight[k]
                k += 1
        if corpus.row_start.shape[0] > 1:
            for e in range(corpus.row_start[first + t], corpus.row_start[first + t + 1]):
                x = corpus.row_value[e] if corpus.row_value.shape[0] > 0 else 1.0
                for y in range(L):
                    emission[t * L + y] += x * corpus.table[corpus.row[e] * row_width(L) + y]
        if conditioned and t > 0:
            for e in range(edges.start[first + t], edges.start[first + t + 1]):
                f = edges.feature[e]
                for k in range(edges.first[f], edges.first[f + 1]):
                    transition[t * stride + edges.label[k]] += edge_weight[k]
        g = corpus.gold[first + t]
        missing = -np.inf if clamped else cost_of(g, corpus.sets, potentials.cost)
        if g != -1:
            for y in range(L):
                if differs(y, g, corpus.sets):
                    emission[t * L + y] += missing


@inline
def _count_token(corpus, token, factor, square, row, counts):
    """Add the expected counts of a token's features, given its marginals ``row`` (L,)."""
    gradient = counts.feature
    if counts.of_pairs.shape[0] > 0:
        spread(counts.whole, token, factor, row, counts.of_pairs)
    for e in range(corpus.start[token], corpus.start[token + 1]):
        k = corpus.entry[e]
        x = corpus.value[e] if corpus.value.shape[0] > 0 else 1.0
        q = row[corpus.label[k]]
        gradient[k] += factor * (x * x * q * (1.0 - q) if square else x * q)
    for e in range(corpus.run_start[token], corpus.run_start[token + 1]):
        k, y = corpus.run[e], 0
        x = corpus.run_value[e] if corpus.run_value.shape[0] > 0 else 1.0
        while y < LAST:
            y = corpus.run_label[k]
            q = row[y % LAST]
            gradient[k] += factor * (x * x * q * (1.0 - q) if square else x * q)
            k += 1
    if corpus.row_start.shape[0] > 1:
        for e in range(corpus.row_start[token], corpus.row_start[token + 1]):
            x = corpus.row_value[e] if corpus.row_value.shape[0] > 0 else 1.0
            for y in range(row.shape[0]):
                q = row[y]
                counts.of_rows[corpus.row[e] * row_width(row.shape[0]) + y] += factor * (
                    x * x * q * (1.0 - q) if square else x * q
                )


@kernel
def expect_exactly(
    corpus, edges, which, weight, edge_weight, potentials, clamped, square, lattice, counts
):  # fmt: skip
    """Add up log Z and expectations over the sequences ``which``.

    Parameters
    ----------
    corpus : Corpus
    edges : Occurrences
        Weights of transitions; without any that look at the input ``start`` has one element.
    which : (n,) int64
    weight, edge_weight : float64
        Of labels, and of transitions.
    potentials : Potentials
    clamped : bool
        Sum over the labellings that agree with gold, without costs, instead of over all.
    square : bool
        Of features, add up p (1 - p) instead of p.
    lattice : LogLattice
    counts : ExpectedCounts
        ``transition`` is (L * L,).

    Returns
    -------
    total : float
        Σ weight log Z.
    """
    L = potentials.cost.shape[0]
    conditioned = edges.start.shape[0] > 1
    stride = L * L if conditioned else 0
    emission, transition = lattice.emission, lattice.transition
    alpha, beta, row = lattice.alpha, lattice.beta, lattice.row
    total = 0.0
    for i in which:
        first = corpus.token[i]
        T = corpus.token[i + 1] - first
        if T == 0:
            continue
        _score_tokens(corpus, edges, first, T, weight, edge_weight, potentials, clamped, lattice)
        z = sum_labellings(
            emission, transition, stride, potentials.start, potentials.end, alpha, beta, row, T, L
        )
        factor = corpus.weight[i]
        total += factor * z
        for t in range(T):
            for y in range(L):
                row[y] = np.exp(alpha[t * L + y] + beta[t * L + y] - z)
            _count_token(corpus, first + t, factor, square, row, counts)
            for p in range(L if t > 0 else 0):
                for y in range(L):
                    at = p * L + y
                    both = np.exp(
                        alpha[(t - 1) * L + p] + transition[t * stride + at]
                        + emission[t * L + y] + beta[t * L + y] - z
                    )  # fmt: skip
                    both *= factor
                    counts.transition[at] += both
                    if conditioned:  # no longer needed as a score
                        transition[t * stride + at] = both
            if conditioned and t > 0:
                for e in range(edges.start[first + t], edges.start[first + t + 1]):
                    f = edges.feature[e]
                    for k in range(edges.first[f], edges.first[f + 1]):
                        counts.conditioned[k] += transition[t * stride + edges.label[k]]
    return total
