"""The columns of neighbours: rows of numbers that know what stands around a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._sklearn import BaseEstimator, Integral, Interval, rows_tags, sequence_tags
from ..data.inputs import PLACE, PlaceError, as_tokens, describe
from ..data.matrix import ColumnInfo, FeatureNames, SequenceMatrix, assembled
from ..data.types import Corpus

if TYPE_CHECKING:
    from typing_extensions import Self


class Window(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Give tokens that are rows of numbers the columns of their neighbours.

    Beyond the ends of a sequence columns are 0. Taggers can read windows without this copy, by
    ``NumericFeatures(window=(-1, 1))``; this is for what stands between, such as a classifier.

    Parameters
    ----------
    before, after : int, default=1
        How many neighbours in front of a token, and behind it.
    deltas : bool, default=False
        Whether there are, besides, half the differences of the next token's columns and those of the last
        one. At the ends of a sequence the token itself stands in for what is missing.
    boundary : bool, default=True
        Whether there is, for each neighbour, a column that is 1 where it is beyond the ends.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the tokens.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.features import Window
    >>> window = Window(1, 0)
    >>> window.fit_transform([np.array([[3.0], [4.0]])])[0]
    array([[0., 3., 1.],
           [3., 4., 0.]])
    >>> window.get_feature_names_out().tolist()
    ['x0@-1', 'x0', 'boundary@-1']
    """

    _parameter_constraints = {
        "before": [Interval(Integral, 0, None, closed="left")],
        "after": [Interval(Integral, 0, None, closed="left")],
        "deltas": ["boolean"],
        "boundary": ["boolean"],
    }

    n_features_in_: int

    def __init__(
        self, before: int = 1, after: int = 1, *, deltas: bool = False, boundary: bool = True
    ) -> None:
        self.before = before
        self.after = after
        self.deltas = deltas
        self.boundary = boundary

    def __sklearn_tags__(self) -> Any:
        tags = rows_tags(sequence_tags(super().__sklearn_tags__()))
        tags.target_tags.required = False
        return tags

    def fit(self, X: Corpus, y: Any = None) -> Self:
        """Note the columns.

        Parameters
        ----------
        X : SequenceMatrix, or list of matrices
        y : optional
            Not looked at.

        Returns
        -------
        self
        """
        self._validate_params()
        numbers = _numbers(X)
        if numbers is None:
            raise ValueError("X holds no token: at least one sequence with at least one token is needed")
        self._nothing = numbers[:0]
        self.n_features_in_ = numbers.matrix.shape[1]
        names = numbers.names
        self._names = None if names is None else FeatureNames(make=lambda: self.names_of(names.all()))
        return self

    def transform(self, X: Corpus) -> SequenceMatrix:
        """The rows with those of their neighbours.

        Parameters
        ----------
        X : SequenceMatrix, or list of matrices

        Returns
        -------
        SequenceMatrix
            Dense or sparse as ``X``. The columns are those of the first neighbour, and so on to those of the
            last; then differences, then boundaries.
        """
        check_is_fitted(self)
        found = _numbers(X)
        if found is None:
            nothing = self._nothing
            found = assembled(nothing.matrix, np.zeros(len(X), np.int64), None, nothing.column_info)
        width = found.matrix.shape[1]
        if width != self.n_features_in_:
            i = int(np.flatnonzero(found.lengths)[0]) if found.lengths.any() else 0
            raise PlaceError(
                i, None, f"{PLACE} has {width} columns, expected {self.n_features_in_} as in training", "X"
            )
        begin, end = (np.repeat(x, found.lengths) for x in (found.offsets[:-1], found.offsets[1:]))
        here, parts, outside = np.arange(begin.shape[0]), [], []
        for shift in range(-self.before, self.after + 1):
            inside = (here + shift >= begin) & (here + shift < end)
            parts.append(_picked(found.matrix, here + shift, inside) if shift else found.matrix)
            if shift:
                outside.append(~inside)
        if self.deltas:
            following = _picked(found.matrix, np.minimum(here + 1, end - 1))
            parts.append((following - _picked(found.matrix, np.maximum(here - 1, begin))) * 0.5)
        if self.boundary and outside:
            parts.append(np.column_stack(outside).astype(found.matrix.dtype))
        return assembled(joined(parts), found.lengths, self._names, self._column_info(found.column_info))

    def _column_info(self, column_info):
        """What is known of the columns, if they are encoded features."""
        if column_info is None:
            return None
        places, ends = self.before + 1 + self.after, (self.before + self.after) * self.boundary
        fields, dense = column_info.fields, column_info.dense
        if fields is not None:
            n = int(fields.max(initial=-1)) + 1
            more = [fields + np.int32(k * n) for k in range(places + self.deltas)]
            fields = np.concatenate([*more, np.arange(ends) + n * len(more)]).astype(np.int32)
        if dense is not None:
            dense = np.append(np.tile(dense, places + self.deltas), np.zeros(ends, np.bool_))
        return ColumnInfo(column_info.bigram, fields, dense)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns: those of neighbours with their distance, such as ``x3@-1``.

        Parameters
        ----------
        input_features : list of str, optional
            Names of the columns of ``X``, if these have none themselves.

        Returns
        -------
        ndarray of str, object
        """
        check_is_fitted(self)
        if input_features is not None:
            if len(input_features) != self.n_features_in_:
                raise ValueError(
                    f"input_features must be {self.n_features_in_} names, got {len(input_features)}"
                )
            return np.array(self.names_of(input_features), dtype=object)
        if self._names is not None:
            return np.array(self._names.all(), dtype=object)
        return np.array(self.names_of([f"x{c}" for c in range(self.n_features_in_)]), dtype=object)

    def names_of(self, names):
        """The names of all columns, from those of the input."""
        shifts = range(-self.before, self.after + 1)
        found = [f"{name}@{shift:+d}" if shift else str(name) for shift in shifts for name in names]
        if self.deltas:
            found += [f"delta:{name}" for name in names]
        if self.boundary:
            found += [f"boundary@{shift:+d}" for shift in shifts if shift]
        return found

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing: sequences come as a SequenceMatrix, whatever container other transformers return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None

        Returns
        -------
        self
        """
        return self


def _numbers(X):
    """A SequenceMatrix; None for sequences that are all empty."""
    found = as_tokens(X)
    if isinstance(found, SequenceMatrix):
        return found
    for i, sequence in enumerate(found):
        if len(sequence):
            raise PlaceError(i, 0, f"expected a row of numbers, got {describe(sequence[0])}", "X")
    return None


def _picked(matrix, at, inside=None):
    """The rows ``at``; zeros where it is not ``inside``."""
    used = np.arange(at.shape[0]) if inside is None else np.flatnonzero(inside)
    if not sparse.issparse(matrix):
        out = np.zeros(matrix.shape, matrix.dtype)
        out[used] = matrix[at[used]]
        return out
    ones = np.ones(used.shape[0], matrix.dtype)
    pick = sparse.csr_matrix((ones, (used, at[used])), shape=(at.shape[0], matrix.shape[0]))
    return pick @ matrix


def joined(parts):
    """Matrices side by side: sparse if one is."""
    kinds = [type(part) for part in parts if sparse.issparse(part)]
    if not kinds:
        return parts[0] if len(parts) == 1 else np.ascontiguousarray(np.hstack(parts))
    found = sparse.hstack([_as_csr(part) for part in parts], format="csr")
    found.sum_duplicates()
    return kinds[0](found)


def _as_csr(part):
    """CSR; of dense rows all columns are written out, zeros too, so that a model finds them fast."""
    if sparse.issparse(part):
        return sparse.csr_matrix(part)
    N, F = part.shape
    columns = np.tile(np.arange(F, dtype=np.int32), N)
    return sparse.csr_matrix((part.ravel(), columns, np.arange(N + 1) * F), shape=(N, F))
