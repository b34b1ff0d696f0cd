"""The names of ``sklearn_crfsuite.estimator``: the ``CRF``."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from .. import pycrfsuite
from ..parameters import DEFAULTS
from ..sequence_array import SequenceArray
from ._fileresource import FileResource
from .metrics import flat_accuracy_score
from .trainer import LinePerIterationTrainer

if TYPE_CHECKING:
    from ..._data.types import Self


_NONE = object()
"""Stands where one side has no further sequence."""

_OTHER_NAMES = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}


def _of_model(what: str, read: Callable[[Any], Any]) -> property:
    """Return a property of the model file; None if there is none."""

    def value(crf: CRF) -> Any:
        tagger = crf.tagger_
        return None if tagger is None else read(tagger)

    return property(value, doc=what)


class CRF(BaseEstimator):
    """A conditional random field, or another learner, with the interface of
    ``sklearn-crfsuite``.

    Parameters are those of CRFsuite; None stands for its default. ``model_filename``
    names the model file, which may exist, as may a pickle of a ``CRF`` there; without
    it there is a temporary one, which is pickled with the object.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: float | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: type | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        self.__dict__.update(given)
        self.modelfile = FileResource(
            model_filename, keep_tempfiles, ".crfsuite", "model"
        )
        self.training_log_ = None
        self._tagger: pycrfsuite.Tagger | None = None

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Train on sequences of items and of labels; ``training_log_`` has the scores
        on X_dev, y_dev.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        names = {name for defaults in DEFAULTS.values() for name in defaults}
        values = {
            name: getattr(self, _OTHER_NAMES.get(name, name.replace(".", "_")))
            for name in names
        }
        given = {name: value for name, value in values.items() if value is not None}
        make = self.trainer_cls or LinePerIterationTrainer
        trainer = make(algorithm=self.algorithm, params=given, verbose=self.verbose)
        parts = [(X, y)] if X_dev is None else [(X, y), (X_dev, y_dev)]
        for group, (xseqs, yseqs) in enumerate(parts):
            for xseq, yseq in zip_longest(xseqs, yseqs, fillvalue=_NONE):
                if xseq is _NONE or yseq is _NONE:
                    raise ValueError(
                        "X and y must hold the same number of sequences, got "
                        f"{'fewer' if xseq is _NONE else 'more'} in X"
                    )
                trainer.append(xseq, yseq, group)
        self._train(trainer, -1 if X_dev is None else 1)
        self.training_log_ = trainer.logparser
        return self

    def _train(self, trainer: Any, holdout: int) -> None:
        """Train to the model file; after an error the earlier model is there, or
        none.
        """
        is_new = self.modelfile.name is None
        self.modelfile.ensure_name()
        try:
            trainer.train(self.modelfile.name, holdout=holdout)
        except BaseException:
            if is_new:
                self.modelfile.discard()
            raise
        self._tagger = None

    @property
    def tagger_(self) -> pycrfsuite.Tagger | None:
        """The ``pycrfsuite.Tagger`` of the model, None if there is none."""
        tagger = self._tagger
        if tagger is None and self.modelfile.name is not None:
            tagger = pycrfsuite.Tagger()
            tagger.open(self.modelfile.name)
            self._tagger = tagger
        return tagger

    def _fitted(self) -> pycrfsuite.Tagger:
        tagger = self.tagger_
        if tagger is None:
            raise NotFittedError("this CRF is not fitted, and has no model_filename")
        return tagger

    def __sklearn_is_fitted__(self) -> bool:
        return self.modelfile.name is not None and os.path.exists(self.modelfile.name)

    def predict(self, X: Any) -> SequenceArray:
        """Return the labels of sequences: a 1-D array of lists, whose ``==`` compares
        whole sequences.
        """
        return SequenceArray.of(self._fitted().tag_all(X))

    def predict_single(self, xseq: Any) -> list[str]:
        """Return the labels of one sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X: Any) -> SequenceArray:
        """Return for each token of each sequence a dict of the probabilities of labels:
        a 1-D array of lists.
        """
        tagger = self._fitted()
        labels = tagger.labels()
        found = (rows.tolist() for rows in tagger.marginals_of_all(X))
        return SequenceArray.of(
            [dict(zip(labels, row)) for row in rows] for rows in found
        )

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Return for each token of one sequence a dict of the probabilities of
        labels.
        """
        return self.predict_marginals([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """Return the share of right labels."""
        return flat_accuracy_score(y, self.predict(X))

    classes_ = _of_model("The labels.", lambda tagger: tagger.labels())
    size_ = _of_model(
        "Bytes of the model.", lambda tagger: int(tagger.info().header["size"])
    )
    num_attributes_ = _of_model(
        "Attributes of the model.", lambda tagger: len(tagger.info().attributes)
    )
    attributes_ = _of_model(
        "Attributes, in their order.", lambda tagger: [*tagger.info().attributes]
    )
    state_features_ = _of_model(
        "Weights by (attribute, label).", lambda tagger: tagger.info().state_features
    )
    transition_features_ = _of_model(
        "Weights by (label, label).", lambda tagger: tagger.info().transitions
    )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tagger": None}
