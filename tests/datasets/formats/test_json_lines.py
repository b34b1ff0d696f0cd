"""Objects of a text and its spans: which are doccano's."""

import json

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.entry import Verdict
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.json_lines import Doccano, JsonLines
from skstruct.datasets.formats.span_records import ANNOTATORS


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


@pytest.mark.parametrize("key", ANNOTATORS)
@pytest.mark.parametrize("kind", ["jsonl", "doccano", "csv-spans"])
def test_several_annotators_of_a_text_are_an_error_that_asks(key, kind, tmp_path):
    """Their spans are never joined, and never two texts."""
    who = {"ann": [(0, 3, "P"), (7, 11, "L")], "bob": [(0, 3, "P")]}
    path = tmp_path / f"a.{kind[:3]}"
    if kind == "csv-spans":
        rows = [f"Ann in Rome,{a},{b},{c},{w}" for w, s in who.items() for a, b, c in s]
        text = "\n".join([f"text,start,end,label,{key}", *rows])
    else:
        name = "label" if kind == "doccano" else "spans"
        text = "\n".join(
            json.dumps({"text": "Ann in Rome", name: spans, key: w})
            for w, spans in who.items()
        )
    path.write_text(text)
    with pytest.raises(ValueError, match="has annotations of ann, bob; choose one of"):
        read_spans(path)
    for name, spans in who.items():
        assert read_spans(path, annotator=name) == (["Ann in Rome"], [spans])
