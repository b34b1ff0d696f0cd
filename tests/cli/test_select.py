"""select: what to label next."""

import json

import pytest
from cli_cases import run
from cli_labelling_cases import labelling_files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A corpus with a wrong label in its line 5, and models."""
    return labelling_files(tmp_path_factory.mktemp("labelling"))


def test_select(files, capsys):
    code, out, _ = run(
        capsys, "select", files / "train.txt", "-m", files / "crf", "-k", 4
    )
    blocks = out.rstrip("\n").split("\n\n")
    text = (files / "train.txt").read_text(encoding="utf-8")
    assert (
        code == 0 and len(blocks) == 4 and all(f"{block}\n" in text for block in blocks)
    )
    code, default, err = run(
        capsys, "select", files / "train.txt", "-m", files / "perceptron", "-k", 2
    )
    assert code == 0 and "using --strategy margin" in err
    given = "--strategy", "least_confident"
    code, _, err = run(
        capsys, "select", files / "train.txt", "-m", files / "perceptron", *given
    )
    assert code == 1 and "or use strategy='margin'" in err
    again = run(
        capsys,
        "select",
        files / "train.txt",
        "-m",
        files / "perceptron",
        "--strategy",
        "margin",
        "-k",
        2,
    )
    assert again[0] == 0 and again[1].count("\n\n") == 2 and again[1] == default
    for model, option, message in (
        ("crf", ["--diversity", "2"], "must be from 0 to 1, got '2'"),
        ("crf", ["--lines"], "--lines is not for models that label tokens"),
        ("ner", ["--label", "1"], "--label is not for models that mark spans"),
    ):
        code, _, err = run(
            capsys, "select", files / "train.txt", "-m", files / model, *option
        )
        assert code == 2 and message in err


def test_select_from_texts(files, capsys):
    (files / "pool.txt").write_text(
        "Maria met Omar.\n\nThe soup is hot.\n", encoding="utf-8"
    )
    code, out, err = run(
        capsys, "select", files / "pool.txt", "--lines", "-m", files / "ner", "-k", 1
    )
    record = json.loads(out)
    assert code == 0 and record["text"] in ("Maria met Omar.", "The soup is hot.")
    assert f"1 of 3 texts; score, how unsure the model is: {record['score']:.3g}" in err


def test_a_pool_of_fewer_than_asked_for_is_said(files, capsys):
    pool = files / "pool.txt"
    pool.write_text("Maria met Omar.\nThe soup is hot.\n", encoding="utf-8")
    select = "select", pool, "-m", files / "ner", "-k"
    fewer = f"{pool}: 2 texts, fewer than -k 9\n"
    assert fewer in run(capsys, *select, 9, "--lines")[2]
    assert "fewer" not in run(capsys, *select, 2, "--lines")[2]
    code, out, err = run(capsys, *select, 2)
    assert code == 0 and out.count("\n") == 1
    assert "1 text, fewer than -k 2; if each line is a text, pass --lines" in err
    _, _, err = run(
        capsys, "select", files / "train.txt", "-m", files / "crf", "-k", 9999
    )
    assert "sentences, fewer than -k 9999" in err and "--lines" not in err
