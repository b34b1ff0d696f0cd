"""What is proved about parameter mixing (McDonald, Hall, Mann 2010); theorem 1 is in
test_chain_epoch_training.
"""

import itertools

import numpy as np
import pytest
import weights_view
from inside import model_of
from training_cases import corpus, features_of

import oracles
from skstruct import ParameterMixer, StructuredPerceptron

LINES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%x[1,0]", "B"]

# Theorem 2: two shards of two examples. Ties go to the first label, which plays the
# part of 1 here.
ONE, ZERO = "a", "b"
SHARDS = [
    ([[["f1", "f2"]], [["f3"]]], [[ZERO], [ONE]]),
    ([[["f2", "f3"]], [["f1"]]], [[ZERO], [ONE]]),
]


def mixed(strategy, mixing="uniform", rounds=20):
    base = StructuredPerceptron(max_iter=rounds, shuffle=False, average=False)
    mixer = ParameterMixer(base, strategy=strategy, mixing=mixing, random_state=0)
    return mixer.fit_shards([lambda shard=shard: shard for shard in SHARDS])


def union():
    return SHARDS[0][0] + SHARDS[1][0], SHARDS[0][1] + SHARDS[1][1]


def test_the_data_of_theorem_2_can_be_separated():
    X, y = union()
    tagger = StructuredPerceptron(max_iter=50, average=False, random_state=0).fit(X, y)
    assert tagger.history_[-1]["updates"] == 0
    for X_shard, y_shard in SHARDS:  # and each shard alone, by one update
        alone = StructuredPerceptron(max_iter=5, shuffle=False, average=False).fit(
            X_shard, y_shard
        )
        assert [h["updates"] for h in alone.history_] == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("mixing", ["uniform", "errors"])
def test_mixing_once_need_not_separate(mixing):
    """Theorem 2: shards that are separated each may mix to weights that call everything
    0.
    """
    mixer = mixed("once", mixing)
    assert mixer.predict(union()[0]) == [[ZERO]] * 4
    assert mixer.n_iter_ == 20 and len(mixer.history_) == 1
    weights = weights_view.weights_of(mixer.estimator_, union()[0])
    expected = {("f1", ZERO): 0.5, ("f2", ZERO): 1.0, ("f3", ZERO): 0.5}
    found = {key: value for key, value in weights.items() if key[-1] == ZERO and value}
    assert sorted(found.values()) == sorted(expected.values())


@pytest.mark.parametrize("mixing", ["uniform", "errors"])
def test_mixing_after_every_epoch_separates(mixing):
    mixer = mixed("iterative", mixing)
    assert mixer.score(*union()) == 1.0
    assert mixer.history_[-1]["updates"] == 0


@pytest.mark.parametrize("mixing", ["uniform", "errors"])
@pytest.mark.parametrize("n_shards", [2, 3, 5])
@pytest.mark.parametrize("seed", range(2))
def test_mistake_bound(seed, n_shards, mixing):
    """Theorem 3: Σ_n Σ_i μ_{i,n} k_{i,n} <= R² / γ²; and with it, the end of all
    mistakes.
    """
    generator = np.random.default_rng(seed)
    X, _ = corpus(seed, "str", 12, longest=4)
    features = features_of(X, LINES)
    teacher = {}
    for feature in features:
        for z in itertools.product("XYZ", repeat=len(feature)):
            for key in oracles.phi(feature, z):
                teacher.setdefault(key, float(generator.normal()))
    y = [list(oracles.k_best(feature, teacher, "XYZ", 1)[0][1]) for feature in features]
    base = StructuredPerceptron(LINES, max_iter=150, average=False)
    mixer = ParameterMixer(
        base, n_shards=n_shards, mixing=mixing, random_state=seed
    ).fit(X, y)
    assert mixer.history_[-1]["updates"] == 0 and mixer.score(X, y) == 1.0
    # Mistakes by shard follow from mixture and sum under "errors"; under "uniform" only
    # their mean is needed.
    total = 0.0
    for record in mixer.history_:
        share = np.array(record["mixture"])
        mistakes = (
            share * record["updates"]
            if mixing == "errors"
            else record["updates"] / n_shards
        )
        total += float((share * mistakes).sum())
    pairs = list(zip(features, map(tuple, y)))
    learned = weights_view.weights_of(mixer.estimator_, X)
    labels = model_of(mixer).labels.values
    bounds = [oracles.mistake_bound(pairs, labels, w) for w in (teacher, learned)]
    assert 0 < total <= min(bound for bound in bounds if bound is not None)
