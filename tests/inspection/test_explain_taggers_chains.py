"""Span taggers of several chains of labels, looked into."""

import pytest
from nested_cases import GOLD, TEST, X, Y, flat_taggers, of_types, tagger

from skstruct import L1CRF, SpanTagger
from skstruct.inspection import (
    explain,
    feature_weights,
    label_issues,
    report,
    select,
)
from skstruct.inspection.forgetting import known_labels
from skstruct.inspection.selection import uncertainty


def test_explanations_are_those_of_each_chain():
    model = tagger().fit(X, Y)
    flat = flat_taggers(X, Y)
    for x, spans in zip(TEST[:5], GOLD):
        for labels in (None, spans):
            found = explain(model, x, labels)
            some = [
                spans and of_types([spans], t)[0]
                for t in (("protein", "cell"), ("DNA",))
            ]
            parts = [
                explain(each, x, labels and part) for each, part in zip(flat, some)
            ]
            assert found.score == sum(each.score for each in parts)
            assert found.labels == [*parts[0].labels, *parts[1].labels]
            assert found.tokens == [*parts[0].tokens, *parts[1].tokens]
        n = len(found.tokens) // 2
        at = model.tokens([x])[0]
        read = [
            (at[a % n][0], at[(b - 1) % n][1], kind) for a, b, kind in found.segments
        ]
        assert sorted(read) == sorted(spans)
    assert explain(model, " ").tokens == []


def test_doubts_are_those_of_all_chains():
    inner = L1CRF(c1=0.1, max_iter=200, random_state=0)
    model = tagger(inner).fit(X, Y)
    flat = flat_taggers(X, Y, inner=inner)
    for strategy in ("least_confident", "entropy"):
        each = [uncertainty(one, TEST, strategy) for one in flat]
        assert uncertainty(model, TEST, strategy) == pytest.approx(sum(each))
    assert len(select(model, TEST, 3, strategy="margin")) == 3
    weights = feature_weights(model)
    assert len(weights) == sum(len(feature_weights(one)) for one in flat)
    assert {label for _, label, _ in weights} >= {"O", "B-DNA", "S-protein", "B-cell"}


def test_wrong_labels_are_found_in_each_chain():
    inner = L1CRF(c1=0.1, max_iter=200, random_state=0)
    wrong = [list(spans) for spans in Y]
    i = next(i for i, spans in enumerate(Y) if any(s[2] == "DNA" for s in spans))
    (missed, *_) = [span for span in wrong[i] if span[2] == "DNA"]
    wrong[i].remove(missed)
    found = label_issues(tagger(inner), X, wrong, cv=3)
    flat = []
    for types in ({"protein", "cell"}, {"DNA"}):
        flat += label_issues(SpanTagger(inner), X, of_types(wrong, types), cv=3)
    assert sorted(found) == sorted(flat) and len(found) == len(flat)
    assert (i, *missed[:2]) in {each[:3] for each in found if each.suggested == "DNA"}


def test_the_report_has_all_types():
    model = tagger(L1CRF(c1=0.1, max_iter=200, random_state=0)).fit(X, Y)
    page = report(model, TEST, GOLD)
    assert all(f">{kind}<" in page._repr_html_() for kind in ("DNA", "protein", "cell"))


def test_new_types_are_known_as_new():
    model = tagger().partial_fit(X, Y)
    assert known_labels(model) >= {"DNA", "protein", "cell", "B-DNA"}
