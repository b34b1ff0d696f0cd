"""Arrays of lists, whatever the lengths are."""

import pickle

import numpy as np
import pytest

from skstruct.compat.sequence_array import SequenceArray

LISTS = [["a", "b"], ["c", "d"]]


def test_lists_of_one_length_stay_lists():
    found = SequenceArray.of(iter(LISTS))
    assert found.shape == (2,) and found.tolist() == LISTS


def test_whole_sequences_are_compared():
    found = SequenceArray.of(LISTS)
    assert (found == [["a", "b"], ["c", "x"]]).tolist() == [True, False]
    assert (found != LISTS).tolist() == [False, False]
    assert (found == ["c", "d"]).tolist() == [False, True]
    with pytest.raises(ValueError, match="2 sequences cannot be compared with 3"):
        found == [["a"], ["b"], ["c"]]  # noqa: B015


def test_pickles_hold_plain_arrays():
    back = pickle.loads(pickle.dumps(SequenceArray.of(LISTS)))
    assert type(back) is np.ndarray and back.tolist() == LISTS
