"""Codes: what names mean to kernels, each number once."""

import pytest

from skstruct._core import codes


@pytest.mark.parametrize(
    "table", ["VARIANTS", "PENALTIES", "NOISES", "WORD_TEMPLATES", "UPDATES"]
)
def test_names_of_one_table_have_different_codes(table):
    numbers = list(getattr(codes, table).values())
    assert len(set(numbers)) == len(numbers)


def test_averages_have_two_spellings_of_none_and_of_each_step():
    assert codes.AVERAGES[None] == codes.AVERAGES[False] == codes.NO_AVERAGE
    assert codes.AVERAGES[True] == codes.AVERAGES["step"] == codes.EACH_STEP
    assert codes.AVERAGES["epoch"] == codes.EACH_EPOCH


def test_kernels_that_are_done_return_zero():
    others = codes.POOL_FULL, codes.RESCALE, codes.TABLE_FULL
    assert codes.DONE == 0 and 0 not in others and len(set(others)) == 3
