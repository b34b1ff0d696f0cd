"""Transformers of sequences as steps of pipelines, and those that learn nothing."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
)
from token_row_cases import data

from skstruct import StructuredPerceptron
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    Window,
)

WORDS = [["w0", "w1", "w2"], [], ["w0", "w1"], ["w0"]]
X = [np.arange(4.0 * len(words)).reshape(-1, 4) % (3 + len(words)) for words in WORDS]
Y = [["high" if row.sum() > 6 else "low" for row in rows] for rows in X]


@pytest.mark.parametrize("per", ["corpus", "sequence"])
def test_what_learns_nothing_reads_what_it_can(per):
    letters = FunctionTransformer(
        lambda tokens: [[len("".join(token))] for token in tokens]
    )
    for trained, other in (
        (WORDS, [["a", "bc"]]),
        ([["a"]], [[("a", "b")], []]),
        ([[("a",)]], [["abc"]]),
    ):
        found = TokenTransformer(letters, per=per).fit(trained).transform(other)
        expected = TokenTransformer(letters, per=per).fit_transform(other)
        assert found.matrix.tolist() == expected.matrix.tolist()
        assert found.lengths.tolist() == expected.lengths.tolist()
    counted = TokenTransformer(letters, per=per).fit(WORDS)
    stacked = TokenTransformer(
        FunctionTransformer(lambda rows: rows.sum(axis=1, keepdims=True)), per=per
    )
    for fitted, other, match in (
        (
            stacked.fit(X),
            WORDS,
            "expected rows of numbers as in training, got str 'w0'",
        ),
        (
            counted,
            X,
            "expected strings or tuples of strings as in training, got a row of 4",
        ),
    ):
        with pytest.raises(ValueError, match=match):
            fitted.transform(other)


@pytest.mark.parametrize("form", [tuple, list], ids=["tuples", "lists"])
@pytest.mark.parametrize(
    "inner",
    [StandardScaler(), OneHotEncoder(handle_unknown="ignore")],
    ids=["scaler", "one-hot"],
)
def test_numbers_that_are_written_as_strings_are_numbers(inner, form):
    text = [[form(map(str, row)) for row in rows.tolist()] for rows in X]
    for make in (
        TokenTransformer(inner),
        TokenPredictions(make_pipeline(inner, Perceptron()), cv=2),
    ):
        fitted = make.fit(X, Y)
        assert (
            abs(fitted.transform(text).matrix - fitted.transform(X).matrix).max() == 0
        )
        text[0][0] = form(["a", *"234"])
        with pytest.raises(
            ValueError,
            match="sequence 0, position 0: expected rows of numbers as in training",
        ):
            fitted.transform(text)
        text[0][0] = form(map(str, X[0][0].tolist()))


STEPS = {
    "window": lambda: Window(1, 0),
    "union": lambda: SequenceUnion(
        [("a", TokenTransformer(StandardScaler())), ("w", Window())], n_jobs=2
    ),
    "predictions": lambda: TokenPredictions(LogisticRegression(), cv=2),
    "transformer": lambda: TokenTransformer(SelectKBest(k=2)),
}
GRIDS = {
    "window": {"step__before": [0, 1]},
    "union": {
        "step__a__transformer__with_mean": [True, False],
        "step__w__after": [1, 2],
    },
    "predictions": {
        "step__classifier__C": [0.1, 1.0],
        "step__method": ["auto", "decision_function"],
    },
    "transformer": {"step__transformer__k": [1, 2]},
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_pipelines(name, tmp_path):
    X, y = data()
    X, y = X[np.tile(np.arange(6), 2)], y * 2
    step = STEPS[name]()
    assert repr(clone(step)) == repr(step)
    expected = step.fit(X, y).transform(X)
    same = pickle.loads(pickle.dumps(step)).transform(X)
    np.testing.assert_array_equal(same.matrix, expected.matrix)
    assert (
        same.feature_names
        == expected.feature_names
        == tuple(step.get_feature_names_out())
    )
    np.testing.assert_array_equal(
        FrozenEstimator(step).fit(X, y).transform(X).matrix, expected.matrix
    )
    tagger = StructuredPerceptron(max_iter=2, random_state=0)
    pipeline = Pipeline(
        [("step", STEPS[name]()), ("tag", tagger)], memory=str(tmp_path)
    )
    first = clone(pipeline).fit(X, y).predict(X)
    assert clone(pipeline).fit(X, y).predict(X) == first  # from the store
    assert clone(pipeline).set_output(transform="pandas").fit(X, y).predict(X) == first
    with sklearn.config_context(transform_output="pandas"):
        assert clone(pipeline).fit(X, y).predict(X) == first
    search = GridSearchCV(pipeline, GRIDS[name], cv=2, error_score="raise").fit(X, y)
    assert len(search.predict(X)) == 12 and cross_val_predict(
        pipeline, X, y, cv=2
    ).shape == (12,)
    frozen = make_pipeline(FrozenEstimator(step), tagger).fit(X, y)
    alone = StructuredPerceptron(max_iter=2, random_state=0).fit(expected, y)
    assert frozen.predict(X) == alone.predict(expected)
