"""An error of reading names the file that it is about, and no other one.

Of the kind: every file that a command reads (corpora, models, templates, lexicons,
dictionaries, raw text) times what can be wrong with a file, from a missing one to one
that breaks while it is read.
"""

import gzip
import os
import sys

import pytest
from cli_cases import run

from skstruct import Segmenter, SpanTagger, StructuredPerceptron, cli
from skstruct.cli import COMMANDS
from skstruct.datasets import (
    columns_to_spans,
    load_chunking,
    load_entities,
    load_segmentation,
    write_spans,
)

X, y = (part[:30] for part in load_chunking())


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("named")
    rows = ["".join(f"{w} {p} {c}\n" for (w, p), c in zip(*pair)) for pair in zip(X, y)]
    (root / "train.txt").write_text("\n".join(rows), encoding="utf-8")
    StructuredPerceptron(max_iter=1, random_state=0).fit(X, y).save(root / "chunk")
    texts, spans = columns_to_spans(*load_entities())
    write_spans(root / "notes.jsonl", texts[:9], spans[:9])
    tagger = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    tagger.fit(texts[:30], spans[:30]).save(root / "ner")
    texts, words = load_segmentation()
    Segmenter(StructuredPerceptron("char", max_iter=1)).fit(
        texts[:20], words[:20]
    ).save(root / "seg")
    (root / "train.seg").write_text(
        "".join(" ".join(w) + "\n" for w in words[:20]), encoding="utf-8"
    )
    return root


READING = {
    "train": "train BAD -m out --format columns",
    "train of texts": "train BAD -m out --format spans",
    "train, second file": "train {notes.jsonl} BAD -m out",
    "train --dev": "train {train.txt} -m out --dev BAD",
    "train --template": "train {train.txt} -m out --template BAD",
    "train --lexicon": "train {train.txt} -m out --features word --lexicon names=BAD",
    "train --text": "train {train.txt} -m out --text BAD",
    "train --stream": "train BAD -m out --format columns --stream 5",
    "tag": "tag BAD -m {chunk}",
    "tag -o": "tag BAD -m {chunk} -o out",
    "tag, second file": "tag {train.txt} BAD -m {chunk} -o out",
    "tag of texts": "tag BAD -m {ner}",
    "tag of annotated texts": "tag BAD -m {ner} --format spans -o out",
    "tag -m": "tag {train.txt} -m BAD",
    "tag --dictionary": "tag {train.seg} -m {seg} --dictionary BAD",
    "evaluate": "evaluate BAD -m {chunk}",
    "evaluate of texts": "evaluate BAD -m {ner}",
    "evaluate alone": "evaluate BAD",
    "evaluate -m": "evaluate {train.txt} -m BAD",
    "evaluate --gold": "evaluate --gold BAD --pred {train.txt} --format columns",
    "evaluate --pred": "evaluate --gold {train.txt} --pred BAD --format columns",
    "evaluate --vocabulary": "evaluate {train.seg} -m {seg} --vocabulary BAD",
    "report": "report BAD -m {chunk} -o out",
    "report -m": "report {train.txt} -m BAD -o out",
    "show": "show BAD",
    "check": "check BAD --format columns -a perceptron",
    "check of texts": "check BAD --format spans -a perceptron",
    "select": "select BAD -m {chunk} --strategy margin",
    "select of texts": "select BAD -m {ner} --strategy margin --format spans",
    "select -m": "select {train.txt} -m BAD",
    "serve": "serve BAD",
    "serve --label-studio": "serve BAD --label-studio",
    "convert": "convert BAD out --to skstruct",
    "convert --check": "convert {chunk} out.py --check BAD",
    "convert --check of texts": "convert {ner} out.py --check BAD",
}
"""By a name: the command with BAD for the file that something is wrong with."""

NO_INPUT = {"demo", "compile", "compare"}
"""Commands that read nothing, or (compare) need a package that may be absent."""


def missing(path):
    pass


def nul(path):
    return f"{path}\0"


def folder(path):
    path.mkdir()
    (path / "inside").touch()


def breaks(path):
    """A file whose reading fails, with an error that has no name."""
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("there is no such file")
    path.symlink_to("/proc/self/mem")


def closed(path):
    path.touch(mode=0o000)
    if os.geteuid() == 0:
        pytest.skip("root reads everything")


def cut_gzip(path):
    data = gzip.compress(b"the D\n" * 1000)
    path = path.with_suffix(".gz")
    path.write_bytes(data[: len(data) // 2])
    return path


def no_gzip(path):
    path = path.with_suffix(".gz")
    path.write_bytes(b"the D\n\n" * 10)
    return path


def bytes_(path):
    path.write_bytes(b"a\xff\xfe\x00b D\n\xff\xff\n")


WRONG = {missing, nul, folder, breaks, closed, cut_gzip, no_gzip, bytes_}


def test_all_commands_are_here():
    assert {each.split()[0] for each in READING.values()} | NO_INPUT == set(COMMANDS)


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("wrong", sorted(WRONG, key=lambda f: f.__name__))
def test_the_file_is_named(name, wrong, root, tmp_path, capsys, monkeypatch):
    if wrong is folder and name == "evaluate alone":
        pytest.skip("a folder of brat is wrong usage")
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad"
    bad = wrong(bad) or bad
    words = READING[name].split()
    given = [
        root / w[1:-1] if w.startswith("{") else w.replace("BAD", str(bad))
        for w in words
    ]
    before = sorted(tmp_path.iterdir())
    code, _, err = run(capsys, *given)
    assert code == 1 and "Traceback" not in err
    last = err.splitlines()[-1]
    shown = repr(str(bad)) if "\0" in str(bad) else str(bad)
    assert last.startswith(
        (f"skstruct: error: {shown}", f"skstruct: error: {str(bad)!r}")
    ), err
    others = [path for path in root.iterdir() if str(path) in last]
    assert others == [] and "stdout" not in last
    assert sorted(tmp_path.iterdir()) == before  # nothing was written


ODD = {
    "{\n": "not valid JSON",
    '{"text": 3}\n': "text",
    '{"text": "a", "spans": [[0, 9, "X"]]}\n': "",
    "[1, 2]\n": "",
    "": "",
}


@pytest.mark.parametrize("content", ODD)
@pytest.mark.parametrize(
    "name", [n for n in READING if "texts" in n and "tag of texts" not in n]
)
def test_the_place_in_odd_annotations_is_named(
    name, content, root, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(content)
    words = READING[name].split()
    given = [
        root / w[1:-1] if w.startswith("{") else w.replace("BAD", str(bad))
        for w in words
    ]
    code, out, err = run(capsys, *given)
    if (
        code == 0
    ):  # annotations are not looked at, and nothing is tagged where nothing is
        assert ("spans" in content or not content) and name.startswith(
            ("tag", "select", "convert")
        )
        return
    assert code == 1
    if name.startswith("check") and "listed with their places" in err:
        assert f"{bad}, line 1" in out or f"{bad}, record 0" in out, out
        return
    assert err.splitlines()[-1].startswith(f"skstruct: error: {bad}"), err
    assert ODD[content] in err


def test_an_error_without_a_name_is_of_standard_output(root, capsys, monkeypatch):
    """Since all files name themselves."""

    class Broken:
        encoding = "utf-8"

        def write(self, text):
            raise OSError(5, os.strerror(5))

        def flush(self):
            raise OSError(5, os.strerror(5))

    monkeypatch.setattr(sys, "stdout", Broken())
    assert cli.main(["tag", str(root / "train.txt"), "-m", str(root / "chunk")]) == 1
    assert f"error: <stdout>: {os.strerror(5)}" in capsys.readouterr().err
