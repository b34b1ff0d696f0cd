"""``skstruct compile``, and the cache that it fills, for another user."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from cli_cases import run
from forking_server import drop_privileges
from numba import config
from sklearn.base import clone

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    FeatureTemplates,
    KBestReranker,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._core import kernel_folders
from skstruct._core.compile import cache_counts
from skstruct.datasets import load_chunking

ROOT = pathlib.Path(skstruct.__file__).resolve().parent.parent
SCRIPT = """
import skstruct
from skstruct._core.compile import cache_counts
skstruct.warm_up()
print(*cache_counts())
"""


SERVED = """
import sys
import skstruct
from skstruct._core.compile import cache_counts
from skstruct.serving.service import loaded

skstruct.warm_up(all=sys.argv[1] == "all")
for path in sys.argv[2:]:
    before = sum(cache_counts())
    loaded({"model": path})
    if sum(cache_counts()) > before:
        print(path)
"""


def served_models():
    """A model of each family that the service answers for, by its name."""
    X, y = [part[:40] for part in load_chunking()]
    words = [[word for word, _ in x] for x in X]
    dicts = [[{"w": word, "n": len(word)} for word in x] for x in words]
    rows = [[[len(word) * 1.0, 0.5] for word in x] for x in words]
    trees = [[(k, "x") for k in range(len(x))] for x in X]
    texts = [" ".join(x) for x in words]
    spans = [[(0, len(x[0]), f"T{k % 3}")] for k, x in enumerate(words)]
    nested = [[*row, (0, len(text), "ALL")] for row, text in zip(spans, texts)]
    lines = ["".join(x) for x in words]
    tagged = [[(word, "T") for word in x] for x in words]
    templates = FeatureTemplates(["U:%lex_a[0,0]", "B"], lexicons={"a": ["the"]})
    online = {"max_iter": 1, "random_state": 0}
    perceptron = StructuredPerceptron(**online)
    crf = L1CRF(max_iter=5, random_state=0)
    return {
        "perceptron": perceptron.fit(words, y),
        "perceptron-columns": clone(perceptron).fit(X, y),
        "perceptron-dicts": clone(perceptron).fit(dicts, y),
        "perceptron-rows": clone(perceptron).fit(rows, y),
        "perceptron-lexicon": StructuredPerceptron(templates, **online).fit(words, y),
        "averaged": BaggingShuffleAverager(perceptron, 2, random_state=0).fit(words, y),
        "crf": crf.fit(words, y),
        "crf-columns": clone(crf).fit(X, y),
        "crf-dicts": clone(crf).fit(dicts, y),
        "crf-rows": clone(crf).fit(rows, y),
        "calibrated": CalibratedTagger(perceptron, cv=2).fit(words, y),
        "spans": SpanTagger(perceptron).fit(texts, spans),
        "spans-crf": SpanTagger(crf).fit(texts, spans),
        "nested": SpanTagger(crf, overlap="by-type").fit(texts, nested),
        "segmenter": Segmenter(perceptron).fit(lines, words),
        "segmenter-crf": Segmenter(crf).fit(lines, words),
        "joint": Segmenter(perceptron).fit(lines, tagged),
        "words": WordSegmenter(**online).fit(lines, words),
        "parser": ShiftReduceParser(**online).fit(X, trees),
        "reranker": KBestReranker(perceptron, cv=2, **online).fit(words, y),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_service_compiles_nothing_more(tmp_path):
    """What ``compile`` has compiled, or ``compile --all``, is all that a start of
    ``serve`` needs: a container where nothing can be written is ready at once.
    """
    models = served_models()
    for name, model in models.items():
        model.save(tmp_path / name)
    for what, names in ("", ["perceptron"]), ("all", models):
        paths = [str(tmp_path / name) for name in names]
        command = [sys.executable, "-c", SERVED, what, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == ""


def _as_somebody_else(folder):
    """What the script says, run by a user who can write nowhere."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": "/nonexistent",
    }
    environment |= {"NUMBA_CACHE_DIR": str(folder), "TMPDIR": "/nonexistent"}
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    for how in (
        (nobody, {"preexec_fn": drop_privileges}) if os.geteuid() == 0 else ({},)
    ):
        with contextlib.suppress(PermissionError):  # others may not run this Python
            return subprocess.run(
                [sys.executable, "-B", "-c", SCRIPT], env=environment, cwd="/", capture_output=True,
                text=True, timeout=900, **how,
            )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="permissions as Linux has them")
def test_another_user_compiles_nothing(tmp_path_factory, capsys):
    code, out, err = run(capsys, "compile")
    assert code == 0 and "[1/1] perceptron: " in err
    folder = tmp_path_factory.mktemp("cache")
    # As an image holds it.
    shutil.copytree(
        out.strip(),
        folder / pathlib.Path(out.strip()).name,
        copy_function=shutil.copyfile,
    )
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    (folder / pathlib.Path(out.strip()).name).chmod(0o555)
    done = _as_somebody_else(folder)
    assert done.returncode == 0, done.stderr
    loaded, compiled = map(int, done.stdout.split())
    assert loaded > 0 and compiled == 0 and "RuntimeWarning" not in done.stderr


def test_clear_leaves_what_belongs_to_others(tmp_path, monkeypatch, capsys):
    """Two installations of one version share a home, a folder for temporary files, and
    NUMBA_CACHE_DIR.
    """
    monkeypatch.setattr(config, "CACHE_DIR", "")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = {}
    for name in ("other", "mine"):
        monkeypatch.setattr(kernel_folders, "PACKAGE", str(tmp_path / name))
        (tmp_path / name).mkdir()
        for folder in kernel_folders.folders():
            kernel_folders.make_folder(folder)
            made.setdefault(name, []).append(pathlib.Path(folder))
    assert len({*made["mine"], *made["other"]}) == 6
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "chosen"))
    chosen = pathlib.Path(kernel_folders.cache_folder())
    assert chosen.parent == tmp_path / "chosen"
    code, out, err = run(capsys, "compile", "--clear")
    assert code == 0 and out == "" and str(chosen.parent) in err
    assert all(
        f"removed {folder}" in err and not folder.exists() for folder in made["mine"]
    )
    assert all(folder.is_dir() for folder in (*made["other"], chosen))


def test_progress_of_warm_up():
    lines = []
    assert pathlib.Path(skstruct.warm_up(progress=lines.append)).is_dir()
    (line,) = lines
    assert line.startswith("[1/1] perceptron: ") and line.endswith(" s")
    before = cache_counts()
    skstruct.warm_up()
    assert cache_counts()[1] == before[1]  # nothing is compiled twice
