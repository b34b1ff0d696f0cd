"""The double array of CRF++ models: a trie of byte strings in two columns of numbers.

Unit u has a base and a check. From a node with base b the byte c leads to unit b + c + 1 if its check is b. A
key ends at the node if unit b has check b and a negative base; the key's value is -base - 1.

References
----------
J. Aoe (1989). An efficient digital search algorithm by using a double-array structure. IEEE Transactions on
Software Engineering 15(9). T. Kudo, "Darts: double-array trie system", 2003: the layout.
"""

import numpy as np

from ..data.places import ranges

UNIT = np.dtype([("base", "<i4"), ("check", "<u4")])

LONGEST = 4096
"""Bytes of a key that is read."""

MOST_TIMES = 64
"""Bytes of all keys together for each byte of the array: more only a loop in the array can make."""


def read_keys(file, at, units):
    """The keys of an array and their values.

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
    base, check = units["base"].astype(np.int64), units["check"].astype(np.int64)
    order = np.argsort(check, kind="stable")
    checks = check[order]
    reached = np.zeros(base.shape[0], np.bool_)
    file.require(base.shape[0] > 0, at, "the double array is empty")
    node = np.zeros(1, np.int64)  # units of the nodes at this depth,
    parents, letters = [np.zeros(1, np.int64)], [np.zeros(1, np.uint8)]  # and, of all depths, where from
    reached[0] = True
    keys, depth, total = [], 0, 0
    while node.size:
        file.require(depth <= LONGEST, at, f"the double array holds a key of more than {LONGEST} bytes")
        first = np.searchsorted(checks, base[node], side="left")
        n = np.searchsorted(checks, base[node], side="right") - first
        file.require(int(n.sum()) <= base.shape[0], at, "units of the double array are used twice")
        owner = np.repeat(np.arange(node.size), n)
        child = order[ranges(first, n)[1]]
        code = child - base[node][owner]
        ends = (code == 0) & (base[child] < 0)
        goes = (code >= 1) & (code <= 256) & (base[child] > 0)
        total += depth * int(np.count_nonzero(ends))
        file.require(total <= MOST_TIMES * units.nbytes, at, "the keys of the double array are too long")
        keys += zip(_written(parents, letters, owner[ends]), (-base[child[ends]] - 1).tolist())
        node, owner = child[goes], owner[goes]
        twice = reached[node].any() or np.unique(node).size < node.size
        file.require(not twice, at, "units of the double array are used twice")
        reached[node] = True
        parents.append(owner)
        letters.append((code[goes] - 1).astype(np.uint8))
        depth += 1
    return keys


def _written(parents, letters, owner):
    """The strings of nodes of the deepest level, given by their numbers."""
    depth = len(parents) - 1
    if not owner.size:
        return []
    out = np.empty((owner.size, depth), np.uint8)
    for d in range(depth, 0, -1):
        out[:, d - 1] = letters[d][owner]
        owner = parents[d][owner]
    data = out.tobytes()
    return [data[k : k + depth] for k in range(0, len(data), depth)] if depth else [b""]


def build(keys):
    """The double array of distinct keys whose values are 0, 1, ... in the order of the keys' bytes given.

    Parameters
    ----------
    keys : list of (bytes, int)
        Sorted by their bytes; values are not negative.

    Returns
    -------
    ndarray of UNIT
    """
    maker = _Maker(max(8192, 2 * len(keys)))
    maker.place(keys)
    return maker.units()


class _Maker:
    """Places the children of one node after the other, where there is room first."""

    def __init__(self, size):
        self.base, self.check = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.taken = np.zeros(size, np.bool_)  # begins in use
        self.next, self.last = 0, 0

    def place(self, keys):
        """Place all nodes: depth first, in the order of their bytes, the end of a key before these."""
        self.base[0] = 1
        children = self._children(keys, 0, len(keys), 0)
        if not children:
            return
        waiting = [(children, 0, self._begin(children, 0))]
        while waiting:
            children, k, begin = waiting.pop()
            if k + 1 < len(children):
                waiting.append((children, k + 1, begin))
            code, low, high, depth = children[k]
            if not code:
                self.base[begin] = -keys[low][1] - 1
                continue
            inner = self._children(keys, low, high, depth)
            found = self._begin(inner, begin + code)
            self.base[begin + code] = found
            waiting.append((inner, 0, found))

    def _children(self, keys, low, high, depth):
        """(code, first key, last key, depth) of the continuations of ``keys[low:high]`` at a depth."""
        out = []
        for k in range(low, high):
            key = keys[k][0]
            code = key[depth] + 1 if depth < len(key) else 0
            if not out or out[-1][0] != code:
                if out:
                    out[-1][2] = k
                out.append([code, k, high, depth + 1])
        return out

    def _begin(self, children, parent):
        """Find room for children and mark it; the base of their parent."""
        codes = np.array([child[0] for child in children], np.int64)
        at, n_full, first = max(int(codes[0]) + 1, self.next) - 1, 0, True
        while True:
            at += 1
            self._reserve(at + 512)
            if self.check[at]:
                n_full += 1
                continue
            if first:
                self.next, first = at, False
            begin = at - int(codes[0])
            if not self.taken[begin] and not self.check[begin + codes].any():
                break
        if n_full >= 0.95 * (at - self.next + 1):
            self.next = at
        self.taken[begin] = True
        self.check[begin + codes] = begin
        self.last = max(self.last, begin + int(codes[-1]) + 1)
        return begin

    def _reserve(self, size):
        have = self.base.shape[0]
        if size > have:
            for name in ("base", "check", "taken"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros(max(size - have, have), array.dtype)]))

    def units(self):
        """The array; behind the last unit there is room for any byte."""
        n = self.last + 257
        self._reserve(n)
        out = np.zeros(n, UNIT)
        out["base"], out["check"] = self.base[:n], self.check[:n]
        return out
