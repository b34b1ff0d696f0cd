"""scikit-learn's transformers on tokens: stack the tokens of all sequences, transform,
and cut again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from .._data.corpus import rows_of
from .._data.elements import is_frame, spelled
from .._data.folds import check_groups
from .._data.inputs import PlaceError, as_tokens, by_sequence, check_some, renumbered
from .._data.matrix import SequenceMatrix
from .._data.reads import FeatureNames
from .._data.types import Corpus, Self
from .._saving.container import require
from .._saving.fields import Field, Members, Table
from .._sklearn import (
    BaseEstimator,
    HasMethods,
    StrOptions,
    available_if,
    get_tags,
    refuse_frozen,
    refuse_warm_start,
    safe_indexing,
    says_what_is_kept,
)
from .kept_reads import NOTHING, READS
from .sequence_transformer import (
    KnowsColumns,
    SequenceTransformer,
    as_in_fit,
    as_rows,
    fit_on,
    reading,
    reads_of,
    stack_tokens,
    targets_of,
)
from .target_encoding import cross_fitting, folds_for, target_encoders

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._data.corpus import TokenCorpus
    from .._saving.values import Reader, Writer

LEARNED = Table(
    "What a TokenTransformer knows besides its transformer",
    Field("reads", READS, of="_reads"),
    Field("nothing", NOTHING, of="_nothing"),
)


def _if_inner_has(name: str) -> Callable[[Any], Any]:
    """Return a decorator of a method that exists if the transformer has it; the error
    names the missing method.
    """
    return available_if(
        lambda self: getattr(getattr(self, "transformer_", self.transformer), name)
    )


def _names_out(transformer: Any, names: FeatureNames | None) -> FeatureNames | None:
    """Return the names of the output's columns; None if the transformer has none."""
    given = None if names is None else np.array(names.all(), dtype=object)
    try:
        return FeatureNames(
            [spelled(name) for name in transformer.get_feature_names_out(given)]
        )
    except (AttributeError, TypeError, ValueError):
        return None


class TokenTransformer(KnowsColumns, SequenceTransformer, BaseEstimator):
    """Let a transformer of scikit-learn work on the tokens of sequences.

    It gets the tokens of all sequences at once, and what it returns is cut where
    sequences end.

    Parameters
    ----------
    transformer : transformer
        With ``fit`` and ``transform``, over samples that are tokens. It gets rows of
        numbers as a matrix, data frames as one frame, tokens that are tuples as an
        array of objects with a column for each place (for ``ColumnTransformer`` and
        ``OneHotEncoder``), and tokens that are str, dicts or lists as a list (for
        ``HashingVectorizer``, ``DictVectorizer`` and ``FeatureHasher``).
    per : {"corpus", "sequence"}, default="corpus"
        Fit it once, on all tokens of ``fit``, or a clone on each sequence by itself, in
        ``transform`` too. The latter needs whole sequences, and learns nothing from one
        for another.

    Attributes
    ----------
    transformer_ : transformer
        Fitted; for ``per="sequence"`` on the first sequence of ``fit``.

    Notes
    -----
    Labels are handed on, one a token, for selections of features and linear
    discriminants. Tokens whose label is None take no part in ``fit`` then.

    A ``TargetEncoder``, alone or inside of the transformer, is meant to give other rows
    for training than later: in ``fit_transform``, its columns of each sequence are by
    an encoder that learned from other sequences; all other columns are as ``transform``
    gives them. The encoder's ``cv`` cuts *sequences*.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.features import TokenTransformer
    >>> X = [np.array([[170.0, 1.0], [182.0, 3.0]]),
    ...      np.array([[165.0, 2.0], [190.0, 4.0], [171.0, 1.5]])]
    >>> y = [["low", "high"], ["low", "high", "low"]]
    >>> tagger = StructuredPerceptron(random_state=0)
    >>> pipeline = make_pipeline(TokenTransformer(StandardScaler()), tagger)
    >>> pipeline.fit(X, y).predict([np.array([[189.0, 3.5]])])
    [['high']]
    """

    _parameter_constraints = {
        "transformer": [HasMethods(["fit", "transform"])],
        "per": [StrOptions({"corpus", "sequence"})],
    }

    _written = "_reads", "_nothing"

    transformer_: Any

    def __init__(
        self, transformer: Any, *, per: Literal["corpus", "sequence"] = "corpus"
    ) -> None:
        self.transformer = transformer
        self.per = per

    def _needs_labels(self) -> bool:
        return bool(get_tags(self.transformer).target_tags.required)

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        return LEARNED.write(vars(self), writer, name) if "_reads" in vars(self) else {}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        if not node:
            return {}
        learned = LEARNED.read(node, where, Members({}, reader=reader))
        matrix = isinstance(learned["nothing"], SequenceMatrix)
        require(matrix, f"{where}.nothing must be a matrix")
        return {f"_{name}": value for name, value in learned.items()}

    def get_metadata_routing(self) -> Any:
        """Tell who gets which metadata.

        What the transformer requests, one value a sequence, is repeated by token.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        mapping = as_in_fit().add(caller="partial_fit", callee="partial_fit")
        router = MetadataRouter(owner=self).add(
            transformer=self.transformer, method_mapping=mapping
        )
        for number, encoder in enumerate(target_encoders(self.transformer)):
            if hasattr(encoder.cv, "split"):
                mapping = MethodMapping().add(caller="fit_transform", callee="split")
                router.add(**{f"splitter{number}": encoder.cv}, method_mapping=mapping)
        return router

    # -- fitting -----------------------------------------------------------------------
    @says_what_is_kept
    def fit(self, X: Corpus, y: Corpus | None = None, **params: Any) -> Self:
        """Fit the transformer on the tokens of all sequences.

        Parameters
        ----------
        X : list of sequences of tokens, or SequenceMatrix
        y : list of sequences of labels, optional
        **params
            Metadata for the transformer, such as ``sample_weight``, one value a
            sequence.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong; the message names sequence and position.
        """
        self._validate_params()
        if self.per == "sequence" and self._needs_labels():
            name = type(self.transformer).__name__
            raise ValueError(
                f"{name} needs labels, and transform has none: it cannot be used with "
                'per="sequence"'
            )
        refuse_warm_start(self, transformer=self.transformer)
        return self._learn("fit", clone(self.transformer), X, y, params)

    @_if_inner_has("partial_fit")
    @says_what_is_kept
    def partial_fit(self, X: Corpus, y: Corpus | None = None, **params: Any) -> Self:
        """Go on fitting the transformer with more sequences.

        Parameters
        ----------
        X, y, **params
            As of :meth:`fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As :meth:`fit`; and if the transformer is frozen, since it stays as it is.
        """
        self._validate_params()
        refuse_frozen(self, "partial_fit", transformer=self.transformer)
        refuse_frozen(
            self, "partial_fit", transformer=getattr(self, "transformer_", None)
        )
        if self.per == "sequence":
            raise ValueError(
                'per="sequence" fits a new transformer on each sequence, so there is '
                "none that could go on learning"
            )
        inner = (
            self.transformer_
            if hasattr(self, "transformer_")
            else clone(self.transformer)
        )
        return self._learn("partial_fit", inner, X, y, params)

    @says_what_is_kept
    def fit_transform(
        self, X: Corpus, y: Corpus | None = None, **params: Any
    ) -> SequenceMatrix:
        """Fit the transformer, and transform the tokens it was fitted on.

        Parameters
        ----------
        X, y, **params
            As of :meth:`fit`; ``groups`` is handed to the splitters of target encoders.

        Returns
        -------
        SequenceMatrix
        """
        encoders = target_encoders(self.transformer)
        if not encoders or y is None or self.per == "sequence":
            return self.fit(X, y, **params).transform(X)
        self._validate_params()
        tokens, corpus = stack_tokens(X, self.transformer)
        lengths = corpus.lengths
        check_some(lengths.sum())
        labels = targets_of(y, lengths)
        filled = np.flatnonzero(lengths)
        groups = params.pop("groups", None)
        check_groups(groups, len(lengths))
        if groups is not None:
            groups = safe_indexing(groups, filled)
        shown = safe_indexing(X, filled), safe_indexing(y, filled), groups
        for encoder in encoders:  # what cannot be cut is said before anything changes
            folds_for(encoder, shown, lengths, labels[1])
        self.fit(X, y, **params)
        inner = cross_fitting(self.transformer_, shown, lengths, labels)
        return as_rows(inner.transform(tokens), lengths, self._nothing.names)

    def _learn(
        self,
        method: str,
        inner: Any,
        X: Corpus,
        y: Corpus | None,
        params: dict[str, Any],
    ) -> Self:
        before = getattr(self, "_reads", None) if method == "partial_fit" else None
        tokens, corpus = stack_tokens(X, self.transformer, before)
        reads = before or reads_of(corpus, self.transformer, self.per == "corpus")
        check_some(corpus.offsets[-1])
        if self.per == "sequence":
            first = int(np.flatnonzero(corpus.lengths)[0])
            tokens = rows_of(tokens, slice(*corpus.offsets[first : first + 2].tolist()))
            y = None
        with reading(reads, corpus):
            self._fit_inner(method, inner, tokens, corpus, y, params)
        # What an empty list of sequences becomes: the transformers of scikit-learn
        # refuse it.
        one = inner.transform(rows_of(tokens, slice(1)))
        names = _names_out(inner, None if reads.of_frames else reads.names)
        nothing = as_rows(one, np.ones(1, np.int64), names)[:0]
        self.transformer_ = inner
        self._reads = reads
        self._nothing = nothing
        return self

    def _fit_inner(
        self,
        method: str,
        inner: Any,
        tokens: Any,
        corpus: TokenCorpus,
        y: Corpus | None,
        params: dict[str, Any],
        keep: np.ndarray | None = None,
    ) -> None:
        """Fit a transformer on the tokens ``keep`` (None: all)."""
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params)["transformer"][method]
        fit_on(getattr(inner, method), tokens, corpus, y, params, keep)

    # -- transforming ------------------------------------------------------------------
    def transform(self, X: Corpus) -> SequenceMatrix:
        """Transform tokens.

        Parameters
        ----------
        X : list of sequences of tokens, or SequenceMatrix

        Returns
        -------
        SequenceMatrix
            One row for each token; an empty sequence has none.
        """
        check_is_fitted(self)
        tokens, corpus = stack_tokens(X, self.transformer, self._reads)
        lengths = corpus.lengths
        bounds = corpus.offsets.tolist()
        if not bounds[-1]:
            return self._nothing.empty(lengths)
        with reading(self._reads, corpus):
            if self.per == "corpus":
                return as_rows(
                    self.transformer_.transform(tokens), lengths, self._nothing.names
                )
            parts = []
            for i in np.flatnonzero(lengths).tolist():
                part = rows_of(tokens, slice(bounds[i], bounds[i + 1]))
                try:
                    part = clone(self.transformer).fit(part).transform(part)
                except ValueError as error:
                    raise PlaceError(i, None, str(error), "X") from error
                parts.append(as_rows(part, lengths[i : i + 1], None).matrix)
            with renumbered(np.flatnonzero(lengths).tolist()):
                found = as_tokens(parts)
        return as_rows(found.matrix, lengths, self._nothing.names)

    @_if_inner_has("inverse_transform")
    def inverse_transform(self, X: Corpus) -> Any:
        """Undo :meth:`transform`, with the transformer's ``inverse_transform``.

        Parameters
        ----------
        X : SequenceMatrix, or list of sequences of rows

        Returns
        -------
        SequenceMatrix or list
            A list if the transformer does not return numbers.
        """
        check_is_fitted(self)
        if self.per == "sequence":
            raise ValueError(
                'per="sequence" keeps no transformer of a sequence that could undo '
                "what it did"
            )
        tokens, corpus = stack_tokens(X, self.transformer)
        found = self.transformer_.inverse_transform(tokens)
        if (
            is_frame(found)
            or isinstance(found, np.ndarray)
            and found.ndim == 2
            or sparse.issparse(found)
        ):
            return as_rows(found, corpus.lengths, None)
        return by_sequence(found, corpus.offsets)

    # -- what the inner one knows ------------------------------------------------------
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns, as the transformer gives them.

        Parameters
        ----------
        input_features : list of str, optional

        Returns
        -------
        ndarray of str, object
        """
        check_is_fitted(self)
        names = self._reads.names
        if input_features is None and names is not None and not self._reads.of_frames:
            input_features = np.array(names.all(), dtype=object)
        return np.asarray(self.transformer_.get_feature_names_out(input_features))

    @property
    def n_features_in_(self) -> int:
        """Columns of the tokens that the transformer was fitted on."""
        check_is_fitted(self)
        return int(self.transformer_.n_features_in_)
