"""The optimum of small L1-regularised CRFs: OWL-QN and the working set against a
proximal gradient method.

The oracle lists all labellings. Each corpus has so few features that all weights can be
compared.
"""

import functools
import warnings

import numpy as np
import pytest
import weights_view
from sklearn.exceptions import ConvergenceWarning

import oracle_training
import oracles
from skstruct import L1CRF
from skstruct._crf.solver import working_set

LABELS = "XYZ"
LINES = ["U0:%x[0,0]", "U1:%x[-1,0]", "B"]
EXACT = {"all_pairs": True, "tol": 1e-12, "max_iter": 3000, "random_state": 0}
SOLVERS = {
    "owlqn": {"solver": "owlqn"},
    "owlqn of a short memory": {"solver": "owlqn", "memory": 3},
    "two stages": {"solver": "two-stage"},
    "a working set that changes often": {"solver": "two-stage"},
}


@pytest.fixture(params=SOLVERS)
def solver(request, monkeypatch):
    """Parameters of L1CRF. Otherwise all weights of a corpus so small would be in the
    set from the start.
    """
    if "working set" in request.param:
        monkeypatch.setattr(working_set, "SMALLEST", 2)
        monkeypatch.setattr(working_set, "REVISION", 2)
    return SOLVERS[request.param]


def corpus(seed, missing=0.0):
    """(X, y): a label depends on its token and on the label before it, now and then on
    neither.
    """
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in (1, 2, 3, 4, 4, 3, 4):
        words = rng.choice(list("ab"), length).tolist()
        labels = ["XY"[w == "b"] for w in words]
        labels = [LABELS[rng.integers(3)] if rng.random() < 0.4 else g for g in labels]
        X.append(words)
        y.append([None if rng.random() < missing else g for g in labels])
    y[0] = ["X"]
    y[-1] = list("XYZX")
    return X, y


@functools.cache
def optimum(seed, missing, c1, c2, weight):
    """(weights by name, objective) of the oracle."""
    X, y = corpus(seed, missing)
    features = [oracles.template_features(LINES, s) for s in X]
    ways = [oracles.labellings(len(s), LABELS) for s in X]
    vectors = [[oracles.phi(f, z) for z in zs] for f, zs in zip(features, ways)]
    keys = sorted(
        {key for of_one in vectors for vector in of_one for key in vector}, key=repr
    )
    phi = [
        np.array([[vector.get(key, 0.0) for key in keys] for vector in of_one])
        for of_one in vectors
    ]
    gold = [
        np.array([oracles.agrees(z, labels) for z in zs]) for zs, labels in zip(ways, y)
    ]
    # A sequence of weight 2 is one that is there twice.
    phi, gold = (
        [one for one, n in zip(of_all, weight) for _ in range(n)]
        for of_all in (phi, gold)
    )
    w, objective = oracle_training.l1_crf(phi, gold, c1, c2)
    return dict(zip(keys, w.tolist())), objective


@pytest.mark.parametrize(("c1", "c2"), [(0.3, 0.0), (1.0, 0.0), (0.2, 0.1), (0.0, 0.3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_all_weights_are_those_of_the_optimum(seed, solver, c1, c2):
    X, y = corpus(seed)
    weight = (1, 2, 1, 1, 3, 1, 1)
    crf = L1CRF(LINES, c1=c1, c2=c2, **EXACT, **solver).fit(X, y, sample_weight=weight)
    expected, objective = optimum(seed, 0.0, c1, c2, weight)
    assert 10 <= len(expected) <= 30 and crf.objective_ == pytest.approx(
        objective, rel=1e-8
    )
    if c2:
        weights_view.assert_same_weights(
            weights_view.weights_of(crf, X), expected, atol=1e-4
        )
    # Without an L2 penalty weights can stand in for each other, but what they say
    # together is unique.
    for s in X:
        features, ways = (
            oracles.template_features(LINES, s),
            oracles.labellings(len(s), LABELS),
        )
        scores = np.array([oracles.score(features, z, expected) for z in ways])
        log_p = crf.sequence_log_proba([s] * len(ways), ways)
        np.testing.assert_allclose(
            log_p, scores - np.logaddexp.reduce(scores), atol=1e-3
        )
    if c1:
        assert 0 < crf.n_active_features_ < len(expected)


def test_partly_labelled_sequences(solver):
    """The objective is not convex: no weight can be moved to lower it, and it is as low
    as the oracle's.
    """
    X, y = corpus(3, missing=0.2)
    crf = L1CRF(LINES, c1=0.3, c2=0.1, **EXACT, **solver).fit(X, y)
    _, objective = optimum(3, 0.2, 0.3, 0.1, (1,) * len(X))
    assert crf.max_violation_ <= crf.optimality_ < 1e-3
    assert crf.objective_ == pytest.approx(objective, rel=1e-5)


def test_a_penalty_that_leaves_nothing(solver):
    X, y = corpus(0)
    expected, objective = optimum(0, 0.0, 100.0, 0.0, (1,) * len(X))
    crf = L1CRF(LINES, c1=100.0, c2=0.0, **EXACT, **solver).fit(X, y)
    assert not any(expected.values()) and crf.n_active_features_ == 0
    assert (
        crf.objective_
        == pytest.approx(objective)
        == pytest.approx(sum(map(len, X)) * np.log(3))
    )


def test_the_largest_violation_counts_weights_that_are_zero(solver):
    """After too few passes some condition is broken, at the optimum none."""
    X, y = corpus(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf = L1CRF(LINES, c1=0.3, c2=0.0, **{**EXACT, **solver, "max_iter": 2}).fit(
            X, y
        )
    exact = L1CRF(LINES, c1=0.3, c2=0.0, **EXACT, **solver).fit(X, y)
    assert exact.max_violation_ < 1e-3 < crf.max_violation_ <= crf.optimality_
