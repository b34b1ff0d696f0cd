"""The layout of a source: what it takes, says, and gives back."""

import pytest

from skstruct.datasets import SourceLayout


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"format": "conllu", "tokens": ["form"], "label": "upos"}, "conllu, tokens form, label upos"),
        ({"format": "columns", "label": [-2, -1], "comment": "#"}, "columns, label -2,-1, comment '#'"),
        ({"format": "columns", "tokens": 0, "separator": ";;"}, "columns, tokens 0, separator ';;'"),
        ({"format": "segmented", "encoding": "euc-jp"}, "segmented, encoding euc-jp"),
        (
            {"format": "jsonl", "offsets": "utf-16", "ends": "inclusive", "options": {"text": "body"}},
            "jsonl, offsets in utf-16, ends inclusive, text='body'",
        ),
    ],
)  # fmt: skip
def test_what_is_given_comes_back_and_is_described(given, text):
    layout = SourceLayout.from_dict(given)
    assert layout.describe() == text
    assert SourceLayout.from_dict(layout.to_dict()) == layout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"format": ""}, "format must be a str"),
        ({"format": "columns", "encoding": None}, "encoding must be a str"),
        ({"format": "columns", "separator": 1}, "separator must be a str or None"),
        ({"format": "columns", "label": True}, "numbers or names of columns"),
        ({"format": "columns", "options": {"a": {1, 2}}}, "options must be a dict"),
        ({"format": "columns", "options": {"a": {"$array": "x"}}}, "options must be"),
        ({"format": "columns", "columns": [1]}, "unknown: columns; 11 names are known"),
    ],
)
def test_what_it_cannot_be_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        SourceLayout.from_dict(given)
