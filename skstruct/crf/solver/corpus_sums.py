"""A corpus as sums of weights, and where the expectations of its features are added up.

Letters: T tokens, L labels, t token, y label, p previous label.
"""

from typing import NamedTuple

import numpy as np

from ...core.compile import inline, kernel


class Occurrences(NamedTuple):
    """Features of tokens, each with its weights: F features, K weights."""

    start: np.ndarray  # (N + 1,) int64: where the features of each token begin
    feature: np.ndarray  # (E,) int32
    value: np.ndarray  # (E,) float64: what the features count; empty if all are 1
    first: np.ndarray  # (F + 1,) int32: first weight of each feature
    label: np.ndarray  # (K,) int32: label of each weight; of transition weights p * L + y
    dense: tuple = ()  # crf.token_features.DenseFeatures in place of lists


LAST = 2**30
"""Added to the label of the last weight of a feature."""


class Corpus(NamedTuple):
    """A corpus as sums of weights: S sequences, longest first; N tokens; K weights in use.

    The weights of features that have few are listed for each token one by one: nothing is faster to read.
    Where a feature has many only the first is listed, and the others are found behind it. Or tokens add up
    rows of a table, of R rows.
    """

    token: np.ndarray  # (S + 1,) int64: first token of each sequence
    group: np.ndarray  # (G + 1,) int64: first sequence of each group (see crf.expectations)
    gold: np.ndarray  # (N,) int32: as in ``ChainTask``
    weight: np.ndarray  # (S,) float64: weight of each sequence
    start: np.ndarray  # (N + 1,) int64: first entry of each token
    entry: np.ndarray  # (E,) int32: weights
    value: np.ndarray  # (E,) float64: what the features count; empty if all are 1
    run_start: np.ndarray  # (N + 1,) int64: first run of each token
    run: np.ndarray  # (R,) int32: first weights of features
    run_value: np.ndarray  # (R,) float64: as ``value``
    label: np.ndarray  # (K,) int32: label of each weight
    run_label: np.ndarray  # (K,) int32: the same, with LAST
    row_start: np.ndarray  # (N + 1,) int64: first row of each token; (1,) without a table
    row: np.ndarray  # (M,) int32
    row_value: np.ndarray  # (M,) float64: as ``value``
    table: np.ndarray  # (R * row_width(L),) float64: scores
    sets: np.ndarray | tuple[()] = ()  # as in ``ChainTask``


@kernel
def row_width(L):
    """Numbers in a row of a table for L labels: whole vectors."""
    return (L + 3) // 4 * 4


@inline
def spread(features, token, factor, expected, gradient):
    """gradient[k] += factor x expected[label_k] for the weights that apply to a token."""
    for e in range(features.start[token], features.start[token + 1]):
        f = features.feature[e]
        x = factor * (features.value[e] if features.value.shape[0] > 0 else 1.0)
        for k in range(np.uint64(features.first[f]), np.uint64(features.first[f + 1])):
            gradient[k] += x * expected[np.uint64(features.label[k])]


class ExpectedCounts(NamedTuple):
    """Where expectations are added up: += Σ weight E[count]."""

    feature: np.ndarray  # (K,) float64: for the weights of a Corpus
    transition: np.ndarray  # float64: for pairs of labels
    conditioned: np.ndarray  # (M,) float64: for observation-conditioned transitions in use
    whole: Occurrences  # all features of the same tokens
    of_pairs: np.ndarray  # float64: for the weights of ``whole``; or empty
    whole_edges: Occurrences  # all observation-conditioned transitions of the same tokens
    of_edges: np.ndarray  # float64: for the weights of ``whole_edges``; or empty
    of_rows: np.ndarray  # (R * row_width(L),) float64: for the rows of the table


class Potentials(NamedTuple):
    """Scores that all tokens share."""

    transition: np.ndarray  # (L, L) float64 [previous, next]; -inf forbids
    start: np.ndarray  # (L,) float64: 0 or -inf
    end: np.ndarray  # (L,) float64: 0 or -inf
    cost: np.ndarray  # (L,) float64: cost of missing a token of each label
