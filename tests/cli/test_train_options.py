"""train, tag, evaluate and show on files, standard input and standard output."""

import errno
import gzip
import json
import os
import re
import shlex

import pytest
from cli_cases import N_TRAIN, run, run_train

import skstruct
from skstruct import cli
from skstruct.cli import learning
from skstruct.datasets import load_chunking, read_segmented, read_spans
from skstruct.inspection import feature_weights


# --------------------------------------------------------------------------------------
# train
# --------------------------------------------------------------------------------------
def test_train_is_what_python_does(folder):
    X, y = load_chunking()
    base = skstruct.StructuredPerceptron(dropout=0.1, max_iter=5, random_state=0)
    expected = skstruct.BaggingShuffleAverager(base, "auto", n_jobs=-1, random_state=0)
    expected.fit(X[:N_TRAIN], y[:N_TRAIN])
    model = skstruct.load(folder / "chunk")
    assert repr(model) == repr(expected)
    assert model.predict(X[N_TRAIN:]) == expected.predict(X[N_TRAIN:])


def test_train_options(folder, capsys, tmp_path):
    template = tmp_path / "template"
    template.write_text("# CRF++\nU00:%x[0,0]\nU01:%x[0,1]\nB\n")
    code, out, err = run_train(capsys, folder / "train.txt", "--model", tmp_path / "m", "--template", template, "-a", "pa",
        "--epochs", 2, "-p", "C=0.5", "-p", "constraints=BIO", "-p", "penalty=None", "--seed", 3, "-v",
        "--dev", folder / "test.txt",
    )  # fmt: skip
    assert code == 0
    model = skstruct.load(tmp_path / "m")
    assert isinstance(model, skstruct.PassiveAggressiveTagger)
    assert (model.C, model.constraints, model.penalty, model.random_state) == (
        0.5,
        "BIO",
        None,
        3,
    )
    assert model.features == ["U00:%x[0,0]", "U01:%x[0,1]", "B"] and model.verbose == 0
    assert "token accuracy" in out and "epoch" not in out  # epochs are messages
    assert err.count("\nepoch ") == 2 and re.search(
        r"trained PassiveAggressiveTagger in [\d.]+ s", err
    )
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()


def test_train_from_stdin(folder, capsys, stdin, tmp_path):
    stdin((folder / "train.txt").read_text(encoding="utf-8"))
    assert run_train(capsys, "-", "-m", tmp_path / "m", "--epochs", 5)[0] == 0
    X, _ = load_chunking()
    assert skstruct.load(tmp_path / "m").predict(X) == skstruct.load(
        folder / "chunk"
    ).predict(X)


def test_train_chosen_columns(folder, capsys, tmp_path):
    options = "--tokens", "0", "--label", "1"
    assert (
        run_train(capsys, folder / "train.txt", "-m", tmp_path / "m", *options)[0] == 0
    )
    model = skstruct.load(tmp_path / "m")
    assert "NN" in model.classes_ and model.predict([["the", "dog"]])
    options = "-m", tmp_path / "m", "--label", "1", "--json"
    code, out, _ = run(capsys, "evaluate", folder / "test.txt", *options)
    scores = json.loads(out)
    assert code == 0 and scores["token_accuracy"] > 0.6 and scores["segments"] is None


def test_train_reads_gzip_crlf_and_byte_order_marks(folder, capsys, tmp_path):
    text = (folder / "train.txt").read_text(encoding="utf-8")
    with gzip.open(tmp_path / "train.conll.gz", "wb") as file:
        file.write(("\ufeff" + text.replace("\n", "\r\n")).encode())
    assert (
        run_train(
            capsys,
            tmp_path / "train.conll.gz",
            "-m",
            tmp_path / "m",
            "--epochs",
            5,
        )[0]
        == 0
    )
    X, _ = load_chunking()
    assert skstruct.load(tmp_path / "m").predict(X) == skstruct.load(
        folder / "chunk"
    ).predict(X)


def test_damaged_gzip(folder, capsys, tmp_path):
    data = gzip.compress((folder / "test.txt").read_bytes())
    for damaged in (
        data[: len(data) // 2],
        data[:40] + b"\0" * 400 + data[440:],
        b"no gzip",
    ):
        (tmp_path / "x.conll.gz").write_bytes(damaged)
        code, _, err = run(
            capsys, "tag", tmp_path / "x.conll.gz", "-m", folder / "chunk"
        )
        assert code == 1 and re.search("skstruct: error: ", err)


def test_train_segmenter_parameters(folder, capsys, tmp_path):
    code, *_ = run_train(
        capsys,
        folder / "train.seg",
        "-m",
        tmp_path / "m",
        "-p",
        "scheme=BI",
        "-p",
        "dropout=0.3",
    )
    model = skstruct.load(tmp_path / "m")
    dropout = model.tagger_.estimator_.dropout
    assert code == 0 and (model.scheme, dropout) == ("BI", 0.3)


@pytest.mark.parametrize("kind", ["notes.jsonl", "train.seg"])
def test_train_is_what_the_estimator_does_by_itself(folder, capsys, tmp_path, kind):
    """No option, no parameter: the same weights, bit for bit."""
    assert run(capsys, "demo", "--files", tmp_path)[0] == 0
    path = (tmp_path if kind == "notes.jsonl" else folder) / kind
    assert run(capsys, "train", path, "-m", tmp_path / "m")[0] == 0
    if kind == "notes.jsonl":
        expected = skstruct.SpanTagger().fit(*read_spans(path))
    else:
        words = read_segmented(path)
        expected = skstruct.Segmenter().fit(["".join(w) for w in words], words)
    found = skstruct.load(tmp_path / "m")
    assert feature_weights(found) == feature_weights(expected)
    assert found.n_iter_ == expected.n_iter_


@pytest.mark.parametrize(
    "options, message",
    [
        (["-p", "colour=red"], "has no parameter 'colour'; it has all_pairs, alpha,"),
        (["-p", "alpha=2"], "'alpha' parameter"),
        (["-p", "alpha"], "NAME=VALUE"),
        (["-p", "max_iter=3", "--epochs", "2"], "--param max_iter and an option"),
        (["--epochs", "0"], "at least 1"),
        (["-a", "magic"], "unknown algorithm"),
        (["--features", "char", "--template", "t"], "not allowed with"),
        (
            ["--encoding", "klingon"],
            "must be an encoding that Python knows, got 'klingon'",
        ),
        (["--format", "conllu", "--tokens", "shape"], "no field 'shape'"),
        (["--tokens", "form"], "numbers of columns"),
    ],
)
def test_train_wrong_usage(folder, capsys, tmp_path, options, message):
    code, out, err = run_train(
        capsys, folder / "train.txt", "-m", tmp_path / "m", *options
    )
    assert (code, out) == (2, "") and message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text, message",
    [
        (b"a X\nb\n", "data.txt, line 2: expected 2 columns"),
        (
            b"a\nb\n\nc\n",
            "data.txt, line 1: expected tokens and a label; found 1 column",
        ),
        (b"", "data.txt: the file has no sentence"),
        (b"a X\n\xff Y\n", "data.txt, line 2: not valid utf-8"),
        (
            b"a B-X\nb I-X\n\nc I-X\n",
            "data.txt, line 4: y: sequence 1, position 0: the label 'I-X' cannot",
        ),
        (b"a X\n" * 9000 + b"\xff Y\n", "data.txt, line 9001: not valid utf-8"),
    ],
)
def test_train_bad_data(capsys, tmp_path, text, message):
    path = tmp_path / "data.txt"
    path.write_bytes(text)
    options = "--format", "columns", "-p", "constraints=BIO"
    code, out, err = run_train(capsys, path, "-m", tmp_path / "m", *options)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("skstruct: error: ") and message in err
    assert not (tmp_path / "m").exists()


NAMES_ALONE = {
    "sentence_id,word,tag": "0,the,D\n0,dog,N\n1,a,D\n1,cat,N\n",
    "Sentence #,Word,POS,Tag": "Sentence: 1,the,D,O\n,dog,N,B-X\n,a,D,O\n",
    "form,upos": "the,D\nform,N\n",
}

HEADERS = {
    ",token,ner": "0,the,O\n1,dog,B-X\n2,a,O\n",
    "n,w,t": "0,the,D\n1,dog,N\n2.5,a,D\n",  # numbers under a name
    "wort,etikett": "the,O\ndog,B-X\na,O\n",  # the label marks no segments, others do
    "wort,NE": "the,o\ndog,x_b\na,o\n",
}


@pytest.mark.parametrize("header", NAMES_ALONE)
def test_a_first_line_of_usual_names_is_left_out_and_said(capsys, tmp_path, header):
    path = tmp_path / "df.csv"
    path.write_text(f"{header}\n{NAMES_ALONE[header]}")
    options = path, "-m", tmp_path / "m", "--separator", ",", "--format", "columns"
    label = header.rpartition(",")[2]
    for more in ([], ["--stream", "1", "--epochs", "2"]):
        code, _, err = run_train(capsys, *options, *more)
        assert code == 0 and label not in skstruct.load(tmp_path / "m").classes_
        assert err.count("warning") == 1
        assert f"{path}, line 1: the line is left out, since it names columns" in err


@pytest.mark.parametrize("header", HEADERS)
def test_names_of_columns_are_noticed(capsys, tmp_path, header):
    path = tmp_path / "df.csv"
    path.write_text(f"{header}\n{HEADERS[header]}")
    options = path, "-m", tmp_path / "m", "--separator", ",", "--format", "columns"
    label = header.rpartition(",")[2]
    for more in ([], ["--stream", "1", "--epochs", "2"]):
        code, _, err = run_train(capsys, *options, *more)
        assert code == 0 and label in skstruct.load(tmp_path / "m").classes_
        assert err.count("warning") == 1
        assert (
            f"warning: {path}, line 1: looks like a header" in err
            and f"label {label!r}" in err
        )
    command = shlex.split(re.search("--comment .*(?= leaves it out)", err)[0])
    code, _, err = run_train(capsys, *options, *command)
    assert (
        code == 0
        and "warning" not in err
        and label not in skstruct.load(tmp_path / "m").classes_
    )
    assert "line 1: looks like names" not in run(capsys, "evaluate", *options)[2], (
        "the model remembers the comment"
    )


@pytest.mark.parametrize(
    "text",
    [
        "the D\ndog N\na D\n",  # neither a name nor a number
        "Word N\nfor P\nword N\n",  # the label is one
        "1 D\n2 N\n3 N\n",  # numbers throughout
        "word N\nN N\nthe D\n",
    ],
)
def test_what_looks_like_data_is_not_taken_for_names(capsys, tmp_path, text):
    (tmp_path / "x.conll").write_text(text)
    code, _, err = run_train(capsys, tmp_path / "x.conll", "-m", tmp_path / "m")
    assert code == 0 and "warning" not in err


def test_a_file_that_is_one_sentence_is_noticed(capsys, tmp_path):
    path = tmp_path / "x.conll"
    for text, n, n_tokens in (
        ("the D\ndog N\n" * 501, 2, "1,002"),
        ("the D\ndog N\n" * 51, 1, "102"),
        ("the D\ndog N\n" * 50, 0, "100"),
        ("the D\ndog N\n\n" * 1100, 0, "2,200"),
    ):
        path.write_text(text)
        code, _, err = run_train(capsys, path, "-m", tmp_path / "m", "--epochs", 1)
        assert code == 0
        said = f"warning: {path}: all {n_tokens} tokens are one sentence"
        assert err.count(said) == min(n, 1)
        assert err.count("X has one sequence of 1002 tokens") == n // 2
        assert err.count("warning") == n


def test_train_complains_of_the_target_before_reading(folder, capsys, tmp_path):
    cases = (
        (tmp_path / "no" / "m", "folder does not exist"),
        (tmp_path, "not a regular file"),
    )
    for target, message in cases:
        code, _, err = run_train(capsys, folder / "train.txt", "-m", target)
        assert code == 1 and message in err and "read " not in err
    code, _, err = run_train(capsys, tmp_path / "nothing", "-m", tmp_path / "m")
    assert code == 1 and f"{tmp_path / 'nothing'}: {os.strerror(errno.ENOENT)}" in err


def test_bad_template_names_its_line(folder, capsys, tmp_path):
    (tmp_path / "t").write_text("U00:%x[0,0]\nX\n")
    code, _, err = run_train(
        capsys,
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--template",
        tmp_path / "t",
    )
    assert code == 1 and f"{tmp_path / 't'}:2: a template starts with U" in err


def test_interrupted_training_leaves_a_model_beside_the_target(
    folder, capsys, tmp_path, monkeypatch
):
    fit = skstruct.BaggingShuffleAverager.fit

    def interrupted(self, X, y):
        fit(self, X, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(skstruct.BaggingShuffleAverager, "fit", interrupted)
    code, _, err = run_train(
        capsys, folder / "train.txt", "-m", tmp_path / "m", "--epochs", 1
    )
    assert code == cli.INTERRUPTED and "after 1 epoch is in" in err
    assert [path.name for path in tmp_path.iterdir()] == ["m" + learning.PARTIAL]
    skstruct.load(tmp_path / ("m" + learning.PARTIAL))


def test_a_tabbed_file_is_no_segmented_text(capsys, tmp_path):
    """Spaces in its tokens make columns of different numbers; no model of its
    characters is trained.
    """
    file = tmp_path / "z.txt"
    file.write_text("Ana\tB-PER\nNew York\tB-LOC\n\nTom\tB-PER\n", encoding="utf-8")
    code, out, err = run_train(capsys, file, "-m", tmp_path / "m")
    assert code == 1 and out == "" and not (tmp_path / "m").exists()
    assert "z.txt, line 2: expected 2 columns" in err and "--separator tab" in err
    assert run_train(capsys, file, "-m", tmp_path / "m", "--separator", "tab")[0] == 0
    code, out, _ = run(capsys, "tag", file, "-m", tmp_path / "m", "--separator", "tab")
    assert code == 0 and "New York\tB-LOC" in out


@pytest.mark.parametrize(
    "text", ["Espa\u00c3\u00b1a X\nen Y\n", "Espa\u00c3\u00b1a es\nE\n"]
)
def test_text_that_was_encoded_twice(capsys, tmp_path, text):
    path = tmp_path / ("c.txt" if "X" in text else "c.seg")
    path.write_text(text + "\n" + text, encoding="utf-8")
    code, _, err = run_train(capsys, path, "-m", tmp_path / "m", "--epochs", 1)
    assert code == 0 and err.count("skstruct: warning: ") == 1 and "'Ã±' for 'ñ'" in err


def test_files_alone_are_told_what_else_is_needed(capsys):
    code, _, err = run(capsys, "train", "a.txt", "b c.txt")
    assert code == 2
    assert "as in skstruct train a.txt 'b c.txt' --model my-model; or --dry-run" in err


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_what_is_advised_for_a_table_with_unknown_names_reads_it(
    capsys, tmp_path, mark
):
    path = tmp_path / "a.csv"
    rows = "Satz,Wort,Etikett\n" + "0,Ann,B-X\n0,ran,O\n1,Bo,B-X\n1,sat,O\n" * 9
    path.write_text(rows.replace(",", mark))
    code, _, err = run_train(capsys, path, "-m", tmp_path / "m")
    assert code == 1 and "--format xml" not in err  # which has no bars between cells
    advice = shlex.split(re.search(r"(?m)--format columns.*?(?=; it could|$)", err)[0])
    code, _, err = run_train(capsys, path, "-m", tmp_path / "m", *advice)
    assert code == 0
    advice += shlex.split(re.search("--comment .*(?= leaves it out)", err)[0])
    code, _, err = run_train(capsys, path, "-m", tmp_path / "m", "--force", *advice)
    assert code == 0 and skstruct.load(tmp_path / "m").classes_.tolist() == ["B-X", "O"]
