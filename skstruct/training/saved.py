"""Saving what estimators have learned: a model and, for further training, a training state."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from ..core.feature_table import FeatureTable
from ..core.store import READ_ONLY, new_clock
from ..data.inputs import Inputs
from ..saving.packing import COMPRESSED
from ..saving.registry import Savable
from ..saving.stores import clock_from_state, rule_from_state, steps_state
from ..saving.values import require
from .run import TrainingState


@dataclass(kw_only=True)
class SavableModel:
    """Base of what prediction needs; of every structure the same.

    Attributes
    ----------
    packed : str or None
        Of a compressed model, the type of its weights in a file.
    version : str
        Of the package, by which it was trained or written.

    A model has ``sizes()``: its labels, features, state weights that are not zero, and transition weights
    that are not, each None where there is no such thing.
    """

    packed: str | None = None
    version: str = __version__

    def words_of_training(self):
        """The words that the model saw in training, a frozenset; None if it does not remember them."""
        return None


class SavableLearner(Savable):
    """An estimator whose model is ``_model`` and whose :class:`TrainingState`, if it has one, ``_training``.

    ``explained_as`` says how ``inspection.explain`` takes its scores apart.

    The module ``_saved`` says what a structure stores:

    - ``model_state(model, writer, name)``: the members that describe the model;
    - ``model_from_state(node, fitted, reader, where)``: the model, of all members and what is fitted besides;
    - ``FACTS``: which of ``closed``, ``stream`` and ``min_count`` a training state has;
    - ``compressed(model, dtype, keep)``: a smaller model; see :meth:`.Savable.compress`;
    - ``trained_state(trained, writer, name)``: the members that describe ``TrainingState.model``;
    - ``trained_from_state(node, model, min_count, rule, clock, reader, where)``: that model; ``node`` is None
      if the file has only the ``model`` to go on from.
    """

    _saved = None

    def _settled(self, X, y, sample_weight):
        """The estimator to train on a corpus: itself, but for one that chooses parameters by the corpus."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    @property
    def inputs(self) -> Inputs:
        """What the fitted model reads and predicts, a :class:`skstruct.data.inputs.Inputs`."""
        check_is_fitted(self)
        return self._model.inputs

    def n_features(self) -> int:
        """Number of features of the fitted model; each has a weight for every label, or action."""
        check_is_fitted(self)
        return self._model.n_features

    def _to_state(self, writer, name):
        """Model and training state; empty if the estimator is not fitted."""
        attributes = vars(self)
        if "_model" not in attributes:
            return {}
        model = attributes["_model"]
        if writer.smaller is not None:
            model = self._saved.compressed(model, *writer.smaller)
        with writer.packing(model.packed):
            state = self._saved.model_state(model, writer, f"{name}model")
        state["version"] = model.version
        if model.packed is not None:
            state["packed"] = model.packed
        if "_training" in attributes:
            training, history = attributes["_training"], attributes.get("history_")
            # Training would have put a whole model in the place of a compressed one.
            kept = writer.training and model.packed is None
            state["training"] = _training_state(
                training, history, writer, f"{name}training", self._saved, kept
            )
        return state

    @classmethod
    def _from_state(cls, node, fitted, reader, where):
        """The attributes ``_model`` and ``_training``."""
        require(isinstance(node, dict), f"{where}: the state must be a JSON object")
        if not node:
            return {}
        model = cls._saved.model_from_state(node, fitted, reader, where)
        packed = node.get("packed")
        require(packed in (None, *COMPRESSED), f"{where}: unknown packed {packed!r:.40}")
        version = node.get("version", reader.version)
        require(isinstance(version, str) or version is None, f"{where}: the version must be a string")
        model.packed, model.version = packed, version
        labels, classes = getattr(model, "labels", None), fitted.get("classes_")
        if labels:
            ok = isinstance(classes, np.ndarray) and classes.tolist() == labels.values
            ok = ok and list(map(type, classes.tolist())) == list(map(type, labels.values))
        else:
            ok = classes is None
        require(ok, f"{where}: classes_ and the labels differ")
        history = fitted.get("history_", [])
        require(isinstance(history, list), f"{where}.history_ must be a list")
        attributes = {"_model": model}
        if labels:
            attributes["classes_"] = labels.array  # earlier files have an array of str
        if "training" in node:
            attributes["_training"] = training_from_state(
                node["training"], model, history, reader, f"{where}.training", cls._saved
            )
        return attributes


def _training_state(state, history, writer, name, saved, kept):
    """The JSON of a :class:`TrainingState`; without weights unless they are ``kept``.

    ``history`` is the estimator's: usually the very list that the state holds.
    """
    out = {"key": int(state.key), "epoch": int(state.epoch)}
    for fact in saved.FACTS:
        out[fact] = _min_count(state.model) if fact == "min_count" else bool(getattr(state, fact))
    if not kept:
        return out
    if state.history is not history:
        out["history"] = writer.value(state.history, f"{name}.history")
    out.update(steps_state(state.rule, state.model.clock))
    out.update(saved.trained_state(state.model, writer, name))
    return out


def _min_count(model):
    """That of the model's feature tables."""
    return next(int(part.min_count) for part in model if isinstance(part, FeatureTable))


def training_from_state(node, model, history, reader, where, saved):
    """The :class:`TrainingState` of a file; without weights in it, one that starts from the model's."""
    key, epoch, *facts = reader.members(node, where, " ".join(("key", "epoch", *saved.FACTS)))
    facts = dict(zip(saved.FACTS, facts))
    min_count = reader.integer(facts.pop("min_count", 1), f"{where}.min_count", 1)
    rule, clock, kept = READ_ONLY, new_clock(), None
    if "rule" in node:
        rule, clock = reader.members(node, where, "rule clock")
        rule = rule_from_state(rule, reader, f"{where}.rule")
        clock, kept = clock_from_state(clock, reader, f"{where}.clock"), node
    trained = saved.trained_from_state(kept, model, min_count, rule, clock, reader, where)
    if "history" in node:
        history = reader.value(reader.list(node["history"], where), f"{where}.history")
    return TrainingState(
        trained,
        rule,
        reader.integer(key, f"{where}.key", 0, 2**31),
        reader.integer(epoch, f"{where}.epoch", 0),
        history=history,
        **{fact: reader.flag(flag, f"{where}.{fact}") for fact, flag in facts.items()},
    )
