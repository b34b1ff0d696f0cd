"""Tokens that are features, shown by the word that they were made from.

Dicts and lists of names come from a user's own functions: ``{"bias": 1.0,
"word.lower()": "rome", "-1:word": "in"}``. What they call the word differs, so that the
name is looked for: one that says "word" and no neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from .._data.elements import spelled

_NAMES = ("word", "form", "token", "text", "surface", "w", "lower", "wort", "string")
"""The names of features that hold the word, likeliest first."""

_NEIGHBOUR = re.compile(r"[-+]\d|next|prev|bos|eos|prefix|suffix|shape|is|pos|tag|len")
"""Parts of names that speak of another token, or of something else than the word."""

_ENOUGH = 0.9
"""Share of the tokens that must have a feature which is to be shown."""

_LISTED = 3
"""Features shown of a token where none holds its word."""


def shown(X: Sequence[Sequence[Any]], words: Any = None) -> list[list[Any]]:
    """Return what to show of tokens; of features the word.

    Parameters
    ----------
    X : list of sequences
    words : list of lists of str, optional
        What to show instead.

    Raises
    ------
    ValueError
        If ``words`` has not one word for each token.
    """
    if words is not None:
        found = [list(each) for each in words]
        if list(map(len, found)) != list(map(len, X)):
            raise ValueError("words must hold one word for each token of X")
        return found
    first = next(chain.from_iterable(X), None)
    if not isinstance(first, Mapping) and not _are_names(first):
        return [list(each) for each in X]
    named = [[_named(token) for token in each] for each in X]
    tokens = list(chain.from_iterable(named))
    name = _name_of_word(tokens)
    if name is not None:
        return [[token.get(name, "?") for token in each] for each in named]
    same = {
        key
        for key, value in tokens[0].items()
        if len(tokens) > 1 and all(token.get(key) == value for token in tokens)
    }
    return [[_written(token, same) for token in each] for each in named]


def _are_names(token: Any) -> bool:
    """Tell whether a token is a list of the names of its features."""
    return (
        isinstance(token, list)
        and bool(token)
        and all(isinstance(each, str) for each in token)
    )


def _named(token: Any) -> dict[str, Any]:
    """Return the features of a token by name; those of a list are ``name=value``."""
    if isinstance(token, Mapping):
        return {spelled(name): value for name, value in token.items()}
    if not isinstance(token, list):
        return {"": token}
    parts = (spelled(each).partition("=") for each in token)
    return {name: value if equals else None for name, equals, value in parts}


def _name_of_word(tokens: list[dict[str, Any]]) -> str | None:
    """Find the name of the feature that holds the word; None if there is none."""
    counts: dict[str, int] = {}
    values: dict[str, set[str]] = {}
    for token in tokens:
        for name, value in token.items():
            if isinstance(value, str):
                counts[name] = counts.get(name, 0) + 1
                values.setdefault(name, set()).add(value)
    often = [
        name
        for name, n in counts.items()
        if n >= _ENOUGH * len(tokens)
        and (len(values[name]) > 1 or len(tokens) == 1)
        and not _NEIGHBOUR.search(name.lower())
    ]
    for wanted in _NAMES:
        fits = [name for name in often if wanted in re.findall("[a-z]+", name.lower())]
        if fits:
            return min(fits, key=len)
    return None


def _written(token: dict[str, Any], same: set[str]) -> str:
    """Write the first features of a token, without those that all tokens have."""
    parts = [
        name if value is None else f"{name}={spelled(value)}"
        for name, value in token.items()
        if name not in same
    ]
    return ", ".join(parts[:_LISTED]) or "(no features)"
