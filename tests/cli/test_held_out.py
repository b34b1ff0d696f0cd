"""`train --holdout` and `--cv`: what models score on what they have not seen, and how
sure that is.
"""

import json
import re
from argparse import Namespace

import numpy as np
import pytest
from cli_cases import run, run_train

import skstruct
from skstruct.cli import held_out
from skstruct.cli.common import CommandError
from skstruct.datasets import load_parsing
from skstruct.metrics.task_scores import scores_of


def corpus_of(X, documents=None):
    return Namespace(X=X, documents=documents, y=[()] * len(X), family="columns")


def test_documents_and_equal_texts_stay_together():
    numbers, known = held_out.documents_of(corpus_of([["a"]] * 4, ["x", "y", "x", "y"]))
    assert numbers.tolist() == [0, 1, 0, 1] and known
    numbers, known = held_out.documents_of(corpus_of(["one", "two", "one"]))
    assert numbers.tolist() == [0, 1, 0] and not known
    numbers, known = held_out.documents_of(corpus_of([["a"], ["a"]]))
    assert numbers.tolist() == [0, 1] and not known


def test_each_document_is_held_out_once():
    documents = np.repeat(np.arange(10), 3)
    folds = held_out.folds_of(documents, None, 4, 0)
    assert np.sum(folds, axis=0).tolist() == [1] * 30
    for fold in folds:
        assert {sum(fold[documents == d]) for d in range(10)} <= {0, 3}
    (fold,) = held_out.folds_of(documents, 0.2, None, 0)
    assert fold.sum() == 6
    (fold,) = held_out.folds_of(np.arange(2), 0.99, None, 0)
    assert fold.sum() == 1, "something is left to learn from"


@pytest.mark.parametrize(
    ("n", "cv", "share", "message"),
    [
        (1, None, 0.5, "only 1 document: too few to hold any out"),
        (3, 5, None, "only 3 documents for --cv 5 parts; --cv 3 makes as many"),
    ],
)
def test_too_few_documents(n, cv, share, message):
    with pytest.raises(CommandError, match=message):
        held_out.folds_of(np.arange(n), share, cv, 0)


def test_too_few_sentences_are_told_with_their_file(capsys, tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("a X\nb Y\n\nc X\n\n")
    code, _, err = run_train(capsys, path, "-m", tmp_path / "m", "--cv", 5)
    assert code == 1 and f"{path}: only 2 sentences for --cv 5 parts; --cv 2" in err
    code, _, err = run_train(capsys, path, "-m", tmp_path / "m", "-p", "alpha=2")
    assert code == 2 and "Got 2 instead; skstruct train --help lists" in err


def test_the_worst_come_first():
    y = [["A"] * 3, ["A"] * 3, ["A"] * 3]
    found = scores_of("labels", y, y, [["A"] * 3, ["B"] * 3, ["A", "B", "A"]])
    assert found.worst == [(1, 3), (2, 1)]


@pytest.mark.parametrize(
    ("file", "options", "measure"),
    [
        ("train.txt", ("--holdout", 0.2), "f1"),
        ("train.txt", ("--cv", 3, "--members", 2), "f1"),
        ("train.txt", ("--holdout", 0.3, "--shards", 2), "f1"),
        ("train.conllu", ("--cv", 2), "token_accuracy"),
        ("train.conllu", ("--cv", 2, "-a", "l1crf"), "token_accuracy"),
        ("train.seg", ("--holdout", 0.2), "f1"),
        ("train.seg", ("--cv", 2, "-a", "word-segmenter"), "f1"),
    ],
)
def test_every_kind_is_scored_and_written(
    folder, capsys, tmp_path, file, options, measure
):
    """The model that is written learns from all, as without the options."""
    epochs = () if "l1crf" in options else ("--epochs", 1)
    way = [o for o in options if o not in ("--holdout", "--cv")][1:]
    code, out, err = run_train(
        capsys, folder / file, "-m", tmp_path / "m", *epochs, *options
    )
    assert code == 0, err
    assert "scores on held-out parts" in out and "the worst:\n" in out
    assert f"{folder / file}, line " in out
    card = skstruct.load(tmp_path / "m").info()["card"]
    score = card["score"]
    assert score["measure"] == measure
    assert 0 < score["low"] <= score["value"] <= score["high"] <= 1
    line = re.search(
        rf"^{measure.replace('_', ' ')} +(\S+)  \((\S+) to (\S+)\)$", out, re.M
    )
    assert [float(x) for x in line.groups()] == pytest.approx(
        [score[name] for name in ("value", "low", "high")], abs=1e-4
    )
    assert run_train(capsys, folder / file, "-m", tmp_path / "n", *epochs, *way)[0] == 0
    said = skstruct.load(tmp_path / "m"), skstruct.load(tmp_path / "n")
    assert len({model.info()["state_weights"] for model in said}) == 1


@pytest.mark.parametrize("options", [(), ("-p", "labeled=False")])
def test_a_parser_is_scored(options, capsys, tmp_path):
    """With labels, or heads alone."""
    rows = "".join(
        "".join(
            f"{t}\t{form}\t_\t_\t{tag}\t_\t{head}\t{label}\t_\t_\n"
            for t, ((form, tag), (head, label)) in enumerate(zip(*pair), start=1)
        )
        + "\n"
        for pair in list(zip(*load_parsing()))[:20]
    )
    (tmp_path / "a.conllu").write_text(rows, encoding="utf-8")
    given = "-m", tmp_path / "m", "-a", "parser", "--epochs", 1, "--holdout", 0.3
    code, out, err = run_train(capsys, tmp_path / "a.conllu", *given, *options)
    assert code == 0, err
    measure = "uas" if options else "las"
    assert skstruct.load(tmp_path / "m").info()["card"]["score"]["measure"] == measure
    assert re.search("^uas +[01]", out, re.M)
    assert bool(re.search("^las +0", out, re.M)) == (not options)


def test_a_stream_holds_nothing_out(folder, capsys, tmp_path):
    code, _, err = run_train(
        capsys, folder / "train.txt", "-m", tmp_path / "m", "--stream", 9, "--cv", 2
    )
    assert code == 2 and "--stream holds nothing out" in err
    given = "-m", tmp_path / "m", "--stream", 9, "--document", "doc_id"
    code, _, err = run_train(capsys, folder / "train.txt", *given)
    assert code == 2 and "--document keeps documents whole where some are held" in err


def test_checkpoints_are_of_the_model_that_is_written(folder, capsys, tmp_path):
    states = tmp_path / "states"
    code, *_ = run_train(
        capsys, folder / "train.txt", "-m", tmp_path / "m", "--epochs", 2, "--holdout", 0.2,
        "-p", f"checkpoint={states}",
    )  # fmt: skip
    assert code == 0 and list(states.iterdir()) == []


def test_nothing_to_count_is_a_dash_and_null(capsys, tmp_path):
    """In the table, JSON and the card, of a part without spans."""
    rows = [{"text": "Ann met Bob.", "spans": [[0, 3, "PER"], [8, 11, "PER"]]}] * 2
    words = "so it is very old and not new at all".split()
    rows += [{"text": f"{word} it is.", "spans": []} for word in words]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = "train", path, "-m", tmp_path / "m", "-a", "perceptron", "--holdout", 0.1
    code, out, err = run(capsys, *given)
    assert code == 0, err
    assert re.search("^f1 +-$", out, re.M) and "nan" not in out
    code, shown, _ = run(capsys, "show", tmp_path / "m", "--json")
    assert "NaN" not in shown and json.loads(shown)["card"]["score"]["value"] is None
    assert "held out      f1 -" in run(capsys, "show", tmp_path / "m")[1]
    path.write_text('{"text": "so it is.", "spans": []}\n')
    code, out, err = run(capsys, "evaluate", path, "-m", tmp_path / "m", "--json")
    scores = json.loads(out)
    assert (scores["f1"], scores["sequence_accuracy"]) == (None, 1.0)
    assert scores["segments"]["micro avg"]["f1"] is None and "warning" not in err
    both = "evaluate", tmp_path / "m", tmp_path / "m", path
    assert json.loads(run(capsys, *both, "--json")[1])["difference"]["measure"] is None
    code, out, _ = run(capsys, *both)
    assert code == 0 and "the two models have no score in common" in out


def test_the_worst_texts_show_what_was_given_and_found(tmp_path, capsys):
    """Wrong annotations are suspected where a model is sure; warnings come once."""
    rows = []
    for k in range(120):
        name = ("Ann", "Tom", "Eve")[k % 3]
        end = 2 if k in (7, 70) else 3
        spans = [] if k in (20, 50, 90, 100) else [[0, end, "PER"]]
        rows.append(json.dumps({"text": f"{name} left {k} now", "spans": spans}))
    file = tmp_path / "names.jsonl"
    file.write_text("\n".join(rows), encoding="utf-8")
    code, out, err = run_train(
        capsys, file, "-m", tmp_path / "m", "-a", "l1crf", "--cv", 4
    )
    assert code == 0, err
    assert 'given nothing; found 0-3 "Eve" PER' in out
    assert 'given 0-2 "To" PER; found 0-3 "Tom" PER' in out
    assert "mistakes are probably wrong annotations" in out and "skstruct check" in out
    assert err.count("not end where tokens do") == 1 and "30 texts" in err


@pytest.mark.parametrize("key", ["doc", "meta", "other"])
def test_documents_are_held_out_whole_or_it_is_said(key, capsys, tmp_path):
    """Also where a model goes on learning."""
    path = tmp_path / "a.jsonl"
    named = (lambda k: {"doc": k}) if key == "meta" else (lambda k: k)
    rows = [
        {"text": f"Ann{i} ran to {x}", "spans": [[0, 4, "PER"]], key: named(f"d{i}")}
        for i in range(5)
        for x in ("Rome", "Oslo")
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    given = path, "-m", tmp_path / "m", "-a", "perceptron", "--holdout", ".2"
    for more in ((), ("--update", tmp_path / "old")):
        options = [path, *given[1:3], *given[5:]] if more else given
        code, out, err = run_train(capsys, *options, *more)
        assert code == 0, err
        assert ("2 texts held out" in out) == (key == "other")
        assert ("1 document held out" in out) == (key != "other")
        assert ("nothing names documents" in err) == (key == "other")
        (tmp_path / "m").rename(tmp_path / "old")


def test_documents_that_several_files_name_are_one(capsys, tmp_path, monkeypatch):
    """Two people annotate types of their own in them; a third file names none."""
    texts = [f"Ann{i} ran to Rome" for i in range(6)]
    spans = {"a": [[0, 4, "PER"]], "b": [[12, 16, "LOC"]], "c": [[5, 8, "ACT"]]}
    paths = []
    for name, given in spans.items():
        path = tmp_path / f"{name}.jsonl"
        rows = [{"text": t, "spans": given} for t in texts]
        if name != "c":
            rows = [{**row, "doc_id": f"d{i // 2}"} for i, row in enumerate(rows)]
        path.write_text("\n".join(map(json.dumps, rows)))
        paths.append(path)
    types = [
        f"--annotated={path}={given[0][2]}"
        for path, given in zip(paths, spans.values())
    ]
    shown = []
    original = held_out.folds_of
    monkeypatch.setattr(
        held_out, "folds_of", lambda d, *more: shown.append(d) or original(d, *more)
    )
    given = *paths, *types, "-m", tmp_path / "m", "-a", "perceptron", "--holdout", ".3"
    code, out, err = run_train(capsys, *given)
    assert code == 0, err
    assert "1 document held out" in out
    assert shown[0].tolist() == [0, 0, 1, 1, 2, 2] * 3
