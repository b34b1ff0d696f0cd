"""--template: our templates, and patterns of CRF++ and Wapiti, which let columns share
an identifier.
"""

import pytest
from cli_cases import run

import skstruct
from skstruct import StructuredPerceptron
from skstruct.datasets import read_columns
from skstruct.features.patterns import Patterns

DATA = "a x y A\nb y x B\n\na y y A\n\nc x x B\n"
SHARED = "U00:%x[0,0]\nUC0:%x[0,1]\nUC0:%x[0,2]\nB\n"
OF_WAPITI = '# Unigram\n*1:%x[ 0,0]\n\nU:suf X=%m[ 0,0,".?.?$"] # end\n*\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "d.txt").write_text(DATA)
    return tmp_path


def train(capsys, files, template, *options):
    (files / "t.txt").write_bytes(template)
    given = "train", files / "d.txt", "--template", files / "t.txt"
    return run(capsys, *given, "-m", files / "m", "-a", "perceptron", *options)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("template", "tool"), [(SHARED, "CRF++"), (OF_WAPITI, "Wapiti")]
)
def test_patterns_are_trained_from_and_said(capsys, files, template, tool, end):
    code, _, err = train(capsys, files, template.encode().replace(b"\n", end))
    assert code == 0 and f"t.txt: read as patterns of {tool}" in err
    model = skstruct.load(files / "m")
    X, y = read_columns(files / "d.txt", return_X_y=True)
    same = StructuredPerceptron(Patterns.from_file(files / "t.txt"), random_state=0)
    assert model.features == same.features
    assert (
        model.decision_function(X).tolist()
        == same.fit(X, y).decision_function(X).tolist()
    )
    assert run(capsys, "evaluate", files / "d.txt", "-m", files / "m")[0] == 0


def test_our_own_templates_stay_ours(capsys, files):
    code, _, err = train(capsys, files, b"# c\nU0:%suffix1[0,0]\nU1:%x[0,1]\nB\n")
    assert code == 0 and "read as patterns" not in err
    assert skstruct.load(files / "m").features == [
        "U0:%suffix1[0,0]",
        "U1:%x[0,1]",
        "B",
    ]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (b"U0:%x[0,0]\nU0:%suffix1[0,0]\nU1:%suffix2[0,0]\nU1:%suffix2[0,1]", "t.txt"),
        (b"U0:%x[0,0]\nX\n", "t.txt:2: a template starts with U"),
        (b"U0:%unknown[0,0]\n", "t.txt:1: unknown function %unknown"),
        (b"\xff", "t.txt: not valid UTF-8"),
    ],
)
def test_what_is_neither_is_refused_with_its_line(capsys, files, template, message):
    code, _, err = train(capsys, files, template)
    assert code == 1 and message in err and not (files / "m").exists()


def test_lexicons_are_for_our_templates(capsys, files):
    (files / "words.txt").write_text("a\n")
    options = "--lexicon", f"W={files / 'words.txt'}"
    code, _, err = train(capsys, files, SHARED.encode(), *options)
    assert code == 2 and "--lexicon is for templates" in err


def test_compare_needs_templates(capsys, files):
    pytest.importorskip("sklearn_crfsuite")
    (files / "t.txt").write_text(SHARED)
    both = "compare", files / "d.txt", files / "d.txt"
    code, _, err = run(capsys, *both, "--template", files / "t.txt")
    assert code == 1 and "these are patterns of another tool" in err
