"""Shuffle-and-average over taggers: equations 7 and 8, its members, and what is
refused.
"""

import os
import signal
import threading
import tracemalloc

import numpy as np
import pytest
from inside import model_of, tokens_of_member
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._core import store as store_module
from skstruct._core.final_weights import entries
from skstruct._taggers.online_tagger import ChainRun
from skstruct._training import epochs as loops
from skstruct._training.interrupt import DeferredInterrupt
from skstruct.datasets import make_hmm_sequences

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B", "B01:%x[0,0]"]
X, Y = make_hmm_sequences(
    40, n_labels=4, n_words=60, noise=0.1, max_length=10, random_state=0
)
X_NEW, Y_NEW = X[30:], Y[30:]
X, Y = X[:30], Y[:30]


def perceptron(**parameters):
    return StructuredPerceptron(TEMPLATES, max_iter=2, **parameters)


def averager(base=None, n=3, **parameters):
    return BaggingShuffleAverager(
        base or perceptron(), n, **{"random_state": 0, **parameters}
    )


def weights(fitted):
    """{(part, key): weight}, without zeros."""
    found = {}
    for part in ("nodes", "edges"):
        store = getattr(model_of(fitted), part)
        keys, values = entries(store) if store.sparse else enumerate_values(store.value)
        found.update(
            {(part, k): v for k, v in zip(keys.tolist(), values.tolist()) if v != 0.0}
        )
    return found


def enumerate_values(value):
    return np.arange(value.size), value.ravel()


# -- the average -----------------------------------------------------------------------
@pytest.mark.parametrize("average", ["all", "nonzero"])
@pytest.mark.parametrize(
    "bootstrap, many_labels", [(False, False), (True, False), (False, True)]
)
def test_is_equation_7_or_8(average, bootstrap, many_labels, monkeypatch):
    y = Y
    if many_labels:
        monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
        y = [[f"{label}-{word}" for label, word in zip(*pair)] for pair in zip(Y, X)]
    fitted = averager(average=average, bootstrap=bootstrap, keep_members=True).fit(X, y)
    assert bool(model_of(fitted).nodes.sparse) == many_labels
    members = [weights(member) for member in fitted.estimators_]
    assert_average(weights(fitted), members, average)


def assert_average(found, members, average):
    expected = {}
    for key in set().union(*members):
        values = [member.get(key, 0.0) for member in members]
        used = sum(value != 0.0 for value in values)
        expected[key] = sum(values) / (used if average == "nonzero" else len(values))
    assert any(len({key in member for member in members}) == 2 for key in expected)
    for key in set(expected) | set(found):
        assert found.get(key, 0.0) == pytest.approx(
            expected.get(key, 0.0), abs=1e-12
        ), key


@pytest.mark.parametrize("average", ["all", "nonzero"])
@pytest.mark.parametrize(
    "seed", [1, 2]
)  # the first member has few weights, or the others have
def test_members_with_few_and_with_many_weights(average, seed):
    X = [[[f"f{k}"] for k in range(17)], [["g"]]]
    y = [[f"{k:02}" for k in range(17)], ["00"]]
    crf = L1CRF(c1=0, c2=0.01, all_pairs=True, max_iter=20)
    fitted = averager(
        crf,
        4,
        average=average,
        bootstrap=True,
        max_samples=0.5,
        random_state=seed,
        keep_members=True,
    ).fit(X, y)
    assert (
        len({bool(model_of(member).nodes.sparse) for member in fitted.estimators_}) == 2
    )
    assert_average(
        weights(fitted), [weights(member) for member in fitted.estimators_], average
    )
    assert fitted.predict(X) == y


def test_members_of_a_crf_pass_over_what_they_drew():
    drawn = np.array([1, 3, 3])
    assert tokens_of_member(L1CRF(TEMPLATES[:3]), X, Y, drawn) == len(X[1]) + len(X[3])
    fitted = averager(
        L1CRF(TEMPLATES[:3], tol=1e-9), 2, bootstrap=True, keep_members=True
    ).fit(X, Y)
    for member in fitted.estimators_:
        again = clone(member).fit(X, Y, sample_weight=drawn_by(fitted, member))
        assert again.objective_ == pytest.approx(member.objective_, rel=1e-6)


def drawn_by(fitted, member):
    """How often a member has drawn each sequence, by the draws as the averager makes
    them.
    """
    random = check_random_state(fitted.random_state)
    random.randint(2**31 - 1)
    for each in fitted.estimators_:
        random.randint(2**31 - 1)
        counts = np.bincount(
            random.choice(len(X), len(X), replace=True), minlength=len(X)
        )
        if each is member:
            return counts


def test_members_are_fits_with_their_seeds():
    fitted = averager(keep_members=True).fit(X, Y)
    assert len({member.random_state for member in fitted.estimators_}) == 3
    for member in fitted.estimators_:
        assert weights(clone(member).fit(X, Y)) == weights(member)
    scores = fitted.member_scores(X_NEW, Y_NEW)
    assert scores.tolist() == [
        member.score(X_NEW, Y_NEW) for member in fitted.estimators_
    ]
    assert (
        fitted.n_iter_ == 2
        and fitted.classes_.tolist() == fitted.estimators_[0].classes_.tolist()
    )


@pytest.mark.parametrize(
    "parameters", [{}, {"bootstrap": True, "max_samples": 0.5}, {"max_samples": 0.3}]
)
@pytest.mark.parametrize(
    "base",
    [
        perceptron(feature_noise="zipf", dropout=0.1, penalty="l1-cumulative"),
        PassiveAggressiveTagger(TEMPLATES, max_iter=2),
        L1CRF(TEMPLATES[:3], solver="sgd", sgd_iter=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_n_jobs_changes_nothing(base, parameters):
    one, two, other = (
        weights(
            averager(base, n_jobs=n_jobs, random_state=seed, **parameters).fit(X, Y)
        )
        for n_jobs, seed in ((1, 0), (2, 0), (2, 1))
    )
    assert one == two
    assert one != other


def test_few_samples_leave_labels_known():
    """A member that saw one sequence still has all the labels, and all the features, of
    the others.
    """
    fitted = averager(max_samples=1e-9, keep_members=True).fit(X, Y)
    for record in fitted.history_:  # the share of its tokens
        assert any((record["token_error"] * len(x)).is_integer() for x in X)
    assert fitted.classes_.tolist() == sorted({label for y in Y for label in y})
    assert len({member.n_features() for member in fitted.estimators_}) == 1


@pytest.mark.parametrize("meta", [averager, ParameterMixer])
def test_predicting_changes_no_parameter(meta):
    fitted = meta(perceptron(n_jobs=2)).fit(X, Y)
    before = fitted.estimator_.get_params()
    for predict in (fitted.predict, fitted.decision_function, fitted.predict_kbest):
        predict(X_NEW)
    fitted.score(X_NEW, Y_NEW)
    assert fitted.estimator_.get_params() == before and before["n_jobs"] == 2


def test_a_fit_without_labels_forgets_those_of_the_last():
    fitted = averager().fit(X, Y)
    assert fitted.classes_.shape == (4,)
    fitted.set_params(estimator=WordSegmenter(max_iter=1)).fit(
        ["abc", "ab"], [["ab", "c"], ["ab"]]
    )
    assert not hasattr(fitted, "classes_")


# -- many members ----------------------------------------------------------------------
def peak_of(fit):
    """The most memory that a fit needed at any time, in bytes, and what it returned."""
    tracemalloc.start()
    try:
        fitted = fit()
        return tracemalloc.get_traced_memory()[1], fitted
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_members_do_not_pile_up(n_jobs):
    """What training needs beside the weights is let go of with each member, and then
    its weights.
    """
    words = [f"w{k}" for k in range(20_000)]
    X = [words[k : k + 50] for k in range(0, 20_000, 50)]
    y = [["ABCD"[hash_ % 4] for hash_ in range(50)] for _ in X]
    base = StructuredPerceptron(["U:%x[0,0]", "B"], max_iter=1)
    averager(base, 2, n_jobs=n_jobs).fit(X, y)
    few, _ = peak_of(lambda: averager(base, n_jobs + 1, n_jobs=n_jobs).fit(X, y))
    many, fitted = peak_of(lambda: averager(base, n_jobs + 9, n_jobs=n_jobs).fit(X, y))
    assert many - few < 2 * n_jobs * model_of(fitted).nodes.value.nbytes


# -- interrupts ------------------------------------------------------------------------
@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_ctrl_c_stops_all_members_at_once(n_jobs, monkeypatch):
    fitted = averager(n_jobs=n_jobs).fit(X, Y)
    before = weights(fitted)
    epoch, stop = ChainRun.epoch, DeferredInterrupt.stop
    heard, calls, after = threading.Event(), [], []

    def counted(*arguments):
        if heard.is_set():
            after.append(1)
        calls.append(1)
        if len(calls) == 20:
            os.kill(os.getpid(), signal.SIGINT)
            if n_jobs > 1:  # the signal is the main thread's
                assert heard.wait(60)
        return epoch(*arguments)

    def told(self):
        stop(self)
        heard.set()

    monkeypatch.setattr(loops, "CHUNK_TOKENS", 20)
    monkeypatch.setattr(ChainRun, "epoch", staticmethod(counted))
    monkeypatch.setattr(DeferredInterrupt, "stop", told)
    with pytest.raises(KeyboardInterrupt):
        fitted.set_params(estimator__max_iter=50, n_estimators=8).fit(X, Y)
    assert (
        len(calls) >= 20 and len(after) < 20 * n_jobs
    )  # chunks of epochs that had begun
    assert weights(fitted) != before
    assert fitted.n_estimators_ == 1 and fitted.n_iter_ == len(fitted.history_) < 50
    assert len(fitted.predict(X_NEW)) == len(X_NEW)


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_members_that_are_finished(n_jobs, monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(1)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return epoch(*arguments)

    epoch = ChainRun.epoch
    base = perceptron().set_params(max_iter=2)
    fitted = averager(base, 8, n_jobs=n_jobs, keep_members=True)
    with monkeypatch.context() as patch:
        patch.setattr(ChainRun, "epoch", staticmethod(counted))
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(X, Y)
    members = fitted.estimators_
    assert 1 <= len(members) == fitted.n_estimators_ < 8
    assert {record["member"] for record in fitted.history_} == {
        *range(1, len(members) + 1)
    }
    whole = averager(base, len(members)).fit(X, Y)  # their seeds come first
    assert weights(fitted) == weights(whole)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_members_share_their_scratch(n_jobs, monkeypatch):
    made, scratch = [], ChainRun.scratch
    monkeypatch.setattr(
        ChainRun, "scratch", lambda self: made.append(1) or scratch(self)
    )
    averager(perceptron(), 6, n_jobs=n_jobs).fit(X, Y)
    assert 1 <= len(made) <= n_jobs


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_an_interrupted_fit_goes_on(monkeypatch, tmp_path):
    base = averager(perceptron().set_params(max_iter=4), n_jobs=2)
    expected = weights(clone(base).fit(X, Y))
    monkeypatch.setattr(loops, "CHUNK_TOKENS", 20)
    epoch, calls = ChainRun.epoch, []

    def counted(*arguments):
        calls.append(1)
        if len(calls) == 60:
            os.kill(os.getpid(), signal.SIGINT)
        return epoch(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ChainRun, "epoch", staticmethod(counted))
        with pytest.raises(KeyboardInterrupt):
            clone(base).set_params(checkpoint=tmp_path).fit(X, Y)
    assert os.listdir(tmp_path)
    resumed = clone(base).set_params(checkpoint=tmp_path, keep_members=True).fit(X, Y)
    assert sum(member.resumed_from_ for member in resumed.estimators_) > 0
    assert weights(resumed) == expected and os.listdir(tmp_path) == []


# -- callbacks -------------------------------------------------------------------------
class Watch:
    """A scikit-learn callback that notes what it is told of, and may raise at the end
    of an epoch.
    """

    def __init__(self, error=None):
        self.error, self.begun, self.ended, self.ready = error, [], [], []

    def setup(self, estimator, context):
        self.ready.append(estimator)

    def teardown(self, estimator, context):
        self.ready.remove(estimator)

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(
            (type(estimator).__name__, context.task_name, context.task_id)
        )

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append((context.task_name, fitted_estimator))
        if self.error is not None and context.task_name == "epoch":
            raise self.error


def watched(estimator, watch):
    if not hasattr(estimator, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    return estimator.set_callbacks(watch)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_of_the_averager_see_its_members(n_jobs):
    watch = Watch()
    fitted = watched(averager(n_jobs=n_jobs), watch).fit(X, Y)
    assert watch.begun[0] == ("BaggingShuffleAverager", "fit", 0) and not watch.ready
    assert sorted(watch.begun[1:]) == [
        ("BaggingShuffleAverager", "member", k) for k in range(3)
    ]
    name, last = watch.ended[-1]
    assert name == "fit" and last.predict(X_NEW) == fitted.predict(X_NEW)
    assert weights(fitted) == weights(averager().fit(X, Y))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_of_the_estimator_see_each_member(n_jobs):
    watch = Watch()
    base = watched(perceptron(), watch)
    fitted = averager(base, n_jobs=n_jobs).fit(X, Y)
    assert not watch.ready
    names = [name for _, name, _ in watch.begun]
    assert names.count("fit") == 3 and names.count("epoch") == 6
    assert all(len(model.predict(X_NEW)) == len(X_NEW) for _, model in watch.ended)
    assert weights(fitted) == weights(averager().fit(X, Y))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "error", [RuntimeError("boom"), KeyboardInterrupt()], ids=["fails", "interrupts"]
)
def test_a_member_that_fails_stops_the_others(error, n_jobs):
    watch = Watch(error)
    base = watched(perceptron().set_params(max_iter=10_000), watch)
    with pytest.raises(type(error)) as caught:
        averager(base, n_jobs=n_jobs).fit(X, Y)
    assert caught.value is error and not watch.ready
    assert len(watch.ended) <= n_jobs


def test_callbacks_that_are_propagated_reach_the_members():
    watch = Watch()
    watch.max_propagation_depth = None
    watched(averager(), watch).fit(X, Y)
    names = [(estimator, name) for estimator, name, _ in watch.begun]
    assert names.count(("StructuredPerceptron", "epoch")) == 6 and not watch.ready


@pytest.mark.parametrize("meta", [averager, ParameterMixer])
def test_scores_can_be_monitored(meta):
    callback = pytest.importorskip("sklearn.callback")
    if not hasattr(callback, "ScoringMonitor"):
        pytest.skip("this scikit-learn has no ScoringMonitor")

    monitor = callback.ScoringMonitor(
        scoring={"score": lambda estimator, X, y: estimator.score(X, y)}
    )
    fitted = meta(perceptron()).set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs().data[0]["score"] == fitted.score(X, Y)


# -- inside scikit-learn ---------------------------------------------------------------
def test_parameters_inside_a_pipeline_can_be_searched():
    pipeline = Pipeline([("tag", averager())])
    grid = {
        "tag__estimator__penalty": ["l2"],
        "tag__n_estimators": [1, 2],
        "tag__average": ["all"],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_estimator_[-1].estimator_.penalty == "l2"


# -- what is refused -------------------------------------------------------------------
class Unaware(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X


@pytest.mark.parametrize(
    "base, message",
    [
        (
            Unaware(),
            "Unaware cannot be used by BaggingShuffleAverager: it has no linear weights",
        ),
        (
            Segmenter(),
            r"Segmenter cannot be .* put it inside: Segmenter\(BaggingShuffleAverager\(tagger\)\)",
        ),
        (Segmenter(Unaware()), "Segmenter cannot be used .* could share$"),
        (
            averager(),
            "BaggingShuffleAverager cannot be .*; give it the estimator that is inside",
        ),
        (
            ParameterMixer(),
            "ParameterMixer cannot be .*; give it the estimator that is inside",
        ),
        (Pipeline([("tag", perceptron())]), "Pipeline cannot be used by"),
        (
            FrozenEstimator(perceptron()),
            "FrozenEstimator cannot be used by BaggingShuffleAverager: a frozen",
        ),
        (KBestReranker(), "KBestReranker cannot be used by .* inside of its base$"),
        (
            StructuredPerceptron,
            "must be an instance implementing .* Got <class .*StructuredPerceptron",
        ),
    ],
)
def test_what_cannot_be_averaged(base, message):
    with pytest.raises(ValueError, match=message):
        BaggingShuffleAverager(base).fit(X, Y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_estimators": 0},
        {"max_samples": 0.0},
        {"max_samples": 1.1},
        {"max_samples": float("nan")},
    ],
)
def test_wrong_parameters_leave_a_fit_as_it_was(parameters):
    fitted = averager().fit(X, Y)
    before = weights(fitted)
    with pytest.raises(
        ValueError,
        match=f"'{next(iter(parameters))}' parameter of BaggingShuffleAverager",
    ):
        fitted.set_params(**parameters).fit(X, Y)
    assert weights(fitted) == before


def test_members_that_are_not_there():
    with pytest.raises(NotFittedError):
        averager(keep_members=True).member_scores(X, Y)
    kept = averager(keep_members=True).fit(X, Y)
    with pytest.raises(
        ValueError, match="member_scores needs a fit with keep_members=True"
    ):
        kept.set_params(keep_members=False).fit(X, Y).member_scores(X, Y)
