"""Spans in columns: what meets what, by brute force on random texts."""

import random
from collections import Counter

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection.span_columns import (
    Counts,
    Judged,
    SpanCorpus,
    by_row,
    spread,
)


def corpus(seed):
    """Texts of words of one to four letters, with spans anywhere."""
    draw = random.Random(seed)
    judged = []
    for k in range(6):
        words = ["abcd"[: draw.randint(1, 4)] for _ in range(draw.randint(0, 7))]
        text = " ".join(words)
        tokens, start = [], 0
        for word in words:
            tokens.append((start, start + len(word)))
            start += len(word) + 1

        def some(n, text=text):
            ends = [sorted(draw.sample(range(len(text) + 1), 2)) for _ in range(n)]
            return sorted({Span(a, b, draw.choice("XY")) for a, b in ends})

        n = 4 if text else 0
        inside = np.array([draw.random() for _ in tokens])
        found = [(span, draw.random()) for span in some(n)]
        judged.append(Judged(k % 2, text, some(n), None, tokens, inside, found))
    return judged, SpanCorpus(judged)


def meet(one, two):
    return one[0] < two[1] and two[0] < one[1]


@pytest.mark.parametrize("seed", range(5))
def test_what_meets_a_span(seed):
    judged, columns = corpus(seed)
    places = columns.found
    n = len(places.start)
    found, row = columns.meeting(places)
    pairs = Counter(zip(row.tolist(), found.tolist()))
    first, stop = columns.tokens_of(places)
    whole = columns.are_whole(places, first, stop)
    others = columns.annotated.count(places.start, places.end)
    for k in range(n):
        i, span = int(places.text[k]), columns.span(places, k)
        each = judged[i]
        assert dict(each.found)[span] == columns.probability[k]
        same = [j for j in range(n) if places.text[j] == i]
        near = [j for j in same if meet(span, columns.span(places, j))]
        assert [pairs[k, j] for j in range(n)] == [j in near for j in range(n)]
        tokens = [pair for pair in each.tokens if meet(span, pair)]
        inside = slice(first[k], stop[k])
        offset = columns.offset[i]
        assert (columns.token_start[inside] - offset).tolist() == [a for a, _ in tokens]
        ends = bool(tokens) and (tokens[0][0], tokens[-1][1]) == span[:2]
        assert bool(whole[k]) == ends
        assert others[k] == sum(meet(span, other) for other in each.spans)


def test_parts_of_a_text_that_are_not_annotated_have_no_label():
    judged, _ = corpus(0)
    judged[1] = judged[1]._replace(spans=[Span(0, 1, None), Span(2, 3, "X")])
    columns = SpanCorpus(judged[1:2])
    assert len(columns.given.start) == 1
    assert columns.annotated.count(np.array([0]), np.array([1])).tolist() == [1]


def test_a_corpus_of_nothing():
    columns = SpanCorpus([])
    assert columns.labels == [] and len(columns.found.start) == 0


def test_counts_are_those_of_a_dictionary():
    draw = np.random.RandomState(0)
    keys, asked = draw.randint(20, size=50), draw.randint(-5, 30, size=40)
    expected = Counter(keys.tolist())
    assert Counts(keys).of(asked).tolist() == [expected[k] for k in asked.tolist()]
    assert Counts(keys, keys > 9).of(np.array([3, 12])).tolist() == [0, expected[12]]
    assert Counts(keys[:0]).of(asked).tolist() == [0] * 40


def test_rows_of_different_lengths():
    numbers, row = spread(np.array([3, 5, 7]), np.array([5, 5, 8]))
    assert numbers.tolist() == [3, 4, 7] and row.tolist() == [0, 0, 2]
    values = np.array([1.0, 4.0, 2.0])
    assert by_row(np.maximum, values, row, 3, -1.0).tolist() == [4.0, -1.0, 2.0]
    assert by_row(np.maximum, values[:0], row[:0], 2, 0.0).tolist() == [0.0, 0.0]
