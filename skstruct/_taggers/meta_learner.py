"""Estimators that train another one several times and are, in the end, one model.

Shuffle-and-average and parameter mixing differ in how they come to their weights. Their
result is the base estimator, fitted with these weights, and what can be asked of it can
be asked of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._data.inputs import Inputs
from .._data.types import Corpus, History, Ranked, Self, Weights
from .._saving.registry import Savable
from .._sklearn import (
    BaseEstimator,
    CallbackSupportMixin,
    available_if,
    refuse_frozen,
    refuse_warm_start,
    sequence_tags,
    tags_around,
)
from .._training.parameters import RunParameters
from .metadata import asking_for_weights, fit_routing, routed
from .overrides import overridden, says_overridden
from .perceptron import StructuredPerceptron

_FROZEN = (
    "a frozen estimator does not learn; pass the estimator inside, of which only the "
    "parameters count"
)

TRAINABLE = "_prepare"
"""The method that an estimator must offer: ``_prepare(X, y, sample_weight)`` returns a
``_training.run.Run``.
"""

F = TypeVar("F", bound=Callable[..., Any])


def inside_has(name: str) -> Callable[[F], F]:
    """Decorator of a method that is there if the estimator inside has what is called
    ``name``.
    """

    def check(around: Any) -> bool:
        getattr(around._inside(), name)  # its error says what is missing
        return True

    return available_if(check)


class OffersDefault:
    """The parameters of an estimator inside that is None, and stands for another one.

    They can be read, and set, which first puts that one into its place. Until then it
    is None: in the constructor, clones and the representation.
    """

    _around = "estimator"
    """The name of the parameter that holds the estimator inside."""

    @classmethod
    @abstractmethod
    def _default(cls) -> Any:
        """Return what None stands for, a new one, not fitted."""

    def _template(self) -> Any:
        """Return the estimator that is asked for: of it only the parameters count."""
        given = getattr(self, self._around)
        return self._default() if given is None else given

    def _to_fit(self) -> Any:
        """Return the estimator that ``fit`` trains a clone of, after a check that none
        of its parameters would be without effect.
        """
        template = self._template()
        owner: Any = self
        refuse_warm_start(owner, **{self._around: template})
        return template

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Those of the estimator inside, too; where that is None, those of what None
            stands for.

        Returns
        -------
        dict
        """
        around: Any = super()
        found = around.get_params(deep)
        if deep and getattr(self, self._around) is None:
            inside = self._default().get_params()
            found.update((f"{self._around}__{name}", inside[name]) for name in inside)
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the estimator inside: ``estimator__max_iter``.

        Where that is None, or is to be, what None stands for takes its place first: an
        estimator that was given stays as it is.

        Parameters
        ----------
        **params : object

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        around: Any = super()
        head = f"{self._around}__"
        inside = {name: params[name] for name in params if name.startswith(head)}
        given = params.get(self._around, getattr(self, self._around))
        if not inside or given is not None:
            return around.set_params(**params)
        default = self._default()
        default.set_params(**{name[len(head) :]: inside[name] for name in inside})
        own = {name: params[name] for name in params if name not in inside}
        return around.set_params(**{**own, self._around: default})


class FitsAnother(OffersDefault):
    """The common part of estimators that train another one, a parameter, and keep it as
    a fitted attribute: of its name, with an underscore behind.
    """

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, f"{self._around}_")

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing of this object and the estimator inside."""
        return fit_routing(self, **{self._around: self._template()})

    @classmethod
    def _default(cls) -> Any:
        """Return what None stands for, a new one, not fitted."""
        return asking_for_weights(StructuredPerceptron())

    _hands_on = True
    """True if weights of sequences are only for the estimator inside."""

    def _routed(
        self,
        verb: str,
        given: dict[str, Any],
        plain: tuple[str, ...] = ("sample_weight",),
        shared: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Return what a method of the estimator inside gets of metadata; ``plain`` and
        ``shared`` as of :func:`.metadata.routed`.
        """
        return routed(self, verb, self._around, given, plain, self._hands_on, shared)

    def _refuse_frozen(self, verb: str) -> None:
        """Raise if the estimator inside is frozen and ``verb`` would change it."""
        owner: Any = self
        role = self._around
        refuse_frozen(owner, verb, **{role: self._inside()})
        refuse_frozen(owner, verb, **{role: self._template()})

    def _inside(self) -> Any:
        """Return the trained estimator, or the one asked for if there is none yet.

        What it can do, this one can.
        """
        trained = getattr(self, f"{self._around}_", None)
        return self._template() if trained is None else trained

    @property
    def inputs(self) -> Inputs:
        """Return what the fitted model reads and predicts."""
        check_is_fitted(self)
        return self._inside().inputs

    @inside_has("n_features")
    def n_features(self) -> int:
        """Number of features of the fitted model inside."""
        check_is_fitted(self)
        return self._inside().n_features()

    @property
    def _model(self) -> Any:
        return getattr(self, f"{self._around}_")._model


class ShowsColumns:
    """The facts about rows of numbers of an estimator that keeps a fitted one as an
    attribute.
    """

    _around: str

    def _of_rows(self, name: str, lack: str) -> Any:
        trained = vars(self).get(f"{self._around}_")
        if not hasattr(trained, name):
            me = type(self).__name__
            raise AttributeError(
                f"{me} has no attribute {name!r}: it has seen no matrix{lack}"
            )
        return getattr(trained, name)

    @property
    def n_features_in_(self) -> int:
        """Columns of the rows of numbers that it was trained on; absent with other
        tokens.
        """
        return self._of_rows("n_features_in_", "")

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of the rows of numbers that it was trained on, if they
        had any.
        """
        return self._of_rows("feature_names_in_", " with names of columns")


class ShowsTraining:
    """The record of the training of a fitted estimator that is kept as an attribute."""

    _around: str

    @property
    def history_(self) -> History:
        """Return what the fitted estimator inside noted of its epochs."""
        check_is_fitted(self)
        return getattr(self, f"{self._around}_").history_

    @property
    def n_iter_(self) -> int:
        """Epochs, or passes, of the fitted estimator inside."""
        check_is_fitted(self)
        return getattr(self, f"{self._around}_").n_iter_


class MetaLearner(
    ShowsColumns,
    FitsAnother,
    RunParameters,
    CallbackSupportMixin,
    Savable,
    BaseEstimator,
):
    """Base of shuffle-and-average and parameter mixing.

    A fitted one has ``estimator_``.
    """

    estimator: Any
    estimator_: Any
    classes_: NDArray[Any]
    n_iter_: int
    history_: History

    def __sklearn_tags__(self) -> Any:
        return tags_around(sequence_tags(super().__sklearn_tags__()), self._template())

    def _checked_template(self) -> Any:
        """Return the estimator asked for, after a check that weights can be combined.

        Raises
        ------
        ValueError
            If it is frozen, has no weights to combine, or has methods of its own that
            would not be called.
        """
        template = self._template()
        frozen = isinstance(
            template, FrozenEstimator
        )  # it hands on every attribute, also those that train
        reason = _FROZEN if frozen else self._refusal(template)
        for each in (template, getattr(template, "tagger", None)):
            method = overridden(each, "fit", "partial_fit")
            if reason is None and method is not None:
                reason = says_overridden(each, method, type(self).__name__)
        if reason is not None:
            raise ValueError(
                f"{type(template).__name__} cannot be used by {type(self).__name__}: "
                f"{reason}"
            )
        return template

    def _refusal(self, template: Any) -> str | None:
        """Say why the weights of an estimator cannot be combined; None if they can."""
        me = type(self).__name__
        hint = ""
        inner = getattr(template, "tagger", None)
        if hasattr(template, "_not_combinable"):
            return template._not_combinable.format(me)
        if isinstance(template, BaseEstimator) and hasattr(template, TRAINABLE):
            return None
        if hasattr(inner, TRAINABLE) or inner is None and hasattr(template, "tagger"):
            hint = f"; put it inside: {type(template).__name__}({me}(tagger))"
        elif isinstance(template, MetaLearner):
            hint = "; give it the estimator that is inside"
        elif hasattr(template, "steps"):
            hint = f"; put {me}(tagger) into the last step of the pipeline"
        elif hasattr(template, "refit"):
            hint = f"; put {me}(tagger) into the search"
        return (
            f"it has no linear weights over features that several models could "
            f"share{hint}"
        )

    @property
    def accepts_allowed(self) -> bool:
        """Tell whether ``predict`` takes ``allowed``, as that of taggers does."""
        return getattr(self._inside(), "accepts_allowed", False)

    @property
    def accepts_corpus(self) -> bool:
        """Tell whether methods take a corpus for a list of sequences, as taggers do."""
        return getattr(self._inside(), "accepts_corpus", False)

    @property
    def accepts_dictionary(self) -> bool:
        """Tell whether ``predict`` takes ``dictionary``, as that of segmenters does."""
        return getattr(self._inside(), "accepts_dictionary", False)

    @property
    def accepts_known(self) -> bool:
        """Tell whether ``predict`` takes ``known``, as that of span taggers does."""
        return getattr(self._inside(), "accepts_known", False)

    def _trained(self) -> Any:
        """Return a copy of the trained estimator with this object's ``n_jobs``."""
        check_is_fitted(self)
        trained = inner = copy(self.estimator_)
        if hasattr(trained, "tagger_"):
            trained.tagger_ = inner = copy(trained.tagger_)
        inner.n_jobs = self.n_jobs
        return trained

    @inside_has("predict")
    def predict(self, X: Corpus, **options: Any) -> list[list[Any]]:
        """Predict with the one model; ``options`` are those of the estimator's
        ``predict``.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list
        """
        return self._trained().predict(X, **options)

    @inside_has("decision_function")
    def decision_function(self, X: Corpus) -> NDArray[np.float64]:
        """Return the scores of the predictions of :meth:`predict`.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        ndarray of shape (n_sequences,)
        """
        return self._trained().decision_function(X)

    @inside_has("predict_kbest")
    def predict_kbest(self, X: Corpus, k: int = 5, **options: Any) -> Ranked:
        """Return the k best predictions of each sequence, as the estimator's
        ``predict_kbest`` returns them.

        Parameters
        ----------
        X : list of sequences
        k : int, default=5

        Returns
        -------
        list of lists of (prediction, score)
        """
        return self._trained().predict_kbest(X, k, **options)

    @inside_has("predict_marginals")
    def predict_marginals(self, X: Corpus) -> list[NDArray[np.float64]]:
        """Marginal probabilities, where the estimator has them.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of ndarray of shape (n_tokens, n_labels)
        """
        return self._trained().predict_marginals(X)

    @inside_has("predict_posterior")
    def predict_posterior(self, X: Corpus) -> list[list[Any]]:
        """Return the most probable label of each token, if the estimator has
        probabilities.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of labels
        """
        return self._trained().predict_posterior(X)

    @inside_has("predict_segment_proba")
    def predict_segment_proba(
        self, X: Corpus, *given: Any, **options: Any
    ) -> list[list[tuple[Any, float]]]:
        """Return the probabilities of segments, if the estimator has them; the
        arguments are the estimator's.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of ((start, stop, type), probability)
        """
        return self._trained().predict_segment_proba(X, *given, **options)

    @inside_has("sequence_log_proba")
    def sequence_log_proba(self, X: Corpus, y: Corpus) -> NDArray[np.float64]:
        """Log-probabilities of labellings, where the estimator has them.

        Parameters
        ----------
        X, y : list of sequences

        Returns
        -------
        ndarray of shape (n_sequences,)
        """
        return self._trained().sequence_log_proba(X, y)

    @inside_has("adapt")
    def adapt(self, X: Corpus | None) -> Self:
        """Count accessor varieties anew, on unlabelled text; see the estimator's
        ``adapt``.

        Parameters
        ----------
        X : list of sequences, or None

        Returns
        -------
        self
        """
        check_is_fitted(self)
        adapted = copy(
            self.estimator_
        )  # the one that was fitted may be known elsewhere, too
        adapted.adapt(X)
        self.estimator_ = adapted
        return self

    def score(self, X: Corpus, y: Corpus, sample_weight: Weights = None) -> float:
        """Return the estimator's score.

        Parameters
        ----------
        X, y
            As of ``fit``.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        float
        """
        return self._trained().score(X, y, sample_weight)
