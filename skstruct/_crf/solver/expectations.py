"""Expectations of a whole corpus: the inner loop of batch training.

The same sums as `skstruct._chain.forward_backward`, arranged for speed:

* Sequences of about equal length form a group, and arrays hold label × token ×
  sequence. Every inner loop runs over the sequences of a group, so it vectorises
  whatever the number of labels.
* Probabilities instead of logarithms, scaled at each token (Rabiner 1989): the
  recursions multiply and add. One ``exp`` per token and label, and one per pair of
  labels.
* Transitions are a sparse matrix (:class:`.corpus_sums.ExpTransitions`).

Nothing over- or underflows unnoticed. Each sequence's mass is summed forwards and
backwards; where the two differ it is left to :func:`.sequence_sums.sum_alone`. Numbers
below e^-708 become 0 in both passes. They matter only if what follows is worth as much
more after them as after what was kept; then the scale of a token, or the sum of what
follows it (``total`` in :func:`_backward`), leaves the range from 1 / LARGEST to
LARGEST, and the sequence is left to logarithms too.

Letters: T tokens, L labels, t token, y label, p previous label, q the first of the
``n_lanes`` sequences of a group, W the room for them, l one of them, P places of a
label (tokens × sequences).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._chain.forward_backward import exp_all
from ..._core.compile import inline, inline_fused, kernel
from .corpus_sums import advance_each, count_steps, dot, width_of
from .emissions import add_expected, sum_emissions
from .sequence_sums import sum_alone

if TYPE_CHECKING:
    from .corpus_sums import (
        Corpus,
        ExpConditioned,
        ExpectedCounts,
        ExpTransitions,
        Lanes,
        Sequences,
    )
    from .sequence_sums import Alone

LARGEST = 1e100
"""Largest scale of a token, and largest sum of what follows it in the same unit."""


@inline_fused
def _advance(
    a: np.ndarray,
    at: int,
    P: int,
    transitions: ExpTransitions,
    side: int,
    total: np.ndarray,
    out: np.ndarray,
    to: int,
    W: int,
) -> None:
    """``out[y] = Σ_p a[p] M[p, y]`` for W sequences (side 1: M transposed).

    ``total`` (W,) must be Σ_p a[p]. ``a`` is read from ``at`` on, and ``out`` written
    from ``to`` on; labels are P numbers apart.
    """
    other = transitions.other[side]
    value = transitions.value[side]
    for y in range(transitions.cost.shape[0]):
        o = np.uint64(to + y * P)
        base = transitions.base[side, y]
        for l in range(np.uint64(W)):
            out[o + l] = base * total[l]
        for k in range(transitions.first[side, y], transitions.first[side, y + 1], 4):
            v0 = value[k]
            v1 = value[k + 1]
            v2 = value[k + 2]
            v3 = value[k + 3]
            i0 = np.uint64(at + other[k] * P)
            i1 = np.uint64(at + other[k + 1] * P)
            i2 = np.uint64(at + other[k + 2] * P)
            i3 = np.uint64(at + other[k + 3] * P)
            for l in range(np.uint64(W)):
                out[o + l] += (
                    a[i0 + l] * v0 + a[i1 + l] * v1 + a[i2 + l] * v2 + a[i3 + l] * v3
                )


@inline_fused
def _exp_emissions(x: np.ndarray, n: int, P: int, L: int, lanes: Lanes) -> None:
    """top = max_y x, x = exp(x - top) at n places."""
    top = lanes.top
    m = np.uint64(n)
    for j in range(m):
        top[j] = x[j]
    for y in range(1, L):
        o = np.uint64(y * P)
        for j in range(m):
            top[j] = max(top[j], x[o + j])
    for y in range(L):
        o = np.uint64(y * P)
        for j in range(m):
            x[o + j] -= top[j]
        exp_all(x[o : o + m], m, lanes.scratch, lanes.bits)


@inline_fused
def _forward(
    sequences: Sequences,
    q: int,
    n_lanes: int,
    transitions: ExpTransitions,
    conditioned: ExpConditioned | tuple[()],
    lanes: Lanes,
    T: int,
    W: int,
    P: int,
) -> None:
    """a[y, t] = x[y, t] Σ_p a[p, t-1] M[p, y] / scale[t], so that Σ_y a[y, t] = 1."""
    L = transitions.cost.shape[0]
    x = lanes.x
    a = lanes.a
    one = lanes.scratch  # what a[p, t-1] add up to
    side = np.int64(0)  # a literal would have the helper compiled for it alone
    for l in range(W):
        one[l] = 1.0
    for t in range(T):
        at = t * W
        if t == 0:
            for y in range(L):
                for l in range(W):
                    a[y * P + l] = 1.0
        elif len(conditioned) > 0:
            advance_each(sequences, q, n_lanes, conditioned, side, t, lanes, P, W)
        else:
            _advance(a, at - W, P, transitions, side, one, a, at, W)
        scale = lanes.inverse[at : at + W]
        for l in range(W):
            scale[l] = 0.0
        for y in range(L):
            o = np.uint64(y * P + at)
            for l in range(np.uint64(W)):
                v = a[o + l] * x[o + l]
                a[o + l] = v
                scale[l] += v
        for l in range(W):
            v = 1.0 / scale[l]
            scale[l] = v if 1.0 / LARGEST < v < LARGEST else np.nan
        for y in range(L):
            o = np.uint64(y * P + at)
            for l in range(np.uint64(W)):
                a[o + l] *= scale[l]


@inline_fused
def _backward(
    sequences: Sequences,
    q: int,
    n_lanes: int,
    transitions: ExpTransitions,
    conditioned: ExpConditioned | tuple[()],
    lanes: Lanes,
    T: int,
    W: int,
    P: int,
) -> None:
    """b[y, t] = p(y_t = y), and x[y, t] such that p(p, y) = a[p, t-1] M[p, y] x[y, t].

    With the scales of the forward pass Σ_y a b = 1 at every token. b is reset to 1
    where a sequence ends; entries after its end are undefined.
    """
    L = transitions.cost.shape[0]
    x = lanes.x
    a = lanes.a
    b = lanes.b
    total = lanes.scratch
    token = sequences.token
    side = np.int64(1)
    for y in range(L):
        for l in range(W):
            b[y * P + (T - 1) * W + l] = 1.0
    for t in range(T - 1, -1, -1):
        at = t * W
        for l in range(n_lanes - 1, -1, -1):
            length = token[q + l + 1] - token[q + l]
            if length > t + 1:
                break
            if length == t + 1:
                for y in range(L):
                    b[y * P + at + l] = 1.0
        scale = lanes.inverse[at : at + W]
        for l in range(W):
            total[l] = 0.0
        for y in range(L):
            o = np.uint64(y * P + at)
            for l in range(np.uint64(W)):
                v = b[o + l]
                s = x[o + l] * v * scale[l]
                x[o + l] = s
                total[l] += s
                b[o + l] = v * a[o + l]
        for l in range(W):
            scale[l] = scale[l] if total[l] < LARGEST else np.nan
        if t > 0:
            if len(conditioned) > 0:
                advance_each(sequences, q, n_lanes, conditioned, side, t, lanes, P, W)
            else:
                _advance(x, at, P, transitions, side, total, b, at - W, W)


@inline
def _add_log_z(
    sequences: Sequences,
    q: int,
    n_lanes: int,
    transitions: ExpTransitions,
    lanes: Lanes,
    T: int,
    W: int,
    P: int,
    by_itself: np.ndarray,
) -> float:
    """Σ weight log Z of a group.

    Multiplies b and x by the weights of the sequences, and sets what must not count to
    0.

    A sequence whose forward and backward mass differ, or with a scale that is NaN, is
    left out, and noted in ``by_itself``.
    """
    L = transitions.cost.shape[0]
    x = lanes.x
    a = lanes.a
    b = lanes.b
    total = 0.0
    for l in range(W):
        length = 0
        factor = 0.0
        if l < n_lanes:
            length = sequences.token[q + l + 1] - sequences.token[q + l]
            mass = 0.0
            for y in range(L):
                mass += b[y * P + l]
            log_z = (length - 1) * transitions.shift
            product = (
                1.0  # of scales: a logarithm costs more than all the rest of a token
            )
            for t in range(length):
                log_z += lanes.top[t * W + l]
                product *= lanes.inverse[t * W + l]
                if product > LARGEST or product < 1.0 / LARGEST:
                    log_z -= np.log(product)
                    product = 1.0
            log_z -= np.log(product)
            if length > 0 and abs(mass - 1.0) < 1e-7 and not np.isnan(product):
                factor = sequences.weight[q + l]
                total += factor * log_z
            else:
                by_itself[q + l] = length > 0
                length = 0
        for y in range(L):
            if factor != 1.0:
                for t in range(length):
                    b[y * P + t * W + l] *= factor
                    x[y * P + t * W + l] *= factor
            x[y * P + l] = 0.0
            for t in range(length, T):
                x[y * P + t * W + l] = 0.0
                a[y * P + t * W + l] = 0.0
                b[y * P + t * W + l] = 0.0
    return total


@inline
def _sum_group(
    sequences: Sequences,
    q: int,
    n_lanes: int,
    transitions: ExpTransitions,
    conditioned: ExpConditioned | tuple[()],
    lanes: Lanes,
    T: int,
    W: int,
    P: int,
    counts: ExpectedCounts,
    by_itself: np.ndarray,
) -> float:
    """Σ weight log Z of a group whose emissions are in ``lanes.x``; b = its marginals
    times weights, and the expected transitions are counted.
    """
    a = lanes.a
    x = lanes.x
    _exp_emissions(x, T * W, P, transitions.cost.shape[0], lanes)
    _forward(sequences, q, n_lanes, transitions, conditioned, lanes, T, W, P)
    _backward(sequences, q, n_lanes, transitions, conditioned, lanes, T, W, P)
    total = _add_log_z(sequences, q, n_lanes, transitions, lanes, T, W, P, by_itself)
    if len(conditioned) > 0:
        count_steps(sequences, q, n_lanes, conditioned, lanes, P, W, counts)
    else:
        for k in range(transitions.label_pair.shape[0]):
            counts.transition[k] += dot(
                a,
                transitions.label_pair[k, 0] * P,
                x,
                transitions.label_pair[k, 1] * P + W,
                (T - 1) * W,
            )
    return total


@kernel
def expect(
    corpus: Corpus,
    begin: int,
    end: int,
    weights: np.ndarray,
    transitions: ExpTransitions,
    conditioned: ExpConditioned | tuple[()],
    clamped: bool,
    square: bool,
    lanes: Lanes,
    counts: ExpectedCounts,
    by_itself: np.ndarray,
    alone: Alone | tuple[()],
) -> float:
    """Add up log Z and expectations over the groups ``begin <= k < end``.

    Parameters
    ----------
    corpus : Corpus
    weights : (K,) float64
        Those that ``corpus`` lists.
    transitions : ExpTransitions
    conditioned : ExpConditioned, or an empty tuple
        Transitions that look at the input. Without them what is for them is not
        compiled.
    clamped : bool
        Sum over the labellings that agree with gold, without costs, instead of over
        all.
    square : bool
        Of the features of ``corpus``, add up p (1 - p) instead of p: what each token
        adds to the diagonal of the Hessian.
    lanes : Lanes
        With room for these groups.
    counts : ExpectedCounts
        ``transition`` is (Q,) and receives Σ weight E[pair count] / exp(transition -
        shift): the caller multiplies once by what all tokens share. With
        ``conditioned``, or ``alone``, it is (L * L,) and receives Σ weight E[pair
        count].
    by_itself : (S,) bool
        True of sequences that are not summed in a group: very long ones, and, set here,
        those whose scaled probabilities fail. Without ``alone`` they are left out.
    alone : Alone, or an empty tuple
        With it groups must be single sequences, and only those in ``by_itself`` are
        summed.

    Returns
    -------
    total : float
        Σ weight log Z.
    """
    total = 0.0
    x = lanes.x
    padded = lanes.padded
    sequences = corpus.sequences
    for group in range(begin, end):
        q = sequences.group[group]
        n_lanes = sequences.group[group + 1] - q
        T = sequences.token[q + 1] - sequences.token[q]
        if T == 0 or by_itself[q] != (len(alone) > 0):
            continue
        W = width_of(n_lanes)
        P = (T | 1) * W  # odd: places a power of two apart would share cache lines
        sum_emissions(
            corpus, q, n_lanes, W, P, weights, transitions, clamped, x, padded
        )
        if len(alone) > 0:
            total += sum_alone(corpus, q, alone, lanes, T, P, counts)
        else:
            total += _sum_group(
                sequences,
                q,
                n_lanes,
                transitions,
                conditioned,
                lanes,
                T,
                W,
                P,
                counts,
                by_itself,
            )
        add_expected(corpus, q, n_lanes, W, P, square, lanes, counts)
    return total
