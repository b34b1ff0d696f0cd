"""Wrong spans from what models say: nothing that they reject is left out."""

import numpy as np

from skstruct import Span
from skstruct.inspection.span_columns import Judged
from skstruct.inspection.span_issues import issues_of_spans

TEXT = "sum 120 to Ann"
TOKENS = [(0, 3), (4, 7), (8, 10), (11, 14)]


def judged(k, spans, p_number=0.001):
    inside = np.array([0.001, p_number, 0.001, 0.999])
    found = [(Span(11, 14, "PER"), 0.999)]
    if p_number >= 0.001:
        found.append((Span(4, 7, "SUM"), p_number))
    return Judged(k % 5, TEXT, spans, None, TOKENS, inside, found)


def test_what_models_reject_is_listed():
    """One number in ten is annotated; the models have learned this a little."""
    name = Span(11, 14, "PER")
    wrong = range(0, 100, 10)
    rows = [
        judged(k, [Span(4, 7, "SUM"), name] if k in wrong else [name], 0.08)
        for k in range(100)
    ]
    found = issues_of_spans(rows)
    listed = {each.sequence for each in found if each.kind == "superfluous"}
    assert listed == set(wrong)
    assert all(each.suggested is None for each in found)


def test_a_span_within_a_token_has_other_ends():
    rows = [judged(k, [Span(11, 14, "PER")]) for k in range(60)]
    rows[7] = judged(7, [Span(11, 13, "PER")])
    first = max(issues_of_spans(rows), key=lambda each: each.chance)
    assert first[:5] == (7, 11, 13, "PER", "PER") and first.other == (11, 14)
    assert first.kind == "other boundary" and first.chance > 0.5


def test_a_span_that_is_missing():
    rows = [judged(k, [Span(11, 14, "PER")] if k else [], 0.08) for k in range(60)]
    (only,) = [each for each in issues_of_spans(rows) if each.chance > 0.5]
    assert only[:5] == (0, 11, 14, None, "PER") and only.kind == "missing"
