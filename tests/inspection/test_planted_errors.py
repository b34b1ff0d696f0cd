"""Errors that are planted: of their kind, and systematic ones as a model learns them."""

import re

import numpy as np
import pytest

from skstruct import Span
from skstruct.inspection.planted_errors import (
    Groups,
    chosen_places,
    cut_ends,
    learned,
    left_out,
    other_ends,
    other_types,
    repeated_shapes,
    repeated_types,
    shortened,
    superfluous,
)
from skstruct.inspection.span_columns import Judged
from skstruct.inspection.span_evidence import Evidence

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
    draw = np.random.RandomState(0)
    return plant(evidence, chosen_places(evidence, draw), draw)


def facts_of(evidence, *spans):
    return evidence.facts(evidence.corpus.places((0, Span(*span)) for span in spans))


def test_other_types(evidence):
    facts = planted(other_types, evidence)
    assert np.all(facts.given == 0.0) and np.all(facts.other_type == 0.9)
    assert np.all(facts.same == 0) and np.all(facts.differently == 5)
    facts = planted(repeated_types, evidence)
    assert np.any(facts.given > 0.0) and np.all(facts.other_type <= 0.9)
    assert np.all(facts.same + facts.differently == 5)
    assert {*facts.same.tolist()} == {1, 2}
    assert np.array_equal(facts.strings, facts.same)
    assert len(set(facts.given.tolist())) > 5


def test_another_type_is_any_but_the_given_one():
    spans = [Span(0, 3, "PER"), Span(4, 7, "DO"), Span(8, 12, "LOC")]
    judged = Judged(0, TEXT, spans, None, TOKENS, np.full(5, 0.5), [])
    evidence = Evidence([judged] * 50)
    given = evidence.corpus.given
    facts = planted(other_types, evidence)
    assert np.all(facts.same == 0)  # no string has the label that was drawn
    assert len(facts.given) == len(given.start)
    single = Evidence([judged._replace(spans=spans[:1])] * 5)
    assert len(planted(other_types, single).given) == 0
    assert len(planted(repeated_types, single).given) == 0


def test_models_learn_of_an_error_as_far_as_it_is_common(evidence):
    draw = np.random.RandomState(0)
    facts = facts_of(evidence, *[(0, 3, "LOC")] * 200)
    taught = {share: learned(facts, share, 20, draw) for share in (0.05, 0.4)}
    given, rejected = zip(*((each.given, n) for each, n in taught.values()))
    assert given[0].mean() < given[1].mean() < 0.4
    assert rejected[1].mean() < rejected[0].mean() <= 20
    assert all(np.all((0 <= n) & (n <= 20)) for n in rejected)
    assert 0.1 < np.mean(given[1] == 0.0) < 0.3  # nothing was learned


def test_a_string_counts_once_however_often_it_is_mentioned():
    spans = [[Span(0, 3, "PER")]] * 40 + [[Span(8, 12, "LOC")]] * 5
    inside = np.array([0.9, 0.1, 0.9, 0.0, 0.0])
    judged = [
        Judged(k % 2, TEXT, row, None, TOKENS, inside, [(row[0], 0.9)])
        for k, row in enumerate(spans)
    ]
    found = planted(repeated_types, Evidence(judged))
    assert 0.25 < np.mean(found.same + found.differently == 4) < 0.75


def test_groups_are_drawn_alike_and_small_ones_never():
    groups = Groups("aaaaaaaabbbcc", 3)
    assert len(groups) == 2
    drawn, size = groups.drawn(1000, np.random.RandomState(0))
    assert {*drawn.tolist()} == {*range(11)}
    assert {*size[drawn < 8].tolist()} == {8} and {*size[drawn >= 8].tolist()} == {3}
    assert 400 < np.sum(drawn < 8) < 600


def test_other_ends(evidence):
    found = planted(other_ends, evidence)
    assert len(found.given) == 12 and {*found.tokens.tolist()} == {2}
    assert np.all(found.given < 0.5) and np.all(found.other_boundary > 0.5)
    assert 0 < np.sum(found.given == 0.0) < 12
    assert len(planted(cut_ends, evidence).given) == 0  # no span ends within a token
    row = evidence.corpus.judged[0]
    cut_off = row._replace(spans=[Span(0, 2, "PER")])
    cut = planted(cut_ends, Evidence([cut_off, *evidence.corpus.judged[1:]]))
    assert len(cut.given) and np.all(cut.cuts) and np.all(cut.other_boundary == 0.9)


def test_other_ends_meet_no_other_span():
    """Of two words one is the only way, since neighbours are annotated or elsewhere."""
    spans = [Span(0, 7, "PER"), Span(8, 12, "LOC"), Span(13, 20, "DAY")]
    judged = Judged(0, TEXT, spans, None, TOKENS, np.full(5, 0.5), [])
    found = planted(other_ends, Evidence([judged] * 20))
    assert len(found.given) == 40 and {*found.tokens.tolist()} == {1}


def test_spans_that_lose_their_last_word():
    spans = [Span(0, 7, "PER"), Span(8, 12, "LOC")]
    judged = Judged(0, TEXT, spans, None, TOKENS, np.full(5, 0.5), [(spans[0], 0.9)])
    found = planted(shortened, Evidence([judged] * 20))
    assert len(found.given) == 20 and {*found.tokens.tolist()} == {1}
    assert np.all(found.other_boundary > 0.4) and np.all(found.beside == 0.5)


def test_spans_where_there_are_none(evidence):
    facts = planted(superfluous, evidence)
    assert len(facts.given) == 12 and np.all(facts.unmarked == 5)
    assert np.all(facts.given == 0.0) and np.all(facts.nothing >= 0.9)
    facts = planted(repeated_shapes, evidence)
    assert len(facts.given) == 12 and np.any(facts.given > 0.0)
    assert np.all(facts.same + facts.unmarked == 5)
    assert np.all(facts.shapes >= facts.same)


def test_superfluous_spans_end_before_others_begin():
    spans = [Span(8, 20, "LOC")]
    judged = Judged(0, TEXT, spans, None, TOKENS, np.full(5, 0.5), [])
    facts = planted(superfluous, Evidence([judged] * 20))
    assert {*facts.tokens.tolist()} == {1, 2}  # three are asked for
    full = judged._replace(spans=[Span(0, 20, "LOC")])
    assert len(planted(superfluous, Evidence([full] * 5)).given) == 0


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
    assert {*found.tokens.tolist()} == {1, 3}  # a number has three tokens


def test_what_is_left_out(evidence):
    known = facts_of(evidence, (0, 3, "PER"))
    facts = left_out(known, np.random.RandomState(0))
    assert 0.9 * 0.55 <= facts.given[0] <= 0.9 and facts.nothing[0] > known.nothing[0]
    assert facts.same[0] + facts.unmarked[0] == known.same[0]
