"""Sentences of (form, tag, ...) as arrays of atoms for the parser.

Each attribute of a word that templates read (:mod:`.state_templates`) has its own
alphabet. What is derived from a form (its suffixes, its shape) is computed once for
each distinct form. Columns behind the tag are symbols of any kind; if one holds
morphological features, such as ``Case=Nom|Number=Sing``, their parts are symbols too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._data.elements import exact
from .._data.inputs import PlaceError, describe, flatten, place
from ..features.tokens import Alphabet
from .state_templates import MOST_SMALL, column_of, is_part
from .states import SPECIAL

if TYPE_CHECKING:
    from .._data.types import Corpus


Columns: TypeAlias = Sequence[Sequence[str]]
"""The columns of words (form, tag, ...): the forms, the tags, and so on, each (N,)."""


def shape(form: str) -> str:
    """Return the shape of a word.

    Letters and digits become ``X``, ``x`` and ``d``, other characters stay; of a run
    two are left.

    Examples
    --------
    >>> shape("McDonald"), shape("1,234.5"), shape("hello")
    ('XxXxx', 'd,dd.d', 'xx')
    """
    out = ""
    for c in form:
        kind = "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        if out[-2:] != kind + kind:
            out += kind
    return out


_DERIVED: dict[str, Callable[[str], str]] = {
    "w": str,
    "l": str.lower,
    "x2": lambda form: form[-2:],
    "x3": lambda form: form[-3:],
    "f": shape,
}


def check_words(X: Corpus, token: np.ndarray, width: int | None = None) -> list[Any]:
    """Check words and return their columns, flat.

    Parameters
    ----------
    X : list of sequences of (form, tag, ...)
    token : ndarray of shape (n + 1,), int64
    width : int, optional
        Columns that words have; by default as many as the first one, and 2 at least.

    Returns
    -------
    list of tuples of str
        Forms, tags, and further columns.

    Raises
    ------
    ValueError
        If a token is not a tuple of ``width`` str, none empty; the message names
        sentence and position.
    """
    flat = flatten(X)
    if width is None:
        first = flat[0] if flat else ()
        width = max(2, len(first)) if isinstance(first, (tuple, list)) else 2
    if not flat:
        return [()] * width
    if set(map(type, flat)) <= {tuple, list} and set(map(len, flat)) == {width}:
        columns = list(zip(*flat))
        if all(
            set(map(type, column)) == {str} and "" not in column for column in columns
        ):
            return columns
    wanted = (
        "a pair (form, tag)" if width == 2 else f"a tuple (form, tag, ...) of {width}"
    )
    out = []
    for k, word in enumerate(flat):
        fits = isinstance(word, (tuple, list)) and len(word) == width
        if not fits or not all(isinstance(part, str) for part in word):
            wrong = (
                f"expected {wanted} of str" if width == 2 else f"expected {wanted} str"
            )
        elif not all(word):
            wrong = (
                "neither form nor tag may be empty"
                if width == 2
                else "no column may be empty"
            )
        else:
            out.append(tuple(map(exact, word)))
            continue
        sentence, position = place(token, k)
        raise PlaceError(sentence, position, f"{wrong}, got {describe(word)}", "X")
    return list(zip(*out))


def parts_of(symbol: str) -> list[str]:
    """Split morphological features into their parts; other symbols have none.

    Examples
    --------
    >>> parts_of("Case=Nom|Number=Sing"), parts_of("NOUN"), parts_of("_")
    (['Case=Nom', 'Number=Sing'], [], [])
    """
    parts = symbol.split("|") if "=" in symbol else []
    return parts if all("=" in part for part in parts) else []


def count_parts(columns: Columns) -> dict[int, int]:
    """Count the most parts that a word has, by column, for the columns with
    morphological features.
    """
    most = {
        c: max(map(len, map(parts_of, set(column))), default=0)
        for c, column in enumerate(columns)
    }
    return {c: n for c, n in most.items() if c > 1 and n > 0}


class AtomEncoder:
    """Alphabets of the attributes that templates read.

    Parameters
    ----------
    attributes : list of str
        See :mod:`.state_templates`; the tag comes first.
    width : int, default=2
        Columns of a word.
    parts : dict, optional
        {column: the most parts that a word has}, see :func:`count_parts`.

    Attributes
    ----------
    alphabets : dict of str to Alphabet
        By attribute.
    rows : list of str
        The attribute of each row of atoms: that of the parts of a column has a row for
        each part.
    """

    def __init__(
        self,
        attributes: Iterable[str],
        width: int = 2,
        parts: Mapping[int, int] | None = None,
    ) -> None:
        self.width = width
        self.parts = dict(parts or {})
        self.alphabets = {name: Alphabet() for name in attributes}

    @property
    def rows(self) -> list[str]:
        """The attribute of each row of atoms, in order."""
        return [name for name in self.alphabets for _ in range(self._n_rows(name))]

    def _n_rows(self, name: str) -> int:
        return self.parts.get(column_of(name), 0) if is_part(name) else 1

    def _symbols(
        self, columns: Columns
    ) -> Iterator[tuple[list[list[str]], np.ndarray]]:
        """Yield for each attribute the symbols of all strings of its column, as lists,
        and the string of each word, by number.
        """
        numbers: dict[int, tuple[list[str], np.ndarray]] = {}
        for name in self.alphabets:
            c = column_of(name)
            if c not in numbers:
                column = columns[c]
                number_of = {s: k for k, s in enumerate(dict.fromkeys(column))}
                words = np.fromiter(
                    map(number_of.__getitem__, column), np.int64, len(column)
                )
                numbers[c] = list(number_of), words
            strings, words = numbers[c]
            if is_part(name):
                yield list(map(parts_of, strings)), words
            else:
                derive = _DERIVED.get(name, str)
                yield [[derive(s)] for s in strings], words

    def encode(self, columns: Columns) -> tuple[np.ndarray, list[str]]:
        """Translate words to ids of atoms.

        Returns
        -------
        ids : ndarray of shape (A, N), int32
            -1 for what is unknown.
        rows : list of str
            The attribute of each of the A rows: at least ``self.rows``, and more where
            words have more known parts; unknown ones take none.
        """
        return self._encoded(self._symbols(columns))

    def _encoded(
        self, found: Iterable[tuple[list[list[str]], np.ndarray]]
    ) -> tuple[np.ndarray, list[str]]:
        ids: list[np.ndarray] = []
        rows: list[str] = []
        for (name, alphabet), (symbols, words) in zip(self.alphabets.items(), found):
            known = [
                [alphabet.ids[s] + SPECIAL for s in some if s in alphabet.ids]
                for some in symbols
            ]
            mine = list(zip_longest(*known, fillvalue=-1))
            mine += [(-1,) * len(known)] * (self._n_rows(name) - len(mine))
            ids.append(
                np.array(mine, np.int32).reshape(len(mine), len(known))[:, words]
            )
            rows += [name] * len(mine)
        return np.ascontiguousarray(np.concatenate(ids)), rows

    def grown(self, columns: Columns) -> tuple[np.ndarray, AtomEncoder]:
        """Translate words to ids of atoms, all of which get one; this encoder stays as
        it is.

        Returns
        -------
        ids : ndarray of shape (A, N), int32
        encoder : AtomEncoder
            Knows them all.

        Raises
        ------
        ValueError
            If there are too many distinct tags.
        """
        new = AtomEncoder(self.alphabets, self.width, self.parts)
        found = list(self._symbols(columns))
        for (name, alphabet), (symbols, _) in zip(self.alphabets.items(), found):
            _, new.alphabets[name] = alphabet.interned(flatten(symbols))
        new.check_tags()
        ids, rows = new._encoded(found)
        new.parts = {
            column_of(name): rows.count(name) for name in rows if is_part(name)
        }
        return ids, new

    def check_tags(self) -> None:
        """Raise if there are too many distinct tags."""
        n_tags = len(self.alphabets["t"])
        if n_tags > MOST_SMALL - SPECIAL:
            raise ValueError(
                f"at most {MOST_SMALL - SPECIAL} distinct tags are possible, got "
                f"{n_tags}"
            )
