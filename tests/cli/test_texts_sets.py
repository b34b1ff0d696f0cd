"""``train --recall``, ``tag --sets``; corpora that annotate different types."""

import json
from pathlib import Path

import pytest
from cli_cases import run

import skstruct
from skstruct import SpanSets
from skstruct.datasets import read_spans, write_spans

WHO, WHERE = ["Ann", "Bob", "Eve"], ["Rome", "Oslo", "Bern"]
TEXTS = [f"{who} went to {place} again ." for who in WHO for place in WHERE] * 4
SPANS = [[(0, 3, "PER"), (12, 16, "LOC")] for _ in TEXTS]


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Commands run in a folder with one file, and with two of which each annotates a
    type.
    """
    monkeypatch.chdir(tmp_path)
    write_spans("both.jsonl", TEXTS, SPANS)
    for k, kind in enumerate(["PER", "LOC"]):
        write_spans(
            f"{kind}.jsonl",
            TEXTS[k::2],
            [[s for s in spans if s[2] == kind] for spans in SPANS[k::2]],
        )


def done(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert code == 0, err
    return out


def test_sets_are_trained_and_written(capsys):
    learned = (
        "--recall",
        0.9,
        "-a",
        "l1crf",
        "-p",
        "precision=0.8",
        "-p",
        "c1=0.1",
        "-p",
        "c2=0.1",
    )
    done(capsys, "train", "both.jsonl", "-m", "ner", *learned)
    model = skstruct.load("ner")
    assert isinstance(model, SpanSets)
    assert (model.recall, model.precision, model.estimator_.tagger_.c1) == (
        0.9,
        0.8,
        0.1,
    )
    Path("new.txt").write_text("Eve went to Rome again .", encoding="utf-8")
    (offered,) = model.predict_sets([Path("new.txt").read_text(encoding="utf-8")])
    record = json.loads(done(capsys, "tag", "new.txt", "-m", "ner", "--sets"))
    assert [
        (span["start"], span["end"], span["label"]) for span in record["spans"]
    ] == SPANS[0]
    assert record["candidates"] == [
        {**span._asdict(), "probability": p} for span, p in offered
    ]
    (task,) = json.loads(
        done(capsys, "tag", "new.txt", "-m", "ner", "--sets", "--write", "label-studio")
    )
    (prediction,) = task["predictions"]
    assert [region["score"] for region in prediction["result"]] == [
        p for _, p in offered
    ]


def test_corpora_of_different_types(capsys):
    annotated = "--annotated", "PER.jsonl=PER", "--annotated", "LOC.jsonl=LOC"
    learner = "-a", "l1crf", "-p", "c1=0.1", "-p", "c2=0.1"
    done(capsys, "train", "PER.jsonl", "LOC.jsonl", "-m", "ner", *annotated, *learner)
    assert skstruct.load("ner").predict(TEXTS) == SPANS
    done(capsys, "train", "both.jsonl", "PER.jsonl", "-m", "both", *learner)
    done(
        capsys,
        "train",
        "PER.jsonl",
        "-m",
        "one",
        "--read",
        "annotated=['PER']",
        *learner,
    )
    assert skstruct.load("one").predict(TEXTS[:1]) == [SPANS[0][:1]]


def test_check_of_corpora_of_different_types(capsys):
    """Types that a file does not annotate are not missing in it; one that it annotates
    is.
    """
    X, y = read_spans("PER.jsonl")
    write_spans("PER.jsonl", X, [*y[:-1], []])
    annotated = "--annotated", "PER.jsonl=PER", "--annotated", "LOC.jsonl=LOC"
    options = "--cv", 3, "-p", "c1=0.1", "-p", "c2=0.1", "--json"
    out = done(capsys, "check", "PER.jsonl", "LOC.jsonl", *annotated, *options)
    (issue,) = map(json.loads, out.splitlines())
    assert (
        issue["record"] == f"PER.jsonl, line {len(X)}" and issue["suggested"] == "PER"
    )
    code, _, err = run(capsys, "check", "PER.jsonl", "--annotated", "LOC.jsonl=LOC")
    assert code == 2 and "LOC.jsonl is not among the files" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["both.jsonl", "--recall", 0.9],
            "--recall is for annotated texts and taggers that know probab",
        ),
        (
            ["both.jsonl", "--recall", 1.5],
            "argument --recall: must be from 0 to 1, got '1.5'",
        ),
        (
            ["both.jsonl", "--recall", 0.9, "--calibrate", "--stream", 5],
            "does not learn example by example",
        ),
        (
            ["both.jsonl", "--recall", 0.9, "-a", "l1crf", "--dev", "PER.jsonl"],
            "--dev: the fit of SpanSets takes",
        ),
        (
            ["columns.txt", "--recall", 0.9, "-a", "l1crf"],
            "--recall is for annotated texts",
        ),
        (
            ["columns.txt", "columns.txt"],
            "several files are for annotated texts; join those of columns in one file",
        ),
        (
            ["PER.jsonl", "--annotated", "LOC.jsonl=LOC"],
            "LOC.jsonl is not among the files",
        ),
        (
            ["PER.jsonl", "--annotated", "PER.jsonl"],
            "--annotated: must be FILE=TYPES, got 'PER.jsonl'",
        ),
        (["PER.jsonl", "LOC.jsonl", "--stream", 5], "--stream reads one FILE"),
    ],
)
def test_what_is_refused(capsys, arguments, message):
    Path("columns.txt").write_text("the D\ndog N\n", encoding="utf-8")
    code, _, err = run(capsys, "train", *arguments, "-m", "ner")
    assert code == 2 and message in err


def test_a_span_that_is_not_annotated_is_named_with_its_file(capsys):
    code, _, err = run(
        capsys,
        "train",
        "PER.jsonl",
        "LOC.jsonl",
        "-m",
        "ner",
        "--annotated",
        "LOC.jsonl=PER",
        "-a",
        "l1crf",
    )
    assert code == 1 and "LOC.jsonl, line 1" in err and "not annotated" in err


def test_sets_need_their_model(capsys):
    done(capsys, "train", "both.jsonl", "-m", "ner")
    for options, message in (
        (["--sets"], "--sets: this SpanTagger offers no sets; train --recall R"),
        (["--sets", "--write", "brat"], "offers no sets"),
    ):
        code, _, err = run(capsys, "tag", "both.jsonl", "-m", "ner", *options)
        assert code == 2 and message in err
