"""Sentences of (form, tag) as arrays of atoms for the parser.

Each attribute of a word that templates read (:mod:`.templates`) has its own alphabet. What is derived from a
form (its suffixes, its shape) is computed once for each distinct form.
"""

import numpy as np

from ..data.inputs import PlaceError, describe, flatten, place
from ..features.alphabet import Alphabet
from .features import SPECIAL
from .templates import MOST_SMALL


def shape(form):
    """Word shape: ``X`` ``x`` ``d`` for letters and digits; other characters stay. Runs are cut to two.

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


_DERIVED = {
    "w": str,
    "l": str.lower,
    "x2": lambda form: form[-2:],
    "x3": lambda form: form[-3:],
    "f": shape,
}


def check_words(X, token):
    """Forms and tags, flat.

    Parameters
    ----------
    X : list of sequences of (form, tag)
    token : ndarray of shape (n + 1,), int64

    Returns
    -------
    forms, tags : tuples of str

    Raises
    ------
    ValueError
        If a token is not a pair of str, neither empty; the message names sentence and position.
    """
    flat = flatten(X)
    if not flat:
        return (), ()
    if set(map(type, flat)) <= {tuple, list} and set(map(len, flat)) == {2}:
        forms, tags = zip(*flat)
        if set(map(type, forms)) == {str} == set(map(type, tags)) and "" not in forms and "" not in tags:
            return forms, tags
    out = []
    for k, word in enumerate(flat):
        pair = isinstance(word, (tuple, list)) and len(word) == 2
        if not pair or not all(isinstance(part, str) for part in word):
            wrong = "expected a pair (form, tag) of str"
        elif not all(word):
            wrong = "neither form nor tag may be empty"
        else:
            out.append((str(word[0]), str(word[1])))
            continue
        i, t = place(token, k)
        raise PlaceError(i, t, f"{wrong}, got {describe(word)}", "X")
    return tuple(zip(*out))


class AtomEncoder:
    """Alphabets of the attributes that templates read.

    Parameters
    ----------
    attributes : list of str
        From ``ATTRIBUTES``; the tag comes first.

    Attributes
    ----------
    alphabets : list of Alphabet
        One for each attribute.
    """

    def __init__(self, attributes):
        self.attributes = list(attributes)
        self.alphabets = [Alphabet() for _ in self.attributes]

    def _columns(self, forms, tags):
        """(strings by word or by distinct form, number of the form of each word or None) by attribute."""
        distinct = list(dict.fromkeys(forms))
        number = {form: k for k, form in enumerate(distinct)}
        words = np.fromiter(map(number.__getitem__, forms), np.int64, len(forms))
        for name in self.attributes:
            if name == "t":
                yield list(tags), None
            else:
                yield list(map(_DERIVED[name], distinct)), words

    def encode(self, forms, tags):
        """(A, N) int32: ids; -1 for what is unknown."""
        rows = []
        for alphabet, (strings, words) in zip(self.alphabets, self._columns(forms, tags)):
            ids = alphabet.lookup(strings)
            ids[ids >= 0] += SPECIAL
            rows.append(ids if words is None else ids[words])
        return np.array(rows, np.int32).reshape(len(self.attributes), len(forms))

    def grown(self, forms, tags):
        """(ids, the encoder that knows them all); this encoder stays as it is.

        Raises
        ------
        ValueError
            If there are too many distinct tags.
        """
        new, rows = AtomEncoder(self.attributes), []
        for k, (strings, words) in enumerate(self._columns(forms, tags)):
            ids, new.alphabets[k] = self.alphabets[k].interned(strings)
            rows.append((ids if words is None else ids[words]) + SPECIAL)
        new.check_tags()
        return np.array(rows, np.int32), new

    def check_tags(self):
        """Raise if there are too many distinct tags."""
        n_tags = len(self.alphabets[0])
        if n_tags > MOST_SMALL - SPECIAL:
            raise ValueError(f"at most {MOST_SMALL - SPECIAL} distinct tags are possible, got {n_tags}")
