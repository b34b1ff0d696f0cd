"""``skstruct train --text``: clusters of words of raw text; and what is written of the
training.
"""

import json
import re

import pytest
from cli_cases import run, run_train

import skstruct

TAGGED = "x D\nnaa N\nvaa V\n\ny D\nnab N\nvab V\n"


def test_clusters_of_raw_text(tmp_path, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("skstruct.datasets.formats.source.SHOWN", 100)
    progress = pytest.importorskip("rich.progress")
    monkeypatch.setattr(
        progress.Progress, "advance", lambda bar, task, read: shown.append(read)
    )
    text, corpus = tmp_path / "raw.txt", tmp_path / "train.txt"
    names = [a + b for a in "abcdefgh" for b in "abcdefgh"]
    lines = [f"{x} n{name} v{name}" for x in "xy" for name in names] * 5
    text.write_text("\n".join(lines), encoding="utf-8")
    corpus.write_text(TAGGED, encoding="utf-8")
    size = {}
    for kept in ([], ["--keep-training", "--verbose"]):
        model = tmp_path / "model"
        code, _, said = run_train(
            capsys,
            corpus,
            "-m",
            model,
            "-a",
            "perceptron",
            "--text",
            text,
            "--clusters",
            5,
            *kept,
        )
        assert code == 0 and "clusters of 130 words" in said
        loaded = skstruct.load(model)
        assert loaded.words.label("naa") != "_" and loaded.predict(
            [["x", "naa", "vaa"]]
        ) == [["D", "N", "V"]]
        size[len(kept)] = model.stat().st_size
        total = sum(shown)
        assert (
            text.stat().st_size - 120 < total <= text.stat().st_size
            if kept
            else not total
        )
    assert size[0] < size[2]


def test_whatever_is_around_a_tagger(tmp_path, capsys):
    notes, text = tmp_path / "notes.jsonl", tmp_path / "raw.txt"
    notes.write_text(
        '{"text": "Ann sees Bob", "spans": [[0, 3, "PER"], [9, 12, "PER"]]}\n' * 30,
        "utf-8",
    )
    names = [a + b for a in "abcdefgh" for b in "abcdefgh"]
    text.write_text(
        "".join(f"Ann sees {name}, Bob hears {name}\n" for name in names * 5),
        encoding="utf-8",
    )
    for around in (
        ["--recall", ".9"],
        ["--calibrate"],
        ["--members", 2],
        ["--calibrate", "--recall", ".9"],
    ):
        model = tmp_path / "model"
        options = ["--text", text, "--clusters", 2, "-a", "l1crf", *around]
        code, _, said = run_train(capsys, notes, "-m", model, *options)
        assert code == 0, said
        words = [
            w
            for name, w in skstruct.load(model).get_params().items()
            if name.endswith("words")
        ]
        assert any(each is not None for each in words)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TAGGED, ["--clusters", 5], "needs --text"),
        (
            "a b\n",
            ["--text", "raw.txt", "-a", "word-segmenter", "--format", "segmented"],
            "is for taggers",
        ),
    ],
)
def test_what_is_refused(text, options, message, tmp_path, capsys):
    corpus = tmp_path / "train.txt"
    corpus.write_text(text, encoding="utf-8")
    code, _, said = run_train(capsys, corpus, "-m", tmp_path / "model", *options)
    assert code == 2 and message in said


def test_texts_without_annotations_are_said_to_be_raw_text(capsys, tmp_path):
    """Label Studio exports tasks that nobody has labelled yet; JSONL may lack the
    list.
    """
    known = {"text": "Ann is in Rome.", "spans": [[0, 3, "PER"]]}
    results = [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}]
    task = {"data": {"text": "Ann is in Rome."}, "annotations": [{"result": results}]}
    open_task = {"data": {"text": "Bob is in Oslo."}, "annotations": []}
    for name, records, n in (
        ("a.jsonl", [known, {"text": "Bob is in Oslo."}, {"text": "x"}, known], 2),
        ("b.json", [task, open_task, task], 1),
        ("c.jsonl", [known, {"text": "Nobody.", "spans": []}], 0),
    ):
        lines = "\n".join(map(json.dumps, records))
        content = lines if name.endswith("l") else json.dumps(records)
        (tmp_path / name).write_text(content)
        arguments = "train", "--force", tmp_path / name, "-m", tmp_path / "m"
        code, _, err = run(capsys, *arguments, "--epochs", 1)
        assert code == 0
        said = re.findall(r"(\d+) records? without annotations; .*--text FILE", err)
        assert said == [str(n)] * (n > 0)
        raw = " ".join(f"w{a}{b}" for a in "abcdefgh" for b in "abcdefgh")
        (tmp_path / "raw").write_text(f"{raw}\n" * 9)
        code, _, err = run(
            capsys, *arguments, "--text", tmp_path / "raw", "--clusters", 2
        )
        assert code == 0 and "without annotations: " not in err
