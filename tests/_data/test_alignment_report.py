"""What becomes of spans: aligned with tokens, written as labels, and reported."""

import numpy as np
import pytest

from skstruct._data.alignment_report import (
    PROBLEMS,
    AlignmentReport,
    align_spans,
    counts_of,
    labels_of,
)
from skstruct._data.spans import as_spans
from skstruct._data.text import tokenized

TEXT = "Ann Lee sleeps here"


def aligned(y, texts=(TEXT,), **options):
    tokens = tokenized(list(texts))
    given = as_spans(y, list(texts))
    found = align_spans(tokens, given, **options)
    return tokens, given, found


def labels(y, scheme="BIO", **options):
    tokens, given, found = aligned([y], **options)
    (line,) = labels_of(found, given, np.array([0, len(tokens.start)]), scheme)
    return line


def problems(y, **options):
    return [PROBLEMS[k] for k in aligned([y], **options)[2].problem]


def test_whole_tokens_become_labels():
    assert labels([(0, 7, "PER")]) == ["B-PER", "I-PER", "O", "O"]
    assert labels([(0, 7, "PER"), (8, 14, None)]) == ["B-PER", "I-PER", None, "O"]


@pytest.mark.parametrize(
    "align, expected",
    [
        ("nearest", ["B-PER", "O", "O", "O"]),
        ("contract", ["B-PER", "O", "O", "O"]),
        ("unknown", [None, None, "O", "O"]),
    ],
)
def test_an_edge_inside_of_a_token(align, expected):
    assert labels([(0, 5, "PER")], align=align) == expected
    with pytest.raises(ValueError, match="and ends inside of the token 'Lee'; align="):
        labels([(0, 5, "PER")], align="error")


def test_overlapping_spans():
    y = [(0, 3, "A"), (0, 7, "B")]
    with pytest.raises(ValueError, match='overlaps .*; overlap="longest" keeps'):
        labels(y)
    assert labels(y, overlap="longest") == ["B-B", "I-B", "O", "O"]
    assert problems(y, overlap="longest") == ["overlap", "none"]


def test_each_span_has_one_problem():
    y = [(0, 4, "A"), (3, 4, "A"), (8, 14, "A"), (8, 14, "A"), (15, 18, "B")]
    assert problems(y) == ["trimmed", "empty", "none", "duplicate", "moved"]
    assert problems([(15, 16, "A"), (16, 19, "B")]) == ["unknown", "moved"]


def test_the_report_lists_what_changes():
    tokens, given, found = aligned([[(0, 4, "A"), (8, 14, "A"), (15, 18, "B")]])
    report = AlignmentReport(tokens, given, found)
    assert report.counts == counts_of(given, found)
    assert report.counts["spans"] == 3 and report.counts["moved"] == 1
    assert report.reachable == pytest.approx(2 / 3)
    assert report.moves == [
        (0, 0, (0, 4, "A"), "trimmed", (0, 3, "A")),
        (0, 2, (15, 18, "B"), "moved", (15, 19, "B")),
    ]
    assert "text 0, position 2: moved: (15, 18, 'B') 'her' -> (15, 19, 'B') 'here'" in (
        str(report)
    )
    assert "3 spans, 66.7% of them whole tokens; 1 trimmed, 1 moved" in repr(report)
