"""Rows of numbers as sequences: slices, other containers, and errors that name the
place.
"""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.utils import shuffle

from skstruct import SequenceMatrix, StructuredPerceptron

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

VALUES = np.arange(14.0).reshape(7, 2)
LENGTHS = [2, 0, 3, 1, 1]
PARTS = [VALUES[:2], VALUES[2:2], VALUES[2:5], VALUES[5:6], VALUES[6:]]

KINDS = {
    "dense": VALUES,
    "float32": VALUES.astype(np.float32),
    "fortran": np.asfortranarray(VALUES),
    "csr": sparse.csr_matrix(VALUES),
    "coo": sparse.coo_array(VALUES),
    "frame": pandas.DataFrame(VALUES, columns=["a", "b"]),
    "polars": polars.DataFrame(VALUES, schema=["a", "b"]),
}


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def assert_is(X, parts):
    assert isinstance(X, SequenceMatrix) and len(X) == len(parts) == X.shape[0]
    for mine, part in zip(X, parts):
        np.testing.assert_array_equal(dense(mine), part)
    np.testing.assert_array_equal(dense(X.matrix), np.concatenate([VALUES[:0], *parts]))
    assert (
        X.lengths.tolist()
        == np.diff(X.offsets).tolist()
        == [len(part) for part in parts]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_slices_are_those_of_a_list(kind):
    X = SequenceMatrix(KINDS[kind], LENGTHS)
    assert_is(X, PARTS)
    for key in (
        slice(None),
        slice(1, 3),
        slice(3, 1),
        slice(None, None, -1),
        slice(None, None, 2),
        slice(-2, None),
    ):
        assert_is(X[key], PARTS[key])
        assert_is(X[key, ...], PARTS[key])
    for key in ([], [4, 0, 2], np.array([2, 2, -1]), (3, 3)):
        key = list(key) if isinstance(key, tuple) else key
        assert_is(X[key], [PARTS[i] for i in key])
        assert_is(X[(key, ...)], [PARTS[i] for i in key])
    mask = np.array([True, False, True, False, True])
    for key in (mask, mask.tolist()):
        assert_is(X[key], [part for part, use in zip(PARTS, mask) if use])
    for i in (0, 2, -1, np.int64(3)):
        np.testing.assert_array_equal(dense(X[i]), PARTS[i])
    assert_is(X[[4, 2, 0]][1:][[1, 0]], [PARTS[0], PARTS[2]])
    assert_is(pickle.loads(pickle.dumps(X[1:4])), PARTS[1:4])
    for key in (5, -6, [7], [0.5], mask[:2], "a", (0, 1), [[0]]):
        with pytest.raises((IndexError, TypeError)):
            X[key]


def test_contiguous_slices_share_memory():
    X = SequenceMatrix(VALUES, LENGTHS)
    assert X.matrix is VALUES
    assert np.shares_memory(X[1:3].matrix, VALUES) and np.shares_memory(X[2], VALUES)
    rows = sparse.csr_matrix(VALUES)
    S = SequenceMatrix(rows, LENGTHS)
    assert np.shares_memory(S[2:4].matrix.data, rows.data)


def test_names():
    X = SequenceMatrix(KINDS["csr"], LENGTHS, feature_names=["a", "b"])
    for each in (X, X[1:], X[[0, 2]], pickle.loads(pickle.dumps(X))):
        assert each.feature_names == ("a", "b")
    for frame in ("frame", "polars"):
        assert SequenceMatrix(KINDS[frame], LENGTHS).feature_names == ("a", "b")
    assert SequenceMatrix(VALUES, LENGTHS).feature_names is None
    odd = ["\ud800", "ü" * 3]
    assert pickle.loads(
        pickle.dumps(SequenceMatrix(VALUES, LENGTHS, feature_names=odd))
    ).feature_names == (*odd,)


def test_what_scikit_learn_splits():
    X = SequenceMatrix(sparse.csr_array(np.eye(4)[np.arange(24) % 4]), [3] * 8)
    y = [["a", "b", "c"], ["d", "a", "b"], ["c", "d", "a"], ["b", "c", "d"]] * 2
    y = [y[i] for i in range(8)]
    y = X.split([label for labels in y for label in labels])
    train, test, y_train, y_test = train_test_split(X, y, test_size=3, random_state=0)
    assert len(train) == 5 and len(test) == 3 and isinstance(test, SequenceMatrix)
    assert len(shuffle(X, random_state=0)) == 8
    tagger = StructuredPerceptron(random_state=0)
    predicted = cross_val_predict(tagger, X, y, cv=KFold(4))
    assert predicted.shape == (8,) and [len(labels) for labels in predicted] == [3] * 8
    assert len(list(GroupKFold(2).split(X, y, groups=[0, 1] * 4))) == 2


def test_split():
    X = SequenceMatrix(VALUES, LENGTHS)
    assert X.split(list("abcdefg")) == [["a", "b"], [], ["c", "d", "e"], ["f"], ["g"]]
    assert [part.tolist() for part in X.split(np.arange(7))] == [
        [0, 1],
        [],
        [2, 3, 4],
        [5],
        [6],
    ]
    assert [
        list(part) for part in X.split(pandas.Series(range(7), index=range(7, 14)))
    ][2] == [2, 3, 4]
    with pytest.raises(ValueError, match="one entry a token, 7, got 3"):
        X.split("abc")


def test_from_padded():
    padded = np.full((3, 3, 2), np.nan)
    padded[0, :2], padded[2] = 1.0, 2.0
    X = SequenceMatrix.from_padded(padded)
    assert X.lengths.tolist() == [2, 0, 3] and not np.isnan(X.matrix).any()
    mask = np.array([[False, True, True], [True, False, False], [True, True, True]])
    X = SequenceMatrix.from_padded(np.arange(18.0).reshape(3, 3, 2), mask)
    assert_is(
        X,
        [
            np.array([[2.0, 3], [4, 5]]),
            np.array([[6.0, 7]]),
            np.arange(12.0, 18).reshape(3, 2),
        ],
    )
    padded[2, 1, 0] = np.nan
    with pytest.raises(
        ValueError, match=r"X: sequence 2, position 1, column 0: nan is not finite"
    ):
        SequenceMatrix.from_padded(padded)
    with pytest.raises(
        ValueError, match="sequence 0: the mask has padding between tokens"
    ):
        SequenceMatrix.from_padded(np.zeros((1, 3, 1)), [[1, 0, 1]])
    with pytest.raises(ValueError, match="three dimensions"):
        SequenceMatrix.from_padded(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"mask must be bool of shape \(1, 3\)"):
        SequenceMatrix.from_padded(np.zeros((1, 3, 1)), [True])


@pytest.mark.parametrize("library", [pandas, polars])
def test_from_frame(library):
    table = {
        "who": ["u", "u", "v", "w", "w"],
        "x": [1.5, 2, 3, 4, 5],
        "on": [True, False, True, True, False],
    }
    df = library.DataFrame({**table, "label": list("abcab")})
    X, y = SequenceMatrix.from_frame(df, "who", label="label")
    assert_is(
        X,
        [
            np.array([[1.5, 1], [2, 0]]),
            np.array([[3.0, 1]]),
            np.array([[4.0, 1], [5, 0]]),
        ],
    )
    assert y == [["a", "b"], ["c"], ["a", "b"]] and X.feature_names == ("x", "on")
    X = SequenceMatrix.from_frame(
        df.lazy() if library is polars else df, "who", columns=["on"]
    )
    assert X.matrix.shape == (5, 1)
    for by, columns, message in (
        ("nobody", None, "no column 'nobody'; it has who, x, on, label"),
        (
            "label",
            ["x"],
            "the rows of 'label' = 'a' are not adjacent: row 3 starts them again",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            SequenceMatrix.from_frame(df, by, columns=columns)


def broken(value=np.nan):
    array = np.ones((6, 20))
    array[5, 17] = value
    return array


ONE = np.ones((3, 2))
ERRORS = [
    (
        np.ones((50, 3)),
        "X is one matrix of 50 rows; say where its sequences end: SequenceMatrix(X, lengths)",
    ),
    (
        sparse.eye(50),
        "X is one matrix of 50 rows; say where its sequences end: SequenceMatrix(X, lengths)",
    ),
    (
        pandas.DataFrame(ONE),
        "X is one table of 3 rows; say where its sequences end: SequenceMatrix.from_frame(df, by), or a list",
    ),
    (np.ones((2, 3, 4, 5)), "X has 4 dimensions"),
    ([ONE, [], ONE[:, :1]], "X: sequence 2 has 1 column, expected 2 like sequence 0"),
    ([ONE, sparse.eye(2)], "X: sequence 1 is sparse, sequence 0 is dense"),
    ([sparse.eye(2), ONE], "X: sequence 1 is dense, sequence 0 is sparse"),
    (
        [ONE[:, 0]],
        "X: sequence 0 is one-dimensional; a series of numbers needs one row a token: x.reshape(-1, 1)",
    ),
    (
        [np.ones((1, 20)), broken()],
        "X: sequence 1, position 5, column 17: nan is not finite",
    ),
    (
        [pandas.DataFrame(broken(np.inf), columns=[f"a{c}" for c in range(20)])],
        "X: sequence 0, position 5, column 17 ('a17'): inf is not finite",
    ),
    (
        [sparse.csr_array(broken())],
        "X: sequence 0, position 5, column 17: nan is not finite",
    ),
    (
        [[[1, 2], [3]]],
        "X: sequence 0, position 1 has 1 column, expected 2 like position 0",
    ),
    (
        [[[1, 2], ["x", 3]]],
        "X: sequence 0, position 1, column 0: expected a number, got str 'x'",
    ),
    (
        [ONE.astype(object), np.array([[1, "x"]], object)],
        "X: sequence 1, position 0, column 1: expected a number",
    ),
    ([ONE, "text"], "X: sequence 1 must be rows of numbers, got str 'text'"),
    ([ONE, 3], "X: sequence 1 must be rows of numbers, got int 3"),
    (
        [[[1, 2]], [[1, 2], 3]],
        "X: sequence 1, position 1: expected a row of numbers, got int 3",
    ),
    (
        [ONE, np.ones((2, 2, 2))],
        "X: sequence 1 must have two dimensions, tokens and columns, got 3",
    ),
]


@pytest.mark.parametrize(
    "X, message", ERRORS, ids=[message[:40] for _, message in ERRORS]
)
def test_errors_name_the_place(X, message):
    with pytest.raises(ValueError) as caught:
        StructuredPerceptron().fit(X, [["a"]] * len(LENGTHS))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "matrix, lengths, names, message",
    [
        (VALUES, [3, 3], None, "lengths add up to 6, but the matrix has 7 rows"),
        (VALUES, [8, -1], None, "lengths must not be negative, got -1 for sequence 1"),
        (VALUES, 7, None, "lengths must be a list of integers, got int 7"),
        (VALUES, [3.5, 3.5], None, "lengths must be a list of integers"),
        (VALUES, [7], ["a"], "feature_names must be 2 names, one a column, got 1"),
        (VALUES[0], [2], None, "matrix must have two dimensions"),
        (
            [["a"]],
            [1],
            None,
            "matrix must have two dimensions, tokens and columns, and hold numbers",
        ),
        (
            broken(),
            [2, 4],
            None,
            "X: sequence 1, position 3, column 17: nan is not finite",
        ),
        (
            sparse.csr_matrix(VALUES * 1j),
            [7],
            None,
            "and hold numbers; got 2 dimensions of type complex128",
        ),
    ],
)
def test_a_matrix_that_does_not_fit(matrix, lengths, names, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        SequenceMatrix(matrix, lengths, feature_names=names)


def test_masked_values_are_missing():
    rows = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 0], [0, 1]])
    for make in (
        lambda: SequenceMatrix(rows, [2]),
        lambda: StructuredPerceptron().fit([rows], [["a", "b"]]),
    ):
        with pytest.raises(
            ValueError, match="sequence 0, position 1, column 1: nan is not finite"
        ):
            make()
    padded = np.ma.array(np.ones((1, 3, 2)), mask=[[[0, 0], [0, 0], [1, 1]]])
    assert SequenceMatrix.from_padded(padded).lengths.tolist() == [2]


@pytest.mark.parametrize("rows", [[[10**400]], np.array([[10**400]], dtype=object)])
def test_numbers_beyond_floats(rows):
    with pytest.raises(
        ValueError, match="sequence 0, position 0, column 0: expected a number"
    ):
        StructuredPerceptron().fit([rows], [["a"]])
