"""Pieces of a corpus on threads, and arrays lent to kernels."""

import gc
import threading
from typing import NamedTuple

import numpy as np
import pytest

from skstruct._data.inputs import PlaceError
from skstruct._training.chunks import (
    as_writeable_view,
    map_chunks,
    no_collection,
    threads,
    with_arrays_changed,
)


class Pair(NamedTuple):
    left: np.ndarray
    rest: tuple
    n: int


def test_arrays_are_found_by_their_paths():
    names = []

    def double(name, array):
        names.append(name)
        return 2 * array

    value = Pair(np.ones(2), (np.zeros(1), "text"), 3)
    found = with_arrays_changed(value, double, "x")
    assert names == ["x.left", "x.rest.0"]
    assert type(found) is Pair and found.left.tolist() == [2.0, 2.0]
    assert found.rest[1] == "text" and found.n == 3
    assert value.left.tolist() == [1.0, 1.0]


def test_read_only_arrays_are_lent_without_a_copy():
    array = np.arange(4.0)
    array.flags.writeable = False
    found = as_writeable_view((array,))[0]
    assert found.flags.writeable and np.shares_memory(found, array)
    strided = np.arange(8.0)[::2]
    strided.flags.writeable = False
    copy = as_writeable_view(strided)
    assert copy.flags.writeable and not np.shares_memory(copy, strided)
    plain = np.zeros(2)
    assert as_writeable_view(plain) is plain


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("piece_tokens", [1, 5, 1000])
def test_pieces_cover_a_corpus_in_order(n_jobs, piece_tokens):
    token = np.array([0, 3, 3, 4, 9, 10, 10, 12])
    found = map_chunks(lambda bounds: bounds, token, n_jobs, piece_tokens)
    assert found[0][0] == 0 and found[-1][1] == len(token) - 1
    for (first, last, begin, end), after in zip(found, [*found[1:], None]):
        assert (begin, end) == (token[first], token[last])
        assert after is None or after[0] == last
    assert len(found) > 1 or piece_tokens == 1000


def test_no_sequences_are_one_piece():
    assert map_chunks(lambda bounds: bounds, np.zeros(1, int), 1) == [(0, 0, 0, 0)]


def test_errors_count_the_sequences_of_the_corpus():
    def work(bounds):
        if bounds[0] <= 3 < bounds[1]:
            raise PlaceError(3 - bounds[0], 0, "wrong", "X")

    with pytest.raises(PlaceError) as error:
        map_chunks(work, np.arange(6), 1, piece_tokens=1)
    assert error.value.sequence == 3


def test_threads_are_started_for_several_items_only():
    with threads(2, 1) as one:
        assert one is map
    with threads(2, 4) as several:
        found = list(several(lambda k: (k, threading.current_thread()), range(4)))
    assert [k for k, _ in found] == [0, 1, 2, 3]
    assert threading.current_thread() not in {thread for _, thread in found}


def test_the_collector_is_as_it_was():
    assert gc.isenabled()
    with pytest.raises(KeyError), no_collection():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
