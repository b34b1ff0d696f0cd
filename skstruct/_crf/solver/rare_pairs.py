"""Pairs of a feature and a label that training shows too rarely for CRFsuite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..._data.places import offsets_of
from .choose_pairs import WeightLayout

if TYPE_CHECKING:
    from .token_features import TokenLists


def drop_rare_pairs(
    layout: WeightLayout,
    lists: TokenLists,
    gold: np.ndarray,
    n_labels: int,
    least: float,
) -> WeightLayout:
    """Leave the pairs out whose values add up to less than ``least``.

    Parameters
    ----------
    layout : WeightLayout
    lists : TokenLists
        The features of the tokens, numbered as in the layout.
    gold : ndarray of shape (n_tokens,)
        Labels, below 0 if not known.
    n_labels : int
    least : float
        Values count with their signs. The sum of a pair that is never shown is 0.

    Returns
    -------
    WeightLayout
    """
    n_features = layout.row.shape[0]
    value = lists.value if lists.value.shape[0] else np.ones(lists.item.shape[0])
    shape = (lists.start.shape[0] - 1, n_features)
    values = sparse.csr_matrix((value, lists.item, lists.start), shape=shape)
    known = np.flatnonzero(gold >= 0)
    ones = np.ones(known.shape[0])
    labels = sparse.csr_matrix((ones, (known, gold[known])), shape=(shape[0], n_labels))
    sums = (values.T @ labels).tocoo()
    numbers = np.arange(n_features, dtype=np.int64)
    feature = np.repeat(numbers, np.diff(layout.first))
    pair = feature * n_labels + layout.pair_label  # ascending
    summed = sums.row.astype(np.int64) * n_labels + sums.col
    at = np.minimum(np.searchsorted(pair, summed), max(pair.shape[0] - 1, 0))
    total = np.zeros(pair.shape[0])
    if pair.shape[0]:
        has_weight = pair[at] == summed
        total[at[has_weight]] = sums.data[has_weight]
    keep = total >= least
    n_pairs = np.bincount(feature[keep], minlength=n_features)
    useful = np.flatnonzero(n_pairs)
    first = offsets_of(n_pairs[useful]).astype(np.int32)
    states = layout.row[useful], first, layout.pair_label[keep]
    return WeightLayout(*states, layout.label_pair, layout.conditioned_pair)
