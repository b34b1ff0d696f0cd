"""What the small kernels learn is what the kernels for everything learn, bit for
bit.
"""

import numpy as np
import pytest

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._chain import chain_arguments
from skstruct._chain.chain_epoch import epoch
from skstruct._core import store as store_module
from tests.inside import training_of

LETTERS = [
    [c for c in word]
    for word in ("banana", "cab", "abacus", "d", "dada", "", "scuba", "bead")
]
KINDS = [
    ["v" if c in "aeu" else c if c in "bc" else "o" for c in word] for word in LETTERS
]
PARTIAL = [[None if k % 3 == 1 else y for k, y in enumerate(x)] for x in KINDS]
DICTS = [
    [{"c": c, "n": 0.3 * ord(c) % 1.7, "z": 0.0} for c in word] for word in LETTERS
]
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%x[1,0]", "B"]


def learned(estimator, X, y, weight):
    """Everything that a fit and a pass over more data leave behind, as arrays."""
    estimator.fit(X, y, sample_weight=weight).partial_fit(X[::-1], y[::-1])
    state = training_of(estimator).model
    stores = [
        state.nodes,
        state.edges,
        *([state.trigrams] if estimator.order == 2 else []),
    ]
    found = [part for store in stores for part in (store.value, store.moment)]
    return [
        *found,
        *state.clock,
        np.array([list(h.values()) for h in estimator.history_], dtype=object)[:, :3],
    ]


CASES = {
    "perceptron": (StructuredPerceptron, {}, LETTERS, KINDS, None),
    "last weights": (StructuredPerceptron, {"average": False}, LETTERS, KINDS, None),
    "decay": (
        StructuredPerceptron,
        {"penalty": "l2", "alpha": 0.3},
        LETTERS,
        KINDS,
        None,
    ),
    "labels missing": (StructuredPerceptron, {}, LETTERS, PARTIAL, None),
    "costs": (StructuredPerceptron, {"class_weight": "balanced"}, LETTERS, KINDS, None),
    "weights": (StructuredPerceptron, {}, LETTERS, KINDS, np.arange(8) / 3),
    "rare features": (StructuredPerceptron, {"min_count": 2}, LETTERS, KINDS, None),
    "values": (StructuredPerceptron, {"features": "auto"}, DICTS, KINDS, None),
    "no bigram": (
        StructuredPerceptron,
        {"features": TEMPLATES[:3]},
        LETTERS,
        KINDS,
        None,
    ),
    "order 2": (StructuredPerceptron, {"order": 2}, LETTERS, KINDS, None),
    "order 2, labels missing": (
        StructuredPerceptron,
        {"order": 2},
        DICTS,
        PARTIAL,
        np.arange(8) / 3,
    ),
    "order 2, decay and costs": (
        StructuredPerceptron,
        {
            "order": 2,
            "penalty": "l2",
            "alpha": 0.3,
            "class_weight": "balanced",
            "features": TEMPLATES[:3],
        },
        LETTERS,
        KINDS,
        None,
    ),
    "order 2, last weights": (
        StructuredPerceptron,
        {"order": 2, "average": False},
        LETTERS,
        KINDS,
        None,
    ),
    "order 2, PA": (PassiveAggressiveTagger, {"order": 2}, LETTERS, PARTIAL, None),
    "PA": (PassiveAggressiveTagger, {"variant": "PA"}, LETTERS, KINDS, None),
    "dropout": (StructuredPerceptron, {"dropout": 0.4}, LETTERS, KINDS, None),
    "dropout, labels missing": (
        StructuredPerceptron,
        {"dropout": 0.4, "min_count": 2},
        LETTERS,
        PARTIAL,
        np.arange(8) / 3,
    ),
    "dropout, decay": (
        StructuredPerceptron,
        {"dropout": 0.4, "penalty": "l2", "alpha": 0.3},
        LETTERS,
        KINDS,
        None,
    ),
    "dropout, order 2": (
        StructuredPerceptron,
        {"dropout": 0.4, "order": 2},
        LETTERS,
        KINDS,
        None,
    ),
    "dropout, PA": (
        PassiveAggressiveTagger,
        {"dropout": 0.4, "all_pairs": False},
        LETTERS,
        PARTIAL,
        None,
    ),
    "dropout of ready-made features": (
        StructuredPerceptron,
        {"dropout": 0.4},
        DICTS,
        KINDS,
        None,
    ),
    "PA-I": (
        PassiveAggressiveTagger,
        {"variant": "PA-I", "C": 0.01},
        DICTS,
        KINDS,
        np.arange(8) / 3,
    ),
    "PA-II, labels missing": (
        PassiveAggressiveTagger,
        {"variant": "PA-II"},
        LETTERS,
        PARTIAL,
        None,
    ),
    "PA under costs": (
        PassiveAggressiveTagger,
        {"class_weight": {"v": 2.0}},
        LETTERS,
        KINDS,
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_training_is_that_of_the_kernels_for_everything(case, monkeypatch):
    learner, parameters, X, y, weight = CASES[case]
    features = {"features": "auto" if X is DICTS else TEMPLATES}
    estimator = learner(**{"max_iter": 4, "random_state": 1, **features, **parameters})
    small = learned(estimator, X, y, weight)
    monkeypatch.setattr(
        chain_arguments, "small_kernel_serves", lambda *arguments: False
    )
    for one, other in zip(small, learned(estimator, X, y, weight), strict=True):
        np.testing.assert_array_equal(one, other)


def test_trigrams_may_be_sparse_where_nothing_else_is(monkeypatch):
    tagger = StructuredPerceptron(
        ["U0:%x[0,0]", "B"], order=2, max_iter=4, random_state=1
    )
    full = tagger.fit(LETTERS, KINDS).decision_function(LETTERS)
    monkeypatch.setattr(store_module, "FEW_LABELS", 2)
    monkeypatch.setattr(
        store_module, "DENSE_WEIGHTS", 4 * 5 * 4 - 1
    )  # one less than trigrams of four labels
    tagger.fit(LETTERS, KINDS)
    model = training_of(tagger).model
    assert model.trigrams.sparse and not model.nodes.sparse and not model.edges.sparse
    assert np.array_equal(tagger.decision_function(LETTERS), full)
    assert tagger.predict(LETTERS) == KINDS


@pytest.mark.parametrize("parameters", [{}, {"order": 2}, {"penalty": "l2"}])
def test_dropout_of_tokens_takes_no_other_kernel(parameters):
    """A first fit with dropout compiles what one without it does, and nothing else."""

    def versions(**more):
        tagger = StructuredPerceptron(TEMPLATES, max_iter=1, **parameters, **more)
        before = len(epoch.signatures)
        tagger.fit(LETTERS, KINDS)
        return len(epoch.signatures) - before

    versions()
    assert versions(dropout=0.4) == 0
    if not parameters:
        assert versions(dropout=0.4, feature_noise="dropout") <= 1
