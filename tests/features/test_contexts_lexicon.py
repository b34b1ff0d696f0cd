"""Lexicons: maximum matching against a search word by word, and entries that are
none.
"""

import pytest
from counting import calls, needs_compiled
from hypothesis import given
from hypothesis import strategies as st

from skstruct import FeatureTemplates
from skstruct._data.inputs import flatten, lengths_of, offsets_of
from skstruct.features.contexts import MARKS, Lexicon, are_characters, as_entries

TEXT = st.text("abc", max_size=8)


def marks_of(lexicon, X):
    flat = flatten([list(x) for x in X])
    found = "".join(MARKS[m] for m in lexicon.match(flat, offsets_of(lengths_of(X))))
    bounds = offsets_of(lengths_of(X)).tolist()
    return [found[a:b] for a, b in zip(bounds, bounds[1:])]


def definition(words, text):
    """The longest word at each position, from left to right."""
    out, t = "", 0
    while t < len(text):
        n = max((len(w) for w in words if text.startswith(w, t)), default=0)
        out += "O" if not n else "S" if n == 1 else "B" + "I" * (n - 2) + "E"
        t += max(n, 1)
    return out


@given(
    words=st.sets(st.text("abcd", min_size=1, max_size=4), max_size=8),
    X=st.lists(TEXT, max_size=5),
)
def test_longest_from_left_to_right(words, X):
    lexicon = Lexicon(as_entries(words, "it"), characters=True)
    assert marks_of(lexicon, X) == [definition(words, x) for x in X]


def test_words_and_tuples():
    sentence = ["in", "New", "York", "City", "or", "New", "Ulm", "City"]
    lexicon = Lexicon(
        as_entries(["New York", ("New", "York", "City"), "City", ("New Ulm",)], "it"),
        False,
    )
    assert marks_of(lexicon, [sentence]) == ["OBIEOOOS"]
    assert marks_of(
        Lexicon(as_entries([("北", "京"), "上 海"], "it"), True), ["北京上海"]
    ) == ["BEBE"]


def test_what_characters_are():
    assert (
        are_characters(["a", "b", "cd"])
        and not are_characters(["a", "bc"])
        and not are_characters([])
    )


def test_entries_are_a_set():
    templates = [
        FeatureTemplates(["U:%lex_a[0,0]"], lexicons={"a": entries})
        for entries in (["x", ("y", "z"), "x"], (("y", "z"), "x"), {"x", ("y", "z")})
    ]
    assert templates[0] == templates[1] == templates[2]
    assert len(set(map(hash, templates))) == 1
    assert templates[0] != FeatureTemplates(["U:%lex_a[0,0]"], lexicons={"a": ["x"]})
    assert "lexicons with {'a': 2} entries" in repr(templates[0])


@pytest.mark.parametrize(
    ("lexicons", "error", "message"),
    [
        (
            None,
            ValueError,
            "reads the lexicon 'a', which is not among those given: none",
        ),
        ({"b": ["x"]}, ValueError, "'a', which is not among those given: 'b'"),
        ({"a": ["x"], "b": ["x"]}, ValueError, "no template reads %lex_b"),
        (
            {"a": "x"},
            ValueError,
            r"lexicons\['a'\] must be a list of str or of tuples of str, got str 'x'",
        ),
        ({"a": 3}, ValueError, "must be a list"),
        (
            {"a": ["x", 3]},
            ValueError,
            "entry 1 must be a str or a tuple of str, and not empty, got int 3",
        ),
        ({"a": [" "]}, ValueError, "entry 0"),
        ({"a": [()]}, ValueError, "entry 0"),
        ({"a": [("x", "")]}, ValueError, "entry 0"),
        ({"a": [("x", 1)]}, ValueError, "entry 0"),
        (["a"], TypeError, "lexicons must be a mapping"),
        (
            {"a": {"Rome": "LOC", "Ann": "PER"}},
            ValueError,
            "the entries have several types, .* use a lexicon for each type",
        ),
    ],
)
def test_what_is_no_lexicon(lexicons, error, message):
    with pytest.raises(error, match=message):
        FeatureTemplates(["U:%lex_a[0,0]", "B"], lexicons=lexicons)


@needs_compiled
def test_a_long_text_does_not_go_through_the_entries():
    """Entries are read once and the text is read once: what a longer text costs does
    not depend on them.
    """
    counts = {}
    marks_of(Lexicon(["a"], True), ["a"])
    for n_words in (100, 10_000):
        words = [f"{k:05d}" for k in range(n_words)]
        for n in (10, 1000):
            text = ["".join(words[:10] * n)]
            counts[n_words, n], marks = calls(
                lambda text=text, words=words: marks_of(Lexicon(words, True), text)
            )
            assert marks == ["BIIIE" * (len(text[0]) // 5)]
    few, many = (
        counts[n_words, 1000] - counts[n_words, 10] for n_words in (100, 10_000)
    )
    assert many <= few + 10
    assert counts[10_000, 10] < 100 * counts[100, 10]
