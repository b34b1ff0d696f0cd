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

from ..core.compile import inline, kernel
from ..data.inputs import flatten, lengths_of, offsets_of
from ..training.chunks import map_chunks
from .bigram import forbid, reads_whole_rows, score_sequence, stride_of
from .chain_epoch import prediction_arguments
from .chain_model import task_of
from .lattice import log_sum, set_step
from .sums import new_sums, score_tokens, sum_exactly_too, sum_labellings


class Segments(NamedTuple):
    """Segments of n sequences, and how labels make them."""

    first: np.ndarray  # (n + 1,) int64: first segment of each sequence
    start: np.ndarray  # (S,) int64
    stop: np.ndarray  # (S,) int64
    kind: np.ndarray  # (S,) int64: type
    of_label: np.ndarray  # (L,) int64: the type of the segments that a label opens; -1: it is in none
    joins: np.ndarray  # (L, L) bool: whether a label continues the segment of the label before it
    fixed: np.ndarray  # (N,) bool: whether a segment starts at the token whatever its label


class SegmentWork(NamedTuple):
    """Scratch; C cells a token."""

    cell: np.ndarray  # (2 * C,) float64: v, at two tokens in turn
    row: np.ndarray  # (L,) float64
    exit: np.ndarray  # (C,) float64


def new_segment_work(L, order):
    """Scratch for segments of any length."""
    return SegmentWork(np.empty(2 * L**order), np.empty(L), np.empty(L**order))


# --------------------------------------------------------------------------------------------------
# First order
# --------------------------------------------------------------------------------------------------
@inline
def _prepare(work, z, exact, sums, T, L):
    """Turn ``sums.lattice`` into α, M, x and, in place of the marginals, r: see :func:`_probability`.

    Where sums are logarithms the chain is that of p(y_t|y_{t-1}, x), as probabilities are always within range.
    """
    lattice, log_alpha = sums.lattice, work.score[0]
    for k in range(T * L):
        if len(exact) > 0:
            lattice.alpha[k] = np.exp(log_alpha[k] + sums.beta[k] - z)
            lattice.x[k] = 1.0
        else:
            y = lattice.beta[k]
            lattice.beta[k] = lattice.x[k] * lattice.alpha[k] / y if y > 0.0 else 0.0


@inline
def _set_matrix(t, work, stride, edges, exact, sums, L):
    """M of the token t."""
    at, behind, matrix = t * stride, sums.beta, sums.lattice.matrix
    if len(exact) > 0:
        for p in range(L):
            before = behind[(t - 1) * L + p]
            for y in range(L):
                step = work.transition[at + p * L + y] + work.emission[t * L + y] + behind[t * L + y]
                matrix[0, p * L + y] = np.exp(step - before) if before > -np.inf else 0.0
    elif len(edges) > 0:
        if stride > 0:
            set_step(work.transition, at, sums.lattice, L)


@inline
def _probability(segments, k, first, T, work, stride, edges, exact, sums, scratch, L):
    """The share of the labellings of one sequence in which segment k stands.

    In the scaled lattice α_t(y) = r_t(y) Σ_p α_{t-1}(p) M(p, y), and v_t goes the same way over fewer steps;
    p(p, y) = α_{t-1}(p) M(p, y) x_t(y) leads out of it.
    """
    alpha, x, matrix, cell = sums.lattice.alpha, sums.lattice.x, sums.lattice.matrix[0], scratch.cell
    r = x if len(exact) > 0 else sums.lattice.beta
    s, e = segments.start[k], segments.stop[k]
    before, now = L, 0
    for t in range(s, e):
        before, now = now, before
        if t > 0:
            _set_matrix(t, work, stride, edges, exact, sums, L)
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
        _set_matrix(e, work, stride, edges, exact, sums, L)
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
def _leave_pairs(segments, e, first, T, work, stride, trigrams, end, beta, cell, scratch, L):
    """The log-sum over what begins with the prefixes ``cell`` and leaves the segment at e."""
    row, last = scratch.row, scratch.exit
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
def _log_sum_of_segment_of_pairs(segments, k, first, T, work, stride, trigrams, end, beta, scratch, L):
    """The same as :func:`_log_sum_of_segment`."""
    C, cell = L * L, scratch.cell
    _enter_pairs(segments, k, first, work.score[0], cell[:C], L)
    before, now = C, 0
    for t in range(segments.start[k] + 1, segments.stop[k]):
        before, now = now, before
        _stay_pairs(
            segments, t, first, work, stride, trigrams,
            cell[before : before + C], cell[now : now + C], scratch.row, L,
        )  # fmt: skip
    return _leave_pairs(
        segments, segments.stop[k], first, T, work, stride, trigrams, end, beta,
        cell[now : now + C], scratch, L,
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Corpora
# --------------------------------------------------------------------------------------------------
@kernel
def segment_probabilities(
    task, chain, rule, noise, trigrams, work, sums, segments, scratch, out, exact, log_z
):  # fmt: skip
    """Write ``out`` (S,), and log Z of each sequence that is NaN, as :func:`.sums.marginals` does."""
    L = chain.start.shape[0]
    stride, unit = stride_of(task, L, noise), np.nan
    whole_rows = reads_whole_rows(chain, rule, noise)
    for i in range(log_z.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        T = stop - first
        if not np.isnan(log_z[i]):
            continue
        log_z[i] = 0.0
        if T == 0:
            continue
        unit = score_tokens(task, i, chain, rule, noise, whole_rows, stride, exact, trigrams, unit, work, sums)
        forbid(task.option, first, T, L, work.emission)
        z = sum_labellings(work, stride, trigrams, chain.start, chain.end, noise, exact, unit, sums, T, L)
        log_z[i] = z
        if len(trigrams) == 0 and z > -np.inf:
            _prepare(work, z, exact, sums, T, L)
        for k in range(segments.first[i], segments.first[i + 1]):
            if len(trigrams) > 0:
                p = np.exp(
                    _log_sum_of_segment_of_pairs(
                        segments, k, first, T, work, stride, trigrams, chain.end, sums.beta, scratch, L
                    ) - z
                )  # fmt: skip
            else:
                p = _probability(segments, k, first, T, work, stride, noise, exact, sums, scratch, L)
            out[k] = min(p, 1.0)


def probabilities(model, corpus, spans, of_label, joins, fixed=None, options=None, n_jobs=None):
    """Probabilities of segments of raw sequences.

    Parameters
    ----------
    model : ChainModel
        Its scores are log-probabilities up to a constant.
    corpus : Corpus
    spans : list of lists of (start, stop, kind)
        For each sequence, ``0 <= start < stop <= T``; kinds as in ``of_label``.
    of_label, joins : ndarray
        See :class:`Segments`.
    fixed : ndarray of shape (N,), bool, optional
        Where a segment starts whatever the labels.
    options : ndarray of shape (N, L), bool, optional
        Labels allowed for each token; probabilities are those among the labellings allowed.
    n_jobs : int, optional

    Returns
    -------
    probabilities : ndarray of shape (S,)
    log_z : ndarray of shape (n,)
        -inf where no labelling is left.
    """
    L = len(model.labels)
    model.encoder.check(corpus)
    where = offsets_of(lengths_of(spans))
    flat = np.array(flatten(spans), np.int64).reshape(-1, 3)

    def work(bounds):
        first, last, begin, end = bounds
        option = None if options is None else options[begin:end]
        task = task_of(model.encoder, corpus.piece(first, last), option=option)
        mine = flat[where[first] : where[last]]
        known = np.zeros(end - begin, np.bool_) if fixed is None else fixed[begin:end]
        columns = (np.ascontiguousarray(column) for column in mine.T)
        segments = Segments(where[first : last + 1] - where[first], *columns, of_label, joins, known)
        out, log_z = np.empty(mine.shape[0]), np.empty(last - first)
        sum_exactly_too(
            segment_probabilities, log_z,
            *prediction_arguments(task, model.ready.chain), new_sums(task.token, L, model.order), segments,
            new_segment_work(L, model.order), out,
        )  # fmt: skip
        return out, log_z

    parts = map_chunks(work, corpus.offsets, n_jobs)
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
