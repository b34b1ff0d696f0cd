"""The forms in which a file holds arrays: without zeros, as smaller integers, as a
stream of zlib.

Each is exact: what is read has every bit of what was written, the sign of -0.0 too. An
array takes the forms that make it smaller, in this order; the members of its
description that name them are in quotes.

- ``"held"``: an array that is mostly zero is the elements that are not, and behind
  them a bit for each element, the highest bit of a byte first: 1 where it is held.
- ``"as"``: integers, and floats that are integers, take the smallest type of integers
  that holds them; with ``"steps"`` the differences along the first axis do, the first
  one to zero.
- ``"zlib"``: the bytes are a stream of zlib (RFC 1950) of that length.

Reading has to stay as fast as a disk, so that zlib, which is slow on large arrays,
has a limited number of bytes in a file.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, NamedTuple

import numpy as np

FORMS = "held", "as", "steps", "zlib"
"""Members of an array's description that say its form."""

MOST_GROWTH = 1040
"""All arrays together have at most so many bytes in memory for each in the file, and
:data:`SPARE` more, so that no small file fills the memory. Zlib alone makes at most
1032 of one.
"""

SPARE = 1 << 24

LEAST_SAVED = 64
"""Bytes that a form saves at least: arrays begin at multiples of it."""

_PIECE = 1 << 20
_SAMPLE = 1000

_INTEGERS = {
    name: np.dtype(name).newbyteorder("<")
    for name in "uint8 int8 uint16 int16 uint32 int32".split()
}


class Packing(NamedTuple):
    """Choices that make a file small."""

    room: float
    """Bytes, before compression, of the arrays that zlib compresses, all together."""

    level: int
    """That of zlib; 9 takes four times as long as 6 for one per cent."""

    least_share: float
    """Share of an array's bytes that zlib saves at least."""


FASTEST = Packing(0, 1, 1.0)
"""For checkpoints."""

FAST = Packing(8_000_000, 1, 1 / 16)
"""For models: decompression takes at most about .05 s."""

SMALLEST = Packing(math.inf, 6, 0.0)
"""For compressed models."""


class Stored(NamedTuple):
    """An array as it lies in a file."""

    data: np.ndarray
    """Its bytes, uint8."""

    form: dict[str, Any]
    """The members that say how to read them."""


def as_it_is(array: np.ndarray) -> Stored:
    """Return the bytes of a C-contiguous little-endian array."""
    return Stored(_as_bytes(array), {})


def smaller(arrays: dict[str, np.ndarray], packing: Packing) -> dict[str, Stored]:
    """Return the smallest forms of C-contiguous little-endian arrays.

    Those that come first are the first that zlib compresses.
    """
    out = {}
    room = packing.room
    spare = SPARE
    for name, array in arrays.items():
        found = _without_zeros(array)
        if LEAST_SAVED < found.data.size <= room:
            zipped = _zipped(found, packing)
            excess = max(array.nbytes - zipped.data.size * MOST_GROWTH, 0)
            if zipped is not found and excess <= spare:
                room -= found.data.size
                spare -= excess
                found = zipped
        out[name] = found
    return out


def _zipped(found: Stored, packing: Packing) -> Stored:
    """Return a stored array as a stream of zlib, or as it is if that saves too little."""
    size = found.data.size
    stream = np.frombuffer(zlib.compress(found.data.data, packing.level), np.uint8)
    if size - stream.size < max(LEAST_SAVED, packing.least_share * size):
        return found
    return Stored(stream, {**found.form, "zlib": stream.size})


def _without_zeros(array: np.ndarray) -> Stored:
    """Return the form of an array but for zlib."""
    if array.nbytes <= LEAST_SAVED:
        return as_it_is(array)
    flat = array.reshape(-1)
    size = flat.size
    marks = _bits(flat) != 0
    n_held = int(np.count_nonzero(marks))
    # What saves a little now is in the way of zlib.
    mostly_zero = 4 * (-(-size // 8) + n_held * flat.itemsize) <= 3 * array.nbytes
    elements = flat[marks] if mostly_zero else flat
    narrow = _narrow(elements)
    width = narrow.itemsize
    held_bytes = -(-size // 8) + n_held * width
    best = min(held_bytes if mostly_zero else math.inf, size * width)
    steps = _steps(array, width)
    if steps is not None and array.size * steps.itemsize + LEAST_SAVED <= best:
        form = {"as": steps.dtype.name, "steps": True}
        return Stored(_as_bytes(steps), form)
    if best + LEAST_SAVED > array.nbytes:
        return as_it_is(array)
    form = {} if width == flat.itemsize else {"as": narrow.dtype.name}
    if not mostly_zero:
        return Stored(_as_bytes(narrow), form)
    if held_bytes > size * width:  # small integers: a bit for each is too much
        return Stored(_as_bytes(flat.astype(narrow.dtype)), form)
    data = np.concatenate([_as_bytes(narrow), np.packbits(marks)])
    return Stored(data, {"held": n_held, **form})


def _narrow(elements: np.ndarray) -> np.ndarray:
    """Convert elements to the smallest integers that all of them are; return them as
    they are if none of the types is smaller.
    """
    if not elements.size or elements.dtype.kind not in "iuf" or elements.itemsize == 1:
        return elements
    if elements.dtype.kind == "f":
        if _as_integers(elements[:_SAMPLE]) is None:
            return elements
        integers = _as_integers(elements)
        if integers is None:
            return elements
    else:
        integers = elements
    dtype = _smallest(integers, elements.itemsize)
    return elements if dtype is None else integers.astype(dtype)


def _as_integers(elements: np.ndarray) -> np.ndarray | None:
    """Return floats as int64, or None if that would lose a bit."""
    with np.errstate(invalid="ignore", over="ignore"):
        integers = elements.astype(np.int64)
        back = integers.astype(elements.dtype)
    return integers if bool((_bits(back) == _bits(elements)).all()) else None


def _smallest(integers: np.ndarray, below: int) -> np.dtype | None:
    """Return the smallest type of fewer bytes that holds integers, 0 among them."""
    low = min(int(integers.min()), 0)
    high = max(int(integers.max()), 0)
    for dtype in _INTEGERS.values():
        limits = np.iinfo(dtype)
        if dtype.itemsize < below and limits.min <= low and high <= limits.max:
            return dtype
    return None


def _steps(array: np.ndarray, below: int) -> np.ndarray | None:
    """Return the differences of integers in fewer bytes, or None."""
    if array.ndim == 0 or array.dtype.name not in ("int32", "int64") or below == 1:
        return None
    steps = np.diff(array.astype(np.int64), axis=0, prepend=0)
    dtype = _smallest(steps, below)
    return None if dtype is None else steps.astype(dtype)


# --------------------------------------------------------------------------------------
# Reading
# --------------------------------------------------------------------------------------
def may_grow(in_memory: int, in_file: int) -> bool:
    """Tell whether arrays of a file may have so many bytes in memory."""
    return in_memory <= in_file * MOST_GROWTH + SPARE


def bytes_in_file(form: dict[str, Any], dtype: np.dtype, shape: list[int]) -> int:
    """Count the bytes that an array takes in a file, by its description.

    Raises
    ------
    ValueError
        If the form is none.
    """
    whole = math.prod(shape) * dtype.itemsize
    packed = _packed_bytes(form, dtype, shape)
    if form.keys() - {"zlib"} and packed >= whole:
        raise ValueError(f"{whole} bytes are not stored in {packed}")
    found = packed
    if "zlib" in form:
        found = form["zlib"]
        if type(found) is not int or not 0 < found < packed:
            raise ValueError(f"{packed} bytes are no {str(found)[:40]} of zlib")
    return found


def _packed_bytes(form: dict[str, Any], dtype: np.dtype, shape: list[int]) -> int:
    """Count the bytes of an array in the forms of its description, before zlib."""
    size = math.prod(shape)
    width = dtype.itemsize
    if "as" in form:
        known = _INTEGERS.get(str(form["as"]))
        if known is None or known.itemsize >= width:
            raise ValueError(f"{dtype.name} cannot be {str(form['as'])[:40]!r}")
        width = known.itemsize
    if "steps" in form:
        ok = form["steps"] is True and "as" in form and "held" not in form
        if not (ok and dtype.kind == "i" and shape):
            raise ValueError("steps are true, and differences of integers")
    if "held" not in form:
        return size * width
    held = form["held"]
    if type(held) is not int or not 0 <= held <= size:
        raise ValueError(f"of {size} elements {str(held)[:40]} cannot be held")
    return held * width + -(-size // 8)


def restored(
    data: Any, form: dict[str, Any], dtype: np.dtype, shape: list[int]
) -> np.ndarray:
    """Return the array that some bytes are, given a form that
    :func:`bytes_in_file` has checked.

    Raises
    ------
    ValueError
        If the bytes are not of that form.
    """
    size = math.prod(shape)
    if form.keys() == {"zlib"}:
        array = np.empty(shape, dtype)
        _unzip(data, _as_bytes(array))
        return array
    found = np.frombuffer(data, np.uint8)
    if "zlib" in form:
        found = np.empty(_packed_bytes(form, dtype, shape), np.uint8)
        _unzip(data, found)
    stored = _INTEGERS[form["as"]] if "as" in form else dtype
    n_held = form.get("held", size)
    elements = found[: n_held * stored.itemsize].view(stored)
    if "steps" in form:
        elements = np.cumsum(elements.reshape(shape), axis=0, dtype=np.int64)
    if dtype.kind in "iu" and elements.size:
        limits = np.iinfo(dtype)
        if elements.min() < limits.min or elements.max() > limits.max:
            raise ValueError(f"it has numbers beyond {dtype.name}")
    if "held" not in form:
        return elements.reshape(shape).astype(dtype)
    bits = found[n_held * stored.itemsize :]
    marks = np.unpackbits(bits, count=size).view(np.bool_)
    n_marks = int(np.count_nonzero(marks))
    if n_marks != n_held:
        raise ValueError(f"{n_held} elements are held, and {n_marks} are marked")
    array = np.zeros(shape, dtype)
    array.reshape(-1)[marks] = elements
    return array


def _unzip(stream: Any, out: np.ndarray) -> None:
    """Fill an array of bytes by a stream of zlib, of which no more are read."""
    reader = zlib.decompressobj()
    begin = 0
    try:
        while begin < out.size and not reader.eof:
            most = min(out.size - begin, _PIECE)
            found = np.frombuffer(reader.decompress(stream, most), np.uint8)
            out[begin : begin + found.size] = found
            begin += found.size
            stream = reader.unconsumed_tail
            if not (found.size or stream):
                break
        rest = reader.decompress(stream, 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if begin != out.size or not reader.eof or reader.unused_data or rest:
        raise ValueError(f"the stream of zlib must have {out.size} bytes")


def _bits(array: np.ndarray) -> np.ndarray:
    """View elements as integers, of which -0.0 is not zero."""
    return array.view(f"u{array.itemsize}")


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """View a C-contiguous array, of zero dimensions or none left too, as flat uint8."""
    return array.reshape(-1).view(np.uint8)
