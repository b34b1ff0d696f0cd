"""Files of brat: which paths are some."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.brat import Brat, is_brat
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.span_files import AnnotationReader


def test_a_path_is_brat_by_what_stands_beside_it(tmp_path):
    (tmp_path / "a.txt").write_text("Ann")
    assert not is_brat(tmp_path / "a.txt") and not is_brat(3)
    (tmp_path / "a.ann").write_text("")
    for path in tmp_path, tmp_path / "a.txt", tmp_path / "a.ann":
        assert is_brat(path) and Brat().look(Head(str(path))).is_sure
    assert not Brat().look(Head("a.conll", ["a X"])).is_yes


def test_texts_without_annotations(tmp_path):
    """They are told of where annotations are read, and read where texts are."""
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("Ann left.")
    (tmp_path / "a.ann").write_text("T1\tPER 0 3\tAnn\n")
    with pytest.warns(
        UserWarning, match=r"left out: 1 record \(a file NAME.txt without NAME.ann\)"
    ):
        assert read_spans(tmp_path)[0] == ["Ann left."]
    records = AnnotationReader().texts(tmp_path)
    assert [record.metadata["name"] for record in records] == ["a", "b"]


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Ann", "spans": []}\n')
    with pytest.raises(ValueError, match="brat is a folder, or two files"):
        read_spans(path, "brat")
