"""The double array of CRF++ models: a trie of byte strings in two columns of numbers.

Unit u has a base and a check. From a node with base b the byte c leads to unit b + c +
1 if its check is b. A key ends at the node if unit b has check b and a negative base;
the key's value is -base - 1.

References
----------
J. Aoe (1989). An efficient digital search algorithm by using a double-array structure.
IEEE Transactions on Software Engineering 15(9). T. Kudo, "Darts: double-array trie
system", 2003: the layout.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.places import ranges

if TYPE_CHECKING:
    from .foreign import ForeignBytes


UNIT = np.dtype([("base", "<i4"), ("check", "<u4")])

ROOM = 257
"""Units behind a begin: one for the end of a key, and one for each byte."""

LONGEST = 4096
"""Bytes of a key that is read."""

MOST_TIMES = 64
"""Bytes of all keys together for each byte of the array: more only a loop in the array
can make.
"""


def read_keys(
    file: ForeignBytes, at: int, units: np.ndarray
) -> list[tuple[bytes, int]]:
    """Return the keys of an array and their values.

    Parameters
    ----------
    file : ForeignBytes
        For errors.
    at : int
        Where the array begins.
    units : ndarray of UNIT

    Returns
    -------
    list of (bytes, int)
        Shorter keys first.
    """
    base = units["base"].astype(np.int64)
    check = units["check"].astype(np.int64)
    order = np.argsort(check, kind="stable")
    checks = check[order]
    reached = np.zeros(base.shape[0], np.bool_)
    file.require(base.shape[0] > 0, at, "the double array is empty")
    node = np.zeros(1, np.int64)  # units of the nodes at this depth,
    written = np.zeros((1, 0), np.uint8)  # and the bytes that lead to each
    reached[0] = True
    keys: list[tuple[bytes, int]] = []
    most = MOST_TIMES * units.nbytes
    while node.size:
        depth = written.shape[1]
        file.require(
            depth <= LONGEST,
            at,
            f"the double array holds a key of more than {LONGEST} bytes",
        )
        first = np.searchsorted(checks, base[node], side="left")
        n = np.searchsorted(checks, base[node], side="right") - first
        file.require(
            int(n.sum()) <= base.shape[0],
            at,
            "units of the double array are used twice",
        )
        owner = np.repeat(np.arange(node.size), n)
        child = order[ranges(first, n)[1]]
        code = child - base[node][owner]
        ends = (code == 0) & (base[child] < 0)
        goes = (code >= 1) & (code <= 256) & (base[child] > 0)
        most -= depth * int(np.count_nonzero(ends))
        # Each node leads to a key at least as long as what leads to it.
        longer = (depth + 1) * int(np.count_nonzero(goes))
        file.require(longer <= most, at, "the keys of the double array are too long")
        keys += zip(
            (row.tobytes() for row in written[owner[ends]]),
            (-base[child[ends]] - 1).tolist(),
        )
        node = child[goes]
        written = np.column_stack(
            [written[owner[goes]], code[goes].astype(np.uint8) - 1]
        )
        twice = reached[node].any() or np.unique(node).size < node.size
        file.require(not twice, at, "units of the double array are used twice")
        reached[node] = True
    return keys


def build(keys: list[tuple[bytes, int]]) -> np.ndarray:
    """Return the double array of distinct keys whose values are 0, 1, ... in the order
    of the keys' bytes given.

    Parameters
    ----------
    keys : list of (bytes, int)
        Sorted by their bytes; values are not negative.

    Returns
    -------
    ndarray of UNIT
    """
    maker = _Maker(max(8192, 2 * len(keys)))
    maker.base[0] = 1
    waiting = (
        [(0, keys, 0)] if keys else []
    )  # nodes to place children of: unit, keys through it, depth
    while waiting:
        unit, through, depth = waiting.pop()
        children = [
            (code, list(mine)) for code, mine in groupby(through, _code_at(depth))
        ]
        begin = maker.begin([code for code, _ in children])
        maker.base[unit] = begin
        for code, mine in reversed(
            children
        ):  # depth first, in the order of their bytes
            if code:
                waiting.append((begin + code, mine, depth + 1))
            else:
                maker.base[begin] = -mine[0][1] - 1
    out = np.zeros(maker.last + ROOM, UNIT)
    out["base"] = maker.base[: out.size]
    out["check"] = maker.check[: out.size]
    return out


def _code_at(depth: int) -> Callable[[tuple[bytes, int]], int]:
    """Return what tells of a (key, value) where it goes on at a depth: 0 if the key
    ends there, or a byte + 1.
    """
    return lambda key: key[0][depth] + 1 if depth < len(key[0]) else 0


class _Maker:
    """Finds where there is room first for the children of one node after the other."""

    def __init__(self, size: int) -> None:
        self.base: np.ndarray = np.zeros(size, np.int64)
        self.check: np.ndarray = np.zeros(size, np.int64)
        self.taken: np.ndarray = np.zeros(size, np.bool_)  # begins in use
        self.next = 0
        self.last = 0

    def begin(self, codes: Any) -> int:
        """Mark units for children; the base of their parent."""
        codes = np.array(codes, np.int64)
        at = max(int(codes[0]) + 1, self.next) - 1
        n_full = 0
        first = True
        while True:
            at += 1
            if at + 2 * ROOM > self.taken.size:
                arrays = self.base, self.check, self.taken
                self.base, self.check, self.taken = (
                    np.append(a, np.zeros_like(a)) for a in arrays
                )
            if self.check[at]:
                n_full += 1
                continue
            if first:
                self.next = at
                first = False
            begin = at - int(codes[0])
            if not self.taken[begin] and not self.check[begin + codes].any():
                break
        if n_full >= 0.95 * (at - self.next + 1):
            self.next = at
        self.taken[begin] = True
        self.check[begin + codes] = begin
        self.last = max(self.last, begin + int(codes[-1]) + 1)
        return begin
