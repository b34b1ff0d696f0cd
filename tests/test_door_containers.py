"""The table *{containers, tables} x {tokens, columns, labels, texts} x verbs*; tensors
and categories.

What a container holds is read as the same in lists; to the bit. Other verbs are tried
with some of them by ``test_kinds``.
"""

import numpy as np
import pandas
import polars
import pytest
from door_cases import (
    CONTAINERS,
    PAIRS,
    PLACES,
    SENTENCES,
    TABLES,
    Member,
    learned,
    object_array,
    tagger,
    types_in,
)
from kind_cases import Tensor

import skstruct
from skstruct import SequenceMatrix
from skstruct._data.inputs import as_tokens
from skstruct.features import TokenPredictions, TokenTransformer
from skstruct.inspection import feature_weights


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("place", ["tokens", "labels", "texts"])
def test_a_container_is_its_elements(place, kind, tmp_path):
    make = CONTAINERS[kind]
    plain, X, y = PLACES[place](str)
    plain.fit(X, y)
    other, X_other, y_other = PLACES[place](str)
    if place == "tokens":
        X_other = list(map(make, X))
    elif place == "labels":
        y_other = list(map(make, y))
    else:
        X_other = make(X)
    other.fit(X_other, y_other).save(tmp_path / "model")
    assert learned(other) == learned(plain)
    for model in (other, plain, skstruct.load(tmp_path / "model")):
        assert model.predict(X_other) == plain.predict(X)
        assert set(types_in(model.predict(X_other))) <= {str, int}
    assert learned(other.partial_fit(X_other, y_other)) == learned(
        plain.partial_fit(X, y)
    )
    if place == "labels":
        assert skstruct.metrics.token_accuracy_score(y_other, y) == 1.0


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_its_columns(kind, tmp_path):
    make = TABLES[kind]
    plain, X, y = PLACES["columns"](str)
    plain.fit(X, y)
    other = PLACES["columns"](str)[0].fit(list(map(make, X)), y)
    other.save(tmp_path / "model")
    assert learned(other) == learned(plain)
    for model in (other, plain, skstruct.load(tmp_path / "model")):
        assert model.predict(list(map(make, X))) == model.predict(X) == plain.predict(X)
    assert learned(other.partial_fit(list(map(make, X)), y)) == learned(
        plain.partial_fit(X, y)
    )


RAGGED = [*PAIRS, [("a", "DT")]]


@pytest.mark.parametrize("form", [np.array, lambda X, _: object_array(X)])
def test_equal_lengths_change_no_meaning(form):
    equal, ragged = form(PAIRS, object), object_array(RAGGED)
    assert (
        as_tokens(equal).called
        == as_tokens(ragged).called
        == "strings or tuples of strings"
    )
    assert as_tokens(equal).tokens == as_tokens(PAIRS).tokens
    assert (
        as_tokens([np.array(s, object) for s in RAGGED]).tokens
        == as_tokens(RAGGED).tokens
    )
    assert (
        as_tokens([*map(np.array, PAIRS[:1]), [], *PAIRS[1:]]).tokens
        == as_tokens(PAIRS).tokens
    )
    assert (
        as_tokens([*PAIRS[:1], *map(np.array, PAIRS[1:])]).tokens
        == as_tokens(PAIRS).tokens
    )


def test_one_column_is_that_of_a_frame():
    frame = pandas.DataFrame({"word": SENTENCES[0]})
    assert (
        as_tokens([frame.to_numpy()]).tokens
        == as_tokens([frame]).tokens
        == SENTENCES[0]
    )
    with pytest.raises(
        ValueError, match=r"X has 3 dimensions with one column: write X\[:, :, 0\]"
    ):
        as_tokens(np.array([[["a"], ["b"]]], object))


MIXED = pandas.DataFrame({"size": [1.5, 2.5, 1.5], "id": ["007", "1e3", "7"]})


def test_strings_that_look_like_numbers_are_strings():
    arrays, frames = as_tokens([MIXED.to_numpy()]), as_tokens([MIXED])
    assert arrays.called == frames.called == "strings with numbers"
    assert arrays.tokens == frames.tokens == ["007", "1e3", "7"]
    assert arrays.matrix.tolist() == frames.matrix.tolist() == [[1.5], [2.5], [1.5]]
    assert arrays[0].tolist() == MIXED.to_numpy().tolist()  # in the user's own form
    y = [["a", "b", "c"]]
    models = [tagger(["U0:%x[0,0]"]).fit([X], y) for X in (MIXED, MIXED.to_numpy())]
    assert learned(models[0]) and learned(models[1])
    for read in ("predict", "decision_function"):
        both = [
            getattr(a, read)([b])[0] for a, b in zip(models, (MIXED.to_numpy(), MIXED))
        ]
        assert np.array_equal(*both)
    with pytest.raises(ValueError, match="row 0, column 1 holds str '007'"):
        SequenceMatrix(MIXED.to_numpy(), [3])
    with pytest.raises(
        ValueError, match="position 0, column 1: expected a number, got str '007'"
    ):
        as_tokens([[[1.5, "007"]]])
    with pytest.raises(
        ValueError, match="position 1: column 'n': expected a number, got str '007'"
    ):
        as_tokens([pandas.DataFrame({"n": pandas.Series([1.5, "007"], dtype=object)})])
    with pytest.raises(ValueError, match="position 1, column 0 has no value"):
        as_tokens([np.array([["a", "b"], [None, "b"]], object)])


def test_transformers_get_arrays_with_columns_whole():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    transformer = TokenTransformer(
        make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    )
    found = transformer.fit_transform([MIXED.to_numpy()]).matrix
    assert np.asarray(found, float)[:, -1].tolist() == [1.5, 2.5, 1.5]
    assert found.shape == (3, 4)


def test_columns_are_as_many_everywhere():
    with pytest.raises(
        ValueError, match="X: sequence 1 has 1 column, expected 2 like sequence 0"
    ):
        as_tokens([np.array(PAIRS[0]), np.array([["a"]])])
    with pytest.raises(
        ValueError,
        match="X: sequence 1 is list .*, sequence 0 is an array with 2 columns",
    ):
        as_tokens([np.array(PAIRS[0]), [["a", "b"]]])


# --------------------------------------------------------------------------------------
# Categories and tensors
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("new", [[8, 7], [8, 9], [9]])
def test_categories_are_strings_whatever_they_are(new):
    frames = [
        pandas.DataFrame({"id": pandas.Categorical(ids)}) for ids in ([7, 8], new, [])
    ]
    found = as_tokens(frames)
    assert found.called == "strings or tuples of strings"
    assert found.tokens == ["7", "8", *map(str, new)]
    numbers = pandas.DataFrame({"id": new})
    message = "X: sequence 1: the column 'id' holds numbers, that of sequence 0 categories; make"
    with pytest.raises(ValueError, match=message):
        as_tokens([frames[0], numbers])
    model = tagger().fit([frames[0]], [["a", "b"]])
    with pytest.raises(
        ValueError, match="expected strings or tuples of strings as in training"
    ):
        model.predict([numbers])


ROWS = [np.eye(3), np.eye(3)[:2]]
NUMBERS = [[0, 1, 2], [0, 1]]


@pytest.mark.parametrize(
    "X",
    [
        list(map(Tensor, ROWS)),
        [list(map(Tensor, rows)) for rows in ROWS],
        object_array(ROWS),
    ],
)
@pytest.mark.parametrize(
    "y", [list(map(Tensor, NUMBERS)), [list(map(Tensor, y)) for y in NUMBERS]]
)
def test_what_has_an_array_is_one(X, y):
    plain, other = tagger().fit(ROWS, NUMBERS), tagger().fit(X, y)
    assert learned_numbers(other) == learned_numbers(plain)
    assert other.predict(X) == plain.predict(ROWS) == NUMBERS
    assert other.score(X, y) == 1.0


def learned_numbers(model):
    return [tuple(each) for each in feature_weights(model)]


def test_tensors_of_three_dimensions_and_matrices():
    rows = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(as_tokens(Tensor(rows)).matrix, rows.reshape(6, 4))
    assert (
        SequenceMatrix(Tensor(np.eye(3)), Tensor([3])).matrix.tolist()
        == np.eye(3).tolist()
    )
    with pytest.raises(ValueError, match="X is one matrix of 3 rows"):
        as_tokens(Tensor(np.eye(3)))


def test_a_tensor_that_cannot_be_read():
    class Far(Tensor):
        def __array__(self, dtype=None, copy=None):
            raise TypeError("copy it to the host first")

    for X in ([np.eye(2), Far(np.eye(2))], [Far(np.eye(2))]):
        place = f"X: sequence {len(X) - 1}: the Far cannot be read as an array: copy it to the host first"
        with pytest.raises(ValueError, match=place):
            as_tokens(X)


# --------------------------------------------------------------------------------------
# Labels that do not go together
# --------------------------------------------------------------------------------------
def test_labels_of_two_types_are_refused_by_transformers():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(
        ValueError,
        match="y: sequence 0, position 1: expected a label of type int, got str 'b'",
    ):
        TokenPredictions(DecisionTreeClassifier(), cv=2).fit_transform(
            [np.eye(2)] * 4, [[1, "b"]] * 4
        )
    found = TokenPredictions(DecisionTreeClassifier()).fit(
        [np.eye(2)] * 4, [[Member("DT"), "NN"]] * 4
    )
    assert found.classes_.tolist() == ["DT", "NN"]


@pytest.mark.parametrize(
    "first, second",
    [
        (polars.Categorical, polars.Enum(["z"])),
        (polars.Enum(["x"]), polars.Enum(["z"])),
        (polars.Enum(["x"]), polars.String),
    ],
)
def test_categories_of_polars_differ(first, second):
    def frame(text, dtype):
        return polars.DataFrame({"id": polars.Series([text], dtype=dtype)})

    assert as_tokens([frame("x", first), frame("z", second)]).tokens == ["x", "z"]
    with pytest.raises(ValueError, match="the column 'id' holds numbers, that of seq"):
        as_tokens([frame("x", first), polars.DataFrame({"id": [1]})])


def test_the_types_of_few_frames_are_asked_for(monkeypatch):
    """What it costs does not grow with the number of frames."""
    asked = []
    dtypes = pandas.DataFrame.dtypes.fget
    monkeypatch.setattr(
        pandas.DataFrame,
        "dtypes",
        property(lambda self: (asked.append(1), dtypes(self))[1]),
    )
    for n in (2, 200, 1000):
        asked.clear()
        as_tokens([pandas.DataFrame({"size": [1.0, 2.0], "word": ["a", "b"]})] * n)
        assert len(asked) <= 70
