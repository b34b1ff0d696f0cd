"""check: what a file holds, and all that is wrong in it, before anything is trained."""

import json

import pytest
from cli_cases import run, run_train


@pytest.fixture
def broken(tmp_path):
    rows = [
        {"id": 7, "text": "Ann in Rome", "spans": [[0, 3, "PER"], [7, 40, "LOC"]]},
        {"id": 8, "text": "Bob Lee ran", "spans": [[0, 7, "PER"], [4, 7, "LOC"]]},
        {"id": 9, "text": "Eve", "spans": [[0, 3, "PER"], [1, 1, "LOC"]]},
        {"id": 10, "text": "Eve", "spans": []},
        {"id": 11, "text": "Tom", "spans": []},
        {"id": 12, "text": "Tom", "spans": []},
    ]
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_all_faults_in_one_run(broken, capsys):
    code, out, err = run(capsys, "check", broken)
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 1 and "2 faults that training refuses" in err
    assert "6 records: 5 annotated (3 of them without spans), 1 faulty" in err
    assert [(kind, where) for kind, where, _ in rows] == [
        ("fault", f"{broken}, line 1, id 7"),
        ("fault", f"{broken}, line 2, id 8"),
        ("note", f"{broken}, line 3, id 9"),
        ("note", f"{broken}, line 3, id 9"),
        ("note", f"{broken}, line 5, id 11"),
    ]
    assert "leaves the text" in rows[0][2] and "overlap" in rows[1][2]
    assert "is empty" in rows[2][2] and "has other spans" in rows[3][2]
    _, out, _ = run(capsys, "check", broken, "--json")
    assert json.loads(out.splitlines()[0])["id"] == 7


def test_what_may_be_refused_otherwise(broken, capsys):
    """Overlaps are no fault where the longest span counts."""
    code, out, _ = run(capsys, "check", broken, "-p", "overlap=longest")
    assert code == 1 and [line.split("\t")[0] for line in out.splitlines()][1] == "note"


@pytest.mark.parametrize("overlap", ["error", "longest", "by-type"])
def test_what_check_refuses_training_refuses(overlap, tmp_path, capsys):
    """Of pairs of spans in every position: equal, nested, crossing, side by side."""
    path = tmp_path / "a.jsonl"
    others = [(0, 3, "PER"), (0, 3, "LOC"), (0, 7, "PER"), (1, 5, "LOC"), (4, 7, "PER")]
    for other in others:
        spans = [[0, 3, "PER"], other]
        texts = [f"{x} Lee ran to {y}" for x in ("Ann", "Bob", "Eve") for y in "abcd"]
        rows = [{"text": text, "spans": spans} for text in texts]
        path.write_text("\n".join(map(json.dumps, rows)))
        given = path, "-a", "perceptron", "-p", f"overlap={overlap}"
        checked, _, err = run(capsys, "check", *given, "--cv", 2)
        refused = "that training refuses" in err
        trained, *_ = run_train(capsys, *given, "-m", tmp_path / "m")
        assert trained == refused and checked >= refused, other


def test_check_says_of_labels_what_training_says(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "Ann ran home", "spans": [[0, 3, x]]} for x in ("PER", "PER ")]
    path.write_text("\n".join(map(json.dumps, rows)))
    said = "labels that differ in case or spaces alone"
    for command in (("check", "--cv", 2), ("train", "-m", tmp_path / "m", "--force")):
        _, _, err = run(capsys, command[0], path, *command[1:])
        assert said in err
