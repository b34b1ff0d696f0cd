"""The core needs none of its guests: each can be deleted, and the rest works.

`docs/architecture.md` draws both parts.
"""

import os
import pathlib
import shutil
import subprocess

import pytest
from floors import CORE_ROOMS, GUEST_ROOMS
from forked import python

import skstruct
from skstruct._core.kernel_folders import cache_folder

PACKAGE = pathlib.Path(skstruct.__file__).parent

CORE = """
import pathlib, pickle, sys
import numpy as np
import skstruct
from skstruct import (
    BaggingShuffleAverager, L1CRF, PassiveAggressiveTagger, Segmenter, ShiftReduceParser,
    SpanTagger, StructuredPerceptron,
)
from skstruct.features import WordVectors

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 4
y = [["D", "N", "V"], ["D", "N", "V"]] * 4
texts = ["Ann in Rome", "Bob left"] * 4
spans = [[(0, 3, "PER"), (7, 11, "LOC")], [(0, 3, "PER")]] * 4
words = [["我", "喜欢", "书"], ["好", "书"]] * 4
trees = [[("the", "D"), ("dog", "N"), ("barks", "V")]] * 4
heads = [[(2, "det"), (3, "nsubj"), (0, "root")]] * 4
folder = sys.argv[1]
assert pathlib.Path(skstruct.__file__).parents[1] == pathlib.Path(folder)
for model, X, y in (
    (StructuredPerceptron(max_iter=2, random_state=0), X, y),
    (PassiveAggressiveTagger(max_iter=2, random_state=0), X, y),
    (L1CRF(max_iter=3, random_state=0), X, y),
    (BaggingShuffleAverager(StructuredPerceptron(max_iter=2), random_state=0), X, y),
    (SpanTagger(StructuredPerceptron(max_iter=2, random_state=0)), texts, spans),
    (Segmenter(StructuredPerceptron("char", max_iter=2)), ["".join(w) for w in words], words),
    (ShiftReduceParser(max_iter=2, random_state=0), trees, heads),
):
    found = model.fit(X, y).predict(X)
    model.save(f"{folder}/model")
    assert skstruct.load(f"{folder}/model").predict(X) == found
    assert pickle.loads(pickle.dumps(model)).predict(X) == found
WordVectors(2, min_count=1, random_state=0).fit_text(["the dog barks", "a dog sleeps"] * 9)
print("works")
"""

COMMANDS = """
import contextlib, io, pathlib, runpy, sys

def command(*arguments):
    sys.argv = ["skstruct", *arguments]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_module("skstruct", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            assert not end.code, end.code
    out.flush()
    return out.buffer.getvalue().decode()

rows = "Ann B-PER\\nleft O\\n\\nRome B-LOC\\nis O\\nold O\\n\\n"
pathlib.Path("train.conll").write_text(rows * 4)
notes = '{"text": "Ann in Rome", "spans": [[0, 3, "PER"], [7, 11, "LOC"]]}\\n'
pathlib.Path("notes.jsonl").write_text(notes * 4)
for corpus in ("train.conll", "notes.jsonl"):
    options = "--model", "model", "--epochs", "2", "-a", "perceptron", "--force"
    command("train", corpus, *options)
    assert "Ann" in command("tag", corpus, "--model", "model")
print("works, too")
"""

GUESTS = (
    "cli",
    "serving",
    "compat",
    "interchange",
    "_one_file",
    "inspection",
    "datasets",
)

NEEDED_BY_COMMANDS = ("cli", "datasets")


def without(guest, folder):
    """A copy of the package without one of its rooms, and the environment that has
    it: kernels are those of the package, and need not be compiled again.
    """
    ignored = shutil.ignore_patterns("__pycache__", "_kernels")
    shutil.copytree(PACKAGE, folder / "skstruct", ignore=ignored)
    shutil.rmtree(folder / "skstruct" / guest)
    kernels = cache_folder()
    kept = {"NUMBA_CACHE_DIR": os.path.dirname(kernels)} if kernels else {}
    return {**os.environ, "PYTHONPATH": str(folder), **kept}


@pytest.mark.parametrize("guest", GUESTS)
def test_the_core_works_without_a_guest(guest, tmp_path):
    script, said = CORE, "works\n"
    if guest not in NEEDED_BY_COMMANDS:
        script, said = CORE + COMMANDS, "works\nworks, too\n"
    done = subprocess.run(
        [*python(), "-c", script, str(tmp_path)],
        env=without(guest, tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == said


def test_every_room_is_of_the_core_or_a_guest():
    """A room that is added takes its place in the test of the floors, and here."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == (CORE_ROOMS | GUEST_ROOMS) & rooms
    assert set(GUESTS) == GUEST_ROOMS
