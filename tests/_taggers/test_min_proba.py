"""Least probabilities that are written as text."""

import pytest

from skstruct._taggers.min_proba import check_types, min_proba_of


@pytest.mark.parametrize(
    "text, expected",
    [
        ("0.8", 0.8),
        (" 1 ", 1.0),
        ("PER=.9", {"PER": 0.9}),
        ("PER=.9,0.5", {"PER": 0.9, None: 0.5}),
        (".5,a=b=1", {None: 0.5, "a=b": 1.0}),
    ],
)
def test_numbers_and_types(text, expected):
    assert min_proba_of(text) == expected


@pytest.mark.parametrize("text", ["", "x", "PER", "PER=", "=.5", ".5,.6", "A=1,A=1"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError):
        min_proba_of(text)


def test_types_of_a_model():
    check_types(0.5, ["A", "B"])
    check_types({"A": 0.5, None: 0.5}, ["A", "B"])
    with pytest.raises(ValueError, match="the type 'B'; a P alone is one for types"):
        check_types({"A": 0.5}, ["A", "B"])
    with pytest.raises(ValueError, match="no label has the type 'C'"):
        check_types({"C": 0.5, None: 0.5}, ["A", "B"])
