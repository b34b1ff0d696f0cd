"""What annotated spans say about the type of one of them."""

import math

import pytest

from skstruct.inspection.type_votes import ODDS, TypeVotes

LABELS = ["LOC", "ORG", "PER"]
NAMED = [("Rome", "LOC")] * 3 + [
    ("ROME", "PER"),
    ("Bank of Rome", "ORG"),
    ("?!", "ORG"),
]
NOTHING = [0.0, 0.0, 0.0]


def known(types, given, rival):
    return dict(zip(ODDS, types.odds(given, rival)))


def test_a_string_is_of_the_type_that_it_has_elsewhere():
    types = TypeVotes(LABELS, NAMED).about("rome", ["PER"], [0.1, 0.0, 0.9])
    assert types.string == [3.0, 0.0, 0.0]  # its own vote does not count
    assert types.rival(2) == 0 and types.rival(0) == 2
    odds = known(types, 2, 0)
    assert odds["type"] > 0 > odds["type by model"]
    assert odds["votes as suggested"] == pytest.approx(math.log(4))
    assert odds["votes as given"] == 0.0


def test_without_votes_for_a_string_first_and_last_words_count_and_else_the_model():
    votes = TypeVotes(LABELS, NAMED)
    types = votes.about("Bank of Paris", [], NOTHING)
    assert types.string == NOTHING and types.ends == [0.0, 1.0, 0.0]
    assert types.rival(None) == 1
    types = votes.about("Paris", [], [0.0, 0.1, 0.8])
    assert types.rival(None) == 2 and types.rival(2) == 1
    assert sum(map(math.exp, types.all)) == pytest.approx(1.0)


def test_what_is_no_word_votes_as_it_stands():
    types = TypeVotes(LABELS, NAMED).about("?!", [], NOTHING)
    assert types.string == [0.0, 1.0, 0.0]


def test_of_a_single_label_there_is_no_rival():
    types = TypeVotes(["LOC"], [("Rome", "LOC")]).about("Rome", ["LOC"], [1.0])
    assert types.rival(0) is None
    assert types.odds(0, None) == [0.0] * len(ODDS)
