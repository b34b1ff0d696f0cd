"""`evaluate A B FILE`: two models beside each other, each reading the file in its own
way.
"""

import json
import pathlib
import re
import shutil

import numpy as np
import pytest
from cli_cases import run, run_train

from skstruct import StructuredPerceptron
from skstruct.cli import two_models
from skstruct.metrics import PairedBootstrap

DATA = pathlib.Path(__file__).parents[1] / "data_files"


@pytest.fixture
def two(folder, capsys, tmp_path):
    for name, options in (("a", ("--tokens", 0)), ("b", ())):
        code, *_ = run_train(
            capsys, folder / "train.txt", "-m", tmp_path / name, "--epochs", 2, *options
        )
        assert code == 0
    return tmp_path / "a", tmp_path / "b"


def test_both_are_scored_as_alone(folder, capsys, two):
    code, out, _ = run(capsys, "evaluate", *two, folder / "test.txt", "--json")
    assert code == 0
    found = json.loads(out)
    for side, path in zip("ab", two):
        alone = json.loads(
            run(capsys, "evaluate", "-m", path, folder / "test.txt", "--json")[1]
        )
        assert found[side] == {"model": str(path), **alone}
    f1 = [found[side]["segments"]["micro avg"]["f1"] for side in "ab"]
    difference = found["difference"]
    assert difference["difference"] == pytest.approx(f1[1] - f1[0])
    assert difference["low"] < difference["difference"] < difference["high"]
    assert difference["measure"] == "f1"
    code, out, _ = run(capsys, "evaluate", *two, folder / "test.txt")
    assert f"f1: b minus a is {f1[1] - f1[0]:+.4f} (95 %: " in out
    assert "f1 NP" in out and "token accuracy" in out


@pytest.mark.parametrize(
    ("train", "options"),
    [
        ("train.conllu", ()),
        ("train.seg", ()),
    ],
)
def test_other_tasks(folder, capsys, tmp_path, train, options):
    for name, seed in (("a", 1), ("b", 2)):
        run_train(
            capsys, folder / train, "-m", tmp_path / name, "--epochs", 1, "--seed", seed
        )
    test = folder / train.replace("train", "test")
    code, out, err = run(capsys, "evaluate", tmp_path / "a", tmp_path / "b", test)
    assert code == 0, err
    assert "b minus a is" in out and "p = " in out


def test_a_kept_file_beside_itself(capsys, tmp_path):
    old = DATA / "perceptron-order2-4.skstruct"
    (tmp_path / "test.txt").write_text("a L0\nb L1\n\n")
    code, out, err = run(capsys, "evaluate", old, old, tmp_path / "test.txt")
    assert code == 0, err
    assert "minus" in out and "+0.0000 (95 %: +0.0000 to +0.0000), p = 1.000" in out
    assert "the predictions differ in 0 of " in out


def test_a_model_of_crfsuite_beside_ours(capsys, tmp_path):
    pytest.importorskip("pycrfsuite")
    (tmp_path / "data").write_text("D\tw=the\nN\tw=dog\n\nD\tw=a\nN\tw=cat\n\n" * 5)
    how = "--format", "crfsuite", "-a", "l1crf"
    assert run_train(capsys, tmp_path / "data", "-m", tmp_path / "a", *how)[0] == 0
    assert run(capsys, "convert", tmp_path / "a", tmp_path / "a.crfsuite")[0] == 0
    both = tmp_path / "a", tmp_path / "a.crfsuite"
    code, out, err = run(
        capsys, "evaluate", *both, tmp_path / "data", "--format", "crfsuite"
    )
    assert code == 0, err
    assert "token accuracy" in out and "p = 1.000" in out


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "test.txt"), "name one FILE, with --model; or two models and FILE"),
        (("a", "b", "a", "test.txt"), "two models and FILE"),
        (("a", "b", "-"), "cannot be standard input"),
    ],
)
def test_what_is_not_two_models_and_a_file(folder, capsys, two, names, message):
    shutil.copy(folder / "test.txt", two[0].parent)
    paths = [name if name == "-" else two[0].parent / name for name in names]
    code, _, err = run(capsys, "evaluate", *paths)
    assert code == 2 and message in err


def test_models_of_other_tasks_or_labels(folder, capsys, two, tmp_path):
    code, _, err = run(capsys, "evaluate", two[0], folder / "seg", folder / "test.txt")
    assert code == 1 and ("cannot be compared" in err or "learned from" in err)
    assert run_train(
        capsys, folder / "train.txt", "-m", tmp_path / "c", "--tokens", 0, "--label", 1
    )[0] == 0  # fmt: skip
    code, _, err = run(capsys, "evaluate", two[0], tmp_path / "c", folder / "test.txt")
    assert code == 1 and "read different labels in it" in err


def test_two_models_have_no_strict_segments(folder, capsys, two):
    options = "--scheme", "BIO", "--strict"
    code, _, err = run(capsys, "evaluate", *two, folder / "test.txt", *options)
    assert code == 2 and "--strict is for one model" in err


def test_labels_without_prefix_are_read_alike_on_both_sides(capsys, tmp_path):
    """One of the models says the scheme, which labels do not look like."""
    text = "Ann PER\nLee PER\nin O\nRome LOC\n\nRome LOC\nmet O\nAnn PER\n\n" * 6
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt").write_text("Ann PER\nof O\nRome LOC\n\nLee PER\nmet O\n\n" * 3)
    for name, options in (("io", ("-p", "constraints=IO")), ("plain", ("--epochs", 1))):
        given = "-m", tmp_path / name, "-a", "perceptron", *options
        assert run_train(capsys, tmp_path / "a.txt", *given)[0] == 0
    alone = "evaluate", "-m", tmp_path / "io", tmp_path / "b.txt", "--json"
    expected = json.loads(run(capsys, *alone)[1])
    for names in (("io", "plain"), ("plain", "io"), ("io", "io")):
        both = [tmp_path / name for name in names]
        code, out, err = run(capsys, "evaluate", *both, tmp_path / "b.txt", "--json")
        assert code == 0, err
        found = json.loads(out)
        scores = {name: found[side] for side, name in zip("ab", names)}
        assert scores["io"].pop("model") and scores["io"] == expected
        f1 = [found[side]["segments"]["micro avg"]["f1"] for side in "ab"]
        difference = found["difference"]
        assert difference["measure"] == "f1"
        assert difference["difference"] == pytest.approx(f1[1] - f1[0])


def trees(*labels):
    """CoNLL-U of sentences of two words, whose first one has these labels."""
    return "".join(
        f"1\tdogs\t_\t_\tN\t_\t2\t{label}\t_\t_\n2\tbark\t_\t_\tV\t_\t0\troot\t_\t_\n\n"
        for label in labels
    )


@pytest.mark.parametrize(
    ("options", "measure", "name"),
    [
        ((), "las", "las"),
        (("-p", "labeled=False"), "uas", "uas"),
    ],
)
def test_trees_differ_by_the_score_of_the_table(
    options, measure, name, capsys, tmp_path
):
    """Subtypes do not count there, and heads alone have no labels that could."""
    (tmp_path / "a.conllu").write_text(trees(*["nsubj"] * 4))
    (tmp_path / "b.conllu").write_text(trees(*["obj"] * 4))
    for side in "ab":
        given = "-m", tmp_path / side, "-a", "parser", *options
        assert run_train(capsys, tmp_path / f"{side}.conllu", *given)[0] == 0
    (tmp_path / "test.conllu").write_text(trees("nsubj:pass", "nsubj", "obj"))
    both = tmp_path / "a", tmp_path / "b", tmp_path / "test.conllu"
    code, out, err = run(capsys, "evaluate", *both, "--json")
    assert code == 0, err
    found = json.loads(out)
    scores = [found[side][name] for side in "ab"]
    difference = found["difference"]
    assert difference["measure"] == measure
    assert difference["difference"] == pytest.approx(scores[1] - scores[0])
    assert (scores[0] > scores[1]) == (not options)


def test_words_with_tags_differ_by_the_score_of_both(capsys, tmp_path):
    (tmp_path / "a.txt").write_text("他/r 看/v 书/n\n书/n 好/a\n" * 6)
    for side, seed in zip("ab", (1, 2)):
        given = "-m", tmp_path / side, "--seed", seed, "-a", "perceptron"
        assert run_train(capsys, tmp_path / "a.txt", *given)[0] == 0
    both = tmp_path / "a", tmp_path / "b", tmp_path / "a.txt"
    code, out, err = run(capsys, "evaluate", *both)
    assert code == 0, err
    assert "joint f1: b minus a is +0.0000" in out


@pytest.mark.parametrize(
    ("low", "p", "said"), [(-0.01, 0.06, 0), (0.01, 0.06, 1), (-0.01, 0.04, 1)]
)
def test_an_interval_and_a_p_value_that_disagree(
    folder, capsys, monkeypatch, two, low, p, said
):
    result = PairedBootstrap(0.5, 0.6, 0.1, low, 0.2, p)
    monkeypatch.setattr(two_models, "paired_difference", lambda *_, **__: result)
    code, out, _ = run(capsys, "evaluate", *two, folder / "test.txt")
    assert code == 0
    assert out.count("interval and p disagree") == said


def test_the_model_that_no_file_can_serve_is_named(folder, capsys, two, tmp_path):
    tagger = StructuredPerceptron(max_iter=1).fit([np.eye(2)], [["a", "b"]])
    tagger.save(tmp_path / "numbers")
    test = folder / "test.txt"
    for both in ((two[0], tmp_path / "numbers"), (tmp_path / "numbers", two[0])):
        code, _, err = run(capsys, "evaluate", *both, test)
        assert code == 1
        assert f"{tmp_path / 'numbers'}: the model reads rows of numb" in err
    for command in (
        ("tag", test, "-m", tmp_path / "numbers"),
        ("select", test, "-m", tmp_path / "numbers"),
        ("report", test, "-m", tmp_path / "numbers", "-o", tmp_path / "r.html"),
        ("show", tmp_path / "numbers", "--explain", "a"),
    ):
        err = run(capsys, *command)[2]
        assert f"{tmp_path / 'numbers'}: the model reads rows of numb" in err


def test_one_label_that_prevents_segments(capsys, tmp_path):
    """Both are compared by the score that both have; the label is named, and the models
    may be named in either order.
    """
    rows = "Ann B-PER\nLee I-PER\nmet O\nBob B-PER\n\nin O\nRome B-LOC\n\n"
    (tmp_path / "a.txt").write_text(rows * 8)
    (tmp_path / "b.txt").write_text(rows.replace("met O", "met NN") * 8)
    (tmp_path / "test.txt").write_text(rows)
    for name in "ab":
        given = "-m", tmp_path / name, "-a", "perceptron"
        assert run_train(capsys, tmp_path / f"{name}.txt", *given)[0] == 0
    found = {}
    for names in ("ab", "ba"):
        both = [tmp_path / name for name in names]
        code, out, err = run(capsys, "evaluate", *both, tmp_path / "test.txt", "--json")
        assert code == 0, err
        assert f"of the predicted labels of {tmp_path / 'b'} NN (line 3, 1 token" in err
        found[names] = json.loads(out)["difference"]
        assert found[names]["measure"] == "token_accuracy"
        code, out, _ = run(capsys, "evaluate", *both, tmp_path / "test.txt")
        assert code == 0 and "b has no segment scores" in out
        assert re.search(r"^token accuracy +\S+ +\S+ +[+-]0\.1667$", out, re.M)
    there, back = found.values()
    assert there["difference"] == -back["difference"] == pytest.approx(-1 / 6)
    assert (there["low"], there["high"]) == pytest.approx((-back["high"], -back["low"]))
    assert there["p_value"] == back["p_value"]
