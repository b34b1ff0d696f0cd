"""What training costs, counted: passes over the corpus, bounds and the rows that they read."""

import pytest
from crf_cases import L, copies, learnable, train_crf


@pytest.mark.parametrize("c1, c2", [(0.5, 0.05), (0.1, 0.0)])
def test_a_weight_costs_what_copies_cost(c1, c2):
    task = learnable(n=300, R=60)
    task.weight[:] = 1.0
    options = {"c1": 10 * c1, "c2": 10 * c2, "sgd_iter": 0}
    copied = train_crf(copies(task, 10), L, 60, **options)
    weighted = train_crf(task._replace(weight=10.0 * task.weight), L, 60, **options)
    assert weighted.n_passes == pytest.approx(copied.n_passes, rel=0.05)
    assert weighted.objective == pytest.approx(copied.objective, rel=1e-4)
