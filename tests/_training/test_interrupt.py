"""Ctrl-C is noted, not raised, until the owner asks; and afterwards everything is as
before.
"""

import os
import signal
import threading

import pytest
from sklearn.exceptions import NotFittedError

from skstruct import L1CRF, BaggingShuffleAverager, ParameterMixer, StructuredPerceptron
from skstruct._training.interrupt import DeferredInterrupt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")


def test_it_is_noted():
    before = signal.getsignal(signal.SIGINT)
    with DeferredInterrupt() as interrupt:
        assert interrupt.count == 0
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert interrupt.count == 2
        interrupt.stop()
        assert interrupt.count == 3
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_the_third_one_is_raised():
    before, passed = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), DeferredInterrupt() as interrupt:
        for _ in range(5):
            passed.append(interrupt.at_once)
            signal.raise_signal(signal.SIGINT)
    assert (
        passed == [False] * 3
        and interrupt.at_once
        and signal.getsignal(signal.SIGINT) is before
    )
    with pytest.raises(KeyboardInterrupt), DeferredInterrupt() as interrupt:
        for _ in range(3):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:  # somebody swallows it
                assert signal.getsignal(signal.SIGINT) is before
                signal.raise_signal(signal.SIGINT)


def test_a_handler_of_the_user_hears_the_third_one():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with DeferredInterrupt() as interrupt:
            for _ in range(4):
                signal.raise_signal(signal.SIGINT)
        assert heard == [signal.SIGINT] * 2 and interrupt.count == 3
    finally:
        signal.signal(signal.SIGINT, before)


X, Y = [["a", "b"]] * 4, [["A", "B"]] * 4


def _interrupting(times):
    """A scorer that is interrupted so often, and what it has heard."""
    heard = []

    def score(model, X, y):
        for _ in range(times):
            heard.append(len(heard) + 1)
            signal.raise_signal(signal.SIGINT)
        return 1.0

    return score, heard


FITS = {
    "perceptron": StructuredPerceptron,
    "l1crf": L1CRF,
    "averager": lambda **given: BaggingShuffleAverager(
        StructuredPerceptron(**given), n_estimators=2
    ),
    "mixer": lambda **given: ParameterMixer(StructuredPerceptron(**given), n_shards=2),
}


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("times", [1, 2, 3, 8])
def test_a_scorer_is_interrupted_by_the_third_one(kind, times):
    """What was learned before is then not used; one or two leave what they always
    left.
    """
    score, heard = _interrupting(times)
    model = FITS[kind](scoring=score, max_iter=9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, X_val=X, y_val=Y)
    assert len(heard) == min(times, 3)
    if times < 3:
        assert len(model.predict(X)) == len(X)
    else:
        with pytest.raises(NotFittedError):
            model.predict(X)


def test_the_handler_returns_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), DeferredInterrupt():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_the_inner_one_hears_it():
    with DeferredInterrupt() as outer:
        with DeferredInterrupt() as inner:
            signal.raise_signal(signal.SIGINT)
        assert (inner.count, outer.count) == (1, 0)
        signal.raise_signal(signal.SIGINT)
        assert (inner.count, outer.count) == (1, 1)


def test_other_threads_leave_signals_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with DeferredInterrupt() as interrupt:
            seen.append(signal.getsignal(signal.SIGINT))
            interrupt.stop()
            seen.append(interrupt.count)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before, 1]


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with DeferredInterrupt() as interrupt:
            signal.raise_signal(signal.SIGINT)
            assert interrupt.count == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
