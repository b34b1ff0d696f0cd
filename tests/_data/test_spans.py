"""Spans: checks, and alignment with tokens against an oracle that goes character by
character.
"""

import random
import re

import numpy as np
import pytest
from span_oracle import aligned as oracle
from span_oracle import random_text

from skstruct import Span
from skstruct._data.alignment_report import (
    PROBLEMS,
    AlignmentReport,
    align_spans,
    labels_of,
)
from skstruct._data.schemes import labels_to_spans
from skstruct._data.spans import as_spans
from skstruct._data.text import tokenized

TEXT = "Ann saw India \U0001f600 Inc."


def random_spans(rng, text, n_labels=2, missing=0.1):
    spans = []
    for _ in range(rng.randrange(5)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.randrange(8))
        spans.append(
            (
                start,
                end,
                None if rng.random() < missing else "AB"[rng.randrange(n_labels)],
            )
        )
    return spans


@pytest.mark.parametrize("align", ["nearest", "expand", "unknown", "contract"])
@pytest.mark.parametrize("tokenizer", ["words", r"\w{1,4}|[^\w\s]+"])
def test_alignment_is_that_of_the_oracle(align, tokenizer):
    rng = random.Random(0)
    texts = [random_text(rng) for _ in range(400)]
    y = [random_spans(rng, text) for text in texts]
    tokens, given = tokenized(texts, tokenizer), as_spans(y, texts)
    found = align_spans(tokens, given, align, "longest")
    labels = labels_of(found, given, tokens.first, "BIO")
    moves = []
    for i, (text, pairs, spans, each) in enumerate(
        zip(texts, tokens.pairs(), y, labels)
    ):
        expected, problems = oracle(text, pairs, spans, align)
        other = [label if label in (None, "O") else "in a span" for label in each]
        assert other == [k if k in (None, "O") else "in a span" for k in expected]
        where = {}
        for t, k in enumerate(expected):
            if isinstance(k, int):
                where.setdefault(k, []).append(t)
        chunks = [
            (ts[0], ts[-1] + 1, spans[k][2])
            for k, ts in sorted(where.items(), key=lambda s: s[1])
        ]
        assert labels_to_spans([label or "O" for label in each], "BIO") == chunks
        moves += [
            (
                i,
                k,
                spans[k],
                p,
                k in where
                and (pairs[where[k][0]][0], pairs[where[k][-1]][1], spans[k][2])
                or None,
            )
            for k, p in enumerate(problems)
            if p
        ]
    report = AlignmentReport(tokens, given, found)
    assert report.moves == moves and len(moves) > 100
    names = [p for *_, p, _ in moves]
    assert report.counts == {
        "spans": sum(s[2] is not None for each in y for s in each),
        **{p: names.count(p) for p in PROBLEMS[1:]},
    }


def test_forms_of_spans():
    y = [
        [[0, 3, "PER"], {"start": np.int64(8), "end": 13, "label": "LOC"}, (4, 7, None)]
    ]
    given = as_spans(y, [TEXT])
    assert given.spans == [(0, 3, "PER"), (8, 13, "LOC"), (4, 7, None)]
    assert all(type(span) is Span and type(span.start) is int for span in given.spans)


BAD = [
    ([(3, 9)], "position 0: expected (start, end, label), got tuple (3, 9)"),
    ([5], "position 0: expected (start, end, label), got int 5"),
    ([(0.0, 3, "PER")], "position 0: start and end must be ints, got float 0.0"),
    ([(0, True, "PER")], "position 0: start and end must be ints, got bool True"),
    (
        [(0, float("nan"), "PER")],
        "position 0: start and end must be ints, got float nan",
    ),
    ([{"start": 0}], "position 0: expected (start, end, label), got dict {'start': 0}"),
    (
        [(0, 3, 7)],
        "position 0: the label must be a str that is not empty, or None, got int 7",
    ),
    (
        [(0, 3, "")],
        "position 0: the label must be a str that is not empty, or None, got str ''",
    ),
    ([(9, 3, "PER")], "position 0: (9, 3, 'PER') ends before it begins"),
    (
        [(0, 3, "A"), (30, 41, "PER")],
        "position 1: (30, 41, 'PER') leaves the text, which has 20 characters",
    ),
    (
        [(0, 10**30, "A")],
        f"position 0: (0, {10**30}, 'A') leaves the text, which has 20 characters",
    ),
    (
        [(-1, 3, "PER")],
        "position 0: (-1, 3, 'PER') leaves the text, which has 20 characters",
    ),
    (
        [(17, 21, "ORG")],
        "position 0: (17, 21, 'ORG') leaves the text, which has 20 characters; in UTF-16 units it has 21: "
        "skstruct.datasets.from_utf16 converts",
    ),
    (
        [(8, 13, "LOC"), (0, 6, "PER"), (4, 9, "ORG")],
        "position 2: (4, 9, 'ORG') overlaps (0, 6, 'PER'); overlap=\"longest\" keeps the longer of two, overlap=\"by-type\" learns both",
    ),
    (
        [(0, 3, "PER"), (8, 12, "LOC")],
        "position 1: (8, 12, 'LOC') is 'Indi' and ends inside of the token 'India'; "
        'align="nearest" takes whole tokens',
    ),
    (
        [(9, 13, "LOC")],
        "position 0: (9, 13, 'LOC') is 'ndia' and begins inside of the token 'India'; "
        'align="nearest" takes whole tokens',
    ),
    ([(5, 5, "PER")], "position 0: (5, 5, 'PER') holds no token"),
]


@pytest.mark.parametrize("spans, message", BAD)
def test_bad_spans(spans, message):
    texts = ["", TEXT]
    with pytest.raises(
        ValueError, match=re.escape("y: sequence 1, " + message) + r"\Z"
    ):
        align_spans(tokenized(texts), as_spans([[], spans], texts), "error", "error")


def test_bad_lists():
    with pytest.raises(ValueError, match="X has 3 texts, y has 1 lists of spans"):
        as_spans([[]], ["a", "b", "c"])
    with pytest.raises(
        ValueError, match="y must be a list of lists of spans, got None"
    ):
        as_spans(None, ["a"])
    with pytest.raises(
        ValueError, match="y: sequence 0 must be a list of spans, got int 3"
    ):
        as_spans([3], ["a"])


def test_report_is_shown():
    texts = [TEXT, "no <b>"]
    y = [[(0, 4, "PER"), (8, 12, "LOC"), (4, 7, None)], [(2, 3, "X")]]
    tokens, given = tokenized(texts), as_spans(y, texts)
    report = AlignmentReport(tokens, given, align_spans(tokens, given))
    assert (
        report.counts["trimmed"]
        == report.counts["moved"]
        == report.counts["empty"]
        == 1
    )
    assert report.reachable == pytest.approx(1 / 3)
    assert str(report).splitlines() == [
        "3 spans, 33.3% of them whole tokens; 1 trimmed, 1 empty, 1 moved",
        "  text 0, position 0: trimmed: (0, 4, 'PER') 'Ann ' -> (0, 3, 'PER') 'Ann'",
        "  text 0, position 1: moved: (8, 12, 'LOC') 'Indi' -> (8, 13, 'LOC') 'India'",
        "  text 1, position 0: empty: (2, 3, 'X') ' ' -> nothing",
    ]
    assert (
        report.to_frame().new_end.tolist()[:2] == [3, 13]
        and "<td>moved</td>" in report._repr_html_()
    )


def test_spans_without_a_text_do_not_begin_before_it():
    with pytest.raises(
        ValueError, match="y: sequence 0, position 0: .* begins before th"
    ):
        as_spans([[(-3, -1, "A")]])


@pytest.mark.parametrize("name", ["y", "known", "segments", "y_true"])
def test_the_spans_of_one_text_are_no_list_of_lists(name):
    for span in (0, 3, "A"), [np.int64(0), 3, "A"]:
        with pytest.raises(
            ValueError, match=rf"; of one text write {name} = \[spans\]"
        ):
            as_spans([span], name=name)
