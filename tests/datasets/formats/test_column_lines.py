"""Lines of columns that are no tokens."""

import io
import warnings

import pytest

from skstruct.datasets import read_columns, read_tokens
from skstruct.datasets.formats.column_lines import are_names, comments_in
from skstruct.datasets.formats.head import Head


def test_a_sign_that_is_its_own_label_is_a_token():
    text = "Pay VB\n# #\n3 CD\n\n# #\n4 CD\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = read_tokens(io.StringIO(text))
    assert X == [["Pay", "#", "3"], ["#", "4"]] and y[1] == ["#", "CD"]


def test_hashtags_and_comments_are_told_apart():
    text = "# id 1\n#MeToo O\nAna B-PER\n\n# id 2\nTom B-PER\n#x O\n"
    with pytest.warns(UserWarning, match=r"line 1: lines that begin with '# '"):
        X, _ = read_tokens(io.StringIO(text), format="columns")
    assert X == [["#MeToo", "Ana"], ["Tom", "#x"]]
    both = "# id\n# O\nAna B-PER\n\n# di\nTom B-PER\n"
    with pytest.raises(ValueError, match=r"line 1: '# id' looks like a comment, and"):
        read_tokens(io.StringIO(both))
    X, _ = read_tokens(io.StringIO(both), comment="")
    assert X[0][:2] == ["#", "#"]


def test_lines_that_begin_most_sentences_are_comments_without_labels():
    lines = ["# id 1", "Ana", "left", "", "# id 2", "Tom"]
    found = comments_in(Head("a", lines), label=None)
    assert found is not None and found.prefix == "# " and found.number == 1
    assert comments_in(Head("a", ["#", "1", "", "Tom"]), label=None) is None


def test_ends_of_sentences_and_names_of_columns():
    text = "word tag\na X\nEOS\nb Y\nEOS\n"
    with pytest.warns(
        UserWarning, match="line 1: the line is left out, since it names columns"
    ):
        X, y = read_columns(io.StringIO(text), return_X_y=True, comment="EOS")
    assert X == [["a"], ["b"]] and y == [["X"], ["Y"]]
    assert not are_names(["word"]) and not are_names(["word", "word"])
    # a column of words alone may hold any
    assert read_columns(io.StringIO("a\nEOS\n")) == [[("a",), ("EOS",)]]
