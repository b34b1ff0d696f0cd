"""Label sets: sorted, or in an order of their own."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from model_cases import (
    CASES,
    KINDS_OF_TOKENS,
    bags,
    covering,
    dicts,
    frames,
    pairs,
    rows,
    sparse_rows,
    tokens,
)

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ShiftReduceParser,
    StructuredPerceptron,
)
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
@pytest.mark.parametrize("name", covering(OF_TOKENS))
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


NOT_KEPT = {
    "int": ([2**63, 1], "is an int that 64 bits do not hold; write str(label)"),
    "negative": ([-(2**63) - 1, 1], "is an int that 64 bits do not hold"),
    "unsigned": ([np.uint64(2**63), np.uint64(1)], "is an int that 64 bits do not"),
    "date": ([date(2020, 1, 1), date(2021, 1, 1)], "write label.isoformat()"),
    "datetime64": (list(np.arange("2020", "2022", dtype="M8[Y]")), "label.isoformat()"),
    "decimal": ([Decimal(1), Decimal(2)], "is a Decimal, .*; write str(label)"),
    "fraction": ([Fraction(1, 2), Fraction(1, 3)], "is a Fraction, .*write str(label)"),
    "bytes": ([b"a", b"b"], "is a bytes, which no file .*; write label.decode()"),
    "in a tuple": ([("a", b"x"), ("b", b"y")], "holds bytes b'.', which is a bytes"),
    "nan in a tuple": ([("a", float("nan")), ("b", 1.0)], "holds float nan, which"),
    "surrogates": (["\ud800\udc00", "b"], "holds two surrogates in a row"),
}


@pytest.mark.parametrize("labels, wrong", NOT_KEPT.values(), ids=NOT_KEPT)
def test_labels_that_no_file_keeps_are_refused(labels, wrong):
    """Else a model would be trained, and could not be saved, or loaded."""
    a, b = labels
    wrong = wrong.replace("(", r"\(").replace(")", r"\)")
    X = [["a", "b"], ["b", "a"]]
    for estimator in (
        StructuredPerceptron(),
        L1CRF(),
        BaggingShuffleAverager(),
        CalibratedTagger(cv=2),
        KBestReranker(StructuredPerceptron(), cv=2),
    ):
        for y in ([[None, a], [b, a]], [[None, {a, b}], [b, b]]):
            with pytest.raises(ValueError, match=f"y: sequence 0, position 1.*{wrong}"):
                estimator.fit(X, y)
    with pytest.raises(ValueError, match=f"classes: the label .*{wrong}"):
        StructuredPerceptron().partial_fit(X, [[None] * 2] * 2, classes=labels)


@pytest.mark.parametrize(
    "labels",
    [
        [2**63 - 1, -(2**63)],
        [float("inf"), 5e-324],
        [True, False],
        [("a", 1.5, (True, None)), ("b", 2**70, ())],
        ["\ud800", ""],
        [np.str_("a"), np.str_("b")],
    ],
)
def test_all_that_is_learned_can_be_kept(labels, tmp_path):
    X, y = [["a", "b"]] * 3, [labels] * 3
    tagger = StructuredPerceptron(random_state=0).fit(X, y)
    tagger.save(tmp_path / "model")
    assert skstruct.load(tmp_path / "model").predict(X) == y == tagger.predict(X)


@pytest.mark.parametrize("labels", [[b"a", b"b"], [2**63, 1]])
def test_a_parser_refuses_them_too(labels):
    X = [[("a", "N"), ("b", "V")]] * 2
    y = [[(2, labels[0]), (0, labels[1])]] * 2
    with pytest.raises(ValueError, match="y: sequence 0, position 0: the label"):
        ShiftReduceParser(max_iter=1).fit(X, y)
