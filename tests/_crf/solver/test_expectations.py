"""Expectations of groups of sequences: sums over groups, and sequences that are left
out.
"""

import numpy as np
import pytest
from crf_cases import FREE, L, make_task, potentials
from crf_oracle import labellings

from skstruct._crf.solver.corpus_pass import CorpusPass
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions


def passes(o, weights, **options):
    """(Σ weight log Z, gradient, sequences left to logarithms) of a pass."""
    each = CorpusPass(o, o.view_all(), weights, False, **options)
    total, gradient, _ = each.run()
    return total, gradient, each.by_itself


def test_totals_and_counts_are_those_of_all_labellings():
    task = make_task(n=20)
    o = CRFObjective(task, ObjectiveOptions(c1=0.0), FREE, 6)
    w = np.random.RandomState(0).randn(o.size)
    total, gradient, bad = passes(o, w)
    want, counts = 0.0, np.zeros((6, L))
    for weight, (a, found) in zip(task.weight, labellings(task, o, w)):
        scores = np.array([s for _, s, _, _ in found])
        want += weight * np.logaddexp.reduce(scores)
        p = np.exp(scores - np.logaddexp.reduce(scores))
        for share, (y, *_) in zip(p, found):
            for t, label in enumerate(y):
                for e in range(task.bag.start[a + t], task.bag.start[a + t + 1]):
                    x = task.bag.value[e]
                    counts[task.bag.row[e], label] += weight * share * x
    assert not bad.any()
    assert total == pytest.approx(want, rel=1e-12)
    np.testing.assert_allclose(
        gradient[: o.n_pairs], counts[o.row[o.pair_feature], o.pair_label], rtol=1e-9
    )


def test_sums_that_no_scale_can_hold_are_left_to_logarithms():
    """Two paths that never meet: one underflows at once, and wins in the end."""
    task = make_task(n=1, R=1, longest=1, valued=True)
    n = 101
    bag = task.bag._replace(
        start=np.arange(n + 1), row=np.zeros(n, np.int32), value=np.full(n, 10.0)
    )
    bag.value[0] = -710.0
    token = np.array([0, n])
    apart = np.full((L, L), -np.inf)
    np.fill_diagonal(apart, 0.0)
    task = task._replace(token=token, anchor=token, bag=bag, gold=np.zeros(n, np.int32))
    o = CRFObjective(task, ObjectiveOptions(c1=0.0), potentials(transition=apart), 1)
    w = np.zeros(o.size)
    w[: o.n_pairs][o.pair_label == 0] = 1.0
    total, _, bad = passes(o, w)
    score = bag.value.sum()
    want = task.weight[0] * np.logaddexp.reduce([score, 0.0, 0.0])
    assert bad.all() and total == pytest.approx(want)


def test_squares_are_variances():
    """Of a feature of value 1, p (1 - p) instead of p, weighted."""
    task = make_task(n=1, R=1, longest=1, valued=False)
    token = np.array([0, 1])
    bag = task.bag._replace(start=token, row=np.zeros(1, np.int32))
    task = task._replace(token=token, anchor=token, bag=bag, gold=np.zeros(1, np.int32))
    o = CRFObjective(task, ObjectiveOptions(c1=0.0), FREE, 1)
    w = np.arange(o.size, dtype=float)
    weight = task.weight[0]
    p = passes(o, w)[1][: o.n_pairs] / weight
    variances = passes(o, w, square=True)[1][: o.n_pairs]
    np.testing.assert_allclose(variances, weight * p * (1.0 - p))
