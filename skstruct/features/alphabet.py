"""Strings to dense integers, once.

Everything here that walks the corpus does so in C: ``map`` over a dictionary look-up into a numpy
array.
"""

from collections import defaultdict
from itertools import count, repeat

import numpy as np


class Alphabet:
    """Distinct strings in the order of their first occurrence.

    Attributes
    ----------
    ids : dict of str to int
    """

    def __init__(self, strings=()):
        self.ids = {s: k for k, s in enumerate(strings)}

    def __len__(self):
        return len(self.ids)

    def strings(self):
        """All strings, by id."""
        return list(self.ids)

    def lookup(self, strings):
        """Ids as int32, -1 for what is unknown."""
        return np.fromiter(map(self.ids.get, strings, repeat(-1)), np.int32, len(strings))

    def interned(self, strings):
        """(ids as int32, the alphabet with the new strings); this alphabet stays as it is.

        Raises
        ------
        TypeError
            If an element is not a string.
        """
        ids = defaultdict(count(len(self.ids)).__next__, self.ids)
        out = np.fromiter(map(ids.__getitem__, strings), np.int32, len(strings))
        ids = dict(ids)
        kinds = set(map(type, ids))
        if kinds - {str}:
            if not all(issubclass(kind, str) for kind in kinds):
                raise TypeError("expected strings")
            ids = {str(s): k for s, k in ids.items()}
        grown = Alphabet()
        grown.ids = ids
        return out, grown
