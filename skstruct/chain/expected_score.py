"""log Z and the expected score, ``Σ_y p(y|x) score(y)``, of both orders: what a temperature is found by.

At the inverse temperature β labellings have the probabilities ``p_β(y|x) = exp(β score(y)) / Z_β(x)``, and
``d log Z_β / dβ`` is the expected score. The β under which labels that were not trained on are most likely
is where the expected scores, in sum, are those of the labels given. The log-likelihood of complete labels is
concave in β, so that there is one such place.

Expectations come with the forward pass alone: next to ``α_t(y)``, the log-sum over the prefixes that end
in y, goes ``μ_t(y)``, their mean score. Terms that change nothing are left out; see :mod:`.marginals_second`.

Letters: as in :mod:`.viterbi` and :mod:`.viterbi_second`.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel
from .bigram import is_plain, score_sequence, stride_of
from .marginals import clamp
from .marginals_second import list_large
from .trigram import read_trigrams

NEGLIGIBLE = 25.0
"""Terms of a sum whose logarithm is by more than this below the largest are left out: e^-25 is 1e-11."""


class Prefixes(NamedTuple):
    """Scratch: what is known of the prefixes that end in each of C cells, at two tokens in turn."""

    alpha: np.ndarray  # (2 * C,) float64: log-sums
    mean: np.ndarray  # (2 * C,) float64: mean scores
    top: np.ndarray  # (L,) float64: the largest terms of the sums
    total: np.ndarray  # (L,) float64: the sums themselves
    row: np.ndarray  # (L + 1,) float64: logarithms of the terms of a sum
    value: np.ndarray  # (L + 1,) float64: the scores that go with them
    keep: np.ndarray  # (L,) int64


def new_prefixes(L, order):
    """Scratch for sequences of any length."""
    C = L**order
    a, b = np.empty(2 * C), np.empty(2 * C)
    row = np.empty(L), np.empty(L), np.empty(L + 1), np.empty(L + 1)
    return Prefixes(a, b, *row, np.empty(L, np.int64))


@inline
def _sum_and_mean(x, value, n):
    """(log Σ_k exp x[k], mean of value[k] under these weights); (-inf, 0) if all are -inf."""
    top = -np.inf
    for k in range(n):
        top = max(top, x[k])
    if top == -np.inf:
        return top, 0.0
    total, mean = 0.0, 0.0
    for k in range(n):
        if x[k] >= top - NEGLIGIBLE:
            w = np.exp(x[k] - top)
            total += w
            mean += w * value[k]
    return top + np.log(total), mean / total


@inline
def _are_finite(x, n):
    """Whether n numbers are: sums of features with large values may not be."""
    for k in range(n):
        if not np.isfinite(x[k]):
            return False
    return True


@inline
def _start(emission, start, prefixes, L):
    for y in range(L):
        prefixes.alpha[y] = start[y] + emission[y]
        prefixes.mean[y] = 0.0 if emission[y] == -np.inf else emission[y]


@inline
def _finish(now, prefixes, n, L, end):
    """(log Z, expected score) from the cells at the last token, n for each of its labels."""
    alpha, mean, row, value = prefixes.alpha, prefixes.mean, prefixes.row, prefixes.value
    top, centre = -np.inf, 0.0
    for y in range(L):  # the sums of the labels are added up one by one, as if there were two terms
        for p in range(n):
            row[p] = alpha[now + p * L + y] + end[y]
            value[p] = mean[now + p * L + y]
        z, m = _sum_and_mean(row, value, n)
        row[0], row[1] = top, z
        value[0], value[1] = centre, m
        top, centre = _sum_and_mean(row, value, 2)
    return top, centre


@inline
def _advance(prefixes, before, now, transition, at, emission, e, L):
    """The cells of a token, all labels at a time, from those of the token before it."""
    alpha, mean, top, total = prefixes.alpha, prefixes.mean, prefixes.top, prefixes.total
    for y in range(L):
        top[y] = -np.inf
        total[y] = 0.0
        mean[now + y] = 0.0
    for p in range(L):  # the inner loop becomes vector instructions
        from_p = alpha[before + p]
        row = transition[at + p * L : at + (p + 1) * L]
        for y in range(L):
            x = from_p + row[y]
            top[y] = x if x > top[y] else top[y]
    for y in range(L):
        if emission[e + y] == -np.inf:
            top[y] = np.inf  # nothing ends here: no term is worth an exp
    for p in range(L):
        from_p, mean_p = alpha[before + p], mean[before + p]
        row = transition[at + p * L : at + (p + 1) * L]
        for y in range(L):
            x = from_p + row[y]
            if x >= top[y] - NEGLIGIBLE and x > -np.inf:
                w = np.exp(x - top[y])
                total[y] += w
                mean[now + y] += w * (mean_p + row[y])
    for y in range(L):
        if total[y] > 0.0:
            alpha[now + y] = top[y] + np.log(total[y]) + emission[e + y]
            mean[now + y] = mean[now + y] / total[y] + emission[e + y]
        else:
            alpha[now + y] = -np.inf


@kernel
def expected_scores(task, begin, end, chain, rule, noise, work, prefixes, out, log_z):
    """Expected scores and log Z of the sequences ``begin <= i < end``, both (n,) float64.

    Labels set in ``task.gold`` are kept: sums then go over their completions. log Z is -inf if constraints
    leave none, and both are NaN if scores overflow. Empty sequences have 0 and 0.
    """
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    plain = is_plain(chain, rule, noise)
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        out[i] = log_z[i] = 0.0
        if stop == first:
            continue
        score_sequence(task, i, chain, rule, noise, plain, work)
        emission, transition = work.emission, work.transition
        if not _are_finite(emission, (stop - first) * L):
            out[i] = log_z[i] = np.nan
            continue
        clamp(task.gold[first:stop], L, emission)
        _start(emission, chain.start, prefixes, L)
        before, now = L, 0
        for t in range(1, stop - first):
            before, now = now, before
            _advance(prefixes, before, now, transition, t * stride, emission, t * L, L)
        log_z[i], out[i] = _finish(now, prefixes, 1, L, chain.end)


@kernel
def expected_scores_of_pairs(task, begin, end, chain, rule, noise, work, prefixes, out, log_z):
    """The same for the second-order chain."""
    L = chain.nodes.columns
    C = L * L
    stride = L * L if task.edges.row.shape[0] > 0 else 0
    plain = is_plain(chain, rule, noise)
    alpha, mean, row, value, keep = (
        prefixes.alpha, prefixes.mean, prefixes.row, prefixes.value, prefixes.keep,
    )  # fmt: skip
    read_trigrams(chain, rule, noise, work)
    trigrams = work.trigrams
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        out[i] = log_z[i] = 0.0
        if stop == first:
            continue
        score_sequence(task, i, chain, rule, noise, plain, work)
        emission, transition = work.emission, work.transition
        if not _are_finite(emission, (stop - first) * L):
            out[i] = log_z[i] = np.nan
            continue
        clamp(task.gold[first:stop], L, emission)
        _start(emission, chain.start, prefixes, L)
        before, now = C, 0
        for t in range(1, stop - first):
            before, now = now, before
            for p in range(L):
                r = p * (L + 1)
                n = 1 if t == 1 else list_large(alpha[before : before + C], trigrams, p, L, keep)
                if t == 1:
                    keep[0] = 0  # the only a is the boundary, and the cell is that of p
                for y in range(L):
                    cell = now + p * L + y
                    e = emission[t * L + y] + transition[t * stride + p * L + y]
                    if e == -np.inf or n == 0:
                        alpha[cell], mean[cell] = -np.inf, 0.0
                        continue
                    for j in range(n):
                        a = keep[j]
                        step = trigrams.score[(r + (a + 1 if t > 1 else 0)) * L + y]
                        row[j] = alpha[before + a * L + p] + step
                        value[j] = mean[before + a * L + p] + step
                    z, m = _sum_and_mean(row, value, n)
                    alpha[cell], mean[cell] = z + e, m + e
        log_z[i], out[i] = _finish(now, prefixes, L if stop - first > 1 else 1, L, chain.end)
