"""The first half of ``fit`` of all chain learners: a labelled corpus is checked and
encoded.

So are held-out sequences, which are labelled after each epoch; and shards of a corpus
that were encoded apart are brought to one vocabulary.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._chain.bigram import ChainTask
from .._core.user_warnings import warn
from .._data.inputs import (
    NothingToLearn,
    PlaceError,
    as_tokens,
    blanked,
    check_X_y,
    is_between,
    take,
)
from .._data.labels import UNLABELLED, Gold, Labels, encode_labels, some_of
from .._shards.vocabulary import NO_LABEL, Vocabulary, merged_labels
from .._sklearn import LARGEST_SAMPLE_WEIGHT, Real, sample_weights
from ..features.encoded import count_rows
from ..features.encoder_choice import check_same_features, merge_encoders, new_encoder
from ..features.word_vectors import clusters_of, is_unfitted
from ..metrics.counting import refuse_nothing
from .constraints import BrokenConstraint, constraint_arrays, constraints_of

if TYPE_CHECKING:
    from .._chain.chain_model import ChainModel
    from .._data.corpus import TokenCorpus
    from .._data.types import Corpus, Weights
    from ..features.base import Encoder
    from ..features.encoded import RowMap
    from .constraints import ConstraintArrays, Constraints
    from .sequence_tagger import TaggerParameters


ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"] | None
"""Costs by label, as users give them."""


class LabelledCorpus(NamedTuple):
    """The sequences of a checked corpus that take part, and its labels; n sequences, N
    tokens, L labels.

    Sequences that are empty or of weight 0 are not among them: nothing of them is
    counted, drawn or numbered, as if they had not been there.
    """

    X: TokenCorpus
    y: list[Any]
    token: np.ndarray  # (n + 1,) int64: where each sequence starts
    gold: Gold
    weight: np.ndarray  # (n,) float64
    labels: Labels
    constraints: ConstraintArrays
    positions: (
        np.ndarray
    )  # (n,) int64: where they stand in the user's corpus, ascending

    def without(self, left_out: list[int]) -> LabelledCorpus:
        """Return the corpus without the sequences at some places of it."""
        stays = np.ones(len(self.positions), np.bool_)
        stays[left_out] = False
        kept = np.flatnonzero(stays)
        X = self.X.take(kept)
        return self._replace(
            X=X,
            y=take(self.y, kept),
            token=X.offsets,
            gold=self.gold.at(np.repeat(stays, np.diff(self.token))),
            weight=self.weight[kept],
            positions=self.positions[kept],
        )


def read_corpus(
    estimator: TaggerParameters,
    X: Corpus | TokenCorpus,
    y: Corpus,
    sample_weight: Weights,
    labels: Labels | None = None,
    grow: bool = True,
    is_part: bool = False,
) -> LabelledCorpus:
    """Check the corpus that an estimator is to learn from, and number its labels.

    Parameters
    ----------
    estimator : estimator
        Its ``constraints`` are read.
    labels : Labels, optional
        Those of the training so far.
    grow : bool
        Whether there may be others.
    is_part : bool
        Whether the corpus is one of several shards: then the others may have all the
        labels.

    Raises
    ------
    NothingToLearn
        If no token is left to learn from.
    ValueError
        If something is wrong; the message names the place.
    """
    corpus, y, token = check_X_y(X, y, read=as_tokens)
    weight = sample_weights(sample_weight, corpus)
    if weight is None:
        weight = np.ones(len(corpus))
    elif not (weight * np.diff(token)).any():
        raise NothingToLearn("all sequences with a positive sample_weight are empty")
    else:
        empty = np.flatnonzero(weight == 0.0)
        corpus = corpus.blanked(empty)
        y = blanked(y, empty)
        token = corpus.offsets
    gold, labels = encode_labels(
        y, token, Labels() if labels is None else labels, grow=grow
    )
    if len(labels) == 0 and not is_part:
        raise ValueError(NO_LABEL)
    constraints = _constraints(estimator.constraints, labels, gold, token, is_part)
    filled = np.flatnonzero(np.diff(token))
    corpus = corpus.take(filled)
    y = take(y, filled)
    token = corpus.offsets
    weight = weight[filled]
    return LabelledCorpus(corpus, y, token, gold, weight, labels, constraints, filled)


def _constraints(
    given: Constraints, labels: Labels, gold: Gold, token: np.ndarray, is_part: bool
) -> ConstraintArrays:
    """Check gold labels against the constraints, and return the arrays of these.

    A part of a corpus may lack the labels that its missing ones have to be: that gold
    labels leave no labelling is then no error.
    """
    try:
        return constraints_of(given, labels, gold, token)
    except BrokenConstraint:
        raise
    except PlaceError:
        if not is_part:
            raise
        return constraint_arrays(given, labels)


def encoder_for(
    estimator: Any,
    corpus: TokenCorpus,
    model: ChainModel | None = None,
    scaled: bool | None = True,
    stream: bool = False,
) -> Encoder:
    """Return the encoder of a fit: a new one, or a growing copy of that of the model.

    Parameters
    ----------
    estimator : estimator
        Its ``features``, ``min_count`` and ``words`` are read.
    corpus : TokenCorpus
    model : ChainModel, optional
        That of the training so far; its own encoder is not changed.
    scaled : bool or None
        Whether rows of numbers may be scaled; None: as all shards together decide.
    stream : bool
        Whether the count cut-off counts over all corpora that the encoder has met, and
        not in each by itself, which may be the same again.

    Raises
    ------
    ValueError
        If the estimator's features are not those of the model, or cannot be those of
        the tokens.
    """
    if model is None:
        asked = estimator.features, estimator.min_count
        settings = *asked, scaled, estimator.words
        return corpus.encoder_of(
            settings,
            lambda: new_encoder(
                *asked, corpus, scaled, clusters_of(estimator.words, corpus)
            ),
        )
    encoder = model.encoder.copy()  # the model in use must not change
    words = estimator.words
    if (
        words is not None
    ):  # those of an estimator that is fitted here were made of the first text
        known = getattr(encoder.templates, "words", None)
        words = known if is_unfitted(words) else words.table()
    check_same_features(encoder, estimator.features, estimator.min_count, words)
    if not stream:
        encoder.count_anew()
    return encoder


def class_costs(
    class_weight: ClassWeight,
    gold: np.ndarray,
    labels: Labels,
    otherwise: float,
    complete: bool = True,
) -> np.ndarray:
    """Return (L,) the cost of missing a token of each label.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    gold : ndarray of shape (N,)
        The labels to train on, without those of held-out sequences.
    labels : Labels
    otherwise : float
        The cost where ``class_weight`` says nothing.
    complete : bool
        No label may come later, so that one which is not among ``labels`` is warned of.
        It is no error: a part of a corpus, as in cross-validation, may lack a rare
        label.

    Raises
    ------
    ValueError
        If a cost is negative, infinite or no number.
    """
    costs = np.full(len(labels), float(otherwise))
    if class_weight is None:
        return costs
    if class_weight == "balanced":
        return balanced_costs(
            np.bincount(gold[gold >= 0], minlength=len(labels)), otherwise
        )
    for label, cost in class_weight.items():
        if not isinstance(cost, Real) or not is_between(cost, 0, LARGEST_SAMPLE_WEIGHT):
            allowed = f"a number from 0 to {LARGEST_SAMPLE_WEIGHT:g}"
            raise ValueError(f"class_weight[{label!r}] must be {allowed}, got {cost!r}")
        if label in labels.ids:
            costs[labels.ids[label]] = float(cost)
        elif complete:
            warn(
                f"class_weight: {label!r} is no label of y and has no effect; the "
                f"labels are "
                f"{some_of(labels.values)}"
            )
    label, most = max(class_weight.items(), key=itemgetter(1), default=(None, np.inf))
    if otherwise <= most < 1:
        warn(_is_no_weight(label, most, otherwise))
    return costs


def _is_no_weight(label: Any, cost: float, otherwise: float) -> str:
    """Return what is wrong if the largest cost is below 1 and labels that are not named
    cost as little, or less.
    """
    does = "makes it more frequent, not less" if cost > otherwise else "changes nothing"
    return (
        f"class_weight={{{label!r}: {cost:g}}} {does}: it is a margin, the cost of missing "
        f"a token of this label, and no weight as in scikit-learn; labels that are not "
        f"named cost {otherwise:g}. To weaken {label!r}, give the other labels costs, such "
        f"as 3.0 each"
    )


def balanced_costs(counts: np.ndarray, otherwise: float) -> np.ndarray:
    """Return costs in inverse proportion to ``counts`` (L,), how often labels occur.

    They are 1 on average over tokens; labels that do not occur cost ``otherwise``.
    """
    costs = np.full(counts.shape[0], float(otherwise))
    seen = counts > 0
    costs[seen] = counts.sum() / (np.count_nonzero(seen) * counts[seen])
    return costs


UNSEEN = np.iinfo(np.int32).min
"""The id of a label that training lacks: no prediction is right."""


class EncodedPart(NamedTuple):
    """Held-out sequences as kernels read them, with the labels that they should get."""

    task: ChainTask
    gold: np.ndarray  # (N,) int32: as in Gold, or UNSEEN
    sets: np.ndarray | tuple[()]  # as in Gold

    @classmethod
    def of(cls, task: ChainTask, gold: Gold, unseen: np.ndarray) -> EncodedPart:
        """Mark the tokens whose label training lacks.

        ``gold`` and ``unseen`` are those of ``_data.labels.encode_known``.
        """
        return cls(task, np.where(unseen, np.int32(UNSEEN), gold.ids), gold.sets)

    def accuracy(self, model: ChainModel) -> float:
        """Return a model's token accuracy, over the tokens whose label is given."""
        given = self.gold != UNLABELLED
        refuse_nothing(given)
        found = model.best_ids(self.task)
        right = found == self.gold
        if len(self.sets) > 0:
            several = np.flatnonzero((self.gold < UNLABELLED) & (self.gold != UNSEEN))
            sets = np.asarray(self.sets)
            right[several] = sets[-2 - self.gold[several], found[several]]
        return float(right[given].mean())


def count_in_sequences(flags: np.ndarray, token: np.ndarray) -> np.ndarray:
    """Return (n,) int: how many flags (N,), one a token, are set in each sequence."""
    return np.diff(np.append(0, np.cumsum(flags))[token])


def vocabulary_of(run: Any, min_count: int) -> Vocabulary:
    """Return encoder and labels of a shard; counts of features if ``min_count`` > 1.

    ``run``: a ``ChainRun`` or ``CRFShard`` that has its corpus.
    """
    gold = run.task.gold
    counts = count_rows(run.encoder, run.task) if min_count > 1 else None
    label_counts = np.bincount(gold[gold >= 0], minlength=len(run.labels))
    return Vocabulary(run.encoder, run.labels, counts, label_counts)


class Merged(NamedTuple):
    """The features and labels of all shards together, and what became of each one's."""

    encoder: Encoder
    labels: Labels
    constraints: ConstraintArrays
    cost: np.ndarray  # (L,) of missing a token of each label
    ids: list[np.ndarray]  # by shard: what its labels became; the last for UNLABELLED
    rows: list[RowMap]  # by shard: what its rows became, -1 below a count cut-off


def merged(vocabularies: list[Vocabulary], learner: Any, cost: float) -> Merged:
    """Unite the features and labels that shards met.

    Parameters
    ----------
    vocabularies : list of Vocabulary
        By shard.
    learner : estimator
        Its ``min_count``, ``class_weight`` and ``constraints`` are read.
    cost : float
        Of missing a token whose label has no weight.

    Raises
    ------
    ValueError
        If they do not go together; the message names one.
    """
    labels, ids = merged_labels(vocabularies)
    counts = [vocabulary.counts for vocabulary in vocabularies]
    encoder, rows = merge_encoders(
        [v.encoder for v in vocabularies], counts, learner.min_count
    )
    if learner.class_weight == "balanced":
        total = np.zeros(len(labels), np.int64)
        for vocabulary, new in zip(vocabularies, ids):
            total[new[:-1]] += vocabulary.label_counts
        costs = balanced_costs(total, cost)
    else:
        costs = class_costs(learner.class_weight, np.zeros(0, np.int32), labels, cost)
    constraints = constraint_arrays(learner.constraints, labels)
    return Merged(encoder, labels, constraints, costs, ids, rows)
