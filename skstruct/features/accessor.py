"""Accessor variety: how freely a string is used, and so how likely it is a word.

Idea (Feng et al. 2004; equation 16 of Gao, Qiu and Huang 2010): a word meets many
neighbours, a part of a word few. With "abcd" always inside "xabcdy", its accessor
variety is 1 however often it occurs.

    AV(s)   = min(L_av(s), R_av(s))
    L_av(s) = number of distinct tokens before s
              + number of distinct sentences that begin with s
    R_av(s) = number of distinct tokens behind s
              + number of distinct sentences that end with s

Strings become nodes, by interning them pairwise (``_core.hashing``). A token behind s
makes a string one longer, so R_av counts the distinct strings of length n + 1 that
begin with s, and L_av those that end with it: one occurrence of each tells both. All of
it is linear in the text.

Template functions such as ``%av2`` read these statistics.

References
----------
H. Feng, K. Chen, X. Deng, W. Zheng (2004). Accessor variety criteria for Chinese word
extraction. Computational Linguistics 30(1).
W. Gao, X. Qiu, X. Huang (2010). Adaptive Chinese word segmentation with online
passive-aggressive algorithm. CIPS-SIGHAN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.hashing import find_pairs, intern_pairs, table_of
from .._data.places import by_sequence, ranges
from .._saving.container import require
from .tokens import Alphabet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._data.types import Self

LONGEST = 4
"""Tokens of the longest strings that count (Gao et al. 2010, section 6)."""

N_BUCKETS = 16
"""Buckets of accessor varieties; the last holds all from 2 ** 15 on."""

_EVERYWHERE = np.zeros(2, np.int64)


class AccessorVariety:
    """Accessor varieties of all strings of one to four tokens of a text.

    Parameters
    ----------
    minimum : int, default=1
        Smaller accessor varieties are forgotten, that is 0. Most strings of a text
        occur once; with 2 the statistics take a fraction of the memory.

    Attributes
    ----------
    alphabet : Alphabet
        The tokens. Their ids are the nodes of length 1.
    pairs : list of ndarray of shape (n_nodes, 2), int32
        For the lengths 2, 3, 4: the strings, as (node without the last token, id of the
        last token).
    varieties : list of ndarray of shape (n_nodes,), int32
        For the lengths 1, 2, 3, 4: accessor variety by node.
    table : ndarray of shape (capacity, 2), int64
        Finds the nodes; compound n holds the strings of n tokens.

    Examples
    --------
    >>> text = list("门把手小门把大手")
    >>> statistics = AccessorVariety().fit_flat(text, np.array([0, 3, 8]))
    >>> dict(zip(statistics.alphabet, statistics.varieties[0].tolist()))
    {'门': 1, '把': 1, '手': 2, '小': 1, '大': 1}

    手 follows 把 and 大, and ends two sentences; 把 follows 门 only.
    """

    def __init__(self, minimum: int = 1) -> None:
        self.minimum = minimum

    def fit_flat(self, flat: Sequence[str], token: np.ndarray) -> Self:
        """Count on a text; a sentence that occurs several times counts once.

        Parameters
        ----------
        flat : list of str
            The tokens of all sentences.
        token : ndarray of shape (n + 1,), int64
            Where each sentence starts.

        Returns
        -------
        self
        """
        ids, alphabet = Alphabet().interned(flat)
        ids, token = _distinct(ids, token)
        table = table_of([])[0]
        entries = np.zeros(1, np.int64)
        lengths = np.diff(token)
        nodes = ids
        size = len(alphabet)
        pairs = []
        varieties = []
        for n in range(1, LONGEST + 1):
            longer = np.full(ids.shape[0], -1, np.int32)
            count = np.zeros(1, np.int64)
            table = intern_pairs(
                table, entries, n + 1, nodes, ids, n, _EVERYWHERE, token, longer, count
            )
            where = np.flatnonzero(longer >= 0)
            at = np.empty(
                int(count[0]), np.int64
            )  # for each string of n + 1 tokens, one place of it
            at[longer[where]] = where
            # L_av(s) = |{t : t s occurs}| + |{x : x begins with s}|, R_av(s) likewise
            # behind s.
            begins = token[:-1][lengths >= n]
            ends = token[1:][lengths >= n] - n
            left = np.bincount(nodes[at + 1], minlength=size) + np.bincount(
                nodes[begins], minlength=size
            )
            right = np.bincount(nodes[at], minlength=size) + np.bincount(
                nodes[ends], minlength=size
            )
            varieties.append(np.minimum(left, right).astype(np.int32))
            pairs.append(np.stack([nodes[at], ids[at + n]], axis=1))
            nodes = longer
            size = at.shape[0]
        return self.set(alphabet, *_frequent(pairs[:-1], varieties, self.minimum))

    def set(
        self,
        alphabet: Alphabet,
        pairs: list[np.ndarray],
        varieties: list[np.ndarray],
        where: str = "it",
    ) -> Self:
        """Take over statistics, as a file has them.

        Parameters
        ----------
        alphabet : Alphabet
        pairs, varieties : list of ndarray
            See the class.
        where : str
            What an error names if a string occurs twice.

        Returns
        -------
        self
        """
        self.alphabet = alphabet
        self.pairs = pairs
        self.varieties = varieties
        self.table, are_distinct = table_of(pairs, 2)
        require(are_distinct, f"{where}: a string occurs twice")
        # A last 0 serves node -1.
        powers = 2 ** np.arange(1, N_BUCKETS)
        buckets = (np.searchsorted(powers, v, side="right") for v in varieties)
        self._buckets = [np.append(bucket, 0).astype(np.uint8) for bucket in buckets]
        return self

    def nodes(
        self, flat: Sequence[str], token: np.ndarray, longest: int = LONGEST
    ) -> list[np.ndarray]:
        """Look up the strings that start at each token.

        Parameters
        ----------
        flat : list of str
            N tokens.
        token : ndarray of shape (n + 1,), int64
            Where each sentence starts.
        longest : int
            Length of the longest strings asked for.

        Returns
        -------
        list of ndarray of shape (N,), int32
            For the lengths 1, 2, ... the node of the string; -1 if it is unknown.
        """
        ids = self.alphabet.lookup(flat)
        nodes = [ids]
        for n in range(2, longest + 1):
            out = np.full(ids.shape[0], -1, np.int32)
            find_pairs(self.table, n, nodes[-1], ids, n - 1, _EVERYWHERE, token, out)
            nodes.append(out)
        return nodes

    def buckets(
        self, flat: Sequence[str], token: np.ndarray, longest: int = LONGEST
    ) -> list[np.ndarray]:
        """Look up the bucketed accessor varieties of the strings around each token.

        Parameters
        ----------
        flat, token, longest
            As of :meth:`nodes`.

        Returns
        -------
        list of ndarray of shape (3, N), uint8
            For the lengths 1, 2, ...: ``floor(log2(AV))`` of the string that the token
            is the first of; the most varied one that it is inside of; the one that it
            is the last of. 0 for AV 0 and 1, and where there is no such string.
        """
        out = []
        for n, nodes in enumerate(self.nodes(flat, token, longest), 1):
            first = self._buckets[n - 1][nodes]
            parts = np.zeros((3, first.shape[0]), np.uint8)
            parts[0] = first
            for k in range(1, n - 1):
                np.maximum(parts[1, k:], first[:-k], out=parts[1, k:])
            parts[2, n - 1 :] = first[: max(0, first.shape[0] - n + 1)]
            out.append(parts)
        return out


def _distinct(ids: np.ndarray, token: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the text without the sentences that occurred before."""
    seen: dict[bytes, int] = {}
    for i, sentence in enumerate(by_sequence(ids, token)):
        seen.setdefault(sentence.tobytes(), i)
    keep = np.fromiter(seen.values(), np.int64, len(seen))
    token, places = ranges(token[keep], np.diff(token)[keep])
    return ids[places], token


def _frequent(
    pairs: list[np.ndarray], varieties: list[np.ndarray], minimum: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the strings that are frequent enough, and the beginnings of longer ones
    that are.
    """
    keep = [v >= minimum for v in varieties]
    for n in range(len(pairs), 1, -1):  # strings of n + 1 tokens keep their first n
        keep[n - 1][pairs[n - 1][keep[n], 0]] = True
    varieties = [np.where(v >= minimum, v, np.int32(0)) for v in varieties]
    fewer = [varieties[0]]
    # tokens keep their ids
    out = []
    renumbered = np.arange(varieties[0].shape[0])
    for n, pair in enumerate(pairs, 1):
        left, last = pair[keep[n]].T
        out.append(np.stack([renumbered[left], last], axis=1).astype(np.int32))
        renumbered = np.cumsum(keep[n]) - 1
        fewer.append(varieties[n][keep[n]])
    return out, fewer
