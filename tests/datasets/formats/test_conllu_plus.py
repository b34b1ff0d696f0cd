"""CoNLL-U Plus, and the multiword expressions of .cupt."""

import io

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME, recognised

PLUS = (
    "# global.columns = ID FORM UPOS CORP:NER\n# newdoc id = one\n# sent_id = 1\n"
    "1-2\tAnn's\t_\t_\n1\tAnn\tPROPN\tB-PER\n2\t's\tPART\tO\n3\tOslo\tPROPN\t_\n\n"
    "# newdoc id = two\n1\tHi\tINTJ\tO\n1.1\tthere\t_\t_\n\n"
)
STANDARD = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
CUPT = f"# global.columns = {STANDARD} PARSEME:MWE\n"


def cupt(*pairs):
    return CUPT + "".join(
        f"{k}\t{word}" + "\t_" * 8 + f"\t{code}\n"
        for k, (word, code) in enumerate(pairs, start=1)
    )


def test_the_columns_that_the_first_line_names():
    X, y, documents = read_tokens(io.StringIO(PLUS), return_documents=True)
    assert (X, y) == ([["Ann", "'s", "Oslo"], ["Hi"]], [["B-PER", "O", None], ["O"]])
    assert documents == ["one", "two"]
    X, y = read_tokens(io.StringIO(PLUS), tokens=["form", "corp:ner"], label="UPOS")
    assert (X[1], y[0]) == ([("Hi", "O")], ["PROPN", "PART", "PROPN"])


@pytest.mark.parametrize(
    ("codes", "labels"),
    [
        ("1:VID 1 *", ["B-VID", "I-VID", "O"]),
        ("1:VID * 1", ["B-VID", "O", "I-VID"]),
        ("1:A 2:B 2", ["B-A", "B-B", "I-B"]),
        ("1:A;2:B 1 2", ["B-A", "I-A", "I-B"]),
        ("_ * 1", [None, "O", "B"]),
    ],
)
def test_multiword_expressions(codes, labels):
    text = cupt(*zip("abc", codes.split()))
    if ";" in codes:
        with pytest.warns(UserWarning, match="1 word of several expressions"):
            assert read_tokens(io.StringIO(text), "cupt")[1] == [labels]
    else:
        assert read_tokens(io.StringIO(text)) == ([["a", "b", "c"]], [labels])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tAnn\tX\n", "line 1: expected # global.columns = ..., which names"),
        (PLUS + "1\tAnn\n", "line 13: expected 4 columns separated by tabs, as"),
        (PLUS.replace("FORM", "WORD"), "there is no column 'form'; choose one of"),
        (cupt(("a", "x")), "line 2: expected .*, _, 1:CATEGORY or 1, got 'x'"),
    ],
)
def test_errors(text, message):
    format = "cupt" if "MWE" in text else "conllu-plus"
    with pytest.raises(ValueError, match=message):
        read_tokens(io.StringIO(text), format)


def test_the_columns_of_conllu_are_conllu():
    line = "1\tAnn" + "\t_" * 8
    lines = [f"# global.columns = {STANDARD}", line]
    assert recognised(Head("notes", lines))[0].name == "conllu"
    other = [f"# global.columns = {STANDARD.replace('DEPS', 'NER')}", line]
    assert recognised(Head("notes", other))[0].name == "conllu-plus"
    assert not BY_NAME["conllu"].look(Head("notes", other)).is_yes


def test_on_the_command_line(tmp_path, capsys):
    path, model = tmp_path / "a.conllup", tmp_path / "m"
    path.write_text(PLUS * 6)
    code, _, err = run(capsys, "train", path, "-m", model, "--label", "upos")
    assert code == 0, err
    code, out, _ = run(capsys, "evaluate", path, "-m", model)
    assert code == 0 and "PROPN" in out
    code, _, err = run(capsys, "train", path, "-m", model, "--label", "ner", "--force")
    assert code == 1 and "there is no column 'ner'" in err


def test_labels_go_to_their_column(tmp_path, capsys):
    path, model = tmp_path / "a.conllup", tmp_path / "m"
    path.write_text(PLUS.replace("\t_\n", "\tB-LOC\n") * 6)
    assert run(capsys, "train", path, "-m", model)[0] == 0
    (tmp_path / "b.conllup").write_text(PLUS)
    code, out, err = run(capsys, "tag", tmp_path / "b.conllup", "-m", model)
    assert code == 0, err
    expected = PLUS.replace("3\tOslo\tPROPN\t_", "3\tOslo\tPROPN\tB-LOC")
    assert out == expected
    code, _, err = run(capsys, "train", path, "-m", model, "-a", "l1crf", "--force")
    assert code == 0, err
    code, _, err = run(capsys, "tag", path, "-m", model, "--proba")
    assert (
        code == 1
        and "probabilities are written to the column MISC, which the file" in err
    )


def test_a_token_may_begin_with_the_mark_of_comments():
    text = "# global.columns = FORM CORP:NER\n# a note\n#MeToo\tO\nAna\tB-PER\n"
    X, y = read_tokens(io.StringIO(text))
    assert X == [["#MeToo", "Ana"]] and y == [["O", "B-PER"]]
