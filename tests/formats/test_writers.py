"""What is written is read back the same, or refused with its place."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.formats.readers import iter_columns, read_columns
from skstruct.formats.writers import write_columns

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=4)
SENTENCES = st.lists(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=3), min_size=1, max_size=3)


def written(sentences, **options):
    """The text, or None if the sentences are refused."""
    file = io.StringIO()
    try:
        write_columns(sentences, file, **options)
    except ValueError as error:
        assert "sentence " in str(error) and ", position " in str(error)
        return None
    return file.getvalue()


@given(SENTENCES, st.sampled_from([" ", "\t", "_"]))
def test_columns(sentences, separator):
    text = written(sentences, separator=separator)
    if text is not None and not text.startswith("\ufeff"):
        separator = None if separator == " " else separator
        assert list(read_columns(io.StringIO(text), separator=separator)) == sentences


@pytest.mark.parametrize(
    ("token", "error", "message"),
    [
        (("a", ""), ValueError, "sentence 1, position 1: .*could not be read back"),
        (("a", "b c"), ValueError, "sentence 1, position 1: .*could not be read back"),
        (("a", "b\nc"), ValueError, "sentence 1, position 1: .*holds a line end"),
        (("a",), ValueError, "sentence 1, position 1: expected 2 columns; got 1"),
        (("a", 3), TypeError, "sentence 1, position 1: expected a string; got 3"),
        ("ab", TypeError, "sentence 1, position 1: expected a tuple; got 'ab'"),
        (3, TypeError, "sentence 1, position 1: expected a tuple; got 3"),
    ],
)
def test_what_could_not_be_read_back(token, error, message):
    with pytest.raises(error, match=message):
        write_columns([[("x", "y")], [("x", "y"), token]], io.StringIO())


def test_a_generator_into_a_file(tmp_path):
    write_columns(([("我",), ("喜欢",)] for _ in range(2)), tmp_path / "text")
    assert (tmp_path / "text").read_text(encoding="utf-8") == "我\n喜欢\n\n" * 2


@pytest.mark.parametrize("bad", [[[("a", "X")], [("a b", "X")]], [[("a", "X")], [("\ud800", "X")]], [[3]]])
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path, bad):
    path = tmp_path / "train.txt"
    path.write_text("mine\n")
    with pytest.raises((ValueError, TypeError)):
        write_columns(bad, path)
    assert path.read_text() == "mine\n" and list(tmp_path.iterdir()) == [path]
    with pytest.raises((ValueError, TypeError)):
        write_columns(bad, tmp_path / "new.txt")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_read_while_its_successor_is_written(tmp_path):
    path = tmp_path / "text"
    write_columns([[("a",), ("b",)], [("c",)]], path)
    write_columns((rows[::-1] for rows in iter_columns(path)), path)
    assert read_columns(path) == [[("b",), ("a",)], [("c",)]]


def test_a_byte_order_mark_at_the_start_of_a_file_would_be_lost():
    assert written([[("\ufeffa", "b")]]) is None
    assert written([[("b", "\ufeff")]]).startswith("b \ufeff")
    assert written([[("b", "a")], [("\ufeff", "b")]]) is not None
