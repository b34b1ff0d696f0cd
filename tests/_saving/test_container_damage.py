"""The container refuses every damaged, foreign or hostile file, and allocates nothing
for it.
"""

import gzip
import hashlib
import io
import json
import os
import pickle
import struct
import tracemalloc

import numpy as np
import pytest

from skstruct._saving.container import ModelFileError, read_container, write_container


@pytest.fixture
def small(path):
    """The bytes of a small file, which also lies at `path`."""
    arrays = {
        "w": np.array([1.5, -2.0]),
        "on": np.array([True, False]),
        "n": np.array(7, np.int16),
    }
    write_container(path, {"kind": "model", "alpha": 0.5}, arrays)
    return path.read_bytes()


def build(header, data=b"", version=1, magic=b"\x89STR\r\n\x1a\n", length=None):
    """The bytes of a file as the format's documentation says, written without the code
    under test.
    """
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-(20 + len(text)) % 64)
    body = (
        struct.pack("<8sIQ", magic, version, len(text) if length is None else length)
        + text
        + data
    )
    return body + hashlib.sha256(body).digest()


def spec(**changes):
    return {"name": "a", "dtype": "uint8", "shape": [4], "offset": 0, **changes}


def test_every_truncation_is_refused(path, small):
    for size in range(len(small)):
        path.write_bytes(small[:size])
        with pytest.raises(
            ModelFileError, match="truncated: expected" if size else "it is empty"
        ):
            read_container(path, kind="model")


def test_truncation_names_both_sizes(path, small):
    path.write_bytes(small[:-1])
    message = f"model.skstruct': truncated: expected {len(small)} bytes, found {len(small) - 1}"
    with pytest.raises(ModelFileError, match=message):
        read_container(path, kind="model")


def test_every_flipped_bit_is_refused(path, small):
    with open(path, "r+b", buffering=0) as file:
        for position, byte in enumerate(small):
            for bit in range(8):
                file.seek(position)
                file.write(bytes([byte ^ 1 << bit]))
                with pytest.raises(ModelFileError):
                    read_container(path, kind=None)
            file.seek(position)
            file.write(bytes([byte]))
    assert read_container(path, kind=None)[0]["kind"] == "model"


@pytest.mark.parametrize("position", [25, -33, -1])
def test_damage_behind_the_sizes_is_called_a_checksum_mismatch(path, small, position):
    damaged = bytearray(small)
    damaged[position] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ModelFileError, match="checksum mismatch"):
        read_container(path, kind="model")


def test_appended_bytes_are_refused(path, small):
    path.write_bytes(small + b"\0")
    with pytest.raises(ModelFileError, match="data after the end"):
        read_container(path, kind="model")


def foreign_files():
    npz = io.BytesIO()
    np.savez(npz, a=np.zeros(2))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield (
            f"pickle {protocol}",
            pickle.dumps({"a": 1}, protocol),
            "looks like a pickle",
        )
    yield "zip", npz.getvalue(), "looks like a zip archive"
    yield "gzip", gzip.compress(b"text"), "looks like a gzip file"
    yield "crfsuite", b"lCRF\0\1\2\3", "looks like a CRFsuite model"
    yield "text", b"Confidence NN B-NP\n" * 9, "looks like text"
    yield "cut text", "\u4e2d\u6587".encode() * 200, "looks like text"
    yield "one byte", b"x", "looks like text"
    yield "binary", bytes(range(256)), "some other binary file"
    yield "empty", b"", "it is empty"
    yield "text mode", b"\x89STR\n\x1a\n" + bytes(100), "damaged at its start"


@pytest.mark.parametrize(
    ("data", "message"), [pytest.param(d, m, id=i) for i, d, m in foreign_files()]
)
def test_foreign_files_are_named(path, data, message):
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=f"not a skstruct file: .*{message}"):
        read_container(path, kind="model")


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_files_of_unpublished_versions_are_refused_by_name(version, path):
    """Whole, cut short, or with an empty header."""
    whole = build({"kind": "model", "arrays": []}, version=version)
    for size in (4, 8, 20, len(whole)):
        path.write_bytes(b"\x89SKS\r\n\x1a\n"[:size] + whole[8:size])
        with pytest.raises(ModelFileError) as raised:
            read_container(path, kind="model")
        assert str(raised.value) == (
            f"{str(path)!r}: written by an unpublished version of skstruct, before "
            "0.4.0, which no release reads; train the model again"
        )


def test_a_pickle_is_not_executed(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path) + ".executed",)

    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        read_container(path, kind="model")
    assert not os.path.exists(str(path) + ".executed")


def test_missing_file_and_folder_are_os_errors(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_container(path, kind="model")
    with pytest.raises(OSError):
        read_container(tmp_path, kind="model")


def test_newer_format_version(path):
    path.write_bytes(build({"kind": "model", "arrays": []}, version=7))
    message = r"written by a newer skstruct \(format 7, this version reads up to 1\)"
    with pytest.raises(ModelFileError, match=message):
        read_container(path, kind="model")


@pytest.mark.parametrize(
    ("written_by", "said"),
    [
        ("0.9.1", "; skstruct 0.9.1, which wrote it, reads it"),
        ("<b>", "reads up to 1)"),
        (7, "reads up to 1)"),
    ],
)
def test_a_newer_format_names_the_release_that_reads_it(path, written_by, said):
    path.write_bytes(
        build({"kind": "model", "skstruct": written_by, "arrays": []}, version=7)
    )
    with pytest.raises(ModelFileError) as raised:
        read_container(path, kind="model")
    assert str(raised.value).endswith(said)


# Well-formed checksums around hostile content: the size of the file bounds everything.


def test_handmade_file_is_read(path):
    path.write_bytes(build({"kind": "model", "arrays": [spec()]}, b"\1\2\3\4"))
    assert read_container(path, kind="model")[1]["a"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{", "malformed header"),
        (b"\xff\xfe", "malformed header"),
        ('{"kind": "model", "arrays": []}'.encode("utf-16"), "malformed header"),
        (b"[" * 100_000, "malformed header"),
        (b'{"kind": "model", "arrays": [' + b"9" * 9000 + b"]}", "malformed header"),
        ([], "not a JSON object"),
        ({"arrays": []}, "'kind' is missing"),
        ({"kind": 1, "arrays": []}, "'kind' is missing"),
        ({"kind": "model"}, "'arrays' is missing"),
        ({"kind": "model", "arrays": {}}, "'arrays' is missing"),
    ],
)
def test_malformed_headers_are_refused(path, header, message):
    path.write_bytes(build(header))
    with pytest.raises(ModelFileError, match=message):
        read_container(path, kind="model")


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([None], "must have just name, dtype"),
        ([{"name": "a"}], "must have just name, dtype"),
        ([spec(more=1)], "must have just name, dtype"),
        ([spec(name=1)], "name must be a string"),
        ([spec(dtype="object")], "dtype must be one of .* got 'object'"),
        ([spec(dtype="O")], "dtype must be one of"),
        ([spec(dtype=">i4")], "dtype must be one of"),
        ([spec(dtype="complex128")], "dtype must be one of"),
        ([spec(dtype=["uint8"])], "dtype must be one of"),
        ([spec(shape=4)], "list of non-negative integers"),
        ([spec(shape=[-4])], "list of non-negative integers"),
        ([spec(shape=[-2, -2])], "list of non-negative integers"),
        ([spec(shape=[4.0])], "list of non-negative integers"),
        ([spec(shape=[True, 4])], "list of non-negative integers"),
        ([spec(shape=[4] + [1] * 32)], "32 dimensions"),
        ([spec(shape=[0, 2**62, 2])], "2\\*\\*63 bytes"),
        ([spec(shape=[2**32, 2**32])], "2\\*\\*63 bytes"),
        ([spec(shape=[0, 10**4000])], "2\\*\\*63 bytes"),
        ([spec(offset=-1)], "offset must be 0"),
        ([spec(offset=64)], "offset must be 0"),
        ([spec(offset=False)], "offset must be 0"),
        ([spec(), spec(name="b")], "offset must be 64"),
        ([spec(shape=[0]), spec()], "two arrays named 'a'"),
        ([spec(dtype="bool")], "bool must be 0 or 1"),
        ([spec(shape=[5])], "truncated: expected"),
        ([spec(dtype="uint16")], "truncated: expected"),
        ([spec(shape=[3])], "data after the end"),
        ([], "data after the end"),
    ],
)
def test_malformed_array_lists_are_refused(path, specs, message):
    path.write_bytes(build({"kind": "model", "arrays": specs}, b"\1\2\3\4"))
    with pytest.raises(ModelFileError, match=message):
        read_container(path, kind="model")


@pytest.mark.parametrize(
    "data",
    [
        build({"kind": "model", "arrays": [spec(shape=[1 << 40])]}, bytes(4)),
        build(
            {"kind": "model", "arrays": [spec(shape=[1 << 20] * 2, dtype="float64")]},
            bytes(4),
        ),
        build(
            {
                "kind": "model",
                "arrays": [spec(name=str(i), shape=[1 << 30]) for i in range(99)],
            }
        ),
        build({"kind": "model", "arrays": []}, length=(1 << 24) - 20 - 44),
        build({"kind": "model", "arrays": []}, length=(1 << 63) - 20),
        build({"kind": "model", "arrays": []}, length=(1 << 64) - 1),
    ],
    ids=["array", "matrix", "many", "header", "long header", "longest header"],
)
def test_huge_declared_sizes_allocate_nothing(path, data):
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            read_container(path, kind="model")
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def test_odd_header_length_is_refused(path):
    path.write_bytes(build({"kind": "model", "arrays": []}, bytes(64), length=45))
    with pytest.raises(
        ModelFileError, match="header of 45 bytes leaves the data unaligned"
    ):
        read_container(path, kind="model")


def test_format_version_zero_is_refused(path):
    path.write_bytes(build({"kind": "model", "arrays": []}, version=0))
    with pytest.raises(ModelFileError, match="format 0 does not exist"):
        read_container(path, kind="model")
