"""The meaning of the keys of word features, from Python: their names, and which of them
a file may hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from .._core.codes import ZSZ18
from .word_features import CONTEXT, N_NUMBERS, WORD

# The atoms of each number, see `features`; the numbers 1 ... 7 of ZSZ18 have the
# decision before, too.
_OF_ZSZ18 = """
w, c-1, c0, c-2, c-1 c0, c-2 c-1, c0 c1, c-3 c-2, c-1 c0, len(w), first(w) len(w),
last(w) len(w), first(w) last(w), last(w') last(w), first(w) c0, b-1 b-2, w len(w'),
w' len(w)
"""
_OF_ZC14 = """
w, , w' w, first(w), first(w) len(w), last(w) len(w), last(w') first(w), c-1 c0,
first(w) last(w), w' first(w), last(w') w, first(w') first(w), last(w') last(w),
w' len(w), len(w') w
"""
_ATOMS = [
    [name.strip() for name in names.split(",")] for names in (_OF_ZSZ18, _OF_ZC14)
]

# Whether the left, and the right, half of a number's key is the node of a word; rows:
# ZSZ18, ZC14.
IS_NODE = np.zeros((2, N_NUMBERS, 2), np.bool_)
for _templates, _names in enumerate(_ATOMS):
    for _number, _name in enumerate(_names):
        for _half, _held in enumerate(_name.split()):
            IS_NODE[_templates, _number, _half] = _held in ("w", "w'")


Feature: TypeAlias = tuple[int, int, int | str, int | str]
"""(number, decision, left, right): a half is a str if it is a word, else a length, or
the code point of a character plus 1.
"""


def words_come_first(templates: int, keys: np.ndarray) -> bool:
    """Return whether keys (R, 3) stand in an order in which they can have been
    numbered: words before the features that hold them.
    """
    number = keys[:, 0] >> 2
    halves = keys[:, 1:]
    is_word = keys[:, 0] == WORD
    if (keys < 0).any() or (keys >= 2**31).any() or (number >= N_NUMBERS).any():
        return False
    held = IS_NODE[templates, number] & (halves > 0)
    node = halves[held]
    row = np.nonzero(held)[0]
    return bool((node <= row).all() and is_word[node - 1].all())


def extend_to_held_words(
    templates: int, keys: np.ndarray, used: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add to the rows that are in use those of the words that they hold.

    Parameters
    ----------
    templates : int
    keys : ndarray of shape (R, 3), int64
    used : ndarray of shape (R,), bool
        The rows in use.

    Returns
    -------
    rows : ndarray of shape (r,), int64
    keys : ndarray of shape (r, 3), int64
        Their keys in the new numbers.
    """
    used = used.copy()
    before = -1
    halves = keys[:, 1:]
    held = IS_NODE[templates, keys[:, 0] >> 2] & (halves > 0)
    while before != np.count_nonzero(used):  # a word is a row, and holds its prefix
        before = int(np.count_nonzero(used))
        used[halves[held & used[:, None]] - 1] = True
    rows = np.flatnonzero(used)
    node_of = np.append(0, np.cumsum(used))
    return rows, np.column_stack(
        [keys[:, 0], np.where(held, node_of[halves * held], halves)]
    )[rows]


def features(
    templates: int, keys: np.ndarray, rows: np.ndarray | None = None
) -> list[Feature]:
    """Translate the keys of some rows, by default of all, to what means the same in
    every model.

    Returns
    -------
    list of Feature
    """
    words = {0: ""}
    is_node = IS_NODE[templates].tolist()

    def word(node: int) -> str:
        end = ""
        at = node
        while at not in words:  # a word is its prefix and a character
            _, at, last = keys[at - 1].tolist()
            end = chr(last - 1) + end
        return words.setdefault(node, words[at] + end)

    out = []
    for compound, *halves in (keys if rows is None else keys[rows]).tolist():
        number = compound >> 2
        left, right = (
            word(half) if held else half for half, held in zip(halves, is_node[number])
        )
        out.append((number, compound & 3, left, right))
    return out


DECISIONS = ("start", "inside", "none")


def _atom(name: str, value: str | int) -> str:
    """Name one half of a feature; # is the boundary of the text."""
    if isinstance(value, int) and name.startswith("b"):
        value = DECISIONS[value]
    elif isinstance(value, int) and not name.startswith("len"):
        value = chr(value - 1) if value else "#"
    return f"{name}={value}"


def feature_names(templates: int, features: Iterable[Feature]) -> list[str]:
    """Name the features of :func:`features`, such as ``"c-1=图 b-1=start"``, ``"w=图书
    len(w')=1"``.
    """
    out = []
    for number, decision, left, right in features:
        if number == WORD and isinstance(right, int):
            out.append(f"w={left}{chr(right - 1)}")
            continue
        atoms = _ATOMS[templates][number].split()
        name = " ".join(map(_atom, atoms, (left, right)))
        if templates == ZSZ18 and number < CONTEXT - 1:
            name += f" b-1={DECISIONS[decision]}"
        out.append(name)
    return out
