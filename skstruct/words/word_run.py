"""A training run of the word segmenter: what epochs, shards and held-out sequences need to know of it."""

import numpy as np

from ..cluster.vocabulary import Vocabulary
from ..data.inputs import PlaceError
from ..data.segmented import as_pieces, with_characters
from ..metrics.word_scores import word_f1_score
from ..training.held_out import HeldOut
from ..training.run import Run, TrainingState
from .boundaries import as_gold
from .word_beam import new_work
from .word_epoch import epoch, new_model, node_halves
from .word_model import WordModel, final_model, make_task


class WordRun(Run):
    """A training run of a word segmenter."""

    epoch, node_halves = staticmethod(epoch), staticmethod(node_halves)
    score_name = "word F1"
    model_class = WordModel

    def finished(self, model, reuse=False):
        """See ``training.run.Run``."""
        return final_model(model, self.state.rule, reuse)

    def scratch(self):
        """See ``training.run.Run``."""
        return new_work(self.task, self.state.model.beam)

    def held_out_part(self, X, y):
        """See ``training.run.Run``."""
        pieces = as_pieces(X)
        _, words = as_gold(X, pieces, y)
        if None in words:
            raise PlaceError(words.index(None), None, "expected words, got flags", "y")
        with_characters(pieces)
        return held_out_texts(pieces, words, given=True), []

    def held_out_score(self, model):
        """Word F1."""
        pieces, words = self.held_out.encoded, self.held_out.y
        return word_f1_score(words, model.predict(pieces, None, self.estimator.n_jobs)[0])

    def fresh(self, key):
        """See ``training.run.Run``."""
        model, rule = self.state.model, self.state.rule
        settings = model.templates, model.beam, model.update, model.features.min_count
        return TrainingState(new_model(*settings, rule), rule, key)

    # Keys mean the same everywhere: there is nothing to bring together.
    def vocabulary(self, min_count):
        """See ``training.run.Run``."""
        return Vocabulary()

    @classmethod
    def merged(cls, vocabularies, learner, key):
        """See ``training.run.Run``."""
        state = learner._fresh_state(key)
        return cls(learner, state, make_task([], np.zeros(0, np.int8))), [{} for _ in vocabularies]

    def adopt(self, plan):
        """See ``training.run.Run``."""


def held_out_texts(pieces, words, given=False):
    """Held-out texts, cut at their white space."""
    return HeldOut([" ".join(parts) for parts in pieces], words, given, pieces)
