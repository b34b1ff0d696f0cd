"""Parameter mixing as an estimator: over every learner, equal to its parts where it
must be; good errors.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from mixer_cases import LEARNERS, NOISY, TEXTS, TREES, WORDS, X, Y, assert_same, stores
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
)
from skstruct._core import store as store_module
from skstruct._shards import shards
from skstruct._training import chunks, judged
from skstruct.datasets import load_segmentation


def seeded(estimator, seed):
    estimator = clone(estimator)
    inner = estimator.tagger if isinstance(estimator, Segmenter) else estimator
    inner.set_params(random_state=seed)
    return estimator


def dealt(X, y, n):
    return [lambda s=s: (X[s::n], y[s::n]) for s in range(n)]


@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_one_shard_is_the_estimator(estimator, X, y):
    """To the bit, whoever loads the data."""
    alone = seeded(estimator, 3).fit(X, y)
    mixer = ParameterMixer(estimator, n_shards=1, random_state=3).fit(X, y)
    assert_same(alone, mixer.estimator_)
    assert_same(
        alone,
        ParameterMixer(estimator, random_state=3)
        .fit_shards([lambda: (X, y)])
        .estimator_,
    )
    assert mixer.predict(X) == alone.predict(X)


@pytest.mark.parametrize("strategy", ["once", "iterative"])
@pytest.mark.parametrize(
    "options",
    [
        {**NOISY},
        {"penalty": "l1-cumulative", "alpha": 2**-8},
        {"average": False, "shuffle": False},
    ],
)
def test_one_shard_under_noise_and_penalties(options, strategy):
    base = StructuredPerceptron(max_iter=3, **options)
    alone = seeded(base, 5).fit(X, Y)
    mixer = ParameterMixer(base, n_shards=1, strategy=strategy, random_state=5)
    assert_same(alone, mixer.fit(X, Y).estimator_)
    generators = (
        np.random.RandomState(7),
        np.random.RandomState(7),
    )  # they move on alike
    alone = base.set_params(random_state=generators[0]).fit(X, Y)
    assert_same(
        alone, mixer.set_params(random_state=generators[1]).fit(X, Y).estimator_
    )
    assert generators[0].randint(1000) == generators[1].randint(1000)


@pytest.mark.parametrize("mixing", ["uniform", "errors", "nonzero"])
@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_shards_that_load_themselves_are_shards_of_fit(estimator, X, y, mixing):
    """The rows of features differ, the weights of features do not."""
    together = ParameterMixer(estimator, n_shards=3, mixing=mixing, random_state=1).fit(
        X, y
    )
    apart = ParameterMixer(
        estimator, mixing=mixing, random_state=1, n_jobs=2
    ).fit_shards(dealt(X, y, 3))
    assert together.predict(X) == apart.predict(X)
    for a, b in zip(
        stores(together.estimator_).values(), stores(apart.estimator_).values()
    ):
        np.testing.assert_array_equal(np.sort(a[a != 0]), np.sort(b[b != 0]))
    for name in ("updates", "loss", "mixture"):
        assert [h[name] for h in together.history_] == [h[name] for h in apart.history_]


@pytest.mark.parametrize("estimator, X, y", LEARNERS[:1] + LEARNERS[6:7])
def test_threads_change_nothing(estimator, X, y):
    inner = clone(estimator).set_params(**NOISY)
    one, many = (
        ParameterMixer(inner, n_shards=4, random_state=1, n_jobs=jobs).fit(X, y)
        for jobs in (1, 3)
    )
    assert_same(one.estimator_, many.estimator_)
    other = ParameterMixer(inner, n_shards=4, random_state=2).fit(X, y)
    assert other.history_ != one.history_


@pytest.mark.parametrize("penalty, alpha", [("l2", 1e-3), ("l1-cumulative", 0.02)])
def test_sparse_rows_change_nothing(penalty, alpha, monkeypatch):
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)

    def weights(most_dense):
        monkeypatch.setattr(store_module, "DENSE_WEIGHTS", most_dense)
        base = StructuredPerceptron(max_iter=4, penalty=penalty, alpha=alpha)
        mixer = ParameterMixer(base, n_shards=3, random_state=0)
        return [
            mixer.fit(X, Y).decision_function(X),
            mixer.fit_shards(dealt(X, Y, 3)).decision_function(X),
        ]

    np.testing.assert_array_equal(weights(0), weights(2**24))


@pytest.mark.parametrize(
    "estimator, X, y", [LEARNERS[0], LEARNERS[5], LEARNERS[6], LEARNERS[8]]
)
def test_a_mixture_can_do_what_its_estimator_can(estimator, X, y, tmp_path):
    mixer = ParameterMixer(estimator, random_state=0).fit(X, y)
    assert mixer.n_iter_ == len(mixer.history_) == 4 - (estimator is not LEARNERS[0][0])
    assert mixer.score(X, y) == mixer.estimator_.score(X, y) > 0.3
    for name in ("decision_function", "predict_kbest", "adapt"):
        assert hasattr(mixer, name) == hasattr(mixer.estimator_, name)
    mixer.save(tmp_path / "mixture")
    for copy in (
        skstruct.load(tmp_path / "mixture"),
        pickle.loads(pickle.dumps(mixer)),
    ):
        assert type(copy) is ParameterMixer
        assert copy.predict(X) == mixer.predict(X)
        assert copy.history_ == mixer.history_
    record = mixer.history_[0]
    assert record["bytes_sent"] >= 0 < record["bytes_received"]
    assert set(record) == {
        "round", "updates", "sequence_error", "token_error", "loss", "mixture", "bytes_sent",
        "bytes_received", "seconds",
    }  # fmt: skip


def set_all(estimator, name, value):
    """A clone with a parameter, and those of the estimators within, of this name."""
    names = [each for each in estimator.get_params() if each.split("__")[-1] == name]
    return clone(estimator).set_params(**dict.fromkeys(names, value))


@pytest.mark.parametrize("estimator, X, y", LEARNERS)
@pytest.mark.parametrize("kind", [BaggingShuffleAverager, ParameterMixer])
@pytest.mark.parametrize("method", ["partial_fit", "fit"])
def test_what_became_one_model_goes_on_learning(
    kind, estimator, X, y, method, tmp_path
):
    """One of one is the estimator itself: it learns what that does from a file without
    training.
    """
    if kind is BaggingShuffleAverager and isinstance(estimator, Segmenter):
        pytest.skip("is put around the averager")
    estimator = set_all(estimator, "random_state", 0)
    estimator = set_all(estimator, "shuffle", False)  # members draw their own orders
    clone(estimator).fit(X, y).save(tmp_path / "alone", training=False)
    found = kind(estimator, 1, random_state=0).fit(X, y)
    found.save(tmp_path / "found")
    alone, again = (
        skstruct.load(tmp_path / "alone"),
        skstruct.load(tmp_path / "found").estimator_,
    )
    for one in alone, again, found.estimator_, found.compress().estimator_:
        if hasattr(one, "warm_start"):
            one.set_params(warm_start=True)
        getattr(one, method)(X[:9], y[:9])
    for one in again, found.estimator_:
        if isinstance(
            estimator, ShiftReduceParser
        ):  # an average has no rows without weights
            np.testing.assert_allclose(
                one.decision_function(X), alone.decision_function(X)
            )
        else:
            assert_same(one, alone)


def test_a_segmenter_around_a_mixer(monkeypatch):
    segmenter = Segmenter(
        ParameterMixer(StructuredPerceptron("char", max_iter=3), random_state=0)
    )
    inside = ParameterMixer(
        Segmenter(StructuredPerceptron("char", max_iter=3)), random_state=0
    )
    assert segmenter.fit(TEXTS, WORDS).predict(TEXTS) == inside.fit(
        TEXTS, WORDS
    ).predict(TEXTS)
    assert inside.predict(TEXTS, dictionary=["大学图书馆"]) is not None
    pools = []
    monkeypatch.setattr(
        chunks, "ThreadPoolExecutor", lambda n: pools.append(n) or ThreadPoolExecutor(n)
    )
    inside.set_params(n_jobs=2).predict(TEXTS)
    assert pools == [2]


def test_weights_of_sequences():
    base = StructuredPerceptron(max_iter=3)
    weight = [0.0, 2.0, 0.5] * 4 + [1.0, 0.0]
    mixer = ParameterMixer(base, n_shards=2, random_state=0)
    mixed = mixer.fit(X, Y, sample_weight=weight).predict(X)
    kept = [i for i, w in enumerate(weight) if w]
    shards = [
        lambda mine=kept[s::2]: (
            [X[i] for i in mine],
            [Y[i] for i in mine],
            [weight[i] for i in mine],
        )
        for s in range(2)
    ]
    assert mixer.fit_shards(shards).predict(X) == mixed
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ParameterMixer(
            base.set_fit_request(sample_weight=True)
        ).set_fit_request(sample_weight=True)
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
        (
            [lambda: (X, Y), lambda: X],
            r"shard 1: its callable must return \(X, y\), got list",
        ),
        (
            [lambda: (X, Y), lambda: (X, Y, None, 1)],
            r"shard 1: its callable must return \(X, y\)",
        ),
        (
            [lambda: (X, Y), lambda: 1 / 0],
            "shard 1: its callable raised ZeroDivisionError",
        ),
        ([lambda: ([], [])] * 2, "shard 0: X is empty"),
        (
            [lambda: (X, Y, np.zeros(len(X)))],
            "shard 0: sample_weight must not be zero for all",
        ),
        (
            [lambda: (X, Y), lambda: (X, Y[1:])],
            "shard 1: X and y must hold the same number",
        ),
        (
            [lambda: (X, Y), lambda: ([["a"]], [[1]])],
            "labels of shard 1 are of type int",
        ),
        (
            [lambda: ([], []), lambda: (X, Y), lambda: ([["a"]], [[1]])],
            "labels of shard 2 .* of shard 1 str",
        ),
        (
            [lambda: (X, Y), lambda: ([[("a", "b")]], [["X"]])],
            "shard 1: its tokens are not of the kind",
        ),
        ([lambda: ([["a"]], [[None]])] * 2, "y holds no label"),
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
    with pytest.raises(
        ValueError, match="KBestReranker cannot learn from shards that are loaded apart"
    ):
        mixer.fit_shards([lambda: (texts, words), lambda: (texts, words)])


@pytest.mark.parametrize(
    "estimator, message",
    [
        (
            L1CRF(),
            "L1CRF cannot be used by ParameterMixer: L1CRF does not learn example by example",
        ),
        (
            Segmenter(L1CRF()),
            "Segmenter cannot be used by ParameterMixer: L1CRF does not learn",
        ),
        (
            StructuredPerceptron(early_stopping=True),
            "early_stopping=True of StructuredPerceptron",
        ),
        (StructuredPerceptron(checkpoint="folder"), "checkpoint='folder'"),
        (ParameterMixer(), "ParameterMixer cannot be used by ParameterMixer"),
        (
            StructuredPerceptron,
            "must be an instance implementing .* Got <class .*StructuredPerceptron",
        ),
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
    with pytest.raises(
        ValueError,
        match="FrozenEstimator cannot be used by ParameterMixer: a frozen",
    ):
        ParameterMixer(FrozenEstimator(tagger)).fit(X, Y)
    with pytest.raises(
        ValueError,
        match="FrozenEstimator cannot be used by ParameterMixer: a frozen",
    ):
        ParameterMixer(FrozenEstimator(tagger)).fit_shards([lambda: (X, Y)])
    assert pickle.dumps(tagger) == before


def test_an_interrupt_keeps_the_rounds_completed(monkeypatch):
    rounds = []

    class Pressed(judged.DeferredInterrupt):
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
    expected = ParameterMixer(StructuredPerceptron(max_iter=2), random_state=0).fit(
        X, Y
    )
    rounds.clear()
    monkeypatch.setattr(judged, "DeferredInterrupt", Pressed)
    mixer = ParameterMixer(StructuredPerceptron(max_iter=9), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        mixer.fit(X, Y)
    assert mixer.n_iter_ == 2
    assert_same(mixer.estimator_, expected.estimator_)


# -- shards that have little or nothing ------------------------------------------------
EMPTY = {
    "no sequences": lambda X, y: ([], []),
    "weights of 0": lambda X, y: (X, y, np.zeros(len(X))),
}


@pytest.mark.parametrize("nothing, mixing", [*zip(EMPTY, ["uniform", "nonzero"])])
@pytest.mark.parametrize("estimator, X, y", LEARNERS)
def test_a_shard_without_anything_to_learn_from_takes_no_part(
    estimator, X, y, nothing, mixing
):
    X, y = list(X), list(y)
    full = [lambda: (X[::2], y[::2]), lambda: (X[1::2], y[1::2])]
    mixer = ParameterMixer(estimator, random_state=0, mixing=mixing)
    whole = clone(mixer).fit_shards(full)
    found = clone(mixer).fit_shards([*full, lambda: EMPTY[nothing](X, y)])
    assert_same(whole.estimator_, found.estimator_)
    assert [record["mixture"][:2] for record in found.history_] == [
        r["mixture"] for r in whole.history_
    ]
    assert all(record["mixture"][2] == 0.0 for record in found.history_)


def test_a_shard_without_labels_learns_from_those_of_others():
    unknown = [[None] * len(labels) for labels in Y[:5]]
    mixer = ParameterMixer(StructuredPerceptron(max_iter=3), random_state=0)
    shards = [lambda: (X[:5], unknown), lambda: (X[5:], Y[5:])]
    for each in shards, shards[::-1]:
        found = clone(mixer).fit_shards(each)
        assert set(found.classes_) == {label for labels in Y[5:] for label in labels}
        assert found.history_[0]["mixture"] == [0.5, 0.5]
    trees = [[(head, None) for head, _ in tree] for tree in TREES[1]]
    parser = ParameterMixer(ShiftReduceParser(max_iter=3), random_state=0)
    assert (
        parser.fit_shards([lambda: (TREES[0], trees), lambda: TREES]).predict(TREES[0])
        == TREES[1]
    )


def test_labels_that_only_another_shard_has_are_allowed_where_labels_lack():
    mixer = ParameterMixer(
        StructuredPerceptron(constraints=[("A", "B"), ("B", "A")]), random_state=0
    )

    def first():
        return [["a", "b", "a"]], [["A", None, "A"]]

    found = mixer.fit_shards([first, lambda: ([["b", "a"]], [["B", "A"]])])
    assert found.predict([["a", "b", "a"]]) == [["A", "B", "A"]]
    with pytest.raises(
        ValueError, match="shard 0: y: sequence 0: no labelling with the given labels"
    ):
        mixer.fit_shards([first, lambda: ([["a"]], [["A"]])])


class Unpicklable:
    """As a client of Dask: alive, and neither copied nor written."""

    def __reduce__(self):
        raise TypeError("cannot pickle '_asyncio.Task' object")


@pytest.mark.parametrize("call", ["fit", "fit_shards", "clone", "inside"])
def test_a_client_is_refused_with_what_to_write(call):
    mixer = ParameterMixer(StructuredPerceptron(max_iter=1), client=Unpicklable())
    with pytest.raises(ValueError, match=r"client='auto'.*client\.scheduler\.address"):
        if call == "fit":
            mixer.fit(X, Y)
        elif call == "fit_shards":
            mixer.fit_shards(dealt(X, Y, 2))
        elif call == "clone":
            clone(mixer)
        else:
            Segmenter(mixer).fit(["abc"], [["ab", "c"]])
