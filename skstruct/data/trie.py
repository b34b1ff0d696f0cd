"""Sets of sequences of ids, found in other sequences by maximum matching."""

import numpy as np

from ..core.compile import kernel
from ..core.hashing import empty_table, find, grown, slot_of


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
