"""skstruct evaluate and show on files; pipes and exit codes."""

import errno
import json
import os
import re
import subprocess
import sys

import pytest
from cli_cases import N_TRAIN, run, run_train, without_notice
from forked import python
from format_samples import sample

import skstruct
from skstruct import cli
from skstruct.cli import common, corpus
from skstruct.datasets import load_chunking, load_segmentation
from skstruct.datasets.formats.source import Source
from skstruct.datasets.formats.table import BY_NAME
from skstruct.metrics import segment_f1_score, token_accuracy_score, word_f1_score


# --------------------------------------------------------------------------------------
# evaluate
# --------------------------------------------------------------------------------------
def test_evaluate_in_all_three_ways(folder, capsys, stdin, tmp_path):
    X, y = load_chunking()
    predicted = skstruct.load(folder / "chunk").predict(X[N_TRAIN:])
    code, out, _ = run(
        capsys, "evaluate", folder / "test.txt", "-m", folder / "chunk", "--json"
    )
    scores = json.loads(out)
    assert code == 0
    assert scores["token_accuracy"] == token_accuracy_score(y[N_TRAIN:], predicted)
    assert scores["segments"]["micro avg"]["f1"] == segment_f1_score(
        y[N_TRAIN:], predicted
    )
    _, tagged, _ = run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk")
    (tmp_path / "pred.txt").write_text(tagged, encoding="utf-8")
    code, out, _ = run(
        capsys,
        "evaluate",
        "--gold",
        folder / "test.txt",
        "--pred",
        tmp_path / "pred.txt",
        "--json",
    )
    assert (code, json.loads(out)) == (0, scores)
    stdin(tagged)
    assert run(capsys, "evaluate", "--json")[:2] == (0, out)
    stdin(tagged)
    code, out, _ = run(capsys, "evaluate")
    f1 = scores["segments"]["micro avg"]["f1"]
    assert re.search(rf"^micro avg .* {f1:.4f} ", out, re.M)
    assert re.search(r"^token accuracy +0\.9", out, re.M)


def test_evaluate_partial(folder, capsys):
    code, out, _ = run(
        capsys, "evaluate", folder / "test.txt", "-m", folder / "chunk", "--partial"
    )
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert code == 0 and lines["strict"][3] == lines["f1"][1]
    assert float(lines["strict"][3]) < float(lines["type"][3])
    by_type = {line[:10].strip(): line.split() for line in out.splitlines()}
    assert by_type["NP, strict"][4] == by_type["NP"][3]
    code, _, said = run(
        capsys, "evaluate", folder / "test.seg", "-m", folder / "seg", "--partial"
    )
    assert code != 0 and "--partial is for segments of labels, and for spans" in said


def test_evaluate_segmentation(folder, capsys, tmp_path):
    texts, words = load_segmentation()
    arguments = "evaluate", folder / "test.seg", "-m", folder / "seg", "--json"
    code, out, _ = run(capsys, *arguments, "--vocabulary", folder / "train.seg")
    scores = json.loads(out)
    predicted = skstruct.load(folder / "seg").predict(texts[N_TRAIN:])
    assert code == 0 and scores["f1"] == word_f1_score(words[N_TRAIN:], predicted)
    assert 0 < scores["oov_recall"] < scores["iv_recall"] <= 1
    code, out, _ = run(capsys, *arguments)
    assert "oov_recall" not in json.loads(out)
    (tmp_path / "pred.seg").write_text(
        "".join(" ".join(w) + "\n" for w in predicted), encoding="utf-8"
    )
    code, out, _ = run(
        capsys,
        "evaluate",
        "--gold",
        folder / "test.seg",
        "--pred",
        tmp_path / "pred.seg",
        "--json",
    )
    assert code == 0 and json.loads(out)["f1"] == scores["f1"]


def test_evaluate_says_which_labels_the_model_does_not_know(folder, capsys, stdin):
    stdin("the DT B-NP\ndog NN B-DOG\ncat NN B-CAT\n\ndog NN B-DOG\n\n")
    code, out, err = run(capsys, "evaluate", "-m", folder / "chunk", "--json")
    assert code == 0 and json.loads(out)["token_accuracy"] <= 0.25
    assert "skstruct: warning: <stdin>: 2 labels unknown to the model; 3 tokens" in err
    assert "B-DOG (2), B-CAT (1)" in err
    stdin("the DT X\n")
    code, out, err = run(capsys, "evaluate", "-m", folder / "chunk", "--json")
    assert code == 0 and json.loads(out)["token_accuracy"] == 0.0
    assert "no label is known to the model; 1 token with these labels" in err


def test_evaluate_schemes(capsys, stdin):
    text = "a I-X B-X\nb O O\n"
    for options, f1 in (
        ([], 1.0),
        (["--scheme", "BIO", "--strict"], 0.0),
        (["--scheme", "none"], None),
    ):
        stdin(text)
        code, out, _ = run(capsys, "evaluate", "--json", *options)
        segments = json.loads(out)["segments"]
        assert code == 0 and (segments and segments["micro avg"]["f1"]) == f1
    stdin("a NN NN\nb VB NN\n")
    code, _, err = run(capsys, "evaluate", "--scheme", "BIO", "--strict")
    assert code == 1 and "label 'NN' does not belong" in err
    stdin("a NN X\n")
    assert "no label in common" in run(capsys, "evaluate")[2]


def test_evaluate_files_that_differ(capsys, tmp_path):
    gold, pred = tmp_path / "gold.txt", tmp_path / "pred.txt"
    gold.write_text("a X\n\nb X\nc X\n")
    for text, message in (
        ("a X\n", "must hold the same sentences: found 2 and 1"),
        (
            "a X\n\nb X\nd X\n",
            f"{gold}, line 4, and {pred}, line 4: the sentences differ",
        ),
        ("a X\n\nb X\n", f"{gold}, line 3, and {pred}, line 3: the sentences differ"),
    ):
        pred.write_text(text)
        options = "--gold", gold, "--pred", pred, "--format", "columns"
        code, out, err = run(capsys, "evaluate", *options)
        assert (code, out) == (1, "") and message in err


@pytest.mark.parametrize(
    "options, message",
    [
        (["--gold", "a"], "need each other"),
        (["--gold", "a", "--pred", "b", "-m", "c"], "exclude"),
        (["--gold", "-", "--pred", "-"], "standard input"),
        (["--strict"], "--strict needs a --scheme"),
        (["--scheme", "ABC"], "invalid choice"),
    ],
)
def test_evaluate_wrong_usage(capsys, options, message):
    code, out, err = run(capsys, "evaluate", *options)
    assert (code, out) == (2, "") and message in err


def test_evaluate_refuses_options_that_nothing_reads(folder, models, capsys):
    for what, given in (
        ("words", (folder / "test.seg", "-m", folder / "seg")),
        ("trees", (models / "pairs", "-m", models / "parser")),
    ):
        for options in (["--scheme", "BIO"], ["--scheme", "BIO", "--strict"]):
            code, out, err = run(capsys, "evaluate", *given, *options)
            assert (code, out) == (2, "")
            assert f"--scheme and --strict are for labels, not for {what}" in err


def test_the_tokens_of_two_files_are_compared_where_an_option_says(tmp_path, capsys):
    """The label may stand before the word."""
    gold, pred = tmp_path / "gold.txt", tmp_path / "pred.txt"
    gold.write_text("B-X\tAnn\nO\tran\n\nO\tNobody\nO\tcame\n\n")
    pred.write_text("B-X\tAnn\tB-X\nO\tran\tO\n\nO\tNobody\tB-X\nO\tcame\tO\n\n")
    both = "--gold", gold, "--pred", pred, "--label", 0
    code, _, err = run(capsys, "evaluate", *both)
    assert code == 1 and "their tokens, ['Ann'] and ['B-X']; they are matched" in err
    code, out, _ = run(capsys, "evaluate", *both, "--tokens", 1, "--json")
    assert code == 0 and json.loads(out)["token_accuracy"] == 0.75


# --------------------------------------------------------------------------------------
# show
# --------------------------------------------------------------------------------------
def test_show(folder, capsys):
    code, out, _ = run(capsys, "show", "-m", folder / "chunk", "--top", 2)
    assert code == 0
    assert "StructuredPerceptron" in out and "max_iter=5" in out and " B-NP " in out
    assert re.search(r"^B-NP\n +\+\d+\.\d{3}  U", out, re.M) and "transitions" in out
    code, out, _ = run(
        capsys, "show", "-m", folder / "chunk", "--label", "B-NP", "--json"
    )
    about = json.loads(out)
    assert (
        code == 0 and list(about["top"]) == ["B-NP"] and len(about["top"]["B-NP"]) == 5
    )
    assert (
        about["epochs"] == 5
        and about["n_features"] == skstruct.load(folder / "chunk").n_features()
    )
    code, out, _ = run(capsys, "show", "-m", folder / "seg")
    assert code == 0 and "scheme='BMES'" in out and "words without tags" in out
    code, _, err = run(capsys, "show", "-m", folder / "chunk", "--label", "B-DOG")
    assert code == 1 and "has no label 'B-DOG'; it has" in err


def test_show_explain(folder, capsys):
    code, out, _ = run(
        capsys, "show", "-m", folder / "chunk", "--explain", "the/DT dog/NN"
    )
    assert code == 0 and out.startswith("score ") and "('dog', 'NN') -> I-NP" in out
    code, out, _ = run(
        capsys, "show", "-m", folder / "chunk", "--explain", "1/2/CD", "--json"
    )
    assert code == 0 and json.loads(out)["tokens"][0]["token"] == ["1/2", "CD"]
    code, out, _ = run(capsys, "show", "-m", folder / "seg", "--explain", "他在 看书")
    assert code == 0 and "3 '书'" in out
    code, _, err = run(capsys, "show", "-m", folder / "chunk", "--explain", "dog")
    assert code == 1 and "2 columns of a token, separated by slashes" in err
    assert run(capsys, "show", "-m", folder / "chunk", "--explain", " ")[0] == 2


# --------------------------------------------------------------------------------------
# Pipes and exit codes
# --------------------------------------------------------------------------------------
def test_traceback_on_demand(tmp_path):
    with pytest.raises(FileNotFoundError):
        cli.main(["--traceback", "show", "-m", str(tmp_path / "nothing")])


def test_interrupt_is_no_error(folder, capsys, monkeypatch):
    def predict(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(skstruct.StructuredPerceptron, "predict", predict)
    code, _, err = run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk")
    assert code == cli.INTERRUPTED and err == "interrupted\n"


def test_every_format_is_guessed_or_asked_for(capsys, tmp_path):
    class Arguments:
        format = tokens = label = separator = comment = None
        read = ()

    for text, expected in (
        ("a X\nb Y\n", "columns"),
        ("我 喜欢 书\n他 来\n", "segmented"),
        (
            "a b X\nc d Y\n\ne f Z\ng h\n",
            "columns",
        ),  # with a mistake, which the reader names
        ("# text = a\n1\ta" + "\t_" * 8 + "\n", "conllu"),
    ):
        (tmp_path / "f.txt").write_text(text, encoding="utf-8")
        with Source(str(tmp_path / "f.txt")) as source:
            assert corpus.layout_of(Arguments, source).entry.name == expected
        assert f"read as {expected}" in capsys.readouterr().err
    for text in "a b c\n", "a b c\nd e\n":  # segmented text has other letters
        (tmp_path / "f.txt").write_text(text)
        with Source(str(tmp_path / "f.txt")) as source:
            with pytest.raises(common.CommandError, match="cannot tell .* --format"):
                corpus.layout_of(Arguments, source)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of Unix")
def test_a_pipeline(folder):
    """As in a shell: standard input to output, UTF-8 in any locale, a reader that
    leaves early.
    """
    program = " ".join(f"'{word}'" for word in [*python(), "-m", "skstruct"])
    model = folder / "seg"
    script = (
        f"set -o pipefail; cat '{folder / 'test.seg'}' | tr -d ' ' | {program} tag -m '{model}' > out && "
        f"{program} evaluate --gold '{folder / 'test.seg'}' --pred out --format segmented || exit 9; "
        f"yes 他在看书 | {program} tag -m '{model}' | head -n 3; echo ${{PIPESTATUS[1]}}"
    )
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
    }
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True, encoding="utf-8", env=environment, cwd=folder, timeout=300,
    )  # fmt: skip
    shown = done.stdout.splitlines()
    assert shown[0].startswith("sequences"), done.stderr
    assert (
        shown[-1] == str(cli.PIPE_CLOSED)
        and len(set(shown[-4:-1])) == 1
        and "书" in shown[-2]
    )
    assert without_notice(done.stderr) == ""


def test_closed_streams(folder, capsys, monkeypatch):
    arguments = ["tag", str(folder / "test.txt"), "-m", str(folder / "chunk")]
    monkeypatch.setattr(sys, "stdin", None)
    code, _, err = run(capsys, *arguments[:1], *arguments[2:])
    assert code == 1 and "there is no standard input" in err
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(arguments) == 1
    monkeypatch.undo()
    assert "there is no standard output" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(folder):
    command = [
        *python(),
        "-m",
        "skstruct",
        "tag",
        folder / "test.txt",
        "-m",
        folder / "chunk",
    ]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=300
        )
    assert done.returncode == 1
    assert (
        without_notice(done.stderr)
        == f"skstruct: error: <stdout>: {os.strerror(errno.ENOSPC)}\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "looks"),
    [
        ("a.conllu", "1\tAnn\t_\tN\tN\t_\t0\troot\t_\t_\n", "conllu"),
        ("a.jsonl", '{"tokens": ["a"], "tags": ["B"]}\n', "json-tokens"),
        ("a.txt", "the/D dog/N\na/D cat/N\n", "word-tag"),
    ],
)
def test_other_formats_are_not_columns(tmp_path, capsys, name, text, looks):
    """Two empty columns would agree in all."""
    (tmp_path / name).write_text(text)
    code, out, err = run(capsys, "evaluate", tmp_path / name)
    assert (code, out) == (2, "") and f"{name} looks like {looks}" in err


@pytest.mark.parametrize("kind", [ImportError, SystemError])
def test_an_interrupt_while_compiled_modules_are_imported(kind, capsys, monkeypatch):
    """They make another error of it."""

    def interrupted(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise kind("numpy.core.multiarray failed to import") from error

    monkeypatch.setattr(cli, "new_parser", interrupted)
    assert cli.main(["show", "-m", "m"]) == cli.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("option, value", [("--tokens", "-3,-2"), ("--label", "-1")])
def test_columns_may_be_counted_from_the_end(option, value, folder, capsys, tmp_path):
    """Also where the value stands alone, which a parser takes for an option."""
    scores = []
    for given in ([option, value], [f"{option}={value}"], []):
        model = ["-m", tmp_path / "m", "--epochs", 1, "--features", "word-tag"]
        code, _, err = run_train(capsys, folder / "test.txt", *model, *given)
        assert code == 0, err
        test = folder / "test.txt", "-m", tmp_path / "m"
        scores.append(run(capsys, "evaluate", *test, *given)[:2])
    assert scores[0][0] == 0 and scores[0] == scores[1] == scores[2]


def test_types_that_a_model_of_spans_does_not_know_are_named(tmp_path, capsys):
    """In evaluate and ``--dev``, as labels of tokens are."""
    texts = [f"{x} Lee ran to {y}" for x in ("Ann", "Bob") for y in ("Rome", "Oslo")]
    rows = [{"text": t, "spans": [[0, 7, "PER"]]} for t in texts]
    train, dev = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    train.write_text("\n".join(map(json.dumps, rows)))
    more = [{**row, "spans": [*row["spans"], [15, 19, "LOC"]]} for row in rows]
    dev.write_text("\n".join(map(json.dumps, more)))
    given = train, "-m", tmp_path / "m", "-a", "perceptron", "--dev", dev
    said = "b.jsonl: 1 label unknown to the model; 4 spans with these labels count as"
    _, _, err = run_train(capsys, *given)
    assert said in err
    _, out, err = run(capsys, "evaluate", dev, "-m", tmp_path / "m", "--json")
    assert said in err and "LOC (4)" in err and json.loads(out)["recall"] <= 0.5
    _, _, err = run(capsys, "evaluate", train, "-m", tmp_path / "m")
    assert "unknown" not in err


OWN_KEYS = {
    "text": ({"text": "body"}, ["text=body"]),
    "spans": ({"spans": "marks"}, ["spans=marks"]),
    "start": ({"start": "from"}, ["start=from"]),
    "end": ({"end": "to"}, ["end=to"]),
    "label": ({"label": "kind"}, ["label=kind"]),
    "records": ({}, ["records=documents"]),
    "nested text": ({"text": "body.raw"}, ["text=body.raw"]),
    "words": ({}, ["words=tokens"]),
    "annotator": ({}, ["annotator=ann"]),
}
"""What records call their parts, and the options that say it."""

SENTENCES = [
    ("Ann met Bo", [(0, 1, "PER"), (2, 3, "PER")]),
    ("Eve left Rome", [(0, 1, "PER"), (2, 3, "LOC")]),
    ("nobody came", []),
]


def own_records(case, names):
    """Records in the layout of a case; spans count characters, or words."""
    found = []
    for k, (text, spans) in enumerate(SENTENCES * 4):
        words = text.split()
        edges = [text.index(word) for word in words]
        record = {"text": f"{text}", "spans": []}
        for start, end, label in spans:
            a, b = edges[start], edges[start] + len(words[start])
            if case == "words":
                a, b = start, end
            span = {"start": a, "end": b, "label": label}
            record["spans"].append({names.get(n, n): v for n, v in span.items()})
        if case == "words":
            record["tokens"] = words
            del record["text"]
        if case == "annotator":
            record.update(answer="accept", _input_hash=k, _annotator_id="ann")
        if case == "nested text":
            record["body"] = {"raw": record.pop("text")}
            names = {}
        found.append({names.get(n, n): v for n, v in record.items()})
    return found


@pytest.mark.parametrize("case", OWN_KEYS)
def test_what_a_model_learned_of_own_keys_it_also_tags_and_evaluates(
    case, capsys, tmp_path, monkeypatch
):
    """Every command reads the file again, and what ``tag`` writes is compared with it."""
    monkeypatch.chdir(tmp_path)
    names, given = OWN_KEYS[case]
    records = own_records(case, names)
    text = "\n".join(map(json.dumps, records))
    if case == "records":
        text = json.dumps({"documents": records})
    (tmp_path / "own.json").write_text(text)
    options = [option for each in given for option in ("--read", each)]
    learn = "-a", "perceptron", "--epochs", 2
    code, _, err = run(capsys, "train", "own.json", "-m", "m", *learn, *options)
    assert code == 0, err
    for command in (
        ["tag", "own.json", "-m", "m", "-o", "pred.jsonl"],
        ["select", "own.json", "-m", "m", "-k", 2, "--strategy", "margin"],
        ["report", "own.json", "-m", "m", "-o", "r.html"],
        ["check", "own.json", *options, "--cv", 2],
    ):
        code, _, err = run(capsys, *command)
        assert code == 0, (command, err)
    code, of_model, err = run(capsys, "evaluate", "own.json", "-m", "m", "--json")
    assert code == 0, err
    files = "--gold", "own.json", "--pred", "pred.jsonl", "--json"
    code, of_files, err = run(capsys, "evaluate", *files, *options)
    assert code == 0, err
    assert json.loads(of_files) == json.loads(of_model)


CANNOT_BE_WRITTEN = {"webanno", "cupt"}


@pytest.mark.parametrize(
    "name",
    [name for name, entry in BY_NAME.items() if entry.kind in ("tokens", "texts")],
)
def test_what_tag_writes_is_compared_with_what_it_read(name, capsys, tmp_path):
    """In every format: the scores are those of the model."""
    path = sample(name)
    model, pred = tmp_path / "m", tmp_path / f"pred{path.suffix}"
    if BY_NAME[name].kind == "texts":
        pred = tmp_path / "pred.jsonl"
    named = ["--format", name]
    given = "-a", "perceptron", "--epochs", 2, "-p", "overlap=by-type"
    given = given if BY_NAME[name].kind == "texts" else given[:4]
    code, _, err = run(capsys, "train", path, "-m", model, *given, *named)
    assert code == 0, err
    code, _, err = run(capsys, "tag", path, "-m", model, "-o", pred)
    if name in CANNOT_BE_WRITTEN:
        assert code == 1 and f"cannot be written as {name}" in err
        return
    assert code == 0, err
    code, of_model, err = run(capsys, "evaluate", path, "-m", model, "--json")
    assert code == 0, err
    files = "--gold", path, "--pred", pred, "--json"
    code, of_files, err = run(capsys, "evaluate", *files)
    assert code == 0, err
    assert json.loads(of_files) == json.loads(of_model)
