"""log Z and expectations of one sequence, for stochastic gradient descent.

By :mod:`skstruct.chain.lattice`, not by the kernels of :mod:`.expectations`: their inner loops run over many
sequences at once, and would have length 1 here. The matrix of transitions is dense: weights change with every
sequence, and listing those that are not zero would cost more than it saves.

Letters: T tokens, L labels, t token, y label, p previous label; ``s`` is an :class:`.Sgd`.
"""

import numpy as np

from ...chain.lattice import backward, forward, log_expect, log_forward
from ...core.compile import inline
from .token_features import features_of


@inline
def set_emissions(features, token, T, L, s):
    """emission[t, y] = Σ x λ, with the λ of the sequence in ``s.trial``."""
    first, label, place, values, emission = features.first, features.label, s.place, s.trial, s.emission
    for k in range(T * L):
        emission[k] = 0.0
    for t in range(T):
        begin, end, feature, value = features_of(
            features.start, features.feature, features.value, features.dense, token, t, T,
            s.row_feature, s.row_value,
        )  # fmt: skip
        for e in range(begin, end):
            f = feature[e]
            at = place[f] - first[f]
            x = value[e] if value.shape[0] > 0 else 1.0
            for k in range(first[f], first[f + 1]):
                emission[np.uint64(t * L + label[k])] += x * values[np.uint64(at + k)]


@inline
def _scaled_forward(s, potentials, T, L):
    start, end, stride = potentials.start, potentials.end, np.int64(0)
    return forward(s.emission, s.transition, stride, start, end, (), s, s.scratch, T, L)


@inline
def log_partition(s, potentials, T, L):
    """log Z at the weights tried."""
    z = _scaled_forward(s, potentials, T, L)
    if z < np.inf:
        return z
    start, end, stride = potentials.start, potentials.end, np.int64(0)
    return log_forward(s.emission, s.transition, stride, start, end, s.alpha, s.scratch, T, L)


@inline
def expect_sequence(s, potentials, sign, with_fallback, T, L):
    """log Z; s.beta = marginals of the labels; s.both += sign * expected pairs of labels.

    NaN where scaling fails, if ``with_fallback`` is empty: logarithms are then not compiled.
    """
    x, alpha, beta = s.x, s.alpha, s.beta
    z = _scaled_forward(s, potentials, T, L)
    if -np.inf < z < np.inf and backward(s.transition, np.int64(0), (), s, s.scratch, T, L):
        for t in range(1, T):
            for p in range(L):
                v = sign * alpha[(t - 1) * L + p]
                i, j = np.uint64(p * L), np.uint64(t * L)
                for y in range(np.uint64(L)):
                    s.both[i + y] += v * s.matrix[0, i + y] * x[j + y]
        return z
    z = np.nan
    if len(with_fallback) > 0:
        z = log_expect(
            s.emission, s.transition, np.int64(0), potentials.start, potentials.end, alpha, beta, s.scratch,
            sign, s.both, T, L,
        )  # fmt: skip
    return z


@inline
def set_transitions(potentials, pair, at, L, s):
    """Scores of transitions and their exponentials, from the weights ``s.trial[at:]``."""
    values = s.trial
    for p in range(L):
        for y in range(L):
            s.transition[p * L + y] = potentials.transition[p, y]
    for k in range(pair.shape[0]):
        s.transition[pair[k, 0] * L + pair[k, 1]] += values[at + k]
    for p in range(L):
        for y in range(L):
            v = np.exp(s.transition[p * L + y])
            s.matrix[0, p * L + y] = v
            s.matrix[1, y * L + p] = v
