"""For each token the best labelling that differs there, and what would make it the best of all."""

import numpy as np

from .explanations import Counterfactual

CLEAR = 1e-9
"""By how much, relative to the scores, another label has to be better: more than is lost in rounding."""


def best_with_each_label(emission, transition, constraints):
    """The best scores of labellings by the label of each token, (T, L).

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
    for t in range(T - 1, -1, -1):
        best[t] += suffix
        suffix = (matrix(t) + (emission[t] + suffix)[None, :]).max(axis=1)
    return best


def runners_up(best, path, score):
    """For each token the label of the best labelling that differs there, and how far it is behind.

    Parameters
    ----------
    best : ndarray of shape (T, L)
        See :func:`best_with_each_label`.
    path : list of int
    score : float
        That of the path.

    Returns
    -------
    list of int
        -1 where there is no such labelling.
    list of float
    """
    best = best.copy()
    best[np.arange(len(path)), path] = -np.inf
    other = best.argmax(axis=1)
    reached = best[np.arange(len(path)), other]
    possible = reached > -np.inf
    margins = np.where(possible, score - np.where(possible, reached, 0.0), np.inf)
    return np.where(possible, other, -1).tolist(), margins.tolist()


def best_with_each_label_of_pairs(emission, transition, trigrams, constraints):
    """:func:`best_with_each_label` where prefixes and suffixes are told apart by two labels."""
    T, L = emission.shape
    start, _, end = constraints
    into = [transition[t if transition.shape[0] > 1 else 0] + emission[t] for t in range(T)]
    first = start + emission[0]
    best = np.empty((T, L))
    if T == 1:
        best[0] = first + end
        return best
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
    return best


def smallest_change(best, y, parts, names, labels):
    """The fewest features of one token without which it has another label.

    What the rest of the sequence says about a label does not depend on the token's features. So the label
    that wins without some of them is the one with the largest ``best`` minus what they contribute; against
    one rival the fewest are those that tell the two labels apart most.

    Parameters
    ----------
    best : ndarray of shape (L,)
        The best scores of labellings by the label of this token.
    y : int
        Its label.
    parts : ndarray of shape (n, L)
        Contributions of the features that can be removed.
    names : list of str
    labels : list

    Returns
    -------
    Counterfactual or None
    """
    if not np.isfinite(best[y]) or not parts.shape[0]:
        return None
    clear = CLEAR * max(1.0, abs(float(best[y])))
    behind = best[y] - best
    behind[y] = np.inf
    if behind.min() < -clear:
        return None
    gain = parts[:, [y]] - parts
    order = np.argsort(-gain, axis=0, kind="stable")
    total = np.cumsum(np.take_along_axis(gain, order, axis=0), axis=0)
    enough = total > behind + clear
    count = np.where(enough.any(axis=0), enough.argmax(axis=0), parts.shape[0])
    if count.min() == parts.shape[0]:
        return None
    surplus = np.take_along_axis(total, np.minimum(count, parts.shape[0] - 1)[None], axis=0)[0] - behind
    rival = int(np.lexsort((-np.where(np.isfinite(surplus), surplus, -np.inf), count))[0])
    removed = np.sort(order[: count[rival] + 1, rival])
    winner = int((best - parts[removed].sum(axis=0)).argmax())
    return Counterfactual(labels[winner], [names[k] for k in removed.tolist()])
