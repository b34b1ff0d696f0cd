"""Which pairs of a state feature and a label have weights, and how often the corpus shows each.

Weights stand in one vector: pairs of a state feature and a label, then pairs of labels, then, with
observation-conditioned transitions, combinations with pairs of labels (:mod:`.choose_transitions`).

A pair whose gradient cannot leave [-c1, c1] at any weights has weight zero at the optimum, and is left out
from the start. A probability is between 0 and 1, so the gradient is between minus the number of times the
pair was seen and the number of times the feature was seen without the label. This drops most features of
real corpora (those seen once, under c1 = 1) and loses nothing.
"""

from typing import NamedTuple

import numpy as np

from ...core.compile import kernel
from .token_features import DenseFeatures, TokenFeatures, features_of, new_row

MANY_FEATURES = 4096
"""Features whose pairs are chosen at a time: what that needs stays in the cache."""


MOST_PAIRS = 2**31 - 1
"""They are numbered in 32 bits."""

PIECE = 2**16
"""Features of tokens that are counted at a time."""


class LabelledSequences(NamedTuple):
    """The sequences whose weight is not 0, by descending length: S sequences, N tokens."""

    order: np.ndarray  # (S,) int64: their numbers in the corpus
    lengths: np.ndarray  # (S,) int64
    token: np.ndarray  # (S + 1,) int64: first token of each
    gold: np.ndarray  # (N,) int32: label, or UNLABELLED
    weight: np.ndarray  # (S,) float64
    partial: np.ndarray  # (P,) int64: those with tokens that have no label

    @classmethod
    def of(cls, task):
        """The sequences of a ``chain.bigram.ChainTask``."""
        lengths = np.diff(task.token)
        order = np.argsort(-lengths, kind="stable")
        order = order[task.weight[order] != 0.0]
        lengths = lengths[order]
        token = np.zeros(order.shape[0] + 1, np.int64)
        np.cumsum(lengths, out=token[1:])
        found = cls(order, lengths, token, task.gold, task.weight[order], order)
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
def _list_features(
    token, anchor, left, rows, lo, width, bag_start, bag_row, bag_value, order, of_row, start, feature, value
):  # fmt: skip
    """CSR of the features of each token; returns their number. ``feature`` empty: count only.

    The arguments up to the bag are those of a task, or stand for them. ``of_row`` (R,) int32 translates rows
    to features, -1 leaves them out.
    """
    n, k = 0, 0
    write = feature.shape[0] > 0
    for i in order:
        T = token[i + 1] - token[i]
        first, n_anchors = anchor[i], anchor[i + 1] - anchor[i]
        for t in range(T):
            start[k] = n
            k += 1
            for g in range(rows.shape[0]):
                for s in range(width[g]):
                    a = t - lo[g] - s + left
                    if a < 0 or a >= n_anchors or rows[g, first + a] < 0:
                        continue
                    f = of_row[rows[g, first + a] + s]
                    if f >= 0:
                        if write:
                            feature[n] = f
                            if value.shape[0] > 0:
                                value[n] = 1.0
                        n += 1
            if bag_start.shape[0] > 1:
                for e in range(bag_start[token[i] + t], bag_start[token[i] + t + 1]):
                    if bag_row[e] < 0:
                        continue
                    f = of_row[bag_row[e]]
                    if f >= 0:
                        if write:
                            feature[n] = f
                            if value.shape[0] > 0:
                                value[n] = bag_value[e] if bag_value.shape[0] > 0 else 1.0
                        n += 1
    start[k] = n
    return n


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


@kernel
def select(start, feature, value, of_feature, new_start, new_feature, new_value):
    """Keep the features with ``of_feature >= 0``, under their new numbers; returns how many.

    The new arrays may be the old ones.
    """
    n, begin = 0, start[0]
    for t in range(start.shape[0] - 1):
        end = start[t + 1]
        new_start[t] = n
        for e in range(begin, end):
            f = of_feature[feature[e]]
            if f >= 0:
                new_feature[n] = f
                if new_value.shape[0] > 0:
                    new_value[n] = value[e]
                n += 1
        begin = end
    new_start[start.shape[0] - 1] = n
    return n


def list_rows(task, order, grid, bag, of_row, valued):
    """(starts, features, values) of each token, by running the kernel twice: for sizes, then for content."""
    start = np.zeros(int(np.diff(task.token)[order].sum()) + 1, np.int64)
    place = task.token, task.anchor, task.left, grid.row, grid.lo, grid.width, *bag, order, of_row, start
    n = _list_features(*place, np.zeros(0, np.int32), np.zeros(0))
    features, values = np.zeros(n, np.int32), np.zeros(n if valued else 0)
    if n:
        _list_features(*place, features, values)
    return start, features, values


def keep_features(features, of_feature):
    """Keep the features with ``of_feature >= 0``, under their new numbers; lists are changed in place."""
    start, feature, value, dense = features
    if dense:
        number = np.append(of_feature, np.int32(-1))[dense.number]
        return features._replace(dense=dense._replace(number=number))
    n = select(start, feature, value, of_feature, start, feature, value)
    feature.resize(n, refcheck=False)
    value.resize(n if value.shape[0] else 0, refcheck=False)
    return features


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
def alive_rows(n_rows, alive):
    """(n_rows,) int32: each row's own number; -1 for those that a count cut-off left out."""
    of_row = np.arange(n_rows, dtype=np.int32)
    if alive.shape[0]:
        of_row[alive == 0] = -1
    return of_row


def _numbered(n, chosen):
    """(n,) int32: the place of each number in ``chosen``, -1 if it is not there."""
    number = np.full(n, -1, np.int32)
    number[chosen] = np.arange(chosen.shape[0], dtype=np.int32)
    return number


def features_of_tokens(task, sequences, of_row):
    """The :class:`.TokenFeatures` of a corpus; ``of_row`` (R,) int32: the feature of each row, or -1."""
    if task.dense and task.bag.start.shape[0] == 1:
        return TokenFeatures(
            np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0),
            DenseFeatures(task.dense, sequences.places(task.token), of_row),
        )  # fmt: skip
    valued = task.bag.value.shape[0] > 0 and task.bag.start.shape[0] > 1
    return TokenFeatures(*list_rows(task, sequences.order, task.nodes, task.bag, of_row, valued))


def choose_state_weights(task, sequences, n_labels, n_rows, options, like=None):
    """The pairs of a state feature and a label that have weights; with ``like`` (StateWeights) its pairs."""
    if like is not None:
        features, pairs = features_of_tokens(task, sequences, _numbered(n_rows, like.row)), like[1:6]
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
    features = keep_features(features, _numbered(n_rows, rows))
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


def check_number(n, what):
    """Raise if there are more weights of a kind than can be numbered."""
    if n > MOST_PAIRS:
        raise ValueError(
            f"the corpus has {n} {what}, at most {MOST_PAIRS} can have weights: use all_pairs=False, or a "
            f"larger c1 or min_count"
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
    check_number(int(np.count_nonzero(keep)), "pairs of a feature and a label")
    pair = np.flatnonzero(keep)
    owner, label = pair // max(L, 1), pair % max(L, 1)
    useful = np.flatnonzero(np.bincount(owner, minlength=F))
    of_feature = _numbered(F, useful)
    pair_feature = of_feature[owner]
    first = np.searchsorted(pair_feature, np.arange(useful.shape[0] + 1)).astype(np.int32)
    return (rows[useful], first, pair_feature, label.astype(np.int32), rows[owner]), of_feature


def most_pairs(token, features, first):
    """The most pairs that the features of one sequence have."""
    n_pairs = np.diff(first)
    if features.dense:
        return int(n_pairs.sum())
    most, feature, bounds = 0, features.feature, features.start[token]
    a = 0
    while a < token.shape[0] - 1:  # some sequences at a time
        b = max(int(np.searchsorted(bounds, bounds[a] + PIECE, "right")) - 1, a + 1)
        before = np.zeros(bounds[b] - bounds[a] + 1, np.int64)
        np.cumsum(n_pairs[feature[bounds[a] : bounds[b]]], out=before[1:])
        most = max(most, int(np.diff(before[bounds[a : b + 1] - bounds[a]]).max()))
        a = b
    return most
