"""Ctrl-C in each row of the table of ``test_metas.py``: at any epoch the exception says
what is kept, and that is true.
"""

import re
import signal

import pytest
from inside import after_each_report, before_each_line, before_each_round
from metas_cases import LABELLED, METAS, case, fitted_of, rows, search
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

# -- Ctrl-C ----------------------------------------------------------------------------
AS_BEFORE = "as it was before fit"


def interrupted_at(patch, n):
    """Let Ctrl-C be pressed at the n-th epoch."""
    calls = []

    def press(*_):
        calls.append(1)
        if len(calls) == n:
            signal.raise_signal(signal.SIGINT)

    after_each_report(patch, press)
    before_each_round(patch, press)
    return calls


def interrupts_of(model, X, y, monkeypatch):
    """Fit copies of a model, each interrupted at another epoch, until one is not;
    yields those interrupted, and what the exception said.
    """
    for n in range(1, 50):
        one = model()
        with monkeypatch.context() as patch:
            calls = interrupted_at(patch, n)
            try:
                one.fit(X, y)
            except KeyboardInterrupt as error:
                yield one, str(error)
            else:
                assert len(calls) < n
                return


@pytest.mark.parametrize("name", rows("interrupt"))
def test_an_interrupt_says_what_is_kept(name, monkeypatch):
    """It says that nothing is if and only if the estimator is not fitted."""
    _, X, y = case(name)
    told = []
    for model, text in interrupts_of(lambda: case(name)[0], X, y, monkeypatch):
        told.append(text)
        assert text.startswith("training was interrupted; the "), text
        assert (AS_BEFORE in text) == (not fitted_of(model)), text
        if AS_BEFORE in text:
            with pytest.raises(NotFittedError):
                model.predict(X)
        else:
            assert len(model.predict(X)) == len(X)
        if isinstance(model, BaggingShuffleAverager):
            what = re.search(r"average of (\d) of 3 members|member 1 alone", text)
            assert what and (what[1] is None or int(what[1]) == model.n_estimators_)
    assert told


@pytest.mark.parametrize("name", rows("interrupt of a fitted one"))
def test_an_interrupted_second_fit_says_what_is_kept(name, monkeypatch):
    _, X, y = case(name)
    before = {}

    def fitted():
        model = case(name)[0].fit(X[::2], y[::2])
        before.clear()
        before.update(fitted_of(model))
        return model

    for model, text in interrupts_of(fitted, X, y, monkeypatch):
        now = fitted_of(model)
        is_same = now.keys() == before.keys() and all(
            now[name] is before[name] for name in now
        )
        assert (AS_BEFORE in text) == is_same, text
        assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("name", ["average", "segmenter", "segmenter of an average"])
def test_an_interrupted_partial_fit_says_what_is_kept(name, monkeypatch):
    model, X, y = case(name)
    interrupted_at(monkeypatch, 3)
    seen = model.predict(X) if fitted_of(model) else None
    with pytest.raises(KeyboardInterrupt) as error:
        for _ in range(4):
            model.partial_fit(X, y)
    assert "training was interrupted; the " in str(error.value)
    assert "as it was" not in str(error.value)
    assert model.predict(X) != seen


def test_an_interrupt_before_training_says_that_nothing_is_kept():
    class Interrupts(list):
        def __iter__(self):
            raise KeyboardInterrupt

    for name in METAS:
        model, X, y = case(name)
        for one in (model, clone(model).fit(X, y)):
            before = fitted_of(one)
            with pytest.raises(KeyboardInterrupt, match=AS_BEFORE):
                one.fit(X, Interrupts(y))
            assert fitted_of(one).keys() == before.keys()


def test_an_interrupted_refit_keeps_the_search(monkeypatch):
    X, y = LABELLED
    whole = search().fit(X, y)
    pressed_at = []

    def press(record):
        if not pressed_at:
            pressed_at.append(record)
            signal.raise_signal(signal.SIGINT)

    model = search(verbose=1)  # whose lines of passes are those of the refit
    text = r"the search is kept \(best_params_, cv_results_\), and of the refit the "
    with monkeypatch.context() as patch:
        before_each_line(patch, press)
        with pytest.raises(KeyboardInterrupt, match=text):
            model.fit(X, y)
    assert pressed_at
    assert model.best_params_ == whole.best_params_
    assert len(model.predict(X)) == len(X)

    def pressed(*_, **__):
        raise KeyboardInterrupt

    searches = search(), search().fit(X[::2], y[::2])
    with monkeypatch.context() as patch:
        patch.setattr(L1CRF, "fit", pressed)
        for one in searches:
            with pytest.raises(KeyboardInterrupt, match=r"without a model: fit an L1"):
                one.fit(X, y)
            assert one.best_params_ == whole.best_params_
            with pytest.raises(NotFittedError, match="interrupted refit"):
                one.predict(X)
