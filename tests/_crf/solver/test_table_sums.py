"""What a table of sums promises, whatever its rows are: parts of tokens, or the tokens
themselves.
"""

import numpy as np
import pytest

from skstruct._crf.solver.corpus_sums import Sequences, form_groups
from skstruct._crf.solver.products import ProductSums
from skstruct._crf.solver.table_sums import TableSums
from skstruct._crf.solver.token_features import DenseFeatures, TokenLists
from skstruct._crf.solver.token_parts import PartSums, find_parts
from skstruct.features.encoded import Dense

N, F, L = 12, 4, 3


@pytest.fixture
def X():
    rng = np.random.RandomState(0)
    return rng.randn(5, F)[rng.randint(0, 5, N)]  # rows that repeat


def sums_of(kind, X):
    if kind == "parts":
        start = np.arange(0, N * F + 1, F)
        lists = TokenLists(start, np.tile(np.arange(F, dtype=np.int32), N), X.ravel())
        return PartSums(*find_parts(lists, np.zeros(F, int)), L, 2)
    lengths = np.full(N // 2, 2)
    token = np.append(0, np.cumsum(lengths))
    none = np.zeros(N, np.int32)
    sequences = Sequences(
        np.arange(N // 2), token, form_groups(lengths), none, np.ones(N // 2), ()
    )
    dense = Dense(X, 1.0, False, 0, 0, True)
    scratch = np.zeros(F + 1, np.int32), np.zeros(F + 1)
    features = DenseFeatures(
        dense, np.arange(N), np.arange(F, dtype=np.int32), *scratch
    )
    return ProductSums(features, sequences, np.arange(F), L, 2)


@pytest.mark.parametrize("kind", ["parts", "products"])
@pytest.mark.parametrize("square", [False, True])
def test_scores_and_counts_are_products_of_matrices(kind, square, X):
    sums = sums_of(kind, X)
    assert isinstance(sums, TableSums)
    first = np.arange(0, F * L + 1, L, dtype=np.int32)
    label = np.tile(np.arange(L, dtype=np.int32), F)
    whole = sums.weights_of_rows(first, label)
    W = np.random.RandomState(1).randn(F, L)
    sums.score(whole, W.ravel(), map)
    table = sums.scores.reshape(-1, sums.width)
    lists = sums.tokens
    rows = [lists.item[lists.start[t] : lists.start[t + 1]] for t in range(N)]
    scores = np.array([table[row].sum(axis=0) for row in rows])[:, :L]
    np.testing.assert_allclose(scores, X @ W)

    B = np.random.RandomState(2).rand(N, L)
    for t, row in enumerate(rows):  # in both runs
        counts = sums.counts[t % 2].reshape(-1, sums.width)
        counts[row, :L] += B[t]
    gradient = np.ones(F * L)
    sums.count(whole, 2, square, gradient, map)
    want = 1.0 + (X * X if square else X).T @ B
    np.testing.assert_allclose(gradient.reshape(F, L), want)
