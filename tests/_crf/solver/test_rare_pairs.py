"""Pairs of a feature and a label whose values add up to too little have no weight."""

import numpy as np

from skstruct._crf.solver.choose_pairs import WeightLayout
from skstruct._crf.solver.rare_pairs import drop_rare_pairs
from skstruct._crf.solver.token_features import TokenLists


def test_values_count_with_their_signs_and_features_without_pairs_go():
    # Feature 0: 3 with label 0, 1 with label 1; feature 1: 2 - 2 with label 0;
    # feature 2 stands at tokens without a label alone.
    lists = TokenLists(
        np.array([0, 2, 4, 5, 6]),
        np.array([0, 1, 0, 1, 0, 2], np.int32),
        np.array([1.0, 2.0, 2.0, -2.0, 1.0, 9.0]),
    )
    gold = np.array([0, 0, 1, -1], np.int32)
    label_pair = np.array([[0, 1]])
    conditioned_pair = np.zeros((0, 3), np.int64)
    layout = WeightLayout(
        np.array([10, 11, 12]),
        np.array([0, 2, 4, 6], np.int32),
        np.array([0, 1] * 3, np.int32),
        label_pair,
        conditioned_pair,
    )
    found = drop_rare_pairs(layout, lists, gold, 2, 2.0)
    assert found.row.tolist() == [10]
    assert found.first.tolist() == [0, 1]
    assert found.pair_label.tolist() == [0]
    assert found.label_pair is label_pair and found.conditioned_pair is conditioned_pair


def test_a_threshold_of_nothing_keeps_all():
    """The sum of a pair that is never shown is 0, which is not less."""
    lists = TokenLists(np.array([0, 1]), np.zeros(1, np.int32), np.zeros(0))
    layout = WeightLayout(
        np.zeros(1, np.int64),
        np.array([0, 2], np.int32),
        np.array([0, 1], np.int32),
        np.zeros((0, 2), np.int64),
        np.zeros((0, 3), np.int64),
    )
    found = drop_rare_pairs(layout, lists, np.zeros(1, np.int32), 2, 0.0)
    assert found.pair_label.tolist() == [0, 1]
