"""Mixtures that are killed or interrupted and go on; callbacks."""

import signal
import subprocess
import textwrap

import pytest
from forked import python
from inside import before_each_round
from mixer_cases import LEARNERS, NOISY, TREES, X, Y, assert_same
from sklearn.base import clone

from skstruct import (
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._saving.container import ModelFileError
from skstruct._shards import shards


# -- checkpoints -----------------------------------------------------------------------
class Killed(Exception):
    pass


@pytest.fixture
def killed_after(monkeypatch):
    """Let a fit end without warning after so many rounds."""

    def arm(n):
        rounds = []

        def counting():
            if len(rounds) == n:
                raise Killed
            rounds.append(1)

        before_each_round(monkeypatch, counting)

    yield arm


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize(
    "noise", [{}, {"penalty": "l1-cumulative", "alpha": 2**-8, **NOISY}]
)
@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_a_killed_fit_goes_on(
    estimator, X, y, noise, n_shards, killed_after, monkeypatch, tmp_path
):
    if isinstance(estimator, ShiftReduceParser | WordSegmenter) or y is TREES[1]:
        noise = {
            key: value
            for key, value in noise.items()
            if key != "noise_rate" and key != "feature_noise"
        }
    estimator = clone(estimator)
    inner = estimator.tagger if isinstance(estimator, Segmenter) else estimator
    inner.set_params(**noise)
    mixer = ParameterMixer(estimator, n_shards, random_state=5)
    whole = mixer.fit(X, y)
    assert not hasattr(whole, "resumed_from_")
    kept = clone(mixer).set_params(checkpoint=tmp_path)
    with monkeypatch.context():
        killed_after(2)
        with pytest.raises(Killed):
            clone(kept).fit(X, y)
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == 1
    kept.fit(X, y)
    assert kept.resumed_from_ == 2 and kept.n_iter_ == whole.n_iter_ == len(
        kept.history_
    )
    assert not list(tmp_path.iterdir())
    assert_same(kept.estimator_, whole.estimator_)
    assert [r["updates"] for r in kept.history_] == [
        r["updates"] for r in whole.history_
    ]


def test_a_killed_fit_of_shards_goes_on_with_its_own_key(
    killed_after, monkeypatch, tmp_path
):
    loads = [lambda: (X[:7], Y[:7]), lambda: (X[7:], Y[7:])]
    mixer = ParameterMixer(
        StructuredPerceptron(max_iter=5, **NOISY), checkpoint=tmp_path
    )
    with monkeypatch.context():
        killed_after(3)
        with pytest.raises(Killed):
            mixer.fit_shards(loads)
    monkeypatch.undo()
    other = clone(mixer).set_params(mixing="errors").fit_shards(loads)
    assert other.resumed_from_ == 0 and len(list(tmp_path.iterdir())) == 1
    assert clone(mixer).fit_shards(loads[::-1]).resumed_from_ == 0
    assert mixer.fit_shards(loads).resumed_from_ == 3 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_shards", [1, 3])
def test_mixers_in_one_folder_do_not_meet(
    killed_after, monkeypatch, tmp_path, n_shards
):
    X, y = (
        [["a", "b"], ["c", "a", "b"], ["b", "c"]],
        [["X", "Y"], ["X", "Y", "X"], ["X", "Y"]],
    )
    for n_files, options in enumerate(
        (
            {},
            {"features": ["U:%x[0,0]"]},
            {"features": ["U:%x[0,0]", "B"]},  # whose features of tokens are the same
            {"class_weight": {"X": 1.0}},
            {"class_weight": {"X": 2.0}},
            {"constraints": [("X", "Y"), ("Y", "X")]},
            {"constraints": [(None, "X"), ("X", "Y"), ("Y", "X")]},
            {"order": 2},
        )
    ):
        base = StructuredPerceptron(max_iter=4, **options)
        mixer = ParameterMixer(base, n_shards, random_state=0, checkpoint=tmp_path)
        assert len(list(tmp_path.iterdir())) == n_files
        killed_after(2)
        with pytest.raises(Killed):
            mixer.fit(X, y)
        monkeypatch.undo()


def test_an_interrupted_fit_goes_on(monkeypatch, tmp_path):
    mixer = ParameterMixer(
        StructuredPerceptron(max_iter=4), random_state=0, checkpoint=tmp_path
    )
    expected = clone(mixer).fit(X, Y)
    mix = shards.Mixture.mix

    def pressed(self, *arguments):
        mix(self, *arguments)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(shards.Mixture, "mix", pressed)
        with pytest.raises(KeyboardInterrupt):
            mixer.fit(X, Y)
    assert mixer.n_iter_ == 1
    assert mixer.fit(X, Y).resumed_from_ == 1
    assert_same(mixer.estimator_, expected.estimator_)


def test_a_damaged_checkpoint_is_refused(killed_after, monkeypatch, tmp_path):
    mixer = ParameterMixer(
        StructuredPerceptron(max_iter=4), random_state=0, checkpoint=tmp_path
    )
    with monkeypatch.context():
        killed_after(2)
        with pytest.raises(Killed):
            mixer.fit(X, Y)
    monkeypatch.undo()
    (file,) = tmp_path.iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match="cannot be used"):
        mixer.fit(X, Y)
    assert not hasattr(mixer, "estimator_") and file.read_bytes() == data


def test_a_single_mixture_keeps_nothing(tmp_path):
    with pytest.raises(ValueError, match='checkpoint needs strategy="iterative"'):
        ParameterMixer(strategy="once", checkpoint=tmp_path).fit(X, Y)


def test_a_worker_lost_while_it_answers_does_not_keep_the_interpreter_from_ending():
    """A question that is never answered blocks its thread for good."""
    code = textwrap.dedent(
        """
        import functools
        import threading

        from skstruct import ParameterMixer, StructuredPerceptron
        from skstruct.datasets import make_hmm_sequences
        from skstruct._shards import tasks


        class Task:
            status = "pending"

            def __init__(self, result):
                self.result = result

            def cancel(self):
                pass

            release = cancel


        class Client:
            # Two workers, of which the first dies while it answers.

            workers = {"a": 1, "b": 1}

            def nthreads(self):
                return dict(self.workers)

            def submit(self, function, *arguments, workers=None, **options):
                if workers == ["a"]:
                    self.workers.pop("a", None)
                    return Task(threading.Event().wait)
                return Task(functools.partial(self.call, function, arguments))

            def call(self, function, arguments):
                def found(value):
                    if isinstance(value, list):
                        return [found(each) for each in value]
                    return value.result() if isinstance(value, Task) else value

                return function(*map(found, arguments))

            def scatter(self, data, **options):
                return data

            def run(self, function, *arguments):
                function(*arguments)

            def close(self):
                pass


        tasks.connect = lambda client: (Client(), True)
        tasks.POLL = 0.01
        X, y = make_hmm_sequences(20, random_state=0)
        mixer = ParameterMixer(StructuredPerceptron(max_iter=2), n_shards=2, random_state=0)
        there = mixer.set_params(client="somewhere").fit(X, y).predict(X)
        assert there == mixer.set_params(client=None).fit(X, y).predict(X)
        assert Client.workers == {"b": 1}
        """
    )
    subprocess.run([*python(), "-c", code], check=True, timeout=300)


# -- callbacks -------------------------------------------------------------------------
class Watch:
    """A scikit-learn callback that notes what it is told of, and may stop or raise at
    the end of a round.
    """

    def __init__(self, last=None, error=None):
        self.last, self.error, self.begun, self.scores = last, error, [], []

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((type(estimator).__name__, context.task_name))

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator=None):
        if X is not None:
            self.scores.append(fitted_estimator.score(X, y))
        if self.error is not None:
            raise self.error
        return context.task_id + 1 == self.last


def watched(estimator, watch):
    if not hasattr(estimator, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    return estimator.set_callbacks(watch)


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize(
    "base, x, y",
    [LEARNERS[0], LEARNERS[3], LEARNERS[5], LEARNERS[6], LEARNERS[8]],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_callbacks_see_the_rounds(base, x, y, n_shards):
    mixer, watch = ParameterMixer(base, n_shards, random_state=0), Watch()
    alone = clone(mixer).fit(x, y)
    fitted = watched(clone(mixer), watch).fit(x, y)
    n = fitted.n_iter_
    assert watch.begun == [("ParameterMixer", "fit")] + n * [
        ("ParameterMixer", "round")
    ]
    assert watch.scores[-2:] == 2 * [fitted.score(x, y)]
    assert_same(fitted.estimator_, alone.estimator_)
    stopped = watched(clone(mixer), Watch(last=2)).fit(x, y)
    assert stopped.n_iter_ == len(stopped.history_) == 2


def test_callbacks_see_the_rounds_of_shards_that_load_themselves():
    watch = Watch()
    watched(ParameterMixer(StructuredPerceptron(max_iter=2)), watch).fit_shards(
        [lambda: (X, Y)] * 2
    )
    assert [name for _, name in watch.begun] == ["fit", "round", "round"]


def test_a_callback_that_interrupts_leaves_the_rounds():
    mixer = watched(
        ParameterMixer(StructuredPerceptron(max_iter=4)),
        Watch(error=KeyboardInterrupt()),
    )
    with pytest.raises(KeyboardInterrupt):
        mixer.fit(X, Y)
    assert mixer.n_iter_ == 1 and len(mixer.predict(X)) == len(X)


def test_callbacks_of_the_learner_are_refused():
    base = watched(StructuredPerceptron(), Watch())
    for estimator in (base, Segmenter(base)):
        with pytest.raises(
            ValueError, match="callbacks of StructuredPerceptron do not go with"
        ):
            ParameterMixer(estimator).fit(X, Y)
