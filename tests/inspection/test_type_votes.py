"""What annotated spans say about the type of one of them."""

import numpy as np
import pytest

from skstruct.inspection.type_votes import TypeVotes, believed, rivals_of

LABELS = ["LOC", "ORG", "PER"]
NAMED = [("Rome", "LOC")] * 3 + [
    ("ROME", "PER"),
    ("Bank of Rome", "ORG"),
    ("?!", "ORG"),
]


def shares(text, own, model, labels=LABELS, named=NAMED):
    """Ask about one string."""
    votes = TypeVotes(len(labels), [(text, labels.index(kind)) for text, kind in named])
    mine = np.array([[own.count(label) for label in labels]], float)
    by_model = np.array([[model.get(label, 0.0) for label in labels]])
    found = votes.shares(np.array([votes.voters(text)]), mine, by_model)
    assert found.sum() == pytest.approx(1.0)
    return found


def best(found):
    return LABELS[found[0].argmax()]


def test_a_string_is_of_the_type_that_it_has_elsewhere():
    found = shares("rome", ["PER"], {"LOC": 0.1, "PER": 0.9})
    assert best(found) == "LOC"  # its own vote does not count
    assert found[0].tolist() == pytest.approx(
        # three votes; of the model and of its single word, 1 and .25 vote
        [(3 + 0.25 * (3 + 0.11 / 1.03) / 4) / 3.25]
        + [0.25 * p / 1.03 / 4 / 3.25 for p in (0.01, 0.91)]
    )
    rival, odds = rivals_of(np.array([2]), found)
    assert rival == [0] and odds[0] > 0 > rivals_of(np.array([0]), found)[1][0]


def test_without_votes_for_a_string_first_and_last_words_count_and_else_the_model():
    assert best(shares("Bank of Paris", [], {})) == "ORG"
    found = shares("Paris", [], {"ORG": 0.1, "PER": 0.8})
    assert best(found) == "PER" and rivals_of(np.array([2]), found)[0] == [1]


def test_what_is_no_word_votes_as_it_stands():
    assert best(shares("?!", [], {})) == "ORG"


def test_of_a_single_label_there_is_no_rival():
    found = shares("Rome", ["LOC"], {"LOC": 1.0}, ["LOC"], [("Rome", "LOC")])
    rival, odds = rivals_of(np.array([0]), found)
    assert rival.tolist() == [-1] and odds.tolist() == [0.0]


def test_models_and_votes_say_half_each_how_often_a_label_is_right():
    p, other = np.array([0.2, 0.2, 0.2]), np.array([0.8, 0.8, 0.8])
    sure, even, against = believed(p, other, np.log([1e-6, 4.0, 1e6]))
    assert sure == pytest.approx(1.0, abs=0.01) and even == pytest.approx(0.2)
    assert against < 0.001
