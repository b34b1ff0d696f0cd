"""Saving what estimators have learned: a model and, for further training, a training
state.

Fields find what stands outside of their own object by name (see
:class:`.._saving.fields.Members`). These names are known to those of a model and of its
training state:

- ``fitted``, in reading a model: the fitted attributes of its estimator;
- ``divisor``, in writing: what integer weights are divided by, 0 if they are none;
- ``kept``: whether the file has the weights in training. Where it has not, training
  goes on from those of the model;
- ``model``, in reading a training state: the model, whose attributes are known by their
  own names, too;
- ``history_``, in reading a training state: the history of the estimator, which is that
  of the training unless the file says another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.feature_table import FeatureTable
from .._core.store import READ_ONLY, Store, new_clock
from .._data.inputs import Inputs
from .._saving.container import require
from .._saving.fields import (
    Field,
    Members,
    Table,
    choice,
    flag,
    inline,
    integer,
    optional,
    string,
    value,
)
from .._saving.forms import SMALLEST
from .._saving.packing import COMPRESSED
from .._saving.registry import Savable
from .._saving.stores import CLOCK, RULE
from .._version import __version__
from .run import TrainingState

if TYPE_CHECKING:
    from .._data.labels import Labels
    from .._data.types import Corpus, History, Self
    from .._saving.fields import Kind
    from .._saving.values import Reader, Writer


Sizes: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Labels, features, state weights and transition weights of a model."""


class NamedWeights(NamedTuple):
    """The weights of one kind of feature."""

    store: Store
    labels: list[Any]  # by column
    names: Callable[[np.ndarray], list[Any]]  # lists the names of weight rows


@dataclass(kw_only=True)
class SavableModel(ABC):
    """Base of what prediction needs, of any structure; and what files hold of it.

    Attributes
    ----------
    packed : str or None
        Of a compressed model, the type of its weights in a file.
    version : str
        Of the package, by which it was trained or written.
    """

    FIELDS: ClassVar[Table | Kind]
    """Its members in a state, which make the arguments of its constructor."""

    TRAINED: ClassVar[Table | Kind]
    """The members that describe ``TrainingState.model``."""

    FACTS: ClassVar[tuple[str, ...]]
    """The names among ``closed``, ``stream`` and ``min_count`` that a training state
    has.
    """

    MORE: ClassVar[tuple[Field, ...]] = ()
    """Fields of a training state besides, of which files may lack any."""

    packed: str | None = None
    version: str = __version__

    @property
    def inputs(self) -> Inputs:
        """Return what the model reads and predicts, if it says so and not its
        estimator.
        """
        raise AttributeError(f"{type(self).__name__} has no inputs")

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @abstractmethod
    def sizes(self) -> Sizes:
        """Count labels, features, state weights that are not zero, and transition
        weights that are not; None where there is no such thing.
        """

    @abstractmethod
    def compressed(self, dtype: str, keep: float) -> Self:
        """Return a smaller model.

        Parameters
        ----------
        dtype : str
            The type of its weights in a file.
        keep : float
            Share of the weights that stay; see :meth:`.Savable.compress`.
        """

    @abstractmethod
    def in_training(self, f: Members) -> Any:
        """Return the model in training, a NamedTuple of the structure.

        Parameters
        ----------
        f : Members
            Of a training state; ``trained`` is what ``TRAINED`` has made, or None if
            there is only this model to go on from.
        """

    def words_of_training(self) -> frozenset[str] | None:
        """Return the words seen in training; None if the model does not remember
        them.
        """
        return None


class SavableLearner(Savable):
    """Base of the estimators that are fitted when they have a model."""

    _written = ("_model", "_training")

    explained_as: ClassVar[str]
    """The way in which ``inspection.explain`` decomposes its scores, if it does."""

    _model_class: ClassVar[type[SavableModel]]
    _model: Any  # a `_model_class`, once fitted
    _training: Any  # a `TrainingState`, once fitted, if it can be trained further

    def _settled(self, X: Corpus, y: Corpus, **metadata: Any) -> Any:
        """Return the estimator to train on a corpus: itself, but for one that chooses
        parameters by the corpus.
        """
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    @property
    def inputs(self) -> Inputs:
        """Return what the fitted model reads and predicts, a
        :class:`skstruct.features.Inputs`.
        """
        check_is_fitted(self)
        return self._model.inputs

    def n_features(self) -> int:
        """Number of features of the fitted model; each has a weight for every label, or
        action.
        """
        check_is_fitted(self)
        return self._model.n_features

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        """Write model and training state, and return {} if the estimator is not fitted."""
        attributes = vars(self)
        if "_model" not in attributes:
            return {}
        model = attributes["_model"]
        if writer.smaller is not None:
            model = model.compressed(*writer.smaller)
        # Training would have put a whole model in the place of a compressed one.
        kept = writer.training and model.packed is None
        known = Members({"divisor": getattr(model, "divisor", 0), "kept": kept})
        if model.packed is not None:
            writer.packing_of_file = SMALLEST
        with writer.packing(model.packed):
            state = model.FIELDS.write(model, writer, f"{name}model", known)
        state.update(STATE.write(model, writer, name))
        if "_training" in attributes:
            table = training_table(model.__class__)
            training = _members_to_write(attributes, model, kept)
            state["training"] = table.write(training, writer, f"{name}training", known)
        return state

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        """Read the attributes that :meth:`_to_state` wrote."""
        require(isinstance(node, dict), f"{where}: the state must be a JSON object")
        if not node:
            return {}
        known = Members({"fitted": fitted}, reader=reader)
        model = cls._model_class(**cls._model_class.FIELDS.read(node, where, known))
        vars(model).update(STATE.read(node, where, known))
        labels = getattr(model, "labels", None)
        _check_classes(fitted.get("classes_"), labels, where)
        history = fitted.get("history_", [])
        require(isinstance(history, list), f"{where}.history_ must be a list")
        attributes: dict[str, Any] = {"_model": model}
        if labels:
            attributes["classes_"] = labels.array
        if "training" in node:
            attributes["_training"] = training_from_state(
                node["training"], model, history, reader, f"{where}.training"
            )
        return attributes


def _members_to_write(
    attributes: dict[str, Any], model: SavableModel, kept: bool
) -> dict[str, Any]:
    """Return the members of an estimator's training state, with None for those that its
    file leaves out.

    Parameters
    ----------
    attributes : dict
        Of the estimator.
    model : SavableModel
    kept : bool
        Whether the file has the weights in training.
    """
    training = dict(vars(attributes["_training"]))
    if not kept or training["history"] is attributes.get("history_"):
        training["history"] = None  # that of the estimator stands for it
    if not kept:
        training.update(dict.fromkeys(field.name for field in model.MORE))
    return training


def _check_classes(classes: Any, labels: Labels | None, where: str) -> None:
    """Raise unless the fitted attribute ``classes_`` of a file has the labels of its
    model: their types, too, and nothing if there are no labels.
    """
    found = classes
    if isinstance(classes, np.ndarray):
        found = [(type(each), each) for each in classes.tolist()]
    expected = None
    if labels:
        expected = [(type(label), label) for label in labels.values]
    require(found == expected, f"{where}: classes_ and the labels differ")


STATE = Table(
    "State of any model",
    Field("version", optional(string)),
    Field(
        "packed",
        choice({None: None, **{name: name for name in COMPRESSED}}),
        default=None,
    ),
)

_FACTS = {
    "closed": Field("closed", flag),
    "stream": Field("stream", flag),
    "min_count": Field(
        "min_count", integer(1), of=lambda state: _min_count(state["model"])
    ),
}


def _min_count(model: Any) -> int:
    """Return the cut-off of a model in training, which its feature tables share."""
    return next(part.min_count for part in model if isinstance(part, FeatureTable))


@cache
def training_table(model_class: type[SavableModel]) -> Table:
    """Make the table of a :class:`TrainingState`, whose weights are in a file if they
    are ``kept``.
    """
    return Table(
        "Training",
        Field("key", integer(0, 2**31)),
        Field("epoch", integer()),
        *(_FACTS[fact] for fact in model_class.FACTS),
        Field("history", value, default=None),
        Field("rule", RULE, when="kept", default=READ_ONLY),
        Field(
            "clock",
            CLOCK,
            of=lambda state: state["model"].clock,
            when="kept",
            default=lambda _: new_clock(),
        ),
        Field(
            "trained",
            inline(model_class.TRAINED),
            of="model",
            when="kept",
            default=None,
        ),
        *model_class.MORE,
        make=_training_state,
    )


def _training_state(f: Members) -> TrainingState:
    """Make a training state of its members."""
    history = f["history_"] if f["history"] is None else f["history"]
    require(isinstance(history, list), f"{f.where}.history must be a list")
    facts = {fact: f[fact] for fact in ("closed", "stream", "pairs") if fact in f}
    trained = f["model"].in_training(f)
    return TrainingState(
        trained, f["rule"], f["key"], f["epoch"], history=history, **facts
    )


def training_from_state(
    node: Any, model: SavableModel, history: History, reader: Reader | None, where: str
) -> TrainingState:
    """Read a training state; one without weights in the file starts from the
    model's.
    """
    kept = isinstance(node, dict) and "rule" in node
    known = {**vars(model), "model": model, "history_": history, "kept": kept}
    return training_table(type(model)).read(node, where, Members(known, reader=reader))
