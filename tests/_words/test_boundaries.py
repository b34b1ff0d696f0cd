"""Words, white space, flags and dictionaries as decisions by character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct._core.codes import FREE, INSIDE, START
from skstruct._data.segmented import as_pieces
from skstruct._words.boundaries import (
    as_gold,
    as_limits,
    decisions_of_words,
    offsets_of_texts,
)

CODES = {"|": START, "-": INSIDE, "?": FREE}
WORDS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4)


def codes(text):
    return [CODES[c] for c in text]


def limits(X, **given_too):
    return as_limits(X, as_pieces(X), **given_too).tolist()


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_words_say_everything(words):
    X = ["".join(w) for w in words]
    gold, same = as_gold(X, as_pieces(X), words)
    assert same == words
    for decisions, text in zip(gold, words):
        assert decisions.tolist() == codes(
            "".join("|" + "-" * (len(w) - 1) for w in text)
        )
    assert decisions_of_words(words).tolist() == [
        d for decisions in gold for d in decisions.tolist()
    ]


def test_flags_and_words_may_be_mixed():
    X, y = ["ab", "a b", "abc"], [["ab"], [None, None, True], [None, False, None]]
    gold, words = as_gold(X, as_pieces(X), y)
    assert [g.tolist() for g in gold] == [codes("|-"), codes("||"), codes("|-?")]
    assert words == [["ab"], None, None]


def test_white_space_starts_words():
    assert limits(["ab", " a b", ""]) == codes("|?||")
    assert offsets_of_texts(as_pieces(["ab", " a b", ""])).tolist() == [0, 2, 4, 4]


def test_flags_of_the_user():
    flags = [None, [True, None, False, True]]
    assert limits(["ab", "abcd"], boundaries=flags) == codes("|?|?-|")


@pytest.mark.parametrize(
    ("text", "flags", "dictionary", "expected"),
    [
        ("abcd", None, ["bc"], "||-|"),
        ("abcd", None, ["b", "bc", "cd"], "||-|"),  # the longest one from the left
        ("ab cd", None, ["bc"], "|?|?"),  # not over white space
        ("abcd", [None, None, True, None], ["bc"], "|?|?"),  # the user's flags win
        ("abcd", [None, True, None, None], ["bc"], "||-|"),
        (
            "abcd",
            [None, None, None, False],
            ["bc"],
            "|??-",
        ),  # the word must end where it ends
    ],
)
def test_words_of_a_dictionary(text, flags, dictionary, expected):
    assert limits([text], boundaries=[flags], dictionary=dictionary) == codes(expected)


@pytest.mark.parametrize(
    ("boundaries", "message"),
    [
        ("ab", "boundaries must be a list with flags for each text, got str 'ab'"),
        ([None], "as many items as X, got 1 and 2"),
        ([None, 3], "sequence 1 must be None or a list of flags, got int 3"),
        (
            [None, [True]],
            "sequence 1.*one flag for each of the 3 characters of the text, got 1",
        ),
        (
            [None, [None, 1, None]],
            "sequence 1, position 1.*True, False or None, got int 1",
        ),
        (
            [None, [False, None, None]],
            "sequence 1, position 0.*False, but a word starts",
        ),
    ],
)
def test_flags_that_are_none(boundaries, message):
    with pytest.raises(ValueError, match=message):
        limits(["ab", "abc"], boundaries=boundaries)


def test_tags_are_refused():
    with pytest.raises(ValueError, match="sequence 0, position 0.*learns no tags"):
        as_gold(["ab"], as_pieces(["ab"]), [[("ab", "N")]])
