"""What models say of spans that they have not seen."""

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection.span_evidence import (
    FEATURES,
    MISSING,
    Evidence,
    Group,
    Judged,
    features_of,
    missing_features_of,
    shape_of,
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


def test_facts(evidence):
    rome = evidence.facts(0, Span(8, 12, "LOC"))
    assert rome.given == 0.0 and rome.other_type == 0.6 and rome.other_boundary == 0.3
    assert rome.nothing == pytest.approx(0.2)
    assert rome.least_inside == pytest.approx(0.8)
    # two others have the same string, and none has it with another type
    assert (rome.same, rome.differently, rome.unmarked) == (2, 0, 0)
    # texts of its own fold are not what its judge has seen
    assert rome.seen == 2 and rome.tokens == 1 and rome.upper and not rome.cuts
    label, odds = evidence.rival_type(0, Span(8, 12, "LOC"))
    assert label == "PER" and odds == rome.type_odds < 0
    ann = evidence.facts(2, Span(0, 3, "PER"))
    assert (ann.same, ann.unmarked) == (2, 0)
    assert evidence.facts(0, Span(0, 3, "PER")).unmarked == 1
    assert evidence.likeliest(0) == [
        (Span(0, 3, "PER"), 0.9),
        (Span(8, 12, "PER"), 0.6),
    ]


def test_numbers_have_names(evidence):
    facts = evidence.facts(0, Span(8, 12, "LOC"))
    known = dict(zip(FEATURES, features_of(facts), strict=True))
    assert known["other type"] == pytest.approx(np.log(0.6))
    assert known["given"] == pytest.approx(np.log(0.0005)) and known["unseen"] == 0.0
    unseen = dict(zip(FEATURES, features_of(facts._replace(seen=0)), strict=True))
    assert unseen["unseen, given"] == unseen["given"]
    known = dict(zip(MISSING, missing_features_of(facts), strict=True))
    assert known["same"] == pytest.approx(np.log(3))


def test_a_model_that_has_learned_an_error_believes_in_it(evidence):
    facts = evidence.facts(0, Span(8, 12, "LOC")).among(0.25)
    assert facts.given == pytest.approx(0.25)
    assert facts.other_type == pytest.approx(0.45)


def test_spans_that_are_no_whole_tokens():
    odd = judged(spans=[(0, 2, "PER"), (0, 3, None), (4, 12, "LOC"), (3, 3, "LOC")])
    evidence = Evidence([odd])
    assert [evidence.facts(*place).cuts for place in evidence.places()] == [
        True, False, True,
    ]  # fmt: skip


def test_what_models_reject_of_a_string_and_of_a_shape():
    """Of two spans of the word "Rome" as LOC a model rejects one."""
    found = [(Span(0, 3, "PER"), 0.9), (Span(8, 12, "LOC"), 0.9)]
    sure = judged(0, found=found)._replace(inside=np.array([0.9, 0.1, 0.9, 0.1]))
    evidence = Evidence([sure, judged(1), judged(1)])
    facts = evidence.facts(0, Span(8, 12, "LOC"))
    assert facts.rejected_string == Group(2, 2) == facts.rejected_shape
    assert evidence.facts(1, Span(8, 12, "LOC")).rejected_string == Group(2, 1)
    assert (
        Group().log_odds(0.05) < Group(2, 1).log_odds(0.05) < Group(2, 2).log_odds(0.05)
    )


def test_strings_that_are_often_annotated_may_be_missing():
    """Four of six mentions of Ann are annotated; no model has found the others."""
    rows = [judged(k % 2, [(0, 3, "PER")] if k < 4 else []) for k in range(6)]
    evidence = Evidence(rows)
    assert evidence.candidates(5) == [(Span(0, 3, "PER"), 0.0)]
    assert Evidence(rows[1:]).candidates(4) == []


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("INV-2024", "A-9"),
        ("Rome", "Aa"),
        ("I", "Aa"),
        ("é4", "a9"),
        ("1,2.5", "9,9.9"),
    ],
)
def test_shapes(word, shape):
    assert shape_of(word) == shape
