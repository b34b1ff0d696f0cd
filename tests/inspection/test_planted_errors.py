"""Errors that are planted: of their kind, and systematic ones as a model learns them."""

import random
import re

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection.planted_errors import (
    chosen_places,
    cut_ends,
    learned,
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
    repeated = planted(repeated_types, evidence)
    for facts in repeated:
        assert 0.0 < facts.given and facts.other_type < 0.9
        assert facts.same + facts.differently == 5 and 1 <= facts.same <= 2
        assert facts.rejected_string.spans == facts.same
    assert len({facts.given for facts in repeated}) > 5


def test_models_learn_of_an_error_as_far_as_it_is_common(evidence):
    draw = random.Random(0)
    facts = evidence.facts(0, Span(0, 3, "LOC"))
    taught = {
        share: [learned(facts, share, 20, draw) for _ in range(200)]
        for share in (0.05, 0.4)
    }
    means = {
        share: (np.mean([each.given for each, _ in of]), np.mean([n for _, n in of]))
        for share, of in taught.items()
    }
    assert means[0.05][0] < means[0.4][0] < 0.4
    assert means[0.4][1] < means[0.05][1] <= 20
    assert all(0 <= n <= 20 for of in taught.values() for _, n in of)


def test_a_string_counts_once_however_often_it_is_mentioned():
    spans = [[Span(0, 3, "PER")]] * 40 + [[Span(8, 12, "LOC")]] * 5
    inside = np.array([0.9, 0.1, 0.9, 0.0, 0.0])
    judged = [
        Judged(k % 2, TEXT, row, None, TOKENS, inside, [(row[0], 0.9)])
        for k, row in enumerate(spans)
    ]
    found = planted(repeated_types, Evidence(judged))
    rare = [each for each in found if each.same + each.differently == 4]
    assert 0.25 < len(rare) / len(found) < 0.75


def test_other_ends(evidence):
    found = planted(other_ends, evidence)
    assert len(found) == 12 and {facts.tokens for facts in found} == {2}
    assert all(facts.given < 0.5 < facts.other_boundary for facts in found)
    assert 0 < sum(facts.given == 0.0 for facts in found) < 12
    assert planted(cut_ends, evidence) == []  # no span ends within a token
    row = evidence.judged[0]
    cut_off = row._replace(spans=[Span(0, 2, "PER")])
    cut = planted(cut_ends, Evidence([cut_off, *evidence.judged[1:]]))
    assert cut and all(facts.cuts and facts.other_boundary == 0.9 for facts in cut)


def test_spans_where_there_are_none(evidence):
    for facts in planted(superfluous, evidence):
        assert facts.given == 0.0 and facts.nothing >= 0.9 and facts.unmarked == 5
    for facts in planted(repeated_shapes, evidence):
        assert 0.0 < facts.given and facts.same + facts.unmarked == 5
        assert facts.rejected_shape.spans >= facts.same


def test_words_with_signs_between_are_of_one_shape():
    text = "at 19.30, 20.15 (21.45) or 22.00"
    ends = re.finditer(r"\w+|[^\w\s]", text)
    tokens = [match.span() for match in ends]
    inside = np.zeros(len(tokens))
    judged = [
        Judged(k % 2, text, [Span(27, 32, "TIME")], None, tokens, inside, [])
        for k in range(4)
    ]
    found = planted(repeated_shapes, Evidence(judged))
    assert found and {facts.tokens for facts in found if facts.seen} <= {1, 3}
    assert any(facts.tokens == 3 for facts in found)


def test_what_is_left_out(evidence):
    known = evidence.facts(0, Span(0, 3, "PER"))
    facts = left_out(known, random.Random(0))
    assert 0.9 * 0.55 <= facts.given <= 0.9 and facts.nothing > known.nothing
    assert facts.same + facts.unmarked == known.same
