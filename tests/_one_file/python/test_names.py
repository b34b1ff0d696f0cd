"""Features that tokens bring, in programs of one file."""

import pytest

from skstruct._one_file.python.names import Names

NAMES = Names({"names": ["a", "b:x", "c:d", "e:f"]}, {})


def test_rows_and_values_of_dicts_and_lists():
    tokens = [
        {"a": 2, "b": "x", "c": {"d": 0.5}, "e": ["f"], "no": 1},
        ["a", "b:x"],
        {},
    ]
    rows, values, edges = NAMES.rows(tokens, 0)
    assert rows == [[0, 1, 2, 3], [0, 1], []]
    assert values == [[2.0, 1.0, 0.5, 1.0], [1.0, 1.0], []]
    assert edges is None


def test_mistakes_are_named():
    for token, wrong in (
        ({1: 2}, "a feature name must be a str, got 1"),
        ({"a": float("nan")}, "feature 'a' must be finite"),
        ({"a": object()}, "feature 'a' must be a str, a bool, a number"),
        ("a", "expected a dict or a list of features, got 'a'"),
        ([1], "a feature must be a str, got 1"),
    ):
        with pytest.raises(ValueError, match=f"X: sequence 3, position 0: {wrong}"):
            NAMES.rows([token], 3)
