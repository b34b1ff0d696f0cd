"""Saving and loading: what comes back is the same, bit for bit, and goes on learning
the same way.

Files that are damaged or lie about their content are the business of
``test_registry_refusals``.
"""

import math
import pickle

import numpy as np
import pytest
from counting import calls, needs_compiled
from inside import model_of, training_of
from saving_cases import (
    LABELS,
    TEMPLATES,
    TOKENS,
    assert_predicts_same,
    assert_same,
    corpus,
)

import skstruct
from skstruct import (
    PassiveAggressiveTagger,
    StructuredPerceptron,
)
from skstruct._core import store as store_module
from skstruct._core.codes import PENALTIES
from skstruct._core.compile import cache_counts
from skstruct._saving.container import read_container
from skstruct._saving.values import LONG

TAGGERS = [StructuredPerceptron, PassiveAggressiveTagger]

# --------------------------------------------------------------------------------------
# Round trips
# --------------------------------------------------------------------------------------
PAIRS = [
    (TAGGERS[(i // 2 + k) % 2], tokens, [*LABELS][(i + k) % 4], penalty)
    for i, tokens in enumerate(TOKENS)
    for k, penalty in enumerate(PENALTIES)
]
"""Every pair of a learner, a kind of token, a type of label and a penalty."""


@pytest.mark.parametrize("Tagger, tokens, labels, penalty", PAIRS)
def test_round_trip(Tagger, tokens, labels, penalty, reload):
    X, y = corpus(tokens, labels)
    parameters = {"max_iter": 2, "penalty": penalty, "alpha": 1e-3, "random_state": 3}
    tagger = Tagger(**parameters, **TOKENS[tokens][1]).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    assert training_of(loaded).history is loaded.history_
    unseen, targets = corpus(tokens, labels, seed=1, words=50)
    assert_predicts_same(tagger, loaded, unseen)

    # A stream that begins after the fit, and one that goes on with its average.
    for seed in (1, 2):
        more = corpus(tokens, labels, seed=seed, words=60)
        tagger.partial_fit(*more)
        loaded = reload(loaded.partial_fit(*more))
        forget_seconds(tagger, loaded)
        assert_same(tagger, loaded)
    assert_predicts_same(tagger, loaded, unseen)


def forget_seconds(*taggers):
    for tagger in taggers:
        for record in tagger.history_:
            record["seconds"] = 0.0


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("Tagger", TAGGERS)
def test_warm_start_goes_on(Tagger, penalty, reload):
    X, y = corpus("tuple")
    tagger = Tagger(
        TEMPLATES, max_iter=1, penalty=penalty, alpha=1e-3, dropout=0.1, feature_noise="zipf",
        edge_noise="dropout", warm_start=True, random_state=0,
    )  # fmt: skip
    tagger.fit(X, y)
    loaded = reload(tagger)
    more, targets = corpus("tuple", seed=1, words=60)
    targets = [
        ["new" if label == "O" else label for label in sequence] for sequence in targets
    ]
    for model in (tagger, loaded):
        model.fit(more, targets)
    forget_seconds(tagger, loaded)
    assert "new" in tagger.classes_
    assert_same(tagger, loaded)


@pytest.mark.parametrize("average", ["step", "epoch", None])
def test_averages(average, reload):
    X, y = corpus()
    tagger = PassiveAggressiveTagger(
        max_iter=2, average=average, variant="PA-II", cost="hamming", penalty="l1-cumulative",
        alpha=1e-4, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert_same(tagger, reload(tagger))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_sparse_storage(penalty, reload, monkeypatch):
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 2)
    monkeypatch.setitem(LABELS, "many", [f"L{k}" for k in range(20)])
    X, y = corpus("tuple", "many")
    tagger = StructuredPerceptron(
        TEMPLATES, max_iter=2, penalty=penalty, alpha=1e-3, random_state=0, min_count=2
    ).fit(X, y)
    assert model_of(tagger).nodes.sparse and model_of(tagger).edges.sparse
    for training in (True, False):
        one, loaded = (
            pickle.loads(pickle.dumps(tagger)),
            reload(tagger, training=training),
        )
        if training:
            assert_same(one, loaded)
        assert_predicts_same(one, loaded, X)
        more = corpus("tuple", "many", seed=1, words=60)
        for _ in range(2):
            one.partial_fit(*more)
            loaded.partial_fit(*more)
        assert_predicts_same(one, loaded, more[0])


@pytest.mark.parametrize("training", [True, False])
def test_a_loaded_model_predicts_with_the_kernels_of_a_fitted_one(reload, training):
    """What lies in a file cannot be written to, which is another type for a kernel."""
    X, y = corpus("tuple", "str")
    tagger = StructuredPerceptron(
        TEMPLATES, max_iter=2, penalty="l2", alpha=1e-3, random_state=0, min_count=2
    ).fit(X, y)
    expected = tagger.predict(X)
    kernels = cache_counts()
    assert reload(tagger, training=training).predict(X) == expected
    assert cache_counts() == kernels


def test_sparse_storage_that_holds_nothing(reload, monkeypatch):
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(
        [["a", "b"]], [["A", "A"]]
    )
    assert model_of(tagger).nodes.value.size == 0
    assert_same(tagger, reload(tagger))


@pytest.mark.parametrize(
    "constraints",
    ["BIO", [(None, "B-x"), ("B-x", "I-x"), ("I-x", "O"), ("O", "B-x"), ("B-x", "O"), (None, "O"),
             ("O", "O"), ("O", None)], {("O", "O")}, frozenset({("O", "O")})],
)  # fmt: skip
def test_constraints(constraints, reload):
    X, y = [["a", "b", "c"], ["c"]], [["B-x", "I-x", "O"], ["O"]]
    if not isinstance(constraints, (str, list)):
        y = [["O"] * len(sequence) for sequence in X]
    tagger = StructuredPerceptron(
        constraints=constraints, max_iter=2, random_state=0
    ).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    assert_predicts_same(tagger, loaded, [["b", "b", "a", "x"]])
    with pytest.raises(ValueError, match="under the constraints"):
        loaded.partial_fit(
            [["a", "a"]], [["I-x", "I-x"]] if len(loaded.classes_) > 1 else [["X", "O"]]
        )


@pytest.mark.parametrize("weight", ["balanced", {7: 2.0, -1: 0.5, 99: np.float64(1.5)}])
def test_class_weight(weight, reload):
    X, y = corpus(labels="int")
    tagger = StructuredPerceptron(class_weight=weight, max_iter=2, random_state=0).fit(
        X, y
    )
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    for model in (tagger, loaded):
        model.partial_fit(X, y)
    assert_predicts_same(tagger, loaded, X)


def test_closed_labels_stay_closed(reload):
    tagger = StructuredPerceptron(random_state=0).partial_fit(
        [["a"]], [["A"]], classes=["A", "B"]
    )
    loaded = reload(tagger)
    with pytest.raises(ValueError, match="unknown label"):
        loaded.partial_fit([["a"]], [["C"]])


def test_early_stopping_and_history(reload):
    X, y = corpus()
    tagger = StructuredPerceptron(early_stopping=True, max_iter=4, random_state=0).fit(
        X, y
    )
    tagger.history_[0].update(loss=math.nan, extra=math.inf, more=-math.inf)
    assert_same(tagger, reload(tagger))


def test_a_history_of_its_own(reload):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus())
    tagger.history_ = []
    assert_same(tagger, reload(tagger))


def test_long_history(reload, path):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus())
    tagger.history_ *= LONG + 1
    assert_same(tagger, reload(tagger))
    header, arrays = read_container(path, kind="model")
    assert "history_" in arrays and len(str(header)) < 20_000


def test_other_data_does_not_touch_the_saved(reload):
    """Nothing is shared between a model and the loaded one, nor between model and
    training.
    """
    X, y = corpus("dict")
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(X, y)
    for training in (True, False):
        loaded = reload(tagger, training=training)
        before = tagger.decision_function(X)
        kept = model_of(loaded)
        first = kept.nodes.value.copy()
        loaded.partial_fit(X, y)
        assert_same(kept.nodes.value, first)
        assert_same(tagger.decision_function(X), before)


# --------------------------------------------------------------------------------------
# Without the training state
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("tokens, penalty", [*zip(TOKENS, [*PENALTIES, None, "l1"])])
def test_without_training(tokens, penalty, reload, path):
    """A fit goes on as partial_fit after a fit does anyway: from the final weights."""
    X, y = corpus(tokens)
    parameters = {"max_iter": 2, "penalty": penalty, "alpha": 1e-3, "random_state": 0}
    tagger = StructuredPerceptron(**parameters, **TOKENS[tokens][1]).fit(X, y)
    tagger.save(path)
    size = path.stat().st_size
    loaded = reload(tagger, training=False)
    assert path.stat().st_size < size
    assert_predicts_same(tagger, loaded, X)
    more = corpus(tokens, seed=1, words=60)
    tagger.partial_fit(*more)
    loaded.partial_fit(*more)
    assert_predicts_same(tagger, loaded, more[0])
    assert_same(training_of(tagger).model, training_of(reload(loaded)).model)


def test_without_training_again(reload):
    X, y = corpus()
    tagger = StructuredPerceptron(
        max_iter=2, alpha=0, average=False, random_state=0
    ).fit(X, y)
    loaded = reload(reload(tagger, training=False))
    for model in (tagger, loaded):
        model.partial_fit(X, y)
    assert_predicts_same(tagger, loaded, X)


# --------------------------------------------------------------------------------------
# What is not part of an estimator, and what is
# --------------------------------------------------------------------------------------
def test_session_settings_are_left_out(reload):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus())
    tagger.note = lambda: None
    assert not hasattr(reload(tagger), "note")


def test_a_pickle_saves_the_same_file(path):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus("dict"))
    tagger.save(path)
    before = path.read_bytes()
    again = pickle.loads(pickle.dumps(tagger))
    again.save(path)
    assert path.read_bytes() == before


def test_header_is_readable(reload, path):
    reload(StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus()))
    header, arrays = read_container(path, kind="model")
    assert header["skstruct"] == skstruct.__version__
    assert header["estimator"]["class"] == "StructuredPerceptron"
    assert header["estimator"]["parameters"]["max_iter"] == 1
    assert "model.nodes.value" in arrays and "training.nodes.value" in arrays


@pytest.mark.parametrize("version", ["0.4.0", "7.0", None, 3, "x" * 1000])
def test_package_version_does_not_matter(version, reload, monkeypatch):
    monkeypatch.setattr(skstruct, "__version__", version)
    reload(StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus()))


# --------------------------------------------------------------------------------------
# Speed
# --------------------------------------------------------------------------------------
@needs_compiled
def test_loading_does_not_go_through_the_rows(path):
    """As many calls for a large model as for a small one with the same words."""
    words = [f"w{k}" for k in range(60)]
    templates = [
        f"U{a}{b}:%x[{a},0]/%x[{b},0]" for a in range(-2, 1) for b in range(a, 3)
    ]
    generator, counts, rows = np.random.default_rng(0), [], []
    for n in (2, 2, 600):  # the first one compiles
        X = [words, *(generator.choice(words, 60).tolist() for _ in range(n))]
        y = [["BMES"[len(w) % 4] for w in s] for s in X]
        tagger = StructuredPerceptron(
            [*templates, "B"], max_iter=1, random_state=0
        ).fit(X, y)
        tagger.save(path)
        count, loaded = calls(lambda: skstruct.load(path))
        assert_same(tagger.decision_function(X[:50]), loaded.decision_function(X[:50]))
        counts.append(count)
        rows.append(model_of(tagger).encoder.nodes.n_rows)
    assert rows[2] > 5 * rows[1]
    assert counts[2] < 1.5 * counts[1]
