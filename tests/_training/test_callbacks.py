"""What callbacks are told, and which of them asks to stop what.

The table ``tests/test_metas_callbacks.py`` has the estimators.
"""

import pytest

from skstruct import BaggingShuffleAverager, StructuredPerceptron
from skstruct._training.callbacks import epoch_context

pytest.importorskip("sklearn.callback")

X = [["a", "b"], ["c"]] * 4
Y = [["A", "B"], ["C"]] * 4


class Told:
    """Notes what it is told; it asks to stop where it is said to."""

    def __init__(self, stop=()):
        self.stop = stop
        self.ended = []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.ended.append((context.task_name, fitted_estimator))
        return context.task_name in self.stop


class HandedOn(Told):
    max_propagation_depth = None


def perceptron(*callbacks):
    return StructuredPerceptron(max_iter=3, random_state=0).set_callbacks(*callbacks)


def names(callback):
    return [name for name, _ in callback.ended]


def test_without_callbacks_nothing_is_told():
    events = epoch_context(None, perceptron(), X, Y)
    events.begin_fit()
    events.begin()
    assert events.end(None) is False
    events.end_fit(None)
    with events.member(None, 0, X, Y):
        assert not events.stopped
    assert not events.stopped


def test_all_are_told_whoever_asks_to_stop():
    first, second = Told(["epoch"]), Told()
    model = perceptron(first, second).fit(X, Y)
    assert names(first) == names(second) == ["epoch", "fit"]
    assert model.n_iter_ == 1


def test_each_is_shown_the_model():
    first, second = Told(), Told()
    perceptron(first, second).fit(X, Y)
    for one in first, second:
        assert all(model.predict(X) for _, model in one.ended)
        assert names(one) == ["epoch"] * 3 + ["fit"]


def test_who_asks_decides_what_stops():
    """Of two that ask at the same time, one is the learner's own and one is handed
    on."""
    for own, handed_on, n in (
        (["epoch"], [], 3),
        ([], ["epoch"], 1),
        (["epoch"], ["epoch"], 1),
        ([], [], 3),
    ):
        inner, outer = Told(own), HandedOn(handed_on)
        average = BaggingShuffleAverager(perceptron(inner), 3, random_state=0)
        average.set_callbacks(outer).fit(X, Y)
        assert average.n_estimators_ == n
        epochs = 1 if own or handed_on else 3
        assert names(inner) == (["epoch"] * epochs + ["fit"]) * n
        assert inner.stop == own
