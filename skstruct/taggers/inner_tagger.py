"""What estimators over raw text share: a tagger inside, which is trained on sequences made of the texts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn import clone, get_config
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._sklearn import (
    BaseEstimator,
    CallbackSupportMixin,
    available_if,
    epoch_context,
    member_context,
    text_tags,
)
from ..data.inputs import renumbered
from ..data.types import Corpus, History, Self, Texts, Weights
from ..saving.registry import Savable
from ..training.held_out import NAMES, both_or_neither, of_held_out
from ..training.parameters import Parameters
from .perceptron import StructuredPerceptron

T = TypeVar("T")


def tagger_has(name: str) -> Callable[[Any], bool]:
    """A check of an estimator over texts: does its tagger have this method?"""

    def check(estimator: Any) -> bool:
        tagger = getattr(estimator, "tagger_", estimator.tagger)
        return tagger is None or hasattr(tagger, name)

    return check


def knows_probabilities(estimator: Any) -> bool:
    """Whether the tagger inside of an estimator over texts knows probabilities."""
    return hasattr(getattr(estimator, "tagger_", estimator.tagger), "predict_segment_proba")


def knows_its_tagger(cls: type[T]) -> type[T]:
    """Class decorator: an error about a parameter that is the tagger's says where to write it."""
    init, known = cls.__init__, inspect.signature(cls).parameters

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        tagger = given.get("tagger", args[0] if args else None)
        tagger = StructuredPerceptron() if tagger is None else tagger
        for name in given.keys() - known.keys():
            if name in getattr(tagger, "get_params", dict)():
                call = f"{cls.__name__}({clone(tagger).set_params(**{name: given[name]})!r})"
                raise TypeError(f"{cls.__name__} has no parameter {name!r}, its tagger has: write {call}")
        init(self, *args, **given)

    cls.__init__ = checked  # type: ignore[misc]
    return cls


class TaggerTraining(Parameters, CallbackSupportMixin, Savable, BaseEstimator):
    """The part of ``Segmenter`` and ``SpanTagger`` that hands their texts to the tagger.

    A subclass has ``_new_tagger()``, a tagger that is not fitted, and

    * ``_training_data(method, X, y, sample_weight)``: what the tagger's method is called with, of which
      ``positions`` are those of its sequences among the texts; and the attributes of a fit that succeeds;
    * ``_held_out_data(X, y)``: held-out texts as the tagger takes them;
    * ``_sequences(X)``: the sequences that the fitted tagger sees of texts;
    * ``_agreed(known)``: one dict of such attributes from those of several shards, or an error.
    """

    tagger: Any
    tagger_: Any

    def __sklearn_tags__(self) -> Any:
        return text_tags(super().__sklearn_tags__())

    def get_metadata_routing(self) -> Any:
        """Who gets which metadata: ``fit`` and ``partial_fit`` hand ``sample_weight`` to the tagger.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="partial_fit", callee="partial_fit")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(tagger=self._new_tagger(), method_mapping=mapping)
        )

    @property
    def history_(self) -> History:
        """What the fitted tagger noted of its epochs."""
        check_is_fitted(self, "tagger_")
        return self.tagger_.history_

    @available_if(tagger_has("n_features"))
    def n_features(self) -> int:
        """Number of features of the fitted tagger inside."""
        check_is_fitted(self, "tagger_")
        return self.tagger_.n_features()

    @available_if(tagger_has("partial_fit"))
    def partial_fit(self, X: Texts, y: Corpus, sample_weight: Weights = None) -> Self:
        """Go on learning from more texts, with the tagger's ``partial_fit``.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`. What the data of the first call decide besides the tagger's weights stays.

        Returns
        -------
        self
        """
        self._validate_params()
        tagger = self.tagger_ if hasattr(self, "tagger_") else self._new_tagger()
        data, fitted = self._training_data("partial_fit", X, y, sample_weight)
        return self._train(tagger, tagger.partial_fit, data, fitted)

    def _routed(self, method, weight):
        """The metadata of the tagger's method, by name."""
        routed = {} if weight is None else {"sample_weight": weight}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, method, **routed).tagger[method]
        return routed

    def _fit_tagger(self, X, y, sample_weight, X_val, y_val):
        """``fit``; the subclass has it under ``with_callbacks``."""
        self._validate_params()
        tagger = self._new_tagger()
        given = both_or_neither(X_val, y_val)
        if given is not None and not has_fit_parameter(tagger, "X_val"):
            raise ValueError(f"X_val: the fit of the tagger, a {type(tagger).__name__}, takes none")
        context = self._init_callback_context(max_subtasks=1)
        data, fitted = self._training_data("fit", X, y, sample_weight)
        data.update(zip(NAMES, self._given_to_learner(given) or ()))
        events = epoch_context(context, self, X, y)
        events.begin_fit()
        with member_context(context, self, tagger, None, X, y, "fit-tagger"):
            self._train(tagger, tagger.fit, data, fitted)
        events.end_fit(None)
        return self

    def _given_to_learner(self, given):
        """The user's (X_val, y_val), or None, as the tagger takes them."""
        if given is None:
            return None
        with of_held_out():
            return self._held_out_data(*given)

    def _fit_by(self, train, X, y):
        """``fit``, with ``train(tagger)``, a function of X and y, for the fit of the tagger."""
        tagger = self._new_tagger()
        return self._train(tagger, train(tagger), *self._training_data("fit", X, y, None))

    # -- as an estimator around a learner; see ``training.learner.OnlineLearner`` ---------------------
    def _learner(self):
        return self._new_tagger()

    def _prepare_with(self, learner, X, y, sample_weight):
        data, known = self._training_data("fit", X, y, sample_weight)
        with renumbered(data["positions"]):
            return learner._prepare(data["X"], data["y"], data.get("sample_weight")), known

    def _become(self, learned, known):
        tagger = self._new_tagger()
        vars(tagger).update(learned)
        vars(self).update(known, tagger_=tagger)

    def _train(self, tagger, train, data, fitted):
        """Train, then set the fitted attributes; also after an interrupt that left a usable tagger."""
        X, y, positions = data.pop("X"), data.pop("y"), data.pop("positions")
        try:
            with renumbered(positions):
                train(X, y, **data)
        except (AttributeError, TypeError, ValueError) as error:
            self._explain(tagger, error)
            raise
        except KeyboardInterrupt:
            try:
                check_is_fitted(tagger)
            except NotFittedError:
                fitted = None
            if fitted is not None:
                vars(self).update(fitted, tagger_=tagger)
            raise
        vars(self).update(fitted, tagger_=tagger)
        return self

    def _explain(self, tagger, error):
        """Raise, if the tagger in which training failed is one of scikit-learn's that label single rows."""
        tags = getattr(tagger, "__sklearn_tags__", None)
        if tags is None or (kind := tags().estimator_type) not in ("classifier", "regressor"):
            return
        name = type(self).__name__
        raise TypeError(
            f"the tagger of {name} must label sequences, as in {name}(StructuredPerceptron()) or "
            f"{name}(L1CRF()); {type(tagger).__name__} is a {kind} of single rows, and says: {error}"
        ) from error
