"""The block of a model: a header and arrays of numbers, deflated."""

import base64
import json
import re
import struct
import zlib

import numpy as np

from .refusals import refuse

FORMAT = 1
"""Version of the layout; ``docs/file-format.md`` describes it."""

_LARGEST = {1: 2**8, 2: 2**16, 3: 2**24, 4: 2**32}
_LONE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_JOIN = "s.encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass')"


class Sections:
    """Arrays one behind the other, each with its name, its kind and how many numbers it has."""

    def __init__(self):
        self.entries, self.data = [], []

    def unsigned(self, name, values):
        """Add numbers that are not negative, in as few bytes each as the largest needs."""
        values = np.asarray(values, np.int64)
        self._add(name, "u", values, self._bytes(values))

    def signed(self, name, values):
        """Add integers: 0, -1, 1, -2 ... become 0, 1, 2, 3 ..."""
        values = np.asarray(values, np.int64)
        values = np.where(values < 0, -2 * values - 1, 2 * values)
        self._add(name, "z", values, self._bytes(values))

    def floats(self, name, values):
        """Add floating-point numbers of their own size, 4 or 8 bytes."""
        self._add(name, "f", values, values.dtype.itemsize)

    def _bytes(self, values):
        largest = int(values.max(initial=0))
        return next(size for size, above in _LARGEST.items() if largest < above)

    def _add(self, name, kind, values, size):
        self.entries.append([name, f"{kind}{size}", int(values.shape[0])])
        little = values.astype(values.dtype.newbyteorder("<"))
        planes = np.frombuffer(little.tobytes(), np.uint8).reshape(-1, values.dtype.itemsize)[:, :size]
        self.data.append(planes.T.tobytes())  # bytes of equal rank stand together: that deflates better

    def block(self, header):
        """The constant of a file, base64, with the header."""
        text = json.dumps({**header, "sections": self.entries}, ensure_ascii=False, separators=(",", ":"))
        pair = _PAIR.search(text)
        if pair:  # JSON would make one character of them, and perhaps two strings equal
            string = text[text.rindex('"', 0, pair.start()) + 1 : text.index('"', pair.end())]
            refuse(f"{string!r} has two surrogates that are one character; train on {_JOIN} of such strings")
        head = _LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", text).encode()
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        raw = b"".join([struct.pack("<I", len(head)), head, *self.data])
        return base64.b64encode(packer.compress(raw) + packer.flush()).decode("ascii")


def check_spellings(strings, written):
    """Raise if JavaScript would take one of the strings of a model for another one that is written."""
    for s in filter(_PAIR.search, strings):
        joined = s.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if joined in written:
            reason = f"JavaScript cannot tell {s!r}, which has two surrogates, from {joined!r}"
            refuse(f"{reason}; write .py, or train on {_JOIN} of such strings")


def weight_table(sections, name, n_rows, keys, weights, columns):
    """Add weights that are not zero: how many each row has, their columns, and themselves.

    Parameters
    ----------
    sections : Sections
    name : str
    n_rows : int
    keys : ndarray of int64
        row * columns + column of each weight, ascending.
    weights : ndarray
        Integers, float32 or float64.
    columns : int
    """
    sections.unsigned(f"{name}.count", np.bincount(keys // columns, minlength=n_rows))
    sections.unsigned(f"{name}.column", keys % columns)
    add = sections.signed if weights.dtype.kind == "i" else sections.floats
    add(f"{name}.weight", weights)


def combination_table(sections, name, before, last, n_before):
    """Add combinations, sorted: how many begin with each of the shorter ones, and their last values."""
    sections.unsigned(f"{name}.left", np.bincount(before - 1, minlength=n_before))
    sections.unsigned(f"{name}.right", last)
