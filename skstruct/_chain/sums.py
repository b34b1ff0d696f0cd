"""Sums over the labellings of each sequence of a corpus: log Z, marginals,
probabilities of segments.

Chains of the first order by :mod:`.forward_backward`, those with trigrams by
:mod:`.marginals_second`. The first call of the kernel sums by scaled probabilities, and
log Z is NaN where these do not do. A second one, with :class:`LogSums`, sums such
sequences by logarithms; it is compiled when it is first needed.

Letters: as in :mod:`.forward_backward`; C cells tell prefixes apart, as in
:class:`.bigram.ChainWork`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.compile import ZERO, inline, kernel
from .._data.inputs import flatten, lengths_of, offsets_of
from .._training.chunks import map_chunks
from . import forward_backward as first_order
from . import marginals_second as second_order
from .bigram import (
    forbid,
    longest,
    reads_whole_rows,
    score_rows,
    score_sequence,
    stride_of,
)
from .chain_arguments import has_only_sparse_nodes, prediction_arguments, rows_of
from .chain_model import NO_OPTION, encoded_corpus, new_task, task_of
from .forward_backward import Lattice, clamp, log_sum, new_lattice, set_step
from .segments import (
    Summed,
    find_segments,
    new_segments,
    prepare,
    segment_probability,
)
from .viterbi import score_path

if TYPE_CHECKING:
    from .._core.store import Rule
    from .._data.corpus import TokenCorpus
    from .._data.labels import Gold
    from .bigram import Chain, ChainTask, ChainWork, Empty, General
    from .chain_arguments import EncodedRows
    from .chain_model import ChainModel
    from .second_order import Trigrams
    from .segments import Segments


class LogSums(NamedTuple):
    """Scratch for sums of logarithms."""

    beta: np.ndarray  # (T * C,) float64: log-sums over suffixes
    row: np.ndarray  # (L,) float64
    add: np.ndarray  # (L,) float64
    keep: np.ndarray  # (L,) int64


def _new_logs(token: np.ndarray, L: int, order: int) -> LogSums:
    """Make scratch for sequences that start at ``token``."""
    return LogSums(
        np.empty(longest(token) * L**order),
        np.empty(L),
        np.empty(L),
        np.empty(L, np.int64),
    )


# --------------------------------------------------------------------------------------
# Kernels
# --------------------------------------------------------------------------------------
@inline
def _forward(
    work: ChainWork,
    stride: int,
    trigrams: Trigrams | Empty,
    start: np.ndarray,
    end: np.ndarray,
    edges: General | Empty,
    unit: float,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    T: int,
    L: int,
) -> float:
    """Sum the labellings of one sequence from left to right; returns log Z.

    Fills ``lattice``, or ``work.score[0]`` with log-sums over prefixes.
    """
    emission = work.emission
    transition = work.transition
    alpha = work.score[0]
    if len(trigrams) > 0:
        return second_order.forward(
            emission, transition, stride, trigrams, start, end, alpha, logs, T, L
        )
    if len(logs) > 0:
        return first_order.log_forward(
            emission, transition, stride, start, end, alpha, logs.row, T, L
        )
    z = first_order.forward(
        emission, transition, stride, start, end, edges, lattice, lattice.inverse, T, L
    )
    return z + (T - 1) * unit


@inline
def _backward(
    z: float,
    work: ChainWork,
    stride: int,
    trigrams: Trigrams | Empty,
    end: np.ndarray,
    edges: General | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    T: int,
    L: int,
) -> float:
    """Sum what follows from right to left; returns z, or NaN if it fails.

    Fills the rest of the lattice, or ``logs.beta`` with log-sums over suffixes.
    """
    emission = work.emission
    transition = work.transition
    if len(trigrams) > 0:
        second_order.backward(emission, transition, stride, trigrams, end, logs, T, L)
        return z
    if len(logs) > 0:
        first_order.log_backward(
            emission, transition, stride, end, logs.beta, logs.row, T, L
        )
        return z
    well = first_order.backward(
        transition, stride, edges, lattice, lattice.inverse, T, L
    )
    return z if well else np.nan


@inline
def _write_marginals(
    work: ChainWork,
    trigrams: Trigrams | Empty,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    out: np.ndarray,
    T: int,
    L: int,
) -> None:
    """Write p(y_t) to ``out`` (T * L,); they sum to 1 whatever has been rounded."""
    if len(logs) == 0:
        beta = lattice.beta
        for t in range(T):
            total = 0.0
            for y in range(L):
                total += beta[t * L + y]
            for y in range(L):
                out[t * L + y] = beta[t * L + y] / total
    else:
        alpha = work.score[0]
        beta = logs.beta
        row = logs.row
        add = logs.add
        C = L if len(trigrams) == 0 else L * L
        for t in range(T):
            previous = C // L if t > 0 else 1
            for y in range(L):
                for p in range(previous):
                    row[p] = alpha[t * C + p * L + y] + beta[t * C + p * L + y]
                add[y] = log_sum(row, previous)
            top = add[0]
            for y in range(1, L):
                top = max(top, add[y])
            # Beside scores of 1e22 a difference of log 2 is rounded away.
            for y in range(L):
                add[y] -= top
            at_t = log_sum(add, L)
            for y in range(L):
                out[t * L + y] = np.exp(add[y] - at_t)


@kernel
def sum_corpus(
    task: ChainTask,
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    trigrams: Trigrams | Empty,
    work: ChainWork,
    lattice: Lattice | Empty,
    logs: LogSums | Empty,
    given: tuple[bool] | Empty,
    segments: Segments | Empty,
    out: np.ndarray,
    log_z: np.ndarray,
) -> None:
    """Write log Z of each sequence for which it is NaN so far, and what belongs to it.

    Parameters
    ----------
    task, chain, rule, general, trigrams, work
        See :func:`.chain_arguments.prediction_arguments`. Labels in ``task.gold`` are
        kept.
    lattice : Lattice, or an empty tuple in the second order
    logs : LogSums or an empty tuple
        With it sums are logarithms, as they always are in the second order.
    given : (bool,) or an empty tuple
        log Z only: (True,) of the labellings that have the labels in ``task.gold``,
        (False,) of all.
    segments : Segments or an empty tuple
    out : (S,) float64 with segments, else (N * L,)
        Receives probabilities of segments, else marginals, unless log Z is -inf.
    log_z : (n,) float64
        -inf where no labelling is left; 0 for an empty sequence.
    """
    L = chain.start.shape[0]
    start = chain.start
    end = chain.end
    stride = stride_of(task, L, general)
    whole_rows = reads_whole_rows(chain, rule, general)
    unit = np.nan
    for i in range(log_z.shape[0]):
        first = task.token[i]
        stop = task.token[i + 1]
        T = stop - first
        gold = task.gold[first:stop]
        if T == 0:
            log_z[i] = 0.0
        if not np.isnan(log_z[i]):
            continue
        score_sequence(task, i, chain, rule, general, whole_rows, work)
        if len(logs) == 0:
            # Where tokens have matrices of their own `forward` sets these, and adds
            # units.
            if np.isnan(unit):
                unit = (
                    0.0 if stride > 0 else set_step(work.transition, ZERO, lattice, L)
                )
        if len(given) > 0:
            missing = T
            if given[0]:
                missing = clamp(gold, task.sets, L, work.emission)
            if missing == 0:
                log_z[i] = score_path(
                    work.emission,
                    work.transition,
                    stride,
                    trigrams,
                    start,
                    end,
                    gold,
                    T,
                    L,
                )
                continue
        forbid(task.option, first, T, L, work.emission)
        z = _forward(
            work, stride, trigrams, start, end, general, unit, lattice, logs, T, L
        )
        if len(given) == 0 and z > -np.inf:
            z = _backward(z, work, stride, trigrams, end, general, lattice, logs, T, L)
            if len(segments) > 0:
                known = Summed(
                    first, T, L, z, work.emission, work.transition, stride,
                    work.score[0], end,
                )  # fmt: skip
                prepare(known, trigrams, lattice, logs)
                if segments.least == 0.0:
                    for k in range(segments.first[i], segments.first[i + 1]):
                        out[k] = segment_probability(
                            segments, k, known, trigrams, lattice, logs
                        )
                elif not np.isnan(z):
                    find_segments(segments, i, known, trigrams, lattice, logs, out)
            else:
                _write_marginals(
                    work, trigrams, lattice, logs, out[first * L : stop * L], T, L
                )
        log_z[i] = z


@kernel
def sum_small(
    token: np.ndarray,
    anchor: np.ndarray,
    left: int,
    row: np.ndarray,
    lo: np.ndarray,
    width: np.ndarray,
    bag_start: np.ndarray,
    bag_row: np.ndarray,
    bag_value: np.ndarray,
    nodes: np.ndarray,
    scale: float,
    L: int,
    limits: np.ndarray,
    emission: np.ndarray,
    x: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    inverse: np.ndarray,
    scratch: np.ndarray,
    bits: np.ndarray,
    matrix: np.ndarray,
    out: np.ndarray,
    log_z: np.ndarray,
) -> None:
    """Write marginals and log Z as :func:`sum_corpus` does by scaled probabilities, of
    a chain of the first order with final weights in full rows.

    It takes arrays, as :func:`.chain_epoch.predict_small` does: from ``token`` to
    ``limits`` the same ones but for options, ``emission``, and from ``x`` to
    ``matrix`` the fields of a :class:`.Lattice` for the longest sequence. ``out``
    (N * L,) receives the marginals and ``log_z`` (n,) log Z, NaN where scaled
    probabilities do not do.
    """
    start = limits[:L]
    end = limits[L : 2 * L]
    transition = limits[2 * L :]
    lattice = Lattice(x, alpha, beta, inverse, scratch, bits, matrix)
    unit = set_step(transition, ZERO, lattice, L)
    for i in range(log_z.shape[0]):
        first = token[i]
        stop = token[i + 1]
        T = stop - first
        log_z[i] = 0.0
        if T > 0:
            score_rows(
                token, anchor, i, left, row, lo, width, bag_start, bag_row, bag_value,
                nodes, scale, L, emission,
            )  # fmt: skip
            z = first_order.forward(
                emission, transition, 0, start, end, (), lattice, inverse, T, L
            )
            z += (T - 1) * unit
            if z > -np.inf:
                if not first_order.backward(transition, 0, (), lattice, inverse, T, L):
                    z = np.nan
                _write_marginals((), (), lattice, (), out[first * L : stop * L], T, L)
            log_z[i] = z


# --------------------------------------------------------------------------------------
# Corpora
# --------------------------------------------------------------------------------------
def _sum(
    model: ChainModel,
    task: ChainTask,
    given: tuple[bool] | Empty,
    segments: Segments | Empty,
    out: np.ndarray,
    log_z: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the labellings of each sequence of a task; returns ``out`` and log Z (n,).

    ``given``, ``segments`` and ``out`` are those of :func:`sum_corpus`. ``log_z`` has
    what scaled probabilities have found, if they have been tried: NaN where they do not
    do.
    """
    arguments = prediction_arguments(task, model.ready.chain)
    L = len(model.labels)
    untried = log_z is None
    if log_z is None:
        log_z = np.full(task.token.shape[0] - 1, np.nan)
    lattice: Lattice | Empty = ()
    if model.order == 1:
        lattice = new_lattice(longest(task.token), L)
        if untried:
            sum_corpus(*arguments, lattice, (), given, segments, out, log_z)
    if any(map(isnan, log_z.tolist())):
        logs = _new_logs(task.token, L, model.order)
        sum_corpus(*arguments, lattice, logs, given, segments, out, log_z)
    return out, log_z


def log_z(model: ChainModel, task: ChainTask, given: bool) -> np.ndarray:
    """Return log Z (n,) of a task: over all labellings, or if ``given`` over those that
    have its gold labels.
    """
    return _sum(model, task, (given,), (), np.zeros(0))[1]


def _sum_pieces(
    work: Callable[..., Sequence[np.ndarray]],
    model: ChainModel,
    corpus: TokenCorpus,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """Run ``work(piece, first, last, begin, end)`` on pieces of a corpus, and join the
    arrays that it returns.

    The piece has the sequences from ``first`` to ``last``, and the tokens from
    ``begin`` to ``end``.
    """
    model.encoder.check(corpus)
    parts = map_chunks(
        lambda at: work(corpus.piece(*at[:2]), *at), corpus.offsets, n_jobs
    )
    return [np.concatenate(each) for each in zip(*parts)]


def log_partitions(
    model: ChainModel,
    corpus: TokenCorpus,
    gold: Gold | None = None,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """Return log Z (n,) of a corpus; with ``gold`` also log Z of the labellings that
    agree with it.
    """

    def work(
        piece: TokenCorpus, first: int, last: int, begin: int, end: int
    ) -> list[np.ndarray]:
        task = task_of(
            model.encoder, piece, None if gold is None else gold.at(slice(begin, end))
        )
        return [
            log_z(model, task, given)
            for given in ([False] if gold is None else [True, False])
        ]

    return _sum_pieces(work, model, corpus, n_jobs)


def _sum_small(
    model: ChainModel, rows: EncodedRows, longest: int, out: np.ndarray
) -> np.ndarray | None:
    """Write the marginals of an encoded corpus to ``out`` by the small kernel, and
    return log Z (n,), NaN where scaled probabilities do not do.

    None for a model of the second order, or one with sparse weights. ``rows`` is what
    :func:`.chain_arguments.rows_of` gives.
    """
    final = model.ready.final
    if final is None or final.trigrams:
        return None
    log_z = np.empty(rows[0].shape[0] - 1)
    L = final.plain.n_labels
    scratch = np.empty(longest * L), *new_lattice(longest, L)
    sum_small(*rows, *final.plain[:-1], *scratch, out, log_z)  # without trigrams
    return log_z


def marginals_of_rows(model: ChainModel, rows: EncodedRows) -> np.ndarray | None:
    """Return the marginals (T, L) of one sequence, from what
    :meth:`.ChainModel.encode_one` or ``plain_rows`` gives; None where only
    :func:`marginals` serves.
    """
    n = rows[0].item(1)
    out = np.empty((n, len(model.labels)))
    log_z = _sum_small(model, rows, max(n, 1), out.reshape(-1))
    return out if log_z is not None and isfinite(log_z[0]) else None


def marginals_of_one(model: ChainModel, tokens: Sequence[Any]) -> np.ndarray | None:
    """Return the marginals (T, L) of one sequence by small kernels; None where only
    :func:`marginals` serves.
    """
    rows = model.encode_one(tokens)
    return None if rows is None else marginals_of_rows(model, rows)


def marginals(
    model: ChainModel, corpus: TokenCorpus, n_jobs: int | None = None
) -> list[np.ndarray]:
    """Return the marginals (N * L,) and log Z (n,) of a corpus."""

    def work(
        piece: TokenCorpus, first: int, last: int, begin: int, end: int
    ) -> tuple[np.ndarray, np.ndarray]:
        out = np.zeros((end - begin) * len(model.labels))
        x = encoded_corpus(model.encoder, piece)
        token = piece.offsets
        log_z = None
        if has_only_sparse_nodes(x):
            log_z = _sum_small(model, rows_of(x, token), longest(token), out)
            if log_z is not None and not any(map(isnan, log_z.tolist())):
                return out, log_z
        return _sum(model, new_task(x, token), (), (), out, log_z)

    return _sum_pieces(work, model, corpus, n_jobs)


def _sum_segments(
    work: Callable[..., Sequence[np.ndarray]],
    model: ChainModel,
    corpus: TokenCorpus,
    fixed: np.ndarray | None,
    options: np.ndarray | None,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """Run ``work(task, fixed, first, last)`` on the tasks of pieces of a corpus, and
    join the arrays that it returns.
    """
    fixed = np.zeros(corpus.offsets[-1], np.bool_) if fixed is None else fixed
    options = NO_OPTION if options is None else options

    def of_task(
        piece: TokenCorpus, first: int, last: int, begin: int, end: int
    ) -> Sequence[np.ndarray]:
        return work(
            task_of(model.encoder, piece, option=options[begin:end]),
            fixed[begin:end],
            first,
            last,
        )

    return _sum_pieces(of_task, model, corpus, n_jobs)


PLACES = 8
"""Segments for which there is room at first, a token; there are hardly more of a
probability above 1e-6.
"""


def probable_segments(
    model: ChainModel,
    corpus: TokenCorpus,
    least: float,
    of_label: np.ndarray,
    joins: np.ndarray,
    fixed: np.ndarray | None = None,
    options: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """Find all segments of a corpus with a probability of at least ``least``, above 0.

    Parameters
    ----------
    model, corpus, of_label, joins, fixed, options, n_jobs
        As of :func:`segment_probabilities`.

    Returns
    -------
    spans : ndarray of shape (S, 3), int64
        Start, stop and kind.
    probabilities : ndarray of shape (S,)
        Equal to those of :func:`segment_probabilities`.
    counts : ndarray of shape (n,), int64
        Segments of each sequence.
    log_z : ndarray of shape (n,)
    """

    def work(
        task: ChainTask, known: np.ndarray, first: int, last: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        places = PLACES * known.shape[0]
        begins = np.zeros(last - first + 1, np.int64)
        found = None
        while found is None or found.found[-1] > places:
            places = places if found is None else int(found.found[-1])
            empty = np.zeros((places, 3), np.int64)
            found = new_segments(
                begins, empty, of_label, joins, known, model.order, least
            )
            p, z = _sum(model, task, (), found, np.zeros(places))
        counts = found.found[:-1]
        rows = np.repeat(
            found.first[:-1] - np.cumsum(counts) + counts, counts
        ) + np.arange(counts.sum())
        return (
            np.column_stack([found.start, found.stop, found.kind])[rows],
            p[rows],
            counts,
            z,
        )

    return _sum_segments(work, model, corpus, fixed, options, n_jobs)


def segment_probabilities(
    model: ChainModel,
    corpus: TokenCorpus,
    spans: Sequence[Sequence[tuple[int, int, int]]],
    of_label: np.ndarray,
    joins: np.ndarray,
    fixed: np.ndarray | None = None,
    options: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """Return the probabilities of segments of a corpus.

    Parameters
    ----------
    model : ChainModel
        Its scores are log-probabilities up to a constant.
    corpus : TokenCorpus
    spans : list of lists of (start, stop, kind)
        For each sequence, ``0 <= start < stop <= T``; kinds as in ``of_label``.
    of_label, joins : ndarray
        See :class:`.segments.Segments`.
    fixed : ndarray of shape (N,), bool, optional
        Where a segment starts whatever the labels.
    options : ndarray of shape (N, L), bool, optional
        Labels allowed for each token; probabilities are those among the labellings
        allowed.
    n_jobs : int, optional

    Returns
    -------
    probabilities : ndarray of shape (S,)
    log_z : ndarray of shape (n,)
        -inf where no labelling is left.
    """
    where = offsets_of(lengths_of(spans))
    flat = np.array(flatten(spans), np.int64).reshape(-1, 3)

    def work(
        task: ChainTask, known: np.ndarray, first: int, last: int
    ) -> tuple[np.ndarray, np.ndarray]:
        mine = flat[where[first] : where[last]]
        segments = new_segments(
            where[first : last + 1], mine, of_label, joins, known, model.order
        )
        return _sum(model, task, (), segments, np.zeros(mine.shape[0]))

    return _sum_segments(work, model, corpus, fixed, options, n_jobs)
