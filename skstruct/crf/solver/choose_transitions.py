"""Which transitions have weights, and how often the corpus shows each: pairs of labels, and combinations of
what is seen with pairs of labels."""

from typing import NamedTuple

import numpy as np

from ...features.encoded import Bag
from .choose_pairs import alive_rows, check_number, list_rows
from .corpus_sums import Occurrences


class ConditionedWeights(NamedTuple):
    """Observation-conditioned transitions that have a weight."""

    pair: np.ndarray  # (M, 3) int64: combination, previous label, next label
    seen: np.ndarray  # (M,) float64
    features: Occurrences  # of each token; ``start`` has one element if there are no such transitions


def choose_label_pairs(sequences, transition, options, like=None):
    """(pairs of labels (Q, 2) that have weights, weighted count of each); ``like``: other pairs to have.

    Pairs that constraints forbid, -inf in ``transition`` (L, L), have none.
    """
    L = transition.shape[0]
    t, p, y, known = _label_pairs(sequences)
    if like is None:
        which = allowed_label_pairs(shown_label_pairs(sequences, L, options.least_seen), transition, options)
    else:
        which = like[:, 0] * L + like[:, 1]
    known &= sequences.is_complete()[t]
    weight = sequences.token_weight()[t]
    seen = np.bincount((p * L + y)[known], weight[known], minlength=L * L)[which]
    return label_pairs(which, L), seen


def _label_pairs(sequences):
    """Tokens with a predecessor, their labels (previous, own), and whether both are known."""
    t = np.flatnonzero(sequences.has_predecessor())
    p, y = sequences.gold[t - 1].astype(np.int64), sequences.gold[t].astype(np.int64)
    return t, p, y, (p >= 0) & (y >= 0)


def shown_label_pairs(sequences, L, least=0.0):
    """(L * L,) bool: the pairs of labels that the corpus shows, ``least`` times if that is above 1."""
    _, p, y, known = _label_pairs(sequences)
    return np.bincount((p * L + y)[known], minlength=L * L) >= max(least, 1)


def allowed_label_pairs(shown, transition, options):
    """The numbers of the pairs of labels that have a weight, if the corpus has ``shown`` those."""
    shown = shown | options.all_transitions
    shown &= transition.ravel() == 0.0
    return np.flatnonzero(shown & options.bigram)


def label_pairs(which, L):
    """Pairs of labels (Q, 2) from their numbers."""
    return np.stack([which // L, which % L], axis=1).astype(np.int64)


def choose_conditioned(task, sequences, transition, n_edge_rows, options, like=None):
    """The observation-conditioned transitions that have weights; with ``like`` (M, 3) those."""
    L, none = transition.shape[0], np.zeros(0)
    if task.edges.row.shape[0] == 0:
        features = Occurrences(
            np.zeros(1, np.int64), np.zeros(0, np.int32), none, np.zeros(1, np.int32), np.zeros(0, np.int32)
        )
        return ConditionedWeights(np.zeros((0, 3), np.int64), none, features)
    start, feature, token, use, known, key = _conditioned(task, sequences, L, n_edge_rows)
    if like is not None:
        pair, shown = like, (like * np.array([L * L, L, 1])).sum(axis=1)
    else:
        pair, shown = allowed_conditioned(_shown(feature, use, known, key, options), transition, options)
    known &= sequences.is_complete()[token] & np.isin(key, shown)
    weight = sequences.token_weight()[token]
    seen = np.bincount(np.searchsorted(shown, key[known]), weight[known], minlength=shown.shape[0])
    first = np.searchsorted(pair[:, 0], np.arange(n_edge_rows + 1)).astype(np.int32)
    label = (shown % (L * L)).astype(np.int32)
    return ConditionedWeights(pair, seen, Occurrences(start, feature, none, first, label))


def _conditioned(task, sequences, L, n_edge_rows):
    """The combinations of tokens: (start, combination), and by combination at a token (the token, whether it
    has a predecessor, whether both labels are known, number with both labels)."""
    no_bag = Bag(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    of_row = alive_rows(n_edge_rows, task.edge_alive)
    start, feature, _ = list_rows(task, sequences.order, task.edges, no_bag, of_row, False)
    inside = sequences.has_predecessor()
    token = np.repeat(np.arange(inside.shape[0]), np.diff(start))
    p = np.where(inside, np.roll(sequences.gold, 1), -1)[token].astype(np.int64)
    y = sequences.gold[token].astype(np.int64)
    use = inside[token]
    known = use & (p >= 0) & (y >= 0)
    return start, feature, token, use, known, (feature.astype(np.int64) * L + p) * L + y


def _shown(feature, use, known, key, options):
    """What the corpus shows, ascending: combinations, if all their pairs of labels count; else with these."""
    return np.unique(feature[use]) if options.all_states else np.unique(key[known])


def shown_conditioned(task, sequences, L, n_edge_rows, options):
    """The same of a corpus; int64."""
    if task.edges.row.shape[0] == 0:
        return np.zeros(0, np.int64)
    _, feature, _, use, known, key = _conditioned(task, sequences, L, n_edge_rows)
    return _shown(feature, use, known, key, options).astype(np.int64)


def allowed_conditioned(shown, transition, options):
    """The conditioned transitions (M, 3) that have weights, and their numbers (M,), ascending."""
    L = transition.shape[0]
    check_number(shown.shape[0] * (L * L if options.all_states else 1), "transitions that look at the input")
    if options.all_states:  # of a feature, too
        shown = (shown.astype(np.int64)[:, None] * (L * L) + np.arange(L * L)).ravel()
    shown = shown[transition.ravel()[shown % (L * L)] == 0.0]
    return np.stack([shown // (L * L), shown // L % L, shown % L], axis=1), shown
