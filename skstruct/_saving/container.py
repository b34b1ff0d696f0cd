r"""The model-file container: one checked file of JSON and plain arrays, read without
running code.

A fitted model is settings and flat arrays, so its file is a JSON header and raw array
bytes. Nothing in it is executed or unpickled. A SHA-256 of all the rest ends the file,
so that every flipped bit and every cut is refused (it finds accidents; it does not
prove who wrote the file). No size that a file declares is believed before it is
compared with the size that the file has.

Format, version 1 (all integers little-endian)::

    offset   bytes  content
    0        8      magic: 89 53 54 52 0D 0A 1A 0A ("\x89STR\r\n\x1a\n"; text-mode transfers break it)
    8        4      uint32 format version: 1
    12       8      uint64 header length H, at most 2**24; 20 + H is a multiple of 64
    20       H      header: one JSON object (RFC 8259, UTF-8), padded with spaces
    20 + H   A      data: the arrays in the header's order, C order, each at a multiple of 64, the gaps
                    between them zero, no gap after the last one
    20+H+A   32     SHA-256 of all bytes before it

The header object holds ``"kind"`` (a non-empty string such as ``"model"`` or
``"checkpoint"``), ``"arrays"`` and whatever else the writer put there. ``"arrays"`` is
a list of objects with these members: ``"name"`` (unique string), ``"dtype"``
(``bool``, ``int8`` to ``int64``, ``uint8`` to ``uint64``, ``float16`` to ``float64``; a
bool is one byte, 0 or 1), ``"shape"`` (at most 32 integers; ``[]`` is one scalar) and
``"offset"`` (bytes from 20 + H), and besides those that say in which form (``forms``)
it takes fewer bytes. Offsets are fully determined: the first is 0, each next one is the
end of its predecessor rounded up to a multiple of 64.

Lists of strings are two arrays: the concatenated UTF-8 bytes (uint8; ``surrogatepass``)
and n + 1 offsets (int64), string i being ``bytes[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
import unicodedata
from collections.abc import Callable
from io import BufferedReader
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._data.places import describe
from .atomic import atomic_write, naming
from .forms import (
    FAST,
    FORMS,
    Packing,
    Stored,
    as_it_is,
    bytes_in_file,
    may_grow,
    restored,
    smaller,
)

if TYPE_CHECKING:
    from .._data.types import Path


MAGIC = b"\x89STR\r\n\x1a\n"
FORMAT_VERSION = 1
"""The one that is written, and the newest that is read."""

UNPUBLISHED = b"\x89SKS"
"""The first bytes of files of versions before 0.4.0."""

MAX_HEADER_BYTES = 1 << 24
MAX_DIMENSIONS = 32
_ALIGNMENT = 64
_PREFIX = struct.Struct("<8sIQ")
_DIGEST_BYTES = hashlib.sha256().digest_size
_CHUNK_BYTES = 1 << 20
_DAMAGED = "checksum mismatch: the file is damaged"

_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)
_DTYPES = {name: np.dtype(name).newbyteorder("<") for name in _NAMES.split()}


def is_container(path: Path) -> bool:
    """Tell whether a file begins as those of this package do."""
    with naming(path), open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


# What a file that does not start with MAGIC starts with, and what it then is.
_FOREIGN = (
    (MAGIC[:4], "a skstruct file damaged at its start (by a text-mode transfer?)"),
    (b"PK\x03\x04", "a zip archive (or .npz file)"),
    (b"\x1f\x8b", "a gzip file"),
    (b"lCRF", "a CRFsuite model, which skstruct.interchange.load_crfsuite reads"),
    (b"#mdl#", "a Wapiti model, which skstruct.interchange.load_wapiti reads"),
    (
        b"\x80",
        "a pickle (which skstruct never loads); of a CRF of sklearn-crfsuite "
        "skstruct.interchange.load_crfsuite reads it",
    ),
)


class ModelFileError(ValueError):
    """A file that is not, or is no longer, a readable skstruct file."""


def _require(condition: Any, reason: str) -> None:
    if not condition:
        raise ModelFileError(reason)


def require(condition: Any, reason: str) -> None:
    """Raise a ModelFileError about what a file holds unless the condition holds."""
    _require(condition, f"malformed: {reason}")


def within(array: np.ndarray, low: Any, high: Any) -> bool:
    """Tell whether all elements are in [low, high)."""
    return array.size == 0 or bool(
        array.min().item() >= low and array.max().item() < high
    )


def write_container(
    path: Path,
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    packing: Packing = FAST,
    temporary: str | None = None,
) -> None:
    """Write a header and named arrays to one file, whole or not at all
    (:func:`atomic_write`).

    Parameters
    ----------
    path : str or os.PathLike
        The file to write.
    header : dict
        What JSON gives back unchanged: string keys, no tuples, no NaN or infinity, no
        numpy integers. ``header["kind"]`` must be a non-empty string;
        ``header["arrays"]`` is reserved.
    arrays : dict of str to numpy.ndarray
        Arrays of any shape and memory layout; dtype bool, a fixed-width integer or a
        float of 16 to 64 bits.
    packing : Packing
        How much work makes the file small.
    temporary : str, optional
        Name of the temporary file, on the same file system; drawn at random if not
        given.

    Raises
    ------
    TypeError, ValueError
        If `header` or `arrays` cannot be written; nothing has been touched then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(f"{folder}/weights", {"kind": "model", "alpha": 1e-6}, {"coef": np.arange(3.0)})
    ...     read_container(f"{folder}/weights", kind="model")
    ({'kind': 'model', 'alpha': 1e-06}, {'coef': array([0., 1., 2.])})
    """
    path = path_of(path)
    stored = _stored(arrays, packing)
    encoded, specs = _encode_header(header, arrays, stored)
    with atomic_write(path, temporary=temporary) as file:
        _write_bytes(file.write, encoded, specs, stored)


def path_of(path: Path) -> str:
    """Return a path as ``os.fspath`` does; an open file is refused."""
    try:
        return os.fspath(path)
    except TypeError:
        raise TypeError(
            f"path must be a str or an os.PathLike, got {describe(path)}; "
            "pickle.dumps makes bytes of a model, and pickle.loads reads them"
        ) from None


def container_array(
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    packing: Packing | None = None,
) -> np.ndarray:
    """Return a file, as a read-only array of bytes.

    Without a packing its arrays are stored as they are, and a reader makes views of
    them.
    """
    stored = _stored(arrays, packing)
    encoded, specs = _encode_header(header, arrays, stored)
    out = np.empty(_size(encoded, specs, stored), np.uint8)
    view = memoryview(out)  # type: ignore[arg-type]  # numpy 1 does not say so
    end = 0

    def put(data: Any) -> None:
        nonlocal end
        start = end
        end = start + len(data)
        view[start:end] = data

    _write_bytes(put, encoded, specs, stored)
    out.flags.writeable = False
    return out


def container_size(
    header: dict[str, Any], arrays: dict[str, np.ndarray], packing: Packing = FAST
) -> int:
    """Count the bytes of the file that :func:`write_container` would write."""
    stored = _stored(arrays, packing)
    return _size(*_encode_header(header, arrays, stored), stored)


def _size(
    encoded: bytes, specs: list[dict[str, Any]], stored: dict[str, Stored]
) -> int:
    """Count the bytes of a file, given what :func:`_encode_header` returned."""
    end = specs[-1]["offset"] + stored[specs[-1]["name"]].data.size if specs else 0
    return len(encoded) + end + _DIGEST_BYTES


def _stored(
    arrays: dict[str, np.ndarray], packing: Packing | None
) -> dict[str, Stored]:
    """Return arrays as they lie in a file; without a packing as they are."""
    known = {}
    for name, array in arrays.items():
        dtype = _DTYPES.get(array.dtype.name)
        if dtype is None:
            raise ValueError(
                f"array {name!r} has dtype {array.dtype}; allowed: {_NAMES}"
            )
        known[name] = np.asarray(array, dtype, order="C")
    if packing is None:
        return {name: as_it_is(array) for name, array in known.items()}
    return smaller(known, packing)


def _encode_header(
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    stored: dict[str, Stored],
) -> tuple[bytes, list[dict[str, Any]]]:
    """Check what is to be written; return (prefix and padded JSON as bytes, array
    specs).
    """
    specs = []
    end = 0
    for name, array in arrays.items():
        dtype = array.dtype.name
        shape = list(array.shape)
        if array.ndim > MAX_DIMENSIONS:
            raise ValueError(
                f"array {name!r} has {array.ndim} dimensions; allowed: {MAX_DIMENSIONS}"
            )
        offset = end + -end % _ALIGNMENT
        data, form = stored[name]
        end = offset + data.size
        spec = {"name": name, "dtype": dtype, "shape": shape, "offset": offset}
        specs.append({**spec, **form})
    try:
        text = json.dumps(
            {**header, "arrays": specs}, allow_nan=False, separators=(",", ":")
        )
    except (TypeError, ValueError) as error:
        raise type(error)(f"header cannot be written as JSON: {error}") from None
    back = json.loads(text)
    changed = [key for key in header if key not in back or back[key] != header[key]]
    if changed:
        why = "a tuple? a key that is no str? two surrogates in a row?"
        raise TypeError(f"JSON would change header items {changed} ({why})")
    encoded = text.encode("ascii")  # json escapes everything else, lone surrogates too
    encoded += b" " * (-(_PREFIX.size + len(encoded)) % _ALIGNMENT)
    if len(encoded) > MAX_HEADER_BYTES:
        raise ValueError(
            f"header takes {len(encoded)} bytes; allowed: {MAX_HEADER_BYTES}; use arrays"
        )
    return _PREFIX.pack(MAGIC, FORMAT_VERSION, len(encoded)) + encoded, specs


def _write_bytes(
    write: Callable[[Any], object],
    encoded: bytes,
    specs: list[dict[str, Any]],
    stored: dict[str, Stored],
) -> None:
    """Hand prefix, header, arrays and digest, piece by piece, to a function."""
    digest = hashlib.sha256()

    def put(data: Any) -> None:
        write(data)
        digest.update(data)

    put(encoded)
    end = 0
    for spec in specs:
        put(bytes(spec["offset"] - end))
        data = stored[spec["name"]].data
        for start in range(0, data.size, _CHUNK_BYTES):
            put(data[start : start + _CHUNK_BYTES])
        end = spec["offset"] + data.size
    write(digest.digest())


class _Source(Protocol):
    """The source of the bytes of a container."""

    size: int

    def part(self, start: int, stop: int) -> Any:
        """Return some bytes; fewer if they end before."""

    def array(self, start: int, dtype: np.dtype, shape: list[int]) -> np.ndarray:
        """Return an array that lies within."""


class _File:
    """An open file, of which arrays are copies."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size

    def part(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        return self._file.read(max(stop - start, 0))

    def array(self, start: int, dtype: np.dtype, shape: list[int]) -> np.ndarray:
        array = np.empty(shape, dtype)
        data: Any = _as_bytes(array)
        self._file.seek(start)
        whole = self._file.readinto(data) == data.size
        _require(whole, "truncated while it was being read")
        return array


class _InMemory:
    """Bytes in memory, or in a memory map, of which arrays are read-only views."""

    def __init__(self, data: np.ndarray) -> None:
        self._data = data.view(np.ndarray)
        self._data.flags.writeable = False
        self._bytes = memoryview(self._data)  # type: ignore[arg-type]
        self.size = data.size

    def part(self, start: int, stop: int) -> memoryview:
        return self._bytes[start:stop]

    def array(self, start: int, dtype: np.dtype, shape: list[int]) -> np.ndarray:
        stop = start + math.prod(shape) * dtype.itemsize
        array = self._data[start:stop].view(dtype).reshape(shape)
        return array if array.flags.aligned else array.copy()


def read_container(
    path: Path, *, kind: str | None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a file that `write_container` wrote.

    Parameters
    ----------
    path : str or os.PathLike
        The file to read.
    kind : str or None
        What ``header["kind"]`` has to be; None accepts every kind.

    Returns
    -------
    header : dict
        As written.
    arrays : dict of str to numpy.ndarray
        As written, in that order: C-contiguous, native byte order, writable, owning
        their memory.

    Raises
    ------
    ModelFileError
        If the file is foreign, truncated, damaged, malformed, newer than this code or
        of another kind.
    OSError
        If the file cannot be opened or read.
    """
    path = path_of(path)
    try:
        with naming(path), open(path, "rb") as file:
            return _read(_File(file), kind)
    except ModelFileError as error:
        raise ModelFileError(f"{path!r}: {error}") from None


def read_container_array(
    data: Any, *, kind: str, intact: bool = False
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what :func:`container_array` returned.

    Parameters
    ----------
    data : ndarray of shape (n_bytes,), uint8
        A memory map, too.
    kind : str
        What ``header["kind"]`` has to be.
    intact : bool
        Whether the checksum is known to be right.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray
        Read-only views of ``data``.

    Raises
    ------
    ModelFileError
        As :func:`read_container`.
    """
    are_bytes = isinstance(data, np.ndarray) and data.dtype == np.uint8
    _require(
        are_bytes and data.ndim == 1 and data.flags.c_contiguous,
        "malformed: an array of bytes was expected",
    )
    return _read(_InMemory(data), kind, intact)


def _read(
    source: _Source, kind: str | None, intact: bool = False
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read header and arrays."""
    encoded = _read_header_bytes(source)
    intact = intact or _digest_matches(source)
    try:
        header, n_bytes = _parse_header(encoded)
    except ModelFileError:
        _require(intact, _DAMAGED)
        raise
    base = _PREFIX.size + len(encoded)
    size = source.size
    expected = base + n_bytes + _DIGEST_BYTES
    reason = "truncated" if size < expected else "data after the end"
    _require(size == expected, f"{reason}: expected {expected} bytes, found {size}")
    _require(intact, _DAMAGED)
    found = header["kind"]
    _require(kind in (None, found), f"holds a {found!r}, where a {kind!r} was expected")
    arrays = {s["name"]: _read_array(source, base, s) for s in header.pop("arrays")}
    return header, arrays


def _read_header_bytes(source: _Source) -> bytes:
    """Check the fixed prefix against the size; return the header's bytes."""
    prefix = bytes(source.part(0, _PREFIX.size))
    _require(prefix, "not a skstruct file: it is empty")
    _require(
        not prefix.startswith(UNPUBLISHED),
        "written by an unpublished version of skstruct, before 0.4.0, which no release "
        "reads; train the model again",
    )
    if not prefix.startswith(MAGIC[: len(prefix)]):
        found = _describe_foreign(bytes(source.part(0, 512)))
        raise ModelFileError(f"not a skstruct file: it looks like {found}")
    size = source.size
    smallest = _PREFIX.size + _DIGEST_BYTES
    _require(
        size >= smallest, f"truncated: expected at least {smallest} bytes, found {size}"
    )
    _, version, length = _PREFIX.unpack(prefix)
    if version > FORMAT_VERSION:
        start = _PREFIX.size
        newest = f"format {version}, this version reads up to {FORMAT_VERSION}"
        release = _release(
            bytes(source.part(start, start + min(length, MAX_HEADER_BYTES)))
        )
        raise ModelFileError(f"written by a newer skstruct ({newest}){release}")
    _require(version > 0, "malformed: format 0 does not exist")
    _require(
        length <= MAX_HEADER_BYTES,
        f"malformed: header over {MAX_HEADER_BYTES} bytes: {length}",
    )
    aligned = (_PREFIX.size + length) % _ALIGNMENT == 0
    _require(aligned, f"malformed: header of {length} bytes leaves the data unaligned")
    smallest += length
    _require(
        size >= smallest, f"truncated: expected at least {smallest} bytes, found {size}"
    )
    return bytes(source.part(_PREFIX.size, _PREFIX.size + length))


def _release(encoded: bytes) -> str:
    """Say which release reads a file of a newer format, if its header says so."""
    try:
        header = json.loads(encoded.decode("utf-8"))
    except (ValueError, RecursionError):
        return ""
    version = header.get("skstruct") if isinstance(header, dict) else None
    if not isinstance(version, str) or not re.fullmatch(
        r"[0-9][0-9A-Za-z.+]{,30}", version
    ):
        return ""
    return f"; skstruct {version}, which wrote it, reads it"


def _describe_foreign(head: bytes) -> str:
    """Say what a file without our magic, that starts so, looks like."""
    for start, name in _FOREIGN:
        if head.startswith(start):
            return name
    text = head.decode("utf-8", "replace").rstrip(
        "\ufffd"
    )  # the last character may be cut
    if text and all(
        c.isprintable() or c.isspace() or unicodedata.category(c) == "Cf" for c in text
    ):  # Cf: marks within words and emoji
        return "text"
    return "some other binary file"


def _digest_matches(source: _Source) -> bool:
    """Tell whether the last 32 bytes are the SHA-256 of all bytes before them."""
    digest = hashlib.sha256()
    end = source.size - _DIGEST_BYTES
    for start in range(0, end, _CHUNK_BYTES):
        digest.update(source.part(start, min(start + _CHUNK_BYTES, end)))
    return bytes(source.part(end, source.size)) == digest.digest()


def _parse_header(encoded: bytes) -> tuple[dict[str, Any], int]:
    """Return the checked header, with its array specs, and the number of data bytes
    they declare.
    """
    try:
        header = json.loads(encoded.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"malformed header: {error}") from None
    _require(isinstance(header, dict), "malformed header: not a JSON object")
    kind = header.get("kind")
    specs = header.get("arrays")
    _require(
        isinstance(kind, str) and kind,
        "malformed header: 'kind' is missing or no string",
    )
    _require(
        isinstance(specs, list), "malformed header: 'arrays' is missing or no list"
    )
    names = set()
    end = 0
    in_memory = 0
    for i, spec in enumerate(specs):
        end = _check_spec(spec, f"malformed header: arrays[{i}]", end)
        in_memory += math.prod(spec["shape"]) * _DTYPES[spec["dtype"]].itemsize
        _require(
            spec["name"] not in names,
            f"malformed header: two arrays named {spec['name']!r}",
        )
        names.add(spec["name"])
    _require(
        may_grow(in_memory, end),
        f"malformed header: {end} bytes cannot become arrays of {in_memory}",
    )
    return header, end


def _check_spec(spec: Any, where: str, end: int) -> int:
    """Check one array's description, given where the array before ends; return where
    this one ends.
    """
    members = ("name", "dtype", "shape", "offset")
    ok = isinstance(spec, dict) and set(spec) - set(FORMS) == set(members)
    _require(ok, f"{where} must have just {', '.join(members)}")
    name, dtype, shape, offset = (spec[member] for member in members)
    _require(isinstance(name, str), f"{where}: the name must be a string")
    ok = str(dtype) in _DTYPES
    _require(ok, f"{where}: the dtype must be one of {_NAMES}, got {str(dtype)[:40]!r}")
    # type, not isinstance: JSON's true is an int in Python, but no length.
    ok = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    _require(ok, f"{where}: the shape must be a list of non-negative integers")
    # Lengths that overflow together are refused even if another length is 0, as numpy
    # does.
    itemsize = _DTYPES[dtype].itemsize
    ok = (
        len(shape) <= MAX_DIMENSIONS
        and math.prod(n or 1 for n in shape) * itemsize < 2**63
    )
    _require(
        ok, f"{where}: the shape has over {MAX_DIMENSIONS} dimensions or 2**63 bytes"
    )
    # Demanding the one possible layout rules out overlaps, by which a small file could
    # fill the memory.
    start = end + -end % _ALIGNMENT
    _require(
        type(offset) is int and offset == start, f"{where}: the offset must be {start}"
    )
    try:
        return start + bytes_in_file(_form_of(spec), _DTYPES[dtype], shape)
    except ValueError as error:
        raise ModelFileError(f"{where}: {error}") from None


def _form_of(spec: dict[str, Any]) -> dict[str, Any]:
    return {member: spec[member] for member in FORMS if member in spec}


def _read_array(source: _Source, base: int, spec: dict[str, Any]) -> np.ndarray:
    """Read one array whose bytes are known to lie within the file."""
    dtype = _DTYPES[spec["dtype"]]
    shape = spec["shape"]
    start = base + spec["offset"]
    form = _form_of(spec)
    if form:
        part = source.part(start, start + bytes_in_file(form, dtype, shape))
        try:
            array = restored(part, form, dtype, shape)
        except ValueError as error:
            reason = f"malformed: array {spec['name']!r}: {error}"
            raise ModelFileError(reason) from None
    else:
        array = source.array(start, dtype, shape)
    if spec["dtype"] == "bool":
        most = _as_bytes(array).max(initial=0)
        _require(most <= 1, f"array {spec['name']!r}: a bool must be 0 or 1")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """View a C-contiguous array, of zero dimensions or none left too, as flat uint8."""
    return array.reshape(-1).view(np.uint8)
