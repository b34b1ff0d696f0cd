"""The base of transformers of sequences; tokens of all sequences as what scikit-learn's
estimators take.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import MethodMapping
from sklearn.utils.validation import check_is_fitted

from .._data.corpus import DENSE, called_by_kind
from .._data.elements import exact_strings, kind_of, plain_value, stored
from .._data.inputs import (
    as_sequences,
    as_tokens,
    check_same_lengths,
    check_weights_of_sequences,
    flatten,
    lengths_of,
)
from .._data.matrix import SequenceMatrix, assembled
from .._data.numbers import tables_in
from .._data.places import PlaceError, as_objects, describe, offsets_of, place
from .._data.reads import FeatureNames, TransformerReads
from .._data.types import Self
from .._saving.states import KeepsState
from .._sklearn import get_tags, safe_indexing, safe_set_output, sequence_tags
from .tokens import split_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .._data.corpus import TokenCorpus
    from .._data.types import Corpus

Fold: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Numbers of the sequences for training, and of those for testing."""


class SequenceTransformer(KeepsState, TransformerMixin):
    """Base of transformers of sequences, whose output scikit-learn does not put into
    other containers.

    Those whose columns are known by ``fit`` keep their names as ``_names``.
    """

    _names: FeatureNames

    def __init_subclass__(cls, **options: Any) -> None:
        options["auto_wrap_output_keys"] = None
        super().__init_subclass__(**options)

    def __sklearn_tags__(self) -> Any:
        tags = sequence_tags(super().__sklearn_tags__())  # type: ignore[misc]
        tags.target_tags.required = self._needs_labels()
        return tags

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of inner transformers' output; sequences come as they do
        without.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None

        Returns
        -------
        self
        """
        for inner in self._parts():
            if hasattr(inner, "transform"):
                safe_set_output(inner, transform=transform)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns.

        Parameters
        ----------
        input_features : optional
            Not looked at.

        Returns
        -------
        ndarray of shape (n_columns,), object
        """
        check_is_fitted(self)
        return np.array(self._names.all(), dtype=object)

    def _needs_labels(self) -> bool:
        """Tell whether ``fit`` needs labels."""
        return False

    def _parts(self) -> Iterable[Any]:
        """Return what may be an estimator inside."""
        return vars(self).values()


def as_in_fit() -> MethodMapping:
    """Return the routing of metadata of ``fit``, which ``fit_transform`` shares."""
    mapping = MethodMapping().add(caller="fit", callee="fit")
    return mapping.add(caller="fit_transform", callee="fit")


class KnowsColumns:
    """The mixin of transformers that know the columns of the tokens that they were
    fitted on.
    """

    _reads: TransformerReads

    @property
    def n_features_in_(self) -> int:
        """Columns of the tokens of ``fit``; absent where tokens have none."""
        return int(self._known_of_columns("width", "n_features_in_"))

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of the tokens of ``fit``, if they had any."""
        names = self._known_of_columns("names", "feature_names_in_").all()
        return np.array(names, dtype=object)

    def _known_of_columns(self, what: str, attribute: str) -> Any:
        found = getattr(vars(self).get("_reads"), what, None)
        if found is None:
            me = type(self).__name__
            raise AttributeError(
                f"{me} has no attribute {attribute!r}: it has seen none"
            )
        return found


def _are_columns(X: Any) -> bool:
    """Tell whether sequences are arrays of one column, which transformers get as such."""
    sequences = X if isinstance(X, (list, tuple)) else ()
    first = next((each for each in sequences if len(each)), None)
    return isinstance(first, np.ndarray) and first.ndim == 2


def stack_tokens(
    X: Corpus, reader: Any, reads: TransformerReads | None = None
) -> tuple[Any, TokenCorpus]:
    """Read a corpus as a transformer of scikit-learn takes it.

    Parameters
    ----------
    X : list of sequences of tokens, or SequenceMatrix
    reader : estimator
        Of scikit-learn, which gets the tokens: numbers may be missing if its tags say
        that it takes NaN, as those of an imputer do.
    reads : TransformerReads, optional
        What a fit noted, which the tokens have to be. They are frames only if they
        were then. Strings given for numbers are read as numbers.

    Returns
    -------
    tokens : list, array, matrix or data frame
        Of all sequences, one a row.
    corpus : TokenCorpus
    """
    corpus = None
    missing = _takes_missing(reader)
    if reads is None or reads.of_frames or missing:
        corpus = tables_in(X, missing=missing)
    if reads is not None and not reads.of_frames and corpus is not None:
        corpus = None if corpus.is_frame else corpus
    if corpus is None or not corpus.is_frame:
        corpus = as_tokens(X if corpus is None else corpus)
    if reads is not None:
        if reads.called == called_by_kind(DENSE) and isinstance(
            corpus.like, (tuple, list)
        ):
            numbers = _as_numbers(corpus.tokens)
            if numbers is not None and numbers.ndim == 2:
                corpus = assembled(numbers, corpus.lengths)
        reads.check(corpus)
    if corpus.is_frame:
        return corpus.frame, corpus  # type: ignore[attr-defined]  # a SequenceFrame
    if corpus.numbers and corpus.tokens:
        shown: Any = corpus.shown  # there is one, as there are two blocks
        return np.asarray(shown.rows, dtype=object), corpus
    if corpus.numbers:
        return corpus.matrix, corpus
    flat = corpus.tokens
    like = corpus.like
    if not isinstance(like, tuple):
        strings = exact_strings(flat)
        if _are_columns(X):
            return as_objects(strings).reshape(-1, 1), corpus
        return strings, corpus
    array = np.empty((len(flat), len(like)), dtype=object)
    for c, column in enumerate(split_columns(corpus, len(like))):
        array[:, c] = as_objects(exact_strings(column))
    return array, corpus


def _takes_missing(reader: Any) -> bool:
    """Tell whether an estimator takes NaN: it, the first step of a pipeline, or a part
    of what puts parts side by side, which refuse it themselves where they do not.
    """
    if reader is None or isinstance(reader, str):
        return True  # "passthrough", whose output is checked
    if hasattr(reader, "steps"):
        return _takes_missing(reader.steps[0][1])
    parts = getattr(reader, "transformers", getattr(reader, "transformer_list", None))
    if parts is not None:
        return any(_takes_missing(part[1]) for part in parts)
    return bool(get_tags(reader).input_tags.allow_nan)


def _as_numbers(tokens: list[Any]) -> np.ndarray | None:
    """Tokens that are tuples of numbers, or of strings that say numbers, as an array;
    None if some do not.
    """
    try:
        return np.array(tokens, dtype=object).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def reads_of(
    corpus: TokenCorpus, estimator: Any, decides: bool = True
) -> TransformerReads:
    """Tell what an estimator of scikit-learn reads that learned from a corpus.

    A ``ColumnTransformer`` looks up the columns of frames by name, and says itself
    which are missing. What learns nothing, such as a ``FunctionTransformer``, reads
    what it can: ``decides`` is False for it.
    """
    from sklearn.compose import ColumnTransformer  # slow to import

    while hasattr(estimator, "steps"):
        estimator = estimator.steps[0][1]
    reads = replace(
        TransformerReads.of(corpus),
        decides=decides and get_tags(estimator).requires_fit,
    )
    return (
        replace(reads, titles=None)
        if isinstance(estimator, ColumnTransformer)
        else reads
    )


@contextmanager
def reading(reads: TransformerReads, corpus: TokenCorpus) -> Iterator[None]:
    """Let errors inside, where an estimator of scikit-learn reads a corpus, say what
    differs from training.
    """
    try:
        yield
    except Exception:
        reads.check_strictly(corpus)
        raise


def by_token(
    name: str, value: Any, lengths: np.ndarray, keep: np.ndarray | None
) -> Any:
    """Repeat metadata of sequences for their tokens; other values stay as they are.

    Parameters
    ----------
    name : str
        Of the argument.
    value : Any
    lengths : ndarray of shape (n_sequences,)
        Tokens of each sequence.
    keep : ndarray, optional
        The tokens that take part; all by default.
    """
    if (
        value is None
        or isinstance(value, (str, bytes, dict))
        or not hasattr(value, "__len__")
    ):
        return value
    if name == "sample_weight":
        check_weights_of_sequences(value)
    if len(value) != lengths.shape[0]:
        raise ValueError(
            f"{name} must have one value a sequence, {lengths.shape[0]}, got "
            f"{len(value)}"
        )
    repeated = np.repeat(np.asarray(value), lengths, axis=0)
    return repeated if keep is None else repeated[keep]


def targets_of(y: Corpus, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Collect the labels of the tokens that have one.

    Parameters
    ----------
    y : list of lists
        Labels; None is none. Labels that are tuples stay what they are.
    lengths : ndarray of shape (n_sequences,)
        Tokens of each sequence.

    Returns
    -------
    labels : ndarray
    given : ndarray of shape (n_tokens,), bool
        Which tokens have one.
    """
    y = as_sequences(y, "y", "label")
    check_same_lengths(lengths, lengths_of(y))
    labels = flatten(y)
    given = np.fromiter((label is not None for label in labels), np.bool_, len(labels))
    labels = [label for label in labels if label is not None]
    if not labels:
        raise ValueError("y holds no label: all tokens are None")
    return _targets(y, offsets_of(lengths), labels), given


def fit_on(
    fit: Callable[..., Any],
    tokens: Any,
    corpus: TokenCorpus,
    y: Corpus | None,
    params: dict[str, Any],
    keep: np.ndarray | None = None,
    where: str = "X",
) -> None:
    """Let the method ``fit`` of an estimator learn from tokens.

    Parameters
    ----------
    tokens, corpus
        From :func:`stack_tokens`.
    y : list of lists, or None
        Tokens labelled None take no part; labels that are tuples stay what they are.
    params : dict
        Metadata, one value a sequence.
    keep : ndarray, optional
        The tokens that take part; all by default.
    where : str
        What an error says of them.
    """
    more: dict[str, Any] = {}
    if y is not None:
        targets, given = targets_of(y, corpus.lengths)
        if keep is not None or not given.all():
            keep = np.flatnonzero(given) if keep is None else keep[given[keep]]
            targets = targets[(np.cumsum(given) - 1)[keep]]
        if not targets.shape[0]:
            raise ValueError(f"{where} leaves no labelled token to learn from")
        more["y"] = targets
    elif isinstance(getattr(fit, "__self__", None), FrozenEstimator):
        more["y"] = None  # it learns nothing, and asks for labels
    more |= {
        name: by_token(name, value, corpus.lengths, keep)
        for name, value in params.items()
    }
    try:
        fit(tokens if keep is None else safe_indexing(tokens, keep), **more)
    except (TypeError, ValueError) as error:
        first = tokens[0] if isinstance(tokens, list) else None
        encoder = next((e for k, e in _ENCODERS if isinstance(first, k)), None)
        if encoder is None or "float" not in str(error):
            raise
        name = type(getattr(fit, "__self__", fit)).__name__
        raise type(error)(
            f"{name} reads numbers, and tokens are such as {describe(first)}: write "
            f"make_pipeline({encoder}, {name}(...)); it says: {error}"
        ) from error


_ENCODERS = (
    (dict, "DictVectorizer()"),
    (str, "HashingVectorizer(analyzer='char')"),
    (list, "FeatureHasher(input_type='string')"),
)
"""Scikit-learn's transformers for tokens, by type of token."""


def _targets(y: Corpus, offsets: np.ndarray, labels: list[Any]) -> np.ndarray:
    """Return the labels of labelled tokens as an array for scikit-learn; tuples stay
    tuples.

    Raises
    ------
    ValueError
        If there are strings and other labels, of which numpy would make strings; the
        message names the place.
    """
    if isinstance(labels[0], tuple):
        return as_objects(labels)
    labels = list(map(stored, map(plain_value, labels)))
    kinds = set(map(kind_of, labels))
    if str in kinds and len(kinds) > 1:
        first = kind_of(labels[0])
        for k, label in enumerate(flatten(y)):
            if label is not None and kind_of(plain_value(label)) is not first:
                wrong = (
                    f"expected a label of type {first.__name__}, got {describe(label)}"
                )
                i, position = place(offsets, k)
                raise PlaceError(i, position, wrong, "y")
    return np.asarray(labels)


def as_rows(
    found: Any, lengths: np.ndarray, names: FeatureNames | None
) -> SequenceMatrix:
    """Cut the output of a transformer where sequences end.

    Parameters
    ----------
    found : array-like, sparse matrix or data frame
        One row for each token.
    lengths : ndarray of shape (n_sequences,)
    names : FeatureNames or None
        Of the columns, if there are as many.
    """
    n = found.shape[0] if hasattr(found, "shape") else len(found)
    if n != lengths.sum():
        raise ValueError(
            f"the transformer returned {n} rows for {lengths.sum()} tokens"
        )
    X = SequenceMatrix(found, lengths)
    known = names is not None and len(names.all()) == X.matrix.shape[1]
    return assembled(X.matrix, lengths, names if known else X.names)


def by_fold(
    of_token: np.ndarray,
    folds: Sequence[Fold],
    rows: Callable[[int, np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Compute the rows of tokens, each by what learned from other sequences.

    Parameters
    ----------
    of_token : ndarray of shape (N,)
        The sequence of each token.
    folds : list of (train, test)
        Numbers of sequences; one that is in a training part twice counts twice.
    rows : callable
        ``rows(k, train, test)`` are those of the tokens ``test``, by what learned from
        ``train``, those of the rest, in fold k.
    """
    out: Any = None
    for k, fold in enumerate(folds):
        train, test = (_tokens_of(of_token, part) for part in fold)
        if test.shape[0]:
            found = rows(k, train, test)
            out = (
                np.empty((of_token.shape[0], found.shape[1]), found.dtype)
                if out is None
                else out
            )
            out[test] = found
    return out


def _tokens_of(of_token: np.ndarray, sequences: np.ndarray) -> np.ndarray:
    """Return the tokens of some sequences, in the order of the corpus, with
    repetitions.
    """
    chosen = np.sort(sequences)
    first, stop = (
        np.searchsorted(of_token, chosen, side) for side in ("left", "right")
    )
    return np.concatenate(
        [np.arange(a, b) for a, b in zip(first, stop)] or [np.zeros(0, np.int64)]
    )
