"""The same objective, labels and probabilities as CRFsuite."""

import numpy as np
import pytest

from skstruct import L1CRF
from skstruct.datasets import load_chunking
from skstruct.inspection import features_of

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")

LINES = ["U0:%x[0,0]", "U1:%x[0,1]", "U2:%x[-1,1]", "B"]


@pytest.fixture(scope="module")
def corpus():
    X, y = load_chunking()
    return X[:60], y[:60], X[60:110]


@pytest.mark.parametrize("pairs", [False, "states", "transitions", True])
@pytest.mark.parametrize(("c1", "c2"), [(0.5, 0.0), (0.0, 0.5), (0.3, 0.2)])
def test_the_same_model(corpus, c1, c2, pairs, capfd):
    X, y, X_new = corpus
    ours = L1CRF(LINES, c1=c1, c2=c2, all_pairs=pairs, tol=1e-10, random_state=0).fit(
        X, y
    )
    with_features = [
        [dict.fromkeys(names, 1.0) for names in features_of(ours, s)]
        for s in (*X, *X_new)
    ]
    theirs = sklearn_crfsuite.CRF(
        algorithm="lbfgs", c1=c1, c2=c2, max_iterations=3000, epsilon=1e-9, delta=1e-10,
        all_possible_states=pairs in ("states", True),
        all_possible_transitions=pairs in ("transitions", True),
    )  # fmt: skip
    theirs.fit(with_features[: len(X)], y)
    objective = min(float(h["loss"]) for h in theirs.training_log_.iterations)
    assert ours.objective_ == pytest.approx(objective, rel=1e-4)
    assert ours.predict([*X, *X_new]) == [
        list(labels) for labels in theirs.predict(with_features)
    ]
    marginals, labels = ours.predict_marginals(X_new), ours.classes_.tolist()
    for found, expected in zip(
        marginals, theirs.predict_marginals(with_features[len(X) :])
    ):
        np.testing.assert_allclose(
            found, [[t[g] for g in labels] for t in expected], atol=0.02
        )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({}, {"c1": 0, "c2": 1, "all_pairs": False}),
        ({"c1": 0, "c2": 0.5}, {"c1": 0, "c2": 0.5, "all_pairs": False}),
        ({"c1": 1, "c2": 0}, {"c1": 1, "c2": 0, "all_pairs": False}),
        (
            {"c1": 0.1, "c2": 0.1, "all_possible_transitions": True},
            {"c1": 0.1, "c2": 0.1, "all_pairs": "transitions"},
        ),
    ],
)
def test_the_usual_calls(corpus, theirs, ours):
    """As docs/switching.md has them."""
    X, y, _ = corpus
    X = [
        [
            {"word": w, "postag": p, "postag[:2]": p[:2], "upper": w.isupper()}
            for w, p in s
        ]
        for s in X
    ]
    crf = sklearn_crfsuite.CRF(
        max_iterations=3000, epsilon=1e-9, delta=1e-10, **theirs
    ).fit(X, y)
    objective = min(float(h["loss"]) for h in crf.training_log_.iterations)
    assert L1CRF(tol=1e-10, **ours).fit(X, y).objective_ == pytest.approx(
        objective, rel=1e-4
    )
