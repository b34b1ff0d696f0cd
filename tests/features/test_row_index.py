"""Rows of features that are frequent enough: given once, kept, merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.features.row_index import FeatureIndex, RowIndex, with_new_rows

NAMES = st.lists(st.sampled_from("abcdef"), max_size=8)


def indexed(texts, min_count=1, first_row=0):
    index = FeatureIndex(first_row)
    for names in texts:
        index.assign(index.find(names, grow=True), min_count)
    return index


def test_rows_go_to_those_that_have_none_and_deserve_them():
    row_of, n_rows = with_new_rows(np.full(1, -1, np.int32), 2, 3, width=2)
    assert row_of.tolist() == [3, 5, -1] and n_rows == 7
    row_of, n_rows = with_new_rows(row_of, 4, n_rows, np.array([0, 0, 0, 1], bool))
    assert row_of.tolist() == [3, 5, -1, 7, -1] and n_rows == 8
    assert row_of.dtype == np.int32


@given(st.lists(NAMES, max_size=4), st.integers(1, 3))
def test_names_get_rows_once_they_are_frequent(texts, min_count):
    index = FeatureIndex(1)
    seen, expected = [], {}
    for names in texts:
        index.assign(index.find(names, grow=True), min_count)
        seen += names
        for name in dict.fromkeys(seen):
            if seen.count(name) >= min_count:
                expected.setdefault(name, len(expected) + 1)
    found = index.row_names(set(range(index.n_rows)))
    assert {name: row for row, name in found.items()} == expected
    assert index.n_rows == 1 + len(expected)
    ids = index.find([*"abcdef", "new"], grow=False)
    rows = index.row_of[ids].tolist()
    assert rows == [expected.get(name, -1) for name in [*"abcdef", "new"]]


def test_rare_names_may_be_counted_anew():
    index = indexed([["a", "b", "b"]], min_count=2)
    index.count_anew(2)
    index.assign(index.find(["a", "b"], grow=True), 2)
    assert index.row_names({0, 1}) == {0: "b"}
    index.assign(index.find(["a"], grow=True), 2)
    assert index.row_names({0, 1}) == {0: "b", 1: "a"}


def test_what_always_has_a_row():
    index = RowIndex()
    index.give_rows(3, np.array([0, -1]), 2, always=np.array([2]))
    assert index.row_of.tolist() == [-1, -1, 0, -1]


@given(st.lists(NAMES, max_size=3), st.integers(1, 2), st.integers(0, 63))
def test_rows_that_are_kept(texts, min_count, bits):
    index = indexed(texts, min_count, first_row=1)
    used = np.array([k == 0 or bits >> k & 1 for k in range(index.n_rows)], np.bool_)
    smaller, rows = index.keep(used, min_count)
    before = index.row_names(set(range(index.n_rows)))
    found = smaller.row_names(set(range(smaller.n_rows)))
    assert sorted(rows.tolist()) == np.flatnonzero(used).tolist()
    assert found == {k: before[row] for k, row in enumerate(rows.tolist()) if k}
    assert list(smaller.ids) == [
        name for name, stays in zip(index.ids, index.is_kept(used)) if stays
    ]


@given(st.lists(NAMES, max_size=3), st.integers(1, 2))
def test_rows_of_numbers(texts, min_count):
    """Also of names that have no rows yet, which look up the -1 at the end."""
    index = indexed(texts, min_count)
    for name in "one more", "another":
        index.find([name], grow=True)
        numbers = np.arange(-1, len(index.ids), dtype=np.int32)
        np.testing.assert_array_equal(index.rows(numbers), index.row_of.take(numbers))
        index.assign(numbers, min_count)
        np.testing.assert_array_equal(index.rows(numbers), index.row_of.take(numbers))


@pytest.mark.parametrize("min_count", [1, 2])
def test_several_become_one(min_count):
    texts = [["a", "b", "a"], ["b", "c"]]
    parts = [indexed([names], first_row=1) for names in texts]
    counts = [np.zeros(part.n_rows, int) for part in parts]
    for part, names, count in zip(parts, texts, counts):
        np.add.at(count, part.row_of[part.find(names, False)], 1)
    merged, maps = FeatureIndex.merged(parts, counts, min_count)
    whole = indexed([sum(texts, [])], min_count, first_row=1)
    all_rows = set(range(whole.n_rows))
    assert merged.row_names(all_rows) == whole.row_names(all_rows)
    for part, rows in zip(parts, maps):
        for row, name in part.row_names({1, 2}).items():
            assert whole.row_names(all_rows).get(rows[row]) == (
                name if rows[row] >= 0 else None
            )


def test_a_copy_grows_alone():
    index = indexed([["a"]])
    twin = index.copy()
    twin.assign(twin.find(["b"], grow=True), 1)
    assert (index.n_rows, twin.n_rows, len(index.ids)) == (1, 2, 1)
    assert index.number("b", grow=False) == -1 and index.number("b", grow=True) == 1


def test_keys_of_names():
    index = FeatureIndex.of_names(["w:a", "w=b", "t:a:b", "bias", "w"])
    assert index.key_of_row().tolist() == [0, 0, 1, 2, 0]
