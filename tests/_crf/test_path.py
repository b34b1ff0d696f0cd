"""Many penalties on one corpus: each is a fit of its own, and starts from the nearest
one.
"""

import numpy as np
import pytest
from inside import run_of

from skstruct import (
    L1CRF,
    StructuredPerceptron,
    regularization_path,
)
from skstruct._crf.path import PenaltyPath, Step, plan_starts
from skstruct.datasets import make_hmm_sequences


@pytest.fixture(scope="module")
def corpus():
    X, y = make_hmm_sequences(160, random_state=0)
    return X[:120], y[:120], X[120:], y[120:]


def test_a_path_is_a_fit_for_each_strength(corpus):
    X, y, X_val, y_val = corpus
    crf = L1CRF(random_state=0, tol=1e-7)
    path = regularization_path(crf, X, y, [0.3, 3, 1, 1], X_val=X_val, y_val=y_val)
    assert [p.c1 for p in path] == [3.0, 1.0, 0.3]
    assert not hasattr(crf, "classes_")
    for point in path:
        alone = L1CRF(random_state=0, tol=1e-7, c1=point.c1).fit(X, y)
        assert point.objective == pytest.approx(alone.objective_, rel=1e-5)
        assert point.model.get_params() == alone.get_params()
        assert point.n_active == point.model.n_active_features_ > 0
        assert point.score == point.model.score(X_val, y_val)
        assert point.log_proba == pytest.approx(
            np.mean(point.model.sequence_log_proba(X_val, y_val))
        )
        assert point.log_proba == pytest.approx(
            np.mean(alone.sequence_log_proba(X_val, y_val)), rel=1e-2
        )
    assert path[0].n_active < path[-1].n_active
    plain = regularization_path(crf, X, y, [1.0])
    assert plain[0].score is None and plain[0].log_proba is None


@pytest.mark.parametrize(
    "c1s, options, message",
    [
        ([], {}, "c1s is empty"),
        ([1.0, -1.0], {}, "c1s must be from 0 to 1e[+]100"),
        ([np.nan], {}, "c1s must be from 0 to 1e[+]100"),
        ([1.0], {"solver": "sgd"}, "solver"),
        ([1.0], {"memory": 0}, "memory"),
    ],
)
def test_a_path_refuses(corpus, c1s, options, message):
    with pytest.raises(ValueError, match=message):
        regularization_path(L1CRF(**options), *corpus[:2], c1s)


def test_a_path_is_for_l1crf(corpus):
    with pytest.raises(TypeError, match="got StructuredPerceptron"):
        regularization_path(StructuredPerceptron(), *corpus[:2], [1.0])


def test_starts():
    """A tree of short distances, the same for any order."""
    candidates = np.array([[0.1, 0.0], [1.0, 0.1], [0.1, 0.1], [1.0, 1.0]])
    tree = plan_starts(candidates)
    assert tree[0][:2] == (3, None)
    assert {(step.candidate, step.parent) for step in tree[1:]} == {
        (1, 3),
        (2, 1),
        (0, 2),
    }
    order = [2, 0, 3, 1]
    other = plan_starts(candidates[order])
    assert [order[step.candidate] for step in other] == [
        step.candidate for step in tree
    ]
    assert [step.last for step in tree[1:]] == [True, True, True]
    # Zero is a tenth of the least penalty, whatever that is.
    assert [step.candidate for step in plan_starts(np.array([[1.0, 0.0], [1.0, 10.0], [1.0, 99.0]]))] == [
        2, 1, 0,
    ]  # fmt: skip


def test_candidates_do_not_disturb_each_other(corpus):
    """Two that start from the same one: what the first does to its memory of steps is
    nothing to the second.
    """
    candidates = np.array([[1.0, 1.0], [0.3, 1.0], [1.0, 0.1]])
    options = {"c1": 0.3, "tol": 1e-4, "memory": 10, "random_state": 0}

    def results(tree):
        run = run_of(L1CRF(**options), *corpus[:2])
        path = PenaltyPath(run, candidates, run.solver_options(), gaps=False)
        path.tree = [Step(0, None, False), *tree]
        found = {k: (r.n_iter, r.objective, r.weights.copy()) for k, r in path}
        path.close()
        return found

    one = results([Step(1, 0, False), Step(2, 0, True)])
    other = results([Step(2, 0, False), Step(1, 0, True)])
    for k in range(3):
        assert one[k][:2] == other[k][:2]
        np.testing.assert_array_equal(one[k][2], other[k][2])
