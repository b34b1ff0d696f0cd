"""compare: the same features on both sides, and a table."""

import argparse
import importlib.util
import re
import sys

import pytest
from cli_cases import columns, run

from skstruct import FeatureTemplates, StructuredPerceptron
from skstruct.cli import compare
from skstruct.cli.compare import FeatureStrings
from skstruct.cli.corpus import read
from skstruct.datasets import load_chunking, load_segmentation
from skstruct.features.presets import PRESETS
from skstruct.inspection import features_of

needs_crfsuite = pytest.mark.skipif(
    importlib.util.find_spec("sklearn_crfsuite") is None,
    reason="sklearn-crfsuite is not installed",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    X, y = load_chunking()
    (folder / "train.conll").write_text(columns(X[:60], y[:60]), encoding="utf-8")
    (folder / "test.conll").write_text(columns(X[60:80], y[60:80]), encoding="utf-8")
    _, words = load_segmentation()
    segmented = [" ".join(w) + "\n" for w in words]
    (folder / "train.seg").write_text("".join(segmented[:60]), encoding="utf-8")
    (folder / "test.seg").write_text("".join(segmented[60:80]), encoding="utf-8")
    return folder


PLAIN = [name for name, lines in PRESETS.items() if "%av" not in "".join(lines)]


@pytest.mark.parametrize("name", [*PLAIN, "odd"])
def test_strings_are_what_the_encoder_means(name):
    templates = PRESETS.get(name) or [
        "U:%x[-3,0]", "U1:100%%shape[0,0]/%lower[2,1]|%type[-1,0]", "U2", "B", "B1:%x[0,0]",
    ]  # fmt: skip
    templates = FeatureTemplates([t.replace("100%%", "100%") for t in templates])
    X, y = load_chunking()
    if templates.n_columns == 1:
        X = [[form for form, _ in sentence] for sentence in X]
    X, y = [X[0][:1], *X[:5]], [y[0][:1], *y[:5]]
    tagger = StructuredPerceptron(templates, max_iter=1).fit(X, y)
    strings = FeatureStrings(templates)
    for sentence in X:  # all seen in training, so that the tagger knows every feature
        expected = [sorted(set(token)) for token in features_of(tagger, sentence)]
        assert [sorted(set(token)) for token in strings(sentence)] == expected
    assert strings.left_out == [
        t for t in templates.lines if t.startswith("B") and "%" in t
    ]
    assert strings([]) == []


def test_templates_that_look_further_are_refused():
    templates = FeatureTemplates(["U1:%av2[0,0]", "B"])
    with pytest.raises(ValueError, match="%av2 in 'U1:%av2.*' has no expansion"):
        FeatureStrings(templates)


@needs_crfsuite
def test_table(files, capsys, recwarn):
    arguments = files / "train.conll", files / "test.conll", "-p", "max_iterations=4"
    code, out, err = run(capsys, "compare", *arguments, "-a", "ap", "-a", "lbfgs")
    assert code == 0
    lines = out.splitlines()
    assert (
        lines[0].startswith("train ")
        and "60 sentences" in lines[0]
        and "20 sentences" in lines[1]
    )
    names = [line[:40].split("  ")[0] for line in lines[5:]]
    assert names[:2] == ["sklearn-crfsuite ap", "skstruct StructuredPerceptron"]
    assert "sklearn-crfsuite lbfgs" in names
    assert not [
        w for w in recwarn if "max_iter=1 " in str(w.message)
    ]  # warming up is no fit


@needs_crfsuite
@pytest.mark.parametrize("c1, c2", [(1.0, 0.0), (0.0, 1.0)])
def test_lbfgs_has_one_objective_on_both_sides(files, c1, c2):
    """Both sides learn the same weights, so that what they minimise has the same least
    value.
    """
    arguments = argparse.Namespace(
        format=None, tokens=None, label=None, separator=None, comment=None, encoding="utf-8", read=[]
    )  # fmt: skip
    corpus = compare.sequences_of(read(str(files / "train.conll"), arguments))
    templates = compare.templates_for(corpus, "auto")
    parameters = {"c1": c1, "c2": c2, "max_iterations": None}
    theirs, ours = (
        side("lbfgs", parameters, templates)
        for side in (compare.Crfsuite, compare.Ours)
    )
    for side in (theirs, ours):
        side.fit(corpus.X, corpus.y)
    least = theirs.model.training_log_.last_iteration["loss"]
    assert ours.model.objective_ == pytest.approx(least, rel=2e-3)


@needs_crfsuite
def test_scores_are_close(files, capsys):
    arguments = files / "train.seg", files / "test.seg", "-p", "max_iterations=5"
    code, out, err = run(capsys, "compare", *arguments)
    assert (
        code == 0
        and "skstruct StructuredPerceptron: training" in err
        and f"\n{len(PRESETS['char'])} templates\n" in out
    )
    _, *rows = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()[4:]]
    assert [row[0].split()[0] for row in rows] == [
        "sklearn-crfsuite",
        "skstruct",
        "ratio",
    ] * 2
    for theirs, ours in zip(rows[::3], rows[1::3]):
        fit, of_features, speed, accuracy, f1 = (
            float(cell.replace(",", "")) for cell in theirs[1:]
        )
        assert (
            of_features <= fit
            and speed > 0
            and 0.4 < f1 <= 1.0
            and 0.4 < accuracy <= 1.0
        )
        assert ours[2] == "-" and abs(f1 - float(ours[5])) < 0.1


def test_without_crfsuite(files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn_crfsuite", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    code, out, err = run(capsys, "compare", files / "train.conll", files / "test.conll")
    assert (code, out) == (
        1,
        "",
    ) and "compare needs sklearn-crfsuite: pip install" in err


@needs_crfsuite
def test_wrong_files(files, capsys):
    code, _, err = run(capsys, "compare", files / "train.conll", files / "test.seg")
    assert code == 1 and "is columns" in err and "is segmented" in err


def test_settings_of_algorithms_that_do_not_run_are_refused(files, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    for more, message in (
        (["-p", "c1=0.5"], "--param c1: of ap and pa there are max_iterations"),
        (
            ["-p", "c1=1.0", "-a", "ap"],
            "--param c1: of ap there are max_iterations",
        ),  # the default, too
        (
            ["-p", "c=1", "-a", "pa", "-a", "lbfgs"],
            "--param c: of pa and lbfgs there are c1, c2, max_iterations",
        ),
        (
            ["-p", "c1=-1", "-a", "lbfgs"],
            "--param: The 'c1' parameter of L1CRF must be",
        ),
        (
            ["-p", "max_iterations=0"],
            "--param: The 'max_iter' parameter of StructuredPerceptron must be",
        ),
    ):
        code, out, err = run(
            capsys, "compare", files / "train.conll", files / "test.conll", *more
        )
        assert (code, out) == (2, "") and message in err
