"""Pairs of key and value: remembered, numbered, and read pair by pair."""

import pickle

import numpy as np
import pytest

from skstruct.features.pairs import (
    UNSEEN,
    UNSEEN_TEXT,
    Nested,
    Pairs,
    as_feature,
    concatenated,
    encode_nested,
    expand,
    spellings,
)

KNOWN = [
    ("word", "the", 0, 1.0),
    ("word", "dog", 1, 1.0),
    ("size", 2.5, 2, 2.5),
    ("title", True, 3, 1.0),
    ("title", False, -1, 1.0),
]


def remembered():
    pairs = Pairs()
    pairs.remember(KNOWN)
    return pairs


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("word", "the", ("word:the", 1.0)),
        ("title", True, ("title", 1.0)),
        ("title", False, (None, 1.0)),
        ("n", 3, ("n", 3.0)),
        ("n", np.float32(0.5), ("n", 0.5)),
        ("n", 0, (None, 0.0)),
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
    ):
        with pytest.raises(ValueError, match=match):
            as_feature(key, value)
    with pytest.raises(Nested):
        as_feature("near", ("a", "b"))


def test_all_that_is_remembered_is_found():
    pairs = remembered()
    assert pairs.items() == KNOWN and len(pairs) == len(KNOWN)
    tokens = [{"word": "dog", "title": True}, {}, {"size": 2.5, "word": "the"}]
    left, right, sizes, items_at = pairs.numbers_of(tokens)
    assert sizes.tolist() == [2, 0, 2]
    found = pairs.find(left, right)
    assert pairs.feature[found].tolist() == [1, 3, 2, 0]
    assert pairs.number[found].tolist() == [1.0, 1.0, 2.5, 1.0]
    assert items_at(np.array([1, 2])) == [("title", True), ("size", 2.5)]
    assert not pairs.plain


def test_what_is_unknown_has_no_number():
    left, right, _, _ = remembered().numbers_of([{"word": "cat", "new": 7}])
    assert left.tolist()[1] == UNSEEN_TEXT
    assert right.tolist() == [UNSEEN_TEXT, UNSEEN]


def test_inner_dictionaries_are_keys():
    pairs = Pairs()
    pairs.remember([("near:a", 0.5, 0, 0.5)])
    left, right, sizes, items_at = pairs.numbers_of_nested([{"near": {"a": 0.5}}])
    assert pairs.find(left, right).tolist() == [0] and sizes.tolist() == [1]
    assert items_at(np.array([0])) == [("near:a", 0.5)]
    with pytest.raises(Nested):
        pairs.numbers_of_nested([{"near": {1: 0.5}}])


@pytest.mark.parametrize("again", [Pairs.copy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_twin_knows_the_same_and_grows_alone(again):
    pairs = remembered()
    twin = again(pairs)
    assert twin.items() == KNOWN and twin.plain == pairs.plain
    twin.remember([("word", "cat", 4, 1.0), KNOWN[0]])
    assert len(twin) == len(KNOWN) + 1 and len(pairs) == len(KNOWN)


def test_ids_of_features_may_change():
    moved = list(remembered().renumbered(np.array([3, 2, 1, 0])))
    assert [feature for _, _, feature, _ in moved] == [3, 2, 1, 0, -1]


def test_a_text_under_a_known_key_is_no_new_feature():
    pairs = Pairs()
    pairs.remember(KNOWN[:2])
    ids = {"word:the": 0, "word:dog": 1}
    left, right, _, _ = pairs.numbers_of([{"word": "cat", "x": "cat"}, {"word": 1}])
    assert pairs.may_be_features(left, right, ids).tolist() == [False, True, True]


def test_collections_hold_several_features():
    token = {"near": ["a", "b"], "far": {"c": {"d": 2}}, "set": {"y", "x"}}
    expected = [("near:a", True), ("near:b", True), ("far:c:d", 2)]
    assert list(expand(token)) == [*expected, ("set:x", True), ("set:y", True)]
    ids = {"near:a": 0, "near:b": 1}

    def resolve(key, value):
        return ids.get(key, -1), float(value)

    found = encode_nested([token, {}], 0, np.array([0, 2]), resolve)
    features, values, sizes = concatenated([found])
    assert features.tolist() == [0, 1, -1, -1, -1] and sizes.tolist() == [5, 0]
    assert values.tolist() == [1, 1, 2, 1, 1]
    with pytest.raises(ValueError, match="sequence 0, position 1: .* a list must hold"):
        encode_nested([{}, {"near": [1]}], 0, np.array([0, 2]), resolve)


def test_chunks_without_values_have_none():
    ones = np.zeros(2, np.int32), None, np.array([2])
    halves = np.ones(1, np.int32), np.array([0.5]), np.array([1])
    assert concatenated([ones, ones])[1].shape == (0,)
    assert concatenated([ones, halves])[1].tolist() == [1.0, 1.0, 0.5]
    assert [part.shape for part in concatenated([])] == [(0,)] * 3


def test_a_name_has_several_spellings():
    found = {(key, value): k for key, value, k, _ in spellings({"a:b:c": 0, "a": 1})}
    assert found["a", "b:c"] == found["a:b", "c"] == found["a:b:c", True] == 0
    assert found["a", True] == 1 and found["a:b", True] == found["a", False] == -1
