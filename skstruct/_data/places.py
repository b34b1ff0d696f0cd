"""Places in a corpus, and errors that name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import count
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

PLACE = "{place}"
"""Stands for the place in the text of a :class:`PlaceError`."""


class PlaceError(ValueError):
    """An error that names a place in a corpus, and can be told where the corpus was
    taken from.

    Parameters
    ----------
    sequence : int or None
        None if there is only one sequence; :meth:`move` can say later which it is.
    position : int or None
        Of the token; None if the sequence as a whole is meant.
    text : str
        What is wrong there. The place comes first, ``<name>: sequence 3, position 1:
        <text>``, unless the text says where, by :data:`PLACE`.
    name : str or None
        The argument that is wrong.
    """

    def __init__(
        self,
        sequence: int | None,
        position: int | None,
        text: str,
        name: str | None = None,
    ) -> None:
        super().__init__(text)
        self.position = None if position is None else int(position)
        self.text = text if PLACE in text else f"{PLACE}: {text}"
        self.name = name
        self.move(sequence)

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            PlaceError,
            (self.sequence, self.position, self.text, self.name),
            vars(self),
        )

    def move(self, sequence: int | None, name: str | None = None) -> None:
        """Let the error name another sequence, and another argument if ``name`` is
        given.
        """
        self.sequence = None if sequence is None else int(sequence)
        self.name = name or self.name
        self.args = (self.told("sequence"),)

    def told(self, noun: str) -> str:
        """Return the message, with a noun for elements of ``X``: "text" for texts."""
        numbers = [(noun, self.sequence), ("position", self.position)]
        place = ", ".join(
            f"{what} {number}" for what, number in numbers if number is not None
        )
        place = place if self.name is None else f"{self.name}: {place}"
        return self.text.replace(PLACE, place, 1)


class Where(NamedTuple):
    """The place of a sequence in a user's file; unknown parts are None.

    Attributes
    ----------
    file : str or None
    record : int or None
        The number of the record in its file, from 0; those that are not read count.
    id : object
        What the record calls itself.
    line : int or None
    """

    file: str | None = None
    record: int | None = None
    id: Any = None
    line: int | None = None

    def __str__(self) -> str:
        parts = [] if self.file is None else [self.file]
        if self.line is not None:
            parts.append(f"line {self.line}")
        elif self.record is not None:
            parts.append(f"record {self.record}")
        if self.id is not None:
            parts.append(f"id {self.id}")
        return ", ".join(parts)


@contextmanager
def in_sequence(i: int, name: str | None = None) -> Iterator[None]:
    """Return a context whose errors about a place are about sequence ``i``; of the
    argument ``name``, if given.
    """
    try:
        yield
    except PlaceError as error:
        error.move(i, name)
        raise


def refuse_str(name: str, value: Any, what: str) -> None:
    """Raise if a str or bytes stands where a collection belongs, whose letters would be
    its elements.

    Parameters
    ----------
    name : str
        What errors call the argument.
    value
    what : str
        What it is a collection of: a plural.
    """
    if isinstance(value, (str, bytes)):
        text = (
            f"{name} must be a list of {what}, got {type(value).__name__} "
            f"{value[:40]!r}"
        )
        raise ValueError(f"{text}; its letters are no {what}")


def refuse_number(name: str, value: Any) -> None:
    """Raise if one number stands where a list of numbers belongs."""
    if isinstance(value, Real):
        raise ValueError(
            f"{name} must be a list of numbers, got {value}; write {name}=[{value}]"
        )


def describe(value: Any) -> str:
    """Return a short account of a value for an error message."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def counted(number: int, noun: str) -> str:
    """``1 token``, ``2 tokens``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


_OF_ONE = {"are": "is", "have": "has", "do": "does"}


def agreeing(number: int, verb: str) -> str:
    """Return a verb of several, such as ``have``, in the form that a number takes:
    ``1 of 3 lines has``.
    """
    return _OF_ONE[verb] if number == 1 else verb


def part_of(number: int, of: int, noun: str, verb: str) -> str:
    """Return the beginning of a sentence about some of several things, as ``1 of 3 lines
    has``; see :func:`agreeing`.
    """
    return f"{number:,} of {counted(of, noun)} {agreeing(number, verb)}"


def place(offsets: np.ndarray, k: int) -> tuple[int, int]:
    """(sequence, position) of the k-th element of the flat corpus."""
    i = int(np.searchsorted(offsets, k, side="right")) - 1
    return i, int(k - offsets[i])


def placed(offsets: np.ndarray, k: int, text: str) -> PlaceError:
    """Return the error that says something of the k-th token of ``X``."""
    return PlaceError(*place(offsets, k), text, "X")


def refuse_masked(values: Any, name: str) -> None:
    """Raise if a value of a masked array is missing: numpy would read what is there."""
    if np.ma.is_masked(values):
        at = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        where = at[0] if len(at) == 1 else tuple(at)
        raise ValueError(f"{name} must have no missing values, got one at {where}")


def is_sequence(value: Any) -> bool:
    """Tell whether something has elements by position, and is neither a string nor a
    sparse matrix.
    """
    if isinstance(value, (str, bytes, bytearray, dict)) or sparse.issparse(value):
        return False
    return (
        hasattr(value, "__len__")
        and hasattr(value, "__getitem__")
        and getattr(value, "ndim", 1) != 0
    )


def as_objects(items: Collection[Any]) -> np.ndarray:
    """Return a one-dimensional array of objects; numpy alone would take items of equal
    lengths apart.
    """
    return np.fromiter(items, object, len(items))


def numbered(
    items: Collection[Any], known: Collection[Any] = ()
) -> tuple[np.ndarray, dict[Any, int]]:
    """Return numbers of items by first occurrence, int32, and the dict of all;
    ``known`` has numbers 0, 1, ...
    """
    numbers = defaultdict(count(len(known)).__next__, known)
    ids = np.fromiter(map(numbers.__getitem__, items), np.int32, len(items))
    return ids, dict(numbers)


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """``[0, l_0, l_0 + l_1, ...]``: where each sequence starts in the flat corpus."""
    out = np.empty(lengths.shape[0] + 1, np.int64)
    out[0] = 0
    np.add.accumulate(
        lengths, out=out[1:]
    )  # half of what `cumsum` takes of a short sentence
    return out


def ranges(begin: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers from ``begin[i]`` on, ``lengths[i]`` of them, for one i after
    the other.

    Returns
    -------
    offsets : ndarray of shape (n + 1,)
        Where those of each i start.
    numbers : ndarray
    """
    offsets = offsets_of(lengths)
    return offsets, np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], lengths)


def by_sequence(flat: Any, offsets: np.ndarray) -> list[Any]:
    """Return the flat corpus cut where sequences start: a list of its parts."""
    bounds = offsets.tolist()
    return [flat[a:b] for a, b in zip(bounds, bounds[1:])]
