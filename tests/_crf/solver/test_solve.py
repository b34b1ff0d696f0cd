"""The solvers reach the optimum that others reach, and certify it."""

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
    train_crf,
)

from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct._crf.solver.quasi_newton import pseudo_gradient
from skstruct._crf.solver.solve import SparseWeights, pack


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
        edges[o.conditioned_pair[:, 0] * L + o.conditioned_pair[:, 1], o.conditioned_pair[:, 2]],
        edges[o.label_pair[:, 0], o.label_pair[:, 1]],
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


@pytest.mark.parametrize("solver", ["two-stage", "owlqn"])
def test_the_default_end_is_near_the_optimum(solver):
    task = learnable(n=300, R=60)
    best = train_crf(task, L, 60, c1=0.7, **STRICT).objective
    found = train_crf(task, L, 60, c1=0.7, solver=solver)
    assert found.converged and best <= found.objective * (1 + 1e-9) <= best * 1.0005


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_values_have_no_unit(scale):
    """Without a penalty, the optimum for values a thousand times larger is weights as
    much smaller.
    """
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


def test_observed_transitions_need_the_second_stage():
    with pytest.raises(ValueError, match="solver='sgd'"):
        train_crf(make_task(edges=True), L, 6, 3, solver="sgd")
