"""Tokens that are strings, or tuples of strings: their columns, their ids, and
functions of one token.

A template reads ``%x[0,0]``, the token itself, or a function of it such as
``%suffix3[0,0]``. Functions are computed once for each distinct token, never by
occurrence. Functions of more than the token are in :mod:`.contexts`.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._data.elements import exact_strings
from .._data.places import counted, describe, numbered, placed
from .._saving.fields import distinct, via
from .vectors_in_tokens import way_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from .._data.corpus import TokenCorpus
    from .._data.places import PlaceError
    from .word_clusters import WordClusters

Channel: TypeAlias = tuple[str, int]
"""A function's name and a column, which a template reads at one place."""

Unknown: TypeAlias = "tuple[list[str], np.ndarray, np.ndarray] | None"
"""The distinct strings that an alphabet does not have, where they stand, and which one
stands there; None if it has all.
"""


def split_columns(
    corpus: TokenCorpus, n_columns: int, expected: type | None = None
) -> list[list[Any]]:
    """Split tokens that are str or tuples of str into columns; errors name the place.

    Parameters
    ----------
    corpus : TokenCorpus
    n_columns : int
        Columns to return.
    expected : type, optional
        Of the tokens.
    """
    flat = corpus.tokens
    like = corpus.like
    if not flat:
        return [[] for _ in range(n_columns)]
    token_type, width = (tuple, len(like)) if isinstance(like, tuple) else (str, 1)

    def wrong(k: int, text: str) -> PlaceError:
        """Make an error that names the place and the token."""
        return placed(corpus.offsets, k, f"{text}{describe(flat[k])}")

    if expected not in (None, token_type):
        raise wrong(
            0, f"expected a token of type {expected.__name__} as in training, got "
        )
    if token_type is str and n_columns == 1:
        return [flat]
    if token_type is str:
        raise wrong(
            0,
            f"the templates read column {n_columns - 1}, but the tokens are plain "
            "strings: ",
        )
    if not all(issubclass(kind, tuple) for kind in set(map(type, flat))):
        k = next(k for k, token in enumerate(flat) if not isinstance(token, tuple))
        raise wrong(k, f"expected a tuple of {width} like the first token, got ")
    if set(map(len, flat)) != {width} or width < n_columns:
        k = next((k for k, token in enumerate(flat) if len(token) != width), 0)
        n = len(flat[k])
        if n < n_columns:
            has = counted(n, "column")
            raise wrong(
                k,
                f"the templates read column {n_columns - 1}, but the token has {has}: ",
            )
        raise wrong(
            k, f"expected {counted(width, 'column')} like the first token, got {n}: "
        )
    return [list(map(itemgetter(c), flat)) for c in range(n_columns)]


def are_strings(items: Iterable[Any]) -> bool:
    """Tell whether all of some items are strings."""
    return all(issubclass(kind, str) for kind in set(map(type, items)))


def string_columns(
    corpus: TokenCorpus, n_columns: int, expected: type | None = None
) -> list[list[str]]:
    """Read the columns of tokens that are str or tuples of str; errors name the place.

    Strings of a subclass of str, such as members of an enumeration, come as the strings
    that they hold.

    Parameters
    ----------
    corpus, n_columns, expected
        As of :func:`split_columns`.

    Returns
    -------
    list of sequences of str
    """
    columns = split_columns(corpus, n_columns, expected)
    what = (
        "a str in column {}"
        if isinstance(corpus.like, tuple)
        else "a token of the type str"
    )
    for c, column in enumerate(columns):
        if set(map(type, column)) <= {str}:
            continue
        if not are_strings(column):
            k = next(k for k, token in enumerate(column) if not isinstance(token, str))
            text = f"expected {what.format(c)}, got {describe(column[k])}"
            raise placed(corpus.offsets, k, text + way_out(column[k]))
        columns[c] = exact_strings(column)
    return columns


# --------------------------------------------------------------------------------------
# Ids
# --------------------------------------------------------------------------------------
class Alphabet:
    """Distinct strings in the order of their first occurrence.

    Attributes
    ----------
    ids : dict of str to int
    """

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self.ids = {s: k for k, s in enumerate(strings)}

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def lookup(self, strings: Sequence[str]) -> np.ndarray:
        """Look up the ids of strings, int32; -1 for what is unknown."""
        return np.fromiter(
            map(self.ids.get, strings, repeat(-1)), np.int32, len(strings)
        )

    def numbered(self, strings: Sequence[str]) -> tuple[np.ndarray, Unknown]:
        """Look up the ids of strings, and number what is unknown.

        Returns
        -------
        ids : ndarray of int32
            -1 for what is unknown.
        unknown : (list of str, places, numbers), or None
            The distinct strings that are unknown, where they stand in ``strings``,
            and which of them stands there.

        Raises
        ------
        TypeError
            If an element is not a string.
        """
        ids = self.lookup(strings)
        places = (ids < 0).nonzero()[0]
        others = [strings[k] for k in places.tolist()]
        if not are_strings(others):
            raise TypeError("expected strings")
        others = exact_strings(others)
        numbers, unknown = numbered(others)
        return ids, (list(unknown), places, numbers) if others else None

    def interned(self, strings: Sequence[str]) -> tuple[np.ndarray, Alphabet]:
        """Number strings; this alphabet stays as it is.

        Returns
        -------
        ids : ndarray of int32
        alphabet : Alphabet
            With the new strings.

        Raises
        ------
        TypeError
            If an element is not a string.
        """
        out, ids = numbered(strings, self.ids)
        if not set(map(type, ids)) <= {str}:
            if not are_strings(ids):
                raise TypeError("expected strings")
            out, ids = numbered(exact_strings(strings), self.ids)
        grown = Alphabet()
        grown.ids = ids
        return out, grown


alphabet = via(distinct, list, Alphabet)
"""The kind of alphabets in files."""


# --------------------------------------------------------------------------------------
# Functions of a token that templates can read
# --------------------------------------------------------------------------------------
FULL_WIDTH_SHIFT = 0xFEE0

_AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)\Z")
_CHINESE_NUMERALS = frozenset(
    "〇零一二三四五六七八九十百千万亿兆两壹贰叁肆伍陆柒捌玖拾佰仟"
)


def shape(token: str) -> str:
    """Write upper case as ``X``, lower case as ``x`` and digits as ``9``.

    Runs longer than two are cut to two.

    >>> shape("McDonald's"), shape("1,024"), shape("IBM")
    ("XxXxx'x", '9,99', 'XX')
    """
    out: list[str] = []
    for c in token:
        if c.isupper():
            c = "X"
        elif c.islower():
            c = "x"
        elif c.isdigit():
            c = "9"
        if len(out) < 2 or out[-1] != c or out[-2] != c:
            out.append(c)
    return "".join(out)


def character_type(token: str) -> str:
    """Tell the class of a character: ``digit``, ``numeral``, ``letter``,
    ``punctuation`` or ``other``.

    The classes of Gao, Qiu and Huang (2010), and Chinese numerals as one of their own,
    ``numeral``. Full-width digits and letters count with their ASCII forms. A longer
    token has the type of its first character; the empty token is ``other``.

    >>> [character_type(c) for c in "７xＡ。三的"]
    ['digit', 'letter', 'letter', 'punctuation', 'numeral', 'other']
    """
    if not token:
        return "other"
    c = token[0]
    if 0xFF01 <= ord(c) <= 0xFF5E:
        c = chr(ord(c) - FULL_WIDTH_SHIFT)
    if c.isdigit():
        return "digit"
    if c in _CHINESE_NUMERALS:
        return "numeral"
    if c.isascii() and c.isalpha():
        return "letter"
    return "punctuation" if unicodedata.category(c)[0] in "PS" else "other"


def _any(test: Callable[[str], bool]) -> Callable[[str], str]:
    return lambda token: "yes" if any(map(test, token)) else "no"


_FUNCTIONS: dict[str, Callable[[str], str]] = {
    "x": str,
    "lower": str.lower,
    "shape": shape,
    "type": character_type,
    "digit": _any(
        str.isdigit
    ),  # whether there is one anywhere in the token, here and in the next two
    "upper": _any(str.isupper),
    "hyphen": _any("-".__eq__),
}

_MORE = "prefix1, prefix2, ..., suffix1, suffix2, ..., av1, ..., av4, lex_NAME, cluster"
FUNCTION_NAMES = ", ".join([*_FUNCTIONS, _MORE])


def is_function(name: str) -> bool:
    """Tell whether ``%name`` is a function of a token alone."""
    return name in _FUNCTIONS or _AFFIX.match(name) is not None


def column_function(
    name: str, words: WordClusters | None = None
) -> Callable[[str], str]:
    """Look up the function behind ``%name[...]`` in a template; ``words`` has the
    clusters.

    A token shorter than an affix has the whole token as its affix.

    Raises
    ------
    KeyError
        If there is no such function.
    ValueError
        If it needs ``words`` and there are none.
    """
    if name == "cluster":
        if words is None:
            raise ValueError(
                "a template reads %cluster[...], and there are no clusters: give words="
            )
        return words.label
    affix = _AFFIX.match(name)
    if affix is None:
        return _FUNCTIONS[name]
    n = int(affix[2])
    return (
        (lambda token: token[:n])
        if affix[1] == "prefix"
        else (lambda token: token[-n:])
    )
