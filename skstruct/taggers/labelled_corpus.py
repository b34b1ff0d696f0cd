"""The first half of ``fit``, the same for all chain learners: a labelled corpus is checked and encoded.

So are held-out sequences, which are labelled after each epoch; and shards of a corpus that were encoded
apart are brought to one vocabulary.
"""

from operator import itemgetter
from typing import NamedTuple

import numpy as np

from .._sklearn import LARGEST_SAMPLE_WEIGHT, Real, sample_weights
from ..chain.bigram import ChainTask
from ..cluster.vocabulary import NO_LABEL, Vocabulary, merged_labels
from ..core.user_warnings import warn
from ..data.inputs import NothingToLearn, PlaceError, as_tokens, blanked, check_X_y
from ..data.labels import UNLABELLED, Gold, Labels, encode_labels, some_of
from ..features.choose import check_same_features, merge_encoders, new_encoder
from ..features.encoded import count_rows
from ..features.word_vectors import clusters_of, is_unfitted
from ..metrics.counting import refuse_nothing
from .constraints import BrokenConstraint, constraint_arrays, constraints_of


class LabelledCorpus(NamedTuple):
    """A checked corpus and its labels; n sequences, N tokens, L labels.

    Sequences of weight 0 are empty, so that nothing of them is learned and errors about the others still name
    the right one.
    """

    X: object
    y: object
    token: np.ndarray  # (n + 1,) int64: where each sequence starts
    gold: Gold
    weight: np.ndarray  # (n,) float64
    labels: Labels
    constraints: tuple  # start, allowed, end


def read_corpus(estimator, X, y, sample_weight, labels=None, grow=True, is_part=False):
    """The :class:`LabelledCorpus` that an estimator is to learn from.

    Parameters
    ----------
    estimator : estimator
        Its ``constraints`` are read.
    labels : Labels, optional
        Those of the training so far.
    grow : bool
        Whether there may be others.
    is_part : bool
        Whether the corpus is one of several shards: then the others may have all the labels.

    Raises
    ------
    NothingToLearn
        If no token is left to learn from.
    ValueError
        If something is wrong; the message names the place.
    """
    X, y, token = check_X_y(X, y, read=as_tokens)
    weight = sample_weights(sample_weight, X)
    if weight is None:
        weight = np.ones(len(X))
    elif not (weight * np.diff(token)).any():
        raise NothingToLearn("all sequences with a positive sample_weight are empty")
    else:
        empty = np.flatnonzero(weight == 0.0)
        X, y = X.blanked(empty), blanked(y, empty)
        token = X.offsets
    gold, labels = encode_labels(y, token, Labels() if labels is None else labels, grow=grow)
    if len(labels) == 0 and not is_part:
        raise ValueError(NO_LABEL)
    constraints = _constraints(estimator.constraints, labels, gold, token, is_part)
    return LabelledCorpus(X, y, token, gold, weight, labels, constraints)


def _constraints(given, labels, gold, token, is_part):
    """As :func:`.constraints_of`; a part of a corpus may lack the labels that its missing ones have to be."""
    try:
        return constraints_of(given, labels, gold, token)
    except BrokenConstraint:
        raise
    except PlaceError:
        if not is_part:
            raise
        return constraint_arrays(given, labels)


def encoder_for(estimator, corpus, model=None, scaled=True, stream=False):
    """The encoder of a fit to a corpus: a new one, or a copy, which grows, of that of the ``model`` so far.

    ``scaled``: whether rows of numbers may be; ``stream``: whether the count cut-off counts over all corpora
    that the encoder has met, and not in each by itself, which may be the same again.
    """
    if model is None:
        words = clusters_of(estimator.words, corpus)
        return new_encoder(estimator.features, estimator.min_count, corpus, scaled, words)
    encoder = model.encoder.copy()  # the model in use must not change
    words = estimator.words
    if words is not None:  # those of an estimator that is fitted here were made of the first text
        known = getattr(encoder.templates, "words", None)
        words = known if is_unfitted(words) else words.table()
    check_same_features(encoder, estimator.features, estimator.min_count, words)
    if not stream:
        encoder.count_anew()
    return encoder


def class_costs(class_weight, gold, labels, otherwise, complete=True):
    """(L,) cost of missing a token of each label; ``otherwise`` where ``class_weight`` says nothing.

    ``gold``: the labels to train on, without those of held-out sequences.
    ``complete``: no label may come later, so that one which is not among ``labels`` is warned of. It is no
    error: a part of a corpus, as in cross-validation, may lack a rare label.
    """
    costs = np.full(len(labels), float(otherwise))
    if class_weight is None:
        return costs
    if class_weight == "balanced":
        return balanced_costs(np.bincount(gold[gold >= 0], minlength=len(labels)), otherwise)
    for label, cost in class_weight.items():
        if not isinstance(cost, Real) or not 0 <= cost <= LARGEST_SAMPLE_WEIGHT:
            allowed = f"a number from 0 to {LARGEST_SAMPLE_WEIGHT:g}"
            raise ValueError(f"class_weight[{label!r}] must be {allowed}, got {cost!r}")
        if label in labels.ids:
            costs[labels.ids[label]] = float(cost)
        elif complete:
            warn(
                f"class_weight: {label!r} is no label of y and has no effect; the labels are "
                f"{some_of(labels.values)}"
            )
    label, most = max(class_weight.items(), key=itemgetter(1), default=(None, np.inf))
    if otherwise <= most < 1:
        warn(_is_no_weight(label, most, otherwise))
    return costs


def _is_no_weight(label, cost, otherwise):
    """What is wrong if the largest cost is below 1 and labels that are not named cost as little, or less."""
    does = "makes it more frequent, not less" if cost > otherwise else "changes nothing"
    return (
        f"class_weight={{{label!r}: {cost:g}}} {does}: it is a margin, the cost of missing "
        f"a token of this label, and no weight as in scikit-learn; labels that are not "
        f"named cost {otherwise:g}. To weaken {label!r}, give the other labels costs, such "
        f"as 3.0 each"
    )


def balanced_costs(counts, otherwise):
    """Costs in inverse proportion to how often labels occur, (L,) int; ``otherwise`` for others."""
    costs, seen = np.full(counts.shape[0], float(otherwise)), counts > 0
    costs[seen] = counts.sum() / (np.count_nonzero(seen) * counts[seen])
    return costs


UNSEEN = np.iinfo(np.int32).min
"""The id of a label that training lacks: no prediction is right."""


class EncodedPart(NamedTuple):
    """What token accuracy needs."""

    task: ChainTask
    gold: np.ndarray  # (N,) int32: as in Gold, or UNSEEN
    sets: np.ndarray | tuple[()]  # as in Gold

    @classmethod
    def of(cls, task, gold, unseen):
        """``gold`` and ``unseen`` as from ``data.labels.encode_known``."""
        return cls(task, np.where(unseen, np.int32(UNSEEN), gold.ids), gold.sets)

    def accuracy(self, model):
        """Token accuracy of a :class:`.ChainModel`, over the tokens whose label is given."""
        given = self.gold != UNLABELLED
        refuse_nothing(given)
        found = model.best_ids(self.task)
        right = found == self.gold
        if len(self.sets) > 0:
            several = np.flatnonzero((self.gold < UNLABELLED) & (self.gold != UNSEEN))
            right[several] = self.sets[-2 - self.gold[several], found[several]]
        return float(right[given].mean())


def count_in_sequences(flags, token):
    """(n,) int: how many of the flags (N,), one a token, are set in each sequence."""
    return np.diff(np.append(0, np.cumsum(flags))[token])


def vocabulary_of(run, min_count):
    """What a shard met, a :class:`.Vocabulary`; with counts of features if ``min_count`` > 1."""
    gold = run.task.gold
    counts = count_rows(run.encoder, run.task) if min_count > 1 else None
    label_counts = np.bincount(gold[gold >= 0], minlength=len(run.labels))
    return Vocabulary(run.encoder, run.labels, counts, label_counts)


def merged(vocabularies, learner, cost):
    """What all shards met; ``cost``: of tokens whose label has no weight.

    Returns
    -------
    encoder, labels, constraints
    cost : ndarray of shape (L,)
        See :func:`class_costs`.
    ids : list of ndarray
        By shard: the label that each of its labels has become; the last one serves UNLABELLED.
    rows : list of RowMap
        By shard: the rows that its rows have become, -1 if a count cut-off leaves them out.

    Raises
    ------
    ValueError
        If they do not go together; the message names one.
    """
    labels, ids = merged_labels(vocabularies)
    counts = [vocabulary.counts for vocabulary in vocabularies]
    encoder, rows = merge_encoders([v.encoder for v in vocabularies], counts, learner.min_count)
    if learner.class_weight == "balanced":
        total = np.zeros(len(labels), np.int64)
        for vocabulary, new in zip(vocabularies, ids):
            total[new[:-1]] += vocabulary.label_counts
        costs = balanced_costs(total, cost)
    else:
        costs = class_costs(learner.class_weight, np.zeros(0, np.int32), labels, cost)
    return encoder, labels, constraint_arrays(learner.constraints, labels), costs, ids, rows
