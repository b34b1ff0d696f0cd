"""What estimators over raw text share: a tagger inside, which is trained on sequences
made of the texts.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from sklearn import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._data.inputs import renumbered
from .._data.types import Corpus, Self, Texts, Weights
from .._saving.registry import Savable
from .._sklearn import (
    BaseEstimator,
    CallbackSupportMixin,
    cut_metadata,
    epoch_context,
    sample_weights,
    text_tags,
)
from .._training.held_out import NAMES, both_or_neither, of_held_out
from .._training.parameters import Parameters
from .meta_learner import FitsAnother, ShowsTraining, inside_has
from .perceptron import StructuredPerceptron


class TaggerData(NamedTuple):
    """Texts as a tagger learns from them."""

    X: list
    y: list
    positions: Any  # by sequence: the number of its text
    known: dict  # the attributes of a fit that succeeds
    metadata: Any = None  # of the sequences, by name: arguments of the tagger's methods


class TaggerTraining(
    ShowsTraining, FitsAnother, Parameters, CallbackSupportMixin, Savable, BaseEstimator
):
    """The part of ``Segmenter`` and ``SpanTagger`` that hands their texts to the
    tagger.

    A subclass has

    * ``_training_data(X, y, go_on=False)``: the :class:`TaggerData` of texts; with
      ``go_on`` what the estimator has learned before stays in force;
    * ``_held_out_data(X, y)``: held-out texts as the tagger takes them;
    * ``_sequences(X)``: the sequences that the fitted tagger sees of texts;
    * ``_agreed(known)``: one dict of fitted attributes from those of several shards, or
      an error.
    """

    tagger_: Any

    _around = "tagger"

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """An error about a parameter that is the tagger's says where to write it."""
        tagger = given.get("tagger", args[0] if args else None)
        tagger = StructuredPerceptron() if tagger is None else tagger
        for name in given.keys() - set(cls._get_param_names()):
            if name in getattr(tagger, "get_params", dict)():
                call = f"{cls.__name__}({clone(tagger).set_params(**{name: given[name]})!r})"
                raise TypeError(
                    f"{cls.__name__} has no parameter {name!r}, its tagger has: write {call}"
                )
        return super().__new__(cls)

    def __sklearn_tags__(self) -> Any:
        return text_tags(super().__sklearn_tags__())

    def _learner(self):
        """A tagger, not fitted."""
        return clone(self._template())

    @inside_has("partial_fit")
    def partial_fit(
        self, X: Texts, y: Corpus, sample_weight: Weights = None, **params: Any
    ) -> Self:
        """Go on learning from more texts, with the tagger's ``partial_fit``.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`. What the data of the first call decide besides the
            tagger's weights stays.
        **params
            Metadata that the tagger asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As :meth:`fit`; and if the tagger is frozen, since it stays as it is.
        """
        self._refuse_frozen("partial_fit")
        self._validate_params()
        tagger = self.tagger_ if hasattr(self, "tagger_") else self._learner()
        metadata = self._routed(
            "partial_fit", {"sample_weight": sample_weight, **params}
        )
        data = self._weighted(X, y, metadata, go_on=True)
        return self._train(tagger, tagger.partial_fit, data, data.metadata)

    def _weighted(self, X, y, metadata, go_on=False):
        """The :class:`TaggerData` of texts, with the tagger's metadata for each of its
        sequences.
        """
        data = self._training_data(X, y, go_on)
        classes = {name: given for name, given in metadata.items() if name == "classes"}
        found = {name: given for name, given in metadata.items() if name not in classes}
        if "sample_weight" in found:
            found["sample_weight"] = sample_weights(found["sample_weight"], X)
        return data._replace(
            metadata={**cut_metadata(X, found, data.positions), **classes}
        )

    def _fit_tagger(self, X, y, sample_weight, X_val, y_val, params):
        """``fit``; the subclass has it under ``with_callbacks``."""
        self._validate_params()
        tagger = self._learner()
        given = both_or_neither(X_val, y_val)
        if given is not None and not has_fit_parameter(tagger, "X_val"):
            raise ValueError(
                f"X_val: the fit of the tagger, a {type(tagger).__name__}, takes none"
            )
        context = self._init_callback_context(max_subtasks=1)
        data = self._weighted(
            X, y, self._routed("fit", {"sample_weight": sample_weight, **params})
        )
        metadata = {
            **data.metadata,
            **dict(zip(NAMES, self._given_to_learner(given) or ())),
        }
        events = epoch_context(context, self, X, y)
        events.begin_fit()
        with events.member(tagger, None, X, y, "fit-tagger"):
            self._train(tagger, tagger.fit, data, metadata)
        events.end_fit(None)
        return self

    def _given_to_learner(self, given):
        """The user's (X_val, y_val), or None, as the tagger takes them."""
        if given is None:
            return None
        with of_held_out():
            return self._held_out_data(*given)

    def _fit_by(self, train, X, y):
        """``fit``, with ``train(tagger)``, a function of X and y, for the fit of the
        tagger.
        """
        tagger = self._learner()
        return self._train(tagger, train(tagger), self._training_data(X, y))

    # -- as an estimator around a learner; see ``_training.learner.OnlineLearner`` ------
    def _learner_metadata(self, metadata):
        return self._routed("fit", metadata)

    def _prepare_with(self, learner, X, y, **metadata):
        data = self._weighted(X, y, metadata)
        weight = data.metadata.pop("sample_weight", None)
        with renumbered(data.positions):
            return learner._prepare(data.X, data.y, weight, **data.metadata), data.known

    def _become(self, learned, known):
        tagger = self._learner()
        vars(tagger).update(learned)
        vars(self).update(known, tagger_=tagger)

    def _train(self, tagger, train, data, metadata=None):
        """Train, then set the fitted attributes; also after an interrupt that left a
        usable tagger.
        """
        fitted = {**data.known, "tagger_": tagger}
        try:
            with renumbered(data.positions):
                train(data.X, data.y, **(metadata or {}))
        except (AttributeError, TypeError, ValueError) as error:
            self._explain(tagger, error)
            raise
        except KeyboardInterrupt:
            with suppress(NotFittedError):
                check_is_fitted(tagger)
                vars(self).update(fitted)
            raise
        vars(self).update(fitted)
        return self

    def _explain(self, tagger, error):
        """Raise, if the tagger in which training failed is one of scikit-learn's that
        label single rows.
        """
        tags = getattr(tagger, "__sklearn_tags__", None)
        if tags is None or (kind := tags().estimator_type) not in (
            "classifier",
            "regressor",
        ):
            return
        name = type(self).__name__
        raise TypeError(
            f"the tagger of {name} must label sequences, as in {name}(StructuredPerceptron()) or "
            f"{name}(L1CRF()); {type(tagger).__name__} is a {kind} of single rows, and says: {error}"
        ) from error
