"""Curves of precision against recall with matplotlib, and without."""

import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skstruct import L1CRF, SpanTagger, StructuredPerceptron
from skstruct.datasets import columns_to_spans, load_entities
from skstruct.inspection import SpanPrecisionRecallDisplay, thresholds_for


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def marked():
    X, y = columns_to_spans(*load_entities())
    tagger = SpanTagger(L1CRF(c1=0.1, c2=0.1, random_state=0))
    return make_pipeline(tagger).fit(X[:40], y[:40]), X[40:80], y[40:80]


def test_a_line_for_each_type(pyplot, marked):
    model, X, y = marked
    display = SpanPrecisionRecallDisplay.from_estimator(model, X, y, linewidth=3)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == sorted({label for spans in y for *_, label in spans})
    assert names == list(display.curves) and len(display.lines_) == len(names)
    found = model[-1].predict_segment_proba(X, min_proba=0.05)
    for kind, line in zip(names, display.lines_):
        listed = [s in {*true} for row, true in zip(found, map(spans_of, y))
                  for s, _ in row if s.label == kind]  # fmt: skip
        n_true = sum(label == kind for spans in y for *_, label in spans)
        points = np.array([line.get_xdata(), line.get_ydata()]).T
        expected = sum(listed) / n_true, np.mean(listed)
        assert np.abs(points - expected).sum(axis=1).min() < 1e-12
        assert line.get_linewidth() == 3 and line.get_marker() == "None"
    assert display.figure_ is display.ax_.figure
    again = SpanPrecisionRecallDisplay(display.curves).plot(ax=display.ax_)
    assert again.ax_ is display.ax_


def spans_of(spans):
    return [tuple(span) for span in spans]


@pytest.mark.filterwarnings("ignore:spans of the type:UserWarning")
def test_thresholds_are_marked(pyplot, marked):
    model, X, y = marked
    found = thresholds_for(model[-1], X, y, precision=0.7, cv=2)
    display = SpanPrecisionRecallDisplay.from_thresholds(found)
    for (_, row), line in zip(found.rows.items(), display.lines_):
        if row.precision:
            (at,) = line.get_markevery()
            place = line.get_xdata()[at], line.get_ydata()[at]
            assert place == (row.recall, row.precision)
        else:
            assert line.get_marker() == "None"
    page = found.to_html()
    assert page.count("<svg") == len(found)
    for kind, row in found.rows.items():
        assert f"{kind}: precision against recall" in page
        assert f">{row.threshold:.4f}<" in page and f">{row.precision:.4f}<" in page


def test_errors(monkeypatch, marked):
    model, X, y = marked
    with pytest.raises(
        TypeError, match="SpanPrecisionRecallDisplay needs a SpanTagger"
    ):
        SpanPrecisionRecallDisplay.from_estimator(model[-1].tagger_, [["a"]], [["O"]])
    plain = SpanTagger(StructuredPerceptron(random_state=0)).fit(X, y)
    with pytest.raises(AttributeError, match="has no probabilities"):
        SpanPrecisionRecallDisplay.from_estimator(plain, X, y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError,
        match=r"SpanPrecisionRecallDisplay needs matplotlib; run pip install 'skstruct\[plot\]'",
    ):
        SpanPrecisionRecallDisplay.from_estimator(model, X, y)
