"""Exports of NER Annotator."""

import io
import json

import pytest

from skstruct.datasets import read_spans

PAIRS = [
    ["Ann in Rome.", {"entities": [[0, 3, "PER"], [7, 11, "LOC"]]}],
    None,
    ["", {"entities": []}],
    ["Rome.\r", {"entities": [[0, 4, "LOC"]]}],
]


def test_nulls_and_blank_texts_are_counted():
    text = json.dumps({"classes": ["PER", "LOC"], "annotations": PAIRS})
    with pytest.warns(
        UserWarning, match=r"left out: 1 record \(null\), .*; 1 record \(a blank text\)"
    ):
        X, y = read_spans(io.StringIO(text))
    assert X == ["Ann in Rome.", "Rome.\r"]
    assert y == [[(0, 3, "PER"), (7, 11, "LOC")], [(0, 4, "LOC")]]


def test_a_pair_that_is_none_is_named():
    text = json.dumps({"classes": [], "annotations": [PAIRS[0], ["Ann"]]})
    with pytest.raises(ValueError, match="record 1: expected .text"):
        read_spans(io.StringIO(text))
