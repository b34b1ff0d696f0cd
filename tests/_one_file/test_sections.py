"""Numbers of files: as few bytes as they need, and back."""

from fractions import Fraction

import numpy as np
import pytest

from skstruct._one_file.python.reading import read_block
from skstruct._one_file.sections import (
    Sections,
    as_numbers,
    check_spellings,
    common_denominator,
)


def test_sections_are_read_as_they_were_added():
    sections = Sections()
    sections.add("u", [0, 70_000])
    sections.add("z", [-3, 2], "z")
    sections.add("f", np.array([0.5, -1.0], np.float32), "f")
    header, arrays = read_block(sections.block({"a": "\ud800"}))
    assert header["sections"] == [["u", "u3", 2], ["z", "z1", 2], ["f", "f4", 2]]
    assert header["a"] == "\ud800"
    assert [list(each) for each in arrays.values()] == [
        [0, 70_000],
        [5, 4],
        [0.5, -1.0],
    ]


def test_means_have_a_common_denominator():
    weights = np.array([float(Fraction(n, 12)) for n in (1, 7, -5, 24)])
    assert common_denominator(weights) == 12
    assert common_denominator(np.array([np.pi])) is None
    (table,), divisor, step = as_numbers([weights], "exact")
    assert (table.tolist(), divisor, step) == ([1, 7, -5, 24], 12, 1.0)
    (table,), divisor, step = as_numbers([weights], "int8")
    assert table.max() == 127 and step == pytest.approx(2.0 / 127)


def test_strings_that_javascript_would_mix_up_are_refused():
    with pytest.raises(ValueError, match="JavaScript cannot tell"):
        check_spellings(["\ud83d\ude00"], {"\U0001f600"})
    check_spellings(["\ud83d\ude00"], {"a"})
