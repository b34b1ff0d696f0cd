"""Lexicons: lists of strings found in text by maximum matching.

The entries form a trie over integer ids (characters, or words), kept in one exact hash table:
(node, id) leads to the next node. From left to right the longest entry that begins at a token is taken and
the search goes on behind it, so that matches never overlap and there is nothing to decide between
entries. A text of N tokens costs N times the length of the longest entry at worst, whatever the number of
entries.

Read by template functions such as ``%lex_city``. Dictionaries of segmented text search the same way, through
``data.trie``.
"""

import numpy as np

from ..data.inputs import describe, offsets_of
from ..data.trie import Trie
from .alphabet import Alphabet

MARKS = ("O", "B", "I", "E", "S")
"""What a token is: outside of all matches; first, inner, last token of one; a match by itself."""


class Lexicon:
    """Entries to be found in sequences of tokens.

    Parameters
    ----------
    entries : iterable of str or of tuple of str
        From `as_entries`.
    characters : bool
        Whether tokens are characters. A str entry then stands for its characters, white space left out;
        else for its words, what ``str.split`` makes of it.
    """

    def __init__(self, entries, characters):
        sequences = [
            e if isinstance(e, tuple) else "".join(e.split()) if characters else e.split() for e in entries
        ]
        flat = [token for sequence in sequences for token in sequence]
        ids, self._alphabet = Alphabet().interned(flat)
        lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
        self._trie = Trie(ids, offsets_of(lengths))

    def match(self, flat, token):
        """For each token its mark, (N,) uint8: positions in `MARKS`."""
        return self._trie.match(self._alphabet.lookup(flat), token)


def are_characters(flat):
    """Whether a column of a corpus holds characters: over half of its tokens are of length 1."""
    return 2 * sum(map((1).__eq__, map(len, flat))) > len(flat)


def as_entries(entries, where):
    """The distinct entries of a lexicon, sorted.

    Raises
    ------
    ValueError
        If an entry is neither a str nor a tuple of str, or is empty. The message starts with ``where``.
    """
    if isinstance(entries, (str, bytes)) or not hasattr(entries, "__iter__"):
        raise ValueError(f"{where} must be a list of str or of tuples of str, got {describe(entries)}")
    checked = set()
    for k, entry in enumerate(entries):
        if isinstance(entry, str):
            entry = str(entry)
            wrong = not entry.strip()
        elif isinstance(entry, (tuple, list)) and all(isinstance(part, str) for part in entry):
            entry = tuple(map(str, entry))
            wrong = "" in entry or not entry
        else:
            wrong = True
        if wrong:
            raise ValueError(
                f"{where}: entry {k} must be a str or a tuple of str, and not empty, got {describe(entry)}"
            )
        checked.add(entry)
    return tuple(sorted(checked, key=lambda e: (isinstance(e, tuple), e)))
