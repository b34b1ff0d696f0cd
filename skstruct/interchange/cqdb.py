"""CQDB, the string database of CRFsuite: strings by number and numbers by string.

A chunk begins with a header, 256 hash tables follow the records, and *backward links*
say where the record of each number stands. A reader goes by these links; the tool looks
strings up by their hash, so that a writer fills the tables too.

References
----------
B. Jenkins, "lookup3.c", 2006: the hash function. N. Okazaki, "CQDB", 2007: the layout.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .foreign import ForeignBytes


TABLES = 256
HEADER = 24 + 8 * TABLES
ORDER_MARK = 0x62445371
_RECORD = 8
"""Bytes of a record before its string: number and size."""


def read_strings(file: ForeignBytes, at: int, n: int, what: str) -> list[str]:
    """Return the strings of the database at a byte of a file.

    Parameters
    ----------
    file : ForeignBytes
    at : int
    n : int
        Strings that it has to hold.
    what : str
        What errors call them.

    Returns
    -------
    list of str
        By number.
    """
    file.tag(at, b"CQDB")
    size, _, mark, n_links, links = file.array(
        at + 4, 5, "<u4", f"the database of {what}"
    ).tolist()
    end = at + size
    file.require(
        HEADER <= size <= len(file.data) - at,
        at + 4,
        f"a database of {size} bytes does not fit in",
    )
    file.require(
        mark == ORDER_MARK,
        at + 12,
        f"expected a byte order of {ORDER_MARK:#x}, found {mark:#x}",
    )
    file.require(n_links == n, at + 16, f"expected {n} {what}, found {n_links}")
    if not n:
        return []
    file.require(
        HEADER <= links <= size - 4 * n,
        at + 20,
        f"the links of {what} are out of place",
    )
    start = (
        file.array(at + links, n, "<u4", f"the links of {what}").astype(np.int64) + at
    )
    within = (start >= at + HEADER) & (start <= end - _RECORD - 1)
    file.require_all(
        within, at + links + 4 * np.arange(n), f"the link of {what[:-1]} {{}} is wrong"
    )
    raw = np.frombuffer(file.data, np.uint8)
    number, length = (
        raw[start[:, None] + np.arange(_RECORD)].view("<u4").T.astype(np.int64)
    )
    file.require_all(
        number == np.arange(n), start, f"another number than {what[:-1]} {{}}"
    )
    fits = (length >= 1) & (start + _RECORD + length <= end)
    file.require_all(fits, start + 4, f"the size of {what[:-1]} {{}} is wrong")
    # Records that overlap would let a small file fill the memory.
    file.require(int(length.sum()) <= size, at, f"the records of {what} overlap")
    stop = start + _RECORD + length - 1
    file.require_all(raw[stop] == 0, stop, f"no NUL at the end of {what[:-1]} {{}}")
    return [
        file.text(file.data[a + _RECORD : b])
        for a, b in zip(start.tolist(), stop.tolist())
    ]


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
def string_database(strings: list[bytes]) -> bytes:
    """Return the database of distinct strings, numbered in their order.

    Parameters
    ----------
    strings : list of bytes
        Without NUL.

    Returns
    -------
    bytes
    """
    ended = [string + b"\0" for string in strings]
    records = [
        struct.pack("<II", k, len(string)) + string for k, string in enumerate(ended)
    ]
    end = HEADER + np.append(0, np.cumsum(list(map(len, records)), dtype=np.int64))
    place = end[:-1].tolist()  # of the records
    at = int(end[-1])  # behind what is written so far
    hashes = lookup3(ended).tolist()
    tables: list[list[int]] = [[] for _ in range(TABLES)]
    for k, h in enumerate(hashes):
        tables[h % TABLES].append(k)
    head = []
    filled = []
    for members in tables:
        n = 2 * len(members)
        head += [at if n else 0, n]
        buckets = [(0, 0)] * n
        for k in members:
            b = (hashes[k] >> 8) % n
            while buckets[b][1]:
                b = (b + 1) % n
            buckets[b] = hashes[k], place[k]
        filled.append(np.array(buckets, "<u4").tobytes())
        at += 8 * n
    n = len(strings)
    links = at if strings else 0
    header = struct.pack("<4s5I", b"CQDB", at + 4 * n, 0, ORDER_MARK, n, links)
    tables_at, places = (np.array(n, "<u4").tobytes() for n in (head, place))
    return b"".join((header, tables_at, *records, *filled, places))


def lookup3(strings: list[bytes]) -> np.ndarray:
    """Return the hashes of many strings: ``hashlittle`` with initial value 0.

    Parameters
    ----------
    strings : list of bytes
        None of them empty.

    Returns
    -------
    ndarray of shape (n,), uint32
    """
    out = np.zeros(len(strings), np.uint32)
    size = np.fromiter(map(len, strings), np.int64, len(strings))
    blocks = (size + 11) // 12
    for n in np.unique(
        blocks
    ).tolist():  # strings of equally many blocks of 12 bytes, column by column
        mine = np.flatnonzero(blocks == n)
        padded = b"".join(strings[k].ljust(12 * n, b"\0") for k in mine.tolist())
        word = np.frombuffer(padded, "<u4").reshape(-1, 3 * n).T
        a = b = c = (0xDEADBEEF + size[mine]).astype(np.uint32)
        for k in range(0, 3 * n, 3):
            a = a + word[k]
            b = b + word[k + 1]
            c = c + word[k + 2]
            if k < 3 * n - 3:
                a, b, c = _mixed(a, b, c)
        out[mine] = _final(a, b, c)
    return out


def _rotated(x: np.ndarray, k: int) -> np.ndarray:
    return x << np.uint32(k) | x >> np.uint32(32 - k)


def _mixed(
    a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    for k in (4, 6, 8, 16, 19, 4):
        a = (a - c) ^ _rotated(c, k)
        a, b, c = b, c + b, a  # the next step takes the next three of the circle
    return a, b, c


def _final(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    for k in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _rotated(b, k)
        a, b, c = b, c, a
    return b
