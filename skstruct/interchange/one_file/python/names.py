"""Ready-made features: tokens that are dicts, or lists of names."""

from collections.abc import Set
from math import inf, isfinite

from .reading import PARTS, refuse


class Names:
    """The features of tokens that bring their own: a row of weights for each name."""

    def __init__(self, header, arrays):
        self.row = {name: k for k, name in enumerate(header["names"])}

    def features(self, token):
        """(name, value) of each feature of a token, in its order."""
        if isinstance(token, dict):
            return list(of_dict("", token))
        if isinstance(token, Set):  # of the keys of a dict, too
            token = sorted(token, key=str)
        if not isinstance(token, (list, tuple)):
            raise ValueError(f"expected a dict or a list of features, got {token!r}")
        for name in token:
            if not isinstance(name, str):
                raise ValueError(f"a feature must be a str, got {name!r}")
        return [(name, 1.0) for name in token]

    def rows(self, sequence, i):
        """By token the rows of its features, their values, and no rows of transitions; i is for errors."""
        rows, values = [], []
        for t, token in enumerate(sequence):
            found = self.ordinary(token)
            if found is None:
                try:
                    known = [f for f in self.features(token) if f[0] in self.row]
                except ValueError as error:
                    refuse(i, t, error)
                found = [self.row[name] for name, _ in known], [value for _, value in known]
            rows.append(found[0])
            values.append(found[1])
        return rows, values, None

    def ordinary(self, token):
        """(rows, values) of a list of str, or a dict of str, bool and float; None if it is another token."""
        rows, values, row_of = [], [], self.row.get
        if type(token) is list and set(map(type, token)) == {str}:
            rows = [row for row in map(row_of, token) if row is not None]
            return rows, [1.0] * len(rows)
        if type(token) is not dict:
            return None
        for key, value in token.items():
            kind = type(value)
            if type(key) is not str:
                return None
            if kind is str:
                row, value = row_of(key + ":" + value), 1.0
            elif kind is bool or kind is float and isfinite(value):
                row, value = row_of(key) if value else None, float(value)
            else:
                return None
            if row is not None:
                rows.append(row)
                values.append(value)
        return rows, values

    def names(self, sequence):
        """The names of the features of each token, and those of transitions: none."""
        found = [[name for name, _ in self.features(token) if name in self.row] for token in sequence]
        return found, None


PARTS["names"] = Names


def is_kind(value, types, letters):
    """Whether a value is of these types of Python, or a scalar of numpy of a kind with these letters."""
    if isinstance(value, types):
        return True
    return not hasattr(value, "__len__") and getattr(getattr(value, "dtype", None), "kind", "?") in letters


def of_dict(before, token):
    """(name, value) of what a dict holds: str, bool, numbers, and collections of these."""
    for key, value in token.items():
        if not isinstance(key, str):
            raise ValueError(f"a feature name must be a str, got {key!r}")
        name = before + key
        if isinstance(value, str):
            yield name + ":" + value, 1.0
        elif is_kind(value, bool, "b"):
            if value:
                yield name, 1.0
        elif is_kind(value, (int, float), "iuf"):
            try:
                number = float(value)
            except OverflowError:  # an int with hundreds of digits
                number = inf
            if not isfinite(number):
                raise ValueError(f"feature {name!r} must be finite, got {number!r}")
            if number:
                yield name, number
        elif isinstance(value, dict):
            yield from of_dict(name + ":", value)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for inner in sorted(value) if isinstance(value, (set, frozenset)) else value:
                if not isinstance(inner, str):
                    raise ValueError(f"feature {name!r}: a list must hold str, got {inner!r}")
                yield name + ":" + inner, 1.0
        else:
            expected = "a str, a bool, a number, or a list or dict of these"
            raise ValueError(f"feature {name!r} must be {expected}, got {value!r}")
