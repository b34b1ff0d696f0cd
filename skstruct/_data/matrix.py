"""Sequences whose tokens stand in one table: what users make corpora of, and see of
them.

Rows stand in one matrix, dense or in compressed sparse rows (CSR), or in one data
frame, so that encoding and slicing are a few operations for the whole corpus. Both
behave as the list of their sequences.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .corpus import (
    DENSE,
    FRAME,
    STRINGS,
    Block,
    BlockCorpus,
    called_by_kind,
    number_block,
)
from .elements import spelled
from .places import describe, refuse_masked
from .reads import FeatureNames
from .tables import (
    as_matrix,
    check_finite,
    columns_of,
    grouped,
    numbers_of,
    parts_of,
    unpadded,
)

if TYPE_CHECKING:
    from .reads import ColumnInfo


class SequenceFrame(BlockCorpus):
    """Sequences of tokens in one data frame: ``SequenceMatrix.from_frame`` where there
    are strings.

    Its sequences are data frames. Taggers give columns of strings to templates
    and take columns of numbers as rows; ``TokenTransformer`` hands on the frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame
        The rows of all tokens, sequence after sequence.
    lengths : ndarray of shape (n_sequences,), int64
        Rows of each sequence; they add up to those of the frame.
    """

    def __init__(self, frame: Any, lengths: NDArray[np.int64]) -> None:
        vars(self).update(blocks=(Block(FRAME, frame),), lengths=lengths)

    @property
    def frame(self) -> Any:
        """The rows of all tokens."""
        return self.blocks[0].rows

    @property
    def called(self) -> str | None:
        """Return what errors call the tokens, by what the columns hold."""
        kinds = {
            STRINGS if numbers_of(column) is None else DENSE
            for _, column in columns_of(self.frame)
        }
        return called_by_kind(*sorted(kinds))  # DENSE, STRINGS: their order in a corpus

    def __repr__(self) -> str:
        N, F = self.frame.shape
        return f"SequenceFrame of {len(self)} sequences, {N} rows of {F} columns"


class SequenceMatrix(BlockCorpus):
    """Sequences whose tokens are rows of numbers, as one matrix and their lengths.

    It behaves as the list of its sequences: it has a length, can be iterated over and
    sliced, and all of scikit-learn that splits lists splits it. Rows are not copied
    where a slice is contiguous.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (n_tokens, n_columns), or DataFrame
        The rows of all tokens, sequence after sequence. bool, integers and floats; what
        is sparse is kept as CSR, with sorted columns and no duplicates. Masked values
        are missing, which is an error.
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
        If the lengths do not fit, or a value is not finite; the message names sequence,
        position and column.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import SequenceMatrix, StructuredPerceptron
    >>> X = SequenceMatrix(np.eye(3)[[0, 1, 2, 1, 0]], lengths=[3, 2])
    >>> len(X), X[1].shape
    (2, (2, 3))
    >>> y = [["a", "b", "c"], ["b", "a"]]
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
    >>> tagger.predict(X[:1])
    [['a', 'b', 'c']]
    """

    def __init__(
        self,
        matrix: Any,
        lengths: ArrayLike,
        *,
        feature_names: Collection[str] | None = None,
    ) -> None:
        matrix, names = as_matrix(matrix)
        refuse_masked(lengths, "lengths")
        given = np.asarray(lengths)
        if given.ndim != 1 or given.dtype.kind not in "iu" and given.size:
            raise ValueError(
                f"lengths must be a list of integers, got {describe(lengths)}"
            )
        given = given.astype(np.int64)
        if (given < 0).any():
            i = int((given < 0).argmax())
            raise ValueError(
                f"lengths must not be negative, got {given[i]} for sequence {i}"
            )
        if given.sum() != matrix.shape[0]:
            raise ValueError(
                f"lengths add up to {given.sum()}, but the matrix has "
                f"{matrix.shape[0]} rows"
            )
        names = names if feature_names is None else list(map(spelled, feature_names))
        if names is not None and len(names) != matrix.shape[1]:
            raise ValueError(
                f"feature_names must be {matrix.shape[1]} names, one a column, got "
                f"{len(names)}"
            )
        block = number_block(matrix, None if names is None else FeatureNames(names))
        vars(self).update(blocks=(block,), lengths=given)
        check_finite(self)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, or None."""
        names = self.names
        return None if names is None else tuple(names.all())

    def __repr__(self) -> str:
        matrix = self.matrix
        kind = "sparse" if sparse.issparse(matrix) else "dense"
        (N, F) = matrix.shape
        return (
            f"SequenceMatrix of {len(self)} sequences, {N} {kind} rows of {F} columns"
        )

    # -- from other containers ---------------------------------------------------------
    @classmethod
    def from_padded(cls, X: ArrayLike, mask: ArrayLike | None = None) -> SequenceMatrix:
        """Return sequences from an array in which shorter ones are filled up.

        Parameters
        ----------
        X : array-like of shape (n_sequences, n_positions, n_columns)
        mask : array-like of shape (n_sequences, n_positions), bool, optional
            True where there is a token; the tokens of a sequence are neighbours. By
            default the rows at the end of a sequence that are NaN or masked throughout
            are not part of it, and NaN elsewhere is an error.

        Returns
        -------
        SequenceMatrix
        """
        return cls(*unpadded(X, mask))

    @classmethod
    def from_frame(
        cls,
        df: Any,
        by: str,
        *,
        columns: Collection[str] | None = None,
        label: str | None = None,
    ) -> Any:
        """Return sequences from a table with one row a token.

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
            The latter if some columns hold strings or categories: these are for
            templates, ``%x[0,0]`` the first of them, and the numbers are rows. Or, with
            ``label``, the pair ``(X, y)``, where ``y`` is a list of lists of labels.

        Raises
        ------
        ValueError
            If a column is missing, holds neither numbers nor strings, or lacks a value,
            or if the rows of a sequence are not neighbours.

        Examples
        --------
        >>> import pandas
        >>> words = ["the", "dog", "dogs"]
        >>> df = pandas.DataFrame({"s": [1, 1, 2], "word": words, "tag": list("DNN")})
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


def assembled(
    matrix: Any,
    lengths: np.ndarray,
    names: FeatureNames | None = None,
    info: ColumnInfo | None = None,
) -> SequenceMatrix:
    """Return a :class:`SequenceMatrix` of parts that need no check; for these see
    :func:`.corpus.number_block`.
    """
    return SequenceMatrix.of((number_block(matrix, names, info),), lengths)
