"""Errors that are planted: of their kind, and systematic ones as a model learns them."""

import random

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection.planted_errors import (
    chosen_places,
    cut_ends,
    left_out,
    other_ends,
    other_types,
    repeated_shapes,
    repeated_types,
    superfluous,
)
from skstruct.inspection.span_evidence import Evidence, Judged

TEXT = "Ann saw Rome in 2019"
TOKENS = [(0, 3), (4, 7), (8, 12), (13, 15), (16, 20)]


@pytest.fixture
def evidence():
    spans = [Span(0, 3, "PER"), Span(8, 12, "LOC")]
    found = [(span, 0.9) for span in spans]
    inside = np.array([0.9, 0.1, 0.9, 0.0, 0.0])
    return Evidence(
        [Judged(k % 2, TEXT, spans, None, TOKENS, inside, found) for k in range(6)]
    )


def planted(plant, evidence):
    draw = random.Random(0)
    return list(plant(evidence, chosen_places(evidence, draw), draw))


def test_other_types(evidence):
    for facts in planted(other_types, evidence):
        assert facts.given == 0.0 and facts.other_type == 0.9
        assert facts.same == 0 and facts.differently == 5
    for facts in planted(repeated_types, evidence):
        assert 0.1 <= facts.given <= 0.45 and facts.other_type < 0.9
        assert facts.same + facts.differently == 5


def test_other_ends(evidence):
    found = planted(other_ends, evidence)
    assert len(found) == 12 and {facts.tokens for facts in found} == {2}
    assert all(facts.given == 0.0 and facts.other_boundary == 0.9 for facts in found)
    cut = planted(cut_ends, evidence)
    assert cut and all(facts.cuts and facts.other_boundary == 0.9 for facts in cut)


def test_spans_where_there_are_none(evidence):
    for facts in planted(superfluous, evidence):
        assert facts.given == 0.0 and facts.nothing >= 0.9 and facts.unmarked == 5
    for facts in planted(repeated_shapes, evidence):
        assert facts.given >= 0.1 and facts.same + facts.unmarked == 5


def test_what_is_left_out(evidence):
    known = evidence.facts(0, Span(0, 3, "PER"))
    facts = left_out(known, random.Random(0))
    assert 0.9 * 0.55 <= facts.given <= 0.9 * 0.9 and facts.nothing > known.nothing
    assert facts.same + facts.unmarked == known.same
