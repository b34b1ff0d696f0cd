"""Ctrl-C and callbacks in the fits of taggers."""

import os
import pickle
import signal
import threading

import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tagger_cases import TAGGERS, TEMPLATES, corpus, same_weights

from skstruct import StructuredPerceptron
from skstruct._training import epochs as loops


@pytest.fixture(params=TAGGERS, ids=["perceptron", "pa"])
def Tagger(request):
    return request.param


# -- interrupts ------------------------------------------------------------------------
def test_ctrl_c_keeps_the_completed_epochs(Tagger):
    X, y = corpus(400, max_length=30)
    Tagger(TEMPLATES, max_iter=1).fit(X, y)  # compiled
    tagger = Tagger(TEMPLATES, max_iter=1_000_000, random_state=0)
    handler = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tagger.fit(X, y)
    finally:
        timer.join()
    assert signal.getsignal(signal.SIGINT) is handler
    done = tagger.n_iter_
    assert 1 <= done < 1_000_000 and len(tagger.history_) == done
    check_is_fitted(tagger)
    assert tagger.score(X, y) > 0.5
    assert same_weights(pickle.loads(pickle.dumps(tagger)), tagger)
    assert same_weights(
        tagger, Tagger(TEMPLATES, max_iter=done, random_state=0).fit(X, y)
    )
    tagger.set_params(max_iter=2, warm_start=True).fit(X, y)
    assert same_weights(
        tagger, Tagger(TEMPLATES, max_iter=done + 2, random_state=0).fit(X, y)
    )


def test_ctrl_c_in_a_long_epoch_leaves_what_was_learned(Tagger, monkeypatch):
    monkeypatch.setattr(loops, "LONG_EPOCH", 0.0)
    monkeypatch.setattr(loops, "CHUNK_TOKENS", 100)
    X, y = corpus()
    chunks = loops.chunks

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return chunks(*arguments)

    tagger = Tagger(TEMPLATES, random_state=0)
    monkeypatch.setattr(loops, "chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X, y)
    monkeypatch.undo()
    assert tagger.n_iter_ == 0 and [r["complete"] for r in tagger.history_] == [False]
    assert 0 < tagger.history_[0]["updates"] < len(X)
    assert tagger.score(X, y) > 0.3
    assert tagger.set_params(warm_start=True).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_ctrl_c_in_the_last_epoch_is_heard_when_the_model_is_complete(
    Tagger, method, monkeypatch
):
    X, y = corpus()
    whole = getattr(Tagger(TEMPLATES, max_iter=1, random_state=0), method)(X, y)
    chunks = loops.chunks

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return chunks(*arguments)

    tagger = Tagger(TEMPLATES, max_iter=1, random_state=0)
    monkeypatch.setattr(loops, "chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        getattr(tagger, method)(X, y)
    assert tagger.n_iter_ == 1 and same_weights(tagger, whole)


def test_ctrl_c_while_encoding(monkeypatch):
    from skstruct._taggers import online_tagger as online

    make_task = online.make_task

    def interrupted(*arguments, **options):
        os.kill(os.getpid(), signal.SIGINT)
        return make_task(*arguments, **options)

    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0).fit(X, y)
    before = tagger.predict(X)
    monkeypatch.setattr(online, "make_task", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X[:20], y[:20])
    monkeypatch.undo()
    assert tagger.predict(X) == before


class Raises:
    """A scikit-learn callback that raises at the end of the given epoch."""

    def __init__(self, error, epoch=3):
        self.error, self.left = error, epoch

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        self.left -= 1
        if not self.left:
            raise self.error


def with_callbacks(tagger, *callbacks):
    if not hasattr(tagger, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    return tagger.set_callbacks(*callbacks)


def test_callback_that_interrupts(Tagger):
    X, y = corpus()
    tagger = with_callbacks(
        Tagger(TEMPLATES, random_state=0), Raises(KeyboardInterrupt())
    )
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X, y)
    assert tagger.n_iter_ == len(tagger.history_) == 3
    assert same_weights(tagger, Tagger(TEMPLATES, max_iter=3, random_state=0).fit(X, y))


def test_callback_that_fails(Tagger):
    X, y = corpus()
    tagger = Tagger(TEMPLATES, random_state=0)
    with_callbacks(tagger, Raises(RuntimeError("boom")))
    with pytest.raises(RuntimeError, match="boom"):
        tagger.fit(X, y)
    with pytest.raises(NotFittedError):
        tagger.predict(X)


def test_callback_that_looks_and_stops(Tagger):
    X, y = corpus()
    scores = []

    class Looks(Raises):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **_):
            scores.append(fitted_estimator.score(X, y))
            return len(scores) == 4

    tagger = with_callbacks(Tagger(TEMPLATES, random_state=0), Looks(None)).fit(X, y)
    assert tagger.n_iter_ == 4 and tagger.score(X, y) in scores[3:]
    assert same_weights(tagger, Tagger(TEMPLATES, max_iter=4, random_state=0).fit(X, y))
