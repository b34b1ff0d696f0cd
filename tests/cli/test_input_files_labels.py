"""What is said before a training or a labelling that would be in vain."""

import json

import pytest
from cli_cases import run, run_train

from skstruct import StructuredPerceptron
from skstruct.datasets import SourceLayout


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(capsys, path, *more):
    code, _, err = run_train(capsys, path, "-m", "model", "--epochs", 1, *more)
    assert code == 0, err
    return [line for line in err.splitlines() if "warning" in line]


def test_labels_that_occur_once(inside, capsys):
    (inside / "a.conll").write_text("Ann B-PER\nran O\n\n" * 60 + "Bo B-PRE\nran O\n\n")
    (told,) = train(capsys, "a.conll")
    assert (
        told
        == "skstruct: warning: a.conll: labels that occur once: B-PRE (meant B-PER?)"
    )
    (inside / "a.jsonl").write_text(
        "".join(
            json.dumps({"text": f"Ann ran {i}", "spans": [[0, 3, label]]}) + "\n"
            for i, label in enumerate(["PER"] * 120 + ["PRE", "WORK_OF_ART"])
        )
    )
    (told,) = train(capsys, "a.jsonl")
    assert told.endswith("labels that occur once: PRE (meant PER?), WORK_OF_ART")


def test_few_texts_are_not_told_of(inside, capsys):
    (inside / "a.conll").write_text("Ann B-PER\nran O\n\n" * 5 + "Bo B-PRE\nran O\n\n")
    assert train(capsys, "a.conll") == []


def test_thousands_of_labels(inside, capsys):
    (inside / "a.conll").write_text(
        "".join(
            f"w{k} N{k % 2} l{k % 501}\n" + "\n" * (k % 9 == 0) for k in range(1100)
        )
    )
    (told,) = train(capsys, "a.conll", "-a", "pa")
    assert (
        "a.conll: 501 labels for 1,100 tokens; if it is not the label column, pass --label COLUMN"
        in told
    )


def test_plain_text_for_a_tagger(inside, capsys):
    StructuredPerceptron(random_state=0).fit([["the", "dog"]], [["D", "N"]]).save(
        "model"
    )
    (inside / "letter.txt").write_text("The dog barks.\n\nIt sleeps now!\n")
    code, _, err = run(capsys, "tag", "letter.txt", "-m", "model")
    assert (
        code == 0
        and "letter.txt: looks like text, and each line is taken for one token" in err
    )
    (inside / "words.txt").write_text("The\ndog\nbarks\n.\n\nMr.\nNo.\n")
    (inside / "columns.txt").write_text("The DT B-NP\ndog NN I-NP\n. . O\n")
    for name in "words.txt", "columns.txt":
        assert run(capsys, "tag", name, "-m", "model")[2] == ""


def test_text_where_columns_are_read(inside, capsys):
    """The error, or the warning, says what a tagger reads instead."""
    looks = "this looks like text"
    advice = "write one token per line, and a blank line after each sentence"
    X, y = [[("the", "DT"), ("dog", "NN")]], [["D", "N"]]
    layout = SourceLayout("columns", tokens=(0, 1), label=-1)
    StructuredPerceptron(random_state=0).fit(X, y).save("model", source_layout=layout)
    (inside / "letter.txt").write_text("The old dog barks.\nIt sleeps.\n")
    code, _, err = run(capsys, "tag", "letter.txt", "-m", "model")
    assert code == 1
    assert (
        f"line 2: expected 4 columns, as on line 1; found 2; {looks}: {advice}" in err
    )
    code, _, err = run(capsys, "tag", "letter.txt", "-m", "model", "--format", "text")
    assert code == 1 and f"reads columns or CoNLL-U, not plain text: {advice}" in err
    (inside / "letter.txt").write_text("The dog barks.\n")  # as wide as in training
    code, _, err = run(capsys, "tag", "letter.txt", "-m", "model")
    assert code == 0 and f"each line is taken for one token: {advice}" in err
    (inside / "columns.txt").write_text("The DT\ndog\n")
    assert advice not in run(capsys, "tag", "columns.txt", "-m", "model")[2]


def test_labels_that_differ_in_case_or_spaces_alone(inside, capsys):
    (inside / "a.conll").write_text("Ann B-PER\nran O\nto o\n\n" * 9)
    (told,) = train(capsys, "a.conll")
    assert told.endswith("alone are learned as different labels: 'O' and 'o'")
    rows = [["PER", 0, 3], ["per ", 0, 3], ["LOC", 4, 7]]
    (inside / "a.jsonl").write_text(
        "".join(
            json.dumps({"text": f"Ann ran {i}", "spans": [[start, end, label]]}) + "\n"
            for i, (label, start, end) in enumerate(rows * 3)
        )
    )
    (told,) = train(capsys, "a.jsonl")
    assert told.endswith("'PER' and 'per '")


def test_a_line_of_names_is_left_out_where_no_label_is_read(inside, capsys):
    (inside / "a.txt").write_text("Ann N B\nran V O\n\n" * 9)
    train(capsys, "a.txt")
    (inside / "b.txt").write_text("token pos ner\nAnn N B\nran V O\n")
    code, out, err = run(capsys, "tag", "b.txt", "-m", "model")
    assert code == 0 and out.startswith("token pos ner\nAnn N B ")
    assert "b.txt, line 1: the line is left out, since it names columns" in err
    _, _, err = run(capsys, "tag", "a.txt", "-m", "model")
    assert "left out" not in err
