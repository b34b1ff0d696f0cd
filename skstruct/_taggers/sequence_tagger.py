"""The common part of all sequence taggers: scikit-learn's conventions, input checks,
prediction, scoring.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import KW_ONLY
from operator import eq
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._chain.chain_model import ChainModel
from .._data.inputs import (
    Sequences,
    as_sequences,
    as_tokens,
    check_positive,
    check_same_lengths,
    check_X_y,
    flatten,
    lengths_of,
)
from .._data.labels import check_gold_of_model, settled
from .._data.places import PlaceError, describe, place
from .._data.types import Corpus, Given, Ranked, Self, Weights
from .._sklearn import (
    BaseEstimator,
    HasMethods,
    StrOptions,
    rows_tags,
    sample_weights,
    sequence_tags,
)
from .._training.parameters import Parameters, parameter, parametrized
from .._training.saved import SavableLearner
from ..features.numeric import NumericFeatures
from ..features.patterns import Patterns
from ..features.templates import FeatureTemplates
from ..features.word_vectors import is_unfitted
from ..metrics.counting import NO_WEIGHT, refuse_nothing

if TYPE_CHECKING:
    from .._data.corpus import TokenCorpus
    from .._data.labels import Labels


FeatureChoice: TypeAlias = (
    str
    | os.PathLike[str]
    | list[str]
    | tuple[str, ...]
    | FeatureTemplates
    | Patterns
    | NumericFeatures
)


@parametrized(kw_only=True)
class WordsParameter(Parameters):
    """The clusters of words that features read besides."""

    words: Any = parameter(
        default=None,
        text="""Clusters of words, learned from raw text:
        ``WordVectors(n_clusters=500).fit_text(...).table()``. Templates read them as
        ``%cluster[0,0]``; unless one does, the clusters of a token and of its
        neighbours are three features more. A ``WordVectors`` that is not fitted is
        fitted on the tokens of ``fit``; one that is has to be frozen.""",
        kind="WordVectors, its table() or None",
        allowed=[HasMethods(["table"]), None],
    )

    def __post_init__(self) -> None:
        is_unfitted(self.words)


class ParameterText(NamedTuple):
    """The arguments of `parameter` besides the default."""

    text: str
    kind: str
    allowed: list[Any]


PAIRS = ParameterText(
    """Which pairs have a weight: all pairs of feature and label (states) and of labels
    (transitions); with False only those seen in training; or all of one kind, and of
    the other those seen.""",
    'bool, "states" or "transitions"',
    ["boolean", StrOptions({"states", "transitions"})],
)
"""The description of ``all_pairs`` beside its default."""


@parametrized()
class TaggerParameters(WordsParameter):
    """The parameters of all chain taggers; ``features`` may be given by position."""

    features: FeatureChoice = parameter(
        default="auto",
        text="""Which features tokens that are str or tuples of str have: ``"auto"``
        (from the look of the tokens: ``"char"`` for single characters, ``"word"`` for
        other str, ``"word-tag"`` for pairs), a preset (these, ``"char-types"``,
        ``"char-av"``, ``"chunk"``, ``"collins"``, ``"text"``, ``"char-best"``,
        ``"chunk-best"``, ``"word-best"``; see ``skstruct.features.presets``), template strings or a
        template file in CRF++ syntax, or the ``Patterns`` of a model of CRF++ or Wapiti
        (``skstruct.features.patterns``). Tokens that are dicts or lists of str bring
        their own features; how rows of numbers count, ``NumericFeatures`` says.""",
        kind="str, path, list of str, FeatureTemplates, Patterns or NumericFeatures",
        allowed=[
            str,
            os.PathLike,
            list,
            tuple,
            FeatureTemplates,
            Patterns,
            NumericFeatures,
        ],
    )
    _: KW_ONLY
    constraints: str | Collection[tuple[Any, Any]] | None = parameter(
        default=None,
        text="""Labellings allowed, in training and prediction: the name of a label
        scheme (``"BIO"``, ``"IOB1"``, ``"BIOES"``, ``"BILOU"``, ``"BMES"``, ``"BI"``,
        ``"B2B3MES"``, ``"IO"``), or (previous, next) pairs of labels; in a pair, None
        stands for the start or end of a sequence.""",
        kind="str, iterable of pairs or None",
        allowed=[str, list, tuple, set, frozenset, None],
    )
    class_weight: dict[Any, float] | Literal["balanced"] | None = parameter(
        default=None,
        text="""A margin, the cost of missing a token of a label, and not scikit-learn's
        weight of a class: ``{"O": 0.1}`` makes ``O`` more frequent, not less. It is
        added in training to the score of every wrong label, by gold label, times
        ``sample_weight``. A dict maps labels to costs; labels it lacks cost nothing
        extra, so that costs of all but ``O`` find more at less precision.
        ``"balanced"`` is inverse to frequency, 1 on average over tokens.""",
        kind='dict, "balanced" or None',
        allowed=[dict, StrOptions({"balanced"}), None],
    )
    _least_seen = None
    """The least evidence for a weight; None asks for none.

    A feature and a label have a weight if the values of the feature, summed with their
    signs over the tokens of that label, reach it. Two labels have one if training shows
    them in a row that often, or if ``all_pairs`` takes all pairs of labels.
    """
    all_pairs: bool | Literal["states", "transitions"] = parameter(
        default=True, text=PAIRS.text, kind=PAIRS.kind, allowed=PAIRS.allowed
    )


def is_one_list(X: Any) -> TypeGuard[list[list[Any]]]:
    """Tell whether X is one sequence in a list: such a call has a short road."""
    return type(X) is list and len(X) == 1 and type(X[0]) is list


class SequenceTagger(SavableLearner, BaseEstimator):
    """Base of the chain taggers; a fitted one has ``_model``, a :class:`ChainModel`."""

    classes_: NDArray[Any]
    n_jobs: int | None
    _model: ChainModel

    accepts_allowed = True
    """``predict`` and ``predict_kbest`` take ``allowed``."""

    accepts_corpus = True
    """Methods take a `TokenCorpus` for a list of sequences, and what it keeps."""

    _model_class = ChainModel
    explained_as = "chain"

    def __sklearn_tags__(self) -> Any:
        return rows_tags(sequence_tags(super().__sklearn_tags__()))

    # -- input -------------------------------------------------------------------------
    def _options(self, sequences: TokenCorpus, allowed: Given) -> np.ndarray | None:
        """(N, L) bool: what ``allowed`` permits, or None."""
        if allowed is None:
            return None
        allowed = as_sequences(allowed, "allowed", "constraint")
        check_same_lengths(sequences.lengths, lengths_of(allowed), ("X", "allowed"))
        token = sequences.offsets
        labels = self._model.labels
        options = np.ones((int(token[-1]), len(labels)), np.bool_)
        rows = {}  # what a choice means, for choices met before
        for k, choice in enumerate(flatten(allowed)):
            if choice is None:
                continue
            try:
                key = frozenset(choice) if isinstance(choice, (set, list)) else choice
                if key not in rows:
                    rows[key] = _option(choice, labels)
            except (TypeError, ValueError) as error:
                what = (
                    error
                    if isinstance(error, ValueError)
                    else f"{describe(choice)} is not a label"
                )
                raise PlaceError(*place(token, k), str(what), "allowed") from None
            options[k] = rows[key]
        return options

    def _of_rows(self, what: str, attribute: str) -> Any:
        """Return what is known of the rows of numbers that the model reads; else it
        lacks the attribute.
        """
        reads = self._model.encoder.reads if hasattr(self, "_model") else None
        if reads is None or reads.width is None or getattr(reads, what) is None:
            lack = f"{type(self).__name__} has no attribute {attribute!r}: it has seen no matrix"
            raise AttributeError(
                lack if what == "width" else f"{lack} with names of columns"
            )
        return getattr(reads, what)

    @property
    def n_features_in_(self) -> int:
        """Columns of the rows of numbers that it was trained on; absent with other
        tokens.
        """
        return int(self._of_rows("width", "n_features_in_"))

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of the rows of numbers that it was trained on, if they
        had any.
        """
        return np.array(self._of_rows("names", "feature_names_in_").all(), dtype=object)

    # -- accessor variety --------------------------------------------------------------
    def adapt(self, X: Corpus | None) -> Self:
        """Count accessor varieties anew, on unlabelled text of the domain to be tagged.

        Parameters
        ----------
        X : list of sequences of tokens, or None
            The text whose statistics are in force from now on, until the next ``fit``:
            alone, so add the training text for the statistics of both. None goes back
            to those of the training text.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the templates read no accessor variety, or ``X`` holds no token or is no
            such list. The statistics in force then stay.

        Notes
        -----
        Weights stay as they are: what changes is the value of features such as
        ``%av2[0,0]`` ([1]_, section 6). ``partial_fit`` and ``warm_start`` go on with
        the statistics in force. Accessor varieties grow with the text, so that a text
        much smaller than that of the training is a poor base.

        References
        ----------
        .. [1] W. Gao, X. Qiu, X. Huang (2010). Adaptive Chinese word segmentation with
           online passive-aggressive algorithm. CIPS-SIGHAN.
        """
        check_is_fitted(self)
        sequences = None if X is None else as_tokens(X)
        self._model = self._model.adapted(sequences)
        return self

    # -- prediction --------------------------------------------------------------------
    def _best(
        self, X: Corpus | TokenCorpus, allowed: Given = None
    ) -> tuple[list[list[Any]], np.ndarray]:
        """Return the best labellings and their scores (n,), as :meth:`predict` and
        :meth:`decision_function` do.
        """
        check_is_fitted(self)
        sequences = as_tokens(X)
        options = self._options(sequences, allowed)
        labels, scores = self._model.predict(sequences, options, self.n_jobs)
        if -np.inf in scores:
            stuck = np.flatnonzero(scores == -np.inf)[0]
            raise PlaceError(
                stuck, None, "the constraints and the labels allowed leave no labelling"
            )
        return labels, scores

    def predict(self, X: Corpus, allowed: Given = None) -> list[list[Any]]:
        """Label sequences.

        Parameters
        ----------
        X : list of sequences of tokens
        allowed : list of lists, optional
            For each token None (any label), a label (forced), or a collection of
            labels.

        Returns
        -------
        list of lists of labels
            The labels are the objects seen in training.

        Raises
        ------
        ValueError
            If a sequence or token is not what the model was trained on (the message
            names it), or constraints and ``allowed`` contradict each other.
        """
        if (
            allowed is None
            and type(X) is list
            and len(X) == 1
            and type(X[0]) is list
            and hasattr(self, "_model")
        ):  # as `is_one_list`: one sequence at a time is to cost few calls
            labels = self._model.label_one(X[0])
            if labels is not None:
                return Sequences((labels,))
        return Sequences(self._best(X, allowed)[0])

    def encode(self, X: Corpus) -> TokenCorpus:
        """Encode sequences once, for several calls.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        TokenCorpus
            It stands for ``X`` and behaves as the list of its sequences. Until this
            tagger is trained anew, no call with the corpus, or with parts of it such as
            ``corpus[:10]``, encodes anything.

        Examples
        --------
        >>> from skstruct import L1CRF
        >>> crf = L1CRF().fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
        >>> corpus = crf.encode([["the", "cat"]])
        >>> crf.predict(corpus), crf.predict_marginals(corpus)[0].round(2).tolist()
        ([['D', 'N']], [[0.91, 0.09], [0.09, 0.91]])
        """
        check_is_fitted(self)
        return self._model.encoded(as_tokens(X))

    def decision_function(self, X: Corpus) -> NDArray[np.float64]:
        """Return the scores of the best labellings.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        ndarray of shape (n_sequences,)
            Log-scores, not normalised: comparable between labellings of one sequence
            only. 0 for an empty sequence.
        """
        return self._best(X)[1]

    def predict_kbest(self, X: Corpus, k: int = 5, allowed: Given = None) -> Ranked:
        """Return the k best labellings of each sequence.

        Parameters
        ----------
        X : list of sequences of tokens
        k : int, default=5
        allowed : list of lists, optional
            As in :meth:`predict`.

        Returns
        -------
        list of lists of (labels, score)
            For each sequence up to k distinct labellings, best first; fewer if there
            are no more. Ties are broken deterministically. The first is what
            :meth:`predict` returns, unless several labellings share the best score.
        """
        check_is_fitted(self)
        check_positive("k", k)
        if allowed is None and is_one_list(X):
            ranked = self._model.kbest_of_one(X[0], self._most(k, len(X[0])))
            if ranked is not None:
                return Sequences(ranked)
        sequences = as_tokens(X)
        options = self._options(sequences, allowed)
        k = self._most(k, int(sequences.lengths.max(initial=0)))
        return Sequences(self._model.predict_kbest(sequences, k, options, self.n_jobs))

    def _most(self, k: int, longest: int) -> int:
        """Return k, or the number of labellings of the longest sequence if it has not as
        many: memory is for no more.
        """
        return min(int(k), len(self._model.labels) ** min(longest, 64))

    def score(self, X: Corpus, y: Corpus, sample_weight: Weights = None) -> float:
        """Token accuracy, over the tokens whose label is given (not None); any of a set
        of labels is right.

        Parameters
        ----------
        X : list of sequences of tokens
        y : list of sequences of labels
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If no token has a label and a weight; if a label is missing, but not None
            (NaN, NA, -100 among class numbers), the message names the place; or if
            all labels are of another type than the model's.
        """
        check_is_fitted(self)
        X, y, token = check_X_y(X, y, read=as_tokens)
        weight = sample_weights(sample_weight, X)
        check_gold_of_model(y, self._model.labels.values)
        given = flatten(y)
        predicted = flatten(self.predict(X))
        right = list(map(eq, settled(given, predicted), predicted))
        each = np.repeat(np.ones(len(X)) if weight is None else weight, np.diff(token))
        known = np.array([label is not None for label in given], bool)
        refuse_nothing(known)
        refuse_nothing(each * known, NO_WEIGHT)
        return float(np.average(right, weights=each * known))


def _option(choice: Any, labels: Labels) -> np.ndarray:
    """(L,) bool: the labels that a choice of ``allowed`` permits."""
    row = np.zeros(len(labels), np.bool_)
    several = (
        isinstance(choice, (set, frozenset, list, tuple))
        and choice not in labels.values
    )
    for label in choice if several else [choice]:
        if label not in labels.values:
            raise ValueError(f"{describe(label)} is not a label of the model")
        row[labels.ids[label]] = True
    if not row.any():
        raise ValueError("no label is allowed")
    return row
