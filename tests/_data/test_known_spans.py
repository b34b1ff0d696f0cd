"""Labels that known spans leave, against all labellings."""

import itertools
import random

import numpy as np
import pytest

from skstruct._data.known_spans import KnownLabels, as_known, known_in_tokens
from skstruct._data.pieces import cut_texts
from skstruct._data.scheme_rules import LabelTable, first_fault, read_spans
from skstruct._data.text import tokenized

CLASSES = {
    "BIO": ["O", "B-A", "I-A", "B-B", "I-B"],
    "BIOES": ["O", "S-A", "B-A", "E-A", "I-A", "B-B", "E-B", "S-B"],
    "BILOU": ["O", "U-A", "B-A", "L-A", "I-A", "U-B"],
    "BMES": ["O", "S-A", "B-A", "E-A", "S-B", "B-B", "E-B"],
}
"""Not all labels of all types: what is missing cannot be spelled."""


def well_formed(scheme, n):
    """All labellings of n tokens that the scheme permits, with their spans."""
    table = LabelTable(scheme)
    for labels in itertools.product(CLASSES[scheme], repeat=n):
        if first_fault(scheme, table.parse(labels)) is None:
            yield labels, read_spans(labels, table)


def agrees(spans, known):
    """Whether spans of tokens are as is known, one known span at a time."""
    for a, b, label in known:
        inside = [s for s in spans if s[0] < b and a < s[1]]
        if label == "O":
            if inside:
                return False
        elif [s[:2] for s in inside] != [(a, b)]:
            return False
        elif label is not None and inside[0][2] not in label:
            return False
    return True


def drawn(rng, n):
    """Known spans of tokens that do not overlap."""
    known, at = [], 0
    while at < n:
        at += rng.randrange(3)
        stop = min(at + rng.randrange(1, 4), n)
        if at < stop:
            known.append((at, stop, rng.choice([None, "O", ("A",), ("A", "B"), "B"])))
        at = stop
    return known


@pytest.mark.parametrize("scheme", CLASSES)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_labellings_left_are_those_with_what_is_known(scheme, n):
    every, rng = list(well_formed(scheme, n)), random.Random(n)
    text = " ".join("abcd"[:n])
    refused = 0
    for _ in range(40):
        known = drawn(rng, n)
        expected = {labels for labels, spans in every if agrees(spans, known)}
        given = [[(2 * a, 2 * b - 1, label) for a, b, label in known]]
        labels = KnownLabels(CLASSES[scheme], scheme)
        try:
            _, allowed = known_in_tokens(
                as_known(given, [text]), tokenized([text]), labels
            )
        except ValueError as error:
            assert "no label" in str(error) and not expected
            refused += 1
            continue
        left = {
            each
            for each, _ in every
            if all(some is None or y in some for y, some in zip(each, allowed))
        }
        assert left == expected
    assert refused < 40


def test_no_piece_cuts_what_is_known():
    text = "a b\nc d\ne"
    tokens = tokenized([text])
    known = as_known([[(2, 5, None)]], [text])
    ranges, _ = known_in_tokens(known, tokens, KnownLabels(CLASSES["BIO"], "BIO"))
    assert cut_texts(tokens, "lines").bounds.tolist() == [0, 2, 4, 5]
    assert cut_texts(tokens, "lines", None, ranges).bounds.tolist() == [0, 4, 5]


ERRORS = {
    "holds no token": [(1, 2, "A")],
    r"begins or ends inside of a token; the tokens .* \(4, 9\)": [(5, 9, "A")],
    r"\(0, 1, 'A'\) overlaps \(0, 3, 'A'\)": [(0, 3, "A"), (0, 1, "A")],
    r"\(0, 1, 'B'\) cannot stand where \(0, 1, 'A'\) does": [(0, 1, "A"), (0, 1, "B")],
    r"overlaps \(0, 1, 'O'\)": [(0, 3, None), (0, 1, "O")],
    "no label has the type 'C'; choose from 'A', 'B'": [(0, 1, "C")],
    "several types must be str": [(0, 1, ("A", "O"))],
    r"leaves the text, which has 9 characters": [(0, 12, "A")],
    r"expected \(start, end, label\)": [(0, 1)],
    "the label must be a str": [(0, 1, 7)],
    "the label must be a str that is not empty, or None, got dict": [(0, 1, {})],
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_name_the_place(message):
    text = "a b cdefg"
    with pytest.raises(ValueError, match=f"known: sequence [12], position .*{message}"):
        known = as_known([[], ERRORS[message]], ["", text])
        known_in_tokens(
            known.of_texts(1, 2),
            tokenized([text]),
            KnownLabels(CLASSES["BIO"], "BIO"),
            first=1,
        )


def test_equal_spans_are_one():
    text = "a b"
    known = as_known([[(0, 1, None), (0, 1, ("A", "B")), (0, 2, "A")]], [text])
    ranges, allowed = known_in_tokens(
        known, tokenized([text]), KnownLabels(CLASSES["BIO"], "BIO")
    )
    assert np.array_equal(ranges.stop, [1])
    assert allowed == [{"B-A"}, {"O", "B-A", "B-B"}]
