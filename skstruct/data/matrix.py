"""Sequences whose tokens are rows of numbers: one matrix for all tokens, and where sequences end.

Rows stand in one matrix, dense or in compressed sparse rows (CSR), so that encoding and slicing are a few
operations of numpy for the whole corpus. A :class:`SequenceMatrix` behaves as the list of its sequences.

Tokens may have two blocks: dense rows, and sparse rows or strings beside them (:class:`MixedTokens`).
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
    """What is known of columns that are features of tokens, encoded before."""

    bigram: bool  # whether the label bigram is a feature
    template: NDArray[np.int32]  # (columns,) which template, or key, each column is of, as a number


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


def names_of_all(is_dense, dense, others):
    """The names of all columns, from those of the dense ones and of others; None if some are unknown."""
    if dense is None or others is None:
        return None
    found = np.empty(is_dense.shape[0], dtype=object)
    found[is_dense], found[~is_dense] = dense.all(), others.all()
    return FeatureNames(found.tolist())


class Rows:
    """Tokens that are the rows of one matrix, dense or CSR.

    Parameters
    ----------
    matrix : ndarray, float32 or float64, or CSR
    names : FeatureNames, optional
    column_info : ColumnInfo, optional
        If the columns are encoded features.
    """

    kind = "rows of numbers"
    """What errors call the tokens."""

    def __init__(self, matrix, names=None, column_info=None):
        self.shown = self.matrix = matrix  # what a user sees
        self.names, self.column_info = names, column_info

    def __len__(self):
        return self.matrix.shape[0]

    def __repr__(self):
        return f"a row of {self.matrix.shape[1]} numbers"

    @property
    def blocks(self):
        """The tokens in parts: dense rows, sparse rows, or both."""
        return (self,)

    @property
    def is_dense(self):
        """(columns,) bool: which columns are dense."""
        return np.full(self.matrix.shape[1], not sparse.issparse(self.matrix))

    def take(self, rows):
        """Those of a slice, without a copy, or of an array of numbers."""
        matrix = self.matrix
        if not (sparse.issparse(matrix) and isinstance(rows, slice)):
            return Rows(matrix[rows], self.names, self.column_info)
        start = matrix.indptr[rows.start : rows.stop + 1]
        some = slice(start[0], start[-1])
        parts = matrix.data[some], matrix.indices[some], start - start[0]
        found = type(matrix)(parts, shape=(rows.stop - rows.start, matrix.shape[1]), copy=False)
        return Rows(found, self.names, self.column_info)


class MixedTokens:
    """Tokens of two blocks: dense rows of numbers, and sparse rows or strings besides.

    Parameters
    ----------
    rows : Rows
        Dense.
    others : Rows, or list of str or of tuples of str
        As many.
    columns : ndarray of bool, or tuple of str
        With sparse rows, which columns of the whole are dense; the names of the columns of strings.
    """

    def __init__(self, rows, others, columns):
        self.rows, self.others, self.columns = rows, others, columns
        self.blocks, self.is_dense = (rows, others), columns
        self.are_strings = isinstance(others, list)
        self.kind = "strings with numbers" if self.are_strings else rows.kind

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        width = self.matrix.shape[1]
        return f"a token of strings with {width} numbers" if self.are_strings else f"a row of {width} numbers"

    @property
    def shown(self):
        """The strings, or all columns as one matrix."""
        return self.others if self.are_strings else self.matrix

    @property
    def matrix(self):
        """All numbers in one matrix, sparse if a block is."""
        if self.are_strings:
            return self.rows.matrix
        place = np.concatenate([np.flatnonzero(self.columns), np.flatnonzero(~self.columns)])
        found = sparse.hstack([sparse.csr_matrix(block.matrix) for block in self.blocks], format="csr")
        found.indices = place.astype(found.indices.dtype)[found.indices]
        found.sort_indices()
        return type(self.others.matrix)(found)

    @property
    def names(self):
        """The names of the columns of ``matrix``; None if some are not known."""
        if self.are_strings:
            return self.rows.names
        return names_of_all(self.columns, *(block.names for block in self.blocks))

    def take(self, rows):
        """Those of a slice, or of an array of numbers."""
        if not self.are_strings:
            others = self.others.take(rows)
        else:
            others = self.others[rows] if isinstance(rows, slice) else [self.others[k] for k in rows.tolist()]
        return MixedTokens(self.rows.take(rows), others, self.columns)


class MixedSequences(TokenTable):
    """Checked sequences whose tokens are :class:`MixedTokens` of strings; iterated over, they are strings."""


class SequenceMatrix(TokenTable):
    """Sequences whose tokens are rows of numbers, as one matrix and their lengths.

    It behaves as the list of its sequences: it has a length, can be iterated over and sliced, and all of
    scikit-learn that splits lists splits it. Rows are not copied where a slice is contiguous.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (n_tokens, n_columns), or DataFrame
        The rows of all tokens, sequence after sequence. bool, integers and floats; what is sparse is kept as
        CSR, with sorted columns and no duplicates. Masked values are missing, which is an error.
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
        self._hold(Rows(matrix, None if names is None else FeatureNames(names)), given)
        check_finite(self)

    @property
    def matrix(self) -> Any:
        """The rows of all tokens."""
        return self._tokens.matrix

    @property
    def names(self) -> FeatureNames | None:
        """As ``feature_names``, made when they are asked for."""
        found: FeatureNames | None = self._tokens.names
        return found

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, or None."""
        names = self.names
        return None if names is None else tuple(names.all())

    def __repr__(self) -> str:
        matrix = self.matrix
        kind, (N, F) = "sparse" if sparse.issparse(matrix) else "dense", matrix.shape
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
            end of a sequence that are NaN or masked throughout are not part of it, and NaN elsewhere is an
            error.

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


def assembled(matrix, lengths, names=None, column_info=None):
    """A :class:`SequenceMatrix` of parts that need no check; for these see :class:`Rows`."""
    return SequenceMatrix.of(Rows(matrix, names, column_info), lengths)
