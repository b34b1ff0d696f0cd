"""Pairs of a key and a value to dense integers: dictionaries of features, walked in C.

Keys and values have numbers of their own, and a pair of numbers is one entry of an
exact hash table. Values are numbered together for all keys, since ``-1:word`` takes the
values that ``word`` takes: what was just looked up is still in the processor's cache.
Tokens with the same keys in the same order have one layout, which is one look-up. A
number is kept as its four bytes: these are joined to an array faster than integers are
converted.
"""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from itertools import chain, islice
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._core.hashing import find_pairs, intern_pairs, pairs_of, table_of
from .._data.elements import exact
from .._data.inputs import describe, lengths_of
from .._data.places import placed
from .vectors_in_tokens import way_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


MOST_LAYOUTS = 1000
"""Layouts remembered."""


Chunk: TypeAlias = "tuple[np.ndarray, np.ndarray | None, np.ndarray]"
"""Of some tokens the ids of their features (int32), the values (float64; None if all
are 1), and how many features each token has (int64).
"""

NumberedPairs: TypeAlias = (
    "tuple[np.ndarray, np.ndarray, np.ndarray, "
    "Callable[[np.ndarray], list[tuple[Any, Any]]]]"
)
"""The numbers of keys and of values of dictionaries (int32), pairs per token (int64),
and a function that returns the (key, value) at ascending places.
"""

UNSEEN_TEXT = -1
UNSEEN = -2
"""Numbers of a str, and of anything else, that has none."""

_UNSEEN_TEXT, _UNSEEN = (
    k.to_bytes(4, sys.byteorder, signed=True) for k in (UNSEEN_TEXT, UNSEEN)
)
_EVERYWHERE = np.zeros(2, np.int64)  # no position at the ends is left out


class _Numbers(dict[Any, bytes]):
    """Anything hashable -> the bytes of its number."""

    def __missing__(self, item: Any) -> bytes:
        return _UNSEEN_TEXT if type(item) is str else _UNSEEN

    def add(self, item: Any) -> int:
        """Look up the number of something; it gets one if it has none."""
        return int.from_bytes(
            self.setdefault(item, len(self).to_bytes(4, sys.byteorder)), sys.byteorder
        )


def _numbers_of_keys(numbers: _Numbers, keys: Iterable[Any]) -> bytes:
    return b"".join(map(numbers.__getitem__, keys))


def _inner_keys(
    numbers: _Numbers, key: Any, inner: tuple[Any, ...]
) -> tuple[bytes, list[str]]:
    """Of a key, and those of the dictionary that it has, the numbers of ``key:inner``,
    and the names.
    """
    # Of equal keys of other types, such as 1 and True, each has a name of its own.
    if set(map(type, (key, *inner))) != {str}:
        raise Nested
    names = [f"{key}:{name}" for name in inner]
    return _numbers_of_keys(numbers, names), names


def _array(parts: Iterable[bytes]) -> np.ndarray:
    return np.frombuffer(bytearray().join(parts), np.int32)


def _items_at(
    tokens: list[dict[Any, Any]], places: np.ndarray
) -> list[tuple[Any, Any]]:
    """The (key, value) at ascending places among all pairs of dictionaries."""
    if len(tokens) <= 2 * places.shape[0]:
        items = list(chain.from_iterable(map(dict.items, tokens)))
        return [items[at] for at in places.tolist()]
    found = []
    k = 0
    first = 0
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
        By pair the id of its feature, -1 for none, and its value; what is behind the
        last pair serves -1.
    plain : bool
        Whether all these values are 1.
    """

    def __init__(self) -> None:
        self.keys = _Numbers()
        self.values = _Numbers()
        self.feature = np.full(1, -1, np.int32)
        self.number = np.ones(1)
        self.plain = True
        self._entries = np.zeros(1, np.int64)
        self._table, _ = table_of([])
        self._layouts = lru_cache(MOST_LAYOUTS)(partial(_numbers_of_keys, self.keys))
        self._inner_layouts = lru_cache(MOST_LAYOUTS)(partial(_inner_keys, self.keys))
        # See `may_be_features`.
        self._texts: tuple[tuple[int, ...], np.ndarray | None] = (), None

    def __len__(self) -> int:
        return int(self._entries[0])

    def __getstate__(self) -> tuple[Any, ...]:
        # The table and the layouts follow from the rest.
        n = len(self)
        return (
            list(self.keys),
            list(self.values),
            pairs_of(self._table, 0),
            self.feature[:n],
            self.number[:n],
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        vars(self).update(vars(Pairs()))
        keys, values, pairs, feature, number = state
        for numbers, items in ((self.keys, keys), (self.values, values)):
            numbers.update(
                (item, k.to_bytes(4, sys.byteorder)) for k, item in enumerate(items)
            )
        left, right = pairs.T
        self.add(left, right, feature, number)

    def copy(self) -> Pairs:
        """Make pairs that can grow while these stay as they are."""
        twin = Pairs()
        twin.keys.update(self.keys)
        twin.values.update(self.values)
        twin.plain = self.plain
        twin._entries = self._entries.copy()
        twin._table = self._table.copy()
        twin.feature = self.feature.copy()
        twin.number = self.number.copy()
        return twin

    def numbers_of(self, tokens: list[dict[Any, Any]]) -> NumberedPairs:
        """Number the keys and values of dictionaries, one behind the other.

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
        values = chain.from_iterable(map(dict.values, tokens))
        sizes = lengths_of(tokens)
        return (
            left,
            _array(map(self.values.__getitem__, values)),
            sizes,
            partial(_items_at, tokens),
        )

    def numbers_of_nested(self, tokens: list[dict[Any, Any]]) -> NumberedPairs:
        """Number the keys and values of dictionaries whose values may be dictionaries.

        ``{"a": {"b": 1}}`` is the pair of ``a:b`` and 1. What is returned is as of
        :meth:`numbers_of`.

        Raises
        ------
        TypeError
            If a value of an inner dictionary, or another value, is not hashable.
        Nested
            If a key is no str.
        """
        numbers = self.keys
        inner = self._inner_layouts
        left: list[bytes] = []
        keys: list[Any] = []
        values: list[Any] = []
        sizes: list[int] = []
        for token in tokens:
            before = len(values)
            for key, value in token.items():
                if type(value) is dict:
                    number, names = inner(key, tuple(value))
                    values += value.values()
                else:
                    number = numbers[key]
                    names = [key]
                    values.append(value)
                left.append(number)
                keys += names
            sizes.append(len(values) - before)

        def items(places: np.ndarray) -> list[tuple[Any, Any]]:
            """Look up the (key, value) at some places."""
            return [(keys[k], values[k]) for k in places.tolist()]

        right = _array(map(self.values.__getitem__, values))
        return _array(left), right, np.array(sizes, np.int64), items

    def find(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Look up the ids of pairs of numbers, int32; -1 for what is unknown."""
        n = left.shape[0]
        out = np.empty(n, np.int32)
        out.fill(-1)
        find_pairs(self._table, 0, left, right, 0, _EVERYWHERE, np.array([0, n]), out)
        return out

    def number_key(self, key: str) -> int:
        """Look up the number of a key; it gets one if it has none."""
        if key not in self.keys:
            self._layouts.cache_clear()
            self._inner_layouts.cache_clear()
        return self.keys.add(key)

    def add(self, left: Any, right: Any, feature: Any, number: Any) -> None:
        """Add pairs of numbers, which are new and distinct, with their features and
        values, in this order.
        """
        n = len(self)
        end = len(self) + len(left)
        self.feature = _roomy(self.feature, end, -1)
        self.number = _roomy(self.number, end, 1.0)
        self.feature[n:end] = feature
        self.number[n:end] = number
        self.plain = self.plain and bool((self.number[n:end] == 1.0).all())
        left = np.array(left, np.int32)
        right = np.array(right, np.int32)
        self._table = intern_pairs(
            self._table,
            self._entries,
            0,
            left,
            right,
            0,
            _EVERYWHERE,
            np.array([0, end - n]),
            np.empty(end - n, np.int32),
            np.array([n]),
        )

    def remember(self, known: Iterable[tuple[Any, ...]]) -> None:
        """Add pairs, (key, value, feature, value of the feature), but for those that
        are equal to another.

        Distinct integers may be equal where a file holds them as floats.
        """
        done = set(map(tuple, pairs_of(self._table, 0).tolist()))
        new: dict[tuple[int, int], list[Any]] = {}
        for key, value, *found in known:
            pair = self.number_key(key), self.values.add(value)
            if pair not in done:
                new.setdefault(pair, found)
        if new:
            self.add(*zip(*new), *zip(*new.values()))

    def may_be_features(
        self, left: np.ndarray, right: np.ndarray, ids: dict[str, int]
    ) -> np.ndarray:
        """Tell which pairs of numbers that are not remembered may be features with
        names in ``ids``.

        All may, if a feature was also met in another spelling, as ``{"a": {"b": 1}}``
        or ``{"a:b": 1}``, and not all spellings are remembered. Else a str under a
        known key that is not remembered is no feature.
        """
        sizes = len(ids), len(self), len(self.values)
        if self._texts[0] != sizes:
            features = self.feature[: len(self)]
            known = np.count_nonzero(np.unique(features) >= 0) == len(ids)
            # By number of a value whether it is a str; the last two serve those that
            # have none.
            text = np.array(
                [*(isinstance(value, str) for value in self.values), False, True],
                np.bool_,
            )
            remembered = text[pairs_of(self._table, 0)[:, 1]] & (features >= 0)
            # Each str that makes a name: one for each colon of the name.
            has_all = np.count_nonzero(remembered) == sum(
                name.count(":") for name in ids
            )
            # A name a:b:c may be that of two pairs where a:b is a key, and so is a.
            parts = (
                key[:at] for key in self.keys for at, c in enumerate(key) if c == ":"
            )
            ambiguous = any(map(self.keys.__contains__, parts))
            self._texts = sizes, text if known and (has_all or not ambiguous) else None
        may_be_text = self._texts[1]
        if may_be_text is None:
            return np.ones(left.shape, np.bool_)
        return (left < 0) | ~may_be_text.take(right)

    def renumbered(self, id_of: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Go through all pairs under other ids of features, by id.

        Parameters
        ----------
        id_of : ndarray of int
            By old id the new one; -1 stays.

        Yields
        ------
        (key, value, feature, value of the feature)
        """
        ids = [*id_of.tolist(), -1]
        return (
            (key, value, ids[feature], number)
            for key, value, feature, number in self.items()
        )

    def items(self) -> list[tuple[Any, ...]]:
        """List all (key, value, feature, value of the feature), by id."""
        keys = list(self.keys)
        values = list(self.values)
        pairs = zip(
            pairs_of(self._table, 0).tolist(),
            self.feature.tolist(),
            self.number.tolist(),
        )
        return [(keys[k], values[v], *found) for (k, v), *found in pairs]


# --------------------------------------------------------------------------------------
# Pair by pair, where dictionaries cannot be walked in C
# --------------------------------------------------------------------------------------
class Nested(Exception):
    """A value holds several features; the chunk is encoded pair by pair."""


def as_feature(key: Any, value: Any) -> tuple[str | None, float]:
    """Name the feature of a pair, and tell its value.

    Returns
    -------
    name : str or None
        None if the pair is no feature.
    value : float

    Raises
    ------
    Nested
        If the pair is several features.
    ValueError
        If it is wrong.
    """
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
    text = (
        f"feature {key!r} must be a str, a bool, a number, or a list or dict of "
        "these, got "
    )
    raise ValueError(text + describe(value) + way_out(value, key))


def encode_nested(
    tokens: list[dict[str, Any]],
    first: int,
    offsets: np.ndarray,
    resolve: Callable[[str, Any], tuple[int, float]],
) -> Chunk:
    """Encode dictionaries whose values may be collections, token by token.

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
    found = []
    sizes = []
    for k, token in enumerate(tokens):
        try:
            mine = [resolve(*pair) for pair in expand(token)]
        except ValueError as error:
            raise placed(offsets, first + k, str(error)) from None
        found += mine
        sizes.append(len(mine))
    features, values = zip(*found) if found else ((), ())
    return (
        np.array(features, np.int32),
        np.array(values, np.float64),
        np.array(sizes, np.int64),
    )


def _roomy(array: np.ndarray, n: int, rest: float) -> np.ndarray:
    """``array`` with more than ``n`` entries; those behind the old ones are ``rest``"""
    if n < array.shape[0]:
        return array
    out = np.full(max(n + 1, 2 * array.shape[0]), rest, array.dtype)
    out[: array.shape[0]] = array
    return out


def concatenated(parts: list[Chunk]) -> list[np.ndarray]:
    """Join the features, values (empty if all are 1) and sizes of all chunks."""
    nothing: Chunk = np.zeros(0, np.int32), None, np.zeros(0, np.int64)
    features, known, sizes = zip(*(parts or [nothing]))
    if all(some is None or (some == 1.0).all() for some in known):
        values = [np.zeros(0)]
    else:
        values = [
            np.ones(f.shape[0]) if v is None else v for f, v in zip(features, known)
        ]
    return [
        each[0] if len(each) == 1 else np.concatenate(each)
        for each in (features, values, sizes)
    ]


def expand(token: dict[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the (key, simple value) of a dictionary whose values may be collections.

    ``prefix`` stands before the keys.
    """
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
                    raise ValueError(
                        f"feature {name!r}: a list must hold str, got {found}"
                    )
            for inner in (
                sorted(value) if isinstance(value, (set, frozenset)) else value
            ):
                yield f"{name}:{exact(inner)}", True
        else:
            yield name, value


def spellings(ids: dict[str, int]) -> list[tuple[Any, ...]]:
    """List all (key, value, feature, 1.0) that make the names of features.

    ``ids`` has the features by name.
    """
    pairs: list[tuple[Any, ...]] = []
    keys = dict.fromkeys(ids)
    for name, k in ids.items():
        parts = name.split(":")
        for n in range(1, len(parts)):
            keys[key := ":".join(parts[:n])] = None
            pairs.append((key, ":".join(parts[n:]), k, 1.0))
    for key in keys:
        pairs += (key, True, ids.get(key, -1), 1.0), (key, False, -1, 1.0)
    return pairs
