"""Tokens of any format."""

import io

import pytest

from skstruct.datasets import iter_tokens, read_tokens

TEXT = "a b X\nc d Y\n\ne f X\n"


def test_columns_are_chosen():
    assert read_tokens(io.StringIO(TEXT)) == (
        [[("a", "b"), ("c", "d")], [("e", "f")]],
        [["X", "Y"], ["X"]],
    )
    X, y = read_tokens(io.StringIO(TEXT), tokens=[2], label=0)
    assert (X, y) == ([["X", "Y"], ["X"]], [["a", "c"], ["e"]])
    assert read_tokens(io.StringIO(TEXT), tokens=1)[0] == [["b", "d"], ["f"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TEXT, {"tokens": [3]}, "expected a column 3; found 3 columns"),
        (TEXT, {"label": "ner"}, "numbers of columns"),
        (TEXT, {"format": "conllu", "separator": "x"}, "separator is for columns"),
        (TEXT, {"format": "conll"}, "format must be"),
        ("a\nb\n", {"format": "columns"}, "a token and a label"),
        ("a b c\nd e\n", {}, "cannot tell the format"),
        ('{"text": "a", "spans": []}\n', {}, "looks like jsonl .* read_spans"),
    ],
)
def test_what_is_refused(text, options, message):
    with pytest.raises(ValueError, match=message):
        read_tokens(io.StringIO(text), **options)


def test_features_of_crfsuite():
    X, y = read_tokens(io.StringIO("A\tw=a\nB\tw=b\tx=1:2\n"))
    assert y == [["A", "B"]] and X == [[{"w=a": 1.0}, {"w=b": 1.0, "x=1": 2.0}]]


def test_sentences_one_by_one():
    found = iter_tokens(io.StringIO(TEXT), tokens=[0], label=-1)
    first = next(found)
    assert first.tokens == ["a", "c"] and first.labels == ["X", "Y"]
    assert first.document is None and [s.labels for s in found] == [["X"]]
