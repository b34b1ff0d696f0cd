"""Pairs of key and value read one by one: where values are collections, and where one
is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite, nan
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.elements import exact
from .._data.inputs import describe, offsets_of
from .._data.places import placed
from .vectors_in_tokens import way_out

if TYPE_CHECKING:
    from .pairs import Chunk


def as_feature(key: Any, value: Any) -> tuple[str | None, float]:
    """Name the feature of a pair, and tell its value.

    Returns
    -------
    name : str or None
        None if the pair is no feature.
    value : float

    Raises
    ------
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
    number = _as_float(value)
    if number is not None:
        if not isfinite(number):
            raise ValueError(f"feature {key!r} must be finite, got {describe(value)}")
        return (key if number else None), number
    text = (
        f"feature {key!r} must be a str, a bool, a number, or a list or dict of "
        "these, got "
    )
    hint = "; leave a feature without a value out" if value is None else ""
    raise ValueError(text + describe(value) + hint + way_out(value, key))


def _as_float(value: Any) -> float | None:
    """Return a number of any kind as a float, nan if it is too large; None of what is
    none.

    Tables find by ``==`` what is 0 or 1, and so a ``Decimal`` or a complex number, too:
    what these are must not depend on what is remembered.
    """
    if not issubclass(type(value), Number):
        return None
    if isinstance(value, (complex, np.complexfloating)):
        return float(value.real) if value.imag == 0 else None
    try:
        return float(value)
    except (OverflowError, ValueError):  # of a signalling NaN
        return nan


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
        (number of the feature, value) of a key and a value.
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
        offsets_of(np.array(sizes, np.int64)),
    )


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
