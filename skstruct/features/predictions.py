"""Stacking: the scores that a classifier gives to each token, as the input of a
sequence model.

In training, the scores of a sequence come from a classifier that has not seen it
(Wolpert 1992), as they will for new sequences. A classifier scores its own training
data far too well, and a model that learns from such scores trusts them too much.

References
----------
D. H. Wolpert (1992). Stacked generalization. Neural Networks 5(2).
W. W. Cohen, V. R. Carvalho (2005). Stacked sequential learning. IJCAI.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from .._data.elements import spelled
from .._data.folds import folds_of
from .._data.inputs import check_some
from .._data.matrix import SequenceMatrix, assembled
from .._data.reads import FeatureNames
from .._data.types import Corpus, Self
from .._saving.container import require
from .._saving.fields import Field, Members, Table
from .._sklearn import (
    BaseEstimator,
    HasMethods,
    StrOptions,
    refuse_warm_start,
    safe_indexing,
    says_what_is_kept,
)
from .kept_reads import READS, names
from .sequence_transformer import (
    KnowsColumns,
    SequenceTransformer,
    as_in_fit,
    by_fold,
    fit_on,
    reading,
    reads_of,
    stack_tokens,
)

if TYPE_CHECKING:
    from .._data.corpus import TokenCorpus
    from .._saving.values import Reader, Writer

LEARNED = Table(
    "What TokenPredictions know besides their classifier",
    Field("reads", READS, of="_reads"),
    Field("names", names, of="_names"),
)

METHODS = ("predict_log_proba", "predict_proba", "decision_function")

LEAST = 0.01
"""Probabilities below count as this one in logarithms: a forest's 0 is not a certainty.
"""


@dataclass(eq=False, repr=False)
class TokenPredictions(KnowsColumns, SequenceTransformer, BaseEstimator):
    """Let a classifier of scikit-learn score the labels of tokens; the scores are rows
    for a tagger.

    So any classifier becomes part of a structured model: it says how a token looks, and
    the tagger learns what follows what.

    Parameters
    ----------
    classifier : classifier
        Over samples that are tokens, which it gets as the transformer of
        :class:`TokenTransformer` does. It may be a pipeline.
    method : str, default="auto"
        Which scores: ``"predict_log_proba"``, ``"predict_proba"`` or
        ``"decision_function"``. Logarithms are those of probabilities of at least 0.01.
        ``"auto"`` takes the first of these methods that the classifier has.
    cv : int, splitter or iterable of splits, default=5
        How ``fit_transform`` splits *sequences*: those of a part are scored by a
        classifier that was trained on the others.

    Attributes
    ----------
    classifier_ : classifier
        Trained on all sequences.
    classes_ : ndarray of shape (n_classes,)
        The labels, by column. Of two labels, ``"decision_function"`` scores the second
        one alone.
    method_ : str
        The method that is used.

    Notes
    -----
    Only ``fit_transform``, which is what a pipeline calls in training, returns scores
    of classifiers that have not seen the sequence. ``transform`` after ``fit`` uses the
    classifier of all sequences.

    Tokens whose label is None take no part in training; they get scores. A label that
    the other parts of a split do not have gets the lowest score there is in a row.

    References
    ----------
    D. H. Wolpert (1992). Stacked generalization. Neural Networks 5(2).
    W. W. Cohen, V. R. Carvalho (2005). Stacked sequential learning. IJCAI.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.features import TokenPredictions
    >>> X = [np.array([[0.0], [1.0], [0.0]]), np.array([[1.0], [0.0]])] * 3
    >>> y = [["a", "b", "a"], ["b", "a"]] * 3
    >>> trees = ExtraTreesClassifier(5, random_state=0)
    >>> tagger = StructuredPerceptron(random_state=0)
    >>> pipeline = make_pipeline(TokenPredictions(trees), tagger)
    >>> pipeline.fit(X, y).predict([np.array([[1.0], [0.0]])])
    [['b', 'a']]
    """

    _parameter_constraints = {
        "classifier": [HasMethods("fit")],
        "method": [StrOptions({"auto", *METHODS})],
        "cv": ["cv_object"],
    }

    classifier: Any
    _: KW_ONLY
    method: Literal[
        "auto", "predict_log_proba", "predict_proba", "decision_function"
    ] = "auto"
    cv: Any = 5

    _written = "_names", "_reads"

    classifier_: Any = field(init=False)
    classes_: NDArray[Any] = field(init=False)
    method_: str = field(init=False)

    def _needs_labels(self) -> bool:
        return True

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        return LEARNED.write(vars(self), writer, name) if "_reads" in vars(self) else {}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        if not node:
            return {}
        learned = LEARNED.read(node, where, Members({}, reader=reader))
        require(fitted.get("method_") in METHODS, f"{where}.method_ is unknown")
        return {f"_{name}": value for name, value in learned.items()}

    def get_metadata_routing(self) -> Any:
        """Tell who gets which metadata.

        What the classifier requests, one value a sequence, is repeated by token.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        mapping = as_in_fit()
        router = MetadataRouter(owner=self).add(
            classifier=self.classifier, method_mapping=mapping
        )
        if hasattr(self.cv, "split"):
            mapping = MethodMapping().add(caller="fit_transform", callee="split")
            router.add(splitter=self.cv, method_mapping=mapping)
        return router

    # -- fitting -----------------------------------------------------------------------
    @says_what_is_kept
    def fit(self, X: Corpus, y: Corpus, **params: Any) -> Self:
        """Train the classifier on the tokens of all sequences.

        Parameters
        ----------
        X : list of sequences of tokens, or SequenceMatrix
        y : list of sequences of labels
        **params
            Metadata for the classifier, such as ``sample_weight``, one value a
            sequence.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong; the message names sequence and position.
        """
        tokens, corpus, method, params, _ = self._begin("fit", X, y, params)
        return self._become(method, self._trained(tokens, corpus, y, params), corpus)

    @says_what_is_kept
    def fit_transform(self, X: Corpus, y: Corpus, **params: Any) -> SequenceMatrix:
        """Train the classifier, and score each sequence by one that has not seen it.

        Parameters
        ----------
        X, y, **params
            As of :meth:`fit`; ``groups`` is handed to the splitter.

        Returns
        -------
        SequenceMatrix
            One row for each token, one column for each label.
        """
        tokens, corpus, method, params, groups = self._begin(
            "fit_transform", X, y, params
        )
        filled = np.flatnonzero(corpus.lengths)
        splits = folds_of(self.cv, X, y, groups, once=True, used=filled)
        whole = self._trained(tokens, corpus, y, params)

        def rows(k: int, train: np.ndarray, test: np.ndarray) -> np.ndarray:
            """Score the tokens ``test`` by what learned from ``train``."""
            inner = self._trained(
                tokens, corpus, y, params, train, f"split {k} of cv={self.cv!r}"
            )
            return _scores(inner, method, whole.classes_, safe_indexing(tokens, test))

        scores = by_fold(
            np.repeat(np.arange(len(corpus)), corpus.lengths), splits, rows
        )
        self._become(method, whole, corpus)
        return assembled(scores, corpus.lengths, self._names)

    def _begin(
        self, caller: str, X: Corpus, y: Corpus, params: dict[str, Any]
    ) -> tuple[Any, TokenCorpus, str, dict[str, Any], Any]:
        """(tokens, corpus, the method of scores, metadata of the classifier, groups of
        the splitter)
        """
        self._validate_params()
        refuse_warm_start(self, classifier=self.classifier)
        tokens, corpus = stack_tokens(X, self.classifier)
        check_some(corpus.offsets[-1])
        if y is None:
            raise ValueError("y must be a list of label sequences, got None")
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, caller, **params)
            params = routed["classifier"]["fit"]
            groups = routed.get("splitter", {"split": {}})["split"].get("groups")
        else:
            groups = params.pop("groups", None)
        return tokens, corpus, self._method(), params, groups

    def _method(self) -> str:
        """Return the method that gives the scores; logarithms are taken of
        probabilities.
        """
        methods = METHODS if self.method == "auto" else (self.method,)
        has = partial(hasattr, self.classifier)
        known = [
            name
            for name in methods
            if has(name) or name == METHODS[0] and has(METHODS[1])
        ]
        if not known:
            name = type(self.classifier).__name__
            raise ValueError(
                f"{name} has none of the methods {', '.join(methods)}, whose scores "
                "are needed"
            )
        return known[0]

    def _become(self, method: str, fitted: Any, corpus: TokenCorpus) -> Self:
        """Set what is fitted, once all is done."""
        self.classifier_ = fitted
        self.classes_ = np.asarray(fitted.classes_)
        self.method_ = method
        one = (
            method == "decision_function" and len(self.classes_) == 2
        )  # the score of the second label
        labels = self.classes_.tolist()[1:] if one else self.classes_.tolist()
        prefix = type(fitted).__name__.lower()
        self._names = FeatureNames([f"{prefix}_{spelled(label)}" for label in labels])
        self._reads = reads_of(corpus, self.classifier)
        return self

    def _trained(
        self,
        tokens: Any,
        corpus: TokenCorpus,
        y: Corpus,
        params: dict[str, Any],
        keep: np.ndarray | None = None,
        where: str = "X",
    ) -> Any:
        """Return a clone of the classifier that learned from the labelled tokens."""
        classifier = clone(self.classifier)
        fit_on(classifier.fit, tokens, corpus, y, params, keep, where)
        return classifier

    # -- scoring -----------------------------------------------------------------------
    def transform(self, X: Corpus) -> SequenceMatrix:
        """Score the labels of tokens, by the classifier that was trained on all
        sequences.

        Parameters
        ----------
        X : list of sequences of tokens, or SequenceMatrix

        Returns
        -------
        SequenceMatrix
            One row for each token, one column for each label; an empty sequence has no
            rows.
        """
        check_is_fitted(self)
        tokens, corpus = stack_tokens(X, self.classifier, self._reads)
        scores = np.zeros((0, len(self._names.all())))
        if corpus.offsets[-1]:
            with reading(self._reads, corpus):
                scores = _scores(self.classifier_, self.method_, self.classes_, tokens)
        return assembled(scores, corpus.lengths, self._names)


def _scores(fitted: Any, name: str, classes: np.ndarray, tokens: Any) -> np.ndarray:
    """(tokens, columns): the scores of the labels ``classes``; those a classifier lacks
    are lowest.
    """
    n = len(classes)
    logarithms = name == "predict_log_proba"
    if logarithms and hasattr(fitted, "predict_proba"):  # whose zeros do not warn
        found = fitted.predict_proba(tokens)
    else:
        found = getattr(fitted, name)(tokens)
        found = np.exp(found) if logarithms else found
    found = np.asarray(found, dtype=np.float64)
    known = np.asarray(fitted.classes_).tolist()
    if found.ndim == 1:  # of two labels
        found = np.column_stack([-found, found])
    if found.ndim != 2 or found.shape[1] != len(known):
        text = (
            f"must give one score a label, {len(known)}, got an array of shape "
            f"{found.shape}; with "
        )
        text += "one-against-one scores set decision_function_shape='ovr'"
        raise ValueError(f"{type(fitted).__name__}.{name} {text}")
    if len(known) < n:
        lowest = (
            found.min(axis=1)
            if name == "decision_function"
            else np.zeros(found.shape[0])
        )
        place = {label: c for c, label in enumerate(np.asarray(classes).tolist())}
        some = found
        found = np.repeat(lowest[:, None], n, axis=1)
        found[:, [place[label] for label in known]] = some
    if logarithms:
        return np.log(np.maximum(found, LEAST))
    return found[:, 1:] if name == "decision_function" and n == 2 else found
