"""Sums over all labellings of one chain: log Z, marginals, expectations.

With the scores of :mod:`.bigram`,

    Z(x) = Σ_y exp score(y),   p(y|x) = exp score(y) / Z(x),

and the forward-backward recursions (Lafferty, McCallum and Pereira 2001; equation 6 of the two-stage
paper and the paragraph above it) give log Z, p(y_t|x) and p(y_{t-1}, y_t|x). Everything here works on
logarithms and subtracts the largest term of each sum: right for every input, and for a matrix of
transitions of its own at each token. Training on many sequences at once has a faster version in
`skstruct.crf.solver.expectations`, which comes back to these recursions for what it cannot represent.

Labels that are given restrict the sum to the labellings that agree with them: log Z of the clamped
chain minus log Z of the free one is the log-probability of a partial labelling.

Letters: T tokens, L labels, t token, y label, p previous label.
"""

import numpy as np

from ..core.compile import inline
from .viterbi import differs


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
def clamp(gold, sets, L, emission):
    """Labelled tokens keep their label, or one of their set."""
    for t in range(gold.shape[0]):
        if gold[t] != -1:
            for y in range(L):
                if differs(y, gold[t], sets):
                    emission[t * L + y] = -np.inf
