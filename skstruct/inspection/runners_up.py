"""For each token the best labelling that differs there."""

import numpy as np


def runners_up(emission, transition, constraints, path):
    """For each token the label of the best labelling that differs there, and how far it is behind.

    With α the best scores of prefixes and β those of suffixes, the best labelling that gives y to t
    scores ``α[t, y] + β[t, y]``.
    """
    T, L = emission.shape
    start, _, end = constraints
    matrix = (lambda t: transition[t]) if transition.shape[0] > 1 else (lambda t: transition[0])
    best, suffix = np.empty((T, L)), end.copy()
    best[0] = start + emission[0]
    for t in range(1, T):
        best[t] = (best[t - 1][:, None] + matrix(t)).max(axis=0) + emission[t]
    score = start[path[0]] + emission[0, path[0]] + end[path[-1]]
    for t in range(T - 1, -1, -1):
        best[t] += suffix
        suffix = (matrix(t) + (emission[t] + suffix)[None, :]).max(axis=1)
        if t:
            score += matrix(t)[path[t - 1], path[t]] + emission[t, path[t]]
    return _margins(best, path, score)


def _margins(best, path, score):
    """The best other label of each token and its margin, given the best score with each label (T, L)."""
    best[np.arange(len(path)), path] = -np.inf
    other = best.argmax(axis=1)
    reached = best[np.arange(len(path)), other]
    possible = reached > -np.inf
    margins = np.where(possible, score - np.where(possible, reached, 0.0), np.inf)
    return np.where(possible, other, -1).tolist(), margins.tolist()


def runners_up_of_pairs(emission, transition, trigrams, constraints, path):
    """:func:`runners_up` where prefixes and suffixes are told apart by two labels."""
    T, L = emission.shape
    start, _, end = constraints
    into = [transition[t if transition.shape[0] > 1 else 0] + emission[t] for t in range(T)]
    first = start + emission[0]
    score = first[path[0]] + end[path[-1]]
    for t in range(1, T):
        score += into[t][path[t - 1], path[t]]
        score += trigrams[path[t - 2] + 1 if t > 1 else 0, path[t - 1], path[t]]
    best = np.empty((T, L))
    if T == 1:
        best[0] = first + end
        return _margins(best, path, score)
    prefix = [None, first[:, None] + trigrams[0] + into[1]]  # [t][p, y]: y at t, p before it
    for t in range(2, T):
        prefix.append((prefix[-1][:, :, None] + trigrams[1:]).max(axis=0) + into[t])
    suffix = np.broadcast_to(end, (L, L))  # [p, y]: what follows
    for t in range(T - 1, 0, -1):
        whole = prefix[t] + suffix
        best[t] = whole.max(axis=0)
        if t == 1:
            best[0] = whole.max(axis=1)
        suffix = (trigrams[1:] + (into[t] + suffix)[None]).max(axis=2)
    return _margins(best, path, score)
