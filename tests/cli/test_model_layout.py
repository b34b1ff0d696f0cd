"""The layout of a model's file is the default of `tag`, `evaluate`, `report` and
`select`; what does not fit is refused.
"""

import json
import shlex

import pytest
from cli_cases import run, run_train

import skstruct
from skstruct import cli
from skstruct.datasets import SourceLayout

ROWS = ["the D", "dog N", "barks V", "", "a D", "cat N", "sleeps V", ""]


def numbered(rows, separator="\t"):
    """Tokens in column 1, labels in column 2: column 0 counts."""
    lines, k = [], 0
    for row in rows:
        k = k + 1 if row else 0
        lines.append(separator.join([str(k), *row.split()]) if row else "")
    return "\n".join(lines) + "\n"


@pytest.fixture
def numbered_model(tmp_path, capsys):
    (tmp_path / "train.tsv").write_text(numbered(ROWS * 5))
    options = "--tokens", 1, "--label", 2, "--separator", "tab", "--features", "word"
    code, _, err = run_train(
        capsys, tmp_path / "train.tsv", "-m", tmp_path / "m", *options
    )
    assert code == 0, err
    return tmp_path / "m"


def conllu(label="upos", n=5):
    rows = {"upos": 3, "xpos": 4}
    text = ""
    for _ in range(n):
        for k, (form, tag) in enumerate((("the", "DET"), ("dog", "NOUN")), start=1):
            cells = [str(k), form, *"_" * 8]
            cells[rows[label]] = tag
            text += "\t".join(cells) + "\n"
        text += "\n"
    return text


def test_tag_reads_the_columns_that_were_learned(numbered_model, tmp_path, capsys):
    (tmp_path / "new.tsv").write_text("1\tthe\t?\n2\tcat\t?\n\n")
    code, out, _ = run(capsys, "tag", tmp_path / "new.tsv", "-m", numbered_model)
    assert (code, out) == (0, "1\tthe\t?\tD\n2\tcat\t?\tN\n\n")
    model = skstruct.load(numbered_model)
    assert model.info()["source_layout"] == {
        "format": "columns", "tokens": [1], "label": 2, "separator": "\t",
    }  # fmt: skip


def test_evaluate_and_report_read_them_too(numbered_model, tmp_path, capsys):
    (tmp_path / "gold.tsv").write_text(numbered(ROWS))
    for command in (
        ("evaluate", tmp_path / "gold.tsv", "-m", numbered_model),
        ("report", tmp_path / "gold.tsv", "-m", numbered_model, "-o", tmp_path / "r.html"),
    ):  # fmt: skip
        code, out, err = run(capsys, *command)
        assert code == 0, err
        assert "1.0000" in out or "100" in out
    chosen = run(
        capsys,
        "select",
        tmp_path / "gold.tsv",
        "-m",
        numbered_model,
        "-k",
        1,
        "--strategy",
        "margin",
    )
    assert chosen[0] == 0, chosen[2]


def test_an_option_overrides(numbered_model, tmp_path, capsys):
    (tmp_path / "plain.txt").write_text("the\ncat\n")
    how = "--tokens", 0, "--separator", ""
    code, out, _ = run(
        capsys, "tag", tmp_path / "plain.txt", "-m", numbered_model, *how
    )
    assert code == 0 and out.split() == ["the", "D", "cat", "N"]
    code, out, _ = run(
        capsys, "tag", tmp_path / "plain.txt", "-m", numbered_model, "--format", "columns", *how,
    )  # fmt: skip
    assert code == 0 and out.split() == ["the", "D", "cat", "N"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("the\ncat\n", "there is no column 1, but 1 column"),
        ("1 the\n2 cat\n", "there is no column 1, but 1 column"),
    ],
)
def test_a_file_that_does_not_fit_shows_both(
    numbered_model, tmp_path, capsys, text, seen
):
    name = tmp_path / "other"
    name.write_text(text)
    code, out, err = run(capsys, "tag", name, "-m", numbered_model)
    assert (code, out) == (1, "")
    assert seen in err and "the model learned from columns, tokens 1, label 2" in err
    assert "separator tab" in err and "pass --tokens" in err


def test_columns_without_the_separator(tmp_path, capsys):
    (tmp_path / "train.tsv").write_text(
        "\n".join(r.replace(" ", "\t") for r in ROWS * 5)
    )
    how = "--separator", "tab", "--features", "word"
    assert run_train(capsys, tmp_path / "train.tsv", "-m", tmp_path / "m", *how)[0] == 0
    (tmp_path / "spaces").write_text("the ?\ncat ?\n")
    code, _, err = run(capsys, "tag", tmp_path / "spaces", "-m", tmp_path / "m")
    assert code == 1 and "there is no separator '\\t' in it" in err


@pytest.mark.parametrize(
    ("learned", "given"), [("\t", " "), (" ", ","), (" ", ";"), (" ", "|")]
)
def test_the_option_for_another_separator_is_named(learned, given, tmp_path, capsys):
    """The advice is tried."""
    rows = [["the", "D"], ["cat", "N"], [], ["a", "D"], []]
    for name, mark in ("old", learned), ("new", given):
        (tmp_path / name).write_text("".join(f"{mark.join(row)}\n" for row in rows * 4))
    how = "--separator", "tab" if learned == "\t" else "", "--epochs", 1
    old = "train", tmp_path / "old", "-m", tmp_path / "m", "-a", "perceptron"
    assert run(capsys, *old, *how)[0] == 0
    new = "evaluate", tmp_path / "new", "-m", tmp_path / "m"
    code, _, err = run(capsys, *new)
    assert code == 1
    advice = err[err.index("--separator") :].splitlines()[0]
    code, out, err = run(capsys, *new, *shlex.split(advice))
    assert code == 0 and "token accuracy        1.0000" in out, err


def test_a_upos_model_writes_upos(tmp_path, capsys):
    (tmp_path / "a.conllu").write_text(conllu("upos"))
    options = "--label", "upos", "--features", "word"
    code, *_ = run_train(capsys, tmp_path / "a.conllu", "-m", tmp_path / "m", *options)
    assert code == 0
    (tmp_path / "b.conllu").write_text("1\tthe\t_\t_\tKEPT\t_\t_\t_\t_\t_\n\n")
    code, out, _ = run(capsys, "tag", tmp_path / "b.conllu", "-m", tmp_path / "m")
    assert (code, out) == (0, "1\tthe\t_\tDET\tKEPT\t_\t_\t_\t_\t_\n\n")
    (tmp_path / "columns").write_text("the\n")
    code, _, err = run(capsys, "tag", tmp_path / "columns", "-m", tmp_path / "m")
    assert code == 1
    assert (
        "this is no conllu; the model learned from conllu, tokens form, label upos"
        in err
    )
    how = "--format", "columns"
    code, out, _ = run(capsys, "tag", tmp_path / "columns", "-m", tmp_path / "m", *how)
    assert (code, out.strip()) == (0, "the DET")


def test_the_encoding_is_that_of_the_model(tmp_path, capsys):
    text = "\n".join(f"{a} {b}" for a, b in (("señor", "N"), ("dijo", "V")) * 5) + "\n"
    (tmp_path / "l1").write_bytes(text.encode("latin-1"))
    how = "--encoding", "latin-1", "--features", "word"
    assert run_train(capsys, tmp_path / "l1", "-m", tmp_path / "m", *how)[0] == 0
    (tmp_path / "new").write_bytes("señor\n".encode("latin-1"))
    out = tmp_path / "out"
    assert run(capsys, "tag", tmp_path / "new", "-m", tmp_path / "m", "-o", out)[0] == 0
    assert out.read_bytes() == "señor N\n".encode("latin-1")
    code, _, err = run(
        capsys, "tag", tmp_path / "new", "-m", tmp_path / "m", "--encoding", "utf-8"
    )
    assert code == 1 and "not valid utf-8" in err


def test_a_label_before_the_tokens(tmp_path, capsys):
    """What is no label is a token: of labels in column 0 the tokens are in column 1."""
    (tmp_path / "a").write_text("\n".join(" ".join(r.split()[::-1]) for r in ROWS * 5))
    how = "--label", 0, "--features", "word"
    assert run_train(capsys, tmp_path / "a", "-m", tmp_path / "m", *how)[0] == 0
    (tmp_path / "b").write_text("? the\n? cat\n")
    code, out, _ = run(capsys, "tag", tmp_path / "b", "-m", tmp_path / "m")
    assert (code, out) == (0, "? the D\n? cat N\n")


def test_data_of_crfsuite_needs_no_option(tmp_path, capsys):
    (tmp_path / "a").write_text("D\tw=the\nN\tw=dog\n\n" * 5)
    how = "--format", "crfsuite"
    assert run_train(capsys, tmp_path / "a", "-m", tmp_path / "m", *how)[0] == 0
    code, out, err = run(capsys, "tag", tmp_path / "a", "-m", tmp_path / "m")
    assert code == 0 and out.startswith("D\tw=the\nN\tw=dog\n"), err


def test_a_model_without_a_layout_reads_as_before(tmp_path, capsys):
    X, y = [["the", "dog"]] * 4, [["D", "N"]] * 4
    tagger = skstruct.StructuredPerceptron(["U:%x[0,0]"], random_state=0).fit(X, y)
    tagger.save(tmp_path / "m")
    (tmp_path / "a.conllu").write_text(conllu("upos"))
    (tmp_path / "a").write_text("the\ndog\n")
    assert run(capsys, "tag", tmp_path / "a.conllu", "-m", tmp_path / "m")[0] == 0
    assert (
        run(capsys, "tag", tmp_path / "a", "-m", tmp_path / "m")[1].split()[-1] == "N"
    )
    tagger.save(tmp_path / "m", source_layout=SourceLayout("conllu", ("form",), "upos"))
    code, out, _ = run(capsys, "tag", tmp_path / "a.conllu", "-m", tmp_path / "m")
    assert code == 0 and "\tthe\t_\tD\t_" in out


def test_names_of_fields_are_remembered(tmp_path, capsys):
    """Of a further file with others that would be chosen first."""
    words, tags, names = ["Ann", "left"], ["N", "V"], ["B", "O"]
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text(json.dumps({"tokens": words, "pos_tags": tags}) + "\n")
    both = {"tokens": words, "pos_tags": ["?", "?"], "ner_tags": names}
    b.write_text(json.dumps(both) + "\n")
    code, _, err = run_train(capsys, a, "-m", tmp_path / "m", "--dev", b)
    assert code == 0 and "json-tokens, tokens tokens, label pos_tags" in err
    code, out, _ = run(capsys, "tag", b, "-m", tmp_path / "m")
    found = json.loads(out)
    assert (found["pos_tags"], found["ner_tags"]) == (tags, names)
    code, out, err = run(capsys, "evaluate", b, "-m", tmp_path / "m")
    assert code == 0 and "unknown to the model" not in out and "? (2)" in err
    b.write_text(json.dumps({"words": words, "tags": tags}) + "\n")
    assert run(capsys, "tag", b, "-m", tmp_path / "m")[0] == 0
    code, _, err = run(capsys, "evaluate", b, "-m", tmp_path / "m")
    assert code == 1 and "no list under 'pos_tags': found keys words, tags" in err


def test_columns_of_a_table_are_remembered(tmp_path, capsys):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("sent_id,token,ner\n1,Ann,B\n1,left,O\n")
    b.write_text("sent_id,word,tag,ner\n1,Ann,N,B\n1,left,V,O\n")
    code, _, err = run_train(capsys, a, "-m", tmp_path / "m", "--dev", b)
    assert code == 0 and "csv, tokens token, label ner" in err and "'N'" not in err
    code, out, err = run(capsys, "evaluate", b, "-m", tmp_path / "m")
    assert code == 0 and "unknown" not in err
    code, out, err = run(capsys, "tag", b, "-m", tmp_path / "m")
    assert code == 0 and out.startswith("sent_id,word,tag,ner,Predicted\n")
    assert "label to" not in err


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('{"text": "Ann left."}\n{"text": "Bo ran."}\n', "this looks like jsonl"),
        ("doc,word,ner\n1,Ann,B\n1,left,O\n", "each line has 3 cells between ','"),
    ],
)
def test_a_line_is_no_token(tmp_path, capsys, text, seen):
    (tmp_path / "a.txt").write_text("Ann B\nleft O\n\nBo B\n")
    assert run_train(capsys, tmp_path / "a.txt", "-m", tmp_path / "m")[0] == 0
    (tmp_path / "b.txt").write_text(text)
    code, out, err = run(capsys, "tag", tmp_path / "b.txt", "-m", tmp_path / "m")
    assert (code, out) == (1, "") and seen in err


def test_what_an_option_changed_is_not_called_learned(tmp_path, capsys):
    """Each option of a layout, alone."""
    rows = [("the", "x", "D"), ("dog", "y", "N")]
    (tmp_path / "a").write_text("".join("\t".join(row) + "\n" for row in rows) + "\n")
    given = "-m", tmp_path / "m"
    run_train(capsys, tmp_path / "a", *given, "--tokens", "0", "--epochs", 1)
    for option, value, changed in (
        ("--tokens", "1", True),
        ("--tokens", "0", False),
        ("--separator", "tab", True),
        ("--comment", "%", True),
    ):
        capsys.readouterr()
        arguments = ["tag", tmp_path / "a", *given, option, value]
        assert cli.main(list(map(str, arguments))) == 0
        why = f"(as in training{f' but for {option}' * changed})"
        assert why in capsys.readouterr().err, option


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_gold_trees_that_are_none_are_refused(command, models, capsys, tmp_path):
    """With the place: a cycle, a word that is its own head, one that is not there."""
    good = "1\ta\t_\tN\tN\t_\t0\troot\t_\t_\n2\tb\t_\tV\tV\t_\t1\tx\t_\t_\n\n"
    output = ["-o", tmp_path / "page"] if command == "report" else []
    for name, heads in (("pair", "21"), ("self", "12"), ("far", "07")):
        bad = good.replace("\t0\t", f"\t{heads[0]}\t").replace(
            "\t1\t", f"\t{heads[1]}\t"
        )
        (tmp_path / name).write_text(good + bad)
        code, _, err = run(
            capsys, command, tmp_path / name, "-m", models / "parser", *output
        )
        assert code == 1 and (f"{tmp_path / name}, line " in err), err
        assert "cycle" in err or "expected a head between 0 and 2" in err
    two_roots = good.replace("\t1\tx", "\t0\tx")  # as of several trees
    (tmp_path / "roots").write_text(two_roots)
    found = run(capsys, command, tmp_path / "roots", "-m", models / "parser", *output)
    assert found[0] == 0


@pytest.mark.parametrize("command", ["report", "select"])
def test_no_command_is_advised_that_parsers_lack(command, models, capsys, tmp_path):
    more = ["--strategy", "longest", "-k", 1] if command == "select" else []
    arguments = models / "trees", "-m", models / "parser", "-o", tmp_path / "out"
    code, _, err = run(capsys, command, *arguments, *more)
    assert code == 0 and "next: " in err
    assert "skstruct check" not in err and "skstruct train" not in err


def test_names_of_labels_that_are_numbers_are_remembered(tmp_path, capsys):
    rows = [
        {"tokens": ["Ann", "left", str(k)], "ner_tags": [1, 0, 0]} for k in range(9)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = tmp_path / "names.json"
    names.write_text('["O", "B-PER"]')
    model = tmp_path / "model"
    code, _, err = run(
        capsys, "train", path, "-m", model, "--epochs", 2, "--label-names", names
    )
    assert code == 0, err
    code, out, err = run(capsys, "evaluate", path, "-m", model)
    assert code == 0 and "1.0000" in out, err
