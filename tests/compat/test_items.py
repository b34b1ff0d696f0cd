"""Items as CRFsuite takes them become tokens of the same meaning."""

import pytest

from skstruct.compat.items import (
    ItemSequence,
    attributes_of,
    text_of,
    token_of,
    tokens_of,
    whole_number,
)


def test_attributes_of_nested_items():
    item = {"a": 2, "b": "x", "c": {"d": True, "e": ["f"]}, b"g": b"h"}
    assert attributes_of(item) == [
        ("a", 2.0), ("b:x", 1.0), ("c:d", 1.0), ("c:e:f", 1.0), ("g:h", 1.0),
    ]  # fmt: skip
    assert attributes_of(["a", b"b"]) == [("a", 1.0), ("b", 1.0)]


def test_a_feature_that_occurs_twice_counts_twice():
    assert token_of({"a:b": 1.0, "a": ["b"]}) == {"a:b": 2.0}


def test_items_are_copied():
    items = [{"a": 1.0}, {"b": "x"}]
    tokens = tokens_of(items)
    items[0]["a"] = 2.0
    assert tokens == [{"a": 1.0}, {"b": "x"}]
    sequence = ItemSequence(items)
    assert tokens_of(sequence) is sequence.tokens
    assert sequence.items() == [{"a": 2.0}, {"b:x": 1.0}]
    assert (len(sequence), repr(sequence)) == (2, "<ItemSequence of size 2>")


def test_mistakes_are_named():
    with pytest.raises(TypeError, match="the value of 'a' must be a number"):
        attributes_of({"a": None})
    with pytest.raises(TypeError, match="a label must be str or bytes, got 1"):
        text_of(1, "a label")
    with pytest.raises(TypeError, match="group must be an integer, got '1'"):
        whole_number("1", "group")
    assert whole_number(1.9, "group") == 1
    assert text_of(b"\xff", "a label") == "\udcff"
