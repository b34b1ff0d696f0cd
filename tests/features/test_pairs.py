"""Pairs of key and value: remembered, and numbered."""

import enum
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from counting import calls
from inside import remembered_pairs

from skstruct._data.inputs import as_tokens
from skstruct.features import pairs
from skstruct.features.bag_encoder import BagEncoder
from skstruct.features.nested_pairs import expand
from skstruct.features.pairs import (
    KnownFeatures,
    Odd,
    concatenated,
    encode_deep,
    encode_inside,
    encode_names,
    encode_pairs,
)

IDS = {"word:the": 0, "word:dog": 1, "size": 2, "title": 3, "near:a": 4, "a:b:c": 5}


class Text(str):
    """A str that is not plain."""


def known(learns=False):
    return KnownFeatures(dict(IDS), learns)


def test_pairs_of_value_one_are_found():
    tokens = [
        {"word": "dog", "title": True},
        {},
        {"title": 0, Text("word"): Text("the")},
    ]
    tokens += [{"a": "b:c", "a:b": "c", "a:b:c": 1.0}, {"word": "cat", "new": np.True_}]
    tables = known()
    for _ in range(2):  # by name, and as remembered
        features, values, starts = encode_pairs(tables, tokens)
        assert features.tolist() == [1, 3, -1, 0, 5, 5, 5, -1, -1] and values is None
        assert starts.tolist() == [0, 2, 2, 4, 7, 9]
    assert tables.ids == IDS
    assert {type(key) for key in tables} == {str}
    kinds = {type(value) for each in tables.values() for value in each}
    assert kinds == {str, bool, np.bool_}


@pytest.mark.parametrize(
    "value", [None, ("a",), {"a": 1}, ["a"], float("nan"), 10**400]
)
def test_what_is_not_one_feature_is_odd(value):
    for learns in (False, True):
        with pytest.raises((Odd, TypeError)):
            encode_pairs(known(learns), [{"word": "dog", "n": value}])
    with pytest.raises((Odd, TypeError)):
        encode_names(known(), [["title", value]])


def test_numbers_and_dictionaries_are_read_pair_by_pair():
    tables = known()
    tokens = [
        {"size": 2.5, "title": True},
        {"near": {"a": np.float32(0.5)}, "size": 0.0},
    ]
    tokens += [{"a": {"b": {"c": 7}}, "word": "the", "new": 4}]
    features, values, starts = encode_deep(tables, tokens)
    assert features.tolist() == [2, 3, 4, -1, 5, 0, -1]
    assert values.tolist() == [2.5, 1, 0.5, 1, 7, 1, 4] and starts.tolist() == [
        0,
        2,
        4,
        7,
    ]
    for wrong in (
        {"size": float("inf")},
        {"size": [1]},
        {"near": {1: 0.5}},
        {1: {"a": 2}},
    ):
        with pytest.raises((Odd, TypeError)):
            encode_deep(tables, [wrong])
    with pytest.raises(Odd):
        encode_deep(tables, [{"size": 10**400}])


def test_new_features_are_numbered_in_their_order():
    tables = KnownFeatures({}, learns=True)
    features, _, _ = encode_deep(
        tables, [{"w": "x", "n": 2, "in": {"a": 1}, "no": False}]
    )
    assert list(tables.ids) == ["w:x", "n", "in:a"] and features.tolist() == [
        0,
        1,
        2,
        -1,
    ]
    assert encode_names(tables, [["n", "y"]])[0].tolist() == [1, 3]


def test_tables_that_learned_look_up_and_not_the_other_way_round():
    ids = dict(IDS)
    tables = KnownFeatures(ids, learns=True)
    encode_deep(tables, [{"word": "cat", "in": {"a": True}}])
    assert tables.serves(ids, True) and tables.serves(ids, False)
    assert encode_deep(tables, [{"word": "cow", "in": {"b": True}}])[0].tolist() == [
        -1,
        -1,
    ]
    assert not tables.serves(ids, True) and not tables.serves(dict(ids), False)
    ids["word:cow"] = len(ids)
    assert not tables.serves(ids, False)  # they know that it is no feature


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_UNKNOWN", 5)
    tables = known()
    for k in range(50):
        features, _, _ = encode_deep(
            tables,
            [{"word": f"w{k}", f"k{k}": "x", f"in{k}": {"a": 1}, "size": k / 64}],
        )
        assert features.tolist()[:3] == [-1] * 3
        assert encode_names(tables, [[f"w{k}", "title"]])[0].tolist() == [-1, 3]
    sizes = [len(tables), len(tables.inner), len(tables.names), len(tables["word"])]
    assert max(sizes) <= 8
    assert tables.numbers.left == pairs.MOST_NUMBERS - 49


def _all_tables(tables):
    """The tables of keys, those inside of others too."""
    yield from tables.values()
    for inner in tables.inner.values():
        yield from _all_tables(inner)


def test_dictionaries_inside_share_what_room_there_is(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_UNKNOWN", 5)
    tables = known()
    for k in range(30):
        for j in range(3):
            token = {f"a{k % 4}": {f"b{k}": {f"c{j}": "x"}}, "near": {"a": 0.5}}
            assert encode_deep(tables, [token])[0].tolist() == [-1, 4]
    found = list(_all_tables(tables))
    assert len(found) <= 5
    assert sum(map(len, found)) <= 5 + 1  # and "near:a"


@pytest.mark.parametrize("tokens", [[{}, {"word": "dog"}], [[], ["title"]]])
def test_tokens_that_change_meanwhile_reach_no_kernel(tokens):
    """Another thread may do what a hash does here, when the first token is read
    already.
    """

    class Changing(str):
        def __hash__(self):
            first = tokens[0]
            first.append("y") if isinstance(first, list) else first.update(y="x")
            return super().__hash__()

    odd = Changing("y")
    tokens.append([odd] if isinstance(tokens[0], list) else {"word": odd})
    encode = encode_names if isinstance(tokens[0], list) else encode_pairs
    with pytest.raises(RuntimeError, match="tokens changed"):
        encode(known(), tokens)


def test_dictionaries_inside_that_change_meanwhile_reach_no_kernel():
    class Changing(str):
        def __hash__(self):
            for each in changing:
                each.update(y="x")
            return super().__hash__()

    changing = []
    token = {"near": {Changing("a"): 0.5}}
    changing.append(token["near"])
    with pytest.raises(RuntimeError, match="tokens changed"):
        encode_inside(known(), [token])


def test_copies_and_pickles_begin_with_empty_tables():
    encoder = BagEncoder()
    encoder.encode(as_tokens([[{"word": "dog"}]]), True)
    twin, again = encoder.copy(), pickle.loads(pickle.dumps(encoder))
    assert [bool(remembered_pairs(e)) for e in (encoder, twin, again)] == [
        True,
        False,
        False,
    ]
    twin.encode(as_tokens([[{"word": "cat"}]]), True)
    assert list(encoder.nodes.ids) == ["word:dog"] == list(again.nodes.ids)


def test_chunks_without_values_have_none():
    ones = np.zeros(2, np.int32), None, np.array([0, 2])
    halves = np.ones(1, np.int32), np.array([0.5]), np.array([0, 1])
    assert concatenated([ones, ones])[1].shape == (0,)
    assert concatenated([ones, halves])[1].tolist() == [1.0, 1.0, 0.5]
    assert [part.shape for part in concatenated([])] == [(0,), (0,), (1,)]


def test_dictionaries_of_many_keys(monkeypatch):
    """Their features are numbered as those of few keys are, in the order of tokens."""
    rng = np.random.RandomState(0)
    tokens = []
    for _ in range(30):
        keys = [f"k{j}" for j in rng.permutation(8)[: rng.randint(4, 9)]]
        tokens += [{key: f"v{rng.randint(4)}" for key in keys} for _ in range(3)]
        tokens.append({**tokens[-1], Text("k0"): Text("new"), "title": True})
    tokens.insert(0, dict.fromkeys("abcdefgh", "x"))
    ways = []
    for many in (pairs.MANY_KEYS, 1000):
        monkeypatch.setattr(pairs, "MANY_KEYS", many)
        table = known(learns=True)
        ways.append((encode_pairs(table, tokens), list(table.ids.items())))
    (first, ids), (second, same_ids) = ways
    assert ids == same_ids
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[2], second[2])


@pytest.mark.parametrize("odd", [{1: "a"}, {"n": float("inf")}, {"n": {"a": True}}])
def test_odd_pairs_among_many_keys(odd):
    token = dict.fromkeys("abcdefgh", "x")
    with pytest.raises((Odd, TypeError)):
        encode_pairs(known(), [token, {**token, **odd}])


@pytest.mark.parametrize("keys", ["ab", "abcdefgh"])
def test_known_pairs_cost_no_call_of_python(keys):
    tables = known()
    token = dict.fromkeys(keys, "x")
    encode_pairs(tables, [token])
    one, few = (
        calls(lambda n=n: encode_pairs(tables, [token] * n))[0]
        for n in (1, pairs.FEW_TOKENS)
    )
    assert one == few


NUMBERS = {"size": 2.5, "n": 3, "title": True, "word": "the", "zero": 0.0}
INSIDE = {"near": {"a": "x", "b": 0.5, "c": False}, "word": "dog", "size": 7}


@pytest.mark.parametrize("token", [NUMBERS, INSIDE, {**INSIDE, "near": NUMBERS}])
@pytest.mark.parametrize("shows_zeros", [False, True])
def test_all_ways_to_encode_agree(token, shows_zeros):
    """Flat dictionaries, dictionaries inside, and such of any depth."""
    tokens = [token, {}, {**token, "new": 4.5}, token]
    flat = [dict(expand(t)) for t in tokens]
    ways = []
    for encode, given, has_many in itertools.product(
        (encode_pairs, encode_inside, encode_deep), (flat, tokens), (False, True)
    ):
        tables = KnownFeatures({}, True, shows_zeros=shows_zeros)
        tables.has_many = has_many
        for _ in range(2):  # by name, and as remembered
            try:
                arrays = encode(tables, given)
            except TypeError:  # deeper than this way goes
                continue
            rows, numbers, _ = arrays
            # What is no feature may have any value, and so may what has the value 0.
            numbers[(rows < 0) | (rows >= pairs.SHOWN)] = 1.0
            ways.append([[a.tolist() for a in arrays], list(tables.ids)])
    assert len(ways) >= 16
    assert all(way == ways[0] for way in ways)


def test_a_value_that_equals_a_remembered_number_is_looked_at():
    tables = known()
    encode_pairs(tables, [{"size": 2}])
    with pytest.raises(Odd):
        encode_pairs(tables, [{"size": Fraction(2)}])


def test_numbers_that_are_remembered_are_bounded(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_NUMBERS_OF_KEY", 5)
    monkeypatch.setattr(pairs, "MOST_NUMBERS", 8)
    monkeypatch.setattr(pairs, "MOST_LAYOUTS", 3)
    tables = known(learns=True)
    for k in range(2, 50):
        token = {"size": k, "n": k / 64, "near": {f"k{k}": k, "no": 0.0}}
        try:
            _, values, _ = encode_inside(tables, [token, token])
        except Odd:
            assert (k, tables.has_many) == (4, True)  # once: what follows knows it
            continue
        assert np.where(values == 0.0, 1.0, values).tolist() == 2 * [k, k / 64, k, 1]
    assert len(tables["size"]) <= 5
    remembered = [value for each in _all_tables(tables) for value in each]
    assert sum(value not in (0, 1) for value in remembered) <= 8
    assert len(tables.layouts) == 3


class Size(enum.IntEnum):
    """A number of a kind of its own."""

    TWO = 2


@pytest.mark.parametrize("encode", [encode_pairs, encode_inside, encode_deep])
@pytest.mark.parametrize("learns", [True, False])
def test_a_number_of_another_kind_is_found_among_many(encode, learns):
    """It equals one that is remembered."""
    tables = known(learns)
    for has_many in (False, True):
        tables.has_many = has_many
        tokens = [{"size": 2, "title": True}, {"size": Size.TWO}, {"size": 0.5}]
        features, values, _ = encode(tables, tokens)
        assert features.tolist() == [2, 3, 2, 2]
        assert values.tolist() == [2.0, 1.0, 2.0, 0.5]


@pytest.mark.parametrize("value", ["x", 2.5])
def test_known_pairs_inside_cost_no_call_of_python(value):
    """Many pairs inside take as many calls as few do, but for the number of a number."""
    tables = known(learns=True)
    few, many = ({"near": dict.fromkeys(keys, "x")} for keys in ("ab", "abcdefgh"))
    few["size"] = many["size"] = value
    encode_inside(tables, [few, many])
    assert (
        calls(lambda: encode_inside(tables, [few] * 10))[0]
        == (calls(lambda: encode_inside(tables, [many] * 10))[0])
    )


@pytest.mark.parametrize("n", [0, 1, pairs.FEW_TOKENS, pairs.FEW_TOKENS + 1])
def test_starts_of_few_and_of_many_tokens(n):
    sizes = [k % 3 for k in range(n)]
    lists = [["word:the"] * size for size in sizes]
    dicts = [dict.fromkeys("ab"[:size], "x") for size in sizes]
    for starts in encode_names(known(), lists)[2], encode_pairs(known(), dicts)[2]:
        assert starts.dtype == np.int64
        assert starts[0] == 0
        assert np.diff(starts).tolist() == sizes


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_a_truth_value_is_found_as_itself(kind):
    """To find that numpy's equals Python's takes forty times as long."""
    known = KnownFeatures({}, True)
    encode_pairs(known, [{"a": kind(True)}, {"a": kind(False)}, {"a": kind(True)}])
    assert [type(value) for value in known["a"]] == [kind, kind]
    assert known.ids == {"a": 0}
