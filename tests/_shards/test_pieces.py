"""Sums of what shards have changed: with keys and without, and always in the same
tree.
"""

import numpy as np
import pytest

from skstruct._shards.pieces import (
    FAN,
    Changes,
    Kind,
    Piece,
    add_arrays,
    add_changes,
    add_neighbours,
    add_pieces,
    in_tree,
    key_type,
    n_bytes,
    smaller_piece,
    united,
)


def piece_of(vector):
    """All elements that are not zero."""
    return Piece.of(np.arange(len(vector)), vector, len(vector))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("size", [10, 3000])
def test_a_sum_of_pieces_is_that_of_their_vectors(share, size):
    random = np.random.RandomState(0)
    vectors = [
        random.normal(size=size) * (random.uniform(size=size) < share) for _ in range(3)
    ]
    whole = [Piece(None, vectors[0]), *map(piece_of, vectors[1:])]
    expected = vectors[0] + vectors[1] + vectors[2]
    for parts in (whole, list(map(piece_of, vectors))):
        np.testing.assert_array_equal(add_pieces(parts).vector(size), expected)


def test_a_piece_has_the_smaller_form():
    few = np.zeros(100)
    few[[3, 50]] = 1.0
    found = smaller_piece(np.array([3, 50]), 100, [few])
    assert found.keys.tolist() == [3, 50] and found.value.tolist() == [1.0, 1.0]
    many = np.ones(100)
    assert smaller_piece(np.arange(100), 100, [many]).keys is None
    assert key_type(2**32 - 1) is np.uint32 and key_type(2**32) is np.int64


@pytest.mark.parametrize("size", [50, 10**6])
def test_keys_are_united_in_order(size):
    parts = [np.array([4, 9], np.uint32), np.array([1, 9, 30], np.uint32)]
    found = united(parts, size)
    assert found.tolist() == [1, 4, 9, 30] and found.dtype == np.uint32


@pytest.mark.parametrize("n", [1, 2, FAN, FAN + 1, FAN**2 + 3])
def test_the_tree_depends_on_the_number_of_shards_alone(n):
    """Whoever is first: sums of runs of neighbours, of these in runs again."""

    def add(parts):
        return f"({'+'.join(parts)})"

    names = [str(s) for s in range(n)]
    expected = in_tree(names, add)
    nodes = {}
    for s in np.random.RandomState(n).permutation(n).tolist():
        nodes = add_neighbours({**nodes, (0, s): names[s]}, n, add)
    assert list(nodes.values()) == [expected]
    flat = expected.replace("(", "").replace(")", "")
    assert flat == "+".join(names)


def test_changes_of_shards_add_up_and_empty_shards_have_none():
    def changes(value):
        nothing = np.zeros(0, np.int64)
        return Changes(
            [Kind(1, 1, 3)], None, [np.zeros((0, 3), np.int64)], [piece_of(value)],
            [(nothing, nothing)],
        )  # fmt: skip

    one = np.array([1.0, 0.0, 2.0])
    total = add_changes([None, changes(one), changes(one)])
    assert total.pieces[0].vector(3).tolist() == [2.0, 0.0, 4.0]
    assert add_changes([None, None]) is None


def test_arrays_stay_and_bytes_are_counted():
    arrays = [np.ones(2), np.ones(2)]
    assert add_arrays(arrays).tolist() == [2.0, 2.0] and arrays[0].tolist() == [
        1.0,
        1.0,
    ]
    assert n_bytes({"a": [np.zeros(3), (np.zeros(2, np.int32), "text")], "b": 1}) == 32
