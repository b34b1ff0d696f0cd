"""Named features: their numbers, and the weight rows of those that are frequent enough."""

import copy
import re

import numpy as np

_KEY = re.compile("[^:=]*")


class FeatureIndex:
    """Names of features, in the order in which they were met, and their weight rows.

    Parameters
    ----------
    first_row : int
        Rows below it have no names.

    Attributes
    ----------
    ids : dict of str to int
    row_of : ndarray of shape (n + 1,), int32
        By number the row, -1 if there is none; the last -1 serves number -1.
    counts : ndarray of shape (n,), int64
        Occurrences, if there is a count cut-off.
    n_rows : int
    """

    def __init__(self, first_row=0):
        self.first_row = self.n_rows = first_row
        self.ids = {}
        self.row_of = np.full(1, -1, np.int32)
        self.counts = np.zeros(0, np.int64)

    @classmethod
    def of_names(cls, names, first_row=0):
        """All of some names, each with a row, in their order."""
        index = cls(first_row)
        index.find(list(names), grow=True)
        index.assign(np.zeros(0, np.int32), 1)
        return index

    def copy(self):
        """One that can grow while this stays as it is."""
        twin = copy.copy(self)  # arrays are replaced, never changed
        twin.ids = dict(self.ids)
        return twin

    def number(self, name, grow):
        """The number of a name; one that is unknown is added, or -1."""
        return self.ids.setdefault(name, len(self.ids)) if grow else self.ids.get(name, -1)

    def find(self, names, grow):
        """Numbers of names as int32; those that are unknown are added, or -1."""
        ids = self.ids
        if grow:
            return np.fromiter((ids.setdefault(name, len(ids)) for name in names), np.int32, len(names))
        return np.fromiter((ids.get(name, -1) for name in names), np.int32, len(names))

    def assign(self, seen, min_count):
        """Give rows to new names; ``seen`` are the numbers in a corpus, which count."""
        n, old = len(self.ids), self.row_of.shape[0] - 1
        row_of = np.full(n + 1, -1, np.int32)
        row_of[:old] = self.row_of[:-1]
        new = row_of[:-1] < 0
        if min_count > 1:
            counts = np.bincount(seen[seen >= 0], minlength=n)
            counts[: self.counts.shape[0]] += self.counts
            self.counts = counts
            new &= counts >= min_count
        n_new = int(np.count_nonzero(new))
        row_of[:-1][new] = self.n_rows + np.arange(n_new, dtype=np.int32)
        self.n_rows += n_new
        self.row_of = row_of

    def keep_rows(self, used, min_count):
        """The names whose rows are in use, and the row that each row was."""
        out, row = type(self)(self.first_row), self.row_of[:-1]
        kept = np.append(used, False)[row]  # False is for row -1
        out.ids = {name: k for k, name in enumerate(n for n, yes in zip(self.ids, kept.tolist()) if yes)}
        rows = np.append(np.arange(self.first_row), row[kept])
        out.n_rows = rows.shape[0]
        out.row_of = np.append(np.arange(self.first_row, out.n_rows, dtype=np.int32), np.int32(-1))
        if min_count > 1:  # beyond the cut-off nobody asks how often
            out.counts = np.minimum(self.counts[kept], min_count)
        return out, rows

    def row_names(self, rows):
        """The names of rows, {row: name}."""
        return {row: name for row, name in zip(self.row_of.tolist(), self.ids) if row in rows}

    def key_of_row(self):
        """(n_rows,) the key of each feature as a number: its name up to a colon or equals sign."""
        numbers, of_row = {}, np.zeros(self.n_rows, np.int32)
        for name, row in zip(self.ids, self.row_of.tolist()):
            if row >= 0:
                of_row[row] = numbers.setdefault(_KEY.match(name).group(), len(numbers))
        return of_row

    @classmethod
    def merged(cls, parts, counts, min_count):
        """One from several that have no count cut-off.

        Parameters
        ----------
        parts : list of FeatureIndex
        counts : list of ndarray
            Occurrences by row of each; looked at if ``min_count`` is above 1.
        min_count : int

        Returns
        -------
        index : FeatureIndex
        numbers : list of ndarray
            What the numbers of each part have become.
        rows : list of ndarray
            What its rows have become.
        """
        out = cls(parts[0].first_row)
        numbers = [out.find(list(part.ids), grow=True) for part in parts]
        if min_count > 1:
            out.counts = np.zeros(len(out.ids), np.int64)
            for part, mine, count in zip(parts, numbers, counts):
                out.counts[mine] += np.asarray(count)[part.row_of[:-1]]
        out.assign(np.zeros(0, np.int32), min_count)
        maps = []
        for part, mine in zip(parts, numbers):
            rows = np.zeros(part.n_rows, np.int32)  # row 0 of the transitions stays
            rows[part.row_of[:-1]] = out.row_of[mine]
            maps.append(rows)
        return out, numbers, maps
