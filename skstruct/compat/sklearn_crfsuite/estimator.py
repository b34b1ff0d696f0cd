"""The names of ``sklearn_crfsuite.estimator``: the ``CRF``."""

import os

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from .. import pycrfsuite
from ..parameters import DEFAULTS
from ..sequence_array import SequenceArray
from ._fileresource import FileResource
from .metrics import flat_accuracy_score
from .trainer import LinePerIterationTrainer

_OTHER_NAMES = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}


def _of_model(what, read):
    """A property of the model file; None if there is none."""

    def value(crf):
        tagger = crf.tagger_
        return None if tagger is None else read(tagger)

    return property(value, doc=what)


class CRF(BaseEstimator):
    """A conditional random field, or another learner, with the interface of ``sklearn-crfsuite``.

    Parameters are those of CRFsuite; None stands for its default. ``model_filename`` names the model file,
    which may exist, as may a pickle of a ``CRF`` there; without it there is a temporary one, which is pickled
    with the object.
    """

    def __init__(
        self, algorithm=None, min_freq=None, all_possible_states=None, all_possible_transitions=None,
        c1=None, c2=None, max_iterations=None, num_memories=None, epsilon=None, period=None, delta=None,
        linesearch=None, max_linesearch=None, calibration_eta=None, calibration_rate=None,
        calibration_samples=None, calibration_candidates=None, calibration_max_trials=None, pa_type=None,
        c=None, error_sensitive=None, averaging=None, variance=None, gamma=None, verbose=False,
        model_filename=None, keep_tempfiles=False, trainer_cls=None,
    ):  # fmt: skip
        vars(self).update({name: value for name, value in locals().items() if name != "self"})
        self.modelfile = FileResource(model_filename, keep_tempfiles, ".crfsuite", "model")
        self.training_log_ = None
        self._tagger = None

    def fit(self, X, y, X_dev=None, y_dev=None):
        """Train on sequences of items and of labels; ``training_log_`` has the scores on X_dev, y_dev."""
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        names = {name for defaults in DEFAULTS.values() for name in defaults}
        values = {name: getattr(self, _OTHER_NAMES.get(name, name.replace(".", "_"))) for name in names}
        given = {name: value for name, value in values.items() if value is not None}
        make = self.trainer_cls or LinePerIterationTrainer
        trainer = make(algorithm=self.algorithm, params=given, verbose=self.verbose)
        parts = [(X, y)] if X_dev is None else [(X, y), (X_dev, y_dev)]
        for group, (xseqs, yseqs) in enumerate(parts):
            for xseq, yseq in zip(xseqs, yseqs, strict=True):
                trainer.append(xseq, yseq, group)
        self._train(trainer, -1 if X_dev is None else 1)
        self.training_log_ = trainer.logparser
        return self

    def _train(self, trainer, holdout):
        """Train to the model file; after an error the earlier model is there, or none."""
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
    def tagger_(self):
        """The ``pycrfsuite.Tagger`` of the model, None if there is none."""
        tagger = self._tagger
        if tagger is None and self.modelfile.name is not None:
            tagger = pycrfsuite.Tagger()
            tagger.open(self.modelfile.name)
            self._tagger = tagger
        return tagger

    def _fitted(self):
        tagger = self.tagger_
        if tagger is None:
            raise NotFittedError("this CRF is not fitted, and has no model_filename")
        return tagger

    def __sklearn_is_fitted__(self):
        return self.modelfile.name is not None and os.path.exists(self.modelfile.name)

    def predict(self, X):
        """The labels of sequences: a 1-D array of lists, whose ``==`` compares whole sequences."""
        return SequenceArray.of(self._fitted().tag_all(X))

    def predict_single(self, xseq):
        """The labels of one sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X):
        """For each token of each sequence a dict of the probabilities of labels: a 1-D array of lists."""
        tagger = self._fitted()
        labels = tagger.labels()
        found = (rows.tolist() for rows in tagger.marginals_of_all(X))
        return SequenceArray.of([dict(zip(labels, row)) for row in rows] for rows in found)

    def predict_marginals_single(self, xseq):
        """For each token of one sequence a dict of the probabilities of labels."""
        return self.predict_marginals([xseq])[0]

    def score(self, X, y):
        """The share of right labels."""
        return flat_accuracy_score(y, self.predict(X))

    classes_ = _of_model("The labels.", lambda tagger: tagger.labels())
    size_ = _of_model("Bytes of the model.", lambda tagger: int(tagger.info().header["size"]))
    num_attributes_ = _of_model("Attributes of the model.", lambda tagger: len(tagger.info().attributes))
    attributes_ = _of_model("Attributes, in their order.", lambda tagger: [*tagger.info().attributes])
    state_features_ = _of_model("Weights by (attribute, label).", lambda tagger: tagger.info().state_features)
    transition_features_ = _of_model("Weights by (label, label).", lambda tagger: tagger.info().transitions)

    def __getstate__(self):
        return {**vars(self), "_tagger": None}
