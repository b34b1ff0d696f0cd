"""Data of GLiNER: spans of tokens with inclusive ends."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME

WORDS = ["Ruth", "Okafor", "moved", "to", "New", "York", "."]


def record(*spans, tokens=WORDS):
    return {"tokenized_text": tokens, "ner": list(map(list, spans))}


@pytest.mark.parametrize("as_list", [True, False])
def test_labels_of_spans(as_list):
    records = [record((0, 1, "person"), (4, 5, "big city"), (6, 6, "end")), record()]
    text = json.dumps(records) if as_list else "\n".join(map(json.dumps, records))
    X, y = read_tokens(io.StringIO(text))
    assert X == [WORDS, WORDS] and y[1] == ["O"] * 7
    expected = ["B-person", "I-person", "O", "O", "B-big city", "I-big city", "B-end"]
    assert y[0] == expected
    assert read_tokens(io.StringIO(text), "gliner") == (X, y)


def test_spans_within_others_are_left_out_and_counted():
    text = json.dumps(record((4, 4, "a"), (3, 5, "b"), (5, 6, "c")))
    with pytest.warns(
        UserWarning, match=r"left out: 2 spans \(within or across others"
    ):
        y = read_tokens(io.StringIO(text), "gliner")[1]
    assert y == [["O", "O", "O", "B-b", "I-b", "I-b", "O"]]


@pytest.mark.parametrize(
    "span", [(0, 7, "a"), (2, 1, "a"), (-1, 1, "a"), (0, 1), (0, 1, 2), (0.0, 1, "a")]
)
def test_wrong_spans_are_named(span):
    text = json.dumps(record()) + "\n" + json.dumps(record(span))
    with pytest.raises(
        ValueError, match="line 2, span 0: expected .first, last, label"
    ):
        read_tokens(io.StringIO(text), "gliner")


def test_wrong_records_are_named():
    for wrong in ({"tokenized_text": "a b", "ner": []}, {"tokenized_text": ["a"]}, [1]):
        with pytest.raises(ValueError, match="record 0: expected"):
            read_tokens(io.StringIO(json.dumps([wrong])), "gliner")


def test_objects_of_tokens_and_labels_are_another_format():
    head = Head.of_records("x", [{"tokens": ["a"], "ner": ["O"]}] * 3)
    assert not BY_NAME["gliner"].look(head).is_yes


def test_labels_are_written_as_spans(tmp_path, capsys):
    path, model = tmp_path / "a.json", tmp_path / "m"
    gold = record((0, 1, "person"), (4, 5, "big city"))
    path.write_text(json.dumps([{**gold, "id": k} for k in range(6)]))
    assert run(capsys, "train", path, "-m", model)[0] == 0
    (tmp_path / "b.jsonl").write_text(json.dumps({**record(), "id": "x"}) + "\n")
    code, out, err = run(capsys, "tag", tmp_path / "b.jsonl", "-m", model)
    assert code == 0 and json.loads(out) == {**gold, "id": "x"}, err
