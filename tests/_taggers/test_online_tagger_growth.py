"""Going on: ``warm_start`` and ``partial_fit``, with features and labels that grow."""

import pickle
import tracemalloc

import numpy as np
import pytest
from inside import model_of
from sklearn.base import clone

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._core import store as store_module
from skstruct._core.codes import PENALTIES
from skstruct.datasets import make_hmm_sequences
from skstruct.inspection import feature_weights, features_of, transition_weights

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B", "B01:%x[0,0]"]
AVERAGES = [
    (StructuredPerceptron, True), (StructuredPerceptron, False), (PassiveAggressiveTagger, "step"),
    (PassiveAggressiveTagger, "epoch"), (PassiveAggressiveTagger, None),
]  # fmt: skip


def corpus(n=40, seed=0, **options):
    options = {"n_labels": 4, "n_words": 60, "noise": 0.1, "max_length": 10, **options}
    return make_hmm_sequences(n, random_state=seed, **options)


def weights(tagger):
    return [model_of(tagger).nodes.value, model_of(tagger).edges.value]


def same_weights(a, b):
    return all(np.array_equal(x, y) for x, y in zip(weights(a), weights(b)))


def close_weights(a, b):
    return all(
        np.allclose(x, y, rtol=1e-9, atol=1e-12) for x, y in zip(weights(a), weights(b))
    )


@pytest.fixture(
    params=[StructuredPerceptron, PassiveAggressiveTagger], ids=["perceptron", "pa"]
)
def Tagger(request):
    return request.param


# -- warm start ------------------------------------------------------------------------
def check_warm_start(Tagger, average, penalty, **options):
    X, y = corpus()
    options = {
        "average": average,
        "penalty": penalty,
        "alpha": 1e-3,
        "random_state": 1,
        **options,
    }
    whole = Tagger(TEMPLATES, max_iter=10, **options).fit(X, y)
    halves = Tagger(TEMPLATES, max_iter=5, warm_start=True, **options).fit(X, y)
    first = halves.predict(X)
    again = pickle.loads(pickle.dumps(halves))
    assert halves.n_iter_ == len(halves.history_) == 5
    halves.fit(X, y)
    assert halves.n_iter_ == len(halves.history_) == 5  # of this call
    assert [record["epoch"] for record in halves.history_] == [6, 7, 8, 9, 10]
    assert again.predict(X) == first
    assert same_weights(again.fit(X, y), halves)
    assert [r["updates"] for r in halves.history_] == [
        r["updates"] for r in whole.history_[5:]
    ]
    assert same_weights(halves, whole)


@pytest.mark.parametrize("penalty", [None, "l2"])
@pytest.mark.parametrize("Tagger, average", AVERAGES)
def test_two_halves_equal_the_whole(Tagger, average, penalty):
    check_warm_start(Tagger, average, penalty)


@pytest.mark.parametrize("penalty", [None, "l2"])
def test_two_halves_equal_the_whole_with_noise(Tagger, penalty):
    average = {StructuredPerceptron: True, PassiveAggressiveTagger: "step"}[Tagger]
    check_warm_start(
        Tagger, average, penalty, dropout=0.1, feature_noise="zipf", edge_noise="same"
    )


@pytest.mark.parametrize("penalty", ["l1", "l1-cumulative"])
@pytest.mark.parametrize("Tagger, average", [a for a in AVERAGES if a[1] != "epoch"])
def test_two_halves_equal_the_whole_under_l1(Tagger, average, penalty):
    check_warm_start(Tagger, average, penalty)


@pytest.mark.parametrize("penalty", ["l1", "l1-cumulative"])
def test_two_halves_equal_the_whole_under_l1_for_averaged_epochs(penalty):
    check_warm_start(PassiveAggressiveTagger, "epoch", penalty)


@pytest.mark.parametrize("penalty", ["l1-cumulative"])
def test_looking_at_the_weights_does_not_change_them(penalty):
    X, y = corpus()
    tagger = PassiveAggressiveTagger(
        TEMPLATES, max_iter=8, penalty=penalty, alpha=1e-3, random_state=1
    )
    if not hasattr(tagger, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")

    class Looks:
        def setup(self, estimator, context):
            pass

        teardown = setup

        def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None, **_):
            pass

        on_fit_task_end = on_fit_task_begin

    alone = clone(tagger).fit(X, y)
    assert same_weights(tagger.set_callbacks(Looks()).fit(X, y), alone)


def test_without_warm_start_fit_begins_anew(Tagger):
    X, y = corpus()
    tagger = Tagger(TEMPLATES, random_state=0).fit(
        X[:20], [["Z"] * len(s) for s in X[:20]]
    )
    assert same_weights(tagger.fit(X, y), Tagger(TEMPLATES, random_state=0).fit(X, y))
    assert tagger.classes_.tolist() == ["L0", "L1", "L2", "L3"]


def test_warm_start_after_early_stopping_goes_on_from_the_best_epoch(Tagger):
    X, y = corpus(80, noise=0.3)
    tagger = Tagger(
        TEMPLATES, early_stopping=True, max_iter=30, warm_start=True, random_state=0
    )
    tagger.fit(X, y)
    best = max(record["validation_score"] for record in tagger.history_)
    assert tagger.n_iter_ < 30
    tagger.set_params(max_iter=1).fit(X, y)
    assert tagger.n_iter_ == 1 and tagger.history_[0]["validation_score"] > best - 0.2


def test_rule_may_change_between_calls(Tagger):
    X, y = corpus()
    tagger = Tagger(
        TEMPLATES, random_state=0, warm_start=True, max_iter=3, alpha=1e-4
    ).fit(X, y)
    for penalty in [*PENALTIES, *reversed(PENALTIES)]:
        tagger.set_params(penalty=penalty).fit(X, y)
        assert (
            tagger.score(X, y) > 0.8 and np.isfinite(tagger.decision_function(X)).all()
        )


# -- growth ----------------------------------------------------------------------------
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("Tagger, average", AVERAGES)
def test_labels_that_sort_anywhere(Tagger, average, penalty, sparse, monkeypatch):
    """Whether a new label sorts before, between or behind the others makes no
    difference.
    """
    if sparse:
        monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
        monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    X, y = corpus(48, n_labels=5)
    weight = np.random.RandomState(0).uniform(
        0.5, 1.5, len(X)
    )  # so that there are no ties
    y = [["L0" if v != f"L{max(1, i // 12 + 1)}" and int(v[1]) > i // 12 else v for v in s]
         for i, s in enumerate(y)]  # fmt: skip
    options = {"average": average, "penalty": penalty, "alpha": 1e-4, "random_state": 0}
    # Each call brings one label that is new.
    anywhere, behind = ({"L0": "M", "L1": "O", "L2": "A", "L3": "N", "L4": "Z"},
                        {"L0": "M", "L1": "O", "L2": "P", "L3": "Q", "L4": "R"})  # fmt: skip
    back = {anywhere[v]: behind[v] for v in anywhere}
    a, b = (Tagger([*TEMPLATES, "U"], **options) for _ in range(2))
    for k in range(0, 48, 12):
        for tagger, names in ((a, anywhere), (b, behind)):
            tagger.partial_fit(
                X[k : k + 12],
                [[names[v] for v in s] for s in y[k : k + 12]],
                sample_weight=weight[k : k + 12],
            )
        assert a.classes_.tolist() == sorted(
            anywhere[f"L{j}"] for j in range(k // 12 + 2)
        )
        assert sorted(back[v] for v in a.classes_) == b.classes_.tolist()
        assert a.history_[-1]["updates"] == b.history_[-1]["updates"]
        assert [[back[v] for v in s] for s in a.predict(X)] == b.predict(X)
        assert a.decision_function(X) == pytest.approx(
            b.decision_function(X), rel=1e-12
        )
    assert a.n_iter_ == 4


@pytest.mark.parametrize("penalty", PENALTIES)
def test_growing_labels_leaves_the_weights_of_the_old(penalty, Tagger):
    """Growth itself: nothing but zeros is added."""
    X, y = corpus()
    tagger = Tagger(TEMPLATES, penalty=penalty, alpha=1e-3, random_state=0).fit(X, y)
    before = (
        feature_weights(tagger),
        transition_weights(tagger),
        tagger.predict_kbest(X, 1),
    )
    tagger.partial_fit([["new"]], [["A"]], sample_weight=[1e-300])
    assert tagger.classes_.tolist() == ["A", "L0", "L1", "L2", "L3"]
    after = {(f, v): w for f, v, w in feature_weights(tagger) if v != "A"}
    penalised = {None: 0.0, "l2": 2e-3}.get(
        penalty, 3e-3
    )  # the one example is a step of the penalty
    for feature, label, weight in before[0]:
        assert after.pop((feature, label), 0.0) == pytest.approx(
            weight, rel=1e-9, abs=penalised * 10
        )
    assert all(abs(w) < 1e-6 for w in after.values())
    assert transition_weights(tagger)[1:, 1:] == pytest.approx(
        before[1], abs=penalised * 10
    )
    assert (
        not transition_weights(tagger)[0].any()
        and not transition_weights(tagger)[:, 0].any()
    )


@pytest.mark.parametrize("penalty", PENALTIES)
def test_partial_fit_equals_one_epoch_of_fit(Tagger, penalty):
    X, y = corpus()
    options = {"penalty": penalty, "alpha": 1e-3, "random_state": 0}
    once = Tagger(TEMPLATES, max_iter=1, **options).fit(X, y)
    stream = Tagger(TEMPLATES, max_iter=7, **options).partial_fit(X, y)
    assert same_weights(once, stream)
    twice = Tagger(TEMPLATES, max_iter=2, **options).fit(X, y)
    stream.partial_fit(X, y)
    assert stream.n_iter_ == 2 and [r["epoch"] for r in stream.history_] == [1, 2]
    assert (same_weights if penalty in (None, "l2") else close_weights)(twice, stream)


def test_partial_fit_learns_new_features(Tagger):
    X, y = corpus(200, n_words=400)
    tagger = Tagger(TEMPLATES, random_state=0)
    n_features, scores = [], []
    for k in range(0, 150, 30):
        tagger.partial_fit(X[k : k + 30], y[k : k + 30])
        n_features.append(tagger.n_features())
        scores.append(tagger.score(X[150:], y[150:]))
    assert n_features == sorted(set(n_features))
    assert scores[-1] > scores[0] + 0.05
    known = {name for token in features_of(tagger, X[0]) for name in token}
    assert "U00:" + X[0][0] in known


def test_partial_fit_of_bags_grows(Tagger):
    X, y = corpus()
    X = [[{"w": w, "t": t / 5, "last": [w[-1]]} for t, w in enumerate(s)] for s in X]
    tagger = Tagger(random_state=0).partial_fit(X[:10], y[:10])
    first = tagger.n_features()
    y = [["A" if v == "L2" else v for v in s] for s in y]
    for _ in range(6):
        tagger.partial_fit(X[10:], y[10:])
    assert tagger.n_features() > first and "A" in tagger.classes_
    assert tagger.score(X[10:], y[10:]) > 0.6


def test_partial_fit_after_fit_begins_a_new_average(Tagger):
    X, y = corpus(60)
    tagger = Tagger(TEMPLATES, max_iter=20, random_state=0).fit(X[:20], y[:20])
    rename = [[f"{v}x" for v in s] for s in y[20:]]
    for _ in range(5):
        tagger.partial_fit(X[20:], rename)
    assert tagger.score(X[20:], rename) > 0.8  # twenty epochs do not drown five
    assert tagger.n_iter_ == 25
    assert len(tagger.history_) == 25 and [r["epoch"] for r in tagger.history_] == list(
        range(1, 26)
    )


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_going_on_leaves_older_copies_alone(method):
    """History, weights and label arrays that the user has kept do not change later."""
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0, warm_start=True).fit(
        X[:20], y[:20]
    )
    kept = tagger.history_, tagger.classes_, model_of(tagger).nodes.value
    copies = list(kept[0]), kept[1].copy(), kept[2].copy()
    getattr(tagger, method)(X, [["A" if v == "L3" else v for v in s] for s in y])
    assert kept[0] == copies[0]
    assert kept[1].tolist() == copies[1].tolist() and np.array_equal(kept[2], copies[2])


# -- closed label sets -----------------------------------------------------------------
def test_classes_close_the_label_set(Tagger):
    X, y = corpus(20)
    tagger = Tagger(TEMPLATES, random_state=0)
    tagger.partial_fit(X, y, classes=["L3", "L2", "L1", "L0", "Z"])
    assert tagger.classes_.tolist() == ["L0", "L1", "L2", "L3", "Z"]
    for classes in (
        None,
        ["Z", "L0", "L1", "L2", "L3"],
        np.array(["L0", "L1", "L2", "L3", "Z"]),
    ):
        tagger.partial_fit(X, y, classes=classes)
    before = tagger.predict_kbest(X, 2)
    with pytest.raises(
        ValueError, match="y: sequence 1, position 0: unknown label.*got str 'new'"
    ):
        tagger.partial_fit(X[:2], [y[0], ["new", *y[1][1:]]])
    with pytest.raises(ValueError, match="differ from those of earlier calls"):
        tagger.partial_fit(X, y, classes=["L0", "L1", "L2", "L3"])
    assert tagger.predict_kbest(X, 2) == before
    tagger.set_params(warm_start=True)
    with pytest.raises(ValueError, match="unknown label"):
        tagger.fit([["a"]], [["new"]])
    tagger.set_params(warm_start=False).fit([["a"]], [["new"]])  # a new beginning
    assert tagger.classes_.tolist() == ["new"]


def test_labels_of_another_type_cannot_join(Tagger):
    X, y = corpus(10)
    tagger = Tagger(TEMPLATES, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match="sequence 0, position 1: expected a label of type str"
    ):
        tagger.partial_fit([["a", "b"]], [["L0", 3]])
    with pytest.raises(
        ValueError, match="sequence 0, position 0: expected a label of type str"
    ):
        tagger.partial_fit([["a", "b"]], [[1, 3]])


# -- the count cut-off -----------------------------------------------------------------
def test_min_count_counts_over_calls(Tagger):
    X = [["a", "b"], ["a", "c"], ["b", "d"]]
    y = [["A", "B"], ["A", "B"], ["B", "A"]]
    tagger = Tagger(["U00:%x[0,0]", "B"], min_count=2, random_state=0)
    known = []
    for k in range(3):
        tagger.partial_fit(X[k : k + 1], y[k : k + 1])
        known.append({w for w in "abcd" if features_of(tagger, [w])[0]})
    assert known == [set(), {"a"}, {"a", "b"}]
    whole = Tagger(["U00:%x[0,0]", "B"], min_count=2).fit(X, y)
    assert {w for w in "abcd" if features_of(whole, [w])[0]} == {"a", "b"}
    assert whole.n_features() == tagger.n_features() == 2
    bags = Tagger(min_count=2)
    for k in range(3):
        bags.partial_fit([[{"w": w} for w in X[k]]], y[k : k + 1])
    assert {w for w in "abcd" if features_of(bags, [{"w": w}])[0]} == {"a", "b"}
    assert bags.n_features() == 2


def test_min_count_leaves_rare_features_out():
    X, y = corpus(100, n_words=300)
    sizes = []
    for min_count in (1, 2, 5, 10_000):
        tagger = StructuredPerceptron(
            TEMPLATES, min_count=min_count, random_state=0
        ).fit(X, y)
        sizes.append(tagger.n_features())
        assert all(len(a) == len(b) for a, b in zip(tagger.predict(X), X))
    assert sizes == sorted(set(sizes), reverse=True) and sizes[-1] == 0


@pytest.mark.parametrize("min_count", [1, 2])
def test_growth_in_many_steps_knows_the_features_of_one(min_count):
    X, y = corpus()
    lines = [
        *TEMPLATES,
        "U03:%x[1,0]",
        "U04:%x[-2,0]/%x[1,0]",
        "U05:%suffix1[0,0]",
        "U06",
    ]
    whole = StructuredPerceptron(lines, min_count=min_count).fit(X, y)
    steps = StructuredPerceptron(lines, min_count=min_count)
    for k in range(0, 40, 4):
        steps.partial_fit(X[k : k + 4], y[k : k + 4])
    assert whole.n_features() == steps.n_features()
    for sequence in X:
        ours, theirs = features_of(steps, sequence), features_of(whole, sequence)
        assert [sorted(token) for token in ours] == [sorted(token) for token in theirs]


# -- growing out of full rows ----------------------------------------------------------
def batches(n_labels, n_words=0):
    """Four batches; each brings words and labels that the ones before lack."""
    labels = [f"L{k:03d}" for k in range(n_labels)]
    generator = np.random.default_rng(0)
    for b in range(1, 5):
        known = labels[: n_labels * (b + 2) // 6]
        words = n_words * b // 4 or 15 * b
        lengths = np.append(
            generator.integers(1, 9, 12), max(words - 50, 1) if n_words else 1
        )
        X = [[f"w{k}" for k in generator.integers(0, words, n)] for n in lengths]
        X[-1][:] = [f"w{words - 1 - k}" for k in range(len(X[-1]))]
        yield X, [[str(g) for g in generator.choice(known, len(x))] for x in X]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("Tagger, average", AVERAGES)
@pytest.mark.parametrize(
    "penalty, alpha", [(None, 0.0), ("l1", 0.01), ("l1-cumulative", 0.01), ("l2", 0.5)]
)
def test_full_rows_become_sparse_without_a_trace(
    Tagger, average, penalty, alpha, order, monkeypatch
):
    monkeypatch.setattr(store_module, "FEW_LABELS", 2)
    options = {
        "average": average,
        "penalty": penalty,
        "alpha": alpha,
        "order": order,
        "random_state": 0,
    }

    def run(most_dense):
        monkeypatch.setattr(store_module, "DENSE_WEIGHTS", most_dense)
        tagger, seen = Tagger(TEMPLATES, **options), []
        for X, y in batches(12):
            tagger.partial_fit(X, y)
            seen.append((tagger.predict(X), tagger.decision_function(X).tolist()))
            layouts.append(model_of(tagger).nodes.sparse)
        return seen, tagger.set_params(max_iter=2, warm_start=True).fit(X, y).predict(X)

    layouts = []
    dense = run(10**9)
    assert not any(layouts)
    layouts.clear()
    assert run(1000) == dense
    assert not layouts[0] and layouts[-1]


def held_after(train):
    """Bytes that a tagger holds after training."""
    tracemalloc.start()
    try:
        tagger = train()
        return tracemalloc.get_traced_memory()[0], tagger
    finally:
        tracemalloc.stop()


def test_a_stream_needs_no_more_memory_than_a_fit(monkeypatch):
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 2**17)
    stream = list(batches(130, n_words=6000))
    X, y = ([sequence for part in parts for sequence in part] for parts in zip(*stream))

    def streamed():
        tagger = StructuredPerceptron(["U:%x[0,0]", "B"], random_state=0)
        for part in stream:
            tagger.partial_fit(*part)
        return tagger

    StructuredPerceptron(["U:%x[0,0]", "B"], max_iter=1).fit(X, y)  # compiled
    once, _ = held_after(
        lambda: StructuredPerceptron(["U:%x[0,0]", "B"], max_iter=1).fit(X, y)
    )
    assert held_after(streamed)[0] < 2 * once
