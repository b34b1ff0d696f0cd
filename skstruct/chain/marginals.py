"""Sums over all labellings of one chain: log Z, marginals, expectations.

With the scores of :mod:`.bigram`,

    Z(x) = Σ_y exp score(y),   p(y|x) = exp score(y) / Z(x),

and the forward-backward recursions (Lafferty, McCallum and Pereira 2001; equation 6 of the two-stage
paper and the paragraph above it) give log Z, p(y_t|x) and p(y_{t-1}, y_t|x). Everything here works on
logarithms and subtracts the largest term of each sum: right for every input, and for a matrix of
transitions of its own at each token. Training on many sequences at once has a faster version in
`skstruct.crf.expectations`, which comes back to this one for what it cannot represent.

Labels that are given restrict the sum to the labellings that agree with them: log Z of the clamped
chain minus log Z of the free one is the log-probability of a partial labelling.

Letters: T tokens, L labels, t token, y label, p previous label.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel
from .bigram import is_plain, score_sequence, stride_of


class Occurrences(NamedTuple):
    """Features of tokens, each with its weights: F features, K weights."""

    start: np.ndarray  # (N + 1,) int64: where the features of each token begin
    feature: np.ndarray  # (E,) int32
    value: np.ndarray  # (E,) float64: what the features count; empty if all are 1
    first: np.ndarray  # (F + 1,) int32: first weight of each feature
    label: np.ndarray  # (K,) int32: label of each weight; of transition weights p * L + y
    dense: tuple = ()  # crf.token_features.DenseFeatures in place of lists


LAST = 2**30
"""Added to the label of the last weight of a feature."""


class Corpus(NamedTuple):
    """A corpus as sums of weights: S sequences, longest first; N tokens; K weights in use.

    The weights of features that have few are listed for each token one by one: nothing is faster to read.
    Where a feature has many only the first is listed, and the others are found behind it. Or tokens add up
    rows of a table, of R rows.
    """

    token: np.ndarray  # (S + 1,) int64: first token of each sequence
    group: np.ndarray  # (G + 1,) int64: first sequence of each group (see crf.expectations)
    gold: np.ndarray  # (N,) int32: label, or UNLABELLED
    weight: np.ndarray  # (S,) float64: weight of each sequence
    start: np.ndarray  # (N + 1,) int64: first entry of each token
    entry: np.ndarray  # (E,) int32: weights
    value: np.ndarray  # (E,) float64: what the features count; empty if all are 1
    run_start: np.ndarray  # (N + 1,) int64: first run of each token
    run: np.ndarray  # (R,) int32: first weights of features
    run_value: np.ndarray  # (R,) float64: as ``value``
    label: np.ndarray  # (K,) int32: label of each weight
    run_label: np.ndarray  # (K,) int32: the same, with LAST
    row_start: np.ndarray  # (N + 1,) int64: first row of each token; (1,) without a table
    row: np.ndarray  # (M,) int32
    row_value: np.ndarray  # (M,) float64: as ``value``
    table: np.ndarray  # (R * row_width(L),) float64: scores


@kernel
def row_width(L):
    """Numbers in a row of a table for L labels: whole vectors."""
    return (L + 3) // 4 * 4


@inline
def spread(features, token, factor, expected, gradient):
    """gradient[k] += factor x expected[label_k] for the weights that apply to a token."""
    for e in range(features.start[token], features.start[token + 1]):
        f = features.feature[e]
        x = factor * (features.value[e] if features.value.shape[0] > 0 else 1.0)
        for k in range(np.uint64(features.first[f]), np.uint64(features.first[f + 1])):
            gradient[k] += x * expected[np.uint64(features.label[k])]


class ExpectedCounts(NamedTuple):
    """Where expectations are added up: += Σ weight E[count]."""

    feature: np.ndarray  # (K,) float64: for the weights of a Corpus
    transition: np.ndarray  # float64: for pairs of labels
    conditioned: np.ndarray  # (M,) float64: for observation-conditioned transitions
    whole: Occurrences  # all features of the same tokens
    of_pairs: np.ndarray  # float64: for the weights of ``whole``; or empty
    of_rows: np.ndarray  # (R * row_width(L),) float64: for the rows of the table


class Potentials(NamedTuple):
    """Scores that all tokens share."""

    transition: np.ndarray  # (L, L) float64 [previous, next]; -inf forbids
    start: np.ndarray  # (L,) float64: 0 or -inf
    end: np.ndarray  # (L,) float64: 0 or -inf
    cost: np.ndarray  # (L,) float64: cost of missing a token of each label


class LogLattice(NamedTuple):
    """Scratch of one thread for sequences of up to T tokens."""

    emission: np.ndarray  # (T * L,) float64
    transition: np.ndarray  # (L * L,) or (T * L * L,) float64
    alpha: np.ndarray  # (T * L,) float64: log-sums over prefixes
    beta: np.ndarray  # (T * L,) float64: log-sums over suffixes
    row: np.ndarray  # (L,) float64


def new_log_lattice(T, L, conditioned):
    """Scratch for :func:`expect_exactly`; ``conditioned``: each token has its own transitions."""
    return LogLattice(
        np.zeros(T * L), np.zeros((T if conditioned else 1) * L * L),
        np.zeros(T * L), np.zeros(T * L), np.zeros(L),
    )  # fmt: skip


@inline
def log_sum(x, n):
    """log Σ_k exp x[k]; -inf if all are -inf."""
    top = x[0]
    for k in range(1, n):
        top = max(top, x[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(n):
        total += np.exp(x[k] - top)
    return top + np.log(total)


@inline
def forward(emission, transition, stride, start, end, alpha, row, T, L):
    """log Z of one sequence. Fills ``alpha`` (T * L,).

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
def sum_labellings(emission, transition, stride, start, end, alpha, beta, row, T, L):
    """log Z of one sequence. Fills ``alpha`` and ``beta``, (T * L,) log-scores.

    ``β_t(p) = log Σ_y exp(transition[t+1, p, y] + emission[t+1, y] + β_{t+1}(y))``
    """
    for y in range(L):
        beta[(T - 1) * L + y] = end[y]
    for t in range(T - 2, -1, -1):
        for p in range(L):
            at = (t + 1) * stride + p * L
            for y in range(L):
                row[y] = transition[at + y] + emission[(t + 1) * L + y] + beta[(t + 1) * L + y]
            beta[t * L + p] = log_sum(row, L)
    return forward(emission, transition, stride, start, end, alpha, row, T, L)


@inline
def clamp(gold, L, emission):
    """Labelled tokens keep their label."""
    for t in range(gold.shape[0]):
        if gold[t] >= 0:
            for y in range(L):
                if y != gold[t]:
                    emission[t * L + y] = -np.inf


def new_sums(T, L):
    """Scratch for :func:`marginals`: its arguments between ``work`` and ``out``."""
    return np.empty(T * L), np.empty(L)


@kernel
def log_partitions(task, begin, end, chain, rule, noise, work, beta, row, log_z):
    """Write log Z of the sequences ``begin <= i < end``; arguments as of :func:`marginals`."""
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    plain = is_plain(chain, rule, noise)
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        log_z[i] = 0.0
        if stop > first:
            score_sequence(task, i, chain, rule, noise, plain, work)
            clamp(task.gold[first:stop], L, work.emission)
            log_z[i] = forward(
                work.emission, work.transition, stride, chain.start, chain.end, work.score[0], row,
                stop - first, L,
            )  # fmt: skip


@kernel
def marginals(task, begin, end, chain, rule, noise, work, beta, row, out, log_z):
    """Marginals and log Z of the sequences ``begin <= i < end`` under a chain's weights.

    Writes ``out`` (N * L,) and ``log_z`` (n,), float64. Labels set in ``task.gold`` are kept: log Z
    then sums over their completions, and is -inf if constraints leave none. Empty sequences have
    log Z = 0. Scratch: ``work`` (see ``bigram.new_work``), ``beta`` (T * L,), ``row`` (L,).
    """
    L = chain.start.shape[0]
    stride = stride_of(task, L, noise)
    plain = is_plain(chain, rule, noise)
    for i in range(begin, end):
        first, stop = task.token[i], task.token[i + 1]
        T = stop - first
        log_z[i] = 0.0
        if T == 0:
            continue
        score_sequence(task, i, chain, rule, noise, plain, work)
        clamp(task.gold[first:stop], L, work.emission)
        alpha = work.score[0]
        z = sum_labellings(
            work.emission, work.transition, stride, chain.start, chain.end, alpha, beta, row, T, L
        )
        log_z[i] = z
        for t in range(T):
            for y in range(L):
                row[y] = alpha[t * L + y] + beta[t * L + y]
            # log Z in theory; at scores of any size the marginals then sum to 1.
            at_t = log_sum(row, L)
            for y in range(L):
                out[(first + t) * L + y] = 0.0 if z == -np.inf else np.exp(row[y] - at_t)


@inline
def _score_tokens(corpus, edges, first, T, weight, edge_weight, potentials, clamped, lattice):
    """Fill ``lattice.emission`` and ``lattice.transition`` for the T tokens from ``first`` on."""
    L = potentials.cost.shape[0]
    conditioned = edges.start.shape[0] > 1
    stride = L * L if conditioned else 0
    emission, transition = lattice.emission, lattice.transition
    for k in range(T * L):
        emission[k] = 0.0
    for t in range(T if conditioned else 1):
        for p in range(L):
            for y in range(L):
                transition[t * stride + p * L + y] = potentials.transition[p, y]
    for t in range(T):
        for e in range(corpus.start[first + t], corpus.start[first + t + 1]):
            k = corpus.entry[e]
            x = corpus.value[e] if corpus.value.shape[0] > 0 else 1.0
            emission[t * L + corpus.label[k]] += x * weight[k]
        for e in range(corpus.run_start[first + t], corpus.run_start[first + t + 1]):
            k, y = corpus.run[e], 0
            x = corpus.run_value[e] if corpus.run_value.shape[0] > 0 else 1.0
            while y < LAST:
                y = corpus.run_label[k]
                emission[t * L + y % LAST] += x * weight[k]
                k += 1
        if corpus.row_start.shape[0] > 1:
            for e in range(corpus.row_start[first + t], corpus.row_start[first + t + 1]):
                x = corpus.row_value[e] if corpus.row_value.shape[0] > 0 else 1.0
                for y in range(L):
                    emission[t * L + y] += x * corpus.table[corpus.row[e] * row_width(L) + y]
        if conditioned and t > 0:
            for e in range(edges.start[first + t], edges.start[first + t + 1]):
                f = edges.feature[e]
                for k in range(edges.first[f], edges.first[f + 1]):
                    transition[t * stride + edges.label[k]] += edge_weight[k]
        g = corpus.gold[first + t]
        if g >= 0:
            for y in range(L):
                if y != g:
                    emission[t * L + y] += -np.inf if clamped else potentials.cost[g]


@inline
def _count_token(corpus, token, factor, square, row, counts):
    """Add the expected counts of a token's features, given its marginals ``row`` (L,)."""
    gradient = counts.feature
    if counts.of_pairs.shape[0] > 0:
        spread(counts.whole, token, factor, row, counts.of_pairs)
    for e in range(corpus.start[token], corpus.start[token + 1]):
        k = corpus.entry[e]
        x = corpus.value[e] if corpus.value.shape[0] > 0 else 1.0
        q = row[corpus.label[k]]
        gradient[k] += factor * (x * x * q * (1.0 - q) if square else x * q)
    for e in range(corpus.run_start[token], corpus.run_start[token + 1]):
        k, y = corpus.run[e], 0
        x = corpus.run_value[e] if corpus.run_value.shape[0] > 0 else 1.0
        while y < LAST:
            y = corpus.run_label[k]
            q = row[y % LAST]
            gradient[k] += factor * (x * x * q * (1.0 - q) if square else x * q)
            k += 1
    if corpus.row_start.shape[0] > 1:
        for e in range(corpus.row_start[token], corpus.row_start[token + 1]):
            x = corpus.row_value[e] if corpus.row_value.shape[0] > 0 else 1.0
            for y in range(row.shape[0]):
                q = row[y]
                counts.of_rows[corpus.row[e] * row_width(row.shape[0]) + y] += factor * (
                    x * x * q * (1.0 - q) if square else x * q
                )


@kernel
def expect_exactly(
    corpus, edges, which, weight, edge_weight, potentials, clamped, square, lattice, counts
):  # fmt: skip
    """Add up log Z and expectations over the sequences ``which``.

    Parameters
    ----------
    corpus : Corpus
    edges : Occurrences
        Weights of transitions; without any that look at the input ``start`` has one element.
    which : (n,) int64
    weight, edge_weight : float64
        Of labels, and of transitions.
    potentials : Potentials
    clamped : bool
        Sum over the labellings that agree with gold, without costs, instead of over all.
    square : bool
        Add up p (1 - p) instead of p.
    lattice : LogLattice
    counts : ExpectedCounts
        ``transition`` is (L * L,).

    Returns
    -------
    total : float
        Σ weight log Z.
    """
    L = potentials.cost.shape[0]
    conditioned = edges.start.shape[0] > 1
    stride = L * L if conditioned else 0
    emission, transition = lattice.emission, lattice.transition
    alpha, beta, row = lattice.alpha, lattice.beta, lattice.row
    total = 0.0
    for i in which:
        first = corpus.token[i]
        T = corpus.token[i + 1] - first
        if T == 0:
            continue
        _score_tokens(corpus, edges, first, T, weight, edge_weight, potentials, clamped, lattice)
        z = sum_labellings(
            emission, transition, stride, potentials.start, potentials.end, alpha, beta, row, T, L
        )
        factor = corpus.weight[i]
        total += factor * z
        for t in range(T):
            for y in range(L):
                row[y] = np.exp(alpha[t * L + y] + beta[t * L + y] - z)
            _count_token(corpus, first + t, factor, square, row, counts)
            for p in range(L if t > 0 else 0):
                for y in range(L):
                    at = p * L + y
                    both = np.exp(
                        alpha[(t - 1) * L + p] + transition[t * stride + at]
                        + emission[t * L + y] + beta[t * L + y] - z
                    )  # fmt: skip
                    both = factor * (both * (1.0 - both) if square else both)
                    counts.transition[at] += both
                    if conditioned:  # no longer needed as a score
                        transition[t * stride + at] = both
            if conditioned and t > 0:
                for e in range(edges.start[first + t], edges.start[first + t + 1]):
                    f = edges.feature[e]
                    for k in range(edges.first[f], edges.first[f + 1]):
                        counts.conditioned[k] += transition[t * stride + edges.label[k]]
    return total
