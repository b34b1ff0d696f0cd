"""Numbered features, and the weight rows of those that are frequent enough."""

from __future__ import annotations

import copy
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.hashing import check_rows
from .encoded import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._data.types import Self


def _key_of(name: str) -> str:
    """Return a name up to its first colon or equals sign."""
    return name.partition(":")[0].partition("=")[0]


def with_new_rows(
    row_of: np.ndarray,
    n: int,
    n_rows: int,
    deserving: np.ndarray | bool = True,
    width: int = 1,
) -> tuple[np.ndarray, int]:
    """Give rows to the ones of ``n`` features that have none and deserve them.

    Parameters
    ----------
    row_of : ndarray of int32
        Rows so far by number, -1 if there is none; the last -1 serves number -1.
    n, n_rows : int
        Features, and rows that are given away.
    deserving : ndarray of shape (n,), bool, or True
        Whether a feature without rows gets some.
    width : int
        Rows of a feature, which are neighbours; ``row_of`` has the first.

    Returns
    -------
    row_of : ndarray of shape (n + 1,), int32
    n_rows : int

    Raises
    ------
    ValueError
        If there are more rows than 32 bits can number.
    """
    out = np.full(n + 1, -1, np.int32)
    out[: len(row_of[:-1])] = row_of[:-1]
    new = np.flatnonzero((out[:-1] < 0) & deserving)
    total = n_rows + width * new.shape[0]
    check_rows(total)
    out[new] = n_rows + width * np.arange(new.shape[0])
    return out, total


class RowIndex:
    """The weight rows of features that are numbered in the order in which they were
    met.

    Parameters
    ----------
    first_row : int
        Rows below it belong to no feature.

    Attributes
    ----------
    row_of : ndarray of shape (n + 1,), int32
        By number the row, -1 if there is none; the last -1 serves number -1.
    counts : ndarray of shape (n,), int64
        Occurrences, if there is a count cut-off.
    n_rows : int
    """

    def __init__(self, first_row: int = 0) -> None:
        self.first_row = first_row
        self.n_rows = first_row
        self.row_of = np.full(1, -1, np.int32)
        self.counts = np.zeros(0, np.int64)

    def copy(self) -> Self:
        """Make an index that can grow while this one stays as it is."""
        return copy.copy(self)  # arrays are replaced, never changed

    def give_rows(
        self, n: int, seen: np.ndarray, min_count: int, always: np.ndarray = NOTHING
    ) -> None:
        """Give rows to features that are new, or have become frequent.

        Parameters
        ----------
        n : int
            Features by now.
        seen : ndarray of int
            Their numbers in a corpus, which count; negative ones do not.
        min_count : int
        always : ndarray of int
            Numbers of features that have rows however rare they are.
        """
        enough: np.ndarray | bool = True
        if min_count > 1:
            counts = np.bincount(seen[seen >= 0], minlength=n)
            counts[: self.counts.shape[0]] += self.counts
            self.counts = counts
            often = counts >= min_count
            often[always] = True
            enough = often
        self.row_of, self.n_rows = with_new_rows(self.row_of, n, self.n_rows, enough)

    def count_anew(self, min_count: int) -> None:
        """Forget how often features occurred that are still below ``min_count``."""
        self.counts = np.where(self.counts < min_count, 0, self.counts)

    def is_kept(self, used: np.ndarray) -> np.ndarray:
        """Tell which features have rows that are ``used``, (n,) bool."""
        return np.append(used, False)[self.row_of[:-1]]  # False is for row -1

    def keep(self, used: np.ndarray, min_count: int) -> tuple[Self, np.ndarray]:
        """Make an index of the features whose rows are ``used``.

        Parameters
        ----------
        used : ndarray of shape (n_rows,), bool
        min_count : int

        Returns
        -------
        index : RowIndex
        rows : ndarray of int
            The row that each of the new rows was.
        """
        out = type(self)(self.first_row)
        stays = self.is_kept(used)
        rows = np.append(np.arange(self.first_row), self.row_of[:-1][stays])
        out.row_of, out.n_rows = with_new_rows(
            out.row_of, int(np.count_nonzero(stays)), self.first_row
        )
        if min_count > 1:  # beyond the cut-off nobody asks how often
            out.counts = np.minimum(self.counts[stays], min_count)
        return out, rows

    def merge(
        self,
        parts: Sequence[RowIndex],
        numbers: Sequence[np.ndarray],
        counts: Sequence[np.ndarray | None],
        n: int,
        min_count: int,
        always: np.ndarray = NOTHING,
    ) -> list[np.ndarray]:
        """Become the index of the features of several that have no count cut-off.

        Parameters
        ----------
        parts : list of RowIndex
        numbers : list of ndarray
            What the numbers of each part have become.
        counts : list of ndarray
            Occurrences by row of each; looked at if ``min_count`` is above 1.
        n, min_count, always
            Features of all; the others as of :meth:`give_rows`.

        Returns
        -------
        list of ndarray, int32
            What the rows of each part have become.
        """
        if min_count > 1:
            self.counts = np.zeros(n, np.int64)
            for part, mine, count in zip(parts, numbers, counts):
                self.counts[mine] += np.asarray(count)[part.row_of[:-1]]
        self.give_rows(n, NOTHING, min_count, always)
        # Row 0 of the transitions stays.
        maps = [np.zeros(part.n_rows, np.int32) for part in parts]
        for part, mine, rows in zip(parts, numbers, maps):
            rows[part.row_of[:-1]] = self.row_of[mine]
        return maps


class FeatureIndex(RowIndex):
    """The weight rows of features that have names; ``ids`` has the numbers of these."""

    # What `rows` has found out, which no copy in a file has:
    _looked_at: np.ndarray | None = None  # the ``row_of`` that it was found of
    _n_equal = -1  # names whose rows are their numbers; -1 if one is not

    def __init__(self, first_row: int = 0) -> None:
        super().__init__(first_row)
        self.ids: dict[str, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_looked_at", "_n_equal")
        }

    @classmethod
    def of_names(cls, names: Iterable[str], first_row: int = 0) -> Self:
        """Make an index of some names, each with a row, in their order."""
        index = cls(first_row)
        index.find(list(names), grow=True)
        index.assign(NOTHING, 1)
        return index

    def copy(self) -> Self:
        """Make an index that can grow while this one stays as it is."""
        twin = super().copy()
        twin.ids = dict(self.ids)
        return twin

    def number(self, name: str, grow: bool) -> int:
        """Look up the number of a name; -1 if it is unknown, unless it is added to
        ``grow``.
        """
        return (
            self.ids.setdefault(name, len(self.ids)) if grow else self.ids.get(name, -1)
        )

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return the rows of names with some numbers, int32; -1 of those without one.

        Where each name has the row of its number, as without a count cut-off, it is
        the same array.
        """
        if self._looked_at is not self.row_of:
            n = self.row_of.shape[0] - 1
            is_equal = np.array_equal(self.row_of[:n], np.arange(n))
            self._n_equal = n if is_equal else -1
            self._looked_at = self.row_of
        if self._n_equal == len(self.ids):
            return numbers
        return self.row_of.take(numbers)

    def find(self, names: Sequence[str], grow: bool) -> np.ndarray:
        """Look up the numbers of names, int32; -1 for unknown ones, unless they are
        added to ``grow``.
        """
        ids = self.ids
        found: Iterable[int] = map(self.ids.get, names, repeat(-1))
        if grow:
            found = (ids.setdefault(name, len(ids)) for name in names)
        return np.fromiter(found, np.int32, len(names))

    def assign(self, seen: np.ndarray, min_count: int) -> None:
        """Give rows to names that are new, or have become frequent.

        Parameters
        ----------
        seen : ndarray of int
            Numbers of names in a corpus, which count; negative ones do not.
        min_count : int
        """
        self.give_rows(len(self.ids), seen, min_count)

    def keep(self, used: np.ndarray, min_count: int) -> tuple[Self, np.ndarray]:
        """Make an index of the names whose rows are ``used``, as
        :meth:`RowIndex.keep` does of features without names.
        """
        out, rows = super().keep(used, min_count)
        out.find(list(compress(self.ids, self.is_kept(used).tolist())), grow=True)
        return out, rows

    def row_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows, {row: name}."""
        return {
            row: name
            for row, name in zip(self.row_of.tolist(), self.ids)
            if row in rows
        }

    def key_of_row(self) -> np.ndarray:
        """Number the keys of features: (n_rows,) int32, the key of each row.

        The key is the name up to a colon or an equals sign.
        """
        numbers: dict[str, int] = {}
        of_row = [0] * self.n_rows
        for name, row in zip(self.ids, self.row_of.tolist()):
            if row >= 0:
                of_row[row] = numbers.setdefault(_key_of(name), len(numbers))
        return np.array(of_row, np.int32)

    @classmethod
    def merged(
        cls,
        parts: Sequence[FeatureIndex],
        counts: Sequence[np.ndarray | None],
        min_count: int,
    ) -> tuple[Self, list[np.ndarray]]:
        """Make one index of the names of several.

        Parameters
        ----------
        parts : list of FeatureIndex
        counts, min_count
            As of :meth:`RowIndex.merge`.

        Returns
        -------
        index : FeatureIndex
        maps : list of ndarray, int32
            What the rows of each part have become.
        """
        out = cls(parts[0].first_row)
        numbers = [out.find(list(part.ids), grow=True) for part in parts]
        return out, out.merge(parts, numbers, counts, len(out.ids), min_count)
