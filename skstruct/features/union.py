"""The columns of several transformers of sequences, side by side."""

from __future__ import annotations

from copy import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion

from .._data.corpus import DENSE, called_by_kind
from .._data.inputs import as_tokens, describe
from .._data.matrix import SequenceMatrix
from .._data.types import Self
from .._saving.fields import each, string, value, via
from .._saving.values import savable_value
from .joining import join_columns
from .remembered import Remembered
from .sequence_transformer import SequenceTransformer
from .window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .._saving.values import Reader, Writer


class _Passthrough(Window):
    """The transformer behind ``"passthrough"``: the rows, with the names of their
    columns.
    """

    def __init__(self) -> None:
        super().__init__(0, 0, boundary=False)

    def __sklearn_is_fitted__(self) -> bool:
        if not hasattr(self, "_reads"):
            raise NotFittedError(
                "This SequenceUnion instance is not fitted yet; call fit first"
            )
        return True

    def as_window(self) -> Window:
        """Return what does the same and has a public name, for pickles and skops."""
        window = Window(0, 0, boundary=False)
        window.__dict__.update(vars(self))
        return window


class SequenceUnion(SequenceTransformer, FeatureUnion):  # type: ignore[misc]
    """The columns of several transformers of sequences, side by side.

    It is scikit-learn's ``FeatureUnion`` for transformers that return a
    :class:`.SequenceMatrix`, such as ``TokenVectorizer``, ``TokenTransformer``,
    ``TokenPredictions``, ``Window`` and pipelines of these.

    Parameters
    ----------
    transformer_list : list of (str, transformer) tuples
        Names and transformers; ``"passthrough"`` takes rows of numbers as they come,
        ``"drop"`` is left out.
    n_jobs : int, optional
        How many transformers are fitted at a time.
    transformer_weights : dict of str to float, optional
        What the values of a transformer are multiplied by.
    verbose : bool, default=False
    verbose_feature_names_out : bool, default=True
        Whether the names of columns begin with those of the transformers.

    Notes
    -----
    The matrix is sparse if one of the parts is. Taggers then take sparse columns as
    they are, and treat dense ones as ``NumericFeatures`` says: ``features="auto"``
    scales these, and they have an intercept. So templates count what they would count
    alone. Dense columns with a weight are not scaled any more if there are sparse ones.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.features import SequenceUnion, TokenTransformer, TokenVectorizer
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> length = FunctionTransformer(lambda words: [[len(word)] for word in words])
    >>> union = SequenceUnion([
    ...     ("form", TokenVectorizer(["U0:%x[0,0]", "B"])),
    ...     ("length", TokenTransformer(length))])
    >>> union.fit_transform([["the", "dog"], ["a", "cat"]])
    SequenceMatrix of 2 sequences, 4 sparse rows of 5 columns
    """

    _follows = ("_known",)

    get_feature_names_out = FeatureUnion.get_feature_names_out

    @property
    def inputs(self) -> Any:
        """Return what it reads: what the first transformer says that reads words, or
        None.
        """
        return next(
            (part.inputs for part in self._parts() if hasattr(part, "inputs")), None
        )

    def _parts(self) -> list[Any]:
        return [inner for _, inner in self.transformer_list]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state["transformer_list"] = [
            (name, inner.as_window() if isinstance(inner, _Passthrough) else inner)
            for name, inner in self.transformer_list
        ]
        return state

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        # So that the checksum of bytes covers the weights.
        return {"names": writer.value([name for name, _ in self.transformer_list], "")}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        each(string).read(node.get("names"), f"{where}.names", reader.members())
        return {}

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
        super().fit(X, y, **params)
        self._remembered()
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
        found: SequenceMatrix = super().fit_transform(X, y, **params)
        return found

    def _remembered(self) -> Remembered:
        """Return what is known of all columns; there from the first fit on, or the
        first call of fitted parts.
        """
        return self.__dict__.setdefault("_known", Remembered())

    def _validate_transformers(self) -> None:
        super()._validate_transformers()
        if all(inner == "drop" for _, inner in self.transformer_list):
            raise ValueError(
                "transformer_list must name at least one transformer that is not "
                "dropped"
            )

    def _iter(self) -> Iterator[tuple[str, Any, None]]:
        """Yield the parts without weights, which are applied where parts are joined."""
        for name, inner in self.transformer_list:
            if isinstance(inner, str) and inner == "passthrough":
                inner = _Passthrough()
            if not isinstance(
                inner, str
            ):  # a copy knows its columns still if the fit of another part fails
                yield (
                    name,
                    copy(inner) if isinstance(inner, _Passthrough) else inner,
                    None,
                )

    def _hstack(self, Xs: Iterable[Any]) -> SequenceMatrix:
        """Join the outputs of the parts, in place of scikit-learn's arrays."""
        used = [name for name, inner in self.transformer_list if inner != "drop"]
        parts = [as_tokens(X) for X in Xs]
        for part, name, X in zip(parts, used, Xs):
            if part.called != called_by_kind(DENSE):
                text = (
                    f"transformer {name!r} must return rows of numbers by sequence, "
                    f"got {describe(X)}; "
                )
                raise ValueError(
                    f"{text}TokenTransformer makes that of a transformer of tokens"
                )
            if not np.array_equal(part.lengths, parts[0].lengths):
                text = f"returned sequences of other lengths than {used[0]!r} did"
                raise ValueError(f"transformer {name!r} {text}")
        weights = self.transformer_weights or {}
        prefixes = [
            f"{name}__" if self.verbose_feature_names_out else "" for name in used
        ]
        return join_columns(
            parts, [weights.get(name) for name in used], prefixes, self._remembered()
        )


def _of_parts(parts: list[Any]) -> SequenceUnion:
    inner, weights, verbose = parts
    return SequenceUnion(
        inner, transformer_weights=weights, verbose_feature_names_out=verbose
    )


_PARAMETERS = attrgetter(
    "transformer_list", "transformer_weights", "verbose_feature_names_out"
)

savable_value("$union", SequenceUnion, via(value, _PARAMETERS, _of_parts))
