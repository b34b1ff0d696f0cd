"""Sums of one sequence by itself: with inner loops over labels, and with logarithms, right for every input.

For very long sequences, which have no others beside them for inner loops to run over, and for those whose
sums :mod:`.expectations` cannot represent.

Letters: as in :mod:`.expectations`.
"""

from typing import NamedTuple

import numpy as np

from ...chain.lattice import Lattice, backward, forward, log_expect, new_lattice, set_step
from ...core.compile import inline
from .corpus_sums import LONGEST, Occurrences, Potentials, spread


class Exactly(NamedTuple):
    """Scores as logarithms, and scratch for sequences of up to T tokens."""

    potentials: Potentials
    edges: Occurrences  # transitions that look at the input; without any ``start`` has one element
    edge_weight: np.ndarray  # (M,) float64
    emission: np.ndarray  # (T * L,) float64
    lattice: Lattice
    transition: np.ndarray  # (L * L,) or, with transitions that look at the input, (T * L * L,) float64


def exactly(potentials, edges, edge_weight, T):
    """The :class:`Exactly` for sequences of up to T tokens."""
    L = potentials.cost.shape[0]
    steps = T if edges.start.shape[0] > 1 else 1
    return Exactly(
        potentials, edges, edge_weight, np.zeros(T * L), new_lattice(T, L), np.zeros(steps * L * L)
    )


@inline
def _score_steps(exact, first, T, L):
    """Fill ``exact.transition`` for the T tokens from ``first`` on; returns its stride, 0 for one matrix."""
    edges, transition, n = exact.edges, exact.transition, L * L
    stride = n if edges.start.shape[0] > 1 else 0
    for t in range(T if stride > 0 else 1):
        for p in range(L):
            for y in range(L):
                transition[t * n + p * L + y] = exact.potentials.transition[p, y]
        if stride > 0 and t > 0:
            for e in range(edges.start[first + t], edges.start[first + t + 1]):
                f = edges.feature[e]
                for k in range(edges.first[f], edges.first[f + 1]):
                    transition[t * n + edges.label[k]] += exact.edge_weight[k]
    return stride


@inline
def _sum_scaled(exact, both, factor, T, L):
    """log Z of a sequence whose tokens share one matrix; NaN if scaled probabilities do not do.

    Writes its marginals to ``exact.lattice.beta``; ``both`` += ``factor`` times the expected pairs of labels.
    """
    lattice, start, end = exact.lattice, exact.potentials.start, exact.potentials.end
    emission, transition, stride = exact.emission, exact.transition, np.int64(0)
    alpha, x, matrix = lattice.alpha, lattice.x, lattice.matrix
    unit = set_step(transition, 0, lattice, L)
    z = forward(emission, transition, stride, start, end, (), lattice, lattice.inverse, T, L)
    if not -np.inf < z < np.inf or not backward(transition, stride, (), lattice, lattice.inverse, T, L):
        return np.nan
    for t in range(1, T):
        j = np.uint64(t * L)
        for p in range(L):
            v, i = factor * alpha[(t - 1) * L + p], np.uint64(p * L)
            for y in range(np.uint64(L)):
                both[i + y] += v * matrix[0, i + y] * x[j + y]
    return z + (T - 1) * unit


@inline
def sum_alone(corpus, i, exact, lattice, T, P, counts):
    """weight log Z of sequence i, a group of its own whose emissions are in ``lattice.x``.

    Writes its marginals, times its weight, to ``lattice.b``, and adds up the expected transitions;
    ``counts.transition`` is (L * L,).
    """
    L, first, factor = lattice.row.shape[0], corpus.token[i], corpus.weight[i]
    edges, emission, transition, beta = exact.edges, exact.emission, exact.transition, exact.lattice.beta
    stride = _score_steps(exact, first, T, L)
    for t in range(T):
        for y in range(L):
            emission[t * L + y] = lattice.x[y * P + t]
    z = np.nan
    if stride == 0 and T > LONGEST:  # others have been tried
        z = _sum_scaled(exact, counts.transition, factor, T, L)
    if np.isnan(z):
        z = log_expect(
            emission, transition, stride, exact.potentials.start, exact.potentials.end,
            exact.lattice.alpha, beta, lattice.row, factor, counts.transition, T, L,
        )  # fmt: skip
    for t in range(T):
        for y in range(L):
            lattice.b[y * P + t] = factor * beta[t * L + y]
        if stride > 0 and t > 0:
            step = transition[t * stride :]
            spread(edges, first + t, 1.0, step, counts.conditioned)
            if counts.of_edges.shape[0] > 0:
                spread(counts.whole_edges, first + t, 1.0, step, counts.of_edges)
    return factor * z
