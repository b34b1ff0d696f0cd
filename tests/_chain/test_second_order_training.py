"""Taggers of the second order: weights after training against the naive trainer, and
growth.
"""

from dataclasses import replace

import numpy as np
import pytest
import training_cases as first_order
import weights_view
from inside import model_of, put_model, training_of
from training_cases import EPOCHS, PENALTIES, compare, corpus, orders_of

import oracle_training
import oracles
from skstruct import (
    BaggingShuffleAverager,
    PassiveAggressiveTagger,
    StructuredPerceptron,
    load,
)
from skstruct._chain.state import final_model, grow_state
from skstruct._core import store as store_module
from skstruct._core.final_weights import Average
from skstruct._core.noise import make_noise
from skstruct.inspection import explain, transition_weights

EDGES = ["U0:%x[0,0]", "B", "B1:%x[0,0]"]
LEARNERS = [StructuredPerceptron, PassiveAggressiveTagger]


def features_of(X, lines, min_count=1):
    return [replace(f, order=2) for f in first_order.features_of(X, lines, min_count)]


def train_both(cls, X, y, lines, weight=None, seed=0, oracle=None, **options):
    """The estimator's weights and the oracle's, or None where rounding decides a
    tie.
    """
    estimator = cls(
        "auto" if lines is None else lines,
        order=2,
        max_iter=EPOCHS,
        random_state=seed,
        **options,
    ).fit(X, y, sample_weight=weight)
    oracle = dict(oracle or {})
    if cls is PassiveAggressiveTagger:
        oracle.update(variant=estimator.variant, C=estimator.C)
    trained = oracle_training.train(
        list(zip(features_of(X, lines, estimator.min_count), y)),
        model_of(estimator).labels.values,
        orders_of(estimator, len(X)),
        sample_weight=weight,
        **oracle,
    )
    return (
        None
        if trained.ambiguous
        else (weights_view.weights_of(estimator, X), trained.weights)
    )


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("penalty, alpha", PENALTIES)
@pytest.mark.parametrize("kind, lines", [("str", EDGES), ("dict", None)])
def test_perceptron(kind, lines, penalty, alpha, average):
    def attempt(seed):
        X, y = corpus(seed, kind)
        return train_both(
            StructuredPerceptron, X, y, lines, seed=seed, average=average, penalty=penalty, alpha=alpha,
            oracle={"penalty": penalty, "alpha": alpha, "average": "step" if average else None},
        )  # fmt: skip

    compare(map(attempt, range(8)))


@pytest.mark.parametrize("average", ["step", "epoch"])
@pytest.mark.parametrize("penalty, alpha", PENALTIES)
def test_passive_aggressive(penalty, alpha, average):
    def attempt(seed):
        X, y = corpus(seed, "dict")
        return train_both(
            PassiveAggressiveTagger, X, y, None, seed=seed, C=0.2, average=average, penalty=penalty,
            alpha=alpha, oracle={"penalty": penalty, "alpha": alpha, "average": average},
        )  # fmt: skip

    compare(map(attempt, range(8)))


@pytest.mark.parametrize("cls", LEARNERS)
@pytest.mark.parametrize("class_weight", [None, {"X": 0.5, "Y": 2.0}])
def test_costs_weights_and_unlabelled_tokens(cls, class_weight):
    def attempt(seed):
        X, y = corpus(seed, "dict", n=7, missing=0.4)
        weight = [1.0, 0.5, 2.0, 2.0, 0.25, 1.0, 3.0]
        return train_both(
            cls,
            X,
            y,
            None,
            weight,
            seed,
            class_weight=class_weight,
            oracle={"costs": class_weight},
        )

    compare(map(attempt, range(12)), enough=2)


def test_hamming_cost():
    def attempt(seed):
        X, y = corpus(seed, "dict")
        oracle = {"margin": "hamming"}
        return train_both(
            PassiveAggressiveTagger,
            X,
            y,
            None,
            seed=seed,
            cost="hamming",
            oracle=oracle,
        )

    compare(map(attempt, range(8)), enough=2)


@pytest.mark.parametrize("cls", LEARNERS)
def test_constraints_in_training(cls):
    pairs = frozenset(p for p in first_order.PAIRS if p[0] is not None)
    constraints = oracles.Constraints(frozenset("XZ"), pairs)

    def attempt(seed):
        X, y = first_order.legal_corpus(seed, "dict")
        return train_both(
            cls,
            X,
            y,
            None,
            seed=seed,
            constraints=first_order.PAIRS,
            oracle={"constraints": constraints},
        )

    compare(map(attempt, range(8)), enough=2)


def test_min_count():
    def attempt(seed):
        X, y = corpus(seed)
        return train_both(
            StructuredPerceptron, X, y, ["U0:%x[0,0]", "B"], seed=seed, min_count=3
        )

    compare(map(attempt, range(3)), enough=2)


NOISE = [
    {"feature_noise": "zipf", "zipf_exponent": 1.5, "edge_noise": "same"},
    {"edge_noise": "dropout", "noise_rate": 0.5},
    {
        "dropout": 0.2,
        "feature_noise": "dropout",
        "edge_noise": "same",
        "noise_rate": 0.2,
    },
]


@pytest.mark.parametrize(
    "noise", NOISE, ids=[" ".join(map(str, n.values())) for n in NOISE]
)
@pytest.mark.parametrize("cls", LEARNERS)
def test_training_under_noise_can_be_replayed(noise, cls):
    def attempt(seed):
        X, y = corpus(seed)
        estimator = cls(
            EDGES, order=2, max_iter=EPOCHS, random_state=seed, **noise
        ).fit(X, y)
        names = {"noise_rate": "rate", "zipf_exponent": "exponent"}
        drawn = make_noise(
            training_of(estimator).key, **{names.get(k, k): v for k, v in noise.items()}
        )
        labels = model_of(estimator).labels.values
        corrupt = weights_view.Corruption(
            model_of(estimator).encoder, X, labels, drawn, EDGES
        )
        trained = oracle_training.train(
            list(zip(features_of(X, EDGES), y)), labels, orders_of(estimator, len(X)), corrupt=corrupt,
            variant=getattr(estimator, "variant", "perceptron"),
        )  # fmt: skip
        return (
            None
            if trained.ambiguous
            else (weights_view.weights_of(estimator, X), trained.weights)
        )

    compare(map(attempt, range(40)))


@pytest.mark.parametrize("penalty, alpha", PENALTIES)
def test_sparse_storage_changes_nothing(monkeypatch, penalty, alpha):
    def fitted():
        X, y = corpus(0, "dict", n=12)
        tagger = StructuredPerceptron(
            order=2, max_iter=EPOCHS, random_state=0, penalty=penalty, alpha=alpha
        ).fit(X, y)
        return tagger, weights_view.weights_of(tagger, X)

    dense, expected = fitted()
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    sparse, found = fitted()
    assert model_of(sparse).trigrams.sparse and not model_of(dense).trigrams.sparse
    weights_view.assert_same_weights(found, expected)


# ------------------------------------------------------------ the rest of the estimator


def test_labels_that_come_late_leave_the_others_alone():
    """A stream whose label set grows in the middle ends like one that knew all labels
    at the start.
    """
    X, y = corpus(1, n=8, labels="MXZ")
    X2, y2 = corpus(2, n=8, labels="AMNXZ")
    labels = sorted({g for s in y + y2 for g in s})
    streams = []
    for classes in (labels, None):
        tagger = PassiveAggressiveTagger(EDGES, order=2, random_state=0)
        # Alone in its sequence a label keeps the set small at first.
        tagger.partial_fit(X, y, classes=classes)
        tagger.partial_fit(X2, y2)
        streams.append(tagger)
    whole, grown = streams
    known = [i for i, s in enumerate(y) if set(s) <= {"M", "X", "Z"}]
    assert len(known) == len(y) and grown.classes_.tolist() == labels
    assert model_of(grown).trigrams.value.shape == model_of(whole).trigrams.value.shape
    before = PassiveAggressiveTagger(EDGES, order=2, random_state=0).partial_fit(X, y)
    found = weights_view.weights_of(before, X)
    state = grow_state(
        training_of(before), model_of(before).labels, model_of(before).encoder, model_of(whole).labels,
        training_of(before).rule, model_of(whole).constraints, np.zeros(len(labels)), True,
    )  # fmt: skip
    final = final_model(
        state.model,
        state.rule,
        model_of(before).encoder,
        model_of(whole).labels,
        model_of(whole).constraints,
    )
    put_model(before, final)
    weights_view.assert_same_weights(weights_view.weights_of(before, X), found)


def test_warm_start_goes_on_and_keeps_the_order():
    X, y = corpus(3, n=8)
    once = StructuredPerceptron(EDGES, order=2, max_iter=6, random_state=0).fit(X, y)
    twice = (
        StructuredPerceptron(
            EDGES, order=2, max_iter=3, random_state=0, warm_start=True
        )
        .fit(X, y)
        .fit(X, y)
    )
    np.testing.assert_array_equal(
        model_of(once).trigrams.value, model_of(twice).trigrams.value
    )
    with pytest.raises(
        ValueError, match="order=1 differs from that of the training so far, 2"
    ):
        twice.set_params(order=1).fit(X, y)


@pytest.mark.parametrize("training", [True, False])
def test_saved_and_loaded(tmp_path, training):
    X, y = corpus(4, n=8)
    tagger = PassiveAggressiveTagger(EDGES, order=2, random_state=0).fit(X, y)
    tagger.save(tmp_path / "model", training=training)
    loaded = load(tmp_path / "model")
    assert loaded.predict_kbest(X, 3) == tagger.predict_kbest(X, 3)
    np.testing.assert_array_equal(
        model_of(loaded).trigrams.value, model_of(tagger).trigrams.value
    )
    assert loaded.partial_fit(X, y).predict(X) == tagger.partial_fit(X, y).predict(X)


def test_averager_averages_trigrams():
    X, y = corpus(5, n=10)
    base = StructuredPerceptron(EDGES, order=2, max_iter=3)
    averager = BaggingShuffleAverager(
        base, n_estimators=3, keep_members=True, random_state=0
    ).fit(X, y)
    average = Average(nonzero=True)
    for member in averager.estimators_:
        average.add(model_of(member).trigrams)
    np.testing.assert_array_equal(
        model_of(averager).trigrams.value, average.store().value
    )
    assert averager.predict(X) == averager.estimator_.predict(X)


def test_early_stopping_and_checkpoints(tmp_path):
    X, y = corpus(6, n=12)
    plain = StructuredPerceptron(
        EDGES, order=2, random_state=0, early_stopping=True, tol=0.0
    ).fit(X, y)
    kept = StructuredPerceptron(
        EDGES,
        order=2,
        random_state=0,
        early_stopping=True,
        tol=0.0,
        checkpoint=tmp_path,
    ).fit(X, y)
    np.testing.assert_array_equal(
        model_of(plain).trigrams.value, model_of(kept).trigrams.value
    )
    assert "validation_score" in plain.history_[0]


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_nothing(n_jobs):
    X, y = corpus(7, n=30)
    tagger = StructuredPerceptron(EDGES, order=2, random_state=0).fit(X, y)
    alone = (
        tagger.predict(X),
        tagger.predict_kbest(X, 4),
        tagger.decision_function(X).tolist(),
    )
    tagger.n_jobs = n_jobs
    assert alone == (
        tagger.predict(X),
        tagger.predict_kbest(X, 4),
        tagger.decision_function(X).tolist(),
    )


@pytest.mark.parametrize("lines", [EDGES, ["U0:%x[0,0]"]])
def test_k_best_scores_and_explanations_agree(lines):
    X, y = corpus(8, n=10)
    tagger = StructuredPerceptron(lines, order=2, random_state=0).fit(X, y)
    weights, labels = weights_view.weights_of(tagger, X), tagger.classes_.tolist()
    features = features_of(X, lines)
    for sequence, given, ranked in zip(X, features, tagger.predict_kbest(X, 9)):
        expected = oracles.k_best(given, weights, labels, 9)
        assert [s for _, s in ranked] == pytest.approx(
            [s for s, _ in expected], abs=1e-9
        )
        assert len({tuple(z) for z, _ in ranked}) == len(expected)
        for z, score in ranked[:3]:
            explanation = explain(tagger, sequence, z)
            assert explanation.score == pytest.approx(score, abs=1e-9)
            for t, token in enumerate(explanation.tokens):
                others = [
                    [*map(str, labels)] if u != t else [v for v in labels if v != z[t]]
                    for u in range(len(z))
                ]
                ((other, value),) = tagger.predict_kbest([sequence], 1, [others])[0]
                assert token.margin == pytest.approx(score - value, abs=1e-9)
    assert transition_weights(tagger).shape == (3, 3)


def test_trigrams_see_what_bigrams_cannot():
    """The last label depends on the one before the one before."""
    y = [list("ACA"), list("BCB")] * 3
    X = [[label if t == 0 else "x" for t, label in enumerate(s)] for s in y]
    features = ["U0:%x[0,0]", "U1:%x[1,0]", "B"]
    second = StructuredPerceptron(features, order=2, max_iter=20, random_state=0).fit(
        X, y
    )
    first = StructuredPerceptron(features, order=1, max_iter=20, random_state=0).fit(
        X, y
    )
    assert second.score(X, y) == 1.0 > first.score(X, y)
