"""Parameters, random states and odd strings come back from a file; so do estimators
within estimators.
"""

import pathlib

import numpy as np
import pytest
from inside import copy_registry, has_training, training_of
from saving_cases import TEMPLATES, assert_predicts_same, assert_same, corpus
from sklearn.base import BaseEstimator, clone

from skstruct import (
    BaggingShuffleAverager,
    FeatureTemplates,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct._saving.registry import Savable, savable
from skstruct._saving.values import LONG


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": FeatureTemplates(["U0:%x[0,0]", "B"])},
        {"features": ("U0:%x[0,0]", "B")},
        {"features": "word"},
        {"random_state": np.random.RandomState(5)},
        {
            "random_state": np.int64(5),
            "alpha": np.float64(1e-5),
            "max_iter": np.int32(2),
        },
        {
            "penalty": np.str_("l2"),
            "shuffle": np.bool_(False),
            "alpha": np.float32(0.1),
        },
        {"class_weight": {("a", "b"): 1, None: 2, "$x": 3.5, "A": 0.0}},
        {"class_weight": {"A": 1, 10**30: 2}},
    ],
)
def test_parameters(parameters, reload):
    tagger = StructuredPerceptron(
        **{"max_iter": 1, "random_state": 0, **parameters}
    ).fit(*corpus())
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    clone(loaded)


def test_random_state_goes_on(reload):
    random = np.random.RandomState(1)
    random.normal(size=3)  # leaves half of a pair of normal variates behind
    tagger = StructuredPerceptron(max_iter=1, random_state=random).fit(*corpus())
    loaded = reload(tagger)
    assert loaded.random_state is not random
    assert loaded.random_state.normal() == random.normal()
    assert loaded.random_state.randint(1000) == random.randint(1000)


def test_template_file_is_not_needed(reload, tmp_path):
    file = tmp_path / "template"
    file.write_text("U0:%x[0,0]\nB\n", encoding="utf-8")
    X, y = corpus()
    taggers = [StructuredPerceptron(f, max_iter=1).fit(X, y) for f in (file, str(file))]
    file.unlink()
    for tagger, kind in zip(taggers, (type(pathlib.Path()), str)):
        loaded = reload(tagger)
        assert loaded.features == tagger.features and type(loaded.features) is kind
        assert_predicts_same(tagger, loaded, X)


def test_strange_strings(reload):
    X = [["\ud800", "", "a\0b", "\n", "😀"], ["\udfff", "\ud83d"]]
    y = [["A", "B\0", "\ud800", "\n", "😀"], ["A", "A"]]
    tagger = StructuredPerceptron(max_iter=3, random_state=0).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    assert_predicts_same(tagger, loaded, X)


def test_tuple_labels_of_equal_length(reload):
    X, y = [["a", "b"], ["b"]], [[("N", 1), ("V", 2)], [("V", 2)]]
    try:
        tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    except ValueError:
        pytest.skip("taggers do not take such labels")
    assert_predicts_same(tagger, reload(tagger), X)


def test_numbers_that_no_float_holds(reload):
    """They are remembered as the nearest float, which costs a look-up but changes
    nothing.
    """
    X = [
        [
            {"n": 2**60 + 1},
            {"n": 2**60 + 2},
            {"n": np.float32(0.1), "b": False, "c": np.True_},
        ]
    ]
    tagger = StructuredPerceptron(max_iter=3, random_state=0).fit(X, [["A", "B", "C"]])
    loaded = reload(reload(tagger))
    assert_predicts_same(tagger, loaded, X)
    for model in (tagger, loaded):
        model.partial_fit(X, [["A", "B", "A"]])
    assert_predicts_same(tagger, loaded, X)


def test_one_token_one_label(reload):
    tagger = StructuredPerceptron(["U:%x[0,0]"], max_iter=1).fit([["a"]], [["A"]])
    assert_same(tagger, reload(tagger))


# --------------------------------------------------------------------------------------
# Other estimators
# --------------------------------------------------------------------------------------
class Wrapper(Savable, BaseEstimator):
    """A meta-estimator: its fitted attributes are estimators, arrays and plain
    values.
    """

    def __init__(self, tagger=None, others=()):
        self.tagger = tagger
        self.others = others

    def fit(self, X, y):
        self.tagger_ = clone(self.tagger).fit(X, y)
        self.estimators_ = [
            clone(self.tagger).set_params(random_state=k).fit(X, y) for k in (1, 2)
        ]
        self.weights_ = np.array([[0.5, np.nan]], np.float32)
        self.flags_ = np.array([True, False])
        self.names_ = np.array([["a", "bc"]])
        self.objects_ = np.array([None, (1, 2), "x"], dtype=object)
        self.table_ = {1: {2, 3}, "b": frozenset({("p", None)}), None: []}
        self.big_ = {(k, str(k)) for k in range(LONG + 1)}
        self.large_ = {str(k): k for k in range(LONG + 1)}
        return self


@pytest.fixture
def wrapper(monkeypatch):
    copy_registry(monkeypatch)
    return savable(Wrapper)


def test_estimators_within_estimators(wrapper, reload):
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=1, random_state=0)
    outer = wrapper(tagger, others=[clone(tagger), PassiveAggressiveTagger(C=0.5)]).fit(
        X, y
    )
    loaded = reload(outer)
    for key, value in vars(outer).items():
        assert_same(value, getattr(loaded, key), key)
    assert not has_training(loaded.tagger) and not hasattr(loaded.tagger, "classes_")
    assert (
        training_of(reload(outer, training=False).tagger_).model.nodes.moment.size == 0
    )


@pytest.mark.parametrize("keep_members", [False, True])
def test_averager(keep_members, reload):
    X, y = corpus("tuple")
    tagger = StructuredPerceptron(TEMPLATES, min_count=2, max_iter=1)
    model = BaggingShuffleAverager(
        tagger, 2, keep_members=keep_members, random_state=0
    ).fit(X, y)
    loaded = reload(model)
    assert_same(model, loaded)
    assert_predicts_same(model, loaded, X)


def test_segmenter(reload):
    X, y = ["他在北京", "我看书"], [["他", "在", "北京"], ["我", "看", "书"]]
    for tagger in (None, PassiveAggressiveTagger("char", max_iter=2, random_state=0)):
        model = Segmenter(tagger).fit(X, y)
        loaded = reload(model)
        assert_same(model, loaded)
        assert_same(model.predict(X), loaded.predict(X))
        more = ["在看我"], [["在看", "我"]]
        for each in (model, loaded):
            each.tagger_.partial_fit([list(more[0][0])], [["B", "E", "S"]])
        assert_same(model.predict(more[0]), loaded.predict(more[0]))
