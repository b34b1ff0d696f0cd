"""The example and the page for users of sklearn-crfsuite."""

import inspect
import os
import pathlib
import re
import subprocess

import pytest
from forked import python

import skstruct
from skstruct import inspection, metrics

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = REPOSITORY / "examples" / "switching.py"
PAGE = REPOSITORY / "docs" / "switching.md"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the examples are not installed")
def test_example(tmp_path):
    done = subprocess.run(
        [*python(), str(EXAMPLE)], capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=600,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("before: ") and list(tmp_path.iterdir()) == []
    assert (
        float(re.search(r"^after: +token accuracy ([\d.]+)", done.stdout, re.M)[1])
        > 0.95
    )


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not installed")
def test_page_names_all_parameters_of_the_peer():
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    page = PAGE.read_text(encoding="utf-8")
    parameters = set(inspect.signature(sklearn_crfsuite.CRF).parameters)
    wild = {p for p in parameters if p.startswith("calibration_")}
    assert "`calibration_*`" in page
    assert [
        p for p in sorted(parameters - wild) if not re.search(rf"`{p}\b|\({p}=", page)
    ] == []


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not installed")
def test_page_names_what_exists():
    page = PAGE.read_text(encoding="utf-8")
    scores = page[page.index("## Scores") : page.index("## What behaves")]
    ours = re.findall(
        r"`(\w+)`",
        "".join(line.split("|")[2] for line in scores.splitlines() if "|" in line),
    )
    assert ours and [name for name in ours if not hasattr(metrics, name)] == []
    for name in re.findall(r"`skstruct\.inspection\.(\w+)", page):
        assert hasattr(inspection, name)
    for name in (
        "max_iter",
        "min_count",
        "average",
        "early_stopping",
        "n_iter_no_change",
        "tol",
    ):
        assert name in skstruct.StructuredPerceptron().get_params()
    for name in ("C", "variant", "cost"):
        assert name in skstruct.PassiveAggressiveTagger().get_params()
