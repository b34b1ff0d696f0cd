"""Thresholds of probabilities, type by type, from which spans have a precision."""

import pickle

import numpy as np
import pytest

from skstruct import L1CRF, SpanTagger, StructuredPerceptron
from skstruct.datasets import columns_to_spans, load_entities
from skstruct.inspection import report, thresholds_for
from skstruct.inspection.thresholds import precision_recall_curve


def test_spans_from_the_thresholds_on_have_the_precision():
    """Counted again, by a model of each fold."""
    X, y = columns_to_spans(*load_entities())
    X, y = X[:80], y[:80]
    tagger = SpanTagger(L1CRF(c1=0.1, c2=0.1, max_iter=30, random_state=0))
    folds = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    found = thresholds_for(tagger, X, y, precision=0.7, cv=folds)
    right = dict.fromkeys(found, 0)
    listed = dict.fromkeys(found, 0)
    for train, test in folds:
        model = tagger.fit([X[i] for i in train], [y[i] for i in train])
        spans = model.predict_segment_proba([X[i] for i in test], min_proba=found)
        for i, row in zip(test, spans):
            for span, _ in row:
                listed[span.label] += 1
                right[span.label] += span in {tuple(each) for each in y[i]}
    for kind, row in found.rows.items():
        n_true = sum(label == kind for spans in y for *_, label in spans)
        assert row.n_spans == n_true and row.threshold == found[kind]
        if row.precision:
            assert right[kind] / listed[kind] == pytest.approx(row.precision)
            assert row.precision >= 0.7
            assert right[kind] / n_true == pytest.approx(row.recall)
    assert any(row.precision for row in found.rows.values())
    assert str(found).splitlines()[0].split() == [
        "threshold", "precision", "recall", "spans",
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(found)) == found


def test_curves():
    """Spans that are equally probable are above a threshold together."""
    found = [(0.9, True), (0.5, False), (0.5, True), (0.2, False)]
    precision, recall, p = precision_recall_curve(found, 4)
    assert p.tolist() == [0.9, 0.5, 0.2]
    assert precision.tolist() == [1.0, 2 / 3, 0.5] and recall.tolist() == [
        0.25, 0.5, 0.5,
    ]  # fmt: skip
    assert [len(each) for each in precision_recall_curve([], 0)] == [0, 0, 0]


def test_a_precision_that_no_threshold_has_is_said():
    X = ["Ann here.", "Bob there."] * 4
    y = [[(0, 3, "PER")], [(0, 3, "LOC")]] * 2 + [[(0, 3, "LOC")], [(0, 3, "PER")]] * 2
    tagger = SpanTagger(L1CRF(c1=0.1, random_state=0))
    with pytest.warns(
        UserWarning, match="no threshold gives spans of the type .* the precision 1.0"
    ):
        found = thresholds_for(tagger, X, y, precision=1.0, cv=2)
    assert 1.0 in found.values()


def test_errors():
    with pytest.raises(ValueError, match="precision must be a number above 0"):
        thresholds_for(SpanTagger(), ["a"], [[]], precision=0.0)
    with pytest.raises(
        TypeError, match="needs a SpanTagger, got a StructuredPerceptron"
    ):
        thresholds_for(StructuredPerceptron(), [["a"]], [["A"]])


def test_the_report_shows_precision_and_recall_by_type():
    """At each threshold they are those of a list of all spans from it on."""
    X, y = columns_to_spans(*load_entities())
    tagger = SpanTagger(L1CRF(c1=0.1, c2=0.1, max_iter=30, random_state=0))
    page = report(tagger.fit(X[:30], y[:30]), X[30:50], y[30:50]).to_html()
    _, _, part = page.partition("Least probabilities")
    found = tagger.predict_segment_proba(X[30:50], min_proba=0.5)
    true = [{tuple(span) for span in spans} for spans in y[30:50]]
    kind = found[0][0][0].label
    listed = [
        span in spans
        for row, spans in zip(found, true)
        for span, _ in row
        if span.label == kind
    ]
    n_true = sum(label == kind for spans in true for *_, label in spans)
    shown = f"{np.mean(listed):.3f} / {sum(listed) / n_true:.3f}"
    part, _, _ = part.partition("<h2>")
    assert shown in part
    kinds = {label for spans in true for *_, label in spans}
    assert all(f"{kind}: precision against recall" in part for kind in kinds)
    assert f"precision {np.mean(listed):.3f}, recall {sum(listed) / n_true:.3f}" in part
