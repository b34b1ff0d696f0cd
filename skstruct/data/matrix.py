"""Sequences whose tokens are rows of numbers: one matrix for all tokens, and where sequences end.

Rows stand in one matrix, dense or in compressed sparse rows (CSR), so that encoding and slicing are a few
operations of numpy for the whole corpus. A :class:`SequenceMatrix` behaves as the list of its sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .frames import SequenceFrame, as_matrix, grouped, parts_of
from .places import describe
from .sequences import TokenTable
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


class SequenceMatrix(TokenTable):
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

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, or None."""
        return None if self.names is None else tuple(self.names.all())

    def _rows(self, rows):
        if not sparse.issparse(self.matrix):
            return self.matrix[rows]
        indptr = self.matrix.indptr
        first, last = indptr[rows.start], indptr[rows.stop]
        start = indptr[rows.start : rows.stop + 1] - first
        parts = self.matrix.data[first:last], self.matrix.indices[first:last], start
        return type(self.matrix)(parts, shape=(rows.stop - rows.start, self.matrix.shape[1]), copy=False)

    def _picked(self, rows, lengths):
        matrix = self._rows(rows) if isinstance(rows, slice) else self.matrix[rows]
        return assembled(matrix, lengths, self.names, self.column_info)

    def flat(self):
        """All tokens."""
        return Rows(self.matrix, self.names, self.column_info)

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.matrix) else "dense"
        N, F = self.matrix.shape
        return f"SequenceMatrix of {len(self)} sequences, {N} {kind} rows of {F} columns"

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
    X.matrix, X.names, X.column_info = matrix, names, column_info
    X._cut(lengths)


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
