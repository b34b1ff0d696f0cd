"""Pairs of a key and a value to dense integers: dictionaries of features, walked in C.

Keys and values have numbers of their own, and a pair of numbers is one entry of an exact hash table. Values
are numbered together for all keys, since ``-1:word`` takes the values that ``word`` takes: what was just
looked up is still in the processor's cache. Tokens with the same keys in the same order have one layout,
which is one look-up. A number is kept as its four bytes: these are joined to an array faster than integers
are converted.
"""

import sys
from functools import lru_cache, partial
from itertools import chain, islice
from math import inf, isfinite

import numpy as np

from ..core.hashing import find_pairs, intern_pairs, pairs_of, table_of
from ..data.elements import exact
from ..data.inputs import describe, lengths_of
from ..data.places import placed
from .vectors_in_tokens import way_out

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
        return int.from_bytes(self.setdefault(item, len(self).to_bytes(4, sys.byteorder)), sys.byteorder)


def _numbers_of_keys(numbers, keys):
    return b"".join(map(numbers.__getitem__, keys))


def _inner_keys(numbers, key, inner):
    """Of a key, and those of the dictionary that it has, the numbers of ``key:inner``, and the names."""
    # Of equal keys of other types, such as 1 and True, each has a name of its own.
    if set(map(type, (key, *inner))) != {str}:
        raise Nested
    names = [f"{key}:{name}" for name in inner]
    return _numbers_of_keys(numbers, names), names


def _array(parts):
    return np.frombuffer(bytearray().join(parts), np.int32)


def _items_at(tokens, places):
    """The (key, value) at ascending places among all pairs of dictionaries."""
    if len(tokens) <= 2 * places.shape[0]:
        items = list(chain.from_iterable(map(dict.items, tokens)))
        return [items[at] for at in places.tolist()]
    found, k, first = [], 0, 0
    for at in places.tolist():
        while at >= first + len(tokens[k]):
            first += len(tokens[k])
            k += 1
        found.append(next(islice(tokens[k].items(), at - first, None)))
    return found


class Pairs:
    """Pairs in order of their first occurrence.

    Attributes
    ----------
    keys, values : dict
        Their numbers, in order of first occurrence.
    feature, number : ndarray
        By pair the id of its feature, -1 for none, and its value; what is behind the last pair serves -1.
    plain : bool
        Whether all these values are 1.
    """

    def __init__(self):
        self.keys, self.values = _Numbers(), _Numbers()
        self.feature, self.number, self.plain = np.full(1, -1, np.int32), np.ones(1), True
        self._entries = np.zeros(1, np.int64)
        self._table, _ = table_of([])
        self._layouts, self._inner_layouts = (
            lru_cache(MOST_LAYOUTS)(partial(make, self.keys)) for make in (_numbers_of_keys, _inner_keys)
        )
        self._texts = (), None  # see `may_be_features`

    def __len__(self):
        return int(self._entries[0])

    def __getstate__(self):
        # The table and the layouts follow from the rest.
        n = len(self)
        return list(self.keys), list(self.values), pairs_of(self._table, 0), self.feature[:n], self.number[:n]

    def __setstate__(self, state):
        self.__init__()
        keys, values, pairs, feature, number = state
        for numbers, items in ((self.keys, keys), (self.values, values)):
            numbers.update((item, k.to_bytes(4, sys.byteorder)) for k, item in enumerate(items))
        self.add(*pairs.T, feature, number)

    def copy(self):
        """Pairs that can grow while these stay as they are."""
        twin = Pairs()
        twin.keys.update(self.keys)
        twin.values.update(self.values)
        twin.plain, twin._entries, twin._table = self.plain, self._entries.copy(), self._table.copy()
        twin.feature, twin.number = self.feature.copy(), self.number.copy()
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
        if self._layouts.cache_info().currsize < MOST_LAYOUTS:
            left = _array(map(self._layouts, map(tuple, tokens)))
        else:
            left = _array(map(self.keys.__getitem__, chain.from_iterable(tokens)))
        values, sizes = chain.from_iterable(map(dict.values, tokens)), lengths_of(tokens)
        return left, _array(map(self.values.__getitem__, values)), sizes, partial(_items_at, tokens)

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
        left, keys, values, sizes = [], [], [], []
        for token in tokens:
            before = len(values)
            for key, value in token.items():
                if type(value) is dict:
                    number, names = inner(key, tuple(value))
                    values += value.values()
                else:
                    number, names = numbers[key], (key,)
                    values.append(value)
                left.append(number)
                keys += names
            sizes.append(len(values) - before)

        def items(places):
            return [(keys[k], values[k]) for k in places.tolist()]

        right = _array(map(self.values.__getitem__, values))
        return _array(left), right, np.array(sizes, np.int64), items

    def find(self, left, right):
        """Pairs of numbers to their ids, int32; -1 for what is unknown."""
        n = left.shape[0]
        out = np.empty(n, np.int32)
        out.fill(-1)
        find_pairs(self._table, 0, left, right, 0, _EVERYWHERE, np.array([0, n]), out)
        return out

    def number_key(self, key):
        """The number of a key, a new one if it has none."""
        if key not in self.keys:
            self._layouts.cache_clear()
            self._inner_layouts.cache_clear()
        return self.keys.add(key)

    def add(self, left, right, feature, number):
        """Add pairs of numbers, which are new and distinct, with their features and values, in this order."""
        n, end = len(self), len(self) + len(left)
        self.feature, self.number = _roomy(self.feature, end, -1), _roomy(self.number, end, 1.0)
        self.feature[n:end], self.number[n:end] = feature, number
        self.plain = self.plain and bool((self.number[n:end] == 1.0).all())
        left, right = np.array(left, np.int32), np.array(right, np.int32)
        self._table = intern_pairs(
            self._table, self._entries, 0, left, right, 0, _EVERYWHERE, np.array([0, end - n]),
            np.empty(end - n, np.int32), np.array([n]),
        )  # fmt: skip

    def remember(self, known):
        """Add pairs, (key, value, feature, value of the feature), but for those that are equal to another.

        Distinct integers may be equal where a file holds them as floats.
        """
        done, new = set(map(tuple, pairs_of(self._table, 0).tolist())), {}
        for key, value, *found in known:
            pair = self.number_key(key), self.values.add(value)
            if pair not in done:
                new.setdefault(pair, found)
        if new:
            self.add(*zip(*new), *zip(*new.values()))

    def may_be_features(self, left, right, ids):
        """Which pairs of numbers that are not remembered may be features of those with names in ``ids``.

        All may, if a feature was also met in another spelling, as ``{"a": {"b": 1}}`` or ``{"a:b": 1}``, and
        not all spellings are remembered. Else a str under a known key that is not remembered is no feature.
        """
        sizes = len(ids), len(self), len(self.values)
        if self._texts[0] != sizes:
            features = self.feature[: len(self)]
            known = np.count_nonzero(np.unique(features) >= 0) == len(ids)
            # By number of a value whether it is a str; the last two serve those that have none.
            text = np.array([*(isinstance(value, str) for value in self.values), False, True], np.bool_)
            remembered = text[pairs_of(self._table, 0)[:, 1]] & (features >= 0)
            # Each str that makes a name: one for each colon of the name.
            has_all = np.count_nonzero(remembered) == sum(name.count(":") for name in ids)
            # A name a:b:c may be that of two pairs where a:b is a key, and so is a.
            parts = (key[:at] for key in self.keys for at, c in enumerate(key) if c == ":")
            ambiguous = any(map(self.keys.__contains__, parts))
            self._texts = sizes, text if known and (has_all or not ambiguous) else None
        text = self._texts[1]
        return np.ones(left.shape, np.bool_) if text is None else (left < 0) | ~text.take(right)

    def renumbered(self, id_of):
        """All (key, value, feature, value of the feature) under other ids of features, by id; -1 stays."""
        id_of = [*id_of.tolist(), -1]
        return ((key, value, id_of[feature], number) for key, value, feature, number in self.items())

    def items(self):
        """All (key, value, feature, value of the feature), by id."""
        keys, values = list(self.keys), list(self.values)
        pairs = zip(pairs_of(self._table, 0).tolist(), self.feature.tolist(), self.number.tolist())
        return [(keys[k], values[v], *found) for (k, v), *found in pairs]


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
        return f"{exact(key)}:{exact(value)}", 1.0
    key = exact(key)
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
    text = f"feature {key!r} must be a str, a bool, a number, or a list or dict of these, got "
    raise ValueError(text + describe(value) + way_out(value, key))


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
    found, sizes = [], []
    for k, token in enumerate(tokens):
        try:
            mine = [resolve(*pair) for pair in expand(token)]
        except ValueError as error:
            raise placed(offsets, first + k, str(error)) from None
        found += mine
        sizes.append(len(mine))
    features, values = zip(*found) if found else ((), ())
    return np.array(features, np.int32), np.array(values, np.float64), np.array(sizes, np.int64)


def _roomy(array, n, rest):
    """``array`` with more than ``n`` entries; those behind the old ones are ``rest``."""
    if n < array.shape[0]:
        return array
    out = np.full(max(n + 1, 2 * array.shape[0]), rest, array.dtype)
    out[: array.shape[0]] = array
    return out


def concatenated(parts):
    """The features, values (empty if all are 1) and sizes of all chunks."""
    nothing = np.zeros(0, np.int32), None, np.zeros(0, np.int64)
    features, values, sizes = zip(*(parts or [nothing]))
    if all(some is None or (some == 1.0).all() for some in values):
        values = [np.zeros(0)]
    else:
        values = [np.ones(f.shape[0]) if v is None else v for f, v in zip(features, values)]
    return [each[0] if len(each) == 1 else np.concatenate(each) for each in (features, values, sizes)]


def expand(token, prefix=""):
    """(key, simple value) pairs of a dictionary whose values may be collections."""
    for key, value in token.items():
        if not isinstance(key, str):
            raise ValueError(f"a feature name must be a str, got {describe(key)}")
        name = prefix + exact(key)
        if isinstance(value, dict):
            yield from expand(value, f"{name}:")
        elif isinstance(value, (list, tuple, set, frozenset)):
            for inner in value:
                if not isinstance(inner, str):
                    found = f"{describe(inner)}{way_out(value, name)}"
                    raise ValueError(f"feature {name!r}: a list must hold str, got {found}")
            for inner in sorted(value) if isinstance(value, (set, frozenset)) else value:
                yield f"{name}:{exact(inner)}", True
        else:
            yield name, value


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
