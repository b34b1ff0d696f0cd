"""Wrong labels of tokens by models, and by other tokens of the same word."""

import numpy as np
import pytest

from skstruct.inspection.out_of_fold import OutOfFold
from skstruct.inspection.token_issues import (
    FEATURES,
    TokenEvidence,
    issues_of_labels,
    planted_repeatedly,
)

CLASSES = np.array(["D", "N", "V"])


def found(wrong, n=200, sure=0.9998):
    """Sentences "the dog": of the dogs some are V, and models say N."""
    p = (1.0 - sure) / 2
    marginals = [np.array([[sure, p, p], [p, sure, p]]) for _ in range(n)]
    labels = [["D", "V" if i in wrong else "N"] for i in range(n)]
    tokens = [["the", f"dog{i % 20}"] for i in range(n)]
    return OutOfFold(marginals, labels, tokens, [range(2)] * n, CLASSES)


def test_what_a_label_is_described_by():
    marginals = np.array([[0.1, 0.8, 0.1]] * 4)
    evidence = TokenEvidence(marginals, np.array([1, 1, 1, 2]), ["dog"] * 3 + ["cat"])
    facts = evidence.facts(np.array([1, 2, 1, 2]))
    assert facts.given.tolist() == pytest.approx([0.8, 0.1, 0.8, 0.1])
    assert facts.other.tolist() == pytest.approx([0.1, 0.8, 0.1, 0.8])
    assert facts.same.tolist() == [2, 0, 2, 0]
    assert facts.differently.tolist() == [0, 2, 0, 0]
    assert facts.odds[0] < 0 < facts.odds[1] and facts.rejected.tolist() == [0, 0, 0, 0]
    assert facts.rows().shape == (4, len(FEATURES))


@pytest.mark.parametrize("wrong", [{7}, set(range(0, 60, 20))])
def test_wrong_labels_come_first(wrong):
    """At random, and a share of the mentions of one word."""
    issues = sorted(issues_of_labels(found(wrong)), key=lambda each: -each.chance)
    first = issues[: len(wrong)]
    assert {each.sequence for each in first} == wrong
    assert all(each[1:5] == (1, 2, "V", "N") for each in first)
    assert all(each.kind == "other label" for each in first)
    assert len(issues) == len(wrong)


def test_the_chance_of_one_error_in_a_small_corpus():
    assert [each.chance > 0.5 for each in issues_of_labels(found({7}))] == [True]


def test_words_that_look_alike_say_what_is_usual():
    """Each votes once, and no word for itself."""
    words = ["walked"] * 5 + ["talked", "dog"]
    given = np.array([2, 2, 2, 2, 2, 0, 1])
    alike = TokenEvidence(np.full((7, 3), 1 / 3), given, words).alike
    walked, talked, dog = alike
    assert walked[0] > 0.5 > walked[2] and talked[2] > 0.5 > talked[0]
    assert alike.sum(axis=1) == pytest.approx([1.0] * 3)
    assert dog[0] == pytest.approx(dog[2])


def test_what_models_confuse_is_counted_with_other_words():
    marginals = np.array([[0.1, 0.8, 0.1]] * 4)
    words = ["dog", "dog", "cat", "cow"]
    given = np.array([2, 2, 2, 1])
    facts = TokenEvidence(marginals, given, words).facts(given)
    assert facts.confused[0] == pytest.approx(1.5 / 2)  # of cat, V as well
    assert facts.confused[2] == pytest.approx(2.5 / 3)  # of both dogs
    assert facts.taken[2] == pytest.approx(2.5 / 4)


def test_a_systematic_error_is_planted_into_half_of_the_mentions_at_most():
    corpus = found(set())
    marginals = np.concatenate(corpus.marginals)
    given = np.tile([0, 1], 200)
    words = [word for row in corpus.tokens for word in row]
    evidence = TokenEvidence(marginals, given, words)
    rows = planted_repeatedly(evidence, np.random.RandomState(0))
    same, differently = (
        np.expm1(rows[:, FEATURES.index(name)]) for name in ("same", "differently")
    )
    assert len(rows) > 100 and np.all((same >= 0.99) & (same <= differently))
    assert np.mean(same + differently < 20) > 0.8  # each word counts once: dogs are 20


def test_of_one_label_nothing_is_wrong():
    rows = OutOfFold(
        [np.ones((1, 1))] * 5, [["D"]] * 5, [["a"]] * 5, [[0]] * 5, CLASSES[:1]
    )
    assert list(issues_of_labels(rows)) == []
