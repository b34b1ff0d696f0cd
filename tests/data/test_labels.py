"""Label sets: sorted, or in an order of their own."""

import numpy as np
import pytest

from skstruct import StructuredPerceptron
from skstruct.data.labels import Labels, encode_labels


def test_labels_are_sorted_unless_they_have_an_order():
    assert Labels(["b", "a", "c"]).values == ["a", "b", "c"]
    labels = Labels(["b", "a", "c"], in_order=True)
    assert labels.values == ["b", "a", "c"] and labels.ids == {"b": 0, "a": 1, "c": 2}
    assert labels.array.tolist() == ["b", "a", "c"]
    assert labels.decode(np.array([2, 0, 1]), np.array([0, 1, 3])) == [["c"], ["b", "a"]]
    for in_order in (False, True):
        with pytest.raises(ValueError, match="must be of one type, got int, str"):
            Labels(["a", 1], in_order=in_order)


@pytest.mark.parametrize(
    ("old", "expected"),
    [(["a", "c"], ["a", "b", "c", "d"]), (["c", "a"], ["c", "a", "d", "b"]), ([], ["b", "d"])],
)
def test_new_labels_stand_behind_an_order(old, expected):
    y, token = [["d", "b"], [None]], np.array([0, 2, 3])
    ids, labels = encode_labels(y, token, Labels(old, in_order=True), grow=True)
    assert labels.values == expected
    assert ids.tolist() == [expected.index("d"), expected.index("b"), -1]


def test_labels_that_are_missing_values():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="y: sequence 0, position 0: a label must not be NaN"):
        StructuredPerceptron().fit([["a"]], [[pandas.NA]])
