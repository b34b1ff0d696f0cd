"""What stands behind the door for tokens: one corpus, of named blocks with one row a token.

:func:`.inputs.as_tokens` makes it of whatever users hand over; nothing behind it asks for containers again.
What reads a corpus declares what it reads: see :mod:`.reads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .places import PLACE, PlaceError, as_objects, by_sequence, counted, describe, offsets_of, ranges
from .reads import ColumnInfo, FeatureNames, joined_runs, mask_of, names_of_all

STRINGS, FEATURES, SPARSE, DENSE, FRAME = "strings", "features", "sparse", "dense", "frame"
"""Kinds of blocks: str and tuples of str; dicts, lists, sets of features; rows of numbers, CSR or array;
rows of a data frame, which only transformers read."""

TABLE = "table"
"""Rows of an array of objects, which users see and transformers read; it is shown, and never a block."""

OTHER = "tokens of another kind"
"""The kind of tokens that are none of these."""

_CALLED = {
    (STRINGS,): "strings or tuples of strings",
    (FEATURES,): "a dict or a list of features",
    (DENSE, STRINGS): "strings with numbers",
    (OTHER,): OTHER,
    **dict.fromkeys([(SPARSE,), (DENSE,), (DENSE, SPARSE)], "rows of numbers"),
}
"""What errors call the tokens of a corpus, by the kinds of its blocks."""


class Block(NamedTuple):
    """One part of the tokens: a row for each."""

    kind: str
    rows: Any  # a list of strings or features; CSR; an array (N, F) of float32 or float64; a data frame
    names: Any = None  # FeatureNames of columns; of strings in a frame a tuple; None where there are none
    info: ColumnInfo | None = None
    like: Any = None  # the first token of a list, which all resemble, in a piece of it too

    def take(self, rows):
        """Those of a slice, without a copy, or of an array of numbers."""
        found = self.rows
        if isinstance(found, list):
            found = found[rows] if isinstance(rows, slice) else [found[k] for k in rows.tolist()]
        elif self.kind == SPARSE and isinstance(rows, slice):
            start = found.indptr[rows.start : rows.stop + 1]
            some = slice(start[0], start[-1])
            parts = found.data[some], found.indices[some], start - start[0]
            found = type(found)(parts, shape=(rows.stop - rows.start, found.shape[1]), copy=False)
        else:
            found = rows_of(found, rows)
        return self._replace(rows=found)


def called_by_kind(*kinds):
    """What errors call the tokens of blocks of some kinds."""
    return _CALLED.get(kinds)


def rows_of(table, key):
    """Rows of a data frame, a matrix or a list, by position."""
    return table.iloc[key] if hasattr(table, "iloc") else table[key]


def number_block(matrix, names=None, info=None):
    """The block of a matrix, dense or CSR; ``info`` if its columns are encoded features."""
    return Block(SPARSE if sparse.issparse(matrix) else DENSE, matrix, names, info)


def kind_of_token(token):
    """The kind of block that a token of a list belongs to."""
    if isinstance(token, (str, tuple)):
        return STRINGS
    return FEATURES if isinstance(token, (dict, list, Set)) else OTHER


def _placed(runs, columns):
    """(run, place) of columns that are numbered dense ones first, then sparse ones."""
    # The runs in that order.
    which = np.array([*range(0, len(runs), 2), *range(1, len(runs), 2)])
    lengths = np.array(runs, np.int64)
    ends = np.cumsum(lengths[which])
    at = np.searchsorted(ends, columns, side="right")
    shift = (np.cumsum(lengths) - lengths)[which] - (ends - lengths[which])
    return which[at], columns + shift[at]


class _once:
    """A property that is made when it is first asked for, and kept, without cached_property's lock."""

    def __init__(self, make):
        self.make, self.name = make, make.__name__

    def __get__(self, corpus, owner):
        if corpus is None:
            return self
        found = corpus.__dict__[self.name] = self.make(corpus)
        return found


class TokenCorpus:
    """Sequences of tokens, in one or two blocks of one row a token. It never changes.

    It behaves as the list of its sequences, in the user's own form: it has a length, can be iterated over
    and sliced, and all of scikit-learn that splits lists splits it.

    Attributes
    ----------
    lengths : ndarray of shape (n_sequences,), int64
        Tokens of each sequence.
    offsets : ndarray of shape (n_sequences + 1,), int64
        Where each sequence begins and the last one ends.
    blocks : tuple of Block
        Empty if nothing is known of the tokens, since there are none.
    kinds : tuple of str
        Those of the blocks.
    runs : tuple of int
        Which columns of numbers are dense: see :func:`.reads.runs_of`.
    """

    _runs = _sequences = _shown = None

    @classmethod
    def of(cls, blocks, lengths, runs=None, shown=None):
        """A corpus of parts that need no check; ``shown`` is the block that a user sees, if it is another."""
        X = cls.__new__(cls)
        X.__dict__.update(blocks=blocks, lengths=lengths, _runs=runs, _shown=shown)
        return X

    @classmethod
    def of_lists(cls, sequences, first):
        """A corpus of lists of tokens, of which ``first`` has the first token; None if there is none."""
        kinds, like = ((), None) if first is None else ((kind_of_token(first[0]),), first[0])
        return cls._listed(sequences, kinds, like)

    @classmethod
    def _listed(cls, sequences, kinds, like):
        X = cls.__new__(cls)
        X.__dict__.update(_sequences=sequences, kinds=kinds, _like=like)
        return X

    @_once
    def lengths(self):
        return np.fromiter(map(len, self._sequences), np.int64, len(self._sequences))

    @_once
    def offsets(self):
        if self._sequences is not None and len(self._sequences) == 1:  # the ordinary call, of one sentence
            return np.array([0, len(self._sequences[0])], np.int64)
        return offsets_of(self.lengths)

    @_once
    def tokens(self):
        """The tokens that are no rows of numbers, as one list."""
        if self._sequences is not None:
            return list(chain.from_iterable(self._sequences))
        return next((block.rows for block in self.blocks if isinstance(block.rows, list)), [])

    @_once
    def kinds(self):
        return tuple(block.kind for block in self.blocks)

    @_once
    def blocks(self):
        return tuple(Block(kind, self.tokens, like=self._like) for kind in self.kinds)

    def __setattr__(self, name, value):
        raise AttributeError(f"a {type(self).__name__} cannot be changed; make another one")

    # -- blocks ------------------------------------------------------------------------------------
    def block(self, kind):
        """The block of a kind, or None."""
        return next((block for block in self.blocks if block.kind == kind), None)

    def only(self, *kinds):
        """A corpus of some of the blocks, which is seen as they are."""
        return TokenCorpus.of(tuple(block for block in self.blocks if block.kind in kinds), self.lengths)

    @property
    def called(self):
        """What errors call the tokens; None if there are none."""
        return _CALLED.get(self.kinds)

    @property
    def is_frame(self):
        """Whether the tokens are rows of a data frame, which only transformers read."""
        return self.kinds == (FRAME,)

    @property
    def shown(self):
        """The block that a user sees; None if it is several."""
        return self.blocks[0] if self._shown is None and len(self.blocks) == 1 else self._shown

    @property
    def like(self):
        """The token that all of these resemble; None if there is none."""
        if self._sequences is not None:
            return self._like
        return next((block.like for block in self.blocks if isinstance(block.rows, list)), None)

    @property
    def numbers(self):
        """The blocks of numbers, as a tuple."""
        return tuple(block for block in self.blocks if block.kind in (DENSE, SPARSE))

    @property
    def runs(self):
        """Which columns of numbers are dense: see :func:`.reads.runs_of`."""
        if self._runs is not None:
            return self._runs
        widths = [(block.kind, block.rows.shape[1]) for block in self.numbers]
        return joined_runs((n,) if kind == DENSE else (0, n) for kind, n in widths)

    @property
    def is_dense(self):
        """(F,) bool: which columns of numbers are dense."""
        return mask_of(self.runs)

    @property
    def matrix(self) -> Any:
        """All numbers in one matrix, sparse if a block is; None if there are none."""
        if self._runs is None:
            return next((block.rows for block in self.numbers), None)
        # In the order in which the columns would stand side by side if all were sparse.
        found = sparse.hstack([sparse.csr_matrix(block.rows) for block in self.numbers], format="csr")
        run, column = _placed(self._runs, found.indices)
        row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        order = np.lexsort((run, row))
        column = column.astype(found.indices.dtype)[order]
        parts = found.data[order], column, found.indptr
        return type(self.block(SPARSE).rows)(parts, shape=found.shape)

    @property
    def names(self) -> FeatureNames | None:
        """The names of the columns of ``matrix``; None if some are not known."""
        if self._runs is None:
            return next((block.names for block in self.numbers), None)
        return names_of_all(self._runs, *(block.names for block in self.numbers))

    @property
    def info(self):
        """What is known of columns that are encoded features; None if these are others."""
        return next((block.info for block in self.numbers if self._runs is None), None)

    def for_users(self):
        """The corpus as a user's scorer or callback sees it: a list, if it was one."""
        return self if self._sequences is None else self._sequences

    def lists(self):
        """The tokens that are no rows of numbers, as lists; of others as the user sees them."""
        if self._sequences is not None:
            return self._sequences
        return list(self) if self.numbers and self.like is None else by_sequence(self.tokens, self.offsets)

    def empty(self, lengths):
        """Sequences without tokens, as many as there are lengths, of the kind of this corpus without any."""
        return type(self).of(self.blocks, lengths, self._runs, self._shown)

    def encoded_by(self, encoder):
        """What an encoder made of it before; None if nothing is kept."""

    # -- as a list of sequences --------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int]:
        """``(n_sequences,)``"""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.lengths if self._sequences is None else self._sequences)

    def __iter__(self) -> Iterator[Any]:
        if self._sequences is not None:
            return iter(self._sequences)
        bounds = self.offsets.tolist()
        return map(self._seen, map(slice, bounds, bounds[1:]))

    def _seen(self, rows):
        """What a user sees of some tokens."""
        shown = self.shown
        return self._picked(rows, None).matrix if shown is None else shown.take(rows).rows

    def _picked(self, rows, lengths):
        """Sequences of these lengths over some tokens."""
        shown = None if self._shown is None else self._shown.take(rows)
        blocks = tuple(block.take(rows) for block in self.blocks)
        return type(self).of(blocks, lengths, self._runs, shown)

    def __getitem__(self, key: Any) -> Any:
        if self._sequences is not None and isinstance(key, slice):
            return self._listed(self._sequences[key], self.kinds, self._like)
        which = np.arange(len(self))[key]
        if which.ndim > 1:
            raise IndexError(f"a {type(self).__name__} has one dimension, got the index {describe(key)}")
        if self._sequences is not None:
            if which.ndim == 0:
                return self._sequences[which]
            return self._listed([self._sequences[i] for i in which.tolist()], self.kinds, self._like)
        offsets = self.offsets
        if which.ndim == 0:
            return self._seen(slice(int(offsets[which]), int(offsets[which + 1])))
        lengths = self.lengths[which]
        if which.size and (np.diff(which) == 1).all():
            return self._picked(slice(int(offsets[which[0]]), int(offsets[which[-1] + 1])), lengths)
        return self._picked(ranges(offsets[which], lengths)[1], lengths)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return as_objects(list(self))

    def piece(self, first, last):
        """The sequences from ``first`` on, before ``last``; itself if these are all."""
        return self if last - first == len(self) else self[first:last]

    def take(self, sequences):
        """The sequences at some positions."""
        return self[np.asarray(sequences, np.int64)]

    def blanked(self, empty):
        """The sequences, with those at the positions in ``empty`` emptied."""
        if not len(empty):
            return self
        keep = np.ones(len(self), np.bool_)
        keep[empty] = False
        if self._sequences is not None:
            kept = [sequence if yes else () for sequence, yes in zip(self._sequences, keep.tolist())]
            first = next(filter(len, kept), None)
            return self._listed(kept, self.kinds, self._like) if first is None else self.of_lists(kept, first)
        return self._picked(np.flatnonzero(np.repeat(keep, self.lengths)), np.where(keep, self.lengths, 0))

    def split(self, values: Any) -> list[Any]:
        """Flat values, one a token, by sequence.

        Parameters
        ----------
        values : sequence of length n_tokens
            Such as labels or probabilities; arrays are sliced without a copy.

        Returns
        -------
        list
            One part for each sequence.
        """
        if not hasattr(values, "__len__") or hasattr(values, "tocsr"):
            raise ValueError(f"values must be a list or an array, got {describe(values)}")
        if hasattr(values, "iloc") or hasattr(values, "to_numpy"):
            values = values.to_numpy()
        n = int(self.offsets[-1])
        if len(values) != n:
            raise ValueError(f"values must have one entry a token, {n}, got {len(values)}")
        return by_sequence(values, self.offsets)

    def column(self, values: Any) -> list[Any]:
        """Values by sequence, one a token, in one list: what was predicted, as a column of a table.

        Parameters
        ----------
        values : list of lists
            One list for each sequence, as ``predict`` returns them.

        Returns
        -------
        list
            One value for each token.

        Examples
        --------
        >>> from skstruct import SequenceMatrix
        >>> SequenceMatrix([[1.0], [2.0], [3.0]], [2, 1]).column([["a", "b"], ["c"]])
        ['a', 'b', 'c']
        """
        values = list(values)
        if len(values) != len(self):
            raise ValueError(f"values must have one list a sequence, {len(self)}, got {len(values)}")
        for i, (n, part) in enumerate(zip(self.lengths.tolist(), values)):
            if len(part) != n:
                wrong = f"{PLACE} has {counted(n, 'token')}, got {counted(len(part), 'value')}"
                raise PlaceError(i, None, wrong, "values")
        return [value for part in values for value in part]
