"""The common part of estimators over raw text: a tagger inside, which is trained on
sequences made of the texts.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
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
    safe_indexing,
    sample_weights,
    says_what_is_kept,
    text_tags,
)
from .._training.callbacks import epoch_context
from .._training.held_out import (
    NAMES,
    GivenPieces,
    both_or_neither,
    of_held_out,
    of_pieces,
)
from .._training.parameters import Parameters, parameters_named
from .default_tagger import default_learner, default_tagger
from .meta_learner import FitsAnother, ShowsTraining, inside_has
from .settings import KeepsSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._data.types import Given
    from .._training.learner import OnlineLearner
    from .._training.run import Run


NOT_OF_TOKENS = "spans", "segmenter", "words", "tree"
"""Kinds of estimators, ``explained_as``, that predict something else than labels."""


class TaggerData(NamedTuple):
    """Texts as a tagger learns from them."""

    X: list[Any]
    y: list[Any]
    positions: Sequence[int] | np.ndarray  # by sequence: the number of its text
    known: dict[str, Any]  # the attributes of a fit that succeeds


def _names_of_parameters(estimator: Any) -> set[str]:
    return set(estimator._get_param_names())


class TaggerTraining(
    KeepsSettings,
    ShowsTraining,
    FitsAnother,
    Parameters,
    CallbackSupportMixin,
    Savable,
    BaseEstimator,
):
    """The part of ``Segmenter`` and ``SpanTagger`` that hands texts to the tagger.

    A subclass says how texts become sequences: see the abstract methods.
    """

    tagger: Any
    tagger_: Any

    _around = "tagger"

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Raise an error that says where to write a parameter of the tagger."""
        unknown = given.keys() - _names_of_parameters(cls)
        tagger = given.get("tagger", args[0] if args else None)
        if unknown and tagger is None:
            tagger = cls._default()
        for name in unknown:
            if found := hasattr(tagger, "get_params") and parameters_named(
                tagger, name
            ):
                shortest = min(found, key=len)
                changed = clone(tagger).set_params(**{shortest: given[name]})
                call = f"{cls.__name__}({' '.join(repr(changed).split())})"
                raise TypeError(
                    f"{cls.__name__} has no parameter {name!r}, its tagger has: write "
                    f"{call}"
                )
        return super().__new__(cls)

    def __sklearn_tags__(self) -> Any:
        return text_tags(super().__sklearn_tags__())

    # -- what a subclass says ----------------------------------------------------------
    @classmethod
    def _default(cls) -> Any:
        """Return what None stands for as the tagger, not fitted."""
        return default_tagger()

    @classmethod
    def _default_learner(cls) -> Any:
        """Return what None stands for where taggers are mixed: the member of the
        default average.
        """
        return default_learner()

    def _ready(self, tagger: Any) -> Any:
        """Return the tagger, which is a copy, as it is to be trained."""
        return tagger

    @abstractmethod
    def _training_data(self, X: Texts, y: Corpus, go_on: bool = False) -> TaggerData:
        """Turn texts into what the tagger learns from.

        ``go_on``: what the estimator has learned before stays in force.
        """

    @abstractmethod
    def _held_out_data(self, X: Texts, y: Corpus) -> GivenPieces:
        """Turn held-out texts into sequences and their labels."""

    @abstractmethod
    def _sequences(self, X: Texts) -> list[Any]:
        """Turn texts into the sequences that the fitted tagger sees."""

    @abstractmethod
    def _agreed(self, known: list[dict[str, Any]]) -> dict[str, Any]:
        """Make one dict of fitted attributes of those of several shards.

        Raises
        ------
        ValueError
            If they do not go together.
        """

    # -- training ----------------------------------------------------------------------
    def _to_fit(self) -> Any:
        template = super()._to_fit()
        kind = getattr(type(template), "explained_as", None)
        if kind in NOT_OF_TOKENS or hasattr(template, "predict_sets"):
            name = type(self).__name__
            raise TypeError(
                f"the tagger of {name} must label tokens, as in "
                f"{name}(StructuredPerceptron()) or {name}(L1CRF()); a "
                f"{type(template).__name__} does not"
            )
        return template

    def _new_tagger(self) -> Any:
        """Return a tagger to train, not fitted."""
        return self._ready(clone(self._template()))

    def _learner(self) -> Any:
        """Return a tagger that learns example by example, for mixtures, which would
        have no use for an average.
        """
        learner = self._default_learner() if self.tagger is None else self.tagger
        return self._ready(clone(learner))

    @inside_has("partial_fit")
    @says_what_is_kept
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
        if hasattr(self, "tagger_"):
            self._check_further()
        metadata = self._routed(
            "partial_fit", {"sample_weight": sample_weight, **params}
        )
        return self._going_on(X, y, metadata)()

    def _going_on(
        self, X: Texts, y: Corpus, metadata: dict[str, Any]
    ) -> Callable[[], Self]:
        """Check and read more texts; the function returned learns from them."""
        tagger = self.tagger_ if hasattr(self, "tagger_") else self._new_tagger()
        read = self._weighted(X, y, metadata, go_on=True)
        return lambda: self._train(tagger, tagger.partial_fit, *read)

    def _weighted(
        self, X: Texts, y: Corpus, metadata: dict[str, Any], go_on: bool = False
    ) -> tuple[TaggerData, dict[str, Any]]:
        """Turn texts, and metadata of these, into what the tagger learns from.

        Returns
        -------
        TaggerData
        dict
            Metadata of its sequences, by name: arguments of the tagger's methods.
        """
        classes = {name: given for name, given in metadata.items() if name == "classes"}
        found = {name: given for name, given in metadata.items() if name not in classes}
        weight = None
        if "sample_weight" in found:
            weight = sample_weights(found["sample_weight"], X)
            found["sample_weight"] = weight
        data = self._data_of_some(X, y, weight, go_on)
        return data, {**cut_metadata(X, found, data.positions), **classes}

    def _data_of_some(
        self, X: Texts, y: Corpus, weight: np.ndarray | None, go_on: bool
    ) -> TaggerData:
        """Turn the texts that have a weight into what the tagger learns from: of the
        others nothing is read, decided or counted.
        """
        if weight is None or weight.all() or not weight.any() or len(y) != len(X):
            return self._training_data(X, y, go_on)
        used = np.flatnonzero(weight)
        with renumbered(used):
            data = self._training_data(
                safe_indexing(X, used), safe_indexing(y, used), go_on
            )
        return data._replace(positions=used[np.asarray(data.positions, np.int64)])

    def _fit_tagger(
        self,
        X: Texts,
        y: Corpus,
        sample_weight: Weights,
        X_val: Given,
        y_val: Given,
        params: dict[str, Any],
    ) -> Self:
        """Fit a clone of the tagger; the subclass calls it under ``with_callbacks``."""
        self._validate_params()
        self._to_fit()
        tagger = self._new_tagger()
        given = both_or_neither(X_val, y_val)
        if given is not None and not has_fit_parameter(tagger, "X_val"):
            raise ValueError(
                f"X_val: the fit of the tagger, a {type(tagger).__name__}, takes none"
            )
        context = self._init_callback_context(max_subtasks=1)
        data, metadata = self._weighted(
            X, y, self._routed("fit", {"sample_weight": sample_weight, **params})
        )
        held_out = self._given_to_learner(given)
        metadata.update(zip(NAMES, held_out or ()))
        events = epoch_context(context, self, X, y)
        events.begin_fit()
        with (
            of_pieces(held_out and held_out.positions),
            events.member(tagger, None, X, y, "fit-tagger"),
        ):
            self._train(tagger, tagger.fit, data, metadata)
        events.end_fit(None)
        return self

    def _given_to_learner(self, given: tuple[Any, Any] | None) -> GivenPieces | None:
        """Return the user's (X_val, y_val) in the tagger's form, or None."""
        if given is None:
            return None
        with of_held_out():
            return self._held_out_data(*given)

    def _fit_by(
        self, train: Callable[[Any], Callable[..., Any]], X: Texts, y: Corpus
    ) -> Self:
        """Fit a clone of the tagger with ``train(tagger)`` in place of its ``fit``."""
        self._to_fit()
        tagger = self._new_tagger()
        return self._train(tagger, train(tagger), self._training_data(X, y))

    # -- as an estimator around a learner: the protocol of ``OnlineLearner`` -----------
    def _learner_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return self._routed("fit", metadata)

    def _prepare_with(
        self, learner: OnlineLearner, X: Texts, y: Corpus, **metadata: Any
    ) -> tuple[Run, dict[str, Any]]:
        data, of_sequences = self._weighted(X, y, metadata)
        weight = of_sequences.pop("sample_weight", None)
        with renumbered(data.positions):
            return learner._prepare(data.X, data.y, weight, **of_sequences), data.known

    def _become(self, learned: dict[str, Any], known: dict[str, Any]) -> None:
        tagger = self._learner()
        vars(tagger).update(learned)
        vars(self).update(known, tagger_=tagger)
        self._note_settings()

    def _train(
        self,
        tagger: Any,
        train: Callable[..., Any],
        data: TaggerData,
        metadata: dict[str, Any] | None = None,
    ) -> Self:
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
                self._note_settings()
            raise
        vars(self).update(fitted)
        self._note_settings()
        return self

    def _explain(self, tagger: Any, error: Exception) -> None:
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
            f"the tagger of {name} must label sequences, as in "
            f"{name}(StructuredPerceptron()) or "
            f"{name}(L1CRF()); {type(tagger).__name__} is a {kind} of single rows, and "
            f"says: {error}"
        ) from error
