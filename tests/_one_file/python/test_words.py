"""Words from the labels of characters."""

from skstruct._one_file.python.words import ranges, write_words


def test_parts_of_a_whole():
    assert ranges([0, 2], "abcd") == [(0, 2), (2, 4)]
    assert ranges([], "") == []


def test_lines_of_words():
    class Tagger:
        def predict(self, X):
            return [[(word, "T") if word == "b" else word for word in X[0].split()]]

    assert list(write_words(Tagger(), ["a b\n", "\r\n"], False)) == ["a b/T\n", "\n"]
