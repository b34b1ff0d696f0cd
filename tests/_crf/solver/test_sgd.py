"""Stage one: stochastic gradient descent beside the equations of the papers on all
weights.
"""

import numpy as np
import pytest
from crf_cases import (
    L,
    dense,
    learnable,
    potentials,
    train_crf,
)

from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct._crf.solver.sgd import apply_penalty, stochastic_passes
from skstruct._crf.solver.solve import Progress, SolverOptions


@pytest.mark.parametrize("line_search", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_stage_one_lowers_the_objective(line_search, partial):
    task = learnable(partial=partial)
    zero = train_crf(task, L, 20, c1=0.3, solver="sgd", sgd_iter=0)
    some = train_crf(
        task, L, 20, c1=0.3, solver="sgd", sgd_iter=8, eta0=0.1, line_search=line_search
    )
    assert some.objective < 0.95 * zero.objective
    again = train_crf(
        task, L, 20, c1=0.3, solver="sgd", sgd_iter=8, eta0=0.1, line_search=line_search
    )
    assert np.array_equal(dense(some.nodes), dense(again.nodes))


def sequence_alone(task, i):
    """A task of one sequence of a task of bags."""
    a, b = task.token[i], task.token[i + 1]
    start = task.bag.start[a : b + 1]
    inside = slice(start[0], start[-1])
    token = np.array([0, b - a])
    bag = task.bag._replace(
        start=start - start[0], row=task.bag.row[inside], value=task.bag.value[inside]
    )
    return task._replace(
        token=token,
        anchor=token,
        bag=bag,
        gold=task.gold[a:b],
        weight=task.weight[i : i + 1],
    )


class NaiveStep:
    """The update of one sequence on all weights, as it is written in the papers."""

    def __init__(self, o, part, w, q, z):
        self.o, self.part, self.w, self.q, self.z = o, part, w, q, z
        self.n, self.view = o.sequences.order.shape[0], part.view_all()
        self.used = np.append(
            np.isin(o.pair_feature, part.features.item),
            np.ones(o.label_pair.shape[0], bool),
        )
        self.gradient = part.evaluate(self.view, w)[1] + 2 * o.c2 / self.n * w

    def moved(self, rate):
        """Weights before and after they pay the penalty."""
        pay = getattr(apply_penalty, "py_func", apply_penalty)
        before = np.where(self.used, self.w - rate * self.gradient, self.w)
        after = [
            pay(b, self.z + rate * self.o.c1 / self.n, r)
            for b, r in zip(before, self.q)
        ]
        return before, np.where(self.used, after, self.w)

    def equation_14(self, w):
        """The share of the sequence in the objective."""
        penalty = (
            self.o.c1 * np.abs(w[self.used]).sum()
            + self.o.c2 * (w[self.used] ** 2).sum()
        )
        return self.part.evaluate(self.view, w)[0] + penalty / self.n

    def algorithm_1(self, rate, max_trials):
        """The best of the learning rates tried."""
        initial, rates, values, flag = self.equation_14(self.w), [rate], [], False
        for _ in range(max_trials):
            values.append(self.equation_14(self.moved(rates[-1])[1]))
            changed = values[-1] > initial and not flag
            flag = flag or changed
            rates.append(
                rate * 0.5 if changed else rates[-1] * 0.5 if flag else rates[-1] / 0.5
            )
        return rates[int(np.argmin(values))]


def naive_passes(task, o, n_passes, eta0, decay, max_trials, seed):
    """Stage one on all weights, with one objective for each sequence."""
    pay = getattr(apply_penalty, "py_func", apply_penalty)
    n = o.sequences.order.shape[0]
    w, q, z = np.zeros(o.size), np.zeros(o.size), 0.0
    options, scores = ObjectiveOptions(c1=0.0), potentials(cost=o.potentials.cost)
    alone = [
        CRFObjective(sequence_alone(task, i), options, scores, 20, layout=o.layout)
        for i in o.sequences.order
    ]
    random = np.random.RandomState(seed)
    order = [i for _ in range(n_passes) for i in random.permutation(n)]
    for j, i in enumerate(order):
        step, rate = NaiveStep(o, alone[i], w, q, z), eta0 * decay ** (j / n)
        if max_trials > 1:
            rate = step.algorithm_1(rate, max_trials)
        before, w = step.moved(rate)
        q += w - before
        z += rate * o.c1 / n
    return np.array([pay(v, z, r) for v, r in zip(w, q)])


@pytest.mark.parametrize("max_trials", [1, 4])
@pytest.mark.parametrize("partial", [False, True])
def test_stage_one_is_what_the_papers_say(partial, max_trials):
    task = learnable(n=12, partial=partial)
    costs = potentials(cost=np.array([0.5, 0.0, 1.0]))
    o = CRFObjective(task, ObjectiveOptions(c1=0.4, c2=0.05), costs, 20)
    options = SolverOptions(
        sgd_iter=3,
        eta0=0.4,
        decay=0.7,
        line_search=max_trials > 1,
        max_trials=max_trials,
    )
    lazy = stochastic_passes(o, options, Progress(o), seed=5)
    naive = naive_passes(task, o, 3, 0.4, 0.7, max_trials, seed=5)
    assert np.count_nonzero(lazy) > 10
    np.testing.assert_allclose(lazy, naive, atol=1e-9)


@pytest.mark.parametrize("c1, c2", [(0.0, 5.0), (0.5, 0.5), (0.0, 0.01)])
def test_stochastic_descent_alone_reaches_the_optimum(c1, c2):
    task = learnable(n=30)
    long = {"solver": "sgd", "sgd_iter": 2000, "eta0": 0.3, "decay": 0.997}
    found = train_crf(task, L, 20, c1=c1, c2=c2, **long)
    best = train_crf(task, L, 20, c1=c1, c2=c2, solver="owlqn", tol=1e-9)
    assert best.objective <= found.objective < 1.01 * best.objective


def test_penalty_is_paid_up_to_zero():
    pay = getattr(apply_penalty, "py_func", apply_penalty)
    assert pay(1.0, 0.3, 0.0) == pytest.approx(0.7)
    assert pay(1.0, 0.3, -0.3) == pytest.approx(1.0)  # paid before
    assert pay(-1.0, 0.3, 0.0) == pytest.approx(-0.7)
    assert pay(0.2, 0.3, 0.0) == pay(-0.2, 0.3, 0.0) == pay(0.0, 0.3, 0.0) == 0.0
