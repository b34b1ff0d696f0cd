"""Paths that name nothing, and strings that no file gives back: refused before anything
is written.
"""

import os

import pytest

import skstruct
from skstruct import StructuredPerceptron
from skstruct.datasets import write_spans

X, Y = [["a", "b"]] * 2, [["A", "B"]] * 2


def model(labels=Y):
    return StructuredPerceptron(max_iter=1, random_state=0).fit(X, labels)


@pytest.mark.parametrize(
    "write",
    [
        lambda: model().save(""),
        lambda: skstruct.inspection.report(model(), X, Y).save(""),
        lambda: write_spans("", ["a"], [[]]),
        lambda: write_spans("", ["a"], [[]], format="brat"),
    ],
)
def test_an_empty_path_is_no_folder(write, tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    with pytest.raises(ValueError, match="^path is empty, got ''; name a file"):
        write()
    assert os.listdir(tmp_path) == ["inside"]
    assert os.listdir(tmp_path / "inside") == []


def test_a_path_that_names_a_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        model().save(f"{tmp_path}/new/")
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        model().save(tmp_path)
    assert os.listdir(tmp_path) == []


PAIR = "\ud83d\ude00"
"""Two lone surrogates, which JSON takes for one character."""


@pytest.mark.parametrize("n", [3, 1001])  # so many are not in the header of a file
@pytest.mark.parametrize("make", [str, lambda label: (label,)])
def test_surrogates_of_labels(n, make, path):
    lone = [make(chr(0xD800 + k % 1024) + str(k)) for k in range(n)]
    tagger = StructuredPerceptron(max_iter=1, random_state=0)
    words = [[str(k) for k in range(n)]]
    tagger.fit(words, [lone]).save(path)
    assert skstruct.load(path).classes_.tolist() == sorted(lone)
    path.unlink()
    message = rf"position {n - 1}: .* holds two surrogates.*decode\('utf-16'\)"
    with pytest.raises(ValueError, match=message):
        tagger.fit(words, [[*lone[:-1], make(PAIR)]])


def test_surrogates_of_keys(path):
    tagger = model()
    tagger.class_weight = {PAIR: 2.0}
    with pytest.raises(TypeError, match="parameter 'class_weight' .* two surrogates"):
        tagger.save(path)
    assert not path.exists()
