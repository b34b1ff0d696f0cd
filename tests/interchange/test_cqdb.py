"""The string database of CRFsuite: hashes of the published function, and strings that
come back.
"""

import struct

import pytest

from skstruct._saving.container import ModelFileError
from skstruct.interchange.cqdb import (
    HEADER,
    TABLES,
    lookup3,
    read_strings,
    string_database,
)
from skstruct.interchange.foreign import ForeignBytes


def test_hashes_are_those_of_the_paper():
    """The value that `lookup3.c` names for its example."""
    example = b"Four score and seven years ago"
    assert lookup3([example, b"a", example]).tolist()[::2] == [0x17770551] * 2


@pytest.mark.parametrize("n", [0, 1, 700])
def test_strings_come_back(n):
    strings = [f"name{k}" for k in range(n)]
    data = string_database([string.encode() for string in strings])
    file = ForeignBytes(b"before" + data, "a file")
    assert read_strings(file, 6, n, "names") == strings


def test_the_tool_finds_strings_by_their_hash():
    strings = [b"a", b"bc", b"def"]
    data = string_database(strings)
    for number, string in enumerate(strings):
        (h,) = lookup3([string + b"\0"]).tolist()
        table, n = struct.unpack_from("<II", data, 24 + 8 * (h % TABLES))
        buckets = list(struct.iter_unpack("<II", data[table : table + 8 * n]))
        (place,) = [at for key, at in buckets if key == h]
        assert struct.unpack_from("<I", data, place) == (number,)


def test_damage_is_named():
    data = bytearray(string_database([b"a", b"b"]))
    data[HEADER] = 9
    with pytest.raises(
        ModelFileError, match="a file: byte .*another number than name 0"
    ):
        read_strings(ForeignBytes(bytes(data), "a file"), 0, 2, "names")
