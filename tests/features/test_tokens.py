"""Functions of one token, alphabets, and the columns of tokens."""

import enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import TOKEN_FUNCTIONS

import oracles
from skstruct._data.inputs import as_tokens
from skstruct.features.tokens import (
    Alphabet,
    are_strings,
    character_type,
    column_function,
    is_function,
    shape,
    split_columns,
    string_columns,
)
from skstruct.features.word_clusters import WordClusters

WORDS = st.lists(st.text("abc", max_size=2), max_size=8)


class Tag(str, enum.Enum):
    NOUN = "N"


@pytest.mark.parametrize(
    ("name", "token", "value"),
    [
        ("x", "The", "The"),
        ("lower", "The", "the"),
        ("shape", "McDonald's", "XxXxx'x"),
        ("type", "７", "digit"),
        ("type", "三", "numeral"),
        ("type", "Ｘ", "letter"),
        ("type", "。", "punctuation"),
        ("type", "", "other"),
        ("digit", "a1", "yes"),
        ("upper", "abc", "no"),
        ("hyphen", "a-b", "yes"),
        ("prefix2", "dog", "do"),
        ("suffix2", "dog", "og"),
        ("suffix5", "dog", "dog"),
    ],
)
def test_functions(name, token, value):
    assert is_function(name)
    assert column_function(name)(token) == value


@pytest.mark.parametrize("name", sorted(TOKEN_FUNCTIONS))
def test_functions_as_they_are_written_a_second_time(name):
    function = column_function(name)
    for token in [
        "",
        "The",
        "a-b",
        "McDonald's",
        "x1",
        "７",
        "三",
        "Ｘ",
        "。",
        "ÄÄÄä",
        "²",
    ]:
        assert function(token) == oracles.apply_function(name, token)


def test_what_is_no_function():
    for name in ("prefix0", "suffix", "av2", "lex_a", "cluster", "Shape"):
        assert not is_function(name)
    with pytest.raises(KeyError):
        column_function("Shape")
    with pytest.raises(ValueError, match="there are no clusters: give words="):
        column_function("cluster")
    assert column_function("cluster", WordClusters(["a"], [3]))("A") == "c3"


@given(st.text())
def test_shapes_have_no_runs_of_three(token):
    found = shape(token)
    assert all(len({*found[k : k + 3]}) > 1 for k in range(len(found) - 2))
    assert character_type(token) == character_type(token[:1])


@given(WORDS, WORDS)
def test_alphabets_number_by_first_use(first, then):
    ids, alphabet = Alphabet().interned(first)
    assert list(alphabet) == list(dict.fromkeys(first))
    assert [list(alphabet)[k] for k in ids.tolist()] == first
    found, unknown = alphabet.numbered(then)
    np.testing.assert_array_equal(found, alphabet.lookup(then))
    assert [k == -1 for k in found.tolist()] == [s not in first for s in then]
    if unknown is not None:
        strings, places, numbers = unknown
        assert [strings[k] for k in numbers] == [then[k] for k in places.tolist()]
    more, longer = alphabet.interned(then)
    assert [list(longer)[k] for k in more.tolist()] == then
    assert list(longer)[: len(alphabet)] == list(alphabet)
    assert len(alphabet) == len(set(first))  # it stays as it is


def test_alphabets_hold_strings_only():
    for ask in (Alphabet().interned, Alphabet().numbered):
        with pytest.raises(TypeError, match="expected strings"):
            ask(["a", 1])
    _, alphabet = Alphabet().interned([Tag.NOUN, "a"])
    assert list(map(type, alphabet)) == [str, str]
    assert are_strings(["a", Tag.NOUN]) and not are_strings(["a", 1])


def test_columns():
    corpus = as_tokens([[("a", "x"), ("b", "y")], [("c", Tag.NOUN)]])
    assert split_columns(corpus, 1) == [["a", "b", "c"]]
    columns = string_columns(corpus, 2, tuple)
    assert columns == [["a", "b", "c"], ["x", "y", "N"]]
    assert set(map(type, columns[1])) == {str}
    assert split_columns(as_tokens([[], []]), 2) == [[], []]


@pytest.mark.parametrize(
    ("X", "n_columns", "expected", "match"),
    [
        ([["a"]], 1, tuple, "position 0: expected a token of type tuple"),
        ([["a"]], 2, None, "the templates read column 1, but the tokens are plain"),
        ([[("a",)]], 2, None, "column 1, but the token has 1 column"),
        ([[("a", "b"), ("a",)]], 1, None, "position 1: expected 2 columns like the"),
        ([[("a",), "b"]], 1, None, "position 1: expected a tuple of 1 like the first"),
        ([[("a", 1)]], 2, None, "position 0: expected a str in column 1, got int"),
        ([["a", 1]], 1, None, "position 1: expected a token of the type str, got int"),
    ],
)
def test_columns_that_cannot_be_read(X, n_columns, expected, match):
    with pytest.raises(ValueError, match=match):
        string_columns(as_tokens(X), n_columns, expected)
