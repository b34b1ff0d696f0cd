"""Objects of a text and its spans: which are doccano's."""

import pytest

from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.json_lines import Doccano, JsonLines


@pytest.mark.parametrize(
    ("record", "ours", "of_doccano"),
    [
        ({"text": "a", "spans": []}, 0.8, 0),
        ({"text": "a", "label": [[0, 1, "X"]]}, 0.8, 0.8),
        ({"text": "a", "label": [{"start": 0, "labels": ["X"]}]}, 0.8, 0),
        ({"text": "a"}, 0.6, 0),
        ({"x": "a"}, 0.5, 0),
    ],
)
def test_evidence(record, ours, of_doccano):
    head = Head.of_records("source", [record])
    assert JsonLines().recognise(head).score == ours
    assert Doccano().recognise(head).score == of_doccano


def test_broken_json_is_for_its_reader_to_name():
    assert JsonLines().recognise(Head("notes", ['{"text": "a"'])).is_yes
    assert JsonLines().recognise(Head("notes.jsonl", ["{"])).is_yes
    assert not JsonLines().recognise(Head("notes", ["a b"])).is_yes
