"""Pairs of key and value, read one by one."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skstruct.features.nested_pairs import as_feature, encode_nested, expand
from skstruct.features.pairs import concatenated


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("word", "the", ("word:the", 1.0)),
        ("title", True, ("title", 1.0)),
        ("title", False, (None, 1.0)),
        ("n", 3, ("n", 3.0)),
        ("n", np.float32(0.5), ("n", 0.5)),
        ("n", 0, (None, 0.0)),
        ("n", Decimal("0.5"), ("n", 0.5)),
        ("n", Fraction(1, 4), ("n", 0.25)),
        ("n", 2 + 0j, ("n", 2.0)),
        ("n", np.complex64(0), (None, 0.0)),
    ],
)
def test_a_pair_is_a_feature(key, value, expected):
    assert as_feature(key, value) == expected


def test_pairs_that_are_none():
    for key, value, match in (
        (1, "a", "a feature name must be a str, got int"),
        ("n", float("nan"), "feature 'n' must be finite"),
        ("n", 10**400, "feature 'n' must be finite"),
        ("n", None, "must be a str, a bool, a number"),
        ("n", Decimal("sNaN"), "feature 'n' must be finite"),
        ("n", 1j, "must be a str, a bool, a number"),
        ("n", ("a", "b"), "got tuple"),  # which `expand` parts
    ):
        with pytest.raises(ValueError, match=match):
            as_feature(key, value)


def test_collections_hold_several_features():
    token = {"near": ["a", "b"], "far": {"c": {"d": 2}}, "set": {"y", "x"}}
    expected = [("near:a", True), ("near:b", True), ("far:c:d", 2)]
    assert list(expand(token)) == [*expected, ("set:x", True), ("set:y", True)]
    ids = {"near:a": 0, "near:b": 1}

    def resolve(key, value):
        return ids.get(key, -1), float(value)

    found = encode_nested([token, {}], 0, np.array([0, 2]), resolve)
    features, values, starts = concatenated([found, found])
    assert features.tolist() == 2 * [0, 1, -1, -1, -1]
    assert starts.tolist() == [0, 5, 5, 10, 10]
    assert values.tolist() == 2 * [1, 1, 2, 1, 1]
    with pytest.raises(ValueError, match="sequence 0, position 1: .* a list must hold"):
        encode_nested([{}, {"near": [1]}], 0, np.array([0, 2]), resolve)
