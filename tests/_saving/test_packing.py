"""Integers in few bytes, and back."""

import numpy as np
import pytest

from skstruct._saving.container import ModelFileError
from skstruct._saving.packing import (
    from_groups,
    groups,
    numerators,
)


@pytest.mark.parametrize("signed", [False, True])
def test_groups_of_seven_bits(signed):
    numbers = np.array([0, 1, 127, 128, 2**40, 2**61], np.int64)
    if signed:
        numbers = np.concatenate([numbers, -numbers])
    data = groups(numbers, signed)
    assert data.dtype == np.uint8
    assert from_groups(data, signed, "x").tolist() == numbers.tolist()
    with pytest.raises(ModelFileError, match="a number does not end"):
        from_groups(np.array([128], np.uint8), signed, "x")


def test_means_are_numerators():
    weights = np.array([1, -7, 4]) / 3
    assert numerators(weights, 3, "float64").tolist() == [1, -7, 4]
    assert numerators(weights, 2, "float64") is None
