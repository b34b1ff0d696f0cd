"""Pickles that ask for much more memory or time than their size promises."""

import bz2
import lzma
import pickle
import struct
import tracemalloc
import zlib

import pytest

from skstruct._saving.container import ModelFileError
from skstruct.interchange import load_crfsuite

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


def memory_of(data, message):
    """Bytes that a refusal with this message takes at most."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            load_crfsuite(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


LONG = b"X" + struct.pack("<I", 100_000) + b"a" * 100_000 + b"q\x00"
NAMED = b"cmodule\nname\nq\x01"
REPEATED = {  # what asks again and again for one long text, or list, and the message
    "text as arguments": (
        LONG + NAMED + b"h\x01h\x00R" * 200,
        "a str is given as arguments",
    ),
    "list as arguments": (
        b"(" + b"N" * 100_000 + b"lq\x00" + NAMED + b"h\x01h\x00\x81" * 200,
        "a list is given as arguments",
    ),
    "text as a module": (
        LONG + b"\x8c\x01nq\x01" + b"h\x00h\x01\x93" * 200,
        "no sklearn_crfsuite",
    ),
    "text as a name": (
        LONG + b"\x8c\x01mq\x01" + b"h\x01h\x00\x93" * 200,
        "no sklearn_crfsuite",
    ),
}


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("compress", [bytes, zlib.compress])
def test_what_is_asked_for_again_and_again_is_kept_once(name, compress):
    data, message = REPEATED[name]
    assert memory_of(compress(b"\x80\x04" + data + b"."), message) < 5_000_000


SMALL = {
    "marks": b"(",
    "lists": b"]",
    "dicts": b"}",
    "sets": b"\x8f",
    "tuples": b"N\x85",
    "memory": b"N\x94",
    "names": b"cm\nn\n",
}


@pytest.mark.parametrize(
    "name, compress",
    [
        *((name, zlib.compress) for name in SMALL),
        ("dicts", bz2.compress),
        ("tuples", lzma.compress),
    ],
)
def test_small_objects_in_a_compressed_file(name, compress):
    data = compress(b"\x80\x04" + SMALL[name] * 1_000_000 + b".")
    assert (
        memory_of(data, "more than [0-9]+ instructions in a file of this size")
        < 30_000_000
    )


def test_as_many_small_objects_as_a_pickle_that_is_not_compressed_has():
    found = pickle.dumps([{} for _ in range(150_000)])
    with pytest.raises(ModelFileError, match="no sklearn_crfsuite"):
        load_crfsuite(found)


@pytest.mark.parametrize("n_bytes", [2**30, 2**31, 2**31 + 2**30])
def test_a_window_that_only_the_header_is_for(n_bytes):
    """Such a decompressor is a MemoryError where there is less memory, and takes it where there is more."""
    data = b"\x5d" + struct.pack("<IQ", n_bytes, 2**64 - 1) + bytes(100)
    with pytest.raises(ModelFileError, match="Memory usage limit exceeded"):
        load_crfsuite(data)


@pytest.mark.parametrize("kind", [lzma.FORMAT_XZ, lzma.FORMAT_ALONE])
def test_the_largest_window_of_the_usual_levels(kind):
    with pytest.raises(ModelFileError, match="no sklearn_crfsuite"):
        load_crfsuite(lzma.compress(pickle.dumps("text"), kind, preset=9))


def test_a_text_that_is_turned_into_bytes_again_and_again_is_kept_once():
    text = b"V" + b"x" * 10_000 + b"\nq\x00V" + b"latin1\nq\x01c_codecs\nencode\nq\x02"
    data = b"\x80\x02" + text + b"h\x02h\x00h\x01\x86R" * 5_000 + b"."
    assert memory_of(data, "no sklearn_crfsuite") < 10_000_000
