"""From the k best analyses to lattices of nodes, and back."""

import math

import numpy as np
import pytest

from skstruct import (
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._words.reranker_epoch import ABSENT, HALF
from skstruct._words.word_lattice import (
    RIGHT,
    TextAdapter,
    TokenAdapter,
    adapter_of,
    bucket,
    lattice,
    make_task,
    paths,
)


def test_lattice_margins_and_targets():
    candidates = [
        (5.0, [(0, 2, "ab", "X"), (2, 3, "c", "Z")]),
        (4.0, [(0, 1, "a", "X"), (1, 2, "b", "Y"), (2, 3, "c", "Z")]),
        (1.5, [(0, 1, "a", "X"), (1, 3, "bc", "Y")]),
    ]
    nodes = lattice(candidates)
    assert nodes == [
        (0, 2, "ab", "X", 0.0), (0, 1, "a", "X", 1.0), (1, 2, "b", "Y", 1.0), (1, 3, "bc", "Y", 3.5),
        (2, 3, "c", "Z", 0.0),
    ]  # fmt: skip
    gold = [[(0, 1, "a", "Y"), (1, 2, "b", "Y"), (2, 3, "c", "Q")]]
    task = make_task([nodes], [3], {}, {}, gold)
    assert task.right.tolist() == [0, 1, RIGHT, 0, 1]
    (path,) = paths([nodes], task.target != ABSENT)
    assert path == [(0, 1, "a", "X"), (1, 2, "b", "Y"), (2, 3, "c", "Z")]
    assert task.margin.tolist() == [
        0,
        *[int(2 * math.log(2 * m + 1)) for m in (1.0, 1.0, 3.5)],
        0,
    ]


@pytest.mark.parametrize("margin, expected", [(0.0, 0), (-1e-12, 0), (0.4, 1), (1, 2)])
def test_buckets_of_margins(margin, expected):
    assert bucket(margin) == expected
    assert bucket(1e300) < HALF - 1


def test_the_view_that_suits_a_base():
    assert isinstance(adapter_of(Segmenter()), TextAdapter)
    assert isinstance(adapter_of(WordSegmenter()), TextAdapter)
    assert isinstance(adapter_of(StructuredPerceptron()), TokenAdapter)
    assert adapter_of(WordSegmenter()).finds_words
    assert not adapter_of(StructuredPerceptron()).finds_words
    for wrong in (None, ShiftReduceParser()):
        with pytest.raises(ValueError, match="base must be a Segmenter"):
            adapter_of(wrong)


def test_items_are_words_or_tokens():
    text = TextAdapter()
    X, y = text.check(["ab  c", ""], [["ab", "c"], []])
    assert X == ["ab c", ""] and text.lengths(X).tolist() == [3, 0]
    gold = text.gold(X, y)
    assert [(begin, end, word) for begin, end, word, _ in gold[0]] == [
        (0, 2, "ab"),
        (2, 3, "c"),
    ]
    assert text.decode(None, gold[0]) == ["ab", "c"] and gold[1] == []
    tokens = TokenAdapter()
    X, y = tokens.check([["a", "b"], []], [["N", None], []])
    assert tokens.lengths(X).tolist() == [2, 0]
    assert tokens.gold(X, y) == [[(0, 1, "a", "N"), (1, 2, "b", None)], []]
    assert tokens.decode(None, tokens.gold(X, y)[0]) == ["N", None]
    X, y = tokens.check([[("a", "x")], [{"f": 1}]], [["N"], ["V"]])
    assert tokens.gold(X, y)[0] == [(0, 1, "a", "N")]
    assert tokens.gold(X, y)[1] == [(0, 1, None, "V")]


def test_unknown_words_have_no_number_unless_there_is_gold():
    nodes = lattice([(1.0, [(0, 1, "a", "X"), (1, 2, "b", "Y")])])
    words, tags = {}, {}
    gold = [[(0, 1, "a", "X"), (1, 2, "b", "Y")]]
    task = make_task([nodes, []], np.array([2, 0]), words, tags, [*gold, []])
    assert words == {"a": 1, "b": 2} and tags == {"X": 1, "Y": 2}
    assert task.node.tolist() == [0, 2, 2] and task.target.tolist() == [-1, 0]
    task = make_task([nodes], np.array([2]), {"b": 1}, {}, None)
    assert task.word.tolist() == [-1, 1] and task.tag.tolist() == [-1, -1]
    assert task.left.tolist() == [-1, 0] and task.into.tolist() == [0, 1, 2]
