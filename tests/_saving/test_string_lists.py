"""Lists of strings as two arrays, lone surrogates too; what is no such pair is
refused.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct._saving.container import ModelFileError, read_container, write_container
from skstruct._saving.string_lists import pack_strings, unpack_strings

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@settings(deadline=None)
@given(st.lists(ANY_TEXT))
def test_strings_round_trip(strings):
    data, offsets = pack_strings(strings)
    assert data.dtype == np.uint8 and offsets.dtype == np.int64
    assert data.flags.writeable and offsets.shape == (len(strings) + 1,)
    assert unpack_strings(data, offsets) == strings


def test_halves_of_surrogate_pairs_stay_apart(path):
    strings = ["\ud83d", "\ude00", "\ud83d\ude00", "\U0001f600", "", "a\0b"]
    data, offsets = pack_strings(strings)
    assert offsets.tolist() == [0, 3, 6, 12, 16, 16, 19]
    write_container(
        path, {"kind": "model", "\ud83d": "\ude00"}, {"data": data, "offsets": offsets}
    )
    header, arrays = read_container(path, kind="model")
    assert header["\ud83d"] == "\ude00"
    assert unpack_strings(arrays["data"], arrays["offsets"]) == strings


@pytest.mark.parametrize(
    ("data", "offsets", "message"),
    [
        (b"ab", [], "run from 0 to 2"),
        (b"ab", [0], "run from 0 to 2"),
        (b"ab", [1, 2], "run from 0 to 2"),
        (b"ab", [0, 3], "run from 0 to 2"),
        (b"ab", [0, 2, 1, 2], "must not decrease"),
        (b"ab", [0, 1 << 60, 2], "must not decrease"),
        (b"ab", [0, -1, 2], "must not decrease"),
        (b"\xc3\xa9", [0, 1, 2], "not UTF-8"),
        (b"\xff", [0, 1], "not UTF-8"),
        (b"ab", [[0, 2]], "1-d int64"),
        (b"ab", [0.0, 2.0], "1-d int64"),
    ],
)
def test_unpack_strings_refuses_what_does_not_fit(data, offsets, message):
    offsets = np.array(offsets, dtype=None if offsets else np.int64)
    with pytest.raises(ModelFileError, match=message):
        unpack_strings(np.frombuffer(data, np.uint8), offsets)
