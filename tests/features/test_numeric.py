"""Rows of numbers as features: windows, scales, and sums that do not round."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstruct import NumericFeatures
from skstruct.features.numeric import (
    TARGET,
    as_features,
    exact_sum,
    neighbours_of,
    side_by_side,
    take_rows,
    warn_unless_centred,
)

FLOATS = st.lists(st.floats(-1e6, 1e6, allow_nan=False), max_size=8)
LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(FLOATS)
def test_sums_are_exact_in_any_order(values):
    expected = sum(map(Fraction, values), Fraction(0))
    assert exact_sum(np.array(values)) == expected
    assert exact_sum(np.array(values[::-1])) == expected


@given(LENGTHS, st.integers(-2, 0), st.integers(0, 2))
def test_neighbours_stay_inside_of_a_sequence(lengths, low, high):
    token = np.append(0, np.cumsum(lengths))
    at, inside = neighbours_of(token, low, high)
    assert at.shape == inside.shape == (token[-1], high - low + 1)
    for i, (begin, end) in enumerate(zip(token[:-1].tolist(), token[1:].tolist())):
        for t in range(begin, end):
            for k, shift in enumerate(range(low, high + 1)):
                assert inside[t, k] == (begin <= t + shift < end), i
                assert at[t, k] == (t + shift if inside[t, k] else 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_rows_that_are_not_inside_are_zeros(form):
    matrix = form(np.array([[1.0, 0.0], [0.0, 2.0]]))
    found = take_rows(matrix, np.array([1, 0, 1]), np.array([True, False, True]))
    assert sparse.issparse(found) == (form is not np.asarray)
    dense = found.toarray() if sparse.issparse(found) else found
    assert dense.tolist() == [[0, 2], [0, 0], [0, 2]]
    both = side_by_side([matrix, np.eye(2)])
    assert sparse.issparse(both) == sparse.issparse(matrix)
    assert both.shape == (2, 4)


@pytest.mark.parametrize("window", [(0, 0), (-1, 1)])
@pytest.mark.parametrize("bias", [False, True])
def test_features_are_the_values_that_are_not_zero(window, bias):
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (5, 2)).astype(float)
    rows = sparse.csr_matrix(dense)
    rows.data[0] = 0.0  # a zero that is written down
    dense = rows.toarray()
    token = np.array([0, 2, 5])
    start, number, value = as_features(rows, token, window, 0.5, bias)
    at, inside = neighbours_of(token, *window)
    wide = [np.where(inside[:, [k]], dense[at[:, k]], 0) for k in range(at.shape[1])]
    expected = np.hstack(wide) * 0.5
    if bias:
        expected = np.column_stack([expected, np.ones(5)])
    found = sparse.csr_matrix((value, number, start), shape=expected.shape)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert (value != 0).all()
    assert NumericFeatures(bias=bias, window=window).size(2) == expected.shape[1]


def test_the_scale_makes_rows_as_large_as_is_wanted():
    how = NumericFeatures()
    squares = Fraction(50)
    factor = how.factor(squares, 2)
    assert factor**2 * 50 / 2 == pytest.approx(TARGET)
    assert how.factor(Fraction(0), 2) == 1.0
    assert NumericFeatures(scale=3).factor(squares, 2) == 3.0


def test_rows_that_are_nearly_the_same_are_worth_a_warning():
    rows = np.array([[10.0, 10.1], [10.1, 10.0]])
    with pytest.warns(UserWarning, match="centre the columns"):
        warn_unless_centred(rows.sum(axis=0), exact_sum((rows**2).ravel()), 2)
    rows = rows - rows.mean(axis=0)
    warn_unless_centred(rows.sum(axis=0), exact_sum((rows**2).ravel()), 2)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"bias": 1}, "bias must be a bool"),
        ({"scale": True}, "scale must be 'auto' or a positive number"),
        ({"scale": "large"}, "scale must be"),
        ({"scale": 0.0}, "scale must be"),
        ({"scale": None}, "scale must be"),
        ({"scale": float("inf")}, "scale must be"),
        ({"window": (1, 2)}, "window must be two ints"),
        ({"window": 1}, "window must be two ints"),
    ],
)
def test_what_is_refused(given, match):
    with pytest.raises(ValueError, match=match):
        NumericFeatures(**given)
