"""Sums of one sequence by itself, beside logarithms in numpy."""

from itertools import pairwise

import numpy as np
import pytest
from crf_cases import FREE, L, make_task

from skstruct._crf.solver.corpus_sums import LONGEST
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct.features.encoded import Bag


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("top", [1.0, 400.0])
def test_very_long_sequences(partial, top):
    """They are summed each by itself, in either lattice; here beside logarithms in
    numpy.
    """
    task = make_task(n=3, longest=4, partial=partial, valued=False)
    n, rng = LONGEST + 50, np.random.RandomState(0)
    token = np.array([0, n, n + 3, 2 * n + 3])
    gold = rng.randint(0, L, 2 * n + 3).astype(np.int32)
    if partial:
        gold[rng.rand(gold.shape[0]) < 0.3] = -1
    bag = Bag(
        np.arange(gold.shape[0] + 1),
        rng.randint(0, 6, gold.shape[0]).astype(np.int32),
        np.zeros(0),
    )
    task = task._replace(token=token, anchor=token, gold=gold, bag=bag)
    o = CRFObjective(task, ObjectiveOptions(0.0, 0.1), FREE, 6)
    w = top * rng.randn(o.size)
    value, gradient = o.evaluate(o.view_all(), w)
    nodes, steps = np.zeros((6, L)), np.zeros((L, L))
    nodes[o.row[o.pair_feature], o.pair_label], steps[tuple(o.label_pair.T)] = (
        w[: o.n_pairs],
        w[o.n_optional :],
    )
    expected = o.c2 * w @ w
    for i, (begin, end) in enumerate(pairwise(token)):
        for sign, labels in ((1.0, np.full(end - begin, -1)), (-1.0, gold[begin:end])):
            scores = nodes[bag.row[begin:end]]
            scores[(labels[:, None] >= 0) & (labels[:, None] != np.arange(L))] = -np.inf
            alpha = scores[0]
            for x in scores[1:]:
                alpha = np.logaddexp.reduce(alpha[:, None] + steps, axis=0) + x
            expected += sign * task.weight[i] * np.logaddexp.reduce(alpha)
    assert value == pytest.approx(expected, rel=1e-10)
    for k in rng.permutation(o.size)[:6]:
        e = np.zeros(o.size)
        e[k] = 1e-5
        slope = (
            o.evaluate(o.view_all(), w + e)[0] - o.evaluate(o.view_all(), w - e)[0]
        ) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-3)
