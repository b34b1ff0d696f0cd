"""Bytes of other tools: errors name the file and the place."""

import numpy as np
import pytest

from skstruct._saving.container import ModelFileError
from skstruct.interchange.foreign import (
    MOST_LABELS,
    ForeignBytes,
    as_bytes,
    as_text,
    encoded,
    labels_in_order,
    read_source,
)


def test_lines_and_bytes_are_named():
    file = ForeignBytes(b"one\ntwo 2\n", "'a'")
    assert file.match(rb"one\n", "one").group() == b"one\n"
    with pytest.raises(
        ModelFileError, match="'a': line 2: expected three, found 'two 2'"
    ):
        file.match(rb"three", "{}", "three")
    with pytest.raises(
        ModelFileError, match="'a': byte 4: expected 'TWO', found b'two'"
    ):
        file.tag(4, b"TWO")
    with pytest.raises(ModelFileError, match="numbers would end at byte 12.*cut off"):
        file.array(4, 2, "<u4", "numbers")
    with pytest.raises(ModelFileError, match="byte 7: number 1 is odd"):
        file.require_all(np.array([True, False]), np.array([3, 7]), "number {} is odd")


def test_bytes_that_are_no_text_survive():
    for raw in (b"abc", "é".encode(), b"\xff\x80"):
        assert as_bytes(as_text(raw)) == raw
    with pytest.raises(ValueError, match="no place for a label with a NUL character"):
        encoded(["a\0"], "label", "CRFsuite")
    with pytest.raises(ValueError, match="no Unicode text"):
        encoded(["\ud800"], "label", "CRFsuite")


def test_labels_are_checked():
    assert labels_in_order(["b", "a"], "x").values == ["b", "a"]
    for labels, wrong in (
        ([], "no labels"),
        (["a", "b", "a"], "the label 'a' occurs twice"),
        (list(map(str, range(MOST_LABELS + 1))), "at most"),
    ):
        with pytest.raises(ModelFileError, match=wrong):
            labels_in_order(labels, "x")


def test_sources(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    assert [read_source(s).data for s in (path, b"12", bytearray(b"12"))] == [b"12"] * 3
    with pytest.raises(FileNotFoundError, match="no"):
        read_source(tmp_path / "no")
