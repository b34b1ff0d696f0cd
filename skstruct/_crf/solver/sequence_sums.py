"""log Z and expectations of one sequence by itself.

The recursions are those of :mod:`skstruct._chain.forward_backward`.

For stochastic gradient descent; and in passes over a corpus for very long sequences,
and for those whose sums :mod:`.expectations` cannot represent. The inner loops of that
module run over many sequences at once, and would have length 1 here: those of scaled
probabilities run over labels, and logarithms are right for every input. The matrix of
transitions is dense: in stage one weights change with every sequence, and listing those
that are not zero would cost more than it saves.

Letters: T tokens, L labels, t token, y label, p previous label; ``s`` is
:class:`Scores`, ``sgd`` an :class:`.Sgd`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._chain.forward_backward import (
    Lattice,
    backward,
    forward,
    log_expect,
    log_forward,
    new_lattice,
    set_step,
)
from ..._core.compile import inline
from .corpus_sums import Occurrences, Potentials, spread
from .token_features import features_of

if TYPE_CHECKING:
    from .corpus_sums import Corpus, ExpectedCounts, Lanes
    from .sgd import Sgd


class Scores(NamedTuple):
    """The log-scores of one sequence of up to T tokens, and scratch."""

    emission: np.ndarray  # (T * L,) float64
    # (L * L,) or, if tokens have matrices of their own, (T * L * L,) float64
    transition: np.ndarray
    lattice: Lattice


def new_scores(T: int, L: int, n_matrices: int = 1) -> Scores:
    """Make room for sequences of up to T tokens."""
    return Scores(np.zeros(T * L), np.zeros(n_matrices * L * L), new_lattice(T, L))


@inline
def _scaled_forward(s: Scores, potentials: Potentials, T: int, L: int) -> float:
    start = potentials.start
    end = potentials.end
    stride = np.int64(0)
    inverse = s.lattice.inverse
    return forward(
        s.emission, s.transition, stride, start, end, (), s.lattice, inverse, T, L
    )


@inline
def _expect_scaled(
    s: Scores, potentials: Potentials, factor: float, both: np.ndarray, T: int, L: int
) -> float:
    """log Z where all tokens share one matrix, which is set.

    NaN if scaled probabilities do not do. ``s.lattice.beta`` = marginals of the labels;
    ``both`` += ``factor`` times the expected pairs of labels.
    """
    lattice = s.lattice
    stride = np.int64(0)
    alpha = lattice.alpha
    x = lattice.x
    matrix = lattice.matrix
    z = _scaled_forward(s, potentials, T, L)
    if not -np.inf < z < np.inf or not backward(
        s.transition, stride, (), lattice, lattice.inverse, T, L
    ):
        return np.nan
    for t in range(1, T):
        j = np.uint64(t * L)
        for p in range(L):
            v = factor * alpha[(t - 1) * L + p]
            i = np.uint64(p * L)
            for y in range(np.uint64(L)):
                both[i + y] += v * matrix[0, i + y] * x[j + y]
    return z


@inline
def _expect_exactly(
    s: Scores,
    stride: int,
    potentials: Potentials,
    factor: float,
    both: np.ndarray,
    T: int,
    L: int,
) -> float:
    """log Z by logarithms, with a matrix for each ``stride`` numbers.

    ``s.lattice.beta`` = marginals of the labels; ``both`` += ``factor`` times the
    expected pairs of labels. See ``_chain.forward_backward.log_expect``.
    """
    start = potentials.start
    end = potentials.end
    lattice = s.lattice
    return log_expect(
        s.emission,
        s.transition,
        stride,
        start,
        end,
        lattice.alpha,
        lattice.beta,
        lattice.scratch,
        factor,
        both,
        T,
        L,
    )


# --------------------------------------------------------------------------------------
# Stochastic gradient descent
# --------------------------------------------------------------------------------------
@inline
def log_partition(s: Scores, potentials: Potentials, T: int, L: int) -> float:
    """log Z, by scaled probabilities, or by logarithms where these overflow."""
    z = _scaled_forward(s, potentials, T, L)
    if z < np.inf:
        return z
    start = potentials.start
    end = potentials.end
    stride = np.int64(0)
    lattice = s.lattice
    return log_forward(
        s.emission,
        s.transition,
        stride,
        start,
        end,
        lattice.alpha,
        lattice.scratch,
        T,
        L,
    )


@inline
def expect_sequence(
    sgd: Sgd,
    potentials: Potentials,
    sign: float,
    with_fallback: tuple[int, ...],
    T: int,
    L: int,
) -> float:
    """log Z; ``beta`` = marginals; ``sgd.both`` += sign * expected pairs of labels.

    NaN where scaling fails, if ``with_fallback`` is empty: logarithms are then not
    compiled.
    """
    z = _expect_scaled(sgd.scores, potentials, sign, sgd.both, T, L)
    if len(with_fallback) > 0:
        if np.isnan(z):
            z = _expect_exactly(
                sgd.scores, np.int64(0), potentials, sign, sgd.both, T, L
            )
    return z


@inline
def set_emissions(features: Occurrences, token: int, T: int, L: int, sgd: Sgd) -> None:
    """emission[t, y] = Σ x λ, with the λ of the sequence in ``sgd.trial``."""
    lists = features.lists
    first = features.first
    label = features.label
    emission = sgd.scores.emission
    for k in range(T * L):
        emission[k] = 0.0
    for t in range(T):
        begin, end, feature, value = features_of(lists, lists.dense, token, t, T)
        for e in range(begin, end):
            f = feature[e]
            at = sgd.place[f] - first[f]
            x = value[e] if value.shape[0] > 0 else 1.0
            for k in range(first[f], first[f + 1]):
                emission[np.uint64(t * L + label[k])] += (
                    x * sgd.trial[np.uint64(at + k)]
                )


@inline
def set_transitions(
    potentials: Potentials, pair: np.ndarray, at: int, L: int, sgd: Sgd
) -> None:
    """Scores of transitions and their exponentials, from the weights
    ``sgd.trial[at:]``.
    """
    transition = sgd.scores.transition
    matrix = sgd.scores.lattice.matrix
    for p in range(L):
        for y in range(L):
            transition[p * L + y] = potentials.transition[p, y]
    for k in range(pair.shape[0]):
        transition[pair[k, 0] * L + pair[k, 1]] += sgd.trial[at + k]
    for p in range(L):
        for y in range(L):
            v = np.exp(transition[p * L + y])
            matrix[0, p * L + y] = v
            matrix[1, y * L + p] = v


# --------------------------------------------------------------------------------------
# Passes over a corpus
# --------------------------------------------------------------------------------------
class Alone(NamedTuple):
    """What sequences by themselves are scored by, as logarithms, and scratch."""

    potentials: Potentials
    # transitions that look at the input; without any ``start`` has one element
    edges: Occurrences
    edge_weight: np.ndarray  # (M,) float64
    scores: Scores


def new_alone(
    potentials: Potentials, edges: Occurrences, edge_weight: np.ndarray, T: int
) -> Alone:
    """Make what sequences of up to T tokens are scored by."""
    n_matrices = T if edges.lists.start.shape[0] > 1 else 1
    return Alone(
        potentials,
        edges,
        edge_weight,
        new_scores(T, potentials.cost.shape[0], n_matrices),
    )


@inline
def _score_steps(alone: Alone, first: int, T: int, L: int) -> int:
    """Fill ``transition`` for the T tokens from ``first`` on; returns its stride, 0 for
    one matrix.
    """
    edges = alone.edges
    lists = alone.edges.lists
    transition = alone.scores.transition
    n = L * L
    stride = n if lists.start.shape[0] > 1 else 0
    for t in range(T if stride > 0 else 1):
        for p in range(L):
            for y in range(L):
                transition[t * n + p * L + y] = alone.potentials.transition[p, y]
        if stride > 0 and t > 0:
            for e in range(lists.start[first + t], lists.start[first + t + 1]):
                f = lists.item[e]
                for k in range(edges.first[f], edges.first[f + 1]):
                    transition[t * n + edges.label[k]] += alone.edge_weight[k]
    return stride


@inline
def sum_alone(
    corpus: Corpus,
    i: int,
    alone: Alone,
    lanes: Lanes,
    T: int,
    P: int,
    counts: ExpectedCounts,
) -> float:
    """weight log Z of sequence i, a group of its own whose emissions are in
    ``lanes.x``.

    Writes its marginals, times its weight, to ``lanes.b``, and adds up the expected
    transitions; ``counts.transition`` is (L * L,).
    """
    L = lanes.row.shape[0]
    first = corpus.sequences.token[i]
    factor = corpus.sequences.weight[i]
    s = alone.scores
    potentials = alone.potentials
    stride = _score_steps(alone, first, T, L)
    for t in range(T):
        for y in range(L):
            s.emission[t * L + y] = lanes.x[y * P + t]
    z = np.nan
    if stride == 0 and T > corpus.sequences.longest:  # others have been tried
        unit = set_step(s.transition, 0, s.lattice, L)
        z = (
            _expect_scaled(s, potentials, factor, counts.transition, T, L)
            + (T - 1) * unit
        )
    if np.isnan(z):
        z = _expect_exactly(s, stride, potentials, factor, counts.transition, T, L)
    for t in range(T):
        for y in range(L):
            lanes.b[y * P + t] = factor * s.lattice.beta[t * L + y]
        if stride > 0 and t > 0:
            step = s.transition[t * stride :]
            spread(alone.edges, first + t, step, False, counts.conditioned)
            spread(counts.whole_edges, first + t, step, False, counts.of_edges)
    return factor * z
