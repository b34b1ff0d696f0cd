"""Prefetching changes nothing, and asks for lines beyond an array without a fault."""

import numpy as np

from skstruct._core.compile import kernel
from skstruct._core.prefetch import prefetch


@kernel
def total(values, ahead):
    found = 0.0
    for k in range(values.shape[0]):
        prefetch(values, k + ahead)
        found += values[k]
    return found


def test_sums_are_the_same_however_far_it_looks_ahead():
    values = np.arange(100.0)
    for ahead in (0, 7, 1_000):
        assert total(values, ahead) == values.sum()


def test_arrays_of_every_type_are_taken():
    for dtype in (np.int32, np.int64, np.float32):
        assert total(np.ones(5, dtype), 1) == 5.0
