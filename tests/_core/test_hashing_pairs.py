"""Combinations of ids to nodes, against a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct._core.hashing import empty_table, find_pairs, intern_pairs, table_of

SEQUENCES = st.lists(
    st.lists(st.tuples(*[st.integers(-1, 3)] * 2), min_size=1, max_size=6), max_size=5
)


def as_arrays(sequences):
    flat = [pair for sequence in sequences for pair in sequence]
    anchor = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
    left, right = np.array(flat, np.int32).reshape(-1, 2).T.copy()
    return left, right, anchor


def definition(known, left, right, distance, span, anchor, grow):
    """Nodes by anchor; a new combination of two ids that exist gets the next number."""
    out = np.full(left.shape[0], -1, np.int32)
    for first, stop in zip(anchor[:-1], anchor[1:]):
        for a in range(first + span[0], stop - span[1]):
            if left[a] >= 0 and a + distance < stop and right[a + distance] >= 0:
                key = int(left[a]), int(right[a + distance])
                if grow:
                    known.setdefault(key, len(known))
                out[a] = known.get(key, -1)
    return out


@given(
    SEQUENCES,
    SEQUENCES,
    st.integers(0, 2),
    st.tuples(st.integers(0, 1), st.integers(0, 1)),
)
def test_first_occurrence_numbers_and_others_look_up(trained, later, distance, margins):
    span = np.array(margins, np.int64)
    table, entries, n_nodes, known = (
        empty_table(),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        {},
    )
    left, right, anchor = as_arrays(trained)
    out = np.full(left.shape[0], -1, np.int32)
    table = intern_pairs(
        table, entries, 5, left, right, distance, span, anchor, out, n_nodes
    )
    np.testing.assert_array_equal(
        out, definition(known, left, right, distance, span, anchor, True)
    )
    assert entries[0] == n_nodes[0] == len(known)
    left, right, anchor = as_arrays(later)
    out = np.full(left.shape[0], -1, np.int32)
    find_pairs(table, 5, left, right, distance, span, anchor, out)
    np.testing.assert_array_equal(
        out, definition(known, left, right, distance, span, anchor, False)
    )
    out[:] = -1
    find_pairs(
        table, 6, left, right, distance, span, anchor, out
    )  # another compound knows nothing
    assert (out == -1).all()


def test_the_table_grows_within_a_corpus():
    n = 3000
    left, right = (
        np.arange(n, dtype=np.int32),
        np.arange(n, dtype=np.int32)[::-1].copy(),
    )
    out, anchor = np.full(n, -1, np.int32), np.array([0, 1, 1500, n], np.int64)
    entries, n_nodes, small = (
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        empty_table(),
    )
    table = intern_pairs(
        small, entries, 0, left, right, 0, np.zeros(2, np.int64), anchor, out, n_nodes
    )
    assert table.shape[0] > small.shape[0] and entries[0] == n
    np.testing.assert_array_equal(out, np.arange(n))
    found = np.full(n, -1, np.int32)
    find_pairs(table, 0, left, right, 0, np.zeros(2, np.int64), anchor, found)
    np.testing.assert_array_equal(found, out)


@pytest.mark.parametrize("first", [0, 3])
def test_a_table_of_given_pairs(first):
    pairs = [np.array([[0, 1], [4, 4]], np.int32), np.array([[0, 1]], np.int32)]
    table, distinct = table_of(pairs, first)
    assert distinct
    for c, given_pairs in enumerate(pairs):
        left, right = given_pairs.T.copy()
        out, n = np.full(left.shape[0], -1, np.int32), left.shape[0]
        find_pairs(
            table,
            first + c,
            left,
            right,
            0,
            np.zeros(2, np.int64),
            np.array([0, n]),
            out,
        )
        assert out.tolist() == list(range(n))


def test_a_pair_that_occurs_twice_is_noticed():
    assert not table_of([np.array([[2, 3], [2, 3]], np.int32)])[1]
    assert table_of([np.array([[2, 3]], np.int32), np.array([[2, 3]], np.int32)])[1]
    assert table_of([])[1]
