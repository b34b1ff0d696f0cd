"""The doubtful part of a corpus: what is left of a chain CRF where its model is sure.

Place on the ladder: rung 4. Under a trained model most tokens have one label with a probability near 1,
and the others have two or three labels worth the name. Weights that move a little change log Z almost
only there. So, given the marginals at some weights, labels of a probability below a threshold are
dropped; tokens with one label left, of which only the label matters, cut the chain; and what is left
are short *runs* of doubtful tokens with two or three labels each. Sums over their labellings cost a
small fraction of a pass over the corpus (:mod:`.chain_expectations`), whatever the number of labels.

Letters: L labels, t token, y label, p previous label, k weight; U doubtful tokens; S slots, the pairs
of a doubtful token and one of its labels; R runs.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel


class Pruned(NamedTuple):
    """The doubtful part of some sequences. Empty arrays: a place to count only."""

    run: np.ndarray  # (R + 1,) int64: first doubtful token of each run
    weight: np.ndarray  # (R,) float64: weight of its sequence
    left: np.ndarray  # (R,) int32: label of the token before, -1 at the beginning of a sequence
    right: np.ndarray  # (R,) int32: label of the token after, -1 at the end of a sequence
    first: np.ndarray  # (U + 1,) int64: first slot of each doubtful token
    label: np.ndarray  # (S,) int32
    cost: np.ndarray  # (S,) float64: cost of missing the token's label
    start: np.ndarray  # (S + 1,) int64: first entry of each slot
    entry: np.ndarray  # (E,) int32: its weights
    value: np.ndarray  # (E,) float64: what the features count; empty if all are 1
    alpha: np.ndarray  # (S,) float64: scratch
    beta: np.ndarray  # (S,) float64: scratch
    scale: np.ndarray  # (U,) float64: scratch


def new_pruned(n_runs, n_tokens, n_slots, n_entries, valued):
    """Room for a doubtful part."""
    return Pruned(
        np.zeros(n_runs + 1, np.int64), np.zeros(n_runs), np.zeros(n_runs, np.int32),
        np.zeros(n_runs, np.int32), np.zeros(n_tokens + 1, np.int64), np.zeros(n_slots, np.int32),
        np.zeros(n_slots), np.zeros(n_slots + 1, np.int64), np.zeros(n_entries, np.int32),
        np.zeros(n_entries if valued else 0), np.zeros(n_slots), np.zeros(n_slots), np.zeros(n_tokens),
    )  # fmt: skip


@inline
def _keep(posterior, at, weight, gold, L, threshold, place):
    """place[y] = 0 for the labels kept, -1 for the others; their number and the most probable one."""
    n, best, top = 0, 0, posterior[at]
    for y in range(L):
        p = posterior[at + y]
        if p > top:
            best, top = y, p
        place[y] = -1
        if p > threshold * weight or y == gold:
            place[y] = 0
            n += 1
    if n == 0:
        place[best] = 0
        n = 1
    return n, best


@kernel
def prune(corpus, begin, end, posterior, L, threshold, cost, place, size, out, full, lost):
    """Find the doubtful part of the sequences ``begin <= i < end``.

    Parameters
    ----------
    corpus : Corpus
        All tokens labelled.
    posterior : (N * L,) float32
        Weight of the sequence times probability of the label.
    threshold : float
        Labels less probable are dropped, gold ones excepted.
    cost : (L,) float64
    place : (L,) int64
        Scratch.
    size : (4,) int64
        Receives the numbers of runs, tokens, slots and entries.
    out : Pruned
        Filled, unless it is empty.
    full, lost : (K,) float64
        If ``out`` is filled: += Σ x² weight p (1 - p), the diagonal of the Hessian as if tokens were
        independent: all of it, and what is dropped.
    """
    n_runs, n_tokens, n_slots, n_entries = 0, 0, 0, 0
    write = out.first.shape[0] > 1
    label, valued = corpus.label, corpus.value.shape[0] > 0
    for i in range(begin, end):
        weight = corpus.weight[i]
        if weight == 0.0:
            continue
        before, inside = -1, False
        for t in range(corpus.token[i], corpus.token[i + 1]):
            gold, at = corpus.gold[t], t * L
            n, best = _keep(posterior, at, weight, gold, L, threshold, place)
            doubtful = n > 1
            if doubtful and not inside:
                if write:
                    out.run[n_runs] = n_tokens
                    out.weight[n_runs] = weight
                    out.left[n_runs] = before
                    out.right[n_runs] = -1
                n_runs += 1
            elif inside and not doubtful and write:
                out.right[n_runs - 1] = best
            inside, before = doubtful, best
            low, high = corpus.start[t], corpus.start[t + 1]
            if not doubtful:
                place[best] = -1
            if write:
                for e in range(low, high):
                    k = corpus.entry[e]
                    p = posterior[at + label[k]] / weight
                    h = weight * p * (1.0 - p)
                    if valued:
                        h *= corpus.value[e] * corpus.value[e]
                    full[k] += h
                    if place[label[k]] < 0:
                        lost[k] += h
            if not doubtful:
                continue
            for e in range(low, high):
                y = label[corpus.entry[e]]
                if place[y] >= 0:
                    place[y] += 1
            if write:
                out.first[n_tokens] = n_slots
            n_tokens += 1
            for y in range(L):
                n = place[y]
                if n >= 0:
                    if write:
                        out.label[n_slots] = y
                        out.cost[n_slots] = cost[gold] if y != gold else 0.0
                        out.start[n_slots] = n_entries
                    n_slots += 1
                    place[y] = n_entries
                    n_entries += n
            if write:
                for e in range(low, high):
                    k = corpus.entry[e]
                    to = place[label[k]]
                    if to >= 0:
                        out.entry[to] = k
                        if valued:
                            out.value[to] = corpus.value[e]
                        place[label[k]] = to + 1
    size[0], size[1], size[2], size[3] = n_runs, n_tokens, n_slots, n_entries
    if write:
        out.run[n_runs] = n_tokens
        out.first[n_tokens] = n_slots
        out.start[n_slots] = n_entries


@kernel
def expect_pruned(part, weight, transition, matrix, shift, gradient, both):
    """log Z and expectations of a doubtful part.

    Parameters
    ----------
    part : Pruned
    weight : (K,) float64
    transition : (L, L) float64
        Log-scores [previous, next].
    matrix : (L, L) float64
        ``exp(transition - shift)``.
    gradient : (K,) float64
        += Σ weight E[feature count].
    both : (L, L) float64
        += Σ weight E[count of the label pair].

    Returns
    -------
    total : float
        Σ weight log Z; inf where it cannot be represented.
    """
    alpha, beta, scale = part.alpha, part.beta, part.scale
    label, first, start, entry, value = part.label, part.first, part.start, part.entry, part.value
    valued = value.shape[0] > 0
    total = 0.0
    for r in range(part.weight.shape[0]):
        begin, end = part.run[r], part.run[r + 1]
        left, right, factor = part.left[r], part.right[r], part.weight[r]
        log_z = 0.0
        for u in range(begin, end):
            a, b = first[u], first[u + 1]
            top = -np.inf
            for s in range(a, b):
                score = part.cost[s]
                for e in range(np.uint64(start[s]), np.uint64(start[s + 1])):
                    x = weight[np.uint64(entry[e])]
                    score += value[e] * x if valued else x
                if u == begin and left >= 0:
                    score += transition[left, label[s]]
                if u == end - 1 and right >= 0:
                    score += transition[label[s], right]
                beta[s] = score
                top = max(top, score)
            mass = 0.0
            for s in range(a, b):
                x = np.exp(beta[s] - top)
                beta[s] = x
                if u > begin:
                    v = 0.0
                    for q in range(first[u - 1], a):
                        v += alpha[q] * matrix[label[q], label[s]]
                    x *= v
                alpha[s] = x
                mass += x
            if not (mass > 1e-250 and mass < 1e250):
                return np.inf
            scale[u] = 1.0 / mass
            for s in range(a, b):
                alpha[s] *= scale[u]
            log_z += top + np.log(mass)
        total += factor * (log_z + (end - begin - 1) * shift)
        # Backwards: beta holds x so far, and becomes x times the sum over suffixes, over scale.
        for u in range(end - 1, begin - 1, -1):
            a, b = first[u], first[u + 1]
            for s in range(a, b):
                suffix = 1.0
                if u < end - 1:
                    suffix = 0.0
                    for q in range(b, first[u + 2]):
                        v = matrix[label[s], label[q]] * beta[q]
                        suffix += v
                        both[label[s], label[q]] += factor * alpha[s] * v
                p = factor * alpha[s] * suffix
                beta[s] *= suffix * scale[u]
                if u == begin and left >= 0:
                    both[left, label[s]] += p
                if u == end - 1 and right >= 0:
                    both[label[s], right] += p
                for e in range(np.uint64(start[s]), np.uint64(start[s + 1])):
                    gradient[np.uint64(entry[e])] += value[e] * p if valued else p
    return total
