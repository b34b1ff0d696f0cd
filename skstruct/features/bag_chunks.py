"""Dictionaries of features pair by pair, where they cannot be walked in C; and chunks of a corpus joined."""

from itertools import chain
from math import inf, isfinite

import numpy as np

from ..data.inputs import PlaceError, describe, offsets_of, place


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


def items_at(tokens, sizes, places):
    """The (key, value) at ascending places among all pairs of dictionaries."""
    start = offsets_of(sizes)
    owner = np.searchsorted(start, places, side="right") - 1
    some = np.unique(owner)
    before = start[some] - offsets_of(sizes[some])[:-1]  # pairs of dictionaries left out
    within = (places - np.repeat(before, np.unique(owner, return_counts=True)[1])).tolist()
    flat = list(chain.from_iterable(map(dict.items, map(tokens.__getitem__, some.tolist()))))
    return list(map(flat.__getitem__, within))


def joined(parts):
    """The features, values (empty if all are 1) and sizes of all chunks."""
    if not parts:
        return np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64)
    features, values, sizes = zip(*parts)
    if len(parts) == 1:
        plain = values[0] is None or (values[0] == 1.0).all()
        return features[0], np.zeros(0) if plain else values[0], sizes[0]
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
