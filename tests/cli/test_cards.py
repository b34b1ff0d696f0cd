"""What `train` writes beside the model: a card, small files, and nothing over another
model.
"""

import json
import os

import numpy as np
import pytest
from cli_cases import run, run_train
from sklearn.base import clone

import skstruct
from skstruct._saving.origin import digest_of
from skstruct._saving.registry import Savable
from skstruct.datasets import read_columns


def test_the_card_of_a_training(folder, capsys, tmp_path):
    code, out, _ = run(
        capsys, "train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", 2,
        "--dev", folder / "test.txt", "-p", "penalty=l2", "-p", f"checkpoint={tmp_path}",
    )  # fmt: skip
    assert code == 0
    card = skstruct.load(tmp_path / "m").info()["card"]
    assert card["data"] == [
        {"use": use, "name": name, "sha256": digest_of(folder / name)}
        for use, name in (("train", "train.txt"), ("dev", "test.txt"))
    ]
    assert card["counts"]["sentences"] == 110 and card["counts"]["labels"] > 3
    assert card["options"] == {"epochs": 2, "param": ["penalty=l2"]}
    assert card["score"] is None and card["version"] == skstruct.__version__
    shown = run(capsys, "show", tmp_path / "m")[1]
    assert (
        f"train         train.txt (sha256 {digest_of(folder / 'train.txt')[:12]})"
        in shown
    )
    assert "file read     columns, tokens 0,1, label -1, scheme BIO\n" in shown
    shown = json.loads(run(capsys, "show", tmp_path / "m", "--json")[1])
    assert shown["card"] == card and shown["source_layout"]["format"] == "columns"


def test_a_stream_and_standard_input_have_a_card(folder, capsys, tmp_path, stdin):
    stdin((folder / "train.txt").read_bytes())
    code, *_ = run(capsys, "train", "-", "-m", tmp_path / "m", "--stream", 50)
    assert code == 0
    card = skstruct.load(tmp_path / "m").info()["card"]
    assert card["data"] == [{"use": "train", "name": "standard input"}]
    assert card["counts"]["sentences"] == 110


def test_no_model_is_overwritten(folder, capsys, tmp_path):
    train = "train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", 1
    assert run(capsys, *train)[0] == 0
    before = (tmp_path / "m").read_bytes()
    code, _, err = run(capsys, *train, "--seed", 1)
    assert code == 1 and err.endswith(
        "m: exists already; to replace it, pass --force\n"
    )
    assert (tmp_path / "m").read_bytes() == before
    assert run(capsys, *train, "--seed", 1, "--force")[0] == 0
    assert (tmp_path / "m").read_bytes() != before
    (tmp_path / "empty").touch()
    train = "train", folder / "train.txt", "-m", tmp_path / "empty", "--epochs", 1
    assert run(capsys, *train)[0] == 0, "an empty file is nobody's work"


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-a", "l1crf"),
        ("--calibrate", "--epochs", 1),
        ("--members", 2, "--epochs", 1),
        ("--shards", 2, "--epochs", 1),
        ("-p", "order=2", "--epochs", 2),
    ],
)
def test_small_files_label_and_score_as_the_fit(
    folder, capsys, tmp_path, monkeypatch, options
):
    """Nothing but zeros is left out."""
    kept = []
    compress = Savable.compress

    def keep(model, **how):
        kept.append(model)
        return compress(model, **how)

    monkeypatch.setattr(Savable, "compress", keep)
    code, _, err = run(
        capsys, "train", folder / "train.txt", "-m", tmp_path / "m", *options
    )
    assert code == 0, err
    (whole,) = kept
    small = skstruct.load(tmp_path / "m")
    X, _ = read_columns(folder / "test.txt", return_X_y=True)
    assert small.predict(X) == whole.predict(X)
    np.testing.assert_array_equal(
        small.decision_function(X), whole.decision_function(X)
    )
    whole.save(tmp_path / "whole")
    assert os.path.getsize(tmp_path / "m") < os.path.getsize(tmp_path / "whole")


def test_keep_training_goes_on_where_it_stopped(folder, capsys, tmp_path):
    train = (
        "train",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--epochs",
        1,
        "--force",
    )
    X, y = read_columns(folder / "train.txt", return_X_y=True)
    one = skstruct.StructuredPerceptron(max_iter=1, random_state=0)
    several = skstruct.BaggingShuffleAverager(
        clone(one).set_params(dropout=0.1), "auto", random_state=0
    )
    for options, whole in ((["-a", "perceptron"], one), ([], several)):
        assert run(capsys, *train, "--keep-training", *options)[0] == 0
        goes_on(tmp_path, whole.fit(X, y), X, y)


def goes_on(tmp_path, whole, X, y):
    loaded = skstruct.load(tmp_path / "m")
    np.testing.assert_array_equal(
        loaded.partial_fit(X, y).decision_function(X),
        whole.partial_fit(X, y).decision_function(X),
    )
    assert loaded.info()["card"] is None, "it has learned more since"


def test_a_file_that_was_learned_is_not_scored_without_a_word(folder, capsys, tmp_path):
    run_train(capsys, folder / "train.txt", "-m", tmp_path / "m", "--epochs", 1)
    said = "the model was trained on this file"
    copied = tmp_path / "copy.txt"
    copied.write_bytes((folder / "train.txt").read_bytes())
    for path in (folder / "train.txt", copied):
        for command in (
            ("evaluate", path, "-m", tmp_path / "m"),
            ("report", path, "-m", tmp_path / "m", "-o", "/dev/null"),
        ):
            code, _, err = run(capsys, *command)
            assert code == 0 and said in err
    assert (
        said
        not in run(capsys, "evaluate", folder / "test.txt", "-m", tmp_path / "m")[2]
    )
    both = tmp_path / "m", copied, folder / "train.txt"
    copied.write_bytes((tmp_path / "m").read_bytes())
    err = run(capsys, "evaluate", *both)[2]
    for model in both[:2]:
        assert f"{model} was trained on this file" in err
