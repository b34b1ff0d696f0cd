"""The container: what goes in comes out, and what fails leaves no trace (damage:
test_container_damage).
"""

import errno
import hashlib
import io
import json
import os
import stat
import struct
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inside import put_chunk_size

import skstruct
from skstruct._saving import atomic
from skstruct._saving.container import (
    ModelFileError,
    container_size,
    read_container,
    write_container,
)
from skstruct._saving.forms import SMALLEST

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float32", "float64"]


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


def assert_same(a, b):
    assert a.dtype == b.dtype and a.dtype.isnative
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


# What goes in comes out.


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays=st.dictionaries(
        st.text(max_size=5),
        st.sampled_from(DTYPES).flatmap(
            lambda dtype: hnp.arrays(
                dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
            )
        ),
        max_size=4,
    ),
    extra=st.dictionaries(
        st.text(max_size=5).filter(lambda key: key not in ("kind", "arrays")),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(st.characters()),
            lambda node: (
                st.lists(node, max_size=3)
                | st.dictionaries(st.text(max_size=3), node, max_size=3)
            ),
            max_leaves=6,
        ),
        max_size=4,
    ),
)
def test_round_trip(path, monkeypatch, arrays, extra):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # only to save time
    header = {"kind": "model", **extra}
    write_container(path, header, arrays)
    back, found = read_container(path, kind="model")
    assert back == header
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert_same(found[name], array)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 5), (2, 0, 3), (2, 3, 4)])
def test_arrays_come_back_ordinary(path, dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    write_container(path, {"kind": "model"}, {"a": array})
    back = read_container(path, kind="model")[1]["a"]
    assert_same(back, array)
    assert type(back) is np.ndarray
    assert (
        back.flags.writeable
        and back.flags.owndata
        and back.flags.c_contiguous
        and back.flags.aligned
    )


def test_any_memory_layout_and_byte_order_can_be_written(path):
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    arrays = {
        "fortran": np.asfortranarray(base),
        "strided": base[::2, ::-1],
        "swapped": base.astype(base.dtype.newbyteorder()),
        "read_only": np.broadcast_to(base[0], (3, 6)),
    }
    write_container(path, {"kind": "model"}, arrays)
    back = read_container(path, kind="model")[1]
    for name, array in arrays.items():
        assert back[name].dtype == np.int32 and back[name].dtype.isnative
        np.testing.assert_array_equal(back[name], array)


def test_arrays_larger_than_a_chunk(path, monkeypatch):
    put_chunk_size(monkeypatch, 7)
    array = np.arange(1000)
    write_container(path, {"kind": "model"}, {"a": array, "b": array[:1]})
    assert_same(read_container(path, kind="model")[1]["a"], array)


def test_special_floats_keep_their_bits(path):
    bits = np.array(
        [0x7FF8000000000001, 0xFFF0000000000000, 0x8000000000000000, 1], np.uint64
    )
    write_container(path, {"kind": "model"}, {"a": bits.view(np.float64)})
    np.testing.assert_array_equal(
        read_container(path, kind="model")[1]["a"].view(np.uint64), bits
    )


def test_layout_is_the_documented_one(path):
    write_container(
        path, {"kind": "model"}, {"a": np.arange(3, dtype=np.int16), "b": np.array(1.0)}
    )
    data = path.read_bytes()
    magic, version, length = struct.unpack("<8sIQ", data[:20])
    assert (magic, version) == (b"\x89STR\r\n\x1a\n", 1)
    assert (20 + length) % 64 == 0
    assert json.loads(data[20 : 20 + length]) == {
        "kind": "model",
        "arrays": [
            {"name": "a", "dtype": "int16", "shape": [3], "offset": 0},
            {"name": "b", "dtype": "float64", "shape": [], "offset": 64},
        ],
    }
    assert data[20 + length : -32] == struct.pack("<3h58xd", 0, 1, 2, 1.0)
    assert data[-32:] == hashlib.sha256(data[:-32]).digest()


def test_same_content_gives_the_same_bytes(path, small):
    header, arrays = read_container(path, kind="model")
    write_container(path, {"kind": "model", **header}, arrays)
    assert path.read_bytes() == small


def test_kind(path, small):
    assert read_container(path, kind="model")[0] == {"kind": "model", "alpha": 0.5}
    assert read_container(path, kind=None)[0]["kind"] == "model"
    with pytest.raises(
        ModelFileError, match="holds a 'model', where a 'checkpoint' was expected"
    ):
        read_container(path, kind="checkpoint")


def test_paths_may_be_str_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_container("m", {"kind": "model"}, {})
    assert read_container("m", kind="model") == ({"kind": "model"}, {})


# What cannot be written.


@pytest.mark.parametrize(
    ("header", "error", "message"),
    [
        ({"kind": "model", "x": float("nan")}, ValueError, "cannot be written as JSON"),
        (
            {"kind": "model", "x": {"y": np.int64(1)}},
            TypeError,
            "cannot be written as JSON",
        ),
        ({"kind": "model", "x": b""}, TypeError, "cannot be written as JSON"),
        (
            {"kind": "model", "x": {1: 2}},
            TypeError,
            r"would change header items \['x'\]",
        ),
        (
            {"kind": "model", "x": (1, 2)},
            TypeError,
            r"would change header items \['x'\]",
        ),
        (
            {"kind": "model", None: None},
            TypeError,
            r"would change header items \[None\]",
        ),
        ({"kind": "model", "x": "x" * (1 << 24)}, ValueError, "use arrays"),
    ],
)
def test_bad_headers_are_refused(path, header, error, message):
    with pytest.raises(error, match=message):
        write_container(path, header, {})
    assert not path.exists()


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        (
            {"a": np.array(["x"], object)},
            ValueError,
            "array 'a' has dtype object; allowed: bool int8",
        ),
        ({"a": np.zeros(1, np.longdouble)}, ValueError, "dtype"),
        ({"a": np.zeros(1, complex)}, ValueError, "dtype complex128"),
        ({"a": np.array(["x"])}, ValueError, "dtype <U1"),
        ({"a": np.zeros(1, "M8[s]")}, ValueError, "dtype datetime64"),
        ({"a": np.zeros(1, [("x", "i4")])}, ValueError, "array 'a' has dtype"),
    ],
)
def test_bad_arrays_are_refused(path, arrays, error, message):
    with pytest.raises(error, match=message):
        write_container(path, {"kind": "model"}, arrays)
    assert not path.exists()


# What fails leaves no trace.


def fail_at_replace(monkeypatch, error):
    def replace(source, target):
        if isinstance(error, OSError):  # the system names the file
            raise OSError(*error.args, target)
        raise error

    monkeypatch.setattr(os, "replace", replace)


def fail_at_fsync(monkeypatch, error):
    def fsync(*args):
        raise error

    monkeypatch.setattr(os, "fsync", fsync)


def fail_at_write(monkeypatch, error):
    class Full(io.BufferedWriter):
        def write(self, data):
            if self.tell() > 100:
                raise error
            return super().write(data)

    monkeypatch.setattr(
        atomic,
        "open",
        lambda name, mode, **_: Full(io.FileIO(name, mode)),
        raising=False,
    )


@pytest.mark.parametrize("fail", [fail_at_write, fail_at_fsync, fail_at_replace])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt(), MemoryError()]
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_failed_save_changes_nothing(path, small, fail, error, exists):
    if not exists:
        path.unlink()
    with pytest.MonkeyPatch.context() as patch:
        fail(patch, error)
        with pytest.raises(type(error)) as caught:
            write_container(path, {"kind": "model"}, {"a": np.zeros(1000)})
    assert not isinstance(error, OSError) or path.name in str(caught.value)
    assert os.listdir(path.parent) == ([path.name] if exists else [])
    assert not exists or path.read_bytes() == small


def test_a_save_replaces_and_leaves_no_other_file(path, small):
    write_container(path, {"kind": "checkpoint"}, {})
    assert read_container(path, kind="checkpoint") == ({"kind": "checkpoint"}, {})
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_in_the_way(tmp_path):
    with pytest.raises(OSError):
        write_container(tmp_path, {"kind": "model"}, {})
    with pytest.raises(FileNotFoundError):
        write_container(tmp_path / "missing" / "m", {"kind": "model"}, {})
    assert os.listdir(tmp_path) == []
    assert not [name for name in os.listdir(tmp_path.parent) if name.endswith(".tmp")]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_permissions(path):
    mask = os.umask(0o027)
    try:
        write_container(path, {"kind": "model"}, {})
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_container(path, {"kind": "model"}, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
@pytest.mark.parametrize("temporary", [None, "given"])
@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_what_is_written_is_never_open_to_more_than_what_it_replaces(
    path, temporary, encoding
):
    path.write_text("secret")
    path.chmod(0o600)
    temporary = temporary and str(path.parent / temporary)
    with atomic.atomic_write(path, encoding, temporary) as file:
        (other,) = (name for name in path.parent.iterdir() if name != path)
        assert stat.S_IMODE(other.stat().st_mode) == 0o600
        file.write("more" if encoding else b"more")
        file.flush()
        assert stat.S_IMODE(other.stat().st_mode) == 0o600
    assert path.read_text() == "more" and stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges")
def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real" / "m")
    write_container(link, {"kind": "model"}, {})
    assert link.is_symlink()
    assert read_container(tmp_path / "real" / "m", kind="model") == (
        {"kind": "model"},
        {},
    )


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs /dev/null")
def test_a_device_stays_a_device():
    write_container("/dev/null", {"kind": "model"}, {"a": np.arange(3)})
    assert not os.path.isfile("/dev/null")


# -- compressed arrays -----------------------------------------------------------------
REPEATED = np.tile(np.arange(1.0, 9.0) / 3, (500, 1))
RANDOM = np.frombuffer(np.random.default_rng(0).bytes(4000), np.uint8)


def zipped(path, **arrays):
    write_container(path, {"kind": "model"}, arrays, SMALLEST)
    return read_container(path, kind="model")[1]


def test_compressed_arrays_come_back(tmp_path, monkeypatch):
    for n_bytes in (1 << 20, 100):
        put_chunk_size(monkeypatch, n_bytes)
        arrays = {
            "a": REPEATED,
            "random": RANDOM,
            "b": np.arange(900) % 7 == 0,
            "none": REPEATED[:0],
        }
        found = zipped(tmp_path / "m", **arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype and (found[name] == array).all()
            assert found[name].flags.writeable and found[name].flags.owndata
    data = (tmp_path / "m").read_bytes()
    assert struct.unpack_from("<I", data, 8) == (1,)
    (length,) = struct.unpack_from("<Q", data, 12)
    specs = {s["name"]: s for s in json.loads(data[20 : 20 + length])["arrays"]}
    assert specs["a"]["zlib"] < REPEATED.nbytes / 20 and "zlib" not in specs["random"]
    size = container_size({"kind": "model"}, arrays, SMALLEST)
    assert size == len(data)


@pytest.mark.parametrize(
    "change, wrong",
    [
        ({"zlib": 0}, "of zlib"),
        ({"zlib": True}, "of zlib"),
        ({"zlib": 10**9}, "of zlib"),
        ({"shape": [2**40, 8]}, "bytes cannot become arrays of 70368744177664"),
        ({"shape": [600, 8]}, "the stream of zlib must have 38400 bytes"),
        ({"shape": [400, 8]}, "the stream of zlib must have 25600 bytes"),
    ],
)
def test_lies_about_compressed_arrays(change, wrong, tmp_path):
    """What a stream would need is refused before there is memory for it."""
    path = tmp_path / "m"
    zipped(path, a=REPEATED)
    forge(path, change)
    with pytest.raises(ModelFileError, match=wrong):
        read_container(path, kind="model")


def test_a_stream_that_is_none(tmp_path):
    path = tmp_path / "m"
    zipped(path, a=REPEATED)
    forge(path, {}, spoil=True)
    with pytest.raises(ModelFileError, match="array 'a': Error -3"):
        read_container(path, kind="model")


def forge(path, change, spoil=False):
    """Change what a file says of its array, with a right checksum."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data, 12)
    header = json.loads(data[20 : 20 + length])
    header["arrays"][0].update(change)
    text = json.dumps(header).encode()
    text += b" " * (-(20 + len(text)) % 64)
    rest = data[20 + length : -32]
    rest = b"\0" * len(rest) if spoil else rest
    data = data[:8] + struct.pack("<IQ", 1, len(text)) + text + rest
    path.write_bytes(data + hashlib.sha256(data).digest())


def test_the_error_of_a_model_file_is_public(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"no model")
    with pytest.raises(skstruct.ModelFileError, match="m"):
        skstruct.load(path)
