"""Lexicons: lists of strings found in text by maximum matching.

Idea: the entries form a trie over integer ids (characters, or words), kept in one exact hash table:
(node, id) leads to the next node. From left to right the longest entry that begins at a token is taken and
the search goes on behind it, so that matches never overlap and there is nothing to decide between
entries. A text of N tokens costs N times the length of the longest entry at worst, whatever the number of
entries.

Place on the ladder: rung 2, read by template functions such as ``%lex_city``; ``segmented`` finds the
words of a dictionary with it.
"""

import numpy as np

from ..core.compile import kernel
from ..core.hashing import empty_table, find, grown, slot_of
from ..data.inputs import describe, offsets_of
from .alphabet import Alphabet

MARKS = ("O", "B", "I", "E", "S")
"""What a token is: outside of all matches; first, inner, last token of one; a match by itself."""


@kernel
def _plant(table, ids, start, ends):
    """Grow the trie by the entries ``ids[start[i]:start[i + 1]]``; returns the number of nodes.

    ``table`` has to have room; ``ends`` (n_nodes,) uint8 is set to 1 where an entry ends. Node 0 is the root.
    """
    n_nodes = 1
    for i in range(start.shape[0] - 1):
        node = np.int64(0)
        for k in range(start[i], start[i + 1]):
            key = (node << 32) | np.int64(ids[k])
            slot = slot_of(table, 0, key)
            if table[slot, 1] == -1:
                table[slot, 0] = key
                table[slot, 1] = n_nodes
                n_nodes += 1
            node = table[slot, 1]
        if start[i] < start[i + 1]:
            ends[node] = 1
    return n_nodes


@kernel
def _match(table, ends, ids, token, mark):
    """Mark the leftmost-longest matches of each sequence; ids of -1 are in no entry."""
    for i in range(token.shape[0] - 1):
        stop = token[i + 1]
        t = token[i]
        while t < stop:
            node, longest, k = np.int64(0), np.int64(0), t
            while k < stop and ids[k] >= 0:
                node = find(table, 0, node, ids[k])
                if node < 0:
                    break
                k += 1
                if ends[node] == 1:
                    longest = k - t
            if longest == 0:
                mark[t] = 0
                t += 1
                continue
            for j in range(t, t + longest):
                mark[j] = 2
            mark[t] = 1
            mark[t + longest - 1] = 4 if longest == 1 else 3
            t += longest


class Trie:
    """Sequences of ids, to be found in other sequences.

    Parameters
    ----------
    ids : ndarray of int32
        The entries, one behind the other.
    start : ndarray of shape (n + 1,), int64
        Where each entry starts. Empty entries are never found.
    """

    def __init__(self, ids, start):
        self._table = grown(empty_table(), ids.shape[0])
        self._ends = np.zeros(ids.shape[0] + 1, np.uint8)
        n_nodes = _plant(self._table, ids, start, self._ends)
        self._ends = self._ends[:n_nodes].copy()

    def match(self, ids, token):
        """The matches in sequences of ids.

        Parameters
        ----------
        ids : ndarray of shape (N,), int32
            -1 for what is in no entry.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts; matches stay inside of one.

        Returns
        -------
        ndarray of shape (N,), uint8
            Positions in `MARKS`.
        """
        mark = np.zeros(ids.shape[0], np.uint8)
        _match(self._table, self._ends, ids, token, mark)
        return mark


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
