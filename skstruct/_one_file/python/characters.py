"""Functions of characters by tables that the model carries: what Unicode says differs
between versions.

A table of code points is a list of places at which being in it begins, ends, begins
...: the first, and then how far it is to the next.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from .reading import PARTS, Cached

NUMERALS = "〇零一二三四五六七八九十百千万亿兆两壹贰叁肆伍陆柒捌玖拾佰仟"
SIGMA = "\u03a3"
SMALL_SIGMA = "\u03c3"
FINAL_SIGMA = "\u03c2"


def member_of(table: list[int]) -> Callable[[str], bool]:
    """Return a function that says whether a character is in a table; answers are
    remembered.
    """
    bounds = list(accumulate(table))
    return Cached(lambda c: bisect_right(bounds, ord(c)) % 2 == 1).__getitem__


def character_function(name: str, tables: dict[str, Any]) -> Callable[[str], str]:
    """Return the function of a string that a template calls by this name."""
    test = {key: member_of(table) for key, table in tables.items() if key != "mapping"}
    if name == "lower":
        return lower_case(test["cased"], test["ignorable"], tables["mapping"])
    if name == "shape":
        return lambda s: shape(s, test)
    if name == "type":
        return lambda s: character_type(s, test)
    inside = (lambda c: c == "-") if name == "hyphen" else test[name]
    return lambda s: "yes" if any(map(inside, s)) else "no"


PARTS["characters"] = character_function


def shape(token: Any, test: dict[str, Callable[[str], bool]]) -> str:
    """Turn upper case to X, lower case to x, digits to 9; cut runs to two."""
    upper = test["upper"]
    lower = test["lower"]
    digit = test["digit"]
    out: list[Any] = []
    for c in token:
        c = "X" if upper(c) else "x" if lower(c) else "9" if digit(c) else c
        if len(out) < 2 or out[-1] != c or out[-2] != c:
            out.append(c)
    return "".join(out)


def character_type(token: Any, test: dict[str, Callable[[str], bool]]) -> str:
    """Return the type of the first character: digit, numeral, letter, punctuation or
    other.
    """
    if not token:
        return "other"
    c = token[0]
    if "\uff01" <= c <= "\uff5e":  # full width
        c = chr(ord(c) - 0xFEE0)
    if test["digit"](c):
        return "digit"
    if c in NUMERALS:
        return "numeral"
    if "a" <= c <= "z" or "A" <= c <= "Z":
        return "letter"
    return "punctuation" if test["punctuation"](c) else "other"


def lower_case(
    cased: Callable[[str], bool],
    ignorable: Callable[[str], bool],
    mapping: dict[str, Any],
) -> Callable[[str], str]:
    """``str.lower``; ``mapping`` has code points and what is added to them, both as
    distances.
    """
    to = dict(mapping["long"])
    pairs = zip(*map(accumulate, (mapping["places"], mapping["differences"])))
    to.update((chr(code), chr(code + difference)) for code, difference in pairs)

    def lower(s: str) -> str:
        out = [to.get(c, c) for c in s]
        if (
            SIGMA in s
        ):  # it ends a word if a letter is before it and none behind, marks aside
            behind = letters_before(s[::-1])[::-1]
            for k, before in enumerate(letters_before(s)):
                if s[k] == SIGMA:
                    out[k] = FINAL_SIGMA if before and not behind[k] else SMALL_SIGMA
        return "".join(out)

    def letters_before(s: str) -> Any:
        """Return for each character whether a letter is before it, marks aside."""
        out = []
        letter = False
        for c in s:
            out.append(letter)
            if not ignorable(c):
                letter = cased(c)
        return out

    return lower
