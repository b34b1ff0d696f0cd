"""select: what to label next."""

import json

import pytest
from cli_cases import run
from cli_labelling_cases import labelling_files

TAB = "\t_"


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


def test_sentences_of_conllu_say_how_unsure_the_model_is(tmp_path, capsys):
    """In a comment; what is written is read again, without its score as a token."""
    words = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "ran": "VERB"}
    blocks = []
    for k in range(12):
        sentence = ["the" if k % 2 else "a", "dog" if k % 3 else "cat", "ran"][
            : 2 + k % 2
        ]
        rows = [
            f"{t}\t{word}\t_\t{words[word]}{6 * TAB}\n"
            for t, word in enumerate(sentence, 1)
        ]
        blocks.append(f"# sent_id = {k}\n{''.join(rows)}\n")
    corpus = tmp_path / "train.conllu"
    corpus.write_text("".join(blocks), encoding="utf-8")
    model = tmp_path / "model"
    options = "--algorithm", "l1crf", "--label", "upos"
    assert run(capsys, "train", corpus, "--model", model, *options)[0] == 0
    code, out, err = run(capsys, "select", corpus, "-m", model, "-k", 3)
    assert code == 0 and "3 of 12 sentences; score, how unsure the model is" in err
    chosen = out.split("\n\n")[:-1]
    scores = [
        float(block.split("\n")[0].removeprefix("# score = ")) for block in chosen
    ]
    assert len(scores) == 3 and all(score >= 0.0 for score in scores)
    for block in chosen:
        assert block.split("\n", 1)[1] + "\n\n" in blocks
    selected = tmp_path / "selected.conllu"
    selected.write_text(out, encoding="utf-8")
    code, again, _ = run(capsys, "select", selected, "-m", model, "-k", 9)
    assert code == 0 and len(again.split("\n\n")) == 4
    code, out, _ = run(
        capsys, "select", corpus, "-m", model, "-k", 3, "--strategy", "longest"
    )
    assert code == 0 and "# score" not in out


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
