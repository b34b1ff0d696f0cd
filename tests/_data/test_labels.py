"""Label sets: sorted, or in an order of their own."""

import pathlib

import numpy as np
import pytest

import skstruct
from skstruct import L1CRF, StructuredPerceptron
from skstruct._data.labels import Labels, encode_labels


def test_labels_are_sorted_unless_they_have_an_order():
    assert Labels(["b", "a", "c"]).values == ["a", "b", "c"]
    labels = Labels(["b", "a", "c"], in_order=True)
    assert labels.values == ["b", "a", "c"] and labels.ids == {"b": 0, "a": 1, "c": 2}
    assert labels.array.tolist() == ["b", "a", "c"]
    assert labels.decode(np.array([2, 0, 1]), np.array([0, 1, 3])) == [
        ["c"],
        ["b", "a"],
    ]
    for in_order in (False, True):
        with pytest.raises(ValueError, match="must be of one type, got int, str"):
            Labels(["a", 1], in_order=in_order)


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        (["a", "c"], ["a", "b", "c", "d"]),
        (["c", "a"], ["c", "a", "d", "b"]),
        ([], ["b", "d"]),
    ],
)
def test_new_labels_stand_behind_an_order(old, expected):
    y, token = [["d", "b"], [None]], np.array([0, 2, 3])
    (ids, _), labels = encode_labels(y, token, Labels(old, in_order=True), grow=True)
    assert labels.values == expected
    assert ids.tolist() == [expected.index("d"), expected.index("b"), -1]


def test_labels_that_are_missing_values():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(
        ValueError, match="y: sequence 0, position 0: a label must not be NaN"
    ):
        StructuredPerceptron().fit([["a"]], [[pandas.NA]])


def test_classes_hold_the_labels_themselves(tmp_path):
    """So that what is made of them prints as the labels do, those of earlier files
    too.
    """
    X, y = [["a", "b", "a"]] * 4, [["x", "y", "x"]] * 4
    tagger = L1CRF(c1=0.1).fit(X, y)
    tagger.save(tmp_path / "model")
    old = pathlib.Path(__file__).parents[1] / "data_files" / "l1crf-4.skstruct"
    for model in (tagger, skstruct.load(tmp_path / "model"), skstruct.load(old)):
        assert all(type(label) is str for label in model.classes_)
    assert repr(dict.fromkeys(tagger.classes_)) == "{'x': None, 'y': None}"
    assert skstruct.load(tmp_path / "model").predict(X[:1]) == y[:1]
    numbers = StructuredPerceptron(random_state=0).fit(X, [[1, 0, 1]] * 4)
    assert numbers.classes_.dtype.kind == "i"


@pytest.mark.parametrize(
    ("y", "place"),
    [
        ([["x", "y"], ["x", ""]], "y: sequence 1, position 1"),
        ([["x", "y"], [{"", "x"}, "x"]], "y: sequence 1, position 0"),
    ],
)
def test_an_empty_label_is_refused(y, place):
    wrong = f"{place}: a label must not be empty: write None for a token without one"
    X = [["a", "b"], ["c", "d"]]
    with pytest.raises(ValueError, match=wrong):
        StructuredPerceptron().fit(X, y)
    with pytest.raises(ValueError, match=wrong):
        L1CRF().fit(X, y)
    with pytest.raises(ValueError, match=wrong):
        StructuredPerceptron().fit(X, [["x", "y"]] * 2).partial_fit(X, y)


def test_an_empty_label_of_an_older_model_is_known():
    offsets = np.array([0, 2])
    gold, labels = encode_labels([["", "x"]], offsets, Labels(["", "x"]), grow=True)
    assert gold.ids.tolist() == [0, 1] and labels.values == ["", "x"]
