"""Documents of SciERC: spans count the tokens of the document."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens

RECORD = {
    "doc_key": "d",
    "sentences": [["Ana", "left", "Lima"], ["Tom", "came"]],
    "ner": [[[0, 0, "PER"], [2, 2, "LOC"]], [[3, 3, "PER"]]],
    "relations": [[], []],
}


def test_positions_count_the_tokens_of_the_document():
    X, y = read_tokens(io.StringIO(json.dumps(RECORD)))
    assert X == RECORD["sentences"]
    assert y == [["B-PER", "O", "B-LOC"], ["B-PER", "O"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ner": [[[3, 3, "PER"]], []]}, "sentence 0, span 0: expected .*of 3 tokens"),
        ({"ner": [[], [[2, 3, "X"]]]}, "sentence 1, span 0: .* the tokens 3 to 4"),
        ({"ner": [[]]}, "as many lists of spans under 'ner'"),
    ],
)
def test_what_is_refused(change, message):
    text = json.dumps([RECORD, {**RECORD, **change}])
    with pytest.raises(ValueError, match=f"record 1.*{message}"):
        read_tokens(io.StringIO(text), "dygie")


def test_spans_within_others_and_nulls_are_counted():
    stacked = {**RECORD, "ner": [[[0, 0, "A"], [0, 2, "B"]], []]}
    told = r"1 record \(null\), .*; 1 span \(within or across others"
    with pytest.warns(UserWarning, match=told):
        _, y = read_tokens(io.StringIO(json.dumps([stacked, None])))
    assert y == [["B-B", "I-B", "I-B"], ["O", "O"]]


def test_a_sentence_is_written_as_a_document(tmp_path, capsys):
    path, model = tmp_path / "a.jsonl", tmp_path / "m"
    path.write_text((json.dumps(RECORD) + "\n") * 6)
    assert run(capsys, "train", path, "-m", model)[0] == 0
    code, out, _ = run(capsys, "tag", path, "-m", model)
    assert code == 0
    assert read_tokens(io.StringIO(out), "dygie") == read_tokens(path)
