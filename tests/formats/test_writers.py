"""What is written is read back the same, or refused with its place."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.formats.readers import iter_segmented, read_columns, read_conllu, read_segmented
from skstruct.formats.writers import write_columns, write_conllu, write_segmented

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=4)
SENTENCES = st.lists(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=3), min_size=1, max_size=3)


def written(write, sentences, **options):
    """The text, or None if the sentences are refused."""
    file = io.StringIO()
    try:
        write(sentences, file, **options)
    except ValueError as error:
        assert "sentence " in str(error) and ", position " in str(error)
        return None
    return file.getvalue()


@given(SENTENCES, st.sampled_from([" ", "\t", "_"]))
def test_columns(sentences, separator):
    text = written(write_columns, sentences, separator=separator)
    if text is not None and not text.startswith("\ufeff"):
        separator = None if separator == " " else separator
        assert list(read_columns(io.StringIO(text), separator=separator)) == sentences


@given(SENTENCES)
def test_conllu(sentences):
    text = written(write_conllu, sentences, fields=("form", "xpos"))
    if text is not None and not text.startswith("\ufeff"):
        assert list(read_conllu(io.StringIO(text), fields=("form", "xpos"))) == sentences


@given(st.lists(st.lists(CELL, min_size=1, max_size=3), min_size=1, max_size=3))
def test_segmented(sentences):
    text = written(write_segmented, sentences)
    if text is not None and not text.startswith("\ufeff"):
        assert list(read_segmented(io.StringIO(text))) == sentences


@pytest.mark.parametrize(
    ("write", "token", "error", "message"),
    [
        (write_columns, ("a", ""), ValueError, "sentence 1, position 1: .*could not be read back"),
        (write_columns, ("a", "b c"), ValueError, "sentence 1, position 1: .*could not be read back"),
        (write_columns, ("a", "b\nc"), ValueError, "sentence 1, position 1: .*holds a line end"),
        (write_columns, ("a",), ValueError, "sentence 1, position 1: expected 2 columns; got 1"),
        (write_columns, ("a", 3), TypeError, "sentence 1, position 1: expected a string; got 3"),
        (write_columns, "ab", TypeError, "sentence 1, position 1: expected a tuple; got 'ab'"),
        (write_conllu, ("a", "b\tc"), ValueError, "sentence 1, position 1: .*holds a tab"),
        (write_conllu, ("a",), ValueError, "sentence 1, position 1: expected a tuple of 2 values"),
        (write_segmented, "a b", ValueError, "sentence 1, position 1: 'a b' is empty or has white space"),
        (write_segmented, "", ValueError, "sentence 1, position 1: '' is empty"),
    ],
)
def test_what_could_not_be_read_back(write, token, error, message):
    good = "x" if write is write_segmented else ("x", "y")
    options = {"fields": ("form", "xpos")} if write is write_conllu else {}
    with pytest.raises(error, match=message):
        write([[good], [good, token]], io.StringIO(), **options)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ((2, "r"), "head must be an integer from 0 to 1; got 2"),
        ((1, "r"), "head 1 is the word itself"),
        (("0", "r"), "head must be an integer"),
    ],
)
def test_heads(token, message):
    with pytest.raises(ValueError, match=f"sentence 0, position 0: {message}"):
        write_conllu([[token]], io.StringIO(), fields=("head", "deprel"))


def test_a_generator_into_a_file(tmp_path):
    write_segmented((["我", "喜欢"] for _ in range(2)), tmp_path / "text")
    assert (tmp_path / "text").read_text(encoding="utf-8") == "我 喜欢\n我 喜欢\n"


@pytest.mark.parametrize(
    "write, bad",
    [
        (write_columns, [[("a", "X")], [("a b", "X")]]),
        (write_conllu, [[("a", "X", 0, "root")], [("a", "X", 5, "root")]]),
        (write_segmented, [["a"], ["a b"]]),
        (write_segmented, [["a"], ["\ud800"]]),
    ],
)
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path, write, bad):
    path = tmp_path / "train.txt"
    path.write_text("mine\n")
    with pytest.raises(ValueError):
        write(bad, path)
    assert path.read_text() == "mine\n" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError):
        write(bad, tmp_path / "new.txt")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_read_while_its_successor_is_written(tmp_path):
    path = tmp_path / "text"
    write_segmented([["a", "b"], ["c"]], path)
    write_segmented((words[::-1] for words in iter_segmented(path)), path)
    assert read_segmented(path) == [["b", "a"], ["c"]]


def test_a_byte_order_mark_at_the_start_of_a_file_would_be_lost():
    assert written(write_columns, [[("\ufeffa", "b")]]) is None
    assert written(write_segmented, [["\ufeff", "b"]]) is None
    assert written(write_segmented, [["b", "\ufeff"]]).startswith("b \ufeff")
