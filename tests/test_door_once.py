"""Doors ask once: behind them nothing is checked again, and nothing once for each
sequence.

The calls of functions that check are counted, on a small corpus and on one four times
as large.
"""

import collections
import re
import sys

import pytest
from cli_cases import run

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)

pytestmark = pytest.mark.filterwarnings("ignore")

FEW = 10
MANY = 4 * FEW

OF_ONE_SPAN = {"_checked", "_check_span"}
"""What is asked of each span: whether it lies in its text, and is disjoint from the one
before.
"""


def asked(act):
    """{function that checks: how often ``act()`` calls it}."""
    found = collections.Counter()

    def count(frame, event, argument):
        code = frame.f_code
        if event == "call" and re.match("_?(check|refuse)", code.co_name):
            kernels = "_core" in code.co_filename  # where they are kept
            if "skstruct" in code.co_filename and not kernels:
                found[code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return {name: n for name, n in found.items() if name not in OF_ONE_SPAN}


def words(n):
    return [["the", "dog", "barks"] for _ in range(n)]


def tagged(n):
    return words(n), [["D", "N", "V"] for _ in range(n)]


def segmented(n):
    return ["".join(x) for x in words(n)], words(n)


def with_tags(n):
    X, y = segmented(n)
    return X, [[(word, "T") for word in x] for x in y]


def annotated(n):
    return [" ".join(x) for x in words(n)], [[(4, 7, "PET")] for _ in range(n)]


def parsed(n):
    tree = [(2, "det"), (3, "subj"), (0, "root")]
    return [list(zip(x, y)) for x, y in zip(*tagged(n))], [tree for _ in range(n)]


def perceptron(features="auto", **parameters):
    return StructuredPerceptron(features, max_iter=1, **parameters)


FITS = {
    "tagger": (perceptron, tagged),
    "tagger with constraints": (
        lambda: perceptron(
            constraints=[(None, "D"), ("D", "N"), ("N", "V"), ("V", None)]
        ),
        tagged,
    ),
    "CRF": (lambda: L1CRF(max_iter=2), tagged),
    "calibrated": (lambda: CalibratedTagger(perceptron(), cv=2), tagged),
    "average": (lambda: BaggingShuffleAverager(perceptron(), 2), tagged),
    "mixture": (lambda: ParameterMixer(perceptron(), 2), tagged),
    "segmenter": (lambda: Segmenter(perceptron("char")), segmented),
    "segmenter with tags": (lambda: Segmenter(perceptron("char")), with_tags),
    "spans": (lambda: SpanTagger(perceptron()), annotated),
    "words": (lambda: WordSegmenter(beam_size=2, max_iter=1), segmented),
    "parser": (lambda: ShiftReduceParser(beam_size=2, max_iter=1), parsed),
}


@pytest.mark.parametrize("name", FITS)
def test_fit_checks_nothing_once_for_each_sequence(name):
    make, data = FITS[name]
    few = asked(lambda: make().fit(*data(FEW)))
    many = asked(lambda: make().fit(*data(MANY)))
    assert few == many != {}


FILES = {
    "columns": lambda n: "the B-X\ndog I-X\nbarks O\n\n" * n,
    "segmented": lambda n: "the dog barks\n" * n,
}


@pytest.mark.parametrize("name", FILES)
def test_train_checks_a_file_and_its_scheme_once(name, tmp_path, capsys):
    def train(n):
        (tmp_path / "text").write_text(FILES[name](n))
        given = "--format", name, "-m", tmp_path / f"model{n}", "--epochs", "1"
        assert run(capsys, "train", tmp_path / "text", *given)[0] == 0

    train(FEW + 1)  # what a first run asks as it loads modules is not counted
    few = asked(lambda: train(FEW))
    many = asked(lambda: train(MANY))
    # Each sequence of labels is looked at when the scheme is guessed.
    few.pop("refuse_str", None), many.pop("refuse_str", None)
    assert few == many and few.get("check_scheme", 0) <= 2 and few["check_X_y"] == 1
