"""Keys of any names, with dots."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_spans
from skstruct.datasets.formats.keyed import at, elements_at

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
    with pytest.warns(UserWarning, match="left out: 1 null"):
        assert read_spans(io.StringIO(json.dumps(OBJECT)), **OPTIONS) == EXPECTED
    with pytest.warns(UserWarning, match="left out: 1 null"):
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
        ({"text": "body"}, "no text under 'body': found keys body, marks"),
        ({"start": "from"}, "span 0: nothing under 'from': found keys pos, kind"),
    ],
)
def test_what_is_not_there_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        read_spans([OBJECT], **{**OPTIONS, **change})


def test_paths():
    value = {"a": [{"b": 1}], "c.d": 2, "e": [{"f": 1}, {"f": 2}]}
    assert at(value, "a.b") == 1 and at(value, "c.d") == 2 and at(value, "e.1.f") == 2
    assert at(value, "e.f", None) is None
    with pytest.raises(KeyError):
        at(value, "x")
    assert list(elements_at([1], None, "p")) == [("p", [1])]
