"""The CRF objective: value, gradient and curvature beside enumeration."""

import numpy as np
import pytest
from crf_cases import FREE, L, make_task, potentials
from crf_oracle import enumerated, enumerated_curvature

from skstruct._crf.solver import corpus_pass
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("cost", [None, np.array([0.5, 0.0, 1.5])])
@pytest.mark.parametrize("all_pairs", [False, True])
def test_value_and_gradient(fields, edges, partial, cost, all_pairs):
    task = make_task(edges=edges, partial=partial)
    options = ObjectiveOptions(0.0, 0.1, all_pairs, all_pairs)
    scores = FREE if cost is None else potentials(cost=cost)
    o = CRFObjective(task, options, scores, 6, 3 if edges else 1, fields=fields)
    view = o.view_all()
    rng = np.random.RandomState(1)
    w = rng.randn(o.size)
    value, gradient = o.evaluate(view, w, keep=True)
    assert value == pytest.approx(enumerated(task, o, w), rel=1e-10)
    for k in rng.permutation(o.size)[:12]:
        e = np.zeros(o.size)
        e[k] = 1e-5
        slope = (o.evaluate(view, w + e)[0] - o.evaluate(view, w - e)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, abs=1e-5)
    o.evaluate(view, w, keep=True)
    np.testing.assert_allclose(
        o.gradient_of_all(w[: o.n_optional]), gradient[: o.n_optional], atol=1e-10
    )


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("logarithms", [False, True])
def test_curvature(fields, edges, logarithms, monkeypatch):
    """Of sequences whose weights are not 1, in either lattice."""
    task = make_task(edges=edges)
    task.weight[:] *= 4.0
    if logarithms:
        expect = corpus_pass.expect

        def leave_all(corpus, begin, end, *arguments):
            if arguments[-1]:  # those left out, by logarithms
                return expect(corpus, begin, end, *arguments)
            group = corpus.sequences.group
            arguments[-2][group[begin] : group[end]] = True
            return 0.0

        monkeypatch.setattr(corpus_pass, "expect", leave_all)
    o = CRFObjective(
        task, ObjectiveOptions(0.0, 0.1), FREE, 6, 3 if edges else 1, fields=fields
    )
    w = np.random.RandomState(1).randn(o.size)
    np.testing.assert_allclose(
        o.curvature(o.view_all(), w), enumerated_curvature(task, o, w), rtol=1e-9
    )


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_curvature_comes_from_the_pass_that_keeps(fields, edges, partial):
    """What was in the view is as by a pass of its own; the rest is never below it."""
    task = make_task(n=20, valued=False, edges=edges, partial=partial)
    o = CRFObjective(
        task, ObjectiveOptions(0.0, 0.1), FREE, 6, 3 if edges else 1, fields=fields
    )
    rng = np.random.RandomState(0)
    view = o.view(np.sort(rng.permutation(o.n_optional)[:12]))
    w = rng.randn(view.size)
    full = np.zeros(o.size)
    full[view.where] = w
    o.evaluate(view, w, keep=True, curve=True)
    passes = o.n_passes
    known = o.curvature(view, w)
    bound = o.curvature(o.view_all(), full)
    assert o.n_passes == passes
    o.evaluate(o.view_all(), full, keep=True)
    exact = o.curvature(o.view_all(), full)
    assert o.n_passes == passes + 2
    np.testing.assert_allclose(known, exact[view.where], rtol=1e-9)
    np.testing.assert_allclose(bound[view.where], exact[view.where], rtol=1e-9)
    assert (bound >= exact * (1.0 - 1e-9)).all()
    assert (bound > exact * (1.0 + 1e-9)).any()


def test_curvature_elsewhere_takes_a_pass():
    """At other weights, and where values are not 1."""
    for valued in (False, True):
        o = CRFObjective(make_task(valued=valued), ObjectiveOptions(0.0, 0.1), FREE, 6)
        w = np.random.RandomState(0).randn(o.size)
        o.evaluate(o.view_all(), w, keep=True, curve=True)
        passes = o.n_passes
        o.curvature(o.view_all(), w)
        assert o.n_passes == passes + valued
        o.curvature(o.view_all(), w + 1.0)
        assert o.n_passes == passes + valued + 1


def test_constraints():
    task = make_task()
    task.gold[:] = 0
    allowed = np.zeros((L, L))
    allowed[1, 2] = -np.inf
    end = np.array([0.0, 0.0, -np.inf])
    o = CRFObjective(
        task, ObjectiveOptions(c1=0.0), potentials(transition=allowed, end=end), 6
    )
    assert not ((o.label_pair[:, 0] == 1) & (o.label_pair[:, 1] == 2)).any()
    w = np.random.RandomState(0).randn(o.size)
    assert o.evaluate(o.view_all(), w)[0] == pytest.approx(enumerated(task, o, w))
