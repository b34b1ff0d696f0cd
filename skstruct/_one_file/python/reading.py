"""The data of a model: a header, arrays, and tables of weights.

The constant is base64 of a raw-deflated block: the length of the header (4 bytes,
lowest first), the header (JSON in UTF-8), and the arrays, one behind the other. Of an
array the bytes of equal rank stand together, lowest first.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from base64 import b64decode
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NoReturn

PARTS: dict[str, Any] = {}
"""The parts that the header of a model names, by that name; each part of this program
enters itself.
"""

REMEMBERED = 100_000
"""Entries of a memory at most."""


def read_block(data: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (header, arrays by name) of the constant."""
    block = zlib.decompress(b64decode(data), -15)
    at = 4 + int.from_bytes(block[:4], "little")
    header = json.loads(block[4:at].decode("utf-8"))
    arrays = {}
    for name, kind, n in header["sections"]:
        size = n * int(kind[1])
        arrays[name] = read_array(block[at : at + size], kind, n)
        at += size
    return header, arrays


def read_array(data: bytes, kind: str, n: int) -> array[Any]:
    """Return the n numbers of a section, whose kind is u, z or f and the bytes of a
    number.
    """
    size = int(kind[1])
    values = array({"f4": "f", "f8": "d"}.get(kind) or " BHII"[size])
    width = values.itemsize
    mixed = bytearray(n * width)
    for k in range(size):
        mixed[k::width] = data[k * n : (k + 1) * n]
    values.frombytes(bytes(mixed))
    if sys.byteorder == "big":
        values.byteswap()
    return values


class Cached(dict):
    """The values of a function, which are remembered."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __missing__(self, key: Any) -> Any:
        found = self.function(key)
        if len(self) < REMEMBERED:
            self[key] = found
        return found


class Weights(dict):
    """Row -> its weights that are not zero, as pairs (column, weight); made when they
    are first needed.

    Of rows with many, all weights as a list, if the number of columns is given: such
    rows are added faster.
    """

    def __init__(
        self,
        header: dict[str, Any],
        arrays: dict[str, Any],
        name: str,
        columns: int | None = None,
    ) -> None:
        self.columns = columns
        self.start = array("I", accumulate(arrays[name + ".count"], initial=0))
        self.column = arrays[name + ".column"]
        self.weight = arrays[name + ".weight"]
        self.divisor = header["divisor"] if self.weight.typecode in "BHI" else None

    def __missing__(self, row: int) -> Any:
        part = slice(self.start[row], self.start[row + 1])
        weights = self.weight[part]
        if self.divisor is not None:  # 0, -1, 1, -2 ... are written as 0, 1, 2, 3 ...
            weights = [((w >> 1) ^ -(w & 1)) / self.divisor for w in weights]
        found: Any = tuple(zip(self.column[part], weights))
        if self.columns and 3 * len(found) > self.columns:
            dense = [0.0] * self.columns
            for column, w in found:
                dense[column] = w
            found = dense
        if len(self) < REMEMBERED:
            self[row] = found
        return found


def refuse(i: int, t: int | None, text: object) -> NoReturn:
    """Raise the error about a token, or with t None about a sequence."""
    place = "" if t is None else f", position {t}"
    raise ValueError(f"X: sequence {i}{place}: {text}")
