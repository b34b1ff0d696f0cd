"""Scores of words and of trees."""

import itertools
import math
import warnings

import numpy as np
import pytest

from skstruct.metrics import (
    attachment_scorer_for,
    attachment_scores,
    unlabeled_attachment_score,
)


# -------------------------------------------------------------------------------- trees
def test_attachment_scores():
    true = [[(2, "nsubj"), (0, "root"), (2, "punct")], [(0, "root")]]
    pred = [[(2, "obj"), (0, "root"), (1, "punct")], [(0, "root")]]
    scores = attachment_scores(true, pred)
    assert scores == (0.75, 0.5, 0.5, 4)
    assert (
        scores.uas == 0.75
        and scores.las == 0.5
        and scores.complete == 0.5
        and scores.n_tokens == 4
    )
    assert str(scores) == "UAS 0.7500  LAS 0.5000  complete 0.5000  (4 tokens)"
    without = attachment_scores(
        true, pred, punctuation=[[False, False, True], np.array([False])]
    )
    assert without == (1.0, 2 / 3, 1.0, 3)
    # a sentence of nothing but punctuation is not scored
    assert (
        attachment_scores(true, pred, punctuation=[[False] * 3, [True]]).complete == 0.0
    )
    assert unlabeled_attachment_score(true, pred) == 0.75


def test_attachment_scores_without_labels():
    true, pred = [[2, 0], [0], []], [[2, 1], [0], []]
    scores = attachment_scores(true, pred)
    assert (
        scores[0] == pytest.approx(2 / 3)
        and math.isnan(scores.las)
        and scores.complete == 0.5
    )
    labeled = [[(2, "a"), (1, "b")], [(0, "root")], []]
    assert math.isnan(attachment_scores(true, labeled).las)
    assert attachment_scores(np.array([[2, 0], [0, 1]]), [[2, 0], [0, 1]]).uas == 1.0


def test_attachment_subtypes():
    true, pred = (
        [[(0, "nmod:poss"), (1, ":"), (1, "a")]],
        [[(0, "nmod"), (1, ":x"), (1, "a:b")]],
    )
    assert attachment_scores(true, pred).las == pytest.approx(2 / 3)
    assert attachment_scores(true, pred, subtypes=True).las == 0.0
    assert attachment_scores(true, true, subtypes=True).las == 1.0


@pytest.mark.parametrize(
    "bad, message",
    [
        (
            [(2, "x"), ("0", "x")],
            "sequence 1, position 1: a head must be an integer; got '0'",
        ),
        (
            [(2, "x"), (None, "x")],
            "sequence 1, position 1: a head must be an integer; got None",
        ),
        ([(2, "x"), (0,)], "sequence 1: expected .head, label. pairs"),
        ([(2, "x"), 0], "sequence 1: expected .head, label. pairs"),
        ([(2, "x")], "sequence 1: y_true and y_pred must be equally long: got 2 and 1"),
        ([2, 0], "sequence 1: labels must be there in all sentences or in none"),
    ],
)
def test_attachment_errors(bad, message):
    true = [[(0, "root")], [(2, "x"), (0, "root")]]
    with pytest.raises(ValueError, match=message):
        attachment_scores(true, [true[0], bad])
    with pytest.raises(
        ValueError, match="sequence 1: y_true and punctuation must be equally long"
    ):
        attachment_scores(true, true, punctuation=[[False], [False]])


def test_punctuation_goes_by_pairs_of_form_and_tag():
    class Parser:
        def predict(self, X):
            return [[0, 1] for _ in X]

    scorer = attachment_scorer_for(punctuation={"b"})
    assert scorer(Parser(), [[("a", "a"), ("b", "b")]], [[0, 0]]) == 1.0
    with pytest.raises(
        ValueError,
        match=r"X: sequence 1, position 0: .* \(form, tag\) tokens; got 'ab'",
    ):
        scorer(Parser(), [[("a", "a")] * 2, ["ab", "cd"]], [[0, 1], [0, 1]])


# --------------------------------------------------------------------- heads and cycles
def leads_to_the_root(heads, word):
    """Whether heads lead to the root, or to what is not known, in at most n steps."""
    for _ in heads:
        if word == 0 or heads[word - 1] is None:
            return True
        word = heads[word - 1]
    return word == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_heads_that_form_a_cycle_or_leave_the_sentence_are_no_tree(n):
    """All heads of n words: what is scored without a word is a tree."""
    tree = list(range(n))
    for heads in itertools.product([-1, *range(n + 2), None], repeat=n):
        known = [head for head in heads if head is not None]
        inside = all(0 <= head <= n for head in known)
        acyclic = inside and all(
            leads_to_the_root(heads, word) for word in range(1, n + 1)
        )
        if known and acyclic:
            assert attachment_scores([heads], [tree]).n_tokens == len(known)
        else:
            wrong = "there is nothing to score"
            if known:
                wrong = (
                    "form a cycle" if inside else f"a head must be in 0 ... {n}, got"
                )
            with pytest.raises(ValueError, match=wrong):
                attachment_scores([heads], [tree])
        if len(known) < n:
            continue
        if not inside:
            with pytest.raises(ValueError, match="y_pred: sequence 0, position"):
                attachment_scores([tree], [heads])
            continue
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            found = attachment_scores([tree], [heads])
        assert found.uas == pytest.approx(np.mean(np.equal(tree, heads)))
        assert [acyclic] == [not given]
        assert acyclic or "1 of 1 sentence has heads that form" in str(given[0].message)
