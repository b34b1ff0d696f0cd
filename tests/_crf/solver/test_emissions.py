"""Scores of labels at tokens, and the way back, whichever way a token adds up its
weights.

In a sequence of one token log Z is that of a softmax over its emissions.
"""

import numpy as np
import pytest
from crf_cases import FREE, L, make_task, potentials

from skstruct._crf.solver.corpus_pass import CorpusPass
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions


def matrix_of(task, n_rows):
    """(N, n_rows) the values of the features of each token."""
    X = np.zeros((task.gold.shape[0], n_rows))
    for t in range(X.shape[0]):
        for e in range(task.bag.start[t], task.bag.start[t + 1]):
            X[t, task.bag.row[e]] += task.bag.value[e] if task.bag.value.size else 1.0
    return X


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("cost", [None, np.array([0.5, 0.0, 1.5])])
def test_softmax_of_single_tokens(fields, valued, cost):
    task = make_task(n=50, longest=1, valued=valued)
    scores = FREE if cost is None else potentials(cost=cost)
    o = CRFObjective(task, ObjectiveOptions(c1=0.0), scores, 6, fields=fields)
    w = np.random.RandomState(0).randn(o.size)
    total, gradient, _ = CorpusPass(o, o.view_all(), w, False).run()
    X = matrix_of(task, 6)
    W = np.zeros((6, L))
    W[o.row[o.pair_feature], o.pair_label] = w[: o.n_pairs]
    emission = X @ W
    if cost is not None:
        emission += cost[task.gold][:, None] * (task.gold[:, None] != np.arange(L))
    log_z = np.logaddexp.reduce(emission, axis=1)
    assert total == pytest.approx(task.weight @ log_z, rel=1e-12)
    p = np.exp(emission - log_z[:, None])
    counts = X.T @ (task.weight[:, None] * p)
    got = gradient[: o.n_pairs]
    np.testing.assert_allclose(got, counts[o.row[o.pair_feature], o.pair_label])


def test_labels_that_are_given_leave_no_other(fields):
    """Clamped, log Z is the score of the label, without costs."""
    task = make_task(n=50, longest=1, partial=True)
    costs = potentials(cost=np.ones(L))
    o = CRFObjective(task, ObjectiveOptions(c1=0.0), costs, 6, fields=fields)
    w = np.random.RandomState(0).randn(o.size)
    view = o.view_all()
    total, _, _ = CorpusPass(o, view, w, True).run()
    W = np.zeros((6, L))
    W[o.row[o.pair_feature], o.pair_label] = w[: o.n_pairs]
    emission = matrix_of(task, 6) @ W
    partial = task.gold < 0  # the others take no part
    log_z = np.logaddexp.reduce(emission[partial], axis=1)
    assert total == pytest.approx(task.weight[partial] @ log_z, rel=1e-12)


def test_labels_that_sequences_may_not_begin_or_end_with():
    start = np.array([0.0, -np.inf, 0.0])
    end = np.array([0.0, 0.0, -np.inf])
    task = make_task(n=50, longest=1)
    task.gold[:] = 0
    ends = potentials(start=start, end=end)
    o = CRFObjective(task, ObjectiveOptions(c1=0.0), ends, 6)
    total, gradient, _ = CorpusPass(o, o.view_all(), np.ones(o.size), False).run()
    X = matrix_of(task, 6)
    assert total == pytest.approx(task.weight @ X.sum(axis=1), rel=1e-12)
    impossible = o.pair_label > 0
    assert not gradient[: o.n_pairs][impossible].any()
