"""Weights in files: dense, sparse, compressed."""

import numpy as np
import pytest

from skstruct._core.store import READ_ONLY, new_store
from skstruct._saving.container import ModelFileError
from skstruct._saving.fields import Members
from skstruct._saving.stores import full, weights
from skstruct._saving.values import Reader, Writer

KIND = weights("rows", "columns")


def again(store, dtype=None, change=None):
    """What a file gives back of a store of two rows and three columns."""
    writer = Writer(False, lambda *_: None)
    with writer.packing(dtype):
        around = Members({"divisor": None})
        node = KIND.write(store, writer, "w", around)
    arrays = {name: array.copy() for name, array in writer.arrays.items()}
    if change:
        change(arrays)
    reader = Reader(arrays, lambda *_: None)
    known = {"rows": 2, "columns": 3}
    return KIND.read(node, "w", Members(known, reader=reader))


@pytest.mark.parametrize("dtype", [None, "float64", "float32", "float16"])
def test_dense_weights_come_back(dtype):
    store = new_store(2, 3, READ_ONLY, False)
    store.value[:] = [0.0, 1.5, 0.0, -2.0, 0.0, 0.25]
    assert again(store, dtype).value.tolist() == store.value.tolist()


def test_lies_are_refused():
    store = new_store(2, 3, READ_ONLY, False)

    def change(arrays):
        arrays["w.value"][0] = np.inf

    with pytest.raises(ModelFileError, match="w.value must be finite"):
        again(store, None, change)
    store.value[0] = np.nan
    with pytest.raises(ValueError, match="weights .w. that are not finite"):
        again(store)


def test_training_wants_rows_without_room():
    store = new_store(2, 3, READ_ONLY, True)
    assert full(store).room.tolist() == store.count.tolist()
