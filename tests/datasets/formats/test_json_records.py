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
        ({"text": "b"}, "no text under 'b': found keys body, marks; name another key"),
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
    with pytest.raises(
        ValueError, match=r"or a list of records with records= \('rows'\)"
    ):
        read_spans([{"rows": [{"body": "Ann"}]}])


SPAN = {"start": 0, "end": 3, "label": "PER"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("record", "options"),
    [
        ({"spans": '[{"start": 0, "end": 3, "label": "PER"}]'}, {}),
        ({"spans": [{"start": "0", "end": "3", "label": "PER"}]}, {}),
        ({"spans": [{"start": 0.0, "end": 3.0, "label": "PER"}]}, {}),
        ({"spans": [{"offset": 0, "length": 3, "label": "PER"}]}, {}),
        (
            {"spans": [{"at": 0, "n": 3, "label": "PER"}]},
            {"start": "at", "length": "n"},
        ),
        ({"spans": [{"start": 0, "end": 3, "label": ["PER"]}]}, {}),
        (
            {
                "spans": [
                    {"start": 0, "end": 3, "tags": [{"name": "PER"}, {"name": "X"}]}
                ]
            },
            {"label": "tags.0.name"},
        ),
        (
            {"answers": '{"ner": {"marks": [[0, 3, "PER"]]}}'},
            {"spans": "answers.ner.marks"},
        ),
        ({"x": [[0, 3, "PER"]], "label": "news"}, {"spans": "x"}),
    ],
)
def test_spellings_of_spans(record, options):
    assert read_spans([{"text": "Ann ran", **record}], **options) == (
        ["Ann ran"],
        [[(0, 3, "PER")]],
    )


def test_a_start_that_is_left_out_is_zero_where_its_key_is_named():
    records = [
        {"text": "Ann", "spans": [{"to": 3, "label": "PER"}]},
        {"text": "in Oslo", "spans": [{"from": 3, "to": 7, "label": "LOC"}]},
    ]
    named = {"start": "from", "end": "to"}
    assert read_spans(records, **named)[1] == [[(0, 3, "PER")], [(3, 7, "LOC")]]
    with pytest.raises(ValueError, match="record 0, span 0: nothing under 'from'"):
        read_spans(records[:1], **named)
    with pytest.raises(ValueError, match=r"expected \[start, end, label\]"):
        read_spans([{"text": "Ann", "spans": [{"end": 3, "label": "PER"}]}])


def test_spans_that_count_words():
    record = {
        "tokens": ["Ann", "Lee", "ran"],
        "entities": [{"start": 0, "end": 2, "label": "PER"}],
    }
    assert read_spans([record], words="tokens") == (["Ann Lee ran"], [[(0, 7, "PER")]])
    last = {**record, "entities": [[0, 1, "PER"]], "text": "Ann  Lee, ran"}
    last["tokens"] = ["Ann", "Lee", ",", "ran"]
    found = read_spans([last], words="tokens", ends="inclusive")
    assert found == (["Ann  Lee, ran"], [[(0, 8, "PER")]])
    with pytest.raises(
        ValueError, match="no span of 3 tokens if ends are exclusive; pass ends="
    ):
        read_spans([{**record, "entities": [[0, 4, "X"]]}], words="tokens")
    with pytest.raises(ValueError, match="'Tim' does not follow the token before it"):
        read_spans([{**last, "tokens": ["Tim"]}], words="tokens")


def test_one_of_several_labels():
    record = {"text": "Ann", "spans": [{**SPAN, "label": ["VIP", "PER"]}]}
    with pytest.raises(ValueError, match="two labels on one span: 'VIP', 'PER'"):
        read_spans([record])
    assert read_spans([record], labels="first")[1] == [[(0, 3, "VIP")]]
    for labels in ("PER,LOC", ["PER"]):
        assert read_spans([record], labels=labels)[1] == [[(0, 3, "PER")]]
    assert read_spans([record], labels="LOC")[1] == [[]]
    with pytest.raises(ValueError, match="labels must be 'first' or a collection of"):
        read_spans([record], labels=3)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"spans": None}, "null under 'spans'"),
        ({"spans": {}}, "an empty object and no list under 'spans'"),
        ({"label": "news"}, "a str and no list under 'label'"),
        ({"marks": [[0, 3, "PER"]]}, "a list under 'marks' that is not understood"),
        ({"spans": [], "marks": [[0, 3, "X"]]}, "a list under 'marks' that is not"),
    ],
)
def test_what_is_not_understood_is_left_out_and_said(record, why):
    """It is never taken for a text without spans."""
    records = [{"text": "Bo", "spans": [[0, 2, "PER"]]}, {"text": "Ann", **record}]
    with pytest.warns(
        UserWarning, match=f"left out: 1 record .{why}.*, first record 1"
    ):
        assert read_spans(records) == (["Bo"], [[(0, 2, "PER")]])


def test_lists_that_hold_something_else_are_no_spans():
    tokens = [{"text": "Ann", "start": 0, "end": 3, "id": 0}]
    record = {"text": "Ann", "spans": [], "tokens": tokens, "relations": [[1, 2, "x"]]}
    assert read_spans([record]) == (["Ann"], [[]])


def test_a_list_that_is_empty_says_that_there_is_none():
    """Paragraphs and the like have starts and ends, and no labels."""
    parts = [{"start": 0, "end": 3, "id": "p1", "text": "Ann"}]
    record = {"text": "Ann", "spans": [], "paragraphs": parts, "authors": ["Bo"]}
    assert read_spans([record]) == (["Ann"], [[]])


def test_triples_in_a_list_of_records():
    data = {"train": [["Ann", {"entities": [[0, 3, "PER"]]}]]}
    assert read_spans([data], records="train") == (["Ann"], [[(0, 3, "PER")]])


def test_spans_under_two_keys():
    """Those under the first are returned, the others counted; a fault takes both."""
    two = {"text": "Ann ran", "spans": [[0, 3, "PER"]], "entities": [[4, 7, "ACT"]]}
    told = r"1 span \(under 'entities' beside those under 'spans'\), first record 0"
    with pytest.warns(UserWarning, match=told):
        assert read_spans([two])[1] == [[(0, 3, "PER")]]
    faulty = {**two, "spans": [[0, 3, "PER"], [0]]}
    with pytest.warns(UserWarning, match="left out: 2 spans"):
        X, _, faults = read_spans([faulty, two], on_error="list")
    assert X == ["Ann ran"] and len(faults) == 1


def test_a_label_before_its_offsets_is_shown():
    """It is no label that is a number."""
    with pytest.raises(
        ValueError, match=r"expected \[start, end, label\].*'PER', 0, 3"
    ):
        read_spans([{"text": "Ann ran", "spans": [["PER", 0, 3]]}])


def test_records_of_one_span_each_are_told_apart():
    rows = [{"text": "Ann ran", "start": 0, "end": 3, "label": "PER"}]
    with pytest.warns(UserWarning, match="records of one span each .* write CSV"):
        read_spans(rows)
    with pytest.warns(UserWarning, match="keys text, label$"):
        read_spans([{"text": "Ann ran", "label": "PER"}])
