"""Which pairs of a state feature and a label and which transitions have weights, and how often the corpus
shows each.

Weights stand in one vector: pairs of a state feature and a label, then, with observation-conditioned
transitions, combinations of what is seen with pairs of labels, then pairs of labels.

A pair whose gradient cannot leave [-c1, c1] at any weights has weight zero at the optimum, and is left out
from the start. A probability is between 0 and 1, so the gradient is between minus the number of times the
pair was seen and the number of times the feature was seen without the label. This drops most features of
real corpora (those seen once, under c1 = 1) and loses nothing.
"""

from typing import NamedTuple

import numpy as np

from ...core.compile import kernel
from ...core.user_warnings import warn
from ...features.encoded import Bag
from .corpus_sums import Occurrences
from .token_features import (
    TokenFeatures,
    alive_rows,
    features_of,
    features_of_tokens,
    keep_features,
    list_rows,
    new_row,
    numbered,
)

MANY_FEATURES = 4096
"""Features whose pairs are chosen at a time: what that needs stays in the cache."""
MOST_PAIRS = 2**31 - 1
"""They are numbered in 32 bits."""
MANY_WEIGHTS, MANY_TIMES = 10_000_000, 20
"""More weights, and more times those that the corpus shows, are warned of."""


class LabelledSequences(NamedTuple):
    """The sequences whose weight is not 0, by descending length: S sequences, N tokens."""

    order: np.ndarray  # (S,) int64: their numbers in the corpus
    lengths: np.ndarray  # (S,) int64
    token: np.ndarray  # (S + 1,) int64: first token of each
    gold: np.ndarray  # (N,) int32: as in ``ChainTask``
    weight: np.ndarray  # (S,) float64
    partial: np.ndarray  # (P,) int64: those with tokens that have no label, or a set
    sets: np.ndarray | tuple[()]  # as in ``ChainTask``

    @classmethod
    def of(cls, task):
        """The sequences of a ``chain.bigram.ChainTask``."""
        lengths = np.diff(task.token)
        order = np.argsort(-lengths, kind="stable")
        order = order[task.weight[order] != 0.0]
        lengths = lengths[order]
        token = np.zeros(order.shape[0] + 1, np.int64)
        np.cumsum(lengths, out=token[1:])
        found = cls(order, lengths, token, task.gold, task.weight[order], order, task.sets)
        gold = task.gold[found.places(task.token)]
        sequence = np.repeat(np.arange(order.shape[0]), lengths)
        return found._replace(gold=gold, partial=np.unique(sequence[gold < 0]))

    def places(self, token):
        """(N,) where each token is in a corpus whose sequences start at ``token``, in their own order."""
        return np.arange(self.token[-1]) + np.repeat(token[:-1][self.order] - self.token[:-1], self.lengths)

    def token_weight(self):
        """(N,) the weight of each token's sequence."""
        return np.repeat(self.weight, self.lengths)

    def is_complete(self):
        """(N,) bool: whether all tokens of a token's sequence have labels."""
        complete = np.ones(self.lengths.shape[0], bool)
        complete[self.partial] = False
        return np.repeat(complete, self.lengths)

    def has_predecessor(self):
        """(N,) bool: whether a token is not the first of its sequence."""
        inner = np.ones(int(self.token[-1]), bool)
        inner[self.token[:-1][self.lengths > 0]] = False
        return inner


class StateWeights(NamedTuple):
    """Pairs of a state feature and a label: F features, K pairs in the order of features, then labels."""

    features: TokenFeatures
    row: np.ndarray  # (F,) int64: weight row of each feature
    first: np.ndarray  # (F + 1,) int32: first pair of each feature
    pair_feature: np.ndarray  # (K,) int32
    pair_label: np.ndarray  # (K,) int32
    pair_row: np.ndarray  # (K,) int64: weight row of the feature
    seen: np.ndarray  # (K,) float64: weighted count in the sequences whose labels are all given
    occurrences: np.ndarray  # (F,) int64: how often each feature is not zero
    largest: np.ndarray  # (F,) float64: the largest value of each


# --------------------------------------------------------------------------------------------------
# Kernels
# --------------------------------------------------------------------------------------------------
@kernel
def _count(
    token, start, feature, value, dense, gold, weight, L, sizes, row_feature, row_value,
    total, unknown, seen, occurrences, largest,
):  # fmt: skip
    """Weighted occurrences of each feature: all, at unlabelled tokens, with each gold label.

    ``seen`` (F * L,), ``occurrences`` and ``largest`` (F,) may be empty, and are then not counted; ``sizes``:
    count absolute values in ``seen``. For ``row_feature`` and ``row_value`` see :func:`.features_of`.
    """
    for i in range(token.shape[0] - 1):
        T = token[i + 1] - token[i]
        for k in range(T):
            t = token[i] + k
            begin, end, which, values = features_of(
                start, feature, value, dense, token[i], k, T, row_feature, row_value
            )
            for e in range(begin, end):
                f = which[e]
                x = values[e] if values.shape[0] > 0 else 1.0
                total[f] += weight[t] * abs(x)
                if largest.shape[0] > 0:
                    occurrences[f] += 1
                    largest[f] = max(largest[f], abs(x))
                if seen.shape[0] > 0:
                    if gold[t] < 0:
                        unknown[f] += weight[t] * abs(x)
                    else:
                        seen[f * L + gold[t]] += weight[t] * (abs(x) if sizes else x)


def _choose(total, unknown, seen, signed, options, keep):
    """Which pairs can have a gradient outside [-c1, c1] at some weights, of some features.

    ``signed``: values may be negative, and ``seen`` says nothing of the bounds.
    """
    if signed:
        keep[:] = total > options.c1
    else:
        np.greater(seen + unknown, options.c1, out=keep)
        keep |= total - seen > options.c1
    if not options.all_states:
        keep &= (seen != 0.0) & (seen >= options.least_seen)


# --------------------------------------------------------------------------------------------------
# State features
# --------------------------------------------------------------------------------------------------
def choose_state_weights(task, sequences, n_labels, n_rows, options, like=None):
    """The pairs of a state feature and a label that have weights; with ``like`` (StateWeights) its pairs."""
    if like is not None:
        features, pairs = features_of_tokens(task, sequences, numbered(n_rows, like.row)), like[1:6]
    else:
        features = features_of_tokens(task, sequences, alive_rows(n_rows, task.node_alive))
        features, pairs = _screen(features, sequences, n_labels, n_rows, options)
    row, first, pair_feature, pair_label, pair_row = pairs
    weight = sequences.token_weight()
    weight[~sequences.is_complete()] = 0.0  # partial labellings are left to the clamped pass
    n = row.shape[0]
    seen, occurrences, largest = np.zeros(n * n_labels), np.zeros(n, np.int64), np.zeros(n)
    _count_features(features, sequences, weight, n, n_labels, False, seen, occurrences, largest)
    seen = seen[pair_feature * np.int64(n_labels) + pair_label]
    return StateWeights(features, *pairs, seen, occurrences, largest)


def _screen(features, sequences, L, n_rows, options):
    """The features kept, and (row, first, pair_feature, pair_label, pair_row) of the pairs that can have a
    weight; the numbers of ``features`` are those of weight rows."""
    rows = np.flatnonzero(count_rows(features, sequences, n_rows) > options.c1)
    features = keep_features(features, numbered(n_rows, rows))
    counts = count_pairs(features, sequences, L, rows.shape[0])
    pairs, of_feature = screened(rows, *counts, features.signed, options)
    if pairs[0].shape[0] < rows.shape[0]:
        features = keep_features(features, of_feature)
    return features, pairs


def _count_features(features, sequences, weight, n, L, sizes, seen, occurrences=None, largest=None):
    """(total, unknown) of n features; see :func:`_count`."""
    total, unknown = np.zeros(n), np.zeros(n)
    _count(
        sequences.token, *features, sequences.gold, weight, L, sizes, *new_row(features.dense),
        total, unknown, seen, np.zeros(0, np.int64) if occurrences is None else occurrences,
        np.zeros(0) if largest is None else largest,
    )  # fmt: skip
    return total, unknown


def count_rows(features, sequences, n_rows):
    """(n_rows,) weighted occurrences of each feature."""
    return _count_features(features, sequences, sequences.token_weight(), n_rows, 0, False, np.zeros(0))[0]


def count_pairs(features, sequences, L, n):
    """Weighted occurrences of n features: (n,) all, (n,) at unlabelled tokens, (n * L,) with each label.

    Of sizes, since values of both signs can add up to zero where the corpus does show a pair.
    """
    seen = np.zeros(n * L)
    return *_count_features(features, sequences, sequences.token_weight(), n, L, True, seen), seen


def check_number(n, n_shown, what, every):
    """Raise if there are more weights of a kind than can be numbered; warn if they are many for what the
    corpus shows. ``every``: whether other ones take part, too."""
    if n > MOST_PAIRS:
        raise ValueError(
            f"the corpus has {n} {what}, at most {MOST_PAIRS} can have weights: use all_pairs=False, or a "
            f"larger c1 or min_count"
        )
    if every and n > max(MANY_WEIGHTS, MANY_TIMES * n_shown):
        warn(
            f"{n} {what} have weights, of which the corpus shows {n_shown}: "
            f"all_pairs='transitions' or False takes a fraction of time and memory"
        )


def screened(rows, total, unknown, seen, signed, options):
    """The pairs that can have a weight, of features with these counts (see :func:`count_pairs`).

    Parameters
    ----------
    rows : ndarray of shape (F,)
        The weight row of each feature.
    signed : bool
        Whether values may be negative.
    options : ObjectiveOptions

    Returns
    -------
    pairs : tuple (row, first, pair_feature, pair_label, pair_row)
        As in :class:`StateWeights`.
    of_feature : ndarray of shape (F,)
        The new number of each feature, -1 if it has no pair.
    """
    F = rows.shape[0]
    L = seen.shape[0] // max(F, 1)
    keep = np.zeros((F, L), np.bool_)
    by_feature = seen.reshape(F, L)
    for a in range(0, F, MANY_FEATURES):
        part = slice(a, a + MANY_FEATURES)
        _choose(total[part, None], unknown[part, None], by_feature[part], signed, options, keep[part])
    n_shown = int(np.count_nonzero(keep & (by_feature != 0.0))) if options.all_states else 0
    check_number(int(np.count_nonzero(keep)), n_shown, "pairs of a feature and a label", options.all_states)
    pair = np.flatnonzero(keep)
    owner, label = pair // max(L, 1), pair % max(L, 1)
    useful = np.flatnonzero(np.bincount(owner, minlength=F))
    of_feature = numbered(F, useful)
    pair_feature = of_feature[owner]
    first = np.searchsorted(pair_feature, np.arange(useful.shape[0] + 1)).astype(np.int32)
    return (rows[useful], first, pair_feature, label.astype(np.int32), rows[owner]), of_feature


# --------------------------------------------------------------------------------------------------
# Transitions
# --------------------------------------------------------------------------------------------------
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
    nothing = Occurrences(
        np.zeros(1, np.int64), np.zeros(0, np.int32), none, np.zeros(1, np.int32), np.zeros(0, np.int32)
    )
    pair, number = np.zeros((0, 3), np.int64) if like is None else like, np.zeros(0, np.int64)
    if task.edges.row.shape[0]:
        start, feature, token, labels = _conditioned(task, sequences, n_edge_rows, L)
        if like is None:
            pair = allowed_conditioned(*_counts(feature, token, labels, sequences, L), transition, options)
        number = (pair * np.array([L * L, L, 1])).sum(axis=1)
    if not number.shape[0]:
        return ConditionedWeights(pair, none, nothing)
    key = feature.astype(np.int64) * (L * L) + labels
    known = (labels >= 0) & sequences.is_complete()[token] & np.isin(key, number)
    weight = sequences.token_weight()[token]
    seen = np.bincount(np.searchsorted(number, key[known]), weight[known], minlength=number.shape[0])
    first = np.searchsorted(pair[:, 0], np.arange(n_edge_rows + 1)).astype(np.int32)
    label = (number % (L * L)).astype(np.int32)
    useful = np.where(np.diff(first) > 0, np.arange(n_edge_rows), -1).astype(np.int32)
    features = keep_features(TokenFeatures(start, feature, none), useful)
    return ConditionedWeights(pair, seen, Occurrences(*features[:3], first, label))


UNKNOWN, OUTSIDE = -1, -2
"""In place of a pair of labels: one is not known; there is no token before."""


def _conditioned(task, sequences, n_edge_rows, L):
    """The combinations of tokens: (start, combination), and of each the token and the pair of labels there,
    p * L + y."""
    no_bag = Bag(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    of_row = alive_rows(n_edge_rows, task.edge_alive)
    start, feature, _ = list_rows(task, sequences.order, task.edges, no_bag, of_row, False)
    gold = sequences.gold.astype(np.int64)
    before = np.roll(gold, 1)
    labels = np.where((before >= 0) & (gold >= 0), before * L + gold, UNKNOWN)
    labels[~sequences.has_predecessor()] = OUTSIDE
    token = np.repeat(np.arange(gold.shape[0]), np.diff(start))
    return start, feature, token, labels[token]


def _counts(feature, token, labels, sequences, L):
    """Weighted counts: (keys, counts); see :func:`count_conditioned`."""
    use = np.flatnonzero(labels != OUTSIDE)
    at, labels = feature[use].astype(np.int64) * (L * L + 2), labels[use]
    keys = np.concatenate([at + np.where(labels >= 0, labels, L * L), at + L * L + 1])
    return added_up(keys, np.tile(sequences.token_weight()[token[use]], 2))


def added_up(keys, counts):
    """Distinct keys, ascending, and the sum of the counts of each."""
    keys, which = np.unique(keys, return_inverse=True)
    return keys, np.bincount(which, counts, minlength=keys.shape[0])


def count_conditioned(task, sequences, L, n_edge_rows):
    """How often combinations occur at tokens with a predecessor: (keys, counts).

    A key is the combination, times L * L + 2, and what is counted: p * L + y for two labels, L * L where one
    is not known, L * L + 1 for all.
    """
    if task.edges.row.shape[0] == 0:
        return np.zeros(0, np.int64), np.zeros(0)
    _, *found = _conditioned(task, sequences, n_edge_rows, L)
    return _counts(*found, sequences, L)


def allowed_conditioned(keys, counts, transition, options):
    """The conditioned transitions (M, 3) that can have a weight, of these counts."""
    L = transition.shape[0]
    n = L * L
    feature, what = keys // (n + 2), keys % (n + 2)
    unknown, total = np.zeros((2, int(feature.max(initial=-1)) + 1))
    unknown[feature[what == n]], total[feature[what > n]] = counts[what == n], counts[what > n]
    shown = what < n
    feature, seen, number = feature[shown], counts[shown], (feature * n + what)[shown]
    keep = (seen + unknown[feature] > options.c1) | (total[feature] - seen > options.c1)
    many = np.flatnonzero(total > options.c1)
    here = number[keep]
    n_pairs = many.shape[0] * n if options.all_states else here.shape[0]
    check_number(n_pairs, here.shape[0], "transitions that look at the input", options.all_states)
    if options.all_states:  # of a combination, too
        every = (many[:, None] * n + np.arange(n)).ravel()
        here = np.setdiff1d(every, number[~keep], assume_unique=True)
    here = here[transition.ravel()[here % n] == 0.0]
    return np.stack([here // n, here // L % L, here % L], axis=1)
