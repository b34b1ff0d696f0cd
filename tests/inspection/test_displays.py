"""Displays: what they draw, in scikit-learn's manner, and the sentence without
matplotlib.
"""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    regularization_path,
)
from skstruct.datasets import load_entities, load_segmentation
from skstruct.inspection import (
    FeatureWeightsDisplay,
    HistoryDisplay,
    LabelConfusionDisplay,
    RegularizationPathDisplay,
    TransitionDisplay,
    feature_weights,
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


def test_histories(tagger, corpus):
    display = HistoryDisplay.from_estimator(tagger)
    training, held_out = display.lines_
    assert training.get_ydata().tolist() == [
        record["token_error"] for record in tagger.history_
    ]
    assert training.get_xdata().tolist() == [
        record["epoch"] for record in tagger.history_
    ]
    assert held_out.get_ydata().tolist() == [
        record["validation_score"] for record in tagger.history_
    ]
    assert display.ax_held_out_ is not None and display.bands_ == []
    X, y, *_ = corpus
    two = HistoryDisplay.from_estimator(tagger, tagger, names=["a", "b"], metric="loss")
    assert [line.get_label() for line in two.lines_[:2]] == [
        "a: training",
        "b: training",
    ]
    mixer = ParameterMixer(
        StructuredPerceptron("word", max_iter=2), 2, random_state=0
    ).fit(X, y)
    assert HistoryDisplay.from_estimator(mixer).lines_[0].get_xdata().tolist() == [1, 2]
    crf = L1CRF("word", max_iter=5, random_state=0).fit(X, y)
    assert HistoryDisplay.from_estimator(crf).metric == "objective"


def test_the_spread_of_members(corpus):
    X, y, *_ = corpus
    members = BaggingShuffleAverager(
        StructuredPerceptron("word", max_iter=3), 3, random_state=0
    ).fit(X, y)
    display = HistoryDisplay.from_estimator(members)
    errors = np.array([record["token_error"] for record in members.history_]).reshape(
        3, 3
    )
    np.testing.assert_allclose(display.lines_[0].get_ydata(), errors.mean(axis=0))
    corners = display.bands_[0].get_paths()[0].vertices[:, 1]
    assert corners.max() == errors.max() and corners.min() == errors.min()


def test_histories_that_are_not_there(tagger, corpus):
    X, y, *_ = corpus
    with pytest.raises(ValueError, match="at least one"):
        HistoryDisplay.from_estimator()
    with pytest.raises(NotFittedError):
        HistoryDisplay.from_estimator(StructuredPerceptron())
    with pytest.raises(
        ValueError, match="metric must be one of .*'token_error'.*; got 'no such'"
    ):
        HistoryDisplay.from_estimator(tagger, metric="no such")
    with pytest.raises(ValueError, match="names must be as many"):
        HistoryDisplay.from_estimator(tagger, names=["a", "b"])


def test_paths(corpus):
    X, y, X_val, y_val = corpus
    crf = L1CRF("word", max_iter=5, random_state=0)
    points = regularization_path(crf, X, y, [0.5, 2, 8], X_val=X_val, y_val=y_val)
    display = RegularizationPathDisplay.from_path(points)
    assert display.line_.get_xdata().tolist() == [0.5, 2.0, 8.0]
    assert display.line_.get_ydata().tolist() == [p.n_active for p in reversed(points)]
    assert display.score_line_.get_ydata().tolist() == [
        p.score for p in reversed(points)
    ]
    assert display.ax_.get_xscale() == "log"
    alone = RegularizationPathDisplay.from_estimator(crf, X, y, [0.0, 2])
    assert alone.score_line_ is None and alone.ax_.get_xscale() == "symlog"
    with pytest.raises(ValueError, match="points is empty"):
        RegularizationPathDisplay.from_path([])
    search = L1CRFCV(
        features="word", c1s=(0.5, 4), c2s=(0.1, 1), cv=2, max_iter=5, refit=False
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    display = RegularizationPathDisplay.from_search(search)
    assert (
        display.line_ is None
        and display.ax_.get_ylabel() == "mean score over the folds"
    )
    first, second = (line.get_ydata().tolist() for line in display.ax_.lines[:2])
    assert (first, second) == (scores[[0, 2]].tolist(), scores[[1, 3]].tolist())
    assert search.best_score_ in display.score_line_.get_ydata()
    with pytest.raises(NotFittedError):
        RegularizationPathDisplay.from_search(L1CRFCV())
    with pytest.raises(TypeError, match="search must be an L1CRFCV, got a L1CRF"):
        RegularizationPathDisplay.from_search(crf.fit(X, y))
    with pytest.raises(
        ValueError, match="metric must be one of 'objective', .*; got 'stage'"
    ):
        HistoryDisplay.from_estimator(crf, metric="stage")


def test_feature_weights(pyplot, tagger):
    display = FeatureWeightsDisplay.from_estimator(tagger, label="O", top=6)
    weights = [
        item.weight for item in feature_weights(tagger, label="O").by_label()["O"]
    ]
    assert [bar.get_width() for bar in display.bars_[0]] == weights[:3] + weights[-3:]
    assert (
        display.ax_.get_title() == "O"
        and len(names(display.ax_.get_yticklabels())) == 6
    )
    every = FeatureWeightsDisplay.from_estimator(tagger, top=4)
    assert len(every.axes_) == len({item.label for item in feature_weights(tagger)})
    axes = pyplot.subplots()[1]
    assert FeatureWeightsDisplay.from_estimator(tagger, label="O", ax=axes).ax_ is axes
    with pytest.raises(ValueError, match="ax is for one label"):
        FeatureWeightsDisplay.from_estimator(tagger, ax=axes)
    with pytest.raises(ValueError, match="top must be"):
        FeatureWeightsDisplay.from_estimator(tagger, top=0)


def test_feature_weights_of_other_models():
    X, y = [[("a", "N"), ("b", "V")]], [[(2, "x"), (0, "r")]]
    parser = ShiftReduceParser("hs28", beam_size=2, max_iter=3, random_state=0).fit(
        X * 3, y * 3
    )
    texts, words = load_segmentation()
    segmenter = Segmenter(StructuredPerceptron("char", max_iter=1)).fit(
        texts[:10], words[:10]
    )
    for model in (parser, segmenter):
        if feature_weights(model):
            assert FeatureWeightsDisplay.from_estimator(model).bars_
    assert TransitionDisplay.from_estimator(segmenter).weights.shape == (4, 4)


def test_without_matplotlib(monkeypatch, tagger, corpus):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    X, y, *_ = corpus
    for make in (
        lambda: TransitionDisplay.from_estimator(tagger),
        lambda: HistoryDisplay.from_estimator(tagger),
        lambda: RegularizationPathDisplay.from_estimator(L1CRF(), X, y, [1]),
        lambda: LabelConfusionDisplay.from_estimator(tagger, X, y),
        lambda: FeatureWeightsDisplay.from_estimator(tagger),
        lambda: TransitionDisplay(np.eye(2), ["a", "b"]).plot(),
    ):
        with pytest.raises(
            ImportError,
            match=r"Display needs matplotlib; run pip install 'skstruct\[plot\]'",
        ):
            make()
