"""Weights after training against the naive trainer, and the theorems about training."""

import itertools
import math

import numpy as np
import pytest
import weights_view
from inside import model_of, training_of
from training_cases import (
    EPOCHS,
    PAIRS,
    PENALTIES,
    compare,
    corpus,
    features_of,
    legal_corpus,
    orders_of,
)

import oracle_training
import oracles
from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._core import store as store_module
from skstruct._core.noise import make_noise

PLAIN = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%x[1,0]", "B"]
EDGES = ["U0:%x[0,0]", "U99", "B", "B1:%x[0,0]", "B2:%x[-1,0]/%x[0,0]"]
FEW = ["U0:%x[0,0]", "B1:%x[-1,0]"]
COLUMNS = [
    "U0:%x[0,0]",
    "U1:%x[0,1]/%x[1,0]",
    "U2:%suffix1[-1,1]",
    "U:%x[-1,1]",
    "U:%x[1,1]",
    "B",
]


def train_both(make, X, y, lines, weight=None, min_count=1, **options):
    """The estimator's weights and the oracle's, or None where rounding decides a
    tie.
    """
    estimator = make().fit(X, y, sample_weight=weight)
    visited = [
        i for i in range(len(X)) if len(X[i]) and (weight is None or weight[i] > 0)
    ]
    features = features_of([X[i] for i in visited], lines, min_count)
    trained = oracle_training.train(
        [(f, y[i]) for f, i in zip(features, visited)],
        model_of(estimator).labels.values,
        orders_of(estimator, len(visited)),
        sample_weight=None if weight is None else [weight[i] for i in visited],
        **options,
    )
    if trained.ambiguous:
        return None
    history = estimator.history_
    assert [h["updates"] for h in history] == trained.updates or options.get(
        "variant", "perceptron"
    ) != "perceptron"
    if options.get("variant", "perceptron") != "perceptron":
        np.testing.assert_allclose(
            [h["loss"] for h in history], trained.loss, rtol=1e-9, atol=1e-9
        )
    return weights_view.weights_of(estimator, [X[i] for i in visited]), trained.weights


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("penalty, alpha", PENALTIES)
@pytest.mark.parametrize(
    "kind, lines",
    [
        ("str", PLAIN),
        ("str", EDGES),
        ("str", FEW),
        ("tuple", COLUMNS),
        ("dict", None),
        ("list", None),
    ],
)
def test_perceptron(kind, lines, penalty, alpha, average):
    def attempt(seed):
        X, y = corpus(seed, kind)
        return train_both(
            lambda: StructuredPerceptron(
                "auto" if lines is None else lines, max_iter=EPOCHS, random_state=seed, average=average,
                penalty=penalty, alpha=alpha,
            ),
            X, y, lines, penalty=penalty, alpha=alpha, average="step" if average else None,
        )  # fmt: skip

    compare(map(attempt, range(8)))


@pytest.mark.parametrize("average", ["step", "epoch", None])
@pytest.mark.parametrize("penalty, alpha", PENALTIES)
@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_passive_aggressive(variant, penalty, alpha, average):
    def attempt(seed):
        kind, lines = [("dict", None), ("str", EDGES)][seed % 2]
        X, y = corpus(seed, kind)
        return train_both(
            lambda: PassiveAggressiveTagger(
                "auto" if lines is None else lines, max_iter=EPOCHS, random_state=seed, average=average,
                penalty=penalty, alpha=alpha, variant=variant, C=0.2,
            ),
            X, y, lines, variant=variant, C=0.2, penalty=penalty, alpha=alpha, average=average,
        )  # fmt: skip

    compare(map(attempt, range(8)))


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, {"X": 0.5, "Y": 2.0}])
@pytest.mark.parametrize("variant", ["perceptron", "PA-I", "hamming"])
def test_costs_weights_and_unlabelled_tokens(variant, class_weight, weighted, missing):
    def attempt(seed):
        kind, lines = [
            ("dict", None),
            ("str", PLAIN),
            ("dyadic", None),
            ("str", EDGES),
        ][seed % 4]
        X, y = corpus(seed, kind, n=7, missing=missing)
        weight = [1.0, 0.5, 0.0, 2.0, 0.25, 1.0, 3.0] if weighted else None
        shared = {
            "max_iter": EPOCHS,
            "random_state": seed,
            "class_weight": class_weight,
        }
        features = "auto" if lines is None else lines
        if variant == "perceptron":
            return train_both(
                lambda: StructuredPerceptron(features, **shared),
                X,
                y,
                lines,
                weight,
                costs=class_weight,
            )
        margin = "hamming" if variant == "hamming" else "one"
        return train_both(
            lambda: PassiveAggressiveTagger(features, C=0.3, cost=margin, **shared),
            X, y, lines, weight, variant="PA-I", C=0.3, margin=margin, costs=class_weight,
        )  # fmt: skip

    compare(map(attempt, range(12)), enough=2)


@pytest.mark.parametrize("penalty, alpha", PENALTIES)
@pytest.mark.parametrize("seed", [0, 1])
def test_sparse_storage_changes_nothing(monkeypatch, seed, penalty, alpha):
    def weights(kind, lines):
        X, y = corpus(seed, kind, n=12)
        estimator = StructuredPerceptron(
            "auto" if lines is None else lines,
            max_iter=EPOCHS,
            random_state=seed,
            penalty=penalty,
            alpha=alpha,
        ).fit(X, y)
        return weights_view.weights_of(estimator, X), model_of(estimator).nodes.sparse

    kinds = [("str", EDGES), ("dict", None)]
    dense = [weights(*kind) for kind in kinds]
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    for (expected, was_sparse), kind in zip(dense, kinds):
        found, is_sparse = weights(*kind)
        assert is_sparse and not was_sparse
        weights_view.assert_same_weights(found, expected)


@pytest.mark.parametrize("shuffle", [True, False])
def test_order_of_visits(shuffle):
    def attempt(seed):
        X, y = corpus(seed, n=9)
        return train_both(
            lambda: StructuredPerceptron(
                PLAIN, max_iter=EPOCHS, random_state=seed, shuffle=shuffle
            ),
            X,
            y,
            PLAIN,
        )

    compare(map(attempt, range(3)), enough=3)


@pytest.mark.parametrize("min_count", [2, 3])
@pytest.mark.parametrize(
    "kind, lines",
    [
        ("str", ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"]),
        ("list", None),
        ("dict", None),
    ],
)
def test_min_count(kind, lines, min_count):
    def attempt(seed):
        X, y = corpus(seed, kind)
        return train_both(
            lambda: StructuredPerceptron(
                "auto" if lines is None else lines, max_iter=EPOCHS, random_state=seed, min_count=min_count
            ),
            X, y, lines, min_count=min_count,
        )  # fmt: skip

    compare(map(attempt, range(3)), enough=3)


@pytest.mark.parametrize("variant", ["perceptron", "PA-I"])
def test_constraints_in_training(variant):
    constraints = oracles.Constraints(
        frozenset("XZ"), frozenset(p for p in PAIRS if p[0] is not None)
    )

    def attempt(seed):
        X, y = legal_corpus(seed, "dict")
        shared = {"max_iter": EPOCHS, "random_state": seed, "constraints": PAIRS}
        if variant == "perceptron":
            make = StructuredPerceptron(**shared)
        else:
            make = PassiveAggressiveTagger(C=0.3, **shared)
        return train_both(
            lambda: make, X, y, None, variant=variant, C=0.3, constraints=constraints
        )

    compare(map(attempt, range(8)), enough=2)


@pytest.mark.parametrize("cls", [StructuredPerceptron, PassiveAggressiveTagger])
@pytest.mark.parametrize(
    "gold", [["A", None, "B"], [None, None, "C"], ["C", None, None]]
)
def test_labels_without_a_legal_completion_are_refused(cls, gold):
    pairs = [
        ("A", "A"),
        ("B", "B"),
        ("C", "C"),
        (None, "A"),
        (None, "B"),
        ("A", None),
        ("B", None),
    ]
    X, y = [["a", "b"], ["a", "b", "c"]], [["A", "A"], gold]
    with pytest.raises(ValueError, match="sequence 1"):
        cls(["U0:%x[0,0]", "B"], constraints=pairs).fit(X, y)


# -------------------------------------------------------------------------------- noise

NOISE = [
    {"feature_noise": "dropout", "noise_rate": 0.3},
    {"feature_noise": "zipf", "zipf_exponent": 1.5, "edge_noise": "same"},
    {
        "feature_noise": "zipf",
        "zipf_exponent": 2.0,
        "edge_noise": "dropout",
        "noise_rate": 0.2,
    },
    {"edge_noise": "dropout", "noise_rate": 0.5},
    {"dropout": 0.3},
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
@pytest.mark.parametrize(
    "kind, lines", [("str", EDGES), ("tuple", COLUMNS), ("dict", None)]
)
@pytest.mark.parametrize("variant", ["perceptron", "PA-I"])
def test_training_under_noise_can_be_replayed(noise, kind, lines, variant):
    def attempt(seed):
        # A masked bag is empty, so that labels tie: in every other corpus numbers are
        # exact.
        X, y = corpus(seed, "dyadic" if kind == "dict" and seed % 2 else kind)
        shared = {
            "features": "auto" if lines is None else lines,
            "max_iter": EPOCHS,
            "random_state": seed,
            **noise,
        }
        if variant == "perceptron":
            estimator = StructuredPerceptron(**shared).fit(X, y)
        else:
            estimator = PassiveAggressiveTagger(C=0.3, **shared).fit(X, y)
        names = {"noise_rate": "rate", "zipf_exponent": "exponent"}
        drawn = make_noise(
            training_of(estimator).key, **{names.get(k, k): v for k, v in noise.items()}
        )
        labels = model_of(estimator).labels.values
        corrupt = weights_view.Corruption(
            model_of(estimator).encoder, X, labels, drawn, lines
        )
        trained = oracle_training.train(
            list(zip(features_of(X, lines), y)), labels, orders_of(estimator, len(X)),
            variant=variant, C=0.3, corrupt=corrupt,
        )  # fmt: skip
        return (
            None
            if trained.ambiguous
            else (weights_view.weights_of(estimator, X), trained.weights)
        )

    compare(map(attempt, range(40)))


def weights_under(X, y, seed=0, **options):
    estimator = StructuredPerceptron(
        EDGES, max_iter=EPOCHS, random_state=seed, **options
    ).fit(X, y)
    return model_of(estimator).nodes.value, model_of(estimator).edges.value


@pytest.mark.parametrize(
    "noise", NOISE, ids=[" ".join(map(str, n.values())) for n in NOISE]
)
def test_noise_is_reproducible_and_matters(noise):
    X, y = corpus(3, n=10)
    quiet, noisy, again, other = (
        weights_under(X, y),
        weights_under(X, y, **noise),
        weights_under(X, y, **noise),
        weights_under(X, y, seed=1, **noise),
    )
    for a, b in zip(noisy, again):
        np.testing.assert_array_equal(a, b)
    assert not all(np.array_equal(a, b) for a, b in zip(noisy, quiet))
    assert not all(np.array_equal(a, b) for a, b in zip(noisy, other))


def test_noise_of_rate_zero_is_no_noise():
    X, y = corpus(3, n=10)
    quiet = weights_under(X, y)
    silent = [
        {"dropout": 0.0},
        {"feature_noise": "dropout", "noise_rate": 0.0},
        {"feature_noise": "dropout", "edge_noise": "same", "noise_rate": 0.0},
        {"edge_noise": "same"},
        {"noise_rate": 0.9, "zipf_exponent": 1.1},
        {"feature_noise": "zipf", "edge_noise": "same", "zipf_exponent": 200.0},
        {"penalty": "l2", "alpha": 0.0},
        {"penalty": "l1", "alpha": 0.0},
    ]
    for options in silent:
        for a, b in zip(quiet, weights_under(X, y, **options)):
            np.testing.assert_array_equal(a, b)


# ----------------------------------------------------------------------------- theorems


def separable(seed, n=12):
    """A corpus labelled by known weights, with the weights that separate it."""
    generator = np.random.default_rng(seed)
    X, _ = corpus(seed, "str", n, longest=4)
    features = features_of(X, PLAIN)
    teacher = {}
    for feature in features:
        for z in itertools.product("XYZ", repeat=len(feature)):
            for key in oracles.phi(feature, z):
                teacher.setdefault(key, float(generator.normal()))
    y = [list(oracles.k_best(f, teacher, "XYZ", 1)[0][1]) for f in features]
    return X, y, features, teacher


@pytest.mark.parametrize("seed", range(5))
def test_mistake_bound(seed):
    """[C] theorem 1: at most R² / δ² mistakes on separable data, in any order, ever."""
    X, y, features, teacher = separable(seed)
    tagger = StructuredPerceptron(
        PLAIN, max_iter=60, average=False, random_state=seed
    ).fit(X, y)
    mistakes = sum(h["updates"] for h in tagger.history_)
    assert tagger.history_[-1]["updates"] == 0
    pairs = list(zip(features, map(tuple, y)))
    labels = model_of(tagger).labels.values
    learned = weights_view.weights_of(tagger, X)
    bounds = [oracles.mistake_bound(pairs, labels, w) for w in (teacher, learned)]
    assert 0 < mistakes <= min(b for b in bounds if b is not None)
    assert tagger.score(X, y) == 1.0


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("seed", range(2))
def test_passive_aggressive_reaches_the_margin(variant, seed):
    """Without a limit on its steps it ends with a margin of 1 on separable data ([G]
    eq. 5).
    """
    X, y, features, _ = separable(seed)
    tagger = PassiveAggressiveTagger(
        PLAIN, variant=variant, C=1e6, max_iter=2000, average=None, random_state=seed
    ).fit(X, y)
    weights = weights_view.weights_of(tagger, X)
    for feature, gold in zip(features, y):
        right = oracles.score(feature, gold, weights)
        found = oracles.best_wrong(
            feature, gold, weights, model_of(tagger).labels.values
        )
        assert right - found[0] >= 1 - 1e-5
    losses = [h["loss"] for h in tagger.history_]
    assert losses[-1] < 1e-4 < losses[0]


def test_hamming_margin_is_the_number_of_wrong_tokens():
    X, y, features, _ = separable(1)
    tagger = PassiveAggressiveTagger(
        PLAIN, variant="PA", cost="hamming", max_iter=2000, average=None, random_state=0
    ).fit(X, y)
    weights = weights_view.weights_of(tagger, X)
    labels = model_of(tagger).labels.values
    for feature, gold in zip(features, y):
        right = oracles.score(feature, gold, weights)
        for z in oracles.labellings(len(gold), labels):
            wrong = sum(a != b for a, b in zip(z, gold))
            assert right - oracles.score(feature, z, weights) >= wrong - 1e-4


def test_decision_function_is_the_best_score():
    X, y = corpus(5, "dict")
    tagger = StructuredPerceptron(max_iter=EPOCHS, random_state=0).fit(X, y)
    weights = weights_view.weights_of(tagger, X)
    for value, features in zip(tagger.decision_function(X), features_of(X, None)):
        best = oracles.k_best(features, weights, model_of(tagger).labels.values, 1)[0][
            0
        ]
        assert math.isclose(value, best, rel_tol=1e-9, abs_tol=1e-9)


def test_balanced_costs_are_inverse_to_frequency():
    X, y = corpus(2, "dict", n=8)
    flat = [g for s in y for g in s]
    costs = {g: len(flat) / (len(set(flat)) * flat.count(g)) for g in set(flat)}
    balanced, given = (
        StructuredPerceptron(max_iter=EPOCHS, random_state=0, class_weight=w).fit(X, y)
        for w in ("balanced", costs)
    )
    np.testing.assert_array_equal(
        model_of(balanced).nodes.value, model_of(given).nodes.value
    )
