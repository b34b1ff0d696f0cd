"""What annotated spans say about the type of one of them."""

import pytest

from skstruct.inspection.type_votes import TypeVotes, rival_of

LABELS = ["LOC", "ORG", "PER"]
NAMED = [("Rome", "LOC")] * 3 + [
    ("ROME", "PER"),
    ("Bank of Rome", "ORG"),
    ("?!", "ORG"),
]


def best(shares):
    assert sum(shares.values()) == pytest.approx(1.0)
    return max(shares, key=shares.get)


def test_a_string_is_of_the_type_that_it_has_elsewhere():
    shares = TypeVotes(LABELS, NAMED).shares("rome", ["PER"], {"LOC": 0.1, "PER": 0.9})
    assert best(shares) == "LOC"  # its own vote does not count
    label, odds = rival_of("PER", shares)
    assert label == "LOC" and odds > 0 > rival_of("LOC", shares)[1]


def test_without_votes_for_a_string_first_and_last_words_count_and_else_the_model():
    votes = TypeVotes(LABELS, NAMED)
    assert best(votes.shares("Bank of Paris", [], {})) == "ORG"
    shares = votes.shares("Paris", [], {"ORG": 0.1, "PER": 0.8})
    assert best(shares) == "PER" and rival_of("PER", shares)[0] == "ORG"


def test_what_is_no_word_votes_as_it_stands():
    assert best(TypeVotes(LABELS, NAMED).shares("?!", [], {})) == "ORG"


def test_of_a_single_label_there_is_no_rival():
    shares = TypeVotes(["LOC"], [("Rome", "LOC")]).shares("Rome", ["LOC"], {"LOC": 1.0})
    assert rival_of("LOC", shares) == (None, 0.0)
