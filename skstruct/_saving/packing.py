"""The compact forms of numbers in files of compressed models and parsers: integers in
few bytes, weights without zeros.

Plain arrays, which a reader needs no decompressor for. An array grows to at most 64
times its bytes in the file, so that no small file fills the memory.

A number of *groups* is written seven bits at a time, the lowest first, a byte for each;
the highest bit of a byte says whether more follow. Signed numbers n >= 0 are written as
2 n, others as -2 n - 1.

Weights that are means of integers, as those of an averaged perceptron, are their
numerators in groups, and the divisor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .container import require, within

if TYPE_CHECKING:
    from .values import Reader, Writer


COMPRESSED = ("float64", "float32", "float16")
"""Types of weights that a compressed model has in a file."""

MOST_GROUPS = 9
"""Bytes of the longest number; 63 bits."""

PIECE = 2**20
"""Numbers, or bytes, that are turned into the other at a time: temporary arrays are
many times as large.
"""

MOST_KEYS = 2**62
"""A number above all results of :func:`packed_keys`."""

EXACT = 2.0**53
"""Integers below this are what a float64 says they are."""


def groups(numbers: np.ndarray, signed: bool = False) -> np.ndarray:
    """Write integers seven bits at a time, as uint8; the module says how.

    None is below 0 unless ``signed``, or beyond 62 bits.
    """
    out = [np.zeros(0, np.uint8)]
    for begin in range(0, numbers.shape[0], PIECE):
        piece = numbers[begin : begin + PIECE].astype(np.int64)
        if signed:
            piece = np.where(piece >= 0, 2 * piece, -2 * piece - 1)
        size = np.ones(piece.shape[0], np.int64)
        for k in range(1, MOST_GROUPS):
            size += piece >= 1 << 7 * k
        first = np.cumsum(size) - size
        data = np.empty(int(size.sum()), np.uint8)
        for k in range(int(size.max())):
            some = np.flatnonzero(size > k)
            data[first[some] + k] = (
                piece[some] >> 7 * k & 127 | (size[some] > k + 1) * 128
            )
        out.append(data)
    return np.concatenate(out)


def from_groups(data: np.ndarray, signed: bool, where: str) -> np.ndarray:
    """Return the int64 that :func:`groups` was given."""
    require(data.dtype == np.uint8 and data.ndim == 1, f"{where}: groups are bytes")
    out = [np.zeros(0, np.int64)]
    begin = 0
    while begin < data.shape[0]:
        last = np.flatnonzero(data[begin : begin + PIECE] < 128)
        size = np.diff(last, prepend=-1)
        require(
            last.size and int(size.max()) <= MOST_GROUPS,
            f"{where}: a number does not end",
        )
        first = begin + last + 1 - size
        piece = np.zeros(last.shape[0], np.int64)
        for k in range(int(size.max())):
            some = np.flatnonzero(size > k)
            piece[some] |= (data[first[some] + k].astype(np.int64) & 127) << 7 * k
        out.append(np.where(piece & 1, ~(piece >> 1), piece >> 1) if signed else piece)
        begin += int(last[-1]) + 1
    return np.concatenate(out)


def numerators(value: np.ndarray, divisor: int, dtype: str) -> np.ndarray | None:
    """Return the integers of which a divisor, and rounding to ``dtype``, make
    ``value``; None if none do.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.rint(value * divisor)
        ok = bool(
            (np.abs(out) < EXACT).all()
            and ((out / divisor).astype(dtype) == value).all()
        )
    return out.astype(np.int64) if ok else None


def packed_keys(keys: np.ndarray, writer: Writer, name: str) -> dict[str, Any] | None:
    """Return the JSON of distinct keys in ascending order; None if their numbers are
    too large.

    Each part of a key is numbered by its distinct values, in ascending order, and the
    numbers are put together to one: (that of the first part * n' + that of the second)
    * n'' + that of the third. What a file holds are the differences of these, less 1.

    Parameters
    ----------
    keys : ndarray of shape (R, 3), int64
        None negative.
    """
    values = [np.unique(part) for part in keys.T]
    if math.prod(part.shape[0] for part in values) >= MOST_KEYS:
        return None
    number = np.zeros(keys.shape[0], np.int64)
    for part, column in zip(values, keys.T):
        number *= part.shape[0]
        number += np.searchsorted(part, column)
    out = [
        writer.groups(f"{name}.values{k}", np.diff(part, prepend=-1) - 1)
        for k, part in enumerate(values)
    ]
    return {
        "values": out,
        "steps": writer.groups(f"{name}.steps", np.diff(number, prepend=-1) - 1),
    }


def unpacked_keys(node: Any, reader: Reader, where: str) -> np.ndarray:
    """Return the keys (R, 3) int64 that :func:`packed_keys` was given, in ascending
    order; all distinct.
    """
    require("steps" in node, f"{where} lacks steps")
    values = node["values"]
    steps = node["steps"]

    def summed(steps: Any) -> np.ndarray:
        steps = reader.array(steps, where, np.int64, (None,))
        # In floats, so that nothing overflows.
        ok = (steps >= 0).all() and steps.sum(dtype=np.float64) + steps.shape[
            0
        ] < MOST_KEYS
        require(ok, f"{where} are out of range")
        return np.cumsum(steps + 1) - 1

    values = [summed(part) for part in reader.list(values, where)]
    require(len(values) == 3, f"{where}.values must be three")
    number = summed(steps)
    most = math.prod(part.shape[0] for part in values)
    require(
        not number.size or number[-1] < min(most, MOST_KEYS),
        f"{where}.steps are out of range",
    )
    keys = np.empty((number.shape[0], 3), np.int64)
    for k in (2, 1, 0):
        number, index = np.divmod(number, max(values[k].shape[0], 1))
        keys[:, k] = values[k][index]
    require(within(keys, 0, 2**31), f"{where} must be int32")
    return keys
