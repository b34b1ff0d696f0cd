"""The corpus: what all tokens are behind their door, blocks with one row a token.

:func:`.inputs.as_tokens` makes it of whatever users hand over; nothing behind it asks
for containers again. What reads a corpus declares what it reads: see :mod:`.reads`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Set
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar

import numpy as np
from scipy import sparse

from .places import (
    PLACE,
    PlaceError,
    as_objects,
    by_sequence,
    counted,
    describe,
    offsets_of,
    ranges,
)
from .reads import ColumnInfo, FeatureNames, joined_runs, mask_of, names_of_all

if TYPE_CHECKING:
    from ..features.base import Encoder
    from .types import Self


T = TypeVar("T")

STRINGS = "strings"
FEATURES = "features"
SPARSE = "sparse"
DENSE = "dense"
FRAME = "frame"
"""Kinds of blocks: str and tuples of str; dicts, lists, sets of features; rows of
numbers, CSR or array; rows of a data frame, which only transformers read.
"""

TABLE = "table"
"""Rows of an array of objects, which users see and transformers read; it is shown, and
never a block.
"""

OTHER = "tokens of another kind"
"""The kind of tokens that are none of these."""

_CALLED = {
    (STRINGS,): "strings or tuples of strings",
    (FEATURES,): "a dict or a list of features",
    (DENSE, STRINGS): "strings with numbers",
    (OTHER,): OTHER,
    **dict.fromkeys([(SPARSE,), (DENSE,), (DENSE, SPARSE)], "rows of numbers"),
}
"""The names of tokens in errors, by the kinds of its blocks."""


class Block(NamedTuple):
    """One part of the tokens: a row for each."""

    kind: str
    # A list of strings or features, CSR, an array (N, F) of float32 or float64, or a
    # data frame.
    rows: Any
    # FeatureNames of columns; of strings in a frame a tuple; None where there are none.
    names: Any = None
    info: ColumnInfo | None = None
    like: Any = (
        None  # the first token of a list, which all resemble, in a piece of it too
    )

    def take(self, rows: slice | np.ndarray) -> Block:
        """Return those of a slice, without a copy, or of an array of numbers."""
        found = self.rows
        if isinstance(found, list):
            found = (
                found[rows]
                if isinstance(rows, slice)
                else [found[k] for k in rows.tolist()]
            )
        elif self.kind == SPARSE and isinstance(rows, slice):
            start = found.indptr[rows.start : rows.stop + 1]
            some = slice(start[0], start[-1])
            parts = found.data[some], found.indices[some], start - start[0]
            found = type(found)(
                parts, shape=(rows.stop - rows.start, found.shape[1]), copy=False
            )
        else:
            found = rows_of(found, rows)
        return self._replace(rows=found)


def called_by_kind(*kinds: str) -> str | None:
    """Return what errors call the tokens of blocks of some kinds."""
    return _CALLED.get(kinds)


def rows_of(table: Any, key: Any) -> Any:
    """Return rows of a data frame, a matrix or a list, by position."""
    return table.iloc[key] if hasattr(table, "iloc") else table[key]


def number_block(
    matrix: Any, names: FeatureNames | None = None, info: ColumnInfo | None = None
) -> Block:
    """Return the block of a matrix, dense or CSR; ``info`` if its columns are encoded
    features.
    """
    return Block(SPARSE if sparse.issparse(matrix) else DENSE, matrix, names, info)


def kind_of_token(token: Any) -> str:
    """Return the kind of block that a token of a list belongs to."""
    if isinstance(token, (str, tuple)):
        return STRINGS
    return FEATURES if isinstance(token, (dict, list, Set)) else OTHER


def _placed(
    runs: tuple[int, ...], columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(run, place) of columns that are numbered dense ones first, then sparse ones."""
    # The runs in that order.
    which = np.array([*range(0, len(runs), 2), *range(1, len(runs), 2)])
    lengths = np.array(runs, np.int64)
    ends = np.cumsum(lengths[which])
    at = np.searchsorted(ends, columns, side="right")
    shift = (np.cumsum(lengths) - lengths)[which] - (ends - lengths[which])
    return which[at], columns + shift[at]


class _once(Generic[T]):
    """A property that is made when it is first asked for, and kept, without
    cached_property's lock.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make = make
        self.name = make.__name__

    def __get__(self, corpus: Any, owner: type | None) -> T:
        if corpus is None:
            return self  # type: ignore[return-value] # of the class: the property itself
        found = corpus.__dict__[self.name] = self.make(corpus)
        return found


class TokenCorpus(ABC):
    """Sequences of tokens, in one or two blocks of one row a token. It never changes.

    It behaves as the list of its sequences, in the user's own form: it has a length,
    can be iterated over and sliced, and all of scikit-learn that splits lists splits
    it. Tokens stand in lists (:class:`ListCorpus`) or in blocks (:class:`BlockCorpus`).
    """

    # -- what lists and blocks answer in ways of their own -----------------------------
    @property
    @abstractmethod
    def lengths(self) -> np.ndarray:
        """(n_sequences,) int64: tokens of each sequence."""

    @property
    @abstractmethod
    def offsets(self) -> np.ndarray:
        """(n_sequences + 1,) int64: where each sequence begins, and the last one
        ends.
        """

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The parts of the tokens; empty if nothing is known of these, since there are
        none.
        """

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Those of the blocks."""

    @property
    @abstractmethod
    def tokens(self) -> list[Any]:
        """The tokens that are no rows of numbers, as one list."""

    @property
    @abstractmethod
    def like(self) -> Any:
        """The token that all of these resemble; None if there is none."""

    @property
    @abstractmethod
    def shown(self) -> Block | None:
        """The block that a user sees; None if it is several."""

    @property
    @abstractmethod
    def runs(self) -> tuple[int, ...]:
        """Runs of dense and sparse columns of numbers, see :func:`.reads.runs_of`."""

    @property
    @abstractmethod
    def matrix(self) -> Any:
        """All numbers in one matrix, sparse if a block is; None if there are none."""

    @property
    @abstractmethod
    def names(self) -> FeatureNames | None:
        """The names of the columns of ``matrix``; None if some are not known."""

    @property
    @abstractmethod
    def info(self) -> ColumnInfo | None:
        """Return what is known of columns that are encoded features; None of other
        columns.
        """

    @abstractmethod
    def for_users(self) -> TokenCorpus | list[Any]:
        """Return the corpus as a user's scorer or callback sees it: a list, if it was
        one.
        """

    @abstractmethod
    def lists(self) -> list[Any]:
        """Return the tokens that are no rows of numbers, as lists; of others as the
        user sees them.
        """

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @abstractmethod
    def __getitem__(self, key: Any) -> Any: ...

    @abstractmethod
    def emptied(self, keep: np.ndarray) -> TokenCorpus:
        """Return the sequences, with those emptied for which ``keep``, a bool each, is
        False.
        """

    # -- what follows from these -------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} cannot be changed; make another one"
        )

    def block(self, kind: str) -> Block | None:
        """Return the block of a kind, or None."""
        return next((block for block in self.blocks if block.kind == kind), None)

    def only(self, *kinds: str) -> TokenCorpus:
        """Return a corpus of some of the blocks, which is seen as they are."""
        return BlockCorpus.of(
            tuple(block for block in self.blocks if block.kind in kinds), self.lengths
        )

    @property
    def called(self) -> str | None:
        """Return what errors call the tokens; None if there are none."""
        return _CALLED.get(self.kinds)

    @property
    def is_frame(self) -> bool:
        """Tell whether the tokens are rows of a data frame, which only transformers
        read.
        """
        return self.kinds == (FRAME,)

    @property
    def numbers(self) -> tuple[Block, ...]:
        """The blocks of numbers, as a tuple."""
        return tuple(block for block in self.blocks if block.kind in (DENSE, SPARSE))

    @property
    def is_dense(self) -> np.ndarray:
        """(F,) bool: which columns of numbers are dense."""
        return mask_of(self.runs)

    def encoder_of(self, settings: Any, make: Callable[[], Encoder]) -> Encoder:
        """Return the encoder that a fit on this corpus begins with: as a rule a new one,
        which ``make`` makes. ``settings`` are all that decides what it is.
        """
        return make()

    def encoded_by(self, encoder: Encoder, grow: bool = False) -> Any:
        """Return what an encoder made of it before; None if nothing is kept.

        ``grow``: what it made for training, with all features numbered.
        """
        return None

    def keep_encoded(self, encoder: Encoder, encoded: Any) -> None:
        """Take note of what an encoder has made of it: nothing is kept as a rule."""
        del encoder, encoded

    @property
    def shape(self) -> tuple[int]:
        """``(n_sequences,)``"""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.lengths)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return as_objects(list(self))

    def _chosen(self, key: Any) -> np.ndarray:
        """Return the numbers of the sequences that an index means, or one number as an
        array without dimensions.
        """
        which = np.arange(len(self))[key]
        if which.ndim > 1:
            raise IndexError(
                f"a {type(self).__name__} has one dimension, got the index "
                f"{describe(key)}"
            )
        return which

    def piece(self, first: int, last: int) -> TokenCorpus:
        """Return the sequences from ``first`` on, before ``last``; itself if these are
        all.
        """
        return self if last - first == len(self) else self[first:last]

    def take(self, sequences: Collection[int]) -> TokenCorpus:
        """Return the sequences at some positions."""
        return self[np.asarray(sequences, np.int64)]

    def blanked(self, empty: Collection[int]) -> TokenCorpus:
        """Return the sequences, with those at the positions in ``empty`` emptied."""
        if not len(empty):
            return self
        keep = np.ones(len(self), np.bool_)
        keep[list(empty)] = False
        return self.emptied(keep)

    def split(self, values: Any) -> list[Any]:
        """Return flat values, one a token, by sequence.

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
            raise ValueError(
                f"values must be a list or an array, got {describe(values)}"
            )
        if hasattr(values, "iloc") or hasattr(values, "to_numpy"):
            values = values.to_numpy()
        n = int(self.offsets[-1])
        if len(values) != n:
            raise ValueError(
                f"values must have one entry a token, {n}, got {len(values)}"
            )
        return by_sequence(values, self.offsets)

    def column(self, values: Any) -> list[Any]:
        """Return values by sequence, one a token, in one list: what was predicted, as a
        column of a table.

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
            raise ValueError(
                f"values must have one list a sequence, {len(self)}, got {len(values)}"
            )
        for i, (n, part) in enumerate(zip(self.lengths.tolist(), values)):
            if len(part) != n:
                wrong = (
                    f"{PLACE} has {counted(n, 'token')}, got "
                    f"{counted(len(part), 'value')}"
                )
                raise PlaceError(i, None, wrong, "values")
        return [value for part in values for value in part]


class ListCorpus(TokenCorpus):
    """Sequences that are lists of tokens of one kind, as users hand them over.

    Parameters
    ----------
    sequences : list of sequences
    kinds : tuple of str
        The kind of the tokens; empty if there are none.
    like : object
        The first token.
    """

    def __init__(self, sequences: list[Any], kinds: tuple[str, ...], like: Any) -> None:
        vars(self).update(_sequences=sequences, kinds=kinds, like=like)

    _sequences: list[Any]
    kinds: tuple[str, ...] = ()
    like: Any = None
    # Lists hold no numbers.
    runs = joined_runs(())
    matrix = None
    names = None
    info = None

    @classmethod
    def of(cls, sequences: list[Any], first: Any) -> Self:
        """Return a corpus of lists of tokens, of which ``first`` has the first token;
        None if there is none.
        """
        if first is None:
            return cls(sequences, (), None)
        return cls(sequences, (kind_of_token(first[0]),), first[0])

    @_once
    def lengths(self) -> np.ndarray:
        sequences = self._sequences
        return np.fromiter(map(len, sequences), np.int64, len(sequences))

    @_once
    def offsets(self) -> np.ndarray:
        if len(self._sequences) == 1:  # the ordinary call, of one sentence
            return np.array([0, len(self._sequences[0])], np.int64)
        return offsets_of(self.lengths)

    @_once
    def tokens(self) -> list[Any]:
        return list(chain.from_iterable(self._sequences))

    @_once
    def blocks(self) -> tuple[Block, ...]:
        return tuple(Block(kind, self.tokens, like=self.like) for kind in self.kinds)

    @property
    def shown(self) -> Block | None:
        """The only block; None if there are no tokens."""
        return self.blocks[0] if self.blocks else None

    def for_users(self) -> list[Any]:
        """Return the list of sequences."""
        return self._sequences

    def lists(self) -> list[Any]:
        """Return the list of sequences."""
        return self._sequences

    def __len__(self) -> int:
        return len(self._sequences)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sequences)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return type(self)(self._sequences[key], self.kinds, self.like)
        which = self._chosen(key)
        if which.ndim == 0:
            return self._sequences[which]
        some = [self._sequences[i] for i in which.tolist()]
        return type(self)(some, self.kinds, self.like)

    def emptied(self, keep: np.ndarray) -> TokenCorpus:
        """Return the sequences, with those emptied for which ``keep``, a bool each, is
        False; the first token that is left stands for all.
        """
        kept = [
            sequence if yes else ()
            for sequence, yes in zip(self._sequences, keep.tolist())
        ]
        first = next(filter(len, kept), None)
        if first is None:
            return type(self)(kept, self.kinds, self.like)
        return self.of(kept, first)


class BlockCorpus(TokenCorpus):
    """Sequences whose tokens are rows of one block, or of two side by side.

    Attributes
    ----------
    blocks : tuple of Block
    lengths : ndarray of shape (n_sequences,), int64
    """

    blocks: tuple[Block, ...] = ()
    lengths: np.ndarray = np.zeros(0, np.int64)
    _runs: tuple[int, ...] | None = None
    _shown: Block | None = None

    @classmethod
    def of(
        cls,
        blocks: tuple[Block, ...],
        lengths: np.ndarray,
        runs: tuple[int, ...] | None = None,
        shown: Block | None = None,
    ) -> Self:
        """Return a corpus of parts that need no check; ``shown`` is the block that a
        user sees, if it is another.
        """
        X = cls.__new__(cls)
        X.__dict__.update(blocks=blocks, lengths=lengths, _runs=runs, _shown=shown)
        return X

    @_once
    def offsets(self) -> np.ndarray:
        return offsets_of(self.lengths)

    @_once
    def tokens(self) -> list[Any]:
        block = self._listed
        return [] if block is None else block.rows

    @_once
    def kinds(self) -> tuple[str, ...]:
        return tuple(block.kind for block in self.blocks)

    @property
    def _listed(self) -> Block | None:
        """The block whose rows stand in a list, or None."""
        return next((b for b in self.blocks if isinstance(b.rows, list)), None)

    @property
    def like(self) -> Any:
        """The token that those in a list resemble; None if there is none."""
        block = self._listed
        return None if block is None else block.like

    @property
    def shown(self) -> Block | None:
        """The block that a user sees; None if it is several."""
        if self._shown is None and len(self.blocks) == 1:
            return self.blocks[0]
        return self._shown

    @property
    def runs(self) -> tuple[int, ...]:
        """Runs of dense and sparse columns of numbers, see :func:`.reads.runs_of`."""
        if self._runs is not None:
            return self._runs
        widths = [(block.kind, block.rows.shape[1]) for block in self.numbers]
        return joined_runs((n,) if kind == DENSE else (0, n) for kind, n in widths)

    @property
    def matrix(self) -> Any:
        """All numbers in one matrix, sparse if a block is; None if there are none."""
        if self._runs is None:
            return next((block.rows for block in self.numbers), None)
        # In the order in which the columns would stand side by side if all were sparse.
        found = sparse.hstack(
            [sparse.csr_matrix(block.rows) for block in self.numbers], format="csr"
        )
        run, column = _placed(self._runs, found.indices)
        row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        order = np.lexsort((run, row))
        column = column.astype(found.indices.dtype)[order]
        parts = found.data[order], column, found.indptr
        kind = next(type(b.rows) for b in self.numbers if b.kind == SPARSE)
        return kind(parts, shape=found.shape)

    @property
    def names(self) -> FeatureNames | None:
        """The names of the columns of ``matrix``; None if some are not known."""
        if self._runs is None:
            return next((block.names for block in self.numbers), None)
        return names_of_all(self._runs, *(block.names for block in self.numbers))

    @property
    def info(self) -> ColumnInfo | None:
        """Return what is known of columns that are encoded features; None of other
        columns.
        """
        return next((block.info for block in self.numbers if self._runs is None), None)

    def for_users(self) -> TokenCorpus:
        """Return the corpus itself."""
        return self

    def lists(self) -> list[Any]:
        """Return the tokens that are no rows of numbers, as lists; of others as the
        user sees them.
        """
        if self.numbers and self.like is None:
            return list(self)
        return by_sequence(self.tokens, self.offsets)

    def empty(self, lengths: np.ndarray) -> Self:
        """Return sequences without tokens, as many as there are lengths, of the kind of
        this corpus without any.
        """
        return type(self).of(self.blocks, lengths, self._runs, self._shown)

    def __iter__(self) -> Iterator[Any]:
        bounds = self.offsets.tolist()
        return map(self._seen, map(slice, bounds, bounds[1:]))

    def _seen(self, rows: slice) -> Any:
        """Return what a user sees of some tokens."""
        shown = self.shown
        if shown is not None:
            return shown.take(rows).rows
        return self._picked(rows, np.array([rows.stop - rows.start])).matrix

    def _picked(self, rows: slice | np.ndarray, lengths: np.ndarray) -> Self:
        """Return sequences of these lengths over some tokens."""
        shown = None if self._shown is None else self._shown.take(rows)
        blocks = tuple(block.take(rows) for block in self.blocks)
        return type(self).of(blocks, lengths, self._runs, shown)

    def __getitem__(self, key: Any) -> Any:
        which = self._chosen(key)
        offsets = self.offsets
        if which.ndim == 0:
            return self._seen(slice(int(offsets[which]), int(offsets[which + 1])))
        lengths = self.lengths[which]
        if which.size and (np.diff(which) == 1).all():
            return self._picked(
                slice(int(offsets[which[0]]), int(offsets[which[-1] + 1])), lengths
            )
        return self._picked(ranges(offsets[which], lengths)[1], lengths)

    def emptied(self, keep: np.ndarray) -> TokenCorpus:
        """Return the sequences, with those emptied for which ``keep``, a bool each, is
        False.
        """
        return self._picked(
            np.flatnonzero(np.repeat(keep, self.lengths)),
            np.where(keep, self.lengths, 0),
        )
