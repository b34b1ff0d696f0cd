"""Keys of any names, with dots."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_spans

OBJECT = {
    "data": {
        "items": [
            {"body": {"raw": "Ann in Rome"}, "marks": [
                {"pos": {"from": 0, "to": 3}, "kind": ["PER"]},
                {"pos": {"from": 7, "to": 11}, "kind": ["LOC"]},
            ]},
            None,
            {"body": {"raw": "no one"}, "marks": []},
        ]
    }
}  # fmt: skip
OPTIONS = {
    "records": "data.items",
    "text": "body.raw",
    "spans": "marks",
    "start": "pos.from",
    "end": "pos.to",
    "label": "kind",
}
EXPECTED = (["Ann in Rome", "no one"], [[(0, 3, "PER"), (7, 11, "LOC")], []])


def test_each_key_can_be_named(tmp_path, capsys):
    with pytest.warns(UserWarning, match=r"left out: 1 record \(null\)"):
        assert read_spans(io.StringIO(json.dumps(OBJECT)), **OPTIONS) == EXPECTED
    with pytest.warns(UserWarning, match=r"left out: 1 record \(null\)"):
        assert read_spans([OBJECT], **OPTIONS) == EXPECTED
    path = tmp_path / "a.json"
    path.write_text(json.dumps(OBJECT, indent=1))
    named = [x for k, v in OPTIONS.items() for x in ("--read", f"{k}={v}")]
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", *named)
    assert code == 0 and "read 2 texts, 2 spans" in err, err


def test_keys_that_are_not_named_are_usual():
    row = {"text": "Ann", "spans": [{"begin": 0, "end": 3, "cat": "PER"}]}
    assert read_spans([row], label="cat") == (["Ann"], [[(0, 3, "PER")]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"records": "data.rows"}, "no list of records under 'data.rows'"),
        ({"text": "body"}, "expected a str under 'body', got dict"),
        ({"text": "b"}, "no text: found keys body, marks; .* another key than 'b'"),
        ({"start": "from"}, "span 0: nothing under 'from': found keys pos, kind"),
    ],
)
def test_what_is_not_there_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        read_spans([OBJECT], **{**OPTIONS, **change})


def test_keys_of_a_tool_can_be_named_otherwise():
    """What an option says is taken, in a format that is recognised, too."""
    record = {
        "content": "Ann",
        "title": "Bo in it",
        "annotation": [{"label": ["PER"], "points": [{"start": 0, "end": 1}]}],
    }
    assert read_spans([record], text="content") == (["Ann"], [[(0, 2, "PER")]])
    assert read_spans([record], text="title") == (["Bo in it"], [[(0, 2, "PER")]])


def test_options_that_a_recognised_format_lacks_are_refused():
    record = {"text": "Ann", "ents": [{"start": 0, "end": 3, "label": "PER"}]}
    assert read_spans([record])[1] == [[(0, 3, "PER")]]
    for name, value in ("control", "x"), ("annotator", "x"), ("rejected", "outside"):
        with pytest.raises(ValueError, match=f"{name} is for .*'spacy-doc'"):
            read_spans([record], **{name: value})


def test_a_list_of_records_is_named():
    with pytest.raises(ValueError, match=r"or records= a list of records \('rows'\)"):
        read_spans([{"rows": [{"body": "Ann"}]}])
