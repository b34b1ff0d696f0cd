"""Windows: what doing it by hand would give."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from token_row_cases import LENGTHS, data, words

from skstruct import NumericFeatures, StructuredPerceptron
from skstruct.features import (
    TokenVectorizer,
    Window,
)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("before, after", [(1, 1), (2, 0), (0, 3), (0, 0)])
def test_a_window_by_hand(form, before, after):
    X, _ = data()
    given = [form(x) for x in X]
    found = Window(before, after, deltas=True).fit_transform(given)
    assert sparse.issparse(found.matrix) == (form is not np.asarray)
    dense = found.matrix.toarray() if sparse.issparse(found.matrix) else found.matrix
    expected = []
    for x in X:
        for t in range(len(x)):
            shifts = range(-before, after + 1)
            near = [x[t + s] if 0 <= t + s < len(x) else np.zeros(4) for s in shifts]
            delta = (x[min(t + 1, len(x) - 1)] - x[max(t - 1, 0)]) / 2
            expected.append(
                np.concatenate(
                    [*near, delta, [not 0 <= t + s < len(x) for s in shifts if s]]
                )
            )
    np.testing.assert_array_equal(dense, expected)
    assert found.lengths.tolist() == LENGTHS


def test_names_and_types_of_a_window():
    X, _ = data()
    window = Window(1, 0, deltas=True).fit(X)
    names = [
        *(f"{c}@-1" for c in "abcd"),
        *"abcd",
        *(f"delta:{c}" for c in "abcd"),
        "boundary@-1",
    ]
    assert (
        window.transform(X).feature_names
        == tuple(names)
        == tuple(window.get_feature_names_out())
    )
    assert window.get_feature_names_out(list("pqrs"))[0] == "p@-1"
    assert (
        Window().fit_transform([x.astype(np.float32) for x in X]).matrix.dtype
        == np.float32
    )
    assert window.n_features_in_ == 4 and len(window.transform([])) == 0
    assert window.transform([[], []]).lengths.tolist() == [0, 0]


def test_a_window_is_what_models_read_in_place():
    X, y = data()
    window = Window(1, 1, boundary=False)
    tagger = StructuredPerceptron(NumericFeatures(scale=1.0), random_state=0)
    copied = make_pipeline(window, tagger).fit(X, y)
    in_place = StructuredPerceptron(
        NumericFeatures(scale=1.0, window=(-1, 1)), random_state=0
    ).fit(X, y)
    assert copied.predict(X) == in_place.predict(X)
    np.testing.assert_allclose(
        copied[-1].decision_function(window.transform(X)), in_place.decision_function(X)
    )


def test_a_window_over_encoded_features():
    X, y = words()
    vectorizer = TokenVectorizer(["U0:%x[0,0]", "B"])
    pipeline = make_pipeline(
        vectorizer, Window(1, 0, boundary=False), StructuredPerceptron(random_state=0)
    )
    tagger = StructuredPerceptron(
        ["U0:%x[0,0]", "U1:%x[-1,0]", "B"], random_state=0
    ).fit(X, y)
    assert pipeline.fit(X, y).predict(X) == tagger.predict(X) == y
    assert (
        pipeline[-1].inputs.token is np.ndarray
        and "U0:the@-1" in pipeline[1].get_feature_names_out()
    )


def test_what_windows_refuse():
    X, _ = data()
    with pytest.raises(ValueError, match="before"):
        Window(-1).fit(X)
    with pytest.raises(ValueError, match="X holds no token"):
        Window().fit([[], []])
    with pytest.raises(
        ValueError, match="sequence 1 has 3 columns, expected 4 as in training"
    ):
        Window().fit(X).transform([[], X[0][:, :3]])
    with pytest.raises(ValueError, match="input_features must be 4 names, got 1"):
        Window().fit(X).get_feature_names_out(["a"])
    with pytest.raises(NotFittedError):
        Window().transform(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [("before", 2), ("after", 0), ("deltas", True), ("boundary", False)],
)
def test_columns_are_those_of_the_fit(name, value):
    rows, labels = [np.eye(3), np.eye(3)[:2]], [["a", "b", "a"], ["a", "b"]]
    pipeline = make_pipeline(Window(), StructuredPerceptron()).fit(rows, labels)
    wide = pipeline[0].transform(rows).matrix
    reason = f"{name}={value} differs from that of the fit"
    for each in pipeline, pickle.loads(pickle.dumps(pipeline)):
        each[0].set_params(**{name: value})
        again = pickle.loads(pickle.dumps(each))
        for refused in (
            lambda each=each: each.predict(rows),
            lambda again=again: again.predict(rows),
            lambda again=again: again[0].get_feature_names_out(),
        ):
            with pytest.raises(ValueError, match=reason):
                refused()
        each[0].set_params(**{name: Window().get_params()[name]})
        np.testing.assert_array_equal(each[0].transform(rows).matrix, wide)
