"""Probabilities of segments: in how much of the distribution stands exactly this chunk, or this word?

A segment from token s to e - 1 stands in a labelling if its first label opens one of its type, each later
label continues the segment of the label before it, and the label at e does not. Which label continues which
is a relation of pairs, ``joins[p, y]``: so the labellings in which a segment stands are the paths of a
lattice with fewer steps. Their log-sum is that of the prefixes up to s (α, without the steps that join),
through the steps that join up to e - 1, and on to the suffixes behind (β, without those that join):

    log p = log Σ_y exp(v_{e-1}(y) + exit(y)) - log Z

Letters: as in :mod:`.marginals`; S segments, s start, e stop, v log-sums over prefixes within a segment.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel
from ..data.inputs import flatten, lengths_of, offsets_of
from ..training.chunks import map_chunks
from .bigram import forbid, reads_whole_rows, score_sequence, stride_of
from .chain_epoch import prediction_arguments
from .chain_model import task_of
from .marginals import log_sum
from .sums import new_sums, sum_labellings


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
def _log_sum_of_segment(segments, k, first, T, work, stride, end, beta, scratch, L):
    """The log-sum over the labellings of one sequence in which segment k stands."""
    emission, transition, alpha = work.emission, work.transition, work.score[0]
    cell, row, last = scratch.cell, scratch.row, scratch.exit
    s, e = segments.start[k], segments.stop[k]
    before, now = L, 0
    for y in range(L):
        if segments.of_label[y] != segments.kind[k]:
            cell[y] = -np.inf
        elif s == 0:
            cell[y] = alpha[y]
        else:
            for p in range(L):
                apart = segments.fixed[first + s] or not segments.joins[p, y]
                step = transition[s * stride + p * L + y]
                row[p] = alpha[(s - 1) * L + p] + step if apart else -np.inf
            cell[y] = log_sum(row, L) + emission[s * L + y]
    for t in range(s + 1, e):
        before, now = now, before
        for y in range(L):
            for p in range(L):
                joined = segments.joins[p, y] and not segments.fixed[first + t]
                row[p] = cell[before + p] + transition[t * stride + p * L + y] if joined else -np.inf
            cell[now + y] = log_sum(row, L) + emission[t * L + y]
    for y in range(L):
        last[y] = cell[now + y]
        if e == T:
            last[y] += end[y]
            continue
        for z in range(L):
            apart = segments.fixed[first + e] or not segments.joins[y, z]
            behind = transition[e * stride + y * L + z] + emission[e * L + z] + beta[e * L + z]
            row[z] = behind if apart else -np.inf
        last[y] += log_sum(row, L)
    return log_sum(last, L)


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
def segment_probabilities(task, chain, rule, noise, trigrams, work, sums, segments, scratch, out, log_z):
    """Probabilities of the segments of all sequences: writes ``out`` (S,) and ``log_z`` (n,), float64."""
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    whole_rows = reads_whole_rows(chain, rule, noise)
    for i in range(log_z.shape[0]):
        first, stop = task.token[i], task.token[i + 1]
        T = stop - first
        log_z[i] = 0.0
        if T == 0:
            continue
        score_sequence(task, i, chain, rule, noise, whole_rows, work)
        forbid(task.option, first, T, L, work.emission)
        log_z[i] = sum_labellings(work, stride, trigrams, chain.start, chain.end, sums, T, L)
        for k in range(segments.first[i], segments.first[i + 1]):
            if len(trigrams) > 0:
                z = _log_sum_of_segment_of_pairs(
                    segments, k, first, T, work, stride, trigrams, chain.end, sums.beta, scratch, L
                )
            else:
                z = _log_sum_of_segment(segments, k, first, T, work, stride, chain.end, sums.beta, scratch, L)
            out[k] = min(np.exp(z - log_z[i]), 1.0)


def probabilities(model, corpus, spans, of_label, joins, fixed=None, options=None, n_jobs=None):
    """Probabilities of segments of raw sequences.

    Parameters
    ----------
    model : ChainModel
        Its scores are log-probabilities up to a constant.
    corpus : TokenCorpus
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
        segment_probabilities(
            *prediction_arguments(task, model.ready.chain), new_sums(task.token, L, model.order), segments,
            new_segment_work(L, model.order), out, log_z,
        )  # fmt: skip
        return out, log_z

    parts = map_chunks(work, corpus.offsets, n_jobs)
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
