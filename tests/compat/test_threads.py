"""Threads share what programs keep globally: a tagger, a CRF, items, a trainer. None
sees another's sequence."""

import copy
import pickle
import sys
import threading

import pytest

from skstruct.compat import pycrfsuite, sklearn_crfsuite

N_THREADS, N_CALLS = 6, 60


def sequence(k):
    """The items and labels that thread k uses, of a length of its own."""
    return [[f"w{k}", f"t{t % 2}"] for t in range(3 + k)], [f"L{k}"] * (3 + k)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    trainer = pycrfsuite.Trainer(verbose=False)
    for k in range(N_THREADS):
        for _ in range(5):
            trainer.append(*sequence(k))
    path = str(tmp_path_factory.mktemp("threads") / "model")
    trainer.train(path)
    return path


def hammer(work, n_calls=N_CALLS):
    """Call ``work(k)`` in thread k, often, with switches at every few instructions;
    reraise what it raises."""
    wrong, barrier = [], threading.Barrier(N_THREADS)

    def run(k):
        try:
            barrier.wait()
            for _ in range(n_calls):
                work(k)
        except BaseException as error:
            wrong.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(k,)) for k in range(N_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if wrong:
        raise wrong[0]


def test_taggers(path):
    tagger, alone = pycrfsuite.Tagger(), pycrfsuite.Tagger()
    tagger.open(path)
    alone.open(path)
    expected = []
    for k in range(N_THREADS):
        x, y = sequence(k)
        alone.set(x)
        expected.append((alone.probability(y), alone.marginal(f"L{k}", 2 + k)))

    def work(k):
        x, y = sequence(k)
        assert tagger.tag(x) == y
        assert tagger.tag() == y  # of the sequence that this thread has tagged
        tagger.set(x)
        assert (tagger.probability(y), tagger.marginal(f"L{k}", 2 + k)) == expected[k]
        assert tagger.info().labels[f"L{k}"] == str(k)

    hammer(work)


def test_items(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    shared = [pycrfsuite.ItemSequence(sequence(k)[0]) for k in range(N_THREADS)]

    def work(k):
        for j in (k, (k + 1) % N_THREADS):
            assert tagger.tag(shared[j]) == sequence(j)[1]
            assert len(shared[j].items()) == len(shared[j]) == 3 + j

    hammer(work)


def test_estimators(path):
    crf = sklearn_crfsuite.CRF(
        model_filename=path
    )  # opened by whichever thread comes first

    def work(k):
        x, y = sequence(k)
        assert crf.predict_single(x) == y
        assert crf.predict([x, x]).tolist() == [y, y]
        (marginals,) = crf.predict_marginals([x])
        assert [max(each, key=each.get) for each in marginals] == y
        assert crf.classes_[k] == f"L{k}"

    hammer(work, 20)


def test_prediction_goes_on_while_a_model_is_trained_again():
    crf = sklearn_crfsuite.CRF(c1=0.1, max_iterations=5)
    X, Y = zip(*map(sequence, range(N_THREADS)))
    crf.fit(X, Y)

    def work(k):
        if k == 0:
            crf.fit(X, Y)
        x, y = sequence(k)
        assert (
            len(crf.predict_single(x)) == len(y) == len(crf.predict_marginals([x])[0])
        )

    hammer(work, 3)


def test_trainers(tmp_path):
    # Thread 0 shows its pair 15 times, if nothing is lost.
    params = {"max_iterations": 3, "feature.minfreq": 15}
    trainer = pycrfsuite.Trainer(params=params, verbose=False)

    def work(k):
        trainer.append(*sequence(k))

    hammer(work, 5)

    def train(k):
        path = str(tmp_path / f"model{k}")
        trainer.train(path)
        with pycrfsuite.Tagger().open(path) as tagger:
            assert len(tagger.labels()) == N_THREADS
            assert ("w0", "L0") in tagger.info().state_features

    hammer(train, 1)
    assert (
        len([event for event, *_ in trainer.logparser.events if event == "start"]) == 1
    )


def test_a_sequence_is_of_its_thread_and_its_model(path, tmp_path):
    tagger, found = pycrfsuite.Tagger(), []
    tagger.open(path)
    x, y = sequence(2)
    tagger.set(x)

    def other():
        found.append((tagger.tag(), tagger.probability([]), tagger.marginal("L2", 0)))
        tagger.tag(sequence(3)[0])

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [([], 0.0, 0.0)]  # as if nothing had been set
    assert tagger.tag() == y
    tagger.open(path)
    assert tagger.tag() == []
    tagger.tag(x)
    tagger.close()
    with pytest.raises(ValueError, match="not opened"):
        tagger.tag()


def test_no_argument_is_kept_in_an_attribute(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    tagger.tag(sequence(0)[0])
    before = dict(vars(tagger))
    tagger.tag(sequence(1)[0])
    tagger.tag_all([sequence(2)[0]])
    tagger.marginals_of_all([sequence(2)[0]])
    assert all(vars(tagger)[name] is value for name, value in before.items())
    assert vars(tagger).keys() == before.keys()


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
)
def test_copies_work(path, again):
    tagger, trainer = (
        pycrfsuite.Tagger(),
        pycrfsuite.Trainer("ap", {"epsilon": 0.5}, verbose=False),
    )
    tagger.open(path)
    trainer.append(*sequence(0))
    assert again(tagger).tag(sequence(4)[0]) == sequence(4)[1]
    other = again(trainer)
    other.train("")
    assert other.get("epsilon") == 0.5 and other.logparser.iterations
