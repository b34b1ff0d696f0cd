"""The corpus written out in some of the weights.

A pass over a corpus adds up the weights of each token, and hands probabilities on to
them. A :class:`View` lists for it what a token has to add up, in the one of two ways
that has less of it: the weights one by one, which is little where few weights are in
use, but for features that have many, which are rows of a table; or the rows of a table
of sums, one for each part of the token (see :mod:`.token_parts`).

Dense rows of numbers are never written out: each token is a row of a table, whose
scores are a product of matrices (:mod:`.products`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.compile import kernel
from .corpus_sums import N_BLOCKS, Corpus, Occurrences
from .token_features import TokenLists, append, select
from .weight_rows import Features, WeightRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from .objective import CRFObjective, Objective
    from .table_sums import TableSums

PART = 4.0
"""The cost of a part of a token, where a weight that is listed at a token costs 1. This
and the next two are measured, with 4 to 49 labels.
"""
LABEL = 0.75
"""The cost of each label of such a part."""
PART_FEATURE = 6.0
"""The cost of a feature of a part."""


@kernel
def _list_weights(
    lists: TokenLists, first: np.ndarray, n_weights: np.ndarray, new: TokenLists
) -> None:
    """List the weights of each feature f, ``n_weights[f]`` from ``first[f]`` on."""
    n = 0
    for t in range(lists.start.shape[0] - 1):
        new.start[t] = n
        for e in range(lists.start[t], lists.start[t + 1]):
            f = lists.item[e]
            x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
            for k in range(first[f], first[f] + n_weights[f]):
                n = append(new, n, k, x)
    new.start[lists.start.shape[0] - 1] = n


def _make_lists(
    kernel: Callable[..., Any], n: int, lists: TokenLists, *how: Any
) -> TokenLists:
    """Make lists of n items by :func:`select` or :func:`_list_weights`."""
    new = TokenLists.new(lists.start.shape[0] - 1, n, lists.value.shape[0] > 0)
    if n:
        kernel(lists, *how, new)
    return new


def _keep_weighted(lists: TokenLists, n_weights: np.ndarray) -> TokenLists:
    """Keep the features that have weights."""
    in_use = np.where(n_weights > 0, np.arange(n_weights.shape[0]), -1).astype(np.int32)
    n = int(np.count_nonzero(in_use[lists.item] >= 0))
    return _make_lists(select, n, lists, in_use)


def _count_weights(owner: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Count the weights of each of n features, of which ``owner`` (K,) has each one's.

    Returns
    -------
    n_weights : ndarray of shape (n,)
    first : ndarray of shape (n + 1,)
        The first weight of each feature.
    """
    n_weights = np.bincount(owner, minlength=n)
    return n_weights, np.append(0, np.cumsum(n_weights)).astype(np.int32)


class Selection:
    """Some optional weights, and all those of pairs of labels.

    Parameters
    ----------
    objective : Objective
        Knows the weights.
    chosen : ndarray
        Sorted indices of optional weights.

    Attributes
    ----------
    chosen : ndarray
    n_states : int
        How many of them are pairs of a feature and a label.
    where : ndarray of shape (size,)
        The places of these weights among all.
    covers_all : bool
        Whether passes read all features of a token, those not chosen too, so that
        keeping their expectations costs next to nothing.
    is_dense : bool
        Whether features are dense rows.
    """

    covers_all = False
    is_dense = False

    def __init__(self, objective: Objective, chosen: np.ndarray) -> None:
        self.chosen = chosen
        self.n_states = int(np.searchsorted(chosen, objective.n_pairs))
        self.where = np.concatenate(
            [chosen, np.arange(objective.n_optional, objective.size)]
        )
        self.size = self.where.shape[0]


class View(Selection):
    """The corpus written out in some of the weights.

    Parameters
    ----------
    objective : CRFObjective
    chosen : ndarray
        Sorted indices of optional weights.

    Attributes
    ----------
    corpus : Corpus
        What tokens add up.
    sums : TableSums
        The table whose rows tokens add up.
    row_weights : Occurrences, ndarray or None
        Which weights the rows add up: what :meth:`.TableSums.weights_of_rows` of
        ``sums`` returns for the weights in use.
    conditioned : Occurrences
        The transitions that look at the input, with their weights in use.
    clamped : tuple of (Corpus, Occurrences) or None
        The corpus and ``conditioned`` of the partially labelled sequences alone; None
        if all labels are known.
    """

    sums: TableSums[Any]
    row_weights: Any = None

    def __init__(self, objective: CRFObjective, chosen: np.ndarray) -> None:
        super().__init__(objective, chosen)
        self.conditioned = objective.conditioned
        pairs = chosen[: self.n_states]
        conditioned = chosen[self.n_states :] - objective.n_pairs
        label = objective.pair_label[pairs]
        owner = objective.pair_feature[pairs]
        n_weights, first = _count_weights(owner, objective.n_features)
        if objective.conditioned_pair.shape[0]:
            owner = objective.conditioned_pair[conditioned, 0]
            n_conditioned, first_conditioned = _count_weights(
                owner, objective.n_edge_rows
            )
            self.conditioned = Occurrences(
                _keep_weighted(objective.conditioned.lists, n_conditioned),
                first_conditioned,
                objective.conditioned.label[conditioned],
            )
        sums: TableSums[Any] | None = None
        if objective.products is not None:
            sums = objective.products
            self.is_dense = True
            self.row_weights = objective.products.weights_of_rows(first, label)
        elif _is_shorter_by_parts(objective, n_weights):
            sums = objective.parts
            listed = _keep_weighted(objective.parts.features, n_weights)
            self.row_weights = Occurrences(listed, first, label)
        if sums is None:
            self.corpus, self.sums = _list_corpus(objective, n_weights, first, label)
        else:
            self.sums = sums
            self.covers_all = True
            self.corpus = Corpus(
                objective.sequences,
                TokenLists.new(objective.n_tokens),
                label,
                self.sums.tokens,
                self.sums.scores,
            )
        self.clamped = objective.subcorpus(self.corpus, self.conditioned)


def _list_corpus(
    objective: CRFObjective, n_weights: np.ndarray, first: np.ndarray, label: np.ndarray
) -> tuple[Corpus, WeightRows]:
    """List the weights of the tokens; features that have many are rows.

    For ``n_weights`` and ``first`` see :func:`_count_weights`; ``label`` (K,) has the
    label of each weight.
    """
    features = objective.features
    times = objective.occurrences  # which say how much there will be
    rows = WeightRows(
        Features(features, times, first, label), objective.n_labels, N_BLOCKS
    )
    few = np.where(rows.are_rows, 0, n_weights)
    entries = _make_lists(_list_weights, int(times @ few), features, first, few)
    listed = rows.tokens if rows.scores.shape[0] else TokenLists.new(0)
    return Corpus(objective.sequences, entries, label, listed, rows.scores), rows


def _is_shorter_by_parts(objective: CRFObjective, n_weights: np.ndarray) -> bool:
    """Whether tokens have less to add up by parts, if features have ``n_weights``."""
    grouping = objective.grouping
    if grouping is None:
        return False
    listed = float(np.dot(objective.occurrences, n_weights))
    of_part = PART + LABEL * objective.n_labels
    by_parts = of_part * grouping.n_parts + PART_FEATURE * grouping.n_features
    return listed > by_parts
