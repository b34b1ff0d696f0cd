"""log Z and expectations of one sequence, for stochastic gradient descent.

Scaled probabilities as in :mod:`.expectations`, but not by its kernels: their inner loops run over many
sequences at once, and would have length 1 here. These run over labels. The matrix of transitions is dense:
weights change with every sequence, and listing those that are not zero would cost more than it saves. Where
scaling fails, logarithms take over (:func:`.chain.marginals.sum_labellings`).

Letters: T tokens, L labels, t token, y label, p previous label; ``s`` is an :class:`.Sgd`.
"""

import numpy as np

from ...chain.marginals import sum_labellings
from ...core.compile import inline
from .expectations import exp_all
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
def _multiply(a, at, matrix, out, to, L):
    """out[y] = Σ_p a[p] matrix[p, y]."""
    o = np.uint64(to)
    for y in range(np.uint64(L)):
        out[o + y] = 0.0
    p = 0
    while p + 4 <= L:
        v0, v1, v2, v3 = a[at + p], a[at + p + 1], a[at + p + 2], a[at + p + 3]
        i0, n = np.uint64(p * L), np.uint64(L)
        i1, i2, i3 = i0 + n, i0 + n + n, i0 + n + n + n
        for y in range(n):
            out[o + y] += (
                v0 * matrix[i0 + y] + v1 * matrix[i1 + y] + v2 * matrix[i2 + y] + v3 * matrix[i3 + y]
            )
        p += 4
    while p < L:
        v0, i0 = a[at + p], np.uint64(p * L)
        for y in range(np.uint64(L)):
            out[o + y] += v0 * matrix[i0 + y]
        p += 1


@inline
def _scaled_forward(s, potentials, T, L):
    """log Z, by scaled probabilities: fills s.x, s.alpha (sums to 1 at each token).

    -inf if it cannot be represented (or is -inf). ``s.scratch[t]`` then holds each token's scale.
    """
    log_z = 0.0
    x, alpha, emission = s.x, s.alpha, s.emission
    for t in range(T):
        top = emission[t * L]
        for y in range(1, L):
            top = max(top, emission[t * L + y])
        for y in range(L):
            x[t * L + y] = emission[t * L + y] - top
        log_z += top
    exp_all(x, np.uint64(T * L), s.scratch, s.bits)
    for y in range(L):
        if potentials.start[y] != 0.0:
            x[y] = 0.0
        if potentials.end[y] != 0.0:
            x[(T - 1) * L + y] = 0.0
    matrix = s.matrix[0]
    for t in range(T):
        if t == 0:
            for y in range(L):
                alpha[y] = 1.0
        else:
            _multiply(alpha, (t - 1) * L, matrix, alpha, t * L, L)
        total = 0.0
        for y in range(L):
            v = alpha[t * L + y] * x[t * L + y]
            alpha[t * L + y] = v
            total += v
        if not total > 1e-200:
            return -np.inf
        log_z += np.log(total)
        s.scratch[t] = 1.0 / total
        for y in range(L):
            alpha[t * L + y] *= s.scratch[t]
    return log_z


@inline
def log_partition(s, potentials, T, L):
    """log Z at the weights tried; ``s.x`` and ``s.alpha`` are void if it had to use logarithms."""
    z = _scaled_forward(s, potentials, T, L)
    if z == -np.inf:
        z = sum_labellings(
            s.emission, s.transition, 0, potentials.start, potentials.end,
            s.alpha, s.beta, s.scratch, T, L,
        )  # fmt: skip
    return z


@inline
def expect_sequence(s, potentials, sign, with_fallback, T, L):
    """log Z; s.beta = marginals of the labels; s.both += sign * expected pairs of labels.

    NaN where scaling fails, if ``with_fallback`` is empty: logarithms are then not compiled.
    """
    z = _scaled_forward(s, potentials, T, L)
    x, alpha, beta = s.x, s.alpha, s.beta
    mass = 0.0
    if z > -np.inf:
        for y in range(L):
            beta[(T - 1) * L + y] = 1.0
        for t in range(T - 1, -1, -1):
            for y in range(L):
                v = beta[t * L + y]
                x[t * L + y] *= v * s.scratch[t]
                beta[t * L + y] = v * alpha[t * L + y]
            if t > 0:
                _multiply(x, t * L, s.matrix[1], beta, (t - 1) * L, L)
        for y in range(L):
            mass += beta[y]
    if abs(mass - 1.0) < 1e-7:
        for t in range(1, T):
            for p in range(L):
                v = sign * alpha[(t - 1) * L + p]
                i, j = np.uint64(p * L), np.uint64(t * L)
                for y in range(np.uint64(L)):
                    s.both[i + y] += v * s.matrix[0, i + y] * x[j + y]
        return z
    z = np.nan
    if len(with_fallback) > 0:
        emission, transition = s.emission, s.transition
        z = sum_labellings(
            emission, transition, 0, potentials.start, potentials.end, alpha, beta, s.scratch, T, L
        )
        for t in range(1, T):
            for p in range(L):
                for y in range(L):
                    s.both[p * L + y] += sign * np.exp(
                        alpha[(t - 1) * L + p] + transition[p * L + y] + emission[t * L + y]
                        + beta[t * L + y] - z
                    )  # fmt: skip
        for k in range(T * L):
            beta[k] = np.exp(alpha[k] + beta[k] - z)
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


@inline
def gold_score(s, gold, T, L):
    """The score of labels that are all given."""
    score = s.emission[gold[0]]
    for t in range(1, T):
        score += s.emission[t * L + gold[t]] + s.transition[gold[t - 1] * L + gold[t]]
    return score
