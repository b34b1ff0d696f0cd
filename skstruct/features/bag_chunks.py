"""Dictionaries of features pair by pair, where they cannot be walked in C; and chunks of a corpus joined."""

from itertools import chain, repeat
from math import inf, isfinite

import numpy as np

from ..data.inputs import PlaceError, describe, offsets_of, place

MOST_NAMES = 1000
"""Outer keys whose joined names are remembered, and inner keys for each."""


class Nested(Exception):
    """A value holds several features; the chunk is encoded pair by pair."""


def flattened(tokens):
    """Dictionaries one level flatter: ``{"a": {"b": 1}}`` becomes ``{"a:b": 1}``.

    Raises Nested if that does not work: if different features would have one key, or a key is no str.
    """
    out = []
    for token in tokens:
        flat, n = {}, 0
        for key, value in token.items():
            if type(value) is dict:
                names = _names.get(key)
                if names is None:
                    names = _Joined(key)
                    if len(_names) < MOST_NAMES:
                        _names[key] = names
                n += len(value)
                for inner, feature in value.items():
                    flat[names[inner]] = feature
            else:
                flat[key] = value
                n += 1
        if len(flat) < n:
            raise Nested
        out.append(flat)
    return out


_names = {}  # key -> _Joined: names that were joined once, whatever the model


class _Joined(dict):
    """Inner key -> ``key:inner``, a bounded memory."""

    def __init__(self, key):
        if type(key) is not str:
            raise Nested
        self.prefix = f"{key}:"

    def __missing__(self, inner):
        if type(inner) is not str:
            raise Nested
        name = self.prefix + inner
        if len(self) < MOST_NAMES:
            self[inner] = name
        return name


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


def items_at(tokens, sizes, places):
    """The (key, value) at ascending places among all pairs of dictionaries."""
    start = offsets_of(sizes)
    owner = np.searchsorted(start, places, side="right") - 1
    some = np.unique(owner)
    before = start[some] - offsets_of(sizes[some])[:-1]  # pairs of dictionaries left out
    within = (places - np.repeat(before, np.unique(owner, return_counts=True)[1])).tolist()
    some = list(map(tokens.__getitem__, some.tolist()))
    keys, values = list(chain.from_iterable(some)), list(chain.from_iterable(map(dict.values, some)))
    return list(zip(map(keys.__getitem__, within), map(values.__getitem__, within)))


def roomy(array, n):
    """``array`` with at least ``n`` entries; what is behind the old ones is undefined."""
    if n <= array.shape[0]:
        return array
    out = np.empty(max(n, 2 * array.shape[0]), array.dtype)
    out[: array.shape[0]] = array
    return out


def joined(parts):
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


def check_kinds(flat, token, kind):
    """Raise unless all tokens are of one type."""
    if set(map(type, flat)) - {kind}:
        for k, value in enumerate(flat):
            if not isinstance(value, kind):
                what = f"expected a {kind.__name__} of features like the first token"
                raise PlaceError(*place(token, k), f"{what}, got {describe(value)}", "X")
