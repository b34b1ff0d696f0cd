"""Label sets: sorted, or in an order of their own."""

import numpy as np
import pytest
from model_cases import (
    CASES,
    KINDS_OF_TOKENS,
    bags,
    dicts,
    frames,
    pairs,
    rows,
    sparse_rows,
    tokens,
)

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
    """So that what is made of them prints as the labels do, those of files too."""
    X, y = [["a", "b", "a"]] * 4, [["x", "y", "x"]] * 4
    tagger = L1CRF(c1=0.1).fit(X, y)
    tagger.save(tmp_path / "model")
    for model in (tagger, skstruct.load(tmp_path / "model")):
        assert all(type(label) is str for label in model.classes_)
    assert repr(dict.fromkeys(tagger.classes_)) == "{'x': None, 'y': None}"
    assert skstruct.load(tmp_path / "model").predict(X[:1]) == y[:1]
    numbers = StructuredPerceptron(random_state=0).fit(X, [[1, 0, 1]] * 4)
    assert numbers.classes_.dtype.kind == "i"


OF_TOKENS = [
    name
    for name, (data, _) in {**CASES, **KINDS_OF_TOKENS}.items()
    if data in (tokens, pairs, dicts, bags, rows, sparse_rows, frames)
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", OF_TOKENS)
def test_the_empty_label_is_one_like_others(name, tmp_path):
    """Under another name of its first label a model is the same, in a file, too."""
    data, make = {**CASES, **KINDS_OF_TOKENS}[name]
    X, y = data(4)
    renamed = [["" if label == "L00" else label for label in labels] for labels in y]
    model, other = make().fit(X, y), make().fit(X, renamed)
    other.save(tmp_path / "model")
    for each in (other, skstruct.load(tmp_path / "model")):
        found = [
            ["L00" if label == "" else label for label in s] for s in each.predict(X)
        ]
        assert found == model.predict(X)
        assert each.score(X, renamed) == model.score(X, y)
        assert "" in {label for labels in each.predict(X) for label in labels}


def test_the_empty_label_in_sets_constraints_and_classes():
    X, y = [["a", "b"], ["c", "d"]], [["x", ""], [{"", "x"}, "x"]]
    assert L1CRF().fit(X, y).classes_.tolist() == ["", "x"]
    pairs_allowed = [("x", ""), ("", "x"), (None, "x"), (None, ""), ("", None)]
    tagger = StructuredPerceptron(constraints=pairs_allowed, random_state=0)
    labels = [["x", ""], ["x", ""]]
    assert tagger.fit(X, labels).predict(X) == labels
    tagger = StructuredPerceptron(class_weight={"": 2.0}, random_state=0)
    tagger.partial_fit(X, labels, classes=["", "x", "y"])
    assert tagger.classes_.tolist() == ["", "x", "y"]
    assert tagger.predict([["a"]], allowed=[[""]]) == [[""]]
