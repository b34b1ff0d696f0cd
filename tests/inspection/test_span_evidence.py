"""What models say of spans that they have not seen."""

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection import span_evidence
from skstruct.inspection.span_columns import Judged
from skstruct.inspection.span_evidence import (
    FEATURES,
    MISSING,
    Evidence,
    Facts,
    features_of,
    missing_features_of,
    rejection_odds,
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


def facts_of(evidence, i, span):
    """The facts of one span, as numbers."""
    places = evidence.corpus.places([(i, Span(*span))])
    return Facts(*(column[0] for column in evidence.facts(places)))


def candidates(evidence):
    places = evidence.candidates()
    spans = [evidence.corpus.span(places, k) for k in range(len(places.text))]
    return sorted(zip(places.text.tolist(), spans))


def test_facts(evidence):
    rome = facts_of(evidence, 0, (8, 12, "LOC"))
    assert rome.given == 0.0 and rome.other_type == 0.6 and rome.other_boundary == 0.3
    assert rome.nothing == pytest.approx(0.2)
    assert rome.least_inside == pytest.approx(0.8)
    # two others have the same string, and none has it with another type
    assert (rome.same, rome.differently, rome.unmarked) == (2, 0, 0)
    # texts of its own fold are not what its judge has seen
    assert rome.seen == 2 and rome.tokens == 1 and rome.upper and not rome.cuts
    assert evidence.corpus.labels[rome.rival] == "PER" and rome.type_odds < 0
    assert rome.rival_given == 0.6
    corpus = evidence.corpus
    assert corpus.span(corpus.found, int(rome.crossing)) == (8, 18, "LOC")
    ann = facts_of(evidence, 2, (0, 3, "PER"))
    assert (ann.same, ann.unmarked, ann.crossing) == (2, 0, -1)
    assert facts_of(evidence, 0, (0, 3, "PER")).unmarked == 1
    assert [k for k in candidates(evidence) if k[0] == 0] == [
        (0, Span(0, 3, "PER")),
        (0, Span(8, 12, "PER")),
    ]


def test_facts_of_many_spans_are_those_of_each(evidence, monkeypatch):
    places = evidence.corpus.given
    together = features_of(evidence.facts(places))
    assert len(together) == 5 and np.array_equal(together, features_of(evidence.given))
    monkeypatch.setattr(span_evidence, "AT_ONCE", 2)
    assert np.array_equal(together, features_of(evidence.facts(places)))


def test_what_stands_beside_a_span_may_belong_to_it(evidence):
    """Of three tokens in a row the middle one is annotated, or the first two are."""
    inside = np.array([0.7, 0.9, 0.8, 0.1])
    rows = [[Span(4, 7, "PER")], [Span(0, 3, "PER"), Span(4, 7, "LOC")]]
    given = Evidence(
        [Judged(0, TEXT, row, None, TOKENS, inside, []) for row in rows]
    ).given
    assert given.beside.tolist() == [0.8, 0.0, 0.8]
    alone = Judged(0, "Ann", [Span(0, 3, "PER")], None, [(0, 3)], inside[:1], [])
    assert Evidence([alone, alone]).given.beside.tolist() == [0.0, 0.0]
    shorter = facts_of(Evidence([judged(spans=[(0, 12, "PER")])]), 0, (0, 7, "PER"))
    assert shorter.beside == 0.8  # what the given span had is free then


def test_numbers_have_names(evidence):
    places = evidence.corpus.places([(0, Span(8, 12, "LOC"))])
    facts = evidence.facts(places)
    known = dict(zip(FEATURES, features_of(facts)[0], strict=True))
    assert known["other type"] == pytest.approx(np.log(0.6))
    assert known["given"] == pytest.approx(np.log(0.0005)) and known["unseen"] == 0.0
    facts = facts._replace(seen=np.array([0]))
    unseen = dict(zip(FEATURES, features_of(facts)[0], strict=True))
    assert unseen["unseen, given"] == unseen["given"]
    known = dict(zip(MISSING, missing_features_of(facts)[0], strict=True))
    assert known["same"] == pytest.approx(np.log(3))


def test_a_model_that_has_learned_an_error_believes_in_it(evidence):
    facts = facts_of(evidence, 0, (8, 12, "LOC")).among(0.25)
    assert facts.given == pytest.approx(0.25)
    assert facts.other_type == pytest.approx(0.45)


def test_spans_that_are_no_whole_tokens():
    odd = judged(spans=[(0, 2, "PER"), (0, 3, None), (4, 12, "LOC"), (3, 3, "LOC")])
    evidence = Evidence([odd])
    assert evidence.given.cuts.tolist() == [True, False, True]


def test_what_models_reject_of_a_string_and_of_a_shape():
    """Of two spans of the word "Rome" as LOC a model rejects one."""
    found = [(Span(0, 3, "PER"), 0.9), (Span(8, 12, "LOC"), 0.9)]
    sure = judged(0, found=found)._replace(inside=np.array([0.9, 0.1, 0.9, 0.1]))
    evidence = Evidence([sure, judged(1), judged(1)])
    facts = facts_of(evidence, 0, (8, 12, "LOC"))
    assert (facts.strings, facts.strings_rejected) == (2, 2)
    assert (facts.shapes, facts.shapes_rejected) == (2, 2)
    facts = facts_of(evidence, 1, (8, 12, "LOC"))
    assert (facts.strings, facts.strings_rejected) == (2, 1)
    none, some, all_ = rejection_odds(np.array([0, 2, 2]), np.array([0, 1, 2]))
    assert none < some < all_


def test_strings_that_are_often_annotated_may_be_missing():
    """Four of six mentions of Ann are annotated; no model has found the others."""
    rows = [judged(k % 2, [(0, 3, "PER")] if k < 4 else []) for k in range(6)]
    assert (5, Span(0, 3, "PER")) in candidates(Evidence(rows))
    assert candidates(Evidence(rows[1:])) == []


def test_of_parts_that_meet_the_most_probable_is_a_candidate():
    found = [(Span(0, 7, "PER"), 0.3), (Span(0, 3, "PER"), 0.6)]
    found += [(Span(8, 12, "LOC"), 0.01)]
    assert candidates(Evidence([judged(found=found)])) == [(0, Span(0, 3, "PER"))]


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
