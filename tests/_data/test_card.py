"""The card of a model: its lines, and digests of files."""

import pytest

from skstruct._data.card import Card, new_card

CARD = new_card(
    data=[{"name": "a.tsv", "sha256": "0" * 64, "use": "train"}],
    counts={"sentences": 8},
    score={"measure": "f1", "value": 0.5, "low": 0.25, "high": 0.75, "how": "20 %"},
    options={"algorithm": "l1crf"},
    parent={"name": "old.skstruct", "sha256": "1" * 64, "date": "2026-01-01T00:00:00Z"},
)


def test_it_is_of_now_and_comes_back():
    assert CARD.date.endswith("Z") and len(CARD.date) == 20
    assert Card.from_dict(CARD.to_dict()) == CARD


def test_what_a_card_cannot_say_is_refused():
    with pytest.raises(ValueError, match="card: counts must hold JSON values only"):
        new_card(counts={"tokens": {1}})


def test_the_card_in_lines():
    assert [line[:14].strip() for line in CARD.lines()] == [
        "trained", "train", "learned from", "held out", "options", "made from",
    ]  # fmt: skip
    assert "f1 0.5000 (0.2500 to 0.7500), 20 %" in list(CARD.lines())[3]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_null(value):
    """JSON has no NaN; a card shows "-" where there was nothing to count."""
    given = {"measure": "f1", "value": value}
    with pytest.raises(ValueError, match="score must hold JSON values only"):
        Card("2026-01-31T12:00:00Z", "0.4.0", score=given)
    card = Card("2026-01-31T12:00:00Z", "0.4.0", score={**given, "value": None})
    assert "f1 -" in "\n".join(card.lines())


def test_an_unknown_name_is_answered_with_those_that_are_known():
    with pytest.raises(
        ValueError, match="card: unknown: language; known are counts, d"
    ):
        Card.from_dict({"language": "en"})
