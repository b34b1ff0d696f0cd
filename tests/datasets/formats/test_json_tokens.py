"""Objects of tokens and labels."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.json_tokens import JsonTokens

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
ROWS = [
    {"id": "0", "tokens": ["Ruth", "Fox", "in", "Lyon"], "ner_tags": [1, 2, 0, 3]},
    {"id": "1", "tokens": [], "ner_tags": []},
    {"id": "2", "tokens": ["Lyon", "is", "big"], "ner_tags": [3, -100, None]},
]
X = [["Ruth", "Fox", "in", "Lyon"], ["Lyon", "is", "big"]]
Y = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", None, None]]


def lines(*records):
    return io.StringIO("".join(json.dumps(record) + "\n" for record in records))


def test_numbers_have_names():
    """Given as a list, a dict, or beside the labels."""
    for names in NAMES, dict(enumerate(NAMES)):
        assert read_tokens(lines(*ROWS), label_names=names) == (X, Y)
    for key in "names", "ner_tags_names":
        assert read_tokens(lines(*({**row, key: NAMES} for row in ROWS))) == (X, Y)
    one_list = io.StringIO(json.dumps(ROWS, indent=1))
    assert read_tokens(one_list, label_names=NAMES) == (X, Y)


def test_other_keys():
    row = {"words": ["a", "b"], "pos": ["D", "N"], "up": ["A", "B"], "doc_id": 7}
    assert read_tokens(lines(row)) == ([["a", "b"]], [["D", "N"]])
    assert read_tokens(lines(row), label="up")[1] == [["A", "B"]]
    found = read_tokens(lines(row), tokens=["words", "pos"], label="up")
    assert found[0] == [[("a", "D"), ("b", "N")]]
    assert read_tokens(lines(row), return_documents=True)[2] == ["7"]


@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        (
            ROWS[0],
            {},
            r"line 1: labels .* are numbers \(0, 1, 2, 3\); give their names with label_names=",
        ),
        (ROWS[0], {"label_names": ["O"]}, "no name for the label 1"),
        ({"tokens": ["a"], "tags": ["X", "Y"]}, {"label": "tags"}, "one length"),
        ({"tokens": ["a"], "tags": ["X"]}, {"label": "x"}, "found keys tokens, tags"),
        ({"tokens": ["a", 3], "tags": ["X", "Y"]}, {}, "expected a list of str"),
    ],
)
def test_what_is_refused(record, options, message):
    with pytest.raises(ValueError, match=message):
        read_tokens(lines(record), "json-tokens", **options)


def test_labels_are_written_where_they_were(tmp_path, capsys):
    path, names = tmp_path / "a.jsonl", tmp_path / "names.txt"
    path.write_text(lines(*ROWS).getvalue())
    names.write_text("\n".join(NAMES) + "\n")
    model = tmp_path / "m"
    code, _, err = run(capsys, "train", path, "-m", model, "--label-names", names)
    assert code == 0, err
    code, out, _ = run(capsys, "tag", path, "-m", model)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [row["id"] for row in found] == ["0", "2"]
    assert found[0]["ner_tags"] == Y[0] and found[0]["tokens"] == X[0]
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"tokens": X[0]}) + "\n")
    code, out, err = run(capsys, "tag", bare, "-m", model)
    assert code == 0 and json.loads(out)["ner_tags"] == Y[0], err
    code, _, err = run(capsys, "tag", path, "-m", model, "--scores")
    assert code == 2 and "no place for lines of scores" in err


def test_tokens_beside_a_text_are_none():
    head = Head.of_records("x", [{"text": "a b", "tokens": ["a", "b"], "ents": []}])
    assert not JsonTokens().look(head).is_yes


def test_labels_are_of_one_key():
    """A record whose labels are null does not take other ones."""
    rows = [
        {"tokens": ["a", "b"], "pos_tags": ["D", "N"], "ner_tags": None},
        {"tokens": ["c"], "pos_tags": ["N"], "ner_tags": ["B"]},
    ]
    for records in rows, rows[::-1]:
        _, y = read_tokens(lines(*records))
        assert sorted(y, key=len) == [["B"], [None, None]]
    short = {"tokens": ["a", "b"], "pos_tags": ["D", "N"], "ner_tags": ["B"]}
    with pytest.raises(ValueError, match=r"line 2: .* one length, got \[2, 1\]"):
        read_tokens(lines(rows[1], short))


def test_the_empty_label_is_one_like_others(tmp_path):
    path = tmp_path / "tags.jsonl"
    X, y = [["k", "t", "b"]], [["a", "", None]]
    path.write_text(json.dumps({"tokens": X[0], "labels": y[0]}) + "\n")
    assert read_tokens(path) == (X, y)


def test_whole_floats_are_numbers_of_labels():
    """Data frames make floats of ints where some are missing."""
    record = {"tokens": ["Ann", "ran"], "ner_tags": [1.0, 0.0]}
    text = json.dumps(record)
    found = read_tokens(io.StringIO(text), label_names=["O", "B-PER"])
    assert found == ([["Ann", "ran"]], [["B-PER", "O"]])
    with pytest.raises(
        ValueError, match=r"are numbers \(0, 1\); give their names with label_names="
    ):
        read_tokens(io.StringIO(json.dumps(record)))


def test_records_without_tokens_are_counted():
    text = '[{"tokens": ["a"], "tags": ["X"]}, null, {"tokens": [], "tags": []}]'
    told = r"1 record \(null\), first .*1; 1 record \(without tokens\), first .*2"
    with pytest.warns(UserWarning, match=told):
        assert read_tokens(io.StringIO(text)) == ([["a"]], [["X"]])
