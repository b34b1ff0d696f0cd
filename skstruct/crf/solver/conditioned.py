"""Passes over a corpus whose transitions look at the input: each token has a matrix of its own.

The inner loops of :mod:`.expectations` run over the sequences of a group; here, where these do not share a
matrix, they run over labels.

Letters: as in :mod:`.expectations`.
"""

from typing import NamedTuple

import numpy as np

from ...core.compile import inline, inline_any_order
from .corpus_sums import Occurrences, spread


class ExpConditioned(NamedTuple):
    """Transitions that look at the input: exp of those into a token is ``matrix`` times what it has."""

    of_token: Occurrences  # combinations; the label of a weight is p * L + y
    value: np.ndarray  # (M,) float64: exp(weight)
    matrix: np.ndarray  # (L * L,) float64: exp(transition - shift) of pairs of labels


def exp_conditioned(edges, weights, matrix):
    """The :class:`ExpConditioned` of ``edges`` (Occurrences) with ``weights`` (M,); empty without any.

    ``matrix`` (L, L): exp(transition - shift).
    """
    if edges.lists.start.shape[0] == 1:
        return ()
    with np.errstate(over="ignore"):  # sequences with such weights are left to logarithms
        return ExpConditioned(edges, np.exp(weights), matrix.ravel())


@inline_any_order
def dot(x, i, y, j, n):
    """Σ_k x[i + k] y[j + k]."""
    total = 0.0
    i, j = np.uint64(i), np.uint64(j)
    for k in range(np.uint64(n)):
        total += x[i + k] * y[j + k]
    return total


@inline
def _set_step(edges, token, step):
    """step[p * L + y] = M[p, y] into a token, with the transitions that look at the input."""
    of_token, lists = edges.of_token, edges.of_token.lists
    for k in range(step.shape[0]):
        step[k] = edges.matrix[k]
    for e in range(lists.start[token], lists.start[token + 1]):
        f = lists.item[e]
        for k in range(of_token.first[f], of_token.first[f + 1]):
            step[of_token.label[k]] *= edges.value[k]


@inline
def advance_each(sequences, q, n_lanes, edges, side, t, lattice, P, W):
    """``expectations._advance`` where each token has a matrix of its own; one sequence after the other."""
    a, b, x, row, step = lattice.a, lattice.b, lattice.x, lattice.row, lattice.step
    L = row.shape[0]
    for l in range(n_lanes):
        token, at = sequences.token[q + l] + t, t * W + l
        if token >= sequences.token[q + l + 1]:
            continue
        _set_step(edges, token, step)
        for y in range(L):
            row[y] = x[y * P + at] if side else 0.0
        for p in range(L):
            before = p * P + at - W
            if side:
                b[before] = dot(step, p * L, row, 0, L)
            else:
                v, o = a[before], np.uint64(p * L)
                for y in range(np.uint64(L)):
                    row[y] += v * step[o + y]
        for y in range(0 if side else L):
            a[y * P + at] = row[y]


@inline
def count_steps(sequences, q, n_lanes, edges, lattice, P, W, counts):
    """Add the expected transitions of a group, where each token has a matrix of its own."""
    a, x, row, step = lattice.a, lattice.x, lattice.row, lattice.step
    L = row.shape[0]
    for l in range(n_lanes):
        first = sequences.token[q + l]
        for t in range(1, sequences.token[q + l + 1] - first):
            at = t * W + l
            _set_step(edges, first + t, step)
            for y in range(L):
                row[y] = x[y * P + at]
            for p in range(L):
                v, o = a[p * P + at - W], np.uint64(p * L)
                for y in range(np.uint64(L)):
                    step[o + y] *= v * row[y]
                    counts.transition[o + y] += step[o + y]
            spread(edges.of_token, first + t, step, False, counts.conditioned)
            spread(counts.whole_edges, first + t, step, False, counts.of_edges)
