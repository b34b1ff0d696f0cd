"""Texts cut into pieces, none longer than asked for and none through a span."""

import numpy as np
import pytest

from skstruct._data.alignment_report import align_spans
from skstruct._data.pieces import chosen, cut_texts
from skstruct._data.spans import as_spans
from skstruct._data.text import tokenized

TEXTS = ["Ann sleeps.\nBob runs.\n\nHe is fast.", "", "One line"]


def words_of(pieces):
    return [" ".join(words) for words in pieces.sequences(False)]


def aligned(tokens, texts, y):
    return align_spans(tokens, as_spans(y, texts))


@pytest.mark.parametrize(
    "kind, expected",
    [
        ("lines", ["Ann sleeps .", "Bob runs .", "He is fast .", "One line"]),
        ("paragraphs", ["Ann sleeps . Bob runs .", "He is fast .", "One line"]),
        ("texts", ["Ann sleeps . Bob runs . He is fast .", "One line"]),
    ],
)
def test_kinds_of_pieces(kind, expected):
    pieces = cut_texts(tokenized(TEXTS), kind)
    assert words_of(pieces) == expected
    n = len(expected)
    assert pieces.text.tolist() == [0] * (n - 1) + [2]
    assert pieces.of_text().tolist() == [0, n - 1, n - 1, n]


def test_no_piece_cuts_a_span():
    y = [[(4, 15, "X")], [], []]
    tokens = tokenized(TEXTS)
    pieces = cut_texts(tokens, "lines", None, aligned(tokens, TEXTS, y))
    assert words_of(pieces)[0] == "Ann sleeps . Bob runs ."


def test_long_pieces_are_cut_at_the_largest_gap():
    tokens = tokenized(["a b c. d e f g h"])
    pieces = cut_texts(tokens, "texts", 6)
    assert words_of(pieces) == ["a b c .", "d e f g h"]
    for length in (1, 2, 3):
        pieces = cut_texts(tokens, "texts", length)
        assert np.diff(pieces.bounds).max() <= length
        assert " ".join(words_of(pieces)) == "a b c . d e f g h"


def test_auto_is_the_shortest_kind_that_cuts_hardly_any_span():
    tokens = tokenized(TEXTS)
    inside = aligned(tokens, TEXTS, [[(0, 3, "X"), (12, 15, "X")], [], []])
    across = aligned(tokens, TEXTS, [[(4, 15, "X")], [], []])
    over_all = aligned(tokens, TEXTS, [[(12, 26, "X")], [], []])
    assert chosen(tokens, inside, "auto") == "lines"
    assert chosen(tokens, across, "auto") == "paragraphs"
    assert chosen(tokens, over_all, "auto") == "texts"
    assert chosen(tokens, over_all, "lines") == "lines"
