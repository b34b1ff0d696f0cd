"""Objects of a text and its spans: which are doccano's."""

import pytest

from skstruct.datasets.formats.entry import Verdict
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.json_lines import Doccano, JsonLines


@pytest.mark.parametrize(
    ("record", "of_doccano"),
    [
        ({"text": "a", "spans": []}, Verdict.NO),
        ({"text": "a", "label": [[0, 1, "X"]]}, Verdict.MARKED),
        ({"text": "a", "label": [{"start": 0, "labels": ["X"]}]}, Verdict.NO),
        ({"text": "a"}, Verdict.NO),
        ({"x": "a"}, Verdict.NO),
    ],
)
def test_doccano_has_a_mark_and_the_general_format_none(record, of_doccano):
    head = Head.of_records("source", [record])
    assert JsonLines().look(head).verdict is Verdict.FITS
    assert Doccano().look(head).verdict is of_doccano


def test_broken_json_is_for_its_reader_to_name():
    assert JsonLines().look(Head("notes", ['{"text": "a"'])).is_yes
    assert JsonLines().look(Head("notes.jsonl", ["{"])).is_yes
    assert not JsonLines().look(Head("notes", ["a b"])).is_yes
