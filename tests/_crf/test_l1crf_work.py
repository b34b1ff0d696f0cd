"""What training costs, counted on fixed data: passes over the corpus, bounds and what
they read, memories.

Numbers are those of the day they were written, with a little room. What makes one
smaller may lower it.
"""

import gc

import numpy as np
import pytest
from crf_cases import L, copies, learnable, train_crf
from inside import counting_bounds
from sklearn.base import clone

from skstruct import L1CRF, L1CRFCV, regularization_path
from skstruct._crf import path as crf_path
from skstruct._crf.solver.quasi_newton import Memory
from skstruct.datasets import load_chunking, make_hmm_sequences


def corpus():
    task = learnable(n=300, R=60)
    task.weight[:] = 1.0
    return task


@pytest.mark.parametrize("c1, c2", [(0.1, 0.1), (0.1, 1e-3), (0.1, 0.0)])
def test_a_weight_costs_what_copies_cost(c1, c2):
    task, options = corpus(), {"c1": 10 * c1, "c2": 10 * c2, "sgd_iter": 0}
    copied = train_crf(copies(task, 10), L, 60, **options)
    weighted = train_crf(task._replace(weight=10.0 * task.weight), L, 60, **options)
    assert weighted.n_passes == pytest.approx(copied.n_passes, rel=0.05)
    assert weighted.objective == pytest.approx(copied.objective, rel=1e-6)


def test_the_first_stage_steps_no_further_for_weights():
    """A weight of 10 is one step as long as ten, which overshoots where the rate is
    that of weight 1.
    """
    X, y = (each[:60] for each in load_chunking())
    weighted, copied = (
        L1CRF("chunk", c1=0.0, c2=10.0, random_state=0) for _ in range(2)
    )
    weighted.fit(X, y, sample_weight=np.full(60, 10.0))
    assert weighted.n_iter_ <= copied.fit(X * 10, y * 10).n_iter_
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=2e-3)


@pytest.mark.parametrize(
    "c2, passes, bounds, rows",
    [
        (0.1, 24, 2, 2_000),
        (1e-2, 46, 8, 13_500),
        (1e-3, 86, 12, 25_000),
        (1e-4, 100, 12, 25_000),
    ],
)
def test_passes_and_bounds(c2, passes, bounds, rows, monkeypatch):
    count = counting_bounds(monkeypatch)
    found = train_crf(corpus(), L, 60, c1=0.1, c2=c2)
    assert found.converged and found.n_passes <= passes
    assert count["bounds"] <= bounds and count["rows"] <= rows


PROBLEMS = [(1.0, 0.1), (0.3, 0.1), (0.3, 0.03), (0.1, 0.1), (0.1, 0.01)]


def test_bounds_are_a_small_share_of_the_work(monkeypatch):
    """A row of the table is forty numbers; a pass goes through the pairs of labels at
    each token.
    """
    X, y = load_chunking()
    L = len({label for labels in y for label in labels})
    per_pass = sum(map(len, X)) * L * (L + 19)
    for c1, c2 in PROBLEMS:
        with monkeypatch.context() as patch:
            count = counting_bounds(patch)
            crf = L1CRF("chunk", c1=c1, c2=c2, all_pairs=True, random_state=0).fit(X, y)
        assert 40 * count["rows"] <= 0.1 * per_pass * crf.n_iter_


def test_gaps_are_near_the_true_ones():
    X, y = load_chunking()
    times = []
    for c1, c2 in PROBLEMS:
        crf = L1CRF("chunk", c1=c1, c2=c2, all_pairs=True, random_state=0)
        least = clone(crf).set_params(tol=1e-10, max_iter=3000).fit(X, y).objective_
        true = crf.fit(X, y).objective_ / least - 1.0
        assert 0.0 < true <= crf.gap_ <= 1e-3
        times.append(crf.gap_ / true)
    assert np.median(times) <= 7.0


@pytest.mark.parametrize("c2", [1e-5, 1e-4, 1e-3])
def test_a_small_l2_penalty_costs_no_more_passes(c2):
    X, y = load_chunking()
    crf = L1CRF("chunk", c1=0.1, all_pairs=True, random_state=0)
    none, small = (clone(crf).set_params(c2=value).fit(X, y) for value in (0.0, c2))
    assert small.n_iter_ <= 1.3 * none.n_iter_


def test_a_search_asks_for_no_bound(monkeypatch):
    count = counting_bounds(monkeypatch)
    X, y = make_hmm_sequences(60, random_state=0)
    L1CRFCV(c1s=[0.1, 1.0], c2s=[0.1], cv=3, refit=False, random_state=0).fit(X, y)
    assert count == {"bounds": 0, "rows": 0}


def test_a_path_costs_less_than_its_fits():
    X, y = load_chunking()
    crf, c1s = L1CRF("chunk", c2=0.01, random_state=0), [1.0, 0.3, 0.1]
    path = regularization_path(crf, X, y, c1s)
    alone = [
        L1CRF("chunk", c1=c1, c2=0.01, random_state=0).fit(X, y).n_iter_ for c1 in c1s
    ]
    assert sum(point.n_iter for point in path) <= 0.85 * sum(alone)


def test_passes_of_a_grid_of_penalties():
    """Where two start from the same one (102 if they share a memory, and the smaller
    power of the diagonal came first).
    """
    crf = L1CRF("chunk", tol=3e-3, random_state=0)
    path = regularization_path(crf, *load_chunking(), [1.0, 0.3, 0.1], c2s=[0.3, 0.03])
    assert sum(point.n_iter for point in path) <= 98


def test_a_path_keeps_one_memory(monkeypatch):
    """Where each minimisation starts from the one before; the arrays are the largest of
    a fit.
    """
    X, y = make_hmm_sequences(60, random_state=0)
    solve, alive = crf_path.solve, []

    def counted(*arguments, **options):
        result = solve(*arguments, **options)
        gc.collect()
        found = [each.steps for each in gc.get_objects() if isinstance(each, Memory)]
        alive.append(len({id(steps) for steps in found}))
        return result

    monkeypatch.setattr(crf_path, "solve", counted)
    gc.collect()
    before = sum(isinstance(each, Memory) for each in gc.get_objects())
    regularization_path(L1CRF(random_state=0), X, y, [3.0, 1.0, 0.3, 0.1])
    assert alive == [before + 1] * 4
