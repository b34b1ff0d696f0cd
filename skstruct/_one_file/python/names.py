"""Ready-made features: tokens that are dicts, or lists of names."""

from __future__ import annotations

from collections.abc import Iterable, Set
from math import inf, isfinite
from typing import Any

from .reading import PARTS, refuse


class Names:
    """The features of tokens that bring their own: a row of weights for each name."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.name = header["names"].__getitem__  # of a row
        self.row_of = {name: k for k, name in enumerate(header["names"])}.get

    def rows(
        self, sequence: Any, i: int
    ) -> tuple[list[list[int]], list[list[float]], None]:
        """Return by token the rows of its features, their values, and no rows of
        transitions; i is for errors.
        """
        rows: list[list[Any]] = [[] for _ in sequence]
        values: list[list[Any]] = [[] for _ in sequence]
        for t, token in enumerate(sequence):
            try:
                if isinstance(token, dict):
                    self.add("", token.items(), rows[t], values[t])
                else:
                    rows[t] = [
                        row
                        for row in map(self.row_of, names_in(token))
                        if row is not None
                    ]
                    values[t] = [1.0] * len(rows[t])
            except ValueError as error:
                refuse(i, t, error)
        return rows, values, None

    def add(
        self,
        before: str,
        items: Iterable[tuple[Any, Any]],
        rows: list[int],
        values: list[float],
    ) -> None:
        """Add the rows and the values of what a dict holds, in its order."""
        for key, value in items:
            if not isinstance(key, str):
                raise ValueError(f"a feature name must be a str, got {key!r}")
            name = before + key
            if isinstance(value, str):
                row = self.row_of(name + ":" + value)
                number = 1.0
            elif isinstance(value, (int, float)) or is_scalar(value):
                row = self.row_of(name)
                number = finite(name, value)
            else:
                self.add(name + ":", parts_of(name, value), rows, values)
                continue
            if row is not None and number:
                rows.append(row)
                values.append(number)


PARTS["names"] = Names


def names_in(token: Any) -> Any:
    """Return the names that a token lists."""
    if isinstance(token, Set):  # the keys of a dict, too
        token = sorted(
            token, key=lambda name: name if isinstance(name, str) else str(name)
        )
    if not isinstance(token, (list, tuple)):
        raise ValueError(f"expected a dict or a list of features, got {token!r}")
    for name in token:
        if not isinstance(name, str):
            raise ValueError(f"a feature must be a str, got {name!r}")
    return token


def is_scalar(value: Any) -> bool:
    """Tell whether a value is a number or a bool of numpy."""
    return (
        not hasattr(value, "__len__")
        and getattr(getattr(value, "dtype", None), "kind", "?") in "biuf"
    )


def finite(name: str, value: Any) -> float:
    """Return the value of a feature as a float."""
    try:
        number = float(value)
    except OverflowError:  # an int with hundreds of digits
        number = inf
    if not isfinite(number):
        raise ValueError(f"feature {name!r} must be finite, got {number!r}")
    return number


def parts_of(name: str, value: Any) -> Any:
    """Return the features in the value of a feature, as (name, value)."""
    if isinstance(value, dict):
        return value.items()
    if not isinstance(value, (list, tuple, set, frozenset)):
        expected = "a str, a bool, a number, or a list or dict of these"
        raise ValueError(f"feature {name!r} must be {expected}, got {value!r}")
    for inner in value:
        if not isinstance(inner, str):
            raise ValueError(f"feature {name!r}: a list must hold str, got {inner!r}")
    return [
        (inner, True)
        for inner in (sorted(value) if isinstance(value, (set, frozenset)) else value)
    ]
