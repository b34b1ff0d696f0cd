"""Labels of shards that were encoded apart, under one set of numbers."""

import pytest

from skstruct._data.labels import Labels
from skstruct._shards.vocabulary import Vocabulary, merged_labels


def of(*shards):
    return [Vocabulary(labels=Labels(values)) for values in shards]


def test_labels_of_all_shards_in_one_order():
    labels, ids = merged_labels(of(["B", "D"], [], ["A", "D"]))
    assert labels.values == ["A", "B", "D"]
    assert [each.tolist() for each in ids] == [[1, 2, -1], [-1], [0, 2, -1]]


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="y holds no label"):
        merged_labels(of([], []))
    with pytest.raises(ValueError, match="the labels of shard 2 are of type int"):
        merged_labels(of(["A"], [], [1]))
