"""Shards of a corpus that were encoded apart are brought to one vocabulary."""

from typing import NamedTuple

import numpy as np

from ..cluster.vocabulary import Vocabulary, merged_labels
from ..data.labels import Labels
from ..features.base import merge_encoders
from ..features.encoded import count_rows
from .constraints import constraint_arrays
from .costs import balanced_costs, class_costs


def vocabulary_of(run, min_count):
    """What a shard met, a :class:`.Vocabulary`; with counts of features if ``min_count`` > 1."""
    gold = run.task.gold
    counts = count_rows(run.encoder, run.task) if min_count > 1 else None
    label_counts = np.bincount(gold[gold >= 0], minlength=len(run.labels))
    return Vocabulary(run.encoder, run.labels, counts, label_counts)


class Merged(NamedTuple):
    """What all shards met."""

    encoder: object
    labels: Labels
    constraints: tuple  # start, allowed, end
    cost: np.ndarray  # (L,) float64: of missing a token of each label
    ids: list  # by shard: the label that each of its labels has become; the last one serves UNLABELLED
    rows: list  # by shard, RowMap: the rows that its rows have become, -1 if a count cut-off leaves them out


def merged(vocabularies, learner, cost):
    """The :class:`Merged` of shards, in their order; ``cost``: of tokens whose label has no weight.

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
    return Merged(encoder, labels, constraint_arrays(learner.constraints, labels), costs, ids, rows)
