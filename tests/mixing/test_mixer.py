"""Parameter mixing as an estimator: over every learner, equal to its parts where it must be; good errors."""

import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import sklearn
from inside import before_each_round, model_of
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from training_cases import corpus

import skstruct
from skstruct import (
    L1CRF,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.cluster import shards
from skstruct.core import store as store_module
from skstruct.datasets import load_segmentation
from skstruct.mixing import rounds as rounds_module
from skstruct.saving.container import ModelFileError

X, Y = corpus(0, "str", n=14)
TEXTS, WORDS = (part[:40] for part in load_segmentation())
TREES = (
    2 * [[("the", "D"), ("dog", "N"), ("ran", "V")], [("a", "D"), ("cat", "N")], [("it", "N"), ("ate", "V")]],
    2 * [[(2, "det"), (3, "subj"), (0, "root")], [(2, "det"), (0, "root")], [(2, "subj"), (0, "root")]],
)

LEARNERS = [
    (StructuredPerceptron(max_iter=4), X, Y),
    (StructuredPerceptron(max_iter=4, min_count=2, class_weight="balanced"), X, Y),
    (StructuredPerceptron(max_iter=3, order=2, penalty="l2", alpha=1e-2), X, Y),
    (PassiveAggressiveTagger(max_iter=4, C=0.3, cost="hamming", penalty="l1", alpha=2**-7), X, Y),
    (StructuredPerceptron(max_iter=3), *corpus(1, "dict", n=9)),
    (Segmenter(PassiveAggressiveTagger("char", max_iter=3)), TEXTS, WORDS),
    (WordSegmenter(max_iter=3), TEXTS, WORDS),
    (WordSegmenter(max_iter=3, templates="zc14", min_count=2), TEXTS, WORDS),
    (ShiftReduceParser(max_iter=3), *TREES),
    (ShiftReduceParser(max_iter=3, labeled=False), TREES[0], [[h for h, _ in t] for t in TREES[1]]),
]
NOISY = {"feature_noise": "dropout", "noise_rate": 0.2, "dropout": 0.1}


def seeded(estimator, seed):
    estimator = clone(estimator)
    inner = estimator.tagger if isinstance(estimator, Segmenter) else estimator
    inner.set_params(random_state=seed)
    return estimator


def stores(estimator):
    model = model_of(getattr(estimator, "tagger_", estimator))
    return {n: v.value for n, v in vars(model).items() if hasattr(v, "columns")}


def assert_same(a, b):
    a, b = stores(a), stores(b)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])


def dealt(X, y, n):
    return [lambda s=s: (X[s::n], y[s::n]) for s in range(n)]


@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_one_shard_is_the_estimator(estimator, X, y):
    """To the bit, whoever loads the data."""
    alone = seeded(estimator, 3).fit(X, y)
    mixer = ParameterMixer(estimator, n_shards=1, random_state=3).fit(X, y)
    assert_same(alone, mixer.estimator_)
    assert_same(alone, ParameterMixer(estimator, random_state=3).fit_shards([lambda: (X, y)]).estimator_)
    assert mixer.predict(X) == alone.predict(X)


@pytest.mark.parametrize("strategy", ["once", "iterative"])
@pytest.mark.parametrize(
    "options", [{**NOISY}, {"penalty": "l1-cumulative", "alpha": 2**-8}, {"average": False, "shuffle": False}]
)
def test_one_shard_under_noise_and_penalties(options, strategy):
    base = StructuredPerceptron(max_iter=3, **options)
    alone = seeded(base, 5).fit(X, Y)
    mixer = ParameterMixer(base, n_shards=1, strategy=strategy, random_state=5)
    assert_same(alone, mixer.fit(X, Y).estimator_)
    generators = np.random.RandomState(7), np.random.RandomState(7)  # they move on alike
    alone = base.set_params(random_state=generators[0]).fit(X, Y)
    assert_same(alone, mixer.set_params(random_state=generators[1]).fit(X, Y).estimator_)
    assert generators[0].randint(1000) == generators[1].randint(1000)


@pytest.mark.parametrize("mixing", ["uniform", "errors", "nonzero"])
@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_shards_that_load_themselves_are_shards_of_fit(estimator, X, y, mixing):
    """The rows of features differ, the weights of features do not."""
    together = ParameterMixer(estimator, n_shards=3, mixing=mixing, random_state=1).fit(X, y)
    apart = ParameterMixer(estimator, mixing=mixing, random_state=1, n_jobs=2).fit_shards(dealt(X, y, 3))
    assert together.predict(X) == apart.predict(X)
    for a, b in zip(stores(together.estimator_).values(), stores(apart.estimator_).values()):
        np.testing.assert_array_equal(np.sort(a[a != 0]), np.sort(b[b != 0]))
    for name in ("updates", "loss", "mixture"):
        assert [h[name] for h in together.history_] == [h[name] for h in apart.history_]


@pytest.mark.parametrize("estimator, X, y", LEARNERS[:1] + LEARNERS[6:7])
def test_threads_change_nothing(estimator, X, y):
    inner = clone(estimator).set_params(**NOISY)
    one, many = (ParameterMixer(inner, n_shards=4, random_state=1, n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    assert_same(one.estimator_, many.estimator_)
    other = ParameterMixer(inner, n_shards=4, random_state=2).fit(X, y)
    assert other.history_ != one.history_


def test_sparse_rows_change_nothing(monkeypatch):
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)

    def weights(most_dense):
        monkeypatch.setattr(store_module, "DENSE_WEIGHTS", most_dense)
        base = StructuredPerceptron(max_iter=4, penalty="l2", alpha=1e-3)
        mixer = ParameterMixer(base, n_shards=3, random_state=0)
        return [mixer.fit(X, Y).decision_function(X), mixer.fit_shards(dealt(X, Y, 3)).decision_function(X)]

    np.testing.assert_array_equal(weights(0), weights(2**24))


@pytest.mark.parametrize("estimator, X, y", [LEARNERS[0], LEARNERS[5], LEARNERS[6], LEARNERS[8]])
def test_a_mixture_can_do_what_its_estimator_can(estimator, X, y, tmp_path):
    mixer = ParameterMixer(estimator, random_state=0).fit(X, y)
    assert mixer.n_iter_ == len(mixer.history_) == 4 - (estimator is not LEARNERS[0][0])
    assert mixer.score(X, y) == mixer.estimator_.score(X, y) > 0.3
    for name in ("decision_function", "predict_kbest", "adapt"):
        assert hasattr(mixer, name) == hasattr(mixer.estimator_, name)
    mixer.save(tmp_path / "mixture")
    for copy in (skstruct.load(tmp_path / "mixture"), pickle.loads(pickle.dumps(mixer))):
        assert type(copy) is ParameterMixer
        assert copy.predict(X) == mixer.predict(X)
        assert copy.history_ == mixer.history_
    record = mixer.history_[0]
    assert record["bytes_sent"] >= 0 < record["bytes_received"]
    assert set(record) == {
        "round", "updates", "sequence_error", "token_error", "loss", "mixture", "bytes_sent",
        "bytes_received", "seconds",
    }  # fmt: skip


def test_a_segmenter_around_a_mixer():
    segmenter = Segmenter(ParameterMixer(StructuredPerceptron("char", max_iter=3), random_state=0))
    inside = ParameterMixer(Segmenter(StructuredPerceptron("char", max_iter=3)), random_state=0)
    assert segmenter.fit(TEXTS, WORDS).predict(TEXTS) == inside.fit(TEXTS, WORDS).predict(TEXTS)
    assert inside.predict(TEXTS, dictionary=["大学图书馆"]) is not None


def test_weights_of_sequences():
    base = StructuredPerceptron(max_iter=3)
    weight = [0.0, 2.0, 0.5] * 4 + [1.0, 0.0]
    mixer = ParameterMixer(base, n_shards=2, random_state=0)
    mixed = mixer.fit(X, Y, sample_weight=weight).predict(X)
    kept = [i for i, w in enumerate(weight) if w]
    shards = [
        lambda mine=kept[s::2]: ([X[i] for i in mine], [Y[i] for i in mine], [weight[i] for i in mine])
        for s in range(2)
    ]
    assert mixer.fit_shards(shards).predict(X) == mixed
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ParameterMixer(base.set_fit_request(sample_weight=True)).set_fit_request(sample_weight=True)
        assert routed.get_metadata_routing() is not None


def test_empty_sequences_and_few_of_them():
    mixer = ParameterMixer(StructuredPerceptron(max_iter=2), n_shards=2, random_state=0)
    assert mixer.fit([[], *X, []], [[], *Y, []]).predict([[]]) == [[]]
    with pytest.raises(ValueError, match="n_shards=2 is more than the 1 sequences"):
        mixer.fit([[], ["a"]], [[], ["X"]])


@pytest.mark.parametrize(
    "shards, message",
    [
        ([], "at least one callable"),
        ("text", "at least one callable"),
        ([lambda: (X, Y), 7], "shard 1: expected a callable"),
        ([lambda: (X, Y), lambda: X], r"shard 1: its callable must return \(X, y\), got list"),
        ([lambda: (X, Y), lambda: (X, Y, None, 1)], r"shard 1: its callable must return \(X, y\)"),
        ([lambda: (X, Y), lambda: 1 / 0], "shard 1: its callable raised ZeroDivisionError"),
        ([lambda: (X, Y), lambda: ([], [])], "shard 1: X is empty"),
        ([lambda: (X, Y), lambda: (X, Y[1:])], "shard 1: X and y must hold the same number"),
        ([lambda: (X, Y), lambda: ([["a"]], [[1]])], "labels of shard 1 are of type int"),
        ([lambda: (X, Y), lambda: ([[("a", "b")]], [["X"]])], "shard 1: its tokens are not of the kind"),
        ([lambda: (X, Y), lambda: ([["a"]], [[None]])], "shard 1: y holds no label"),
    ],
)
def test_shards_that_are_wrong(shards, message):
    mixer = ParameterMixer(StructuredPerceptron(max_iter=2), random_state=0)
    with pytest.raises(ValueError, match=message):
        mixer.fit_shards(shards)
    assert not hasattr(mixer, "estimator_")


def test_a_reranker_learns_from_no_shards_that_are_loaded_apart():
    texts, words = (part[:6] for part in load_segmentation())
    mixer = ParameterMixer(KBestReranker(cv=2, max_iter=1), random_state=0)
    with pytest.raises(ValueError, match="KBestReranker cannot learn from shards that are loaded apart"):
        mixer.fit_shards([lambda: (texts, words), lambda: (texts, words)])


@pytest.mark.parametrize(
    "estimator, message",
    [
        (L1CRF(), "L1CRF cannot be mixed: it does not learn example by example"),
        (Segmenter(L1CRF()), "L1CRF cannot be mixed"),
        (StructuredPerceptron(early_stopping=True), "early_stopping=True of StructuredPerceptron"),
        (StructuredPerceptron(checkpoint="folder"), "checkpoint='folder'"),
        (ParameterMixer(), "ParameterMixer cannot be used by ParameterMixer"),
        (StructuredPerceptron, "estimator must be an instance, got the class StructuredPerceptron"),
        (StructuredPerceptron(max_iter=0), "max_iter"),
    ],
)
def test_estimators_that_cannot_be_mixed(estimator, message):
    with pytest.raises(ValueError, match=message):
        ParameterMixer(estimator).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        ParameterMixer(estimator).fit_shards([lambda: (X, Y)])


def test_a_frozen_estimator_is_refused_and_stays_as_it_was():
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(X[:5], Y[:5])
    before = pickle.dumps(tagger)
    with pytest.raises(ValueError, match="FrozenEstimator cannot be used by ParameterMixer: what is frozen"):
        ParameterMixer(FrozenEstimator(tagger)).fit(X, Y)
    with pytest.raises(ValueError, match="FrozenEstimator cannot be used by ParameterMixer: what is frozen"):
        ParameterMixer(FrozenEstimator(tagger)).fit_shards([lambda: (X, Y)])
    assert pickle.dumps(tagger) == before


def test_an_interrupt_keeps_the_rounds_completed(monkeypatch):
    rounds = []

    class Pressed(rounds_module.DeferredInterrupt):
        @property
        def count(self):
            return int(len(rounds) >= 2)

        @count.setter
        def count(self, value):
            pass

    mix = shards.Mixture.mix

    def counted(self, *arguments):
        rounds.append(1)
        return mix(self, *arguments)

    monkeypatch.setattr(shards.Mixture, "mix", counted)
    expected = ParameterMixer(StructuredPerceptron(max_iter=2), random_state=0).fit(X, Y)
    rounds.clear()
    monkeypatch.setattr(rounds_module, "DeferredInterrupt", Pressed)
    mixer = ParameterMixer(StructuredPerceptron(max_iter=9), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        mixer.fit(X, Y)
    assert mixer.n_iter_ == 2
    assert_same(mixer.estimator_, expected.estimator_)


# -- checkpoints ---------------------------------------------------------------------------------------
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
@pytest.mark.parametrize("noise", [{}, {"penalty": "l1-cumulative", "alpha": 2**-8, **NOISY}])
@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_a_killed_fit_goes_on(estimator, X, y, noise, n_shards, killed_after, monkeypatch, tmp_path):
    if isinstance(estimator, ShiftReduceParser | WordSegmenter) or y is TREES[1]:
        noise = {key: value for key, value in noise.items() if key != "noise_rate" and key != "feature_noise"}
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
    assert kept.resumed_from_ == 2 and kept.n_iter_ == whole.n_iter_ == len(kept.history_)
    assert not list(tmp_path.iterdir())
    assert_same(kept.estimator_, whole.estimator_)
    assert [r["updates"] for r in kept.history_] == [r["updates"] for r in whole.history_]


def test_a_killed_fit_of_shards_goes_on_with_its_own_key(killed_after, monkeypatch, tmp_path):
    loads = [lambda: (X[:7], Y[:7]), lambda: (X[7:], Y[7:])]
    mixer = ParameterMixer(StructuredPerceptron(max_iter=5, **NOISY), checkpoint=tmp_path)
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
def test_mixers_in_one_folder_do_not_meet(killed_after, monkeypatch, tmp_path, n_shards):
    X, y = [["a", "b"], ["c", "a", "b"], ["b", "c"]], [["X", "Y"], ["X", "Y", "X"], ["X", "Y"]]
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
    mixer = ParameterMixer(StructuredPerceptron(max_iter=4), random_state=0, checkpoint=tmp_path)
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
    mixer = ParameterMixer(StructuredPerceptron(max_iter=4), random_state=0, checkpoint=tmp_path)
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
        from skstruct.cluster import tasks


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
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


# -- callbacks -----------------------------------------------------------------------------------------
class Watch:
    """A scikit-learn callback that notes what it is told of, and may stop or raise at the end of a round."""

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
    assert watch.begun == [("ParameterMixer", "fit")] + n * [("ParameterMixer", "round")]
    assert watch.scores[-2:] == 2 * [fitted.score(x, y)]
    assert_same(fitted.estimator_, alone.estimator_)
    stopped = watched(clone(mixer), Watch(last=2)).fit(x, y)
    assert stopped.n_iter_ == len(stopped.history_) == 2


def test_callbacks_see_the_rounds_of_shards_that_load_themselves():
    watch = Watch()
    watched(ParameterMixer(StructuredPerceptron(max_iter=2)), watch).fit_shards([lambda: (X, Y)] * 2)
    assert [name for _, name in watch.begun] == ["fit", "round", "round"]


def test_a_callback_that_interrupts_leaves_the_rounds():
    mixer = watched(ParameterMixer(StructuredPerceptron(max_iter=4)), Watch(error=KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        mixer.fit(X, Y)
    assert mixer.n_iter_ == 1 and len(mixer.predict(X)) == len(X)


def test_callbacks_of_the_learner_are_refused():
    base = watched(StructuredPerceptron(), Watch())
    for estimator in (base, Segmenter(base)):
        with pytest.raises(ValueError, match="callbacks of StructuredPerceptron do not go with"):
            ParameterMixer(estimator).fit(X, Y)
