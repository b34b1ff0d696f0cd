"""A training run of the parser: what is trained on, what is scored, and how shards
unite.
"""

import numpy as np
import pytest
from inside import run_of
from parser_cases import X, Y, parser

from skstruct._data.inputs import NothingToLearn
from skstruct._data.labels import Labels
from skstruct._parser.parser_run import (
    ParseRun,
    encode_learned_labels,
    select_sentences,
    unlabeled_attachment,
)
from skstruct._parser.states import SPECIAL


def test_empty_skipped_and_weightless_sentences_are_not_trained_on():
    token = np.array([0, 2, 2, 5, 6, 7])
    used = select_sentences(token, [2], np.array([1.0, 1.0, 1.0, 0.0, 0.5]), "skip")
    assert used.tolist() == [True, False, False, False, True]
    assert select_sentences(token, [], None, "lift").tolist() == [1, 0, 1, 1, 1]
    with pytest.raises(NothingToLearn, match="projectivize='skip'"):
        select_sentences(token, [0, 2, 3, 4], None, "skip")


def test_labels_of_sentences_left_out_stay_unknown():
    arcs = [["a", None], ["b"], ["c", "a"]]
    token = np.array([0, 2, 3, 5])
    used = np.array([True, False, True])
    ids, labels = encode_learned_labels(arcs, token, used, Labels())
    assert labels.values == ["a", "c"] and ids.tolist() == [0, -1, -1, 1, 0]
    ids, labels = encode_learned_labels(arcs, token, ~used, labels)
    assert labels.values == ["a", "b", "c"] and ids.tolist() == [-1, -1, 1, -1, -1]
    nothing = [[None, None], [None], [None, None]]
    with pytest.raises(ValueError, match="y holds no label"):
        encode_learned_labels(nothing, token, used, Labels())
    ids, labels = encode_learned_labels(nothing, token, used, Labels(), is_part=True)
    assert len(labels) == 0 and (ids == -1).all()


def test_attachment_counts_the_words_with_a_head():
    y = [[(2, "a"), (0, "b")], [(0, "a"), (None, "b"), (1, "a")]]
    predicted = [[(2, "x"), (0, "x")], [(2, "a"), (0, "a"), (1, "a")]]
    assert unlabeled_attachment(y, predicted) == 3 / 4
    weight = np.array([1.0, 3.0])
    assert unlabeled_attachment(y, predicted, weight) == (2 + 3 * 1) / (2 + 3 * 2)
    heads = [[head for head, _ in tree] for tree in y]
    assert unlabeled_attachment(heads, predicted) == 3 / 4
    with pytest.raises(ValueError):
        unlabeled_attachment([[(None, "a")]], [[(0, "a")]])


def words_of(run):
    """By row of atoms the strings of all words, and the labels of their arcs."""
    strings = []
    for name, ids in zip(run.encoder.rows, run.task.atoms.tolist()):
        known = list(run.encoder.alphabets[name])
        strings.append([known[k - SPECIAL] if k >= 0 else None for k in ids])
    labels = [run.labels.values[k] if k >= 0 else None for k in run.task.label]
    return strings, labels


def test_shards_mean_the_same_after_they_adopted_the_vocabulary_of_all():
    learner = parser()
    runs = [run_of(learner, X[:2], Y[:2]), run_of(learner, X[3:], Y[3:])]
    before = [words_of(run) for run in runs]
    vocabularies = [run.vocabulary(1) for run in runs]
    whole, plans = ParseRun.merged(vocabularies, learner, 7)
    assert whole.state.key == 7 and whole.task.token.tolist() == [0]
    assert whole.labels.values == sorted({label for tree in Y for _, label in tree})
    for run, plan, (strings, labels) in zip(runs, plans, before):
        run.adopt(plan)
        assert run.labels is whole.labels and run.encoder is whole.encoder
        assert words_of(run) == (strings, labels)


def test_a_shard_of_other_columns_is_named():
    learner = parser()
    wide = [[(*word, "c") for word in sentence] for sentence in X]
    runs = [run_of(learner, X, Y), run_of(learner, wide, Y)]
    with pytest.raises(ValueError, match="shard 1: its words have 3 columns"):
        ParseRun.merged([run.vocabulary(1) for run in runs], learner, 0)
