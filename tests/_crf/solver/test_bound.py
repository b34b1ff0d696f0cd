"""The bound that certifies how near training has come to the optimum."""

import numpy as np
import pytest
from crf_cases import STRICT, L, learnable, train_crf

from skstruct import L1CRF, regularization_path
from skstruct._crf.solver.bound import Cuts
from skstruct.datasets import load_chunking


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_no_bound_is_above_the_optimum(threshold):
    """Of logistic losses, whose tangents are taken on the way of gradient descent."""
    rng = np.random.RandomState(0)
    A = rng.randn(200, 150) * (rng.rand(200, 150) < 0.2)
    sign = np.sign(A @ (rng.randn(150) * (rng.rand(150) < 0.3)) + 0.3 * rng.randn(200))
    c1, c2, w, v, t = 0.4, 0.05, np.zeros(150), np.zeros(150), 1.0

    def loss(w):
        z = -sign * (A @ w)
        return np.logaddexp(0.0, z).sum(), A.T @ (-sign / (1.0 + np.exp(-z)))

    def objective(w):
        return loss(w)[0] + c1 * np.abs(w).sum() + c2 * w @ w

    step, visited = 1.0 / (0.25 * np.linalg.norm(A, 2) ** 2 + 2.0 * c2), []
    for _ in range(3000):  # accelerated proximal gradients
        new = v - step * (loss(v)[1] + 2.0 * c2 * v)
        new = np.sign(new) * np.maximum(np.abs(new) - step * c1, 0.0)
        t, before = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        v, w = new + (before - 1.0) / t * (new - w), new
        visited.append(w)
    optimum, cuts, found = objective(w), Cuts(20, threshold * c1), []
    assert cuts.bound(c1, c2) == -np.inf
    for w in visited[:200:4]:
        value, gradient = loss(w)
        cuts.add(gradient, value - gradient @ w)
        bound = cuts.bound(c1, c2)
        assert bound <= optimum * (1.0 + 1e-9)
        again = Cuts(20, threshold * c1)
        again.restore(**cuts.arrays())
        found.append(
            (
                objective(w) - optimum,
                objective(w) - bound,
                objective(w) - again.bound(c1, c2),
            )
        )
    true, certified, restored = found[-1]
    assert 0.0 < certified < 6.0 * true  # one cut alone says a hundred times as much
    assert restored == pytest.approx(certified, rel=0.2)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_that_of_the_best_mixture(seed):
    """Of three cuts, against all mixtures in steps of a hundredth."""
    rng = np.random.default_rng(seed)
    c1, c2, cuts = 0.5, 10.0 ** rng.integers(-4, 2), Cuts(3)
    offsets, gradients = (
        10.0 * rng.normal(size=3),
        rng.normal(size=8) + 0.3 * rng.normal(size=(3, 8)),
    )
    gradients[2] = gradients[seed % 3]  # one may be there twice
    for gradient, offset in zip(gradients, offsets):
        cuts.add(gradient, offset)
    a, b = (
        np.mgrid[:101, :101].reshape(2, -1)[
            :, np.add(*np.mgrid[:101, :101]).ravel() <= 100
        ]
        / 100.0
    )
    alpha = np.stack([a, b, 1.0 - a - b], axis=1)
    excess = np.maximum(np.abs(alpha @ gradients) - c1, 0.0)
    best = (alpha @ offsets - (excess**2).sum(axis=1) / (4.0 * c2)).max()
    assert cuts.bound(c1, c2) >= best - 1e-6 * abs(best)


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_what_is_kept_between_bounds_is_what_is_found_anew(threshold):
    """Weights enter and leave, cuts are replaced, penalties change."""
    rng, m, centre = np.random.default_rng(0), 5, np.zeros(3000)
    cuts, taken = Cuts(m, threshold), []
    centre[:1500] = rng.normal(size=1500)
    for k in range(40):
        centre = np.roll(centre, 40)
        taken.append((centre + 0.1 * rng.normal(size=3000), rng.normal()))
        cuts.add(*taken[-1])
        c1, c2 = 0.5 + 0.1 * (k // 7 % 2), 0.5
        exact, fewest = (
            Cuts(m, least) for least in (0.0, threshold)
        )  # which knows more, which knows least
        for cut in taken[-m:]:
            exact.add(*cut)
            fewest.add(*cut)
        slack = 1e-6 * abs(exact.bound(c1, c2))
        assert (
            fewest.bound(c1, c2) - slack
            <= cuts.bound(c1, c2)
            <= exact.bound(c1, c2) + slack
        )
    assert (
        cuts.n_rows < 3000 or not threshold
    )  # of the weights, some are small in all cuts


@pytest.mark.parametrize("seed", [0, 3, 10])
def test_cuts_that_are_nearly_the_same(seed):
    """Under a small L2 penalty they are; solvers of some versions of scipy give up
    there.
    """
    task = learnable(seed, n=120, R=60)
    task.weight[:] = 1.0
    found = train_crf(task, L, 60, c1=0.1, c2=1e-4)
    assert found.converged and 0.0 < found.gap < 2e-3


def test_each_model_of_a_path_is_certified():
    X, y = load_chunking()
    path = regularization_path(
        L1CRF("chunk", random_state=0), X, y, [1.0, 0.3], c2s=[0.1, 1e-3]
    )
    assert max(point.model.gap_ for point in path) <= 1e-3


def test_cuts_know_no_penalty():
    """Those of another minimisation bound this one, and sooner."""
    task, cuts = learnable(n=300, R=60), Cuts(threshold=0.1)
    task.weight[:] = 1.0
    least = train_crf(task, L, 60, c1=0.1, c2=0.1, **STRICT).objective
    train_crf(task, L, 60, c1=0.2, c2=0.2, cuts=cuts)
    assert 0.0 < cuts.bound(0.1, 0.1) <= least


def test_gradients_too_large_to_square_give_no_bound():
    cuts = Cuts()
    for scale in (1e200, 2e200):
        cuts.add(np.array([scale, -scale]), scale)
        assert cuts.bound(0.5, 0.1) == -np.inf


@pytest.mark.parametrize("solver", ["two-stage", "owlqn"])
@pytest.mark.parametrize("c1, c2", [(0.5, 0.1), (0.05, 0.02), (0.0, 0.5)])
def test_the_gap_is_certified(solver, c1, c2):
    task = learnable(edges=True)
    least = train_crf(task, L, 20, 3, c1=c1, c2=c2, **STRICT)
    found = train_crf(task, L, 20, 3, c1=c1, c2=c2, solver=solver)
    true = found.objective / least.objective - 1.0
    assert found.converged and 0.0 <= true <= found.gap <= 1e-3
    assert least.gap < 1e-6
    one = train_crf(task, L, 20, 3, c1=c1, c2=c2, solver="two-stage", tol=1e-2)
    assert one.gap >= one.objective / least.objective - 1.0


def test_no_gap_without_an_l2_penalty_or_all_labels():
    assert np.isnan(train_crf(learnable(), L, 20, 1, c1=0.5).gap)
    assert np.isnan(train_crf(learnable(partial=True), L, 20, 1, c1=0.5, c2=0.5).gap)


def test_cuts_go_on_from_their_arrays_bit_for_bit():
    """Also where new weights fit into the room that the table had."""
    rng = np.random.RandomState(0)
    cuts, other = Cuts(), Cuts()
    for n in 1100, 1150, 1180:
        gradient = np.zeros(1200)
        gradient[:n] = rng.randn(n)
        if n == 1180:
            other.restore(
                **{name: array.copy() for name, array in cuts.arrays().items()}
            )
            other.add(gradient, -1.0)
        cuts.add(gradient, -1.0)
        bound = cuts.bound(0.3, 0.1)
    assert other.bound(0.3, 0.1) == bound
    assert np.array_equal(other.products, cuts.products)
