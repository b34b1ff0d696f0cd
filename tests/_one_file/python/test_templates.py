"""Tables of combinations in programs of one file."""

import pytest

from skstruct._one_file.python.templates import Combinations, columns_of


def test_combinations_are_found_and_taken_apart():
    pairs = [(1, 2), (1, 5), (3, 1)]  # the shorter one and the last value, sorted
    arrays = {"c.left": [2, 0, 1], "c.right": [last for _, last in pairs]}
    table = Combinations(arrays, "c")
    for number, (shorter, last) in enumerate(pairs, 1):
        assert table.along([shorter], [last]) == [number]
        assert table.parts(number) == (shorter, last)
    assert table.along([2, 1, 0, 3], [2, 3, 1, 0]) == [0, 0, 0, 0]


def test_columns_of_tokens():
    header = {"token": "tuple", "columns": 2}
    assert columns_of([("a", "b", "c")], 0, header) == [("a",), ("b",)]
    with pytest.raises(ValueError, match="position 1: expected a tuple of 2 str"):
        columns_of([("a", "b"), "c"], 0, header)
    with pytest.raises(ValueError, match="position 0: expected a str, got 1"):
        columns_of([1], 0, {"token": "str", "columns": 1})
