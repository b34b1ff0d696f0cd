"""Probabilities of segments: in how much of the distribution stands exactly this chunk,
or this word?

A segment from token s to e - 1 stands in a labelling if its first label opens one of
its type, each later label continues the segment of the label before it, and the label
at e does not. Which label continues which is a relation of pairs, ``joins[p, y]``: so
the labellings in which a segment stands are the paths of a lattice with fewer steps.
Their sum is that of the prefixes up to s (α, without the steps that join), through the
steps that join up to e - 1, and on to the suffixes behind (β, without those that join):

    p = Σ_y v_{e-1}(y) exit(y) / Z

All segments with a probability of at least θ are found from each start to the right, as
long as the share of labellings in which the segment is still open at t, Σ_y v_t(y)
behind(y) / Z, is at least θ: no longer one has a larger probability.

Letters: as in :mod:`.forward_backward`; S segments, s start, e stop, v sums over
prefixes within a segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.compile import inline
from .forward_backward import log_sum, set_step

if TYPE_CHECKING:
    from .bigram import Empty
    from .forward_backward import Lattice
    from .second_order import Trigrams
    from .sums import LogSums


class Segments(NamedTuple):
    """Segments of n sequences, and how labels make them; C cells a token.

    With ``least`` above 0 what is found is written in the place of what is given, as
    far as there is room: S may be below the number found.
    """

    first: np.ndarray  # (n + 1,) int64: first segment of each sequence
    start: np.ndarray  # (S,) int64
    stop: np.ndarray  # (S,) int64
    kind: np.ndarray  # (S,) int64: type
    of_label: np.ndarray  # (L,) int64: the type that a label opens; -1: it is in none
    joins: np.ndarray  # (L, L) bool: whether a label continues the segment before it
    fixed: np.ndarray  # (N,) bool: whether a segment starts here whatever the label
    cell: np.ndarray  # (2 * C,) float64: scratch for v, at two tokens in turn
    row: np.ndarray  # (L,) float64: scratch
    exit: np.ndarray  # (C,) float64: scratch
    least: float  # if above 0, segments of at least this probability are looked for
    found: np.ndarray  # (n + 1,) int64: how many of each sequence, and of all


def new_segments(
    first: np.ndarray,
    spans: np.ndarray,
    of_label: np.ndarray,
    joins: np.ndarray,
    fixed: np.ndarray,
    order: int,
    least: float = 0.0,
) -> Segments:
    """Make :class:`Segments` of ``spans``, (S, 3) with columns start, stop and kind."""
    L = of_label.shape[0]
    start, stop, kind = (np.ascontiguousarray(column) for column in spans.T)
    return Segments(
        first - first[0],
        start,
        stop,
        kind,
        of_label,
        joins,
        fixed,
        cell=np.empty(2 * L**order),
        row=np.empty(L),
        exit=np.empty(L**order),
        least=least,
        found=np.zeros(first.shape[0], np.int64),
    )


class Summed(NamedTuple):
    """A sequence whose sums are known; C cells a token."""

    first: int  # the place of its first token in ``Segments.fixed``
    T: int
    L: int
    z: float  # log Z
    emission: np.ndarray  # (T * L,) float64
    transition: np.ndarray  # (L * L,) float64, or (T * L * L,) with a stride
    stride: int  # how far apart the transitions of neighbours are; 0: they share them
    alpha: np.ndarray  # (T * C,) float64: sums over prefixes, where they are logarithms
    end: np.ndarray  # (L,) float64: 0 or -inf


# --------------------------------------------------------------------------------------
# First order
# --------------------------------------------------------------------------------------
@inline
def prepare(
    known: Summed,
    trigrams: Trigrams | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
) -> None:
    """Turn ``lattice`` into α, M, x and, in place of the marginals, r: see
    :func:`_extend_labels`.

    Where sums are logarithms M is p(y_t|y_{t-1}, x), and r and x are 1, since exp of
    scores may overflow.
    """
    if len(trigrams) == 0:
        for k in range(known.T * known.L):
            if len(logs) > 0:
                lattice.alpha[k] = np.exp(known.alpha[k] + logs.beta[k] - known.z)
                lattice.x[k] = 1.0
            else:
                y = lattice.beta[k]
                lattice.beta[k] = (
                    lattice.x[k] * lattice.alpha[k] / y if y > 0.0 else 0.0
                )


@inline
def _set_matrix(
    t: int, known: Summed, lattice: Lattice | Empty, logs: LogSums | Empty
) -> None:
    """Set M of the token t."""
    L = known.L
    at = t * known.stride
    emission = known.emission
    transition = known.transition
    matrix = lattice.matrix
    if len(logs) > 0:
        behind = logs.beta
        for p in range(L):
            before = behind[(t - 1) * L + p]
            for y in range(L):
                step = (
                    transition[at + p * L + y] + emission[t * L + y] + behind[t * L + y]
                )
                matrix[0, p * L + y] = (
                    np.exp(step - before) if before > -np.inf else 0.0
                )
    elif known.stride > 0:
        set_step(transition, at, lattice, L)


@inline
def _joined(segments: Segments, at: int, p: int, y: int) -> bool:
    """Whether the label y of the token ``at`` continues the segment of the label p
    before it.
    """
    return segments.joins[p, y] and not segments.fixed[at]


@inline
def _extend_labels(
    segments: Segments,
    kind: int,
    s: int,
    t: int,
    known: Summed,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    before: int,
    now: int,
) -> None:
    """Write v_t of the segments that start at s to ``cell[now:]``, from v_{t-1} at
    ``cell[before:]``.

    In the scaled lattice α_t(y) = r_t(y) Σ_p α_{t-1}(p) M(p, y), and v_t goes the same
    way over fewer steps.
    """
    L = known.L
    alpha = lattice.alpha
    matrix = lattice.matrix[0]
    cell = segments.cell
    r = lattice.x if len(logs) > 0 else lattice.beta
    if t > 0:
        _set_matrix(t, known, lattice, logs)
    for y in range(L):
        if t == s and segments.of_label[y] != kind:
            cell[now + y] = 0.0
            continue
        v = alpha[y] if t == 0 else 0.0
        for p in range(L if t > 0 else 0):
            joined = _joined(segments, known.first + t, p, y)
            if joined == (t > s):
                v += (cell[before + p] if joined else alpha[(t - 1) * L + p]) * matrix[
                    p * L + y
                ]
        if t > 0:
            v *= r[t * L + y]
        cell[now + y] = v


@inline
def _leave_labels(
    segments: Segments,
    e: int,
    known: Summed,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    now: int,
) -> tuple[float, float]:
    """Return shares of the labellings: those that leave the segment at e, and all that
    have been in it so far.

    p(p, y) = α_{t-1}(p) M(p, y) x_t(y) leads out of it, or on.
    """
    T = known.T
    L = known.L
    x = lattice.x
    matrix = lattice.matrix[0]
    cell = segments.cell
    left = 0.0
    total = 0.0
    if e < T:
        _set_matrix(e, known, lattice, logs)
    for y in range(L):
        out = every = 1.0 if e == T else 0.0
        for z in range(L if e < T else 0):
            step = matrix[y * L + z] * x[e * L + z]
            every += step
            if not _joined(segments, known.first + e, y, z):
                out += step
        left += cell[now + y] * out
        total += cell[now + y] * every
    return left, total


# --------------------------------------------------------------------------------------
# Second order: the cell of the labels p, y is p * L + y, that of a first token y; v are
# logarithms
# --------------------------------------------------------------------------------------
@inline
def _extend_pairs(
    segments: Segments,
    kind: int,
    s: int,
    t: int,
    known: Summed,
    trigrams: Trigrams,
    before: int,
    now: int,
) -> None:
    """Write v_t, of pairs of labels and as logarithms: see :func:`_extend_labels`."""
    L = known.L
    alpha = known.alpha
    cell = segments.cell
    row = segments.row
    for p in range(L if t > 0 else 1):
        r = p * (L + 1)
        for y in range(L):
            joined = t > 0 and _joined(segments, known.first + t, p, y)
            v = -np.inf
            if t == s:
                if segments.of_label[y] == kind and not joined:
                    v = alpha[t * L * L + p * L + y]
            elif joined:
                if t == 1:
                    v = cell[before + p] + trigrams.score[r * L + y]
                else:
                    for a in range(L):
                        row[a] = (
                            cell[before + a * L + p]
                            + trigrams.score[(r + a + 1) * L + y]
                        )
                    v = log_sum(row, L)
                v = (
                    v
                    + known.emission[t * L + y]
                    + known.transition[t * known.stride + p * L + y]
                )
            cell[now + p * L + y] = v


@inline
def _leave_pairs(
    segments: Segments,
    e: int,
    known: Summed,
    trigrams: Trigrams,
    beta: np.ndarray,
    now: int,
) -> tuple[float, float]:
    """Return logarithms of shares of the labellings, times Z: see
    :func:`_leave_labels`.
    """
    T = known.T
    L = known.L
    row = segments.row
    last = segments.exit
    cell = segments.cell
    C = L * L
    pairs = L if e > 1 else 1
    for k in range(pairs * L):
        last[k] = cell[now + k] + beta[(e - 1) * C + k]
    total = log_sum(last, pairs * L)
    for y in range(L):
        for p in range(pairs):
            x = cell[now + p * L + y]
            if e == T:
                last[p * L + y] = x + known.end[y]
                continue
            r = y * (L + 1) + (p + 1 if e > 1 else 0)
            for z in range(L):
                step = (
                    trigrams.score[r * L + z]
                    + known.transition[e * known.stride + y * L + z]
                )
                behind = step + known.emission[e * L + z] + beta[(e * L + y) * L + z]
                joined = _joined(segments, known.first + e, y, z)
                row[z] = -np.inf if joined else behind
            last[p * L + y] = x + log_sum(row, L)
    return log_sum(last, pairs * L), total


# --------------------------------------------------------------------------------------
# Both
# --------------------------------------------------------------------------------------
@inline
def _extend(
    segments: Segments,
    kind: int,
    s: int,
    t: int,
    known: Summed,
    trigrams: Trigrams | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
) -> int:
    """Write v_t of the segments that start at s, from v_{t-1}; returns where in
    ``segments.cell``.
    """
    half = segments.cell.shape[0] // 2
    now = half * (t % 2)
    before = half * (1 - t % 2)
    if len(trigrams) > 0:
        _extend_pairs(segments, kind, s, t, known, trigrams, before, now)
    else:
        _extend_labels(segments, kind, s, t, known, lattice, logs, before, now)
    return now


@inline
def _leave(
    segments: Segments,
    e: int,
    known: Summed,
    trigrams: Trigrams | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    now: int,
) -> tuple[float, float]:
    """Return the probability of the segment that ends before e, and that of this or a
    longer one; v_{e-1} is at ``now``.
    """
    if len(trigrams) > 0:
        left, total = _leave_pairs(segments, e, known, trigrams, logs.beta, now)
        left = np.exp(left - known.z)
        total = np.exp(total - known.z)
    else:
        left, total = _leave_labels(segments, e, known, lattice, logs, now)
    return min(left, 1.0), total


@inline
def segment_probability(
    segments: Segments,
    k: int,
    known: Summed,
    trigrams: Trigrams | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
) -> float:
    """Return the probability of segment k of a sequence, for which :func:`prepare` has
    been called.
    """
    kind = segments.kind[k]
    s = segments.start[k]
    e = segments.stop[k]
    now = np.int64(0)
    for t in range(s, e):
        now = _extend(segments, kind, s, t, known, trigrams, lattice, logs)
    return _leave(segments, e, known, trigrams, lattice, logs, now)[0]


ROUNDING = 1e-9
"""Relative; sums over what is still open are wrong by less."""


@inline
def find_segments(
    segments: Segments,
    i: int,
    known: Summed,
    trigrams: Trigrams | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    out: np.ndarray,
) -> None:
    """Find the segments of sequence i that are probable enough; :func:`prepare` has
    been called.

    The places of segments and probabilities in the arrays follow those of the sequences
    before.
    """
    n = segments.found[-1]
    kinds = 0
    for y in range(known.L):
        kinds = max(kinds, segments.of_label[y] + 1)
    segments.first[i] = n
    for s in range(known.T):
        for kind in range(kinds):
            e = s
            mass = 1.0
            while e < known.T and mass >= segments.least * (1.0 - ROUNDING):
                now = _extend(segments, kind, s, e, known, trigrams, lattice, logs)
                e += 1
                p, mass = _leave(segments, e, known, trigrams, lattice, logs, now)
                if p >= segments.least:
                    if n < out.shape[0]:
                        segments.start[n] = s
                        segments.stop[n] = e
                        segments.kind[n] = kind
                        out[n] = p
                    n += 1
    segments.found[i] = n - segments.found[-1]
    segments.found[-1] = n
