"""Columns of OntoNotes: ragged rows, segments in brackets."""

import io

import pytest
from cli_cases import run

import skstruct
from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.ontonotes import brackets_of, is_bracketed, labels_of
from skstruct.datasets.formats.table import BY_NAME

HEAD = "#begin document (bc/x/{0}); part 000\n"


def rows(*cells, args=0):
    lines = []
    for k, (word, tag, name) in enumerate(cells):
        more = ["(V*)" if k == 1 else "*"] * args
        row = ["bc/x/1", "0", str(k), word, tag, "*", "-", "-", "-", "Spk", name, *more]
        lines.append("   ".join([*row, "(3)" if k == 0 else "-"]) + "\n")
    return "".join(lines) + "\n"


RUTH = [("Ruth", "NNP", "(PERSON)"), ("left", "VBD", "*"), ("New", "NNP", "(GPE*"), ("York", "NNP", "*)")]  # fmt: skip
TEXT = (
    HEAD.format(1) + rows(*RUTH) + rows(*RUTH[:2], args=2) + "#end document\n"
    + HEAD.format(2) + rows(*RUTH, args=1) + "#end document\n"
)  # fmt: skip
Y = [["B-PERSON", "O", "B-GPE", "I-GPE"], ["B-PERSON", "O"], ["B-PERSON", "O", "B-GPE", "I-GPE"]]  # fmt: skip


def test_ragged_rows_and_documents():
    X, y, documents = read_tokens(io.StringIO(TEXT), return_documents=True)
    assert X == [[w for w, *_ in RUTH], ["Ruth", "left"], [w for w, *_ in RUTH]]
    assert y == Y and documents == ["(bc/x/1); part 000"] * 2 + ["(bc/x/2); part 000"]


def test_other_columns():
    X, y = read_tokens(io.StringIO(TEXT), "ontonotes", tokens=[3, 4], label=4)
    assert X[1] == [("Ruth", "NNP"), ("left", "VBD")] and y[1] == ["NNP", "VBD"]
    y = read_tokens(io.StringIO(HEAD + rows(*RUTH, args=1)), label=11)[1]
    assert y == [["O", "B-V", "O", "O"]]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        ("(A) * (B*)", "B-A O B-B"),
        ("(A* * *) (A)", "B-A I-A I-A B-A"),
        ("(A(B*) *) *", "B-A I-A O"),
        ("(A* (B*)) *", "B-A I-A O"),
        ("(A*) (A*)", "B-A B-A"),
    ],
)
def test_brackets(cells, labels):
    cells = cells.split()
    assert all(map(is_bracketed, cells))
    assert labels_of(cells, "x", list(range(len(cells)))) == labels.split()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["(A*", "*"], "line 1: the sentence ends, but .A is not closed"),
        (["*)", "*"], r"line 0: \*\) ends a segment, but none is open"),
        (["*", "-"], "line 1: expected .TYPE"),
        (["(12", "12)"], "line 1: expected .TYPE"),
    ],
)
def test_wrong_brackets_are_named(cells, message):
    with pytest.raises(ValueError, match=f"x, {message}"):
        labels_of(cells, "x", [0, 1])


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="line 2: expected a column 20; found 12"):
        read_tokens(io.StringIO(TEXT), label=20)


def test_columns_of_other_kinds():
    recognise = BY_NAME["ontonotes"].look
    assert not recognise(Head("notes", ["a B-X"] * 3)).is_yes
    wide = "a b c d e f g h i j O l"
    assert not recognise(Head("notes", [wide] * 3)).is_yes
    assert recognise(Head("notes", rows(*RUTH).splitlines())).is_yes


def test_on_the_command_line(tmp_path, capsys):
    path, model = tmp_path / "a.v4_gold_conll", tmp_path / "m"
    path.write_text(TEXT * 4)
    given = path, "-m", model
    assert run(capsys, "train", *given, "--tokens", "3,4", "--label", "10")[0] == 0
    assert set(skstruct.load(model).classes_) == {"B-PERSON", "O", "B-GPE", "I-GPE"}
    code, out, _ = run(capsys, "evaluate", *given, "--tokens", "3,4")
    assert code == 0 and "micro avg" in out
    code, _, err = run(capsys, "train", *given, "--label", "names", "--force")
    assert (
        code == 2
        and "for input of the format ontonotes, --tokens and --label must be" in err
    )


@pytest.mark.parametrize(
    "labels", ["B-A O B-B", "B-A I-A I-A B-A", "O", "B-A B-A", "O B-X I-X O"]
)
def test_brackets_go_both_ways(labels):
    cells = brackets_of(labels.split())
    assert labels_of(cells, "x", [0] * len(cells)) == labels.split()


def test_labels_go_to_their_column(tmp_path, capsys):
    path, model = tmp_path / "a.txt", tmp_path / "m"
    path.write_text(TEXT * 4)
    assert run(capsys, "train", path, "-m", model)[0] == 0
    blank = TEXT.replace("(PERSON)", "*").replace("(GPE*", "*").replace("*)", "*")
    (tmp_path / "b.txt").write_text(blank)
    code, out, err = run(capsys, "tag", tmp_path / "b.txt", "-m", model)
    assert code == 0, err
    assert read_tokens(io.StringIO(out)) == read_tokens(io.StringIO(TEXT))
    assert out.split() == TEXT.replace("(V*)", "(V*").split()
    assert run(capsys, "train", path, "-m", model, "--label", "4", "--force")[0] == 0
    given = "--label", "4", "-m", model
    code, out, _ = run(capsys, "tag", path, *given)
    assert code == 0 and out == TEXT * 4
