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

With α and x as :func:`~skstruct._chain.forward_backward.backward` leaves them, the
probability of a pair of labels is p(y_{t-1} = p, y_t = y) = α[t-1, p] M[p, y] x[t, y].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

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


Switch: TypeAlias = tuple[()] | tuple[int]
"""A truth value that kernels are compiled for: numba leaves out what the length of an
empty tuple rules out.
"""
NO: Switch = ()
YES: Switch = (1,)


class Scores(NamedTuple):
    """The log-scores of one sequence of up to T tokens, and scratch."""

    emission: np.ndarray  # (T * L,) float64
    # (L * L,) or, if tokens have matrices of their own, (T * L * L,) float64
    transition: np.ndarray
    lattice: Lattice


def new_scores(T: int, L: int, n_matrices: int = 1) -> Scores:
    """Make room for sequences of up to T tokens, with ``n_matrices`` matrices of
    transitions: 1 for all tokens, or T.
    """
    return Scores(np.zeros(T * L), np.zeros(n_matrices * L * L), new_lattice(T, L))


@inline
def _scaled_forward(s: Scores, potentials: Potentials, T: int, L: int) -> float:
    """log Z by scaled probabilities where all tokens share one matrix, which is set;
    NaN if doubles cannot hold what counts.
    """
    start = potentials.start
    end = potentials.end
    stride = np.int64(0)
    inverse = s.lattice.inverse
    return forward(
        s.emission, s.transition, stride, start, end, (), s.lattice, inverse, T, L
    )


@inline
def _expect_scaled(
    s: Scores,
    potentials: Potentials,
    factor: float,
    expected_pairs: np.ndarray,
    T: int,
    L: int,
) -> float:
    """log Z where all tokens share one matrix, which is set.

    NaN if scaled probabilities do not do. ``s.lattice.beta`` = marginals of the labels;
    ``expected_pairs`` (L * L,) += ``factor`` Σ_t p(y_{t-1}, y_t).
    """
    lattice = s.lattice
    stride = np.int64(0)
    alpha = lattice.alpha
    x = lattice.x
    matrix = lattice.matrix
    log_z = _scaled_forward(s, potentials, T, L)
    if not -np.inf < log_z < np.inf or not backward(
        s.transition, stride, (), lattice, lattice.inverse, T, L
    ):
        return np.nan
    for t in range(1, T):
        j = np.uint64(t * L)
        for p in range(L):
            v = factor * alpha[(t - 1) * L + p]
            i = np.uint64(p * L)
            for y in range(np.uint64(L)):
                expected_pairs[i + y] += v * matrix[0, i + y] * x[j + y]
    return log_z


@inline
def _expect_exactly(
    s: Scores,
    stride: int,
    potentials: Potentials,
    factor: float,
    expected_pairs: np.ndarray,
    T: int,
    L: int,
) -> float:
    """log Z by logarithms, with a matrix for each ``stride`` numbers.

    ``s.lattice.beta`` = marginals of the labels; ``expected_pairs`` (L * L,) +=
    ``factor`` Σ_t p(y_{t-1}, y_t). See ``_chain.forward_backward.log_expect``.
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
        expected_pairs,
        T,
        L,
    )


# --------------------------------------------------------------------------------------
# Stochastic gradient descent
# --------------------------------------------------------------------------------------
@inline
def log_partition(s: Scores, potentials: Potentials, T: int, L: int) -> float:
    """log Z, by scaled probabilities, or by logarithms where these overflow."""
    log_z = _scaled_forward(s, potentials, T, L)
    if log_z < np.inf:
        return log_z
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
    with_fallback: Switch,
    T: int,
    L: int,
) -> float:
    """log Z; ``sgd.scores.lattice.beta`` = marginals of the labels;
    ``sgd.expected_pairs`` += ``sign`` Σ_t p(y_{t-1}, y_t).

    NaN where scaled probabilities fail, unless ``with_fallback`` logarithms take over.
    """
    log_z = _expect_scaled(sgd.scores, potentials, sign, sgd.expected_pairs, T, L)
    if len(with_fallback) > 0:
        if np.isnan(log_z):
            log_z = _expect_exactly(
                sgd.scores, np.int64(0), potentials, sign, sgd.expected_pairs, T, L
            )
    return log_z


@inline
def set_emissions(features: Occurrences, token: int, T: int, L: int, sgd: Sgd) -> None:
    """emission[t, y] = Σ x λ for the T tokens from ``token`` on, with the λ of the
    sequence in ``sgd.trial``.
    """
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
            offset = sgd.place[f] - first[f]
            x = value[e] if value.shape[0] > 0 else 1.0
            for k in range(first[f], first[f + 1]):
                emission[np.uint64(t * L + label[k])] += (
                    x * sgd.trial[np.uint64(offset + k)]
                )


@inline
def set_transitions(
    potentials: Potentials, label_pair: np.ndarray, n_states: int, L: int, sgd: Sgd
) -> None:
    """Scores of transitions and their exponentials, from the weights of pairs of labels
    ``sgd.trial[n_states:]``, which stand behind those of features.
    """
    transition = sgd.scores.transition
    matrix = sgd.scores.lattice.matrix
    for p in range(L):
        for y in range(L):
            transition[p * L + y] = potentials.transition[p, y]
    for k in range(label_pair.shape[0]):
        transition[label_pair[k, 0] * L + label_pair[k, 1]] += sgd.trial[n_states + k]
    for p in range(L):
        for y in range(L):
            v = np.exp(transition[p * L + y])
            matrix[0, p * L + y] = v
            matrix[1, y * L + p] = v


# --------------------------------------------------------------------------------------
# Passes over a corpus
# --------------------------------------------------------------------------------------
class Alone(NamedTuple):
    """What sequences that are summed each by itself are scored by, and scratch.

    They are very long ones, and those whose sums in a group failed.
    """

    potentials: Potentials
    # transitions that look at the input, with M weights; without any, the lists have
    # one ``start``
    conditioned: Occurrences
    conditioned_weights: np.ndarray  # (M,) float64
    scores: Scores


def new_alone(
    potentials: Potentials,
    conditioned: Occurrences,
    conditioned_weights: np.ndarray,
    T: int,
) -> Alone:
    """Make what sequences of up to T tokens are scored by, each by itself."""
    n_matrices = T if conditioned.lists.start.shape[0] > 1 else 1
    return Alone(
        potentials,
        conditioned,
        conditioned_weights,
        new_scores(T, potentials.cost.shape[0], n_matrices),
    )


@inline
def _score_steps(alone: Alone, first: int, T: int, L: int) -> int:
    """Fill ``transition`` for the T tokens from ``first`` on; returns its stride, 0 for
    one matrix.
    """
    conditioned = alone.conditioned
    lists = alone.conditioned.lists
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
                for k in range(conditioned.first[f], conditioned.first[f + 1]):
                    transition[t * n + conditioned.label[k]] += (
                        alone.conditioned_weights[k]
                    )
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
    """weight log Z of sequence i of T tokens, whose emissions are in ``lanes.x``: token
    t, label y at ``y * P + t``.

    Writes its marginals, times its weight, to the same places of ``lanes.b``, and adds
    up the expected transitions; ``counts.transition`` is (L * L,).
    """
    L = lanes.row.shape[0]  # of labels
    first = corpus.sequences.token[i]
    factor = corpus.sequences.weight[i]
    s = alone.scores
    potentials = alone.potentials
    stride = _score_steps(alone, first, T, L)
    for t in range(T):
        for y in range(L):
            s.emission[t * L + y] = lanes.x[y * P + t]
    log_z = np.nan
    # Shorter sequences are here because their scaled probabilities failed in a group.
    if stride == 0 and T > corpus.sequences.longest:
        top = set_step(s.transition, 0, s.lattice, L)
        log_z = (
            _expect_scaled(s, potentials, factor, counts.transition, T, L)
            + (T - 1) * top
        )
    if np.isnan(log_z):
        log_z = _expect_exactly(s, stride, potentials, factor, counts.transition, T, L)
    for t in range(T):
        for y in range(L):
            lanes.b[y * P + t] = factor * s.lattice.beta[t * L + y]
        if stride > 0 and t > 0:
            step = s.transition[t * stride :]
            spread(alone.conditioned, first + t, step, False, counts.conditioned)
            spread(
                counts.all_conditioned,
                first + t,
                step,
                False,
                counts.of_all_conditioned,
            )
    return factor * log_z
