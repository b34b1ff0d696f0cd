"""Sets of spans with a promised recall, and spans that are right with a promised
precision.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._core.user_warnings import warn
from .._data.folds import folds_of
from .._data.inputs import (
    Sequences,
    as_tokens,
    check_X_y,
    flatten,
    is_int,
    lengths_of,
    renumbered,
)
from .._data.labels import single_labels
from .._data.places import PlaceError, place
from .._data.scheme_rules import LabelTable, check_scheme, read_spans
from .._data.spans import Span, trimmed_spans
from .._data.text import as_texts
from .._data.types import Corpus, Self, Weights
from .._saving.container import require
from .._saving.registry import Savable, savable
from .._sklearn import (
    BaseEstimator,
    fit_some,
    safe_indexing,
    says_what_is_kept,
    set_fitted,
    tags_around,
    text_tags,
)
from .._training.parameters import (
    Parameters,
    documented,
    inner_estimator,
    parameter,
    parametrized,
)
from ..metrics.text_scores import judged
from .calibrated_tagger import CalibratedTagger
from .constraints import scheme_of
from .meta_learner import FitsAnother, ShowsColumns, ShowsTraining
from .metadata import asking_for_weights, routed
from .span_chains import chains_of, has_chains
from .span_tagger import SpanTagger
from .span_thresholds import certain_threshold, numbered_documents, offering_threshold

LEAST = 0.01
"""Spans below this probability are not looked at as candidates of sure ones."""


@savable
@documented()
@parametrized()
class SpanSets(
    ShowsTraining, ShowsColumns, FitsAnother, Parameters, Savable, BaseEstimator
):
    """Sets of spans with a promised recall, and spans with a promised precision.

    Of all spans with at least a probability λ a new document misses at most the share
    ``1 - recall``, in expectation over documents: λ comes from conformal risk control
    [1]_. The probabilities that decide are those of a document's true spans by a clone
    of the estimator that was not trained on it. Sure spans have at least a second
    threshold, found by tests of one threshold after the other [2]_.

    Attributes
    ----------
    estimator_ : estimator
        Trained on everything; or the one that was frozen.
    thresholds_ : dict
        λ for each type of spans; ``{None: λ}`` is for all.
    sure_threshold_ : float
        The least probability of a sure span; inf if no threshold is known to have the
        precision. Only with ``precision``.
    n_calibration_ : int
        Documents with spans.
    history_ : list of dict
        That of ``estimator_``.
    n_iter_ : int
        Epochs of ``estimator_``.

    Notes
    -----
    The promise is a mean over documents like those of ``fit``, not for each of them;
    that of ``predict_sure`` is asymptotic, for a hundred documents and more. Candidates
    may overlap.

    With ``by_type`` spans of a type that no document has are never offered.

    References
    ----------
    .. [1] A. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster (2024). Conformal
       risk control. ICLR.
    .. [2] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei (2025). Learn then
       test: calibrating predictive algorithms to achieve risk control. Annals of
       Applied Statistics 19(2).

    Examples
    --------
    >>> from skstruct import L1CRF, SpanSets
    >>> from skstruct.datasets import load_entities
    >>> X, y = load_entities()
    >>> sets = SpanSets(L1CRF(c1=0.1, c2=0.1, constraints="BIO"), recall=0.9, cv=2).fit(X, y)
    >>> found = sets.predict_sets(X[:3])
    >>> all(p >= sets.thresholds_[None] for spans in found for _, p in spans)
    True
    """

    estimator: Any = inner_estimator(
        """A :class:`SpanTagger`, or a tagger whose ``constraints`` name a label scheme,
        that knows probabilities; None means ``SpanTagger(CalibratedTagger())``. A
        ``sklearn.frozen.FrozenEstimator`` around a fitted one is not trained again: all
        documents given to ``fit`` should be others than it was trained on."""
    )
    _: KW_ONLY
    recall: float = parameter(
        default=0.95,
        text="Expected share of a document's spans that is offered.",
        kind="float in (0, 1)",
    )
    precision: float | None = parameter(
        default=None,
        text="Share of sure spans that are right; None: none are asked for.",
        kind="float in (0, 1) or None",
    )
    confidence: float = parameter(
        default=0.9,
        text="Probability that sure spans have the precision.",
        kind="float in (0, 1)",
    )
    by_type: bool = parameter(
        default=False,
        text="Promise the recall of each type of spans, with a threshold for each; if "
        "false, the recall of all spans together.",
    )
    cv: Any = parameter(
        default=5,
        text="""Parts of the corpus. A number makes parts of consecutive documents, None
        five of them. The positions of a splitter or an iterable are those in ``X``;
        each sequence has to be in one test set, with its document. A frozen estimator
        needs none.""",
        kind="int, splitter, iterable of (train, test) or None",
        allowed=["cv_object"],
    )

    estimator_: Any = field(init=False)
    thresholds_: dict[str | None, float] = field(init=False)
    sure_threshold_: float = field(init=False)
    n_calibration_: int = field(init=False)

    _not_combinable = "its thresholds are those of one model; use {} inside of it"
    """The reason why averages and mixtures do not take it."""

    def __sklearn_tags__(self) -> Any:
        return tags_around(text_tags(super().__sklearn_tags__()), self._template())

    @classmethod
    def _default(cls) -> Any:
        tagger = asking_for_weights(CalibratedTagger())
        return asking_for_weights(SpanTagger(tagger))

    @classmethod
    def _from_state(
        cls, node: dict[str, Any], fitted: dict[str, Any], reader: Any, where: str
    ) -> dict[str, Any]:
        thresholds = fitted.get("thresholds_")
        sure = fitted.get("sure_threshold_", 1.0)
        well = isinstance(thresholds, dict) and all(
            (key is None or isinstance(key, str))
            and isinstance(p, float)
            and 0.0 < p <= 1.0
            for key, p in thresholds.items()
        )
        require(
            well and isinstance(sure, float) and sure > 0.0,
            f"{where}: thresholds must be probabilities",
        )
        return {}

    @says_what_is_kept
    def fit(self, X: Corpus, y: Corpus, groups: Any = None, **params: Any) -> Self:
        """Train the estimator, and find the thresholds.

        Parameters
        ----------
        X, y
            As the estimator's ``fit`` takes them; all labels are needed.
        groups : array-like of shape (n_sequences,), optional
            The document of each sequence; by default each is a document of its own.
            With metadata routing also handed to the estimator, if it asks for them.
        **params
            Metadata that the estimator asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as the estimator takes it (the message names the place),
            there are too few documents with spans, or too many spans that cannot be
            offered. This estimator is then as it was.
        TypeError
            If the estimator is no tagger that knows probabilities.
        KeyboardInterrupt
            After Ctrl-C; this estimator is then as it was.

        Warns
        -----
        UserWarning
            If there are few documents, or no span is known to be sure.
        """
        self._validate_params()
        template = self._to_fit()
        frozen = isinstance(template, FrozenEstimator)
        inner = template.estimator if frozen else template
        shown = X, y
        X, y, true = _read(inner, X, y)
        gold = [[span for span in spans if span[2] is not None] for spans in true]
        used = np.flatnonzero([_is_filled(x) or bool(g) for x, g in zip(X, gold)])
        document = numbered_documents(groups, len(X), used)
        shared = {"groups": groups}
        metadata = routed(self, "fit", "estimator", params, plain=(), shared=shared)
        if frozen:
            check_is_fitted(inner)
            folds = [(used[:0], used)]
        else:
            folds = self._folds(document, *shown, groups)
        p, offered = self._out_of_fold(template, folds, X, y, gold, metadata)
        of_gold = np.repeat(document, lengths_of(gold))
        thresholds = self._thresholds(flatten(p), flatten(gold), of_gold)
        found: dict[str, Any] = {"thresholds_": thresholds}
        if self.precision is not None:
            found["sure_threshold_"] = self._sure(
                offered, true, document, self.precision
            )
        fitted = inner if frozen else clone(template).fit(X, y, **metadata)
        found.update(estimator_=fitted, n_calibration_=len(np.unique(of_gold)))
        set_fitted(self, found, "sure_threshold_")
        return self

    def _folds(
        self, document: np.ndarray, X: Corpus, y: Corpus, groups: Any
    ) -> list[Any]:
        """[(train, test)]: positions of sequences; numbers cut documents, splitters see
        X and y.
        """
        cv = 5 if self.cv is None else self.cv
        if is_int(cv):
            n_documents = int(document.max(initial=-1)) + 1
            if n_documents < cv:
                raise ValueError(
                    f"cv={cv} folds need at least as many documents, got {n_documents}"
                )
            parts = folds_of(cv, range(n_documents))
            return [
                tuple(np.flatnonzero(np.isin(document, part)) for part in fold)
                for fold in parts
            ]
        used = np.flatnonzero(document >= 0)
        folds = folds_of(cv, X, y, groups, once=True, used=used)
        folds = [(train, test) for train, test in folds if len(test)]
        for k, (train, test) in enumerate(folds):
            both = np.intersect1d(document[train], document[test])
            if both.size:
                i = int(test[np.isin(document[test], both)][0])
                raise ValueError(
                    f"fold {k} of cv trains on a part of the document of sequence {i} "
                    f"and tests another"
                )
        return folds

    def _out_of_fold(
        self,
        template: Any,
        folds: list[Any],
        X: Corpus,
        y: Corpus,
        gold: list[list[Span]],
        metadata: dict[str, Any],
    ) -> tuple[list[list[float]], list[list[tuple[Any, float]]]]:
        """For each sequence the probabilities of its gold spans, and all candidates of
        sure ones.
        """
        p: list[list[float]] = [[] for _ in range(len(X))]
        offered: list[list[tuple[Any, float]]] = [[] for _ in range(len(X))]
        for train, test in folds:
            frozen = isinstance(template, FrozenEstimator)
            member = (
                template.estimator
                if frozen
                else fit_some(clone(template), X, y, train, metadata)
            )
            known = _types(member)
            some = safe_indexing(X, test)
            asked = [[span for span in gold[i] if span[2] in known] for i in test]
            more: list[list[Any]] = [[]] * len(test)
            with renumbered(test):
                found = member.predict_segment_proba(some, asked)
                if self.precision is not None:
                    more = member.predict_segment_proba(some, min_proba=LEAST)
            for i, of_gold, candidates in zip(test.tolist(), map(dict, found), more):
                p[i] = [of_gold.get(span, 0.0) for span in gold[i]]
                offered[i] = candidates
        return p, offered

    def _thresholds(
        self, p: list[float], gold: list[Span], document: np.ndarray
    ) -> dict[str | None, float]:
        of_gold = np.array(p)
        kinds = np.array([span[2] for span in gold], dtype=object)
        if not self.by_type:
            return {None: offering_threshold(of_gold, document, self.recall)}
        found = {}
        for kind in sorted(set(kinds.tolist())):
            mine = kinds == kind
            what = f"spans of type {kind!r}"
            found[kind] = offering_threshold(
                of_gold[mine], document[mine], self.recall, what
            )
        return found

    def _sure(
        self,
        offered: list[list[tuple[Any, float]]],
        gold: list[list[Span]],
        document: np.ndarray,
        precision: float,
    ) -> float:
        """Find the threshold of sure spans.

        Candidates that touch what nobody annotated do not count.
        """
        tested = []
        for found, true, number in zip(offered, gold, document.tolist()):
            of_span = {Span(*span): p for span, p in found}
            right, counted = judged(true, of_span)
            tested += [(of_span[span], span not in right, number) for span in counted]
        p, wrong, number = np.array(tested, float).reshape(-1, 3).T
        n = int(document.max(initial=-1)) + 1
        threshold = certain_threshold(p, wrong, number, n, precision, self.confidence)
        if threshold == np.inf:
            warn(
                f"no span is sure: precision={precision} is reached at no threshold "
                f"with "
                f"confidence={self.confidence}"
            )
        return threshold

    def predict(self, X: Corpus) -> list[list[Any]]:
        """Return what the estimator predicts.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def score(self, X: Corpus, y: Corpus, sample_weight: Weights = None) -> float:
        """Return the estimator's score.

        Parameters
        ----------
        X, y
            As of :meth:`fit`.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return self.estimator_.score(X, y, sample_weight)

    def predict_sets(self, X: Corpus) -> list[list[tuple[Any, float]]]:
        """Return sets of spans that hold the share ``recall`` of a document's true
        ones, on average over documents.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of (span, probability)
            For each sequence, the most probable first; they may overlap. Spans are
            those of the estimator's ``predict_segment_proba``.
        """
        check_is_fitted(self)
        least = min(self.thresholds_.values())
        of_all = self.thresholds_.get(None, np.inf)
        found = self.estimator_.predict_segment_proba(X, min_proba=least)
        return Sequences(
            [
                (span, p)
                for span, p in spans
                if p >= self.thresholds_.get(span[2], of_all)
            ]
            for spans in found
        )

    def predict_sure(self, X: Corpus) -> list[list[Any]]:
        """Return spans of which the share ``precision`` is right.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of spans
            In the order of the text. Where ``sure_threshold_`` is above 0.5 they do not
            overlap.

        Raises
        ------
        ValueError
            If there was no ``precision`` to fit for.
        """
        check_is_fitted(self)
        if not hasattr(self, "sure_threshold_"):
            raise ValueError(
                "predict_sure needs a precision to fit for, such as "
                "SpanSets(precision=0.98)"
            )
        if self.sure_threshold_ == np.inf:
            return Sequences([] for _ in self.estimator_.predict(X))
        found = self.estimator_.predict_segment_proba(X, min_proba=self.sure_threshold_)
        return Sequences(sorted(span for span, _ in spans) for spans in found)


def _read(estimator: Any, X: Corpus, y: Corpus) -> tuple[Any, Any, list[list[Span]]]:
    """(X, y, the true spans of each sequence) as an estimator takes them."""
    of_texts = isinstance(estimator, SpanTagger)
    scheme = scheme_of(estimator)
    is_fit = of_texts or scheme is not None and not hasattr(estimator, "tagger")
    if not (is_fit and hasattr(estimator, "predict_segment_proba")):
        raise TypeError(
            "SpanSets needs a SpanTagger or a tagger that knows probabilities, such as "
            "L1CRF(constraints='BIO'), and whose constraints name a scheme, got a "
            f"{type(estimator).__name__}"
            + (" without probabilities: SpanTagger(L1CRF()) has them" * of_texts)
        )
    if of_texts:
        X = as_texts(X)
        gold = trimmed_spans(X, y)
        for spans in gold:
            spans[:] = dict.fromkeys(spans)
        return X, list(y), gold
    X, y, token = check_X_y(X, single_labels(y), read=as_tokens)
    flat = flatten(y)
    if None in flat:
        raise PlaceError(
            *place(token, flat.index(None)), "SpanSets needs all labels, got None", "y"
        )
    table = LabelTable(check_scheme(scheme), strict=False)
    return X, y, [[Span(*span) for span in read_spans(labels, table)] for labels in y]


def _is_filled(sequence: Any) -> bool:
    """Tell whether there is more than white space, or a token."""
    if isinstance(sequence, str):
        return bool(sequence.strip())
    shape = getattr(sequence, "shape", None)
    return bool(len(sequence) if shape is None else shape[0])


def _types(member: Any) -> set[str]:
    """Return the types of spans that a fitted estimator knows."""
    if has_chains(member):
        return set().union(*map(_types, chains_of(member)))
    labels = getattr(member, "tagger_", member)
    while not hasattr(labels, "classes_"):
        labels = labels.estimator_
    scheme = scheme_of(labels)
    table = LabelTable(None if scheme is None else check_scheme(scheme), strict=False)
    return {
        kind
        for prefix, kind in table.parse(np.asarray(labels.classes_).tolist())
        if prefix != "O"
    }
