"""Averages of final weights, and smaller tables, against arrays of numpy."""

import numpy as np
import pytest

from skstruct._core.codes import NO_AVERAGE, NO_PENALTY, PERCEPTRON
from skstruct._core.final_weights import (
    LARGEST_WEIGHT,
    Average,
    are_weights,
    count_weights,
    entries,
    in_order,
    pruned,
    rows_with_weights,
    with_rows,
)
from skstruct._core.store import Rule, made_sparse, new_store

RULE = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
R, C = 4, 3
TABLES = [
    np.array([[0.0, 2, 0], [0, 0, 0], [1, 0, -4], [0, 0, 0.5]]),
    np.array([[3.0, 0, 0], [0, 0, 0], [3, 0, 2], [0, 0, 0.0]]),
]


def store_of(table, sparse):
    store = new_store(R, C, RULE, False)
    store.value[:] = table.ravel()
    return made_sparse(store) if sparse else store


def table_of(store):
    if not store.sparse:
        return store.value.reshape(-1, C)
    keys, values = entries(store)
    table = np.zeros(store.first.shape[0] * C)
    table[keys] = values
    return table.reshape(-1, C)


@pytest.mark.parametrize("layouts", [(0, 0), (1, 1), (0, 1), (1, 0)])
@pytest.mark.parametrize("nonzero", [False, True])
def test_the_average_is_that_of_arrays(layouts, nonzero):
    average = Average(nonzero)
    for table, sparse in zip(TABLES, layouts):
        average.add(store_of(table, sparse))
    used = sum((table != 0).astype(int) for table in TABLES)
    expected = sum(TABLES) / (np.maximum(used, 1) if nonzero else 2)
    found = average.store()
    assert found.sparse == any(layouts)
    np.testing.assert_array_equal(table_of(found), expected)


def test_rows_of_an_average_may_have_numbers_in_common():
    average = Average(False)
    average.add(store_of(TABLES[0], False), np.array([0, 1, 2, 3]), 4)
    average.add(store_of(TABLES[1], False), np.array([4, 1, 0, 3]), 5)
    expected = np.zeros((5, C))
    expected[:4] += TABLES[0]
    expected[[4, 1, 0, 3]] += TABLES[1]
    np.testing.assert_array_equal(table_of(average.store()), expected / 2)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_largest_weights_are_kept(sparse):
    (kept,) = pruned([store_of(TABLES[0], sparse)], "float32", 0.5)
    expected = np.where(np.abs(TABLES[0]) >= 2, TABLES[0], 0)
    np.testing.assert_array_equal(table_of(kept), expected)
    assert count_weights(kept) == 2
    assert not sparse or kept.value.shape == (2,)


def test_a_weight_beyond_the_type_is_an_error():
    with pytest.raises(ValueError, match="'float16' holds no weight of 100000; use"):
        pruned([store_of(TABLES[0] * 25_000, False)], "float16", 1.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_are_chosen_and_reordered(sparse):
    store = store_of(TABLES[0], sparse)
    assert rows_with_weights(store).tolist() == [True, False, True, True]
    rows = np.array([3, 0])
    np.testing.assert_array_equal(table_of(with_rows(store, rows)), TABLES[0][rows])
    np.testing.assert_array_equal(table_of(in_order(store, rows)), TABLES[0][rows])


def test_what_weights_are():
    assert are_weights(np.zeros(0)) and are_weights(np.array([-LARGEST_WEIGHT]))
    for value in (np.nan, np.inf, 2 * LARGEST_WEIGHT):
        assert not are_weights(np.array([0.0, value]))
