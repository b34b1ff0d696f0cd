"""Sequences of rows of numbers as one corpus, and errors that say how to write them."""

import numpy as np
import pytest
from scipy import sparse

from skstruct._data.corpus import TABLE
from skstruct._data.inputs import as_tokens
from skstruct._data.matrix import SequenceMatrix
from skstruct._data.numbers import tables_in

ROWS = [np.arange(4.0).reshape(2, 2), np.array([[5.0, 6.0]])]


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        [rows.tolist() for rows in ROWS],
        [list(map(np.asarray, rows)) for rows in ROWS],
        [list(map(tuple, rows)) for rows in ROWS],
        [rows.astype(np.int8) for rows in ROWS],
        [rows.astype(object) for rows in ROWS],
        list(map(sparse.csr_array, ROWS)),
        list(map(sparse.coo_matrix, ROWS)),
    ],
)
def test_rows_become_one_matrix(X):
    found = tables_in(X)
    assert isinstance(found, SequenceMatrix) and found.lengths.tolist() == [2, 1]
    matrix = found.matrix
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(matrix, np.concatenate(ROWS))
    assert sparse.issparse(found.matrix) == sparse.issparse(X[0])


@pytest.mark.parametrize("X", [[["a", "b"]], [[{"a": 1}]], [], [[]], [[("a", "b")]]])
def test_other_tokens_are_no_tables(X):
    assert tables_in(X) is None


def test_empty_sequences_have_no_rows():
    found = tables_in([[], ROWS[0], []])
    assert found.lengths.tolist() == [0, 2, 0] and found.matrix.shape == (2, 2)


@pytest.mark.parametrize(
    "X, said",
    [
        (np.eye(3), r"X is one matrix of 3 rows; .*SequenceMatrix\(X, lengths\)"),
        (np.zeros((2, 2, 2, 2)), "X has 4 dimensions; .*flatten the last ones"),
        ([ROWS[0], np.eye(3)], "sequence 1 has 3 columns, expected 2 like sequence 0"),
        ([ROWS[0], sparse.eye(2)], "sequence 1 is sparse, sequence 0 is dense"),
        (
            [ROWS[0], [1, 2]],
            "sequence 1, position 0: expected a row of numbers, got in",
        ),
        ([[[1, 2], [3]]], "position 1 has 1 column, expected 2 like position 0"),
        ([np.arange(3.0)], "one-dimensional; .* one row a token"),
        ([ROWS[0], [[1, "a"]]], "position 0, column 1: expected a number, got str 'a'"),
        ([[[1.0, np.nan]]], "position 0, column 1: nan is not finite"),
    ],
)
def test_errors_say_how_to_write_them(X, said):
    with pytest.raises(ValueError, match=said):
        tables_in(X)


def test_columns_of_strings_are_tuples_beside_rows():
    X = as_tokens([np.array([["the", "D", 1.5], ["dog", "N", 2.5]], object)])
    assert X.tokens == [("the", "D"), ("dog", "N")]
    assert X.matrix.tolist() == [[1.5], [2.5]] and X.shown.kind == TABLE
    alone = as_tokens([np.array([["the"], ["dog"]], object)])
    assert alone.lists() == [["the", "dog"]]
