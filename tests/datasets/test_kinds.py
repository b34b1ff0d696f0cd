"""What kinds of corpus files answer."""

import pathlib

import pytest

from skstruct.datasets import open_corpus
from skstruct.datasets.formats.table import BY_NAME, FORMATS
from skstruct.datasets.kinds import KINDS, excerpt, kind_of

SAMPLES = pathlib.Path(__file__).parent / "formats" / "samples"

SHOWN = {
    "columns": ("sentence", "token", 2),
    "segmented": ("sentence", "word", 0),
    "jsonl": ("text", "span", 2),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_sequences_are_called_and_how_one_is_shown(name):
    (path,) = (path for path in SAMPLES.iterdir() if path.stem == name)
    corpus = open_corpus(path)
    rows = list(corpus.rows())
    X = [row.x for row in rows]
    y = [row.y for row in rows]
    *units, n = SHOWN[name]
    assert list(corpus.kind.units) == units
    labels = corpus.kind.labels_of(y)
    assert len(labels) >= n and None not in labels and bool(labels) == bool(n)
    shown = corpus.kind.sample(X, y)
    first = X[0][0] if isinstance(X[0], list) else X[0][:2]
    assert first in shown.replace(" ", "") or first in shown
    assert repr(corpus.kind) == type(corpus.kind).__name__


def test_every_format_has_a_kind():
    kinds = {each.name: kind_of(each) for each in FORMATS}
    assert {each.name for each in kinds.values()} == {"tokens", "words", "texts"}
    assert all(kinds[each.name].name == each.kind for each in FORMATS)
    assert kind_of(BY_NAME["conllu"], ("head", "deprel")) is KINDS["trees"]
    assert kind_of(BY_NAME["columns"], (-1,)) is KINDS["tokens"]


def test_long_sequences_are_cut():
    assert excerpt("x" * 500) == "x" * 120 + "…"
    many = [["a"] * 50]
    assert KINDS["tokens"].sample(many, [["O"] * 50]).endswith("a/O …")
    assert KINDS["trees"].sample([["a"]], [[(0, "root")]]) == "a/0/root"
    assert KINDS["words"].sample(["ab"], [[("a", "N"), ("b", "V")]]) == "a/N b/V"
    assert KINDS["texts"].sample(["Ann"], [[]]) == "Ann | no span"
    assert KINDS["texts"].sample(["x", "Ann"], [[], [(0, 3, "P")]]) == "Ann | 'Ann' P"
