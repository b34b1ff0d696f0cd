"""The examples run, as scripts, and print what they promise."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from forked import python

from skstruct._core.compile import TEXT

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
EXPECTED = {
    "trained_model.py": [
        "0 'po' -> ",
        "after training: BoxType BoxType Box",
        "training: 1.0000",
        "file: True",
    ],
    "switching.py": ["before:", "after:", "entity F1"],
    "quick_start.py": [
        "Word F1",
        "micro avg",
        "three best labellings",
        "Same predictions: True",
    ],
    "word_segmenter.py": [
        "learned from: 1.000",
        "大学的图书馆",
        "火车站 |",
        "loading: True",
    ],
    "picture.py": ["Elena", "大学", "compound", "</svg>"],
    "parse.py": [
        "On the treebank itself: UAS 1.0000",
        "woman NN nsubj",
        "Heads alone: [",
    ],
    "regularized_perceptron.py": [
        "equation 8 (non-zero)",
        "errors avoided",
        "L2 and dropout",
    ],
    "domain_shift.py": [
        "Zipf, binary on edges",
        "mean over genres",
        "seeds with p < 0.05",
    ],
    "adaptation.py": ["OOV recall", "char-av, target text", "spread of F1"],
    "beyond_the_chain.py": [
        "| words | + shuffle |",
        "| joint | base + reranker |",
        "| parse-zh | + both |",
    ],
    "confidence.py": [
        "calibration error",
        "expected by the model",
        "F1",
        "least sure per word",
    ],
    "look_inside.py": [
        "errors in",
        "-> ",
        "it would be",
        "contributions add up",
        "Largest weight",
        "arcs.",
    ],
    "letters.py": ["letter by letter", "| order 2 |", "by letters,"],
    "any_classifier.py": [
        "| extra trees |",
        "two classifiers and the pixels",
        "by letters,",
    ],
    "chunk_columns.py": [
        "| form, letters, tag |",
        "| templates and numbers |",
        "chunk found",
    ],
    "activities.py": ["seconds alone", "| chain, window of 3 |", "run: most of all"],
    "two_stage_l1.py": ["OWL-QN", "two stages", "fixed first rate", "line search"],
    "learners.py": ["passive-aggressive", "CRF, L1", "segmentation: epochs"],
    "parameter_mixing.py": ["nonzero", "errors added"],
    "word_vectors.py": [
        "| templates |",
        "| and clusters |",
        "| and vectors |",
        "a cluster: ",
    ],
    "one_file.py": ["0 of ", "Same labels: True", "Same score: True", "tagger.html: "],
    "serve.py": ["['PRP', 'VBZ']", "sequence 0, position 1"],
    "annotation_loop.py": [
        "Trained on 40 texts",
        "Probability from 0.9",
        "to add",
        "micro avg",
    ],
    "promised_recall.py": [
        "Sets hold 9",
        "Paris PER",
        "are sure:",
        "as annotated: F1 0.8",
    ],
    "grid_search.py": ["mean F1", "Best parameters:", "tagger__penalty", "held-out"],
}

STUDIES = (
    "regularized_perceptron.py",
    "domain_shift.py",
    "adaptation.py",
    "beyond_the_chain.py",
    "confidence.py",
    "two_stage_l1.py",
    "learners.py",
    "parameter_mixing.py",
    "word_vectors.py",
)

pytestmark = pytest.mark.skipif(
    not EXAMPLES.is_dir(), reason="the examples are not installed"
)


def test_every_example_is_listed():
    assert {path.name for path in EXAMPLES.glob("[!_]*.py")} == set(EXPECTED)


@pytest.mark.parametrize(
    "name",
    [
        "quick_start.py",
        pytest.param("word_segmenter.py", marks=pytest.mark.slow),
        pytest.param("parse.py", marks=pytest.mark.slow),
        pytest.param("picture.py", marks=pytest.mark.slow),
        "trained_model.py",
        pytest.param("activities.py", marks=pytest.mark.slow),
        "look_inside.py",
        pytest.param("one_file.py", marks=pytest.mark.slow),
        pytest.param("serve.py", marks=pytest.mark.slow),
        pytest.param("annotation_loop.py", marks=pytest.mark.slow),
        pytest.param("promised_recall.py", marks=pytest.mark.slow),
        pytest.param("letters.py", marks=pytest.mark.slow),
        pytest.param("any_classifier.py", marks=pytest.mark.slow),
        pytest.param("chunk_columns.py", marks=pytest.mark.slow),
        pytest.param("grid_search.py", marks=pytest.mark.slow),
    ],
)
def test_example(name, tmp_path):
    done = subprocess.run(
        [*python(), "-W", "error::DeprecationWarning:__main__", EXAMPLES / name],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stderr.replace(f"{TEXT}\n", "") == ""
    )  # what no test before has compiled
    said = re.sub(" +", " ", done.stdout)  # columns of tables are aligned
    assert [text for text in EXPECTED[name] if text not in said] == []
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_study(name, tmp_path):
    """On the embedded samples: the path that the corpora take, not their figures, and
    so no verdicts.
    """
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, "--quick"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    said = re.sub(" +", " ", done.stdout)  # columns of tables are aligned
    assert [text for text in EXPECTED[name] if text not in said] == []
    assert "holds:" not in done.stdout and "does not hold:" not in done.stdout
    assert list(tmp_path.iterdir()) == []


LONG = [
    path.name
    for path in sorted(EXAMPLES.glob("[!_]*.py"))
    if "_study" in path.read_text("utf-8")
]
"""The studies, and what shares their helpers."""

ASK_ALL = """
import contextlib, io, json, os, runpy, sys

folder, *names = sys.argv[1:]
sys.path.insert(0, folder)
said = {}
for name in names:
    sys.argv = [os.path.join(folder, name), "--help"]
    out, code = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            code = end.code
    said[name] = code, out.getvalue()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def helps():
    """By its name what each script that takes long answers to --help: (code, text)."""
    done = subprocess.run(
        [*python(), "-c", ASK_ALL, str(EXAMPLES), *LONG],
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", LONG)
def test_help_of_scripts_that_take_long_runs_nothing(name, helps):
    code, said = helps[name]
    assert code == 0 and said.startswith("usage:")
    assert "|" not in said  # no table of results
