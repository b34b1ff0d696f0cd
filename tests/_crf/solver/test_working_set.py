"""Steps on the weights that matter: which these are, and where they lead nowhere."""

from types import SimpleNamespace

import numpy as np
import pytest
from crf_cases import (
    L,
    learnable,
    train_crf,
)
from inside import pairs_to_work_on

from skstruct._crf.solver import working_set


def test_a_start_worse_than_nothing_is_thrown_away():
    task = learnable()
    wild = train_crf(task, L, 20, c1=0.5, sgd_iter=2, eta0=1e3)
    calm = train_crf(task, L, 20, c1=0.5, sgd_iter=0)
    assert wild.objective == pytest.approx(calm.objective, rel=1e-3)
    batch = [h["objective"] for h in wild.history if h["stage"] == "batch"]
    assert batch[0] < -np.log(1 / L) * (task.weight @ np.diff(task.token))


@pytest.mark.parametrize("solver", ["two-stage", "owlqn"])
def test_where_no_step_helps_it_ends_and_says_so(solver):
    task = learnable()
    task.bag.value[:] = 1e308  # its square is no number
    with np.errstate(all="ignore"):
        stuck = train_crf(task, L, 20, c1=0.5, solver=solver, sgd_iter=0)
    assert not stuck.converged and stuck.n_iter < 1000


def test_weights_that_are_equally_steep_all_enter(monkeypatch):
    """More of them than there is room for in the working set; else none would, and none
    could move.
    """
    monkeypatch.setattr(working_set, "SMALLEST", 1)
    slopes = np.repeat([0.5, 0.2], [30, 10])
    problem = SimpleNamespace(n_optional=40, c1=0.1)
    assert pairs_to_work_on(problem, np.zeros(40), slopes).tolist() == list(range(30))
    assert pairs_to_work_on(problem, np.zeros(40), np.arange(40.0)).tolist() == [
        36,
        37,
        38,
        39,
    ]
