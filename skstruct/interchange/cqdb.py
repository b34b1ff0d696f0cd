"""CQDB, the string database of CRFsuite: strings by number and numbers by string.

A chunk begins with a header, 256 hash tables follow the records, and *backward links* say where the record of
each number stands. A reader goes by these links; the tool looks strings up by their hash, so that a writer
fills the tables too.

References
----------
B. Jenkins, "lookup3.c", 2006: the hash function. N. Okazaki, "CQDB", 2007: the layout.
"""

import numpy as np

from .reading import as_text

TABLES = 256
HEADER = 24 + 8 * TABLES
ORDER_MARK = 0x62445371
_RECORD = 8
"""Bytes of a record before its string: number and size."""


def read_strings(file, at, n, what):
    """The strings of the database at a byte of a file.

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
    size, _, mark, n_links, links = file.array(at + 4, 5, "<u4", f"the database of {what}").tolist()
    end = at + size
    file.require(
        HEADER <= size <= len(file.data) - at, at + 4, f"a database of {what} of {size} bytes does not fit in"
    )
    file.require(mark == ORDER_MARK, at + 12, f"expected the byte order mark {ORDER_MARK:#x}, found {mark:#x}")
    file.require(n_links == n, at + 16, f"expected {n} {what}, found {n_links}")
    if not n:
        return []
    file.require(HEADER <= links <= size - 4 * n, at + 20, f"the links of {what} stand outside of their database")
    start = file.array(at + links, n, "<u4", f"the links of {what}").astype(np.int64) + at
    _check(file, (start >= at + HEADER) & (start <= end - _RECORD - 1), at + links, f"the link of {what[:-1]}")
    raw = np.frombuffer(file.data, np.uint8)
    number, length = (_u32(raw, start + shift) for shift in (0, 4))
    _check(file, number == np.arange(n), start, f"another number than {what[:-1]}")
    fits = (length >= 1) & (start + _RECORD + length <= end)
    _check(file, fits, start + 4, f"the size of {what[:-1]}")
    # Records that overlap would let a small file fill the memory.
    file.require(int(length.sum()) <= size, at, f"the records of {what} overlap")
    stop = start + _RECORD + length - 1
    _check(file, raw[stop] == 0, stop, f"no NUL at the end of {what[:-1]}")
    data = file.data
    return [as_text(data[a + _RECORD : b]) for a, b in zip(start.tolist(), stop.tolist())]


def _check(file, ok, places, what):
    """Raise about the first string that is wrong; ``places`` are bytes, or the first of an array of u32."""
    if not ok.all():
        k = int(np.argmin(ok))
        at = int(places[k]) if isinstance(places, np.ndarray) else places + 4 * k
        file.fail(at, f"{what} {k} is wrong")


def _u32(raw, at):
    """The unsigned numbers that begin at some bytes, as int64."""
    return sum(raw[at + k].astype(np.int64) << 8 * k for k in range(4))
