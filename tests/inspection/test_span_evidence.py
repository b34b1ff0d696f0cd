"""What models say of spans that they have not seen, and errors that are planted."""

import random

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection.span_evidence import (
    GIVEN,
    MISSING,
    Evidence,
    Judged,
    other_boundaries,
    other_types,
    superfluous,
)

TEXT = "Ann saw Rome today"
TOKENS = [(0, 3), (4, 7), (8, 12), (13, 18)]


def judged(fold=0, spans=((0, 3, "PER"), (8, 12, "LOC")), found=()):
    spans = [Span(*span) for span in spans]
    return Judged(
        fold, TEXT, spans, None, TOKENS, np.array([0.9, 0.1, 0.8, 0.2]), list(found)
    )


@pytest.fixture
def evidence():
    found = [
        (Span(0, 3, "PER"), 0.9),
        (Span(8, 12, "PER"), 0.6),
        (Span(8, 18, "LOC"), 0.3),
    ]
    return Evidence([judged(0, found=found), judged(1), judged(1, ((8, 12, "LOC"),))])


def test_what_a_span_is_described_by(evidence):
    known = dict(zip(GIVEN, evidence.described(0, Span(8, 12, "LOC"))))
    assert known["given"] == pytest.approx(np.log(0.0005))
    assert known["other type"] == pytest.approx(np.log(0.6))
    assert known["other boundary"] == pytest.approx(np.log(0.3))
    assert known["most inside"] == pytest.approx(np.log(0.8))
    # texts of its own fold are no evidence
    assert evidence.rival(0, Span(8, 12, "LOC")) == ("PER", 0.6)
    # two others have the same string, and none has it with another type
    assert known["votes as given"] == pytest.approx(np.log(3))
    assert known["votes as suggested"] == 0.0
    assert known["type by model"] > 0 > known["type"]
    assert known["unseen"] == 0.0 and known["tokens"] == 1.0
    other = dict(zip(MISSING, evidence.described_missing(0, Span(0, 3, "PER"), 0.9)))
    assert other["seen as suggested"] == pytest.approx(np.log(2))
    assert other["seen as nothing"] == pytest.approx(np.log(2))
    assert evidence.likeliest(0) == [
        (Span(0, 3, "PER"), 0.9),
        (Span(8, 12, "PER"), 0.6),
    ]


def test_planted_errors_are_of_their_kind(evidence):
    given = {(i, span) for i, span in evidence.places()}
    for i, span in other_types(evidence, random.Random(0)):
        assert (i, span) not in given
        assert any(j == i and span[:2] == other[:2] for j, other in given)
    planted = list(other_boundaries(evidence, random.Random(0)))
    assert len(planted) == len(given)
    starts, ends = {a for a, _ in TOKENS}, {b for _, b in TOKENS}
    for i, span in planted:
        assert span.start in starts and span.end in ends and (i, span) not in given
    for i, span in superfluous(evidence, random.Random(0)):
        assert all(span.end <= a or b <= span.start for a, b, _ in evidence.given[i])


def test_spans_that_are_no_whole_tokens_do_not_count():
    odd = judged(spans=[(0, 2, "PER"), (0, 3, None), (4, 12, "LOC"), (3, 3, "LOC")])
    assert Evidence([odd]).given == [[Span(4, 12, "LOC")]]
