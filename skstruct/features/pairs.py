"""Pairs of a key and a value to dense integers: dictionaries of features, walked in C.

Keys and values have numbers of their own, and a pair of numbers is one entry of an exact hash table. Values
are numbered together for all keys, since ``-1:word`` takes the values that ``word`` takes: what was just
looked up is still in the processor's cache. Tokens with the same keys in the same order have one layout,
which is one look-up. A number is kept as its four bytes: these are joined to an array faster than integers
are converted.
"""

import sys
from functools import partial
from itertools import chain, repeat
from math import inf, isfinite

import numpy as np

from ..core.interning import find_pairs, intern_pairs, table_of
from ..data.inputs import PlaceError, describe, lengths_of, offsets_of, place

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


class _InnerLayouts(_Layouts):
    """(key, keys of the dictionary that is its value) -> numbers of ``key:inner`` in bytes, and the names."""

    def __missing__(self, layout):
        key, inner = layout
        # Of equal keys of other types, such as 1 and True, each has a name of its own.
        if set(map(type, (key, *inner))) != {str}:
            raise Nested
        names = [f"{key}:{name}" for name in inner]
        found = b"".join(map(self.numbers.__getitem__, names)), names
        if len(self) < MOST_LAYOUTS:
            self[layout] = found
        return found


def _array(parts):
    return np.frombuffer(bytearray().join(parts), np.int32)


def _items_at(tokens, sizes, places):
    """The (key, value) at ascending places among all pairs of dictionaries."""
    start = offsets_of(sizes)
    owner = np.searchsorted(start, places, side="right") - 1
    some = np.unique(owner)
    before = start[some] - offsets_of(sizes[some])[:-1]  # pairs of dictionaries left out
    within = (places - np.repeat(before, np.unique(owner, return_counts=True)[1])).tolist()
    some = list(map(tokens.__getitem__, some.tolist()))
    keys, values = list(chain.from_iterable(some)), list(chain.from_iterable(map(dict.values, some)))
    return list(zip(map(keys.__getitem__, within), map(values.__getitem__, within)))


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
        self._layouts, self._inner_layouts = _Layouts(self.keys), _InnerLayouts(self.keys)

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
        """The pairs of dictionaries, one behind the other.

        Returns
        -------
        keys, values : ndarray, int32
            Their numbers.
        sizes : ndarray, int64
            Pairs per token.
        items : callable
            The (key, value) at ascending places.

        Raises
        ------
        TypeError
            If a value is not hashable.
        """
        if len(self._layouts) < MOST_LAYOUTS:
            left = _array(map(self._layouts.__getitem__, map(tuple, tokens)))
        else:
            left = _array(map(self.keys.__getitem__, chain.from_iterable(tokens)))
        values, sizes = chain.from_iterable(map(dict.values, tokens)), lengths_of(tokens)
        return left, _array(map(self.values.__getitem__, values)), sizes, partial(_items_at, tokens, sizes)

    def numbers_of_nested(self, tokens):
        """The same where values may be dictionaries: ``{"a": {"b": 1}}`` is the pair of ``a:b`` and 1.

        Raises
        ------
        TypeError
            If a value of an inner dictionary, or another value, is not hashable.
        Nested
            If a key is no str.
        """
        numbers, inner = self.keys, self._inner_layouts
        left, names, values, sizes = [], [], [], []
        for token in tokens:
            before = len(values)
            for key, value in token.items():
                if type(value) is dict:
                    found, joined = inner[key, tuple(value)]
                    left.append(found)
                    names.append(joined)
                    values += value.values()
                else:
                    left.append(numbers[key])
                    names.append((key,))
                    values.append(value)
            sizes.append(len(values) - before)

        def items(places):
            keys = list(chain.from_iterable(names))
            return [(keys[k], values[k]) for k in places.tolist()]

        right = _array(map(self.values.__getitem__, values))
        return _array(left), right, np.array(sizes, np.int64), items

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
            self._inner_layouts.clear()
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


# --------------------------------------------------------------------------------------------------
# Pair by pair, where dictionaries cannot be walked in C
# --------------------------------------------------------------------------------------------------
class Nested(Exception):
    """A value holds several features; the chunk is encoded pair by pair."""


def as_feature(key, value):
    """(name, value) of a pair, with None for the name if it is no feature; raises Nested if it is several."""
    if not isinstance(key, str):
        raise ValueError(f"a feature name must be a str, got {describe(key)}")
    if isinstance(value, str):  # most often, so first
        return f"{key}:{value}", 1.0
    if isinstance(value, (bool, np.bool_)):
        return (key if value else None), 1.0
    if isinstance(value, (int, float, np.integer, np.floating)):
        try:
            number = float(value)
        except OverflowError:
            number = inf
        if not isfinite(number):
            raise ValueError(f"feature {key!r} must be finite, got {describe(value)}")
        return (key if number else None), number
    if isinstance(value, (tuple, frozenset)):
        raise Nested
    raise ValueError(
        f"feature {key!r} must be a str, a bool, a number, or a list or dict of these, got {describe(value)}"
    )


def encode_nested(tokens, first, offsets, resolve):
    """Feature ids, values and features per token of dictionaries whose values may be collections.

    Parameters
    ----------
    tokens : list of dict
    first : int
        Number of the first one in the corpus.
    offsets : ndarray of shape (n + 1,)
        Where each sequence starts; for error messages.
    resolve : callable
        (feature id, value) of a key and a value.
    """
    features, values, sizes = [], [], []
    for k, token in enumerate(tokens):
        before = len(features)
        try:
            for key, value in expand(token):
                feature, number = resolve(key, value)
                features.append(feature)
                values.append(number)
        except ValueError as error:
            raise placed(first + k, offsets, error) from None
        sizes.append(len(features) - before)
    return np.array(features, np.int32), np.array(values, np.float64), np.array(sizes, np.int64)


def encode_lists(tokens, first, offsets, ids, feature):
    """The same of lists of names; ``ids`` are those known, ``feature`` gives the id of another one."""
    sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
    names = list(chain.from_iterable(tokens))
    try:
        features = np.fromiter(map(ids.get, names, repeat(-1)), np.int32, len(names))
    except TypeError:
        features = np.full(len(names), -1, np.int32)
    for k in np.flatnonzero(features < 0).tolist():
        if not isinstance(names[k], str):
            owner = int(np.searchsorted(np.cumsum(sizes), k, side="right"))
            error = ValueError(f"a feature must be a str, got {describe(names[k])}")
            raise placed(first + owner, offsets, error)
        features[k] = feature(str(names[k]))
    return features, None, sizes


def roomy(array, n):
    """``array`` with at least ``n`` entries; what is behind the old ones is undefined."""
    if n <= array.shape[0]:
        return array
    out = np.empty(max(n, 2 * array.shape[0]), array.dtype)
    out[: array.shape[0]] = array
    return out


def concatenated(parts):
    """The features, values (empty if all are 1) and sizes of all chunks."""
    if not parts:
        return np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64)
    if len(parts) == 1:
        features, values, sizes = parts[0]
        return features, np.zeros(0) if values is None or (values == 1.0).all() else values, sizes
    features, values, sizes = zip(*parts)
    if all(some is None or (some == 1.0).all() for some in values):
        values = [np.zeros(0)]
    else:
        values = [np.ones(f.shape[0]) if v is None else v for f, v in zip(features, values)]
    return np.concatenate(features), np.concatenate(values), np.concatenate(sizes)


def expand(token):
    """(key, simple value) pairs of a dictionary whose values may be collections."""
    for key, value in token.items():
        if not isinstance(key, str):
            raise ValueError(f"a feature name must be a str, got {describe(key)}")
        if isinstance(value, dict):
            for inner, number in expand(value):
                yield f"{key}:{inner}", number
        elif isinstance(value, (list, tuple, set, frozenset)):
            for inner in value:
                if not isinstance(inner, str):
                    raise ValueError(f"feature {key!r}: a list must hold str, got {describe(inner)}")
            for inner in sorted(value) if isinstance(value, (set, frozenset)) else value:
                yield f"{key}:{inner}", True
        else:
            yield key, value


def placed(k, offsets, error):
    """``error`` with the place of the k-th token in front."""
    i, t = place(offsets, k)
    return PlaceError(i, t, f"{error}", "X")


def spellings(ids):
    """All (key, value, feature, 1.0) that make the names of features, of which ``ids`` are given by name."""
    pairs, keys = [], dict.fromkeys(ids)
    for name, k in ids.items():
        parts = name.split(":")
        for n in range(1, len(parts)):
            keys[key := ":".join(parts[:n])] = None
            pairs.append((key, ":".join(parts[n:]), k, 1.0))
    for key in keys:
        pairs += (key, True, ids.get(key, -1), 1.0), (key, False, -1, 1.0)
    return pairs
