"""Pairs of a key and a value to dense integers: dictionaries of features, walked in C.

Keys and values have numbers of their own, and a pair of numbers is one entry of an exact hash table. Values
are numbered together for all keys, since ``-1:word`` takes the values that ``word`` takes: what was just
looked up is still in the processor's cache. Tokens with the same keys in the same order have one layout,
which is one look-up. A number is kept as its four bytes: these are joined to an array faster than integers
are converted.
"""

import sys
from itertools import chain

import numpy as np

from ..core.interning import find_pairs, intern_pairs, table_of

MOST_LAYOUTS = 1000
"""Layouts remembered."""

UNSEEN_TEXT, UNSEEN = -1, -2
"""Numbers of a str, and of anything else, that has none."""

_UNSEEN_TEXT, _UNSEEN = (k.to_bytes(4, sys.byteorder, signed=True) for k in (UNSEEN_TEXT, UNSEEN))
_EVERYWHERE = np.zeros(2, np.int64)  # no position at the ends is left out


class _Numbers(dict):
    """Anything hashable -> the bytes of its number."""

    def __missing__(self, item):
        return _UNSEEN_TEXT if type(item) is str else _UNSEEN

    def add(self, item):
        """The number of something; a new one if it has none."""
        found = self.get(item)
        if found is None:
            number = len(self)
            self[item] = number.to_bytes(4, sys.byteorder)
            return number
        return int.from_bytes(found, sys.byteorder)


class _Layouts(dict):
    """Keys of a token in their order -> the bytes of their numbers, a bounded memory."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __missing__(self, keys):
        found = b"".join(map(self.numbers.__getitem__, keys))
        if len(self) < MOST_LAYOUTS:
            self[keys] = found
        return found


def _array(parts):
    return np.frombuffer(bytearray().join(parts), np.int32)


class Pairs:
    """Pairs in order of their first occurrence.

    Attributes
    ----------
    keys, values : dict
        Their numbers, in order of first occurrence.
    """

    def __init__(self):
        self.keys, self.values = _Numbers(), _Numbers()
        self._left, self._right = [], []  # numbers of key and value by pair
        self._entries = np.zeros(1, np.int64)
        self._table, _ = table_of([])
        self._layouts = _Layouts(self.keys)

    def __len__(self):
        return len(self._left)

    def __getstate__(self):
        # The table and the layouts follow from the rest.
        return list(self.keys), list(self.values), self._left, self._right

    def __setstate__(self, state):
        self.__init__()
        keys, values, left, right = state
        for numbers, items in ((self.keys, keys), (self.values, values)):
            for item in items:
                numbers.add(item)
        self._intern(np.array(left, np.int32), np.array(right, np.int32))

    def copy(self):
        """Pairs that can grow while these stay as they are."""
        twin = Pairs()
        twin.keys.update(self.keys)
        twin.values.update(self.values)
        twin._left, twin._right = list(self._left), list(self._right)
        twin._entries, twin._table = self._entries.copy(), self._table.copy()
        return twin

    def numbers_of(self, tokens):
        """Numbers of the keys and of the values of dictionaries, one behind the other.

        Raises
        ------
        TypeError
            If a value is not hashable.
        """
        if len(self._layouts) < MOST_LAYOUTS:
            left = _array(map(self._layouts.__getitem__, map(tuple, tokens)))
        else:
            left = _array(map(self.keys.__getitem__, chain.from_iterable(tokens)))
        values = chain.from_iterable(map(dict.values, tokens))
        return left, _array(map(self.values.__getitem__, values))

    def find(self, left, right):
        """Pairs of numbers to their ids, int32; -1 for what is unknown."""
        out = np.empty(left.shape[0], np.int32)
        out.fill(-1)
        find_pairs(self._table, 0, left, right, 0, _EVERYWHERE, np.array([0, left.shape[0]]), out)
        return out

    def number_of(self, value):
        """The number of a value, negative if it has none."""
        return int.from_bytes(self.values[value], sys.byteorder, signed=True)

    def number_key(self, key):
        """The number of a key, a new one if it has none."""
        if key not in self.keys:
            self._layouts.clear()
        return self.keys.add(key)

    def number_value(self, value):
        """The number of a value, a new one if it has none."""
        return self.values.add(value)

    def add(self, left, right):
        """Add pairs of numbers, which are new and distinct, in this order."""
        self._intern(np.array(left, np.int32), np.array(right, np.int32))

    def fill(self, keys, values):
        """Add pairs to none; the places of those that were added: of equal ones the last.

        Distinct integers may be equal where a file holds them as floats.
        """
        numbers = {(self.keys.add(k), self.values.add(v)): j for j, (k, v) in enumerate(zip(keys, values))}
        self.add(*(zip(*numbers) if numbers else ((), ())))
        return list(numbers.values())

    def _intern(self, left, right):
        if left.shape[0]:
            out, n = np.empty(left.shape[0], np.int32), np.array([len(self)])
            ends = np.array([0, left.shape[0]])
            self._table = intern_pairs(
                self._table, self._entries, 0, left, right, 0, _EVERYWHERE, ends, out, n
            )
            self._left += left.tolist()
            self._right += right.tolist()

    def ambiguous(self):
        """Whether a name ``a:b:c`` may be that of two pairs: ``a:b`` is a key, and so is ``a``."""
        return any(key[:at] in self.keys for key in self.keys for at in _colons(key))

    def text(self):
        """By number of a value whether it is a str; the last two entries serve those that have none."""
        return np.array([*(isinstance(value, str) for value in self.values), False, True], np.bool_)

    def keys_and_values(self):
        """All (key, value), as a set."""
        return set(self.items())

    def items(self):
        """All (key, value), by id."""
        keys, values = list(self.keys), list(self.values)
        return [(keys[k], values[v]) for k, v in zip(self._left, self._right)]


def _colons(text):
    """The places of the colons."""
    return [k for k, c in enumerate(text) if c == ":"]
