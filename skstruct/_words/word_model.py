"""The fitted model of a word segmenter, weights and prediction; and a training run,
which makes one.

Features carry their meaning in their keys (see :mod:`.word_features`), so that there is
no vocabulary beside the table.
"""

from dataclasses import dataclass

import numpy as np

from .._core.codes import STANDARD, START, WORD_TEMPLATES, ZC14
from .._core.feature_table import TableAverage
from .._core.noise import QUIET
from .._core.store import new_clock
from .._data.inputs import WORDS, Inputs, PlaceError, lengths_of, offsets_of
from .._data.segmented import as_pieces, with_characters, words_at
from .._data.text import codes_of
from .._saving.fields import Field, Table, choice, inline, integer
from .._shards.vocabulary import Vocabulary
from .._training.chunks import (
    PIECE_TOKENS,
    as_writeable_view,
    map_chunks,
    no_collection,
)
from .._training.held_out import HeldOut
from .._training.run import Run
from .._training.saved import NamedWeights
from .._training.tables import TableModel, features_of, final_arrays, training_of
from ..metrics.text_scores import word_f1_score
from . import word_epoch as structure
from .boundaries import as_gold, white_space_limits
from .word_beam import SegmentTask, new_work
from .word_features import Scorer
from .word_kbest import new_lists
from .word_names import DECISIONS, IS_NODE, feature_names, features, in_order, in_use


def make_task(texts, limit, gold=None, weight=None):
    """The arrays that the kernels read.

    Parameters
    ----------
    texts : list of str
        Without white space.
    limit : ndarray of shape (N,), int8
        Decisions that must be taken, or FREE; START at the first character of each
        text.
    gold : ndarray of shape (N,), int8, optional
    weight : ndarray of shape (n,), optional
    """
    return SegmentTask(
        token=offsets_of(lengths_of(texts)),
        char=codes_of("".join(texts)).view(np.int32) + np.int32(1),
        limit=limit,
        gold=np.zeros(0, np.int8) if gold is None else gold,
        weight=np.ones(len(texts)) if weight is None else weight,
    )


def _are_features(f, keys):
    return in_order(f["templates"], keys)


def _arguments(f):
    # What is learned from (the update) the next training says.
    return {
        "arrays": Scorer(
            f["templates"], f["beam"], STANDARD, f["features"], new_clock()
        )
    }


@dataclass
class WordModel(TableModel):
    """What prediction needs; see also :class:`.TableModel`.

    Attributes
    ----------
    arrays : Scorer
    """

    arrays: Scorer

    # Features are stored by their keys, in the order of rows: words stand before what
    # holds them.
    FIELDS = Table(
        "WordSegmenter",
        Field("templates", choice(WORD_TEMPLATES), of="arrays.templates"),
        Field("beam", integer(), of="arrays.beam"),
        Field(
            "features",
            inline(features_of(_are_features, "columns")),
            of=TableModel.stored,
        ),
        make=_arguments,
        columns=lambda f: 1 if f["templates"] == ZC14 else 2,
    )
    TRAINED = training_of({"": "features"})
    FACTS = "stream", "min_count"

    inputs = Inputs(WORDS, str, 1)
    """See ``_data.inputs.Inputs``."""

    def rows_to_keep(self, keys, used):
        """See :class:`.TableModel`; words that other features hold stay."""
        return in_use(self.arrays.templates, keys, used)

    @classmethod
    def average(cls, models, nonzero):
        """The average of models with the same templates, taken one at a time; see
        ``_core.final_weights``.
        """
        total = None
        for model in models:
            if total is None:
                first = model.arrays._replace(features=None)
                total = TableAverage(nonzero, IS_NODE[first.templates])
            total.add(model.weights, model.keys())
            del model  # the next one is trained when it is asked for
        return cls(first._replace(features=total.result()))

    @property
    def beam(self):
        """States kept in training; 0: all."""
        return self.arrays.beam

    def scorer(self, beam):
        """The arrays that kernels search under, for so many states."""
        return as_writeable_view(self.arrays._replace(beam=beam))

    def predict(self, pieces, limit=None, n_jobs=None, beam=None):
        """Best segmentations.

        Parameters
        ----------
        pieces : list of lists of str
            Texts cut at white space.
        limit : ndarray of shape (N,), int8, optional
            Decisions that must be taken; by default those at white space.
        n_jobs : int, optional
            Threads.
        beam : int, optional
            States kept; by default as many as in training.

        Returns
        -------
        words : list of lists of str
        scores : ndarray of shape (n,)
        """
        found = [
            ranked[0]
            for ranked in self.predict_kbest(pieces, None, limit, n_jobs, beam)
        ]
        return [words for words, _ in found], np.array(
            [score for _, score in found], np.float64
        )

    def predict_kbest(self, pieces, k, limit=None, n_jobs=None, beam=None):
        """The k best segmentations of each text, as lists of (words, score), best
        first.

        If k is None it is the best one alone, by a kernel without lists. Other
        parameters are those of :meth:`predict`.
        """
        texts = ["".join(parts) for parts in pieces]
        limit = white_space_limits(pieces) if limit is None else limit
        beam = self.beam if beam is None else beam
        scorer = self.scorer(beam)

        def work(bounds):
            first, last, begin, end = bounds
            task = make_task(texts[first:last], limit[begin:end])
            some = texts[first:last]
            scratch = new_work(task, beam, training=False)
            lists = None if k is None else new_lists(scratch, k)
            most = 1 if lists is None else lists.new.score.shape[1]
            out = np.empty(most * (end - begin), np.int8)
            score = np.empty((last - first, most))
            found = np.empty(last - first, np.int64)
            structure.predict(
                task, 0, last - first, scorer, QUIET, scratch, lists, out, score, found
            )
            offsets = offsets_of(np.repeat(np.diff(task.token), found))
            repeated = "".join([text * n for text, n in zip(some, found.tolist())])
            words = iter(
                words_at(repeated, out[: offsets[-1]] == START, offsets)
                if repeated
                else ()
            )
            ranked = []
            for scores, n in zip(score, found.tolist()):
                ranked.append(
                    [(next(words), value) for value in scores[:n].tolist()]
                    or [([], 0.0)]
                )
            return ranked

        with no_collection():
            parts = map_chunks(
                work,
                offsets_of(lengths_of(texts)),
                n_jobs,
                max(1, PIECE_TOKENS // (k or 1)),
            )
        return [ranked for part in parts for ranked in part]

    def named_weights(self):
        """The weights with the names of their features, as a list of NamedWeights."""
        keys = self.keys()
        templates = self.arrays.templates

        def names(rows):
            return feature_names(templates, features(templates, keys, rows))

        return [
            NamedWeights(
                self.weights,
                ["word"] if templates == ZC14 else list(DECISIONS[:2]),
                names,
            )
        ]


class WordRun(Run):
    """A training run of a word segmenter."""

    epoch = staticmethod(structure.epoch)
    score_name = "word F1"
    model_class = WordModel

    @staticmethod
    def node_halves(model):
        """See ``_training.run.Run``: the halves that are the node of a word."""
        return IS_NODE[model.templates]

    def finished(self, model, reuse=False):
        """See ``_training.run.Run``."""
        return WordModel(final_arrays(model, self.state.rule, reuse, self.ended))

    def scratch(self):
        """See ``_training.run.Run``."""
        return new_work(self.task, self.state.model.beam)

    def held_out_part(self, X, y):
        """See ``_training.run.Run``."""
        pieces = as_pieces(X)
        _, words = as_gold(X, pieces, y)
        if None in words:
            raise PlaceError(words.index(None), None, "expected words, got flags", "y")
        with_characters(pieces)
        return held_out_texts(pieces, words), []

    def held_out_score(self, model):
        """Word F1."""
        pieces = self.held_out.encoded
        words = self.held_out.y
        return word_f1_score(
            words, model.predict(pieces, None, self.estimator.n_jobs)[0]
        )

    # Keys mean the same everywhere: there is nothing to bring together.
    def vocabulary(self, min_count):
        """See ``_training.run.Run``."""
        return Vocabulary()

    @classmethod
    def merged(cls, vocabularies, learner, key):
        """See ``_training.run.Run``."""
        state = learner._fresh_state(key)
        return cls(learner, state, make_task([], np.zeros(0, np.int8))), [
            {} for _ in vocabularies
        ]

    def adopt(self, plan):
        """See ``_training.run.Run``."""


def held_out_texts(pieces, words):
    """Held-out texts, cut at their white space."""
    return HeldOut([" ".join(parts) for parts in pieces], words, pieces)
