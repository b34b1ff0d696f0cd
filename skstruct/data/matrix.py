"""Sequences whose tokens are rows of numbers: one matrix for all tokens, and where sequences end.

Rows stand in one matrix, dense or in compressed sparse rows (CSR), so that encoding and slicing are a few
operations of numpy for the whole corpus. A :class:`SequenceMatrix` behaves as the list of its sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .frames import SequenceFrame, as_matrix, grouped, one_column, parts_of, split_at
from .places import describe
from .tables import check_finite, checked_names, unpadded


class ColumnInfo(NamedTuple):
    """What a matrix says besides its values, if some columns are encoded features of tokens, or are dense."""

    bigram: bool  # whether the label bigram is a feature
    fields: NDArray[np.int32] | None  # (columns,) what each column looks at, as a number
    dense: NDArray[np.bool_] | None = None  # (columns,) which are dense data among others that are sparse


class FeatureNames:
    """The names of columns, shared by matrices and models; made when they are first asked for.

    Parameters
    ----------
    names : list of str, optional
    make : callable, optional
        Returns them.
    """

    def __init__(self, names: list[str] | None = None, make: Callable[[], list[str]] | None = None) -> None:
        self._names, self._make = names, make

    def all(self) -> list[str]:
        """All names, by column; not to be changed."""
        if self._names is None:
            assert self._make is not None
            self._names, self._make = self._make(), None
        return self._names

    def differs(self, other: FeatureNames | None) -> int | None:
        """The first column whose name is another one in ``other``; None if all agree or some are unknown."""
        if other is None or other is self or self.all() == other.all():
            return None
        pairs = zip(self.all(), other.all())
        return next((c for c, (mine, theirs) in enumerate(pairs) if mine != theirs), None)

    def __reduce__(self) -> Any:
        # As arrays: processes of joblib share these, where a list would be pickled for each task.
        parts = [name.encode("utf-8", "surrogatepass") for name in self.all()]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        return _names_of, (np.frombuffer(b"".join(parts), np.uint8), ends)


def _names_of(letters, ends):
    """The :class:`FeatureNames` that were pickled."""

    def make():
        data, stops = letters.tobytes(), ends.tolist()
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *stops], stops)]

    return FeatureNames(make=make)


class Rows:
    """The tokens of some sequences, one row each."""

    __slots__ = ("column_info", "matrix", "names")

    def __init__(self, matrix, names, column_info):
        self.matrix, self.names, self.column_info = matrix, names, column_info

    def __len__(self):
        return self.matrix.shape[0]

    def __getitem__(self, k):
        return Rows(self.matrix[k : k + 1], self.names, self.column_info)

    def __repr__(self):
        return f"a row of {self.matrix.shape[1]} numbers"


class SequenceMatrix:
    """Sequences whose tokens are rows of numbers, as one matrix and their lengths.

    It behaves as the list of its sequences: it has a length, can be iterated over and sliced, and all of
    scikit-learn that splits lists splits it. Rows are not copied where a slice is contiguous.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (n_tokens, n_columns), or DataFrame
        The rows of all tokens, sequence after sequence. bool, integers and floats; what is sparse is kept as
        CSR, with sorted columns and no duplicates.
    lengths : array-like of shape (n_sequences,)
        Rows of each sequence; they add up to ``n_tokens``.
    feature_names : list of str of length n_columns, optional
        Names of the columns; those of a DataFrame by default.

    Attributes
    ----------
    matrix : ndarray or csr_matrix or csr_array of shape (n_tokens, n_columns)
    lengths : ndarray of shape (n_sequences,), int64
    offsets : ndarray of shape (n_sequences + 1,), int64
        Where each sequence begins and the last one ends.
    feature_names : tuple of str or None
    shape : tuple
        ``(n_sequences,)``

    Raises
    ------
    ValueError
        If the lengths do not fit, or a value is not finite; the message names sequence, position and column.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import SequenceMatrix, StructuredPerceptron
    >>> X = SequenceMatrix(np.eye(3)[[0, 1, 2, 1, 0]], lengths=[3, 2])
    >>> len(X), X[1].shape
    (2, (2, 3))
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, [["a", "b", "c"], ["b", "a"]])
    >>> tagger.predict(X[:1])
    [['a', 'b', 'c']]
    """

    matrix: Any
    lengths: NDArray[np.int64]
    offsets: NDArray[np.int64]
    names: FeatureNames | None
    column_info: ColumnInfo | None

    def __init__(
        self, matrix: Any, lengths: ArrayLike, *, feature_names: Collection[str] | None = None
    ) -> None:
        matrix, names = as_matrix(matrix)
        given = np.asarray(lengths)
        if given.ndim != 1 or given.dtype.kind not in "iu" and given.size:
            raise ValueError(f"lengths must be a list of integers, got {describe(lengths)}")
        given = given.astype(np.int64)
        if (given < 0).any():
            i = int((given < 0).argmax())
            raise ValueError(f"lengths must not be negative, got {given[i]} for sequence {i}")
        if given.sum() != matrix.shape[0]:
            raise ValueError(f"lengths add up to {given.sum()}, but the matrix has {matrix.shape[0]} rows")
        if feature_names is not None:
            names = checked_names(feature_names, matrix.shape[1])
        _assign(self, matrix, given, None if names is None else FeatureNames(names), None)
        check_finite(self)

    # -- a list of sequences -----------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int]:
        """``(n_sequences,)``"""
        return (self.lengths.shape[0],)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, or None."""
        return None if self.names is None else tuple(self.names.all())

    def __len__(self) -> int:
        return int(self.lengths.shape[0])

    def __iter__(self) -> Iterator[Any]:
        bounds = self.offsets.tolist()
        return (_between(self.matrix, a, b) for a, b in zip(bounds, bounds[1:]))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):  # X[key, ...] is how scikit-learn slices what has a shape
            rest = [part for part in key if part is not Ellipsis]
            if len(rest) > 1:
                raise IndexError(f"a SequenceMatrix has one dimension, got {len(rest)} indices")
            key = rest[0] if rest else slice(None)
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            i = range(len(self))[key]
            return _between(self.matrix, int(self.offsets[i]), int(self.offsets[i + 1]))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                matrix = _between(self.matrix, int(self.offsets[start]), int(self.offsets[stop]))
                return assembled(matrix, self.lengths[start:stop], self.names, self.column_info)
            key = np.arange(start, stop, step)
        return self._taken(_positions(key, len(self)))

    def _taken(self, which):
        lengths = self.lengths[which]
        ends = np.cumsum(lengths)
        n = int(ends[-1]) if ends.shape[0] else 0
        rows = np.arange(n) + np.repeat(self.offsets[which] - ends + lengths, lengths)
        return assembled(self.matrix[rows], lengths, self.names, self.column_info)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        array = np.empty(len(self), dtype=object)
        for i, sequence in enumerate(self):
            array[i] = sequence
        return array

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.matrix) else "dense"
        N, F = self.matrix.shape
        return f"SequenceMatrix of {len(self)} sequences, {N} {kind} rows of {F} columns"

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
        return split_at(self.offsets, values)

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
        return one_column(self.lengths, values)

    # -- from other containers ---------------------------------------------------------------------
    @classmethod
    def from_padded(cls, X: ArrayLike, mask: ArrayLike | None = None) -> SequenceMatrix:
        """Sequences from an array in which shorter ones are filled up.

        Parameters
        ----------
        X : array-like of shape (n_sequences, n_positions, n_columns)
        mask : array-like of shape (n_sequences, n_positions), bool, optional
            True where there is a token; the tokens of a sequence are neighbours. By default the rows at the
            end of a sequence that are NaN throughout are not part of it, and NaN elsewhere is an error.

        Returns
        -------
        SequenceMatrix
        """
        return cls(*unpadded(X, mask))

    @classmethod
    def from_frame(
        cls, df: Any, by: str, *, columns: Collection[str] | None = None, label: str | None = None
    ) -> Any:
        """Sequences from a table with one row a token.

        Parameters
        ----------
        df : pandas or polars DataFrame
            A LazyFrame is collected. The order of the rows is kept.
        by : str
            The column that tells sequences apart. Rows of a sequence are neighbours.
        columns : list of str, optional
            The columns to learn from; by default all others.
        label : str, optional
            The column of the labels. Tokens whose label is missing have none.

        Returns
        -------
        SequenceMatrix or SequenceFrame
            The latter if some columns hold strings or categories: these are for templates, ``%x[0,0]`` the
            first of them, and the numbers are rows. Or, with ``label``, the pair ``(X, y)``, where ``y`` is a
            list of lists of labels.

        Raises
        ------
        ValueError
            If a column is missing, holds neither numbers nor strings, or lacks a value, or if the rows of a
            sequence are not neighbours.

        Examples
        --------
        >>> import pandas
        >>> df = pandas.DataFrame({"s": [1, 1, 2], "word": ["the", "dog", "dogs"], "tag": ["D", "N", "N"]})
        >>> from skstruct import SequenceMatrix, StructuredPerceptron
        >>> X, y = SequenceMatrix.from_frame(df, "s", label="tag")
        >>> tagger = StructuredPerceptron(["U0:%x[0,0]"], random_state=0).fit(X, y)
        >>> df.assign(found=X.column(tagger.predict(X)))["found"].tolist()
        ['D', 'N', 'N']
        """
        frame, lengths, labels = grouped(df, by, columns, label)
        X: Any = SequenceFrame(frame, lengths)
        block, names, strings, _ = parts_of(frame, X.offsets)
        X = X if strings else cls(block, lengths, feature_names=names)
        return X if label is None else (X, X.split(labels))


def _assign(X, matrix, lengths, names, column_info):
    X.matrix, X.lengths, X.names, X.column_info = matrix, lengths, names, column_info
    X.offsets = np.zeros(lengths.shape[0] + 1, np.int64)
    np.cumsum(lengths, out=X.offsets[1:])


def assembled(matrix, lengths, names=None, column_info=None):
    """A :class:`SequenceMatrix` of parts that need no check.

    Parameters
    ----------
    matrix : ndarray, float32 or float64, or CSR
    lengths : ndarray, int64
    names : FeatureNames, optional
    column_info : ColumnInfo, optional
    """
    X = SequenceMatrix.__new__(SequenceMatrix)
    _assign(X, matrix, lengths, names, column_info)
    return X


def _between(matrix, a, b):
    """The rows a to b, without a copy."""
    if not sparse.issparse(matrix):
        return matrix[a:b]
    first, last = matrix.indptr[a], matrix.indptr[b]
    parts = matrix.data[first:last], matrix.indices[first:last], matrix.indptr[a : b + 1] - first
    return type(matrix)(parts, shape=(b - a, matrix.shape[1]), copy=False)


def _positions(key, n):
    """The positions that a list of indices or a mask means."""
    found = np.asarray(key)
    if found.ndim != 1:
        raise IndexError(f"expected an index, a slice, or a list of indices or of bool, got {describe(key)}")
    if found.dtype == bool:
        if found.shape[0] != n:
            raise IndexError(f"the mask has {found.shape[0]} entries for {n} sequences")
        return np.flatnonzero(found)
    if not found.shape[0]:
        return np.zeros(0, np.int64)
    if found.dtype.kind not in "iu":
        raise IndexError(f"expected indices or a mask, got {describe(key)}")
    if found.max() >= n or found.min() < -n:
        raise IndexError(f"an index is out of range for {n} sequences")
    return np.where(found < 0, found + n, found)
