"""Features that are numbered as they are met."""

import numpy as np

from skstruct._core.codes import EACH_STEP, NO_PENALTY, PERCEPTRON
from skstruct._core.feature_table import (
    extended,
    final,
    for_training,
    growth,
    keys,
    new_table,
    table_from_keys,
    weights_of_features,
)
from skstruct._core.hashing import empty_table
from skstruct._core.store import Rule, new_clock

RULE = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, EACH_STEP)
A = np.array([[1, 2, 3], [1, 2, 4], [5, 0, 0]])
B = np.array([[5, 0, 0], [1, 3, 2], [1, 2, 3]])


def test_features_of_two_models_stay_apart():
    table, entries, rows = empty_table(), np.zeros(1, np.int64), []
    for part in (A, B):
        table, numbers = extended(table, entries, part, 0)
        rows.append(numbers.tolist())
    assert entries[0] == 4 and rows == [[0, 1, 2], [2, 3, 0]]


def test_a_table_gives_its_keys_back_and_knows_repeats():
    table, distinct = table_from_keys(A)
    features = new_table(2, RULE)._replace(table=table, entries=np.array([3]))
    assert distinct and keys(features).tolist() == A.tolist()
    assert not table_from_keys(np.concatenate([A, B]))[1]


def filled(min_count, by_weight):
    features = new_table(2, RULE, min_count, by_weight=by_weight)
    table, entries = (
        extended(features.table, features.entries, A, 0)[0],
        features.entries,
    )
    features.weights.value[:6] = np.arange(1.0, 7.0)
    if min_count > 1:
        features.seen[: 6 if by_weight else 3] = (
            [0, 1, 2, 3, 0, 1] if by_weight else [1, 2, 0]
        )
    return features._replace(table=table, entries=entries)


def test_a_cut_off_is_by_weight_or_by_row():
    clock = new_clock()
    for by_weight, expected in (True, [0, 0, 3, 4, 0, 0]), (False, [0, 0, 3, 4, 0, 0]):
        found = final(filled(2, by_weight), clock, RULE)
        assert found.entries[0] == 3 and found.weights.value.tolist() == expected
    assert final(filled(1, True), clock, RULE).weights.value.tolist() == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]


def test_growing_and_going_on_from_a_file_keep_what_is_there():
    features = filled(2, True)
    larger = features
    for step in growth(RULE, 50_000):
        larger = step(larger)
    assert (
        larger.table.shape[0] > features.table.shape[0]
        and keys(larger).tolist() == A.tolist()
    )
    assert larger.seen.shape == larger.weights.value.shape
    again = for_training(
        larger._replace(weights=weights_of_features(larger), seen=larger.seen[:6]), RULE
    )
    assert again.table is not larger.table
    for one, other in zip((*again.weights, again.seen), (*larger.weights, larger.seen)):
        np.testing.assert_array_equal(one, other)
