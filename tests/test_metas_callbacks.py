"""Callbacks that ask to stop, in each row of the table of ``test_metas.py``.

A callback stops the fit of the estimator that it was set on: the part that it is told
of ends, no other one is begun, and what there is by then is kept.
"""

import numpy as np
import pytest
from metas_cases import LABELLED, METAS, case, perceptron, rows, search
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import skstruct
from skstruct import (
    L1CRF,
    CalibratedTagger,
    KBestReranker,
    StructuredPerceptron,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


# -- callbacks that ask to stop --------------------------------------------------------
class Stops:
    """Asks to stop at the end of the n-th task; it notes the tasks that begin and
    end.
    """

    def __init__(self, n, task=None):
        self.n = n
        self.task = task
        self.begun = []
        self.ended = []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        if self.task in (None, context.task_name):
            self.ended.append(context.task_name)
        return len(self.ended) >= self.n


class StopsAll(Stops):
    """One that is handed on to what is inside."""

    max_propagation_depth = None


callbacks = pytest.mark.skipif(
    not hasattr(StructuredPerceptron(), "set_callbacks"),
    reason="this scikit-learn has no callbacks",
)


def begun_after_the_end(callback, n):
    """The tasks that begin after the callback has asked to stop."""
    return callback.begun[n:]


@callbacks
@pytest.mark.parametrize("name", rows("callback of its own"))
def test_a_callback_of_its_own_stops_it(name):
    """After the first part, which is usable, no other one is begun."""
    model, X, y = case(name)
    callback = Stops(1)
    model.set_callbacks(callback).fit(X, y)
    at_once = 2 if "threads" in name else 1
    refit = ["fit"] if name == "search" else []
    assert len(callback.begun) <= 1 + at_once + len(refit), callback.begun
    assert len(model.predict(X)) == len(X)
    everything = Stops(np.inf)
    clone(model).set_callbacks(everything).fit(X, y)
    if name not in ("segmenter", "span tagger") and "segmenter of" not in name:
        assert len(everything.begun) > len(callback.begun)


@callbacks
@pytest.mark.parametrize("name", rows("callback that is handed on"))
def test_a_callback_that_is_handed_on_stops_the_part_and_the_rest(name):
    model, X, y = case(name)
    callback = StopsAll(1, "fit" if name == "search" else "epoch")
    if "mixer" in name:
        callback.task = "round"
    model.set_callbacks(callback).fit(X, y)
    at_once = 2 if "threads" in name else 1
    turns = [task for task in callback.begun if task in ("epoch", "round")]
    if name != "search":
        assert 1 <= len(turns) <= 2 * at_once, callback.begun
    assert len(model.predict(X)) == len(X)
    if hasattr(model, "n_estimators_"):
        assert model.n_estimators_ <= at_once
    if type(model) is CalibratedTagger:
        assert not hasattr(model, "temperature_")
        with pytest.raises(NotFittedError, match="no temperature"):
            model.predict_marginals(X)


@callbacks
@pytest.mark.parametrize("name", rows("callback of the learner"))
def test_a_callback_of_the_learner_stops_its_own_training_alone(name):
    around, learner, (X, y) = METAS[name]
    callback = Stops(1)  # from then on it asks each time
    model = around(learner(max_iter=3).set_callbacks(callback)).fit(X, y)
    whole = around(learner(max_iter=3).set_callbacks(Stops(np.inf))).fit(X, y)
    if not isinstance(model, KBestReranker) and "CRF" not in name and name != "sets":
        assert model.n_iter_ == 1 < whole.n_iter_
    if hasattr(model, "n_estimators_"):
        assert model.n_estimators_ == whole.n_estimators_
    if type(model) is CalibratedTagger:
        assert model.temperature_ > 0


@callbacks
def test_a_stopped_search_compares_what_was_tried():
    X, y = LABELLED
    whole = search().fit(X, y)
    first = search().set_callbacks(Stops(1)).fit(X, y)
    assert first.n_splits_ == 1
    assert len(first.cv_results_["params"]) == 1
    one = search().set_callbacks(Stops(2)).fit(X, y)  # all of the first fold
    assert one.n_splits_ == 1
    assert one.cv_results_["params"] == whole.cv_results_["params"]
    score = "split0_test_score"
    assert one.cv_results_[score].tolist() == whole.cv_results_[score].tolist()
    both = search().set_callbacks(Stops(3)).fit(X, y)  # one candidate of the second
    assert both.best_params_ == one.best_params_
    assert both.predict(X) == L1CRF(random_state=0, **one.best_params_).fit(
        X, y
    ).predict(X)


@callbacks
def test_a_calibrated_tagger_keeps_the_folds_that_were_scored(tmp_path):
    X, y = LABELLED
    model = CalibratedTagger(perceptron(), cv=3).set_callbacks(Stops(2)).fit(X, y)
    assert model.temperature_ > 0
    with pytest.warns(UserWarning, match="before a fold was scored"):
        model.set_callbacks(Stops(1)).fit(X, y)
    assert not hasattr(model, "temperature_")
    model.save(tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    assert loaded.predict(X) == model.predict(X)
    with pytest.raises(NotFittedError, match="no temperature"):
        loaded.predict_kbest(X)
