"""The command line on texts and annotated texts."""

import io
import json
import re
import sys

import pytest
from cli_cases import run, run_train

import skstruct
from skstruct import SpanTagger, StructuredPerceptron
from skstruct.datasets import columns_to_spans, load_entities, read_spans, write_spans

LETTER = "Maria met\r\n🚒 Tom & Ann in Berlin.\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a corpus, a letter and a model; commands run in it."""
    folder = tmp_path_factory.mktemp("texts")
    X, y = load_entities()
    X, y = columns_to_spans(X, y)
    write_spans(folder / "train.jsonl", X[:80], y[:80])
    write_spans(folder / "tasks.json", X[:80], y[:80], "label-studio")
    write_spans(folder / "brat", X[:80], y[:80], "brat")
    write_spans(
        folder / "test.jsonl",
        X[80:90],
        y[80:90],
        metadata=[{"id": k} for k in range(10)],
    )
    (folder / "letter.txt").write_bytes(LETTER.encode())
    SpanTagger().fit(X[:80], y[:80]).save(folder / "ner")
    return folder


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ["train.jsonl"],
        ["tasks.json"],
        ["brat"],
        ["train.txt", "--format", "spans"],
        ["train.txt"],
    ],
)
def test_train(arguments, folder, capsys):
    (folder / "train.txt").write_bytes(
        (folder / "train.jsonl").read_bytes()
    )  # by content
    code, out, err = run_train(capsys, *arguments, "--model", "found")
    assert (
        code == 0
        and out == ""
        and "read 80 texts, 78 spans" in err
        and "trained SpanTagger" in err
    )
    assert "using the feature preset text" in err
    X, _ = read_spans("test.jsonl")
    assert skstruct.load("found").predict(X) == skstruct.load("ner").predict(X)


def test_ways_of_training(capsys):
    for more in (
        ["--members", 2, "-a", "pa"],
        ["--shards", 2, "-p", "scheme=BIO"],
        ["--stream", 30, "-p", "pieces=texts"],
        ["-a", "l1crf", "--shards", 2, "--dev", "test.jsonl", "-p", "max_iter=5"][:4],
        ["--dev", "test.jsonl", "-p", "early_stopping=True", "-p", "align=expand"],
    ):
        code, out, err = run_train(
            capsys, "train.jsonl", "-m", "found", "--epochs", 2, *more
        )
        assert code == 0, err
        model = skstruct.load("found")
        assert type(model) is SpanTagger and model.predict(["Maria lives in Berlin."])
        if "--dev" in more:
            assert "micro avg" in out
    assert run(capsys, "show", "found")[1].count("align='expand'") == 1


def test_a_stream_of_texts_of_which_some_are_white_space(folder, capsys):
    rows = [
        '{"text": " \\ufeff", "spans": []}\n',
        '{"text": "Ann", "spans": [[0, 3, "A"]]}\n',
    ]
    (folder / "some.jsonl").write_text("".join(rows * 2))
    code, _, err = run_train(capsys, "some.jsonl", "-m", "found", "--stream", 1)
    assert code == 0, err
    (folder / "some.jsonl").write_text(rows[0])
    code, _, err = run_train(capsys, "some.jsonl", "-m", "found", "--stream", 1)
    assert code == 1 and "some.jsonl: the file has no annotated text" in err


def test_the_first_text_may_be_empty(folder, capsys):
    rows = '{"text": "", "spans": []}\n{"text": "Ann", "spans": [[0, 3, "A"]]}\n'
    (folder / "some.jsonl").write_text(rows)
    for command in ("train", "--force"), ("evaluate",):
        code, _, err = run(capsys, *command, "some.jsonl", "-m", "found")
        assert code == 0, err


def test_what_train_refuses(folder, capsys):
    for more, code, message in (
        (
            ["-a", "parser"],
            1,
            "the model is a parser and reads columns or CoNLL-U, not annotated texts",
        ),
        (
            ["-a", "SpanTagger"],
            2,
            "SpanTagger goes around a learner: --members, --shards, --calibrate, or texts to",
        ),
        (
            ["--read", "foo=1"],
            2,
            "choose from annotated, annotator, control, discontinuous, end, ends, format, label, label_names, labels, length, ",
        ),
        (
            ["--read", "text=body"],
            1,
            "train.jsonl, line 1: no text under 'body': found keys text, spans; name another key with --read text=KEY",
        ),
        (["--tokens", "0"], 2, "--tokens is not for annotated texts"),
        (["-p", "align=bad"], 2, "The 'align' parameter of SpanTagger must be"),
        (["--repair"], 2, "--repair is for taggers with"),
    ):
        found = run(capsys, "train", "train.jsonl", "-m", "none", *more)
        assert found[0] == code and message in found[2]
        assert not (folder / "none").exists()
    (folder / "bad.jsonl").write_text(
        '{"text": "Ann", "spans": [[0, 3, "A"], [1, 3, "B"]]}\n'
    )
    code, _, err = run(capsys, "train", "bad.jsonl", "-m", "none")
    assert (
        code == 1
        and "bad.jsonl, line 1: y: sequence 0, position 1: (1, 3, 'B') overlaps" in err
    )
    (folder / "empty").mkdir()
    assert (
        "no file NAME.ann in the folder"
        in run(capsys, "train", "empty", "-m", "none")[2]
    )
    (folder / "empty.jsonl").write_text("")
    assert (
        "the file has no annotated text"
        in run(capsys, "train", "empty.jsonl", "-m", "none")[2]
    )
    (folder / "a.txt").write_text("a N\nb N\n")
    assert (
        "--read is for annotated texts"
        in run(capsys, "train", "a.txt", "-m", "none", "--read", "text=a")[2]
    )


# --------------------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------------------
def spans_of(*texts):
    return skstruct.load("ner").predict(list(texts))


def test_a_file_is_a_text(capsys):
    code, out, _ = run(capsys, "tag", "letter.txt", "--model", "ner")
    (spans,) = spans_of(LETTER)
    rows = [{**span._asdict(), "text": LETTER[span.start : span.end]} for span in spans]
    assert code == 0 and json.loads(out) == {"text": LETTER, "spans": rows}


def test_annotations_do_not_matter_to_tag(folder, capsys):
    """Those of a task of Label Studio, say: two labels on a span, two annotators, spans of a page."""
    two = {"type": "labels", "value": {"start": 0, "end": 3, "labels": ["A", "B"]}}
    other = {"type": "hypertextlabels", "value": {"start": "/p[1]"}}
    tasks = [
        {"id": 7, "data": {"text": "Ann"}, "annotations": [{"result": [two]}]},
        {
            "id": 8,
            "data": {"text": "Bo"},
            "annotations": [{"completed_by": k, "result": [other]} for k in (1, 2)],
        },
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    code, out, _ = run(capsys, "tag", "tasks.json", "-m", "ner")
    found = [json.loads(row) for row in out.splitlines()]
    assert code == 0 and [(row["text"], row["id"]) for row in found] == [
        ("Ann", 7),
        ("Bo", 8),
    ]
    for wrong, message in (
        ("format=foo", "--read: format must be one of 'auto'"),
        ("text=[1]", "--read: text must be a str"),
        ("offsets=utf-16", "--read offsets: the annotations are ignored"),
        ("annotator=ann", "--read annotator: the annotations are ignored"),
        ("discontinuous=cover", "--read discontinuous: the annotations are ignored"),
    ):
        code, _, err = run(capsys, "tag", "tasks.json", "-m", "ner", "--read", wrong)
        assert code == 2 and message in err


def test_a_line_is_a_text(capsys):
    code, out, _ = run(
        capsys, "tag", "letter.txt", "-m", "ner", "--lines", "--batch", 1
    )
    lines = LETTER.split("\r\n")[:-1]
    assert code == 0 and [json.loads(row)["text"] for row in out.splitlines()] == lines
    assert read_spans(io.StringIO(out), offsets="characters") == (
        lines,
        spans_of(*lines),
    )


def test_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(LETTER.encode()), "utf-8")
    )
    assert (
        run(capsys, "tag", "-m", "ner")[1]
        == run(capsys, "tag", "letter.txt", "-m", "ner")[1]
    )


def test_records_come_back_with_spans(folder, capsys):
    code, out, _ = run(capsys, "tag", "test.jsonl", "-m", "ner", "--batch", 3)
    X, _ = read_spans("test.jsonl")
    assert code == 0
    assert read_spans(io.StringIO(out), return_metadata=True) == (
        X,
        spans_of(*X),
        [{"id": k} for k in range(10)],
    )
    (folder / "new.jsonl").write_text(
        '{"body": "Maria is in Berlin."}\n'
    )  # nobody has annotated it
    code, out, _ = run(capsys, "tag", "new.jsonl", "-m", "ner", "--read", "text=body")
    assert read_spans(io.StringIO(out)) == (
        ["Maria is in Berlin."],
        spans_of("Maria is in Berlin."),
    )
    row = '{"text": "Maria", "labels": [{"start_offset": 0, "end_offset": 5, "label": %d, "user": %d}]}\n'
    (folder / "new.jsonl").write_text(
        row % (2, 1) + row % (5, 3)
    )  # labels without names, of two people
    code, out, _ = run(capsys, "tag", "new.jsonl", "-m", "ner")
    assert (
        code == 0
        and [json.loads(line)["text"] for line in out.splitlines()] == ["Maria"] * 2
    )


@pytest.mark.parametrize(
    "format", ["doccano", "prodigy", "label-studio", "spacy", "brat"]
)
def test_formats(format, folder, capsys):
    target = folder / f"as-{format}"
    code, out, _ = run(
        capsys,
        "tag",
        "letter.txt",
        "-m",
        "ner",
        "--lines",
        "--write",
        format,
        "-o",
        target,
    )
    lines = LETTER.split("\r\n")[:-1]
    offsets = "auto" if format in ("label-studio", "brat") else "characters"
    assert code == 0 and read_spans(target, format, offsets=offsets) == (
        lines,
        spans_of(*lines),
    )


def test_xml_and_html(folder, capsys):
    code, out, _ = run(capsys, "tag", "letter.txt", "-m", "ner", "--write", "xml")
    (spans,) = spans_of(LETTER)
    expected = LETTER.replace("&", "&amp;")
    for word, label in {(LETTER[span.start : span.end], span.label) for span in spans}:
        expected = expected.replace(word, f"<{label}>{word}</{label}>")
    assert code == 0 and out == expected
    code, out, _ = run(capsys, "tag", "letter.txt", "-m", "ner", "--write", "html")
    assert code == 0 and out.startswith("<!DOCTYPE html>") and out.count("LOC") >= 1
    tagger = SpanTagger().fit(["Ann Lee"], [[(0, 3, "first name")]])
    tagger.save(folder / "names")
    (folder / "ann.txt").write_text("Ann")
    assert (
        run(capsys, "tag", "ann.txt", "-m", "names", "--write", "xml")[1]
        == '<span label="first name">Ann</span>\n'
    )
    (folder / "odd.jsonl").write_text(json.dumps({"text": "a\x0c\ud83d Ann"}) + "\n")
    code, out, err = run(capsys, "tag", "odd.jsonl", "-m", "names", "--write", "xml")
    assert code == 0 and re.sub("<[^>]*>", "", out) == "a\ufffd\ufffd Ann\n"
    assert "XML has no place for '\\x0c', which is written as U+FFFD" in err


def test_probabilities(capsys):
    assert (
        run(capsys, "train", "train.jsonl", "-m", "sure", "--calibrate", "--epochs", 2)[
            0
        ]
        == 0
    )
    code, out, _ = run(capsys, "tag", "test.jsonl", "-m", "sure", "--proba")
    X, _ = read_spans("test.jsonl")
    model = skstruct.load("sure")
    expected = [[p for _, p in found] for found in model.predict_segment_proba(X)]
    assert code == 0
    assert [
        [s["probability"] for s in json.loads(row)["spans"]] for row in out.splitlines()
    ] == expected
    out = run(
        capsys, "tag", "test.jsonl", "-m", "sure", "--proba", "--write", "label-studio"
    )[1]
    assert [
        [r["score"] for r in t["predictions"][0]["result"]] for t in json.loads(out)
    ] == expected
    out = run(capsys, "tag", "test.jsonl", "-m", "sure", "--proba", "--write", "xml")[1]
    assert f'probability="{next(p for each in expected for p in each):.6f}"' in out


def test_what_tag_refuses(folder, capsys):
    for arguments, message in (
        (
            ["--kbest", 2],
            "--kbest is not for models that mark spans of texts; in Python predict_kbest gives",
        ),
        (["--separator", ","], "--separator is not for models"),
        (["--tag-separator", "/"], "--tag-separator is not for models"),
        (["--read", "text=body"], "--read is for annotated texts"),
        (
            ["--proba"],
            "--proba: StructuredPerceptron has no probabilities; L1CRF has, and CalibratedTagger",
        ),
        (
            ["--proba", "--write", "html"],
            "only xml, jsonl, label-studio have a place for probabilities",
        ),
        (["--write", "brat"], "--write brat needs --output, a folder"),
    ):
        code, _, err = run(capsys, "tag", "letter.txt", "-m", "ner", *arguments)
        assert code == 2 and message in err
    StructuredPerceptron(random_state=0).fit([["a"]], [["N"]]).save(folder / "tagger")
    for more in (["--lines"], ["--write", "xml"], ["--tag-separator", "_"]):
        code, _, err = run(capsys, "tag", "letter.txt", "-m", "tagger", *more)
        assert code == 2 and f"{more[0]} is not for models that label tokens" in err
    code, _, err = run(capsys, "tag", "test.jsonl", "-m", "tagger")
    assert (
        code == 1
        and "the model is a tagger and reads columns or CoNLL-U, not annotated texts"
        in err
    )


# --------------------------------------------------------------------------------------------------
# evaluate, show
# --------------------------------------------------------------------------------------------------
def test_evaluate(capsys):
    X, y = read_spans("test.jsonl")
    model = skstruct.load("ner")
    code, out, _ = run(capsys, "evaluate", "test.jsonl", "--model", "ner", "--json")
    scores = json.loads(out)
    assert code == 0 and scores["texts"] == 10 and scores["spans"] == sum(map(len, y))
    assert scores["segments"]["micro avg"]["f1"] == model.score(X, y)
    assert "micro avg" in run(capsys, "evaluate", "test.jsonl", "-m", "ner")[1]

    write_spans("pred.json", X, model.predict(X), "label-studio")
    code, out, _ = run(
        capsys, "evaluate", "--gold", "test.jsonl", "--pred", "pred.json", "--json"
    )
    assert code == 0 and json.loads(out) == scores
    write_spans("pred.json", [*X[:9], "other"], [*model.predict(X)[:9], []], "spacy")
    code, _, err = run(
        capsys, "evaluate", "--gold", "test.jsonl", "--pred", "pred.json"
    )
    assert (
        code == 1
        and "test.jsonl, line 10 and pred.json, record 9: the texts differ" in err
    )

    with open("tokens.txt", "w") as file:
        file.write("Ann B-PER\nmet O\nBob B-PER\n. O\n\n" * 20)
    with open("words.conllu", "w") as file:
        file.write("1\tAnn\t_\t_\tN\t_\t0\troot\t_\t_\n\n")
    open("empty.txt", "w").close()
    for arguments, code, message in (
        (["letter.txt", "-m", "ner"], 1, "reads annotated texts, not plain text"),
        (["tokens.txt", "-m", "ner"], 1, "reads annotated texts, not columns"),
        (["words.conllu", "-m", "ner"], 1, "reads annotated texts, not CoNLL-U"),
        (["empty.txt", "-m", "ner"], 1, "empty.txt: the file is empty"),
        (["ner"], 1, "ner: this is a model, but a file of texts was expected"),
        (
            ["test.jsonl", "-m", "ner", "--strict", "--scheme", "BIO"],
            2,
            "--scheme and --strict are for labels",
        ),
        (
            ["test.jsonl", "-m", "ner", "--vocabulary", "letter.txt"],
            2,
            "--vocabulary is for segmented text",
        ),
        (["test.jsonl"], 2, "without --model and --gold, FILE must be columns"),
    ):
        found = run(capsys, "evaluate", *arguments)
        assert found[0] == code and message in found[2]


def test_show(capsys):
    code, out, _ = run(capsys, "show", "ner")
    assert (
        code == 0
        and "SpanTagger" in out
        and "tokenizer='words'" in out
        and "78 spans" in out
    )
    code, out, _ = run(capsys, "show", "ner", "--explain", "Maria lives in Berlin.")
    assert code == 0 and "'Berlin'" in out and "-> S-LOC" in out
    code, out, _ = run(capsys, "show", "ner", "--explain", "Maria.", "--json")
    assert code == 0 and len(json.loads(out)["tokens"]) == 2
