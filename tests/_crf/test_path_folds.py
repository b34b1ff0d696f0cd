"""A fold of L1CRFCV is what a fit to its training part is, whatever is learned of a
corpus.

What is learned of a corpus: labels, features and their counts (``min_count``),
statistics of its text (accessor varieties, clusters of words), costs of classes, and
how often a sequence is in it.
"""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold

from skstruct import L1CRF, L1CRFCV
from skstruct.datasets import load_chunking
from skstruct.features import WordVectors

ALONE, TWICE = "each once", "some twice"


@pytest.fixture(scope="module")
def corpus():
    X, y = load_chunking()
    return [[word for word, _ in x] for x in X[:60]], y[:60]


def folds_of(kind):
    """Two folds of 60 sequences; as a bootstrap draws them, training parts hold some of
    them again.
    """
    folds = list(KFold(2).split(np.zeros(60)))
    if kind is TWICE:
        folds = [
            (np.concatenate([train, train[::3], train[:4]]), test)
            for train, test in folds
        ]
    return folds


def clusters():
    return WordVectors(8, n_clusters=6, min_count=2, random_state=0)


CLUSTER_TEMPLATE = {
    "features": ["U0:%cluster[0,0]", "U1:%x[0,0]", "B"],
    "words": clusters(),
}


@pytest.mark.parametrize(
    "kind, options",
    [
        pytest.param(ALONE, {}, id="plain"),
        pytest.param(TWICE, {}, id="plain, twice"),
        pytest.param(TWICE, {"min_count": 2}, id="min_count, twice"),
        pytest.param(
            TWICE,
            {"features": ["U0:%x[0,0]", "U1:%av2[0,0]", "B"]},
            id="accessor, twice",
        ),
        pytest.param(ALONE, {"words": clusters()}, id="words"),
        pytest.param(TWICE, CLUSTER_TEMPLATE, id="cluster-template, twice"),
        pytest.param(ALONE, {"class_weight": "balanced"}, id="balanced"),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_fold_is_a_fit_to_its_training_part(corpus, options, kind):
    """Objectives and scores are those of GridSearchCV over L1CRF with the same
    folds.
    """
    grid = {"c1": [0.1, 0.5], "c2": [0.1]}
    shared = {"all_pairs": False, "random_state": 0, **options}

    def confidence(model, X, y):
        """Unlike accuracy the same for models that are equal but for rounding: no tie
        is decided.
        """
        return float(np.vstack(model.predict_marginals(X)).max(axis=1).mean())

    def both(model, X, y):
        return {"objective": model.objective_, "score": confidence(model, X, y)}

    search = GridSearchCV(
        L1CRF(tol=1e-10, **shared),
        grid,
        cv=folds_of(kind),
        scoring=both,
        refit=False,
        error_score="raise",
    )
    theirs = search.fit(*corpus).cv_results_
    ours = L1CRFCV(
        c1s=grid["c1"],
        c2s=grid["c2"],
        cv=folds_of(kind),
        selection_tol=1e-10,
        scoring=confidence,
        refit=False,
        **shared,
    )
    ours = ours.fit(*corpus).cv_results_
    for k in range(2):
        reached = ours[f"split{k}_objective"]
        np.testing.assert_allclose(
            reached, theirs[f"split{k}_test_objective"], rtol=1e-7
        )
        scores = ours[f"split{k}_test_score"]
        np.testing.assert_allclose(scores, theirs[f"split{k}_test_score"], rtol=1e-5)


def test_a_sequence_that_is_drawn_twice_counts_twice(corpus):
    """It is the fold whose weights are 2."""
    (train, test), _ = folds_of(ALONE)
    one = {
        "candidates": [(0.2, 0.1)],
        "selection_tol": 1e-10,
        "refit": False,
        "random_state": 0,
    }
    twice = L1CRFCV(cv=[(np.concatenate([train, train]), test)], **one).fit(*corpus)
    weighted = L1CRFCV(cv=[(train, test)], **one).fit(*corpus, np.full(60, 2.0))
    once = L1CRFCV(cv=[(train, test)], **one).fit(*corpus)
    found = [
        search.cv_results_["split0_objective"][0] for search in (twice, weighted, once)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-7)
    assert found[0] > 1.1 * found[2]


def test_clusters_of_words_know_nothing_of_a_test_part(corpus):
    """The words of a test part may be any others: the fold's objective stays."""
    X, y = corpus
    (train, test), _ = folds_of(ALONE)
    others = [
        ["another", "word"] * len(x) if i in set(test) else x for i, x in enumerate(X)
    ]
    others = [x[: len(labels)] for x, labels in zip(others, y)]
    search = L1CRFCV(
        candidates=[(0.2, 0.1)],
        cv=[(train, test)],
        words=clusters(),
        refit=False,
        random_state=0,
    )
    found = [
        search.fit(each, y).cv_results_["split0_objective"][0] for each in (X, others)
    ]
    assert found[0] == found[1]
