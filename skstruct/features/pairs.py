"""Numbers of features of dictionaries and lists of names: the one plain encoder.

``known[key][value]`` is the number of the feature of a pair. What a table lacks is named
and looked up once, and remembered; so an encoder begins with empty tables, and no file
has any. A number is kept as its four bytes: these are joined to an array faster than
integers are converted. Loops over pairs are ``map`` and ``chain``, which take half as
long as loops in Python. So a number that is remembered is looked up as a text is, and
marked (``COUNTED``); where many are met, they are taken out first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import accumulate, chain, cycle, repeat
from math import isfinite
from struct import Struct
from typing import Any, TypeAlias

import numpy as np

from .._data.elements import exact
from .._data.inputs import lengths_of, offsets_of

MOST_UNKNOWN = 100_000
"""Pairs and names remembered that are no features; and tables of keys, where these are
looked up.
"""

MOST_NUMBERS = 10_000
"""Pairs remembered whose value is neither 0 nor 1."""

MOST_NUMBERS_OF_KEY = 100
"""So many of one key: where there are more, hardly any of them comes twice. From then
on all numbers are taken out before pairs are looked up.
"""

MOST_LAYOUTS = 1_000
"""Sequences of keys inside of a key whose tables are remembered."""

MANY_KEYS = 6
"""The least number of keys of the first dictionary for a faster lookup of dictionaries
with the same keys as the one before.
"""

Chunk: TypeAlias = "tuple[np.ndarray, np.ndarray | None, np.ndarray]"
"""The features of some tokens: their numbers (int32), their values (float64; None if
all are 1), and where the features of each token start (int64).
"""


FEW_TOKENS = 100
"""Up to so many tokens, sums in Python are faster than calls of numpy."""

_NUMBER = Struct("=i")
_as_bytes = _NUMBER.pack

NONE = _as_bytes(-1)
"""The number of what is no feature."""

SHOWN = 2**30
"""Added to the number of a feature whose value is 0, where such features count."""

COUNTED = 2**29
"""Added to the number of a feature whose value is neither 0 nor 1."""

_NUMBERS = (int, float, np.bool_, np.integer, np.floating)
_COUNTED_KINDS = {int, float} | {
    np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["Float"]
}
"""Kinds of numbers, exactly."""


SAMPLED = 4
"""Dictionaries of a chunk that are looked at for flags of numpy."""

LOOK_EVERY = 16
"""Short calls of which one looks for them, until there were some."""


class Odd(LookupError):
    """A pair is not one feature, or there are more numbers than are remembered: encode
    these tokens in the next way.
    """


class _Room:
    """A count of the entries that all tables of an encoder together may still remember."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> bool:
        """Tell whether there is room for one more, which is taken."""
        self.left -= 1
        return self.left >= 0


class KnownFeatures(dict[Any, "Values"]):
    """Tables of the pairs of each key, ``{key: {value: number of the feature}}``.

    A feature that is unknown gets a number while ``learns`` holds; else it has none.
    Threads may share the tables: they are only added to.

    Parameters
    ----------
    ids : dict
        Features by name.
    learns : bool
    prefix : str
        What stands before keys in the names of features.
    shows_zeros : bool
        Whether what has the value 0 is a feature, too: its number is ``SHOWN`` more.

    Attributes
    ----------
    names : Names
        Numbers by name, for lists.
    inner : dict
        The tables inside a key, for dictionaries as values.
    layouts : dict
        ``{(key, keys inside): their tables}``.
    root : KnownFeatures
        The tables inside of which these are; themselves, if there are none.
    has_numbers : bool
        Whether they have met a value that is neither 0 nor 1; asked of the root.
    has_many : bool
        Whether there were more than are remembered; likewise.
    numbers, unknown, tables : _Room
        For such values, for what is no feature, and for tables; the root's.
    is_due : callable
        Tells whether a short call has to look for flags of numpy.
    """

    def __init__(
        self,
        ids: dict[str, int],
        learns: bool,
        prefix: str = "",
        shows_zeros: bool = False,
        root: KnownFeatures | None = None,
    ) -> None:
        super().__init__()
        self.root: KnownFeatures = self if root is None else root
        self.has_numbers = False
        self.has_many = False
        self.numbers: _Room = root.numbers if root is not None else _Room(MOST_NUMBERS)
        self.unknown: _Room = root.unknown if root is not None else _Room(MOST_UNKNOWN)
        self.tables: _Room = root.tables if root is not None else _Room(MOST_UNKNOWN)
        self.shows_zeros = shows_zeros
        self.ids = ids
        self.learns = learns
        self.prefix = prefix
        self.size = len(ids)
        self.names = Names(self)
        self.inner: dict[str, KnownFeatures] = {}
        self.layouts: dict[tuple[Any, ...], list[Values]] = {}
        self.is_due = cycle([*repeat(False, LOOK_EVERY - 1), True]).__next__

    def serves(self, ids: dict[str, int], learns: bool) -> bool:
        """Tell whether these tables are right for such names.

        Tables that learned serve for looking up; but not the other way round, since
        they know of pairs that are no features yet.
        """
        if self.ids is not ids or (learns and not self.learns):
            return False
        if self.learns and not learns:
            self._end_learning()
        return learns or self.size == len(ids)

    def _end_learning(self) -> None:
        self.size = len(self.ids)
        for inner in self.inner.values():
            inner._end_learning()
        self.learns = False

    def number(self, name: str) -> bytes:
        """Look up the number of a name, which gets one if these tables learn."""
        if self.learns:
            return _as_bytes(self.ids.setdefault(name, len(self.ids)))
        found = self.ids.get(name)
        return NONE if found is None else _as_bytes(found)

    def number_of_zero(self, name: str) -> bytes:
        """Return the number of a feature whose value is 0."""
        if not self.shows_zeros:
            return NONE
        return _as_bytes(_NUMBER.unpack(self.number(name))[0] + SHOWN)

    def __missing__(self, key: Any) -> Values:
        if type(key) is not str:
            if isinstance(key, str):
                return self[exact(key)]
            raise Odd
        values = Values(self, self.prefix + key)
        if self.learns or self.tables.take():
            self[key] = values
        return values

    def inside(self, key: str) -> KnownFeatures:
        """Return the tables of a dictionary that is the value of a key."""
        if not isinstance(key, str):
            raise Odd
        key = exact(key)
        inner = self.inner.get(key)
        if inner is None:
            prefix = f"{self.prefix}{key}:"
            inner = KnownFeatures(
                self.ids, self.learns, prefix, self.shows_zeros, self.root
            )
            if self.learns or self.tables.take():
                self.inner[key] = inner
        return inner

    def tables_inside(self, key: str, token: dict[Any, Any]) -> list[Values]:
        """Return the table of each pair of a dictionary that is the value of a key."""
        layout = (key, *token)
        tables = self.layouts.get(layout)
        if tables is None:
            # Not of the token, which another thread may have changed.
            tables = [*map(self.inside(key).__getitem__, layout[1:])]
            if len(self.layouts) < MOST_LAYOUTS:
                self.layouts[layout] = tables
        return tables


class Values(dict[Any, bytes]):
    """The number of the feature that each value of a key makes."""

    __slots__ = ("key", "known")

    def __init__(self, known: KnownFeatures, key: str) -> None:
        super().__init__()
        self.known = known
        self.key = key

    def __missing__(self, value: Any) -> bytes:
        known = self.known
        if type(value) is str:
            number = known.number(f"{self.key}:{value}")
        elif isinstance(value, str):
            return self[exact(value)]
        elif not isinstance(value, _NUMBERS):
            raise Odd
        elif value == 0 or value == 1:
            if type(value) is not np.bool_:  # which is found as itself, not as equal
                value = bool(value)
            number = (known.number if value else known.number_of_zero)(self.key)
        else:
            return self._number_of_counted(value)
        if number is not NONE or known.unknown.take():
            self[value] = number
        return number

    def _number_of_counted(self, value: Any) -> bytes:
        """Return the number of the feature whose value is neither 0 nor 1."""
        if not _is_finite(value):
            raise Odd
        root = self.known.root
        if len(self) >= MOST_NUMBERS_OF_KEY or not root.numbers.take():
            root.has_many = True
            raise Odd
        number = _as_bytes(_NUMBER.unpack(self.known.number(self.key))[0] + COUNTED)
        root.has_numbers = True
        self[value] = number
        return number


def has_numpy_flags(tokens: list[dict[Any, Any]]) -> bool:
    """Tell whether a few of the dictionaries, or of those in them, hold flags of numpy.

    ``numpy.True_`` is equal to True and has its hash, but takes twenty times as long to
    compare. So dictionaries with such flags have tables of their own, in which these
    are found as themselves.
    """
    some = tokens[:: 1 + len(tokens) // SAMPLED]
    values = [*chain.from_iterable(map(dict.values, some))]
    kinds = set(map(type, values))
    if dict in kinds and np.bool_ not in kinds:
        inside = [value for value in values if type(value) is dict]
        kinds = set(map(type, chain.from_iterable(map(dict.values, inside))))
    return np.bool_ in kinds


def _is_finite(value: Any) -> bool:
    """Tell whether a number is finite as a float."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


class Names(dict[Any, bytes]):
    """The number of each name of a feature."""

    __slots__ = ("known",)

    def __init__(self, known: KnownFeatures) -> None:
        super().__init__()
        self.known = known

    def __missing__(self, name: Any) -> bytes:
        if type(name) is not str:
            if isinstance(name, str):
                return self[exact(name)]
            raise Odd
        number = self.known.number(name)
        if number is not NONE or self.known.unknown.take():
            self[name] = number
        return number


_CHANGED = "tokens changed while their features were looked up"
"""Kernels go by where the features of a token start, and check nothing. So it is proven
here that there are as many, whatever another thread does to the tokens meanwhile.
"""


def _starts(tokens: Collection[Collection[Any]], n_features: int) -> np.ndarray:
    """Return where the features of each token start, (n + 1,) int64, of so many."""
    n = len(tokens)
    if n <= FEW_TOKENS:
        ends = accumulate(map(len, tokens), initial=0)
        starts = np.fromiter(ends, np.int64, n + 1)
    else:
        starts = offsets_of(lengths_of(tokens))
    if starts.item(n) != n_features:
        raise RuntimeError(_CHANGED)
    return starts


def encode_names(known: KnownFeatures, tokens: list[list[str]]) -> Chunk:
    """Encode lists of names.

    Raises
    ------
    Odd, TypeError
        If something is no str.
    """
    found = map(known.names.__getitem__, chain.from_iterable(tokens))
    rows = np.frombuffer(bytearray().join(found), np.int32)
    return rows, None, _starts(tokens, rows.shape[0])


def _tables(known: KnownFeatures, tokens: list[dict[Any, Any]]) -> list[Values]:
    """Return the table of the key of each pair, of dictionaries that have many keys.

    Those of neighbours are mostly the same: their tables are found once.
    """
    tables: list[Values] = []
    before: list[Any] | None = None
    mine: list[Values] = []
    for token in tokens:
        keys = [*token]
        if keys != before:
            mine = [*map(known.__getitem__, keys)]
            before = keys
        tables += mine
    return tables


def encode_pairs(known: KnownFeatures, tokens: list[dict[Any, Any]]) -> Chunk:
    """Encode dictionaries of which each pair is one feature, or none.

    Raises
    ------
    Odd, TypeError
        If one is not: a collection, or wrong.
    """
    tables: Iterable[Values]
    if tokens and len(tokens[0]) >= MANY_KEYS:
        tables = _tables(known, tokens)
    else:
        tables = map(known.__getitem__, chain.from_iterable(tokens))
    values = chain.from_iterable(map(dict.values, tokens))
    if known.root.has_many:
        rows, numbers = _counted(known, tables, [*values])
        return rows, numbers, _starts(tokens, rows.shape[0])
    found = map(dict.__getitem__, tables, values)
    rows = np.frombuffer(bytearray().join(found), np.int32)
    starts = _starts(tokens, rows.shape[0])
    if known.root.has_numbers:
        values = chain.from_iterable(map(dict.values, tokens))
        return *_with_numbers(rows, [*values]), starts
    return rows, None, starts


def encode_inside(known: KnownFeatures, tokens: list[dict[Any, Any]]) -> Chunk:
    """Encode dictionaries of such pairs, and of dictionaries of such pairs.

    Raises
    ------
    Odd, TypeError
        If a value is something else.
    """
    tables: list[Values] = []
    values: list[Any] = []
    starts = [0]
    for token in tokens:
        for key, value in token.items():
            if type(value) is dict:
                tables += known.tables_inside(key, value)
                values += value.values()
            else:
                tables.append(known[key])
                values.append(value)
        starts.append(len(values))
    return *_counted(known, tables, values), np.array(starts, np.int64)


def encode_deep(known: KnownFeatures, tokens: list[dict[Any, Any]]) -> Chunk:
    """Encode dictionaries of such pairs, and of dictionaries of any depth.

    Raises
    ------
    Odd, TypeError
        If a value is something else.
    """
    tables: list[Values] = []
    values: list[Any] = []
    starts = [0]
    for token in tokens:
        _spread(known, token, tables, values)
        starts.append(len(values))
    return *_counted(known, tables, values), np.array(starts, np.int64)


def _spread(
    known: KnownFeatures,
    token: dict[Any, Any],
    tables: list[Values],
    values: list[Any],
) -> None:
    """Add the tables and the values of all pairs of a dictionary, and of those in it."""
    for key, value in token.items():
        if type(value) is dict:
            _spread(known.inside(key), value, tables, values)
        else:
            tables.append(known[key])
            values.append(value)


def _look_up(tables: Iterable[Values], values: Iterable[Any]) -> np.ndarray:
    """Return the number of each value in its table, int32."""
    return np.frombuffer(
        bytearray().join(map(dict.__getitem__, tables, values)), np.int32
    )


def _counted(
    known: KnownFeatures, tables: Iterable[Values], values: list[Any]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the numbers of features, and their values; None if all are 1."""
    taken = _take_numbers(values) if known.root.has_many else None
    rows, numbers = _with_numbers(_look_up(tables, values), values)
    if taken is None:
        return rows, numbers
    # Of other kinds, such as members of an enumeration, numbers are not taken out.
    return rows, taken if numbers is None else taken * numbers


def _take_numbers(values: list[Any]) -> np.ndarray | None:
    """Return the numbers among some values, and 1 for what is none; None if there are
    none.

    In ``values`` stands then instead whether they differ from 0.

    Raises
    ------
    Odd
        If one is not finite.
    """
    n = len(values)
    is_number = map(_COUNTED_KINDS.__contains__, map(type, values))
    places = np.fromiter(is_number, np.bool_, n).nonzero()[0]
    if places.shape[0] == 0:
        return None
    found = _as_floats([values[k] for k in places.tolist()])
    for k, shown in zip(places.tolist(), (found != 0.0).tolist()):
        values[k] = shown
    numbers = np.ones(n)
    numbers[places] = found
    return numbers


def _with_numbers(
    rows: np.ndarray, values: list[Any]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the numbers of features, and their values; None if all are 1.

    Where ``rows`` have a number of a feature with another value, ``COUNTED`` is taken
    from it.
    """
    if rows.shape[0] != len(values):
        raise RuntimeError(_CHANGED)
    # What is no feature has the number -1, and a value that has to be a number, too.
    places = ((rows >= COUNTED - 1) & (rows < SHOWN)).nonzero()[0]
    if places.shape[0] == 0:
        return rows, None
    found = [values[k] for k in places.tolist()]
    if not all(issubclass(kind, _NUMBERS) for kind in set(map(type, found))):
        raise Odd  # it equals a number that is remembered, and is none
    numbers = np.ones(rows.shape[0])
    numbers[places] = _as_floats(found)
    rows[places] -= COUNTED
    return rows, numbers


def _as_floats(numbers: list[Any]) -> np.ndarray:
    """Return numbers as float64, and raise Odd if one is not finite."""
    try:
        found = np.fromiter(map(float, numbers), np.float64, len(numbers))
    except OverflowError:
        raise Odd from None
    if not np.isfinite(found).all():
        raise Odd
    return found


def concatenated(parts: list[Chunk]) -> list[np.ndarray]:
    """Join the numbers, values (empty if all are 1) and starts of all chunks."""
    nothing: Chunk = np.zeros(0, np.int32), None, np.zeros(1, np.int64)
    features, known, starts = zip(*(parts or [nothing]))
    if all(some is None or (some == 1.0).all() for some in known):
        values = [np.zeros(0)]
    else:
        values = [
            np.ones(f.shape[0]) if v is None else v for f, v in zip(features, known)
        ]
    if len(features) == 1:
        return [features[0], values[0], starts[0]]
    before = offsets_of(lengths_of(features))[:-1].tolist()
    ends = [start[1:] + n for start, n in zip(starts, before)]
    return [
        np.concatenate(features),
        np.concatenate(values),
        np.concatenate([np.zeros(1, np.int64), *ends]),
    ]
