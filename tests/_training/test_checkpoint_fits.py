"""Fits that are killed and go on: the same model, to the bit, as one that never
stopped.
"""

import errno
import os
import signal
import subprocess
import textwrap
import warnings

import inside
import numpy as np
import pytest
from forked import python
from inside import (
    after_each_crf_pass,
    after_each_report,
    before_each_pass,
    model_of,
    run_of,
    training_of,
)
from model_cases import CASES, WITHOUT_LABELS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
)
from skstruct._saving.container import ModelFileError
from skstruct._training import checkpoint, epochs
from skstruct._training.checkpoint import arrays_of
from skstruct._training.parameters import parameters_named
from skstruct.datasets import load_chunking, make_hmm_sequences


class Stop(Exception):
    pass


@pytest.fixture
def stop_after(monkeypatch):
    """Let training raise after so many epochs."""

    def arm(n, error=Stop):
        seen = []

        def counting(run):
            seen.append(run)
            if len(seen) == n:
                raise error

        after_each_report(monkeypatch, counting)

    yield arm


def corpus(n=30, seed=0):
    return make_hmm_sequences(n, random_state=seed)


def bits(estimator):
    state = training_of(estimator)
    found = arrays_of(
        (state.model, model_of(estimator).nodes, model_of(estimator).edges), "fit"
    )
    return {name: array.tobytes() for name, array in found.items()}


LEARNERS = [
    StructuredPerceptron(random_state=0),
    StructuredPerceptron(random_state=0, penalty="l2", alpha=1e-3, dropout=0.1),
    StructuredPerceptron(
        random_state=0, penalty="l1", alpha=1e-3, feature_noise="zipf"
    ),
    StructuredPerceptron(
        random_state=0, penalty="l1-cumulative", alpha=1e-3, average=False
    ),
    StructuredPerceptron(random_state=0, early_stopping=True, n_iter_no_change=9),
    PassiveAggressiveTagger(random_state=0, average="epoch"),
    PassiveAggressiveTagger(random_state=0, class_weight="balanced"),
]


@pytest.mark.parametrize(
    "error", [Stop, KeyboardInterrupt]
)  # after the second a model is made, too
@pytest.mark.parametrize("learner", LEARNERS, ids=range(len(LEARNERS)))
def test_resumed_equals_uninterrupted(
    tmp_path, monkeypatch, stop_after, learner, error
):
    X, y = corpus()
    whole = clone(learner).fit(X, y)
    assert not hasattr(whole, "resumed_from_")
    with monkeypatch.context():
        stop_after(4, error)
        with pytest.raises(error):
            clone(learner).set_params(checkpoint=tmp_path).fit(X, y)
    monkeypatch.undo()
    assert len(os.listdir(tmp_path)) == 1
    resumed = clone(learner).set_params(checkpoint=tmp_path).fit(X, y)
    assert resumed.resumed_from_ == 4
    assert os.listdir(tmp_path) == []
    assert bits(resumed) == bits(whole)
    assert resumed.n_iter_ == whole.n_iter_
    assert [h["updates"] for h in resumed.history_] == [
        h["updates"] for h in whole.history_
    ]
    again = clone(learner).set_params(checkpoint=tmp_path).fit(X, y)
    assert again.resumed_from_ == 0
    assert bits(again) == bits(whole)
    assert not hasattr(
        again.set_params(checkpoint=None, max_iter=1).fit(X, y), "resumed_from_"
    )


def test_other_parameters_or_data_start_afresh(tmp_path, monkeypatch, stop_after):
    X, y = corpus()
    base = StructuredPerceptron(random_state=0, checkpoint=tmp_path)
    stop_after(3)
    with pytest.raises(Stop):
        clone(base).fit(X, y)
    monkeypatch.undo()
    labels = sorted({label for labels in y for label in labels})
    seen = {(a, b) for labels in y for a, b in zip(labels, labels[1:])}
    others = (
        {"alpha": 0.1, "penalty": "l2"},
        {"random_state": 1},
        {"max_iter": 9},
        {"min_count": 2},
        {"features": "char"},
        {"constraints": [*seen, *((label, None) for label in labels)]},
        {"class_weight": "balanced"},
        {"dropout": 0.1},
        {"shuffle": False},
    )
    for params in others:
        assert clone(base).set_params(**params).fit(X, y).resumed_from_ == 0, params
    assert clone(base).fit(X[::-1], y[::-1]).resumed_from_ == 0
    assert clone(base).fit(X, y, sample_weight=np.full(len(X), 2.0)).resumed_from_ == 0
    assert clone(base).set_params(verbose=1, n_jobs=2).fit(X, y).resumed_from_ == 3


TREES = (
    [[("the", "D"), ("dog", "N"), ("ran", "V")]] * 3,
    [[(2, "det"), (3, "subj"), (0, "root")]] * 3,
)


@pytest.mark.parametrize(
    "one, other, data",
    [
        ({"features": ["U:%x[0,0]"]}, {"features": ["U:%x[0,0]", "B"]}, None),
        ({"templates": ["s0.w"]}, {"templates": ["s0.t"]}, TREES),
    ],
)
def test_what_the_examples_do_not_show(
    tmp_path, monkeypatch, stop_after, one, other, data
):
    """Labels that follow each other, features that appear only in the search."""
    base = StructuredPerceptron if data is None else ShiftReduceParser
    data = corpus() if data is None else data
    stop_after(3)
    with pytest.raises(Stop):
        base(**one, random_state=0, checkpoint=tmp_path).fit(*data)
    monkeypatch.undo()
    assert (
        base(**other, random_state=0, checkpoint=tmp_path).fit(*data).resumed_from_ == 0
    )
    assert (
        base(**one, random_state=0, checkpoint=tmp_path).fit(*data).resumed_from_ == 3
    )


def test_without_a_seed_the_file_brings_it(tmp_path, monkeypatch, stop_after):
    X, y = corpus()
    stop_after(3)
    with pytest.raises(Stop):
        StructuredPerceptron(checkpoint=tmp_path).fit(X, y)
    monkeypatch.undo()
    resumed = StructuredPerceptron(checkpoint=str(tmp_path)).fit(X, y)
    assert resumed.resumed_from_ == 3


def test_an_interrupt_on_a_full_disk_keeps_the_model(tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "disk full")

    def pressed(run):
        monkeypatch.setattr(checkpoint, "write_container", full)
        raise KeyboardInterrupt

    after_each_report(monkeypatch, pressed)
    estimator = StructuredPerceptron(random_state=0, checkpoint=tmp_path)
    with pytest.raises(OSError, match="disk full"):
        estimator.fit(*corpus())
    assert estimator.n_iter_ == 1


def test_warm_start_has_its_own_file(tmp_path, monkeypatch, stop_after):
    X, y = corpus()
    first = StructuredPerceptron(random_state=0, max_iter=3, warm_start=True).fit(X, y)
    whole = clone(first).fit(X, y).fit(X, y)
    one = clone(first).set_params(checkpoint=tmp_path).fit(X, y)
    stop_after(2)
    with pytest.raises(Stop):
        one.fit(X, y)
    monkeypatch.undo()
    other = clone(first).set_params(checkpoint=tmp_path).fit(X, y)
    assert other.resumed_from_ == 0  # a fit from zero is another fit
    other.fit(X, y)
    assert other.resumed_from_ == 2
    assert bits(other) == bits(whole)


def test_damaged_file_is_an_error_and_changes_nothing(
    tmp_path, monkeypatch, stop_after
):
    X, y = corpus()
    estimator = StructuredPerceptron(random_state=0, checkpoint=tmp_path)
    stop_after(3)
    with pytest.raises(Stop):
        estimator.fit(X, y)
    monkeypatch.undo()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ModelFileError, match=file.name):
        estimator.fit(X, y)
    assert not hasattr(estimator, "classes_")
    assert file.exists()


def test_another_numpy_is_an_error_and_changes_nothing(
    tmp_path, monkeypatch, stop_after
):
    """Its random numbers may differ, and with them the orders of the epochs still to
    come.
    """
    X, y = corpus()
    estimator = StructuredPerceptron(random_state=0, checkpoint=tmp_path)
    with monkeypatch.context() as before:
        before.setattr(np, "__version__", "1.17.3")
        stop_after(3)
        with pytest.raises(Stop):
            estimator.fit(X, y)
    monkeypatch.undo()
    (file,) = tmp_path.iterdir()
    with pytest.raises(
        ModelFileError, match=rf"{file.name}.*numpy 1\.17\.3.*numpy {np.__version__}"
    ):
        estimator.fit(X, y)
    assert not hasattr(estimator, "classes_")
    assert file.exists()


def test_held_out_labels_count(tmp_path, monkeypatch, stop_after):
    """They do not show in the encoded corpus, but decide when to stop."""
    X, y = corpus()
    learner = StructuredPerceptron(
        random_state=0, early_stopping=True, n_iter_no_change=9
    )
    learner.set_params(checkpoint=tmp_path)
    stop_after(3)
    with pytest.raises(Stop):
        clone(learner).fit(X, y)
    monkeypatch.undo()
    resumed = []
    for i in range(len(X)):
        changed = list(y)
        changed[i] = y[i][::-1]
        if changed != y:
            resumed.append(clone(learner).fit(X, changed).resumed_from_)
    assert set(resumed) == {0}
    assert clone(learner).fit(np.array(X, dtype=object), y).resumed_from_ == 3


def test_partial_fit_writes_no_file(tmp_path):
    X, y = corpus()
    StructuredPerceptron(checkpoint=tmp_path).partial_fit(X, y)
    assert os.listdir(tmp_path) == []


def test_averager_goes_on_with_the_members_as_they_were(
    tmp_path, monkeypatch, stop_after
):
    X, y = corpus()
    averager = BaggingShuffleAverager(
        StructuredPerceptron(max_iter=4),
        n_estimators=3,
        random_state=0,
        keep_members=True,
    )
    whole = clone(averager).fit(X, y)
    stop_after(6)  # the first member is done, the second has two epochs
    with pytest.raises(Stop):
        clone(averager).set_params(checkpoint=tmp_path).fit(X, y)
    monkeypatch.undo()
    assert len(os.listdir(tmp_path)) == 2
    resumed = clone(averager).set_params(checkpoint=tmp_path, n_jobs=2).fit(X, y)
    assert [member.resumed_from_ for member in resumed.estimators_] == [4, 2, 0]
    assert os.listdir(tmp_path) == []
    assert (
        model_of(resumed).nodes.value.tobytes() == model_of(whole).nodes.value.tobytes()
    )
    assert (
        model_of(resumed).edges.value.tobytes() == model_of(whole).edges.value.tobytes()
    )


@pytest.mark.parametrize(
    "parameters, after",
    [
        ({}, 2),
        ({"c1": 0.1}, 20),
        ({"c1": 0.1, "all_pairs": False, "sgd_iter": 3}, 40),
        ({"solver": "owlqn", "c1": 0.1}, 25),
        ({"c1": 0.05, "c2": 0.01, "tol": None}, 30),
        ({"solver": "owlqn", "c1": 0.05, "c2": 0.05, "tol": None}, 25),
        ({"solver": "sgd", "sgd_iter": 6}, 4),
    ],
)
def test_crf_resumed_equals_uninterrupted(tmp_path, parameters, after):
    """A solver that is interrupted, and one that goes on from its file."""
    X, y = corpus()
    crf = L1CRF(**{"random_state": 0, "tol": 1e-6, "max_iter": 60, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = clone(crf).fit(X, y)
        with pytest.raises(KeyboardInterrupt):
            run = run_of(clone(crf).set_params(checkpoint=tmp_path), X, y)
            _interrupt_after(run, after, X, y)
        assert len(os.listdir(tmp_path)) == 1
        resumed = clone(crf).set_params(checkpoint=tmp_path).fit(X, y)
    assert 0 < resumed.resumed_from_ <= after
    assert os.listdir(tmp_path) == []
    assert (
        model_of(resumed).nodes.value.tobytes() == model_of(whole).nodes.value.tobytes()
    )
    assert (
        model_of(resumed).edges.value.tobytes() == model_of(whole).edges.value.tobytes()
    )
    assert resumed.objective_ == whole.objective_ and resumed.n_iter_ == whole.n_iter_
    assert [h["objective"] for h in resumed.history_] == [
        h["objective"] for h in whole.history_
    ]


def test_a_crf_whose_end_was_certified_ends_there_again(tmp_path, monkeypatch):
    """A process that is killed after the last state was written, before the file
    goes.
    """
    X, y = load_chunking()[:2]
    some = np.random.RandomState(7).permutation(len(X))[:25]
    X, y = [X[i] for i in some], [y[i] for i in some]
    crf = L1CRF(c1=0.05, c2=0.05, random_state=0, checkpoint=tmp_path)
    with monkeypatch.context() as killed:
        killed.setattr(checkpoint, "SMALL_BYTES", 2**40)
        killed.setattr(checkpoint.Checkpoint, "remove", lambda self: None)
        whole = clone(crf).fit(X, y)
    again = clone(crf).fit(X, y)
    assert again.resumed_from_ == len(whole.history_)
    assert again.objective_ == whole.objective_ and again.n_iter_ == whole.n_iter_


def _interrupt_after(run, n, X, y):
    """Train until so many entries of the history are there, then raise as Ctrl-C
    does.
    """
    seen = []

    def counting(record):
        seen.append(record)
        if len(seen) == n:
            raise KeyboardInterrupt

    before_each_pass(run, counting)
    run.train(X, y)


def test_through_a_segmenter(tmp_path, monkeypatch, stop_after):
    y = [["ab", "c", "abc"], ["c", "ab"], ["abc", "ab"], ["c"]]
    X = ["".join(words) for words in y]
    base = Segmenter(StructuredPerceptron(random_state=0, checkpoint=tmp_path))
    whole = clone(base).fit(X, y)
    stop_after(2)
    with pytest.raises(Stop):
        clone(base).fit(X, y)
    monkeypatch.undo()
    resumed = clone(base).fit(X, y)
    assert resumed.tagger_.resumed_from_ == 2
    assert bits(resumed.tagger_) == bits(whole.tagger_)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_kill_minus_nine(tmp_path):
    """A process killed in the middle of a fit; another one ends what it began."""
    code = textwrap.dedent(
        """
        import os, signal, sys
        import pytest
        from skstruct import StructuredPerceptron
        from skstruct.datasets import make_hmm_sequences

        sys.path.insert(0, sys.argv[2])
        from inside import after_each_report

        def killing(run):
            if run.done == 4:
                os.kill(os.getpid(), signal.SIGKILL)
        after_each_report(pytest.MonkeyPatch(), killing)
        X, y = make_hmm_sequences(30, random_state=0)
        StructuredPerceptron(random_state=0, checkpoint=sys.argv[1]).fit(X, y)
        """
    )
    tests = os.path.dirname(inside.__file__)
    done = subprocess.run([*python(), "-c", code, str(tmp_path), tests], check=False)
    assert done.returncode == -signal.SIGKILL
    X, y = corpus()
    resumed = StructuredPerceptron(random_state=0, checkpoint=tmp_path).fit(X, y)
    assert resumed.resumed_from_ == 3
    assert bits(resumed) == bits(StructuredPerceptron(random_state=0).fit(X, y))


def test_an_epoch_that_fails_in_the_middle_is_not_taken_for_a_state(
    tmp_path, monkeypatch
):
    """Even if the state before it was not written, since it came too early after
    another one.
    """
    X, y = corpus()
    whole = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
    tagger = StructuredPerceptron(max_iter=5, random_state=0, checkpoint=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "SMALL_BYTES", 0)
        patch.setattr(checkpoint, "MOST_TIME", 1e-9)
        patch.setattr(epochs, "CHUNK_TOKENS", 50)
        chunks, left = epochs.chunks, iter([None] * 2)

        def failing(*arguments):
            bounds = chunks(*arguments)
            return bounds if next(left, 1) is None else [*bounds[:2], "no number"]

        patch.setattr(epochs, "chunks", failing)
        with pytest.raises(TypeError):
            tagger.fit(X, y)
    tagger.fit(X, y)
    assert tagger.resumed_from_ == 1 and bits(tagger) == bits(whole)


KEPT = [
    name
    for name, (_, make) in {**CASES, **WITHOUT_LABELS}.items()
    if parameters_named(make(), "checkpoint") and "mixer" not in name
]
"""Mixers refuse what their learners would keep, and draw no sequences."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KEPT)
def test_a_fit_without_a_seed_finds_its_state(tmp_path, monkeypatch, stop_after, name):
    """What is drawn without ``random_state`` is drawn again by the next fit."""
    data, make = {**CASES, **WITHOUT_LABELS}[name]
    X, y = data(4)
    estimator = make()
    for parameter, value in (
        ("random_state", None),
        ("early_stopping", True),
        ("max_iter", 9),
        ("n_iter_no_change", 9),
        ("checkpoint", tmp_path),
    ):
        names = parameters_named(estimator, parameter)
        estimator.set_params(**dict.fromkeys(names, value))
    seen, found = [], []

    def stop(*_):
        seen.append(0)
        if len(seen) >= 2:
            raise Stop

    for _ in range(2):
        with monkeypatch.context() as patch:
            after_each_report(patch, stop)
            after_each_crf_pass(patch, stop)
            with pytest.raises(Stop):
                clone(estimator).fit(X * 4, y * 4)
        found.append(sorted(os.listdir(tmp_path)))
    assert found[0] and found[0] == found[1]
    clone(estimator).fit(X * 4, y * 4)
    assert not os.listdir(tmp_path)
