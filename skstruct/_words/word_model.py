"""The fitted model of a word segmenter, weights and prediction; and a training run,
which makes one.

Features carry their meaning in their keys (see :mod:`.word_features`), so that there is
no vocabulary beside the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from .boundaries import as_gold, white_space_limits
from .word_beam import SegmentTask, new_work
from .word_epoch import epoch
from .word_epoch import predict as predict_words
from .word_features import Scorer
from .word_kbest import new_lists
from .word_names import (
    DECISIONS,
    IS_NODE,
    extend_to_held_words,
    feature_names,
    features,
    words_come_first,
)

if TYPE_CHECKING:
    from .._data.types import Corpus, Ranked, Texts
    from .._saving.fields import Members
    from .._training.run import TrainingState
    from .boundaries import Pieces
    from .word_beam import SegmentWork
    from .word_segmenter import WordSegmenter


def make_task(
    texts: list[str],
    limit: np.ndarray,
    gold: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> SegmentTask:
    """Make the arrays that the kernels read.

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


def _are_features(f: Members, keys: np.ndarray) -> bool:
    return words_come_first(f["templates"], keys)


def _arguments(f: Members) -> dict[str, Any]:
    """Read the arguments of :class:`WordModel` from a file."""
    # What is learned from (the update) the next training says.
    scorer = Scorer(f["templates"], f["beam"], STANDARD, f["features"], new_clock())
    return {"arrays": scorer}


@dataclass
class WordModel(TableModel):
    """The parts of a word segmenter that prediction needs.

    Attributes
    ----------
    arrays : Scorer
        Its beam is that of training.
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
    """The input and output of the model: texts, and their words."""

    def rows_to_keep(
        self, keys: np.ndarray, used: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that a smaller model has, and their keys.

        ``used`` (R,) bool are those with weights; words that other features hold stay,
        too.
        """
        return extend_to_held_words(self.arrays.templates, keys, used)

    @classmethod
    def average(cls, models: Iterable[WordModel], nonzero: bool) -> WordModel:
        """Average models with the same templates, taken one at a time.

        ``nonzero``: over the models in which a weight is not zero, else over all.
        """
        total: TableAverage | None = None
        for model in models:
            if total is None:
                templates = model.arrays.templates
                beam = model.beam
                update = model.arrays.update
                clock = model.arrays.clock
                total = TableAverage(nonzero, IS_NODE[templates])
            total.add(model.weights, model.keys())
            del model  # the next one is trained when it is asked for
        assert total is not None, "no model to average"
        return cls(Scorer(templates, beam, update, total.result(), clock))

    @property
    def beam(self) -> int:
        """States kept in training; 0: all."""
        return self.arrays.beam

    def scorer(self, beam: int) -> Scorer:
        """Return the arrays that kernels search under; ``beam`` states, 0 for all."""
        return as_writeable_view(self.arrays._replace(beam=beam))

    def predict(
        self,
        pieces: Pieces,
        limit: np.ndarray | None = None,
        n_jobs: int | None = None,
        beam: int | None = None,
    ) -> tuple[list[list[str]], np.ndarray]:
        """Find the best segmentations.

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
        ranked = self.predict_kbest(pieces, None, limit, n_jobs, beam)
        best = [of_text[0] for of_text in ranked]
        scores = np.array([score for _, score in best], np.float64)
        return [words for words, _ in best], scores

    def predict_kbest(
        self,
        pieces: Pieces,
        k: int | None,
        limit: np.ndarray | None = None,
        n_jobs: int | None = None,
        beam: int | None = None,
    ) -> Ranked:
        """Find the k best segmentations of each text, as lists of (words, score), best
        first.

        If k is None it is the best one alone, by a kernel without lists. Other
        parameters are those of :meth:`predict`.
        """
        texts = ["".join(parts) for parts in pieces]
        limit = white_space_limits(pieces) if limit is None else limit
        beam = self.beam if beam is None else beam
        scorer = self.scorer(beam)

        def work(bounds: tuple[int, int, int, int]) -> Ranked:
            first, last, begin, end = bounds
            task = make_task(texts[first:last], limit[begin:end])
            some = texts[first:last]
            scratch = new_work(task, beam, training=False)
            lists = None if k is None else new_lists(scratch, k)
            most = 1 if lists is None else lists.new.score.shape[1]
            out = np.empty(most * (end - begin), np.int8)
            score = np.empty((last - first, most))
            found = np.empty(last - first, np.int64)
            predict_words(
                task, 0, last - first, scorer, QUIET, scratch, lists, out, score, found
            )
            offsets = offsets_of(np.repeat(np.diff(task.token), found))
            repeated = "".join([text * n for text, n in zip(some, found.tolist())])
            starts = out[: offsets[-1]] == START
            words = iter(words_at(repeated, starts, offsets) if repeated else ())
            ranked: Ranked = []
            for scores, n in zip(score, found.tolist()):
                of_text = [(next(words), value) for value in scores[:n].tolist()]
                ranked.append(of_text or [([], 0.0)])
            return ranked

        token = offsets_of(lengths_of(texts))
        with no_collection():
            parts = map_chunks(work, token, n_jobs, max(1, PIECE_TOKENS // (k or 1)))
        return [ranked for part in parts for ranked in part]

    def named_weights(self) -> list[NamedWeights]:
        """Return the weights with the names of their features."""
        keys = self.keys()
        templates = self.arrays.templates

        def names(rows: np.ndarray) -> list[str]:
            return feature_names(templates, features(templates, keys, rows))

        labels = ["word"] if templates == ZC14 else list(DECISIONS[:2])
        return [NamedWeights(self.weights, labels, names)]


class WordRun(Run):
    """A training run of a word segmenter."""

    estimator: WordSegmenter
    epoch = staticmethod(epoch)
    score_name = "word F1"
    model_class = WordModel

    @staticmethod
    def node_halves(  # type: ignore[override] # it is no method: it gets a model
        model: Scorer,
    ) -> np.ndarray:
        """Return by number which halves of a key are nodes of words, (n, 2) bool."""
        return IS_NODE[model.templates]

    def finished(self, model: Scorer, reuse: bool = False) -> WordModel:
        """Return the :class:`WordModel` that prediction would use by now."""
        return WordModel(final_arrays(model, self.state.rule, reuse, self.ended))

    def scratch(self) -> SegmentWork:
        """Return scratch for the longest text of the task."""
        return new_work(self.task, self.state.model.beam)

    def fresh(self, key: int) -> TrainingState:
        """Return a state without features and weights."""
        return self.estimator._fresh_state(key)

    def held_out_part(self, X: Texts, y: Corpus) -> tuple[HeldOut, list[Any]]:
        """Check held-out texts and their words, and cut the texts at white space.

        Returns them, and no labels: there are none that training could lack.
        """
        pieces = as_pieces(X)
        _, words = as_gold(X, pieces, y)
        if None in words:
            raise PlaceError(words.index(None), None, "expected words, got flags", "y")
        with_characters(pieces)
        return held_out_texts(self.estimator, pieces, words), []

    def held_out_score(self, model: WordModel) -> float:
        """Return the F1 of the words of the held-out texts."""
        assert self.held_out is not None
        pieces = self.held_out.encoded
        words = self.held_out.y
        predicted, _ = model.predict(pieces, None, self.estimator.n_jobs)
        return word_f1_score(words, predicted)

    def vocabulary(self, min_count: int) -> Vocabulary:
        """Return an empty vocabulary: features carry their meaning in their keys."""
        return Vocabulary()

    @classmethod
    def merged(  # type: ignore[override] # the shards of a segmenter are learned by one
        cls, vocabularies: list[Vocabulary], learner: WordSegmenter, key: int
    ) -> tuple[WordRun, list[dict[str, Any]]]:
        """Make a run without texts; the plans are empty."""
        state = learner._fresh_state(key)
        run = cls(learner, state, make_task([], np.zeros(0, np.int8)))
        return run, [{} for _ in vocabularies]

    def adopt(self, plan: dict[str, Any]) -> None:
        """Change nothing: keys mean the same in all shards."""


def held_out_texts(
    judge: WordSegmenter,
    pieces: Pieces,
    words: list[Any],
    positions: list[int] | None = None,
) -> HeldOut:
    """Make held-out texts of pieces, which are kept as well, and of their words.

    ``positions``: where they stand in ``X``, if they were taken away from it.
    """
    texts = [" ".join(parts) for parts in pieces]
    from_X = positions is not None
    return HeldOut(
        judge, WORDS, texts, words, pieces, positions=positions, from_X=from_X
    )
