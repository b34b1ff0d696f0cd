"""Pickles that ask for much more memory or time than their size promises."""

import pickle
import struct
import tracemalloc

import pytest

from skstruct.interchange import load_crfsuite
from skstruct.saving.container import ModelFileError

ARRAY = b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n)R"


def long_number(n_bytes):
    return pickle.LONG4 + struct.pack("<i", n_bytes) + b"\x7f" * n_bytes


def with_shape(shape, times=1):
    """A pickle of joblib arrays of one shape, which is the content of a tuple."""
    state = b"(Vdtype\ncnumpy\ndtype\n(Vu1\ntRVshape\n(" + shape + b"tq\x01d"
    return (
        b"\x80\x02"
        + ARRAY
        + state
        + b"b"
        + (ARRAY + b"(Vdtype\ncnumpy\ndtype\n(Vu1\ntRVshape\nh\x01db") * times
    )


@pytest.mark.parametrize(
    "shape, message",
    [
        (long_number(20_000) + b"q\x02" + b"h\x02" * 20_000, "unknown type"),
        (long_number(20_000) + b"q\x02" + b"h\x02" * 60, "cut off"),
        (b"K\x00" + b"K\x01" * 100, "unknown type"),
    ],
)
def test_the_shape_of_an_array_costs_no_more_than_the_file(shape, message):
    with pytest.raises(ModelFileError, match=message):
        load_crfsuite(with_shape(shape) + b".")


def test_an_array_without_elements_is_passed_over():
    with pytest.raises(ModelFileError, match="no sklearn_crfsuite"):
        load_crfsuite(with_shape(b"K\x00" + long_number(200), times=3) + b".")


def test_a_text_that_is_turned_into_bytes_again_and_again_is_kept_once():
    text = b"V" + b"x" * 10_000 + b"\nq\x00V" + b"latin1\nq\x01c_codecs\nencode\nq\x02"
    data = b"\x80\x02" + text + b"h\x02h\x00h\x01\x86R" * 5_000 + b"."
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="no sklearn_crfsuite"):
            load_crfsuite(data)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
