"""What a segmenter's tagger is trained on: characters and their labels, and back to the fitted segmenter."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from .._sklearn import sample_weights
from ..data.inputs import renumbered
from ..data.schemes import words_to_labels
from ..data.segmented import as_pieces, as_words, with_characters
from ..training.held_out import of_held_out
from .perceptron import StructuredPerceptron


class TaggerTraining:
    """The part of ``Segmenter`` that hands its texts to the tagger."""

    tagger: Any
    scheme: str

    def _new_tagger(self):
        if self.tagger is None:
            return StructuredPerceptron(features="char", constraints=None)
        return clone(self.tagger)

    def _training_data(self, method, X, y, sample_weight):
        """What the tagger's method is called with, and the attributes of a fit that succeeds.

        Of the former, ``positions`` are those of its sequences among the texts.
        """
        pieces = as_pieces(X)
        words, tags = as_words(pieces, y)
        keep = with_characters(pieces)
        weight = sample_weights(sample_weight, pieces)
        routed = {} if weight is None else {"sample_weight": weight[keep]}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, method, **routed).tagger[method]
        data = {
            **self._labelled(pieces, words, tags, keep),
            "positions": keep,
            **routed,
        }
        return data, {"tagged_": tags is not None}

    def _labelled(self, pieces, words, tags, keep):
        """Characters and their labels of some of the texts, as a tagger learns them."""
        return {
            "X": [list("".join(pieces[i])) for i in keep],
            "y": [words_to_labels(words[i], self.scheme, tags and tags[i]) for i in keep],
        }

    def _given_to_learner(self, given):
        """The user's (X_val, y_val), or None, as the tagger takes them; with empty texts, for places."""
        if given is None:
            return None
        with of_held_out():
            pieces = as_pieces(given[0])
            words, tags = as_words(pieces, given[1])
            with_characters(pieces)
        return tuple(self._labelled(pieces, words, tags, range(len(pieces))).values())

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
