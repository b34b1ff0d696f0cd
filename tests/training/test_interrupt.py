"""Ctrl-C is noted, not raised, until the owner asks; and afterwards everything is as before."""

import os
import signal
import threading

import pytest

from skstruct.training.interrupt import DeferredInterrupt

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
