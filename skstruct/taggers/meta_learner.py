"""Estimators that train another one several times and are, in the end, one model.

Shuffle-and-average and parameter mixing differ in how they come to their weights. Their result is the base
estimator, fitted with these weights, and what can be asked of it can be asked of them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._sklearn import (
    BaseEstimator,
    CallbackSupportMixin,
    available_if,
    fit_routing,
    rows_tags,
    sequence_tags,
)
from ..data.inputs import Inputs
from ..data.types import Corpus, Self, Weights
from ..saving.registry import Savable
from ..training.parameters import RunParameters
from .perceptron import StructuredPerceptron
from .sequence_tagger import SequenceTagger

TRAINABLE = "_prepare"
"""What an estimator must offer: ``_prepare(X, y, sample_weight)`` returns a ``training.run.Run``."""

F = TypeVar("F", bound=Callable[..., Any])


def _base_has(name: str) -> Callable[[F], F]:
    def check(meta: Any) -> bool:
        getattr(meta._fitted_or_not(), name)  # its error says what is missing
        return True

    return available_if(check)


class FitsAnother:
    """What estimators share that fit another one, and keep it as ``estimator_``."""

    estimator: Any
    estimator_: Any

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def get_metadata_routing(self) -> Any:
        """Metadata routing of this object and its estimator; see scikit-learn's user guide."""
        return fit_routing(self, self._template())

    def _template(self):
        return StructuredPerceptron() if self.estimator is None else self.estimator

    @property
    def inputs(self) -> Inputs:
        """What the fitted model reads and predicts, a :class:`skstruct.data.inputs.Inputs`."""
        check_is_fitted(self)
        return self.estimator_.inputs

    @property
    def _model(self):
        return getattr(self.estimator_, "tagger_", self.estimator_)._model


class MetaLearner(FitsAnother, RunParameters, CallbackSupportMixin, Savable, BaseEstimator):
    """Base of shuffle-and-average and parameter mixing; fitted, it has ``estimator_``."""

    classes_: NDArray[Any]
    n_iter_: int

    def __sklearn_tags__(self) -> Any:
        tags = sequence_tags(super().__sklearn_tags__())
        if isinstance(self._template(), SequenceTagger):
            tags = rows_tags(tags)
        return tags

    def _fitted_or_not(self):
        """The estimator to ask what it can do."""
        return getattr(self, "estimator_", self._template())

    def _template_instance(self):
        template = self._template()
        if isinstance(template, type):
            raise ValueError(f"estimator must be an instance, got the class {template.__name__}")
        if isinstance(template, FrozenEstimator):  # hands on every attribute, also those that train
            raise ValueError(
                f"FrozenEstimator cannot be used by {type(self).__name__}: what is frozen does not learn; "
                f"give it the estimator that is inside, of which only the parameters count"
            )
        return template

    def _trainable(self):
        """The base estimator, after a check that its weights can be combined."""
        template = self._template_instance()
        reason = getattr(template, "_not_combinable", None)
        if reason is not None:
            me = type(self).__name__
            raise ValueError(f"{type(template).__name__} cannot be used by {me}: {reason.format(me)}")
        if not isinstance(template, BaseEstimator) or not hasattr(template, TRAINABLE):
            inner = getattr(template, "tagger", None)
            hint = ""
            if hasattr(inner, TRAINABLE) or inner is None and hasattr(template, "tagger"):
                hint = f"; put it inside: {type(template).__name__}({type(self).__name__}(tagger))"
            elif isinstance(template, MetaLearner):
                hint = "; give it the estimator that is inside"
            raise ValueError(
                f"{type(template).__name__} cannot be used by {type(self).__name__}: it has no linear "
                f"weights over features that several models could share{hint}"
            )
        return template

    @property
    def accepts_allowed(self) -> bool:
        """Whether ``predict`` takes ``allowed``, as that of taggers does."""
        return getattr(self._fitted_or_not(), "accepts_allowed", False)

    @property
    def accepts_dictionary(self) -> bool:
        """Whether ``predict`` takes ``dictionary``, as that of segmenters does."""
        return getattr(self._fitted_or_not(), "accepts_dictionary", False)

    def _fitted(self):
        """The fitted estimator with this object's ``n_jobs``: a copy, since its own is a parameter."""
        check_is_fitted(self)
        estimator = inner = copy(self.estimator_)
        if hasattr(estimator, "tagger_"):
            estimator.tagger_ = inner = copy(estimator.tagger_)
        inner.n_jobs = self.n_jobs
        return estimator

    @_base_has("predict")
    def predict(self, X: Corpus, **options: Any) -> list[list[Any]]:
        """Predict with the one model; ``options`` are those of the estimator's ``predict``.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list
        """
        return self._fitted().predict(X, **options)

    @_base_has("decision_function")
    def decision_function(self, X: Corpus) -> NDArray[np.float64]:
        """Scores of what :meth:`predict` returns.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        ndarray of shape (n_sequences,)
        """
        return self._fitted().decision_function(X)

    @_base_has("predict_kbest")
    def predict_kbest(self, X: Corpus, k: int = 5, **options: Any) -> list[list[tuple[list[Any], float]]]:
        """The k best of each sequence, as the estimator's ``predict_kbest`` returns them.

        Parameters
        ----------
        X : list of sequences
        k : int, default=5

        Returns
        -------
        list of lists of (prediction, score)
        """
        return self._fitted().predict_kbest(X, k, **options)

    @_base_has("predict_marginals")
    def predict_marginals(self, X: Corpus) -> list[NDArray[np.float64]]:
        """Marginal probabilities, where the estimator has them.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of ndarray of shape (n_tokens, n_labels)
        """
        return self._fitted().predict_marginals(X)

    @_base_has("predict_posterior")
    def predict_posterior(self, X: Corpus) -> list[list[Any]]:
        """The most probable label of each token, where the estimator has probabilities.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of labels
        """
        return self._fitted().predict_posterior(X)

    @_base_has("predict_segment_proba")
    def predict_segment_proba(self, X: Corpus, *given: Any, **options: Any) -> list[list[tuple[Any, float]]]:
        """Probabilities of segments, where the estimator has them; arguments are those of the estimator's.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of ((start, stop, type), probability)
        """
        return self._fitted().predict_segment_proba(X, *given, **options)

    @_base_has("sequence_log_proba")
    def sequence_log_proba(self, X: Corpus, y: Corpus) -> NDArray[np.float64]:
        """Log-probabilities of labellings, where the estimator has them.

        Parameters
        ----------
        X, y : list of sequences

        Returns
        -------
        ndarray of shape (n_sequences,)
        """
        return self._fitted().sequence_log_proba(X, y)

    @_base_has("adapt")
    def adapt(self, X: Corpus | None) -> Self:
        """Count accessor varieties anew, on unlabelled text; see the estimator's ``adapt``.

        Parameters
        ----------
        X : list of sequences, or None

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.estimator_.adapt(X)
        return self

    @_base_has("n_features")
    def n_features(self) -> int:
        """Number of features of the fitted model."""
        return self._fitted().n_features()

    def score(self, X: Corpus, y: Corpus, sample_weight: Weights = None) -> float:
        """The estimator's score.

        Parameters
        ----------
        X, y
            As of ``fit``.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        float
        """
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._fitted().score(X, y, **given)
