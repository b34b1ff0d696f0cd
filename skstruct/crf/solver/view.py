"""The corpus written out in some of the weights.

A pass over a corpus adds up the weights of each token, and hands probabilities on to them. A :class:`View`
lists for it what a token has to add up, in the one of two ways that has less of it: the weights one by one,
which is little where few weights are in use; or the rows of a table of sums, one for each part of the token
(see :mod:`.parts`).
"""

import numpy as np

from ...core.compile import kernel
from .choose_pairs import select
from .corpus_sums import LAST, Corpus, Occurrences

MANY = 6
"""A feature with so many weights has them listed in one place, not at each of its tokens."""
PART, LABEL, PART_FEATURE = 4.0, 0.75, 6.0
"""What a part of a token costs, each label of it, and a feature of a part, if a weight listed at a token
costs 1: measured with 4 to 49 labels."""


@kernel
def _list_weights(start, feature, value, first, listed, new_start, entry, new_value):
    """List the weights ``first[f] <= k < first[f + 1]`` of each feature f that is ``listed``."""
    n = 0
    for t in range(start.shape[0] - 1):
        new_start[t] = n
        for e in range(start[t], start[t + 1]):
            f = feature[e]
            if not listed[f]:
                continue
            for k in range(first[f], first[f + 1]):
                entry[n] = k
                if new_value.shape[0] > 0:
                    new_value[n] = value[e]
                n += 1
    new_start[start.shape[0] - 1] = n


def _made(kernel, n, start, feature, value, *how):
    """New arrays (starts, n items, values) by :func:`select` or :func:`_list_weights`."""
    if n == 0:
        return np.zeros_like(start), np.zeros(0, np.int32), np.zeros(0)
    found = np.empty_like(start), np.empty(n, np.int32), np.empty(n if value.shape[0] else 0)
    kernel(start, feature, value, *how, *found)
    return found


class View:
    """The corpus written out in ``pairs`` (sorted indices of feature-label pairs) and all transitions.

    Attributes
    ----------
    pairs : ndarray
    corpus : Corpus
        What tokens add up.
    sums : PartSums, ProductSums or None
        The table whose rows tokens add up, if they do.
    parts : Occurrences or ndarray
        The weights of the rows, as ``sums`` takes them.
    where : ndarray of shape (size,)
        The places of the view's weights among all.
    clamped : tuple (Corpus, Occurrences) or None
        The partially labelled sequences and their transitions.
    """

    def __init__(self, objective, pairs):
        o = objective
        self.pairs, self.sums, self.parts = pairs, None, None
        label = o.pair_label[pairs]
        n_weights = np.bincount(o.pair_feature[pairs], minlength=o.n_features)
        first = np.append(0, np.cumsum(n_weights)).astype(np.int32)
        nothing = np.zeros(o.n_tokens + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
        if o.products is not None:
            self.sums, self.parts = o.products, o.products.whole(first, label)
        elif o.grouping is not None and _is_shorter_by_parts(o, n_weights):
            self.sums = sums = o.parts
            in_use = np.where(n_weights > 0, np.arange(o.n_features), -1).astype(np.int32)
            n = np.count_nonzero(in_use[sums.features[1]] >= 0)
            self.parts = Occurrences(*_made(select, n, *sums.features, in_use), first, label)
        if self.sums is not None:
            table = *self.sums.tokens, self.sums.scores
            self.corpus = Corpus(*o.sequences_of_corpus(), *nothing, *nothing, label, label, *table)
        else:
            many, times = n_weights >= MANY, o.occurrences  # which say how much there will be
            n_listed, n_runs = int(times @ np.where(many, 0, n_weights)), int(times[many].sum())
            runs = np.where(many, first[:-1], -1).astype(np.int32)
            run_label = label.copy()
            run_label[first[1:][first[1:] > first[:-1]] - 1] += LAST
            # Runs take the numbers of their first weights for the numbers of the features.
            self.corpus = Corpus(
                *o.sequences_of_corpus(),
                *_made(_list_weights, n_listed, o.start, o.feature, o.value, first, ~many),
                *_made(select, n_runs, o.start, o.feature, o.value, runs),
                label, run_label, np.zeros(1, np.int64), *nothing[1:], np.zeros(0),
            )  # fmt: skip
        self.where = np.concatenate([pairs, np.arange(o.n_pairs, o.size)])
        self.size = self.where.shape[0]
        self.clamped = o.subcorpus(self.corpus) if o.partial.size else None


def _is_shorter_by_parts(objective, n_weights):
    """Whether tokens have less to add up by parts, if features have ``n_weights``."""
    o = objective
    listed = float(np.dot(o.occurrences, n_weights))
    by_parts = (PART + LABEL * o.n_labels) * o.grouping.n_parts + PART_FEATURE * o.grouping.n_features
    return listed > by_parts
