"""Several descriptions of the same tokens side by side: templates and vectors, for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import FeatureUnion

from .._sklearn import safe_set_output, sequence_tags
from ..data.inputs import as_tokens, describe, lengths_of
from ..data.matrix import ColumnInfo, FeatureNames, SequenceMatrix, assembled
from .window import joined

if TYPE_CHECKING:
    from typing_extensions import Self


class SequenceUnion(FeatureUnion, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """The columns of several transformers of sequences, side by side.

    It is scikit-learn's ``FeatureUnion`` for transformers that return a :class:`.SequenceMatrix`, such as
    ``TokenVectorizer``, ``TokenTransformer``, ``TokenPredictions``, ``Window`` and pipelines of these.

    Parameters
    ----------
    transformer_list : list of (str, transformer) tuples
        Names and transformers; ``"passthrough"`` takes rows of numbers as they come, ``"drop"`` is left out.
    n_jobs : int, optional
        How many transformers are fitted at a time.
    transformer_weights : dict of str to float, optional
        What the values of a transformer are multiplied by.
    verbose : bool, default=False
    verbose_feature_names_out : bool, default=True
        Whether the names of columns begin with those of the transformers.

    Notes
    -----
    The matrix is sparse if one of the parts is. Taggers then take sparse columns as they are, and treat
    dense ones as ``NumericFeatures`` says: ``features="auto"`` scales these, and they have an intercept. So
    templates count what they would count alone. Dense columns with a weight are not scaled any more if there
    are sparse ones.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.features import SequenceUnion, TokenTransformer, TokenVectorizer
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> length = FunctionTransformer(lambda words: [[len(word)] for word in words])
    >>> union = SequenceUnion([
    ...     ("form", TokenVectorizer(["U0:%x[0,0]", "B"])), ("length", TokenTransformer(length))])
    >>> union.fit_transform([["the", "dog"], ["a", "cat"]])
    SequenceMatrix of 2 sequences, 4 sparse rows of 5 columns
    """

    def __sklearn_tags__(self) -> Any:
        tags = sequence_tags(super().__sklearn_tags__())
        tags.target_tags.required = False
        return tags

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of the inner transformers' output; sequences come as a SequenceMatrix.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None

        Returns
        -------
        self
        """
        for _, inner in self.transformer_list:
            if not isinstance(inner, str):
                safe_set_output(inner, transform=transform)
        return self

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all transformers.

        Parameters
        ----------
        X : list of sequences of tokens, or SequenceMatrix
        y : list of sequences of labels, optional
        **params
            Metadata for the transformers.

        Returns
        -------
        self
        """
        self._begin()
        super().fit(X, y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> SequenceMatrix:
        """Fit all transformers, and put their columns side by side.

        Parameters
        ----------
        X, y, **params
            As of :meth:`fit`.

        Returns
        -------
        SequenceMatrix
        """
        self._begin()
        found: SequenceMatrix = super().fit_transform(X, y, **params)
        return found

    def _begin(self):
        if all(inner == "drop" for _, inner in self.transformer_list):
            raise ValueError("transformer_list must name at least one transformer that is not dropped")
        self.__dict__.pop("_nothing", None)  # what an empty corpus becomes, with names and kinds of columns

    def _iter(self):
        """Overrides what scikit-learn goes through: weights are applied where parts are joined."""
        return ((name, inner, None) for name, inner, _ in super()._iter())

    def _hstack(self, Xs):
        """Overrides what scikit-learn joins arrays with."""
        used = [
            name for name, inner in self.transformer_list if not isinstance(inner, str) or inner != "drop"
        ]
        if hasattr(self, "_nothing") and not all(isinstance(X, SequenceMatrix) for X in Xs):
            lengths = [lengths_of(as_tokens(X)) for X in Xs]
            if not any(each.any() for each in lengths):  # sequences that are all empty
                nothing = self._nothing
                return assembled(nothing.matrix, lengths[0], nothing.names, nothing.column_info)
        parts = [_as_part(X, name) for X, name in zip(Xs, used)]
        for part, name in zip(parts, used):
            if not np.array_equal(part.lengths, parts[0].lengths):
                raise ValueError(
                    f"transformer {name!r} returned sequences of other lengths than {used[0]!r} did"
                )
        weights = self.transformer_weights or {}
        matrix = joined([_times(part.matrix, weights.get(name)) for part, name in zip(parts, used)])
        known = getattr(self, "_nothing", None)
        if known is None or known.matrix.shape[1] != matrix.shape[1]:
            prefixes = [f"{name}__" if self.verbose_feature_names_out else "" for name in used]
            column_info = _column_info(parts, [name in weights for name in used])
            columns = [(part.names, part.matrix.shape[1]) for part in parts]
            names = FeatureNames(make=lambda: _names(prefixes, columns))
            known = self._nothing = assembled(matrix[:0], np.zeros(0, np.int64), names, column_info)
        return assembled(matrix, parts[0].lengths, known.names, known.column_info)


def _as_part(X, name):
    found = X if isinstance(X, SequenceMatrix) else as_tokens(X)
    if not isinstance(found, SequenceMatrix):
        raise ValueError(
            f"transformer {name!r} must return rows of numbers by sequence, a SequenceMatrix, got "
            f"{describe(X)}; TokenTransformer makes that of a transformer of tokens"
        )
    return found


def _times(matrix, weight):
    return matrix if weight is None else (matrix * weight).astype(matrix.dtype)


def _names(prefixes, parts):
    """The names of the columns; ``parts`` are (names or None, columns)."""
    return [
        prefix + name
        for prefix, (names, n) in zip(prefixes, parts)
        for name in (names.all() if names is not None else [f"x{c}" for c in range(n)])
    ]


def _column_info(parts, weighted):
    """What is known of the columns: which are encoded features, and which are dense among sparse ones."""
    encoded = [part.column_info for part in parts if part.column_info is not None]
    is_sparse = [sparse.issparse(part.matrix) for part in parts]
    if not any(is_sparse) or not encoded and all(is_sparse):
        return None
    fields, dense, first = [], [], 0
    for part, is_thin, own in zip(parts, is_sparse, weighted):
        n, known = part.matrix.shape[1], part.column_info
        mine = np.zeros(n, np.int32) if known is None or known.fields is None else known.fields
        fields.append(mine + np.int32(first))
        first += int(mine.max(initial=-1)) + 1
        thick = np.full(n, not is_thin)
        if known is not None and known.dense is not None:
            thick = known.dense
        dense.append(thick & (not own))
    dense = np.concatenate(dense)
    bigram = any(c.bigram for c in encoded) if encoded else True
    if dense.any():
        return ColumnInfo(bigram, None, dense)
    return ColumnInfo(bigram, np.concatenate(fields))
