"""Sums over all labellings of one chain: log Z, marginals, expectations.

With the scores of :mod:`.bigram`,

    Z(x) = Σ_y exp score(y),   p(y|x) = exp score(y) / Z(x),

and the forward-backward recursions (Lafferty, McCallum and Pereira 2001; equation 6 of
the two-stage paper and the paragraph above it) give log Z, p(y_t|x) and p(y_{t-1},
y_t|x). They stand here twice:

* :func:`forward` and :func:`backward` multiply and add probabilities, scaled at each
  token (Rabiner 1989), with one ``exp`` per token and label. Inner loops run over
  labels: a sequence needs no others beside it to be fast, and its sums depend on no
  others. Where doubles cannot hold what counts they say so.
* :func:`log_forward` and :func:`log_backward` add logarithms and subtract the largest
  term of each sum: right for every input, twenty times slower, and for those sequences
  alone.

What is lost where doubles underflow: a sum over previous labels that is at least TINY
has lost nothing that a double shows, since a term that became 0 was below 1e-323. So
each sum must be as large, or have no term: constraints or labels given may have taken
them all (:func:`_lost`).

Training on a whole corpus has a version with inner loops over sequences:
`skstruct._crf.solver.expectations`.

Labels that are given restrict the sum to the labellings that agree with them: log Z of
the clamped chain minus log Z of the free one is the log-probability of a partial
labelling.

Letters: T tokens, L labels, t token, y label, p previous label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.compile import inline, inline_fused, spliced
from .viterbi import differs

if TYPE_CHECKING:
    from .bigram import Empty, General

TINY = 1e-290
"""Sums of probabilities below this may have lost terms."""

NEGLIGIBLE = 45.0
"""Terms of a sum whose logarithm is by more than this below the largest are left out:
e^-45 is 3e-20.
"""


class Lattice(NamedTuple):
    """Scratch for sequences of up to T tokens, in a matrix of transitions M."""

    x: np.ndarray  # (T * L,) float64: exp(emission), then what x becomes in `backward`
    alpha: np.ndarray  # (T * L,) float64: forward, sums to 1 at each token
    beta: np.ndarray  # (T * L,) float64: backward, then marginals
    inverse: np.ndarray  # (T,) float64: 1 / scale of each token
    scratch: np.ndarray  # (max(T, L) * L,) float64
    bits: np.ndarray  # (max(T, L) * L,) int64: the same memory
    matrix: np.ndarray  # (2, L * L) float64: M = exp(transition - top); transposed


def new_lattice(T: int, L: int) -> Lattice:
    """Make scratch for sequences of up to T tokens and L labels."""
    scratch = np.empty(max(T, L) * L)
    return Lattice(
        x=np.empty(T * L),
        alpha=np.empty(T * L),
        beta=np.empty(T * L),
        inverse=np.empty(T),
        scratch=scratch,
        bits=scratch.view(np.int64),
        matrix=np.empty((2, L * L)),
    )


# Not in any order: `exp_all` rounds by adding and subtracting.
@inline_fused
def exp_all(x: np.ndarray, n: int, scratch: np.ndarray, bits: np.ndarray) -> None:
    """``x = exp(x)`` for n numbers <= 0; ``scratch`` and ``bits`` (n,) are the same
    memory.

    exp(x) = 2^k exp(r), k = round(x / log 2): a polynomial for exp(r), |r| <= log(2) /
    2; adding 1.5 * 2^52 leaves k in the low bits of a double, and a shift makes it the
    exponent. Relative error below 1e-14, 0 below -708. A loop over this vectorises, one
    over ``np.exp`` does not.
    """
    for j in range(n):
        z = max(x[j], -708.0)
        shifted = z * 1.4426950408889634 + 6755399441055744.0
        scratch[j] = shifted
        k = shifted - 6755399441055744.0
        r = z - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10
        p = 2.7557319223985893e-6 + r * (
            2.755731922398589e-7 + r * 2.505210838544172e-8
        )
        p = 1.9841269841269841e-4 + r * (2.4801587301587302e-5 + r * p)
        p = 4.1666666666666664e-2 + r * (
            8.3333333333333332e-3 + r * (1.3888888888888889e-3 + r * p)
        )
        p = 1.0 + r * (1.0 + r * (0.5 + r * (1.6666666666666666e-1 + r * p)))
        x[j] = p if x[j] >= -708.0 else 0.0
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(n):
        x[j] *= scratch[j]


# --------------------------------------------------------------------------------------
# Scaled probabilities
# --------------------------------------------------------------------------------------
@inline
def set_step(transition: np.ndarray, at: int, lattice: Lattice, L: int) -> float:
    """Set M of the scores ``transition[at:]``; returns their largest, or NaN if one is
    NaN.
    """
    matrix = lattice.matrix
    top = transition[at]
    right = True
    for k in range(L * L):
        top = max(top, transition[at + k])
    for k in range(L * L):
        right &= transition[at + k] <= top
        matrix[0, k] = transition[at + k] - top
    exp_all(matrix[0], np.uint64(L * L), lattice.scratch, lattice.bits)
    for p in range(L):
        for y in range(L):
            matrix[1, y * L + p] = matrix[0, p * L + y]
    return top if right else np.nan


@inline
def _multiply(
    a: np.ndarray, at: int, matrix: np.ndarray, out: np.ndarray, to: int, L: int
) -> None:
    """Set ``out[to + y] = Σ_p a[at + p] matrix[p, y]``."""
    o = np.uint64(to)
    for y in range(np.uint64(L)):
        out[o + y] = 0.0
    p = 0
    while p + 4 <= L:
        v0 = a[at + p]
        v1 = a[at + p + 1]
        v2 = a[at + p + 2]
        v3 = a[at + p + 3]
        i0 = np.uint64(p * L)
        n = np.uint64(L)
        i1 = i0 + n
        i2 = i0 + n + n
        i3 = i0 + n + n + n
        for y in range(n):
            out[o + y] += (
                v0 * matrix[i0 + y]
                + v1 * matrix[i1 + y]
                + v2 * matrix[i2 + y]
                + v3 * matrix[i3 + y]
            )
        p += 4
    while p < L:
        v0 = a[at + p]
        i0 = np.uint64(p * L)
        for y in range(np.uint64(L)):
            out[o + y] += v0 * matrix[i0 + y]
        p += 1


@inline
def _lost(
    emission: np.ndarray,
    transition: np.ndarray,
    step: int,
    t: int,
    lattice: Lattice,
    L: int,
) -> bool:
    """Whether a small sum at t has terms, none of which may then be lost."""
    for y in range(L):
        v = lattice.alpha[t * L + y]
        if v >= TINY or emission[t * L + y] == -np.inf:
            continue
        if v != 0.0 or lattice.x[t * L + y] == 0.0 or t == 0:  # too small, or no number
            return True
        for p in range(L):
            if (
                lattice.alpha[(t - 1) * L + p] != 0.0
                and transition[step + p * L + y] != -np.inf
            ):
                return True
    return False


@spliced
def _shift(emission: np.ndarray, x: np.ndarray, T: int, L: int) -> float:
    """Write the emissions, less the largest of each token, to ``x``; returns the sum of
    these.
    """
    total = 0.0
    for t in range(T):
        top = emission[t * L]
        for y in range(1, L):
            top = max(top, emission[t * L + y])
        for y in range(L):
            x[t * L + y] = emission[t * L + y] - top
        total += top
    return total


@inline
def forward(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    start: np.ndarray,
    end: np.ndarray,
    edges: General | Empty,
    lattice: Lattice,
    inverse: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Sum the labellings of one sequence by scaled probabilities, from left to right.

    Returns log Z; NaN if doubles cannot hold what counts. Fills ``x``, ``alpha`` and
    ``inverse``.

    ``alpha[t, y] = x[t, y] Σ_p alpha[t-1, p] M[p, y] / scale[t]``, so that Σ_y alpha[t,
    y] = 1. Labels that may not start or end the sequence get the emission -inf. M is
    set, and the caller adds its unit; only where ``edges`` are not empty tokens may
    have matrices of their own, which are set here.
    """
    x = lattice.x
    alpha = lattice.alpha
    log_z = _shift(emission, x, T, L)
    exp_all(x, np.uint64(T * L), lattice.scratch, lattice.bits)
    for y in range(L):
        if start[y] != 0.0:
            x[y] = 0.0
            emission[y] = -np.inf
        if end[y] != 0.0:
            x[(T - 1) * L + y] = 0.0
            emission[(T - 1) * L + y] = -np.inf
    # Of scales: a logarithm costs more than the rest of a token with few labels.
    product = 1.0
    for t in range(T):
        if t == 0:
            for y in range(L):
                alpha[y] = 1.0
        else:
            if len(edges) > 0:
                if stride > 0:
                    log_z += set_step(transition, t * stride, lattice, L)
            _multiply(alpha, (t - 1) * L, lattice.matrix[0], alpha, t * L, L)
        total = 0.0
        small = False
        for y in range(L):
            v = alpha[t * L + y] * x[t * L + y]
            alpha[t * L + y] = v
            total += v
            small |= not v >= TINY
        if small:
            if _lost(emission, transition, t * stride, t, lattice, L):
                return np.nan
            if total == 0.0:
                return -np.inf
        inverse[t] = 1.0 / total
        for y in range(L):
            alpha[t * L + y] *= inverse[t]
        product *= total
        if not 1e-100 < product < 1e100:
            log_z += np.log(product)
            product = 1.0
    return log_z + np.log(product)


@inline
def backward(
    transition: np.ndarray,
    stride: int,
    edges: General | Empty,
    lattice: Lattice,
    inverse: np.ndarray,
    T: int,
    L: int,
) -> bool:
    """Set beta[t, y] = p(y_t = y), and x such that p(p, y) = alpha[t-1, p] M[p, y] x[t,
    y].

    With the scales of the forward pass they sum to 1 at every token. False if what
    follows a label that none leads to overflowed: then there is no number at the first
    token either.
    """
    x = lattice.x
    alpha = lattice.alpha
    beta = lattice.beta
    mass = 0.0
    for y in range(L):
        beta[(T - 1) * L + y] = 1.0
    for t in range(T - 1, -1, -1):
        for y in range(L):
            v = beta[t * L + y]
            x[t * L + y] *= v * inverse[t]
            beta[t * L + y] = v * alpha[t * L + y]
        if t > 0:
            if len(edges) > 0:
                if stride > 0:
                    set_step(transition, t * stride, lattice, L)
            _multiply(x, t * L, lattice.matrix[1], beta, (t - 1) * L, L)
    for y in range(L):
        mass += beta[y]
    return abs(mass - 1.0) < 1e-7


# --------------------------------------------------------------------------------------
# Logarithms
# --------------------------------------------------------------------------------------
@inline
def log_sum(x: np.ndarray, n: int) -> float:
    """log Σ_k exp x[k], without the terms that change nothing; -inf if all are -inf, or
    there are none.
    """
    top = x[0] if n > 0 else -np.inf  # NaN stays what it is
    for k in range(1, n):
        top = max(top, x[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(n):
        if not x[k] < top - NEGLIGIBLE:
            total += np.exp(x[k] - top)
    return top + np.log(total)


@inline
def log_forward(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    start: np.ndarray,
    end: np.ndarray,
    alpha: np.ndarray,
    row: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Sum the labellings of one sequence by logarithms, from left to right.

    Returns log Z. Fills ``alpha`` (T * L,).

    ``α_t(y) = emission[t, y] + log Σ_p exp(α_{t-1}(p) + transition[t, p, y])``
    """
    for y in range(L):
        alpha[y] = start[y] + emission[y]
    for t in range(1, T):
        for y in range(L):
            for p in range(L):
                row[p] = alpha[(t - 1) * L + p] + transition[t * stride + p * L + y]
            alpha[t * L + y] = log_sum(row, L) + emission[t * L + y]
    for y in range(L):
        row[y] = alpha[(T - 1) * L + y] + end[y]
    return log_sum(row, L)


@inline
def log_backward(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    end: np.ndarray,
    beta: np.ndarray,
    row: np.ndarray,
    T: int,
    L: int,
) -> None:
    """Sum what may follow each label by logarithms: fills ``beta`` (T * L,).

    ``β_t(p) = log Σ_y exp(transition[t+1, p, y] + emission[t+1, y] + β_{t+1}(y))``
    """
    for y in range(L):
        beta[(T - 1) * L + y] = end[y]
    for t in range(T - 2, -1, -1):
        for p in range(L):
            at = (t + 1) * stride + p * L
            for y in range(L):
                row[y] = (
                    transition[at + y]
                    + emission[(t + 1) * L + y]
                    + beta[(t + 1) * L + y]
                )
            beta[t * L + p] = log_sum(row, L)


@inline
def log_expect(
    emission: np.ndarray,
    transition: np.ndarray,
    stride: int,
    start: np.ndarray,
    end: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    row: np.ndarray,
    factor: float,
    expected_pairs: np.ndarray,
    T: int,
    L: int,
) -> float:
    """Add ``factor`` Σ_t p(y_{t-1}, y_t) to ``expected_pairs`` (L * L,), by logarithms.

    Returns log Z; ``beta`` (T * L,) receives the marginals.

    Where tokens have matrices of their own, what was added replaces the scores in
    ``transition``.
    """
    log_z = log_forward(emission, transition, stride, start, end, alpha, row, T, L)
    log_backward(emission, transition, stride, end, beta, row, T, L)
    for t in range(1, T):
        for p in range(L):
            for y in range(L):
                at = t * stride + p * L + y
                more = (
                    alpha[(t - 1) * L + p]
                    + transition[at]
                    + emission[t * L + y]
                    + beta[t * L + y]
                )
                more = factor * np.exp(more - log_z)
                expected_pairs[p * L + y] += more
                if stride > 0:
                    transition[at] = more
    for k in range(T * L):
        beta[k] = np.exp(alpha[k] + beta[k] - log_z)
    return log_z


@inline
def clamp(
    gold: np.ndarray, sets: np.ndarray | Empty, L: int, emission: np.ndarray
) -> int:
    """Restrict a sequence to the labels given, or to one of each set given; returns how
    many tokens have no single one.
    """
    missing: Any = np.int64(0)  # an integer
    for t in range(gold.shape[0]):
        missing += gold[t] < 0
        if gold[t] != -1:
            for y in range(L):
                if differs(y, gold[t], sets):
                    emission[t * L + y] = -np.inf
    return missing
