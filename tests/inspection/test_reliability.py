"""Reliability diagrams, with matplotlib and without."""

import sys

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import L1CRF, Segmenter
from skstruct._data.schemes import labels_to_spans
from skstruct.datasets import load_entities, load_segmentation
from skstruct.inspection import ReliabilityDisplay
from skstruct.metrics import reliability


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def tagged():
    X, y = load_entities()
    return (
        L1CRF(c1=0.5, constraints="BIO", random_state=0).fit(X[:100], y[:100]),
        X[100:],
        y[100:],
    )


def test_tokens(pyplot, tagged):
    crf, X, y = tagged
    display = ReliabilityDisplay.from_estimator(crf, X, y)
    expected = reliability(y, crf.predict_marginals(X), labels=crf.classes_)
    np.testing.assert_array_equal(display.confidence, expected.confidence)
    np.testing.assert_array_equal(display.line_.get_xdata(), display.confidence)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.accuracy)
    assert display.count.sum() == sum(map(len, y))
    assert display.figure_ is display.ax_.figure
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "Perfectly calibrated",
        "L1CRF",
    ]
    again = ReliabilityDisplay.from_predictions(
        y,
        crf.predict_marginals(X),
        labels=crf.classes_,
        n_bins=5,
        ax=display.ax_,
        name="five",
        color="red",
    )
    assert (
        again.ax_ is display.ax_
        and len(again.confidence) == 5
        and again.line_.get_color() == "red"
    )
    names = [text.get_text() for text in again.ax_.get_legend().get_texts()]
    assert names == ["Perfectly calibrated", "L1CRF", "five"]
    pipeline = Pipeline([("same", FunctionTransformer()), ("crf", crf)])
    same = ReliabilityDisplay.from_estimator(
        pipeline, X, y, ref_line=False, name="p"
    ).confidence
    np.testing.assert_array_equal(same, display.confidence)


def test_segments(pyplot, tagged):
    crf, X, y = tagged
    display = ReliabilityDisplay.from_estimator(crf, X, y, scheme="BIO", n_bins=2)
    found = [labels_to_spans(labels, "BIO") for labels in crf.predict(X)]
    right = [
        s in labels_to_spans(gold, "BIO")
        for spans, gold in zip(found, y)
        for s in spans
    ]
    assert display.count.sum() == len(right)
    assert display.accuracy @ display.count == pytest.approx(sum(right))


def test_a_label_that_is_no_segment_is_named_by_its_place(pyplot, tagged):
    crf, X, y = tagged
    bad = [*y[:3], ["NN", *y[3][1:]]]
    with pytest.raises(
        ValueError, match="sequence 3, position 0: label 'NN' does not belong"
    ):
        ReliabilityDisplay.from_estimator(crf, X[:4], bad, scheme="BIO")


def test_words(pyplot):
    X, y = load_segmentation()
    segmenter = Segmenter(L1CRF("char", random_state=0)).fit(X[:60], y[:60])
    display = ReliabilityDisplay.from_estimator(segmenter, X[60:80], y[60:80], n_bins=1)
    assert display.count[0] == sum(map(len, segmenter.predict(X[60:80])))
    assert 0.4 < display.accuracy[0] < 1.0


def test_without_matplotlib(monkeypatch, tagged):
    crf, X, y = tagged
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError,
        match=r"ReliabilityDisplay needs matplotlib; run pip install 'skstruct\[plot\]'",
    ):
        ReliabilityDisplay.from_estimator(crf, X, y)
    with pytest.raises(ImportError, match="ReliabilityDisplay needs matplotlib"):
        ReliabilityDisplay.from_predictions([True], [0.9])
