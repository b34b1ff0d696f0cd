"""Probabilities of segments: in how much of the distribution stands exactly this chunk, or this word?

A segment from token s to e - 1 stands in a labelling if its first label opens one of its type, each later
label continues the segment of the label before it, and the label at e does not. Which label continues which
is a relation of pairs, ``joins[p, y]``: so the labellings in which a segment stands are the paths of a
lattice with fewer steps. Their sum is that of the prefixes up to s (α, without the steps that join),
through the steps that join up to e - 1, and on to the suffixes behind (β, without those that join):

    p = Σ_y v_{e-1}(y) exit(y) / Z

Letters: as in :mod:`.lattice`; S segments, s start, e stop, v sums over prefixes within a segment.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline
from .lattice import log_sum, set_step


class Segments(NamedTuple):
    """Segments of n sequences, and how labels make them; C cells a token."""

    first: np.ndarray  # (n + 1,) int64: first segment of each sequence
    start: np.ndarray  # (S,) int64
    stop: np.ndarray  # (S,) int64
    kind: np.ndarray  # (S,) int64: type
    of_label: np.ndarray  # (L,) int64: the type of the segments that a label opens; -1: it is in none
    joins: np.ndarray  # (L, L) bool: whether a label continues the segment of the label before it
    fixed: np.ndarray  # (N,) bool: whether a segment starts at the token whatever its label
    cell: np.ndarray  # (2 * C,) float64: scratch for v, at two tokens in turn
    row: np.ndarray  # (L,) float64: scratch
    exit: np.ndarray  # (C,) float64: scratch


def new_segments(first, spans, of_label, joins, fixed, order):
    """The :class:`Segments` of ``spans``, (S, 3) with columns start, stop and kind."""
    L, columns = of_label.shape[0], (np.ascontiguousarray(column) for column in spans.T)
    scratch = np.empty(2 * L**order), np.empty(L), np.empty(L**order)
    return Segments(first - first[0], *columns, of_label, joins, fixed, *scratch)


# --------------------------------------------------------------------------------------------------
# First order
# --------------------------------------------------------------------------------------------------
@inline
def prepare(z, work, trigrams, lattice, logs, T, L):
    """Turn ``lattice`` into α, M, x and, in place of the marginals, r: see :func:`_sum_of_segment`.

    Where sums are logarithms M is p(y_t|y_{t-1}, x), and r and x are 1, since exp of scores may overflow.
    """
    if len(trigrams) == 0:
        log_alpha = work.score[0]
        for k in range(T * L):
            if len(logs) > 0:
                lattice.alpha[k] = np.exp(log_alpha[k] + logs.beta[k] - z)
                lattice.x[k] = 1.0
            else:
                y = lattice.beta[k]
                lattice.beta[k] = lattice.x[k] * lattice.alpha[k] / y if y > 0.0 else 0.0


@inline
def _set_matrix(t, work, stride, edges, lattice, logs, L):
    """M of the token t."""
    at, matrix = t * stride, lattice.matrix
    if len(logs) > 0:
        behind = logs.beta
        for p in range(L):
            before = behind[(t - 1) * L + p]
            for y in range(L):
                step = work.transition[at + p * L + y] + work.emission[t * L + y] + behind[t * L + y]
                matrix[0, p * L + y] = np.exp(step - before) if before > -np.inf else 0.0
    elif len(edges) > 0:
        if stride > 0:
            set_step(work.transition, at, lattice, L)


@inline
def _sum_of_segment(segments, k, first, T, work, stride, edges, lattice, logs, L):
    """The share of the labellings of one sequence in which segment k stands.

    In the scaled lattice α_t(y) = r_t(y) Σ_p α_{t-1}(p) M(p, y), and v_t goes the same way over fewer steps;
    p(p, y) = α_{t-1}(p) M(p, y) x_t(y) leads out of it.
    """
    alpha, x, matrix, cell = lattice.alpha, lattice.x, lattice.matrix[0], segments.cell
    r = x if len(logs) > 0 else lattice.beta
    s, e = segments.start[k], segments.stop[k]
    before, now = L, 0
    for t in range(s, e):
        before, now = now, before
        if t > 0:
            _set_matrix(t, work, stride, edges, lattice, logs, L)
        for y in range(L):
            v = alpha[y] if t == 0 else 0.0
            for p in range(L if t > 0 else 0):
                joined = segments.joins[p, y] and not segments.fixed[first + t]
                if joined == (t > s):
                    v += (cell[before + p] if joined else alpha[(t - 1) * L + p]) * matrix[p * L + y]
            if t > 0:
                v *= r[t * L + y]
            cell[now + y] = v if t > s or segments.of_label[y] == segments.kind[k] else 0.0
    total = 0.0
    if e < T:
        _set_matrix(e, work, stride, edges, lattice, logs, L)
    for y in range(L):
        out = 1.0 if e == T else 0.0
        for z in range(L if e < T else 0):
            if segments.fixed[first + e] or not segments.joins[y, z]:
                out += matrix[y * L + z] * x[e * L + z]
        total += cell[now + y] * out
    return total


# --------------------------------------------------------------------------------------------------
# Second order: the cell of the labels p, y is p * L + y, that of a first token y
# --------------------------------------------------------------------------------------------------
@inline
def _enter_pairs(segments, k, first, alpha, cell, L):
    """Write v_s: the prefixes whose last label opens the segment."""
    s = segments.start[k]
    for y in range(L):
        opens = segments.of_label[y] == segments.kind[k]
        for p in range(L if s > 0 else 1):
            apart = s == 0 or segments.fixed[first + s] or not segments.joins[p, y]
            cell[p * L + y] = alpha[s * L * L + p * L + y] if opens and apart else -np.inf


@inline
def _stay_pairs(segments, t, first, work, stride, trigrams, before, now, row, L):
    """Write v_t to ``now``: the prefixes whose last label continues the segment."""
    for p in range(L):
        r = p * (L + 1)
        for y in range(L):
            if segments.fixed[first + t] or not segments.joins[p, y]:
                now[p * L + y] = -np.inf
                continue
            if t == 1:
                z = before[p] + trigrams.score[r * L + y]
            else:
                for a in range(L):
                    row[a] = before[a * L + p] + trigrams.score[(r + a + 1) * L + y]
                z = log_sum(row, L)
            now[p * L + y] = z + work.emission[t * L + y] + work.transition[t * stride + p * L + y]


@inline
def _leave_pairs(segments, e, first, T, work, stride, trigrams, end, beta, cell, L):
    """The log-sum over what begins with the prefixes ``cell`` and leaves the segment at e."""
    row, last = segments.row, segments.exit
    pairs = L if e > 1 else 1
    for y in range(L):
        for p in range(pairs):
            x = cell[p * L + y]
            if e == T:
                last[p * L + y] = x + end[y]
                continue
            r = y * (L + 1) + (p + 1 if e > 1 else 0)
            for z in range(L):
                apart = segments.fixed[first + e] or not segments.joins[y, z]
                step = trigrams.score[r * L + z] + work.transition[e * stride + y * L + z]
                behind = step + work.emission[e * L + z] + beta[(e * L + y) * L + z]
                row[z] = behind if apart else -np.inf
            last[p * L + y] = x + log_sum(row, L)
    return log_sum(last, pairs * L)


@inline
def _log_sum_of_pairs(segments, k, first, T, work, stride, trigrams, end, beta, L):
    """The same as :func:`_sum_of_segment`."""
    C, cell = L * L, segments.cell
    _enter_pairs(segments, k, first, work.score[0], cell[:C], L)
    before, now = C, 0
    for t in range(segments.start[k] + 1, segments.stop[k]):
        before, now = now, before
        _stay_pairs(
            segments, t, first, work, stride, trigrams,
            cell[before : before + C], cell[now : now + C], segments.row, L,
        )  # fmt: skip
    return _leave_pairs(
        segments, segments.stop[k], first, T, work, stride, trigrams, end, beta,
        cell[now : now + C], L,
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Both
# --------------------------------------------------------------------------------------------------
@inline
def segment_probability(segments, k, first, T, z, work, stride, trigrams, end, edges, lattice, logs, L):
    """The probability of segment k of a sequence that is summed up, and :func:`prepare` d."""
    if len(trigrams) > 0:
        p = np.exp(_log_sum_of_pairs(segments, k, first, T, work, stride, trigrams, end, logs.beta, L) - z)
    else:
        p = _sum_of_segment(segments, k, first, T, work, stride, edges, lattice, logs, L)
    return min(p, 1.0)
