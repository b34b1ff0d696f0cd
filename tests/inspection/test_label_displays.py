"""Displays of pairs of labels: transitions and confusions."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import (
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_entities
from skstruct.inspection import (
    LabelConfusionDisplay,
    TransitionDisplay,
    transition_weights,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def pyplot(request):
    if "without" in request.node.name:
        yield None
        return
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def corpus():
    X, y = load_entities()
    return X[:60], y[:60], X[60:90], y[60:90]


@pytest.fixture(scope="module")
def tagger(corpus):
    X, y, *_ = corpus
    return StructuredPerceptron(
        "word", constraints="BIO", early_stopping=True, max_iter=4, random_state=0
    ).fit(X, y)


def names(ticks):
    return [tick.get_text() for tick in ticks]


def test_transitions(pyplot, tagger):
    display = TransitionDisplay.from_estimator(tagger)
    labels = tagger.classes_.tolist()
    n = len(labels)
    np.testing.assert_array_equal(
        display.im_.get_array()[:n, :n], transition_weights(tagger)
    )
    assert names(display.ax_.get_yticklabels()) == [*labels, "(start)"]
    assert names(display.ax_.get_xticklabels()) == [*labels, "(end)"]
    crosses = {(int(x), int(y)) for x, y in display.ax_.lines[0].get_xydata()}
    for p, before in enumerate([*labels, "O"]):
        for q, label in enumerate(labels):
            forbidden = label.startswith("I-") and before[1:] != label[1:]
            assert ((q, p) in crosses) == forbidden
    assert display.figure_ is display.ax_.figure and display.text_[0, 0] is not None
    axes = pyplot.subplots()[1]
    assert TransitionDisplay.from_estimator(tagger, ax=axes, cmap="PuOr").ax_ is axes
    pipeline = Pipeline([("same", FunctionTransformer()), ("tag", tagger)])
    np.testing.assert_array_equal(
        TransitionDisplay.from_estimator(pipeline).weights, display.weights
    )
    with pytest.raises(TypeError, match="a chain tagger is needed"):
        TransitionDisplay.from_estimator(
            WordSegmenter(max_iter=1).fit(["ab"], [["a", "b"]])
        )


def test_confusions(tagger, corpus):
    *_, X, y = corpus
    display = LabelConfusionDisplay.from_estimator(tagger, X, y)
    flat = [label for labels in y for label in labels]
    predicted = [label for labels in tagger.predict(X) for label in labels]
    expected = confusion_matrix(flat, predicted)
    np.testing.assert_array_equal(display.confusion_matrix, expected)
    assert display.display_labels == sorted({*flat, *predicted})
    assert display.text_[0, 0].get_text() == str(expected[0, 0])
    for normalize in ("true", "pred", "all"):
        shares = LabelConfusionDisplay.from_predictions(
            y, tagger.predict(X), normalize=normalize
        )
        np.testing.assert_allclose(
            shares.confusion_matrix,
            confusion_matrix(flat, predicted, normalize=normalize),
        )
    off = LabelConfusionDisplay.from_predictions(
        y, tagger.predict(X), labels=["O", "B-PER"], errors_only=True
    )
    assert off.confusion_matrix.diagonal().tolist() == [
        0,
        0,
    ] and off.display_labels == ["O", "B-PER"]
    unlabelled = LabelConfusionDisplay.from_predictions([["a", None]], [["b", "b"]])
    assert unlabelled.confusion_matrix.tolist() == [[0, 1], [0, 0]]
    mixed = LabelConfusionDisplay.from_predictions([[1, "$a$"]], [["$a$", 1]])
    assert mixed.confusion_matrix.sum() == 2
    mixed.figure_.canvas.draw()
    with pytest.raises(ValueError, match="normalize"):
        LabelConfusionDisplay.from_predictions(y, y, normalize="rows")
    with pytest.raises(ValueError, match="sequence 0"):
        LabelConfusionDisplay.from_predictions([["a"]], [["a", "b"]])
