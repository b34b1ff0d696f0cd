"""Functions of more than a token: lexicons, and accessor variety (how freely a string
is used in a text).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .reading import PARTS
from .templates import Combinations


def context_functions(
    header: dict[str, Any], arrays: dict[str, Any]
) -> dict[tuple[str, int], Callable[[list[str]], list[str]]]:
    """{(name, column): function}; a function gives the values along a column of a
    sequence.
    """
    out = {}
    for lexicon in header["lexicons"]:
        out[lexicon["name"], lexicon["column"]] = lexicon_function(lexicon["entries"])
    for variety in header["varieties"]:
        column = variety["column"]
        longer = []
        numbers = {s: k for k, s in enumerate(variety["tokens"], 1)}
        for n in range(1, variety["longest"] + 1):
            name = f"varieties.{column}.{n}"
            if n > 1:
                longer.append(Combinations(arrays, name))
            out[f"av{n}", column] = variety_function(
                numbers, longer[:], arrays[name + ".bucket"]
            )
    return out


PARTS["contexts"] = context_functions


def lexicon_function(entries: list[list[str]]) -> Callable[[list[str]], list[str]]:
    """Return what marks the longest entries, from left to right: B, I, E, or S alone, O
    elsewhere.
    """
    root: dict[Any, Any] = {}
    for entry in entries:
        node = root
        for token in entry:
            node = node.setdefault(token, {})
        if entry:
            node[None] = True  # an entry ends here

    def marks(column: list[str]) -> list[str]:
        out = ["O"] * len(column)
        t = 0
        while t < len(column):
            node = root
            k = t
            longest = 0
            while k < len(column) and column[k] in node:
                node = node[column[k]]
                k = k + 1
                if None in node:
                    longest = k - t
            if longest == 1:
                out[t] = "S"
            elif longest:
                out[t : t + longest] = ["B"] + ["I"] * (longest - 2) + ["E"]
            t += longest or 1
        return out

    return marks


def variety_function(
    numbers: dict[str, int], longer: list[Combinations], buckets: Any
) -> Callable[[list[str]], list[str]]:
    """Return for each token the place in, and the bucket of, the most varied string of
    n tokens around it.

    ``numbers`` are those of tokens; ``longer`` finds the strings of two to n tokens, by
    what they begin with.
    """
    n = len(longer) + 1

    def values(column: list[str]) -> list[str]:
        T = len(column)
        out = []
        nodes = ids = [numbers.get(token, 0) for token in column]
        for more, strings in enumerate(longer, 1):
            nodes = strings.along(nodes, ids[more:])
        begins = [buckets[node - 1] if node else 0 for node in nodes] + [0] * (
            T - len(nodes)
        )
        for t in range(T):
            inside = max(begins[max(0, t - n + 2) : t], default=0)
            last = begins[t - n + 1] if t >= n - 1 else 0
            best = max(begins[t], inside, last)
            # Of equal ones the token rather begins a string than ends it, and rather
            # that than stands inside.
            place = "B" if begins[t] == best else "E" if last == best else "I"
            out.append(f"{place}{best}" if best else "0")
        return out

    return values
