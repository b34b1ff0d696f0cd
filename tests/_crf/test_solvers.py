"""The solvers reach the optimum that others reach, and certify it."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from crf_cases import (
    FREE,
    STRICT,
    L,
    dense,
    learnable,
    make_task,
    potentials,
    train_crf,
)
from inside import pairs_to_work_on

from skstruct._crf.solver import working_set
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct._crf.solver.quasi_newton import Memory, expected_gain, pseudo_gradient
from skstruct._crf.solver.sgd import apply_penalty, stochastic_passes
from skstruct._crf.solver.solve import Progress, SolverOptions, SparseWeights, pack


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_solvers_agree_and_certify(edges, partial):
    task = learnable(edges=edges, partial=partial)
    n_edges = 3 if edges else 1
    found = {
        solver: train_crf(
            task, L, 20, n_edges, c1=0.7, c2=0.01, solver=solver, **STRICT
        )
        for solver in ("two-stage", "owlqn")
    }
    a, b = found["two-stage"], found["owlqn"]
    if not partial:  # with partial labels there may be several local optima
        assert a.objective == pytest.approx(b.objective, rel=1e-7)
        np.testing.assert_allclose(dense(a.nodes), dense(b.nodes), atol=2e-2)
    assert a.optimality < 1e-2 and a.converged
    # The certificate holds on all pairs, those screened out included.
    o = CRFObjective(task, ObjectiveOptions(c1=0.0, c2=0.01), FREE, 20, n_edges)
    nodes, edges = dense(a.nodes), dense(a.edges)
    w = np.concatenate([
        nodes[o.row[o.pair_feature], o.pair_label],
        edges[o.edge_pair[:, 0] * L + o.edge_pair[:, 1], o.edge_pair[:, 2]],
        edges[o.pair[:, 0], o.pair[:, 1]],
    ])  # fmt: skip
    assert np.array_equal(pack(o, a.nodes, a.edges), w)
    value, gradient = o.evaluate(o.view_all(), w)
    assert np.abs(pseudo_gradient(w, gradient, 0.7)).max() < 1e-2
    assert value + 0.7 * np.abs(w).sum() == pytest.approx(a.objective)


def test_the_end_does_not_depend_on_the_start():
    task = learnable()
    cold = train_crf(task, L, 20, c1=0.5, **STRICT)
    sgd = train_crf(task, L, 20, c1=0.5, **{**STRICT, "sgd_iter": 3}, eta0=0.2)
    warm = train_crf(task, L, 20, c1=0.5, **STRICT, warm=(cold.nodes, cold.edges))
    assert sgd.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.objective <= cold.objective * (1 + 1e-9)
    assert warm.history[0]["objective"] <= cold.objective * (1 + 1e-9)


def test_threads_and_seed():
    task = learnable(n=200)
    runs = [
        train_crf(task, L, 20, c1=0.5, sgd_iter=2, eta0=0.1, n_threads=k)
        for k in (1, 2, 4)
    ]
    for other in runs[1:]:
        assert np.array_equal(dense(runs[0].nodes), dense(other.nodes))
        assert runs[0].objective == other.objective


def test_history_falls_and_callback_stops():
    seen = []

    def stop(entry, tables):
        seen.append(entry)
        return len(seen) == 7

    result = train_crf(
        learnable(), L, 20, c1=0.5, sgd_iter=2, eta0=0.1, after_pass=stop
    )
    assert len(result.history) == 7 and not result.converged
    values = [h["objective"] for h in result.history if h["stage"] == "batch"]
    assert values == sorted(values, reverse=True)
    assert result.objective == pytest.approx(values[-1])


def test_equals_crfsuite(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    task = learnable(valued=False, n=80)
    task.weight[:] = 1.0
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    for a, b in zip(task.token[:-1], task.token[1:]):
        x = []
        for t in range(a, b):  # counts as values: crfsuite has no repeated attributes
            item = {}
            for r in task.bag.row[task.bag.start[t] : task.bag.start[t + 1]]:
                item[str(r)] = item.get(str(r), 0.0) + 1.0
            x.append(item)
        trainer.append(pycrfsuite.ItemSequence(x), [str(g) for g in task.gold[a:b]])
    trainer.set_params(
        {"c1": 1.0, "c2": 0.0, "epsilon": 1e-9, "delta": 1e-10, "max_iterations": 2000}
    )
    trainer.train(str(tmp_path / "model"))
    theirs = min(float(h["loss"]) for h in trainer.logparser.iterations)
    ours = train_crf(
        task, L, 20, c1=1.0, all_states=False, all_transitions=False, **STRICT
    )
    assert ours.objective <= theirs * (1 + 1e-6)
    assert ours.objective == pytest.approx(theirs, rel=1e-4)


def test_equals_logistic_regression():
    """Sequences of one token are a multinomial logistic regression."""
    from sklearn.linear_model import LogisticRegression

    task = make_task(3, n=150, R=8, longest=1)
    X = np.zeros((150, 8))
    for t in range(150):
        for e in range(task.bag.start[t], task.bag.start[t + 1]):
            X[t, task.bag.row[e]] += task.bag.value[e]
    task.gold[:] = np.argmax(X[:, :3] + np.random.RandomState(0).rand(150, 3), axis=1)
    c1 = 2.0
    ours = train_crf(task, L, 8, c1=c1, **STRICT)
    release = tuple(map(int, sklearn.__version__.split(".")[:2]))
    l1 = {"l1_ratio": 1.0} if release >= (1, 8) else {"penalty": "l1"}
    model = LogisticRegression(
        C=1 / c1, **l1, solver="saga", fit_intercept=False, tol=1e-10, max_iter=100_000
    ).fit(X, task.gold, sample_weight=task.weight)
    log_p = model.predict_log_proba(X)[np.arange(150), task.gold]
    theirs = -(task.weight @ log_p) + c1 * np.abs(model.coef_).sum()
    assert ours.objective == pytest.approx(theirs, rel=1e-6)


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
            np.isin(o.pair_feature, part.features.item), np.ones(o.pair.shape[0], bool)
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
    task = learnable(n=60)
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


def test_table():
    table = SparseWeights.of((3, 2), np.array([4, 0, 3]), np.array([2.0, 0.0, -1.0]))
    np.testing.assert_array_equal(dense(table), [[0.0, 0.0], [0.0, -1.0], [2.0, 0.0]])
    np.testing.assert_array_equal(
        table.at(np.array([5, 3, 0, 4])), [0.0, -1.0, 0.0, 2.0]
    )
    assert (
        not SparseWeights.of((3, 2), np.zeros(0, np.int64), np.zeros(0))
        .at(np.arange(6))
        .any()
    )


@pytest.mark.parametrize("scale, precision", [(None, 1e-6), (1.0, 1e-4), (1e30, 1e-4)])
def test_memory_solves_quadratics(scale, precision):
    """With n independent steps the recursion is the inverse of the Hessian."""
    rng = np.random.RandomState(0)
    n = 6
    root = np.ones(n) if scale is None else scale ** rng.randint(-1, 2, n)
    A = rng.randn(n, n)
    A = (A @ A.T + np.eye(n)) * np.outer(root, root)
    memory = Memory(n, n, None if scale is None else root)
    directions = []
    for _ in range(n):  # conjugate steps
        s = rng.randn(n) / root
        for d in directions:
            s -= d * (d @ A @ s) / (d @ A @ d)
        directions.append(s)
        memory.add(s, A @ s)
    g = rng.randn(n) * root
    want = np.linalg.solve(A / np.outer(root, root), g / root) / root
    np.testing.assert_allclose(
        memory.solve(g, np.ones(n, bool), root**2, 1.0), want, rtol=precision
    )
    restricted = memory.solve(g, np.arange(n) < 3, root**2, 1.0)
    assert not restricted[3:].any() and restricted @ g > 0


def test_expected_gain_continues_a_geometric_series():
    values = [10.0 + 4.0 * 0.97**k for k in range(30)]
    assert expected_gain(values) == pytest.approx(values[-1] - 10.0, rel=1e-6)
    assert expected_gain(values[:9]) == pytest.approx(values[8] - 10.0, rel=1e-6)
    assert expected_gain(values[:8]) == np.inf
    assert expected_gain([1.0] * 21) == 0.0
    # a jump after a standstill promises more, not infinitely more
    assert 0.0 < expected_gain([1.0] * 21 + [0.9]) < 2.0


@pytest.mark.parametrize("solver", ["two-stage", "owlqn"])
def test_the_default_end_is_near_the_optimum(solver):
    task = learnable(n=300, R=60)
    best = train_crf(task, L, 60, c1=0.7, **STRICT).objective
    found = train_crf(task, L, 60, c1=0.7, solver=solver)
    assert found.converged and best <= found.objective * (1 + 1e-9) <= best * 1.0005


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


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_values_have_no_unit(scale):
    """Without a penalty, the optimum for values a thousand times larger is weights as much smaller."""
    task = learnable()
    scaled = task._replace(bag=task.bag._replace(value=task.bag.value * scale))
    want = train_crf(task, L, 20, c1=0.0, **STRICT)
    found = train_crf(scaled, L, 20, c1=0.0, **STRICT)
    assert found.converged and found.objective == pytest.approx(
        want.objective, rel=1e-6
    )


def test_weights_that_overflow():
    task = learnable()
    with pytest.raises(ValueError, match="overflowed.*eta0=1e[+]300 is too high"):
        train_crf(task, L, 20, c1=0.5, solver="sgd", eta0=1e300)
    calm = train_crf(task, L, 20, c1=0.5, sgd_iter=0)
    wild = train_crf(task, L, 20, c1=0.5, eta0=1e300)  # goes on from zero
    assert wild.objective == calm.objective


def test_memory_moves_with_the_working_set():
    memory = Memory(3, 4)
    memory.add(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 2.0, 1.0]))
    memory.move(np.array([2, 3, 5, 9]), np.array([3, 4, 9]))
    np.testing.assert_array_equal(memory.steps[memory.slots], [[2.0, 0.0, 4.0]])
    np.testing.assert_array_equal(memory.changes[memory.slots], [[1.0, 0.0, 1.0]])
    assert not memory.steps[1:].any()


def test_observed_transitions_need_the_second_stage():
    with pytest.raises(ValueError, match="solver='sgd'"):
        train_crf(make_task(edges=True), L, 6, 3, solver="sgd")


def test_weights_that_are_equally_steep_all_enter(monkeypatch):
    """More of them than there is room for in the working set; else none would, and none could move."""
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
