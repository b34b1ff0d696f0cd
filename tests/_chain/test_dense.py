"""Tokens that are dense rows of numbers: weights are, bit for bit, those of sparse
rows.
"""

import numpy as np
import pytest
from inside import tables_of
from scipy import sparse

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._chain.dense import new_dense_work
from skstruct.features.encoded import Dense


def rows(seed, zeros=0.3):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(T, 5)) for T in (1, 4, 7, 3, 6)]
    for x in X:
        x[rng.random(x.shape) < zeros] = 0.0
    return X, [rng.choice(["a", "b", "c"], len(x)).tolist() for x in X]


def weights_of(table):
    return sorted(row for row in table.tolist() if any(row))


@pytest.mark.parametrize("zeros", [0.0, 0.8])
@pytest.mark.parametrize("learner", [StructuredPerceptron, PassiveAggressiveTagger])
def test_dense_and_sparse_rows_make_the_same_weights(learner, zeros):
    X, y = rows(0, zeros)
    dense = learner(max_iter=5, random_state=0).fit(X, y)
    other = learner(max_iter=5, random_state=0).fit(list(map(sparse.csr_matrix, X)), y)
    found, want = tables_of(dense), tables_of(other)
    assert any(table.any() for table in found.values())
    np.testing.assert_array_equal(found["edges"], want["edges"])
    # Sparse rows number columns as they meet them.
    assert weights_of(found["nodes"]) == weights_of(want["nodes"])
    assert dense.predict(X) == other.predict(list(map(sparse.csr_matrix, X)))


def test_scratch_has_a_place_for_each_feature_of_a_window():
    dense = Dense(np.zeros((9, 5)), 1.0, True, -1, 1, True)
    work = new_dense_work(dense, 4, training=True)
    assert work.row.shape == (3 * 5 + 1,)
    assert work.delta.shape == (4 * 16,)
    assert new_dense_work(dense, 4, training=False).delta.shape == (0,)
    assert new_dense_work((), 4, training=True) == ()
