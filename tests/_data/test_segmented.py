"""Texts and words, checked against each other, and labels turned into words."""

import numpy as np
import pytest

from skstruct._data.inputs import NothingToLearn
from skstruct._data.schemes import SCHEMES, labels_to_words, words_to_labels
from skstruct._data.segmented import (
    as_dictionary,
    as_pieces,
    as_words,
    cut,
    label_options,
    with_characters,
    word_spans,
    words_at,
)

WORDS = [["the", "dog"], ["a"], ["cats", "run", "on"]]
TEXTS = ["thedog", "a", "cats runon"]


def test_texts_are_cut_at_white_space():
    assert as_pieces([" ab c\n", ""]) == [["ab", "c"], []]
    assert with_characters([["a"], [], ["b"]]) == [0, 2]
    for pieces in ([], [[]]):
        with pytest.raises(NothingToLearn):
            with_characters(pieces)
    with pytest.raises(ValueError, match=r"use ''.join\(characters\)"):
        as_pieces([["a", "b"]])


def test_words_spell_the_texts():
    assert as_words(as_pieces(TEXTS), WORDS) == (WORDS, None)
    tagged = [[(word, "T") for word in line] for line in WORDS]
    words, tags = as_words(as_pieces(TEXTS), tagged)
    assert list(map(list, words)) == WORDS and [len(line) for line in tags] == [2, 1, 3]


@pytest.mark.parametrize(
    "text, words, said",
    [
        ("ab", ["a", "c"], "1: the words must spell the text, .* 'b', got 'c'"),
        ("ab", ["a"], "goes on with 'b' after the last word"),
        ("ab", ["ab", "c"], "which has ended, got 'c'"),
        ("a b", ["ab"], "white space inside of the word 'ab'"),
        ("a b", ["a b"], "a word must not hold white space"),
        ("ab", ["a", 3], "expected a word, a str, as before, got int 3"),
        ("ab", [("a", "T"), "b"], r"expected a \(word, tag\) pair, as before, got str"),
        ("ab", [("ab", "")], "the tag must be a str, and not empty"),
    ],
)
def test_errors_name_the_word(text, words, said):
    with pytest.raises(ValueError, match=f"y: sequence 0, position.*{said}"):
        as_words(as_pieces([text]), [words])


def test_a_dictionary_is_a_collection_of_words():
    assert as_dictionary(("ab", "c")) == ["ab", "c"]
    for words, said in (
        ("ab", r"use \[word\] for one word"),
        ({"ab": 1}, "words have no weights"),
        (3, "must be a collection of words"),
        (["a b"], "entry 0 must be a word"),
    ):
        with pytest.raises(ValueError, match=said):
            as_dictionary(words)


def test_words_begin_where_they_are_said_to():
    start = np.array([1, 0, 1, 1], np.bool_)
    assert words_at("abcd", start, np.array([0, 3, 4])) == [["ab", "c"], ["d"]]
    assert word_spans([("ab", "T"), ("c", "S")]) == [
        (0, 2, "ab", "T"),
        (2, 3, "c", "S"),
    ]
    assert word_spans(["ab"]) == [(0, 2, "ab", "")]


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "IO"])
def test_a_corpus_is_cut_as_its_texts_are(scheme):
    labels = [words_to_labels(line, scheme) for line in WORDS]
    if scheme != "IOB1":
        pieces = [["".join(line)] for line in WORDS]
        expected = [
            labels_to_words("".join(line), each, scheme)
            for line, each in zip(WORDS, labels)
        ]
        assert cut(pieces, labels, scheme, False) == expected == WORDS
    assert cut(as_pieces(["a b"]), [["B", "I"]], "BIO", False) == [["a", "b"]]


def test_white_space_leaves_some_labels():
    assert label_options([["ab"]], ["B", "I", "E", "S"], "BIOES") is None
    ((first, *_, last),) = label_options([["ab", "c"]], ["B", "E", "I", "S"], "BIOES")
    assert first == {"B", "S"} and last == {"S"}
