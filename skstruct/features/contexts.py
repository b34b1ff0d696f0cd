"""Functions of a position that depend on more than its token: accessor variety and
lexicons.

``%suffix3[0,0]`` is a function of one token, computed once for each distinct one. What
is computed here depends on the tokens around and on something from outside: the
statistics of a text, or a list of strings. Each function has few values, all known in
advance. Statistics and lexicons belong to the encoder; whoever swaps the statistics
changes what a model reads without touching its weights.

The entries of a lexicon form a trie over integer ids (characters, or words). From left
to right the longest entry that begins at a token is taken and the search goes on behind
it, so that matches never overlap. A text of N tokens costs N times the length of the
longest entry at worst, whatever the number of entries.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._core.compile import kernel
from .._core.hashing import empty_table, find, grown, slot_of
from .._data.inputs import describe, flatten, lengths_of, offsets_of
from .._data.lexicon import Lexicon as PublicLexicon
from .._data.lexicon import folded
from .._data.text import codes_of
from .._saving.container import require
from .._saving.fields import Field, Table, array, each, flag, integer, optional, pair
from .accessor import LONGEST, N_BUCKETS, AccessorVariety
from .tokens import Alphabet, alphabet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from .._saving.fields import Members
    from .tokens import Channel

MARKS = ("O", "B", "I", "E", "S")
"""What a token is: outside of all matches; first, inner, last token of one; a match by
itself.
"""

Entry: TypeAlias = str | tuple[str, ...]
"""An entry of a lexicon: what is split into tokens, or the tokens."""

_VARIETY = re.compile(r"av([1-4])\Z")
_LEXICON = re.compile(r"lex_(\w+)\Z")

_PLACES = ("B", "E", "I")
_VARIETIES = (
    "0",
    *(f"{place}{bucket}" for bucket in range(1, N_BUCKETS) for place in _PLACES),
)


def is_context(name: str) -> bool:
    """Tell whether ``%name`` is one of these functions."""
    return _VARIETY.match(name) is not None or _LEXICON.match(name) is not None


def lexicon_of(name: str) -> str | None:
    """Tell which lexicon ``%name`` reads; None if it reads none."""
    match = _LEXICON.match(name)
    return match[1] if match else None


def context_values(name: str) -> tuple[str, ...]:
    """List all values of a function, by id."""
    return _VARIETIES if _VARIETY.match(name) else MARKS


class Contexts:
    """What the functions of an encoder's templates need.

    Parameters
    ----------
    channels : tuple of (function name, column)
        Others than context functions are left alone.
    lexicons : dict of str to tuple
        Entries by name.

    Attributes
    ----------
    lexicon_columns : set of int
        The columns that lexicons are matched with.
    are_read : bool
        Whether any template reads one of these functions.
    trained : dict of int to AccessorVariety
        By column, the statistics of the first text learned from; empty before.
    adapted : dict of int to AccessorVariety, or None
        Statistics in force instead, if not None.
    characters : dict of int to bool
        By column that lexicons read, whether its tokens are characters; empty before
        the first text.
    """

    def __init__(
        self, channels: Iterable[Channel], lexicons: Mapping[str, Sequence[Entry]]
    ) -> None:
        # By column, the tokens of the longest strings whose accessor variety is read.
        self.longest: dict[int, int] = {}
        self._uses: list[tuple[str, int]] = []  # (lexicon, column)
        for name, column in channels:
            if variety := _VARIETY.match(name):
                self.longest[column] = max(int(variety[1]), self.longest.get(column, 0))
            elif (lexicon := lexicon_of(name)) is not None:
                self._uses.append((lexicon, column))
        self._entries = lexicons
        self.lexicon_columns = {column for _, column in self._uses}
        self.are_read = bool(self.longest or self._uses)
        # By lexicon, and whether it is of characters; copies share it.
        self._lexicons: dict[tuple[str, bool], Lexicon] = {}
        self.trained: dict[int, AccessorVariety] = {}
        self.adapted: dict[int, AccessorVariety] | None = None
        self.characters: dict[int, bool] = {}

    def learn(self, columns: list[list[str]], token: np.ndarray) -> None:
        """Take the statistics of a training text, unless there are some already."""
        if self.longest and not self.trained:
            self.trained = self.statistics(columns, token)
        if self._uses and not self.characters:
            self.characters = {
                c: are_characters(columns[c]) for c in sorted(self.lexicon_columns)
            }

    def statistics(
        self, columns: list[list[str]], token: np.ndarray
    ) -> dict[int, AccessorVariety]:
        """Count the accessor varieties of a text, {column: :class:`AccessorVariety`}.

        Parameters
        ----------
        columns : list of lists of str
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts.
        """
        return {
            c: AccessorVariety(minimum=2).fit_flat(columns[c], token)
            for c in self.longest
        }

    def ids(
        self, columns: list[list[str]], token: np.ndarray
    ) -> dict[Channel, np.ndarray]:
        """Compute the value ids of all functions.

        Parameters
        ----------
        columns : list of lists of str
            N tokens each.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts.

        Returns
        -------
        dict of (function name, column) to ndarray of shape (N,), int32

        Raises
        ------
        ValueError
            If accessor varieties are asked for and no text was counted.
        """
        out = {}
        statistics = self.trained if self.adapted is None else self.adapted
        for column, longest in self.longest.items():
            tokens = columns[column]
            found = [np.zeros((3, 0), np.uint8)] * longest
            if tokens and column not in statistics:
                raise ValueError(
                    "the templates read accessor varieties, and there are no "
                    "statistics "
                    "of any text yet: fit the model, or adapt it to a text"
                )
            if tokens:
                found = statistics[column].buckets(tokens, token, longest)
            for n, parts in enumerate(found, 1):
                out[f"av{n}", column] = _varieties(parts)
        for name, column in self._uses:
            key = name, self.characters.get(column, False)
            if key not in self._lexicons:
                self._lexicons[key] = Lexicon(self._entries[name], key[1])
            marks = self._lexicons[key].match(columns[column], token)
            out[f"lex_{name}", column] = marks.astype(np.int32)
        return out


def _varieties(parts: np.ndarray) -> np.ndarray:
    """Ids of ``%av``: place in, and bucket of, the most varied string around each
    token.

    Among equals the token is rather the first of a string than the last, and rather the
    last than inside.
    """
    first, inside, last = parts.astype(np.int32)
    best = np.maximum(np.maximum(first, inside), last)
    place = np.where(first == best, 0, np.where(last == best, 1, 2))
    return np.where(best > 0, 3 * (best - 1) + place + 1, 0).astype(np.int32)


def _letters_of(entry: str) -> list[str]:
    return list("".join(entry.split()))


def entries_in_tokens(
    entries: Iterable[Entry], characters: bool
) -> list[Sequence[str]]:
    """Split the entries of a :class:`Lexicon` into tokens.

    A str stands for its characters, white space left out, or for its words.
    """
    split: Callable[[str], list[str]] = str.split
    if characters:
        split = _letters_of
    return [entry if isinstance(entry, tuple) else split(entry) for entry in entries]


class FoldedEntries(tuple[Entry, ...]):
    """Entries of a lexicon in which case, width and normal form of tokens make no
    difference.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FoldedEntries) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)


def entries_of(lexicon: PublicLexicon, where: str) -> FoldedEntries | list[str]:
    """Return the entries of a `skstruct.Lexicon`, whose marks are features.

    Raises
    ------
    ValueError
        If it has patterns, or entries of several types, which the marks do not tell
        apart.
    """
    if lexicon.patterns:
        raise ValueError(f"{where}: patterns of a Lexicon cannot be features")
    refuse_several_types([kinds for _, kinds in lexicon.entries], where)
    entries = [entry for entry, _ in lexicon.entries]
    return FoldedEntries(entries) if lexicon.ignore_case else entries


def refuse_several_types(types: Iterable[Any], where: str) -> None:
    """Raise unless all entries have one type: marks of a lexicon do not tell them
    apart.
    """
    if len(set(map(repr, types))) > 1:
        raise ValueError(
            f"{where}: the entries have several types, which its marks do not tell "
            "apart: use a lexicon for each type"
        )


class Lexicon:
    """Entries to be found in sequences of tokens.

    Parameters
    ----------
    entries : iterable of str or of tuple of str
        From `as_entries`.
    characters : bool
        Whether tokens are characters. A str entry then stands for its characters, white
        space left out; else for its words, what ``str.split`` makes of it.
    """

    def __init__(self, entries: Iterable[Entry], characters: bool) -> None:
        sequences = entries_in_tokens(entries, characters)
        self._is_folded = isinstance(entries, FoldedEntries)
        if self._is_folded:
            sequences = [list(map(folded, tokens)) for tokens in sequences]
        ids, self._alphabet = Alphabet().interned(flatten(sequences))
        self._trie = Trie(ids, offsets_of(lengths_of(sequences)))

    def match(self, flat: Sequence[str], token: np.ndarray) -> np.ndarray:
        """Find the entries in sequences of tokens.

        Parameters
        ----------
        flat : list of str
            N tokens.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts.

        Returns
        -------
        ndarray of shape (N,), uint8
            For each token its mark, a position in `MARKS`.
        """
        if self._is_folded:
            flat = list(map(folded, flat))
        return self._trie.match(self._alphabet.lookup(flat), token)


def are_characters(flat: Sequence[str]) -> bool:
    """Tell whether a column of a corpus holds characters.

    It does if over half of its tokens are of length 1.
    """
    return 2 * sum(map((1).__eq__, map(len, flat))) > len(flat)


def as_entries(entries: Any, where: str) -> tuple[Entry, ...]:
    """Check the entries of a lexicon: distinct ones, sorted.

    Raises
    ------
    ValueError
        If an entry is neither a str nor a tuple of str, or is empty. The message starts
        with ``where``.
    """
    if isinstance(entries, (str, bytes)) or not hasattr(entries, "__iter__"):
        raise ValueError(
            f"{where} must be a list of str or of tuples of str, got "
            f"{describe(entries)}"
        )
    checked = set()
    for k, entry in enumerate(entries):
        parts = (entry.strip(),) if isinstance(entry, str) else entry
        if not (
            isinstance(parts, (tuple, list))
            and parts
            and all(isinstance(p, str) and p for p in parts)
        ):
            text = (
                f"entry {k} must be a str or a tuple of str, and not empty, got "
                f"{describe(entry)}"
            )
            raise ValueError(f"{where}: {text}")
        checked.add(str(entry) if isinstance(entry, str) else tuple(map(str, entry)))
    return tuple(sorted(checked, key=lambda e: (isinstance(e, tuple), e)))


# --------------------------------------------------------------------------------------
# Entries found in sequences: maximum matching
# --------------------------------------------------------------------------------------
@kernel
def _plant(
    table: np.ndarray, ids: np.ndarray, start: np.ndarray, ends: np.ndarray
) -> int:
    """Grow the trie by the entries ``ids[start[i]:start[i + 1]]``; returns the number
    of nodes.

    ``table`` has to have room; ``ends`` (n_nodes,) uint8 is set to 1 where an entry
    ends. Node 0 is the root.
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
def _match(
    table: np.ndarray,
    ends: np.ndarray,
    ids: np.ndarray,
    token: np.ndarray,
    mark: np.ndarray,
) -> None:
    """Mark the leftmost-longest matches of each sequence; ids of -1 are in no entry."""
    for i in range(token.shape[0] - 1):
        stop = token[i + 1]
        t = token[i]
        while t < stop:
            node = np.int64(0)
            longest = np.int64(0)
            k = t
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

    def __init__(self, ids: np.ndarray, start: np.ndarray) -> None:
        self._table = grown(empty_table(), ids.shape[0])
        self._ends = np.zeros(ids.shape[0] + 1, np.uint8)
        _plant(self._table, ids, start, self._ends)

    def match(self, ids: np.ndarray, token: np.ndarray) -> np.ndarray:
        """Find the entries in sequences of ids.

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


def find_words(pieces: Sequence[Sequence[str]], words: Sequence[str]) -> np.ndarray:
    """Find the words of a dictionary in texts, by maximum matching.

    From left to right the longest word that begins at a character is taken, and the
    search goes on behind it; none reaches over white space.

    Parameters
    ----------
    pieces : list of lists of str
        From `skstruct._data.segmented.as_pieces`.
    words : list of str
        From `skstruct._data.segmented.as_dictionary`.

    Returns
    -------
    ndarray of shape (T,), uint8
        For each character that is not white space its position in `MARKS`.
    """
    trie = Trie(
        codes_of("".join(words)).astype(np.int32), offsets_of(lengths_of(words))
    )
    parts = flatten(pieces)
    return trie.match(
        codes_of("".join(parts)).astype(np.int32), offsets_of(lengths_of(parts))
    )


# --------------------------------------------------------------------------------------
# In files; the entries of lexicons are part of the templates
# --------------------------------------------------------------------------------------
def _statistics(f: Members) -> tuple[int, AccessorVariety]:
    """(column, its :class:`AccessorVariety`)."""
    return f["column"], AccessorVariety(f["minimum"]).set(
        f["tokens"], f["pairs"], f["varieties"], f.where
    )


def _shorter(f: Members, done: list[Any]) -> dict[str, Any]:
    """The strings that the next longer ones begin with."""
    return {"strings one shorter": [f["tokens"], *done][-1]}


def _strings(f: Members, done: list[Any]) -> dict[str, Any]:
    """The strings whose varieties are the next."""
    return {"strings": [f["tokens"], *f["pairs"]][len(done)]}


_PAIRS = array("int32", None, 2, low=0, high=("strings one shorter", "tokens"))

STATISTICS = Table(
    "Accessor varieties",
    Field("column", integer()),
    Field("minimum", integer(1)),
    Field("tokens", alphabet, of="alphabet"),
    Field("pairs", each(_PAIRS, length=LONGEST - 1, given=_shorter)),
    Field(
        "varieties",
        each(array("int32", "strings", low=0), length=LONGEST, given=_strings),
    ),
    make=_statistics,
)


def _contexts(f: Members) -> Contexts:
    """The encoder's :class:`.contexts.Contexts`, filled."""
    contexts = f["encoder"].contexts
    varieties = set(contexts.longest)
    lexicons = contexts.lexicon_columns
    for name, expected in (
        ("trained", varieties),
        ("adapted", varieties),
        ("characters", lexicons),
    ):
        if f[name] is not None:
            found = dict(f[name])
            ok = set(found) == expected and len(found) == len(f[name])
            require(
                ok,
                f"{f.where}.{name}: the templates read the columns {sorted(expected)}",
            )
            setattr(contexts, name, found)
    return contexts


def _by_column(
    statistics: dict[int, AccessorVariety] | None,
) -> list[dict[str, Any]] | dict[int, AccessorVariety] | None:
    return statistics and [
        {"column": column, **vars(item)} for column, item in statistics.items()
    ]


_STATISTICS = each(STATISTICS, lambda f, k, item: item["column"])

CONTEXTS = Table(
    "`contexts` of templates",
    Field(
        "trained", _STATISTICS, of=lambda contexts: _by_column(contexts.trained) or []
    ),
    Field(
        "adapted",
        optional(_STATISTICS),
        of=lambda contexts: _by_column(contexts.adapted),
    ),
    Field(
        "characters",
        each(pair(integer(), flag)),
        of=lambda contexts: list(contexts.characters.items()),
    ),
    make=_contexts,
)
