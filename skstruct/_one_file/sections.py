"""The block of a model: a header and arrays of numbers, deflated.

A file of ``skstruct.interchange.export`` holds the model as one constant, ``DATA``: the
base64 of a block that is deflated raw (RFC 1951, no header). All integers are
little-endian. The block is the length of the header (4 bytes), the header (JSON in
UTF-8; a lone surrogate is written as an escape, and two that JSON would read as one
character are refused), and arrays, one behind the other, as ``sections`` lists them:
``[name, kind, n]``. A kind is a letter and the bytes of a number: ``u`` integers that are
not negative, ``z`` integers (0, -1, 1, -2 ... as 0, 1, 2, 3 ...), ``f`` floating-point
numbers. The lowest bytes of all numbers of an array come
first, then the next, and so on, which deflates better.

- ``format``: 1
- ``task``: ``"labels"``, ``"words"`` or ``"spans"``
- ``labels``: the labels, in the order of their numbers
- ``token``, ``columns``: ``"str"``, ``"tuple"`` or ``"dict"``; columns that are read
- ``either``: ``true`` if tuples will do as well as str; else it is missing
- ``features``: ``"templates"``, ``"names"`` (dicts and lists) or ``"patterns"``
- ``chain``: ``"chain"``, or ``"pairs"`` for order 2
- ``probabilities``: what scores are multiplied by to be log-probabilities, up to a
  constant; null if there are none
- ``divisor``, ``step``: integers of weights are divided by the first; scores are multiplied
  by the second
- ``about``: model, version, weights, and what ``check``, ``title`` and ``example`` said
- ``left``, ``right``, ``channels``, ``values``: of templates: how far they read; (function,
  column) of each channel, and its strings, sorted
- ``nodes``, ``edges``: of templates, for state features and those of transitions:
  ``compounds`` of (index of all channels but the last or -1, channel, distance, shifts,
  how features are written), and ``groups`` of (compound, slot, first token, width)
- ``unicode``: tables of the functions that are read: the places at which being in a class
  begins, ends, begins ..., as distances; of lower case the code points that change and
  what is added to them, both as distances, and what becomes several characters
- ``lexicons``, ``varieties``: of templates that read them
- ``clusters``: likewise, the words of each
- ``names``, ``edge_names``, ``patterns``: of named features
- ``words``, ``spans``, ``chunks``, ``characters``: of segmenters, span taggers and pages

A value of a channel has a number: 0 unknown, then the ``left`` + ``right`` places outside
of a sequence, nearest first, then its strings. The combinations of a compound of
several channels are sorted by the combination of all but the last, then by the value of
the last: ``nodes.2.left`` counts how many begin with each combination of the shorter
compound, ``nodes.2.right`` lists the last values. Combinations are numbered from 1, in
that order. A compound with slots has a row of weights for each combination and slot,
one behind the other, in the order of the compounds. Named features have a row each. Row
0 of the transitions is the label bigram.

``nodes.count`` has the weights of each row that are not zero, ``nodes.column`` their
labels, ``nodes.weight`` the weights; so have ``edges``, whose columns are previous label ×
L + label, and ``trigrams``, whose row previous × (L + 1) + a + 1 is that of the label a
before the previous one (-1 at the start). ``allowed`` says which labels may start, end,
and follow each other (L, L, L × L). Weights add up in this order: groups one by one, in
a group from the last slot to the first; only so scores are equal to the last bit.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import zlib
from collections.abc import Container, Iterable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

FORMAT = 1
"""The version of the layout, which the module's docstring describes."""

_LARGEST = {1: 2**8, 2: 2**16, 3: 2**24, 4: 2**32}
_LONE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_JOIN = "s.encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass')"


def refuse(reason: str) -> NoReturn:
    """Raise the error that a model cannot be written as one file."""
    raise ValueError(f"the model cannot be written as one file: {reason}")


class Sections:
    """Arrays one behind the other, each with its name, its kind and how many numbers it
    has.
    """

    def __init__(self) -> None:
        self.entries: list[list[Any]] = []
        self.data: list[bytes] = []

    def add(self, name: str, values: Any, kind: str = "u") -> None:
        """Add numbers.

        Of kind ``"u"`` they are integers that are not negative, of ``"z"`` integers (0,
        -1, 1, -2 ... become 0, 1, 2, 3 ...), in as few bytes each as the largest needs;
        of ``"f"`` floats, of their own size.
        """
        values = np.asarray(values, None if kind == "f" else np.int64)
        if kind == "z":
            values = np.where(values < 0, -2 * values - 1, 2 * values)
        size = values.itemsize
        largest = values.max(initial=0)
        if kind != "f":
            size = next(size for size, above in _LARGEST.items() if largest < above)
        self.entries.append([name, f"{kind}{size}", int(values.shape[0])])
        little = values.astype(values.dtype.newbyteorder("<"))
        planes = np.frombuffer(little.tobytes(), np.uint8).reshape(-1, values.itemsize)[
            :, :size
        ]
        self.data.append(
            planes.T.tobytes()
        )  # bytes of equal rank stand together: that deflates better

    def block(self, header: dict[str, Any]) -> str:
        """Return the constant of a file, base64, with the header."""
        text = json.dumps(
            {**header, "sections": self.entries},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        pair = _PAIR.search(text)
        if pair:  # JSON would make one character of them, and perhaps two strings equal
            string = text[
                text.rindex('"', 0, pair.start()) + 1 : text.index('"', pair.end())
            ]
            refuse(
                f"{string!r} has two surrogates that are one character; train on {_JOIN} of such strings"
            )
        head = _LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", text).encode()
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        raw = b"".join([struct.pack("<I", len(head)), head, *self.data])
        return base64.b64encode(packer.compress(raw) + packer.flush()).decode("ascii")


def check_spellings(known: Iterable[str], written: Container[str]) -> None:
    """Raise if JavaScript would take a string that a model knows for another one that
    is written.
    """
    for s in filter(_PAIR.search, known):
        joined = s.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if joined in written:
            reason = f"JavaScript cannot tell {s!r}, which has two surrogates, from {joined!r}"
            refuse(f"{reason}; write .py, or train on {_JOIN} of such strings")


def weight_table(
    sections: Sections,
    name: str,
    n_rows: int,
    keys: np.ndarray,
    weights: np.ndarray,
    columns: int,
) -> None:
    """Add weights that are not zero: how many each row has, their columns, and
    themselves.

    Parameters
    ----------
    sections : Sections
    name : str
    n_rows : int
    keys : ndarray of int64
        row * columns + column of each weight, ascending.
    weights : ndarray
        Integers, float32 or float64.
    columns : int
    """
    sections.add(f"{name}.count", np.bincount(keys // columns, minlength=n_rows))
    sections.add(f"{name}.column", keys % columns)
    sections.add(f"{name}.weight", weights, "z" if weights.dtype.kind == "i" else "f")


def combination_table(
    sections: Sections,
    name: str,
    pairs: np.ndarray,
    kept: np.ndarray,
    before: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """Add combinations: how many begin with each of the shorter ones, and their last
    values.

    Parameters
    ----------
    sections : Sections
    name : str
    pairs : ndarray of shape (n, 2)
        Of all combinations the shorter one and the last value, by their old numbers.
    kept : ndarray of shape (n,), bool
    before, last : ndarray of int64
        New numbers of the shorter ones and of the values, by the old ones.

    Returns
    -------
    ndarray of shape (n,), int64
        The new numbers: by the shorter one, then by the last value; 0 of those that are
        not kept.
    """
    mine = np.flatnonzero(kept)
    shorter = before[pairs[mine, 0]]
    value = last[pairs[mine, 1]]
    order = np.lexsort((value, shorter))
    sections.add(
        f"{name}.left", np.bincount(shorter - 1, minlength=before.max(initial=0))
    )
    sections.add(f"{name}.right", value[order])
    number = np.zeros(kept.shape[0], np.int64)
    number[mine[order]] = np.arange(1, mine.shape[0] + 1)
    return number


# --------------------------------------------------------------------------------------
# Weights as numbers of a file: integers over a common denominator, floats, or rounded
# integers
# --------------------------------------------------------------------------------------
WEIGHTS = ("exact", "int16", "int8")

_SAMPLE = 200
_LARGEST_DENOMINATOR = 2**40


def as_numbers(
    tables: list[np.ndarray], weights: str
) -> tuple[list[np.ndarray], int, float]:
    """Turn weights into the numbers that are written.

    Parameters
    ----------
    tables : list of ndarray of float64
    weights : {"exact", "int16", "int8"}

    Returns
    -------
    tables : list of ndarray
        int64, float32 or float64, all of one type.
    divisor : int
        What integers are divided by.
    step : float
        What scores, sums of these numbers, are multiplied by.
    """
    every = np.concatenate(tables)
    if weights != "exact":
        most = 32767 if weights == "int16" else 127
        step = float(np.abs(every).max(initial=0.0)) / most or 1.0
        return [np.rint(table / step).astype(np.int64) for table in tables], 1, step
    divisor = common_denominator(every)
    if divisor is not None:
        return (
            [np.rint(table * divisor).astype(np.int64) for table in tables],
            divisor,
            1.0,
        )
    narrow = every.astype(np.float32)
    kind = (
        np.float32 if np.array_equal(narrow.astype(np.float64), every) else np.float64
    )
    return [table.astype(kind) for table in tables], 1, 1.0


def common_denominator(weights: np.ndarray) -> int | None:
    """Return the int d for which every weight is the float64 nearest to an integer over
    d; None if there is none.

    Averages over n steps are such: d is n, or a part of it.
    """
    some = weights[:: max(1, weights.shape[0] // _SAMPLE)]
    d = 1
    for w in some.tolist():
        near = (Fraction(w).limit_denominator(limit) for limit in (10**3, 10**5, 10**7))
        d = math.lcm(
            d,
            next(
                (found for found in near if float(found) == w), Fraction(w)
            ).denominator,
        )
        if d > _LARGEST_DENOMINATOR:
            return None
    whole = np.rint(weights * d)
    if (
        np.abs(whole).max(initial=0.0) >= 2**31
    ):  # twice as much has to fit into four bytes
        return None
    return d if np.array_equal(whole / d, weights) else None
