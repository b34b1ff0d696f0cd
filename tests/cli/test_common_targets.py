"""Where results go: what can be wrong with a target is said before any work.

Of the kind: all commands that write (train, tag, tag to a folder of brat, report,
check, select, convert, serve --collect, demo --files). What only the work can tell is
not of it, as a disk that becomes full.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_cases import run
from forked import python

import skstruct
from skstruct import SpanTagger, StructuredPerceptron
from skstruct.cli import COMMANDS
from skstruct.datasets import load_chunking, load_entities, read_spans, write_spans
from skstruct.serving import label_studio

X, y = (part[:30] for part in load_chunking())


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A corpus of columns, one of texts, a model for each, none of which is changed."""
    root = tmp_path_factory.mktemp("targets")
    rows = ["".join(f"{w} {p} {c}\n" for (w, p), c in zip(*pair)) for pair in zip(X, y)]
    (root / "train.txt").write_text("\n".join(rows), encoding="utf-8")
    StructuredPerceptron(max_iter=1, random_state=0).fit(X, y).save(root / "chunk")
    texts, spans = skstruct.datasets.columns_to_spans(*load_entities())
    write_spans(root / "notes.jsonl", texts[:9], spans[:9])
    tagger = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    tagger.fit(texts[:30], spans[:30]).save(root / "ner")
    return root


WRITING = {
    "train": ["train", "{train.txt}", "-m", "OUT", "--epochs", 1],
    "tag": ["tag", "{train.txt}", "-m", "{chunk}", "-o", "OUT"],
    "tag of texts": ["tag", "{notes.jsonl}", "-m", "{ner}", "-o", "OUT"],
    "tag --write html": [
        "tag",
        "{notes.jsonl}",
        "-m",
        "{ner}",
        "--write",
        "html",
        "-o",
        "OUT",
    ],
    "report": ["report", "{train.txt}", "-m", "{chunk}", "-o", "OUT"],
    "check": ["check", "{train.txt}", "-a", "perceptron", "-o", "OUT"],
    "check --write": ["check", "{notes.jsonl}", "--write", "jsonl", "-o", "OUT"],
    "select": [
        "select",
        "{train.txt}",
        "-m",
        "{chunk}",
        "--strategy",
        "margin",
        "-o",
        "OUT",
    ],
    "convert": ["convert", "{chunk}", "OUT", "--to", "skstruct"],
    "serve": ["serve", "{ner}", "--label-studio", "--port", 0, "--collect", "OUT"],
}
"""By a name: arguments, of which OUT is written."""

NO_FILE = {"evaluate", "show", "compare", "compile", "demo"}
"""Commands that write no file that an option names; demo has a test of its own."""


def arguments_of(name, root, out):
    given = [root / a[1:-1] if str(a).startswith("{") else a for a in WRITING[name]]
    return [str(out) if a == "OUT" else a for a in given]


def test_all_commands_are_here():
    assert {each[0] for each in WRITING.values()} | NO_FILE == set(COMMANDS)


@pytest.fixture
def work(monkeypatch):
    """A list that grows when something is learned, predicted, loaded or converted."""
    done = []
    classes = StructuredPerceptron, SpanTagger, skstruct.L1CRF
    for kind in classes:
        for method in "fit", "predict":
            monkeypatch.setattr(kind, method, lambda *_, **__: done.append(1))
    monkeypatch.setattr(StructuredPerceptron, "save", lambda *_, **__: done.append(1))
    monkeypatch.setattr(label_studio, "Versions", lambda *_, **__: done.append(1))
    return done


def missing_folder(folder):
    return folder / "none" / "out"


def folder_in_its_place(folder):
    (folder / "out").mkdir()
    return folder / "out"


def file_for_a_folder(folder):
    (folder / "file").touch()
    return folder / "file" / "out"


def read_only_folder(folder):
    (folder / "closed").mkdir(mode=0o555)
    return folder / "closed" / "out"


def read_only_file(folder):
    (folder / "out").touch(mode=0o444)
    return folder / "out"


TARGETS = {
    missing_folder: "folder does not exist",
    folder_in_its_place: "is not a regular file",
    file_for_a_folder: "folder does not exist",
    read_only_folder: "no permission",
    read_only_file: "no permission",
    lambda folder: f"{folder}/o\0t": "has a NUL character",
    lambda folder: "": "is empty",
    lambda folder: f"{folder}/out/": "the name of a folder",
    lambda folder: folder / ("x" * 300): "File name too long",
}


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("target", TARGETS, ids=lambda f: getattr(f, "__name__", ""))
def test_targets_that_cannot_be_written_cost_no_work(
    name, target, corpora, work, tmp_path, capsys
):
    if target in (read_only_file, read_only_folder) and os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    out = target(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    code, printed, err = run(capsys, *arguments_of(name, corpora, out))
    assert (code, printed, work) == (1, "", []), err
    assert TARGETS[target] in err and err.count("skstruct: error:") == 1
    shown = repr(str(out)) if "\0" in str(out) or not str(out) else str(out)
    assert err.splitlines()[-1].startswith(f"skstruct: error: {shown}")
    assert sorted(tmp_path.rglob("*")) == before


def test_modes_are_looked_at(corpora, work, tmp_path, capsys, monkeypatch):
    """Of root, too, whose files a test cannot close."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    (tmp_path / "out").touch()
    for name in WRITING:
        code, _, err = run(capsys, *arguments_of(name, corpora, tmp_path / "out"))
        assert code == 1 and "no permission to write to it" in err and work == []
        code, _, err = run(capsys, *arguments_of(name, corpora, tmp_path / "new"))
        assert (
            code == 1 and "no permission to write into the folder" in err and work == []
        )


@pytest.mark.parametrize("name", [n for n in WRITING if n != "convert"])
def test_what_is_read_is_not_written_over(name, corpora, work, capsys):
    """Each file that a command reads, the model too."""
    given = arguments_of(name, corpora, "OUT")
    for path in [a for a in given if isinstance(a, Path)]:
        before = path.read_bytes()
        code, _, err = run(capsys, *(path if a == "OUT" else a for a in given))
        assert code == 1 and f"{path}: would be replaced" in err and work == []
        assert path.read_bytes() == before


def test_files_of_the_demo(tmp_path, capsys):
    (tmp_path / "test.txt").mkdir()
    for folder, message in (
        (tmp_path, "is not a regular file"), (tmp_path / "none", "folder does not exist"),
        (f"{tmp_path}/a\0b", "has a NUL character"),
    ):  # fmt: skip
        code, _, err = run(capsys, "demo", "--files", folder)
        assert code == 1 and message in err
    assert [path.name for path in tmp_path.iterdir()] == ["test.txt"]


# -- folders of brat -------------------------------------------------------------------
TEXTS, SPANS = ["Ann met Bob Lee."], [[(0, 3, "Given name"), (8, 15, "Full  name")]]


@pytest.fixture
def spaced(tmp_path):
    model = SpanTagger(StructuredPerceptron(max_iter=5, random_state=0)).fit(
        TEXTS, SPANS
    )
    model.save(tmp_path / "spaced")
    (tmp_path / "letter.txt").write_text(TEXTS[0])
    return [
        "tag",
        tmp_path / "letter.txt",
        "-m",
        tmp_path / "spaced",
        "--write",
        "brat",
    ]


def test_labels_with_white_space(spaced, tmp_path, capsys, monkeypatch):
    out = tmp_path / "brat"
    with monkeypatch.context() as patch:
        patch.setattr(SpanTagger, "predict", None)
        code, _, err = run(capsys, *spaced, "-o", out)
        assert code == 1 and not out.exists()
        assert "has 'Full  name'; --label-space _ writes Full_name" in err
        for wrong in "", " ", "a b":
            assert run(capsys, *spaced, "-o", out, "--label-space", wrong)[0] == 2
        assert run(capsys, *spaced[:4], "--label-space", "_")[0] == 2  # for brat alone
    assert run(capsys, *spaced, "-o", out, "--label-space", "_")[0] == 0
    named = [
        [span[:2] + (" ".join(span[2].split()).replace(" ", "_"),) for span in SPANS[0]]
    ]
    assert read_spans(out) == (TEXTS, named)


def test_labels_that_would_be_one(tmp_path, capsys):
    spans = [[(0, 3, "a b"), (8, 15, "a_b")]]
    model = SpanTagger(StructuredPerceptron(max_iter=1)).fit(TEXTS, spans)
    model.save(tmp_path / "m")
    (tmp_path / "t.txt").write_text(TEXTS[0])
    given = [
        "tag",
        tmp_path / "t.txt",
        "-m",
        tmp_path / "m",
        "--write",
        "brat",
        "-o",
        tmp_path / "o",
    ]
    code, _, err = run(capsys, *given, "--label-space", "_")
    assert code == 1 and "'a b' and 'a_b' would both be 'a_b'" in err
    assert run(capsys, *given, "--label-space", "-")[0] == 0


def test_labels_in_python_say_what_to_write(tmp_path):
    with pytest.raises(
        ValueError, match="brat has no label 'Given name'.*; 'Given_name' is one"
    ):
        write_spans(tmp_path / "out", TEXTS, SPANS, "brat")


@pytest.mark.parametrize(
    "names, message",
    [
        (["../a"], "line 1: metadata: sequence 0: expected the name of a file within"),
        (["b", "a\0b"], "line 2: metadata: sequence 1: expected the name of a file"),
        (["a", "./a"], "line 2: metadata: sequence 1: there is a text 'a' already"),
        (["x" * 300], "File name too long"),
        (["taken"], "taken.ann: is there already"),
        (["folder"], "folder.txt: is not a regular file"),
    ],
)
def test_files_of_brat_are_checked_before_predicting(
    names, message, corpora, tmp_path, capsys, monkeypatch
):
    out, notes = tmp_path / "brat", tmp_path / "in.jsonl"
    (out / "folder.txt").mkdir(parents=True)
    (out / "taken.ann").write_text("T1\tPER 0 3\tAnn\n")
    X = ["Ann"] * len(names)
    write_spans(
        notes, X, [[]] * len(names), metadata=[{"name": name} for name in names]
    )
    monkeypatch.setattr(SpanTagger, "predict", None)
    before = sorted(out.iterdir())
    given = ["tag", notes, "-m", corpora / "ner", "--write", "brat", "-o", out]
    code, _, err = run(capsys, *given)
    assert code == 1 and message in err, err
    assert sorted(out.iterdir()) == before


# -- pipes, devices and open files -----------------------------------------------------
posix = pytest.mark.skipif(os.name != "posix", reason="has no such files")


def piped(command, folder, more=""):
    """A command in a shell that knows ``>(...)``."""
    if not os.path.exists("/bin/bash"):
        pytest.skip("there is no bash")
    line = " ".join(
        f"'{a}'" if a != "OUT" else f">(cat > '{folder}/out'){more}" for a in command
    )
    environ = {**os.environ, "PYTHONPATH": os.getcwd()}
    script = f"{line}; code=$?; sleep 0.3; exit $code"
    return subprocess.run(
        ["bash", "-c", script], env=environ, capture_output=True, text=True
    )


@posix
def test_the_output_of_a_shell_to_another_program(corpora, tmp_path, capsys):
    arguments = map(str, arguments_of("tag", corpora, "OUT"))
    given = [sys.executable, "-m", "skstruct", *arguments]
    done = piped(given, tmp_path)
    assert done.returncode == 0, done.stderr
    expected = run(capsys, "tag", corpora / "train.txt", "-m", corpora / "chunk")[1]
    assert (tmp_path / "out").read_text() == expected != ""


@posix
@pytest.mark.parametrize("name", [n for n in WRITING if n not in ("train", "serve")])
def test_named_pipes(name, corpora, tmp_path, capsys):
    """Every command writes into one what it writes into a file, and leaves it there."""
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    code, _, err = run(capsys, *arguments_of(name, corpora, pipe))
    assert code == 0, err
    reader.join()
    assert run(capsys, *arguments_of(name, corpora, tmp_path / "file"))[0] == 0
    if name != "report":  # which has the time in it
        assert found == [(tmp_path / "file").read_bytes()]
    assert found[0] and pipe.is_fifo()


@posix
@pytest.mark.parametrize(
    "path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"]
)
def test_an_open_file_is_gone_on_with(path, corpora, tmp_path):
    """What was in it stays, as with output that a shell appends to a file."""
    if path.startswith("/proc") and not os.path.exists(path):
        pytest.skip("there is no /proc")
    os.symlink("/dev/stdout", tmp_path / "link")
    path = tmp_path / path  # an absolute one is itself
    with open(tmp_path / "log", "a") as log:
        log.write("before\n")
        log.flush()
        inode = os.fstat(log.fileno()).st_ino
        given = arguments_of("tag", corpora, path)
        done = subprocess.run(
            [*python(), "-m", "skstruct", *map(str, given)],
            stdout=log,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "log").read_text().splitlines()
    assert (
        lines[0] == "before"
        and len(lines) > 100
        and os.stat(tmp_path / "log").st_ino == inode
    )


@posix
@pytest.mark.parametrize("name", ["train", "serve"])
def test_what_must_be_a_regular_file(name, corpora, work, tmp_path, capsys):
    """A model, which may take hours, and a collection, which is read again."""
    os.mkfifo(tmp_path / "pipe")
    for out in "/dev/null", "/dev/stdout", tmp_path / "pipe":
        code, _, err = run(capsys, *arguments_of(name, corpora, out))
        assert code == 1 and "regular file" in err and work == []


@posix
def test_a_file_that_is_not_open(corpora, work, capsys):
    code, _, err = run(capsys, *arguments_of("tag", corpora, "/dev/fd/987"))
    assert code == 1 and "error: /dev/fd/987: Bad file descriptor" in err and work == []


def test_results_are_not_written_as_if_they_were_compressed(corpora, tmp_path, capsys):
    out = tmp_path / "tagged.txt.gz"
    args = "tag", corpora / "train.txt", "-m", corpora / "chunk", "-o", out
    code, _, err = run(capsys, *args)
    assert code == 1 and "results are not compressed" in err and not out.exists()
