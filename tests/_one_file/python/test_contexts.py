"""Lexicons in programs of one file."""

from skstruct._one_file.python.contexts import lexicon_function


def test_the_longest_entry_from_the_left_wins():
    marks = lexicon_function([["of"], ["of", "the"], ["New", "York", "City"], []])
    assert marks(["of", "the", "of", "a"]) == ["B", "E", "S", "O"]
    assert marks(["in", "New", "York", "City"]) == ["O", "B", "I", "E"]
    assert marks(["New", "York"]) == ["O", "O"]
    assert marks([]) == []
